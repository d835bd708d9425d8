//! Results of a comparison.

use serde::Serialize;

use super::measure::Measured;
use super::model::Model;
use super::power_law::PowerLaw;

/// The JSON schema of [`Report`].
pub const REPORT_SCHEMA: &str = include_str!("report.schema.json");

/// All results of a comparison. Lengths are in m, times in s, energies in J, masses in kg.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of the format: 1.
    pub version: u32,
    /// Version of the program.
    pub program_version: String,
    /// Path of the scene.
    pub scene: String,
    /// Random seed.
    pub seed: u64,
    /// Whether the first impact is bitwise identical in all models: body, time, pose, momentum and
    /// impulse.
    pub same_first_impact: bool,
    /// The models, in the requested order.
    pub models: Vec<ModelResult>,
    /// Runs at other spacings of samples or tetrahedra, in descending order.
    pub resolutions: Vec<Run>,
    /// Runs at other time steps, in descending order.
    pub time_steps: Vec<Run>,
}

/// Results of one model.
#[derive(Clone, Debug, Serialize)]
pub struct ModelResult {
    /// The run.
    pub run: Run,
    /// Power law of the volumes of the pieces; `None` below [`PowerLaw::LEAST`] pieces.
    pub power_law: Option<PowerLaw>,
    /// File of its recording.
    pub recording: String,
    /// Files of its pictures, in time order.
    pub pictures: Vec<String>,
}

/// A run of the scene.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The model.
    pub model: Model,
    /// Spacing of samples or tetrahedra relative to that of the first runs.
    pub spacing_factor: f64,
    /// Time step.
    pub time_step: f64,
    /// Results.
    pub measured: Measured,
}
