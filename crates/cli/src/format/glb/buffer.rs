//! What the binary chunk holds: first surfaces, one after another, then the keys of animations.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::encoded::{Encoded, FLOAT, Primitive};

/// The accessors and views that describe the chunk. Of surfaces only the size is known here.
#[derive(Default)]
pub(super) struct Buffer {
    accessors: Vec<Value>,
    views: Vec<Value>,
    /// Bytes of surfaces.
    surfaces: usize,
    keys: Vec<u8>,
    /// Accessors of times so far, by their frames: most tracks share theirs.
    times: BTreeMap<Vec<usize>, usize>,
}

/// What a [`Buffer`] ends with.
pub(super) struct Layout {
    pub(super) accessors: Vec<Value>,
    pub(super) views: Vec<Value>,
    /// Bytes of surfaces, which come first.
    surfaces: usize,
    /// The bytes after them.
    pub(super) keys: Vec<u8>,
}

impl Layout {
    /// Bytes of the binary chunk.
    pub(super) fn len(&self) -> usize {
        self.surfaces + self.keys.len()
    }
}

impl Buffer {
    /// Leaves room for a surface after those before.
    pub(super) fn add_surface(&mut self, surface: &Encoded) -> Primitive {
        let (views, accessors) = (self.views.len(), self.accessors.len());
        for view in &surface.views {
            self.views.push(moved(view, "byteOffset", self.surfaces));
        }
        for accessor in &surface.accessors {
            self.accessors.push(moved(accessor, "bufferView", views));
        }
        self.surfaces += surface.bytes.len();
        surface.primitive.moved(accessors)
    }

    pub(super) fn add_times(&mut self, frames: &[usize], fps: f64) -> usize {
        if let Some(&known) = self.times.get(frames) {
            return known;
        }
        let times: Vec<f32> = frames.iter().map(|&frame| (frame as f64 / fps) as f32).collect();
        let mut accessor = self.append(&times, "SCALAR", times.len());
        accessor["min"] = json!([times[0]]);
        accessor["max"] = json!([times[times.len() - 1]]);
        let at = self.push(accessor);
        self.times.insert(frames.to_vec(), at);
        at
    }

    pub(super) fn add_values<const N: usize>(&mut self, values: &[[f32; N]]) -> usize {
        let kind = if N == 3 { "VEC3" } else { "VEC4" };
        let accessor = self.append(values.as_flattened(), kind, values.len());
        self.push(accessor)
    }

    /// An accessor of keys: their view has no number yet.
    fn append(&mut self, floats: &[f32], kind: &str, count: usize) -> Value {
        let offset = self.keys.len();
        self.keys.extend(floats.iter().flat_map(|x| x.to_le_bytes()));
        json!({ "byteOffset": offset, "componentType": FLOAT, "count": count, "type": kind })
    }

    fn push(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    pub(super) fn finish(self) -> Layout {
        let Self { mut accessors, mut views, surfaces, keys, .. } = self;
        for accessor in &mut accessors {
            if accessor["bufferView"].is_null() {
                accessor["bufferView"] = json!(views.len());
            }
        }
        // glTF has no empty views
        if !keys.is_empty() {
            let view = json!({ "buffer": 0, "byteOffset": surfaces, "byteLength": keys.len() });
            views.push(view);
        }
        Layout { accessors, views, surfaces, keys }
    }
}

/// With a number larger by `by`.
fn moved(value: &Value, key: &str, by: usize) -> Value {
    let mut moved = value.clone();
    moved[key] = json!(value[key].as_u64().map_or(0, |n| n as usize) + by);
    moved
}
