//! Unions of convex solids, and contact with them at 30 Hz.

use std::sync::Arc;

use brisance_tests::properties;
use contact::{Field, Shape};
use dynamics::{Body, MassProperties};
use fracture::{Alignment, Geometry, Pattern, Pieces, Voronoi};
use levelset::{Aabb, ConvexHull, Grid, Solid};
use nalgebra::{Isometry3, Point3, UnitVector3, Vector3};
use proptest::prelude::*;
use sim::{NewBody, World, rigid};

use crate::contact_scenes::{
    GRAVITY, at, ball, both, cuboid, floor, material, moving, place, steps, steps_without_gain,
    world,
};
use crate::fracture::vector;

/// The hull of a box.
fn block(center: Vector3<f64>, half: Vector3<f64>) -> ConvexHull {
    let bounds = Aabb { min: Point3::from(center - half), max: Point3::from(center + half) };
    ConvexHull::new(&bounds.corners()).unwrap()
}

fn union(hulls: &[ConvexHull]) -> Shape {
    Shape::union(hulls, 0.02, &Isometry3::identity()).unwrap()
}

fn body(shape: Shape, body: Body, pose: Isometry3<f64>, friction: f64) -> NewBody {
    NewBody { pose, material: material(0.0, friction), ..NewBody::of(body, shape) }
}

/// Three boxes whose tops are flush, from x = -1.5 to 1.5 m, up to y = 0.
fn planks() -> Shape {
    let plank = |x| block(Vector3::new(x, -0.1, 0.0), Vector3::new(0.5, 0.1, 0.5));
    union(&[plank(-1.0), plank(0.0), plank(1.0)])
}

/// A bar of 1.2 x 0.2 x 0.2 m on legs of 0.2 x 0.3 x 0.2 m at its ends, 24 kg, about its center of mass.
fn bridge() -> (Shape, MassProperties, f64) {
    let parts = [
        (Vector3::new(0.0, 0.4, 0.0), Vector3::new(0.6, 0.1, 0.1)),
        (Vector3::new(-0.5, 0.15, 0.0), Vector3::new(0.1, 0.15, 0.1)),
        (Vector3::new(0.5, 0.15, 0.0), Vector3::new(0.1, 0.15, 0.1)),
    ];
    let mass = |half: &Vector3<f64>| 333.0 * 8.0 * half.product();
    let total: f64 = parts.iter().map(|(_, half)| mass(half)).sum();
    let center = parts.iter().map(|(c, half)| c * mass(half)).sum::<Vector3<f64>>() / total;
    let mut inertia = Vector3::zeros();
    for (c, half) in &parts {
        let (s, arm) = (half.component_mul(half) / 3.0, c - center);
        let square = s + arm.component_mul(&arm);
        inertia += mass(half)
            * Vector3::new(square.y + square.z, square.z + square.x, square.x + square.y);
    }
    let hulls = parts.map(|(c, half)| block(c - center, half));
    (union(&hulls), MassProperties::new(total, inertia).unwrap(), center.y)
}

#[test]
fn a_box_slides_over_seams_as_far_as_friction_lets_it() {
    for contact in both() {
        let mut world = world(contact);
        world.add(body(planks(), Body::Static, at(0.0, 0.0, 0.0), 0.2)).unwrap();
        let mut slider = cuboid([0.1, 0.05, 0.1], 2.0, at(-1.2, 0.05, 0.0), material(0.0, 0.2));
        slider.velocity = moving(2.2, 0.0, 0.0);
        let slider = world.add(slider).unwrap();
        steps_without_gain(&mut world, 60);
        let end = place(&world, slider);
        let way = 2.2_f64.powi(2) / (2.0 * 0.2 * GRAVITY);
        assert!((end.x + 1.2 - way).abs() < 0.02 * way, "{} for {way}", end.x + 1.2);
        assert!((end.y - 0.05).abs() < 1e-3 && end.z.abs() < 1e-3, "{end}");
    }
}

