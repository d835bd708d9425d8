//! The glTF document of a recording.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sim::{Camera, CameraKey, Energy, Image, Look, Recording, Stress, Trace, Track, Wrap};

use crate::glb_file::INSTANCING;

use super::buffer::{Buffer, Layout};
use super::encoded::{Encoded, Primitive, Side};
use super::error::{WriteError, check_poses};
use super::keys::{Keys, rotation_keys, samples, translation_keys};
use super::surfaces::{different, for_each_surface};

/// Returns the trajectory of a track from its birth on, given its number.
pub(super) type ReadTrajectory<'a> = dyn Fn(usize) -> io::Result<Trace> + 'a;

/// The lists of a glTF document under construction.
#[derive(Default)]
pub(super) struct Document<'a> {
    pub(super) buffer: Buffer<'a>,
    pub(super) nodes: Vec<Value>,
    pub(super) materials: Vec<Value>,
    /// Images of materials in file order.
    pub(super) images: Vec<Image>,
    pub(super) image_entries: Vec<Value>,
    /// Images of materials by number, each once for each wrapping mode.
    pub(super) textures: Vec<(usize, [Wrap; 2])>,
    pub(super) meshes: Vec<Value>,
    pub(super) samplers: Vec<Value>,
    pub(super) channels: Vec<Value>,
    /// Accessors of all surfaces, by their addresses.
    pub(super) surfaces: BTreeMap<usize, Primitive>,
    /// Materials written so far: look, side, whether the surface has texture coordinates, and index of the material.
    pub(super) looks: Vec<(Arc<Look>, Side, bool, usize)>,
    /// Meshes by surface and materials.
    pub(super) drawn: BTreeMap<(usize, Vec<usize>), usize>,
    /// Nodes of the scene.
    pub(super) in_scene: Range<usize>,
    pub(super) skins: Vec<Value>,
    /// Extensions of the document, except those of materials.
    pub(super) extensions: Vec<(&'static str, Value)>,
}

impl Document<'_> {
    /// A document with space for the surfaces of a recording.
    pub(super) fn of_surfaces(recording: &Recording) -> Result<Self, WriteError> {
        let mut document = Self::default();
        for_each_surface(&different(recording), Encoded::new, |track, surface| {
            let primitive = document.buffer.add_surface(&surface);
            document.surfaces.insert(track.lazy_surface.address(), primitive);
            Ok(())
        })?;
        document.add_images(recording);
        Ok(document)
    }

    /// Whether a node draws many instances of its mesh.
    fn is_instanced(&self) -> bool {
        self.nodes.iter().any(|node| !node["extensions"][INSTANCING].is_null())
    }

    /// Adds a node, without adding it to the scene; returns its index.
    pub(super) fn push_node(&mut self, node: Value) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    pub(super) fn add_children(&mut self, node: usize, children: &[usize]) {
        if children.is_empty() {
            return;
        }
        match &mut self.nodes[node]["children"] {
            Value::Array(known) => known.extend(children.iter().map(|&child| json!(child))),
            none => *none = json!(children),
        }
    }

    pub(super) fn add_tracks(
        &mut self,
        recording: &Recording,
        trajectory: &ReadTrajectory<'_>,
    ) -> Result<(), WriteError> {
        for (n, track) in recording.tracks.iter().enumerate() {
            let trajectory = trajectory(n)?;
            check_poses(track, &trajectory.poses)?;
            self.add_track(recording, track, &trajectory)?;
        }
        self.in_scene = 0..self.nodes.len();
        Ok(())
    }

    pub(super) fn add_track(
        &mut self,
        recording: &Recording,
        track: &Track,
        trajectory: &Trace,
    ) -> io::Result<()> {
        let node = self.nodes.len();
        let samples = samples(track.birth, trajectory, recording.fps);
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

    /// The mesh of a track's surface with its look, if it is not empty.
    pub(super) fn mesh(&mut self, track: &Track) -> Option<usize> {
        let surface = track.lazy_surface.address();
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

    pub(super) fn animate<const N: usize>(
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

    /// Keys for the birth and the end of a track, within the recording.
    pub(super) fn show(
        &mut self,
        node: usize,
        track: &Track,
        recording: &Recording,
    ) -> io::Result<()> {
        // a body that broke in the frame of its birth is never shown
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

    pub(super) fn channel(
        &mut self,
        node: usize,
        path: &str,
        mode: &str,
        input: usize,
        output: usize,
    ) {
        let sampler = self.samplers.len();
        self.samplers.push(json!({ "input": input, "interpolation": mode, "output": output }));
        self.channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": path } }));
    }

    /// The JSON chunk, and the layout of the binary one; `scene` lacks its nodes.
    pub(super) fn finish(self, mut scene: Map<String, Value>) -> (Value, Layout) {
        let [textures, samplers] = self.textures();
        let mut used: Vec<&str> = self.extensions.iter().map(|(name, _)| *name).collect();
        used.extend(self.material_extensions());
        used.extend(self.is_instanced().then_some(INSTANCING));
        let generator = concat!("brisance ", env!("CARGO_PKG_VERSION"));
        let mut root = Map::new();
        let mut put = |key: &str, value: Value| root.insert(key.to_owned(), value);
        put("asset", json!({ "version": "2.0", "generator": generator }));
        put("scene", json!(0));
        if !self.in_scene.is_empty() {
            scene.insert("nodes".to_owned(), json!(self.in_scene.collect::<Vec<_>>()));
        }
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
        // glTF does not allow empty lists
        for (name, list) in lists {
            if !list.is_empty() {
                put(name, Value::Array(list));
            }
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

/// The scene of a recording, without its nodes.
pub(super) fn scene_of(recording: &Recording) -> Map<String, Value> {
    let energies =
        |of: fn(&Energy) -> f64| -> Vec<f64> { recording.energies.iter().map(of).collect() };
    let mut extras = json!({
        "fps": recording.fps,
        "frames": recording.frames,
        "kinetic": energies(|e| e.kinetic),
        "potential": energies(|e| e.potential),
        "dissipated": energies(|e| e.dissipated),
    });
    if let Some(camera) = &recording.camera {
        extras["camera"] = camera_extras(camera);
    }
    Map::from_iter([("extras".to_owned(), extras)])
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
