//! The parts of the program `brisance`, for its tests and for programs that want its formats.

pub mod glb;
pub mod mesh_file;
