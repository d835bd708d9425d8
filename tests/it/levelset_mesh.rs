//! Signed distance of real meshes against exact queries of another library.

use std::path::Path;

use brisance_tests::properties;
use levelset::{Aabb, Grid, LevelSet, Sign, TriMesh};
use nalgebra::{Isometry3, Point3, Vector3};
use parry3d::math::Vector;
use parry3d::query::PointQuery;
use parry3d::shape::{TriMesh as ParryMesh, TriMeshFlags};
use proptest::prelude::*;

pub(crate) fn asset(name: &str) -> TriMesh {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets");
    brisance::mesh_file::read_mesh(&Path::new(folder).join(name)).unwrap()
}

fn grid_around(mesh: &TriMesh, cells: usize) -> Grid {
    let bounds = Aabb::around(&mesh.vertices).unwrap();
    let spacing = bounds.extents().max() / cells as f64;
    Grid::enclosing(&bounds, spacing, 3, Grid::MAX_NODES).unwrap()
}

fn parry(mesh: &TriMesh) -> ParryMesh {
    let vertices = mesh.vertices.iter().map(|v| Vector::new(v.x, v.y, v.z)).collect();
    ParryMesh::with_flags(vertices, mesh.triangles.clone(), TriMeshFlags::ORIENTED).unwrap()
}

/// Winding number by the definition: all solid angles (Van Oosterom and Strackee 1983).
fn winding(mesh: &TriMesh, p: &Point3<f64>) -> f64 {
    let angle = |t: usize| {
        let [a, b, c] = mesh.corners(t).map(|q| q - p);
        let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
        let down = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
        2.0 * a.dot(&b.cross(&c)).atan2(down)
    };
    (0..mesh.triangles.len()).map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
}

fn nodes(grid: &Grid) -> impl Iterator<Item = [usize; 3]> {
    let [nx, ny, nz] = grid.dims();
    (0..nx).flat_map(move |i| (0..ny).flat_map(move |j| (0..nz).map(move |k| [i, j, k])))
}

#[test]
fn distance_to_real_meshes_is_exact_near_them_and_no_sign_is_wrong() {
    for (name, cells) in [("bunny.obj", 50), ("bob_small.obj", 40), ("diff_carrier.obj", 40)] {
        let mesh = asset(name);
        let grid = grid_around(&mesh, cells);
        let level_set = LevelSet::from_mesh(&mesh, grid, Sign::Strict).unwrap();
        let reference = parry(&mesh);
        let h = grid.spacing();
        for node in nodes(&grid).step_by(37) {
            let value = level_set.values()[node];
            if f64::from(value).abs() > 1e-6 * h {
                let expected = winding(&mesh, &grid.position(node)) > 0.5;
                assert_eq!(value < 0.0, expected, "{name} at {node:?}");
            }
        }
        let (mut near, mut far, mut count) = (0.0_f64, 0.0, 0);
        for node in nodes(&grid) {
            let p = grid.position(node);
            let at = Vector::new(p.x, p.y, p.z);
            let projection = reference.project_local_point(at, false);
            let distance = (projection.point - at).length();
            let got = f64::from(level_set.values()[node]);
            let error = (got.abs() - distance).abs() / h;
            if distance < 3.0 * h {
                near = near.max(error);
            } else {
                far += error;
                count += 1;
            }
            // on the surface the sign is undefined
            if distance > 1e-9 * h {
                // pseudo-normals are sometimes wrong; the sum of solid angles is not
                let inside = got < 0.0;
                let agrees = inside == projection.is_inside || inside == (winding(&mesh, &p) > 0.5);
                assert!(agrees, "{name} at {p}, {distance} away");
            }
        }
        assert!(near < 1e-4, "{name}: {near} cells near the surface");
        let mean = far / f64::from(count);
        assert!(mean < 0.05, "{name}: {mean} cells on average away from it");
    }
}

#[test]
fn overlapping_parts_become_one_solid() {
    let mesh = asset("ant_15parts.obj");
    assert_eq!(mesh.facts().unwrap().components, 15);
    let grid = grid_around(&mesh, 150);
    let level_set = LevelSet::from_mesh(&mesh, grid, Sign::Strict).unwrap();
    let volume = level_set.subcell_moments().volume;
    // overlapping parts count once
    assert!(volume < mesh.signed_volume() && volume > 0.9 * mesh.signed_volume());
    let mut inside = 0;
    for node in nodes(&grid).step_by(61) {
        let value = level_set.values()[node];
        if f64::from(value).abs() > 1e-6 * grid.spacing() {
            let expected = winding(&mesh, &grid.position(node)) > 0.5;
            assert_eq!(value < 0.0, expected, "at {node:?}");
            inside += usize::from(expected);
        }
    }
    assert!(inside > 50);
}

/// A cube of edge 1 m with its lowest corner at `at`.
fn cube(at: [f64; 3]) -> TriMesh {
    let corners = Aabb { min: at.into(), max: at.map(|x| x + 1.0).into() }.corners();
    levelset::ConvexHull::new(&corners).unwrap().mesh().clone()
}

fn both(mut a: TriMesh, b: &TriMesh) -> TriMesh {
    let first = a.vertices.len() as u32;
    a.vertices.extend(&b.vertices);
    a.triangles.extend(b.triangles.iter().map(|t| t.map(|v| v + first)));
    a
}

