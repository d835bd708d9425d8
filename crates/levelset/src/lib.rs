//! Signed distance on uniform grids: the geometry kernel of brisance, also useful without it.
//!
//! A solid is a [`LevelSet`]: the distance to its surface, negative inside, sampled on the nodes of
//! a [`Grid`]. It is created from triangles or from the formulas of [`Solid`] and [`ConvexHull`],
//! cut, divided, measured, and converted back:
//!
//! ```text
//!  TriMesh --from_mesh--> LevelSet --isosurface, dual_contour--> TriMesh
//!  Solid ----from_fn----/   |  |  \--TetMesh::stuffed----------> TetMesh --boundary--> TriMesh
//!                           |  \--components, label_components-> Components --label_moments--> Moments
//!                           \--union, intersection, difference, offset, redistanced, cropped
//! ```
//!
//! **Conventions.** Lengths are meters, frames are right-handed, a signed distance `phi` is
//! negative inside a solid, and normals point out of it. A sample is *inside* when `phi < 0`, so a
//! node exactly on the surface is outside. Samples sit on the nodes of a [`Grid`]; arrays are
//! indexed `[i, j, k]` along x, y, z, with k fastest in memory. State and arithmetic are `f64`,
//! stored samples are `f32`. Results are the same to the bit for any number of threads.
//!
//! Meshes are arrays, [`TriMesh`] and [`TetMesh`]. [`LevelSet::write_to`] writes the file format of
//! level sets, and [`LevelSet::from_bytes`] reads it; [`CompactLevelSet`] takes half the space.
//!
//! ```text
//!     + 1.2   + 0.7   + 0.5   + 0.7        one plane of nodes around a ball:
//!                 _______                  the surface runs where linear
//!     + 0.8   + 0.1/- 0.3 \ + 0.1          interpolation of the samples is zero
//!            /             \
//!     + 0.5 | - 0.3   - 0.8 | 0.3
//! ```
//!
//! # Distance
//! Lines of equal distance in a slice through a ring, every 0.2 m: inside orange, outside blue. In
//! the middle, the union with a ball leaves lower bounds of depth inside; on the right
//! [`LevelSet::redistanced`] has restored the distance.
//!
//! <div>
#![doc = include_str!("../doc/distance.svg")]
//! </div>
//!
//! # A solid and its volume
//! ```
//! use brisance_levelset::{Aabb, Grid, LevelSet, Solid};
//! use brisance_levelset::nalgebra::{Point3, Vector3};
//!
//! let ball = Solid::Sphere { radius: 1.0 };
//! let bounds = Aabb { min: Point3::from([-1.0; 3]), max: Point3::from([1.0; 3]) };
//! let grid = Grid::enclosing(&bounds, 0.05, 3, Grid::MAX_NODES)?;
//! let level_set = LevelSet::from_fn(grid, |p| ball.distance(&p));
//!
//! let exact = 4.0 / 3.0 * std::f64::consts::PI;
//! assert!((level_set.moments().volume - exact).abs() < 0.01 * exact); // by cell sign
//! assert!((level_set.subcell_moments().volume - exact).abs() < 0.002 * exact);
//!
//! let above = level_set.normal(&Point3::new(0.0, 1.0, 0.0)).expect("the ball is smooth");
//! assert!((above.into_inner() - Vector3::y()).norm() < 1e-3);
//! # Ok::<(), brisance_levelset::GridError>(())
//! ```
//!
//! # To triangles, back, and cut in two
//! [`LevelSet::isosurface`] always gives a closed mesh, with the topology of the trilinear
//! interpolant. [`LevelSet::dual_contour`], on the right, keeps sharp edges instead:
//!
//! <div>
#![doc = include_str!("../doc/surface.svg")]
//! </div>
//!
//! [`LevelSet::from_mesh`] converts a closed mesh, with exact distance near the surface and exact
//! signs; with [`Sign::Winding`] it converts any mesh. Set operations cut: the ball on the left
//! divides the ring into the results of [`LevelSet::difference`] and [`LevelSet::intersection`].
//!
//! <div>
#![doc = include_str!("../doc/cut.svg")]
//! </div>
//!
//! ```
//! # use brisance_levelset::{Aabb, Grid, LevelSet, Sign, Solid};
//! # use brisance_levelset::nalgebra::Point3;
//! # let ball = Solid::Sphere { radius: 1.0 };
//! # let bounds = Aabb { min: Point3::from([-1.0; 3]), max: Point3::from([1.0; 3]) };
//! # let grid = Grid::enclosing(&bounds, 0.1, 3, Grid::MAX_NODES)?;
//! # let level_set = LevelSet::from_fn(grid, |p| ball.distance(&p));
//! let mesh = level_set.isosurface();
//! let facts = mesh.facts()?;
//! assert!(facts.closed && facts.oriented && facts.euler_number == 2);
//! let again = LevelSet::from_mesh(&mesh, grid, Sign::Strict)?;
//!
//! let half_space = LevelSet::from_fn(grid, |p| p.x - 0.3);
//! let (rest, cap) = (again.difference(&half_space), again.intersection(&half_space));
//! let halves = rest.moments().volume + cap.moments().volume;
//! assert!((halves - again.moments().volume).abs() < 1e-12); // no sample twice or lost
//! assert_eq!(rest.components().count, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Tetrahedra
//! [`TetMesh::stuffed`] fills a solid with well-shaped tetrahedra, of one size or growing inwards
//! ([`Stuffing::doublings`]), as shown for half a ball. [`TetMesh::quality`] measures their shape
//! and [`TetMesh::deviation`] the distance of the surfaces, which reveals lost thin features.
//!
//! <div>
#![doc = include_str!("../doc/tetrahedra.svg")]
//! </div>
//!
//! ```
//! # use brisance_levelset::{Aabb, Grid, LevelSet, Solid, Stuffing, TetMesh};
//! # use brisance_levelset::nalgebra::Point3;
//! # let ball = Solid::Sphere { radius: 1.0 };
//! # let bounds = Aabb { min: Point3::from([-1.0; 3]), max: Point3::from([1.0; 3]) };
//! # let grid = Grid::enclosing(&bounds, 0.1, 3, Grid::MAX_NODES)?;
//! # let level_set = LevelSet::from_fn(grid, |p| ball.distance(&p));
//! let stuffing = Stuffing { spacing: 0.2, doublings: 3, halvings: 0, limit: 1_000_000 };
//! let tets = TetMesh::stuffed(&level_set, &stuffing)?;
//! let quality = tets.quality();
//! assert!(quality.min_dihedral > 10.0 && quality.max_dihedral < 165.0);
//! assert!(tets.deviation(&level_set).from_level_set < 0.1);
//! # Ok::<(), brisance_levelset::GridError>(())
//! ```

