//! Convex solids of revolution: cylinders, cones and capsules, with exact rims.

mod polyhedral;
mod rounds;
mod solid;
mod touch;

pub use solid::{Rim, Round};
pub(crate) use touch::{least, near};

#[cfg(test)]
mod tests;
