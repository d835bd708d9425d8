//! Slicing of closed meshes by planes (Br11 section 3).

use std::collections::BTreeMap;
use std::path::Path;

use brisance_tests::properties;
use brisance_tests::strategies::direction;
use fracture::{ClosedMesh, Half, NotClosed, Origin, Plane, slice, voronoi_cells};
use levelset::{Aabb, Grid, LevelSet, TriMesh};
use nalgebra::{Point3, Vector3};
use proptest::prelude::*;

fn asset(name: &str) -> ClosedMesh {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets");
    let mesh = brisance::mesh_file::read_mesh(&Path::new(folder).join(name)).unwrap();
    ClosedMesh::new(mesh).unwrap()
}

/// A box with corners at the given places, two triangles a face.
fn block(low: [f64; 3], high: [f64; 3]) -> TriMesh {
    let corner = |i: usize| {
        let pick = |axis: usize| if i >> axis & 1 == 1 { high[axis] } else { low[axis] };
        Point3::new(pick(0), pick(1), pick(2))
    };
    let faces =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let halves = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    TriMesh { vertices: (0..8).map(corner).collect(), triangles: halves.collect() }
}

fn closed(mesh: TriMesh) -> ClosedMesh {
    ClosedMesh::new(mesh).unwrap()
}

fn unit_block() -> ClosedMesh {
    closed(block([0.0; 3], [1.0; 3]))
}

fn plane(normal: [f64; 3], offset: f64) -> Plane {
    Plane::new(Vector3::from(normal), offset).unwrap()
}

fn volumes(halves: &fracture::Slice) -> [f64; 2] {
    [&halves.back, &halves.front].map(|half| half.mesh().mesh().signed_volume())
}

fn area(mesh: &TriMesh, triangles: std::ops::Range<usize>) -> f64 {
    triangles.map(|t| mesh.area_vector(t).norm()).sum()
}

fn cap_area(half: &Half) -> f64 {
    area(half.mesh().mesh(), half.cap())
}

/// Checks that every directed edge occurs as often as its opposite, counted independently of the
/// code under test.
fn assert_closed(mesh: &TriMesh) {
    let mut balance = BTreeMap::new();
    for &[a, b, c] in &mesh.triangles {
        assert!(a != b && b != c && a != c, "a triangle has one vertex twice");
        for [from, to] in [[a, b], [b, c], [c, a]] {
            let low_first = if from < to { 1 } else { -1 };
            *balance.entry([from.min(to), from.max(to)]).or_insert(0) += low_first;
        }
    }
    assert!(balance.values().all(|&sum| sum == 0), "an edge is open");
}

/// Slices and checks all properties of the halves.
fn checked(solid: &ClosedMesh, plane: &Plane) -> fracture::Slice {
    let halves = slice(solid, plane);
    let mesh = solid.mesh();
    let size = mesh.vertices.iter().fold(plane.offset().abs(), |s, p| s.max(p.coords.amax()));
    for (half, sign) in [(&halves.front, 1.0), (&halves.back, -1.0)] {
        let part = half.mesh().mesh();
        assert_closed(part);
        let reach = part.vertices.iter().map(|p| sign * plane.distance(p));
        assert!(reach.fold(0.0, f64::min) >= -2e-13 * size, "beyond the plane");
        let caps = half.cap().flat_map(|t| part.corners(t));
        assert!(caps.map(|p| plane.distance(&p).abs()).fold(0.0, f64::max) <= 2e-13 * size);
    }
    let parts = [&halves.front, &halves.back].map(|half| half.mesh().mesh());
    let (whole, sum) = (mesh.moments(), parts[0].moments() + parts[1].moments());
    // the rounding errors of a sliver much smaller than its bounding box are relative to the box
    let extent = Aabb::around(&mesh.vertices).map_or(0.0, |bounds| bounds.extents().norm());
    let volume = whole.volume.abs() + 1e-3 * extent.powi(3);
    assert!((sum.volume - whole.volume).abs() <= 1e-12 * volume);
    assert!((sum.first - whole.first).amax() <= 1e-12 * volume * size);
    assert!((sum.second - whole.second).amax() <= 1e-12 * volume * size * size);
    let skin = [&halves.front, &halves.back].map(|h| area(h.mesh().mesh(), 0..h.sources().len()));
    let all = area(mesh, 0..mesh.triangles.len());
    assert!((skin[0] + skin[1] - all).abs() <= 1e-12 * all);
    assert!((cap_area(&halves.front) - cap_area(&halves.back)).abs() <= 1e-12 * all);
    halves
}

