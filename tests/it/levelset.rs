//! Properties of the geometry kernel.

use std::collections::BTreeMap;

use brisance_tests::properties;
use levelset::{
    Aabb, Grid, LevelSet, MeshError, Sign, Solid, TetError, TetMesh, TriMesh, UpwindOrder,
    label_components, label_moments,
};
use nalgebra::{Point3, Vector3};
use ndarray::Array3;
use proptest::prelude::*;

fn cube_grid(half: f64, cells: usize) -> Grid {
    let bounds = Aabb { min: Point3::from([-half; 3]), max: Point3::from([half; 3]) };
    Grid::enclosing(&bounds, 2.0 * half / cells as f64, 3, Grid::MAX_NODES).unwrap()
}

fn ball(radius: f64, cells: usize) -> LevelSet {
    let solid = Solid::Sphere { radius };
    LevelSet::from_fn(cube_grid(radius, cells), |p| solid.distance(&p))
}

/// Whether every directed edge occurs once, and its opposite once.
fn is_closed_manifold(mesh: &TriMesh) -> bool {
    let mut edges = BTreeMap::new();
    for t in &mesh.triangles {
        for e in 0..3 {
            *edges.entry((t[e], t[(e + 1) % 3])).or_insert(0) += 1;
        }
    }
    edges.iter().all(|(&(a, b), &n)| a != b && n == 1 && edges.get(&(b, a)) == Some(&1))
}

/// Samples with random values and signs: the worst case for an isosurface.
fn noise() -> impl Strategy<Value = LevelSet> {
    let value = prop_oneof![-1.0f32..1.0, Just(0.0), Just(-1.0)];
    [2usize..7, 2usize..7, 2usize..7].prop_flat_map(move |dims| {
        let count = dims.iter().product::<usize>();
        proptest::collection::vec(value.clone(), count).prop_map(move |values| {
            let grid = Grid::new(Point3::origin(), 1.0, dims, Grid::MAX_NODES).unwrap();
            LevelSet::from_values(grid, Array3::from_shape_vec(dims, values).unwrap())
        })
    })
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn isosurface_of_any_field_is_closed_and_oriented(field in noise()) {
        let mesh = field.isosurface();
        prop_assert!(is_closed_manifold(&mesh));
        let any_inside = field.as_slice().iter().any(|&v| v < 0.0);
        prop_assert_eq!(any_inside, mesh.signed_volume() > 0.0);
    }
}

properties! {
    #[test]
    fn pieces_of_any_field_are_connected_and_keep_every_sample(
        field in noise(),
        owners in 1u32..4,
    ) {
        let dims = field.grid().dims();
        // owners in stripes, so that neighbors differ
        let owners: Vec<u32> = field
            .as_slice()
            .iter()
            .enumerate()
            .map(|(n, &v)| if v < 0.0 { 1 + (n as u32 / 5) % owners } else { 0 })
            .collect();
        let pieces = label_components(dims, &owners);
        prop_assert_eq!(&pieces.labels, &flood(dims, &owners));
        let parent = field.moments();
        let whole: levelset::Moments =
            label_moments(field.grid(), &pieces.labels, pieces.count).into_iter().sum();
        prop_assert!((whole.volume - parent.volume).abs() <= 1e-12 * parent.volume);
        prop_assert!((whole.first - parent.first).norm() <= 1e-12 * parent.first.norm());
        prop_assert!((whole.second - parent.second).norm() <= 1e-12 * parent.second.norm());
    }
}

/// Components by the textbook flood fill, for comparison.
fn flood(dims: [usize; 3], owners: &[u32]) -> Vec<u32> {
    let at = |n: usize| [n / (dims[1] * dims[2]), n / dims[2] % dims[1], n % dims[2]];
    let mut labels = vec![0; owners.len()];
    let mut count = 0;
    for seed in 0..owners.len() {
        if owners[seed] == 0 || labels[seed] != 0 {
            continue;
        }
        count += 1;
        labels[seed] = count;
        let mut stack = vec![seed];
        while let Some(n) = stack.pop() {
            for m in 0..owners.len() {
                let distance: usize = (0..3).map(|a| at(n)[a].abs_diff(at(m)[a])).sum();
                if distance == 1 && owners[m] == owners[n] && labels[m] == 0 {
                    labels[m] = count;
                    stack.push(m);
                }
            }
        }
    }
    labels
}