/// The winding number is two where parts overlap.
#[test]
fn parts_that_overlap_are_found_and_parts_that_touch_are_not() {
    assert!(asset("ant_15parts.obj").overlaps_itself());
    for file in ["bunny.obj", "bowl.obj", "bob_small.obj", "shape_sorter.obj", "diff_carrier.obj"] {
        assert!(!asset(file).overlaps_itself(), "{file}");
    }
    let one = cube([0.0; 3]);
    assert!(!one.overlaps_itself());
    for (at, overlaps) in [
        ([0.9, 0.3, 0.2], true),
        ([0.0, 0.0, 0.0], true),
        ([1.0, 0.0, 0.0], false),
        ([1.0, 0.4, 0.3], false),
        ([3.0, 0.0, 0.0], false),
    ] {
        assert_eq!(both(one.clone(), &cube(at)).overlaps_itself(), overlaps, "{at:?}");
    }
    // a cavity
    let mut inner = cube([0.0; 3]);
    inner.vertices.iter_mut().for_each(|p| *p = Point3::from((p.coords * 0.5).add_scalar(0.25)));
    inner.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    assert!(!both(one, &inner).overlaps_itself());
    assert!(!TriMesh::default().overlaps_itself());
}

#[test]
fn a_hole_in_the_bunny_is_closed_without_changing_the_rest() {
    let whole = asset("bunny.obj");
    let mut torn = whole.clone();
    torn.triangles.retain(|t| !t.contains(&whole.triangles[100][0]));
    let grid = grid_around(&whole, 40);
    let exact = LevelSet::from_mesh(&whole, grid, Sign::Strict).unwrap();
    let closed = LevelSet::from_mesh(&torn, grid, Sign::Winding).unwrap();
    let differ = exact
        .as_slice()
        .iter()
        .zip(closed.as_slice())
        .filter(|(a, b)| (**a < 0.0) != (**b < 0.0))
        .count();
    assert!(differ <= 8, "{differ} signs differ");
    assert!(closed.isosurface().facts().unwrap().closed);
}

#[test]
fn signs_of_an_open_mesh_are_those_of_its_winding_number() {
    let mut mesh = asset("bunny.obj");
    // a large hole, and many small ones
    let top = Aabb::around(&mesh.vertices).unwrap().max.y;
    let high = |mesh: &TriMesh, t: &[u32; 3]| mesh.vertices[t[0] as usize].y > 0.75 * top;
    let kept = mesh.triangles.iter().enumerate();
    let kept = kept.filter(|(n, t)| !high(&mesh, t) && n % 97 != 0).map(|(_, t)| *t).collect();
    mesh.triangles = kept;
    let grid = grid_around(&mesh, 40);
    let level_set = LevelSet::from_mesh(&mesh, grid, Sign::Winding).unwrap();
    let mut inside = 0;
    for node in nodes(&grid).step_by(13) {
        let exact = winding(&mesh, &grid.position(node));
        // sums over distant groups of triangles have errors of about a hundredth
        if (exact - 0.5).abs() > 0.02 && level_set.values()[node].abs() > 1e-6 {
            assert_eq!(level_set.values()[node] < 0.0, exact > 0.5, "{exact} at {node:?}");
            inside += usize::from(exact > 0.5);
        }
    }
    assert!(inside > 500, "{inside}");
}

#[test]
fn the_same_bits_come_out_for_any_number_of_threads() {
    let mesh = asset("bunny.obj");
    let grid = grid_around(&mesh, 40);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| LevelSet::from_mesh(&mesh, grid, Sign::Strict).unwrap())
    };
    assert_eq!(run(1).as_slice(), run(3).as_slice());
}

#[test]
fn bunny_to_level_set_to_mesh_stays_within_one_cell() {
    let mesh = asset("bunny.obj");
    let grid = grid_around(&mesh, 60);
    let again = LevelSet::from_mesh(&mesh, grid, Sign::Strict).unwrap().isosurface();
    let facts = again.facts().unwrap();
    assert!(facts.closed && facts.oriented && facts.edge_manifold);
    assert_eq!((facts.components, facts.euler_number), (1, 2));
    for (from, to) in [(&mesh, &again), (&again, &mesh)] {
        let to = parry(to);
        for t in 0..from.triangles.len() {
            let corners = from.corners(t);
            let middle = Point3::from(corners.iter().map(|p| p.coords).sum::<Vector3<f64>>() / 3.0);
            for p in corners.iter().chain([&middle]) {
                let p = Vector::new(p.x, p.y, p.z);
                let distance = (to.project_local_point(p, false).point - p).length();
                assert!(distance < grid.spacing(), "{distance} at {p}");
            }
        }
    }
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn moving_a_mesh_and_its_grid_moves_its_level_set(
        angles in [-3.0f64..3.0, -3.0..3.0, -3.0..3.0],
        shift in [-5.0f64..5.0, -5.0..5.0, -5.0..5.0],
    ) {
        let mesh = asset("bob_small.obj");
        let pose = Isometry3::new(shift.into(), angles.into());
        let moved = TriMesh {
            vertices: mesh.vertices.iter().map(|v| pose * v).collect(),
            triangles: mesh.triangles.clone(),
        };
        let (grid, moved_grid) = (grid_around(&mesh, 40), grid_around(&moved, 40));
        let h = grid.spacing().max(moved_grid.spacing());
        let here = LevelSet::from_mesh(&mesh, grid, Sign::Strict).unwrap();
        let there = LevelSet::from_mesh(&moved, moved_grid, Sign::Strict).unwrap();
        for p in &mesh.vertices {
            let difference = here.value(p) - there.value(&(pose * p));
            prop_assert!(difference.abs() < h, "{}", difference / h);
        }
        let (a, b) = (here.subcell_moments(), there.subcell_moments());
        prop_assert!((a.volume / b.volume - 1.0).abs() < 0.01);
        prop_assert!((pose * a.center() - b.center()).norm() < 0.1 * h);
    }
}
