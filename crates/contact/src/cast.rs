//! Queries: ray casts, shape casts and overlap tests.
//!
//! Files import in one direction: `ray`, `core` and `placed` (one solid), `sweep` and `overlap`
//! (two), `bodies` (all bodies).

pub(crate) mod bodies;
pub(crate) mod core;
pub(crate) mod overlap;
pub(crate) mod placed;
pub(crate) mod ray;
pub(crate) mod sweep;
