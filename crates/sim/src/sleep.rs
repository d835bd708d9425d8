//! Sleep: bodies that have not moved for a while are held until something concerns them.
//!
//! A body falls asleep when no point of it moved far for half a second, nor ever faster, what carries
//! it is asleep or static, and its load can be borne: so a pile falls asleep from the ground up, and
//! one restless piece keeps only those awake that rest on it. Asleep it is static to others and at
//! rest, so kinetic energy only falls. It wakes when it is hit, when what carries it or is joined to
//! it wakes or goes, when what rests on it changes its load by much or so that it cannot be borne,
//! and near a kinematic body that moves.

pub(crate) mod fall;
pub(crate) mod load;
pub(crate) mod rest;
pub(crate) mod touch;
pub(crate) mod wake;
