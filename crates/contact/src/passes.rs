//! The passes of a frame.

pub(crate) mod collide;
pub(crate) mod collision;
pub(crate) mod follow;
pub(crate) mod project;
pub(crate) mod search;
pub(crate) mod support;
pub(crate) mod transmit;
