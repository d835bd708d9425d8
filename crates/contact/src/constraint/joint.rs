//! Joints: persistent constraints between two bodies (Br11 section 2).
//!
//! With [`Solver::Manifold`](crate::Solver::Manifold) [`Linkages`](super::Linkages) move bodies
//! that joints alone hold. Other bodies step as in RATTLE (Andersen 1983): half of the impulse of a
//! step satisfies the position constraints, the other half the velocity constraints. Their energy
//! error is of second order in the step and accumulates; the caller bounds it, as `brisance-sim`
//! does.

use std::cell::RefCell;

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Point3, Vector3};

use super::mlcp::{DirectSolve, Entries};
use super::row::{Bounds, Row};
use crate::solve::movers::Movers;

/// Largest number of rows of a joint.
pub const MAX_ROWS: usize = 8;

/// Number of rows of a hinge or slider before that of its motor.
const BEFORE_MOTOR: usize = 5;

/// Kind of a joint by its free motion. Its axis is the x axis of its frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// Free rotation about the anchor: ball and socket.
    Point,
    /// The distance of the anchors stays between two bounds: a rod if they are equal, a rope if the
    /// first is zero.
    Distance {
        /// Least distance, m.
        least: f64,
        /// Largest distance, m.
        most: f64,
    },
    /// Free rotation about the axis.
    Hinge,
    /// Free translation along the axis.
    Slider,
    /// No free motion: a weld.
    Fixed,
}

/// A motor of a hinge or slider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motor {
    /// Target speed of the first body relative to the second, rad/s or m/s.
    pub speed: f64,
    /// Maximum torque, N m, or force, N.
    pub max_force: f64,
}

impl Motor {
    /// The damping of an equivalent velocity drive, N s/m or N m s: the drive reaches its force
    /// limit one percent off its target speed.
    pub fn damping(&self) -> f64 {
        const SLIP: f64 = 0.01;
        /// Lower bound of the speed, m/s or rad/s.
        const LEAST: f64 = 0.01;
        let limit = f64::from(f32::MAX);
        (self.max_force / (SLIP * self.speed.abs().max(LEAST))).min(limit)
    }
}

/// The reaction of a joint in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reaction {
    /// Impulse of each row, N s or N m s: the warm start of the next step.
    pub impulses: [f64; MAX_ROWS],
    /// Velocity of each bilateral row at the end of the step, m/s or rad/s. It is not zero in
    /// [`Linkages`], whose constraints hold for the mean of both ends; a change since then shows
    /// that the linkage was struck.
    ///
    /// [`Linkages`]: super::Linkages
    pub rates: [f64; MAX_ROWS],
    /// Impulse on the first body in world axes, N s.
    pub linear: Vector3<f64>,
    /// Angular impulse on the first body about the anchor in world axes, N m s.
    pub angular: Vector3<f64>,
}

/// A joint between two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint {
    /// Its free motion.
    pub kind: JointKind,
    /// The bodies `a` and `b`.
    pub bodies: [u32; 2],
    /// The joint frames, with the axis along x, in body coordinates of `a` and of `b`. They
    /// coincide at the zero position of the joint.
    pub frames: [Isometry3<f64>; 2],
    /// Range of the angle of a hinge, rad from -pi to pi, or of the displacement of a slider, m; of
    /// `a` relative to `b`.
    pub limits: Option<[f64; 2]>,
    /// Its motor.
    pub motor: Option<Motor>,
    /// Whether the bodies collide with each other.
    pub collides: bool,
    /// The reaction of the last step.
    pub last: Reaction,
}

/// Parameters of the rows in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stepping {
    /// Length of the step, s.
    pub(crate) dt: f64,
    /// Share of the position error that the step corrects.
    pub(crate) error_reduction: f64,
    /// Duration of motor forces, s.
    pub(crate) motor_time: f64,
}

/// A joint with its bodies at given poses.
struct Placed {
    bodies: [u32; 2],
    /// Frames in the world.
    frames: [Isometry3<f64>; 2],
    arms: [Vector3<f64>; 2],
    /// From the anchor on `b` to that on `a`.
    apart: Vector3<f64>,
}

impl Placed {
    fn axis(&self, n: usize) -> Vector3<f64> {
        self.frames[1].rotation * Vector3::ith(n, 1.0)
    }

    /// Rotation of `a` relative to `b`, as a rotation vector in world axes.
    fn turn(&self) -> Vector3<f64> {
        Velocity::between(&self.frames[1], &self.frames[0], 1.0).angular
    }
}

impl Joint {
    fn placed(&self, poses: &[Isometry3<f64>]) -> Placed {
        let at = self.bodies.map(|i| &poses[i as usize]);
        let frames = [at[0] * self.frames[0], at[1] * self.frames[1]];
        let place = frames.map(|frame| frame.translation.vector);
        let arms = [place[0] - at[0].translation.vector, place[1] - at[1].translation.vector];
        Placed { bodies: self.bodies, frames, arms, apart: place[0] - place[1] }
    }

