//! Promises of isosurface stuffing.

use levelset::{Grid, GridError, LevelSet, Solid, Stuffing, TetMesh};
use nalgebra::{Point3, Vector3};
use ndarray::Array3;
use proptest::prelude::*;

const LIMIT: usize = 1 << 24;

/// Any field, smooth or not: the angles promised hold for all.
fn rough() -> impl Strategy<Value = LevelSet> {
    let value = prop_oneof![-1.0f32..1.0, Just(-1.0)];
    proptest::collection::vec(value, 6 * 6 * 6).prop_map(|values| {
        let grid = Grid::new(Point3::origin(), 1.0, [6; 3], LIMIT).unwrap();
        LevelSet::from_values(grid, Array3::from_shape_vec((6, 6, 6), values).unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn stuffing_any_field_conforms_with_dihedral_angles_within_10_and_165_degrees(
        field in rough(),
        spacing in 0.2f64..1.5,
        doublings in 0u8..4,
    ) {
        let mesh = TetMesh::stuffed(&field, &Stuffing { spacing, doublings, limit: LIMIT }).unwrap();
        if !mesh.tets.is_empty() {
            prop_assert_eq!(mesh.validate(), Ok(()));
            let quality = mesh.quality();
            prop_assert!(quality.min_dihedral > 10.0, "{:?}", quality);
            prop_assert!(quality.max_dihedral < 165.0, "{:?}", quality);
            prop_assert_eq!(quality.inverted, 0);
            let facts = mesh.boundary().facts().unwrap();
            prop_assert!(facts.closed);
        }
    }
}

#[test]
fn stuffed_volume_converges_as_the_square_of_the_spacing_with_and_without_grading() {
    let torus = Solid::Torus { major: 0.3, minor: 0.15 };
    let exact = 2.0 * std::f64::consts::PI.powi(2) * 0.3 * 0.15_f64.powi(2);
    let grid = Grid::new(Point3::new(-0.5, -0.2, -0.5), 0.005, [201, 81, 201], LIMIT).unwrap();
    let level_set = LevelSet::from_fn(grid, |p| torus.distance(&p));
    for doublings in [0, 4] {
        let error = |spacing: f64| {
            let mesh = TetMesh::stuffed(&level_set, &Stuffing { spacing, doublings, limit: LIMIT })
                .unwrap();
            let facts = mesh.boundary().facts().unwrap();
            assert!(facts.closed && facts.oriented && facts.edge_manifold);
            assert_eq!((facts.components, facts.euler_number), (1, 0));
            exact - mesh.moments().volume
        };
        let (coarse, fine) = (error(0.04), error(0.02));
        let order = (coarse / fine).log2();
        assert!((1.5..2.6).contains(&order), "{coarse} then {fine}: order {order}");
    }
}

#[test]
fn grading_needs_fewer_tetrahedra_for_the_same_surface() {
    let ball = Solid::Sphere { radius: 1.0 };
    let grid = Grid::new(Point3::from([-1.2; 3]), 0.05, [49; 3], LIMIT).unwrap();
    let level_set = LevelSet::from_fn(grid, |p| ball.distance(&p));
    let mesh = |doublings| {
        TetMesh::stuffed(&level_set, &Stuffing { spacing: 0.04, doublings, limit: LIMIT }).unwrap()
    };
    let (uniform, graded) = (mesh(0), mesh(5));
    assert!(5 * graded.tets.len() < 4 * uniform.tets.len());
    assert_eq!(graded.validate(), Ok(()));
    assert_eq!(uniform.boundary_faces().len(), graded.boundary_faces().len());
    assert!((uniform.moments().volume - graded.moments().volume).abs() < 1e-9);
    assert!(graded.quality().min_dihedral > 10.0);
}

#[test]
fn a_lost_fin_shows_in_the_distance_from_the_solid_to_the_mesh() {
    // a plate of 0.05 stands 0.6 high on a block
    let block = Solid::Box { half_extents: Vector3::new(0.6, 0.3, 0.4) };
    let fin = Solid::Box { half_extents: Vector3::new(0.025, 0.3, 0.4) };
    let raised = Vector3::new(0.0, 0.6, 0.0);
    let grid = Grid::new(Point3::new(-0.8, -0.5, -0.6), 0.0125, [129, 121, 97], LIMIT).unwrap();
    let level_set =
        LevelSet::from_fn(grid, |p| block.distance(&p).min(fin.distance(&(p - raised))));
    let deviation = |spacing| {
        let stuffing = Stuffing { spacing, doublings: 2, limit: LIMIT };
        TetMesh::stuffed(&level_set, &stuffing).unwrap().deviation(&level_set)
    };
    let (coarse, fine) = (deviation(0.13), deviation(0.02));
    // most of the fin is gone, though all that is there is right
    assert!(coarse.from_mesh < 0.065, "{coarse:?}");
    assert!(coarse.from_level_set > 0.3 && coarse.from_level_set < 0.7, "{coarse:?}");
    assert!(fine.from_mesh < 0.02 && fine.from_level_set < 0.02, "{fine:?}");
    let nothing = TetMesh::default().deviation(&level_set);
    assert_eq!(nothing.from_level_set, f64::INFINITY);
}

#[test]
fn stuffing_checks_its_limit_before_it_allocates() {
    let ball = Solid::Sphere { radius: 1.0 };
    let grid = Grid::new(Point3::from([-1.2; 3]), 0.3, [9; 3], LIMIT).unwrap();
    let level_set = LevelSet::from_fn(grid, |p| ball.distance(&p));
    let tiny = Stuffing { spacing: 1e-6, doublings: 0, limit: LIMIT };
    assert!(matches!(TetMesh::stuffed(&level_set, &tiny), Err(GridError::TooLarge { .. })));
    let empty = level_set.offset(-2.0);
    let any = Stuffing { spacing: 0.1, doublings: 0, limit: LIMIT };
    assert_eq!(TetMesh::stuffed(&empty, &any), Ok(TetMesh::default()));
}

/// `3 r / R` of closed form, and the same for any place, size and order of corners.
#[test]
fn radius_ratios_are_those_of_closed_form() {
    let root = 3.0_f64.sqrt();
    let cases = [
        ([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]], 1.0),
        ([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], root - 1.0),
        // a sixth of a cube: 3 V / A = 1 / (2 + 2 sqrt 2), R = sqrt 3 / 2
        (
            [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]],
            3.0 / (2.0 + 2.0 * 2.0_f64.sqrt()) / (root / 2.0),
        ),
        ([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]], 0.0),
    ];
    for (corners, expected) in cases {
        for scale in [1e-3, 1.0, 40.0] {
            let place = |c: [f64; 3]| Point3::from(Vector3::from(c) * scale + Vector3::repeat(2.0));
            let vertices: Vec<Point3<f64>> = corners.map(place).to_vec();
            let mut mesh = TetMesh { vertices, tets: vec![[0, 1, 2, 3]] };
            if mesh.volume(0) < 0.0 {
                mesh.tets[0].swap(2, 3);
            }
            let quality = mesh.quality();
            assert!((quality.min_radius_ratio - expected).abs() < 1e-9, "{quality:?} {expected}");
            let mean = quality.mean_radius_ratio;
            assert!((quality.min_radius_ratio - mean).abs() < 1e-15, "{quality:?}");
        }
    }
}
