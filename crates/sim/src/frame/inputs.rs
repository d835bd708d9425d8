//! Inputs of a frame.

use contact::constraint::Joint;
use dynamics::Velocity;

/// Inputs of the passes of a frame beside the columns of the world.
#[derive(Clone, Copy)]
pub(crate) struct FrameInputs<'a> {
    /// Changes of velocity by forces in half a step.
    pub(crate) drift: &'a [Velocity],
    /// Persistent names of the bodies.
    pub(crate) names: &'a [u64],
    pub(crate) joints: &'a [Joint],
}
