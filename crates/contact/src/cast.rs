//! Queries: where rays and moving solids meet a solid, and which bodies are near.
//!
//! Files import in one direction: `ray` and `core` (one solid), `sweep` and `overlap` (two), `places` (all bodies).

pub(crate) mod core;
pub(crate) mod overlap;
pub(crate) mod places;
pub(crate) mod ray;
pub(crate) mod sweep;
