//! Counts of a frame.

/// Numbers of bodies, pairs and contacts of a frame, solver effort and residuals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Counters {
    /// Bodies at the end of the frame.
    pub bodies: usize,
    /// Dynamic bodies that are not asleep at the end of the frame.
    pub awake: usize,
    /// Pairs of bodies whose boxes overlapped.
    pub pairs: usize,
    /// Pairs whose contacts of an earlier frame were reused, since they hardly moved.
    pub pairs_reused: usize,
    /// Pairs whose search was repeated because a collision changed the motion of a body or woke it.
    pub pairs_repeated: usize,
    /// Surface points whose distance to another body was computed.
    pub points: usize,
    /// Contacts that were solved.
    pub contacts: usize,
    /// Colors of pairs that were solved in parallel.
    pub colors: u32,
    /// Levels of the contact graph.
    pub levels: u32,
    /// Sweeps of the contact passes over all contacts and over single levels; zero with solvers
    /// other than the default.
    pub sweeps: usize,
    /// Contact impulses in the cache for the next frame; zero with solvers that cache whole
    /// contacts or nothing.
    pub impulses_remembered: usize,
    /// Contacts of this frame with an impulse in the cache.
    pub impulses_found: usize,
    /// Islands for which the exact solver failed within its limit of factorizations.
    pub unsolved_islands: usize,
    /// Residual of contacts, and of joints solved by sweeps: the largest component of the natural
    /// map, m/s or rad/s; zero with solvers other than the default.
    pub residual: f64,
    /// Collisions of pairs solved by [`contact::Solver::Ku07`]; zero with other solvers.
    pub impacts: usize,
    /// Pairs whose free bodies reached the limit of collisions per frame, counted once per
    /// collision pass; the contact passes stopped their approach. With [`contact::Solver::Ku07`]
    /// they did not rebound, and postponed contacts count too.
    pub limited_collisions: usize,
    /// Whether the collisions reached the limit of contact searches before the end of the frame. The
    /// contact passes then stopped the remaining approach, without restitution.
    pub at_search_limit: bool,
}
