//! Recordings.

use std::path::PathBuf;

use brisance::format::{Format, WriteError};
use brisance::viewer::embedded;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::{PyFileNotFoundError, PyIndexError};
use pyo3::prelude::*;

use crate::arrays;
use crate::failure::{brisance_error, file_error};

/// Bodies and their poses.
type Placed<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray2<f64>>);

/// The poses of all bodies, including removed ones, frame by frame. Frame 0 is the initial state.
#[pyclass(frozen, module = "brisance")]
pub(crate) struct Recording {
    pub(crate) recording: sim::Recording,
}

#[pymethods]
impl Recording {
    /// Number of frames, at least one.
    #[getter]
    fn frames(&self) -> usize {
        self.recording.frames
    }

    /// Frames per second.
    #[getter]
    fn fps(&self) -> f64 {
        self.recording.fps
    }

    /// Names of all bodies, including removed ones; pieces come after their parents.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.recording.tracks.iter().map(|track| track.name.clone()).collect()
    }

    /// First frame of each body and the frame after its last, of shape (n, 2).
    #[getter]
    fn lives<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<u64>> {
        let life = |track: &sim::Track| [track.birth as u64, track.end() as u64];
        arrays::array(py, self.recording.tracks.iter().map(life).collect())
    }

    /// Kinetic, potential and dissipated energy of each frame, J, of shape (frames, 3).
    #[getter]
    fn energies<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let row = |e: &sim::Energy| [e.kinetic, e.potential, e.dissipated];
        arrays::array(py, self.recording.energies.iter().map(row).collect())
    }

    /// The bodies of a frame, as indices into `names`, of shape (k,), and their poses x, y, z, qx, qy, qz, qw, of shape
    /// (k, 7).
    fn poses<'py>(&self, py: Python<'py>, frame: usize) -> PyResult<Placed<'py>> {
        let frames = self.recording.frames;
        if frame >= frames {
            return Err(PyIndexError::new_err(format!("frame {frame} of {frames}")));
        }
        let tracks = self.recording.tracks.iter().enumerate();
        let here =
            tracks.filter_map(|(n, track)| Some((n as u64, arrays::pose_row(track.pose(frame)?))));
        let (bodies, poses): (Vec<u64>, Vec<[f64; 7]>) = here.unzip();
        Ok((bodies.into_pyarray(py), arrays::array(py, poses)))
    }

    /// Writes a file in the format of its extension: .glb, .usda, .usdc, .jsonl or .pvd, or a folder of .obj or .ply
    /// files if the path ends in a slash.
    #[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let Some(format) = Format::of(&path) else {
            let name = path.display();
            return Err(brisance_error(format!(
                "{name}: unsupported output format; supported: {}",
                Format::ENDINGS
            )));
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            let problem =
                format!("{}: its folder does not exist: create the folder first", path.display());
            return Err(PyFileNotFoundError::new_err(problem));
        }
        py.detach(|| format.write(&self.recording, &path)).map_err(|error| match error {
            WriteError::Write(source) => file_error(&path, &source),
            other => brisance_error(other),
        })
    }

    /// A self-contained HTML page that plays the recording without a network. Refused above `max_bytes` bytes.
    #[pyo3(signature = (*, name="recording", max_bytes=64_000_000))]
    fn to_html(&self, py: Python<'_>, name: &str, max_bytes: usize) -> PyResult<String> {
        py.detach(|| embedded(&self.recording, name, max_bytes)).map_err(brisance_error)
    }

    /// The page in a frame for notebooks, or a message above 16 MB.
    fn _repr_html_(&self, py: Python<'_>) -> String {
        const MOST: usize = 16_000_000;
        let escaped = |text: &str| {
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            text.replace('"', "&quot;")
        };
        match py.detach(|| embedded(&self.recording, "recording", MOST)) {
            Ok(page) => format!(
                "<iframe sandbox=\"allow-scripts\" style=\"width: 100%; height: 480px; border: 0\" \
                 srcdoc=\"{}\"></iframe>",
                escaped(&page)
            ),
            Err(problem) => {
                format!("<p>{}: {}</p>", escaped(&self.__repr__()), escaped(&problem.to_string()))
            }
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "Recording({} frames, {} bodies)",
            self.recording.frames,
            self.recording.tracks.len()
        )
    }
}
