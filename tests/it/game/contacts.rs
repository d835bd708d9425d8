//! Contact events and their impulses.

use brisance_tests::properties;
use contact::Material;
use dynamics::Velocity;
use nalgebra::{Isometry3, Vector3};
use proptest::prelude::*;
use sim::{BodyId, ContactEvents, NewBody, Settings, World};

use super::{DT, asleep, ball, cube, floor, steps, struck_brick};
use crate::sim::brick;

/// The world of a struck brick with or without contact events.
fn run(logged: bool, threads: usize) -> (sim::WorldState, Vec<ContactEvents>) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut world = World::new(Settings::default());
        floor(&mut world);
        struck_brick(&mut world);
        world.set_contact_events(logged);
        let events = (0..40).map(|_| world.step().events.contacts).collect();
        world.set_contact_events(false);
        (world.saved(), events)
    })
}

#[test]
fn events_are_the_same_for_any_number_of_threads_and_change_nothing() {
    let (logged, unlogged) = (run(true, 1), run(false, 1));
    assert!(logged.0 == unlogged.0);
    assert!(unlogged.1.iter().all(|events| *events == ContactEvents::default()));
    assert!(logged.1.iter().map(|events| events.began.len()).sum::<usize>() > 20);
    assert!(run(true, 3) == logged);
}

#[test]
fn what_began_and_did_not_end_is_what_touches() {
    let (_, events) = run(true, 2);
    let count = |of: fn(&ContactEvents) -> usize| events.iter().map(of).sum::<usize>();
    assert!(count(|events| events.touching.len()) > 10 && count(|events| events.ended.len()) > 0);
    let mut known: Vec<[BodyId; 2]> = Vec::new();
    for events in events {
        for pair in &events.ended {
            let n = known.binary_search(pair).expect("a contact that ended had begun");
            known.remove(n);
        }
        for pair in &events.began {
            let n = known.binary_search(pair).expect_err("a contact that begins is new");
            known.insert(n, *pair);
        }
        let pairs: Vec<_> = events.touching.iter().map(|touching| touching.bodies).collect();
        assert!(pairs.is_sorted() && pairs.iter().all(|pair| pair[0] < pair[1]));
        assert!(pairs.iter().all(|pair| known.binary_search(pair).is_ok()));
        for touching in &events.touching {
            assert!(
                touching.point.y > -0.02 && touching.point.coords.norm() < 20.0,
                "{touching:?}"
            );
            assert!(touching.impulse.is_finite() && touching.impulse >= -1e-12);
            assert!((touching.normal.norm() - 1.0).abs() < 1e-9);
        }
    }
}

properties! {
    /// The floor and gravity change the momentum. The tolerance is 1 %, since the energy bound
    /// slows low bounces.
    #[test]
    fn impulses_of_a_ball_that_bounces_add_up_to_its_change_of_momentum(
        height in 0.2..3.0, restitution in 0.0..0.9, frames in 10usize..80,
    ) {
        // the support of a sleeping body reports no events
        let mut world = World::new(Settings { sleep: false, ..Settings::default() });
        floor(&mut world);
        let material = Material { restitution, ..Material::default() };
        world.add(NewBody { material, ..ball(0.1, [0.3, 0.1 + height, 0.2]) }).unwrap();
        world.set_contact_events(true);
        let mut given = 0.0;
        for _ in 0..frames {
            for touching in world.step().events.contacts.touching {
                prop_assert!(touching.normal.y < -0.999_999);
                prop_assert!(touching.point.y.abs() < 0.02, "{}", touching.point);
                prop_assert_eq!(touching.materials, ["stone"; 2]);
                given += touching.impulse;
            }
        }
        let wanted = world.momentum().linear.y + 9.81 * DT * frames as f64;
        prop_assert!((given - wanted).abs() <= 1e-9 + 0.01 * wanted, "{} for {}", given, wanted);
    }
}

properties! {
    /// Simultaneous impacts of a ball on two others, which are one complementarity problem, report
    /// the impulse of each pair once.
    #[test]
    fn impulses_of_simultaneous_impacts_are_the_changes_of_momentum(
        speed in 2.0..20.0f64,
        restitution in 0.1..1.0,
        is_breakable in any::<bool>(),
    ) {
        let gravity = Vector3::zeros();
        let mut world = World::new(Settings { gravity, sleep: false, ..Settings::default() });
        let material = Material { restitution, friction: 0.0, ..Material::default() };
        let places = [[0.0, 3f64.sqrt() * 0.1 + 0.01, 0.0], [-0.1, 0.0, 0.0], [0.1, 0.0, 0.0]];
        let linear = Vector3::y() * -speed;
        for (place, is_striker) in places.into_iter().zip([true, false, false]) {
            // the sum of both impulses is tested against the strength, too
            let strong = || brick(Vector3::repeat(0.1), Isometry3::identity(), 1e6).breakage;
            let breakage = (is_striker && is_breakable).then(strong).flatten();
            let linear = if is_striker { linear } else { Vector3::zeros() };
            let velocity = Velocity { linear, ..Velocity::default() };
            world
                .add(NewBody { material, breakage, velocity, ..ball(0.1, place) })
                .unwrap();
        }
        world.set_contact_events(true);
        let touching = world.step().events.contacts.touching;
        prop_assert_eq!(touching.len(), 2);
        for touching in touching {
            let struck = touching.bodies[1];
            let gained = world.get(struck).unwrap().momentum.linear.norm();
            prop_assert!((touching.impulse - gained).abs() < 1e-9 * speed, "{touching:?} {gained}");
        }
    }
}

