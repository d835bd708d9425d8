//! Coats and surfaces in the form that the pages of the program and the playground read.

use std::collections::BTreeMap;

use nalgebra::Isometry3;
use serde_json::{Value, json};
use sim::{Coat, Image, LazySurface, Look, Opacity, Surface, Texture, Wrap};

/// The type of an image, and its length in bytes.
pub fn image_head(image: &Image) -> Value {
    json!({ "type": image.kind.media_type(), "bytes": image.bytes.len() })
}

/// Coats and images, without duplicates.
#[derive(Debug, Default)]
pub struct Coats {
    known: Vec<(Coat, f32)>,
    /// The coats as JSON for the pages.
    pub entries: Vec<Value>,
    /// The images of the entries.
    pub images: Vec<Image>,
}

impl Coats {
    /// The index of a coat, which is added if it is new; `roughness` is that of the body, for coats without one.
    pub fn index_or_insert(&mut self, coat: &Coat, roughness: f32) -> usize {
        let roughness = coat.roughness.unwrap_or(roughness);
        let known = self.known.iter().position(|(c, r)| c == coat && *r == roughness);
        if let Some(known) = known {
            return known;
        }
        let image = coat.image.as_ref().map(|image| {
            self.images.iter().position(|known| known == image).unwrap_or_else(|| {
                self.images.push(image.clone());
                self.images.len() - 1
            })
        });
        let [r, g, b, alpha] = coat.color;
        let cutoff = match coat.opacity {
            Opacity::Mask(cutoff) => Some(cutoff),
            _ => None,
        };
        self.entries.push(json!({ "colour": [r, g, b], "alpha": alpha, "roughness": roughness,
            "metallic": coat.metallic, "blend": coat.opacity == Opacity::Blend,
            "cutoff": cutoff, "image": image, "wrap": coat.wrap.map(three_js_wrap) }));
        self.known.push((coat.clone(), roughness));
        self.known.len() - 1
    }
}

/// Geometries, without duplicates. A geometry is the outer surface of a body, the part of it with
/// one coat, or its cuts, with only the vertices that it uses. Bodies that share a surface share
/// its geometries.
#[derive(Debug, Default)]
pub struct Geometries {
    /// By the address of the surface, which a recorder or recording keeps alive, and the number of
    /// coats.
    known: BTreeMap<(usize, usize), Sides>,
    count: usize,
    packed: Packed,
}

/// Geometries in the form that pages read.
#[derive(Debug, Default)]
pub struct Packed {
    /// The index of the first geometry.
    pub first: usize,
    /// Vertices, triangles and texture coordinates of each.
    pub sizes: Vec<[usize; 3]>,
    /// For each its positions, normals and rest positions in the whole body, `f32`, its texture
    /// coordinates, `f32`, if it has some, and its triangles, `u32`, in little-endian order.
    pub bytes: Vec<u8>,
}

/// Indices of the geometries of a surface.
#[derive(Clone, Debug)]
pub struct Sides {
    /// The part without a coat.
    pub outer: Option<usize>,
    /// Cuts.
    pub inner: Option<usize>,
    /// By coat index.
    pub coated: Vec<(u32, usize)>,
}

impl Geometries {
    /// The geometries of a body with the given `coats`, which are added if they are new.
    pub fn sides_or_insert(&mut self, lazy_surface: &LazySurface, coats: &[Coat]) -> Sides {
        let key = (lazy_surface.address(), coats.len());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let surface = lazy_surface.surface();
        let (mut plain, mut coated) = (vec![], vec![]);
        for (number, triangles) in surface.outer_by_coat() {
            match number.and_then(|number| Some((number, coats.get(number as usize)?))) {
                Some((number, coat)) => {
                    let geometry = self.add(&surface, &triangles, coat.image.is_some());
                    coated.extend(geometry.map(|geometry| (number, geometry)));
                }
                None => plain.extend_from_slice(&triangles),
            }
        }
        let outer = self.add(&surface, &plain, false);
        let inner = self.add(&surface, &surface.inner, false);
        let sides = Sides { outer, inner, coated };
        self.known.insert(key, sides.clone());
        sides
    }

    /// Takes the geometries that are new since the last call.
    pub fn take(&mut self) -> Packed {
        std::mem::replace(&mut self.packed, Packed { first: self.count, ..Packed::default() })
    }

    fn add(&mut self, surface: &Surface, triangles: &[[u32; 3]], has_uvs: bool) -> Option<usize> {
        if triangles.is_empty() {
            return None;
        }
        let part = surface.part(triangles);
        let Packed { sizes, bytes, .. } = &mut self.packed;
        for vectors in [&part.vertices, &part.normals, &part.rest] {
            bytes.extend(vectors.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        }
        let mut uvs = if has_uvs { part.uvs } else { Vec::new() };
        // geometries of one batch have the same arrays
        uvs.resize(if has_uvs { part.vertices.len() } else { 0 }, [0.0; 2]);
        bytes.extend(uvs.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend(part.outer.as_flattened().iter().flat_map(|v| v.to_le_bytes()));
        sizes.push([part.vertices.len(), triangles.len(), uvs.len()]);
        self.count += 1;
        Some(self.count - 1)
    }
}

/// A JSON header for pages: its length, `u32`, its text, and zero padding to a multiple of four.
pub fn write_head(head: &Value) -> Vec<u8> {
    let head = head.to_string();
    let mut bytes = (head.len() as u32).to_le_bytes().to_vec();
    bytes.extend_from_slice(head.as_bytes());
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Appends position and unit quaternion x, y, z, w, seven `f32` in little-endian order.
pub fn write_pose(pose: &Isometry3<f64>, bytes: &mut Vec<u8>) {
    let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
    bytes.extend(numbers.flat_map(|&x| (x as f32).to_le_bytes()));
}

/// The appearance of a body as JSON for the pages: its look, and the indices of its geometries.
/// An infinite plane has no solid texture, as in pictures.
pub fn appearance(look: &Look, sides: &Sides, coats: &mut Coats, is_infinite_plane: bool) -> Value {
    let mut coat = |&(number, geometry): &(u32, usize)| {
        json!([geometry, coats.index_or_insert(&look.coats[number as usize], look.roughness)])
    };
    let coated: Vec<Value> = sides.coated.iter().map(&mut coat).collect();
    json!({
        "material": look.material,
        "colour": look.color,
        "inner_colour": look.inner_color,
        "roughness": look.roughness,
        "metallic": look.metallic,
        "texture": if is_infinite_plane { Texture::Plain } else { look.texture },
        "transmission": look.transmission,
        "ior": look.ior,
        "alpha": look.alpha,
        "outer": sides.outer,
        "inner": sides.inner,
        "coats": coated,
    })
}

/// The three.js constant for the wrapping of an image.
fn three_js_wrap(wrap: Wrap) -> u32 {
    match wrap {
        Wrap::Repeat => 1000,
        Wrap::Clamp => 1001,
        Wrap::Mirror => 1002,
    }
}
