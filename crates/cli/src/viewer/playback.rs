//! A recording as the page reads it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sim::{Recording, Skin, Surface, Texture, Track};

use crate::render::View;

/// The recording as bytes, little-endian, named `name` on the page.
///
/// A `u32` with the length of a header in JSON, the header, zeros up to a multiple of four; then of
/// each geometry of the header its positions, normals and places in the whole body, `f32`, and its triangles, `u32`; then of
/// each body its poses, seven `f32` a frame: position, m, and unit quaternion x, y, z, w. A geometry
/// is the outer surface of a body or its cuts, with only the vertices that are its own; bodies that
/// share a surface share its geometries.
pub fn playback(recording: &Recording, name: &str) -> Vec<u8> {
    let mut geometries = Geometries::default();
    let bodies: Vec<Value> =
        recording.tracks.iter().map(|track| body(track, recording.fps, &mut geometries)).collect();
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

fn body(track: &Track, fps: f64, geometries: &mut Geometries) -> Value {
    // of its last frames, while it shrinks
    let shrinking = track.shrinks.unwrap_or(track.end())..track.end();
    let sizes: Vec<f64> = shrinking.map(|frame| track.scale(frame, fps)).collect();
    let [outer, inner] = geometries.of(&track.skin);
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
    })
}

/// Its solid texture; a plane without an end has none, as in pictures.
fn texture_of(track: &Track) -> Texture {
    if track.surface().is_endless() { Texture::Plain } else { track.look.texture }
}

#[derive(Default)]
struct Geometries {
    /// Vertices and triangles of each.
    sizes: Vec<[usize; 2]>,
    bytes: Vec<u8>,
    /// By the address of the surface: outer and inner.
    known: BTreeMap<usize, [Option<usize>; 2]>,
}

impl Geometries {
    /// Of the outer surface and of cuts, where there are any.
    fn of(&mut self, skin: &Skin) -> [Option<usize>; 2] {
        let key = skin.address();
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let surface = skin.surface();
        let sides = [&surface.outer, &surface.inner].map(|side| self.add(&surface, side));
        self.known.insert(key, sides);
        sides
    }

    fn add(&mut self, surface: &Surface, triangles: &[[u32; 3]]) -> Option<usize> {
        if triangles.is_empty() {
            return None;
        }
        let part = surface.part(triangles);
        for vectors in [&part.vertices, &part.normals, &part.rest] {
            self.bytes.extend(vectors.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        }
        self.bytes.extend(part.outer.as_flattened().iter().flat_map(|v| v.to_le_bytes()));
        self.sizes.push([part.vertices.len(), triangles.len()]);
        Some(self.sizes.len() - 1)
    }
}
