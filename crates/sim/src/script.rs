//! Actions at given times, and recorded events.

pub(crate) mod actions;
pub(crate) mod blast;
pub(crate) mod event;
pub(crate) mod replay;
pub(crate) mod timeline;

use crate::Timeline;
use crate::script::event::Event;

/// What happens in a world besides its dynamics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    /// Wind, actions and paths.
    pub(crate) timeline: Timeline,
    /// The recorded events of a replay.
    pub(crate) recorded: Option<Vec<Event>>,
}