    /// The angle of a hinge, rad, the displacement of a slider or the length of a distance joint,
    /// m; zero for other joints.
    ///
    /// # Panics
    /// If a body index is out of range.
    pub fn coordinate(&self, poses: &[Isometry3<f64>]) -> f64 {
        let placed = self.placed(poses);
        match self.kind {
            JointKind::Hinge => placed.turn().dot(&placed.axis(0)),
            JointKind::Slider => placed.apart.dot(&placed.axis(0)),
            JointKind::Distance { .. } => placed.apart.norm(),
            JointKind::Point | JointKind::Fixed => 0.0,
        }
    }

    /// Impulse of the motor on the first body in the last step, N m s for a hinge or N s for a
    /// slider.
    pub fn motor_impulse(&self) -> f64 {
        self.motor.map_or(0.0, |_| self.last.impulses[BEFORE_MOTOR])
    }

    /// The dynamic body of the joint and the work on it by the other body if that is kinematic, in
    /// a step of `dt` s from the poses `start` to `end`, J: the joint force times the displacement
    /// of the anchor on the kinematic body, and the torque times its angle.
    pub fn kinematic_work(
        &self,
        bodies: &[Body],
        [start, end]: [&[Isometry3<f64>]; 2],
        dt: f64,
    ) -> Option<(usize, f64)> {
        let [a, b] = self.bodies.map(|i| i as usize);
        let (n, mover, moved, sign) = match (bodies.get(a)?, bodies.get(b)?) {
            (Body::Kinematic(_), Body::Dynamic(_)) => (0, a, b, -1.0),
            (Body::Dynamic(_), Body::Kinematic(_)) => (1, b, a, 1.0),
            _ => return None,
        };
        let (from, to) = (start.get(mover)?, end.get(mover)?);
        let anchor = Point3::from(self.frames[n].translation.vector);
        let displacement = to * anchor - from * anchor;
        let angle = Velocity::between(from, to, 1.0).angular;
        let done = self.last.linear.dot(&displacement) + self.last.angular.dot(&angle);
        Some((moved, sign * done / dt))
    }

    /// Position error of the joint, m and rad: the norm of `C` without limits.
    ///
    /// # Panics
    /// If a body index is out of range.
    pub fn error(&self, poses: &[Isometry3<f64>]) -> [f64; 2] {
        let placed = self.placed(poses);
        let across = |v: &Vector3<f64>| (v - placed.axis(0) * v.dot(&placed.axis(0))).norm();
        match self.kind {
            JointKind::Point => [placed.apart.norm(), 0.0],
            JointKind::Distance { least, most } => {
                let length = placed.apart.norm();
                [(least - length).max(length - most).max(0.0), 0.0]
            }
            JointKind::Hinge => [placed.apart.norm(), across(&self.bend(&placed))],
            JointKind::Slider => [across(&placed.apart), placed.turn().norm()],
            JointKind::Fixed => [placed.apart.norm(), placed.turn().norm()],
        }
    }

    /// Rotation of the axis of `a` away from that of `b`, world axes.
    fn bend(&self, placed: &Placed) -> Vector3<f64> {
        placed.axis(0).cross(&(placed.frames[0].rotation * Vector3::x()))
    }

    /// Errors of the bilateral constraints at the poses `now`, along the directions of the rows at
    /// the start, m or rad.
    pub(super) fn constraint_errors(
        &self,
        start: &[Isometry3<f64>],
        now: &[Isometry3<f64>],
    ) -> Vec<f64> {
        let (start, placed) = (self.placed(start), self.placed(now));
        let along = |v: &Vector3<f64>, first: usize| -> Vec<f64> {
            (first..3).map(|n| start.axis(n).dot(v)).collect()
        };
        match self.kind {
            JointKind::Point => along(&placed.apart, 0),
            JointKind::Distance { least, most } if least == most => {
                vec![placed.apart.norm() - least]
            }
            JointKind::Distance { .. } => Vec::new(),
            JointKind::Hinge => [along(&placed.apart, 0), along(&self.bend(&placed), 1)].concat(),
            JointKind::Slider => {
                let axis = placed.axis(0);
                let across = placed.apart - axis * axis.dot(&placed.apart);
                [along(&placed.turn(), 0), along(&across, 1)].concat()
            }
            JointKind::Fixed => [along(&placed.apart, 0), along(&placed.turn(), 0)].concat(),
        }
    }

