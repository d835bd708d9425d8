//! Queries among the bodies of a world.

use std::sync::Arc;

use brisance_tests::properties;
use brisance_tests::strategies::{direction, vector};
use contact::{Groups, Shape};
use dynamics::{Body, Velocity};
use nalgebra::{Isometry3, Point3, UnitVector3, Vector3};
use proptest::prelude::*;
use sim::{BodyId, CastHit, Filter, NewBody, Settings, World};

use super::{ball, body, floor, steps};

const ALL: Filter<'static> =
    Filter { groups: Groups { memberships: u32::MAX, filter: u32::MAX }, wanted: None };

/// Balls at given positions.
fn balls(places: &[(Vector3<f64>, f64)]) -> World {
    let mut world = World::new(Settings::default());
    for (at, radius) in places {
        let pose = Isometry3::translation(at.x, at.y, at.z);
        world.add(body(Body::Static, Shape::ball(*radius), pose)).unwrap();
    }
    world
}

/// Intersection of a ray and a ball.
fn on_ball(
    from: &Point3<f64>,
    along: &Vector3<f64>,
    (at, radius): &(Vector3<f64>, f64),
) -> Option<f64> {
    let from = from.coords - at;
    if from.norm() <= *radius {
        return Some(0.0);
    }
    let (b, c) = (from.dot(along), from.norm_squared() - radius * radius);
    let square = b * b - c;
    (square >= 0.0 && b < 0.0).then(|| -b - square.sqrt())
}

properties! {
    #[test]
    fn a_ray_meets_the_first_of_many_balls(
        places in prop::collection::vec((vector(10.0), 0.05..0.8), 0..200),
        from in vector(12.0), along in direction(), most in 0.0..30.0,
    ) {
        let (world, from) = (balls(&places), Point3::from(from));
        let all = places.iter().filter_map(|ball| on_ball(&from, &along, ball));
        let first = all.filter(|distance| *distance <= most).reduce(f64::min);
        let hit = world.cast_ray(&from, &UnitVector3::new_unchecked(along), most, &ALL);
        match (first, hit) {
            (Some(first), Some(hit)) => {
                prop_assert!((first - hit.distance).abs() < 1e-9, "{} for {}", hit.distance, first);
                if first > 0.0 {
                    prop_assert!((from + along * first - hit.point).norm() < 1e-9);
                }
            }
            (None, None) => {}
            // end of the range
            (Some(first), None) => prop_assert!(most - first < 1e-9, "{} of {}", first, most),
            (None, Some(hit)) => prop_assert!(most - hit.distance < 1e-6),
        }
    }

    #[test]
    fn a_moving_ball_meets_the_first_of_many(
        places in prop::collection::vec((vector(10.0), 0.05..0.8), 0..100),
        from in vector(12.0), radius in 0.01..1.0, way in vector(30.0),
    ) {
        let (world, from) = (balls(&places), Point3::from(from));
        let grown: Vec<_> = places.iter().map(|(at, own)| (*at, own + radius)).collect();
        let (along, most) = (way.normalize(), way.norm());
        let all = grown.iter().filter_map(|ball| on_ball(&from, &along, ball));
        let first = all.reduce(f64::min).filter(|first| *first <= most);
        let hit = world.cast_ball(&from, radius, &way, &ALL);
        prop_assert_eq!(first.is_some(), hit.is_some());
        if let (Some(first), Some(hit)) = (first, hit) {
            prop_assert!((first - hit.distance).abs() < 1e-7, "{} for {}", hit.distance, first);
            let center = from + along * hit.distance;
            prop_assert!(first == 0.0 || ((hit.point - center).norm() - radius).abs() < 1e-7);
        }
    }

    #[test]
    fn the_balls_that_overlap_and_the_nearest_are_those_that_distances_tell(
        places in prop::collection::vec((vector(3.0), 0.05..0.8), 1..100),
        at in vector(4.0), radius in 0.01..1.5, most in 0.0..4.0,
    ) {
        let (world, at) = (balls(&places), Point3::from(at));
        let ids: Vec<BodyId> = world.iter().map(|state| state.id).collect();
        let distances: Vec<f64> =
            places.iter().map(|(place, own)| (at.coords - place).norm() - own).collect();
        let own = ids.iter().zip(&distances).filter(|(_, d)| **d <= radius);
        let wanted: Vec<BodyId> = own.map(|(id, _)| *id).collect();
        prop_assert_eq!(world.overlap_ball(&at, radius, &ALL), wanted);
        let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let nearest = world.nearest_body(&at, most, &ALL);
        prop_assert_eq!(nearest.is_some(), least <= most);
        if let Some(nearest) = nearest {
            prop_assert!((nearest.distance - least).abs() < 1e-12);
            prop_assert!(((nearest.point - at).norm() - least.abs()).abs() < 1e-9);
        }
        // a box with the width of the ball
        let boxes = world.overlap_box(&Vector3::repeat(radius), &Isometry3::translation(at.x, at.y, at.z), &ALL);
        for ((id, (place, own)), distance) in ids.iter().zip(&places).zip(&distances) {
            let beyond = (place - at.coords).abs() - Vector3::repeat(radius);
            let apart = beyond.sup(&Vector3::zeros()).norm() - own;
            prop_assert!(boxes.contains(id) == (apart <= 0.0) || apart.abs() < 1e-9, "{}", apart);
            prop_assert!(*distance > radius || boxes.contains(id));
        }
    }
}

fn down(world: &World, x: f64, filter: &Filter<'_>) -> Option<CastHit> {
    world.cast_ray(&Point3::new(x, 9.0, 0.0), &-Vector3::y_axis(), 100.0, filter)
}

