//! Recordings as animated binary glTF 2.0.
//!
//! Every track is a node that moves by a translation and a rotation channel. A scale that steps between 0 and 1 makes
//! it appear at its birth and disappear at its end, which every viewer understands; without animation a viewer shows
//! frame 0. Surfaces are stored once however many tracks share them, and a frame in which nothing changes costs no key.
//! Between two frames there is a key at each blow.
//!
//! A mesh has a primitive for the outer surface, or one for each of its coats, and one for cuts, each with a material
//! of its own. Images of coats are in the file, each once. The attribute `_REST` of its vertices is where they were in
//! the whole body, m: the coordinates of a solid texture. If the material has a solid texture, vertices have its colors
//! too (`COLOR_0`), for programs that do not know such textures.
//!
//! The file gives the sizes of all surfaces and keys before the data, so surfaces that are not kept
//! are made twice, a few at a time.

mod buffer;
mod encoded;
mod keys;
mod materials;
mod physics;
mod rig;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use nalgebra::Isometry3;
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use sim::{Camera, CameraKey, Energy, Image, Look, Recording, Stress, Surface, Trace, Track, Wrap};
use thiserror::Error;

use buffer::{Buffer, Layout, padded};
use encoded::{Encoded, Primitive, Side};
use materials::CLEAR;
pub use physics::write_physics_glb;
pub use rig::write_rigged_glb_of;

use keys::{Keys, rotation_keys, samples, translation_keys};

/// Why a recording cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A pose or vertex is not finite.
    #[error("body `{track}` has a position that is not a finite number: nothing can draw it")]
    NotFinite {
        /// Name of the track.
        track: String,
    },
    /// A triangle names a vertex that does not exist, or normals and vertices differ in number.
    #[error("the surface of body `{track}` is inconsistent: this is a bug in brisance")]
    Surface {
        /// Name of the track.
        track: String,
    },
    /// The format counts bytes in 32 bits.
    #[error("the recording takes {bytes} bytes, but a GLB holds at most 4 GiB: run fewer frames")]
    TooLarge {
        /// Bytes needed.
        bytes: usize,
    },
    /// A rig would have too many joints.
    #[error(
        "{joints} bodies are more than the {} joints of a rig: let fewer pieces break off, or write no rig",
        rig::MAX_JOINTS
    )]
    TooManyJoints {
        /// The bodies that ever lived.
        joints: usize,
    },
    /// The skinned mesh of a rig, which repeats equal bodies, is too large.
    #[error(
        "the mesh of the rig takes {bytes} bytes, but a GLB holds at most 4 GiB: write no rig, so that equal \
         bodies are stored once"
    )]
    RigTooLarge {
        /// Bytes needed.
        bytes: usize,
    },
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] std::io::Error),
}

/// How the track of some number moves, from its birth on.
type Traces<'a> = dyn Fn(usize) -> io::Result<Trace> + 'a;

/// Writes `recording` as one GLB to `out`.
///
/// The scene's `extras` hold `fps`, `frames` and, of each frame that was simulated, `kinetic`,
/// `potential` and `dissipated` energy, J; each node's hold `birth`, `end` and, for a fragment, the
/// node index of its `parent`. Those of a body of finite elements hold `stress`: for every frame in
/// which it changes, the number of the frame, the largest principal stress and the largest von
/// Mises stress in the body, Pa.
///
/// # Errors
/// [`WriteError`] when the recording holds what the format cannot, or writing fails.
pub fn write_glb(recording: &Recording, out: &mut impl Write) -> Result<(), WriteError> {
    write_glb_of(recording, &|track| Ok(recording.tracks[track].trace()), out)
}

/// As [`write_glb`], with the traces that `traces` gives for the numbers of tracks.
///
/// # Errors
/// As [`write_glb`], and what `traces` says.
pub fn write_glb_of(
    recording: &Recording,
    traces: &Traces<'_>,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    let mut document = Document::of_surfaces(recording)?;
    document.add_tracks(recording, traces)?;
    let images = std::mem::take(&mut document.images);
    let (json, layout) = document.finish(recording);
    write_head(&json, &layout, out)?;
    if layout.len() > 0 {
        write_surfaces(recording, &images, out)?;
        let buffer = Buffer::writing(out);
        Document { buffer, ..Document::default() }.add_tracks(recording, traces)?;
    }
    Ok(())
}

/// Writes the surfaces of a recording and then images.
fn write_surfaces(
    recording: &Recording,
    images: &[Image],
    out: &mut impl Write,
) -> Result<(), WriteError> {
    let write = |_: &Track, surface: Encoded| Ok(out.write_all(&surface.bytes)?);
    for_each_surface(&different(recording), Encoded::new, write)?;
    write_images(images, out)
}

