//! The geometry kernel on the bunny: the grid of Su09 (70 x 60 x 45) and 150^3.

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use levelset::{
    Aabb, CompactLevelSet, Grid, LevelSet, Sign, Stuffing, TetMesh, TriMesh, UpwindOrder,
};
use nalgebra::Point3;
use std::hint::black_box;
use std::path::Path;

fn bunny() -> TriMesh {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/bunny.obj");
    brisance::mesh_file::read_mesh(Path::new(path)).expect("the bunny is in the repository")
}

fn grids(mesh: &TriMesh) -> [(&'static str, Grid); 2] {
    let bounds = Aabb::around(&mesh.vertices).expect("vertices");
    [("70x60x45", 50.0), ("150^3", 143.0)].map(|(name, cells)| {
        let spacing = bounds.extents().max() / cells;
        (name, Grid::enclosing(&bounds, spacing, 3, Grid::MAX_NODES).expect("a small grid"))
    })
}

fn from_mesh(c: &mut Criterion) {
    let mesh = bunny();
    let mut group = c.benchmark_group("levelset/from_mesh");
    for (name, grid) in grids(&mesh) {
        group.bench_function(BenchmarkId::new("band", name), |b| {
            b.iter(|| LevelSet::band_from_mesh(black_box(&mesh), grid, Sign::Strict));
        });
        group.bench_function(BenchmarkId::new("dense", name), |b| {
            b.iter(|| LevelSet::from_mesh(black_box(&mesh), grid, Sign::Strict));
        });
    }
}

fn of_a_level_set(c: &mut Criterion) {
    let mesh = bunny();
    for (name, grid) in grids(&mesh) {
        let level_set = LevelSet::from_mesh(&mesh, grid, Sign::Strict).expect("a closed mesh");
        let mut group = c.benchmark_group(format!("levelset/{name}"));
        group.sample_size(10);
        group.bench_function("redistance", |b| b.iter(|| black_box(&level_set).redistanced()));
        group.bench_function("march", |b| {
            b.iter(|| black_box(&level_set).fast_marched(UpwindOrder::Second));
        });
        group.bench_function("isosurface", |b| b.iter(|| black_box(&level_set).isosurface()));
        group.bench_function("components", |b| b.iter(|| black_box(&level_set).components()));
        group.bench_function("moments", |b| b.iter(|| black_box(&level_set).moments()));
        group.bench_function("subcell moments", |b| {
            b.iter(|| black_box(&level_set).subcell_moments());
        });
        let spacing = grid.spacing();
        group.bench_function("particles", |b| {
            b.iter(|| black_box(&level_set).surface_particles(spacing));
        });
        group.bench_function("compact", |b| {
            b.iter(|| CompactLevelSet::new(black_box(&level_set), 3.0 * spacing).expanded());
        });
        let stuffing =
            Stuffing { spacing: 2.0 * spacing, doublings: 4, halvings: 0, limit: Grid::MAX_NODES };
        group.bench_function("stuffing", |b| {
            b.iter(|| TetMesh::stuffed(black_box(&level_set), &stuffing));
        });
    }
}

fn sampling(c: &mut Criterion) {
    let mesh = bunny();
    let [(_, grid), _] = grids(&mesh);
    let level_set = LevelSet::from_mesh(&mesh, grid, Sign::Strict).expect("a closed mesh");
    // far apart and in sequence, as in contact
    let points: Vec<Point3<f64>> = level_set.surface_particles(grid.spacing());
    let mut group = c.benchmark_group("levelset/sampling");
    group.throughput(criterion::Throughput::Elements(points.len() as u64));
    group.bench_function("one by one", |b| {
        b.iter(|| points.iter().map(|p| level_set.value(p)).sum::<f64>());
    });
    group.bench_function("batch", |b| {
        b.iter_batched_ref(
            || vec![0.0; points.len()],
            |values| level_set.sample(&points, values),
            BatchSize::LargeInput,
        );
    });
}

criterion_group!(benches, from_mesh, of_a_level_set, sampling);
criterion_main!(benches);
