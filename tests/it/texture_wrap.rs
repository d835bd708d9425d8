//! Samplers and transforms of textures: wrap modes survive, transforms become texture coordinates.

use std::path::Path;

use nalgebra::Vector2;
use serde_json::{Value, json};

use crate::cli::{Case, problem};
use crate::glb::assert_valid;
use crate::paint::{face_of, has_area, uv};
use crate::textures::{Contents, Corner, OF_AXIS, changed, cube_glb, picture, read, run_ok, scene};

const MIRRORED: u32 = 33_648;
const CLAMPED: u32 = 33_071;

/// The modes of the samplers of all textures of a recording.
fn modes(path: &Path) -> Vec<[u32; 2]> {
    let file = gltf::Gltf::open(path).unwrap();
    let samplers = file.textures().map(|texture| texture.sampler());
    samplers.map(|s| [s.wrap_s().as_gl_enum(), s.wrap_t().as_gl_enum()]).collect()
}

/// Two materials with one image; one of them mirrors and clamps it.
#[test]
fn wrap_modes_of_a_glb_file_survive() {
    let images = json!([{ "bufferView": 3, "mimeType": "image/png" }]);
    let glb = changed(&cube_glb(&images, &picture(), [0, 1]), |root| {
        root["samplers"] = json!([{ "wrapS": MIRRORED, "wrapT": CLAMPED }]);
        root["textures"] = json!([{ "source": 0, "sampler": 0 }, { "source": 0 }]);
        root["materials"][1]["pbrMetallicRoughness"]["baseColorTexture"] = json!({ "index": 1 });
    });
    let case = Case::new(&[("scene.toml", &scene("", ""))]);
    let at = |name: &str| case.folder.path().join(name);
    std::fs::write(at("cube.glb"), glb).unwrap();
    let run = std::fs::read_to_string(at("scene.toml")).unwrap().replace("cube.obj", "cube.glb");
    std::fs::write(at("scene.toml"), run).unwrap();
    run_ok(&case, &["fracture", "cube.glb", "--pattern", "voronoi:9", "-q", "-o", "a.glb"]);
    run_ok(&case, &["slice", "cube.glb", "--plane", "1,2,3,0.1", "-q", "-o", "b.glb"]);
    run_ok(&case, &["slice", "a.glb", "--plane", "0,1,0,0.3", "-q", "-o", "c.glb"]);
    run_ok(&case, &["run", "scene.toml", "-q", "-o", "d.glb"]);
    run_ok(&case, &["run", "scene.toml", "-q", "--rig", "-o", "e.glb"]);
    let written = ["a.glb", "b.glb", "c.glb", "d.glb", "e.glb"].map(at);
    for path in &written {
        let mut modes = modes(path);
        modes.sort_unstable();
        assert_eq!(modes, [[10_497; 2], [MIRRORED, CLAMPED]], "{}", path.display());
        assert_eq!(gltf::Gltf::open(path).unwrap().images().len(), 1);
    }
    assert_valid(&written);
    run_ok(&case, &["fracture", "cube.glb", "--pattern", "voronoi:5", "-q", "-o", "a.usda"]);
    let text = std::fs::read_to_string(at("a.usda")).unwrap();
    for line in ["wrapS = \"mirror\"", "wrapT = \"clamp\"", "wrapS = \"repeat\""] {
        assert!(text.contains(line), "{line}");
    }
}

/// Whether the center of the face is red, not blue, in a picture of the cube from far along x.
fn center_is_red(case: &Case, recording: &str) -> bool {
    let view = ["--at", "0,0,0", "--from", "9,0,0.001", "--size", "60x60"];
    let render = ["render", recording, "-q", "-o", "a.png"];
    run_ok(case, &[&render[..], &view].concat());
    let picture = brisance::picture_file::read_picture(&case.folder.path().join("a.png")).unwrap();
    let [r, _, b] = picture[[30, 30]].map(u32::from);
    assert!(r > 2 * b || b > 2 * r, "{r} {b}");
    r > b
}

#[test]
fn pictures_wrap_images_as_their_samplers_say() {
    let images = json!([{ "bufferView": 3, "mimeType": "image/png" }]);
    for (sampler, is_red) in [(10_497, true), (MIRRORED, false), (CLAMPED, false)] {
        let case = Case::new(&[]);
        let glb = changed(&cube_glb(&images, &picture(), [0, 1]), |root| {
            root["samplers"] = json!([{ "wrapS": sampler }]);
            root["textures"] = json!([{ "source": 0, "sampler": 0 }]);
            let texture = &mut root["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"];
            // the offset moves columns 0.06 to 0.14 to 1.06 to 1.14: red if repeated, blue if
            // mirrored or clamped
            texture["extensions"] = json!({ "KHR_texture_transform": { "offset": [1, 0] } });
            root["extensionsUsed"] = json!(["KHR_texture_transform"]);
        });
        std::fs::write(case.folder.path().join("cube.glb"), glb).unwrap();
        run_ok(&case, &["slice", "cube.glb", "--plane", "1,0,0,5", "-q", "-o", "a.glb"]);
        assert_eq!(center_is_red(&case, "a.glb"), is_red, "{sampler}");
    }
}

