use super::*;

const CORNERS: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

/// The mesh that `read_mesh` reads from a file of these bytes.
fn read(name: &str, bytes: &[u8]) -> Result<TriMesh, MeshFileError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read_mesh(&path)
}

fn assert_tetrahedron(mesh: &TriMesh) {
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 4), "welded");
    assert!((mesh.signed_volume() - 1.0 / 6.0).abs() < 1e-7);
}

fn stl(corner: impl Fn(usize) -> [f32; 3]) -> Vec<u8> {
    let mut bytes = vec![];
    let triangles = FACES.map(|face| stl_io::Triangle {
        normal: stl_io::Normal::new([0.0; 3]),
        vertices: face.map(|v| stl_io::Vertex::new(corner(v))),
    });
    stl_io::write_stl(&mut bytes, triangles.iter()).unwrap();
    bytes
}

#[test]
fn stl_is_read_and_welded() {
    let binary = stl(|v| CORNERS[v]);
    assert_tetrahedron(&read("a.stl", &binary).unwrap());
    let mut text = "solid a\n".to_owned();
    for face in FACES {
        text += "facet normal 0 0 0\nouter loop\n";
        for [x, y, z] in face.map(|v| CORNERS[v]) {
            text += &format!("vertex {x} {y} {z}\n");
        }
        text += "endloop\nendfacet\n";
    }
    text += "endsolid a\n";
    assert_tetrahedron(&read("A.STL", text.as_bytes()).unwrap());
    let cut = read("a.stl", &binary[..binary.len() - 7]).unwrap_err();
    assert!(matches!(cut, MeshFileError::Format { format: "STL", .. }), "{cut}");
    let nan = read("a.stl", &stl(|v| if v == 2 { [0.0, f32::NAN, 0.0] } else { CORNERS[v] }));
    assert!(matches!(nan.unwrap_err(), MeshFileError::NotFinite { vertex: 2 }));
}

const PLY: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty double x\nproperty double y\n\
    property double z\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n\
    0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";

#[test]
fn ply_is_read() {
    assert_tetrahedron(&read("a.ply", PLY.as_bytes()).unwrap());
    let digits = read("a.ply", PLY.replace("\n1 0 0", "\n0.1 0 0").as_bytes()).unwrap();
    assert_eq!(digits.vertices[1].x, 0.1, "doubles keep their digits");
    let refused =
        |from: &str, to: &str| read("a.ply", PLY.replace(from, to).as_bytes()).unwrap_err();
    let dangling = refused("3 1 2 3", "3 1 2 4");
    assert!(matches!(dangling, MeshFileError::Dangling { triangle: 4, vertex: 5, count: 4 }));
    let nan = refused("\n0 1 0", "\n0 nan 0");
    assert!(nan.to_string().contains("Line 12"), "{nan}");
    assert!(matches!(refused("end_header", "end_heder"), MeshFileError::Format { .. }));
    assert!(matches!(refused("double z", "double w"), MeshFileError::Format { .. }));
}

#[test]
fn ply_vertices_keep_their_colors_and_texture_coordinates() {
    let text = PLY
        .replace(
            "property double z\n",
            "property double z\nproperty uchar red\n\
            property uchar green\nproperty uchar blue\nproperty float s\nproperty float t\n",
        )
        .replace(
            "0 0 0\n1 0 0\n0 1 0\n0 0 1\n",
            "0 0 0 255 0 188 0 0\n1 0 0 0 0 0 1 0\n\
            0 1 0 0 0 0 0 1\n0 0 1 0 0 0 0.5 0.25\n",
        );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ply");
    std::fs::write(&path, text).unwrap();
    let MeshFile { mesh, corners, .. } = read_mesh_file(&path).unwrap();
    assert_tetrahedron(&mesh);
    let first = corners[0][0];
    let color = first.color.unwrap();
    // sRGB 188 is half the linear light of 255 to one part in 300
    assert_eq!((color.x, color.y, color.w), (1.0, 0.0, 1.0));
    assert!((color.z - 0.5).abs() < 0.005, "{color}");
    assert_eq!(corners[3][2].uv, Some(nalgebra::Vector2::new(0.5, 0.25)));
    assert_eq!(first.normal, None);
}

