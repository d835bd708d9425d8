//! Bounds on energy and momentum of a frame, the loop of Ku07, and the report.

pub(crate) mod counters;
pub(crate) mod energy;
pub(crate) mod events;
pub(crate) mod free;
pub(crate) mod inputs;
pub(crate) mod ku07;
pub(crate) mod ledger;
pub(crate) mod loads;
pub(crate) mod report;
