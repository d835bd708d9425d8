//! Bodies whose predicted poses follow their momenta.

use std::collections::BTreeMap;

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use super::graph::Graph;
use super::touch::touches;
use crate::frame::Frame;
use crate::narrow::candidate::{Candidate, Found};
use crate::narrow::posed::Posed;
use crate::passes::collide::mass_at;
use crate::reference::rolling::rolling_impulse;
use crate::{Clamp, ClampedBody, Levers, Mover, clamp_scale, pair_impulse};

/// Tolerance of contact outside the surface as a share of the smaller radius: round-off must not
/// separate a pair.
const TOUCH: f64 = 1e-6;

/// The state of a pass: the frame's poses stay, momenta change, and predicted poses follow every
/// impulse.
pub(super) struct Evolution<'a> {
    pub(super) frame: Frame<'a>,
    pub(super) momenta: &'a mut [Momentum],
    /// Momenta added for the prediction of poses.
    ahead: Vec<Momentum>,
    pub(super) predicted: Vec<Isometry3<f64>>,
    pub(super) frozen: Vec<bool>,
    /// Work that kinematic bodies did on each body, J.
    pub(super) work: Vec<f64>,
    /// The kinematic body that carries each frozen one and receives its impulses.
    carriers: Vec<Option<usize>>,
    clock: u64,
    /// Time of each body's last motion.
    moved: Vec<u64>,
    /// Time at which each pair last needed no impulse.
    checked: BTreeMap<(u32, u32), u64>,
}

/// A pair at one of its contact points.
pub(super) struct ContactPoint {
    pub(super) found: Found,
    pub(super) normal: Vector3<f64>,
    /// Velocity of `a` relative to `b` at the point, m/s.
    pub(super) u: Vector3<f64>,
    arms: [Vector3<f64>; 2],
    movers: [Mover; 2],
}

/// The impulse of a pair on `a`; `b` gets the opposite.
#[derive(Clone, Copy)]
pub(super) struct Impulse {
    pub(super) j: Vector3<f64>,
    torque: Vector3<f64>,
    arms: [Vector3<f64>; 2],
}

impl Impulse {
    pub(super) fn times(self, share: f64) -> Self {
        Self { j: self.j * share, torque: self.torque * share, ..self }
    }
}

/// Parameters of an impulse.
#[derive(Clone, Copy)]
pub(super) struct Law {
    /// Replaces the materials' restitution; if negative, an impulse only slows the approach.
    pub(super) restitution: Option<f64>,
    /// Whether kinetic energy at the frame's poses must not grow.
    pub(super) clamped: bool,
}

impl<'a> Evolution<'a> {
    pub(super) fn new(frame: Frame<'a>, momenta: &'a mut [Momentum], ahead: Vec<Momentum>) -> Self {
        let bodies = momenta.len();
        let mut new = Self {
            frame,
            momenta,
            ahead,
            predicted: frame.poses.to_vec(),
            frozen: vec![false; bodies],
            work: vec![0.0; bodies],
            carriers: vec![None; bodies],
            clock: 1,
            moved: vec![1; bodies],
            checked: BTreeMap::new(),
        };
        (0..bodies).for_each(|i| new.predict(i));
        new
    }

    fn predict(&mut self, i: usize) {
        let Frame { columns, poses, dt, settings, .. } = self.frame;
        let momentum = self.momenta[i] + self.ahead[i];
        self.predicted[i] = settings.scheme.advance(&columns.bodies[i], &poses[i], &momentum, dt);
    }

    /// Whether neither body moved since the pair last needed no impulse.
    pub(super) fn is_checked(&self, (a, b): (u32, u32)) -> bool {
        let moved = self.moved[a as usize].max(self.moved[b as usize]);
        self.checked.get(&(a, b)).is_some_and(|&at| at >= moved)
    }

    pub(super) fn check(&mut self, pair: (u32, u32)) {
        self.checked.insert(pair, self.clock);
    }

    fn posed<'p>(&'p self, own: [usize; 2], poses: &'p [Isometry3<f64>]) -> Posed<'p> {
        let shapes = own.map(|i| &*self.frame.columns.shapes[i]);
        Posed { shapes, poses: own.map(|i| &poses[i]) }
    }

