//! Materials and images of meshes and their pieces in files.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use brisance::mesh_file::read_mesh_file;
use nalgebra::{Point3, Vector2, Vector3};
use serde_json::{Value, json};
use sim::{ImageKind, Opacity};

use crate::cli::{Case, problem};
use crate::glb::assert_valid;
use crate::paint::{corner, face_of, faces, has_area, uv};

/// A PNG of 32 x 32 pixels: red in its left half, blue in its right one.
pub(crate) fn picture() -> Vec<u8> {
    let pixel = |n: usize| if n % 32 < 16 { [255, 0, 0] } else { [0, 0, 255] };
    let pixels: Vec<u8> = (0..32 * 32).flat_map(pixel).collect();
    let mut bytes = vec![];
    let mut encoder = png::Encoder::new(&mut bytes, 32, 32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
    bytes
}

/// The material of the cube face normal to an axis.
pub(crate) const OF_AXIS: [&str; 3] = ["old wood", "old wood", "paint"];

/// A cube from -1 to 1 m as OBJ; faces across x and y have the image, each with a separate part of it.
fn cube() -> String {
    let mut text = String::from("mtllib cube.mtl\n");
    for n in 0..8 {
        let p = corner(n);
        writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap();
    }
    for (next, (axis, corners)) in (0..).map(|n| 4 * n + 1).zip(faces()) {
        for n in corners {
            let uv = uv(axis, &corner(n));
            writeln!(text, "vt {} {}", uv.x, uv.y).unwrap();
        }
        let face = corners.iter().zip(next..).map(|(v, t)| format!(" {}/{t}", v + 1));
        writeln!(text, "usemtl {}\nf{}", OF_AXIS[axis], face.collect::<String>()).unwrap();
    }
    text
}

const MTL: &str = "newmtl old wood\nKd 1 1 1\nPr 0.5\nmap_Kd -clamp on wood.png\n\
    newmtl paint\nKd 0.2 0.4 0.6\nd 0.5\n";

pub(crate) fn textured() -> Case {
    let case = Case::new(&[("cube.obj", &cube()), ("cube.mtl", MTL)]);
    std::fs::write(case.folder.path().join("wood.png"), picture()).unwrap();
    case
}

/// The cube as a GLB with the given `images`; `extra` bytes follow the vertices as view 3.
pub(crate) fn cube_glb(images: &Value, extra: &[u8], materials: [usize; 2]) -> Vec<u8> {
    let (mut places, mut uvs, mut indices) = (vec![], vec![], [vec![], vec![]]);
    for (axis, corners) in faces() {
        let first = (places.len() / 3) as u16;
        for n in corners {
            let (p, uv) = (corner(n), uv(axis, &corner(n)));
            places.extend(p.iter().map(|&x| x as f32));
            uvs.extend([uv.x as f32, 1.0 - uv.y as f32]);
        }
        let of = &mut indices[usize::from(OF_AXIS[axis] == "paint")];
        of.extend([0, 1, 2, 0, 2, 3].map(|k| first + k));
    }
    let mut bytes: Vec<u8> =
        places.iter().chain(&uvs).flat_map(|x: &f32| x.to_le_bytes()).collect();
    bytes.extend(indices.iter().flatten().flat_map(|n: &u16| n.to_le_bytes()));
    let own = bytes.len();
    bytes.extend_from_slice(extra);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let primitive = |n: usize| {
        json!({ "attributes": { "POSITION": 0, "TEXCOORD_0": 1 }, "indices": 2 + n,
            "material": materials[n] })
    };
    let mut root = json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [primitive(0), primitive(1)] }],
        "materials": [
            { "name": "old wood", "pbrMetallicRoughness": { "metallicFactor": 0.0,
                "roughnessFactor": 0.5, "baseColorTexture": { "index": 0 } } },
            { "name": "paint", "alphaMode": "BLEND", "pbrMetallicRoughness": {
                "baseColorFactor": [0.2, 0.4, 0.6, 0.5], "metallicFactor": 0.0 } },
        ],
        "textures": [{ "source": 0 }], "images": images,
        "buffers": [{ "byteLength": bytes.len() }],
        "bufferViews": [
            { "buffer": 0, "byteOffset": 0, "byteLength": 288 },
            { "buffer": 0, "byteOffset": 288, "byteLength": 192 },
            { "buffer": 0, "byteOffset": 480, "byteLength": own - 480 },
        ],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 24, "type": "VEC3",
                "min": [-1, -1, -1], "max": [1, 1, 1] },
            { "bufferView": 1, "componentType": 5126, "count": 24, "type": "VEC2" },
            { "bufferView": 2, "componentType": 5123, "count": 24, "type": "SCALAR" },
            { "bufferView": 2, "byteOffset": 48, "componentType": 5123, "count": 12, "type": "SCALAR" },
        ],
    });
    if !extra.is_empty() {
        let view = json!({ "buffer": 0, "byteOffset": own, "byteLength": extra.len() });
        root["bufferViews"].as_array_mut().unwrap().push(view);
    }
    packed(&root, bytes)
}

