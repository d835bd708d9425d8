//! Contacts and joints as one mixed linear complementarity problem (Br11 section 2), and the ways
//! to solve it.
//!
//! A [`Row`] is one line of the Jacobian `J`, with the speed `zeta` that it wants and the impulses
//! it may have. With `v` the velocities that forces alone lead to, impulses `lambda` are sought for
//! which `w = J (v + M^-1 J^T lambda) - zeta` is zero where an impulse is inside its bounds, not
//! negative at the lower and not positive at the upper one. [`Mlcp`] holds such a problem and sweeps
//! over it (projected Gauss-Seidel, or sequential impulses); [`program`](contact_forces) solves it
//! at once as a quadratic programme (Ku07 eq. 4).
//!
//! # Which solver to take
//! - [`Solver::Manifold`](crate::Solver::Manifold), the default, for everything that is to look
//!   right at one step a frame: it decides where bodies go and how they move on in two passes, keeps
//!   stacks up by shock propagation, and never gains energy. Joints are solved at once between its
//!   sweeps, and end a step closed.
//! - [`Solver::SequentialImpulse`](crate::Solver::SequentialImpulse) (Br11) for short steps (120 Hz
//!   and more), machines of many joints and motors, and to compare with other engines, which do the
//!   same. Position errors decay by `1 - error_reduction` a step; at 30 Hz it sinks and creeps.
//! - [`Solver::QuadraticProgram`](crate::Solver::QuadraticProgram) (Ku07) for tens of contacts whose
//!   forces must be exact: all of them at once, to 1e-9. Its time grows faster than the contacts.
//! - [`Solver::Impulse`](crate::Solver::Impulse) (the lecture) to teach and for a few bodies: one
//!   contact after the other, by its class, started from the impulses of the last step.
//! - [`Solver::Reference`](crate::Solver::Reference) (GBF03, Su09) as the oracle of the default one.
//!
//! [`time_of_impact`] finds by bisection when two bodies meet, for offline work.

mod alternate;
mod closing;
mod codes;
mod direct;
mod impact;
mod impulses;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod interior_point;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[path = "no_interior_point.rs"]
mod interior_point;
mod joint;
mod midpoint;
mod mlcp;
mod pass;
mod pivot;
mod program;
mod program_error;
mod row;
mod touching;

pub use codes::{ImpulseCache, Key};
pub use impact::{Flight, Impact, time_of_impact};
pub use joint::{Joint, JointKind, MAX_ROWS, Motor, Reaction};
pub use midpoint::Linkages;
pub use mlcp::Mlcp;
pub use program::contact_forces;
pub use program_error::ProgramError;
pub use row::{Bounds, Row, RowError};

pub use crate::settings::{FrictionBounds, SequentialImpulse};

pub(crate) use alternate::{Bodies, Rounds, alternate};
pub(crate) use closing::{close, follow};
pub(crate) use joint::{JointPass, Stepping, push};
pub(crate) use pass::{Method, Rows};
pub(crate) use touching::{PER_CONTACT, tangents};
