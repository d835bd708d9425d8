//! Actions at given times, and recorded events.

pub(crate) mod actions;
pub(crate) mod event;
pub(crate) mod replay;
pub(crate) mod timeline;
