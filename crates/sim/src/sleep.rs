//! Sleep: bodies that have not moved for a while are held until something wakes them.
//!
//! A body falls asleep when no point of it moved far for half a second or moved ever faster, its supports are asleep
//! or static, and they can bear its load. So a pile falls asleep from the ground up, and a restless piece keeps awake
//! only the bodies that rest on it. Bodies that are pushed out of each other fall asleep and wake together. A sleeper is static to others and at rest, so kinetic energy only falls. It wakes
//! when it is hit, when a body that supports it or is joined to it wakes or goes, when its load changes by much or
//! beyond what its supports can bear, and near a kinematic body that moves.

pub(crate) mod fall;
pub(crate) mod load;
pub(crate) mod rest;
pub(crate) mod touch;
pub(crate) mod wake;
