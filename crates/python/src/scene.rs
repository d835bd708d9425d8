//! Scenes.

use std::path::PathBuf;

use brisance::commands::load::{Loaded, build, load, parse_scene};
use pyo3::prelude::*;
use sim::{Appearance, Camera};

use crate::failure::{brisance_error, failure_error, file_error};

/// Source of a scene.
pub(crate) struct Start {
    pub(crate) world: sim::World,
    pub(crate) appearances: Vec<Appearance>,
    pub(crate) camera: Option<Camera>,
}

/// A description of bodies, materials and events, as in a scene file.
#[pyclass(frozen, module = "brisance")]
pub(crate) struct Scene {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) options: Options,
    loaded: Loaded,
}

/// Settings that override those of the scene.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    fps: Option<f64>,
    frames: Option<usize>,
    seed: Option<u64>,
    pub(crate) allow_outside: bool,
}

#[pymethods]
impl Scene {
    /// Reads a scene file and the files that it names. `fps`, `frames` and `seed` override those of the scene; `fps`
    /// keeps its duration. Files outside of its folder are refused unless `allow_outside`.
    #[staticmethod]
    #[pyo3(signature = (path, *, fps=None, frames=None, seed=None, allow_outside=false))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        fps: Option<f64>,
        frames: Option<usize>,
        seed: Option<u64>,
        allow_outside: bool,
    ) -> PyResult<Self> {
        let text = std::fs::read_to_string(&path).map_err(|e| file_error(&path, &e))?;
        py.detach(|| Self::new(path, text, Options { fps, frames, seed, allow_outside }))
    }

    /// A scene from the text of a scene file. Its files are in `folder`; by default in the current one.
    #[staticmethod]
    #[pyo3(signature = (text, *, folder=None, fps=None, frames=None, seed=None, allow_outside=false))]
    fn from_toml(
        py: Python<'_>,
        text: String,
        folder: Option<PathBuf>,
        fps: Option<f64>,
        frames: Option<usize>,
        seed: Option<u64>,
        allow_outside: bool,
    ) -> PyResult<Self> {
        let path = folder.unwrap_or_default().join("scene.toml");
        py.detach(|| Self::new(path, text, Options { fps, frames, seed, allow_outside }))
    }

    /// The text of the scene.
    fn to_toml(&self) -> &str {
        &self.text
    }

    /// Number of frames.
    #[getter]
    fn frames(&self) -> usize {
        self.loaded.scene.simulation.frames
    }

    /// Frames, and steps, per second.
    #[getter]
    fn fps(&self) -> f64 {
        self.loaded.scene.simulation.fps
    }

    /// Seed of all random numbers.
    #[getter]
    fn seed(&self) -> u64 {
        self.loaded.scene.simulation.seed
    }

    /// A hash of the text, its files, the seed and the frames per second.
    #[getter]
    fn digest(&self) -> u32 {
        self.loaded.digest
    }

    /// Warnings about the text and its meshes.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        let meshes = self.loaded.mesh_warnings().into_iter().map(|warning| warning.to_string());
        let walls = self.loaded.wall_warnings().into_iter().map(|warning| warning.to_string());
        let mass = self.loaded.mass_warnings().into_iter().map(|warning| warning.to_string());
        self.loaded.scene.notes().into_iter().chain(meshes).chain(walls).chain(mass).collect()
    }

    /// A pickle keeps the text and the path of its files.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled)> {
        let rebuild = py.import("brisance")?.getattr("_scene")?;
        let Options { fps, frames, seed, allow_outside } = self.options;
        let path = self.path.to_string_lossy().into_owned();
        Ok((rebuild, (self.text.clone(), path, fps, frames, seed, allow_outside)))
    }

    fn __repr__(&self) -> String {
        let scene = &self.loaded.scene;
        let (bodies, frames) = (scene.bodies.len(), scene.simulation.frames);
        format!("Scene({bodies} bodies, {frames} frames at {:?} per second)", scene.simulation.fps)
    }
}

/// Text, path, frames per second, frames, seed, whether files may be outside of its folder.
type Pickled = (String, String, Option<f64>, Option<usize>, Option<u64>, bool);

impl Scene {
    fn new(path: PathBuf, text: String, options: Options) -> PyResult<Self> {
        let mut file =
            parse_scene(&path, &text, options.allow_outside).map_err(|e| failure_error(&e))?;
        file.scene.replace(options.fps, options.frames, options.seed).map_err(brisance_error)?;
        let loaded = load(&path, file).map_err(|e| failure_error(&e))?;
        Ok(Self { path, text, options, loaded })
    }

    pub(crate) fn start(&self) -> PyResult<Start> {
        let (world, appearances) =
            build(&self.path, &self.loaded, true).map_err(|e| failure_error(&e))?;
        let camera = Camera::of(&self.loaded.scene, &appearances);
        Ok(Start { world, appearances, camera })
    }

    pub(crate) fn last_frame(&self) -> usize {
        self.frames()
    }
}

/// Restores a scene from a pickle.
#[pyfunction]
pub(crate) fn scene_at(
    py: Python<'_>,
    text: String,
    path: PathBuf,
    fps: Option<f64>,
    frames: Option<usize>,
    seed: Option<u64>,
    allow_outside: bool,
) -> PyResult<Scene> {
    py.detach(|| Scene::new(path, text, Options { fps, frames, seed, allow_outside }))
}
