//! Fracture events: complete fragments with particles, moments and bonds.
//!
//! Run with `RAYON_NUM_THREADS=1` for the single-thread figures.

use std::hint::black_box;
use std::path::Path;

use brisance::mesh_file::read_mesh;
use criterion::{Criterion, criterion_group, criterion_main};
use fracture::{Alignment, Pattern, Radial, Voronoi, shatter};
use levelset::{Aabb, Grid, LevelSet, Sign, Solid};
use nalgebra::{Point3, UnitVector3, Vector3};

const H: f64 = 0.01;
/// Sites in all of the pattern's space; only some of their cells meet the bunny.
const BUNNY_SITES: usize = 543;

struct Event {
    body: LevelSet,
    particles: Vec<Point3<f64>>,
    pattern: Pattern,
    at: Alignment,
}

impl Event {
    fn new(body: LevelSet, pattern: Pattern, at: Point3<f64>, n: UnitVector3<f64>) -> Self {
        let particles = body.surface_particles(body.grid().spacing());
        let at = Alignment::enclosing(&body.grid().bounds(), at, n);
        Self { body, particles, pattern, at }
    }
}

/// A solid on `dims` nodes, centred.
fn sampled(dims: [usize; 3], solid: &Solid) -> LevelSet {
    let corner = Vector3::from(dims.map(|n| (n - 1) as f64 * H / 2.0));
    let grid = Grid::new(Point3::from(-corner), H, dims, Grid::MAX_NODES).expect("a small grid");
    LevelSet::from_fn(grid, |p| solid.distance(&p))
}

fn wall() -> LevelSet {
    sampled([150, 10, 100], &Solid::Box { half_extents: Vector3::new(0.72, 0.025, 0.47) })
}

/// The bunny in 70 x 60 x 45 nodes.
fn bunny() -> LevelSet {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/bunny.obj");
    let mesh = read_mesh(Path::new(path)).expect("the bunny is in the repository");
    let bounds = Aabb::around(&mesh.vertices).expect("vertices");
    let dims = [70, 60, 45];
    let spacing = bounds.extents().zip_map(&Vector3::from(dims), |x, n| x / (n - 5) as f64).max();
    let corner = Vector3::from(dims.map(|n| (n - 1) as f64 * spacing / 2.0));
    let dims = dims.map(|n| n as usize);
    let grid = Grid::new(bounds.centre() - corner, spacing, dims, Grid::MAX_NODES);
    LevelSet::from_mesh(&mesh, grid.expect("a small grid"), Sign::Strict).expect("a closed mesh")
}

fn voronoi(sites: usize, extents: [f64; 3], clustering: f64) -> Pattern {
    let extents = Vector3::from(extents);
    Pattern::voronoi(&Voronoi { extents, clustering, ..Voronoi::new(sites, 1) })
        .expect("parameters in range")
}

fn events() -> Vec<(&'static str, Event)> {
    let up = Vector3::y_axis();
    let on_top = Point3::new(0.1, 0.025, 0.1);
    let flat = [0.83, 0.07, 0.55];
    let radial = Pattern::radial(&Radial::new(9, 3, 1)).expect("parameters in range");
    let cylinder = sampled([55, 105, 55], &Solid::Cylinder { half_height: 0.5, radius: 0.25 });
    let side = Point3::new(0.25, 0.0, 0.0);
    let bunny = bunny();
    let back = bunny.grid().bounds().centre();
    vec![
        ("wall voronoi", Event::new(wall(), voronoi(64, flat, 1.0), on_top, up)),
        ("wall radial", Event::new(wall(), radial, on_top, up)),
        ("table", Event::new(wall(), voronoi(350, flat, 1.0), on_top, up)),
        (
            "cylinder",
            Event::new(cylinder, voronoi(94, [0.5, 0.9, 0.5], 1.0), side, Vector3::x_axis()),
        ),
        ("bunny", Event::new(bunny, voronoi(BUNNY_SITES, [0.8; 3], 1.3), back, up)),
    ]
}

fn fracture(criterion: &mut Criterion) {
    for (name, event) in events() {
        let run = || shatter(&event.body, &event.particles, &event.pattern, &event.at, 8);
        let pieces = run().fragments.len();
        criterion.bench_function(&format!("{name} -> {pieces}"), |b| b.iter(|| black_box(run())));
    }
}

criterion_group!(benches, fracture);
criterion_main!(benches);
