//! Properties of analytic and convex solids, and of set operations on them.

use brisance_tests::properties;
use levelset::{Aabb, ConvexHull, Grid, HullError, LevelSet, MeshError, Solid, UpwindOrder};
use nalgebra::{Point3, Vector3};
use parry3d::math::Vector;
use parry3d::query::PointQuery;
use parry3d::shape::ConvexPolyhedron;
use proptest::prelude::*;

fn grid(half: f64, nodes: usize) -> Grid {
    let spacing = 2.0 * half / (nodes - 1) as f64;
    Grid::new(Point3::from([-half; 3]), spacing, [nodes; 3], 1 << 24).unwrap()
}

fn point(half: f64) -> impl Strategy<Value = Point3<f64>> {
    [-half..half, -half..half, -half..half].prop_map(Point3::from)
}

/// Coordinates with few values, so that many points coincide or share lines and planes.
fn lattice_point() -> impl Strategy<Value = Point3<f64>> {
    [-2i8..3, -2i8..3, -2i8..3].prop_map(|p| Point3::from(p.map(f64::from)))
}

properties! {
    #[test]
    fn distance_to_a_convex_hull_is_that_of_another_library(
        points in proptest::collection::vec(point(1.0), 4..40),
        queries in proptest::collection::vec(point(2.0), 20),
    ) {
        let hull = ConvexHull::new(&points).unwrap();
        let facts = hull.mesh().facts().unwrap();
        prop_assert!(facts.closed && facts.oriented && facts.edge_manifold);
        prop_assert_eq!((facts.components, facts.euler_number), (1, 2));
        let vector = |p: &Point3<f64>| Vector::new(p.x, p.y, p.z);
        let reference = ConvexPolyhedron::from_convex_hull(
            &points.iter().map(vector).collect::<Vec<_>>(),
        );
        for q in &queries {
            let got = hull.distance(q);
            if let Some(reference) = &reference {
                let expected = reference.distance_to_local_point(vector(q), true);
                prop_assert!((got.max(0.0) - expected).abs() < 1e-6, "{} {}", got, expected);
            }
            // inside, the distance is that of the nearest plane: the radius of the largest inner
            // ball
            if got < 0.0 {
                let corners = hull.mesh().triangles.iter().zip(0..);
                let nearest = corners
                    .map(|(_, t)| {
                        let n = hull.mesh().area_vector(t).normalize();
                        n.dot(&(hull.mesh().corners(t)[0] - q))
                    })
                    .fold(f64::INFINITY, f64::min);
                prop_assert!((nearest + got).abs() < 1e-9);
            }
        }
        for p in &points {
            prop_assert!(hull.distance(p) < 1e-12);
        }
    }

    #[test]
    fn hulls_of_points_in_common_planes_are_closed_and_hold_their_points(
        points in proptest::collection::vec(lattice_point(), 0..60),
    ) {
        match ConvexHull::new(&points) {
            Ok(hull) => {
                let facts = hull.mesh().facts().unwrap();
                prop_assert!(facts.closed && facts.oriented && facts.edge_manifold);
                prop_assert_eq!((facts.components, facts.euler_number), (1, 2));
                prop_assert!(points.iter().all(|p| hull.distance(p) < 1e-12));
            }
            Err(error) => {
                prop_assert_eq!(error, HullError::Flat { count: points.len() });
                // rejects point sets of which no four span a volume
                let spread = |p: &Point3<f64>| p - points[0];
                for a in &points {
                    for b in &points {
                        let normal = spread(a).cross(&spread(b));
                        prop_assert!(points.iter().all(|c| normal.dot(&spread(c)) == 0.0));
                    }
                }
            }
        }
    }

    #[test]
    fn an_intersection_is_inside_both_and_a_difference_outside_one(
        offset in point(0.8),
        radius in 0.2f64..0.9,
    ) {
        let a = Solid::Torus { major: 0.6, minor: 0.25 };
        let b = Solid::Sphere { radius };
        let a = LevelSet::from_fn(grid(1.0, 16), |p| a.distance(&p));
        // another grid, which contains this one
        let b = LevelSet::from_fn(grid(2.0, 30), |p| b.distance(&(p - offset.coords)));
        let (both, either, rest) = (a.intersection(&b), a.union(&b), a.difference(&b));
        let b = b.resampled(*a.grid());
        for n in 0..a.as_slice().len() {
            let inside = |l: &LevelSet| l.as_slice()[n] < 0.0;
            prop_assert_eq!(inside(&both), inside(&a) && inside(&b));
            prop_assert_eq!(inside(&either), inside(&a) || inside(&b));
            prop_assert_eq!(inside(&rest), inside(&a) && !inside(&b));
        }
    }
}

