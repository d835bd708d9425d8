//! Python bindings of brisance: the module `brisance._native`, which the package `brisance` wraps.
//!
//! Functions take any value that NumPy converts to an array, and copy it. Numbers are checked before use, and later
//! changes of the array have no effect. Long calls release the global interpreter lock.

mod action;
mod actions;
mod arrays;
mod failure;
mod interrupt;
mod level_set;
mod material;
mod mesh;
mod pieces;
mod recording;
mod report;
mod scene;
mod tets;
mod world;

use pyo3::prelude::*;

/// The Rust part of `brisance`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::failure::BrisanceError;
    #[pymodule_export]
    use super::level_set::LevelSet;
    #[pymodule_export]
    use super::material::Material;
    #[pymodule_export]
    use super::mesh::{Mesh, read_mesh, slice};
    #[pymodule_export]
    use super::pieces::{Fractured, Piece, break_mesh};
    #[pymodule_export]
    use super::recording::Recording;
    #[pymodule_export]
    use super::report::{Break, Hit, Joint, Report};
    #[pymodule_export]
    use super::scene::{Scene, scene_at};
    #[pymodule_export]
    use super::tets::{Stress, stress, tetrahedralize};
    #[pymodule_export]
    use super::world::{World, world_at};

    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