/// A GLB file of a document and its buffer.
fn packed(root: &Value, bytes: Vec<u8>) -> Vec<u8> {
    let mut text = root.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut glb = b"glTF\x02\0\0\0".to_vec();
    let total = 28 + text.len() + bytes.len();
    glb.extend((total as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", text), (b"BIN\0", bytes)] {
        glb.extend((chunk.len() as u32).to_le_bytes());
        glb.extend(kind);
        glb.extend(chunk);
    }
    glb
}

/// A corner of a triangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    /// Position in the whole body.
    pub(crate) place: Point3<f64>,
    /// Texture coordinates.
    pub(crate) uv: Vector2<f64>,
}

/// A triangle with the name of its material.
pub(crate) struct Triangle {
    material: String,
    pub(crate) corners: [Corner; 3],
}

impl Triangle {
    pub(crate) fn places(&self) -> [Point3<f64>; 3] {
        self.corners.map(|corner| corner.place)
    }
}

/// All triangles and images of a recording.
pub(crate) struct Contents {
    pub(crate) triangles: Vec<Triangle>,
    pub(crate) images: Vec<Vec<u8>>,
}

/// The contents of a recording, by another reader.
pub(crate) fn read(path: &Path) -> Contents {
    let file = gltf::Gltf::open(path).unwrap();
    let blob = file.blob.as_deref().unwrap();
    let mut triangles = vec![];
    for primitive in file.meshes().flat_map(|mesh| mesh.primitives()) {
        let reader = primitive.reader(|_| Some(blob));
        let rest = primitive.get(&gltf::Semantic::Extras("REST".to_owned())).unwrap();
        let rest = gltf::accessor::Iter::<[f32; 3]>::new(rest, |_| Some(blob)).unwrap();
        let rest: Vec<[f32; 3]> = rest.collect();
        let uvs = reader.read_tex_coords(0).into_iter().flat_map(|uvs| uvs.into_f32());
        let uvs: Vec<[f32; 2]> = uvs.collect();
        let indices: Vec<u32> = reader.read_indices().unwrap().into_u32().collect();
        let material = primitive.material().name().unwrap().to_owned();
        let at = |v: u32| {
            let [u, w] = uvs.get(v as usize).copied().unwrap_or_default().map(f64::from);
            let place = Point3::from(rest[v as usize]).cast();
            Corner { place, uv: Vector2::new(u, 1.0 - w) }
        };
        triangles.extend(
            indices
                .as_chunks::<3>()
                .0
                .iter()
                .map(|corners| Triangle { material: material.clone(), corners: corners.map(at) }),
        );
    }
    let images = file.images().map(|image| match image.source() {
        gltf::image::Source::View { view, mime_type } => {
            assert_eq!(mime_type, "image/png");
            blob[view.offset()..view.offset() + view.length()].to_vec()
        }
        gltf::image::Source::Uri { .. } => panic!("it is in the file"),
    });
    Contents { triangles, images: images.collect() }
}

