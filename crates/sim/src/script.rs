//! What happens to a world when: actions at given times, and events that were recorded.

pub(crate) mod actions;
pub(crate) mod event;
pub(crate) mod replay;
pub(crate) mod timeline;
