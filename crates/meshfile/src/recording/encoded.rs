//! Surfaces as bytes.

use levelset::TriMesh;
use serde_json::{Value, json};
use sim::{Surface, Texture};

use crate::texture;

pub(super) const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// A surface as the binary chunk holds it; numbers and offsets count from its own first.
#[derive(Default)]
pub(super) struct Encoded {
    pub(super) bytes: Vec<u8>,
    pub(super) views: Vec<Value>,
    pub(super) accessors: Vec<Value>,
    pub(super) primitive: Primitive,
}

/// Accessors of a surface.
#[derive(Clone, Copy, Default)]
pub(super) struct Primitive {
    pub(super) positions: usize,
    pub(super) normals: usize,
    pub(super) rest: usize,
    pub(super) uvs: Option<usize>,
    pub(super) colors: Option<usize>,
    /// Whether the colors are those of a solid texture.
    pub(super) is_painted: bool,
    /// Of the outer surface and of cuts, where there are any.
    pub(super) indices: [Option<usize>; 2],
}

impl Primitive {
    /// With `by` accessors before it.
    pub(super) fn moved(self, by: usize) -> Self {
        let Self { positions, normals, rest, uvs, colors, is_painted, indices } = self;
        Self {
            positions: positions + by,
            normals: normals + by,
            rest: rest + by,
            uvs: uvs.map(|n| n + by),
            colors: colors.map(|n| n + by),
            is_painted,
            indices: indices.map(|n| n.map(|n| n + by)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.indices == [None; 2]
    }
}

impl Encoded {
    /// A surface, painted with a solid texture unless it has colors; nothing if it has no triangles.
    pub(super) fn new(surface: &Surface, texture: Texture) -> Self {
        let Surface { vertices, normals, rest, uvs, colors, outer, inner } = surface;
        let mut encoded = Self::default();
        if outer.is_empty() && inner.is_empty() {
            return encoded;
        }
        let normals: Vec<_> = normals.iter().map(unit).collect();
        let positions = encoded.add(vertices, "VEC3");
        encoded.accessors[positions]["min"] = json!(fold(vertices, f32::min));
        encoded.accessors[positions]["max"] = json!(fold(vertices, f32::max));
        let normals = encoded.add(&normals, "VEC3");
        let rest = encoded.add(rest, "VEC3");
        encoded.end_view(Some(12));
        // glTF counts v downwards
        let uvs: Vec<_> = uvs.iter().map(|&[u, v]| [u, 1.0 - v]).collect();
        let uvs = encoded.add_view(&uvs, "VEC2");
        let painted: Vec<_>;
        let has_texture = texture != Texture::Plain && !surface.is_endless();
        let is_painted = colors.is_empty() && has_texture;
        let colors = if is_painted {
            painted = surface.rest.iter().map(|&rest| paint(texture, rest)).collect();
            &painted
        } else {
            colors
        };
        let colors = encoded.add_view(colors, "VEC4");
        let indices = [outer, inner].map(|side| encoded.add_indices(side, vertices.len()));
        encoded.end_view(None);
        encoded.primitive =
            Primitive { positions, normals, rest, uvs, colors, is_painted, indices };
        encoded
    }

    /// The places and triangles of a mesh, and nothing else.
    pub(super) fn of_mesh(mesh: &TriMesh) -> Self {
        let mut encoded = Self::default();
        if mesh.triangles.is_empty() {
            return encoded;
        }
        let vertices: Vec<[f32; 3]> =
            mesh.vertices.iter().map(|p| p.coords.map(|x| x as f32).into()).collect();
        let positions = encoded.add(&vertices, "VEC3");
        encoded.accessors[positions]["min"] = json!(fold(&vertices, f32::min));
        encoded.accessors[positions]["max"] = json!(fold(&vertices, f32::max));
        encoded.end_view(Some(12));
        let indices = encoded.add_indices(&mesh.triangles, vertices.len());
        encoded.end_view(None);
        encoded.primitive =
            Primitive { positions, indices: [indices, None], ..Primitive::default() };
        encoded
    }

    /// Where the view begins that is not ended yet.
    fn start(&self) -> usize {
        let end = |view: &Value| [&view["byteOffset"], &view["byteLength"]].map(Value::as_u64);
        let [offset, len] = self.views.last().map_or([None; 2], end);
        (offset.unwrap_or(0) + len.unwrap_or(0)) as usize
    }

    /// Makes a view of the bytes since the last; those of vertices have a stride.
    fn end_view(&mut self, stride: Option<usize>) {
        let start = self.start();
        let target = if stride.is_some() { ARRAY_BUFFER } else { ELEMENT_ARRAY_BUFFER };
        let mut view = json!({ "buffer": 0, "byteOffset": start,
            "byteLength": self.bytes.len() - start, "target": target });
        if let Some(stride) = stride {
            view["byteStride"] = json!(stride);
        }
        self.views.push(view);
    }

    /// Attributes with a view of their own; nothing if there are none.
    fn add_view<const N: usize>(&mut self, values: &[[f32; N]], kind: &str) -> Option<usize> {
        if values.is_empty() {
            return None;
        }
        let accessor = self.add(values, kind);
        self.end_view(Some(4 * N));
        Some(accessor)
    }

    fn add<const N: usize>(&mut self, values: &[[f32; N]], kind: &str) -> usize {
        let offset = self.bytes.len() - self.start();
        self.bytes.extend(values.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        self.push(offset, (FLOAT, kind), values.len())
    }

    fn add_indices(&mut self, triangles: &[[u32; 3]], vertices: usize) -> Option<usize> {
        if triangles.is_empty() {
            return None;
        }
        let indices = triangles.as_flattened();
        let offset = self.bytes.len() - self.start();
        // the largest 16-bit index is reserved
        let component = if vertices < usize::from(u16::MAX) {
            self.bytes.extend(indices.iter().flat_map(|&i| (i as u16).to_le_bytes()));
            UNSIGNED_SHORT
        } else {
            self.bytes.extend(indices.iter().flat_map(|i| i.to_le_bytes()));
            UNSIGNED_INT
        };
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        Some(self.push(offset, (component, "SCALAR"), indices.len()))
    }

    fn push(&mut self, offset: usize, (component, kind): (u32, &str), count: usize) -> usize {
        self.accessors.push(json!({ "bufferView": self.views.len(), "byteOffset": offset,
            "componentType": component, "count": count, "type": kind }));
        self.accessors.len() - 1
    }
}

/// What a vertex shows of a texture, of which a triangle shows nothing finer than itself.
fn paint(texture: Texture, rest: [f32; 3]) -> [f32; 4] {
    const WIDTH: f32 = 0.01;
    let color = texture::color(texture, rest.into(), WIDTH);
    [color.x, color.y, color.z, 1.0]
}

fn fold(vectors: &[[f32; 3]], pick: fn(f32, f32) -> f32) -> [f32; 3] {
    let start = vectors[0];
    vectors.iter().fold(start, |b, v| std::array::from_fn(|a| pick(b[a], v[a])))
}

/// The vector scaled to length one; up where it has none, as on a degenerate triangle.
fn unit(v: &[f32; 3]) -> [f32; 3] {
    let v64 = nalgebra::Vector3::from(v.map(f64::from));
    let unit = v64.try_normalize(1e-12).unwrap_or(nalgebra::Vector3::y());
    unit.map(|x| x as f32).into()
}
