//! Random piles that fall asleep, and their waking.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use brisance_tests::properties;
use brisance_tests::strategies::{rotation, vector};
use contact::Material;
use dynamics::{Momentum, Velocity};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use proptest::prelude::*;
use sim::{BodyId, NewBody, Settings, World};

use crate::contact_scenes::{GRAVITY, at, ball, cuboid, floor};

/// Number of frames until a pile comes to rest.
const SETTLING: usize = 300;
const DENSITY: f64 = 1000.0;

/// A body of a pile.
#[derive(Clone, Debug)]
struct Lump {
    is_ball: bool,
    half: [f64; 3],
    aside: Vector3<f64>,
    turn: UnitQuaternion<f64>,
    surface: Material,
}

impl Lump {
    fn mass(&self) -> f64 {
        let [x, y, z] = self.half;
        if self.is_ball { 4.0 / 3.0 * PI * x.powi(3) * DENSITY } else { 8.0 * x * y * z * DENSITY }
    }

    fn at(&self, height: f64) -> NewBody {
        let place = Vector3::new(self.aside.x, height, self.aside.z);
        let pose = Isometry3::from_parts(Translation3::from(place), self.turn);
        match self.is_ball {
            true => ball(self.half[0], self.mass(), pose, self.surface),
            false => cuboid(self.half, self.mass(), pose, self.surface),
        }
    }
}

/// A box, or with probability `balls` a ball.
fn lump(balls: f64) -> impl Strategy<Value = Lump> {
    let half = || 0.06..0.14_f64;
    let rates = (0.0..0.4_f64, 0.3..0.8_f64, 0.05..0.2_f64);
    let shape = (prop::bool::weighted(balls), [half(), half(), half()]);
    (shape, vector(0.15), rotation(), rates).prop_map(
        |((is_ball, half), aside, turn, (restitution, friction, rolling_friction))| {
            let surface = Material {
                restitution,
                friction,
                rolling_friction,
                spinning_friction: rolling_friction,
                ..Material::default()
            };
            Lump { is_ball, half, aside, turn, surface }
        },
    )
}

fn pile(balls: f64) -> impl Strategy<Value = Vec<Lump>> {
    prop::collection::vec(lump(balls), 2..7)
}

/// A pile above a floor, before it falls.
fn world(pile: &[Lump], sleep: bool) -> (World, BodyId, Vec<BodyId>) {
    let mut world = World::new(Settings { sleep, ..Settings::default() });
    let ground = floor(&mut world, 0.0, Material::default());
    let heights = (0..pile.len()).map(|n| 0.3 + 0.5 * n as f64);
    let lumps = pile.iter().zip(heights);
    let ids = lumps.map(|(lump, height)| world.add(lump.at(height)).unwrap()).collect();
    (world, ground, ids)
}

fn asleep(world: &World) -> usize {
    world.iter().filter(|state| state.asleep).count()
}

/// Runs a pile until all bodies sleep. Returns whether they do in time.
fn settles(world: &mut World, bodies: usize) -> bool {
    (0..SETTLING).any(|_| {
        world.step();
        asleep(world) == bodies
    })
}

fn numbers(pose: &Isometry3<f64>) -> Vec<u64> {
    let place = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
    place.map(|x| x.to_bits()).collect()
}

/// Poses of sleeping bodies.
fn held(world: &World) -> BTreeMap<BodyId, Vec<u64>> {
    let asleep = world.iter().filter(|state| state.asleep);
    asleep.map(|state| (state.id, numbers(state.pose))).collect()
}

/// An event for a pile.
#[derive(Clone, Debug)]
enum Act {
    Remove(usize),
    Throw(usize, Vector3<f64>),
    /// A ball from above.
    Drop(Vector3<f64>),
}

impl Act {
    fn apply(&self, world: &mut World) {
        let movers = world.iter().filter(|state| state.body.mass_properties().is_some());
        let ids: Vec<BodyId> = movers.map(|state| state.id).collect();
        match self {
            Self::Remove(n) => drop(world.remove(ids[n % ids.len()])),
            Self::Throw(n, linear) => {
                let velocity = Velocity { linear: *linear, ..Velocity::default() };
                world.set_velocity(ids[n % ids.len()], velocity).unwrap();
            }
            Self::Drop(place) => {
                let pose = at(place.x, 2.0, place.z);
                let surface = Material { rolling_friction: 0.1, ..Material::default() };
                world.add(ball(0.08, 2.0, pose, surface)).unwrap();
            }
        }
    }
}

fn acts() -> impl Strategy<Value = Vec<(usize, Act)>> {
    let act = prop_oneof![
        (0_usize..8).prop_map(Act::Remove),
        (0_usize..8, vector(2.0)).prop_map(|(n, v)| Act::Throw(n, v)),
        vector(0.2).prop_map(Act::Drop),
    ];
    prop::collection::vec((60..SETTLING, act), 0..3)
}

/// Motion of the ground.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Removed,
    Moved,
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 64, max_shrink_iters: 300, ..ProptestConfig::default() }
}

