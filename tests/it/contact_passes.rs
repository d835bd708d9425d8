//! No pass of a frame adds kinetic energy, for any kind of bodies.

use std::sync::Arc;

use brisance_tests::properties;
use brisance_tests::strategies::{rotation, vector};
use contact::{
    Broad, Cache, Clamp, Collision, Columns, Flight, Frame, Groups, Levers, Material, Paths,
    Settings, Shape, Solver, StrengthQuery,
};
use dynamics::{Body, MassProperties, Momentum, Velocity};
use nalgebra::{Isometry3, Translation3, Vector3};
use proptest::prelude::*;
use sim::{NewBody, World};

/// Motion of the first body; the others are dynamic.
#[derive(Clone, Copy, Debug)]
enum Partner {
    Dynamic,
    Static,
    /// Translates without rotation, so that it has a rest frame.
    Kinematic(Vector3<f64>),
}

#[derive(Clone, Debug)]
struct Crowd {
    partner: Partner,
    bodies: Vec<Body>,
    poses: Vec<Isometry3<f64>>,
    velocities: Vec<Velocity>,
    shapes: Vec<Arc<Shape>>,
    materials: Vec<Material>,
}

/// A box or ball near the origin; some overlap.
fn one() -> impl Strategy<Value = (Body, Isometry3<f64>, Velocity, Arc<Shape>, Material)> {
    let size = [0.1..0.6, 0.1..0.6, 0.1..0.6_f64];
    let surface = (0.0..=1.0, 0.0..=1.5, prop_oneof![3 => Just(0.0), 1 => 0.0..0.5]);
    let state = (vector(0.8), rotation(), vector(4.0), vector(8.0));
    (size, any::<bool>(), -1.0..2.0_f64, surface, state).prop_map(
        |(
            half,
            round,
            mass,
            (restitution, friction, rolling_friction),
            (x, r, linear, angular),
        )| {
            let (half, mass) = (Vector3::from(half), 10f64.powf(mass));
            let (shape, mass) = if round {
                (Shape::ball(half.x), MassProperties::ball(mass, half.x))
            } else {
                (Shape::cuboid(half, 0.1), MassProperties::cuboid(mass, &half))
            };
            let body = Body::Dynamic(mass.unwrap());
            let pose = Isometry3::from_parts(Translation3::from(x), r);
            let material = Material {
                restitution,
                friction,
                rolling_friction,
                spinning_friction: 0.5 * rolling_friction,
                ..Material::default()
            };
            (body, pose, Velocity { linear, angular }, Arc::new(shape), material)
        },
    )
}

fn crowd() -> impl Strategy<Value = Crowd> {
    let partner = prop_oneof![
        Just(Partner::Dynamic),
        Just(Partner::Static),
        vector(3.0).prop_map(Partner::Kinematic),
    ];
    (partner, prop::collection::vec(one(), 2..5)).prop_map(|(partner, all)| {
        let mut crowd = Crowd {
            partner,
            bodies: Vec::new(),
            poses: Vec::new(),
            velocities: Vec::new(),
            shapes: Vec::new(),
            materials: Vec::new(),
        };
        for (body, pose, velocity, shape, material) in all {
            crowd.bodies.push(body);
            crowd.poses.push(pose);
            crowd.velocities.push(velocity);
            crowd.shapes.push(shape);
            crowd.materials.push(material);
        }
        let still = Velocity::default();
        match partner {
            Partner::Dynamic => {}
            Partner::Static => (crowd.bodies[0], crowd.velocities[0]) = (Body::Static, still),
            Partner::Kinematic(linear) => {
                let velocity = Velocity { linear, ..still };
                (crowd.bodies[0], crowd.velocities[0]) = (Body::Kinematic(velocity), velocity);
            }
        }
        crowd
    })
}

/// Names, groups, gravity and cache of a frame.
struct Inputs {
    names: Vec<u64>,
    groups: Vec<Groups>,
    half_kick: Vec<Velocity>,
    cache: Cache,
}

