//! Contact impulses: of one pair, of islands exactly, and of large islands by sweeps.

pub(crate) mod bearing;
pub(crate) mod bounce;
pub(crate) mod clamp;
pub(crate) mod cone;
pub(crate) mod exact;
pub(crate) mod impulse;
pub(crate) mod impulses;
pub(crate) mod islands;
pub(crate) mod levels;
pub(crate) mod movers;
pub(crate) mod order;
pub(crate) mod problem;
pub(crate) mod residual;
pub(crate) mod rolling;
pub(crate) mod rows;
pub(crate) mod settle;