// a browser has one thread
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
extern crate serial as rayon;

mod binary;
mod caps;
mod compact;
mod components;
mod crop;
mod crossing;
mod csg;
mod cube;
mod dual;
mod facet;
mod facts;
mod from_mesh;
mod grid;
mod hull;
mod integrate;
mod isosurface;
mod march;
mod mesh;
mod moments;
mod open_edges;
mod order;
mod overlap;
mod particles;
mod redistance;
mod sample;
mod sharing;
mod solid;
mod stuffing;
mod sweep;
mod tet_deviation;
mod tet_mesh;
mod tet_quality;
mod walls;
mod warp;

// users can name the types of this API without further dependencies
pub use nalgebra;
pub use ndarray;

pub use binary::ReadError;
pub use compact::CompactLevelSet;
pub use components::{Components, Run, label_components};
pub use cube::Sheets;
pub use facts::MeshFacts;
pub use from_mesh::{MAX_COORDINATE, MeshError, Sign};
pub use grid::{Aabb, Grid, GridError};
pub use hull::{ConvexHull, HullError};
pub use integrate::{NodeCounts, label_moments};
pub use march::UpwindOrder;
pub use mesh::TriMesh;
pub use moments::Moments;
pub use order::total_order;
pub use redistance::EikonalResidual;
pub use sample::LevelSet;
pub use sharing::Union;
pub use solid::Solid;
pub use stuffing::Stuffing;
pub use tet_deviation::Deviation;
pub use tet_mesh::{TetError, TetMesh};
pub use tet_quality::TetQuality;

/// Tests the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
