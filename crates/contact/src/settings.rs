//! Settings of the passes.

use dynamics::{Scheme, Velocity};

use crate::body::Columns;
use crate::shape::Shape;
use crate::solve::clamp::Clamp;
use crate::solve::impulse::Combine;

/// The algorithm that computes the impulses of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Solver {
    /// One contact search per frame, at most four contacts per pair, solved together.
    #[default]
    Manifold,
    /// Pair by pair, the deepest point first, with the pair predicted anew after every impulse, as
    /// in GBF03 and Su09. About a hundred times slower.
    Reference {
        /// Where the lever arms of collision impulses are evaluated.
        levers: Levers,
        /// Whether the position pass at (x^n, v^{n+1/2}) is clamped, too. Su09 leaves it open.
        clamp_positions: bool,
    },
    /// Contacts and joints as one mixed linear complementarity problem, solved by projected
    /// Gauss-Seidel, as in Br11.
    SequentialImpulse(SequentialImpulse),
    /// All normal forces at once as a quadratic program, as in Ku07, alternating with friction.
    QuadraticProgram,
    /// Contact by contact by its class, colliding, resting or separating, as in the lecture.
    Impulse,
    /// The frame loop of Ku07: motion integrated with error control up to each time of contact,
    /// found by bisection; impulses there; resting contact as a quadratic program of
    /// accelerations. It has no joints, and its cost grows with the number of impacts: hundreds of
    /// pieces take minutes per frame. A step starts with [`Frame::touches`](crate::Frame::touches).
    Ku07,
}

impl Solver {
    /// [`Solver::Reference`] with lever arms at time n and the position pass not clamped.
    pub fn reference() -> Self {
        Self::Reference { levers: Levers::default(), clamp_positions: false }
    }

    /// Whether it finds all contacts of a step before it solves them; the reference and Ku07 do
    /// not.
    pub fn keeps_contacts(self) -> bool {
        !matches!(self, Self::Reference { .. } | Self::Ku07)
    }

    /// Whether it supports joints.
    pub fn has_joints(self) -> bool {
        !matches!(self, Self::Reference { .. } | Self::Ku07)
    }

    /// Whether displacements and final velocities have separate passes; other solvers have one.
    pub fn is_split(self) -> bool {
        matches!(self, Self::Manifold | Self::Reference { .. })
    }
}

/// Where the lever arms of a collision impulse are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Levers {
    /// At the poses of time n: angular momentum is conserved exactly.
    #[default]
    TimeN,
    /// At the predicted poses of time n+1, as in Su09: each impulse `j` changes the total angular
    /// momentum by `dt |u x j|`.
    Split,
}

/// The shape of the friction bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionBounds {
    /// Each tangent separately: up to the square root of 2 too much between them.
    Box,
    /// Both tangents together: Coulomb's cone.
    #[default]
    Cone,
}

/// Settings of [`Solver::SequentialImpulse`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequentialImpulse {
    /// Sweeps over all rows.
    pub sweeps: usize,
    /// Share of a position error that one step corrects (Baumgarte): `beta dt` of Br11.
    pub error_reduction: f64,
    /// The shape of the friction bound.
    pub friction: FrictionBounds,
    /// Whether a step is warm-started.
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

