//! A recording as the page reads it.

use std::collections::BTreeMap;

use meshfile::page::{Coats, image_head};
use serde_json::{Value, json};
use sim::{Coat, Recording, Skin, Surface, Texture, Track};

use crate::render::View;

/// The recording as bytes, little-endian, named `name` on the page.
///
/// A `u32` with the length of a header in JSON, the header, zeros up to a multiple of four; then of
/// each geometry of the header its positions, normals and places in the whole body, `f32`, its texture coordinates,
/// `f32`, if it has some, and its triangles, `u32`; then of
/// each body its poses, seven `f32` a frame: position, m, and unit quaternion x, y, z, w; then of each image
/// of the header the bytes of its file. A geometry
/// is the outer surface of a body, what of it has one coat, or its cuts, with only the vertices that are its own;
/// bodies that share a surface share its geometries.
pub fn playback(recording: &Recording, name: &str) -> Vec<u8> {
    let mut geometries = Geometries::default();
    let mut coats = Coats::default();
    let mut packed = |track| body(track, recording.fps, (&mut geometries, &mut coats));
    let bodies: Vec<Value> = recording.tracks.iter().map(&mut packed).collect();
    let view = View::fitted(recording, 16.0 / 9.0);
    let (center, arm, field, radius) = view.at(recording, 0.0).parts();
    let energies: Vec<Value> = recording
        .energies
        .iter()
        .map(|e| json!({ "kinetic": e.kinetic, "potential": e.potential, "dissipated": e.dissipated }))
        .collect();
    let head = json!({
        "name": name,
        "fps": recording.fps,
        "frames": recording.frames,
        "view": { "centre": center, "arm": arm, "radius": radius, "field": field,
            "path": path(recording, &view) },
        "geometries": geometries.sizes,
        "bodies": bodies,
        "coats": coats.entries,
        "images": coats.images.iter().map(image_head).collect::<Vec<_>>(),
        "energies": energies,
    });
    let head = head.to_string();
    let mut bytes = (head.len() as u32).to_le_bytes().to_vec();
    bytes.extend_from_slice(head.as_bytes());
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.append(&mut geometries.bytes);
    for pose in recording.tracks.iter().flat_map(|t| &t.poses) {
        let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
        bytes.extend(numbers.flat_map(|&x| (x as f32).to_le_bytes()));
    }
    coats.images.iter().for_each(|image| bytes.extend_from_slice(&image.bytes));
    bytes
}

/// Where the camera looks and the way from there to it in each frame, if it moves.
fn path(recording: &Recording, view: &View) -> Option<Vec<[f64; 6]>> {
    let place = |frame: usize| {
        let ([x, y, z], [a, b, c], ..) = view.at(recording, frame as f64).parts();
        [x, y, z, a, b, c]
    };
    let path: Vec<[f64; 6]> = (0..recording.frames).map(place).collect();
    path.windows(2).any(|pair| pair[0] != pair[1]).then_some(path)
}

fn body(track: &Track, fps: f64, (geometries, coats): (&mut Geometries, &mut Coats)) -> Value {
    // of its last frames, while it shrinks
    let shrinking = track.shrinks.unwrap_or(track.end())..track.end();
    let sizes: Vec<f64> = shrinking.map(|frame| track.scale(frame, fps)).collect();
    let look = &track.look;
    let Sides { outer, inner, coated } = geometries.of(&track.skin, &look.coats);
    let mut coat = |&(number, geometry): &(u32, usize)| {
        let coat = coats.of(&look.coats[number as usize], look.roughness);
        json!([geometry, coat])
    };
    let coated: Vec<Value> = coated.iter().map(&mut coat).collect();
    let stress: Vec<Value> =
        track.stresses.iter().map(|s| json!([s.frame, s.principal, s.von_mises])).collect();
    json!({
        "name": track.name,
        "parent": track.parent,
        "birth": track.birth,
        "frames": track.poses.len(),
        "sizes": sizes,
        "stress": stress,
        "material": track.look.material,
        "colour": track.look.color,
        "inner_colour": track.look.inner_color,
        "roughness": track.look.roughness,
        "texture": texture_of(track),
        "transmission": track.look.transmission,
        "ior": track.look.ior,
        "alpha": track.look.alpha,
        "outer": outer,
        "inner": inner,
        "coats": coated,
    })
}

/// Its solid texture; a plane without an end has none, as in pictures.
fn texture_of(track: &Track) -> Texture {
    if track.surface().is_endless() { Texture::Plain } else { track.look.texture }
}

#[derive(Default)]
struct Geometries {
    /// Vertices, triangles and texture coordinates of each.
    sizes: Vec<[usize; 3]>,
    bytes: Vec<u8>,
    /// By the address of the surface and how many coats it may have.
    known: BTreeMap<(usize, usize), Sides>,
}

/// Geometries of a surface.
#[derive(Clone)]
struct Sides {
    /// What has no coat.
    outer: Option<usize>,
    inner: Option<usize>,
    /// By the numbers of coats.
    coated: Vec<(u32, usize)>,
}

impl Geometries {
    /// Of the outer surface, of those of its `coats`, and of cuts, where there are any.
    fn of(&mut self, skin: &Skin, coats: &[Coat]) -> Sides {
        let key = (skin.address(), coats.len());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let surface = skin.surface();
        let (mut plain, mut coated) = (vec![], vec![]);
        for (coat, triangles) in surface.outer_by_coat() {
            match coat.and_then(|number| Some((number, coats.get(number as usize)?))) {
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

    fn add(&mut self, surface: &Surface, triangles: &[[u32; 3]], has_uvs: bool) -> Option<usize> {
        if triangles.is_empty() {
            return None;
        }
        let part = surface.part(triangles);
        for vectors in [&part.vertices, &part.normals, &part.rest] {
            self.bytes.extend(vectors.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        }
        let mut uvs = if has_uvs { part.uvs } else { Vec::new() };
        // geometries of one batch have the same arrays
        uvs.resize(if has_uvs { part.vertices.len() } else { 0 }, [0.0; 2]);
        self.bytes.extend(uvs.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        self.bytes.extend(part.outer.as_flattened().iter().flat_map(|v| v.to_le_bytes()));
        self.sizes.push([part.vertices.len(), triangles.len(), uvs.len()]);
        Some(self.sizes.len() - 1)
    }
}
