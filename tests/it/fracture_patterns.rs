//! Properties of patterns: drawing, sampling and display.

use brisance_tests::properties;
use fracture::{Alignment, Pattern, Voronoi, shatter};
use levelset::{Aabb, Grid, LevelSet, Solid, TriMesh};
use nalgebra::{Point3, UnitQuaternion, Vector3};
use ndarray::Array2;
use proptest::prelude::*;

use crate::fracture::{block, impact, particles, regions, unturned, vector};

#[test]
fn a_picture_of_a_pattern_shows_its_regions_and_cuts() {
    let sites = [Point3::new(-0.5, 0.0, 0.0), Point3::new(0.5, 0.0, 0.0)];
    let pattern = Pattern::voronoi_of(&sites, &Vector3::repeat(1.0)).unwrap();
    let picture = pattern.slice(&Point3::origin(), &Vector3::x(), &Vector3::y(), 64);
    assert_eq!(picture.dim(), (64, 64));
    for row in picture.rows() {
        // the cut runs down the middle
        assert!((0..64).all(|column| (row[column] == [0; 3]) == (column == 31)));
        assert!(row[0] != row[63] && row[0] == row[30]);
    }
    let none = pattern.slice(&Point3::origin(), &Vector3::x(), &Vector3::y(), 0);
    assert_eq!(none.len(), 0);
}

properties! {
    #[test]
    fn a_pattern_sampled_on_the_nodes_of_the_body_breaks_it_alike(
        sites in 2_usize..40,
        seed in any::<u64>(),
        at in vector(0.4),
    ) {
        let body = block(Vector3::new(0.4, 0.1, 0.3));
        let grid = body.grid();
        let pattern = Pattern::voronoi(&Voronoi::new(sites, seed)).unwrap();
        let fast = impact(&body, at, Vector3::y_axis()).snapped(grid);
        let spacing = grid.spacing() / fast.scale;
        let bounds = Aabb { min: Point3::new(-1.0, -0.5, -1.0), max: Point3::new(1.0, 0.5, 1.0) };
        let sampled = pattern.sampled(&bounds, spacing).unwrap();
        // and without rotation, but off the nodes, to test interpolation
        let general = Alignment { at: fast.at + Vector3::repeat(0.01 * grid.spacing()), ..fast };
        let exact = regions(&body, &pattern, &fast);
        for (at, tolerance) in [(fast, 1e-6), (general, 0.1 * spacing)] {
            let other = regions(&body, &sampled, &at);
            for (node, (a, b)) in exact.iter().zip(&other).enumerate() {
                prop_assert_eq!(a.is_some(), b.is_some());
                let (Some(a), Some(b)) = (*a, *b) else { continue };
                if a == b {
                    continue;
                }
                let [_, ny, nz] = grid.dims();
                let node = [node / (ny * nz), node / nz % ny, node % nz];
                let p = fast.transform().inverse_transform_point(&grid.position(node));
                let tied = (pattern.value(a, &p) - pattern.value(b, &p)).abs() < tolerance;
                prop_assert!(tied, "{a} {b} {at:?}");
            }
        }
    }
}

#[test]
fn a_snapped_impact_moves_by_half_a_cell_at_most() {
    let body = block(Vector3::repeat(0.3));
    let at = impact(&body, Vector3::new(0.123, -0.456, 0.789), -Vector3::z_axis());
    let snapped = at.snapped(body.grid());
    let cells = (snapped.at - body.grid().origin()) / body.grid().spacing();
    assert!(cells.iter().all(|x| (x - x.round()).abs() < 1e-9));
    assert!((snapped.at - at.at).amax() <= 0.5 * body.grid().spacing() + 1e-12);
    assert_eq!(snapped.rotation, UnitQuaternion::identity());
}

/// A closed box.
fn box_mesh(min: [f64; 3], max: [f64; 3]) -> TriMesh {
    let solid = Solid::Box { half_extents: (Vector3::from(max) - Vector3::from(min)) / 2.0 };
    let bounds = Aabb { min: Point3::from(min), max: Point3::from(max) };
    let grid = Grid::enclosing(&bounds, 0.05, 3, Grid::MAX_NODES).unwrap();
    LevelSet::from_fn(grid, |p| solid.distance(&(p - bounds.center().coords))).isosurface()
}

#[test]
fn meshes_that_leave_a_gap_still_divide_all_of_the_body() {
    let meshes = [box_mesh([-1.0; 3], [-0.1, 1.0, 1.0]), box_mesh([0.06, -1.0, -1.0], [1.0; 3])];
    let pattern = Pattern::from_meshes(&meshes, 0.06).unwrap();
    let body = block(Vector3::new(0.4, 0.2, 0.2));
    let at = unturned(1.0);
    let broken = shatter(&body, &particles(&body), &pattern, &at, 8);
    assert_eq!(broken.fragments.len(), 2);
    // the cut is in the middle of the gap, at x = -0.02
    let bond = broken.bonds[0];
    assert!((bond.center.x + 0.02).abs() < 0.01, "{}", bond.center);
    assert!((bond.area / (0.4 * 0.4) - 1.0).abs() < 0.2, "{}", bond.area);
}

#[test]
fn a_mesh_without_triangles_is_named() {
    let meshes = [box_mesh([-1.0; 3], [0.0, 1.0, 1.0]), TriMesh::default()];
    let error = Pattern::from_meshes(&meshes, 0.1).unwrap_err().to_string();
    assert!(error.starts_with("the mesh of region 1"), "{error}");
}

#[test]
fn a_picture_without_two_pixels_each_way_is_refused() {
    for (size, side) in [((0, 0), "rows"), ((1, 5), "rows"), ((5, 1), "columns")] {
        let error = Pattern::from_picture(&Array2::zeros(size), 1.0).unwrap_err().to_string();
        let least = if size.0 == 0 { 0 } else { 1 };
        assert_eq!(error, format!("{side} of pixels must be at least 2, not {least}"));
    }
}

#[test]
fn a_picture_cuts_out_its_regions_at_every_depth() {
    // a disc of radius 20 pixels in 64 x 64, two units wide
    let label =
        |(z, x): (usize, usize)| u32::from((x as f64 - 31.5).hypot(z as f64 - 31.5) < 20.0) * 7;
    let pattern = Pattern::from_picture(&Array2::from_shape_fn((64, 64), label), 2.0).unwrap();
    assert_eq!(pattern.region_count(), 2);
    let body = block(Vector3::new(0.4, 0.3, 0.4));
    let broken = shatter(&body, &[], &pattern, &unturned(0.5), 8);
    assert_eq!(broken.fragments.iter().map(|f| f.regions[0]).collect::<Vec<_>>(), [0, 1]);
    let radius = 20.0 / 32.0 * 0.5;
    let volume = std::f64::consts::PI * radius * radius * 0.6;
    let disc = &broken.fragments[1];
    assert!((disc.moments.volume / volume - 1.0).abs() < 0.05, "{}", disc.moments.volume / volume);
}
