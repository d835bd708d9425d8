//! Binary glTF: the triangles of all nodes of the scene, in the nodes' poses.

mod materials;

use ::gltf::mesh::Mode;
use ::gltf::texture::TextureTransform;
use ::gltf::{Node, Primitive, Scene};
use nalgebra::{Matrix3, Matrix4, Point3, Rotation2, UnitVector3, Vector2, Vector3, Vector4};
use serde_json::Value;

use sim::Paint;

use super::{FileReader, MeshFile, MeshFileError};
use crate::glb_file::{GlbError, MAX_ELEMENTS, open};
pub use materials::GlbCoats;

/// Vertices and indices that any file may produce: nodes that reuse one mesh, and accessors without
/// data, produce them from few bytes. Larger files may produce one per byte, no fewer than they
/// contain.
const FREE: usize = 1 << 23;

pub(super) fn parse(
    bytes: &[u8],
    read_file: &mut FileReader<'_>,
) -> Result<MeshFile, MeshFileError> {
    let file = open(bytes)?;
    let blob = file.blob.as_deref().unwrap_or_default();
    let mut mesh = MeshFile::default();
    let mut materials = GlbCoats::new(&file, read_file);
    let most = MAX_ELEMENTS.min(bytes.len().max(FREE));
    let scene = file.default_scene().or_else(|| file.scenes().next());
    if file.skins().next().is_some() && scene.as_ref().is_some_and(is_recording) {
        return Err(MeshFileError::Rig);
    }
    // children are placed relative to their parents
    let mut open: Vec<(Node, Matrix4<f64>)> =
        scene.iter().flat_map(|s| s.nodes()).map(|n| (n, Matrix4::identity())).collect();
    let mut seen = vec![false; file.nodes().len()];
    while let Some((node, parent)) = open.pop() {
        if std::mem::replace(&mut seen[node.index()], true) {
            return Err(malformed("a node has two parents: export the scene as a tree"));
        }
        mesh.objects.push(mesh.mesh.triangles.len());
        let place = parent * Matrix4::from(node.transform().matrix()).cast::<f64>();
        add(&node, &place, (blob, most), (&mut mesh, &mut materials))?;
        open.extend(node.children().map(|child| (child, place)));
    }
    (mesh.coats, mesh.warnings) = (materials.coats, materials.warnings);
    if mesh.coats.is_empty() {
        mesh.coat_of.clear();
    }
    Ok(mesh)
}

/// Whether a scene has the `extras` of a recording.
fn is_recording(scene: &Scene) -> bool {
    let extras = scene.extras().as_ref().map(|raw| serde_json::from_str(raw.get()));
    let Some(Ok(Value::Object(extras))) = extras else { return false };
    ["fps", "frames"].iter().all(|key| extras.contains_key(*key))
}

fn malformed(problem: &str) -> MeshFileError {
    MeshFileError::Format { format: "GLB", problem: problem.to_owned() }
}

fn add(
    node: &Node,
    place: &Matrix4<f64>,
    (blob, most): (&[u8], usize),
    (MeshFile { mesh, corners, coat_of, .. }, materials): (&mut MeshFile, &mut GlbCoats),
) -> Result<(), MeshFileError> {
    for primitive in node.mesh().iter().flat_map(|m| m.primitives()) {
        if primitive.mode() != Mode::Triangles {
            return Err(malformed("it holds lines, points or strips: export plain triangles"));
        }
        let coat = materials.coat(&primitive.material())?;
        check_transform(&primitive)?;
        let reader = primitive.reader(|_| Some(blob));
        let positions = reader.read_positions();
        let positions = positions.ok_or_else(|| malformed("a mesh has no positions inside it"))?;
        // many nodes may share one mesh
        let indices = primitive.indices().map_or(positions.len(), |indices| indices.count());
        if mesh.vertices.len().saturating_add(positions.len()) > most
            || (3 * mesh.triangles.len()).saturating_add(indices) > most
        {
            return Err(GlbError::TooLarge.into());
        }
        let first = mesh.vertices.len() as u32;
        mesh.vertices
            .extend(positions.map(|p| place.transform_point(&Point3::from(p).cast::<f64>())));
        let indices: Vec<u32> = match reader.read_indices() {
            Some(indices) => indices.into_u32().collect(),
            None => (0..mesh.vertices.len() as u32 - first).collect(),
        };
        // glTF 2.0 section 3.7.4: a mirroring node flips the winding order
        let mirrors = place.fixed_view::<3, 3>(0, 0).determinant() < 0.0;
        let wound = |&[a, b, c]: &[u32; 3]| if mirrors { [a, c, b] } else { [a, b, c] };
        let triangles: Vec<[u32; 3]> = indices.as_chunks::<3>().0.iter().map(wound).collect();
        mesh.triangles.extend(triangles.iter().map(|t| t.map(|v| first + v)));
        coat_of.resize(mesh.triangles.len(), coat);
        let paint = paint(&primitive, blob, &turn(place));
        let at = |v: u32| paint.get(v as usize).copied().unwrap_or_default();
        corners.extend(triangles.iter().map(|t| t.map(at)));
    }
    Ok(())
}

