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
mod rolling;
mod touch;

pub(crate) use collisions::collide;
pub(crate) use graph::Graph;
pub(crate) use push::push_out;
pub(crate) use relaxation::settle;