/// Checks that outer triangles have the material and the texture coordinates of the cube, and that
/// cuts have the inner material; returns the numbers of both.
fn check_exact(path: &Path) -> [usize; 2] {
    let Contents { triangles, images } = read(path);
    assert_eq!(images, [picture()], "each image once, byte by byte");
    let mut counts = [0; 2];
    for triangle in triangles.iter().filter(|triangle| has_area(&triangle.places())) {
        let axis = face_of(&triangle.places());
        counts[usize::from(axis.is_none())] += 1;
        let Some(axis) = axis else {
            assert!(triangle.material.ends_with(" inside"), "{}", triangle.material);
            continue;
        };
        assert_eq!(triangle.material, OF_AXIS[axis]);
        for Corner { place: p, uv: found } in triangle.corners {
            let wanted = uv(axis, &p.coords);
            assert!((found - wanted).norm() < 1e-5, "{found} for {wanted} at {p}");
        }
    }
    counts
}

pub(crate) fn run_ok(case: &Case, arguments: &[&str]) -> String {
    let done = case.run(arguments);
    let stderr = problem(done.stderr);
    assert!(done.status.success(), "{arguments:?}: {stderr}");
    stderr
}

#[test]
fn pieces_keep_the_materials_and_the_image_of_an_obj_file() {
    let case = textured();
    let stderr = run_ok(&case, &["fracture", "cube.obj", "--pattern", "voronoi:9", "-o", "a.glb"]);
    assert_eq!(stderr, "");
    let path = case.folder.path().join("a.glb");
    let [outer, inner] = check_exact(&path);
    assert!(outer > 30 && inner > 30, "{outer} {inner}");
    assert_valid(&[path]);
}

#[test]
fn pieces_keep_the_materials_and_the_image_of_a_glb_file() {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let data = format!("data:image/png;base64,{}", STANDARD.encode(picture()));
    let kinds = [
        (json!([{ "bufferView": 3, "mimeType": "image/png" }]), picture()),
        (json!([{ "uri": data }]), vec![]),
        (json!([{ "uri": "old%20wood.png" }]), vec![]),
    ];
    for (images, extra) in kinds {
        let case = Case::new(&[]);
        let folder = case.folder.path();
        std::fs::write(folder.join("old wood.png"), picture()).unwrap();
        std::fs::write(folder.join("cube.glb"), cube_glb(&images, &extra, [0, 1])).unwrap();
        run_ok(&case, &["fracture", "cube.glb", "--pattern", "voronoi:9", "-o", "a.glb"]);
        run_ok(&case, &["slice", "cube.glb", "--plane", "1,2,3,0.1", "-o", "b.glb"]);
        // pieces of pieces have them, too
        run_ok(&case, &["slice", "a.glb", "--plane", "0,1,0,0.3", "-o", "c.glb"]);
        for name in ["a.glb", "b.glb"] {
            let [outer, inner] = check_exact(&folder.join(name));
            assert!(outer > 12 && inner > 1, "{outer} {inner}");
        }
        assert_eq!(read(&folder.join("c.glb")).images, [picture()]);
        assert_valid(&["a.glb", "b.glb", "c.glb"].map(|name| folder.join(name)));
    }
}

/// glTF 2.0 section 3.7.4: the winding of a node that mirrors is reversed.
#[test]
fn a_mesh_below_a_node_that_mirrors_is_a_solid() {
    let glb = cube_glb(&json!([{ "uri": "wood.png" }]), &[], [0, 1]);
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let mut root: Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    root["nodes"][0]["scale"] = json!([-1, 2, 1]);
    let glb = packed(&root, glb[28 + length..].to_vec());
    let mesh = meshfile::parse(Path::new("a.glb"), &glb).unwrap().mesh;
    assert!((mesh.signed_volume() - 16.0).abs() < 1e-5, "{}", mesh.signed_volume());
}