    /// The contact points of a pair at the predicted poses.
    pub(super) fn touches(&self, (a, b): (u32, u32)) -> Vec<Candidate> {
        let posed = self.posed([a as usize, b as usize], &self.predicted);
        let [p, q] = posed.shapes;
        touches(posed, TOUCH * p.radius().min(q.radius()))
    }

    fn mover(&self, i: usize, poses: &[Isometry3<f64>]) -> Mover {
        let mover = Mover::new(&self.frame.columns.bodies[i], &poses[i], &self.momenta[i]);
        if self.frozen[i] { mover.frozen() } else { mover }
    }

    /// The deepest of `touches` that approaches faster than `least` m/s: depth by the predicted
    /// poses, lever arms and velocities by `levers`, and the normal by `normals`.
    pub(super) fn deepest(
        &self,
        (a, b): (u32, u32),
        touches: Vec<Candidate>,
        (levers, normals): (Levers, Levers),
        least: f64,
    ) -> Option<ContactPoint> {
        let (a, b) = (a as usize, b as usize);
        let at = |levers| match levers {
            Levers::TimeN => self.frame.poses,
            Levers::Split => &self.predicted,
        };
        let (poses, normals) = (at(levers), at(normals));
        let movers = [self.mover(a, poses), self.mover(b, poses)];
        let mut best: Option<ContactPoint> = None;
        for touch in touches {
            if best.as_ref().is_some_and(|m| m.found.distance <= touch.distance) {
                continue;
            }
            let turned = self.posed([a, b], normals);
            let found = turned.found(&touch);
            let normal = turned.spot(&found).normal;
            let posed = self.posed([a, b], poses);
            let arms = posed.spot(&found).arms(posed.poses);
            let u = movers[0].velocity.at(&arms[0]) - movers[1].velocity.at(&arms[1]);
            if u.dot(&normal) < -least {
                best = Some(ContactPoint { found, normal, u, arms, movers });
            }
        }
        best
    }

    /// The impulse at a contact point; `None` if it is zero or not finite.
    pub(super) fn impulse(
        &self,
        (a, b): (u32, u32),
        contact: &ContactPoint,
        law: Law,
    ) -> Option<Impulse> {
        let settings = self.frame.settings;
        let materials = self.frame.columns.materials;
        let (p, q) = (&materials[a as usize], &materials[b as usize]);
        let of_pair = || p.restitution_with(q, settings.restitution);
        let restitution = law.restitution.unwrap_or_else(of_pair);
        let friction = p.friction_with(q, settings.friction);
        let ContactPoint { normal, u, arms, movers, .. } = contact;
        let k = mass_of(movers, arms);
        let mut j = pair_impulse(normal, &k, u, restitution, friction);
        let mut torque = Vector3::zeros();
        let along = j.dot(normal);
        let sticks = (j - normal * along).norm() < friction * along * (1.0 - 1e-9);
        let most = p.rolling_with(q).map(|own| own * along);
        if sticks && most.iter().any(|own| *own > 0.0) {
            let rolling =
                rolling_impulse((&movers[0], &arms[0]), (&movers[1], &arms[1]), normal, most);
            if let Some((linear, angular)) = rolling {
                j += linear;
                torque = angular;
            }
        }
        let impulse = Impulse { j, torque, arms: *arms };
        let is_clamped = law.clamped && settings.clamp != Clamp::Off;
        let impulse = if is_clamped { self.clamped((a, b), impulse, normal) } else { impulse };
        let gives = impulse.j != Vector3::zeros() && impulse.j.iter().all(|x| x.is_finite());
        gives.then_some(impulse)
    }

