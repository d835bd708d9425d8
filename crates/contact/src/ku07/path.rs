//! The path of a body to the end of a flight, without collisions.

use dynamics::{
    Accuracy, Body, CoupledBody, Load, MassProperties, Momentum, Scale, State, Velocity, advance,
    integrate_coupled,
};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};

use crate::Shape;

/// Error bound per integration step of a body without contact.
const FREE: Accuracy = Accuracy { tolerance: 1e-12, least_step: 0.0 };
/// Limit of the rotation angle in a flight that is integrated with error control, rad.
const MAX_TURN: f64 = 1e4;
/// Safety factor of the speed bound of bodies in contact, whose speeds are known only at
/// integration steps.
const FASTER: f64 = 1.2;

/// A state at a time, s after the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) time: f64,
    pub(crate) state: State,
}

/// The path of a body.
#[derive(Clone, Debug)]
pub(crate) struct Path<'a> {
    body: &'a Body,
    start: State,
    /// Acceleration by forces, m/s^2.
    acceleration: Vector3<f64>,
    /// Integration steps from the start; none for bodies without forces or that turn too fast.
    nodes: Vec<Node>,
    /// Whether contact forces act.
    has_contact: bool,
}

impl<'a> Path<'a> {
    /// The path of a body without contact for `duration` s.
    pub(crate) fn free(
        body: &'a Body,
        start: State,
        acceleration: Vector3<f64>,
        duration: f64,
    ) -> Self {
        let mut path = Self { body, start, acceleration, nodes: Vec::new(), has_contact: false };
        if let Body::Dynamic(mass) = body {
            path.nodes.push(Node { time: 0.0, state: start });
            let turn = start.momentum.angular.norm() / mass.inertia().min() * duration;
            let found =
                if turn <= MAX_TURN { path.fly(mass, path.nodes[0], duration) } else { None };
            // without nodes the scheme of the default solver integrates it
            path.nodes = found.map_or_else(Vec::new, |more| [&path.nodes[..], &more].concat());
        }
        path
    }

    /// The path of a body that contact forces move through `nodes`, or that rests.
    pub(crate) fn in_contact(body: &'a Body, nodes: Vec<Node>) -> Self {
        let start = nodes[0].state;
        Self { body, start, acceleration: Vector3::zeros(), nodes, has_contact: true }
    }

    /// The steps of free motion after a state; `None` if it cannot be integrated.
    fn fly(&self, mass: &MassProperties, from: Node, duration: f64) -> Option<Vec<Node>> {
        let mut nodes = Vec::new();
        let load = Load { force: self.acceleration * mass.mass(), torque: Vector3::zeros() };
        let bodies = [CoupledBody { mass: *mass, start: from.state, scale: Scale::default() }];
        let reached = |time: f64, states: &[State]| {
            nodes.extend(states.iter().map(|&state| Node { time: from.time + time, state }));
        };
        integrate_coupled(&bodies, duration, |_, _| vec![load], FREE, reached).ok()?;
        Some(nodes)
    }

    /// The state at a time.
    pub(crate) fn at(&self, time: f64) -> State {
        let next = self.nodes.partition_point(|node| node.time <= time);
        let Some(before) = next.checked_sub(1).map(|n| self.nodes[n]) else {
            return self.carried(time);
        };
        let after = self.nodes.get(next);
        match (self.body, after) {
            _ if before.time == time => before.state,
            (Body::Dynamic(mass), Some(after)) if self.has_contact => {
                between(mass, &before, after, time)
            }
            (Body::Dynamic(mass), _) if !self.has_contact => {
                let found = self.fly(mass, before, time - before.time);
                found.and_then(|nodes| nodes.last().map(|node| node.state)).unwrap_or(before.state)
            }
            _ => before.state,
        }
    }

    /// The state of a body that is not integrated.
    fn carried(&self, time: f64) -> State {
        let State { pose, mut momentum } = self.start;
        let mut carried = advance(self.body, &pose, &momentum, time);
        if let Body::Dynamic(mass) = self.body {
            carried.translation.vector += self.acceleration * (0.5 * time * time);
            momentum.linear += self.acceleration * (mass.mass() * time);
        }
        State { pose: carried, momentum }
    }

    /// Upper bound of the speed of all points of the body, with this shape, within `duration` s,
    /// m/s.
    pub(crate) fn fastest(&self, shape: &Shape, duration: f64) -> f64 {
        let reach = shape.radius();
        let speed = |state: &State, spin: f64| {
            let linear = self.body.velocity(&state.pose.rotation, &state.momentum).linear.norm();
            linear + if spin > 0.0 && reach.is_finite() { spin * reach } else { 0.0 }
        };
        let spin = |momentum: &Momentum| match self.body {
            Body::Dynamic(mass) => momentum.angular.norm() / mass.inertia().min(),
            Body::Static => 0.0,
            Body::Kinematic(velocity) => velocity.angular.norm(),
        };
        let of = |state: &State| speed(state, spin(&state.momentum));
        let most = self.nodes.iter().map(|node| of(&node.state)).fold(of(&self.start), f64::max);
        match self.body {
            Body::Dynamic(_) if self.has_contact => FASTER * most,
            Body::Dynamic(_) => most.max(of(&self.at(duration))),
            Body::Static | Body::Kinematic(_) => most,
        }
    }
}

/// The state between two steps by cubic interpolation of position and quaternion.
fn between(mass: &MassProperties, before: &Node, after: &Node, time: f64) -> State {
    let length = after.time - before.time;
    let share = (time - before.time) / length;
    let (s, s2, s3) = (share, share * share, share * share * share);
    let weights = [2.0 * s3 - 3.0 * s2 + 1.0, s3 - 2.0 * s2 + s, 3.0 * s2 - 2.0 * s3, s3 - s2];
    let ends = [before, after].map(|node| {
        let State { pose, momentum } = &node.state;
        let body = Body::Dynamic(*mass);
        (pose, body.velocity(&pose.rotation, momentum), momentum)
    });
    let [(p, v, m), (q, w, n)] = ends;
    let [a, b, c, d] = weights;
    let place = p.translation.vector * a
        + v.linear * (b * length)
        + q.translation.vector * c
        + w.linear * (d * length);
    let turning = |pose: &Isometry3<f64>, velocity: &Velocity| {
        Quaternion::from_imag(velocity.angular) * pose.rotation.quaternion() * 0.5
    };
    let turn = p.rotation.quaternion() * a
        + turning(p, &v) * (b * length)
        + q.rotation.quaternion() * c
        + turning(q, &w) * (d * length);
    let momentum = *m + (*n - *m) * share;
    let rotation = UnitQuaternion::new_normalize(turn);
    State { pose: Isometry3::from_parts(Translation3::from(place), rotation), momentum }
}