fn write_images(images: &[Image], out: &mut impl Write) -> Result<(), WriteError> {
    for Image { bytes, .. } in images {
        out.write_all(bytes)?;
        out.write_all(&[0; 3][..padded(bytes.len()) - bytes.len()])?;
    }
    Ok(())
}

/// The first track of each surface.
fn different(recording: &Recording) -> Vec<&Track> {
    let mut known = BTreeSet::new();
    recording.tracks.iter().filter(|track| known.insert(track.skin.address())).collect()
}

/// Number of surfaces that are made in parallel.
const BATCH: usize = 64;

/// Calls `make` for the surfaces of tracks in parallel, and `found` with the results in the order
/// of tracks.
fn for_each_surface<T: Send>(
    tracks: &[&Track],
    make: impl Fn(&Surface, &Look) -> T + Sync,
    mut found: impl FnMut(&Track, T) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let made = |track: &&Track| {
        let surface = track.surface();
        check_surface(track, &surface)?;
        Ok(make(&surface, &track.look))
    };
    for tracks in tracks.chunks(BATCH) {
        let surfaces: Vec<Result<T, WriteError>> = tracks.par_iter().map(made).collect();
        for (track, surface) in tracks.iter().zip(surfaces) {
            found(track, surface?)?;
        }
    }
    Ok(())
}

/// The lists of a glTF document as they grow.
#[derive(Default)]
struct Document<'a> {
    buffer: Buffer<'a>,
    nodes: Vec<Value>,
    materials: Vec<Value>,
    /// Images of materials in the order in which the file holds them.
    images: Vec<Image>,
    image_entries: Vec<Value>,
    /// Images of materials by number, each once for each wrapping mode.
    textures: Vec<(usize, [Wrap; 2])>,
    meshes: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
    /// Accessors of all surfaces, by the addresses of skins.
    surfaces: BTreeMap<usize, Primitive>,
    /// Materials written so far: the look, the part that has it, whether this has texture coordinates, and the
    /// number.
    looks: Vec<(Arc<Look>, Side, bool, usize)>,
    /// Meshes by surface and materials.
    drawn: BTreeMap<(usize, Vec<usize>), usize>,
    /// Nodes of the scene.
    in_scene: Range<usize>,
    skins: Vec<Value>,
    /// Extensions of the document, except those of materials.
    extensions: Vec<(&'static str, Value)>,
}