/// Cuts every piece repeatedly by the plane from `choose`.
fn cut_to_pieces(solid: &ClosedMesh, choose: impl Fn(&ClosedMesh, usize) -> Plane) {
    let mut pieces = vec![solid.clone()];
    let mut cuts = 0;
    for _ in 0..5 {
        let mut next = Vec::new();
        for piece in pieces {
            let halves = checked(&piece, &choose(&piece, cuts));
            cuts += 1;
            let parts = [halves.back, halves.front].map(Half::into_mesh);
            next.extend(parts.into_iter().filter(|part| !part.is_empty()));
        }
        pieces = next;
    }
    assert!(cuts >= 5);
    let sum: f64 = pieces.iter().map(|piece| piece.mesh().signed_volume()).sum();
    let whole = solid.mesh().signed_volume();
    assert!((sum / whole - 1.0).abs() <= 1e-11);
}

/// Element `k` of a quasi-random sequence in the cube of edge 1 around the origin.
fn quasi_random_vector(k: usize) -> Vector3<f64> {
    let part = |share: f64| ((k + 1) as f64 * share).fract() - 0.5;
    Vector3::new(part(0.754_877_666_2), part(0.569_840_290_9), part(0.438_579_021_4))
}

/// The isosurface of smooth noise: any topology, closed.
fn random_solid(seed: u64, waves: f64) -> Option<ClosedMesh> {
    let bounds = Aabb { min: Point3::from([-1.0; 3]), max: Point3::from([1.0; 3]) };
    let grid = Grid::enclosing(&bounds, 0.2, 2, Grid::MAX_NODES).unwrap();
    let phase = quasi_random_vector(seed as usize) * 20.0;
    let wavy = |p: Point3<f64>| {
        let q = p.coords * waves + phase;
        (q.x.sin() * q.y.cos() + q.y.sin() * q.z.cos() + q.z.sin() * q.x.cos())
            .max(p.coords.norm() - 1.0)
    };
    let mesh = LevelSet::from_fn(grid, wavy).isosurface();
    ClosedMesh::new(mesh).ok()
}

#[test]
fn a_block_is_cut_into_the_volumes_of_geometry() {
    let root = 3f64.sqrt();
    let cases = [
        (plane([0.0, 0.0, 2.0], 0.5), [0.25, 0.75], 1.0),
        // through four edges, as a parallelogram
        (plane([1.0, 0.0, 1.0], 1.0), [0.5, 0.5], 2f64.sqrt()),
        // a corner off, by a triangle
        (plane([1.0, 1.0, 1.0], 0.5), [1.0 / 48.0, 47.0 / 48.0], root / 8.0),
        // through three vertices
        (plane([1.0, 1.0, 1.0], 1.0), [1.0 / 6.0, 5.0 / 6.0], root / 2.0),
        // a regular hexagon
        (plane([1.0, 1.0, 1.0], 1.5), [0.5, 0.5], 0.75 * root),
    ];
    for (plane, expected, cap) in cases {
        let halves = checked(&unit_block(), &plane);
        for (volume, expected) in volumes(&halves).iter().zip(expected) {
            assert!((volume - expected).abs() < 1e-15, "{plane:?}: {volume}");
        }
        assert!((cap_area(&halves.back) - cap).abs() < 1e-14, "{plane:?}");
    }
}

#[test]
fn a_plane_along_a_face_or_beside_the_solid_changes_nothing() {
    let block = unit_block();
    for (plane, back) in [
        (plane([0.0, 0.0, 1.0], 1.0), true),
        (plane([0.0, 0.0, 1.0], 0.0), false),
        (plane([0.0, 1.0, 0.0], 3.0), true),
        (plane([0.0, 1.0, 0.0], -3.0), false),
        // along an edge, and through a corner
        (plane([1.0, 1.0, 0.0], 2.0), true),
        (plane([1.0, 1.0, 1.0], 0.0), false),
    ] {
        let halves = checked(&block, &plane);
        let (full, empty) =
            if back { (&halves.back, &halves.front) } else { (&halves.front, &halves.back) };
        assert!(empty.mesh().is_empty(), "{plane:?}");
        assert_eq!(full.mesh().mesh().triangles.len(), 12);
        assert!(full.cap().is_empty());
    }
}

