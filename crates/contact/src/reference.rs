//! The faithful solver: pair by pair, the deepest point first, with the pair's poses predicted anew
//! after every impulse (GBF03, in the order of Su09 section 3). Slow, and the oracle of the fast
//! one; unlike that one it looks only at the end of the step, so a body that crosses another within
//! one frame is missed.

mod collisions;
mod cuboids;
mod evolution;
mod graph;
mod push;
mod relaxation;
mod touch;

pub(crate) use collisions::collide;
pub(crate) use graph::Graph;
pub(crate) use push::push_out;
pub(crate) use relaxation::settle;

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