/// Parameters of the passes; the defaults are for bodies of 1 cm to 10 m at 30 Hz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The algorithm that computes the impulses.
    pub solver: Solver,
    /// Integration of rotation over a whole step. Poses at times within a step, as at impacts, are
    /// those of [`dynamics::advance`]; bodies held by joints alone follow the midpoint rule.
    pub scheme: Scheme,
    /// Treatment of collision impulses that would add kinetic energy, and of contact impulses of
    /// [`Solver::Reference`]. Unless it is [`Clamp::Off`], [`Solver::Manifold`] drops a warm start
    /// whose contact pass adds some.
    pub clamp: Clamp,
    /// Sweeps over all pairs in the collision pass.
    pub collision_sweeps: usize,
    /// Impulses per pair and sweep in the collision pass, and in all of [`Solver::Reference`].
    pub pair_repeats: usize,
    /// Sweeps over all contacts in a contact pass. [`Solver::Manifold`] adds up to 100 after
    /// impacts, until no contact changes by more than forces change velocities in half a step, or
    /// moves by more than a 20th of the [size](crate::Shape::size) of the smaller body in a step.
    pub contact_sweeps: usize,
    /// Sweeps over all contacts, and over each level, of the push-out.
    pub push_sweeps: usize,
    /// Sweeps per level in shock propagation.
    pub shock_sweeps: usize,
    /// Change of speed at a contact, m/s, above which shock propagation solves a pair again at
    /// once, if at most two pairs hold a body of it. More sweeps over all contacts would do the
    /// same for a tower or a house of cards, but both disturb piles, where many pairs hold each
    /// body.
    pub rough_speed: f64,
    /// Change of speed at a contact, m/s, below which the sweeps of a contact pass end.
    pub settled_speed: f64,
    /// Symmetric Gauss-Seidel sweeps over all joints per sweep over all contacts.
    pub joint_sweeps: usize,
    /// Largest number of 6x6 block products per contact in a factorization of an island in motion.
    /// [`Solver::Manifold`] solves islands with more by sweeps. A heap of 100 boxes takes 1 to 2.
    pub exact_products: usize,
    /// Share of the penetration beyond the slop that one frame pushes out.
    pub push_out: f64,
    /// Allowed penetration as a share of the smaller body's [size](crate::Shape::size), which
    /// follows its thickness. Deeper penetration is pushed out, by [`Solver::Manifold`] beyond
    /// twice the slop.
    pub slop: f64,
    /// Restitution threshold: a pair with a lower approach speed rests instead of colliding, m/s.
    pub resting_speed: f64,
    /// Restitution threshold as a share of the speed that forces add to either body in half a step.
    /// It is multiplied by one minus the restitution of the pair: the contact passes stop an
    /// inelastic approach.
    pub resting_share: f64,
    /// Combination of the friction of two materials without a rule of their own.
    pub friction: Combine,
    /// The same for restitution.
    pub restitution: Combine,
}

impl Settings {
    /// Whether all thresholds and fractions are from 0 to 1e30. The contact passes do not check
    /// them.
    pub fn is_usable(&self) -> bool {
        // squares and products of numbers up to here are finite
        const MAX_NUMBER: f64 = 1e30;
        let &Self {
            rough_speed, settled_speed, push_out, slop, resting_speed, resting_share, ..
        } = self;
        let error_reduction = match self.solver {
            Solver::SequentialImpulse(own) => own.error_reduction,
            _ => 0.0,
        };
        let shares = [push_out, slop, resting_share, error_reduction];
        let speeds = [rough_speed, settled_speed, resting_speed];
        shares.iter().chain(&speeds).all(|x| (0.0..=MAX_NUMBER).contains(x))
    }
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
            exact_products: 1,
            push_out: 0.5,
            slop: 0.002,
            resting_speed: 1e-6,
            resting_share: 1.0,
            friction: Combine::Max,
            restitution: Combine::Min,
        }
    }
}

/// Overlaps below this multiple of the slop are kept: piles would never come to rest while their
/// contacts are pushed out. Deeper overlaps are pushed out by a share of their excess over the
/// slop.
pub(crate) const PUSHED_SLOPS: f64 = 2.0;

impl Settings {
    /// A solver with its own iteration counts.
    pub fn of(solver: Solver) -> Self {
        let own = match solver {
            Solver::Reference { .. } => Self::reference(),
            // impulses of single contacts travel one body per sweep
            Solver::Impulse => Self { contact_sweeps: 200, ..Self::default() },
            // slower bodies do not rebound, so that a bouncing ball comes to rest
            Solver::Ku07 => Self { resting_speed: 1e-3, ..Self::default() },
            _ => Self::default(),
        };
        Self { solver, ..own }
    }

    /// The reference solver with its own iteration counts.
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

    /// Penetration beyond which the manifold solver pushes bodies of these shapes out of each
    /// other, m.
    pub fn pushed_depth(&self, shapes: [&Shape; 2]) -> f64 {
        PUSHED_SLOPS * self.slop_of(shapes)
    }

    /// Restitution threshold of a body, m/s, in a pair with this `restitution`, if forces add
    /// `half_kick` to its velocity in half the step.
    pub(crate) fn resting_at(&self, half_kick: &Velocity, restitution: f64) -> f64 {
        let share = self.resting_share * (1.0 - restitution);
        self.resting_speed.max(share * half_kick.linear.norm())
    }

    /// Restitution threshold of a pair, m/s, if forces add `half_kick` to the velocity of each body in
    /// half the step.
    pub(crate) fn resting_of(
        &self,
        columns: Columns<'_>,
        half_kick: &[Velocity],
        bodies: [usize; 2],
    ) -> f64 {
        let [p, q] = bodies.map(|i| &columns.materials[i]);
        let restitution = p.restitution_with(q, self.restitution);
        let [a, b] = bodies.map(|i| self.resting_at(&half_kick[i], restitution));
        a.max(b)
    }
}
