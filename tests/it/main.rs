//! One test binary.

mod contact;
mod levelset;
mod levelset_storage;
mod levelset_tets;
