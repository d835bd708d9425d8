//! Properties of sampling, integrals, compact storage and the binary format.

use brisance_tests::properties;
use levelset::{CompactLevelSet, Grid, GridError, LevelSet, ReadError, Solid};
use nalgebra::{Matrix3, Point3, Vector3};
use proptest::prelude::*;

const LIMIT: usize = 1 << 24;

fn sampled(solid: Solid, half: f64, nodes: usize) -> LevelSet {
    let spacing = 2.0 * half / (nodes - 1) as f64;
    let grid = Grid::new(Point3::from([-half; 3]), spacing, [nodes; 3], LIMIT).unwrap();
    LevelSet::from_fn(grid, |p| solid.distance(&p))
}

properties! {
    #[test]
    fn sampling_many_points_is_sampling_each(
        points in proptest::collection::vec([-1.5f64..1.5, -1.5f64..1.5, -1.5f64..1.5], 0..40),
    ) {
        let field = sampled(Solid::Torus { major: 0.6, minor: 0.2 }, 1.0, 12);
        let points: Vec<Point3<f64>> = points.into_iter().map(Point3::from).collect();
        let mut values = vec![0.0; points.len()];
        field.sample(&points, &mut values);
        for (p, value) in points.iter().zip(values) {
            prop_assert_eq!(value.to_bits(), field.value(p).to_bits());
        }
    }

    #[test]
    fn compact_storage_keeps_signs_and_its_error_bound(band in 0.05f64..0.5, scale in 1e-5f64..1.0) {
        let field = sampled(Solid::Sphere { radius: 0.7 * scale }, scale, 14);
        let band = band * scale;
        let compact = CompactLevelSet::new(&field, band);
        let back = compact.expanded();
        prop_assert_eq!(field.grid(), back.grid());
        for (a, b) in field.as_slice().iter().zip(back.as_slice()) {
            prop_assert_eq!(*a < 0.0, *b < 0.0);
            let (a, b) = (f64::from(*a), f64::from(*b));
            prop_assert!((a.clamp(-band, band) - b).abs() <= compact.error_bound());
        }
    }

    #[test]
    fn reading_any_bytes_ends_in_an_error_or_a_level_set(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
        genuine in any::<bool>(),
    ) {
        if genuine && bytes.len() >= 8 {
            bytes[..8].copy_from_slice(b"BRLS\x01\0\0\0");
        }
        let _ = LevelSet::read_from(&mut bytes.as_slice(), LIMIT);
        let _ = CompactLevelSet::read_from(&mut bytes.as_slice(), LIMIT);
    }
}

#[test]
fn binary_form_comes_back_bit_for_bit() {
    let field = sampled(Solid::Cone { half_height: 0.7, radius: 0.4 }, 1.0, 17);
    let mut bytes = Vec::new();
    field.write_to(&mut bytes).unwrap();
    assert_eq!(bytes.len(), 72 + 4 * field.as_slice().len());
    assert_eq!(LevelSet::read_from(&mut bytes.as_slice(), LIMIT).unwrap(), field);
    let compact = CompactLevelSet::new(&field, 0.2);
    let mut small = Vec::new();
    compact.write_to(&mut small).unwrap();
    assert_eq!(CompactLevelSet::read_from(&mut small.as_slice(), LIMIT).unwrap(), compact);
    let other = LevelSet::read_from(&mut small.as_slice(), LIMIT);
    assert!(matches!(other, Err(ReadError::Kind { found: 1, expected: 0 })));
    assert!(other.unwrap_err().to_string().ends_with("kind 1 as `CompactLevelSet`"));
    let overflows = Grid::new(Point3::from([1e308; 3]), 1e308, [2; 3], LIMIT).unwrap_err();
    assert!(overflows.to_string().ends_with("(spacing 1e308)"), "{overflows}");
    let short = LevelSet::read_from(&mut &bytes[..bytes.len() - 1], LIMIT);
    assert!(matches!(short, Err(ReadError::Io(_))));
    let large = LevelSet::read_from(&mut bytes.as_slice(), 4912);
    assert!(matches!(large, Err(ReadError::Grid(GridError::TooLarge { .. }))));
    bytes[4] = 9;
    let newer = LevelSet::read_from(&mut bytes.as_slice(), LIMIT);
    assert!(matches!(newer, Err(ReadError::Version { version: 9 })));
    bytes[0] = b'X';
    assert!(matches!(
        LevelSet::read_from(&mut bytes.as_slice(), LIMIT),
        Err(ReadError::NotALevelSet)
    ));
}