impl Crowd {
    fn momenta(&self) -> Vec<Momentum> {
        let states = self.poses.iter().zip(&self.velocities);
        self.bodies
            .iter()
            .zip(states)
            .map(|(body, (pose, velocity))| {
                let own = |m: &MassProperties| m.momentum(&pose.rotation, velocity);
                body.mass_properties().map_or_else(Momentum::default, own)
            })
            .collect()
    }

    fn inputs(&self) -> Inputs {
        let down = Velocity { linear: Vector3::y() * -0.16, ..Velocity::default() };
        let half_kick =
            |body: &Body| body.mass_properties().map_or_else(Velocity::default, |_| down);
        Inputs {
            names: (0..self.bodies.len() as u64).collect(),
            groups: vec![Groups::default(); self.bodies.len()],
            half_kick: self.bodies.iter().map(half_kick).collect(),
            cache: Cache::default(),
        }
    }

    fn frame<'a>(&'a self, inputs: &'a Inputs, settings: &'a Settings) -> Frame<'a> {
        let Self { bodies, shapes, materials, poses, .. } = self;
        let Inputs { names, groups, half_kick, cache } = inputs;
        let columns = Columns { bodies, shapes, materials, groups };
        let (dt, flights, joints) = (1.0 / 30.0, &[], &[]);
        Frame { columns, poses, half_kick, flights, dt, joints, cache, names, settings }
    }

    /// Kinetic energy in the rest frame of the partner, J.
    fn energy(&self, poses: &[Isometry3<f64>], momenta: &[Momentum]) -> f64 {
        let frame = match self.partner {
            Partner::Kinematic(velocity) => velocity,
            Partner::Dynamic | Partner::Static => Vector3::zeros(),
        };
        let of = |((body, pose), momentum): ((&Body, &Isometry3<f64>), &Momentum)| {
            let Body::Dynamic(mass) = body else { return 0.0 };
            let linear = momentum.linear - frame * mass.mass();
            mass.kinetic_energy(&pose.rotation, &Momentum { linear, ..*momentum })
        };
        self.bodies.iter().zip(poses).zip(momenta).map(of).sum()
    }
}