    /// The part of an impulse that adds no kinetic energy at the frame's poses, not at the
    /// predicted ones.
    fn clamped(&self, (a, b): (u32, u32), impulse: Impulse, normal: &Vector3<f64>) -> Impulse {
        let (a, b) = (a as usize, b as usize);
        let poses = self.frame.poses;
        let Impulse { j, torque, arms } = impulse;
        let movers = [self.mover(a, poses), self.mover(b, poses)];
        if torque == Vector3::zeros() {
            let u = movers[0].velocity.at(&arms[0]) - movers[1].velocity.at(&arms[1]);
            let k = mass_of(&movers, &arms);
            let j = self.frame.settings.clamp.limit(&j, normal, &k, &u);
            return Impulse { j, torque, arms };
        }
        let body = |i: usize, mover: &Mover| match self.frame.columns.bodies[i] {
            Body::Dynamic(_) if self.frozen[i] => Body::Kinematic(mover.velocity),
            body => body,
        };
        let bodies = [body(a, &movers[0]), body(b, &movers[1])];
        let side = |i: usize, k: usize| ClampedBody {
            body: &bodies[k],
            rotation: &poses[i].rotation,
            momentum: &self.momenta[i],
            arm: arms[k],
        };
        let share = clamp_scale(&side(a, 0), &side(b, 1), &j, &torque);
        Impulse { j: j * share, torque: torque * share, arms }
    }

    pub(super) fn apply(&mut self, (a, b): (u32, u32), impulse: &Impulse) {
        let Impulse { j, torque, arms } = impulse;
        self.give(a as usize, (b as usize, &arms[1]), (j, torque), &arms[0]);
        self.give(b as usize, (a as usize, &arms[0]), (&-j, &-torque), &arms[1]);
    }

    fn give(
        &mut self,
        i: usize,
        (partner, partner_arm): (usize, &Vector3<f64>),
        (j, torque): (&Vector3<f64>, &Vector3<f64>),
        arm: &Vector3<f64>,
    ) {
        let bodies = self.frame.columns.bodies;
        if self.frozen[i] || bodies[i].mass_properties().is_none() {
            return;
        }
        if let Some((k, velocity)) = self.mover_of(partner) {
            let poses = self.frame.poses;
            let shift = poses[partner].translation.vector - poses[k].translation.vector;
            let at = velocity.at(&(partner_arm + shift));
            self.work[i] += j.dot(&at) + torque.dot(&velocity.angular);
        }
        self.momenta[i].apply_impulse(j, arm);
        self.momenta[i].angular += torque;
        self.predict(i);
        self.clock += 1;
        self.moved[i] = self.clock;
    }

    /// The kinematic body itself, or the one that carries the body.
    fn mover_of(&self, i: usize) -> Option<(usize, Velocity)> {
        let k = self.carriers[i].unwrap_or(i);
        match self.frame.columns.bodies[k] {
            Body::Kinematic(velocity) => Some((k, velocity)),
            Body::Static | Body::Dynamic(_) => None,
        }
    }

    /// Freezes the bodies on a level of the graph.
    pub(super) fn freeze(&mut self, graph: &Graph, level: u32) {
        for &(a, b) in graph.of_level(level) {
            for (own, below) in [(a, b), (b, a)] {
                let (i, carrier) = (own as usize, self.mover_of(below as usize));
                let is_above = graph.levels.of(own) == level && !self.frozen[i];
                if is_above && self.carriers[i].is_none() {
                    self.carriers[i] = carrier.map(|(k, _)| k);
                }
            }
        }
        graph.freeze(level, &mut self.frozen);
    }

    /// The contact point at the predicted poses, in body coordinates of `a` and of `b`, m.
    pub(super) fn body_points(
        &self,
        (a, b): (u32, u32),
        contact: &ContactPoint,
    ) -> [Point3<f64>; 2] {
        let posed = self.posed([a as usize, b as usize], &self.predicted);
        posed.spot(&contact.found).at(posed.poses)
    }

    /// The predicted poses of a pair.
    pub(super) fn predicted(&self, (a, b): (u32, u32)) -> [Isometry3<f64>; 2] {
        [a, b].map(|i| self.predicted[i as usize])
    }
}

fn mass_of(movers: &[Mover; 2], arms: &[Vector3<f64>; 2]) -> Matrix3<f64> {
    mass_at(&movers[0], &arms[0]) + mass_at(&movers[1], &arms[1])
}
