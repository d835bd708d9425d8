//! Settings of the contact solver and of energy conservation.

use contact::Levers;
use contact::constraint::{FrictionBounds, SequentialImpulse};
use serde::Deserialize;

use super::Solver;

/// Settings of the solver: `[simulation.contact]`. [`contact::Settings::of`] the solver provides
/// missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Contact {
    /// Treatment of impulses that would add kinetic energy; `"plastic"` by default.
    pub clamp: Option<ClampKind>,
    /// Where the lever arms of collision impulses are evaluated; `"time_n"` by default.
    pub levers: Option<LeverArms>,
    /// Whether the position pass is clamped, too; Su09 does not specify this. `false` by default.
    pub clamp_positions: Option<bool>,
    /// Sweeps over all pairs in the collision pass; 5 by default.
    pub collision_sweeps: Option<usize>,
    /// Consecutive impulses of a pair; 20 by default.
    pub pair_repeats: Option<usize>,
    /// Sweeps over all contacts in a contact pass; by default 4, 10 with the reference or 200 with
    /// `"impulse"`.
    pub contact_sweeps: Option<usize>,
    /// Sweeps over all contacts in the push-out; 4 by default.
    pub push_sweeps: Option<usize>,
    /// Sweeps over each level in shock propagation; by default 3, or 2 with the reference.
    pub shock_sweeps: Option<usize>,
    /// Sweeps over all joints within one sweep over all contacts; 20 by default.
    pub joint_sweeps: Option<usize>,
    /// Largest number of 6x6 block products per contact in a factorization of an island in motion;
    /// sweeps solve islands with more. 1 by default.
    pub exact_products: Option<usize>,
    /// Velocity change at a contact above which shock propagation immediately solves a pair again,
    /// m/s; 5e-4 by default.
    pub rough_speed: Option<f64>,
    /// Largest velocity change at a contact at which sweeps end, m/s; 1e-5 by default.
    pub settled_speed: Option<f64>,
    /// Fraction of the penetration beyond the slop that a frame corrects; 0.5 by default.
    pub push_out: Option<f64>,
    /// Allowed penetration as a fraction of the smaller body's size; 0.002 by default.
    pub slop: Option<f64>,
    /// Restitution threshold, m/s: a pair with a lower approach speed rests instead of colliding;
    /// by default 1e-6, or 1e-3 with ku07.
    pub resting_speed: Option<f64>,
    /// Second restitution threshold, as a fraction of the velocity change by forces in half a step
    /// times (1 - restitution); 1 by default.
    pub resting_share: Option<f64>,
    /// Sweeps over all rows; 50 by default.
    pub row_sweeps: Option<usize>,
    /// Baumgarte stabilization: fraction of a position error that a step corrects; 0.2 by default.
    pub error_reduction: Option<f64>,
    /// Shape of the friction bound; `"cone"` by default.
    pub friction_bounds: Option<Bounds>,
    /// Whether a step has a warm start; `true` by default.
    pub warm_start: Option<bool>,
}

/// Treatment of impulses that would add kinetic energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClampKind {
    /// Interpolation towards the frictionless plastic impulse.
    Plastic,
    /// Scaling towards zero (Su09 section 3.2).
    Scale,
}

/// Where the lever arms of collision impulses are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeverArms {
    /// At the start of the step.
    TimeN,
    /// At the predicted contact, as in Su09.
    Split,
}

/// Shape of the friction bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bounds {
    /// Each of two tangents separately.
    Box,
    /// Both tangents together: Coulomb's cone.
    Cone,
}

/// Energy conservation of a run: `[simulation.energy]`. All parts are on by default; Su09 figure 1
/// shows their effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Energy {
    /// Whether orientations are corrected to conserve the rotational energy (Su09 section 2).
    pub fix: bool,
    /// Whether impulses that would add kinetic energy are clamped (Su09 section 3).
    pub clamp: bool,
    /// Whether no group of touching bodies gains energy in a frame, and groups without static
    /// contacts conserve their angular momentum.
    pub bound: bool,
}

impl Default for Energy {
    fn default() -> Self {
        Self { fix: true, clamp: true, bound: true }
    }
}

/// The order of the integration of rotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RotationOrder {
    /// Euler's equations to sixth order, in inner steps.
    #[default]
    SixthOrder,
    /// One step of second order, as in Su09.
    SecondOrder,
}

/// A key of [`Contact`].
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) is_given: bool,
    /// The solvers that use it.
    pub(super) solvers: &'static [Solver],
}

impl Contact {
    /// The keys: whether each is given, and which solvers use it.
    pub(super) fn keys(&self) -> [Key; 20] {
        use Solver::{
            Impulse as I, Ku07 as K, Manifold as M, QuadraticProgram as Q, Reference as R,
            SequentialImpulse as S,
        };
        let key = |name, is_given, solvers| Key { name, is_given, solvers };
        [
            key("clamp", self.clamp.is_some(), &[M, R, S, Q, I, K]),
            key("levers", self.levers.is_some(), &[R]),
            key("clamp_positions", self.clamp_positions.is_some(), &[R]),
            key("collision_sweeps", self.collision_sweeps.is_some(), &[R]),
            key("pair_repeats", self.pair_repeats.is_some(), &[R]),
            key("contact_sweeps", self.contact_sweeps.is_some(), &[M, R, I]),
            key("push_sweeps", self.push_sweeps.is_some(), &[M, Q, I]),
            key("shock_sweeps", self.shock_sweeps.is_some(), &[M, R, Q, I]),
            key("joint_sweeps", self.joint_sweeps.is_some(), &[M]),
            key("exact_products", self.exact_products.is_some(), &[M]),
            key("rough_speed", self.rough_speed.is_some(), &[M]),
            key("settled_speed", self.settled_speed.is_some(), &[M, Q, I]),
            key("push_out", self.push_out.is_some(), &[M, R, Q, I]),
            key("slop", self.slop.is_some(), &[M, R, S, Q, I, K]),
            key("resting_speed", self.resting_speed.is_some(), &[M, R, S, Q, I, K]),
            key("resting_share", self.resting_share.is_some(), &[M, S, Q, I]),
            key("row_sweeps", self.row_sweeps.is_some(), &[S]),
            key("error_reduction", self.error_reduction.is_some(), &[S]),
            key("friction_bounds", self.friction_bounds.is_some(), &[S]),
            key("warm_start", self.warm_start.is_some(), &[S]),
        ]
    }

    /// A solver with these settings.
    pub(super) fn solver(&self, solver: Solver) -> contact::Solver {
        match solver.contact() {
            contact::Solver::Reference { levers, clamp_positions } => contact::Solver::Reference {
                levers: self.levers.map_or(levers, |levers| match levers {
                    LeverArms::TimeN => Levers::TimeN,
                    LeverArms::Split => Levers::Split,
                }),
                clamp_positions: self.clamp_positions.unwrap_or(clamp_positions),
            },
            contact::Solver::SequentialImpulse(own) => {
                contact::Solver::SequentialImpulse(SequentialImpulse {
                    sweeps: self.row_sweeps.unwrap_or(own.sweeps),
                    error_reduction: self.error_reduction.unwrap_or(own.error_reduction),
                    friction: self.friction_bounds.map_or(own.friction, |bounds| match bounds {
                        Bounds::Box => FrictionBounds::Box,
                        Bounds::Cone => FrictionBounds::Cone,
                    }),
                    warm_start: self.warm_start.unwrap_or(own.warm_start),
                })
            }
            other => other,
        }
    }
}
