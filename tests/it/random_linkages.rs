//! Random linkages with joints of all kinds: suspended, free, and falling on a floor.

use std::sync::Arc;

use brisance_tests::properties;
use brisance_tests::strategies::{direction, rotation, vector};
use contact::Shape;
use contact::constraint::JointKind;
use dynamics::{Body, MassProperties, Momentum, Velocity};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use proptest::prelude::*;
use sim::{BodyId, NewBody, NewJoint, Settings, World};

use crate::contact_scenes::{floor, material};
use crate::joints::joint;

const G: f64 = 9.81;
/// Half the edge of a cube that collides, m.
const HALF: f64 = 0.1;

/// A body and its joint to a previous body.
#[derive(Clone, Debug)]
struct Link {
    on: usize,
    kind: JointKind,
    step: Vector3<f64>,
    turn: UnitQuaternion<f64>,
    velocity: Velocity,
    mass: f64,
    axis: Vector3<f64>,
    /// Limits of a hinge or slider on both sides, rad or m.
    play: Option<f64>,
}

fn link() -> impl Strategy<Value = Link> {
    let kind = prop::sample::select(vec![
        JointKind::Point,
        JointKind::Hinge,
        JointKind::Slider,
        JointKind::Fixed,
        JointKind::Distance { least: 0.0, most: 0.0 },
    ]);
    let motion = (vector(2.0), vector(3.0));
    let play = prop::option::of(0.05..0.3_f64);
    (
        (0_usize..8, kind, direction(), 0.4..0.8_f64),
        rotation(),
        motion,
        0.2..5.0_f64,
        direction(),
        play,
    )
        .prop_map(|((on, kind, way, length), turn, (linear, angular), mass, axis, play)| {
            Link {
                on,
                kind,
                step: way * length,
                turn,
                velocity: Velocity { linear, angular },
                mass,
                axis,
                play: play.filter(|_| matches!(kind, JointKind::Hinge | JointKind::Slider)),
            }
        })
}

/// Links, with the insertion order of their bodies and joints.
#[derive(Clone, Debug)]
struct Linkage {
    links: Vec<Link>,
    /// Height of the end of the first link, m.
    height: f64,
    bodies: Vec<usize>,
    joints: Vec<usize>,
    /// Whether each joint names its bodies in reverse order.
    swaps: bool,
    /// Whether the bodies of a joint collide with each other.
    collides: bool,
}

fn links() -> impl Strategy<Value = Vec<Link>> {
    prop::collection::vec(link(), 2..7)
}

/// Links, and an order of bodies and joints.
fn ordered() -> impl Strategy<Value = Linkage> {
    links().prop_flat_map(|links| {
        let order = || Just((0..links.len()).collect::<Vec<_>>()).prop_shuffle();
        let (bodies, joints) = (order(), order());
        (Just(links), bodies, joints, any::<bool>()).prop_map(|(links, bodies, joints, swaps)| {
            Linkage { links, height: 0.0, bodies, joints, swaps, collides: false }
        })
    })
}

impl Linkage {
    fn new(links: Vec<Link>) -> Self {
        let order: Vec<usize> = (0..links.len()).collect();
        let bodies = order.clone();
        Self { links, height: 0.0, bodies, joints: order, swaps: false, collides: false }
    }

    /// Joins each link to the previous one, approximately along x.
    fn chain(mut links: Vec<Link>, height: f64) -> Self {
        for (n, link) in links.iter_mut().enumerate() {
            link.on = n.saturating_sub(1);
            link.step = Vector3::new(0.45, 0.3 * link.step.y, 0.3 * link.step.z);
        }
        Self { height, ..Self::new(links) }
    }

    /// End of the first link, m.
    fn start(&self) -> Vector3<f64> {
        Vector3::y() * self.height
    }

    /// Initial position of each body.
    fn places(&self) -> Vec<Vector3<f64>> {
        let mut places: Vec<Vector3<f64>> = Vec::new();
        for (n, link) in self.links.iter().enumerate() {
            let start = if n == 0 { self.start() } else { places[link.on % n] };
            places.push(start + link.step);
        }
        places
    }

