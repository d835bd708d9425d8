//! Collision and contact between rigid level-set bodies at one pass per frame, with impulses that
//! never add kinetic energy.
//!
//! **Conventions.** SI units. Of a pair, body `a` receives the impulse `+j` and body `b` receives
//! `-j`; the normal points out of `b`, towards `a`; `u` is the velocity of `a` relative to `b` at
//! the contact, so the bodies approach while `u . n < 0`. A [`Shape`] lives in body coordinates
//! (origin at the center of mass).
//!
//! The crate works on slices of bodies and never moves a pose. The passes of a frame are
//! [`Frame::collide`], [`Support::settle_positions`] and [`Support::settle_velocities`], with the
//! [`Solver`] of the [`Settings`], in the order of GBF03 in the Newmark variant of Su09 section 3.
//! [`constraint`] holds joints and the solvers of the other papers, and a guide to choosing one.
//! [`pair_impulse`], [`clamp_scale`] and [`clamp_to_plastic`] stand alone. `examples/stack.rs` is such a
//! frame in full, for a stack of boxes.
//!
//! The contacts of a box that touches the ground:
//!
//! ```
//! use std::sync::Arc;
//!
//! use brisance_contact::dynamics::{Body, MassProperties, Momentum, Velocity};
//! use brisance_contact::nalgebra::{Isometry3, Vector3};
//! use brisance_contact::{Broad, Cache, Columns, Frame, Groups, Material, Settings, Shape};
//!
//! let half = Vector3::new(0.5, 0.2, 0.5);
//! let bodies = [Body::Static, Body::Dynamic(MassProperties::cuboid(8.0, &half)?)];
//! let shapes = [Arc::new(Shape::half_space()), Arc::new(Shape::cuboid(half, 0.1))];
//! let poses = [Isometry3::identity(), Isometry3::translation(0.0, 0.199, 0.0)];
//! let (materials, groups) = ([Material::default(); 2], [Groups::default(); 2]);
//! let frame = Frame {
//!     columns: Columns { bodies: &bodies, shapes: &shapes, materials: &materials, groups: &groups },
//!     poses: &poses,
//!     half_kick: &[Velocity::default(); 2],
//!     flights: &[],
//!     dt: 1.0 / 60.0,
//!     joints: &[],
//!     cache: &Cache::default(),
//!     names: &[0, 1],
//!     settings: &Settings::default(),
//! };
//! let search = frame.search(&[Momentum::default(); 2], Broad::default());
//! for manifold in search.contacts().manifolds() {
//!     let (a, b) = (manifold.a as usize, manifold.b as usize);
//!     let contacts = search.contacts().of(manifold);
//!     assert_eq!(contacts.len(), 4, "the corners of its lower face");
//!     for contact in contacts {
//!         assert!((contact.gap + 0.001).abs() < 1e-9, "a millimeter deep");
//!         assert!(contact.at(&poses[a], &poses[b]).y.abs() < 0.002);
//!     }
//! }
//! assert_eq!(search.contacts().len(), 4);
//! # Ok::<(), brisance_contact::dynamics::MassError>(())
//! ```

// a browser has one thread
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
extern crate serial as rayon;

mod body;
mod cast;
pub mod constraint;
mod frame;
mod groups;
mod ku07;
mod lanes;
mod narrow;
mod passes;
mod reference;
mod settings;
mod shape;
mod solve;

// users can name the types of this API without further dependencies
pub use dynamics;
pub use levelset;
pub use nalgebra;

pub use body::Columns;
pub(crate) use body::Mover;
pub use cast::bodies::{Bodies, QueryTree};
pub use cast::placed::PlacedShape;
pub use cast::ray::{Ray, ShapeHit};
pub use cast::sweep::Sweep;
pub use frame::Frame;
pub use groups::Groups;
pub use ku07::{FlightResult, ImpactResult, Touches};
pub use narrow::broad::Broad;
pub use narrow::cache::{Cache, CachedContact, CachedPair};
pub use narrow::candidate::Side;
pub use narrow::contacts::{Contact, Contacts, Manifold, Resumed, SearchStats};
pub use narrow::flight::{Flight, Paths};
pub use passes::collision::{Collision, Collisions, StrengthQuery, Waypoint};
pub use passes::search::Search;
pub use passes::support::{SolvedContacts, Support};
pub use passes::transmit::PointImpulse;
pub use settings::{Levers, Settings, Solver};
pub use shape::Shape;
pub use shape::field::Field;
pub use shape::round::{Rim, Round};
pub use shape::tets::{TetSolid, TetSolidError};
pub use shape::triangles::Triangles;
pub use solve::bearing::{SupportContact, balance_load};
pub use solve::clamp::{Clamp, ClampedBody, clamp_scale, clamp_to_plastic};
pub use solve::impulse::{Combine, Material, MaterialError, effective_mass, pair_impulse};
pub use solve::islands::Islands;

/// Tests the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
