//! How contacts are solved, and what keeps energy.

use contact::constraint::{FrictionBounds, SequentialImpulse};
use contact::{Clamp, Levers};
use dynamics::{Order, Scheme};
use serde::Deserialize;

use super::check::{self, count, fraction, require};
use super::{InvalidValue, Simulation, Solver};

/// Limit of each number of sweeps or repeats.
const MAX_SWEEPS: usize = 10_000;
/// Limit of the speeds below which contacts rest or are solved, m/s.
const MAX_THRESHOLD: f64 = 1e3;

/// Settings of the solver: `[simulation.contact]`. What is not given is as
/// [`contact::Settings::default`] has it, or [`contact::Settings::reference`] for that solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Contact {
    /// What is done to impulses that would add kinetic energy; `"plastic"` unless given.
    pub clamp: Option<ClampKind>,
    /// Where the lever arms of collision impulses are taken; `"time_n"` unless given.
    pub levers: Option<LeverArms>,
    /// Whether the contact pass for positions is clamped too, which Su09 leaves open; `false` unless given.
    pub clamp_positions: Option<bool>,
    /// Sweeps over all pairs in the collision pass; 5 unless given.
    pub collision_sweeps: Option<usize>,
    /// Impulses of a pair before the next pair has its turn; 20 unless given.
    pub pair_repeats: Option<usize>,
    /// Sweeps over all contacts in a contact pass; 4, 10 with the reference or 50 with `"impulse"`, unless given.
    pub contact_sweeps: Option<usize>,
    /// Sweeps over all contacts when bodies are pushed out of each other; 4 unless given.
    pub push_sweeps: Option<usize>,
    /// Sweeps over each level in shock propagation; 3, or 2 with the reference, unless given.
    pub shock_sweeps: Option<usize>,
    /// Sweeps over all joints in a sweep over all contacts; 20 unless given.
    pub joint_sweeps: Option<usize>,
    /// Change of speed at a contact above which shock propagation solves a pair again at once, m/s; 5e-4
    /// unless given.
    pub rough_speed: Option<f64>,
    /// Change of speed at a contact below which sweeps are over, m/s; 1e-5 unless given.
    pub settled_speed: Option<f64>,
    /// Share of the penetration beyond the slop that a frame pushes out; 0.5 unless given.
    pub push_out: Option<f64>,
    /// Penetration that is let be, as a share of the smaller body's size; 0.002 unless given.
    pub slop: Option<f64>,
    /// Approach below which a pair rests and does not collide, m/s; 1e-6, or 1e-3 with ku07, unless given.
    pub resting_speed: Option<f64>,
    /// The same as a share of the speed that forces add in half a step; 1 unless given.
    pub resting_share: Option<f64>,
    /// Sweeps over all rows; 50 unless given.
    pub row_sweeps: Option<usize>,
    /// Share of a position error that a step takes away; 0.2 unless given.
    pub error_reduction: Option<f64>,
    /// The form of the bound on friction; `"cone"` unless given.
    pub friction_bounds: Option<Bounds>,
    /// Whether a step starts from the impulses of the last one; `true` unless given.
    pub warm_start: Option<bool>,
}

/// What is done to impulses that would add kinetic energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClampKind {
    /// They are moved towards the frictionless plastic impulse.
    Plastic,
    /// They are scaled towards zero (Su09 section 3.2).
    Scale,
}

/// Where the lever arms of collision impulses are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeverArms {
    /// At the start of the step.
    TimeN,
    /// Where bodies are predicted to meet, as in Su09.
    Split,
}

/// The form of the bound on friction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bounds {
    /// Each of two tangents by itself.
    Box,
    /// Both together, as Coulomb says.
    Cone,
}

/// What keeps the energy of a run: `[simulation.energy]`. All is on unless given; Su09 figure 1 shows what
/// happens without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Energy {
    /// Whether orientations are fixed to keep the rotational energy (Su09 section 2).
    pub fix: bool,
    /// Whether impulses that would add kinetic energy are clamped (Su09 section 3).
    pub clamp: bool,
    /// Whether no group of touching bodies leaves a frame with more energy than it had, and groups that
    /// touch nothing immovable keep their angular momentum.
    pub bound: bool,
}

impl Default for Energy {
    fn default() -> Self {
        Self { fix: true, clamp: true, bound: true }
    }
}

/// The order of the step by which bodies turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turning {
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
    /// The solvers that it steers.
    pub(super) solvers: &'static [Solver],
}

