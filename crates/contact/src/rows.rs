//! Contact constraints as rows for projected Gauss-Seidel: a normal that only pushes and friction
//! in a disc.

use nalgebra::{Isometry3, Vector3};

use crate::Mover;
use crate::collide::mass_at;
use crate::narrow::{Contact, Manifold};

/// One contact between `a` and `b` with its accumulated impulse.
pub(crate) struct Row {
    /// Number of the contact.
    index: usize,
    a: usize,
    b: usize,
    /// Normal and two tangents.
    axes: [Vector3<f64>; 3],
    /// Lever arm times axis, for each body.
    twist_a: [Vector3<f64>; 3],
    twist_b: [Vector3<f64>; 3],
    /// Angular velocity that a unit impulse along each axis gives.
    spin_a: [Vector3<f64>; 3],
    spin_b: [Vector3<f64>; 3],
    inverse_mass_a: f64,
    inverse_mass_b: f64,
    /// Frozen bodies give no impulse back.
    frozen_a: bool,
    frozen_b: bool,
    normal_mass: f64,
    /// Step along the tangents that cannot overshoot in either.
    tangent_mass: f64,
    /// Least separating speed, m/s.
    target: f64,
    friction: f64,
    lambda: [f64; 3],
    /// The part of `lambda` that an earlier pass has applied.
    applied: [f64; 3],
}

/// What a row is built from beside its bodies.
#[derive(Clone, Copy)]
pub(crate) struct Spec<'a> {
    pub(crate) contact: &'a Contact,
    /// Number of the contact.
    pub(crate) index: usize,
    pub(crate) pair: &'a Manifold,
    /// Least separating speed, m/s.
    pub(crate) target: f64,
    pub(crate) friction: f64,
}

impl Row {
    /// `None` when neither body can move at the contact.
    pub(crate) fn new(
        spec: Spec<'_>,
        poses: &[Isometry3<f64>],
        (mover_a, mover_b): (&Mover, &Mover),
    ) -> Option<Self> {
        let Spec { contact, index, pair, target, friction } = spec;
        let (a, b) = (pair.a as usize, pair.b as usize);
        let point = contact.at(&poses[a], &poses[b]).coords;
        let (arm_a, arm_b) =
            (point - poses[a].translation.vector, point - poses[b].translation.vector);
        let k = mass_at(mover_a, &arm_a) + mass_at(mover_b, &arm_b);
        let n = contact.normal;
        let [s, t] = tangents(&n);
        let kn = n.dot(&(k * n));
        if kn <= 0.0 {
            return None;
        }
        let (ss, st, tt) = (s.dot(&(k * s)), s.dot(&(k * t)), t.dot(&(k * t)));
        let largest = 0.5 * (ss + tt) + (0.25 * (ss - tt).powi(2) + st * st).sqrt();
        let axes = [n, s, t];
        let twist_a = axes.map(|d| arm_a.cross(&d));
        let twist_b = axes.map(|d| arm_b.cross(&d));
        Some(Self {
            index,
            a,
            b,
            axes,
            twist_a,
            twist_b,
            spin_a: twist_a.map(|w| mover_a.inverse_inertia * w),
            spin_b: twist_b.map(|w| mover_b.inverse_inertia * w),
            inverse_mass_a: mover_a.inverse_mass,
            inverse_mass_b: mover_b.inverse_mass,
            frozen_a: mover_a.frozen,
            frozen_b: mover_b.frozen,
            normal_mass: 1.0 / kn,
            tangent_mass: 1.0 / largest,
            target,
            friction,
            lambda: [0.0; 3],
            applied: [0.0; 3],
        })
    }

    /// One step of Gauss-Seidel: an exact minimisation over the normal impulse, then a projected
    /// gradient step over friction that cannot raise the energy either.
    pub(crate) fn relax(&mut self, movers: &mut [Mover]) {
        let push = (self.target - self.speed(movers, 0)) * self.normal_mass;
        let normal = (self.lambda[0] + push).max(0.0);
        self.add(movers, 0, normal - self.lambda[0]);
        if self.friction == 0.0 {
            return;
        }
        let s = self.lambda[1] - self.speed(movers, 1) * self.tangent_mass;
        let t = self.lambda[2] - self.speed(movers, 2) * self.tangent_mass;
        let scale = self.within_disc(s, t, normal);
        self.add(movers, 1, s * scale - self.lambda[1]);
        self.add(movers, 2, t * scale - self.lambda[2]);
    }

    /// Number of the row's contact.
    pub(crate) fn contact(&self) -> usize {
        self.index
    }

    /// The impulse on `a` so far, N s.
    pub(crate) fn impulse(&self) -> Vector3<f64> {
        let [n, s, t] = self.axes;
        n * self.lambda[0] + s * self.lambda[1] + t * self.lambda[2]
    }

    /// Applies a guess of the impulse, as far as the contact can bear it.
    pub(crate) fn start(&mut self, guess: &Vector3<f64>, movers: &mut [Mover]) {
        let [normal, s, t] = self.axes.map(|axis| axis.dot(guess));
        if normal <= 0.0 {
            return;
        }
        let scale = self.within_disc(s, t, normal);
        for (axis, l) in [normal, s * scale, t * scale].into_iter().enumerate() {
            self.add(movers, axis, l);
        }
    }

    /// Goes on from an impulse that is applied already, and may take it back.
    pub(crate) fn resume(&mut self, applied: &Vector3<f64>) {
        self.lambda = self.axes.map(|axis| axis.dot(applied));
        self.applied = self.lambda;
    }

    /// Adds the row's new impulse to what its bodies gained.
    pub(crate) fn keep(&self, movers: &mut [Mover]) {
        for axis in 0..3 {
            let l = self.lambda[axis] - self.applied[axis];
            if !self.frozen_a {
                movers[self.a].gained.linear += self.axes[axis] * l;
                movers[self.a].gained.angular += self.twist_a[axis] * l;
            }
            if !self.frozen_b {
                movers[self.b].gained.linear -= self.axes[axis] * l;
                movers[self.b].gained.angular -= self.twist_b[axis] * l;
            }
        }
    }

    /// What shrinks the friction impulse `(s, t)` to what the normal impulse bears.
    fn within_disc(&self, s: f64, t: f64, normal: f64) -> f64 {
        // not `hypot`: its bits differ between platforms
        let (size, most) = ((s * s + t * t).sqrt(), self.friction * normal);
        if size > most { most / size } else { 1.0 }
    }

    fn speed(&self, movers: &[Mover], axis: usize) -> f64 {
        let (a, b) = (&movers[self.a].velocity, &movers[self.b].velocity);
        self.axes[axis].dot(&(a.linear - b.linear)) + self.twist_a[axis].dot(&a.angular)
            - self.twist_b[axis].dot(&b.angular)
    }

    fn add(&mut self, movers: &mut [Mover], axis: usize, l: f64) {
        self.lambda[axis] += l;
        let a = &mut movers[self.a].velocity;
        a.linear += self.axes[axis] * (l * self.inverse_mass_a);
        a.angular += self.spin_a[axis] * l;
        let b = &mut movers[self.b].velocity;
        b.linear -= self.axes[axis] * (l * self.inverse_mass_b);
        b.angular -= self.spin_b[axis] * l;
    }
}

/// Two unit vectors orthogonal to the unit vector `n` and each other.
fn tangents(n: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let mut axis = Vector3::zeros();
    axis[n.iamin()] = 1.0;
    let s = n.cross(&axis).normalize();
    [s, n.cross(&s)]
}
