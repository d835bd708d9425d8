//! Slicing of closed meshes by planes (Br11 section 3).
//!
//! The three stages of Br11, without its restriction to convex meshes:
//!
//! - *split*: every triangle goes to one side or is clipped; tables map the vertices of the old
//!   mesh, and one new vertex per crossed edge, to those of the two new ones;
//! - *repair*: directed edges that lack their opposite bound the cap, which both halves share, so
//!   that their volumes add to that of the whole whatever the cap looks like. A single convex
//!   border gets the fan of Br11, all else a constrained Delaunay triangulation, filled where the
//!   winding number of the borders is not zero. Flat fans close edges that rounding left unmatched,
//!   so that halves are always closed;
//! - *build*: each new vertex has its origin ([`Origin`]), so that any attribute can be
//!   interpolated, and [`ClosedMesh::pieces`] lists the connected parts.
//!
//! A vertex within 1e-13 of the mesh's size of the plane counts as on it. All decisions follow from
//! one such side per vertex, so that vertices, edges and faces in the plane need no special cases:
//! a face in the plane goes to the side of its solid.

mod cap;
mod closed;
mod half;
mod plane;
mod projection;
mod slice;
mod split;
mod voronoi_cells;

pub use closed::{ClosedMesh, NotClosed};
pub use half::{Half, Origin};
pub use plane::Plane;
pub use slice::{Slice, slice};
pub use voronoi_cells::voronoi_cells;

pub(crate) use closed::solid_angle;
pub(crate) use projection::Projection;
pub(crate) use split::cancel_opposites;
