//! Fracture of level-set bodies by prescored space (Su09 section 4).
//!
//! A [`Pattern`] divides all of space into regions around a fracture centre. When a body is hit, an
//! [`Alignment`] places the pattern's centre on the impact and [`shatter`] intersects body and
//! regions: each connected intersection is a [`Fragment`] with its own level set, surface particles
//! and moments. This crate knows shapes only; whoever moves the body gives the fragments their
//! velocities.
//!
//! Patterns have no scale and the y axis along the collision normal, out of the body. Bodies are in
//! their own material space, in metres.

mod alignment;
mod cell;
mod cut;
mod drawing;
mod drawn;
mod field;
mod file;
mod hull;
mod material;
mod noise;
mod ownership;
mod particles;
mod pattern;
mod pieces;
mod planar;
mod radial;
mod random;
mod region;
mod sampled;
mod shatter;
mod voronoi;

pub use alignment::Alignment;
pub use drawing::{Break, Drawing, draw};
pub use file::ReadPatternError;
pub use hull::convex_hull;
pub use material::Material;
pub use noise::Noise;
pub use particles::Bond;
pub use pattern::{Pattern, PatternError};
pub use planar::{Bricks, Slices};
pub use radial::Radial;
pub use shatter::{Fragment, Shattered, shatter};
pub use voronoi::Voronoi;
