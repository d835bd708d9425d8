//! The frame loop of Ku07 section 3.1: flight, collision and resting contact between events.

mod flight;
mod forces;
mod meeting;
mod path;
mod strike;
mod touch;

pub use flight::Flown;
pub use strike::Struck;
pub use touch::Touches;