    /// The rows of the joint, with `zeta = -C error_reduction / dt`.
    ///
    /// # Panics
    /// If a body index is out of range.
    pub fn rows(&self, poses: &[Isometry3<f64>], dt: f64, error_reduction: f64) -> Vec<Row> {
        self.rows_for(poses, Stepping { dt, error_reduction, motor_time: dt })
    }

    pub(crate) fn rows_for(&self, poses: &[Isometry3<f64>], stepping: Stepping) -> Vec<Row> {
        let placed = self.placed(poses);
        let mut rows = Vec::with_capacity(MAX_ROWS);
        let beta = stepping.error_reduction / stepping.dt;
        let hold = |row: Row, error: f64| Row { target: -beta * error, ..row };
        let straight = |n: usize, arms| {
            let axis = placed.axis(n);
            hold(Row::along(placed.bodies, axis, arms), placed.apart.dot(&axis))
        };
        let turning = |n: usize, error: &Vector3<f64>| {
            let axis = placed.axis(n);
            hold(Row::about(placed.bodies, axis), error.dot(&axis))
        };
        match self.kind {
            JointKind::Point => rows.extend((0..3).map(|n| straight(n, placed.arms))),
            JointKind::Distance { least, most } => {
                let length = placed.apart.norm();
                let along = placed.apart.try_normalize(1e-12).unwrap_or_else(|| placed.axis(0));
                let row = Row::along(placed.bodies, along, placed.arms);
                if least == most {
                    rows.push(hold(row, length - least));
                } else {
                    rows.extend(limits(&row, length, [least, most], stepping));
                }
            }
            JointKind::Hinge => {
                let bend = self.bend(&placed);
                rows.extend((0..3).map(|n| straight(n, placed.arms)));
                rows.extend((1..3).map(|n| turning(n, &bend)));
                self.drive(
                    &Row::about(placed.bodies, placed.axis(0)),
                    stepping,
                    || placed.turn().dot(&placed.axis(0)),
                    &mut rows,
                );
            }
            JointKind::Slider => {
                // the axis turns with `b`, so that the force acts on `b` at the position of `a`
                let arms = [placed.arms[0], placed.arms[1] + placed.apart];
                let turn = placed.turn();
                rows.extend((0..3).map(|n| turning(n, &turn)));
                rows.extend((1..3).map(|n| straight(n, arms)));
                self.drive(
                    &Row::along(placed.bodies, placed.axis(0), arms),
                    stepping,
                    || placed.apart.dot(&placed.axis(0)),
                    &mut rows,
                );
            }
            JointKind::Fixed => {
                let turn = placed.turn();
                rows.extend((0..3).map(|n| straight(n, placed.arms)));
                rows.extend((0..3).map(|n| turning(n, &turn)));
            }
        }
        rows
    }

    /// Its rows; none if one is not finite or a body does not exist.
    pub(crate) fn usable_rows(&self, poses: &[Isometry3<f64>], stepping: Stepping) -> Vec<Row> {
        let is_known = self.bodies.iter().all(|&i| (i as usize) < poses.len());
        let rows = if is_known { self.rows_for(poses, stepping) } else { Vec::new() };
        let is_usable = rows.iter().all(|row| row.check(0, &[], poses.len()).is_ok());
        if is_usable { rows } else { Vec::new() }
    }

    /// Motor and limits along the free row.
    fn drive(&self, free: &Row, stepping: Stepping, at: impl Fn() -> f64, rows: &mut Vec<Row>) {
        if let Some(Motor { speed, max_force }) = self.motor {
            let max_impulse = max_force * stepping.motor_time;
            let bounds = Bounds::Between { least: -max_impulse, most: max_impulse };
            rows.push(Row { target: speed, bounds, ..*free });
        }
        if let Some(range) = self.limits {
            rows.extend(limits(free, at(), range, stepping));
        }
    }

    /// The reaction of row impulses.
    pub(crate) fn reaction(rows: &[Row], impulses: &[f64]) -> Reaction {
        let mut reaction = Reaction::default();
        let all = rows.iter().zip(impulses).enumerate();
        all.for_each(|(n, (row, &impulse))| reaction.add(n, row, impulse));
        reaction
    }
}

impl Reaction {
    /// Adds an impulse of the `n`-th row.
    pub(crate) fn add(&mut self, n: usize, row: &Row, impulse: f64) {
        self.impulses[n] += impulse;
        self.linear += row.linear * impulse;
        if row.linear == Vector3::zeros() {
            self.angular += row.angular[0] * impulse;
        }
    }
}

/// Unilateral rows that keep the coordinate of `row` in a range: it may reach the end of the range
/// in a step, and a violation is reduced by the error reduction.
fn limits(row: &Row, at: f64, [least, most]: [f64; 2], stepping: Stepping) -> [Row; 2] {
    let one = |sign: f64, room: f64| {
        let share = if room > 0.0 { 1.0 } else { stepping.error_reduction };
        Row {
            linear: row.linear * sign,
            angular: row.angular.map(|w| w * sign),
            target: -room * share / stepping.dt,
            bounds: Bounds::PUSH,
            bodies: row.bodies,
        }
    };
    [one(1.0, at - least), one(-1.0, most - at)]
}

