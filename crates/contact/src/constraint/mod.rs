//! Contacts and joints as one mixed linear complementarity problem (Br11 section 2), and its
//! solvers.
//!
//! A [`Row`] is one row of the Jacobian `J`, with a target speed `zeta` and bounds of its impulse.
//! Let `v` be the velocities by forces alone. The solution is impulses `lambda` for which
//! `w = J (v + M^-1 J^T lambda) - zeta` is zero for an impulse inside its bounds, not negative at
//! the lower and not positive at the upper bound. [`Mlcp`] holds such a problem and sweeps over it
//! (projected Gauss-Seidel, or sequential impulses); [`program`](contact_forces) solves it as a
//! quadratic program (Ku07 eq. 4).
//!
//! # Choosing a solver
//! - [`Solver::Manifold`](crate::Solver::Manifold), the default, for plausible motion at one step a
//!   frame: it determines displacements and final velocities in two passes, stabilizes stacks by
//!   shock propagation, and never gains energy. Joints end a step closed.
//! - [`Solver::SequentialImpulse`](crate::Solver::SequentialImpulse) (Br11) for short steps (120 Hz
//!   and more), machines of many joints and motors, and comparison with other engines, which use
//!   the same method. Position errors decay by `1 - error_reduction` per step; at 30 Hz bodies sink
//!   and creep.
//! - [`Solver::QuadraticProgram`](crate::Solver::QuadraticProgram) (Ku07) for tens of contacts with
//!   exact forces: all at once, to 1e-9. Its time grows faster than the number of contacts.
//! - [`Solver::Impulse`](crate::Solver::Impulse) (the lecture) for teaching and a few bodies: one
//!   contact after the other, by its class, warm-started.
//! - [`Solver::Reference`](crate::Solver::Reference) (GBF03, Su09) as the oracle of the default
//!   one.
//!
//! [`time_of_impact`] finds the time of impact of two bodies by bisection, for offline use.

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

pub use codes::{CacheLookups, ImpulseCache, Key};
pub use impact::{FreeFlight, TimeOfImpact, time_of_impact};
pub use joint::{Joint, JointKind, MAX_ROWS, Motor, Reaction};
pub use midpoint::Linkages;
pub use mlcp::Mlcp;
pub use program::contact_forces;
pub use program_error::ProgramError;
pub use row::{Bounds, Row, RowError};

pub use crate::settings::{FrictionBounds, SequentialImpulse};

pub(crate) use alternate::{Bodies, Rounds, alternate};
pub(crate) use closing::{close, project_with_impulses};
pub(crate) use joint::{JointPass, Stepping, push};
pub(crate) use pass::{Method, Rows};
pub(crate) use touching::{PER_CONTACT, tangents};
