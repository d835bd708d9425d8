//! One test binary.

mod levelset;