properties! {
    #![proptest_config(config())]

    #[test]
    fn what_sleeps_is_at_rest_and_stays_in_place_until_something_wakes_it(
        pile in pile(0.2), acts in acts(),
    ) {
        let (mut world, _, ids) = world(&pile, true);
        let mut last = BTreeMap::new();
        let mut slept = false;
        for frame in 0..SETTLING {
            let mut is_left_alone = true;
            for (_, act) in acts.iter().filter(|(at, _)| *at == frame) {
                act.apply(&mut world);
                is_left_alone = false;
            }
            let report = world.step();
            let now = held(&world);
            for state in world.iter().filter(|state| state.asleep) {
                prop_assert_eq!(*state.momentum, Momentum::default(), "frame {}", frame);
                let is_held = last.get(&state.id).is_none_or(|pose| *pose == now[&state.id]);
                prop_assert!(is_held, "frame {}", frame);
            }
            let movers = world.iter().filter(|body| body.body.mass_properties().is_some()).count();
            prop_assert_eq!(report.counters.awake + now.len(), movers);
            if is_left_alone && last.len() == movers {
                prop_assert_eq!(&now, &last, "frame {}", frame);
            }
            slept |= !now.is_empty();
            last = now;
        }
        prop_assert!(slept || ids.len() == 2, "nothing fell asleep");
    }

    #[test]
    fn a_pile_wakes_whole_and_falls_freely_when_the_ground_goes(
        pile in pile(0.0), loss in prop_oneof![Just(Loss::Removed), Just(Loss::Moved)],
    ) {
        let (mut world, ground, ids) = world(&pile, true);
        prop_assert!(settles(&mut world, ids.len()), "{} of {} sleep", asleep(&world), ids.len());
        match loss {
            Loss::Removed => prop_assert!(world.remove(ground)),
            Loss::Moved => world.set_pose(ground, &at(0.0, -90.0, 0.0)).unwrap(),
        }
        let weight: f64 = pile.iter().map(|lump| lump.mass() * GRAVITY).sum();
        for frame in 1..=20_u32 {
            world.step();
            prop_assert_eq!(asleep(&world), 0, "frame {}", frame);
            let fallen = Vector3::y() * (-weight * f64::from(frame) / 30.0);
            let off = (world.momentum().linear - fallen).norm();
            prop_assert!(off <= 1e-10 * weight, "frame {}: {} N s of {}", frame, off, fallen);
        }
    }

    /// The energy bound applies before bodies fall asleep, so that it does not hide energy gains of
    /// sleep.
    #[test]
    fn falling_asleep_and_waking_add_no_energy(pile in pile(0.2), acts in acts()) {
        let (mut world, _, ids) = world(&pile, true);
        let scale = world.potential_energy();
        let mut slept = 0;
        for frame in 0..SETTLING {
            for (_, act) in acts.iter().filter(|(at, _)| *at == frame) {
                act.apply(&mut world);
            }
            let sleepers = asleep(&world);
            let before = world.kinetic_energy() + world.potential_energy();
            let report = world.step();
            let growth = world.kinetic_energy() + world.potential_energy() - before;
            prop_assert!(growth <= 1e-10 * scale, "frame {} gains {} J", frame, growth);
            let lost = report.energy.dissipation.total();
            let missed = (growth + lost).abs();
            prop_assert!(missed <= 1e-10 * scale, "frame {}: {} and {} J", frame, growth, lost);
            let fell = report.energy.dissipation.sleep;
            // bodies faster than 0.1 m/s do not fall asleep
            let most = 0.5 * world.mass() * 0.1 * 0.1;
            prop_assert!((0.0..=most).contains(&fell), "frame {}: {} J of {}", frame, fell, most);
            slept += usize::from(asleep(&world) > sleepers);
        }
        prop_assert!(slept > 0 || ids.len() == 2);
    }

    /// Compares from rest on, since the tumbling of boxes is sensitive to round-off.
    #[test]
    fn a_pile_that_may_sleep_ends_where_one_ends_that_may_not(pile in pile(0.0)) {
        let (mut world, _, ids) = world(&pile, false);
        (0..SETTLING / 2).for_each(|_| drop(world.step()));
        let state = world.saved();
        let ends = [true, false].map(|sleep| {
            let (mut world, ..) = self::world(&pile, sleep);
            world.restore(&state).unwrap();
            (0..SETTLING).for_each(|_| drop(world.step()));
            let poses = ids.iter().map(|&id| *world.get(id).unwrap().pose);
            (asleep(&world), poses.collect::<Vec<_>>())
        });
        let [(sleepers, slept), (_, awake)] = ends;
        prop_assert_eq!(sleepers, ids.len());
        for (n, (a, b)) in slept.iter().zip(&awake).enumerate() {
            let off = (a.translation.vector - b.translation.vector).norm();
            let turned = a.rotation.angle_to(&b.rotation);
            prop_assert!(off < 1e-3 && turned < 0.01, "body {}: {} m, {} rad", n, off, turned);
        }
    }
}
