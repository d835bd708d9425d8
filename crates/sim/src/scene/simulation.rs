//! Settings of the run, and limits on pieces.

use contact::Clamp;
use dynamics::{Order, Scheme};
use serde::Deserialize;

use super::check::{at, bounded, count, fraction, positive, require};
use super::contact::{ClampKind, Contact, Energy, RotationOrder};
use super::{InvalidValue, Solver};

/// Maximum of each number of sweeps or repeats.
const MAX_SWEEPS: usize = 10_000;
/// Limit of restitution thresholds and solver tolerances, m/s.
const MAX_THRESHOLD: f64 = 1e3;
/// Largest number of frames of a run: over nine hours at 30 frames per second.
const MAX_FRAMES: usize = 1_000_000;

/// Settings of a run: `[simulation]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Simulation {
    /// Frames per second; each frame is one time step. 30 by default.
    pub fps: f64,
    /// Frames to simulate after the initial state; 120 by default.
    pub frames: usize,
    /// Acceleration of every dynamic body, m/s^2; `[0, -9.81, 0]` by default.
    pub gravity: [f64; 3],
    /// Seed of all random numbers; 1 by default.
    pub seed: u64,
    /// Whether motion is restricted to the plane z = 0: bodies keep their z and rotate about z
    /// alone; `false` by default.
    pub plane: bool,
    /// Whether bodies that are at rest for half a second sleep until a load or an impact wakes
    /// them; `true` by default.
    pub sleep: bool,
    /// The contact solver; `"manifold"` by default.
    pub solver: Solver,
    /// The order of the integration of rotation; `"sixth_order"` by default.
    pub rotation: RotationOrder,
    /// Iterations and tolerances of the solver.
    pub contact: Contact,
    /// Energy conservation; all on by default.
    pub energy: Energy,
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
            rotation: RotationOrder::default(),
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
            RotationOrder::SixthOrder => Order::Sixth,
            RotationOrder::SecondOrder => Order::Second,
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
            exact_products: given.exact_products.unwrap_or(own.exact_products),
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
            require(key.solvers.contains(&solver), &contact_key(key.name), || {
                let others: Vec<String> =
                    key.solvers.iter().map(|solver| format!("`{}`", solver.name())).collect();
                let (own, others) = (solver.name(), others.join(" or "));
                format!("steers nothing with the solver `{own}`: remove it, or use {others}")
            })?;
        }
        for (key, is_default) in [
            ("simulation.rotation", self.rotation == RotationOrder::default()),
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
            &contact_key("clamp"),
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
            sweeps.map_or(Ok(()), |sweeps| count(&contact_key(name), sweeps, 1, MAX_SWEEPS))?;
        }
        for (name, sweeps) in [
            ("push_sweeps", given.push_sweeps),
            ("shock_sweeps", given.shock_sweeps),
            ("exact_products", given.exact_products),
        ] {
            sweeps.map_or(Ok(()), |sweeps| count(&contact_key(name), sweeps, 0, MAX_SWEEPS))?;
        }
        for (name, share) in [
            ("push_out", given.push_out),
            ("slop", given.slop),
            ("resting_share", given.resting_share),
            ("error_reduction", given.error_reduction),
        ] {
            share.map_or(Ok(()), |share| fraction(&contact_key(name), share))?;
        }
        for (name, speed) in [
            ("rough_speed", given.rough_speed),
            ("settled_speed", given.settled_speed),
            ("resting_speed", given.resting_speed),
        ] {
            let Some(speed) = speed else { continue };
            require((0.0..=MAX_THRESHOLD).contains(&speed), &contact_key(name), || {
                format!("must be between 0 and {MAX_THRESHOLD:?} m/s, not {speed:?}")
            })?;
        }
        Ok(())
    }
}

/// Limits of pieces: `[debris]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Debris {
    /// Maximum number of bodies with mass, including those of the scene; unlimited by default. A
    /// body whose pieces would exceed it stays whole in that frame.
    pub max_bodies: Option<usize>,
    /// Largest number of new pieces per frame; unlimited by default.
    pub max_new: Option<usize>,
    /// A neighbor absorbs pieces with less volume than a cube of this edge, m; 0 by default.
    pub min_size: f64,
    /// Criterion of retirement of pieces; none by default.
    pub retire: Option<Retire>,
    /// Crumbs of new cracks; none by default.
    pub crumbs: Option<Crumbs>,
}

impl Debris {
    /// Checks the limits of a scene that starts with `bodies` dynamic bodies.
    pub(super) fn check(&self, bodies: usize) -> Result<(), InvalidValue> {
        if let Some(most) = self.max_bodies {
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
        self.crumbs.iter().try_for_each(Crumbs::check)
    }
}

/// `crumbs = { energy_share = 0.1, sizes = [0.002, 0.01] }`: debris too small to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Crumbs {
    /// Energy of the surfaces of crumbs, as a share of the energy of the crack.
    pub energy_share: f64,
    /// Smallest and largest size, m: the edge of a cube of equal volume.
    pub sizes: [f64; 2],
    /// Largest number of crumbs.
    pub max_count: usize,
}

impl Default for Crumbs {
    fn default() -> Self {
        Self { energy_share: 0.1, sizes: [0.002, 0.01], max_count: 100_000 }
    }
}

impl Crumbs {
    fn check(&self) -> Result<(), InvalidValue> {
        let Self { energy_share, sizes: [least, most], max_count } = *self;
        require(energy_share > 0.0 && energy_share <= 1.0, "debris.crumbs.energy_share", || {
            format!("must be above 0 and at most 1, not {energy_share:?}")
        })?;
        let sizes = "debris.crumbs.sizes";
        positive(sizes, least, "m")?;
        bounded(sizes, &[most], "m")?;
        require(most >= least, sizes, || {
            format!("must be the smallest and the largest size, not {least:?} and {most:?} m")
        })?;
        let limit = crate::Crumbs::MAX_COUNT;
        require(max_count <= limit, "debris.crumbs.max_count", || {
            format!("must be at most {limit}, not {max_count}")
        })
    }
}

/// `retire = { after = 2, then = "shrink" }`: pieces at rest are no longer simulated.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retire {
    /// Time for which a piece must be slow, s.
    pub after: f64,
    /// Speed limit of a slow piece, m/s; 0.05 by default.
    #[serde(default = "crawling")]
    pub slower_than: f64,
    /// Treatment of a retired piece; kept by default.
    #[serde(default)]
    pub then: Then,
}

/// Treatment of a retired piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Then {
    /// Stays as a static body.
    #[default]
    Keep,
    /// Is removed.
    Remove,
    /// Shrinks over half a second and is removed.
    Shrink,
}

fn crawling() -> f64 {
    0.05
}

fn contact_key(name: &str) -> String {
    at("simulation.contact", name)
}
