//! The reference solver: pair by pair, the deepest point first, with the poses of the pair
//! predicted anew after every impulse (GBF03, in the order of Su09 section 3). It is slow and
//! serves as the oracle of the manifold solver. It tests only the end of the step, so that fast
//! bodies may tunnel.

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