impl Document<'_> {
    /// One with room for the surfaces of a recording.
    fn of_surfaces(recording: &Recording) -> Result<Self, WriteError> {
        let mut document = Self::default();
        for_each_surface(&different(recording), Encoded::new, |track, surface| {
            let primitive = document.buffer.add_surface(&surface);
            document.surfaces.insert(track.skin.address(), primitive);
            Ok(())
        })?;
        document.add_images(recording);
        Ok(document)
    }

    /// Adds a node, which is not in the scene by itself; returns its number.
    fn push_node(&mut self, node: Value) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn add_children(&mut self, node: usize, children: &[usize]) {
        if children.is_empty() {
            return;
        }
        match &mut self.nodes[node]["children"] {
            Value::Array(known) => known.extend(children.iter().map(|&child| json!(child))),
            none => *none = json!(children),
        }
    }

    fn add_tracks(&mut self, recording: &Recording, traces: &Traces<'_>) -> Result<(), WriteError> {
        for (n, track) in recording.tracks.iter().enumerate() {
            let trace = traces(n)?;
            check_poses(track, &trace.poses)?;
            self.add_track(recording, track, &trace)?;
        }
        self.in_scene = 0..self.nodes.len();
        Ok(())
    }

    fn add_track(&mut self, recording: &Recording, track: &Track, trace: &Trace) -> io::Result<()> {
        let node = self.nodes.len();
        let samples = samples(track.birth, trace, recording.fps);
        let (translations, rotations) = (translation_keys(&samples), rotation_keys(&samples));
        let mut entry = Map::new();
        entry.insert("name".to_owned(), json!(track.name));
        if let Some(mesh) = self.mesh(track) {
            entry.insert("mesh".to_owned(), json!(mesh));
        }
        entry.insert("translation".to_owned(), json!(translations.first));
        entry.insert("rotation".to_owned(), json!(rotations.first));
        entry.insert("extras".to_owned(), extras(track));
        if track.birth > 0 || track.poses.is_empty() {
            entry.insert("scale".to_owned(), json!([0.0, 0.0, 0.0]));
        }
        self.nodes.push(Value::Object(entry));
        self.animate(node, "translation", &translations, recording.fps)?;
        self.animate(node, "rotation", &rotations, recording.fps)?;
        self.show(node, track, recording)
    }

    /// The mesh of a track's surface as it looks, if there is anything to see.
    fn mesh(&mut self, track: &Track) -> Option<usize> {
        let surface = track.skin.address();
        let primitive = self.surfaces.get(&surface).filter(|surface| !surface.is_empty())?.clone();
        let attributes = primitive.attributes();
        let Primitive { uvs, is_painted, indices, .. } = primitive;
        let materials: Vec<usize> = indices
            .iter()
            .map(|(side, _)| self.material(&track.look, *side, uvs.is_some()))
            .collect();
        let key = (surface, materials);
        if let Some(&mesh) = self.drawn.get(&key) {
            return Some(mesh);
        }
        let primitives: Vec<Value> = indices
            .iter()
            .zip(&key.1)
            .map(|((_, indices), material)| {
                json!({
                    "attributes": attributes,
                    "indices": indices,
                    "material": material,
                })
            })
            .collect();
        let mesh = self.meshes.len();
        let mut entry = json!({ "primitives": primitives });
        if is_painted {
            entry["extras"] = json!({ "painted": true });
        }
        self.meshes.push(entry);
        self.drawn.insert(key, mesh);
        Some(mesh)
    }

    fn animate<const N: usize>(
        &mut self,
        node: usize,
        path: &str,
        keys: &Keys<N>,
        fps: f64,
    ) -> io::Result<()> {
        if keys.frames.is_empty() {
            return Ok(());
        }
        let input = self.buffer.add_times(&keys.frames, fps)?;
        let output = self.buffer.add_values(&keys.values)?;
        self.channel(node, path, "LINEAR", input, output);
        Ok(())
    }

    /// Keys for the birth and the end of a track, where the recording shows them.
    fn show(&mut self, node: usize, track: &Track, recording: &Recording) -> io::Result<()> {
        // a body that broke as it was born is never shown
        if track.poses.is_empty() {
            return Ok(());
        }
        let mut frames = vec![];
        let mut scales = vec![];
        if track.birth > 0 {
            frames.push(0.0);
            scales.push([0.0; 3]);
        }
        if track.birth > 0 || track.end() < recording.frames || track.shrinks.is_some() {
            frames.push(track.birth as f64);
            scales.push([1.0; 3]);
        }
        if track.end() < recording.frames {
            frames.push(track.end() as f64);
            scales.push([0.0; 3]);
        }
        if let Some(first) = track.shrinks {
            let end = frames.len() - usize::from(track.end() < recording.frames);
            let sizes = (first..track.end())
                .map(|frame| (frame as f64, [track.scale(frame, recording.fps) as f32; 3]));
            let (at, of): (Vec<f64>, Vec<[f32; 3]>) = sizes.unzip();
            frames.splice(end..end, at);
            scales.splice(end..end, of);
        }
        if !frames.is_empty() {
            let input = self.buffer.add_times(&frames, recording.fps)?;
            let output = self.buffer.add_values(&scales)?;
            self.channel(node, "scale", "STEP", input, output);
        }
        Ok(())
    }

    fn channel(&mut self, node: usize, path: &str, mode: &str, input: usize, output: usize) {
        let sampler = self.samplers.len();
        self.samplers.push(json!({ "input": input, "interpolation": mode, "output": output }));
        self.channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": path } }));
    }

    /// The JSON chunk, and what the binary one is to hold.
    fn finish(self, recording: &Recording) -> (Value, Layout) {
        let [textures, samplers] = self.textures();
        let generator = concat!("brisance ", env!("CARGO_PKG_VERSION"));
        let mut root = Map::new();
        let mut put = |key: &str, value: Value| root.insert(key.to_owned(), value);
        put("asset", json!({ "version": "2.0", "generator": generator }));
        put("scene", json!(0));
        let mut scene = Map::new();
        if !self.in_scene.is_empty() {
            scene.insert("nodes".to_owned(), json!(self.in_scene.collect::<Vec<_>>()));
        }
        let energies =
            |of: fn(&Energy) -> f64| -> Vec<f64> { recording.energies.iter().map(of).collect() };
        let extras = json!({
            "fps": recording.fps,
            "frames": recording.frames,
            "kinetic": energies(|e| e.kinetic),
            "potential": energies(|e| e.potential),
            "dissipated": energies(|e| e.dissipated),
        });
        let mut extras = extras;
        if let Some(camera) = &recording.camera {
            extras["camera"] = camera_extras(camera);
        }
        scene.insert("extras".to_owned(), extras);
        put("scenes", json!([scene]));
        if !self.channels.is_empty() {
            put("animations", json!([{ "channels": self.channels, "samplers": self.samplers }]));
        }
        let mut layout = self.buffer.finish();
        let lists = [
            ("nodes", self.nodes),
            ("meshes", self.meshes),
            ("skins", self.skins),
            ("materials", self.materials),
            ("images", self.image_entries),
            ("textures", textures),
            ("samplers", samplers),
            ("accessors", std::mem::take(&mut layout.accessors)),
            ("bufferViews", std::mem::take(&mut layout.views)),
        ];
        // glTF has no empty lists
        for (name, list) in lists {
            if !list.is_empty() {
                put(name, Value::Array(list));
            }
        }
        let mut used: Vec<&str> = self.extensions.iter().map(|(name, _)| *name).collect();
        if self.looks.iter().any(|(look, ..)| look.transmission > 0.0) {
            used.extend(CLEAR);
        }
        if !used.is_empty() {
            put("extensionsUsed", json!(used));
        }
        if !self.extensions.is_empty() {
            let extensions = self.extensions.into_iter().map(|(name, of)| (name.to_owned(), of));
            put("extensions", Value::Object(extensions.collect()));
        }
        if layout.len() > 0 {
            put("buffers", json!([{ "byteLength": layout.len() }]));
        }
        (Value::Object(root), layout)
    }
}