#[test]
fn mesh_of_a_level_set_gives_the_level_set_back() {
    let torus = Solid::Torus { major: 0.6, minor: 0.25 };
    for solid in [torus, Solid::Sphere { radius: 0.8 }] {
        let grid = cube_grid(0.9, 40);
        let mesh = LevelSet::from_fn(grid, |p| solid.distance(&p)).isosurface();
        assert!(is_closed_manifold(&mesh));
        for sign in [Sign::Strict, Sign::Winding] {
            let again = LevelSet::from_mesh(&mesh, grid, sign).unwrap();
            let h = grid.spacing();
            let mut worst: f64 = 0.0;
            let [nx, ny, nz] = grid.dims();
            for (i, j, k) in itertools(nx, ny, nz) {
                let exact = solid.distance(&grid.position([i, j, k]));
                let got = f64::from(again.as_slice()[grid.index([i, j, k])]);
                // the mesh and fast marching have second-order errors
                worst = worst.max((exact - got).abs());
                assert!(exact.abs() < 0.1 * h || (exact < 0.0) == (got < 0.0));
            }
            assert!(worst < 0.5 * h, "{worst} against {h}");
        }
    }
}

fn itertools(nx: usize, ny: usize, nz: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..nx).flat_map(move |i| (0..ny).flat_map(move |j| (0..nz).map(move |k| (i, j, k))))
}