/// All solvers with every clamp and without shock propagation. Shock propagation treats bodies as immovable and adds
/// energy; only the whole frame, not a single pass, compensates for it.
fn solvers() -> impl Strategy<Value = Settings> {
    let reference = |levers| Solver::Reference { levers, clamp_positions: true };
    let solver = prop_oneof![
        Just(Solver::Manifold),
        Just(reference(Levers::TimeN)),
        Just(reference(Levers::Split)),
    ];
    let clamp = prop_oneof![Just(Clamp::Plastic), Just(Clamp::Scale)];
    (solver, clamp).prop_map(|(solver, clamp)| Settings {
        solver,
        clamp,
        shock_sweeps: 0,
        ..Settings::default()
    })
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn no_pass_adds_kinetic_energy(crowd in crowd(), settings in solvers()) {
        let inputs = crowd.inputs();
        let frame = crowd.frame(&inputs, &settings);
        let momenta = crowd.momenta();
        let start = crowd.energy(&crowd.poses, &momenta);
        let may_break = vec![false; momenta.len()];
        let search = frame.search(&momenta, Broad::default());
        let strengths = &mut |_: &Collision, _| [f64::INFINITY; 2];
        let flights = vec![Flight::default(); momenta.len()];
        let mut paths = Paths { poses: crowd.poses.clone(), momenta, flights };
        let query = StrengthQuery { may_break: &may_break, strengths, max_deviated: usize::MAX };
        let done = frame.collide(search.contacts(), &mut paths, query);
        let Paths { poses, mut momenta, flights } = paths;
        let collided = crowd.energy(&poses, &momenta);
        // the reference energy under gravity is that of free flight
        let heights = poses.iter().zip(&crowd.poses).zip(&crowd.bodies);
        let risen: f64 = heights
            .map(|((to, from), body)| {
                let mass = body.mass_properties().map_or(0.0, |mass| mass.mass());
                mass * 2.0 * 0.16 * 30.0 * (to.translation.y - from.translation.y)
            })
            .sum();
        prop_assert!(
            collided + risen <= start * (1.0 + 1e-10),
            "collide: {start} -> {collided} + {risen}"
        );

        let frame = Frame { poses: &poses, flights: &flights, ..frame };
        let mut search = search;
        frame.follow(&mut search, &momenta, &done.shifts);
        let mut support = frame.support(&search, &momenta);
        let mut half = momenta.clone();
        support.settle_positions(frame, &mut half);
        let settled = crowd.energy(&poses, &half);
        prop_assert!(settled <= collided * (1.0 + 1e-10), "positions: {collided} -> {settled}");

        let end = frame.predict(&half);
        let moved = Frame { poses: &end, ..frame };
        let before = crowd.energy(&end, &momenta);
        support.settle_velocities(moved, &poses, &mut momenta);
        let after = crowd.energy(&end, &momenta);
        prop_assert!(after <= before * (1.0 + 1e-10), "velocities: {before} -> {after}");
    }

    /// After a continued search the position pass reuses the solutions of unchanged islands. It gives the same bits as a
    /// pass that solves all islands.
    #[test]
    fn a_renewed_graph_gives_the_positions_of_a_new_one(
        crowd in crowd(), diverted in prop::collection::vec(any::<bool>(), 4),
    ) {
        let settings = Settings::default();
        let inputs = crowd.inputs();
        let frame = crowd.frame(&inputs, &settings);
        let momenta = crowd.momenta();
        let mut search = frame.search(&momenta, Broad::default());
        let mut renewed = frame.support(&search, &momenta);
        let mut half = momenta.clone();
        renewed.settle_positions(frame, &mut half);
        frame.search_diverted(&mut search, &half, &diverted[..half.len()]);
        renewed.renew(frame, &search, &momenta);
        let mut fresh = frame.support(&search, &momenta);
        let (mut with, mut without) = (momenta.clone(), momenta);
        renewed.settle_positions(frame, &mut with);
        fresh.settle_positions(frame, &mut without);
        prop_assert_eq!(with, without);
        let impulses = [&renewed, &fresh].map(|own| own.solved().map(|solved| solved.impulses.to_vec()));
        prop_assert_eq!(&impulses[0], &impulses[1]);
    }

    /// Whole frames, with shock propagation, with gravity and without. Only bodies on the ground need the energy
    /// bound.
    #[test]
    fn no_frame_adds_energy_or_momentum(
        crowd in crowd(),
        settings in prop_oneof![Just(Settings::default()), Just(Settings::reference())],
        (heavy, is_bound) in any::<(bool, bool)>(),
    ) {
        prop_assume!(!matches!(crowd.partner, Partner::Kinematic(_)));
        let is_free = matches!(crowd.partner, Partner::Dynamic);
        let bound_energy = is_bound || heavy && !is_free;
        let gravity = if heavy { Vector3::new(0.0, -9.81, 0.0) } else { Vector3::zeros() };
        let contact = settings;
        let settings = sim::Settings { contact, gravity, bound_energy, ..Default::default() };
        let mut world = World::new(settings);
        for i in 0..crowd.bodies.len() {
            world.add(NewBody { pose: crowd.poses[i], velocity: crowd.velocities[i], material: crowd.materials[i], ..NewBody::of(crowd.bodies[i], Arc::clone(&crowd.shapes[i])) }).unwrap();
        }
        for _ in 0..8 {
            let size = world.kinetic_energy() + world.potential_energy().abs();
            let momentum = world.momentum().linear;
            let report = world.step();
            let size = size + report.energy.kinetic + report.energy.potential.abs();
            let (gain, frame) = (report.energy.gain, report.frame);
            prop_assert!(gain <= 1e-10 * size, "frame {frame} gains {gain} of {size}");
            if is_free {
                let weight = gravity * (world.mass() * world.settings().dt);
                let off = (world.momentum().linear - momentum - weight).norm();
                let parts: f64 = world.iter().map(|body| body.momentum.linear.norm()).sum();
                prop_assert!(off <= 1e-10 * (parts + weight.norm()), "frame {frame}: {off} of {parts}");
            }
        }
    }
}

