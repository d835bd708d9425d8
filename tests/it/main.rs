//! One test binary.

mod contact;
mod fracture;
mod levelset;
