//! Properties of isosurface stuffing.

use brisance_tests::properties;
use levelset::{Aabb, Grid, GridError, LevelSet, Sign, Solid, Stuffing, TetMesh};
use nalgebra::{Point3, Vector3};
use ndarray::Array3;
use proptest::prelude::*;

const LIMIT: usize = 1 << 24;

/// Any field, smooth or not: the bounds of angles hold for all.
fn rough() -> impl Strategy<Value = LevelSet> {
    let value = prop_oneof![-1.0f32..1.0, Just(-1.0)];
    proptest::collection::vec(value, 6 * 6 * 6).prop_map(|values| {
        let grid = Grid::new(Point3::origin(), 1.0, [6; 3], LIMIT).unwrap();
        LevelSet::from_values(grid, Array3::from_shape_vec((6, 6, 6), values).unwrap())
    })
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn stuffing_any_field_conforms_with_dihedral_angles_within_10_and_165_degrees(
        field in rough(),
        spacing in 0.2f64..1.5,
        doublings in 0u8..4,
    ) {
        let mesh = TetMesh::stuffed(&field, &Stuffing { spacing, doublings, halvings: 0, limit: LIMIT }).unwrap();
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

properties! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Of 4,000 random solids the worst angles were 3.8 and 167.6 degrees.
    #[test]
    fn stuffing_with_halved_cells_conforms_whatever_the_field(
        field in rough(),
        spacing in 0.8f64..2.5,
        doublings in 0u8..3,
        halvings in 1u8..4,
    ) {
        let stuffing = Stuffing { spacing, doublings, halvings, limit: LIMIT };
        let mesh = TetMesh::stuffed(&field, &stuffing).unwrap();
        if !mesh.tets.is_empty() {
            prop_assert_eq!(mesh.validate(), Ok(()));
            let quality = mesh.quality();
            prop_assert!(quality.min_dihedral > 1.5, "{:?}", quality);
            prop_assert!(quality.max_dihedral < 177.0, "{:?}", quality);
            prop_assert!(mesh.boundary().facts().unwrap().closed);
        }
    }
}

/// Bodies with parts thinner than a cell: level set, volume, and the size of the cells.
fn thin_solids() -> Vec<(&'static str, LevelSet, f64, f64)> {
    let sampled = |half: f64, spacing: f64, distance: &dyn Fn(&Point3<f64>) -> f64| {
        let nodes = (2.0 * half / spacing).ceil() as usize + 1;
        let grid = Grid::new(Point3::from([-half; 3]), spacing, [nodes; 3], LIMIT).unwrap();
        LevelSet::from_fn(grid, |p| distance(&p))
    };
    let plate = Solid::Box { half_extents: Vector3::new(0.5, 0.04, 0.5) };
    // a bottom of 0.08 and a wall of 0.06
    let cup = |p: &Point3<f64>| {
        let r = p.x.hypot(p.z);
        let within = |r: f64, radius: f64, y: f64, low: f64, high: f64| {
            (r - radius).max(low - y).max(y - high)
        };
        within(r, 0.4, p.y, -0.5, 0.5).max(-within(r, 0.34, p.y, -0.42, 1.0))
    };
    let cup_volume = std::f64::consts::PI * (0.16 * 1.0 - 0.34_f64.powi(2) * 0.92);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/bunny.obj");
    let bunny = brisance::mesh_file::read_mesh(path.as_ref()).unwrap();
    let bounds = Aabb::around(&bunny.vertices).unwrap();
    let grid = Grid::enclosing(&bounds, 0.16, 3, LIMIT).unwrap();
    let samples = LevelSet::from_mesh(&bunny, grid, Sign::Winding).unwrap();
    vec![
        ("plate", sampled(0.6, 0.015, &|p| plate.distance(p)), 0.08, 0.2),
        ("cup", sampled(0.6, 0.015, &cup), cup_volume, 0.16),
        ("bunny", samples, bunny.signed_volume(), 0.95),
    ]
}

#[test]
fn thin_parts_are_kept_within_a_cell_where_cells_may_be_halved() {
    for (name, solid, volume, spacing) in thin_solids() {
        let of = |halvings| {
            let stuffing = Stuffing { spacing, doublings: 0, halvings, limit: LIMIT };
            TetMesh::stuffed(&solid, &stuffing).unwrap()
        };
        let (uniform, graded) = (of(0), of(3));
        let lost = |mesh: &TetMesh| mesh.deviation(&solid).from_level_set;
        assert!(lost(&uniform) > 1.5 * spacing || uniform.components().count > 1, "{name}");
        let deviation = graded.deviation(&solid);
        let facts = (name, deviation, graded.tets.len(), graded.moments().volume / volume);
        assert_eq!(graded.validate(), Ok(()), "{facts:?}");
        assert_eq!(graded.components().count, 1, "{facts:?}");
        assert!(deviation.from_level_set < 0.6 * spacing, "{facts:?}");
        assert!(deviation.from_mesh < 0.5 * spacing, "{facts:?}");
        assert!((0.9..1.02).contains(&facts.3), "{facts:?}");
        assert!(graded.quality().min_dihedral > 3.0, "{facts:?} {:?}", graded.quality());
    }
}

#[test]
fn solids_without_thin_parts_are_filled_the_same_whether_cells_may_be_halved_or_not() {
    let block = Solid::Box { half_extents: Vector3::new(0.6, 0.3, 0.4) };
    let grid = Grid::new(Point3::new(-0.8, -0.5, -0.6), 0.025, [65, 41, 49], LIMIT).unwrap();
    let level_set = LevelSet::from_fn(grid, |p| block.distance(&p));
    for spacing in [0.1, 0.2, 0.3] {
        let of = |halvings| {
            let stuffing = Stuffing { spacing, doublings: 2, halvings, limit: LIMIT };
            TetMesh::stuffed(&level_set, &stuffing).unwrap()
        };
        assert!(of(0) == of(3), "{spacing}");
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
            let mesh = TetMesh::stuffed(
                &level_set,
                &Stuffing { spacing, doublings, halvings: 0, limit: LIMIT },
            )
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
        TetMesh::stuffed(
            &level_set,
            &Stuffing { spacing: 0.04, doublings, halvings: 0, limit: LIMIT },
        )
        .unwrap()
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
        let stuffing = Stuffing { spacing, doublings: 2, halvings: 0, limit: LIMIT };
        TetMesh::stuffed(&level_set, &stuffing).unwrap().deviation(&level_set)
    };
    let (coarse, fine) = (deviation(0.13), deviation(0.02));
    // most of the fin is missing, but all remaining parts are correct
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
    let tiny = Stuffing { spacing: 1e-6, doublings: 0, halvings: 0, limit: LIMIT };
    assert!(matches!(TetMesh::stuffed(&level_set, &tiny), Err(GridError::TooLarge { .. })));
    let empty = level_set.offset(-2.0);
    let any = Stuffing { spacing: 0.1, doublings: 0, halvings: 0, limit: LIMIT };
    assert_eq!(TetMesh::stuffed(&empty, &any), Ok(TetMesh::default()));
}

/// `3 r / R` in closed form, invariant under position, size and order of corners.
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
