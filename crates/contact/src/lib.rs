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
//! [`pair_impulse`], [`clamp_scale`] and [`clamp_to_plastic`] stand alone.

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
pub use cast::ray::{Impact, Ray};
pub use frame::Frame;
pub use groups::Groups;
pub use ku07::{FlightResult, ImpactResult, Touches};
pub use narrow::broad::Broad;
pub use narrow::cache::{Cache, CachedContact, CachedPair};
pub use narrow::candidate::Side;
pub use narrow::contacts::{Contact, Contacts, Manifold, Resumed, SearchStats};
pub use narrow::flight::{Flight, Paths};
pub use passes::blow::{Blow, Collisions, StrengthQuery, Waypoint};
pub use passes::search::Search;
pub use passes::support::Support;
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
