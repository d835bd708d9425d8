//! One test binary.

mod contact;
mod glb;
mod levelset;
