//! Sleep: bodies at rest become static until something wakes them.
//!
//! A body falls asleep when no point of it moved far for half a second or accelerated, its supports
//! are asleep or static, and they can bear its load. A pile therefore falls asleep from the ground
//! up, and a moving piece keeps awake only the bodies that rest on it. Bodies that are pushed out of
//! each other fall asleep and wake together. A sleeper is static to others and at rest, so that
//! sleep never adds kinetic energy. A sleeper wakes when it is hit, when a body that supports it or is
//! joined to it wakes or is removed, when its load changes by a large share or beyond the capacity
//! of its supports, and near a moving kinematic body.

pub(crate) mod fall_asleep;
pub(crate) mod load;
pub(crate) mod rest;
pub(crate) mod touch;
pub(crate) mod wake;
