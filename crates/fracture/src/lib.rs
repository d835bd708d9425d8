//! Fracture of level-set bodies by prescored space (Su09 section 4).
//!
//! A [`Pattern`] divides all of space into regions around a fracture center. When a body is hit, an
//! [`Alignment`] places the pattern's center at the impact and [`shatter`] intersects body and
//! regions: each connected intersection is a [`Fragment`] with its own level set, surface particles
//! and moments. This crate has no motion; the caller sets the velocities of fragments, and uses
//! [`Impact`] to decide whether an impact breaks a body.
//!
//! Patterns have no scale, their fracture center at the origin and the y axis along the collision
//! normal, out of the body. Bodies are in their own material space, in meters; fragments stay in
//! that of the body they came from, on nodes of its grid.
//!
//! ```
//! use brisance_fracture::{Alignment, Pattern, Voronoi, shatter};
//! use brisance_fracture::levelset::{Grid, LevelSet, Solid};
//! use brisance_fracture::nalgebra::{Point3, Vector3};
//!
//! let grid = Grid::new(Point3::new(-0.3, -0.1, -0.3), 0.02, [31, 11, 31], Grid::MAX_NODES)?;
//! let slab = Solid::Box { half_extents: Vector3::new(0.25, 0.05, 0.25) };
//! let body = LevelSet::from_fn(grid, |p| slab.distance(&p));
//! let particles = body.surface_particles(grid.spacing());
//!
//! let pattern = Pattern::voronoi(&Voronoi { clustering: 2.0, ..Voronoi::new(40, 1) })?;
//! let hit = Point3::new(0.1, 0.05, 0.0);
//! let at = Alignment::enclosing(&grid.bounds(), hit, Vector3::y_axis());
//! let broken = shatter(&body, &particles, &pattern, &at, 8);
//!
//! let volume: f64 = broken.fragments.iter().map(|f| f.moments.volume).sum();
//! assert!(broken.fragments.len() > 5);
//! assert!((volume / body.moments().volume - 1.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Patterns are seeded ([`Voronoi`], [`Radial`], [`Slices`]), regular ([`Bricks`]), drawn
//! ([`Pattern::from_meshes`], [`Pattern::from_picture`], [`Pattern::painted`]) or combined
//! ([`Pattern::nested`], [`Pattern::with_sampled_noise`], [`Pattern::sampled`]), and stored in files
//! ([`Pattern::write`], [`Pattern::read`]). [`Pattern::slice`] is an image of one.
//!
//! A [`Geometry`] is the solid of a body, exact or sampled: [`Geometry::divide`] gives exact pieces
//! for a closed mesh or a primitive and convex cells, and sampled ones, by [`shatter`], otherwise.
//! Pieces have moments, surfaces, hulls and a signed distance. [`draw`] creates render surfaces of
//! sampled ones, [`convex_decomposition`] colliders for other engines, and a [`Bond`] is the former
//! contact of two pieces.

// a browser has one thread
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
extern crate serial as rayon;

mod alignment;
mod assignment;
mod body;
mod bricks;
mod cell;
mod conjugate_gradient;
mod convex_decomposition;
mod cut;
mod diagram;
mod drawing;
mod drawn;
mod facets;
mod field;
mod file;
mod fill;
mod geometry;
mod hull;
mod impact;
mod join;
mod lattice;
mod load;
mod material;
mod near_region;
mod node_box;
mod noise;
mod ownership;
mod painted;
mod particles;
mod partition;
mod pattern;
mod pieces;
mod planar;
mod planes;
mod point_tree;
mod preview;
mod projection;
mod radial;
mod random;
mod region;
mod region_planes;
mod rows;
mod sampled;
mod shatter;
mod slicing;
mod surface_noise;
mod touching;
mod voronoi;

// users can name the types of this API without further dependencies
pub use levelset;
pub use nalgebra;
pub use ndarray;

pub use alignment::Alignment;
pub use bricks::Bricks;
pub use convex_decomposition::convex_decomposition;
pub use drawing::{Break, Drawing, draw};
pub use facets::{FaceOrigin, Surface};
pub use file::ReadPatternError;
pub use geometry::{Geometry, Piece, Pieces};
pub use impact::{Impact, Section};
pub use lattice::{
    Lattice, LatticeError, LatticeImpact, LatticeImpactSettings, LatticePieces, Link, Links,
    Multipliers, Neighbors, Shards, SolverLimits, Spread, Stencil, Weakness, multipliers,
    smoothed_crack,
};
pub use load::bond_loads;
pub use material::Material;
pub use noise::Noise;
pub use painted::DensityMap;
pub use particles::Bond;
pub use pattern::{Pattern, PatternError};
pub use planar::Slices;
pub use projection::{Projector, nearest_on_triangle};
pub use radial::Radial;
pub use random::Random;
pub use shatter::{Fragment, Shattered, shatter};
pub use slicing::{ClosedMesh, Half, NotClosed, Origin, Plane, Slice, slice, voronoi_cells};
pub use surface_noise::NoisySurface;
pub use touching::{TOUCHING_GAP, touching};
pub use voronoi::Voronoi;

/// Tests the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
