//! Dust as animated binary glTF 2.0, with a size independent of the number of frames.
//!
//! Particles with the same first and last frame form one mesh of points. Its morph target is their
//! displacement by velocity, with a weight that increases linearly from 0 to 1; gravity moves the
//! node. A scale that steps between 0 and 1 shows the node, as in recordings. The attribute `_SIZE`
//! is the diameter, m.

use std::collections::BTreeMap;
use std::io::{self, Write};

use nalgebra::{Point3, Vector3};
use serde_json::{Map, Value, json};
use sim::{Dust, Speck};

const FLOAT: u32 = 5126;
const POINTS: u32 = 0;
/// View targets: the one of vertices, and none for keys.
const VERTICES: Option<u32> = Some(34962);
const KEYS: Option<u32> = None;

pub(super) fn write(dust: &Dust, out: &mut impl Write) -> io::Result<()> {
    let mut document = Document::default();
    for ((birth, last), specks) in groups(dust) {
        let group = Group { birth, last, specks };
        document.add(dust, &group);
    }
    document.write(out)
}

/// Particles that exist in the same frames.
struct Group<'a> {
    birth: usize,
    /// The last frame in which they exist.
    last: usize,
    specks: Vec<&'a Speck>,
}

fn groups(dust: &Dust) -> BTreeMap<(usize, usize), Vec<&Speck>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for speck in &dust.specks {
        let last = (speck.birth + dust.shown_frames(speck) - 1).min(dust.frames() - 1);
        groups.entry((speck.birth, last)).or_default().push(speck);
    }
    groups
}

/// A file under construction.
#[derive(Default)]
struct Document {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
}

impl Document {
    fn add(&mut self, dust: &Dust, group: &Group<'_>) {
        let Group { birth, last, specks } = group;
        let (birth, last) = (*birth, *last);
        let duration = (last - birth) as f64 / dust.fps();
        let places: Vec<[f32; 3]> = specks.iter().map(|s| single(&s.position)).collect();
        let flown: Vec<[f32; 3]> =
            specks.iter().map(|s| single(&Point3::from(s.velocity * duration))).collect();
        let sizes: Vec<[f32; 1]> = specks.iter().map(|s| [s.size as f32]).collect();
        let [places, flown] = [places, flown].map(|values| self.add_values(&values, VERTICES));
        let sizes = self.add_values(&sizes, VERTICES);
        let node = self.nodes.len();
        self.meshes.push(json!({
            "primitives": [{
                "mode": POINTS,
                "attributes": { "POSITION": places, "_SIZE": sizes },
                "targets": [{ "POSITION": flown }],
            }],
            "weights": [0],
        }));
        let scale = if birth == 0 { 1 } else { 0 };
        self.nodes.push(json!({ "name": format!("dust {birth}-{last}"), "mesh": node,
            "scale": [scale, scale, scale] }));
        self.add_scale(node, (birth, last), dust);
        if last > birth {
            let frames: Vec<usize> = (birth..=last).collect();
            let fall = |&frame: &usize| {
                let time = (frame - birth) as f64 / dust.fps();
                let fall: Vector3<f64> = dust.gravity() * (0.5 * time * time);
                single(&Point3::from(fall))
            };
            let falls: Vec<[f32; 3]> = frames.iter().map(fall).collect();
            self.animate(node, "translation", (&frames, dust), &falls);
            self.animate(node, "weights", (&[birth, last], dust), &[[0.0], [1.0]]);
        }
    }

    /// Shows a node between two frames.
    fn add_scale(&mut self, node: usize, (birth, last): (usize, usize), dust: &Dust) {
        let mut keys = vec![(birth, [1.0; 3])];
        if birth > 0 {
            keys.insert(0, (0, [0.0; 3]));
        }
        if last + 1 < dust.frames() {
            keys.push((last + 1, [0.0; 3]));
        }
        if keys.len() > 1 {
            let (frames, scales): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
            self.animate(node, "scale", (&frames, dust), &scales);
        }
    }

    fn animate<const N: usize>(
        &mut self,
        node: usize,
        path: &str,
        (frames, dust): (&[usize], &Dust),
        values: &[[f32; N]],
    ) {
        let times: Vec<[f32; 1]> =
            frames.iter().map(|&frame| [(frame as f64 / dust.fps()) as f32]).collect();
        let times = self.add_values(&times, KEYS);
        let values = self.add_values(values, KEYS);
        let interpolation = if path == "scale" { "STEP" } else { "LINEAR" };
        let sampler = self.samplers.len();
        self.samplers
            .push(json!({ "input": times, "output": values, "interpolation": interpolation }));
        self.channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": path } }));
    }

    /// Adds an accessor for values and returns its index; `target` is that of its view.
    fn add_values<const N: usize>(&mut self, values: &[[f32; N]], target: Option<u32>) -> usize {
        let bound = |of: fn(f32, f32) -> f32| {
            let of = |a: [f32; N], b: &[f32; N]| std::array::from_fn(|n| of(a[n], b[n]));
            values.iter().fold(values[0], of).to_vec()
        };
        self.accessors.push(json!({
            "bufferView": self.views.len(), "componentType": FLOAT, "count": values.len(),
            "type": if N == 3 { "VEC3" } else { "SCALAR" },
            "min": bound(f32::min), "max": bound(f32::max),
        }));
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes.len(),
            "byteLength": size_of_val(values) });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.views.push(view);
        self.bytes.extend(values.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        self.accessors.len() - 1
    }

    fn write(self, out: &mut impl Write) -> io::Result<()> {
        let mut root = Map::new();
        root.insert("asset".to_owned(), json!({ "version": "2.0", "generator": "brisance" }));
        root.insert("scene".to_owned(), json!(0));
        // glTF does not allow empty lists
        let scene = match self.nodes.len() {
            0 => json!({ "name": "dust" }),
            count => json!({ "name": "dust", "nodes": (0..count).collect::<Vec<_>>() }),
        };
        root.insert("scenes".to_owned(), json!([scene]));
        let is_animated = !self.channels.is_empty();
        let animation = json!({ "channels": self.channels, "samplers": self.samplers });
        let length = self.bytes.len();
        if length > 0 {
            root.insert("buffers".to_owned(), json!([{ "byteLength": length }]));
            root.insert("bufferViews".to_owned(), Value::Array(self.views));
            root.insert("accessors".to_owned(), Value::Array(self.accessors));
            root.insert("meshes".to_owned(), Value::Array(self.meshes));
            root.insert("nodes".to_owned(), Value::Array(self.nodes));
        }
        if is_animated {
            root.insert("animations".to_owned(), json!([animation]));
        }
        let mut text = Value::Object(root).to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let chunk = if length > 0 { 8 + length } else { 0 };
        let whole = 12 + 8 + text.len() + chunk;
        out.write_all(b"glTF")?;
        for word in [2, whole, text.len()] {
            out.write_all(&(word as u32).to_le_bytes())?;
        }
        out.write_all(b"JSON")?;
        out.write_all(&text)?;
        if length > 0 {
            out.write_all(&(length as u32).to_le_bytes())?;
            out.write_all(b"BIN\0")?;
            out.write_all(&self.bytes)?;
        }
        Ok(())
    }
}

fn single(p: &Point3<f64>) -> [f32; 3] {
    p.coords.map(|x| x as f32).into()
}