/// Exact volume and second moment about the y axis of each solid.
fn exact_moments(solid: Solid) -> (f64, f64) {
    let pi = std::f64::consts::PI;
    match solid {
        Solid::Sphere { radius: r } => {
            let v = 4.0 / 3.0 * pi * r.powi(3);
            (v, 0.4 * v * r * r)
        }
        Solid::Torus { major, minor } => {
            let v = 2.0 * pi * pi * major * minor * minor;
            (v, v * (major * major + 0.75 * minor * minor))
        }
        Solid::Box { half_extents: e } => {
            let v = 8.0 * e.product();
            (v, v / 3.0 * (e.x * e.x + e.z * e.z))
        }
        _ => unreachable!(),
    }
}

#[test]
fn subcell_moments_converge_at_second_order_and_cell_signs_at_least_at_first() {
    for solid in [Solid::Sphere { radius: 0.71 }, Solid::Torus { major: 0.55, minor: 0.23 }] {
        let (volume, inertia) = exact_moments(solid);
        let errors = [24, 47, 93].map(|nodes| {
            let field = sampled(solid, 1.0, nodes);
            let (fine, plain) = (field.subcell_moments(), field.moments());
            assert!(fine.center().coords.norm() < 1e-6);
            [
                (fine.volume / volume - 1.0).abs(),
                (fine.inertia()[(1, 1)] / inertia - 1.0).abs(),
                (plain.volume / volume - 1.0).abs(),
            ]
        });
        for quantity in 0..2 {
            let order = (errors[0][quantity] / errors[2][quantity]).log2() / 2.0;
            assert!((1.8..2.2).contains(&order), "{solid:?}: {errors:?} order {order}");
        }
        // first order at worst; sign errors cancel partly
        assert!(errors[2][2] < 1.0 / 46.0, "{errors:?}");
    }
}

#[test]
fn moments_of_a_box_converge_too() {
    let half_extents = Vector3::new(0.71, 0.37, 0.53);
    let solid = Solid::Box { half_extents };
    let (volume, inertia) = exact_moments(solid);
    for nodes in [24, 47, 93, 185] {
        let field = sampled(solid, 1.0, nodes);
        let h = field.grid().spacing() / half_extents.min();
        let (fine, plain) = (field.subcell_moments(), field.moments());
        // edges are cut off, and faces may lie just before or behind nodes
        assert!((fine.volume / volume - 1.0).abs() < h * h);
        assert!((fine.inertia()[(1, 1)] / inertia - 1.0).abs() < 2.0 * h * h);
        assert!((plain.volume / volume - 1.0).abs() < 2.0 * h);
    }
}

#[test]
fn subcell_moments_of_half_a_box_are_exact() {
    let grid = Grid::new(Point3::new(1.0, 2.0, 3.0), 0.1, [11; 3], LIMIT).unwrap();
    let plane = Solid::HalfSpace { normal: Vector3::x_axis(), offset: 1.437 };
    let moments = LevelSet::from_fn(grid, |p| plane.distance(&p)).subcell_moments();
    let half = Solid::Box { half_extents: Vector3::new(0.437 / 2.0, 0.5, 0.5) };
    assert!((moments.volume - 0.437).abs() < 1e-7);
    assert!((moments.center() - Point3::new(1.2185, 2.5, 3.5)).norm() < 1e-7);
    let (_, inertia) = exact_moments(half);
    assert!((moments.inertia()[(1, 1)] - inertia).abs() < 1e-7);
    let off_diagonal = moments.central() - Matrix3::from_diagonal(&moments.central().diagonal());
    assert!(off_diagonal.norm() < 1e-7);
}

#[test]
fn dual_contouring_keeps_the_corners_of_a_box_and_closes() {
    let half_extents = Vector3::new(0.53, 0.61, 0.47);
    let field = sampled(Solid::Box { half_extents }, 1.0, 41);
    let mesh = field.dual_contour();
    let facts = mesh.facts().unwrap();
    assert!(facts.closed && facts.oriented && facts.edge_manifold);
    assert_eq!(facts.euler_number, 2);
    assert!(mesh.signed_volume() > 0.0);
    let corner = Point3::from(half_extents);
    let nearest = |mesh: &levelset::TriMesh| {
        mesh.vertices.iter().map(|v| (v - corner).norm()).fold(f64::INFINITY, f64::min)
    };
    // marching cubes cuts the corner off
    let (sharp, blunt) = (nearest(&mesh), nearest(&field.isosurface()));
    assert!(sharp < 0.25 * blunt && sharp < 0.005, "{sharp} against {blunt}");
    let exact = 8.0 * half_extents.product();
    let error = |mesh: &levelset::TriMesh| (mesh.signed_volume() / exact - 1.0).abs();
    assert!(error(&mesh) < 0.5 * error(&field.isosurface()), "{}", error(&mesh));
}