/// The cube in a scene that breaks it in a frame.
pub(crate) fn scene(pattern: &str, keys: &str) -> String {
    format!(
        r#"version = 1
        [simulation]
        frames = 2
        gravity = [0, 0, 0]
        [pattern.shards.voronoi]
        pieces = 9
        {pattern}
        [[body]]
        name = "cube"
        shape = {{ mesh = {{ file = "cube.obj", spacing = 0.1 }} }}
        fracture = {{ pattern = "shards", break_impulse = 1 }}
        copies = {{ count = [2, 1, 1], spacing = [5, 1, 1] }}
        {keys}
        [[body]]
        name = "ball"
        shape = {{ sphere = {{ radius = 0.5 }} }}
        position = [-2.5, 2.6, 0]
        velocity = [0, -40, 0]
        "#
    )
}

#[test]
fn a_body_of_a_scene_shows_the_materials_of_its_mesh_unless_it_has_a_color() {
    let case = textured();
    let folder = case.folder.path();
    std::fs::write(folder.join("scene.toml"), scene("", "")).unwrap();
    let run = ["run", "scene.toml", "-q", "-o", "a.glb"];
    assert_eq!(run_ok(&case, &[&run[..], &["--threads", "1"]].concat()), "");
    let path = folder.join("a.glb");
    let one = std::fs::read(&path).unwrap();
    run_ok(&case, &[&run[..], &["--threads", "3"]].concat());
    assert!(one == std::fs::read(&path).unwrap(), "any number of threads gives the same file");
    let file = gltf::Gltf::from_slice(&one).unwrap();
    assert!(file.nodes().len() > 8, "one of the cubes broke");
    let Contents { triangles, images } = read(&path);
    assert_eq!(images, [picture()]);
    assert!(triangles.iter().any(|triangle| triangle.material == "paint"));
    assert!(triangles.iter().any(|triangle| triangle.material.ends_with(" inside")));
    assert_valid(&[path]);
    let colored = scene("", "colour = [0.5, 0.5, 0.5]");
    std::fs::write(folder.join("scene.toml"), colored).unwrap();
    run_ok(&case, &run);
    let file = gltf::Gltf::open(folder.join("a.glb")).unwrap();
    assert_eq!(file.images().len(), 0);
}

#[test]
fn sampled_pieces_are_painted_as_the_mesh_with_its_seams() {
    let case = textured();
    let folder = case.folder.path();
    let noisy = scene("noise = { amplitude = 0.1, frequency = 2 }", "");
    std::fs::write(folder.join("scene.toml"), noisy).unwrap();
    run_ok(&case, &["run", "scene.toml", "-q", "-o", "a.glb"]);
    let path = folder.join("a.glb");
    let Contents { triangles, images } = read(&path);
    assert_eq!(images, [picture()]);
    let mut on_faces = 0;
    let outer = triangles.iter().filter(|triangle| OF_AXIS.contains(&&*triangle.material));
    for triangle in outer.filter(|triangle| has_area(&triangle.places())) {
        // the image parts of faces are separate
        let part = |uv: &Vector2<f64>| (uv.x / 0.1).round();
        let parts = triangle.corners.map(|corner| part(&corner.uv));
        assert!(parts.iter().all(|other| *other == parts[0]), "{:?}", triangle.corners);
        let material = OF_AXIS[(parts[0] / 2.0).floor() as usize];
        assert_eq!(triangle.material, material);
        let places = triangle.places();
        let Some(axis) = face_of(&places) else { continue };
        on_faces += 1;
        for Corner { place: p, uv: found } in triangle.corners {
            // on the rim of a face the coordinates of an adjacent face may apply: tests only
            // triangles within the face
            let is_within = (0..3).all(|k| k == axis || p[k].abs() < 0.999);
            let wanted = uv(axis, &p.coords);
            assert!(!is_within || (found - wanted).norm() < 1e-5, "{found} for {wanted} at {p}");
        }
    }
    assert!(on_faces > 500, "{on_faces}");
    assert_valid(&[path]);
}

