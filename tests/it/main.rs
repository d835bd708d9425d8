//! One test binary.

mod contact;
mod fracture;
mod glb;
mod levelset;
mod tetfem;
mod tetfem_vectors;
