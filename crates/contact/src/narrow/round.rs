//! Contacts of convex solids of revolution, with exact rims.

mod collector;
mod polyhedral;
mod rounds;
mod search;
mod touch;
mod triangular;

pub(crate) use touch::{least, near};

#[cfg(test)]
mod tests;