impl Contact {
    /// Which of the keys are given, and which solvers they steer.
    pub(super) fn keys(&self) -> [Key; 19] {
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

    /// A solver with what is given.
    fn solver(&self, solver: Solver) -> contact::Solver {
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

impl Simulation {
    /// Solver, iteration counts and tolerances of the run.
    pub fn contact_settings(&self) -> contact::Settings {
        let given = &self.contact;
        let own = contact::Settings::of(given.solver(self.solver));
        let clamp = match given.clamp {
            _ if !self.energy.clamp => Clamp::Off,
            Some(ClampKind::Plastic) => Clamp::Plastic,
            Some(ClampKind::Scale) => Clamp::Scale,
            None => own.clamp,
        };
        let order = match self.rotation {
            Turning::SixthOrder => Order::Sixth,
            Turning::SecondOrder => Order::Second,
        };
        contact::Settings {
            scheme: Scheme { order, energy_fix: self.energy.fix },
            clamp,
            collision_sweeps: given.collision_sweeps.unwrap_or(own.collision_sweeps),
            pair_repeats: given.pair_repeats.unwrap_or(own.pair_repeats),
            contact_sweeps: given.contact_sweeps.unwrap_or(own.contact_sweeps),
            push_sweeps: given.push_sweeps.unwrap_or(own.push_sweeps),
            shock_sweeps: given.shock_sweeps.unwrap_or(own.shock_sweeps),
            joint_sweeps: given.joint_sweeps.unwrap_or(own.joint_sweeps),
            rough_speed: given.rough_speed.unwrap_or(own.rough_speed),
            settled_speed: given.settled_speed.unwrap_or(own.settled_speed),
            push_out: given.push_out.unwrap_or(own.push_out),
            slop: given.slop.unwrap_or(own.slop),
            resting_speed: given.resting_speed.unwrap_or(own.resting_speed),
            resting_share: given.resting_share.unwrap_or(own.resting_share),
            ..own
        }
    }

    /// Checks `[simulation.contact]` and `[simulation.energy]`.
    pub(super) fn check_solver(&self) -> Result<(), InvalidValue> {
        let (given, solver) = (&self.contact, self.solver);
        for key in given.keys().iter().filter(|key| key.is_given) {
            require(key.solvers.contains(&solver), &at(key.name), || {
                let others: Vec<String> =
                    key.solvers.iter().map(|solver| format!("`{}`", solver.name())).collect();
                let (own, others) = (solver.name(), others.join(" or "));
                format!("steers nothing with the solver `{own}`: remove it, or use {others}")
            })?;
        }
        for (key, is_default) in [
            ("simulation.rotation", self.rotation == Turning::default()),
            ("simulation.energy.fix", self.energy.fix),
            ("simulation.energy.bound", self.energy.bound),
        ] {
            require(
                is_default || solver != Solver::Ku07,
                key,
                || "steers nothing with the solver `ku07`, which integrates with error control: remove it",
            )?;
        }
        require(
            self.energy.clamp || given.clamp.is_none(),
            &at("clamp"),
            || "says how impulses are clamped, but `simulation.energy.clamp` is false: remove one of both",
        )?;
        // without these nothing is solved
        for (name, sweeps) in [
            ("collision_sweeps", given.collision_sweeps),
            ("pair_repeats", given.pair_repeats),
            ("contact_sweeps", given.contact_sweeps),
            ("joint_sweeps", given.joint_sweeps),
            ("row_sweeps", given.row_sweeps),
        ] {
            sweeps.map_or(Ok(()), |sweeps| count(&at(name), sweeps, 1, MAX_SWEEPS))?;
        }
        for (name, sweeps) in
            [("push_sweeps", given.push_sweeps), ("shock_sweeps", given.shock_sweeps)]
        {
            sweeps.map_or(Ok(()), |sweeps| count(&at(name), sweeps, 0, MAX_SWEEPS))?;
        }
        for (name, share) in [
            ("push_out", given.push_out),
            ("slop", given.slop),
            ("resting_share", given.resting_share),
            ("error_reduction", given.error_reduction),
        ] {
            share.map_or(Ok(()), |share| fraction(&at(name), share))?;
        }
        for (name, speed) in [
            ("rough_speed", given.rough_speed),
            ("settled_speed", given.settled_speed),
            ("resting_speed", given.resting_speed),
        ] {
            let Some(speed) = speed else { continue };
            require((0.0..=MAX_THRESHOLD).contains(&speed), &at(name), || {
                format!("must be between 0 and {MAX_THRESHOLD:?} m/s, not {speed:?}")
            })?;
        }
        Ok(())
    }
}

fn at(name: &str) -> String {
    check::at("simulation.contact", name)
}
