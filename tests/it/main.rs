//! One test binary.

mod contact;