#[test]
fn other_formats_name_images_that_are_beside_them() {
    let case = textured();
    let folder = case.folder.path();
    let fracture = |out: &str| {
        run_ok(&case, &["fracture", "cube.obj", "--pattern", "voronoi:5", "-q", "-o", out]);
    };
    fracture("a.usda");
    let text = std::fs::read_to_string(folder.join("a.usda")).unwrap();
    assert_eq!(text.matches("uniform token info:id = \"UsdUVTexture\"").count(), 1);
    assert!(text.contains("asset inputs:file = @./a_textures/wood.png@"));
    assert!(text.contains("rel material:binding = </World/Looks/old_wood>"));
    assert_eq!(std::fs::read(folder.join("a_textures/wood.png")).unwrap(), picture());
    // and again, over the existing files
    fracture("a.usda");
    fracture("frames/");
    assert_eq!(std::fs::read(folder.join("frames/wood.png")).unwrap(), picture());
    let file = read_mesh_file(&folder.join("frames/frame_00000.obj")).unwrap();
    assert!(file.warnings.is_empty(), "{:?}", file.warnings);
    let wood = file.coats.iter().position(|coat| coat.name == "old_wood").unwrap();
    let image = file.coats[wood].image.as_ref().unwrap();
    assert_eq!((image.kind, &image.bytes[..]), (ImageKind::Png, &picture()[..]));
    assert!(file.coat_of.contains(&(wood as u32)));
    let paint = file.coats.iter().find(|coat| coat.name == "paint").unwrap();
    assert_eq!((paint.color, paint.opacity), ([0.2, 0.4, 0.6, 0.5], Opacity::Blend));
}

#[test]
fn pictures_show_the_image_where_texture_coordinates_say() {
    let case = textured();
    run_ok(&case, &["slice", "cube.obj", "--plane", "1,0,0,5", "-q", "-o", "a.glb"]);
    let view = ["--at", "0,0,0", "--from", "9,0,0.001", "--size", "60x60"];
    let render = ["render", "a.glb", "-q", "-o", "a.png"];
    run_ok(&case, &[&render[..], &view].concat());
    let picture = brisance::picture_file::read_picture(&case.folder.path().join("a.png")).unwrap();
    // the face across x has columns 0.06 to 0.14 of the image, all red
    let [r, g, b] = picture[[30, 30]];
    assert!(r > 2 * g && r > 2 * b, "{r} {g} {b}");
}

/// A document of a GLB file, changed.
pub(crate) fn changed(glb: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let mut root: Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    change(&mut root);
    packed(&root, glb[28 + length..].to_vec())
}