/// The transform of normals by a placed node.
fn turn(place: &Matrix4<f64>) -> Matrix3<f64> {
    let linear: Matrix3<f64> = place.fixed_view::<3, 3>(0, 0).into();
    linear.try_inverse().map_or(linear, |inverse| inverse.transpose())
}

/// Largest number in KHR_texture_transform: beyond it, texture coordinates lose precision.
const MAX_TRANSFORM: f32 = 1e6;

/// Rejects transforms of texture coordinates with numbers beyond [`MAX_TRANSFORM`].
fn check_transform(primitive: &Primitive) -> Result<(), MeshFileError> {
    let info = primitive.material().pbr_metallic_roughness().base_color_texture();
    let Some(transform) = info.and_then(|info| info.texture_transform()) else { return Ok(()) };
    let [scale, offset] = [transform.scale(), transform.offset()];
    for (key, numbers) in
        [("scale", &scale[..]), ("offset", &offset), ("rotation", &[transform.rotation()])]
    {
        if !numbers.iter().all(|x| x.abs() <= MAX_TRANSFORM) {
            return Err(malformed(&format!(
                "the {key} of a KHR_texture_transform must be between -1e6 and 1e6"
            )));
        }
    }
    Ok(())
}

/// Texture coordinates, `v` downwards, after a transform by KHR_texture_transform.
fn transformed(transform: &TextureTransform, uv: Vector2<f64>) -> Vector2<f64> {
    let [offset, scale] = [transform.offset(), transform.scale()].map(|v| Vector2::from(v).cast());
    // counter-clockwise for the viewer, with `v` downwards
    let turn = Rotation2::new(-f64::from(transform.rotation()));
    offset + turn * scale.component_mul(&uv)
}

/// Normals, texture coordinates and colors of the vertices.
fn paint(primitive: &Primitive, blob: &[u8], turn: &Matrix3<f64>) -> Vec<Paint> {
    let reader = primitive.reader(|_| Some(blob));
    let mut normals = reader.read_normals().into_iter().flatten();
    // the texture coordinate set of the image, if there is one
    let pbr = primitive.material().pbr_metallic_roughness();
    let info = pbr.base_color_texture();
    let set = info.as_ref().map_or(0, |info| {
        info.texture_transform().and_then(|t| t.tex_coord()).unwrap_or_else(|| info.tex_coord())
    });
    let transform = info.as_ref().and_then(|info| info.texture_transform());
    let mut uvs = reader.read_tex_coords(set).into_iter().flat_map(|uvs| uvs.into_f32());
    let mut colors = reader.read_colors(0).into_iter().flat_map(|c| c.into_rgba_f32());
    let count = reader.read_positions().map_or(0, |positions| positions.len());
    let corner = |_| Paint {
        normal: normals
            .next()
            .and_then(|n| UnitVector3::try_new(turn * Vector3::from(n).cast::<f64>(), 0.0)),
        // in glTF, v points downwards
        uv: uvs.next().map(|uv| {
            let uv = Vector2::from(uv).cast();
            let uv = transform.as_ref().map_or(uv, |transform| transformed(transform, uv));
            Vector2::new(uv.x, 1.0 - uv.y)
        }),
        color: colors.next().map(|c| Vector4::from(c).cast()),
    };
    (0..count).map(corner).collect()
}
