//! The bodies of a contact pass, in compact rows from which batches of contacts gather.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Matrix3, Vector3};
use rayon::prelude::*;

use crate::Columns;
use crate::lanes::{LANES, Wide, Wide3, WideSymmetric};

/// Velocities, inverse masses and inverse inertias.
///
/// Velocities are atomic words, so that threads may write bodies in any order without locks.
/// Batches relaxed in parallel share no body of finite mass. No locks are needed, and the result does not depend on
/// the number of threads.
#[derive(Debug)]
pub(crate) struct Movers {
    /// Inverse mass, inverse inertia in world axes: xx, yy, zz, xy, xz, yz.
    inverse: Vec<[f64; 7]>,
    /// Linear, angular.
    velocities: Vec<[AtomicU64; 6]>,
    /// Sweep in which each body last changed.
    changes: Vec<AtomicU32>,
    /// The current sweep, from 1 upwards.
    sweep: u32,
}

/// Bodies in lanes while their contacts are relaxed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    linear: Wide3,
    angular: Wide3,
    pub(crate) inverse_mass: Wide,
    pub(crate) inverse_inertia: WideSymmetric,
}

impl Held {
    /// Velocity at lever arm `r`.
    #[inline(always)]
    pub(crate) fn at(&self, r: &Wide3) -> Wide3 {
        self.linear + self.angular.cross(r)
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, j: &Wide3, r: &Wide3) {
        self.linear += *j * self.inverse_mass;
        self.angular += self.inverse_inertia.mul(&r.cross(j));
    }

    #[inline(always)]
    pub(crate) fn pull(&mut self, j: &Wide3, r: &Wide3) {
        self.linear -= *j * self.inverse_mass;
        self.angular -= self.inverse_inertia.mul(&r.cross(j));
    }

    #[inline(always)]
    pub(crate) fn angular(&self) -> Wide3 {
        self.angular
    }

    /// Applies an angular impulse.
    #[inline(always)]
    pub(crate) fn turn(&mut self, torque: &Wide3) {
        self.angular += self.inverse_inertia.mul(torque);
    }

    /// The bodies with their inverse masses scaled.
    #[inline(always)]
    pub(crate) fn scaled(self, share: Wide) -> Self {
        Self {
            inverse_mass: self.inverse_mass * share,
            inverse_inertia: WideSymmetric(std::array::from_fn(|k| {
                self.inverse_inertia.0[k] * share
            })),
            ..self
        }
    }
}

impl Movers {
    /// The bodies and, after them, a static one.
    pub(crate) fn new(
        columns: Columns<'_>,
        poses: &[Isometry3<f64>],
        velocities: &[Velocity],
    ) -> Self {
        let inverse = |(body, pose): (&Body, &Isometry3<f64>)| {
            let Some(mass) = body.mass_properties() else { return [0.0; 7] };
            let i: Matrix3<f64> = mass.inverse_inertia(&pose.rotation);
            [1.0 / mass.mass(), i.m11, i.m22, i.m33, i.m12, i.m13, i.m23]
        };
        let mut inverse: Vec<_> =
            columns.bodies.par_iter().zip(poses).with_min_len(256).map(inverse).collect();
        inverse.push([0.0; 7]);
        let at_rest = Velocity::default();
        let velocities: Vec<_> =
            velocities.iter().chain(std::iter::once(&at_rest)).map(words).collect();
        let changes = velocities.iter().map(|_| AtomicU32::new(0)).collect();
        Self { inverse, velocities, changes, sweep: 0 }
    }

    /// Index of the static body.
    pub(crate) fn static_index(&self) -> u32 {
        self.inverse.len() as u32 - 1
    }

    /// Begins the next sweep and returns its number.
    pub(crate) fn begin_sweep(&mut self) -> u32 {
        self.sweep += 1;
        self.sweep
    }

    /// Marks a body as changed in this sweep. Bodies of infinite mass are never marked.
    #[inline(always)]
    pub(crate) fn note_change(&self, body: u32) {
        if self.inverse[body as usize][0] != 0.0 {
            self.changes[body as usize].store(self.sweep, Ordering::Relaxed);
        }
    }

