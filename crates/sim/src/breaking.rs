//! How bodies break: what they bear, what divides them, what holds them, and what becomes of them.

pub(crate) mod anchor;
pub(crate) mod breakage;
pub(crate) mod cut;
pub(crate) mod debris;
pub(crate) mod dent;
pub(crate) mod elastic;
pub(crate) mod hits;
pub(crate) mod lattice;
pub(crate) mod lineage;
pub(crate) mod load_path;
pub(crate) mod model;
pub(crate) mod parent;
pub(crate) mod sharing;
pub(crate) mod strength;
pub(crate) mod stress;
