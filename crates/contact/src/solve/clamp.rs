//! Impulses scaled so that they never add kinetic energy (Su09 section 3.2).

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

/// One body of a pair in the non-split state in which energy is measured.
#[derive(Clone, Copy, Debug)]
pub struct ClampedBody<'a> {
    /// Mass properties or motion of the body.
    pub body: &'a Body,
    /// Orientation in the non-split state.
    pub rotation: &'a UnitQuaternion<f64>,
    /// Momentum in the non-split state.
    pub momentum: &'a Momentum,
    /// Lever arm of the impulse, m; it may come from the split state.
    pub arm: Vector3<f64>,
}

impl ClampedBody<'_> {
    /// First- and second-order coefficients of the energy added by a share of the impulse, J.
    fn energy(&self, j: &Vector3<f64>, torque: &Vector3<f64>, frame: &Vector3<f64>) -> (f64, f64) {
        let Some(mass) = self.body.mass_properties() else { return (0.0, 0.0) };
        let Velocity { linear, angular } = self.body.velocity(self.rotation, self.momentum);
        let twist = self.arm.cross(j) + torque;
        let spin = mass.angular_velocity(self.rotation, &twist);
        (
            j.dot(&(linear - frame)) + twist.dot(&angular),
            j.norm_squared() / mass.mass() + twist.dot(&spin),
        )
    }

    fn frame(&self) -> Option<Vector3<f64>> {
        match self.body {
            Body::Kinematic(velocity) => Some(velocity.at(&self.arm)),
            Body::Static | Body::Dynamic(_) => None,
        }
    }
}

/// The share of the impulse `j` N s and angular impulse `torque` N m s, on `a` and reversed on `b`,
/// that adds no kinetic energy in the given state: 1 if the whole impulse adds none, 0 if no part
/// may be applied (Su09 section 3.2).
///
/// Next to a kinematic body the energy is measured in the frame of its contact point; a static or
/// kinematic body gains none.
pub fn clamp_scale(
    a: &ClampedBody<'_>,
    b: &ClampedBody<'_>,
    j: &Vector3<f64>,
    torque: &Vector3<f64>,
) -> f64 {
    let frame = a.frame().or(b.frame()).unwrap_or_default();
    let (first_a, second_a) = a.energy(j, torque, &frame);
    let (first_b, second_b) = b.energy(&-j, &-torque, &frame);
    share(first_a + first_b, second_a + second_b)
}

/// Impulses at a contact that add no kinetic energy, and additional impulses.
pub(crate) struct Blend {
    /// Relative velocity without impulses, m/s.
    pub(crate) before: Vector3<f64>,
    /// N s.
    pub(crate) impulse: Vector3<f64>,
    /// Relative velocity with the impulses of all contacts, m/s.
    pub(crate) after: Vector3<f64>,
    /// Additional impulse, N s.
    pub(crate) more: Vector3<f64>,
    /// Change of the relative velocity by all additional impulses, m/s.
    pub(crate) change: Vector3<f64>,
}

/// The largest share, at most 1, of the additional impulses for which all impulses together add no
/// kinetic energy.
pub(crate) fn blend(contacts: impl Iterator<Item = Blend>) -> f64 {
    // twice the energy is c + 2 b share + a share^2
    let (mut a, mut b, mut c) = (0.0, 0.0, 0.0);
    for Blend { before, impulse, after, more, change } in contacts {
        a += more.dot(&change);
        b += 0.5 * (more.dot(&(before + after)) + impulse.dot(&change));
        c += impulse.dot(&(before + after));
    }
    if c > 0.0 || a <= 0.0 {
        return 0.0;
    }
    let root = (b * b - a * c).max(0.0).sqrt();
    // the form of the positive root without cancellation
    let share = if b <= 0.0 { (root - b) / a } else { -c / (b + root) };
    share.clamp(0.0, 1.0)
}

/// The largest share, at most 1, for which `first share + second share^2 / 2` is not positive.
fn share(first: f64, second: f64) -> f64 {
    if first >= 0.0 {
        // a zero impulse adds nothing
        return if second == 0.0 { 1.0 } else { 0.0 };
    }
    (-2.0 * first / second).min(1.0)
}

/// Treatment of an impulse that would add kinetic energy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clamp {
    /// Moved towards the frictionless plastic impulse: [`clamp_to_plastic`].
    #[default]
    Plastic,
    /// Scaled towards zero, as in Su09: [`clamp_scale`].
    Scale,
    /// Unchanged.
    Off,
}

impl Clamp {
    /// The part of impulse `j` along `normal` that may be applied. A unit impulse changes the
    /// relative velocity `u` by `k`; both are of the state in which energy is measured.
    pub(crate) fn limit(
        self,
        j: &Vector3<f64>,
        normal: &Vector3<f64>,
        k: &Matrix3<f64>,
        u: &Vector3<f64>,
    ) -> Vector3<f64> {
        match self {
            Self::Plastic if u.dot(normal) < 0.0 => clamp_to_plastic(j, normal, k, u),
            // separating bodies have no plastic impulse
            Self::Plastic | Self::Scale => j * share(j.dot(u), j.dot(&(k * j))),
            Self::Off => *j,
        }
    }
}

/// The impulse nearest to `j` on the segment from the frictionless plastic impulse to `j` that adds
/// no kinetic energy. Unlike scaling towards zero, it never leaves the pair approaching.
///
/// `k` and `u` are of the state in which energy is measured. Returns `j` itself if it adds no
/// energy or the pair does not approach.
pub fn clamp_to_plastic(
    j: &Vector3<f64>,
    normal: &Vector3<f64>,
    k: &Matrix3<f64>,
    u: &Vector3<f64>,
) -> Vector3<f64> {
    let approach = u.dot(normal);
    let kn = normal.dot(&(k * normal));
    if approach >= 0.0 || kn <= 0.0 || j.dot(u) + 0.5 * j.dot(&(k * j)) <= 0.0 {
        return *j;
    }
    let plastic = normal * (-approach / kn);
    let rest = j - plastic;
    let a = rest.dot(&(k * rest));
    let b = rest.dot(&(u + k * plastic));
    let c = plastic.dot(&(u + k * plastic * 0.5));
    plastic + rest * kinetic_share([c, b, a])
}

/// The largest share, at most 1, for which the energy added, `c + b share + a share^2 / 2` with
/// `c <= 0 <= a`, is not positive.
pub(crate) fn kinetic_share([c, b, a]: [f64; 3]) -> f64 {
    if c + b + 0.5 * a <= 0.0 {
        return 1.0;
    }
    let root = (b * b - 2.0 * a * c).max(0.0).sqrt();
    // the form of the positive root without cancellation
    let share = if b <= 0.0 { (root - b) / a } else { -2.0 * c / (b + root) };
    share.clamp(0.0, 1.0)
}
