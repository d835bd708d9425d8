//! Recordings as animated binary glTF 2.0.
//!
//! Every track is a node that moves by a translation and a rotation channel. It appears when it is
//! born and disappears when it ends by a scale of 0 or 1 that changes in steps, which every viewer
//! understands; without animation a viewer shows frame 0. Surfaces are stored once however many
//! tracks share them, and a frame in which nothing changes costs no key.

mod buffer;
mod keys;
mod read;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sim::{Recording, Surface, Track};

pub use read::{GlbReadError, read_glb};

use super::{WriteError, check};
use buffer::Buffer;
use keys::{Keys, rotation_keys, translation_keys};

/// Writes `recording` as one GLB to `out`.
///
/// The scene's `extras` hold `fps` and `frames`; each node's hold `birth`, `end` and, for a
/// fragment, the node index of its `parent`.
///
/// # Errors
/// [`WriteError`] when the recording holds what the format cannot, or writing fails.
pub fn write_glb(recording: &Recording, out: &mut impl Write) -> Result<(), WriteError> {
    check(recording)?;
    let mut document = Document::default();
    for track in &recording.tracks {
        document.add_track(recording, track);
    }
    let (json, binary) = document.finish(recording);
    write_chunks(&json, &binary, out)
}

/// The lists of a glTF document as they grow.
#[derive(Default)]
struct Document {
    buffer: Buffer,
    nodes: Vec<Value>,
    materials: Vec<Value>,
    meshes: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
    /// Accessors of surfaces written so far, by address.
    surfaces: BTreeMap<*const Surface, Primitive>,
    /// Materials by the bits of their colour.
    colours: BTreeMap<[u32; 3], usize>,
    /// Meshes by surface and material.
    drawn: BTreeMap<(*const Surface, usize), usize>,
}

/// Accessors of a surface.
#[derive(Clone, Copy)]
struct Primitive {
    positions: usize,
    normals: usize,
    indices: usize,
}

impl Document {
    fn add_track(&mut self, recording: &Recording, track: &Track) {
        let node = self.nodes.len();
        let translations = translation_keys(track);
        let rotations = rotation_keys(track);
        let mut entry = Map::new();
        entry.insert("name".to_owned(), json!(track.name));
        if !track.surface.triangles.is_empty() {
            entry.insert("mesh".to_owned(), json!(self.mesh(track)));
        }
        entry.insert("translation".to_owned(), json!(translations.first));
        entry.insert("rotation".to_owned(), json!(rotations.first));
        entry.insert("extras".to_owned(), extras(track));
        if track.birth > 0 || track.poses.is_empty() {
            entry.insert("scale".to_owned(), json!([0.0, 0.0, 0.0]));
        }
        self.nodes.push(Value::Object(entry));
        self.animate(node, "translation", &translations, recording.fps);
        self.animate(node, "rotation", &rotations, recording.fps);
        self.show(node, track, recording);
    }

    /// The mesh of a track's surface in its colour.
    fn mesh(&mut self, track: &Track) -> usize {
        let surface = Arc::as_ptr(&track.surface);
        let material = self.material(track.colour);
        if let Some(&mesh) = self.drawn.get(&(surface, material)) {
            return mesh;
        }
        let primitive = match self.surfaces.get(&surface) {
            Some(&known) => known,
            None => {
                let new = self.primitive(&track.surface);
                self.surfaces.insert(surface, new);
                new
            }
        };
        let mesh = self.meshes.len();
        self.meshes.push(json!({ "primitives": [{
            "attributes": { "POSITION": primitive.positions, "NORMAL": primitive.normals },
            "indices": primitive.indices,
            "material": material,
        }] }));
        self.drawn.insert((surface, material), mesh);
        mesh
    }

    fn material(&mut self, colour: [f32; 3]) -> usize {
        let materials = &mut self.materials;
        *self.colours.entry(colour.map(f32::to_bits)).or_insert_with(|| {
            let [r, g, b] = colour;
            materials.push(json!({ "pbrMetallicRoughness": {
                "baseColorFactor": [r, g, b, 1.0],
                "metallicFactor": 0.0,
                "roughnessFactor": 0.8,
            } }));
            materials.len() - 1
        })
    }

    fn primitive(&mut self, surface: &Surface) -> Primitive {
        let Surface { vertices, normals, triangles } = surface;
        let normals: Vec<_> = normals.iter().map(unit).collect();
        Primitive {
            positions: self.buffer.add_vertices(vertices, true),
            normals: self.buffer.add_vertices(&normals, false),
            indices: self.buffer.add_indices(triangles, vertices.len()),
        }
    }

