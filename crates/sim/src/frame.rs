//! What a frame keeps and reports beside its steps: bounds on energy and momentum, the loop of Ku07, the report.

pub(crate) mod energy;
pub(crate) mod free;
pub(crate) mod ku07;
pub(crate) mod report;
