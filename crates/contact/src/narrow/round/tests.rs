use std::sync::Arc;

use levelset::ConvexHull;
use nalgebra::{Isometry3, Point3, Vector3};
use parry3d::math::{Pose, Rotation, Vector};
use parry3d::query::contact;
use parry3d::shape::{Capsule, Cone, ConvexPolyhedron, Cylinder, SupportMap};

use crate::narrow::candidate::{Candidate, Side};
use crate::narrow::posed::Posed;
use crate::narrow::random::Random;
use crate::shape::round::Round;
use crate::{Shape, Triangles};

impl Random {
    fn unit(&mut self) -> Vector3<f64> {
        self.vector(1.0).try_normalize(1e-3).unwrap_or_else(Vector3::x)
    }

    fn pose(&mut self, size: f64) -> Isometry3<f64> {
        Isometry3::new(self.vector(size), self.vector(6.0))
    }

    /// A solid and its counterpart in parry, with its pose in the coordinates of the first.
    fn round(&mut self) -> (Round, Box<dyn parry3d::shape::Shape>, Isometry3<f64>) {
        let [h, r] = [0; 2].map(|_| 0.05 + 0.2 * self.next().abs());
        match (self.next() * 3.0 + 1.5) as u32 {
            0 => (Round::cylinder(h, r), Box::new(Cylinder::new(h, r)), Isometry3::identity()),
            1 => (Round::capsule(h, r), Box::new(Capsule::new_y(h, r)), Isometry3::identity()),
            _ => {
                let place = Isometry3::translation(0.0, 0.5 * h, 0.0);
                (Round::cone(h, r), Box::new(Cone::new(h, r)), place)
            }
        }
    }

    fn hull(&mut self) -> ConvexHull {
        let points: Vec<_> = (0..14).map(|_| Point3::from(self.vector(0.4))).collect();
        ConvexHull::new(&points).expect("random points span a volume")
    }
}

fn pose(x: &Isometry3<f64>) -> Pose {
    let place = Vector::from_array(x.translation.vector.into());
    Pose::from_parts(place, Rotation::from_array(x.rotation.coords.into()))
}

fn shape(round: Round) -> Shape {
    Shape::round(round, 0.01)
}

/// The distance of two shapes, m, if within 1 m.
fn gap(a: &Shape, b: &Shape, b_from_a: &Isometry3<f64>) -> f64 {
    let posed = Posed { shapes: [a, b], poses: [b_from_a, &Isometry3::identity()] };
    posed.distance(1.0, f64::NEG_INFINITY, &mut 0)
}

/// The distance by parry, negative where the solids overlap.
fn expected(
    a: &dyn parry3d::shape::Shape,
    b: &dyn parry3d::shape::Shape,
    b_from_a: &Isometry3<f64>,
) -> Option<f64> {
    contact(&pose(b_from_a), a, &Pose::IDENTITY, b, 1.0).ok()?.map(|c| c.dist)
}

