//! One test binary.

mod cli;
mod contact;
mod contact_scenes;
mod dynamics;
mod elastic;
mod formats;
mod fracture;
mod glb;
mod lattice;
mod levelset;
mod levelset_mesh;
mod levelset_solids;
mod levelset_storage;
mod levelset_tets;
mod levelset_topology;
mod models;
mod scenes;
mod schema;
mod sim;
mod sleep;
mod slicing;
mod support;
mod tet_files;
mod tetfem;
mod vectors;
