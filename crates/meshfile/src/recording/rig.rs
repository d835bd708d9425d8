//! Recordings as one skinned mesh with a joint for each body.
//!
//! Joints move as the nodes of a plain recording do. A vertex follows one joint with full weight.
//! The bind pose of each body is its pose in the frame of its birth. The mesh has a primitive per
//! material, or several if that has more vertices than 16-bit indices can address.

use std::collections::BTreeMap;
use std::io::Write;

use nalgebra::{Isometry3, Point3, Vector3};
use serde_json::json;
use sim::{Look, Recording, Surface};

use super::buffer::Buffer;
use super::chunks::{write_head, write_images};
use super::document::{Document, ReadTrajectory, scene_of};
use super::encoded::{Encoded, FLOAT, Vertices, sides};
use super::error::{MAX_JOINTS, WriteError};
use super::surfaces::for_each_surface;

/// Maximum number of vertices of a primitive: the largest 16-bit index is reserved.
const MAX_VERTICES: usize = u16::MAX as usize;

/// Writes `recording` as one GLB to `out`, with one skinned mesh for all bodies; `trajectory`
/// returns the trajectory of a track, given its number. The joints have the names, motion and `extras` of the
/// nodes of [`write_glb`](super::write_glb), and the materials are the same. The maximum is 65,536
/// bodies.
///
/// # Errors
/// As [`write_glb`](super::write_glb), the errors of `trajectory`, [`WriteError::TooManyJoints`] and
/// [`WriteError::RigTooLarge`].
pub fn write_rigged_glb_of(
    recording: &Recording,
    trajectory: &ReadTrajectory<'_>,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    let joints = recording.tracks.len();
    if joints > MAX_JOINTS {
        return Err(WriteError::TooManyJoints { joints });
    }
    check_size(recording)?;
    let mut births = Vec::with_capacity(joints);
    for track in 0..joints {
        births.push(trajectory(track)?.poses.first().copied().unwrap_or_default());
    }
    let mut document = Document::default();
    let chunks = document.bind(recording, &births)?;
    document.add_tracks(recording, trajectory)?;
    let matrices = inverse_bind_matrices(&births);
    document.add_rig(&chunks, &matrices);
    let images = std::mem::take(&mut document.images);
    let (json, layout) = document.finish(scene_of(recording));
    write_head(&json, &layout, out)?;
    write_images(&images, out)?;
    if !chunks.is_empty() {
        chunks.iter().try_for_each(|chunk| out.write_all(&chunk.encoded.bytes))?;
        out.write_all(&matrices)?;
    }
    let buffer = Buffer::writing(out);
    Document { buffer, ..Document::default() }.add_tracks(recording, trajectory)
}

/// Rejects a rig that would not fit into a file, before building it.
fn check_size(recording: &Recording) -> Result<(), WriteError> {
    let tracks: Vec<_> = recording.tracks.iter().collect();
    let size = |surface: &Surface, _: &Look| {
        let Surface { vertices, uvs, colors, outer, inner, .. } = surface;
        let floats = 9 * vertices.len() + 2 * uvs.len() + 4 * colors.len();
        4 * floats + 6 * (outer.len() + inner.len())
    };
    let mut bytes = 0_usize;
    for_each_surface(&tracks, size, |_, size| {
        bytes = bytes.saturating_add(size);
        Ok(())
    })?;
    match u32::try_from(bytes) {
        Ok(_) => Ok(()),
        Err(_) => Err(WriteError::RigTooLarge { bytes }),
    }
}

/// Triangles of one material.
struct Chunk {
    material: usize,
    encoded: Encoded,
}

/// The key of a primitive: the material, and whether there are texture coordinates and colors.
type Kind = (usize, [bool; 2]);

/// A chunk under construction.
#[derive(Default)]
struct Growing {
    vertices: Vertices,
    joint_of: Vec<u16>,
    triangles: Vec<[u32; 3]>,
}

