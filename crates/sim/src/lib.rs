//! Rigid bodies at one time step per frame that break where they are hit.
//!
//! A [`World`] holds bodies as columns and [`World::step`] advances them by one frame: the whole
//! algorithm reads on one page in `step.rs`. A [`scene::Scene`] describes a world in a text file,
//! [`build`] makes one of it, and a [`Recorder`] keeps what happens. Nothing here prints or opens
//! files.

mod breakage;
mod build;
mod energy;
mod recording;
mod report;
mod rigid;
pub mod scene;
mod sleep;
mod step;
mod world;

pub use breakage::Breakage;
pub use build::{Appearance, BuildError, Cause, build};
pub use recording::{Recorder, Recording, Surface, Track};
pub use report::{Fracture, Report};
pub use rigid::{RigidError, rigid};
pub use step::Phase;
pub use world::{BodyId, BodyState, NewBody, Settings, World};
