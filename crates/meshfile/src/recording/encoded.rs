//! Surfaces as bytes.

use levelset::TriMesh;
use serde_json::{Value, json};
use sim::{Look, Surface, Texture};

use crate::texture;

pub(super) const FLOAT: u32 = 5126;
const UNSIGNED_BYTE: u32 = 5121;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
pub(super) const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// A surface encoded for the binary chunk; indices and offsets are relative to the surface.
#[derive(Default)]
pub(super) struct Encoded {
    pub(super) bytes: Vec<u8>,
    pub(super) views: Vec<Value>,
    pub(super) accessors: Vec<Value>,
    pub(super) primitive: Primitive,
}

/// Accessors of a surface.
#[derive(Clone, Default)]
pub(super) struct Primitive {
    pub(super) positions: usize,
    pub(super) normals: usize,
    pub(super) rest: usize,
    pub(super) uvs: Option<usize>,
    pub(super) colors: Option<usize>,
    /// Whether the colors are those of a solid texture.
    pub(super) is_painted: bool,
    /// Joints and weights of a skinned mesh.
    pub(super) binding: Option<[usize; 2]>,
    /// Indices of the existing sides: the outer surface first, part by part.
    pub(super) indices: Vec<(Side, usize)>,
}

/// A part of a surface with one material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The original surface of the body, with the number of its coat if it has one.
    Outer(Option<u32>),
    /// Cuts.
    Inner,
}

