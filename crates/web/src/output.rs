//! What JavaScript reads of a frame.

use std::collections::BTreeMap;

use meshfile::page::{Coats, image_head};
use nalgebra::Isometry3;
use serde_json::{Value, json};
use sim::{BodyId, Coat, Corner, Recorder, Skin, Surface, Texture, Track, World};

/// The bodies and geometries that the page has received.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    bodies: Vec<BodyId>,
    /// Of surfaces by their address, which the recorder keeps, and how many coats they may have.
    known: BTreeMap<(usize, usize), Sides>,
    count: usize,
    coats: Coats,
}

/// Geometries of a surface.
#[derive(Clone, Debug)]
struct Sides {
    /// What has no coat.
    outer: Option<usize>,
    inner: Option<usize>,
    /// By the numbers of coats.
    coated: Vec<(u32, usize)>,
}

/// New geometries of a frame.
#[derive(Default)]
struct Geometries {
    /// Vertices, triangles and texture coordinates of each.
    sizes: Vec<[usize; 3]>,
    bytes: Vec<u8>,
}

/// Appends position and unit quaternion x, y, z, w, seven `f32` in little-endian order.
fn write_pose(pose: &Isometry3<f64>, bytes: &mut Vec<u8>) {
    let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
    bytes.extend(numbers.flat_map(|&x| (x as f32).to_le_bytes()));
}

impl Shown {
    /// The bodies that came and went since the last call, and where all are, as bytes in little-endian order.
    ///
    /// A `u32` with the length of a header in JSON, the header, zeros up to a multiple of four; of each new geometry of
    /// the header its positions, normals and places in the whole body, `f32`, its texture coordinates, `f32`, if it has
    /// some, and its triangles, `u32`; then of each
    /// body of `ids` its pose, seven `f32`: position, m, and unit quaternion x, y, z, w; then of each new body its pose
    /// a frame before, in what it broke off; then of each of `corners`, which are indices into `ids`, the share of the
    /// frame until its last blow and its pose there; then of each new image of the header the bytes of its file. `head`
    /// is added to the header.
    pub(crate) fn frame(
        &mut self,
        world: &World,
        recorder: &Recorder,
        hidden: Option<BodyId>,
        mut head: Value,
    ) -> Vec<u8> {
        let ids: Vec<BodyId> =
            world.iter().map(|body| body.id).filter(|id| Some(*id) != hidden).collect();
        let mut geometries = Geometries::default();
        let is_new = |id: &&BodyId| self.bodies.binary_search(id).is_err();
        let new: Vec<(BodyId, &Track)> =
            ids.iter().filter(is_new).filter_map(|id| Some((*id, recorder.track(*id)?))).collect();
        let first = self.count;
        let (coats, images) = (self.coats.entries.len(), self.coats.images.len());
        let moves =
            |id: BodyId| world.get(id).is_some_and(|body| body.body.mass_properties().is_some());
        let body = |(id, track): (BodyId, &Track)| {
            let mut body = self.body(id, track, &mut geometries);
            body["moves"] = moves(id).into();
            body
        };
        let starts: Vec<Isometry3<f64>> =
            new.iter().filter_map(|(id, _)| world.interpolated_pose(*id, 0.0)).collect();
        let new: Vec<Value> = new.into_iter().map(body).collect();
        let is_gone = |id: &&BodyId| ids.binary_search(id).is_err();
        let gone: Vec<u64> = self.bodies.iter().filter(is_gone).map(|id| id.number()).collect();
        head["new"] = new.into();
        head["gone"] = gone.into();
        head["ids"] = ids.iter().map(|id| id.number()).collect();
        let corners: Vec<(usize, &Corner)> =
            ids.iter().enumerate().filter_map(|(n, id)| Some((n, world.corner(*id)?))).collect();
        head["corners"] = corners.iter().map(|(n, _)| *n).collect();
        head["first_geometry"] = first.into();
        head["geometries"] = json!(geometries.sizes);
        let (coats, images) = (&self.coats.entries[coats..], &self.coats.images[images..]);
        head["coats"] = json!(coats);
        head["images"] = images.iter().map(image_head).collect();
        let head = head.to_string();
        let mut bytes = (head.len() as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(head.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.append(&mut geometries.bytes);
        let shown = world.iter().filter(|state| Some(state.id) != hidden);
        shown.for_each(|state| write_pose(state.pose, &mut bytes));
        starts.iter().for_each(|pose| write_pose(pose, &mut bytes));
        for (_, Corner { share, pose }) in corners {
            bytes.extend((*share as f32).to_le_bytes());
            write_pose(pose, &mut bytes);
        }
        images.iter().for_each(|image| bytes.extend_from_slice(&image.bytes));
        self.bodies = ids;
        bytes
    }

    fn body(&mut self, id: BodyId, track: &Track, geometries: &mut Geometries) -> Value {
        let look = &track.look;
        let Sides { outer, inner, coated } =
            self.geometries_of(&track.skin, &look.coats, geometries);
        let mut coat = |&(number, geometry): &(u32, usize)| {
            json!([geometry, self.coats.of(&look.coats[number as usize], look.roughness)])
        };
        let coated: Vec<Value> = coated.iter().map(&mut coat).collect();
        json!({
            "id": id.number(),
            "name": track.name,
            "piece": track.parent.is_some(),
            "material": look.material,
            "colour": look.color,
            "inner_colour": look.inner_color,
            "roughness": look.roughness,
            "texture": if track.surface().is_endless() { Texture::Plain } else { look.texture },
            "transmission": look.transmission,
            "ior": look.ior,
            "alpha": look.alpha,
            "outer": outer,
            "inner": inner,
            "coats": coated,
        })
    }

    fn geometries_of(&mut self, skin: &Skin, coats: &[Coat], new: &mut Geometries) -> Sides {
        let key = (skin.address(), coats.len());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let surface = skin.surface();
        let (mut plain, mut coated) = (vec![], vec![]);
        for (number, triangles) in surface.outer_by_coat() {
            match number.and_then(|number| Some((number, coats.get(number as usize)?))) {
                Some((number, coat)) => {
                    let geometry = self.add(&surface, &triangles, coat.image.is_some(), new);
                    coated.extend(geometry.map(|geometry| (number, geometry)));
                }
                None => plain.extend_from_slice(&triangles),
            }
        }
        let outer = self.add(&surface, &plain, false, new);
        let inner = self.add(&surface, &surface.inner, false, new);
        let sides = Sides { outer, inner, coated };
        self.known.insert(key, sides.clone());
        sides
    }

    fn add(
        &mut self,
        surface: &Surface,
        triangles: &[[u32; 3]],
        has_uvs: bool,
        new: &mut Geometries,
    ) -> Option<usize> {
        if triangles.is_empty() {
            return None;
        }
        let part = surface.part(triangles);
        for vectors in [&part.vertices, &part.normals, &part.rest] {
            new.bytes.extend(vectors.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        }
        let mut uvs = if has_uvs { part.uvs } else { Vec::new() };
        // geometries of one batch have the same arrays
        uvs.resize(if has_uvs { part.vertices.len() } else { 0 }, [0.0; 2]);
        new.bytes.extend(uvs.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        new.bytes.extend(part.outer.as_flattened().iter().flat_map(|v| v.to_le_bytes()));
        new.sizes.push([part.vertices.len(), triangles.len(), uvs.len()]);
        self.count += 1;
        Some(self.count - 1)
    }
}
