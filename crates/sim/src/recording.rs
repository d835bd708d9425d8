//! What a run leaves behind: a surface and a path for every body that ever lived.

use std::sync::Arc;

use nalgebra::Isometry3;

/// A drawable triangle surface in body coordinates, m.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Vertex positions, m.
    pub vertices: Vec<[f32; 3]>,
    /// Unit normals, one per vertex.
    pub normals: Vec<[f32; 3]>,
    /// Indices into `vertices`, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// One body from birth to death.
#[derive(Clone, Debug)]
pub struct Track {
    /// Name, unique in the recording.
    pub name: String,
    /// What to draw; equal bodies share it.
    pub surface: Arc<Surface>,
    /// Linear RGB colour.
    pub colour: [f32; 3],
    /// The track this body broke off, as an index into [`Recording::tracks`].
    pub parent: Option<usize>,
    /// The first frame in which it exists.
    pub birth: usize,
    /// Its pose in each frame from `birth` on; when it has fewer frames than the recording it
    /// ended (broke) before the next one.
    pub poses: Vec<Isometry3<f64>>,
}

impl Track {
    /// The frame after the last in which the body exists.
    pub fn end(&self) -> usize {
        self.birth + self.poses.len()
    }
}

/// All bodies of a run, frame by frame. Frame 0 is the initial state.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Frames per second.
    pub fps: f64,
    /// Number of frames, at least one.
    pub frames: usize,
    /// Every body that ever lived, parents before their fragments.
    pub tracks: Vec<Track>,
}