/// A box on the ground with alternating upward and downward impulses.
#[test]
fn a_contact_is_kept_when_a_body_is_looked_at_on_its_way_off() {
    let half = Vector3::repeat(0.1);
    let mass = MassProperties::new(8.0, Vector3::repeat(0.05)).unwrap();
    let bodies = [Body::Static, Body::Dynamic(mass)];
    let shapes = [Arc::new(Shape::half_space()), Arc::new(Shape::cuboid(half, 0.1))];
    let (materials, groups) = ([Material::default(); 2], [Groups::default(); 2]);
    let poses = [Isometry3::identity(), Isometry3::translation(0.0, 0.1, 0.0)];
    let columns =
        Columns { bodies: &bodies, shapes: &shapes, materials: &materials, groups: &groups };
    let frame = Frame {
        columns,
        poses: &poses,
        half_kick: &[Velocity::default(); 2],
        flights: &[],
        dt: 1.0 / 30.0,
        joints: &[],
        cache: &Cache::default(),
        names: &[0, 1],
        settings: &Settings::default(),
    };
    let up = Momentum { linear: Vector3::y() * 8.0 * 6.0, ..Momentum::default() };
    let (still, sent) = ([Momentum::default(); 2], [Momentum::default(), up]);
    let alone = frame.search(&sent, Broad::default());
    assert_eq!(alone.contacts().len(), 0, "on its own it is off by 20 cm");
    let mut search = frame.search(&still, Broad::default());
    assert_eq!(search.contacts().len(), 4);
    frame.search_again(&mut search, &sent, &[false, true], &[]);
    assert_eq!(search.contacts().len(), 4);
    let down = [Momentum::default(), Momentum { linear: -up.linear, ..up }];
    let strengths = &mut |_: &Collision, _| [f64::INFINITY; 2];
    let flights = vec![Flight::default(); 2];
    let mut paths = Paths { poses: poses.to_vec(), momenta: down.to_vec(), flights };
    frame.follow(&mut search, &down, &[Velocity::default(); 2]);
    frame.collide(
        search.contacts(),
        &mut paths,
        StrengthQuery { may_break: &[false; 2], strengths, max_deviated: usize::MAX },
    );
    let down = paths.momenta[1];
    assert!(down.linear.y >= 0.0, "it must not go into the ground: {down:?}");
}

#[test]
fn shapes_of_negative_or_no_size_touch_nothing_and_leave_the_others_alone() {
    let mass = MassProperties::ball(1.0, 0.1).unwrap();
    let bodies = [vec![Body::Static], vec![Body::Dynamic(mass); 3]].concat();
    let poses = [0.0, 0.1, 0.15, 0.2].map(|y| Isometry3::translation(0.0, y, 0.0));
    for radius in [-0.1, f64::NAN, f64::NEG_INFINITY] {
        let bad = Arc::new(Shape::ball(radius));
        let shapes = [Arc::new(Shape::half_space()), Arc::new(Shape::ball(0.1)), bad.clone(), bad];
        let columns = Columns {
            bodies: &bodies,
            shapes: &shapes,
            materials: &[Material::default(); 4],
            groups: &[Groups::default(); 4],
        };
        let frame = Frame {
            columns,
            poses: &poses,
            half_kick: &[Velocity::default(); 4],
            flights: &[],
            dt: 1.0 / 30.0,
            joints: &[],
            cache: &Cache::default(),
            names: &[0, 1, 2, 3],
            settings: &Settings::default(),
        };
        let search = frame.search(&[Momentum::default(); 4], Broad::default());
        let pairs: Vec<_> = search.contacts().manifolds().iter().map(|m| [m.a, m.b]).collect();
        assert_eq!(pairs.len(), 1, "{radius}: {pairs:?}");
        assert!(pairs[0].iter().all(|&i| i < 2), "{radius}: {pairs:?}");
    }
}