fn camera_extras(camera: &Camera) -> Value {
    let key = |sight: &CameraKey| {
        let CameraKey { time, at, from } = sight;
        json!([time, at.x, at.y, at.z, from.x, from.y, from.z])
    };
    let keys: Vec<Value> = camera.keys.iter().map(key).collect();
    json!({ "field": camera.field, "follow": camera.follow, "keys": keys })
}

fn extras(track: &Track) -> Value {
    let mut extras = json!({ "birth": track.birth, "end": track.end() });
    if let Some(parent) = track.parent {
        extras["parent"] = json!(parent);
    }
    if let Some(shrinks) = track.shrinks {
        extras["shrinks"] = json!(shrinks);
    }
    if !track.stresses.is_empty() {
        let entry = |s: &Stress| json!([s.frame, s.principal, s.von_mises]);
        extras["stress"] = track.stresses.iter().map(entry).collect();
    }
    extras
}

/// Writes all that comes before the data.
fn write_head(json: &Value, layout: &Layout, out: &mut impl Write) -> Result<(), WriteError> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let chunk_headers = if layout.len() == 0 { 8 } else { 16 };
    let bytes = 12 + chunk_headers + text.len() + layout.len();
    let total = u32::try_from(bytes).map_err(|_| WriteError::TooLarge { bytes })?;
    out.write_all(b"glTF")?;
    out.write_all(&2u32.to_le_bytes())?;
    out.write_all(&total.to_le_bytes())?;
    out.write_all(&(text.len() as u32).to_le_bytes())?;
    out.write_all(b"JSON")?;
    out.write_all(&text)?;
    if layout.len() > 0 {
        out.write_all(&(layout.len() as u32).to_le_bytes())?;
        out.write_all(b"BIN\0")?;
    }
    Ok(())
}

/// Refuses poses of a track that no format can hold.
///
/// # Errors
/// [`WriteError::NotFinite`].
pub fn check_poses(track: &Track, poses: &[Isometry3<f64>]) -> Result<(), WriteError> {
    let is_finite = |p: &Isometry3<f64>| -> bool {
        p.translation.vector.iter().chain(p.rotation.coords.iter()).all(|x| x.is_finite())
    };
    if poses.iter().all(is_finite) {
        Ok(())
    } else {
        Err(WriteError::NotFinite { track: track.name.clone() })
    }
}

/// Refuses the surface of a track that no format can hold.
///
/// # Errors
/// [`WriteError::Surface`] and [`WriteError::NotFinite`].
pub fn check_surface(track: &Track, surface: &Surface) -> Result<(), WriteError> {
    let Surface { vertices, normals, rest, uvs, colors, outer, inner, coats } = surface;
    let known = |t: &[u32; 3]| t.iter().all(|&v| (v as usize) < vertices.len());
    let painted = [uvs.len(), colors.len()].iter().all(|&n| n == 0 || n == vertices.len());
    let painted = painted && (coats.is_empty() || coats.len() == outer.len());
    let alike = painted && [normals.len(), rest.len()] == [vertices.len(); 2];
    if !alike || !outer.iter().chain(inner).all(known) {
        return Err(WriteError::Surface { track: track.name.clone() });
    }
    let paint = uvs.as_flattened().iter().chain(colors.as_flattened());
    let places = vertices.iter().chain(normals).chain(rest).flatten();
    if places.chain(paint).all(|x| x.is_finite()) {
        Ok(())
    } else {
        Err(WriteError::NotFinite { track: track.name.clone() })
    }
}
