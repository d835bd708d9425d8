//! What happens to a world when: actions at given times, and events that were recorded.

pub(crate) mod event;
pub(crate) mod timeline;
