//! Bodies that start in pieces.

use std::collections::BTreeMap;

use fracture::{Bond, TOUCHING_GAP, touching};
use levelset::{Aabb, Moments, TriMesh};
use nalgebra::Point3;

use super::copies::{CopyPlace, sets_of};
use super::solids::mirrored;
use crate::scene::{
    self, Body, InvalidValue, Joint, JointKind, Mesh, MeshSign, Pieces, Scene, Shape, Whole,
};
use crate::{BuildError, Cause, MeshData, PaintedMesh};

/// Replaces each body with the shape [`Pieces`] by a body per piece, and a joint per bond. `pieces`
/// holds the pieces by the file names of the scene; their meshes are added to `meshes`. Pieces of
/// `vase` are named `vase 1`, `vase 2` and so on, those of its second copy `vase 1 2`, `vase 2 2`,
/// and start as one rigid body.
///
/// # Errors
/// [`BuildError`] if pieces are missing, or the scene would become too large. The scene is then
/// unchanged, and keys in the error refer to it.
pub fn separate(
    scene: &mut Scene,
    pieces: &BTreeMap<String, Vec<PaintedMesh>>,
    meshes: &mut BTreeMap<String, MeshData>,
) -> Result<(), BuildError> {
    if scene.piece_files().next().is_none() {
        return Ok(());
    }
    let mut apart = Scene { bodies: Vec::new(), ..scene.clone() };
    let mut made = BTreeMap::new();
    let mut whole = PieceOrigins { bodies: Vec::new(), joints: vec![None; scene.joints.len()] };
    for (n, body) in scene.bodies.iter().enumerate() {
        let Shape::Pieces(shape) = &body.shape else {
            apart.bodies.push(body.clone());
            whole.bodies.push(n);
            continue;
        };
        let given = pieces.get(&shape.file).map_or(&[][..], Vec::as_slice);
        let placed = placed(shape, given)
            .map_err(|cause| BuildError { part: format!("body {:?}", body.name), cause })?;
        let copies = sets_of(body, scene.simulation.seed);
        let copies = copies.iter().flat_map(|set| set.places.iter().map(|(_, place)| place));
        for joint in bonds(body, shape, &placed) {
            let of_copy = |(n, place)| bond_of_copy(&joint, body, n, place);
            apart.joints.extend((1..).zip(copies.clone()).map(of_copy));
        }
        apart.bodies.extend(bodies(body, shape, &placed));
        whole.bodies.resize(apart.bodies.len(), n);
        whole.joints.resize(apart.joints.len(), Some(n));
        let named = placed.into_iter().zip(1..).map(|(piece, n)| (file(body, shape, n), piece));
        made.extend(named.map(|(file, piece)| (file, MeshData::Surface(piece))));
    }
    apart.validate().map_err(|invalid| BuildError {
        part: "the scene with all pieces".to_owned(),
        cause: Cause::Scene(InvalidValue { key: whole.key(&invalid.key), ..invalid }.into()),
    })?;
    *scene = apart;
    meshes.extend(made);
    Ok(())
}

/// The bodies of a scene from which pieces and bonds come.
struct PieceOrigins {
    bodies: Vec<usize>,
    /// `None` for the joints of the scene itself.
    joints: Vec<Option<usize>>,
}

impl PieceOrigins {
    /// The key in the scene file for `key` in the scene with all pieces.
    fn key(&self, key: &str) -> String {
        let numbered = |list: &str| {
            let (n, rest) = key.strip_prefix(list)?.strip_prefix('[')?.split_once(']')?;
            Some((n.parse::<usize>().ok()?, rest))
        };
        let of_body = numbered("body").and_then(|(n, rest)| Some((self.bodies.get(n)?, rest)));
        let bond = numbered("joints").and_then(|(n, _)| self.joints.get(n).copied().flatten());
        match (of_body, bond) {
            (Some((body, rest)), _) => format!("body[{body}]{rest}"),
            (_, Some(body)) => format!("body[{body}].shape.pieces.bonds"),
            _ => key.to_owned(),
        }
    }
}

/// The strength of a bond: force, N, and torque, N m. The torque is that of a square of its area in
/// bending, whose section modulus is the third power of the side over six.
pub fn bond_capacity(bond: &Bond, strength: f64) -> [f64; 2] {
    [strength * bond.area, strength * bond.area * bond.area.sqrt() / 6.0]
}

