//! A rig shows the same motion as the plain recording.

use std::collections::BTreeMap;
use std::sync::Arc;

use brisance::format::glb::{GlbReadError, read_glb};
use brisance::format::{Encoding, Format};
use meshfile::{MeshFileError, WriteError, write_rigged_glb_of};
use nalgebra::{Isometry3, Matrix4, Point3, Quaternion, UnitQuaternion, Vector3};
use sim::{LazySurface, Recording, Surface, Trace, Track};

use crate::cli::{Case, SCENE, TETRAHEDRON, problem};
use crate::glb::{Shown, assert_valid, breaking_pot, clear_pot, glb, shown};

fn rigged(recording: &Recording) -> Vec<u8> {
    let mut bytes = vec![];
    let traces = |track: usize| Ok(recording.tracks[track].trace());
    write_rigged_glb_of(recording, &traces, &mut bytes).unwrap();
    bytes
}

/// A drawn vertex of a triangle.
#[derive(Clone, Debug)]
struct Corner {
    place: Point3<f64>,
    normal: Vector3<f64>,
    /// Attributes that do not move.
    other: Vec<f32>,
}

/// Corners of all triangles in their order, by node and by material.
type Corners = BTreeMap<(usize, String), Vec<Corner>>;

/// The matrix of a visible node.
fn matrix(Shown { translation, rotation, scale }: Shown) -> Matrix4<f64> {
    let [x, y, z, w] = rotation.map(f64::from);
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)).to_homogeneous();
    let size = Matrix4::new_nonuniform_scaling(&scale.map(f64::from).into());
    Matrix4::new_translation(&translation.map(f64::from).into()) * turn * size
}

/// The drawn triangles of a file at a frame, by the formula of glTF 2.0 section 3.7.3 for skins.
fn drawn(file: &gltf::Gltf, fps: f64, frame: usize) -> Corners {
    let nodes: Vec<Matrix4<f64>> = shown(file, fps, frame).into_iter().map(matrix).collect();
    let blob = || file.blob.as_deref();
    let mut corners = Corners::new();
    for node in file.nodes() {
        let Some(mesh) = node.mesh() else { continue };
        let skin = node.skin();
        let joints: Vec<(usize, Matrix4<f64>)> = skin.map_or_else(Vec::new, |skin| {
            let inverse = skin.reader(|_| blob()).read_inverse_bind_matrices().unwrap();
            let inverse = inverse.map(|m| Matrix4::from(m).cast::<f64>());
            skin.joints()
                .zip(inverse)
                .map(|(joint, inverse)| (joint.index(), nodes[joint.index()] * inverse))
                .collect()
        });
        for primitive in mesh.primitives() {
            let material = file.as_json().materials[primitive.material().index().unwrap()].clone();
            let material = serde_json::to_string(&material).unwrap();
            let reader = primitive.reader(|_| blob());
            let places: Vec<_> = reader.read_positions().unwrap().collect();
            let normals: Vec<_> = reader.read_normals().unwrap().collect();
            let semantic = gltf::Semantic::Extras("REST".to_owned());
            let rest = primitive.get(&semantic).unwrap();
            let rest = gltf::accessor::Iter::<[f32; 3]>::new(rest, |_| blob()).unwrap();
            let mut other: Vec<Vec<f32>> = rest.map(|p| p.to_vec()).collect();
            if let Some(uvs) = reader.read_tex_coords(0) {
                other.iter_mut().zip(uvs.into_f32()).for_each(|(all, uv)| all.extend(uv));
            }
            if let Some(colors) = reader.read_colors(0) {
                let colors = colors.into_rgba_f32();
                other.iter_mut().zip(colors).for_each(|(all, color)| all.extend(color));
            }
            let of: Vec<(usize, Matrix4<f64>)> = match reader.read_joints(0) {
                Some(named) => {
                    let weights = reader.read_weights(0).unwrap().into_f32();
                    assert!(weights.into_iter().all(|w| w == [1.0, 0.0, 0.0, 0.0]));
                    named.into_u16().map(|[joint, ..]| joints[usize::from(joint)]).collect()
                }
                None => vec![(node.index(), nodes[node.index()]); places.len()],
            };
            for v in reader.read_indices().unwrap().into_u32().map(|v| v as usize) {
                let (body, matrix) = of[v];
                let place = matrix.transform_point(&places[v].map(f64::from).into());
                let normal = matrix.transform_vector(&normals[v].map(f64::from).into());
                let corner = Corner { place, normal, other: other[v].clone() };
                corners.entry((body, material.clone())).or_default().push(corner);
            }
        }
    }
    corners
}