/// Transforms of KHR_texture_transform become coordinates; the first is the example of its specification, which shows
/// the rotated lower left quarter of the image.
#[test]
fn transforms_of_textures_become_texture_coordinates() {
    let images = json!([{ "uri": "wood.png" }]);
    let turn = std::f64::consts::FRAC_PI_2;
    type Of = fn(Vector2<f64>) -> Vector2<f64>;
    let cases: [(Value, Of); 3] = [
        (json!({ "offset": [0, 1], "rotation": turn, "scale": [0.5, 0.5] }), |uv| {
            Vector2::new(0.5 * uv.y, 1.0 - 0.5 * uv.x)
        }),
        (json!({ "offset": [0, 1], "scale": [1, -1] }), |uv| Vector2::new(uv.x, 1.0 - uv.y)),
        // scaled before rotation
        (json!({ "rotation": turn, "scale": [2, 3] }), |uv| Vector2::new(3.0 * uv.y, -2.0 * uv.x)),
    ];
    for (transform, wanted) in cases {
        let case = Case::new(&[]);
        let at = |name: &str| case.folder.path().join(name);
        std::fs::write(at("wood.png"), picture()).unwrap();
        let glb = changed(&cube_glb(&images, &[], [0, 1]), |root| {
            let texture = &mut root["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"];
            texture["extensions"] = json!({ "KHR_texture_transform": transform });
            root["extensionsUsed"] = json!(["KHR_texture_transform"]);
            root["extensionsRequired"] = json!(["KHR_texture_transform"]);
        });
        std::fs::write(at("cube.glb"), glb).unwrap();
        run_ok(&case, &["fracture", "cube.glb", "--pattern", "voronoi:5", "-q", "-o", "a.glb"]);
        let Contents { triangles, .. } = read(&at("a.glb"));
        let mut seen = 0;
        for triangle in triangles.iter().filter(|triangle| has_area(&triangle.places())) {
            let Some(axis) = face_of(&triangle.places()) else { continue };
            for Corner { place: p, uv: found } in triangle.corners {
                let own = uv(axis, &p.coords);
                // in glTF, v points downwards
                let down = |uv: Vector2<f64>| Vector2::new(uv.x, 1.0 - uv.y);
                let there = if OF_AXIS[axis] == "paint" { own } else { down(wanted(down(own))) };
                assert!((found - there).norm() < 1e-5, "{transform}: {found}, not {there}");
                seen += 1;
            }
        }
        assert!(seen > 30, "{seen}");
        assert_valid(&[at("a.glb")]);
    }
}

#[test]
fn damaged_samplers_and_transforms_are_refused_or_passed_over() {
    let images = json!([{ "uri": "wood.png" }]);
    let transformed = "of a KHR_texture_transform must be between -1e6 and 1e6";
    for (sampler, transform, words) in [
        (json!({ "wrapS": 5 }), json!({}), ""),
        (json!({ "wrapS": "repeat" }), json!({}), ""),
        (json!({}), json!({ "offset": [1] }), ""),
        (json!({}), json!({ "rotation": "left" }), ""),
        (json!({}), json!({ "texCoord": 7 }), ""),
        (json!({}), json!({ "scale": [1e39, 0] }), "number out of range"),
        (json!({}), json!({ "scale": [1, -2e6] }), transformed),
        (json!({}), json!({ "offset": [2e6, 0] }), transformed),
        (json!({}), json!({ "scale": [1e6, 1] }), ""),
    ] {
        let case = Case::new(&[]);
        let at = |name: &str| case.folder.path().join(name);
        std::fs::write(at("wood.png"), picture()).unwrap();
        let glb = changed(&cube_glb(&images, &[], [0, 1]), |root| {
            root["samplers"] = json!([sampler]);
            root["textures"] = json!([{ "source": 0, "sampler": 0 }]);
            let texture = &mut root["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"];
            texture["extensions"] = json!({ "KHR_texture_transform": transform });
        });
        std::fs::write(at("cube.glb"), glb).unwrap();
        let output = case.run(&["fracture", "cube.glb", "--pattern", "voronoi:5", "-o", "a.glb"]);
        let message = problem(output.stderr);
        match output.status.code() {
            Some(0) => assert_valid(&[at("a.glb")]),
            code => {
                assert_eq!((code, message.lines().count()), (Some(2), 1), "{transform}: {message}");
            }
        }
        assert!(message.contains(words), "{transform}: {message}");
    }
}
