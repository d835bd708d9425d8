//! Collision and contact between rigid level-set bodies at one pass per frame, with impulses that
//! never add kinetic energy.
//!
//! **Conventions.** SI units. Of a pair, body `a` receives the impulse `+j` and body `b` receives
//! `-j`; the normal points out of `b`, towards `a`; `u` is the velocity of `a` relative to `b` at
//! the contact, so the bodies approach while `u . n < 0`. A [`Shape`] lives in body coordinates
//! (origin at the centre of mass).
//!
//! The crate works on slices of bodies and never moves a pose. [`Frame::collide`],
//! [`Support::settle_positions`] and [`Support::settle_velocities`] are the passes of a frame, with
//! the [`Solver`] of the [`Settings`]; the order is that of GBF03 in the Newmark variant Su09
//! section 3 uses. [`constraint`] holds the solvers of the other papers and joints, and tells which
//! to take; [`planar`] is a world of two dimensions. [`pair_impulse`], [`clamp_scale`] and [`clamp_to_plastic`] stand alone.

mod bearing;
mod bounce;
mod broad;
mod cache;
mod candidates;
mod clamp;
mod collide;
mod compound;
mod cone;
pub mod constraint;
mod flight;
mod frame;
mod groups;
mod impulse;
mod islands;
mod levels;
mod movers;
mod narrow;
mod order;
mod pair;
pub mod planar;
mod points;
mod polyhedron;
mod query;
mod reference;
mod rolling;
mod round;
mod rows;
mod settle;
mod shape;
mod solve;
mod transmit;
mod triangles;
mod wide;

use std::sync::Arc;

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Matrix3, Vector3};

pub use bearing::{Prop, bear};
pub use broad::Broad;
pub use cache::{Cache, CachedContact, CachedPair};
pub use clamp::{Clamp, ClampedBody, clamp_scale, clamp_to_plastic};
pub use collide::{Bearing, Blow, Collisions};
pub use flight::{Flight, Paths};
pub use frame::{Frame, Search, Solver, Support};
pub use groups::Groups;
pub use impulse::{Combine, Material, MaterialError, effective_mass, pair_impulse};
pub use islands::Islands;
pub use levels::Levels;
pub use narrow::{Contact, Contacts, Manifold, Resumed, Side, Tally};
pub use order::Order;
pub use reference::Levers;
pub use round::{Rim, Round};
pub use settle::{Aim, Problem, push_out, settle};
pub use shape::{Field, Shape};
pub use triangles::Triangles;

/// The bodies a pass works on, as columns of equal length.
#[derive(Clone, Copy)]
pub struct Columns<'a> {
    /// What each body is.
    pub bodies: &'a [Body],
    /// Collision shapes, in body coordinates.
    pub shapes: &'a [Arc<Shape>],
    /// Surface properties.
    pub materials: &'a [Material],
    /// Whom each may touch.
    pub groups: &'a [Groups],
}

/// Numbers that steer the passes; the defaults are for bodies of 1 cm to 10 m at 30 Hz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Which algorithm finds the impulses.
    pub solver: Solver,
    /// What is done to collision impulses that would add kinetic energy, and to contact impulses of
    /// [`Solver::Reference`].
    pub clamp: Clamp,
    /// Sweeps over all pairs in the collision pass.
    pub collision_sweeps: usize,
    /// Impulses per pair and sweep in the collision pass, and in all of [`Solver::Reference`].
    pub pair_repeats: usize,
    /// Sweeps over all contacts in a contact pass.
    pub contact_sweeps: usize,
    /// Sweeps over all contacts, and over each level, when bodies are pushed out of each other.
    pub push_sweeps: usize,
    /// Sweeps per level in shock propagation.
    pub shock_sweeps: usize,
    /// Change of speed at a contact, m/s, above which a pair is solved again at once in shock
    /// propagation, if it alone or with one other holds a body: more sweeps over all would do as much for
    /// a tower or a house of cards, but either shakes piles, where many pairs hold each body together.
    pub rough_speed: f64,
    /// Change of speed at a contact, m/s, below which sweeps of a contact pass are over.
    pub settled_speed: f64,
    /// Sweeps over all joints, there and back, for each over all contacts.
    pub joint_sweeps: usize,
    /// Share of the penetration beyond the slop that one frame pushes out.
    pub push_out: f64,
    /// Penetration that is right, as a share of the smaller body's [size](Shape::size), which goes by
    /// its thickness: what is deeper is pushed out,
    /// by [`Solver::Manifold`] what is deeper than twice that.
    pub slop: f64,
    /// Approach speed below which a pair does not collide but rests, m/s.
    pub resting_speed: f64,
    /// Restitution threshold as a share of the speed that forces add to either body in half a step. It is
    /// multiplied by one minus the restitution of the pair: the contact passes stop an inelastic approach.
    pub resting_share: f64,
    /// How the friction of two materials without a rule of their own becomes that of the pair.
    pub friction: Combine,
    /// The same of restitution.
    pub restitution: Combine,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            solver: Solver::default(),
            clamp: Clamp::default(),
            collision_sweeps: 5,
            pair_repeats: 4,
            contact_sweeps: 4,
            push_sweeps: 4,
            shock_sweeps: 3,
            rough_speed: 5e-4,
            settled_speed: 1e-5,
            joint_sweeps: 20,
            push_out: 0.5,
            slop: 0.002,
            resting_speed: 1e-6,
            resting_share: 1.0,
            friction: Combine::Max,
            restitution: Combine::Min,
        }
    }
}