#[test]
fn a_ball_that_bounces_touches_for_a_frame_and_then_does_not() {
    let mut world = World::new(Settings::default());
    let floor = floor(&mut world);
    let material = Material { restitution: 0.8, ..Material::default() };
    let floor_material = NewBody { material, ..ball(0.1, [0.0, 1.0, 0.0]) };
    let ball = world.add(floor_material).unwrap();
    world.set_contact_events(true);
    let reports: Vec<_> = (0..30).map(|_| world.step().events.contacts).collect();
    let first = |of: fn(&ContactEvents) -> bool| reports.iter().position(of).unwrap();
    let began = first(|events| !events.began.is_empty());
    // it falls 0.9 m in 0.43 s
    assert_eq!(began, 12);
    assert_eq!(reports[began].began, [[floor, ball]]);
    assert_eq!(first(|events| !events.ended.is_empty()), began + 1);
    assert_eq!(reports[began + 1].ended, [[floor, ball]]);
}

#[test]
fn sleep_ends_no_contact_and_what_leaves_does() {
    let mut world = World::new(Settings::default());
    let floor = floor(&mut world);
    let ids: Vec<_> = (0..3)
        .map(|i| world.add(cube(0.2, [0.0, 0.2 + 0.4 * f64::from(i), 0.0])).unwrap())
        .collect();
    world.set_contact_events(true);
    let reports: Vec<_> = (0..60).map(|_| world.step().events.contacts).collect();
    let pairs = [[floor, ids[0]], [ids[0], ids[1]], [ids[1], ids[2]]];
    assert_eq!(reports[0].began, pairs);
    assert!(reports[1..].iter().all(|events| events.began.is_empty()));
    assert!(reports.iter().all(|events| events.ended.is_empty()));
    assert_eq!(asleep(&world, &ids), 3);
    assert!(reports[59].touching.is_empty());
    // the lowest supports all three
    let weight = 9.81 * DT;
    let lowest = reports[5].touching[0];
    assert!((lowest.impulse / (3.0 * weight) - 1.0).abs() < 0.05, "{}", lowest.impulse);

    let state = world.saved();
    world.set_pose(ids[2], &Isometry3::translation(3.0, 4.0, 0.0)).unwrap();
    assert_eq!(world.step().events.contacts.ended, [pairs[2]]);
    steps(&mut world, 60);
    world.restore(&state).unwrap();
    world.remove(ids[2]);
    assert_eq!(world.step().events.contacts.ended, [pairs[2]]);
    let report = world.step();
    assert!(report.events.contacts.ended.is_empty() && report.events.contacts.began.is_empty());
}

properties! {
    /// (1 + e) m v / 2 for two balls of mass m in a head-on collision at a relative speed v.
    #[test]
    fn balls_that_meet_head_on_give_each_other_what_the_formula_says(
        restitution in 0.0..1.0, speed in 0.5..20.0, apart in 0.21..2.0,
    ) {
        let gravity = Vector3::zeros();
        let mut world = World::new(Settings { gravity, sleep: false, ..Settings::default() });
        let material = Material { restitution, ..Material::default() };
        let velocity = Velocity { linear: Vector3::x() * speed, ..Velocity::default() };
        let one = world.add(NewBody { material, velocity, ..ball(0.1, [0.0; 3]) }).unwrap();
        let other = world.add(NewBody { material, ..ball(0.1, [apart, 0.0, 0.0]) }).unwrap();
        world.set_contact_events(true);
        let frames = f64::ceil((apart - 0.2) / (speed * DT)) as usize + 1;
        let all = (0..frames).flat_map(|_| world.step().events.contacts.touching);
        let impulse = |t: sim::TouchingPair| (t.bodies == [one, other]).then_some(t);
        let met: Vec<_> = all.filter_map(impulse).collect();
        let given: f64 = met.iter().map(|t| t.impulse).sum();
        let wanted: f64 = 0.5 * (1.0 + restitution) * speed;
        prop_assert!((given - wanted).abs() < 1e-6 * wanted, "{} for {}", given, wanted);
        let first = met.iter().find(|t| t.impulse > 0.0).unwrap();
        prop_assert!((first.normal + Vector3::x()).norm() < 1e-9);
        prop_assert!((first.point.x - (apart - 0.1)).abs() < 1e-6, "{} of {}", first.point, apart);
    }
}
