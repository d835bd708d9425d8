//! Signed distance on uniform grids: the geometry kernel of brisance.
//!
//! **Conventions.** Lengths are metres, frames are right-handed, a signed distance `phi` is
//! negative inside a solid, and normals point out of it. A sample is *inside* when `phi < 0`.
//! Samples sit on the nodes of a [`Grid`]; arrays are indexed `[i, j, k]` along x, y, z, with k
//! fastest in memory. State and arithmetic are `f64`, stored samples are `f32`.

mod binary;
mod caps;
mod compact;
mod components;
mod crop;
mod crossing;
mod csg;
mod cube;
mod facet;
mod facts;
mod from_mesh;
mod grid;
mod integrate;
mod isosurface;
mod march;
mod mesh;
mod moments;
mod open_edges;
mod particles;
mod redistance;
mod sample;
mod sharing;
mod solid;
mod stuffing;
mod sweep;
mod tet_mesh;
mod tet_quality;

pub use binary::ReadError;
pub use compact::CompactLevelSet;
pub use components::{Components, label_components};
pub use facts::MeshFacts;
pub use from_mesh::{MeshError, Sign};
pub use grid::{Aabb, Grid, GridError};
pub use integrate::label_moments;
pub use march::Order;
pub use mesh::TriMesh;
pub use moments::Moments;
pub use redistance::GradientError;
pub use sample::LevelSet;
pub use solid::Solid;
pub use stuffing::Stuffing;
pub use tet_mesh::{TetError, TetMesh};
pub use tet_quality::TetQuality;
