//! Dust as animated points, with a size independent of the number of frames.
//!
//! Particles of one color with the same first and last frame form one mesh of points. Its morph
//! target is their displacement by velocity, with a weight that increases linearly from 0 to 1;
//! gravity moves the node. A scale that steps between 0 and 1 shows the node, as in recordings. The
//! attribute `_SIZE` is the diameter, m.
//!
//! Crumbs are such points in flight. Those of one color that land in the same frame become
//! instances of one mesh (`EXT_mesh_gpu_instancing`). A scale animation makes the mesh visible from the landing
//! frame on.

use std::collections::BTreeMap;
use std::io::Write;

use nalgebra::{Point3, Vector3, Vector4};
use serde_json::{Map, json};
use sim::{Dust, LandedCrumb, Speck};

use crate::glb_file::INSTANCING;

use super::chunks::write_head;
use super::document::Document;
use super::encoded::{ARRAY_BUFFER, Encoded};
use super::error::WriteError;

const POINTS: u32 = 0;
/// View targets: the one of vertices, and none for keys and instances.
const VERTICES: Option<u32> = Some(ARRAY_BUFFER);
const KEYS: Option<u32> = None;
/// Corners of a crumb, an irregular double pyramid, up to a factor.
const CORNERS: [[f64; 3]; 6] = [
    [1.0, 0.1, -0.2],
    [-0.9, 0.2, 0.1],
    [0.1, 0.9, 0.2],
    [-0.2, -1.0, 0.1],
    [0.2, -0.1, 1.0],
    [-0.1, 0.2, -0.9],
];
/// Its faces, counterclockwise from outside.
const FACES: [[usize; 3]; 8] =
    [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];

/// Writes dust as one GLB of animated points to `out`, or crumbs as points and instances.
///
/// # Errors
/// [`WriteError`] if it is larger than the format allows, or writing fails.
pub fn write_dust_glb(dust: &Dust, out: &mut impl Write) -> Result<(), WriteError> {
    let mut points = Points { dust, document: Document::default(), bytes: Vec::new(), crumb: None };
    for ((birth, last, color), specks) in groups(dust) {
        points.add(&Group { birth, last, color: color.map(f32::from_bits), specks });
    }
    for ((frame, color), crumbs) in landed(dust) {
        points.add_landed(frame, color.map(f32::from_bits), &crumbs);
    }
    let Points { mut document, bytes, .. } = points;
    if document.nodes.is_empty() {
        // many readers expect a node
        document.push_node(json!({ "name": name(dust) }));
    }
    document.in_scene = 0..document.nodes.len();
    let scene = Map::from_iter([("name".to_owned(), json!(name(dust)))]);
    let (mut json, layout) = document.finish(scene);
    json["asset"]["generator"] = json!("brisance");
    write_head(&json, &layout, out)?;
    Ok(out.write_all(&bytes)?)
}

fn name(dust: &Dust) -> &'static str {
    if dust.are_crumbs() { "crumbs" } else { "dust" }
}

/// Particles of one color that exist in the same frames.
struct Group<'a> {
    birth: usize,
    /// The last frame in which they exist.
    last: usize,
    /// Linear.
    color: [f32; 3],
    specks: Vec<&'a Speck>,
}

/// The first and the last frame of particles, and the bits of their color.
type Key = (usize, usize, [u32; 3]);

fn groups(dust: &Dust) -> BTreeMap<Key, Vec<&Speck>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for speck in &dust.specks {
        let last = (speck.birth + dust.shown_frames(speck) - 1).min(dust.frames() - 1);
        groups.entry((speck.birth, last, speck.color.map(f32::to_bits))).or_default().push(speck);
    }
    groups
}

/// Crumbs by the frame from which on they rest and the bits of their color.
fn landed(dust: &Dust) -> BTreeMap<(usize, [u32; 3]), Vec<LandedCrumb>> {
    let mut landed: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for crumb in dust.landed() {
        let color = dust.specks[crumb.number].color.map(f32::to_bits);
        landed.entry((crumb.frame, color)).or_default().push(crumb);
    }
    landed
}

/// The triangles of a crumb of unit volume, each with its normal.
fn crumb_triangles() -> [([Vector3<f64>; 3], Vector3<f64>); 8] {
    let triangles = FACES.map(|face| face.map(|corner| Vector3::from(CORNERS[corner])));
    let volume: f64 = triangles.iter().map(|[a, b, c]| a.dot(&b.cross(c)) / 6.0).sum();
    triangles.map(|triangle| {
        let [a, b, c] = triangle.map(|corner| corner / libm::cbrt(volume));
        ([a, b, c], (b - a).cross(&(c - a)).normalize())
    })
}

/// A file under construction.
struct Points<'a> {
    dust: &'a Dust,
    document: Document<'static>,
    bytes: Vec<u8>,
    /// The position and normal accessors of the mesh of crumbs, once there are any.
    crumb: Option<[usize; 2]>,
}

