//! The settings of solvers.

use super::{InvalidValue, Simulation, count, fraction, require};
use crate::scene::Solver;
use crate::scene::contact::Turning;

/// Limit of each number of sweeps or repeats.
const MAX_SWEEPS: usize = 10_000;
/// Limit of the speeds below which contacts rest or are solved, m/s.
const MAX_THRESHOLD: f64 = 1e3;

/// Checks `[simulation.contact]` and `[simulation.energy]`.
pub(super) fn check(simulation: &Simulation) -> Result<(), InvalidValue> {
    let (given, solver) = (&simulation.contact, simulation.solver);
    for key in given.keys().iter().filter(|key| key.is_given) {
        require(key.solvers.contains(&solver), &at(key.name), || {
            let others: Vec<String> =
                key.solvers.iter().map(|solver| format!("`{}`", solver.name())).collect();
            let (own, others) = (solver.name(), others.join(" or "));
            format!("steers nothing with the solver `{own}`: remove it, or use {others}")
        })?;
    }
    for (key, is_default) in [
        ("simulation.rotation", simulation.rotation == Turning::default()),
        ("simulation.energy.fix", simulation.energy.fix),
        ("simulation.energy.bound", simulation.energy.bound),
    ] {
        require(
            is_default || solver != Solver::Ku07,
            key,
            || "steers nothing with the solver `ku07`, which integrates with error control: remove it",
        )?;
    }
    require(
        simulation.energy.clamp || given.clamp.is_none(),
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
    for (name, sweeps) in [("push_sweeps", given.push_sweeps), ("shock_sweeps", given.shock_sweeps)]
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

fn at(name: &str) -> String {
    super::at("simulation.contact", name)
}