impl Document<'_> {
    /// All surfaces as chunks, in the poses of their bodies at birth. Reserves space for their
    /// images and then for the chunks.
    fn bind(
        &mut self,
        recording: &Recording,
        births: &[Isometry3<f64>],
    ) -> Result<Vec<Chunk>, WriteError> {
        let joints = births.len();
        let tracks: Vec<_> = recording.tracks.iter().collect();
        let mut growing: BTreeMap<Kind, Growing> = BTreeMap::new();
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut joint = 0;
        let parts = |surface: &Surface, look: &Look| (Vertices::new(surface, look), sides(surface));
        for_each_surface(&tracks, parts, |track, (vertices, sides)| {
            let vertices = placed(vertices, &births[joint]);
            let has = [!vertices.uvs.is_empty(), !vertices.colors.is_empty()];
            for (side, triangles) in sides {
                self.add_image(&track.look, side, has[0]);
                let material = self.material(&track.look, side, has[0]);
                let growing = growing.entry((material, has)).or_default();
                growing.add((&vertices, &triangles), joint as u16, |full| {
                    chunks.push(Chunk { material, encoded: full.encoded(joints) });
                });
            }
            joint += 1;
            Ok(())
        })?;
        for ((material, _), rest) in growing {
            chunks.push(Chunk { material, encoded: rest.encoded(joints) });
        }
        Ok(chunks)
    }

    /// Adds the mesh, its skin and their nodes, which form the scene, unless it is empty.
    fn add_rig(&mut self, chunks: &[Chunk], matrices: &[u8]) {
        let joints: Vec<usize> = (0..self.nodes.len()).collect();
        if chunks.is_empty() {
            return;
        }
        let mut primitives = Vec::new();
        for Chunk { material, encoded } in chunks {
            let primitive = self.buffer.add_surface(encoded);
            let attributes = primitive.attributes();
            for (_, indices) in primitive.indices {
                primitives.push(
                    json!({ "attributes": attributes, "indices": indices, "material": material }),
                );
            }
        }
        self.meshes.push(json!({ "primitives": primitives }));
        let view = self.buffer.add_bytes(matrices);
        let matrices = self.buffer.push(json!({ "bufferView": view, "byteOffset": 0,
            "componentType": FLOAT, "count": joints.len(), "type": "MAT4" }));
        let root = self.push_node(json!({ "name": "bodies", "children": joints }));
        self.skins
            .push(json!({ "joints": joints, "skeleton": root, "inverseBindMatrices": matrices }));
        self.push_node(json!({ "name": "mesh", "mesh": 0, "skin": 0 }));
        self.in_scene = root..self.nodes.len();
    }
}

impl Growing {
    /// Adds triangles that follow a joint; `finish` receives each full chunk.
    fn add(
        &mut self,
        (vertices, triangles): (&Vertices, &[[u32; 3]]),
        joint: u16,
        mut finish: impl FnMut(Self),
    ) {
        let mut known = vec![None; vertices.positions.len()];
        for triangle in triangles {
            if self.joint_of.len() + triangle.len() > MAX_VERTICES {
                finish(std::mem::take(self));
                known.fill(None);
            }
            let corners = triangle.map(|v| {
                let v = v as usize;
                *known[v].get_or_insert_with(|| self.copy(vertices, v, joint))
            });
            self.triangles.push(corners);
        }
    }

    fn copy(&mut self, from: &Vertices, v: usize, joint: u16) -> u32 {
        let to = &mut self.vertices;
        to.positions.push(from.positions[v]);
        to.normals.push(from.normals[v]);
        to.rest.push(from.rest[v]);
        to.uvs.extend(from.uvs.get(v));
        to.colors.extend(from.colors.get(v));
        self.joint_of.push(joint);
        self.joint_of.len() as u32 - 1
    }

    fn encoded(&self, joints: usize) -> Encoded {
        Encoded::skinned(&self.vertices, &self.triangles, &self.joint_of, joints)
    }
}

/// Vertices of a body in world coordinates.
fn placed(mut vertices: Vertices, pose: &Isometry3<f64>) -> Vertices {
    let to_f32 = |v: Vector3<f64>| v.map(|x| x as f32).into();
    for p in &mut vertices.positions {
        *p = to_f32((pose * Point3::from(p.map(f64::from))).coords);
    }
    for n in &mut vertices.normals {
        *n = to_f32(pose * Vector3::from(n.map(f64::from)));
    }
    vertices
}

/// Column-major, from the world to each body in the frame of its birth.
fn inverse_bind_matrices(births: &[Isometry3<f64>]) -> Vec<u8> {
    let inverse = |birth: &Isometry3<f64>| birth.inverse().to_homogeneous().cast::<f32>();
    let bytes = births.iter().flat_map(|birth| {
        let matrix = inverse(birth);
        matrix.as_slice().iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>()
    });
    bytes.collect()
}
