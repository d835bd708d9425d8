//! Resting contact: forces that prevent bodies from accelerating into each other (Ku07 eq. 4), with
//! Coulomb friction.

use dynamics::{Body, Load, MassProperties, Momentum, State, Velocity};
use nalgebra::{Isometry3, Vector3};

use super::touch::{ContactState, Touch};
use crate::constraint::{Bodies, Bounds, PER_CONTACT, Rounds, Row, alternate, tangents};
use crate::{Columns, Frame};

/// Baumgarte stabilization of resting contacts, critically damped, 1/s: gaps obey
/// `g'' + 2 D g' + D^2 g = 0`, which removes the drift of the integration.
const DAMPING: f64 = 200.0;
/// Decay rate of the sliding velocity within the friction cone, 1/s: Coulomb friction regularized
/// below a sliding speed of `friction g / STICKING`, some mm/s.
const STICKING: f64 = 1e3;
/// Limit of rounds of normal forces and friction.
const ROUNDS: usize = 20;
/// Convergence tolerance of the rounds: the largest change of a normal force relative to the
/// largest force.
const SETTLED: f64 = 1e-9;
/// Upper bound of the speed in m/s, and of the acceleration in m/s^2, of a body at rest.
const AT_REST: f64 = 1e-6;

/// A group of bodies in contact.
pub(crate) struct RestingGroup<'a> {
    frame: Frame<'a>,
    /// Indices of the bodies, dynamic ones first.
    members: Vec<u32>,
    /// Number of dynamic bodies.
    moving: usize,
    /// Static if no force moves them.
    bodies: Vec<Body>,
    /// Touches with indices in `members`.
    touches: Vec<([u32; 2], Touch)>,
    friction: Vec<f64>,
    /// Whether a kinematic body may do work.
    pub(crate) is_driven: bool,
}

/// The contact loads on the bodies of a group.
pub(crate) struct ContactLoads {
    /// One per dynamic body.
    pub(crate) loads: Vec<Load>,
    /// Power of kinematic bodies, W.
    pub(crate) power: f64,
    /// As in [`Solved`](crate::constraint::Solved).
    pub(crate) unsolved: bool,
    pub(crate) limited: bool,
}

impl<'a> RestingGroup<'a> {
    /// The bodies of some touches, which are connected.
    pub(crate) fn new(frame: Frame<'a>, touches: &[Touch]) -> Self {
        let columns = frame.columns;
        let mass = |i: u32| columns.bodies[i as usize].mass_properties();
        let mut members: Vec<u32> = touches.iter().flat_map(|touch| touch.bodies).collect();
        members.sort_unstable_by_key(|&i| (mass(i).is_none(), i));
        members.dedup();
        let moving = members.iter().filter(|&&i| mass(i).is_some()).count();
        let bodies = members.iter().map(|&i| mass(i).map_or(Body::Static, |m| Body::Dynamic(*m)));
        let find = |i: u32| {
            let place =
                members.binary_search_by_key(&(mass(i).is_none(), i), |&j| (mass(j).is_none(), j));
            place.unwrap_or_default() as u32
        };
        let friction = touches.iter().map(|touch| {
            let [p, q] = touch.bodies.map(|i| &columns.materials[i as usize]);
            p.friction_with(q, frame.settings.friction)
        });
        let moves = |i: &u32| matches!(columns.bodies[*i as usize], Body::Kinematic(v) if v != Velocity::default());
        Self {
            bodies: bodies.collect(),
            touches: touches.iter().map(|touch| (touch.bodies.map(find), *touch)).collect(),
            friction: friction.collect(),
            is_driven: members.iter().any(moves),
            frame,
            moving,
            members,
        }
    }

    /// Indices of the dynamic bodies.
    pub(crate) fn movers(&self) -> &[u32] {
        &self.members[..self.moving]
    }