/// The joints of a contact pass of [`Solver::Manifold`](crate::Solver::Manifold).
#[derive(Debug)]
pub(crate) struct JointPass {
    rows: Vec<Row>,
    /// How many rows each joint has.
    counts: Vec<usize>,
    entries: Option<Entries>,
    sweeps: usize,
    /// Factorization of the Delassus operator of the rows that were last within their bounds.
    direct: RefCell<DirectSolve>,
}

impl JointPass {
    /// Skips `solved` joints, joints with rows that are not finite, and joints of bodies that do
    /// not exist.
    pub(crate) fn new(
        joints: &[Joint],
        solved: &[bool],
        poses: &[Isometry3<f64>],
        movers: &Movers,
        (stepping, sweeps): (Stepping, usize),
    ) -> Self {
        let own = |(joint, solved): (&Joint, &bool)| {
            if *solved { Vec::new() } else { joint.usable_rows(poses, stepping) }
        };
        let own: Vec<Vec<Row>> = joints.iter().zip(solved).map(own).collect();
        let (counts, rows) = (own.iter().map(Vec::len).collect(), own.concat());
        let entries = Entries::new(movers, &rows, poses.len()).ok();
        let entries = entries.filter(|e| e.len() > 0);
        Self { rows, counts, entries, sweeps, direct: RefCell::default() }
    }

    /// Warm start from the last reactions times `share`.
    pub(crate) fn start(&self, movers: &Movers, joints: &[Joint], share: f64) {
        let Some(entries) = &self.entries else { return };
        entries.start(movers, &guesses(joints, &self.counts, share));
    }

    pub(crate) fn relax(&self, movers: &Movers) {
        let Some(entries) = &self.entries else { return };
        let mut known = self.direct.borrow_mut();
        if entries.relax_active_set(movers, &mut known) {
            return;
        }
        // projected Gauss-Seidel finds the active set
        (0..self.sweeps).for_each(|_| entries.relax_in_order(movers));
        entries.relax_active_set(movers, &mut known);
    }

    /// The largest component of the natural map of the rows, m/s or rad/s: zero if complementarity
    /// holds.
    pub(crate) fn residual(&self, movers: &Movers) -> f64 {
        self.entries.as_ref().map_or(0.0, |entries| entries.residual(movers))
    }

    /// Reactions of joints, and the change of each body's momentum.
    pub(crate) fn reactions(&self, bodies: usize) -> (Vec<Reaction>, Vec<Momentum>) {
        let impulses: Vec<f64> =
            self.entries.as_ref().map_or_else(Vec::new, |e| e.impulses().collect());
        let mut gains = vec![Momentum::default(); bodies];
        for (row, &impulse) in self.rows.iter().zip(&impulses) {
            push(row, impulse, &mut gains);
        }
        (reactions(&self.rows, &self.counts, &impulses), gains)
    }
}

/// Applies an impulse of a row to both bodies.
pub(crate) fn push(row: &Row, impulse: f64, momenta: &mut [Momentum]) {
    for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
        let momentum = &mut momenta[row.bodies[side] as usize];
        momentum.linear += row.linear * (sign * impulse);
        momentum.angular += row.angular[side] * impulse;
    }
}

/// The rows of all joints, and the number of rows of each.
pub(super) fn rows_of(
    joints: &[Joint],
    poses: &[Isometry3<f64>],
    stepping: Stepping,
) -> (Vec<Row>, Vec<usize>) {
    let mut rows: Vec<Row> = Vec::new();
    let mut counts = Vec::with_capacity(joints.len());
    for joint in joints {
        let own = joint.usable_rows(poses, stepping);
        counts.push(own.len());
        rows.extend(own);
    }
    (rows, counts)
}

/// Warm start of all rows.
pub(super) fn guesses(joints: &[Joint], counts: &[usize], share: f64) -> Vec<f64> {
    let own = |(joint, &count): (&Joint, &usize)| {
        joint.last.impulses.into_iter().take(count).map(move |impulse| impulse * share)
    };
    joints.iter().zip(counts).flat_map(own).collect()
}

/// Reactions of joints.
pub(super) fn reactions(rows: &[Row], counts: &[usize], impulses: &[f64]) -> Vec<Reaction> {
    let mut first = 0;
    let of = |&count: &usize| {
        let range = first..first + count;
        first += count;
        match impulses.get(range.clone()) {
            Some(own) => Joint::reaction(&rows[range], own),
            None => Reaction::default(),
        }
    };
    counts.iter().map(of).collect()
}
