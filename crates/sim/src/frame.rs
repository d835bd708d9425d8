//! What a frame keeps and reports beside its steps: bounds on energy and momentum, the loop of Ku07, the report.

pub(crate) mod counters;
pub(crate) mod energy;
pub(crate) mod events;
pub(crate) mod free;
pub(crate) mod ku07;
pub(crate) mod ledger;
pub(crate) mod loads;
pub(crate) mod report;