impl Primitive {
    /// Shifted by `by` accessors before it.
    pub(super) fn moved(self, by: usize) -> Self {
        let Self { positions, normals, rest, uvs, colors, is_painted, binding, indices } = self;
        Self {
            positions: positions + by,
            normals: normals + by,
            rest: rest + by,
            uvs: uvs.map(|n| n + by),
            colors: colors.map(|n| n + by),
            is_painted,
            binding: binding.map(|binding| binding.map(|n| n + by)),
            indices: indices.into_iter().map(|(side, n)| (side, n + by)).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Accessors by the names of attributes.
    pub(super) fn attributes(&self) -> Value {
        let Self { positions, normals, rest, uvs, colors, binding, .. } = *self;
        let mut attributes = json!({ "POSITION": positions, "NORMAL": normals, "_REST": rest });
        let [joints, weights] = binding.map_or([None; 2], |binding| binding.map(Some));
        let optional = [
            ("TEXCOORD_0", uvs),
            ("COLOR_0", colors),
            ("JOINTS_0", joints),
            ("WEIGHTS_0", weights),
        ];
        for (name, accessor) in optional {
            if let Some(accessor) = accessor {
                attributes[name] = json!(accessor);
            }
        }
        attributes
    }
}

/// The vertices of a surface in glTF form.
#[derive(Default)]
pub(super) struct Vertices {
    pub(super) positions: Vec<[f32; 3]>,
    /// Unit vectors.
    pub(super) normals: Vec<[f32; 3]>,
    pub(super) rest: Vec<[f32; 3]>,
    /// For every vertex or none, v downwards.
    pub(super) uvs: Vec<[f32; 2]>,
    /// For every vertex or none.
    pub(super) colors: Vec<[f32; 4]>,
    /// Whether the colors are those of a solid texture.
    pub(super) is_painted: bool,
}

impl Vertices {
    /// The vertices of a surface, colored by the solid texture of a look unless it has colors.
    pub(super) fn new(surface: &Surface, look: &Look) -> Self {
        let Surface { vertices, normals, rest, uvs, colors, .. } = surface;
        let has_texture = look.texture != Texture::Plain && !surface.is_endless();
        let is_painted = colors.is_empty() && has_texture;
        Self {
            positions: vertices.clone(),
            normals: normals.iter().map(unit).collect(),
            rest: rest.clone(),
            uvs: uvs.iter().map(|&[u, v]| [u, 1.0 - v]).collect(),
            colors: if is_painted { paint(surface, look) } else { colors.clone() },
            is_painted,
        }
    }
}

/// The sides of a surface, each with its triangles: the outer surface first, part by part.
pub(super) fn sides(surface: &Surface) -> Vec<(Side, Vec<[u32; 3]>)> {
    let outer = surface.outer_by_coat().into_iter();
    let outer = outer.map(|(coat, triangles)| (Side::Outer(coat), triangles.into_owned()));
    let inner = (Side::Inner, surface.inner.clone());
    outer.chain([inner]).filter(|(_, triangles)| !triangles.is_empty()).collect()
}

impl Encoded {
    /// A surface, colored by the solid texture of a look unless it has colors; empty if it has no
    /// triangles.
    pub(super) fn new(surface: &Surface, look: &Look) -> Self {
        let mut encoded = Self::default();
        let sides = sides(surface);
        if sides.is_empty() {
            return encoded;
        }
        let vertices = Vertices::new(surface, look);
        let primitive = encoded.add_vertices(&vertices);
        let count = vertices.positions.len();
        let of_side = |(side, triangles): (Side, Vec<[u32; 3]>)| {
            Some((side, encoded.add_indices(&triangles, count)?))
        };
        let indices = sides.into_iter().filter_map(of_side).collect();
        encoded.end_view(None);
        encoded.primitive = Primitive { indices, ..primitive };
        encoded
    }

    /// Triangles, each vertex of which follows one of the given number of joints.
    pub(super) fn skinned(
        vertices: &Vertices,
        triangles: &[[u32; 3]],
        joint_of: &[u16],
        joints: usize,
    ) -> Self {
        let mut encoded = Self::default();
        let primitive = encoded.add_vertices(vertices);
        let bytes = &mut encoded.bytes;
        let (component, size) = if joints <= 1 << u8::BITS {
            bytes.extend(joint_of.iter().flat_map(|&joint| [joint as u8, 0, 0, 0]));
            (UNSIGNED_BYTE, 4)
        } else {
            bytes.extend(joint_of.iter().flat_map(|joint| {
                let [low, high] = joint.to_le_bytes();
                [low, high, 0, 0, 0, 0, 0, 0]
            }));
            (UNSIGNED_SHORT, 8)
        };
        let joint = encoded.push(0, (component, "VEC4"), joint_of.len());
        encoded.end_view(Some(size));
        encoded.bytes.extend(joint_of.iter().flat_map(|_| [u8::MAX, 0, 0, 0]));
        let weight = encoded.push(0, (UNSIGNED_BYTE, "VEC4"), joint_of.len());
        encoded.accessors[weight]["normalized"] = json!(true);
        encoded.end_view(Some(4));
        let indices = encoded.add_indices(triangles, joint_of.len());
        encoded.end_view(None);
        let indices = indices.into_iter().map(|accessor| (Side::Outer(None), accessor)).collect();
        encoded.primitive = Primitive { binding: Some([joint, weight]), indices, ..primitive };
        encoded
    }

    /// The vertex attributes, without triangles.
    fn add_vertices(&mut self, vertices: &Vertices) -> Primitive {
        let Vertices { positions: places, normals, rest, uvs, colors, is_painted } = vertices;
        let positions = self.add(places, "VEC3");
        self.accessors[positions]["min"] = json!(fold(places, f32::min));
        self.accessors[positions]["max"] = json!(fold(places, f32::max));
        let normals = self.add(normals, "VEC3");
        let rest = self.add(rest, "VEC3");
        self.end_view(Some(12));
        let uvs = self.add_view(uvs, "VEC2");
        let colors = self.add_view(colors, "VEC4");
        let is_painted = *is_painted;
        Primitive { positions, normals, rest, uvs, colors, is_painted, ..Primitive::default() }
    }

    /// Only the positions and triangles of a mesh.
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
        let indices = indices.into_iter().map(|accessor| (Side::Outer(None), accessor)).collect();
        encoded.primitive = Primitive { positions, indices, ..Primitive::default() };
        encoded
    }

    /// One or more values with a separate view and accessor; `target` is that of the view.
    pub(super) fn of_values<const N: usize>(values: &[[f32; N]], target: Option<u32>) -> Self {
        let mut view = json!({ "buffer": 0, "byteOffset": 0, "byteLength": size_of_val(values) });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        let accessor = json!({
            "bufferView": 0, "componentType": FLOAT, "count": values.len(),
            "type": match N { 3 => "VEC3", 4 => "VEC4", _ => "SCALAR" },
            "min": fold(values, f32::min).as_slice(), "max": fold(values, f32::max).as_slice(),
        });
        let bytes = values.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
        Self { bytes, views: vec![view], accessors: vec![accessor], ..Self::default() }
    }

    /// Start of the unfinished view.
    fn start(&self) -> usize {
        let end = |view: &Value| [&view["byteOffset"], &view["byteLength"]].map(Value::as_u64);
        let [offset, len] = self.views.last().map_or([None; 2], end);
        (offset.unwrap_or(0) + len.unwrap_or(0)) as usize
    }

    /// Makes a view of the bytes since the last one; vertex views have a stride.
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

    /// Adds attributes with a separate view; `None` if there are none.
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

/// Vertex colors by a solid texture, without detail finer than a triangle; coats do not show the
/// texture.
fn paint(surface: &Surface, look: &Look) -> Vec<[f32; 4]> {
    const WIDTH: f32 = 0.01;
    let painted = |&rest: &[f32; 3]| {
        let color = texture::color(look.texture, rest.into(), WIDTH);
        [color.x, color.y, color.z, 1.0]
    };
    let mut painted: Vec<[f32; 4]> = surface.rest.iter().map(painted).collect();
    for (triangle, &coat) in surface.outer.iter().zip(&surface.coats) {
        if look.coats.get(coat as usize).is_some() {
            triangle.iter().for_each(|&v| painted[v as usize] = [1.0; 4]);
        }
    }
    painted
}

fn fold<const N: usize>(vectors: &[[f32; N]], pick: fn(f32, f32) -> f32) -> [f32; N] {
    let start = vectors[0];
    vectors.iter().fold(start, |b, v| std::array::from_fn(|a| pick(b[a], v[a])))
}

/// The normalized vector; up if it is zero, as on a degenerate triangle.
fn unit(v: &[f32; 3]) -> [f32; 3] {
    let v64 = nalgebra::Vector3::from(v.map(f64::from));
    let unit = v64.try_normalize(1e-12).unwrap_or(nalgebra::Vector3::y());
    unit.map(|x| x as f32).into()
}
