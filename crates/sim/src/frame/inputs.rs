//! Inputs of a frame.

use contact::constraint::Joint;
use dynamics::Velocity;

/// What the passes of a frame need beside the columns of the world.
#[derive(Clone, Copy)]
pub(crate) struct FrameInputs<'a> {
    /// Changes of velocity by forces in half a step.
    pub(crate) drift: &'a [Velocity],
    /// Numbers of bodies.
    pub(crate) names: &'a [u64],
    pub(crate) joints: &'a [Joint],
}