#[test]
fn real_meshes_are_cut_to_pieces_without_a_flaw() {
    for name in ["bob_small.obj", "diff_carrier.obj", "ant_15parts.obj"] {
        let solid = asset(name);
        cut_to_pieces(&solid, |piece, k| {
            let center = Aabb::around(&piece.mesh().vertices).unwrap().center();
            Plane::through(&center, quasi_random_vector(k)).unwrap()
        });
        let vertex = |piece: &ClosedMesh, k: usize| {
            let vertices = &piece.mesh().vertices;
            vertices[k * 37 % vertices.len()]
        };
        cut_to_pieces(&solid, |piece, k| {
            Plane::through(&vertex(piece, k), Vector3::ith(k % 3, 1.0)).unwrap()
        });
        // along a face
        cut_to_pieces(&solid, |piece, k| {
            let t = k * 41 % piece.mesh().triangles.len();
            let normal = piece.mesh().area_vector(t);
            Plane::through(&piece.mesh().corners(t)[0], normal)
                .unwrap_or(Plane::new(Vector3::x(), 0.0).unwrap())
        });
    }
}

properties! {
    #[test]
    fn any_cut_of_the_bunny_leaves_closed_halves(normal in direction(), vertex in 0usize..1000, inside in -0.5..0.5) {
        let bunny = bunny();
        let vertices = &bunny.mesh().vertices;
        let from = vertices[vertex * 7 % vertices.len()];
        let center = Aabb::around(vertices).unwrap().center();
        checked(bunny, &Plane::through(&from, normal).unwrap());
        let at = center + (from - center) * inside;
        let halves = checked(bunny, &Plane::through(&at, normal).unwrap());
        prop_assert!(!halves.back.cap().is_empty());
    }

    #[test]
    fn solids_of_any_topology_are_cut(seed in 0u64..10_000, waves in 2.0..6.0, normal in direction(), offset in -0.9..0.9) {
        let Some(solid) = random_solid(seed, waves) else { return Ok(()) };
        let plane = Plane::new(normal, offset).unwrap();
        let halves = checked(&solid, &plane);
        for half in [halves.back, halves.front].map(Half::into_mesh) {
            // the parts add up to the whole
            let pieces = half.pieces();
            let sum: f64 = pieces.iter().map(|piece| piece.mesh().signed_volume()).sum();
            prop_assert!((sum - half.mesh().signed_volume()).abs() < 1e-12);
            pieces.iter().for_each(|piece| assert_closed(piece.mesh()));
        }
    }

    #[test]
    fn slicing_twice_by_the_same_plane_does_nothing(seed in 0u64..10_000, normal in direction(), offset in -0.9..0.9) {
        let Some(solid) = random_solid(seed, 3.0) else { return Ok(()) };
        let plane = Plane::new(normal, offset).unwrap();
        let first = slice(&solid, &plane);
        let (back, front) = (slice(first.back.mesh(), &plane), slice(first.front.mesh(), &plane));
        prop_assert!(back.front.mesh().is_empty() && front.back.mesh().is_empty());
        let sorted = |mesh: &ClosedMesh| {
            let mesh = mesh.mesh();
            let mut all: Vec<_> = (0..mesh.triangles.len())
                .map(|t| mesh.corners(t).map(|p| [p.x, p.y, p.z].map(f64::to_bits))).collect();
            all.sort_unstable();
            all
        };
        prop_assert_eq!(sorted(back.back.mesh()), sorted(first.back.mesh()));
        prop_assert_eq!(sorted(front.front.mesh()), sorted(first.front.mesh()));
    }

    #[test]
    fn cells_of_a_solid_add_up_and_are_nearest_to_their_sites(
        sites in proptest::collection::vec(proptest::array::uniform3(0.05..0.95), 1..12),
    ) {
        let block = unit_block();
        let sites: Vec<Point3<f64>> = sites.into_iter().map(Point3::from).collect();
        let cells = voronoi_cells(&block, &sites);
        let sum: f64 = cells.iter().map(|cell| cell.mesh().signed_volume()).sum();
        prop_assert!((sum - 1.0).abs() < 1e-12);
        for (cell, site) in cells.iter().zip(&sites) {
            assert_closed(cell.mesh());
            for p in &cell.mesh().vertices {
                let nearest = sites.iter().map(|s| (s - p).norm()).fold(f64::INFINITY, f64::min);
                prop_assert!((site - p).norm() <= nearest + 1e-12);
            }
        }
    }
}