/// The remaining images of a GLB file, or another file of `fracture`, after a warning.
fn images_after(case: &Case, mesh: &str, warning: &str) -> usize {
    let stderr = run_ok(case, &["fracture", mesh, "--pattern", "voronoi:5", "-o", "a.glb"]);
    assert!(stderr.starts_with("warning: ") && stderr.contains(warning), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    let path: PathBuf = case.folder.path().join("a.glb");
    let count = gltf::Gltf::open(&path).unwrap().images().len();
    assert_valid(&[path]);
    count
}

#[test]
fn missing_images_give_a_warning_and_pieces_without_images() {
    let case = textured();
    let folder = case.folder.path();
    std::fs::remove_file(folder.join("wood.png")).unwrap();
    let words = "cube.obj: material `old wood` has no image: `wood.png` cannot be read";
    assert_eq!(images_after(&case, "cube.obj", words), 0);
    std::fs::write(folder.join("wood.png"), b"RIFF....WEBP").unwrap();
    assert_eq!(images_after(&case, "cube.obj", "neither PNG nor JPEG"), 0);
    let bare: String =
        cube().lines().filter(|line| !line.starts_with("vt ")).fold(String::new(), |text, line| {
            match line.strip_prefix("f ") {
                Some(face) => {
                    let corners = face.split(' ').map(|c| c.split('/').next().unwrap());
                    text + "f " + &corners.collect::<Vec<_>>().join(" ") + "\n"
                }
                None => text + line + "\n",
            }
        });
    std::fs::write(folder.join("wood.png"), picture()).unwrap();
    std::fs::write(folder.join("bare.obj"), bare).unwrap();
    let words = "material `old wood` has no image: its triangles have no texture coordinates";
    assert_eq!(images_after(&case, "bare.obj", words), 0);
    let other = cube().replace("usemtl paint", "usemtl glass");
    std::fs::write(folder.join("other.obj"), other).unwrap();
    assert_eq!(images_after(&case, "other.obj", "material `glass` is left out"), 1);
    let inner = folder.join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(inner.join("cube.obj"), cube()).unwrap();
    std::fs::write(inner.join("cube.mtl"), MTL.replace("wood.png", "../wood.png")).unwrap();
    assert_eq!(images_after(&case, "inner/cube.obj", "outside the folder of the mesh"), 0);
}

/// A texture may have its image only in an extension, which glTF then lists as required.
#[test]
fn a_texture_in_another_format_leaves_its_base_color() {
    let images = json!([{ "bufferView": 3, "mimeType": "image/webp" }]);
    let glb = cube_glb(&images, b"RIFF....WEBP", [0, 1]);
    let text_len = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let mut root: Value = serde_json::from_slice(&glb[20..20 + text_len]).unwrap();
    let extensions = json!(["EXT_texture_webp"]);
    root["textures"] = json!([{ "extensions": { "EXT_texture_webp": { "source": 0 } } }]);
    root["extensionsUsed"] = extensions.clone();
    root["extensionsRequired"] = extensions;
    root["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"] = json!([0.5, 0.25, 0.125, 1]);
    let file = |root: &Value| packed(root, glb[28 + text_len..].to_vec());
    let case = Case::new(&[]);
    let at = |name: &str| case.folder.path().join(name);
    std::fs::write(at("cube.glb"), file(&root)).unwrap();
    let words = "material `old wood` has no image: its texture is neither PNG nor JPEG";
    assert_eq!(images_after(&case, "cube.glb", words), 0);
    let read = read_mesh_file(&at("cube.glb")).unwrap();
    assert_eq!(read.coats[0].color, [0.5, 0.25, 0.125, 1.0]);
    assert_eq!(read.coats[0].image, None);
    // extensions that change more than images are still refused
    root["extensionsRequired"] = json!(["EXT_texture_webp", "KHR_draco_mesh_compression"]);
    std::fs::write(at("cube.glb"), file(&root)).unwrap();
    let output = case.run(&["fracture", "cube.glb", "--pattern", "voronoi:5", "-o", "b.glb"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn names_in_latin_1_are_read_as_they_are_in_utf_8() {
    let case = textured();
    let folder = case.folder.path();
    let latin = |text: &str| -> Vec<u8> { text.chars().map(|c| c as u8).collect() };
    let named = |text: &str| {
        let text = text.replace("old wood", "Bühnenholz").replace("wood.png", "Maßstab.png");
        text.replace("cube.mtl", "Möbel.mtl")
    };
    std::fs::rename(folder.join("wood.png"), folder.join("Maßstab.png")).unwrap();
    std::fs::write(folder.join("utf8.obj"), named(&cube())).unwrap();
    std::fs::write(folder.join("Möbel.mtl"), named(MTL)).unwrap();
    let expected = read_mesh_file(&folder.join("utf8.obj")).unwrap();
    std::fs::write(folder.join("latin.obj"), latin(&named(&cube()))).unwrap();
    std::fs::write(folder.join("Möbel.mtl"), latin(&named(MTL))).unwrap();
    let read = read_mesh_file(&folder.join("latin.obj")).unwrap();
    assert_eq!(read.coats[0].name, "Bühnenholz");
    assert!(read.coats[0].image.is_some() && read.warnings.is_empty(), "{:?}", read.warnings);
    assert_eq!(read.coats, expected.coats);
    assert_eq!((read.mesh, read.coat_of), (expected.mesh, expected.coat_of));
    // errors still name the line
    let wrong = [&latin("# Ä\n")[..], b"v 0 x 0\n"].concat();
    std::fs::write(folder.join("wrong.obj"), wrong).unwrap();
    let error = read_mesh_file(&folder.join("wrong.obj")).unwrap_err().to_string();
    assert!(error.starts_with("line 2: "), "{error}");
}

#[test]
fn damaged_images_and_wrong_numbers_are_refused() {
    let case = textured();
    let folder = case.folder.path();
    let refused = |arguments: &[&str], words: &str| {
        let before = case.names();
        let done = case.run(arguments);
        let stderr = problem(done.stderr);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(stderr.contains(words), "{stderr}");
        assert_eq!(case.names(), before, "nothing is left behind");
    };
    let fracture =
        |mesh: &'static str| ["fracture", mesh, "--pattern", "voronoi:5", "-o", "out.glb"];
    let mut huge = picture();
    huge[16..20].copy_from_slice(&u32::MAX.to_be_bytes());
    std::fs::write(folder.join("wood.png"), &huge).unwrap();
    refused(&fracture("cube.obj"), "`wood.png` has 4294967295 x 32 pixels, more than 67108864");
    std::fs::write(folder.join("wood.png"), &picture()[..20]).unwrap();
    refused(&fracture("cube.obj"), "`wood.png` is damaged");
    std::fs::write(folder.join("scene.toml"), scene("", "")).unwrap();
    refused(&["run", "scene.toml", "-q", "-o", "out.glb"], "`wood.png` is damaged");
    let view = json!([{ "bufferView": 3, "mimeType": "image/png" }]);
    for (name, bytes, words) in [
        ("number.glb", cube_glb(&view, &picture(), [0, 7]), "material: index out of bounds"),
        (
            "data.glb",
            cube_glb(&json!([{ "uri": "data:image/png;base64,_" }]), &[], [0, 1]),
            "image 0",
        ),
    ] {
        std::fs::write(folder.join(name), bytes).unwrap();
        refused(&fracture(name), words);
    }
    // the header of the image is valid: only decoding detects the damage
    let damaged = cube_glb(&view, &picture()[..30], [0, 1]);
    std::fs::write(folder.join("image.glb"), damaged).unwrap();
    run_ok(&case, &["fracture", "image.glb", "--pattern", "voronoi:5", "-q", "-o", "cut.glb"]);
    refused(&["render", "cut.glb", "-q", "-o", "out.png"], "is damaged");
}

#[test]
fn a_scene_cannot_read_files_outside_its_folder_without_allow_outside() {
    let outer = textured();
    let inner = outer.folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(inner.join("cube.obj"), cube()).unwrap();
    std::fs::write(inner.join("cube.mtl"), MTL.replace("wood.png", "../wood.png")).unwrap();
    std::fs::write(inner.join("scene.toml"), scene("", "")).unwrap();
    let run = ["run", "inner/scene.toml", "-q", "-o", "a.glb"];
    let done = outer.run(&run);
    let stderr = problem(done.stderr);
    assert_eq!(done.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("wood.png: is outside"), "{stderr}");
    run_ok(&outer, &[&run[..], &["--allow-outside"]].concat());
    assert_eq!(read(&outer.folder.path().join("a.glb")).images, [picture()]);
}

#[test]
fn a_ply_file_has_the_image_that_its_comment_names() {
    let mut text = String::from("ply\nformat ascii 1.0\ncomment TextureFile wood.png\n");
    text += "element vertex 8\nproperty float x\nproperty float y\nproperty float z\n";
    text += "element face 6\nproperty list uchar int vertex_indices\n";
    text += "property list uchar float texcoord\nend_header\n";
    for n in 0..8 {
        let p = corner(n);
        writeln!(text, "{} {} {}", p.x, p.y, p.z).unwrap();
    }
    for (axis, corners) in faces() {
        let names = corners.map(|n| n.to_string()).join(" ");
        let uvs = corners.map(|n| uv(axis, &corner(n))).map(|uv| format!("{} {}", uv.x, uv.y));
        writeln!(text, "4 {names} 8 {}", uvs.join(" ")).unwrap();
    }
    let case = Case::new(&[("cube.ply", &text)]);
    std::fs::write(case.folder.path().join("wood.png"), picture()).unwrap();
    run_ok(&case, &["fracture", "cube.ply", "--pattern", "voronoi:7", "-q", "-o", "a.glb"]);
    let Contents { triangles, images } = read(&case.folder.path().join("a.glb"));
    assert_eq!(images, [picture()]);
    let mut outer = 0;
    for triangle in triangles.iter().filter(|triangle| has_area(&triangle.places())) {
        let Some(axis) = face_of(&triangle.places()) else { continue };
        outer += 1;
        assert_eq!(triangle.material, "wood");
        for Corner { place: p, uv: found } in triangle.corners {
            assert!((found - uv(axis, &Vector3::from(p.coords))).norm() < 1e-5);
        }
    }
    assert!(outer > 12, "{outer}");
}

/// The bytes with any one of them replaced, or cut off anywhere.
fn damaged(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let cut = (0..bytes.len()).map(|length| bytes[..length].to_vec());
    let changed = (0..bytes.len()).flat_map(|at| {
        [0, b'9', b' ', 0xff].map(|byte| {
            let mut bytes = bytes.to_vec();
            bytes[at] = byte;
            bytes
        })
    });
    cut.chain(changed)
}

#[test]
fn damaged_material_files_never_panic() {
    let parse = |name: &str, bytes: &[u8], mtl: &[u8], image: &[u8]| {
        let mut beside = |name: &str| match name {
            "cube.mtl" => Ok(mtl.to_vec()),
            "wood.png" => Ok(image.to_vec()),
            _ => Err("it is not there".to_owned()),
        };
        meshfile::parse_with(Path::new(name), bytes, &mut beside)
    };
    let cube = cube();
    for mtl in damaged(MTL.as_bytes()) {
        let file = parse("cube.obj", cube.as_bytes(), &mtl, &picture()).unwrap();
        assert!(file.coat_of.is_empty() || file.coat_of.len() == file.mesh.triangles.len());
    }
    for image in damaged(&picture()[..40]) {
        let _ = parse("cube.obj", cube.as_bytes(), MTL.as_bytes(), &image);
    }
    let view = json!([{ "bufferView": 3, "mimeType": "image/png" }]);
    let mut refused = 0;
    let glb = cube_glb(&view, &picture(), [0, 1]);
    let all = damaged(&glb);
    for glb in all {
        refused += usize::from(parse("cube.glb", &glb, &[], &[]).is_err());
    }
    assert!(refused > glb.len(), "{refused} of {}", 5 * glb.len());
}

#[test]
fn a_static_mesh_shows_its_materials() {
    let case = textured();
    let scene = r#"version = 1
        [simulation]
        frames = 1
        [[body]]
        name = "cube"
        motion = "static"
        shape = { trimesh = { file = "cube.obj" } }
    "#;
    let folder = case.folder.path();
    std::fs::write(folder.join("scene.toml"), scene).unwrap();
    run_ok(&case, &["run", "scene.toml", "-q", "-o", "a.glb"]);
    let [outer, inner] = check_exact(&folder.join("a.glb"));
    assert_eq!([outer, inner], [12, 0]);
    assert_valid(&[folder.join("a.glb")]);
}
