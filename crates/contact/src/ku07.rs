//! The frame loop of Ku07 section 3.1: flight, collision and resting contact between events.

mod flight;
mod forces;
mod impact_search;
mod impacts;
mod path;
mod touch;

pub use flight::FlightResult;
pub use impacts::ImpactResult;
pub use touch::Touches;
