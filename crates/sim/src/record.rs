//! Results of runs: recordings, their cameras and dust, and bodies for other engines.

pub(crate) mod camera;
pub(crate) mod dust;
pub(crate) mod physics_scene;
pub(crate) mod pieces;
pub(crate) mod recording;
pub(crate) mod sight;
pub(crate) mod state;
