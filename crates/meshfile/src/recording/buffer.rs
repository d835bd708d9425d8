//! Layout of the binary chunk: surfaces, one after another, then images, then animation keys.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::encoded::{Encoded, FLOAT, Primitive};
use super::keys::key_time;

/// The accessors and views that describe the chunk. Only the sizes of surfaces and keys are known
/// here.
#[derive(Default)]
pub(super) struct Buffer<'a> {
    accessors: Vec<Value>,
    views: Vec<Value>,
    /// Bytes of surfaces and images.
    surfaces: usize,
    /// Bytes of keys.
    keys: usize,
    /// Destination of keys; `None` only counts them.
    out: Option<&'a mut dyn Write>,
    /// Accessors of times so far, by their runs of consecutive frames (bits of the first frame,
    /// length): most tracks share theirs.
    times: BTreeMap<Vec<(u64, usize)>, usize>,
}

/// The result of a [`Buffer`].
pub(super) struct Layout {
    pub(super) accessors: Vec<Value>,
    pub(super) views: Vec<Value>,
    /// Bytes of surfaces and images, which come first.
    surfaces: usize,
    /// Bytes of the keys after them.
    keys: usize,
}

impl Layout {
    /// Bytes of the binary chunk.
    pub(super) fn len(&self) -> usize {
        self.surfaces + self.keys
    }
}

impl<'a> Buffer<'a> {
    /// Writes keys to `out`, in the order in which they are added.
    pub(super) fn writing(out: &'a mut dyn Write) -> Self {
        Self { out: Some(out), ..Self::default() }
    }

    /// Reserves space for a surface after the previous ones.
    pub(super) fn add_surface(&mut self, surface: &Encoded) -> Primitive {
        surface.primitive.clone().moved(self.add(surface))
    }

    /// As [`Buffer::add_surface`]; returns the number of the first accessor.
    pub(super) fn add(&mut self, encoded: &Encoded) -> usize {
        let (views, accessors) = (self.views.len(), self.accessors.len());
        for view in &encoded.views {
            self.views.push(moved(view, "byteOffset", self.surfaces));
        }
        for accessor in &encoded.accessors {
            self.accessors.push(moved(accessor, "bufferView", views));
        }
        self.surfaces += encoded.bytes.len();
        accessors
    }

    /// Reserves space for the bytes of an image after the previous surfaces and images; returns the
    /// number of its view.
    pub(super) fn add_bytes(&mut self, bytes: &[u8]) -> usize {
        let view = json!({ "buffer": 0, "byteOffset": self.surfaces, "byteLength": bytes.len() });
        self.views.push(view);
        self.surfaces += padded(bytes.len());
        self.views.len() - 1
    }

    /// Adds the times of keys, in frames; returns the number of their accessor.
    pub(super) fn add_times(&mut self, frames: &[f64], fps: f64) -> io::Result<usize> {
        let runs = frames.chunk_by(|a, b| a + 1.0 == *b);
        let runs = runs.map(|run| (run[0].to_bits(), run.len())).collect();
        if let Some(&known) = self.times.get(&runs) {
            return Ok(known);
        }
        let times: Vec<f32> = frames.iter().map(|&frame| key_time(frame, fps)).collect();
        let mut accessor = self.append(&times, "SCALAR", times.len())?;
        accessor["min"] = json!([times[0]]);
        accessor["max"] = json!([times[times.len() - 1]]);
        let at = self.push(accessor);
        self.times.insert(runs, at);
        Ok(at)
    }

    pub(super) fn add_values<const N: usize>(&mut self, values: &[[f32; N]]) -> io::Result<usize> {
        let kind = if N == 3 { "VEC3" } else { "VEC4" };
        let accessor = self.append(values.as_flattened(), kind, values.len())?;
        Ok(self.push(accessor))
    }

    /// An accessor of keys: their view has no number yet.
    fn append(&mut self, floats: &[f32], kind: &str, count: usize) -> io::Result<Value> {
        let offset = self.keys;
        self.keys += size_of_val(floats);
        if let Some(out) = &mut self.out {
            floats.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))?;
        }
        Ok(json!({ "byteOffset": offset, "componentType": FLOAT, "count": count, "type": kind }))
    }

    /// Adds an accessor; one without a view belongs to keys.
    pub(super) fn push(&mut self, accessor: Value) -> usize {
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
        // glTF does not allow empty views
        if keys > 0 {
            let view = json!({ "buffer": 0, "byteOffset": surfaces, "byteLength": keys });
            views.push(view);
        }
        Layout { accessors, views, surfaces, keys }
    }
}

/// The size of a view with its padding: views begin at multiples of four bytes.
pub(super) fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(4)
}

/// A copy of an object with the number at `key` increased by `by`.
fn moved(value: &Value, key: &str, by: usize) -> Value {
    let mut moved = value.clone();
    moved[key] = json!(value[key].as_u64().map_or(0, |n| n as usize) + by);
    moved
}
