//! The frame loop of Ku07 section 3.1: flight, collision and resting contact between events.

mod flight;
mod forces;
mod impact_search;
mod path;
mod strike;
mod touch;

pub use flight::FlightResult;
pub use strike::Struck;
pub use touch::Touches;