    /// Sweep in which a body last changed.
    #[inline(always)]
    pub(crate) fn changed(&self, body: u32) -> u32 {
        self.changes[body as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn set_velocities(&mut self, velocities: &[Velocity]) {
        for (own, velocity) in self.velocities.iter_mut().zip(velocities) {
            *own = words(velocity);
        }
        self.changes.iter_mut().for_each(|change| *change = AtomicU32::new(self.sweep));
    }

    /// Inverse mass and inverse inertia in world axes.
    pub(crate) fn inverse(&self, body: u32) -> (f64, Matrix3<f64>) {
        let [mass, xx, yy, zz, xy, xz, yz] = self.inverse[body as usize];
        (mass, Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz))
    }

    /// Has no effect on a body of infinite mass, which several batches may hold at once.
    pub(crate) fn set_velocity(&self, body: u32, velocity: &Velocity) {
        if self.inverse[body as usize][0] == 0.0 {
            return;
        }
        let (v, w) = (&velocity.linear, &velocity.angular);
        let words = &self.velocities[body as usize];
        for (word, x) in words.iter().zip([v.x, v.y, v.z, w.x, w.y, w.z]) {
            word.store(x.to_bits(), Ordering::Relaxed);
        }
        self.note_change(body);
    }

    pub(crate) fn velocity(&self, body: usize) -> Velocity {
        let [a, b, c, p, q, r] = self.load(body as u32);
        Velocity { linear: Vector3::new(a, b, c), angular: Vector3::new(p, q, r) }
    }

    #[inline(always)]
    fn load(&self, body: u32) -> [f64; 6] {
        let words = &self.velocities[body as usize];
        std::array::from_fn(|k| f64::from_bits(words[k].load(Ordering::Relaxed)))
    }

    #[inline(always)]
    pub(crate) fn held(&self, bodies: &[u32; LANES]) -> Held {
        let velocities: [_; LANES] = std::array::from_fn(|lane| self.load(bodies[lane]));
        let inverse: [_; LANES] = std::array::from_fn(|lane| &self.inverse[bodies[lane] as usize]);
        let column = |k: usize| Wide(std::array::from_fn(|lane| velocities[lane][k]));
        let weight = |k: usize| Wide(std::array::from_fn(|lane| inverse[lane][k]));
        Held {
            linear: Wide3([column(0), column(1), column(2)]),
            angular: Wide3([column(3), column(4), column(5)]),
            inverse_mass: weight(0),
            inverse_inertia: WideSymmetric(std::array::from_fn(|k| weight(k + 1))),
        }
    }

    #[inline(always)]
    pub(crate) fn put(&self, bodies: &[u32; LANES], held: &Held) {
        for (lane, &body) in bodies.iter().enumerate() {
            // bodies of infinite mass may be in several lanes and batches at once
            if held.inverse_mass.0[lane] == 0.0 {
                continue;
            }
            let words = &self.velocities[body as usize];
            let columns = held.linear.0.iter().chain(&held.angular.0);
            for (word, x) in words.iter().zip(columns) {
                word.store(x.0[lane].to_bits(), Ordering::Relaxed);
            }
        }
    }

    /// The change of body `i`'s momentum since it had velocity `before[i]`.
    pub(crate) fn gained(
        &self,
        columns: Columns<'_>,
        poses: &[Isometry3<f64>],
        before: &[Velocity],
        i: usize,
    ) -> Momentum {
        let Some(mass) = columns.bodies[i].mass_properties() else { return Momentum::default() };
        let after = self.velocity(i);
        let change = Velocity {
            linear: after.linear - before[i].linear,
            angular: after.angular - before[i].angular,
        };
        if change == Velocity::default() {
            return Momentum::default();
        }
        mass.momentum(&poses[i].rotation, &change)
    }

    /// The kinetic energy added by all impulses since bodies had velocities `before`, J.
    pub(crate) fn work(
        &self,
        columns: Columns<'_>,
        poses: &[Isometry3<f64>],
        before: &[Velocity],
    ) -> f64 {
        let of = |(i, before_i): (usize, &Velocity)| {
            let (gained, after) = (self.gained(columns, poses, before, i), self.velocity(i));
            0.5 * (gained.linear.dot(&(before_i.linear + after.linear))
                + gained.angular.dot(&(before_i.angular + after.angular)))
        };
        before.iter().enumerate().map(of).sum()
    }
}

fn words(velocity: &Velocity) -> [AtomicU64; 6] {
    let (v, w) = (&velocity.linear, &velocity.angular);
    [v.x, v.y, v.z, w.x, w.y, w.z].map(|x| AtomicU64::new(x.to_bits()))
}