#[test]
fn a_bridge_stands_on_its_legs_and_bears_a_ball_that_another_rolls_under() {
    let (shape, mass, high) = bridge();
    let mut world = world(contact::Settings::default());
    floor(&mut world, 0.0, material(0.0, 0.5));
    let bridge = world.add(body(shape, Body::Dynamic(mass), at(0.0, high, 0.0), 0.5)).unwrap();
    let above = world.add(ball(0.1, 5.0, at(0.0, 0.62, 0.0), material(0.0, 0.5))).unwrap();
    let mut under = ball(0.1, 5.0, at(0.0, 0.1, -1.0), material(0.0, 0.5));
    under.velocity = moving(0.0, 0.0, 1.0);
    let under = world.add(under).unwrap();
    steps_without_gain(&mut world, 90);
    assert!((place(&world, bridge) - Vector3::new(0.0, high, 0.0)).norm() < 1e-3);
    assert!((place(&world, above).y - 0.6).abs() < 1e-3, "{}", place(&world, above));
    assert!(place(&world, under).z > 0.5, "{}", place(&world, under));
}

#[test]
fn a_bridge_stands_astride_a_box_and_on_another_bridge() {
    let mut world = world(contact::Settings::default());
    floor(&mut world, 0.0, material(0.0, 0.5));
    let (shape, mass, high) = bridge();
    let shape = Arc::new(shape);
    let lower = NewBody {
        shape: Arc::clone(&shape),
        ..body(Shape::empty(), Body::Dynamic(mass), at(0.0, high, 0.0), 0.5)
    };
    let upper = NewBody { pose: at(0.0, 0.5 + high, 0.0), ..lower.clone() };
    let (lower, upper) = (world.add(lower).unwrap(), world.add(upper).unwrap());
    let inside =
        world.add(cuboid([0.3, 0.14, 0.1], 8.0, at(0.0, 0.14, 0.0), material(0.0, 0.5))).unwrap();
    steps(&mut world, 150);
    let straight = [(lower, high), (upper, 0.5 + high), (inside, 0.14)];
    for (id, y) in straight {
        assert!((place(&world, id) - Vector3::new(0.0, y, 0.0)).norm() < 2e-3, "{y}");
    }
}

fn hulls(shape: &Shape) -> &[ConvexHull] {
    match shape.field() {
        Field::Hull(hull) => std::slice::from_ref(&**hull),
        Field::Hulls(hulls) => hulls,
        other => panic!("{other:?} is no union"),
    }
}

/// A box broken by a pattern, with merged neighbors.
fn joined(seed: u64, groups: usize) -> (Geometry, Pieces) {
    let half = Vector3::new(0.5, 0.3, 0.4);
    let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
    let grid = Grid::enclosing(&bounds, 0.05, 2, 1 << 20).unwrap();
    let whole = Geometry::primitive(Solid::Box { half_extents: half }, grid).unwrap();
    let pattern = Pattern::voronoi(&Voronoi::new(60, seed)).unwrap();
    let at = Alignment::enclosing(&bounds, Point3::origin(), UnitVector3::new_normalize(half));
    let broken = whole.divide(&pattern, &at, 0.0);
    let groups: Vec<usize> = (0..broken.pieces.len()).map(|n| n % groups).collect();
    let broken = broken.joined(&whole, &groups);
    (whole, broken)
}

