//! Contacts of convex solids of revolution, with exact rims.

mod polyhedral;
mod rounds;
mod search;
mod touch;

pub(crate) use touch::{least, near};

#[cfg(test)]
mod tests;