fn bunny() -> &'static ClosedMesh {
    static BUNNY: std::sync::OnceLock<ClosedMesh> = std::sync::OnceLock::new();
    BUNNY.get_or_init(|| asset("bunny.obj"))
}

/// A block with a smaller one, turned inside out, inside.
fn hollow() -> TriMesh {
    let mut mesh = block([0.0; 3], [4.0; 3]);
    let inner = block([1.0; 3], [2.0; 3]);
    let base = mesh.vertices.len() as u32;
    mesh.vertices.extend(inner.vertices);
    mesh.triangles.extend(inner.triangles.iter().map(|&[a, b, c]| [a + base, c + base, b + base]));
    mesh
}

#[test]
fn a_cap_leaves_cavities_open_and_cavities_stay_with_what_is_around_them() {
    let solid = closed(hollow());
    let through = checked(&solid, &plane([0.0, 0.0, 1.0], 1.5));
    assert!((cap_area(&through.back) - 15.0).abs() < 1e-12);
    assert!((volumes(&through)[0] - (16.0 * 1.5 - 0.5)).abs() < 1e-12);
    let beside = checked(&solid, &plane([0.0, 0.0, 1.0], 3.0));
    assert!((cap_area(&beside.back) - 16.0).abs() < 1e-12);
    let pieces = beside.back.mesh().pieces();
    assert_eq!(pieces.len(), 1);
    assert!((pieces[0].mesh().signed_volume() - 47.0).abs() < 1e-12);
}

#[test]
fn overlapping_solids_are_cut_one_by_one() {
    let mut mesh = block([0.0; 3], [2.0; 3]);
    let other = block([1.0; 3], [3.0; 3]);
    mesh.vertices.extend(other.vertices);
    mesh.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + 8)));
    let halves = checked(&closed(mesh), &plane([0.0, 0.0, 1.0], 1.5));
    assert!((cap_area(&halves.back) - 8.0).abs() < 1e-12);
    assert_eq!(halves.back.mesh().pieces().len(), 2);
}

#[test]
fn a_ring_falls_apart_into_two() {
    let torus = levelset::Solid::Torus { major: 1.0, minor: 0.3 };
    let box_ = Aabb { min: Point3::from([-1.3; 3]), max: Point3::from([1.3; 3]) };
    let grid = Grid::enclosing(&box_, 0.08, 2, Grid::MAX_NODES).unwrap();
    let mesh = LevelSet::from_fn(grid, |p| torus.distance(&p)).isosurface();
    let axis = shortest_axis(&mesh);
    let across = Vector3::ith((axis + 1) % 3, 1.0);
    let halves = checked(&closed(mesh), &Plane::new(across, 0.6).unwrap());
    assert_eq!(halves.back.mesh().pieces().len(), 1);
    let halves = checked(halves.back.mesh(), &Plane::new(across, -0.6).unwrap());
    assert_eq!(halves.front.mesh().pieces().len(), 2);
}

fn shortest_axis(mesh: &TriMesh) -> usize {
    Aabb::around(&mesh.vertices).unwrap().extents().imin()
}

