//! One test binary.

mod contact;
mod levelset;
mod levelset_tets;