#[test]
fn the_hull_of_a_box_with_points_in_and_on_it_is_the_box() {
    let half_extents = Vector3::new(0.5, 0.3, 0.7);
    let points: Vec<_> = (0..125)
        .map(|n| [n % 5, n / 5 % 5, n / 25].map(|n| f64::from(n) / 2.0 - 1.0))
        .map(|p| Point3::from(Vector3::from(p).component_mul(&half_extents)))
        .collect();
    let hull = ConvexHull::new(&points).unwrap();
    let solid = Solid::Box { half_extents };
    assert_eq!(hull.bounds(), Aabb { min: (-half_extents).into(), max: half_extents.into() });
    assert!((hull.mesh().signed_volume() - 8.0 * half_extents.product()).abs() < 1e-12);
    for n in 0..1000 {
        let p = Point3::from([n % 10, n / 10 % 10, n / 100].map(|n| f64::from(n) * 0.2 - 0.93));
        assert!((hull.distance(&p) - solid.distance(&p)).abs() < 1e-12, "{p}");
    }
}

#[test]
fn a_simplified_hull_has_no_point_out_of_it_by_more_than_the_tolerance() {
    // on a ball, by the golden angle
    let points: Vec<_> = (0..800)
        .map(|n| {
            let (y, turn) = (1.0 - (f64::from(n) + 0.5) / 400.0, f64::from(n) * 2.399_963);
            let (s, c) = turn.sin_cos();
            let r = (1.0 - y * y).sqrt();
            Point3::new(r * c, y, r * s)
        })
        .collect();
    let mut counts = Vec::new();
    for tolerance in [0.0, 0.02, 0.1] {
        let hull = ConvexHull::simplified(&points, tolerance).unwrap();
        assert!(points.iter().all(|p| hull.distance(p) <= tolerance + 1e-12));
        let facts = hull.mesh().facts().unwrap();
        assert!(facts.closed && facts.oriented && facts.euler_number == 2);
        counts.push(hull.mesh().vertices.len());
    }
    assert!(counts[0] == 800 && counts[1] < 400 && counts[2] < 100, "{counts:?}");
    let thin: Vec<_> = points.iter().map(|p| Point3::new(p.x, 0.01 * p.y, p.z)).collect();
    assert!(ConvexHull::simplified(&thin, 0.001).is_ok());
    let flat = HullError::Flat { count: points.len() };
    assert_eq!(ConvexHull::simplified(&thin, 0.1), Err(flat));
}

#[test]
fn points_without_a_hull_give_typed_errors() {
    let flat = |points: &[Point3<f64>]| {
        assert_eq!(ConvexHull::new(points), Err(HullError::Flat { count: points.len() }));
    };
    flat(&[]);
    flat(&[Point3::origin(); 9]);
    let line: Vec<_> = (0..9).map(|n| Point3::new(f64::from(n), 0.1, 0.2)).collect();
    flat(&line);
    let disc: Vec<_> = (0..9).map(|n| Point3::new(f64::from(n), f64::from(n * n), 0.2)).collect();
    flat(&disc);
    let nan = [Point3::origin(), Point3::new(0.0, f64::NAN, 0.0)];
    assert_eq!(ConvexHull::new(&nan), Err(HullError::NotFinite { point: 1 }));

    let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Point3::from);
    let tet = ConvexHull::new(&corners).unwrap().mesh().clone();
    let mut nan = tet.clone();
    nan.vertices[2].z = f64::NAN;
    assert_eq!(ConvexHull::of_convex(nan), Err(MeshError::NotFinite { vertex: 2 }.into()));
    let mut unknown = tet;
    unknown.triangles[1][0] = 4;
    let error = MeshError::IndexOutOfRange { triangle: 1, vertex: 4, count: 4 }.into();
    assert_eq!(ConvexHull::of_convex(unknown), Err(error));
}

#[test]
fn gradients_of_marched_solids_tend_to_length_one_and_swept_ones_are_near_it() {
    for solid in [Solid::Sphere { radius: 0.7 }, Solid::Torus { major: 0.6, minor: 0.25 }] {
        let errors = [24, 48].map(|nodes| {
            let squashed = LevelSet::from_fn(grid(1.0, nodes), |p| {
                let d = solid.distance(&p);
                d * (1.3 + d.sin())
            });
            let h = squashed.grid().spacing();
            assert!(squashed.eikonal_residual(3.0 * h).mean > 0.25);
            let marched = squashed.fast_marched(UpwindOrder::Second).eikonal_residual(3.0 * h);
            let swept = squashed.redistanced().eikonal_residual(3.0 * h);
            [marched.mean, swept.mean]
        });
        // on the coarse grid the band reaches the middle of the ring, where distance has a kink
        let ([coarse, _], [fine, _]) = (errors[0], errors[1]);
        assert!(fine < 0.01 && fine < 0.6 * coarse, "{solid:?}: {coarse} then {fine}");
        // nonzero, since neighbors may have different nearest points of the surface
        assert!(errors[1][1] < 0.03, "{solid:?}: {errors:?}");
    }
}
