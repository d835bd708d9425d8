//! The camera of a recording.

use nalgebra::Point3;

use crate::Appearance;
use crate::scene::Scene;

/// The camera of a recording. Missing values are fitted to the bodies that break.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// Vertical field of view, radians.
    pub field: f64,
    /// The track that stays in the center, as an index into
    /// [`Recording::tracks`](crate::Recording::tracks).
    pub follow: Option<usize>,
    /// Keyframes in ascending order of time. A camera that follows a track has at most one, its
    /// start position.
    pub keys: Vec<CameraKey>,
}

/// A camera at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraKey {
    /// Time, s.
    pub time: f64,
    /// Target point, m.
    pub at: Point3<f64>,
    /// Position, m.
    pub from: Point3<f64>,
}

impl Camera {
    /// The camera of a scene, whose bodies are `appearances` in the order of the recorder.
    pub fn of(scene: &Scene, appearances: &[Appearance]) -> Option<Self> {
        let camera = scene.camera.as_ref()?;
        let number = |name: &String| appearances.iter().position(|a| a.name == *name);
        let mut keys: Vec<CameraKey> = camera
            .keyframes
            .iter()
            .flatten()
            .map(|k| CameraKey { time: k.time, at: k.at.into(), from: k.from.into() })
            .collect();
        if let Some(from) = camera.from {
            // for a camera that follows a body only its position counts
            let at = camera.at.unwrap_or(from).into();
            keys.push(CameraKey { time: 0.0, at, from: from.into() });
        }
        let field = camera.field_of_view.to_radians();
        Some(Self { field, follow: camera.follow.as_ref().and_then(number), keys })
    }
}