#[test]
fn pieces_that_are_put_together_collide_by_their_parts() {
    let mut several = 0;
    for (seed, groups) in [(1, 2), (2, 5), (3, 9)] {
        let (whole, broken) = joined(seed, groups);
        assert_eq!(broken.pieces.len(), groups);
        for piece in &broken.pieces {
            let hulls = piece.geometry.hulls().unwrap();
            several += usize::from(hulls.len() > 1);
            let parts: f64 = hulls.iter().map(|hull| hull.mesh().signed_volume()).sum();
            let volume = piece.geometry.moments().volume;
            assert!((parts - volume).abs() < 1e-9 * whole.moments().volume, "{parts} {volume}");
            let (mass, frame) = rigid(piece.geometry.moments(), 1000.0).unwrap();
            assert!(mass.mass() > 0.0);
            let shape = Shape::union(&hulls, 0.05, &frame).unwrap();
            assert_eq!(self::hulls(&shape).len(), hulls.len());
            // the sampled distance of the piece is that of its parts
            for p in whole.inside_points(200) {
                // outside samples store at most two cells of distance
                let exact = shape.field().distance(&frame.inverse_transform_point(&p)).min(0.1);
                let sampled = piece.geometry.level_set().value(&p).min(0.1);
                assert!((sampled - exact).abs() < 0.05, "{sampled} for {exact}");
            }
        }
    }
    assert!(several > 4, "{several}");
}

/// Limit of the overlap of landed bodies, m: 4 % of the size of the box, as with samples and points.
const FINAL_DEPTH: f64 = 0.04;

properties! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Bodies that fall on a union come to rest on it, not in it.
    #[test]
    fn what_falls_on_a_union_gains_nothing_and_stays_out(
        seed in 0u64..50,
        turn in vector(3.0),
        aside in vector(0.2),
    ) {
        let (_, broken) = joined(seed, 3);
        let mut world: World = world(contact::Settings::default());
        floor(&mut world, 0.0, material(0.0, 0.5));
        let mut ids = Vec::new();
        for (n, piece) in (0..).zip(&broken.pieces) {
            let (mass, frame) = rigid(piece.geometry.moments(), 1000.0).unwrap();
            let shape = Shape::union(&piece.geometry.hulls().unwrap(), 0.05, &frame).unwrap();
            let high = Vector3::new(0.0, 1.0 + 1.3 * f64::from(n), 0.0);
            let pose = Isometry3::new(high + aside * f64::from(n % 2), turn * f64::from(n));
            ids.push(world.add(body(shape, Body::Dynamic(mass), pose, 0.5)).unwrap());
        }
        steps_without_gain(&mut world, 120);
        for (n, id) in ids.iter().enumerate() {
            let state = world.get(*id).unwrap();
            let hulls = hulls(state.shape);
            for p in hulls.iter().flat_map(|hull| &hull.mesh().vertices) {
                let y = (state.pose * p).y;
                prop_assert!(y > -FINAL_DEPTH, "{y}");
                for other in &ids[..n] {
                    let other = world.get(*other).unwrap();
                    let p = other.pose.inverse_transform_point(&(state.pose * p));
                    let deep = other.shape.field().distance(&p);
                    prop_assert!(deep > -FINAL_DEPTH, "{deep}");
                }
            }
        }
    }
}

properties! {
    /// A ray from inside leaves a convex solid where the signed distance is zero. The bounds on the
    /// distance hold everywhere.
    #[test]
    fn rays_leave_convex_solids_at_the_surface(
        corners in prop::collection::vec(prop::array::uniform3(-1.0..1.0_f64), 8..30),
        way in prop::array::uniform3(-1.0..1.0_f64),
        far in prop::array::uniform3(-3.0..3.0_f64),
    ) {
        let corners: Vec<Point3<f64>> = corners.into_iter().map(Point3::from).collect();
        let way = Vector3::from(way);
        prop_assume!(way.norm() > 1e-3);
        let hull = ConvexHull::new(&corners).unwrap();
        let sum: Vector3<f64> = corners.iter().map(|p| p.coords).sum();
        let middle = Point3::from(sum / corners.len() as f64);
        let exit = middle + way * hull.exit(&middle, &way);
        prop_assert!(hull.distance(&exit).abs() < 1e-9, "{exit}");
        let far = Point3::from(far);
        let (bound, distance) = (Field::Hull(Arc::new(hull.clone())).lower_bound(&far), hull.distance(&far));
        prop_assert!(bound <= distance + 1e-9);
        prop_assert!(distance > 0.0 || (bound - distance).abs() < 1e-9);
        prop_assert!(distance <= 0.0 || hull.exit(&far, &way) == 0.0);
    }
}