#[test]
fn attributes_are_carried_to_the_halves() {
    let block = unit_block();
    let color: Vec<Vector3<f64>> = block.mesh().vertices.iter().map(|p| p.coords * 2.0).collect();
    let mix = |a: &Vector3<f64>, b: &Vector3<f64>, share| a.lerp(b, share);
    let halves = checked(&block, &plane([1.0, 2.0, 3.0], 2.5));
    // texture coordinates that differ from face to face at the same vertex
    let seams: Vec<[Vector3<f64>; 3]> = (0..12)
        .map(|t| block.mesh().corners(t).map(|p| p.coords + Vector3::repeat(t as f64)))
        .collect();
    for half in [&halves.back, &halves.front] {
        let mesh = half.mesh().mesh();
        let colors = half.interpolated(&color, mix);
        assert_eq!(colors.len(), mesh.vertices.len());
        for (value, p) in colors.iter().zip(&mesh.vertices) {
            assert!((value - p.coords * 2.0).norm() < 1e-15);
        }
        let corners = half.interpolated_corners(block.mesh(), &seams, mix);
        assert_eq!(corners.len(), half.sources().len());
        for (t, (values, &source)) in corners.iter().zip(half.sources()).enumerate() {
            for (value, p) in values.iter().zip(mesh.corners(t)) {
                assert!((value - p.coords - Vector3::repeat(f64::from(source))).norm() < 1e-13);
            }
        }
        let cut = half.origins().iter().filter(|o| matches!(o, Origin::Edge { .. })).count();
        assert!(cut >= 6);
        let normals = half.corner_normals();
        assert!(!half.cap().is_empty());
        for t in half.cap() {
            assert_eq!(normals[t], [half.cap_normal(); 3]);
            let flat = mesh.area_vector(t).normalize();
            assert!((flat - *half.cap_normal()).norm() < 1e-12);
        }
        for (t, normals) in normals.iter().enumerate().take(half.sources().len()) {
            assert!(normals.iter().all(|n| n.dot(&mesh.area_vector(t)) > 0.0));
        }
    }
}

#[test]
fn a_mesh_that_bounds_nothing_is_refused_with_the_edge() {
    let whole = block([0.0; 3], [1.0; 3]);
    let broken = |change: &dyn Fn(&mut TriMesh)| {
        let mut mesh = whole.clone();
        change(&mut mesh);
        ClosedMesh::new(mesh).unwrap_err()
    };
    assert_eq!(ClosedMesh::new(TriMesh::default()).unwrap_err(), NotClosed::Empty);
    assert_eq!(broken(&|m| m.vertices[3].y = f64::NAN), NotClosed::NotFinite { vertex: 3 });
    let large = broken(&|m| m.vertices[3].y = 1e200);
    assert_eq!(large, NotClosed::TooLarge { vertex: 3 });
    let missing = NotClosed::NoSuchVertex { triangle: 2, vertex: 8, vertices: 8 };
    assert_eq!(broken(&|m| m.triangles[2][1] = 8), missing);
    let twice = NotClosed::Collapsed { triangle: 1, vertex: 7 };
    assert_eq!(broken(&|m| m.triangles[1] = [7, 7, 1]), twice);
    // without its last triangle, [4, 7, 6], the block is open along the edges of this triangle
    let open = broken(&|m| m.triangles.truncate(11));
    let NotClosed::Open { from, to } = open else { panic!("{open}") };
    assert!([[7, 4], [6, 7], [4, 6]].contains(&[from, to]), "{open}");
    let double = broken(&|m| m.triangles.push(m.triangles[0]));
    let NotClosed::NonManifold { from, to } = double else { panic!("{double}") };
    let [a, b, c] = whole.triangles[0];
    assert!([[a, b], [b, c], [c, a]].contains(&[from, to]));
    assert!(matches!(broken(&|m| m.triangles[0].reverse()), NotClosed::NonManifold { .. }));
}

#[test]
fn a_plane_needs_a_direction() {
    assert!(Plane::new(Vector3::zeros(), 1.0).is_none());
    assert!(Plane::new(Vector3::new(f64::NAN, 0.0, 1.0), 1.0).is_none());
    assert!(Plane::new(Vector3::x(), f64::INFINITY).is_none());
    let long = Plane::new(Vector3::new(0.0, 1e300, 1e300), 2e300).unwrap();
    assert!((long.offset() - 2f64.sqrt()).abs() < 1e-15);
    assert!((long.flipped().distance(&Point3::origin()) - 2f64.sqrt()).abs() < 1e-15);
}
