//! Counts of a frame.

/// How many bodies, pairs and contacts a frame had, what it took to solve them, and how well they were solved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Counters {
    /// Bodies at the end of the frame.
    pub bodies: usize,
    /// Dynamic bodies that are not asleep at the end of the frame.
    pub awake: usize,
    /// Pairs of bodies whose boxes overlapped.
    pub pairs: usize,
    /// Pairs whose contacts were known from an earlier frame, since they hardly moved.
    pub pairs_reused: usize,
    /// Pairs that were searched again, since collisions sent a body elsewhere or woke it.
    pub pairs_again: usize,
    /// Surface points whose distance to another body was computed.
    pub points: usize,
    /// Contacts that were solved.
    pub contacts: usize,
    /// Colors of pairs that were solved side by side.
    pub colors: u32,
    /// Levels of the contact graph.
    pub levels: u32,
    /// Sweeps of the contact passes over all contacts and over single levels; zero with solvers other
    /// than the default.
    pub sweeps: usize,
    /// Contact impulses that the solver keeps for the next frame; zero with solvers that keep whole contacts or
    /// nothing.
    pub impulses_remembered: usize,
    /// Contacts of this frame for which it had kept one.
    pub impulses_found: usize,
    /// Islands that the exact solver left to the sweeps after its limit of factorizations.
    pub unsolved_islands: usize,
    /// How far the impulses of contacts, and of joints that the sweeps solved, are from complementarity and Coulomb's
    /// law: the largest component of the natural map, m/s or rad/s; zero with solvers other than the default.
    pub residual: f64,
    /// Collisions of pairs that [`contact::Solver::Ku07`] solved; zero with other solvers.
    pub impacts: usize,
    /// Pairs whose free bodies are at the limit of blows per frame, counted once per collision pass; the contact passes
    /// stopped their approach. With [`contact::Solver::Ku07`] they did not rebound, and instants to which it
    /// postponed meetings count too.
    pub limited_blows: usize,
    /// Whether collisions ended before the end of the frame, at the limit of contact searches: the contact passes stopped
    /// what still approached, without restitution.
    pub spent_searches: bool,
}
