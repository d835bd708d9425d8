//! Broad phase, time of impact and narrow phase: at most four contacts per pair.

pub(crate) mod broad;
pub(crate) mod cache;
pub(crate) mod candidate;
pub(crate) mod candidates;
pub(crate) mod compounds;
pub(crate) mod contacts;
pub(crate) mod detect;
pub(crate) mod exit;
pub(crate) mod flight;
pub(crate) mod pair;
pub(crate) mod posed;
#[cfg(test)]
pub(crate) mod random;
pub(crate) mod round;
pub(crate) mod solids;