    /// Adds the linkage, suspended from `nail` if any. Returns the bodies in the order of links.
    fn add(&self, world: &mut World, shape: &Arc<Shape>, nail: Option<BodyId>) -> Vec<BodyId> {
        let places = self.places();
        let mut ids: Vec<Option<BodyId>> = vec![None; self.links.len()];
        for &n in &self.bodies {
            let Link { turn, velocity, mass, .. } = self.links[n];
            let mass = MassProperties::cuboid(mass, &Vector3::repeat(HALF)).unwrap();
            let new = NewBody {
                pose: Isometry3::from_parts(Translation3::from(places[n]), turn),
                velocity,
                material: material(0.2, 0.5),
                ..NewBody::of(Body::Dynamic(mass), Arc::clone(shape))
            };
            ids[n] = Some(world.add(new).unwrap());
        }
        let ids: Vec<BodyId> = ids.into_iter().flatten().collect();
        for &n in &self.joints {
            let link = &self.links[n];
            let (on, from) = match n {
                0 => (nail, self.start()),
                _ => (Some(ids[link.on % n]), places[link.on % n]),
            };
            if let Some(on) = on {
                world.add_joint(self.joint(link, [ids[n], on], [places[n], from])).unwrap();
            }
        }
        ids
    }

    /// The joint of a link, whose body is at `place`, to the body at `from`.
    fn joint(
        &self,
        link: &Link,
        [body, on]: [BodyId; 2],
        [place, from]: [Vector3<f64>; 2],
    ) -> NewJoint {
        let between = |share: f64| Point3::from(place + (from - place) * share);
        let (kind, anchors) = match link.kind {
            JointKind::Distance { .. } => {
                let length = 0.4 * (from - place).norm();
                (JointKind::Distance { least: length, most: length }, [between(0.3), between(0.7)])
            }
            kind => (kind, [between(0.5); 2]),
        };
        let [a, b] = anchors;
        let (bodies, anchors) =
            if self.swaps { ([on, body], [b, a]) } else { ([body, on], [a, b]) };
        let limits = link.play.map(|play| [-play, play]);
        let Self { collides, .. } = *self;
        NewJoint { anchors, axis: link.axis, limits, collides, ..joint(kind, bodies, a) }
    }
}

/// A ball that flies at a body of a chain.
#[derive(Clone, Debug)]
struct Thrown {
    at: usize,
    way: Vector3<f64>,
    distance: f64,
    speed: f64,
    mass: f64,
}

fn thrown() -> impl Strategy<Value = Thrown> {
    (0_usize..8, direction(), 0.6..1.5_f64, 1.0..5.0_f64, 0.2..3.0_f64)
        .prop_map(|(at, way, distance, speed, mass)| Thrown { at, way, distance, speed, mass })
}

impl Thrown {
    /// Adds the ball to a world that moves with `drift`.
    fn add(&self, world: &mut World, places: &[Vector3<f64>], drift: Vector3<f64>) {
        let start = places[self.at % places.len()] + self.way * self.distance;
        let linear = drift - self.way * self.speed;
        let mass = MassProperties::ball(self.mass, HALF).unwrap();
        let new = NewBody {
            pose: Isometry3::from_parts(Translation3::from(start), UnitQuaternion::identity()),
            velocity: Velocity { linear, ..Velocity::default() },
            material: material(0.2, 0.5),
            ..NewBody::of(Body::Dynamic(mass), Arc::new(Shape::ball(HALF)))
        };
        world.add(new).unwrap();
    }
}

fn world(gravity: f64) -> World {
    let gravity = Vector3::y() * -gravity;
    World::new(Settings { gravity, sleep: false, ..Settings::default() })
}

/// A body without a shape at the origin, static or kinematic.
fn nail(world: &mut World, body: Body) -> BodyId {
    let new = NewBody::of(body, Shape::empty());
    world.add(new).unwrap()
}

/// The same links without limits of joints.
fn without_limits(mut links: Vec<Link>) -> Vec<Link> {
    links.iter_mut().for_each(|link| link.play = None);
    links
}