/// Checks that a file with a rig draws every triangle at the same position as the plain file.
fn assert_alike(plain: &[u8], rigged: &[u8], (fps, frames): (f64, usize), most: f64) {
    let [plain, rigged] = [plain, rigged].map(|bytes| gltf::Gltf::from_slice(bytes).unwrap());
    for frame in 0..frames {
        let (plain, rigged) = (drawn(&plain, fps, frame), drawn(&rigged, fps, frame));
        assert!(!plain.is_empty() && plain.keys().eq(rigged.keys()), "bodies and materials");
        for (key, plain) in &plain {
            let rigged = &rigged[key];
            assert_eq!(plain.len(), rigged.len(), "{key:?}");
            for (a, b) in plain.iter().zip(rigged) {
                assert!((a.place - b.place).amax() <= most, "{key:?} {frame}: {a:?} {b:?}");
                assert!((a.normal - b.normal).amax() <= 1e-6, "{key:?} {frame}: {a:?} {b:?}");
                assert_eq!(a.other, b.other, "{key:?}");
            }
        }
    }
}

#[test]
fn skinning_by_hand_draws_every_vertex_where_the_plain_file_does() {
    for recording in [breaking_pot(), clear_pot()] {
        let of = (recording.fps, recording.frames);
        // positions are within 5 m: three roundings to 24 bits
        assert_alike(&glb(&recording), &rigged(&recording), of, 3.0 * 5.0 / f64::from(1 << 23));
    }
}

#[test]
fn a_rig_has_one_primitive_for_each_material_and_passes_the_khronos_validator() {
    let folder = tempfile::tempdir().unwrap();
    let still = Recording { frames: 1, energies: vec![], ..breaking_pot() };
    let empty = Recording { frames: 1, energies: vec![], tracks: vec![], ..breaking_pot() };
    let mut unseen = breaking_pot();
    unseen.tracks.iter_mut().for_each(|track| track.lazy_surface = LazySurface::default());
    let all = [
        ("pot", breaking_pot(), 3),
        ("clear", clear_pot(), 4),
        ("still", still, 3),
        ("unseen", unseen, 0),
    ];
    let at = |name: &str| folder.path().join(name).with_extension("glb");
    let mut paths = all
        .map(|(name, recording, primitives)| {
            let bytes = rigged(&recording);
            let file = gltf::Gltf::from_slice(&bytes).unwrap();
            let count: usize = file.meshes().map(|mesh| mesh.primitives().count()).sum();
            assert_eq!(count, primitives, "{name}");
            assert_eq!(file.meshes().count(), primitives.min(1), "{name}");
            std::fs::write(at(name), bytes).unwrap();
            at(name)
        })
        .to_vec();
    std::fs::write(at("empty"), rigged(&empty)).unwrap();
    paths.push(at("empty"));
    assert_valid(&paths);
}

/// A sheet of squares.
fn sheet(side: u32) -> Surface {
    let mut surface = Surface::default();
    for at in 0..(side + 1) * (side + 1) {
        let [x, z] = [at % (side + 1), at / (side + 1)].map(|n| n as f32 / side as f32);
        surface.vertices.push([x, 0.0, z]);
        surface.normals.push([0.0, 1.0, 0.0]);
        surface.rest.push([x, 0.0, z]);
    }
    for at in (0..side * side).map(|n| n / side * (side + 1) + n % side) {
        surface.outer.push([at, at + side + 1, at + 1]);
        surface.outer.push([at + 1, at + side + 1, at + side + 2]);
    }
    surface
}

#[test]
fn a_material_with_more_vertices_than_16_bits_name_is_several_primitives() {
    let mut recording = breaking_pot();
    // 300 joints need more than 8 bits; 90,000 vertices of one body, and 2,000 of each other
    let large = LazySurface::from(sheet(299));
    let small = LazySurface::from(sheet(43));
    let Track { look, .. } = recording.tracks[0].clone();
    let poses = vec![Isometry3::translation(0.5, 0.25, 1.0); 2];
    recording.tracks = (0..300)
        .map(|n| Track {
            name: format!("body {n}"),
            lazy_surface: if n == 7 { large.clone() } else { small.clone() },
            look: Arc::clone(&look),
            poses: poses.clone(),
            ..recording.tracks[0].clone()
        })
        .collect();
    (recording.frames, recording.energies) = (2, vec![]);
    let bytes = rigged(&recording);
    let file = gltf::Gltf::from_slice(&bytes).unwrap();
    let primitives: Vec<_> = file.meshes().flat_map(|mesh| mesh.primitives()).collect();
    for primitive in &primitives {
        let count = primitive.get(&gltf::Semantic::Positions).unwrap().count();
        assert!(count <= 65_535, "{count} vertices");
        let indices = primitive.indices().unwrap();
        assert_eq!(indices.data_type(), gltf::accessor::DataType::U16);
    }
    let vertices = 300 * 300 + 299 * 44 * 44;
    // a boundary repeats the vertices of at most one row of the sheet beside it
    assert!(primitives.len() <= vertices / 65_000 + 1, "{} primitives", primitives.len());
    assert_alike(&glb(&recording), &bytes, (recording.fps, 1), 1e-6);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sheets.glb");
    std::fs::write(&path, bytes).unwrap();
    assert_valid(&[path]);
}

