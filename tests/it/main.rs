//! One test binary.

mod contact;
mod levelset;
