//! What steers the passes.

use dynamics::{Scheme, Velocity};

use crate::shape::Shape;
use crate::solve::clamp::Clamp;
use crate::solve::impulse::Combine;

/// Which algorithm finds the impulses of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Solver {
    /// One look for contacts a frame, at most four a pair, solved together.
    #[default]
    Manifold,
    /// Pair by pair, the deepest point first, predicting the pair anew after every impulse, as
    /// GBF03 and Su09 do. Some hundred times slower.
    Reference {
        /// Where the lever arms of collision impulses are taken.
        levers: Levers,
        /// Whether the contact pass that decides where bodies go is clamped too, at (x^n, v^{n+1/2}).
        /// Su09 leaves it open.
        clamp_positions: bool,
    },
    /// Contacts and joints as one mixed linear complementarity problem, by projected Gauss-Seidel, as
    /// Br11 does.
    SequentialImpulse(SequentialImpulse),
    /// All normal forces at once as a quadratic programme, as Ku07 does; friction in turn with them.
    QuadraticProgram,
    /// Contact by contact by its class, colliding, resting or separating, as the lecture does.
    Impulse,
    /// The frame loop of Ku07: motion integrated with error control up to each time of contact, which
    /// bisection finds, impulses there, resting contact as a quadratic programme of accelerations. It has no
    /// joints, and its cost grows with the impacts: hundreds of pieces take minutes a frame. A step starts with
    /// [`Frame::touches`](crate::Frame::touches).
    Ku07,
}

impl Solver {
    /// [`Solver::Reference`] with lever arms at time n and the position pass not clamped.
    pub fn reference() -> Self {
        Self::Reference { levers: Levers::default(), clamp_positions: false }
    }

    /// Whether it finds all contacts of a step before it solves them; the reference and Ku07 do not.
    pub fn keeps_contacts(self) -> bool {
        !matches!(self, Self::Reference { .. } | Self::Ku07)
    }

    /// Whether it has joints.
    pub fn has_joints(self) -> bool {
        !matches!(self, Self::Reference { .. } | Self::Ku07)
    }

    /// Whether it decides where bodies go and how they move on in two passes; the others do both in
    /// one.
    pub fn is_split(self) -> bool {
        matches!(self, Self::Manifold | Self::Reference { .. })
    }
}

/// Where the lever arms of a collision impulse are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Levers {
    /// Where the bodies are at time n: the angular momentum of the world is conserved exactly.
    #[default]
    TimeN,
    /// Where they are predicted to meet at time n+1, as in Su09: each impulse `j` changes the
    /// world's angular momentum by `dt |u x j|`.
    Split,
}

/// The form of the bound on friction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionBounds {
    /// Each of two tangents by itself: up to the root of two too much between them.
    Box,
    /// Both together, as Coulomb says.
    #[default]
    Cone,
}

/// How [`Solver::SequentialImpulse`] works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequentialImpulse {
    /// Sweeps over all rows.
    pub sweeps: usize,
    /// Share of a position error that one step takes away: `beta dt` of Br11.
    pub error_reduction: f64,
    /// The form of the bound on friction.
    pub friction: FrictionBounds,
    /// Whether a step starts from the impulses of the last one.
    pub warm_start: bool,
}

impl Default for SequentialImpulse {
    fn default() -> Self {
        Self {
            sweeps: 50,
            error_reduction: 0.2,
            friction: FrictionBounds::default(),
            warm_start: true,
        }
    }
}

/// Numbers that steer the passes; the defaults are for bodies of 1 cm to 10 m at 30 Hz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Which algorithm finds the impulses.
    pub solver: Solver,
    /// How bodies turn over a whole step. At times within a step, as at impacts, they are where
    /// [`dynamics::advance`] has them, and what joints alone hold turns by the midpoint rule.
    pub scheme: Scheme,
    /// What is done to collision impulses that would add kinetic energy, and to contact impulses of
    /// [`Solver::Reference`]. [`Solver::Manifold`] drops a guess whose contact pass adds some, unless it is
    /// [`Clamp::Off`].
    pub clamp: Clamp,
    /// Sweeps over all pairs in the collision pass.
    pub collision_sweeps: usize,
    /// Impulses per pair and sweep in the collision pass, and in all of [`Solver::Reference`].
    pub pair_repeats: usize,
    /// Sweeps over all contacts in a contact pass. [`Solver::Manifold`] adds up to 100 after impacts, until no contact
    /// changes by more than forces change velocities in half a step.
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
    /// Symmetric Gauss-Seidel sweeps over all joints per sweep over all contacts.
    pub joint_sweeps: usize,
    /// Share of the penetration beyond the slop that one frame pushes out.
    pub push_out: f64,
    /// Penetration that is right, as a share of the smaller body's [size](crate::Shape::size), which goes by
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
            scheme: Scheme::default(),
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

/// Overlaps are pushed out beyond this multiple of the slop, down to the slop: piles would never lie still while
/// their contacts are pushed out little by little.
pub(crate) const PUSHED_SLOPS: f64 = 2.0;

impl Settings {
    /// A solver with its own iteration counts.
    pub fn of(solver: Solver) -> Self {
        let own = match solver {
            Solver::Reference { .. } => Self::reference(),
            // impulses of single contacts spread one body a sweep
            Solver::Impulse => Self { contact_sweeps: 200, ..Self::default() },
            // what is slower does not rebound, so that a bouncing ball comes to rest
            Solver::Ku07 => Self { resting_speed: 1e-3, ..Self::default() },
            _ => Self::default(),
        };
        Self { solver, ..own }
    }

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

    /// The slop of a pair, m.
    pub fn slop_of(&self, shapes: [&Shape; 2]) -> f64 {
        self.slop * shapes[0].size().min(shapes[1].size())
    }

    /// Whether the manifold solver pushes bodies of these shapes out of each other when a contact between them has
    /// this `gap`, m.
    pub fn is_pushed_out(&self, shapes: [&Shape; 2], gap: f64) -> bool {
        -gap > PUSHED_SLOPS * self.slop_of(shapes)
    }

    /// Restitution threshold of a body, m/s, in a pair of this `restitution`, if forces add `drift` to its velocity
    /// in half the step.
    pub(crate) fn resting_at(&self, drift: &Velocity, restitution: f64) -> f64 {
        let share = self.resting_share * (1.0 - restitution);
        self.resting_speed.max(share * drift.linear.norm())
    }
}
