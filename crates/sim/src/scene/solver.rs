//! The contact solver.

use contact::constraint::SequentialImpulse;
use serde::Deserialize;

/// The solver of contact and joint impulses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Solver {
    /// Solves all contacts of a frame together, in two passes, with shock propagation.
    #[default]
    Manifold,
    /// Solves pair by pair, as in GBF03 and Su09; slow, and without joints.
    Reference,
    /// Projected Gauss-Seidel over contacts and joints, as in Br11.
    SequentialImpulse,
    /// Solves all normal forces as one quadratic program, as in Ku07.
    QuadraticProgram,
    /// Solves contact by contact, by the class of each contact, as in the lecture.
    Impulse,
    /// Integrates from one time of contact to the next, with impulses and resting forces at each,
    /// as in Ku07; without joints.
    Ku07,
}

impl Solver {
    /// Its name in scenes.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Manifold => "manifold",
            Self::Reference => "reference",
            Self::SequentialImpulse => "sequential_impulse",
            Self::QuadraticProgram => "quadratic_program",
            Self::Impulse => "impulse",
            Self::Ku07 => "ku07",
        }
    }

    /// Whether it supports rolling and spinning friction.
    pub(super) fn resists_rolling(self) -> bool {
        matches!(self, Self::Manifold | Self::Reference)
    }

    /// The solver at its default settings.
    pub fn contact(self) -> contact::Solver {
        match self {
            Self::Manifold => contact::Solver::Manifold,
            Self::Reference => contact::Solver::reference(),
            Self::SequentialImpulse => {
                contact::Solver::SequentialImpulse(SequentialImpulse::default())
            }
            Self::QuadraticProgram => contact::Solver::QuadraticProgram,
            Self::Impulse => contact::Solver::Impulse,
            Self::Ku07 => contact::Solver::Ku07,
        }
    }
}