    fn animate<const N: usize>(&mut self, node: usize, path: &str, keys: &Keys<N>, fps: f64) {
        if keys.frames.is_empty() {
            return;
        }
        let input = self.buffer.add_times(&keys.frames, fps);
        let output = self.buffer.add_values(&keys.values);
        self.channel(node, path, "LINEAR", input, output);
    }

    /// Keys for the birth and the end of a track, where the recording shows them.
    fn show(&mut self, node: usize, track: &Track, recording: &Recording) {
        // a body that broke as it was born is never shown
        if track.poses.is_empty() {
            return;
        }
        let mut frames = vec![];
        let mut scales = vec![];
        if track.birth > 0 {
            frames.push(0);
            scales.push([0.0; 3]);
        }
        if track.birth > 0 || track.end() < recording.frames {
            frames.push(track.birth);
            scales.push([1.0; 3]);
        }
        if track.end() < recording.frames {
            frames.push(track.end());
            scales.push([0.0; 3]);
        }
        if !frames.is_empty() {
            let input = self.buffer.add_times(&frames, recording.fps);
            let output = self.buffer.add_values(&scales);
            self.channel(node, "scale", "STEP", input, output);
        }
    }

    fn channel(&mut self, node: usize, path: &str, mode: &str, input: usize, output: usize) {
        let sampler = self.samplers.len();
        self.samplers.push(json!({ "input": input, "interpolation": mode, "output": output }));
        self.channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": path } }));
    }

    /// The JSON and binary chunks.
    fn finish(self, recording: &Recording) -> (Value, Vec<u8>) {
        let generator = concat!("brisance ", env!("CARGO_PKG_VERSION"));
        let mut root = Map::new();
        let mut put = |key: &str, value: Value| root.insert(key.to_owned(), value);
        put("asset", json!({ "version": "2.0", "generator": generator }));
        put("scene", json!(0));
        let mut scene = Map::new();
        if !self.nodes.is_empty() {
            scene.insert("nodes".to_owned(), json!((0..self.nodes.len()).collect::<Vec<_>>()));
        }
        let extras = json!({ "fps": recording.fps, "frames": recording.frames });
        scene.insert("extras".to_owned(), extras);
        put("scenes", json!([scene]));
        if !self.channels.is_empty() {
            put("animations", json!([{ "channels": self.channels, "samplers": self.samplers }]));
        }
        let (accessors, views, binary) = self.buffer.finish();
        let lists = [
            ("nodes", self.nodes),
            ("meshes", self.meshes),
            ("materials", self.materials),
            ("accessors", accessors),
            ("bufferViews", views),
        ];
        // glTF has no empty lists
        for (name, list) in lists {
            if !list.is_empty() {
                put(name, Value::Array(list));
            }
        }
        if !binary.is_empty() {
            put("buffers", json!([{ "byteLength": binary.len() }]));
        }
        (Value::Object(root), binary)
    }
}

fn extras(track: &Track) -> Value {
    let mut extras = json!({ "birth": track.birth, "end": track.end() });
    if let Some(parent) = track.parent {
        extras["parent"] = json!(parent);
    }
    extras
}

/// The vector scaled to length one; up where it has none, as on a degenerate triangle.
fn unit(v: &[f32; 3]) -> [f32; 3] {
    let v64 = nalgebra::Vector3::from(v.map(f64::from));
    let unit = v64.try_normalize(1e-12).unwrap_or(nalgebra::Vector3::y());
    unit.map(|x| x as f32).into()
}

fn write_chunks(json: &Value, binary: &[u8], out: &mut impl Write) -> Result<(), WriteError> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let chunk_headers = if binary.is_empty() { 8 } else { 16 };
    let bytes = 12 + chunk_headers + text.len() + binary.len();
    let total = u32::try_from(bytes).map_err(|_| WriteError::TooLarge { bytes })?;
    out.write_all(b"glTF")?;
    out.write_all(&2u32.to_le_bytes())?;
    out.write_all(&total.to_le_bytes())?;
    out.write_all(&(text.len() as u32).to_le_bytes())?;
    out.write_all(b"JSON")?;
    out.write_all(&text)?;
    if !binary.is_empty() {
        out.write_all(&(binary.len() as u32).to_le_bytes())?;
        out.write_all(b"BIN\0")?;
        out.write_all(binary)?;
    }
    Ok(())
}