impl Points<'_> {
    fn add(&mut self, group: &Group<'_>) {
        let &Group { birth, last, color, ref specks } = group;
        let duration = (last - birth) as f64 / self.dust.fps();
        let places: Vec<[f32; 3]> = specks.iter().map(|s| single(s.position)).collect();
        let flown: Vec<[f32; 3]> =
            specks.iter().map(|s| single((s.velocity * duration).into())).collect();
        let sizes: Vec<[f32; 1]> = specks.iter().map(|s| [s.size as f32]).collect();
        let [places, flown] = [places, flown].map(|values| self.add_values(&values, VERTICES));
        let sizes = self.add_values(&sizes, VERTICES);
        let (mesh, material) = (self.document.meshes.len(), self.material(color));
        self.document.meshes.push(json!({
            "primitives": [{
                "mode": POINTS,
                "material": material,
                "attributes": { "POSITION": places, "_SIZE": sizes },
                "targets": [{ "POSITION": flown }],
            }],
            "weights": [0],
        }));
        let scale = if birth == 0 { 1 } else { 0 };
        let name = format!("{} {birth}-{last}", name(self.dust));
        let node = json!({ "name": name, "mesh": mesh, "scale": [scale, scale, scale] });
        let node = self.document.push_node(node);
        self.add_scale(node, birth, last);
        if last > birth {
            let frames: Vec<usize> = (birth..=last).collect();
            let fall = |&frame: &usize| {
                let time = (frame - birth) as f64 / self.dust.fps();
                let fall: Vector3<f64> = self.dust.gravity() * (0.5 * time * time);
                single(fall.into())
            };
            let falls: Vec<[f32; 3]> = frames.iter().map(fall).collect();
            self.animate(node, "translation", &frames, &falls);
            self.animate(node, "weights", &[birth, last], &[[0.0], [1.0]]);
        }
    }

    /// Adds crumbs that rest from a frame on.
    fn add_landed(&mut self, frame: usize, color: [f32; 3], crumbs: &[LandedCrumb]) {
        let [positions, normals] = self.crumb_mesh();
        let (mesh, material) = (self.document.meshes.len(), self.material(color));
        self.document.meshes.push(json!({ "primitives": [{
            "material": material,
            "attributes": { "POSITION": positions, "NORMAL": normals },
        }] }));
        let places: Vec<[f32; 3]> =
            crumbs.iter().map(|c| single(c.pose.translation.vector.into())).collect();
        let turn = |c: &LandedCrumb| Vector4::from(c.pose.rotation.coords).map(|x| x as f32).into();
        let turns: Vec<[f32; 4]> = crumbs.iter().map(turn).collect();
        let scales: Vec<[f32; 3]> = crumbs.iter().map(|c| single(c.scale.into())).collect();
        let [places, scales] = [places, scales].map(|values| self.add_values(&values, KEYS));
        let turns = self.add_values(&turns, KEYS);
        let node = self.document.push_node(json!({
            "name": format!("crumbs {frame}"),
            "mesh": mesh,
            "scale": [0, 0, 0],
            "extensions": { INSTANCING: {
                "attributes": { "TRANSLATION": places, "ROTATION": turns, "SCALE": scales },
            } },
        }));
        self.animate(node, "scale", &[0, frame], &[[0.0; 3], [1.0; 3]]);
    }

    /// The accessors of the mesh of all crumbs.
    fn crumb_mesh(&mut self) -> [usize; 2] {
        if let Some(known) = self.crumb {
            return known;
        }
        let triangles = crumb_triangles();
        let corners = triangles.iter().flat_map(|(corners, _)| *corners);
        let positions: Vec<[f32; 3]> = corners.map(|corner| single(corner.into())).collect();
        let normals = triangles.iter().flat_map(|&(_, normal)| [single(normal.into()); 3]);
        let normals: Vec<[f32; 3]> = normals.collect();
        let mesh = [positions, normals].map(|values| self.add_values(&values, VERTICES));
        self.crumb = Some(mesh);
        mesh
    }

    /// The index of the material of a color.
    fn material(&mut self, [r, g, b]: [f32; 3]) -> usize {
        let material = json!({ "name": name(self.dust), "pbrMetallicRoughness": {
            "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 1.0,
        } });
        let materials = &mut self.document.materials;
        materials.iter().position(|known| *known == material).unwrap_or_else(|| {
            materials.push(material);
            materials.len() - 1
        })
    }

    /// Shows a node between two frames.
    fn add_scale(&mut self, node: usize, birth: usize, last: usize) {
        let mut keys = vec![(birth, [1.0; 3])];
        if birth > 0 {
            keys.insert(0, (0, [0.0; 3]));
        }
        if last + 1 < self.dust.frames() {
            keys.push((last + 1, [0.0; 3]));
        }
        if keys.len() > 1 {
            let (frames, scales): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
            self.animate(node, "scale", &frames, &scales);
        }
    }

    fn animate<const N: usize>(
        &mut self,
        node: usize,
        path: &str,
        frames: &[usize],
        values: &[[f32; N]],
    ) {
        let times: Vec<[f32; 1]> =
            frames.iter().map(|&frame| [(frame as f64 / self.dust.fps()) as f32]).collect();
        let times = self.add_values(&times, KEYS);
        let values = self.add_values(values, KEYS);
        let mode = if path == "scale" { "STEP" } else { "LINEAR" };
        self.document.channel(node, path, mode, times, values);
    }

    /// Adds an accessor for values and returns its index; `target` is that of its view.
    fn add_values<const N: usize>(&mut self, values: &[[f32; N]], target: Option<u32>) -> usize {
        let encoded = Encoded::of_values(values, target);
        let accessor = self.document.buffer.add(&encoded);
        self.bytes.extend(encoded.bytes);
        accessor
    }
}

fn single(p: Point3<f64>) -> [f32; 3] {
    p.coords.map(|x| x as f32).into()
}