/// A box with two triangles per side and its corners on grid nodes, so that all ties occur.
fn box_mesh(half: f64) -> TriMesh {
    let vertices = (0..8)
        .map(|c| Point3::from([4, 2, 1].map(|bit| if c & bit == 0 { -half } else { half })))
        .collect();
    let quads =
        [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    TriMesh { vertices, triangles }
}

#[test]
fn box_aligned_with_the_grid_has_exact_distance_and_sign() {
    let solid = Solid::Box { half_extents: Vector3::repeat(0.5) };
    let grid = cube_grid(0.5, 16);
    let got = LevelSet::from_mesh(&box_mesh(0.5), grid, Sign::Strict).unwrap();
    let h = grid.spacing();
    for (i, j, k) in itertools(23, 23, 23) {
        let exact = solid.distance(&grid.position([i, j, k]));
        let value = f64::from(got.as_slice()[grid.index([i, j, k])]);
        let tolerance = if exact.abs() < 2.9 * h { 1e-5 * h } else { 0.3 * h };
        assert!((value - exact).abs() < tolerance, "{i} {j} {k}: {value} for {exact}");
    }
}

#[test]
fn open_box_needs_the_winding_sign_and_then_closes() {
    let mut mesh = box_mesh(0.5);
    mesh.triangles.truncate(10);
    let grid = cube_grid(0.5, 16);
    let strict = LevelSet::from_mesh(&mesh, grid, Sign::Strict);
    assert!(matches!(strict, Err(MeshError::OpenEdge { count: 4, .. })), "{strict:?}");
    let got = LevelSet::from_mesh(&mesh, grid, Sign::Winding).unwrap();
    assert!(got.value(&Point3::origin()) < 0.0);
    assert!(got.value(&Point3::new(0.0, 0.0, 0.6)) > 0.0);
    // the missing side is at z = 1/2: half the sphere of directions is covered just below it
    assert!(got.value(&Point3::new(0.0, 0.0, 0.3)) < 0.0);
    assert!(is_closed_manifold(&got.isosurface()));
}

#[test]
fn bad_meshes_give_typed_errors() {
    let grid = cube_grid(0.5, 8);
    let load = |mesh: &TriMesh| LevelSet::from_mesh(mesh, grid, Sign::Winding).unwrap_err();
    let good = box_mesh(0.4);
    assert_eq!(load(&TriMesh::default()), MeshError::Empty);
    let mut mesh = good.clone();
    mesh.vertices[3].y = f64::NAN;
    assert_eq!(load(&mesh), MeshError::NotFinite { vertex: 3 });
    let mut mesh = good.clone();
    mesh.vertices.iter_mut().for_each(|v| *v *= 1e200);
    assert_eq!(load(&mesh), MeshError::TooLarge { vertex: 0 }, "its volume would overflow");
    assert_eq!(mesh.facts(), Err(MeshError::TooLarge { vertex: 0 }));
    let mut mesh = good.clone();
    mesh.triangles[5][1] = 8;
    assert_eq!(load(&mesh), MeshError::IndexOutOfRange { triangle: 5, vertex: 8, count: 8 });
    let mut mesh = good.clone();
    mesh.vertices.iter_mut().for_each(|v| v.z = v.x);
    mesh.vertices.iter_mut().for_each(|v| v.y = v.x);
    assert_eq!(load(&mesh), MeshError::Degenerate);
    let mut mesh = good.clone();
    mesh.vertices.iter_mut().for_each(|v| v.z += 100.0);
    assert_eq!(load(&mesh), MeshError::OutsideGrid);
    let mut mesh = good;
    mesh.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    let strict = LevelSet::from_mesh(&mesh, grid, Sign::Strict);
    assert!(matches!(strict, Err(MeshError::InsideOut { .. })));
}

#[test]
fn cutting_keeps_every_sample_once() {
    let whole = ball(1.0, 20);
    let cut = LevelSet::from_fn(*whole.grid(), |p| p.x + 0.5 * p.y);
    let (front, back) = (whole.difference(&cut), whole.intersection(&cut));
    for ((w, f), b) in whole.as_slice().iter().zip(front.as_slice()).zip(back.as_slice()) {
        assert_eq!(*w < 0.0, (*f < 0.0) != (*b < 0.0));
        assert!(!(*f < 0.0 && *b < 0.0));
    }
    assert_eq!(front.union(&back).moments().volume, whole.moments().volume);
}

#[test]
fn voxels_of_a_box_have_the_inertia_of_the_box() {
    // six nodes a side, each a cube: the box of edge 0.6 about the grid's middle
    let grid = Grid::new(Point3::new(1.0, 2.0, 3.0), 0.1, [10; 3], Grid::MAX_NODES).unwrap();
    let center = grid.bounds().center();
    let solid = Solid::Box { half_extents: Vector3::repeat(0.3) };
    let level_set = LevelSet::from_fn(grid, |p| solid.distance(&(p - center.coords)));
    let moments = level_set.moments();
    assert!((moments.volume - 0.216).abs() < 1e-12);
    assert!((moments.center() - center).norm() < 1e-12);
    let exact = 0.216 * 0.36 / 6.0;
    assert!((moments.inertia() - nalgebra::Matrix3::identity() * exact).norm() < 1e-12);
}

#[test]
fn redistancing_restores_a_scaled_distance() {
    let exact = ball(1.0, 40);
    let scaled = LevelSet::from_values(*exact.grid(), exact.values().mapv(|v| v * (1.5 + v.sin())));
    let h = exact.grid().spacing();
    let all = [
        (scaled.fast_marched(UpwindOrder::First), 1.5),
        (scaled.fast_marched(UpwindOrder::Second), 0.3),
        (scaled.redistanced(), 0.35),
    ];
    for (got, bound) in all {
        let [nx, ny, nz] = exact.grid().dims();
        let worst = itertools(nx, ny, nz)
            // distance has a kink at the center
            .filter(|&(i, j, k)| exact.grid().position([i, j, k]).coords.norm() > 3.0 * h)
            .map(|(i, j, k)| f64::from(got.values()[[i, j, k]] - exact.values()[[i, j, k]]))
            .fold(0.0, |worst: f64, error| worst.max(error.abs()));
        assert!(worst < bound * h, "{} of {bound} cells", worst / h);
    }
}

#[test]
fn surface_particles_are_even_on_the_surface_and_coarse_to_fine() {
    for spacing in [0.3, 0.05] {
        let level_set = ball(1.0, 20);
        let particles = level_set.surface_particles(spacing);
        let h = level_set.grid().spacing();
        for (n, p) in particles.iter().enumerate() {
            assert!((p.coords.norm() - 1.0).abs() < 0.1 * h);
            let nearest =
                particles[..n].iter().map(|q| (p - q).norm()).fold(f64::INFINITY, f64::min);
            assert!(nearest >= spacing);
        }
        // random sequential packing of the plane reaches 0.70, hexagonal packing 1.155
        let density = particles.len() as f64 * spacing * spacing / (4.0 * std::f64::consts::PI);
        assert!((0.55..1.16).contains(&density), "{density}");
        let cover = |points: &[Point3<f64>]| {
            let far = |q: &Point3<f64>| {
                points.iter().map(|p| (p - q).norm()).fold(f64::INFINITY, f64::min)
            };
            particles.iter().map(far).fold(0.0, f64::max)
        };
        assert!(cover(&particles[..12]) < 1.6, "{}", cover(&particles[..12]));
    }
}

#[test]
fn no_spacing_gives_more_points_than_the_surface_can_use() {
    let level_set = ball(1.0, 4);
    let mesh = level_set.isosurface();
    // at most 63 * 62 / 2 points in a triangle whose edges have 64 parts
    let most = mesh.vertices.len() + 1953 * mesh.triangles.len();
    let points = level_set.surface_particles(1e-12);
    assert!((most / 2..=most).contains(&points.len()), "{} of {most}", points.len());
    for spacing in [0.0, -1.0, f64::NAN] {
        assert_eq!(mesh.spread_points(spacing), mesh.vertices);
    }
}

#[test]
fn cropping_keeps_the_solid_where_it_was() {
    let whole = ball(1.0, 20);
    assert_eq!(whole.cropped_to_inside(usize::MAX), Some(whole.clone()), "all of the grid");
    let part = whole.cropped_to_inside(1).unwrap();
    assert!(part.grid().node_count() < whole.grid().node_count());
    assert!((part.moments().center() - whole.moments().center()).norm() < 1e-12);
    assert_eq!(part.moments().volume, whole.moments().volume);
}

#[test]
fn linear_field_is_sampled_exactly() {
    let field = LevelSet::from_fn(cube_grid(1.0, 8), |p| 0.25 * p.x - 0.5 * p.y + p.z);
    for n in 0..100 {
        let x = f64::from(n) / 100.0 - 0.5;
        let p = Point3::new(x, x * 0.7 - 0.1, 0.3 - x);
        assert!((field.value(&p) - (0.25 * p.x - 0.5 * p.y + p.z)).abs() < 1e-6);
        assert!((field.gradient(&p) - Vector3::new(0.25, -0.5, 1.0)).norm() < 1e-6);
    }
}

/// A cube of edge 1 cut into six tetrahedra around its diagonal.
fn kuhn_cube() -> TetMesh {
    let vertices = (0..8)
        .map(|c| Point3::from([4, 2, 1].map(|bit| f64::from(u8::from(c & bit != 0)))))
        .collect();
    let paths = [[4, 2, 1], [2, 1, 4], [1, 4, 2], [2, 4, 1], [4, 1, 2], [1, 2, 4]];
    let tets = paths.iter().enumerate().map(|(n, p)| {
        let mut tet = [0, p[0], p[0] + p[1], 7];
        if n >= 3 {
            tet.swap(0, 1);
        }
        tet
    });
    TetMesh { vertices, tets: tets.collect() }
}

#[test]
fn tetrahedra_of_a_cube_are_valid_and_have_its_moments_and_surface() {
    let cube = kuhn_cube();
    assert_eq!(cube.validate(), Ok(()));
    assert_eq!(cube.components().count, 1);
    let surface = cube.boundary();
    let facts = surface.facts().unwrap();
    assert!(facts.closed && facts.oriented && facts.edge_manifold);
    assert_eq!((facts.euler_number, facts.components, surface.triangles.len()), (2, 1, 12));
    assert!((facts.area - 6.0).abs() < 1e-12);
    for moments in [cube.moments(), surface.moments()] {
        assert!((moments.volume - 1.0).abs() < 1e-12);
        assert!((moments.center() - Point3::new(0.5, 0.5, 0.5)).norm() < 1e-12);
        assert!((moments.inertia() - nalgebra::Matrix3::identity() / 6.0).norm() < 1e-12);
    }
    let quality = cube.quality();
    assert!((quality.min_dihedral - 45.0).abs() < 1e-9);
    assert!((quality.max_dihedral - 90.0).abs() < 1e-9);
    assert_eq!(quality.inverted, 0);
}

#[test]
fn bad_tetrahedra_give_typed_errors() {
    let mut mesh = kuhn_cube();
    mesh.tets[2].swap(0, 1);
    assert!(matches!(mesh.validate(), Err(TetError::Inverted { tet: 2, .. })));
    let mut mesh = kuhn_cube();
    mesh.tets.push(mesh.tets[4]);
    assert!(matches!(mesh.validate(), Err(TetError::NotConforming { tet: 4, .. })));
    let mut mesh = kuhn_cube();
    mesh.tets[1][3] = 9;
    let expected = TetError::IndexOutOfRange { tet: 1, vertex: 9, count: 8 };
    assert_eq!(mesh.validate(), Err(expected));
    mesh.vertices[0].x = f64::INFINITY;
    assert_eq!(mesh.validate(), Err(TetError::NotFinite { vertex: 0 }));
    assert_eq!(TetMesh::default().validate(), Err(TetError::Empty));
}

#[test]
fn facts_tell_open_flipped_and_separate_meshes() {
    let good = box_mesh(0.5);
    let mut open = good.clone();
    open.triangles.pop();
    assert!(!open.facts().unwrap().closed);
    let mut flipped = good.clone();
    flipped.triangles[0].swap(0, 1);
    let facts = flipped.facts().unwrap();
    assert!(!facts.oriented && facts.edge_manifold);
    let mut two = good.clone();
    two.vertices.extend(good.vertices.iter().map(|v| v + Vector3::x() * 3.0));
    two.triangles.extend(good.triangles.iter().map(|t| t.map(|v| v + 8)));
    let facts = two.facts().unwrap();
    assert_eq!((facts.components, facts.euler_number), (2, 4));
}
