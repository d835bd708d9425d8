//! Parts of a frame.

/// A part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phase {
    /// The contact search.
    Detect,
    /// The collision pass.
    Collide,
    /// Replacing bodies by their pieces.
    Break,
    /// Building the contact graph.
    Support,
    /// The contact pass for positions, and the motion of the bodies.
    Move,
    /// The contact pass for velocities.
    Contact,
    /// Sleep, the energy balance and the report.
    Ledger,
}