/// The largest joint error, m and rad; infinite without joints.
fn open(world: &World) -> f64 {
    world.joints().flat_map(|joint| joint.error).reduce(f64::max).unwrap_or(f64::INFINITY)
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 64, max_shrink_iters: 300, ..ProptestConfig::default() }
}

properties! {
    #![proptest_config(config())]

    #[test]
    fn what_hangs_by_random_joints_keeps_its_energy_and_stays_joined(
        links in links().prop_map(without_limits),
    ) {
        let mut world = world(G);
        let nail = nail(&mut world, Body::Static);
        Linkage::new(links).add(&mut world, &Arc::new(Shape::empty()), Some(nail));
        // the joints first stop incompatible motion
        world.step();
        let start = world.kinetic_energy() + world.potential_energy();
        let mut scale = start.abs();
        for frame in 0..90 {
            let report = world.step();
            prop_assert!(!report.events.unsolved, "frame {}", frame);
            prop_assert!(open(&world) < 1e-9, "frame {}: {}", frame, open(&world));
            scale = scale.max(report.energy.kinetic).max(report.energy.potential.abs());
            let off = world.kinetic_energy() + world.potential_energy() - start;
            prop_assert!(off.abs() < 1e-9 * scale, "frame {}: {} J of {}", frame, off, scale);
        }
    }

    #[test]
    fn the_order_of_bodies_and_joints_does_not_matter(
        ordered in ordered(), hangs in any::<bool>(),
    ) {
        let ends = [Linkage::new(ordered.links.clone()), ordered].map(|linkage| {
            let linkage = Linkage { links: without_limits(linkage.links), ..linkage };
            let mut world = world(G);
            let nail = nail(&mut world, Body::Static);
            let on = hangs.then_some(nail);
            let ids = linkage.add(&mut world, &Arc::new(Shape::empty()), on);
            (0..30).for_each(|_| drop(world.step()));
            ids.iter().map(|&id| *world.get(id).unwrap().pose).collect::<Vec<_>>()
        });
        let [one, other] = ends;
        for (n, (a, b)) in one.iter().zip(&other).enumerate() {
            let off = (a.translation.vector - b.translation.vector).norm();
            let turned = a.rotation.angle_to(&b.rotation);
            prop_assert!(off < 1e-9 && turned < 1e-9, "body {}: {} m, {} rad", n, off, turned);
        }
    }

    /// A kinematic body with velocity V and without rotation does the work V . J by an impulse J.
    #[test]
    fn what_is_dragged_along_by_random_joints_gains_the_work_of_the_impulse(
        links in links().prop_map(without_limits), linear in vector(2.0),
    ) {
        let mut world = world(0.0);
        let velocity = Velocity { linear, ..Velocity::default() };
        let nail = nail(&mut world, Body::Kinematic(velocity));
        Linkage::new(links).add(&mut world, &Arc::new(Shape::empty()), Some(nail));
        let mut scale = 0.0_f64;
        for frame in 0..60 {
            let (energy, momentum) = (world.kinetic_energy(), world.momentum().linear);
            let report = world.step();
            let work = linear.dot(&(world.momentum().linear - momentum));
            let growth = report.energy.kinetic - energy;
            scale = scale.max(energy).max(work.abs());
            let reported = report.energy.work;
            prop_assert!((reported - work).abs() <= 1e-9 * scale, "frame {}: {}, not {} J", frame, reported, work);
            prop_assert!(growth <= work + 1e-9 * scale, "frame {}: {} J by {} J", frame, growth, work);
            // in the first frame an impact accelerates the linkage
            let is_kept = frame == 0 || growth >= work - 1e-9 * scale;
            prop_assert!(is_kept, "frame {}: {} J by {} J", frame, growth, work);
        }
    }

    /// The bodies of a chain collide with each other, including joined bodies if the joint `collides`, and its joints
    /// stop at their limits.
    #[test]
    fn a_free_chain_that_hits_itself_keeps_its_momentum_and_gains_no_energy(
        links in links(), collides in any::<bool>(),
    ) {
        let mut world = world(0.0);
        let shape = Arc::new(Shape::cuboid(Vector3::repeat(HALF), HALF));
        let linkage = Linkage { collides, ..Linkage::chain(links, 0.0) };
        linkage.add(&mut world, &shape, None);
        let Momentum { linear, angular } = world.momentum();
        let size = |of: fn(&Momentum) -> f64| world.iter().map(|body| of(body.momentum)).sum::<f64>();
        let p = size(|m| m.linear.norm());
        let l = size(|m| m.angular.norm()) + 10.0 * p;
        let mut energy = world.kinetic_energy();
        for frame in 0..60 {
            let report = world.step();
            let now = world.momentum();
            let [moved, turned] = [now.linear - linear, now.angular - angular].map(|v| v.norm());
            prop_assert!(moved < 1e-10 * p, "frame {}: {} of {} N s", frame, moved, p);
            prop_assert!(turned < 1e-9 * l, "frame {}: {} of {} N m s", frame, turned, l);
            // joint errors are below 1e-9 m
            prop_assert!(report.energy.kinetic <= energy * (1.0 + 1e-8), "frame {}", frame);
            energy = report.energy.kinetic;
        }
    }

    #[test]
    fn a_chain_that_falls_on_a_floor_stays_together(links in links()) {
        let mut world = world(G);
        floor(&mut world, 0.0, material(0.2, 0.5));
        let shape = Arc::new(Shape::cuboid(Vector3::repeat(HALF), HALF));
        let linkage = Linkage::chain(links, 1.5);
        linkage.add(&mut world, &shape, None);
        let plays: Vec<Option<f64>> = linkage.links[1..].iter().map(|link| link.play).collect();
        for frame in 0..120 {
            world.step();
            prop_assert!(open(&world) < 1e-6, "frame {}: {}", frame, open(&world));
            prop_assert_eq!(world.joints().count(), plays.len());
            for (joint, play) in world.joints().zip(&plays) {
                let most = play.unwrap_or(f64::INFINITY) + 0.05;
                let coordinate = joint.coordinate;
                prop_assert!(coordinate.abs() < most, "frame {}: {} of {}", frame, coordinate, most);
            }
        }
    }

    /// A kinematic body with velocity V does the work V . J by an impulse J on the bodies that it
    /// drags. The work is negative if an impact acts against the velocity.
    #[test]
    fn what_is_dragged_along_and_struck_gains_the_signed_work_and_no_more(
        links in links(), linear in vector(2.0), balls in prop::collection::vec(thrown(), 1..5),
    ) {
        let mut world = world(0.0);
        let velocity = Velocity { linear, ..Velocity::default() };
        let nail = nail(&mut world, Body::Kinematic(velocity));
        let shape = Arc::new(Shape::cuboid(Vector3::repeat(HALF), HALF));
        let linkage = Linkage::chain(links, 0.0);
        let places = linkage.places();
        linkage.add(&mut world, &shape, Some(nail));
        balls.iter().for_each(|ball| ball.add(&mut world, &places, linear));
        let mut scale = 0.0_f64;
        for frame in 0..60 {
            let (energy, momentum) = (world.kinetic_energy(), world.momentum().linear);
            let report = world.step();
            let reported = report.energy.work;
            scale = scale.max(energy).max(reported.abs());
            let lost = report.energy.dissipation.total();
            let balance = report.energy.kinetic - energy - reported + lost;
            prop_assert!(balance.abs() < 1e-12 * scale, "frame {}: {} J", frame, balance);
            // joint errors are below 1e-9 m
            prop_assert!(lost > -1e-8 * scale, "frame {}: gains {} J", frame, -lost);
            let work = linear.dot(&(world.momentum().linear - momentum));
            let is_solved = !report.events.unsolved && report.counters.unsolved_islands == 0;
            let off = (reported - work).abs();
            prop_assert!(!is_solved || off < 1e-9 * scale, "frame {}: {}, not {} J", frame, reported, work);
        }
    }
}
