//! The binary chunk and the accessors that describe it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// Stretches of bytes, one for each way of use, each to become one buffer view.
#[derive(Default)]
pub(super) struct Buffer {
    stretches: [Vec<u8>; 5],
    accessors: Vec<Value>,
    /// Accessors of times written so far, by their frames: most tracks share theirs.
    times: BTreeMap<Vec<usize>, usize>,
}

const VERTICES: usize = 0;
const INDICES: usize = 1;
const KEYS: usize = 2;
/// Texture coordinates and colours, which have strides of their own.
const PAINT: [usize; 2] = [3, 4];

impl Buffer {
    pub(super) fn add_vertices(&mut self, vectors: &[[f32; 3]], with_bounds: bool) -> usize {
        let mut accessor = self.append(VERTICES, vectors.as_flattened(), "VEC3", vectors.len());
        if with_bounds {
            let fold = |pick: fn(f32, f32) -> f32| {
                let start = vectors[0];
                vectors.iter().fold(start, |b, v| std::array::from_fn(|a| pick(b[a], v[a])))
            };
            accessor["min"] = json!(fold(f32::min));
            accessor["max"] = json!(fold(f32::max));
        }
        self.push(accessor)
    }

    /// Texture coordinates or colours.
    pub(super) fn add_attribute<const N: usize>(
        &mut self,
        values: &[[f32; N]],
        kind: &str,
    ) -> usize {
        let stretch = PAINT[usize::from(N == 4)];
        let accessor = self.append(stretch, values.as_flattened(), kind, values.len());
        self.push(accessor)
    }

    pub(super) fn add_indices(&mut self, triangles: &[[u32; 3]], vertices: usize) -> usize {
        let indices = triangles.as_flattened();
        let stretch = &mut self.stretches[INDICES];
        let offset = stretch.len();
        // the largest 16-bit index is reserved
        let kind = if vertices < usize::from(u16::MAX) {
            stretch.extend(indices.iter().flat_map(|&i| (i as u16).to_le_bytes()));
            UNSIGNED_SHORT
        } else {
            stretch.extend(indices.iter().flat_map(|i| i.to_le_bytes()));
            UNSIGNED_INT
        };
        stretch.resize(stretch.len().next_multiple_of(4), 0);
        self.push(json!({
            "bufferView": INDICES, "byteOffset": offset, "componentType": kind,
            "count": indices.len(), "type": "SCALAR",
        }))
    }

    pub(super) fn add_times(&mut self, frames: &[usize], fps: f64) -> usize {
        if let Some(&known) = self.times.get(frames) {
            return known;
        }
        let times: Vec<f32> = frames.iter().map(|&frame| (frame as f64 / fps) as f32).collect();
        let mut accessor = self.append(KEYS, &times, "SCALAR", times.len());
        accessor["min"] = json!([times[0]]);
        accessor["max"] = json!([times[times.len() - 1]]);
        let at = self.push(accessor);
        self.times.insert(frames.to_vec(), at);
        at
    }

    pub(super) fn add_values<const N: usize>(&mut self, values: &[[f32; N]]) -> usize {
        let kind = if N == 3 { "VEC3" } else { "VEC4" };
        let accessor = self.append(KEYS, values.as_flattened(), kind, values.len());
        self.push(accessor)
    }

    fn append(&mut self, stretch: usize, floats: &[f32], kind: &str, count: usize) -> Value {
        let offset = self.stretches[stretch].len();
        self.stretches[stretch].extend(floats.iter().flat_map(|x| x.to_le_bytes()));
        json!({
            "bufferView": stretch, "byteOffset": offset, "componentType": FLOAT,
            "count": count, "type": kind,
        })
    }

    fn push(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Accessors, buffer views and the bytes they refer to.
    pub(super) fn finish(mut self) -> (Vec<Value>, Vec<Value>, Vec<u8>) {
        let mut views = vec![];
        let mut bytes = vec![];
        let mut place = [0; 5];
        for (stretch, content) in self.stretches.iter().enumerate() {
            // glTF has no empty views
            if content.is_empty() {
                continue;
            }
            place[stretch] = views.len();
            let mut view =
                json!({ "buffer": 0, "byteOffset": bytes.len(), "byteLength": content.len() });
            let stride = match stretch {
                VERTICES => Some(12),
                _ => PAINT.iter().position(|&paint| paint == stretch).map(|k| [8, 16][k]),
            };
            if let Some(stride) = stride {
                view["byteStride"] = json!(stride);
                view["target"] = json!(ARRAY_BUFFER);
            } else if stretch == INDICES {
                view["target"] = json!(ELEMENT_ARRAY_BUFFER);
            }
            views.push(view);
            bytes.extend_from_slice(content);
        }
        for accessor in &mut self.accessors {
            let stretch = accessor["bufferView"].as_u64().map_or(0, |s| s as usize);
            accessor["bufferView"] = json!(place[stretch]);
        }
        (self.accessors, views, bytes)
    }
}
