//! The phases of a frame, bounds on its energy and momentum, the loop of Ku07, and the report.

pub(crate) mod collisions;
pub(crate) mod counters;
pub(crate) mod displacement;
pub(crate) mod energy;
pub(crate) mod events;
pub(crate) mod free;
pub(crate) mod inputs;
mod joint_failure;
pub(crate) mod ku07;
pub(crate) mod ledger;
pub(crate) mod loads;
pub(crate) mod phase;
pub(crate) mod report;