#[test]
fn queries_see_bodies_where_they_are_now() {
    let mut world = World::new(Settings::default());
    let floor = floor(&mut world);
    let id = world.add(ball(0.5, [0.0, 5.0, 0.0])).unwrap();
    let hit = down(&world, 0.0, &ALL).unwrap();
    assert_eq!((hit.body, hit.distance, hit.normal), (id, 3.5, Vector3::y()));
    assert_eq!(down(&world, 0.6, &ALL).unwrap().body, floor);
    steps(&mut world, 15);
    let fallen = world.get(id).unwrap().pose.translation.y;
    assert!((down(&world, 0.0, &ALL).unwrap().distance - (8.5 - fallen)).abs() < 1e-9);
    world.set_pose(id, &Isometry3::translation(2.0, 1.0, 0.0)).unwrap();
    assert_eq!(down(&world, 0.0, &ALL).unwrap().body, floor);
    assert_eq!(down(&world, 2.0, &ALL).unwrap().body, id);
    let another = world.add(ball(0.5, [2.0, 3.0, 0.0])).unwrap();
    assert_eq!(down(&world, 2.0, &ALL).unwrap().body, another);
    world.remove(another);
    assert_eq!(down(&world, 2.0, &ALL).unwrap().body, id);
    let state = world.saved();
    world.set_pose(id, &Isometry3::translation(4.0, 1.0, 0.0)).unwrap();
    down(&world, 2.0, &ALL).unwrap();
    world.restore(&state).unwrap();
    assert_eq!(down(&world, 2.0, &ALL).unwrap().body, id);
}

#[test]
fn filters_leave_bodies_out() {
    let mut world = World::new(Settings::default());
    let floor = floor(&mut world);
    let ghost = Groups { memberships: 2, filter: u32::MAX };
    let id = world.add(NewBody { groups: ghost, ..ball(0.5, [0.0, 5.0, 0.0]) }).unwrap();
    assert_eq!(down(&world, 0.0, &ALL).unwrap().body, id);
    let solid = Filter::groups(Groups { memberships: u32::MAX, filter: 1 });
    assert_eq!(down(&world, 0.0, &solid).unwrap().body, floor);
    let others = |other: BodyId| other != id;
    assert_eq!(down(&world, 0.0, &Filter::only(&others)).unwrap().body, floor);
    let none = |_: BodyId| false;
    assert!(down(&world, 0.0, &Filter::only(&none)).is_none());
    let near = Point3::new(0.0, 4.9, 0.0);
    assert_eq!(world.overlap_ball(&near, 9.0, &Filter::only(&others)), [floor]);
    assert_eq!(world.nearest_body(&near, 9.0, &ALL).unwrap().body, id);
    assert_eq!(world.nearest_body(&near, 9.0, &Filter::only(&others)).unwrap().body, floor);
}

#[test]
fn a_half_space_overlaps_what_reaches_below_its_plane() {
    let places = [0.3, 1.0, 2.0].map(|y| (Vector3::new(0.0, y, 0.0), 0.5));
    let world = balls(&places);
    let ids: Vec<BodyId> = world.iter().map(|state| state.id).collect();
    let below = |y: f64| {
        world.overlap_shape(&Shape::half_space(), &Isometry3::translation(9.0, y, 0.0), &ALL)
    };
    assert_eq!((below(-1.0), below(0.6), below(9.0)), (vec![], ids[..2].to_vec(), ids));
}

#[test]
fn what_is_no_number_meets_nothing() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    // frozen at the origin, it touches nothing
    let velocity = Velocity { linear: Vector3::repeat(f64::NAN), ..Velocity::default() };
    world.add(NewBody { velocity, ..ball(0.5, [0.0, 5.0, 0.0]) }).unwrap();
    let (down, here) = (-Vector3::y(), Point3::new(0.0, 5.0, 0.0));
    let axis = UnitVector3::new_unchecked(down);
    let nan = Point3::new(f64::NAN, 0.0, 0.0);
    assert!(
        (world.cast_ray(&here, &axis, f64::INFINITY, &ALL).unwrap().distance - 5.0).abs() < 1e-12
    );
    assert!(world.cast_ray(&nan, &axis, 9.0, &ALL).is_none());
    assert!(world.cast_ray(&here, &axis, f64::NAN, &ALL).is_none());
    assert!(
        world.cast_ray(&here, &UnitVector3::new_unchecked(down * f64::NAN), 9.0, &ALL).is_none()
    );
    assert!(world.cast_ball(&here, 0.1, &Vector3::zeros(), &ALL).is_none());
    assert!(world.cast_ball(&here, 0.1, &(down * f64::INFINITY), &ALL).is_none());
    assert!(world.cast_ball(&here, f64::NAN, &down, &ALL).is_none());
    assert!(world.cast_shape(&Shape::half_space(), &Isometry3::identity(), &down, &ALL).is_none());
    assert!(world.cast_shape(&Shape::empty(), &Isometry3::identity(), &down, &ALL).is_none());
    assert!(world.overlap_ball(&nan, 1.0, &ALL).is_empty());
    assert!(world.overlap_ball(&here, f64::NAN, &ALL).is_empty());
    assert!(
        world
            .overlap_box(&Vector3::new(1.0, f64::NAN, 1.0), &Isometry3::identity(), &ALL)
            .is_empty()
    );
    assert!(world.nearest_body(&nan, 1.0, &ALL).is_none());
    assert!(world.nearest_body(&here, f64::NAN, &ALL).is_none());
    assert!(World::new(Settings::default()).cast_ray(&here, &axis, 9.0, &ALL).is_none());
    let shared = Arc::new(World::new(Settings::default()));
    assert!(shared.nearest_body(&here, 1.0, &ALL).is_none());
}
