//! The interface of encodings.

use std::io;

use super::prim::{Metadata, Prim};

/// Writes a stage whose prims are in `/World`.
pub(in crate::format) trait Encoder {
    fn begin(&mut self, metadata: &Metadata<'_>) -> io::Result<()>;
    fn add(&mut self, prim: Prim<'_>) -> io::Result<()>;
    fn end(&mut self) -> io::Result<()>;
}