/// Pieces mirrored, scaled and moved together.
fn placed(shape: &Pieces, given: &[PaintedMesh]) -> Result<Vec<PaintedMesh>, Cause> {
    given.iter().try_for_each(|piece| piece.mesh.validate())?;
    let mut pieces: Vec<PaintedMesh> =
        given.iter().map(|piece| mirrored(piece.clone(), shape.mirror)).collect();
    let Some(bounds) = Aabb::around(pieces.iter().flat_map(|piece| &piece.mesh.vertices)) else {
        return Err(Cause::NoMesh { file: shape.file.clone(), kind: "pieces" });
    };
    if let Some(size) = shape.size {
        let (scale, center) = (size / bounds.extents().max(), bounds.center());
        for p in pieces.iter_mut().flat_map(|piece| &mut piece.mesh.vertices) {
            *p = Point3::from((*p - center) * scale);
        }
    }
    Ok(pieces)
}

/// The name of the mesh of piece `n`.
fn file(body: &Body, shape: &Pieces, n: usize) -> String {
    format!("{}, piece {n} of {}", shape.file, body.name)
}

fn name(body: &Body, n: usize) -> String {
    format!("{} {n}", body.name)
}

/// A body for each piece.
fn bodies(body: &Body, shape: &Pieces, pieces: &[PaintedMesh]) -> Vec<Body> {
    let center = |meshes: &mut dyn Iterator<Item = &TriMesh>| {
        let all = meshes.map(TriMesh::moments).fold(Moments::default(), |sum, one| sum + one);
        (all.volume > 0.0).then(|| all.first / all.volume)
    };
    let middle = center(&mut pieces.iter().map(|piece| &piece.mesh));
    let arm = |mesh: &TriMesh| {
        let arm = center(&mut std::iter::once(mesh)).zip(middle).map(|(c, m)| c - m);
        arm.unwrap_or_default().into()
    };
    let of_piece = |(piece, n): (&PaintedMesh, usize)| {
        let mut one = body.clone();
        one.name = name(body, n);
        one.whole = Some(Whole { name: body.name.clone(), arm: arm(&piece.mesh) });
        one.shape = Shape::Mesh(Mesh {
            file: file(body, shape, n),
            spacing: shape.spacing,
            nodes: shape.nodes,
            sign: MeshSign::Strict,
            ..Mesh::default()
        });
        one
    };
    pieces.iter().zip(1..).map(of_piece).collect()
}

/// A bond of the copy with an index.
fn bond_of_copy(bond: &Joint, body: &Body, n: usize, place: &CopyPlace) -> Joint {
    let mut bond = bond.clone();
    bond.anchor = place.point(&body.pose(), bond.anchor.into()).coords.into();
    if body.copies.is_some() {
        bond.bodies = bond.bodies.map(|piece| format!("{piece} {n}"));
    }
    bond
}

/// A joint for each pair of touching pieces, in coordinates of the shape.
fn bonds(body: &Body, shape: &Pieces, pieces: &[PaintedMesh]) -> Vec<Joint> {
    let Some(scene::PieceBonds { strength, gap }) = shape.bonds else { return Vec::new() };
    let tensile = || body.solid().map(|solid| solid.tensile_strength);
    let Some(strength) = strength.or_else(tensile) else { return Vec::new() };
    let meshes: Vec<TriMesh> = pieces.iter().map(|piece| piece.mesh.clone()).collect();
    let longest = Aabb::around(meshes.iter().flat_map(|mesh| &mesh.vertices))
        .map_or(0.0, |bounds| bounds.extents().max());
    let joint = |bond: &Bond| {
        let [force, torque] = bond_capacity(bond, strength);
        Joint {
            kind: JointKind::Fixed,
            bodies: bond.fragments.map(|n| name(body, n + 1)),
            anchor: bond.center.coords.into(),
            second_anchor: None,
            axis: [0.0, 1.0, 0.0],
            limits: None,
            motor: None,
            break_force: Some(force),
            break_torque: Some(torque),
            collides: false,
        }
    };
    touching(&meshes, gap.unwrap_or(TOUCHING_GAP * longest)).iter().map(joint).collect()
}
