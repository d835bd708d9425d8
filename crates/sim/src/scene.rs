//! Scene files: the description of a simulation, as plain data read from TOML.
//!
//! ```
//! let scene = brisance_sim::scene::Scene::from_toml(
//!     r#"
//!     version = 1
//!
//!     [[body]]
//!     name = "floor"
//!     shape = { plane = {} }
//!     motion = "static"
//!
//!     [[body]]
//!     name = "ball"
//!     shape = { sphere = { radius = 0.1 } }
//!     density = 2500
//!     position = [0, 2, 0]
//!     "#,
//! )?;
//! assert_eq!(scene.bodies.len(), 2);
//! # Ok::<(), brisance_sim::scene::SceneError>(())
//! ```
//!
//! Lengths are meters, masses kilograms, times seconds, y points up. The key that holds the
//! settings selects the kind, `shape = { sphere = { radius = 0.1 } }`, so that every error can
//! point at its own line. A string in place of a number is a quantity with a unit or an expression,
//! `"20 cm"` or `"$width / 2"`; [`units`] lists the unit of each key.

mod anchor;
mod body;
mod bonds;
mod breakage;
mod camera;
mod check;
mod combined;
mod contact;
mod copies;
mod defaults;
mod deserializer;
mod error;
mod files;
mod fracture_context;
mod groups;
mod joint;
mod lattice;
mod level;
mod material;
mod mesh;
mod mirror;
mod motion;
mod notes;
mod outline;
mod pattern;
mod pieces;
mod polygon;
mod pose;
mod primitive;
mod quantity;
mod references;
mod relief;
mod root;
mod shape;
mod simulation;
mod solver;
mod spacing;
mod stress;
mod substance;
mod timeline;
mod two_dimensions;
mod units;
mod validate;

pub use anchor::{Anchor, Ball, Block};
pub use body::Body;
pub use bonds::Bonds;
pub use breakage::Fracture;
pub use camera::{Camera, CameraKey};
pub use contact::{Bounds, ClampKind, Contact, Energy, LeverArms, RotationOrder};
pub use copies::Copies;
pub use error::{InvalidValue, SceneError, TextPosition};
pub use files::{FileError, Origins, SceneWithOrigins};
pub use joint::{Joint, JointKind, Motor};
pub use lattice::{Cleave, Lattice, LatticeLinks, LatticeShards, StrengthPicture, WeakSphere};
pub use level::Level;
pub use material::{Material, OwnMaterial, Rule};
pub use mesh::{Collide, Mesh, MeshSign, Svg, Trimesh};
pub(crate) use mirror::mirrored_pose;
pub use motion::{Keyframe, Motion};
pub use pattern::{
    Bricks, CutNoise, Nested, Noise, Painted, Pattern, PatternFile, Points, Preset, Radial, Rims,
    Slices, Voronoi,
};
pub(crate) use pieces::Whole;
pub use pieces::{PieceBonds, Pieces};
pub use polygon::Polygon;
pub use pose::{Axis, Rotation};
pub use primitive::{Capsule, Cone, Cuboid, Cylinder, Plane, Sphere, Torus};
pub use relief::{Extruded, Heightfield, PictureFile};
pub use root::Scene;
pub use shape::{Combined, Op, Part, Shape};
pub use simulation::{Crumbs, Debris, Retire, Simulation, Then};
pub use solver::Solver;
pub(crate) use spacing::{MARGIN, NODES_THROUGH, spacing};
pub use spacing::{MAX_NODES, MIN_NODES, default_spacing};
pub use stress::Stress;
pub use timeline::{Cut, Event, Explosion, Push, Wind};
pub use units::{read_toml, units};

#[cfg(test)]
mod tests;