    /// Indices of the bodies of each touch.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        self.touches.iter().map(|(_, touch)| touch.bodies)
    }

    pub(crate) fn masses(&self) -> impl Iterator<Item = &MassProperties> {
        self.bodies.iter().filter_map(Body::mass_properties)
    }

    fn gravity(&self, i: usize) -> Vector3<f64> {
        self.frame.half_kick[self.members[i] as usize].linear * (2.0 / self.frame.dt)
    }

    /// Poses and velocities of all members at a time after the start, s, with the dynamic ones in
    /// `states`.
    fn places(&self, time: f64, states: &[State]) -> (Vec<Isometry3<f64>>, Vec<Velocity>) {
        let (mut poses, mut velocities) = (Vec::new(), Vec::new());
        for (k, (&i, body)) in self.members.iter().zip(&self.bodies).enumerate() {
            let pose = &self.frame.poses[i as usize];
            if let (Body::Dynamic(_), Some(state)) = (body, states.get(k)) {
                poses.push(state.pose);
                velocities.push(body.velocity(&state.pose.rotation, &state.momentum));
            } else if let Body::Kinematic(velocity) = &self.frame.columns.bodies[i as usize] {
                poses.push(velocity.integrate(pose, time));
                velocities.push(*velocity);
            } else {
                poses.push(*pose);
                velocities.push(Velocity::default());
            }
        }
        (poses, velocities)
    }

    fn spot(
        &self,
        ([a, b], touch): &([u32; 2], Touch),
        poses: &[Isometry3<f64>],
        velocities: &[Velocity],
    ) -> ContactState {
        let [a, b] = [*a as usize, *b as usize];
        let shapes = [a, b].map(|k| &*self.frame.columns.shapes[self.members[k] as usize]);
        touch.spot(shapes, [&poses[a], &poses[b]], [&velocities[a], &velocities[b]])
    }

    /// Acceleration rows: non-penetration along the normal, and no slip across it within the
    /// friction bound.
    fn rows(&self, spots: &[ContactState]) -> Vec<Row> {
        let mut rows = Vec::with_capacity(PER_CONTACT * spots.len());
        for ((bodies, touch), (spot, &coefficient)) in
            self.touches.iter().zip(spots.iter().zip(&self.friction))
        {
            let along = |direction| Row::along(*bodies, direction, spot.arms);
            let speed = spot.normal.dot(&spot.u);
            // an overlap stays; a gap within the contact tolerance closes
            let off = spot.gap - touch.gap().min(0.0);
            let target = -spot.curl - 2.0 * DAMPING * speed - DAMPING * DAMPING * off;
            let normal = rows.len() as u32;
            rows.push(Row { target, bounds: Bounds::PUSH, ..along(spot.normal) });
            let bounds = [Bounds::Cone { normal, coefficient }, Bounds::Cone2];
            for (tangent, bounds) in tangents(&spot.normal).into_iter().zip(bounds) {
                let target = -STICKING * tangent.dot(&spot.u);
                rows.push(Row { target, bounds, ..along(tangent) });
            }
        }
        rows
    }

    /// The loads on the bodies in their `states` at a time after the start, s. `known` holds the
    /// forces of the last call as a warm start, and receives the new ones.
    pub(crate) fn acting(&self, time: f64, states: &[State], known: &mut Vec<f64>) -> ContactLoads {
        let (poses, velocities) = self.places(time, states);
        let spot = |touch| self.spot(touch, &poses, &velocities);
        let spots: Vec<ContactState> = self.touches.iter().map(spot).collect();
        let rows = self.rows(&spots);
        let rates = self.free_rates(states, &velocities);
        let columns = Columns { bodies: &self.bodies, ..self.frame.columns };
        let rounds = Rounds { most: ROUNDS, settled: Some(SETTLED), guess: known };
        let bodies = Bodies { columns, poses: &poses };
        let solved = alternate(bodies, &rows, &rates, &rounds);
        known.clone_from(&solved.impulses);
        let mut loads: Vec<Load> = (0..self.moving)
            .map(|k| {
                let mass = self.bodies[k].mass_properties().map_or(0.0, MassProperties::mass);
                Load { force: self.gravity(k) * mass, torque: Vector3::zeros() }
            })
            .collect();
        let mut power = 0.0;
        let forces = rows.chunks(PER_CONTACT).zip(solved.impulses.chunks(PER_CONTACT));
        for (((bodies, _), spot), (rows, own)) in self.touches.iter().zip(&spots).zip(forces) {
            let force: Vector3<f64> = rows.iter().zip(own).map(|(row, f)| row.linear * *f).sum();
            for ((&k, force), arm) in bodies.iter().zip([force, -force]).zip(&spot.arms) {
                match loads.get_mut(k as usize) {
                    Some(load) => *load = *load + Load::at(force, arm),
                    None => power -= force.dot(&velocities[k as usize].at(arm)),
                }
            }
        }
        ContactLoads { loads, power, unsolved: solved.unsolved, limited: solved.limited }
    }

    /// The rates of momenta without contact that produce the true free accelerations: free rotation
    /// conserves angular momentum, not angular velocity.
    fn free_rates(&self, states: &[State], velocities: &[Velocity]) -> Vec<Momentum> {
        let rate = |(k, body): (usize, &Body)| match body {
            Body::Dynamic(mass) => Momentum {
                linear: self.gravity(k) * mass.mass(),
                angular: -velocities[k].angular.cross(&states[k].momentum.angular),
            },
            Body::Static | Body::Kinematic(_) => Momentum::default(),
        };
        self.bodies.iter().enumerate().map(rate).collect()
    }

    /// Whether bodies in these `states` stay at rest under these loads.
    pub(crate) fn is_at_rest(&self, states: &[State], acting: &ContactLoads) -> bool {
        let is_small = |mass: &MassProperties, momentum: &Momentum, (k, state): (usize, &State)| {
            let reach = self.frame.columns.shapes[self.members[k] as usize].radius();
            let turn = mass.angular_velocity(&state.pose.rotation, &momentum.angular);
            momentum.linear.norm() / mass.mass() + turn.norm() * reach < AT_REST
        };
        let all = self.masses().zip(&acting.loads).zip(states.iter().enumerate());
        !self.is_driven
            && all.into_iter().all(|((mass, load), state)| {
                let rate = Momentum { linear: load.force, angular: load.torque };
                is_small(mass, &state.1.momentum, state) && is_small(mass, &rate, state)
            })
    }
}