#[test]
fn a_rig_of_more_joints_than_vertices_can_name_is_refused() {
    let mut recording = breaking_pot();
    let born_broken = recording.tracks[5].clone();
    recording.tracks = vec![born_broken; (1 << 16) + 1];
    let error =
        write_rigged_glb_of(&recording, &|_| Ok(Trace::default()), &mut vec![]).unwrap_err();
    assert!(matches!(error, WriteError::TooManyJoints { joints: 65_537 }), "{error}");
}

#[test]
fn a_run_and_pieces_of_a_mesh_are_written_as_rigs() {
    let case = Case::new(&[("scene.toml", SCENE), ("thing.obj", TETRAHEDRON)]);
    let at = |name: &str| case.folder.path().join(name);
    let done = |arguments: &[&str]| {
        let output = case.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    done(&["run", "scene.toml", "-q", "-o", "plain.glb"]);
    done(&["run", "scene.toml", "-q", "-o", "rig.glb", "--rig"]);
    let fracture = ["fracture", "thing.obj", "--pattern", "voronoi:9", "-q", "-o"];
    done(&[&fracture[..], &["pieces.glb"]].concat());
    done(&[&fracture[..], &["pieces_rig.glb", "--rig"]].concat());
    assert_valid(&["rig.glb", "pieces_rig.glb"].map(at));
    let read = |name: &str| std::fs::read(at(name)).unwrap();
    let back = read_glb(&read("plain.glb")).unwrap();
    // the floor extends 50 m in each direction
    assert_alike(&read("plain.glb"), &read("rig.glb"), (back.fps, back.frames), 2e-5);
    assert_alike(&read("pieces.glb"), &read("pieces_rig.glb"), (30.0, 1), 1e-6);
    let error = read_glb(&read("rig.glb")).unwrap_err();
    assert!(matches!(error, GlbReadError::Rigged));
}

#[test]
fn a_rig_is_no_mesh() {
    let of_rig =
        "version = 1\n[[body]]\nname = \"thing\"\nshape = { mesh = { file = \"rig.glb\" } }\n";
    let case = Case::new(&[("scene.toml", SCENE), ("of_rig.toml", of_rig)]);
    let made = case.run(&["run", "scene.toml", "-q", "-o", "rig.glb", "--rig"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for arguments in [
        "info rig.glb",
        "fracture rig.glb --pattern voronoi:9 -o out.glb",
        "tetrahedralize rig.glb --count 500 -o out.msh",
        "voxelize rig.glb -o out.lset",
        "slice rig.glb --plane 0,1,0,0.1 -o out.obj",
        "bond rig.glb -o out.toml",
        "check of_rig.toml",
    ] {
        let output = case.run(&arguments.split(' ').collect::<Vec<_>>());
        let message = problem(output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert_eq!(message.lines().count(), 1, "{arguments}: {message}");
        assert!(message.contains("rig.glb: is a recording"), "{arguments}: {message}");
        assert!(message.contains("give a mesh, or the recording without --rig"), "{message}");
    }
    assert_eq!(case.names(), ["of_rig.toml", "rig.glb", "scene.toml"]);
}

/// A skinned mesh of another program is read in its bind pose, the pose of its export.
#[test]
fn a_skinned_mesh_of_another_program_is_a_mesh() {
    let bytes = rigged(&breaking_pot());
    let name = std::path::Path::new("rig.glb");
    assert!(matches!(meshfile::parse(name, &bytes), Err(MeshFileError::Rig)));
    let key = b"\"fps\"";
    let at = bytes.windows(key.len()).position(|window| window == key).unwrap();
    let mut foreign = bytes.clone();
    foreign[at..at + key.len()].copy_from_slice(b"\"FPS\"");
    assert!(!meshfile::parse(name, &foreign).unwrap().mesh.triangles.is_empty());
}

#[test]
fn a_rig_is_refused_where_the_format_has_none() {
    for encoding in [Encoding::Text, Encoding::Binary] {
        assert_eq!(Format::Usd(encoding).rigged(), None);
    }
    let case = Case::new(&[("scene.toml", SCENE), ("thing.obj", TETRAHEDRON)]);
    for arguments in [
        &["run", "scene.toml", "-o", "a.usda", "--rig"][..],
        &["run", "scene.toml", "-o", "a.usdc", "--rig"],
        &["fracture", "thing.obj", "--pattern", "voronoi:9", "-o", "a/", "--rig"],
    ] {
        let output = case.run(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("end the output in .glb"), "{message}");
    }
    assert_eq!(case.names(), ["scene.toml", "thing.obj"]);
}
