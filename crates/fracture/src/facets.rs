//! Closed surfaces of planar faces, the form in which exact solids are cut.
//!
//! A face is a convex polygon, or a *cap*: a set of directed edges in one plane that balance at
//! every vertex, which bounds any polygon with any holes. Caps are triangulated on demand, not
//! between cuts.

mod boxes;
mod carve;
mod cell_clipper;
mod cells;
mod clip;
mod measure;
mod parts;
mod points;
mod primitive;
mod surface;
mod triangles;
mod union;
mod winding;

#[cfg(test)]
mod tests;

pub(crate) use carve::carve;
pub(crate) use cells::ConvexCell;
pub(crate) use clip::Clipper;
pub(crate) use surface::Facets;
pub use surface::{FaceOrigin, Surface};