#[test]
fn glb_is_read_with_its_nodes_placed() {
    let surface = sim::Surface {
        vertices: CORNERS.to_vec(),
        normals: vec![[0.0, 1.0, 0.0]; 4],
        rest: CORNERS.to_vec(),
        outer: FACES.map(|face| face.map(|v| v as u32)).to_vec(),
        ..sim::Surface::default()
    };
    let track = sim::Track {
        name: "a".to_owned(),
        lazy_surface: surface.into(),
        look: Default::default(),
        parent: None,
        birth: 0,
        taken: 0,
        poses: vec![nalgebra::Isometry3::translation(5.0, 0.0, 0.0)],
        waypoints: Vec::new(),
        shrinks: None,
        stresses: Vec::new(),
    };
    let recording = sim::Recording {
        fps: 30.0,
        frames: 1,
        tracks: vec![track],
        energies: vec![],
        crumbs: vec![],
        camera: None,
    };
    let mut bytes = vec![];
    crate::format::glb::write_glb(&recording, &mut bytes).unwrap();
    let mesh = read("a.glb", &bytes).unwrap();
    assert_tetrahedron(&mesh);
    assert!(mesh.vertices.iter().all(|p| p.x >= 5.0));
    assert!(matches!(read("a.glb", b"glTF").unwrap_err(), MeshFileError::Glb(_)));
}

#[test]
fn vertices_at_one_place_become_one_also_across_objects() {
    let text = b"o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n\
                 o b\nv -0 0 0\nv 0 1 0\nv 0 0 1\nf 4 5 6\nf 4 5 1\n";
    let mesh = read("a.obj", text).unwrap();
    assert_eq!(mesh.vertices.len(), 4);
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]], "the collapsed face is dropped");
}

#[test]
fn other_files_are_refused() {
    assert!(matches!(read("a.fbx", b"").unwrap_err(), MeshFileError::UnknownFormat));
    assert!(matches!(read("a.obj", b"v 0 0 0\n").unwrap_err(), MeshFileError::Empty));
    assert!(matches!(read_mesh(Path::new("no.obj")).unwrap_err(), MeshFileError::Read(_)));
}

/// The file with any of its bytes replaced, or truncated anywhere.
fn damaged(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let cut = (0..bytes.len()).map(|length| bytes[..length].to_vec());
    let changed = (0..bytes.len()).flat_map(|at| {
        [0, b'9', b'-', b' ', b'\n', 0xff].map(|byte| {
            let mut bytes = bytes.to_vec();
            bytes[at] = byte;
            bytes
        })
    });
    cut.chain(changed)
}

#[test]
fn a_damaged_file_is_an_error_or_a_mesh() {
    let binary = stl(|v| CORNERS[v]);
    let obj = b"o a\nv 0 0 0 1 0 0\nv 1 0 0 1 0 0\nv 0 1 0 1 0 0\nvt 0 0\nvn 0 0 1\n\
        f 1/1/1 2/-1/-1 3//1\nf -3 -2 -1\nl 1 2\n";
    let packed = PLY.split_once("0 0 0\n").unwrap().0.replace("ascii", "binary_little_endian");
    let mut packed = packed.into_bytes();
    packed.extend(CORNERS.as_flattened().iter().flat_map(|&x| f64::from(x).to_le_bytes()));
    for face in FACES {
        packed.push(3);
        packed.extend(face.iter().flat_map(|&v| (v as i32).to_le_bytes()));
    }
    let files: [(&str, &[u8]); 4] =
        [("a.stl", &binary), ("a.obj", obj), ("a.ply", PLY.as_bytes()), ("a.ply", &packed)];
    for (name, bytes) in files {
        let parse = |bytes: &[u8]| meshfile::parse(Path::new(name), bytes);
        parse(bytes).unwrap();
        let mut refused = 0;
        for damaged in damaged(bytes) {
            refused += usize::from(parse(&damaged).is_err());
        }
        assert!(refused > bytes.len() / 2, "{refused} of {}", bytes.len());
    }
    let endless = PLY.replace("element face 4", "element nothing 4000000000\nelement face 4");
    let error = read("a.ply", endless.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("`element nothing 4000000000`"), "{error}");
}