#[test]
fn the_signed_distance_is_that_of_the_formulas() {
    let mut random = Random(1);
    for _ in 0..2000 {
        let [h, r] = [0; 2].map(|_| 0.05 + 0.2 * random.next().abs());
        let p = Point3::from(random.vector(1.0));
        let solids = [
            (Round::cylinder(h, r), levelset::Solid::Cylinder { half_height: h, radius: r }, 0.0),
            (Round::capsule(h, r), levelset::Solid::Capsule { half_height: h, radius: r }, 0.0),
            (Round::cone(h, r), levelset::Solid::Cone { half_height: h, radius: r }, 0.5 * h),
        ];
        for (round, solid, up) in solids {
            let (computed, normal) = round.distance_and_normal(&(p + Vector3::y() * up));
            assert!((computed - solid.distance(&p)).abs() < 1e-12, "{solid:?} {p}: {computed}");
            let step = 1e-6;
            let ahead = solid.distance(&(p + normal * step));
            assert!((ahead - computed - step).abs() < 1e-9 && (normal.norm() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn the_support_map_is_that_of_parry() {
    let mut random = Random(2);
    for _ in 0..500 {
        let [h, r] = [0; 2].map(|_| 0.05 + 0.2 * random.next().abs());
        let direction = random.unit();
        let along = Vector::from_array(direction.into());
        let far = |solid: &dyn SupportMap| solid.local_support_point(along).dot(along);
        let cases = [
            (Round::cylinder(h, r), far(&Cylinder::new(h, r))),
            (Round::capsule(h, r), far(&Capsule::new_y(h, r))),
            (Round::cone(h, r), far(&Cone::new(h, r)) + 0.5 * h * direction.y),
        ];
        for (round, far) in cases {
            assert!((round.reach(&direction) - far).abs() < 1e-12);
            let most = round
                .farthest(&direction)
                .iter()
                .map(|p| direction.dot(&p.coords))
                .fold(-1.0, f64::max);
            assert!((most - far).abs() < 1e-12);
            for (_, p) in round.around(&direction) {
                // they are inside at the far end of a capsule
                assert!(round.distance_and_normal(&p).0 < 1e-12);
            }
        }
    }
}

#[test]
fn no_two_planes_are_nearer_around_a_solid_than_its_width() {
    let mut random = Random(3);
    for _ in 0..200 {
        let (round, ..) = random.round();
        let computed = 2.0 * round.half_width();
        let mut best = f64::INFINITY;
        for n in 0..=1000 {
            let angle = std::f64::consts::PI * f64::from(n) / 1000.0;
            let direction = Vector3::new(angle.cos(), angle.sin(), 0.0);
            best = best.min(round.reach(&direction) + round.reach(&-direction));
        }
        assert!(
            best > computed * (1.0 - 1e-12) && best < computed * 1.01,
            "{round:?}: {computed} {best}"
        );
    }
}

#[test]
fn the_distance_to_a_hull_is_that_of_parry() {
    let mut random = Random(4);
    let (mut apart, mut deep, mut worse) = (0, 0, 0);
    for case in 0..3000 {
        let ((round, other, place), hull) = (random.round(), random.hull());
        let points: Vec<_> =
            hull.mesh().vertices.iter().map(|p| Vector::from_array(p.coords.into())).collect();
        let polyhedron = ConvexPolyhedron::from_convex_hull(&points).expect("a hull");
        let map = random.pose(0.7);
        let Some(expected) = expected(&*other, &polyhedron, &(map * place)) else { continue };
        let solid = Shape::convex(&hull, 0.05, &Isometry3::identity()).expect("few corners");
        let computed = gap(&shape(round), &solid, &map);
        if expected > 1e-4 {
            apart += 1;
            assert!(
                (computed - expected).abs() < 1e-3 * expected,
                "{case}: {computed} for {expected}"
            );
        } else if expected < -1e-4 {
            deep += 1;
            // no axis is better than the best one
            assert!(computed < expected + 1e-5, "{case}: {computed} for {expected}");
            // a deep overlap may have a better axis that was not proposed
            worse += usize::from(computed < 1.2 * expected - 1e-5);
            assert!(computed > 2.0 * expected - 1e-5, "{case}: {computed} for {expected}");
        }
    }
    assert!(apart > 300 && deep > 300, "{apart} {deep}");
    assert!(100 * worse < deep, "{worse} of {deep}");
}

#[test]
fn the_distance_of_two_solids_of_revolution_is_that_of_parry() {
    let mut random = Random(5);
    let (mut apart, mut deep, mut worse) = (0, 0, 0);
    for case in 0..3000 {
        let ((p, first, in_p), (q, second, in_q)) = (random.round(), random.round());
        let map = random.pose(0.7);
        let place = in_q.inverse() * map * in_p;
        let Some(expected) = expected(&*first, &*second, &place) else { continue };
        let computed = gap(&shape(p), &shape(q), &map);
        if expected > 1e-4 {
            apart += 1;
            assert!(
                (computed - expected).abs() < 1e-3 * expected,
                "{case}: {computed} for {expected}"
            );
        } else if expected < -1e-4 {
            deep += 1;
            assert!(computed < expected + 1e-5, "{case}: {computed} for {expected}");
            worse += usize::from(computed < 1.2 * expected - 1e-5);
            assert!(computed > 2.0 * expected - 1e-5, "{case}: {computed} for {expected}");
        }
    }
    assert!(apart > 300 && deep > 300, "{apart} {deep}");
    assert!(100 * worse < deep, "{worse} of {deep}");
}

/// The contacts of two shapes within 5 mm, on their owners, with their points in the coordinates of
/// `b`.
/// A convex solid as triangles.
fn meshed(hull: &ConvexHull) -> Shape {
    let triangles = Triangles::new(hull.mesh(), f64::INFINITY).expect("it has area");
    Shape::mesh(Arc::new(triangles))
}

#[test]
fn the_distance_to_triangles_is_that_of_their_hull() {
    let mut random = Random(7);
    let (mut apart, mut deep) = (0, 0);
    for case in 0..3000 {
        let ((round, ..), hull, map) = (random.round(), random.hull(), random.pose(0.7));
        let solid = Shape::convex(&hull, 0.05, &Isometry3::identity()).expect("few corners");
        let expected = gap(&shape(round), &solid, &map);
        let computed = gap(&shape(round), &meshed(&hull), &map);
        if expected > 1e-4 {
            apart += usize::from(expected < 1.0);
            assert!((computed - expected).abs() < 1e-6, "{case}: {computed} for {expected}");
        } else if expected < -1e-4 {
            deep += 1;
            // the depth of points along their own normals, not along one axis
            assert!(computed < -1e-5, "{case}: {computed} for {expected}");
        }
    }
    assert!(apart > 300 && deep > 300, "{apart} {deep}");
}

fn contacts(
    a: &Shape,
    b: &Shape,
    b_from_a: &Isometry3<f64>,
) -> Vec<(Point3<f64>, Vector3<f64>, f64)> {
    let posed = Posed { shapes: [a, b], poses: [b_from_a, &Isometry3::identity()] };
    let found = posed.candidates(0.005, &mut 0);
    let place = |c: Candidate| {
        let normal = c.normal.expect("the search gives their normals");
        match c.owner {
            Side::A => (b_from_a * c.point, normal, c.distance),
            Side::B => (c.point, -(b_from_a.rotation * normal), c.distance),
        }
    };
    found.into_iter().map(place).collect()
}

#[test]
fn a_can_over_the_edge_of_a_table_is_held_up_to_the_edge() {
    let (can, table) =
        (shape(Round::cylinder(0.06, 0.03)), Shape::cuboid(Vector3::new(0.5, 0.1, 0.5), 0.1));
    for over in [0.005, 0.01, 0.02] {
        let found = contacts(&can, &table, &Isometry3::translation(0.47 + over, 0.16, 0.0));
        let chord = (0.03_f64.powi(2) - (0.03 - over).powi(2)).max(0.0).sqrt();
        for (p, normal, distance) in &found {
            assert!((p.y - 0.1).abs() < 1e-12 && distance.abs() < 1e-12 && normal.y > 1.0 - 1e-12);
            assert!(p.x < 0.5 + 1e-6, "{over}: {p}");
            let from_axis = (p.x - 0.47 - over).hypot(p.z);
            assert!((from_axis - 0.03).abs() < 1e-6, "{over}: {p}");
        }
        let reach = |sign: f64| {
            let on_edge = found.iter().filter(|c| (c.0.x - 0.5).abs() < 1e-6);
            on_edge.map(|c| sign * c.0.z).fold(f64::NEG_INFINITY, f64::max)
        };
        for sign in [-1.0, 1.0] {
            assert!((reach(sign) - chord).abs() < 1e-6, "{over}: {} {chord}", reach(sign));
        }
    }
}

#[test]
fn a_cylinder_across_a_beam_is_held_where_the_beam_ends() {
    let (cylinder, beam) =
        (shape(Round::cylinder(0.3, 0.05)), Shape::cuboid(Vector3::new(0.1, 0.05, 1.0), 0.1));
    let lying =
        Isometry3::new(Vector3::new(0.05, 0.1, 0.0), Vector3::z() * std::f64::consts::FRAC_PI_2);
    let found = contacts(&cylinder, &beam, &lying);
    let mut along: Vec<f64> = found.iter().map(|c| c.0.x).collect();
    along.sort_by(f64::total_cmp);
    assert!(along.len() == 2, "{along:?}");
    assert!((along[0] + 0.1).abs() < 1e-9 && (along[1] - 0.1).abs() < 1e-9, "{along:?}");
    assert!(found.iter().all(|c| c.2.abs() < 1e-12 && c.1.y > 1.0 - 1e-12));
}

#[test]
fn cylinders_side_by_side_touch_along_the_common_part() {
    let cylinder = shape(Round::cylinder(0.2, 0.05));
    let found = contacts(&cylinder, &cylinder, &Isometry3::translation(0.1, 0.1, 0.0));
    let mut along: Vec<f64> = found.iter().map(|c| c.0.y).collect();
    along.sort_by(f64::total_cmp);
    let ends = [along[0], along[along.len() - 1]];
    assert!((ends[0] + 0.1).abs() < 1e-9 && (ends[1] - 0.2).abs() < 1e-9, "{along:?}");
    assert!(found.iter().all(|c| c.2.abs() < 1e-9 && c.1.x > 1.0 - 1e-9));
}

#[test]
fn every_contact_is_as_far_from_the_other_as_it_says() {
    let mut random = Random(6);
    let mut count = 0;
    for case in 0..4000 {
        let ((p, ..), (q, ..), hull) = (random.round(), random.round(), random.hull());
        let (first, second) = (shape(p), shape(q));
        let mesh = meshed(&hull);
        let hull = Shape::convex(&hull, 0.05, &Isometry3::identity()).expect("few corners");
        let other = [&second, &hull, &second, &mesh][case % 4];
        let map = random.pose(0.7);
        let gap = gap(&first, other, &map);
        if gap.abs() > 0.004 {
            continue;
        }
        let found = contacts(&first, other, &map);
        assert!(!found.is_empty(), "{case}: {gap}");
        let least = found.iter().map(|c| c.2).fold(f64::INFINITY, f64::min);
        // the depth of a point is at most that of the solids
        assert!((least - gap).abs() < 0.5 * gap.abs() + 1e-9, "{case}: {least} for {gap}");
        count += found.len();
    }
    assert!(count > 100, "{count}");
}

/// The upper face of a shelf above a can is no contact, even where its edge is over the cap.
#[test]
fn a_can_under_a_thin_shelf_touches_its_lower_face_alone() {
    let can = shape(Round::cylinder(0.06, 0.03));
    let half = Vector3::new(0.5, 0.001, 0.5);
    let shelf = ConvexHull::new(&corners(&half)).expect("a box");
    for gap in [0.001, -0.0005] {
        let map = Isometry3::translation(0.49, -0.061 - gap, 0.0);
        for (p, normal, distance) in contacts(&can, &meshed(&shelf), &map) {
            assert!(normal.y < -0.99 && (distance - gap).abs() < 1e-9, "{p} {normal} {distance}");
        }
    }
}

fn corners(half: &Vector3<f64>) -> Vec<Point3<f64>> {
    let sign = |n: u32, bit: u32| if n >> bit & 1 == 1 { 1.0 } else { -1.0 };
    let corner = |n| Vector3::new(sign(n, 0), sign(n, 1), sign(n, 2)).component_mul(half);
    (0..8).map(|n| corner(n).into()).collect()
}

/// A can whose center is beyond the edge of a table has no contacts with the sides of the table.
#[test]
fn a_can_that_overhangs_a_table_of_triangles_touches_its_top_alone() {
    let can = shape(Round::cylinder(0.06, 0.03));
    let table = ConvexHull::new(&corners(&Vector3::new(0.5, 0.1, 0.5))).expect("a box");
    for turn in [0.0, 0.02, -0.03] {
        let map = Isometry3::new(Vector3::new(0.512, 0.16, 0.01), Vector3::z() * turn);
        let found = contacts(&can, &meshed(&table), &map);
        assert!(!found.is_empty());
        for (p, normal, distance) in found {
            assert!(normal.y > 0.9 && distance > -0.002, "{turn}: {p} {normal} {distance}");
        }
    }
}

/// A cylinder that lies across the edge of a table, level with its side.
#[test]
fn a_cylinder_that_lies_across_an_edge_of_triangles_touches_the_top_alone() {
    let cylinder = shape(Round::cylinder(0.15, 0.1));
    let table = ConvexHull::new(&corners(&Vector3::new(1.0, 0.1, 0.5))).expect("a box");
    for up in [0.0, -1e-6, 1e-6] {
        let map = Isometry3::new(
            Vector3::new(1.05, 0.2 + up, 0.02),
            Vector3::z() * std::f64::consts::FRAC_PI_2,
        );
        let found = contacts(&cylinder, &meshed(&table), &map);
        assert!(!found.is_empty());
        for (p, normal, distance) in found {
            assert!(
                normal.y > 0.99 && (distance - up).abs() < 1e-7,
                "{up}: {p} {normal} {distance}"
            );
            assert!((0.9 - 1e-6..1.0 + 1e-6).contains(&p.x), "{p}");
        }
    }
}
