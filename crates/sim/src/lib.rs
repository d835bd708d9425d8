//! Rigid bodies at one time step per frame that break where they are hit.
//!
//! A [`World`] holds bodies as columns and [`World::step`] advances them by one frame: the whole
//! algorithm reads on one page in `step.rs`. It neither prints nor opens files.

mod breakage;
mod recording;
mod report;
mod rigid;
mod step;
mod world;

pub use breakage::Breakage;
pub use recording::{Recorder, Recording, Surface, Track};
pub use report::{Fracture, Report};
pub use rigid::{RigidError, rigid};
pub use world::{BodyId, BodyState, NewBody, Settings, World};