impl Settings {
    /// The faithful solver with its own iteration counts.
    pub fn reference() -> Self {
        Self {
            solver: Solver::reference(),
            pair_repeats: 20,
            contact_sweeps: 10,
            shock_sweeps: 2,
            ..Self::default()
        }
    }

    /// Restitution threshold of a body, m/s, in a pair of this `restitution`, if forces add `drift` to its velocity
    /// in half the step.
    pub(crate) fn resting_at(&self, drift: &Velocity, restitution: f64) -> f64 {
        let share = self.resting_share * (1.0 - restitution);
        self.resting_speed.max(share * drift.linear.norm())
    }
}

/// A body as the passes see it: inverse mass, velocity, and the momentum it has been given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mover {
    pub(crate) inverse_mass: f64,
    pub(crate) inverse_inertia: Matrix3<f64>,
    pub(crate) velocity: Velocity,
    pub(crate) gained: Momentum,
}

impl Mover {
    pub(crate) fn new(body: &Body, pose: &Isometry3<f64>, momentum: &Momentum) -> Self {
        let (inverse_mass, inverse_inertia) = match body.mass_properties() {
            Some(mass) => (1.0 / mass.mass(), mass.inverse_inertia(&pose.rotation)),
            None => (0.0, Matrix3::zeros()),
        };
        let velocity = body.velocity(&pose.rotation, momentum);
        Self { inverse_mass, inverse_inertia, velocity, gained: Momentum::default() }
    }

    pub(crate) fn column(
        columns: Columns<'_>,
        poses: &[Isometry3<f64>],
        momenta: &[Momentum],
    ) -> Vec<Self> {
        let states = poses.iter().zip(momenta);
        columns.bodies.iter().zip(states).map(|(b, (x, m))| Self::new(b, x, m)).collect()
    }

    /// The same body as one that no impulse moves.
    pub(crate) fn frozen(self) -> Self {
        Self { inverse_mass: 0.0, inverse_inertia: Matrix3::zeros(), ..self }
    }

    pub(crate) fn is_fixed(&self) -> bool {
        self.inverse_mass == 0.0
    }

    pub(crate) fn apply(&mut self, j: &Vector3<f64>, r: &Vector3<f64>) {
        self.gain(&Momentum { linear: *j, angular: r.cross(j) });
    }

    pub(crate) fn gain(&mut self, gain: &Momentum) {
        if self.is_fixed() {
            return;
        }
        self.gained.linear += gain.linear;
        self.gained.angular += gain.angular;
        self.velocity.linear += gain.linear * self.inverse_mass;
        self.velocity.angular += self.inverse_inertia * gain.angular;
    }
}

/// Adds to each dynamic body's momentum what its mover gained.
pub(crate) fn keep_gains(columns: Columns<'_>, movers: &[Mover], momenta: &mut [Momentum]) {
    for ((body, mover), momentum) in columns.bodies.iter().zip(movers).zip(momenta) {
        if body.mass_properties().is_some() {
            momentum.linear += mover.gained.linear;
            momentum.angular += mover.gained.angular;
        }
    }
}
