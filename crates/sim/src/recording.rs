//! What a run leaves behind: a surface and a path for every body that ever lived.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use contact::{Field, Shape};
use levelset::LevelSet;
use nalgebra::{Isometry3, Vector3};

use crate::{BodyId, BodyState, Fracture, Report, World};

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

impl Surface {
    /// The surface of a collision shape: the isosurface of a sampled one, exact flats of a box.
    pub fn of(shape: &Shape) -> Self {
        match shape.field() {
            Field::Grid { level_set, material } => Self::isosurface(level_set, material),
            Field::Cuboid { half } => Self::cuboid(half),
            Field::Ball { radius } => Self::ball(*radius),
            Field::HalfSpace => Self::ground(),
        }
    }

    fn isosurface(level_set: &LevelSet, material: &Isometry3<f64>) -> Self {
        let mesh = level_set.isosurface();
        let normals = level_set.normals(&mesh.vertices);
        let vertex = |p| (material.inverse_transform_point(p)).cast::<f32>().into();
        let normal = |n| (material.inverse_transform_vector(n)).cast::<f32>().into();
        Self {
            vertices: mesh.vertices.iter().map(vertex).collect(),
            normals: normals.iter().map(normal).collect(),
            triangles: mesh.triangles,
        }
    }

    /// Six flats of four vertices each.
    fn cuboid(half: &Vector3<f64>) -> Self {
        let mut surface = Self::default();
        for axis in 0..3 {
            for sign in [-1.0, 1.0] {
                let mut normal = Vector3::zeros();
                normal[axis] = sign;
                let u = Vector3::ith((axis + 1) % 3, sign);
                let v = Vector3::ith((axis + 2) % 3, 1.0);
                let corner = |s: f64, t: f64| (normal + u * s + v * t).component_mul(half);
                surface.add_quad(
                    [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)],
                    &normal,
                );
            }
        }
        surface
    }

    /// Circles of latitude.
    fn ball(radius: f64) -> Self {
        const RINGS: u32 = 24;
        const SECTORS: u32 = 48;
        let mut surface = Self::default();
        for ring in 0..=RINGS {
            let (sine, cosine) = (f64::from(ring) / f64::from(RINGS) * PI).sin_cos();
            for sector in 0..=SECTORS {
                let (s, c) = (f64::from(sector) / f64::from(SECTORS) * TAU).sin_cos();
                let normal = Vector3::new(sine * c, cosine, -sine * s);
                surface.vertices.push((normal * radius).cast::<f32>().into());
                surface.normals.push(normal.cast::<f32>().into());
            }
        }
        let row = SECTORS + 1;
        for at in (0..RINGS).flat_map(|ring| (0..SECTORS).map(move |s| ring * row + s)) {
            // the first and last rings are triangles: the poles are points
            if at >= row {
                surface.triangles.push([at, at + row, at + 1]);
            }
            if at < (RINGS - 1) * row {
                surface.triangles.push([at + 1, at + row, at + row + 1]);
            }
        }
        surface
    }

    /// A square large enough to look endless.
    fn ground() -> Self {
        const HALF: f64 = 50.0;
        let mut surface = Self::default();
        let corner = |x: f64, z: f64| Vector3::new(x * HALF, 0.0, z * HALF);
        surface.add_quad(
            [corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0), corner(-1.0, -1.0)],
            &Vector3::y(),
        );
        surface
    }

    fn add_quad(&mut self, corners: [Vector3<f64>; 4], normal: &Vector3<f64>) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(corners.map(|c| <[f32; 3]>::from(c.cast::<f32>())));
        self.normals.extend([<[f32; 3]>::from(normal.cast::<f32>()); 4]);
        self.triangles.push([first, first + 1, first + 2]);
        self.triangles.push([first, first + 2, first + 3]);
    }
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

    /// Its pose in a frame, if it exists then.
    pub fn pose(&self, frame: usize) -> Option<&Isometry3<f64>> {
        frame.checked_sub(self.birth).and_then(|at| self.poses.get(at))
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

/// Builds a [`Recording`] as a world is stepped.
#[derive(Clone, Debug)]
pub struct Recorder {
    recording: Recording,
    /// The track of each live body, sorted by body.
    live: Vec<(BodyId, usize)>,
}

impl Recorder {
    /// Starts with the world as it is. `appearance` names and colours each of its bodies.
    pub fn new(world: &World, appearance: impl Fn(BodyId) -> (String, [f32; 3])) -> Self {
        let recording = Recording { fps: 1.0 / world.settings().dt, frames: 1, tracks: Vec::new() };
        let mut recorder = Self { recording, live: Vec::new() };
        for state in world.iter() {
            let (name, colour) = appearance(state.id);
            recorder.start(&state, name, colour, None, 0);
        }
        recorder
    }

    /// Adds the frame that `report` tells of.
    pub fn record(&mut self, world: &World, report: &Report) {
        let frame = self.recording.frames;
        self.recording.frames += 1;
        for event in &report.fractures {
            self.start_fragments(world, event, frame);
        }
        self.live.retain(|&(id, track)| {
            let Some(state) = world.get(id) else { return false };
            self.recording.tracks[track].poses.push(*state.pose);
            true
        });
    }

    /// What was recorded.
    pub fn finish(self) -> Recording {
        self.recording
    }

    fn start_fragments(&mut self, world: &World, event: &Fracture, frame: usize) {
        let Ok(at) = self.live.binary_search_by_key(&event.parent, |&(id, _)| id) else { return };
        let parent = self.live[at].1;
        for (n, &id) in event.fragments.iter().enumerate() {
            let track = &self.recording.tracks[parent];
            let name = format!("{}.{n}", track.name);
            let colour = shade(track.colour, n);
            let place = (id, self.recording.tracks.len());
            match world.get(id) {
                Some(state) => self.start(&state, name, colour, Some(parent), frame),
                // it broke in the frame of its birth: a track of no frames, for its pieces' sake
                None => {
                    self.recording.tracks.push(Track {
                        name,
                        surface: Arc::new(Surface::default()),
                        colour,
                        parent: Some(parent),
                        birth: frame,
                        poses: Vec::new(),
                    });
                    self.live.push(place);
                }
            }
        }
    }

    fn start(
        &mut self,
        state: &BodyState<'_>,
        name: String,
        colour: [f32; 3],
        parent: Option<usize>,
        birth: usize,
    ) {
        self.live.push((state.id, self.recording.tracks.len()));
        // the poses of a later frame are added with everybody's
        let poses = if birth == 0 { vec![*state.pose] } else { Vec::new() };
        let surface = Arc::new(Surface::of(state.shape));
        self.recording.tracks.push(Track { name, surface, colour, parent, birth, poses });
    }
}

/// A colour of its own for the n-th piece, near its parent's.
fn shade(colour: [f32; 3], n: usize) -> [f32; 3] {
    // the golden ratio spreads successive shades evenly
    let step = (n as f32 * 0.618_034).fract();
    colour.map(|c| (c * (0.75 + 0.5 * step)).min(1.0))
}
