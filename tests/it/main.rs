//! One test binary.

mod cli;
mod contact;
mod dynamics;
mod fracture;
mod glb;
mod levelset;
mod levelset_mesh;
mod levelset_storage;
mod levelset_tets;
mod sim;
mod vectors;
