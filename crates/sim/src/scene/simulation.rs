//! Settings of the run, and limits on pieces.

use contact::constraint::SequentialImpulse;
use serde::Deserialize;

use super::check::{bounded, count, positive, require};
use super::contact::{Contact, Energy, Turning};
use super::{Body, InvalidValue, Motion, Scene};

/// Most frames of a run: over nine hours at 30 frames per second.
const MAX_FRAMES: usize = 1_000_000;

/// Settings of a run: `[simulation]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Simulation {
    /// Frames per second, each one time step; 30 unless given.
    pub fps: f64,
    /// Frames to simulate after the initial state; 120 unless given.
    pub frames: usize,
    /// Acceleration of every dynamic body, m/s^2; `[0, -9.81, 0]` unless given.
    pub gravity: [f64; 3],
    /// Seed of everything random; 1 unless given.
    pub seed: u64,
    /// Whether all happens in the plane z = 0: bodies keep their z and turn about z alone; `false` unless given.
    pub plane: bool,
    /// Whether bodies that have been still for half a second are held until something concerns
    /// them; `true` unless given.
    pub sleep: bool,
    /// What finds the impulses; `"manifold"` unless given.
    pub solver: Solver,
    /// The order of the step by which bodies turn; `"sixth_order"` unless given.
    pub rotation: Turning,
    /// Iterations and tolerances of the solver.
    pub contact: Contact,
    /// What keeps energy; all on unless given.
    pub energy: Energy,
}

/// What finds the impulses of contacts and joints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Solver {
    /// All contacts of a frame together, in two passes, with shock propagation.
    #[default]
    Manifold,
    /// Pair by pair, as GBF03 and Su09 do; slow, and without joints.
    Reference,
    /// Projected Gauss-Seidel over contacts and joints, as Br11 does.
    SequentialImpulse,
    /// All normal forces at once as a quadratic programme, as Ku07 does.
    QuadraticProgram,
    /// Contact by contact by its class, as the lecture does.
    Impulse,
    /// Integration up to each time of contact, impulses and resting forces there, as Ku07 does; without
    /// joints.
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

impl Default for Simulation {
    fn default() -> Self {
        Self {
            fps: 30.0,
            frames: 120,
            gravity: [0.0, -9.81, 0.0],
            seed: 1,
            plane: false,
            sleep: true,
            solver: Solver::default(),
            rotation: Turning::default(),
            contact: Contact::default(),
            energy: Energy::default(),
        }
    }
}

impl Simulation {
    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        require(self.fps >= 1.0 && self.fps <= 1e5, "simulation.fps", || {
            format!("must be between 1 and 100000 frames per second, not {:?}", self.fps)
        })?;
        count("simulation.frames", self.frames, 1, MAX_FRAMES)?;
        bounded("simulation.gravity", &self.gravity, "m/s^2")?;
        self.check_solver()
    }
}

/// Limits on the pieces that bodies leave behind: `[debris]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Debris {
    /// Most bodies with a mass at a time, those of the scene included; without limit unless given.
    /// A body that would break into more holds together in that frame.
    pub max_bodies: Option<usize>,
    /// Most pieces that come about in one frame; without limit unless given.
    pub max_new: Option<usize>,
    /// Pieces of less volume than a cube of this edge stay with a neighbor, m; 0 unless given.
    pub min_size: f64,
    /// Which pieces are retired; none unless given.
    pub retire: Option<Retire>,
}

impl Debris {
    pub(super) fn check(&self, scene: &Scene) -> Result<(), InvalidValue> {
        if let Some(most) = self.max_bodies {
            let with_mass = |b: &&Body| b.motion == Motion::Dynamic;
            let copies = |b: &Body| b.copies.map_or(1, |copies| copies.total());
            let bodies =
                scene.bodies.iter().filter(with_mass).map(copies).fold(0, usize::saturating_add);
            require(most >= bodies, "debris.max_bodies", || {
                format!("is {most}, but the scene starts with {bodies} dynamic bodies")
            })?;
        }
        if let Some(most) = self.max_new {
            require(most >= 2, "debris.max_new", || "must be at least 2, or nothing ever breaks")?;
        }
        bounded("debris.min_size", &[self.min_size], "m")?;
        require(self.min_size >= 0.0, "debris.min_size", || "must be 0 m or more")?;
        if let Some(retire) = &self.retire {
            positive("debris.retire.after", retire.after, "s")?;
            positive("debris.retire.slower_than", retire.slower_than, "m/s")?;
        }
        Ok(())
    }
}

/// `retire = { after = 2, then = "shrink" }`: pieces that came to rest are no longer simulated.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retire {
    /// How long a piece has been slow, s.
    pub after: f64,
    /// The speed below which a piece is slow, m/s; 0.05 unless given.
    #[serde(default = "crawling")]
    pub slower_than: f64,
    /// What becomes of it; it is kept unless given.
    #[serde(default)]
    pub then: Then,
}

/// What becomes of a piece that came to rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Then {
    /// It stays as scenery that others rest on.
    #[default]
    Keep,
    /// It is removed.
    Remove,
    /// It is removed, and shown to shrink away over half a second.
    Shrink,
}

fn crawling() -> f64 {
    0.05
}
