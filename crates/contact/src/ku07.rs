//! The frame loop of Ku07 section 3.1: what bodies do between two instants at which something meets.

mod flight;
mod forces;
mod meeting;
mod path;
mod strike;
mod touch;

pub use flight::Flown;
pub use strike::Struck;
pub use touch::Touches;
