//! The commands that break and slice meshes.

use std::collections::BTreeSet;

use brisance::format::glb::read_glb;
use nalgebra::Point3;

use crate::cli::{Case, TETRAHEDRON, problem};
use crate::textures::{run_ok, textured};

/// A cube of 2 m about the origin.
const CUBE: &str = "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n\
    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

#[test]
fn a_mesh_is_broken_without_a_simulation() {
    let case = Case::new(&[("cube.obj", CUBE)]);
    let broken = |options: &[&str]| {
        let fracture = ["fracture", "cube.obj", "--nodes", "27000"];
        let run = case.run(&[&fracture[..], options].concat());
        (run.status.code(), String::from_utf8([run.stdout, run.stderr].concat()).unwrap())
    };
    let at = ["--pattern", "voronoi:200", "--at", "-0.5,1,0", "--normal", "0,1,0"];
    let (code, said) = broken(&[&at[..], &["-o", "pieces.glb"]].concat());
    assert_eq!(code, Some(0), "{said}");
    let read =
        |name: &str| read_glb(&std::fs::read(case.folder.path().join(name)).unwrap()).unwrap();
    let pieces = read("pieces.glb");
    assert_eq!(pieces.frames, 1);
    assert!(pieces.tracks.len() > 5, "{}", pieces.tracks.len());
    assert!(pieces.tracks.iter().all(|t| !t.surface().inner.is_empty()));
    crate::glb::assert_valid(&[case.folder.path().join("pieces.glb")]);
    // outer faces lie on the mesh, the rims of cuts within half a voxel of 0.09
    let corners = pieces.tracks.iter().flat_map(|t| {
        let place = *t.pose(0).unwrap();
        t.surface().vertices.clone().into_iter().map(move |v| place * Point3::from(v).cast::<f64>())
    });
    let far = corners.map(|v| v.coords.amax()).fold(0.0, f64::max);
    assert!((far - 1.0).abs() < 0.045, "{far}");
    let (code, said) = broken(&[&at[..], &["-o", "frames/"]].concat());
    assert_eq!(code, Some(0), "{said}");
    let folder = case.folder.path().join("frames");
    let obj = std::fs::read_to_string(folder.join("frame_00000.obj")).unwrap();
    assert_eq!(obj.matches("\no piece ").count(), pieces.tracks.len());

    let pattern = ["pattern", "new", "radial:7x3,jitter=0.2", "-o", "glass.pattern"];
    assert!(case.run(&pattern).status.success());
    let info = String::from_utf8(case.run(&["info", "glass.pattern"]).stdout).unwrap();
    assert!(info.contains("pattern of 21 regions"), "{info}");
    let preview = ["pattern", "preview", "glass.pattern", "--size", "64", "-o", "glass.png"];
    assert!(case.run(&preview).status.success());
    assert_eq!(
        case.run(&["pattern", "new", "glass.png", "-o", "glass.png"]).status.code(),
        Some(2)
    );
    // a picture of the pattern divides space as before
    assert!(case.run(&["pattern", "new", "glass.png", "-o", "cut.pattern"]).status.success());
    let preview = ["pattern", "preview", "cut.pattern", "--size", "64", "-o", "cut.png"];
    assert!(case.run(&preview).status.success());
    let picture = |name| brisance::picture_file::read_picture(&case.folder.path().join(name));
    let (first, second) = (picture("glass.png").unwrap(), picture("cut.png").unwrap());
    let pairs: BTreeSet<_> = first.iter().zip(&second).collect();
    let colors = [&first, &second].map(|picture| picture.iter().collect::<BTreeSet<_>>().len());
    assert!(colors == [pairs.len(); 2] && pairs.len() > 10, "{colors:?} {}", pairs.len());
    let (code, said) = broken(&["--pattern", "glass.pattern", "-o", "radial.usda"]);
    assert_eq!(code, Some(0), "{said}");

    for (pattern, words) in [
        ("voronoi:many", "voronoi:PIECES"),
        ("voronoi:1", "between 2 and 10000"),
        ("voronoi:9,clusterin=1", "clusterin"),
        ("shards", "voronoi:PIECES"),
    ] {
        let (code, said) = broken(&["--pattern", pattern, "-o", "no.glb"]);
        assert_eq!(code, Some(2));
        assert!(said.contains(words) && said.lines().count() == 1, "{pattern}: {said}");
    }
    assert_eq!(broken(&["--pattern", "voronoi:9", "-o", "no"]).0, Some(2));
    assert_eq!(broken(&["--pattern", "voronoi:9", "--normal", "0,0,0", "-o", "no.glb"]).0, Some(2));
    assert!(!case.names().iter().any(|name| name.starts_with("no")));
}

#[test]
fn a_sliced_mesh_is_two_closed_ones() {
    let case = Case::new(&[("tet.obj", TETRAHEDRON)]);
    let halves = ["slice", "tet.obj", "--plane", "0,0,2,1", "-o"];
    let output = case.run(&[&halves[..], &["halves.glb"]].concat());
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    // a corner of half the size has an eighth of the volume
    for line in ["back: volume 0.1458", "front: volume 0.02083"] {
        assert!(said.contains(line), "{said}");
    }
    let recording = read_glb(&std::fs::read(case.folder.path().join("halves.glb")).unwrap());
    let names: Vec<String> = recording.unwrap().tracks.into_iter().map(|t| t.name).collect();
    assert_eq!(names, ["back", "front"]);
    assert_eq!(problem(output.stderr), "");
    let missed = [&halves[..4], &["--plane", "0,1,0,3", "-o", "missed.glb"]].concat();
    let message = problem(case.run(&missed).stderr);
    assert!(
        message.starts_with("warning: plane 2 does not cut tet.obj, which is from 0,0,0 to "),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1, "{message}");

    let quarters = ["--plane", "1,-1,0,0", "--quiet", "-o", "quarters.obj"];
    let output = case.run(&[&halves[..4], &quarters[..]].concat());
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let path = case.folder.path().join("quarters.obj");
    let mesh = brisance::mesh_file::read_mesh(&path).unwrap();
    let facts = mesh.facts().unwrap();
    assert!((mesh.signed_volume() - 1.0 / 6.0).abs() < 1e-12);
    // touching parts remain separate after reading, in either format
    assert!(facts.closed && facts.oriented && facts.components == 4, "{facts:?}");
    let halves = case.folder.path().join("halves.glb");
    let facts = brisance::mesh_file::read_mesh(&halves).unwrap().facts().unwrap();
    assert!(facts.closed && facts.oriented && facts.components == 2, "{facts:?}");
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(text.matches("o part").count(), 4);
    assert_eq!(text.matches("g inner").count(), 4);
}

/// A tetrahedron whose texture coordinates and colors are linear in x, y and z.
const PAINTED: &str = "v 0 0 0 0 0 0\nv 1 0 0 1 0 0\nv 0 1 0 0 1 0\nv 0 0 1 0 0 1\n\
    vt 0 0\nvt 1 0\nvt 0 1\nvt 0.5 0.5\n\
    f 1/1 3/3 2/2\nf 1/1 2/2 4/4\nf 1/1 4/4 3/3\nf 2/2 3/3 4/4\n";

#[test]
fn a_slice_carries_texture_coordinates_and_colors() {
    let case = Case::new(&[("tet.obj", PAINTED)]);
    let slice = |input, output| {
        let done = case.run(&["slice", input, "--plane", "1,2,3,0.7", "-o", output]);
        assert!(done.status.success(), "{done:?}");
        let path = case.folder.path().join(output);
        brisance::mesh_file::read_mesh_file(&path).unwrap()
    };
    for painted in [slice("tet.obj", "a.obj"), slice("tet.obj", "a.glb")] {
        let mut carried = 0;
        for (triangle, corners) in painted.mesh.triangles.iter().zip(&painted.corners) {
            let places = triangle.map(|v| painted.mesh.vertices[v as usize]);
            let cut = |p: &nalgebra::Point3<f64>| (p.x + 2.0 * p.y + 3.0 * p.z - 0.7).abs() < 1e-6;
            if places.iter().all(cut) {
                continue;
            }
            for (p, corner) in places.iter().zip(corners) {
                let (uv, color) = (corner.uv.unwrap(), corner.color.unwrap());
                let expected = nalgebra::Vector2::new(p.x + 0.5 * p.z, p.y + 0.5 * p.z);
                assert!((uv - expected).norm() < 1e-6, "{uv} at {p}");
                assert!((color.xyz() - p.coords).norm() < 1e-6, "{color} at {p}");
                assert!(corner.normal.is_some());
                carried += 1;
            }
        }
        assert!(carried >= 24, "{carried}");
    }
}

#[test]
fn what_cannot_be_sliced_is_refused_in_one_sentence() {
    let open = TETRAHEDRON.rsplit_once("f 2").unwrap().0;
    let case = Case::new(&[("tet.obj", TETRAHEDRON), ("open.obj", open)]);
    for (arguments, said) in [
        (
            ["slice", "open.obj", "--plane", "0,0,1,0.5", "-o", "a.glb"],
            "has no triangle on its other side",
        ),
        (["slice", "tet.obj", "--plane", "0,0,0,0.5", "-o", "a.glb"], "not all zero"),
        (["slice", "tet.obj", "--plane", "0,0,1", "-o", "a.glb"], "give four numbers"),
        (
            ["slice", "tet.obj", "--plane", "0,0,1,0.5", "-o", "a.stl"],
            "give it the ending .glb or .obj",
        ),
        (["slice", "none.obj", "--plane", "0,0,1,0.5", "-o", "a.glb"], "none.obj: cannot be read"),
        (
            ["slice", "tet.obj", "--plane", "0,0,1,0.5", "-o", "no/a.glb"],
            "its folder does not exist",
        ),
    ] {
        let output = case.run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(said), "{error}");
        assert!(!case.folder.path().join("a.glb").exists());
    }
}

/// A box with quadrilateral faces, of edge 1 m except for its height.
fn slab(height: f64, at: f64) -> String {
    let corner = |n: usize| {
        let [x, y, z] = [n & 1, n >> 1 & 1, n >> 2].map(|bit| bit as f64);
        format!("v {} {} {}\n", at + x, height * y, z)
    };
    let corners: String = (0..8).map(corner).collect();
    corners + "f 1 5 7 3\nf 2 4 8 6\nf 1 2 6 5\nf 3 7 8 4\nf 1 3 4 2\nf 5 6 8 7\n"
}

/// A body with an exact surface needs no samples.
#[test]
fn thin_and_coarse_bodies_of_closed_surfaces_break_into_all_their_pieces() {
    for (height, spacing) in [(1.0, Some("0.5")), (1e-3, None), (1e-5, None), (1e-3, Some("0.3"))] {
        let case = Case::new(&[("thing.obj", &slab(height, 0.0))]);
        let mut arguments = vec!["fracture", "thing.obj", "--pattern", "voronoi:10", "-o", "x.glb"];
        arguments.extend(spacing.iter().flat_map(|spacing| ["--spacing", *spacing]));
        let output = case.run(&arguments);
        let message = String::from_utf8(output.stdout).unwrap();
        assert!(
            message.contains("10 pieces"),
            "{height} {spacing:?}: {message} {:?}",
            output.stderr
        );
        let warned = String::from_utf8(output.stderr).unwrap();
        assert!(!warned.contains("warning"), "{warned}");
    }
}

#[test]
fn a_thin_slab_of_a_scene_falls_and_lies() {
    let scene = "version = 1\n[simulation]\nframes = 30\n[[body]]\nname = \"floor\"\n\
                 motion = \"static\"\nshape = { plane = {} }\n[[body]]\nname = \"slab\"\n\
                 position = [0, 0.1, 0]\nshape = { mesh = { file = \"slab.obj\" } }\n[[body]]\n\
                 name = \"coin\"\nposition = [3, 0.1, 0]\n\
                 shape = { cylinder = { radius = 0.5, half_height = 0.001, spacing = 0.1 } }\n";
    let case = Case::new(&[("scene.toml", scene), ("slab.obj", &slab(1e-3, 0.0))]);
    let output = case.run(&["run", "scene.toml", "-o", "x.jsonl"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written = std::fs::read_to_string(case.folder.path().join("x.jsonl")).unwrap();
    let last: serde_json::Value = serde_json::from_str(written.lines().last().unwrap()).unwrap();
    for body in [1, 2] {
        let y = last["poses"][body][1].as_f64().unwrap();
        assert!(y.abs() < 0.003, "body {body} ends at {y} m");
    }
}

/// Pieces of a body of 1 m at a distance of 1e7 m, where `f32` resolves 1 m.
#[test]
fn obj_files_hold_what_is_far_off_to_a_millionth() {
    let case = Case::new(&[("thing.obj", &slab(1.0, 1e7))]);
    let output = case.run(&["fracture", "thing.obj", "--pattern", "voronoi:5", "-o", "x/"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let folder = case.folder.path().join("x");
    let text = std::fs::read_to_string(folder.join("frame_00000.obj")).unwrap();
    let places = text.lines().filter_map(|line| line.strip_prefix("v "));
    let xs: Vec<f64> =
        places.map(|line| line.split(' ').next().unwrap().parse::<f64>().unwrap() - 1e7).collect();
    for end in [0.0, 1.0] {
        let near = xs.iter().map(|x| (x - end).abs()).fold(f64::INFINITY, f64::min);
        assert!(near < 1e-6, "{near} m from {end} m");
    }
    assert!(xs.iter().any(|x| (0.1..0.9).contains(x)), "{xs:?}");
}

#[test]
fn bad_values_are_reported_in_words_of_what_is_wrong() {
    let case = Case::new(&[
        ("thing.obj", &slab(1.0, 0.0)),
        ("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n"),
    ]);
    for (arguments, words) in [
        (&["thing.obj", "--pattern", "voronoi:-3"][..], "whole number"),
        (&["thing.obj", "--pattern", "voronoi:2.5"], "whole number"),
        (&["thing.obj", "--pattern", "radial:2x1"], "between 3 and 1000"),
        (&["thing.obj", "--pattern", "radial:1x1"], "between 3 and 1000"),
        (&["thing.obj", "--pattern", "nofile"], "no such file"),
        (&["thing.obj", "--pattern", "voronoi:5", "--spacing", "-1"], "positive number"),
        (&["thing.obj", "--pattern", "voronoi:5", "--at=1e30,0,0"], "at most 1e9"),
        (&["thing.obj", "--pattern", "voronoi:5", "--normal=1e300,0,0"], "at most 1e9"),
        (&["thing.obj", "--pattern", "voronoi:5", "--at=1,2"], "three numbers"),
        (&["thing.obj", "--pattern", "voronoi:5", "--spacing", "1e-300"], "coarser spacing"),
        (&["flat.obj", "--pattern", "voronoi:5"], "bounds no volume"),
    ] {
        let arguments = [&["fracture"], arguments, &["-o", "x.glb"]].concat();
        let output = case.run(&arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(words), "{arguments:?}: {message}");
        for odd in ["usize", "inside out", "18446744073709551615"] {
            assert!(!message.contains(odd), "{arguments:?}: {message}");
        }
    }
}

/// The faces of a cube across x and y show the red half of an image; those across z have a color.
#[test]
fn cuts_of_fracture_have_the_mean_color_of_the_mesh_unless_told_otherwise() {
    let case = textured();
    let inner = |more: &[&str]| {
        let own = ["fracture", "cube.obj", "--pattern", "voronoi:4", "-q", "-o", "cut.glb"];
        run_ok(&case, &[&own[..], more].concat());
        let bytes = std::fs::read(case.folder.path().join("cut.glb")).unwrap();
        read_glb(&bytes).unwrap().tracks[0].look.inner_color
    };
    let mean = [0, 1, 2].map(|k| 4.0 / 6.0 * [1.0, 0.0, 0.0][k] + 2.0 / 6.0 * [0.2, 0.4, 0.6][k]);
    for (found, expected) in inner(&[]).into_iter().zip(mean) {
        assert!((found - expected).abs() < 0.03, "{found}, not {expected}");
    }
    let clay = sim::scene::Material::named("clay").unwrap();
    assert_eq!(inner(&["--material", "clay"]), clay.inner_color);
    assert_eq!(inner(&["--inside", "0.1,0.2,0.3"]), [0.1, 0.2, 0.3]);
}

#[test]
fn what_artists_get_wrong_is_reported_in_words() {
    let case = Case::new(&[("tet.obj", TETRAHEDRON)]);
    let fracture = ["fracture", "tet.obj", "-o", "x.glb", "--pattern"];
    let cases: [(&[&str], &str); 6] = [
        (
            &["fracture", "tet.obj", "-o", "x.glb", "--pattern", "voronoi:5", "--at", "9,9,9"],
            "tet.obj: --at 9,9,9 is far from the mesh: give a point near its box, from 0,0,0 to 1,1,1",
        ),
        (
            &["render", "x.glb", "-o", "x.png", "--frame", "last"],
            "give a whole number of 0 or more: `brisance render --help`",
        ),
        (&["render", "x.glb", "-o", "x.png", "--frame", "-1"], "no negative number"),
        (
            &["fracture", "tet.obj", "-o", "x.glb", "--pattern", "voronoi:5", "--inside", "red"],
            "as in 0.7,0.4,0.2: `brisance fracture --help`",
        ),
        (
            &["run", "tet.obj", "-o", "x.glb"],
            "tet.obj: is a mesh or a recording, not a scene: give a .toml file",
        ),
        (
            &["pattern", "new", "voronoi:5", "-o", "x.pattern", "--seed", "x"],
            "`brisance pattern new --help`",
        ),
    ];
    for (arguments, words) in cases {
        let output = case.run(arguments);
        let message = problem(output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(
            message.contains(words) && message.lines().count() == 1,
            "{words} is not in: {message}"
        );
    }
    let output = case.run(&[&fracture[..], &["radial:9x3", "--at", "1.9,1.9,1.9"]].concat());
    let message = problem(output.stderr);
    assert!(message.contains("leaves tet.obj in one piece: move --at closer"), "{message}");
}

/// The linear colors of cuts, in each format.
#[test]
fn cuts_of_fracture_have_the_color_that_is_asked_for() {
    let case = Case::new(&[("tet.obj", TETRAHEDRON)]);
    let text = |name: &str| std::fs::read_to_string(case.folder.path().join(name)).unwrap();
    let fracture = |more: &[&str]| {
        let own = ["fracture", "tet.obj", "--pattern", "voronoi:4", "--nodes", "8000"];
        case.run(&[&own[..], more].concat())
    };
    let written = |more: &[&str]| {
        let output = fracture(more);
        assert!(output.status.success(), "{}", problem(output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let inner = |name: &str| {
        let bytes = std::fs::read(case.folder.path().join(name)).unwrap();
        read_glb(&bytes).unwrap().tracks[0].look.inner_color
    };
    written(&["-o", "plain.glb"]);
    assert_eq!(inner("plain.glb"), [0.7; 3]);
    written(&["-o", "clay.glb", "--material", "clay"]);
    assert_eq!(inner("clay.glb"), [0.68, 0.38, 0.24]);
    written(&["-o", "red.glb", "--material", "clay", "--inside", "1,0,0.25"]);
    assert_eq!(inner("red.glb"), [1.0, 0.0, 0.25]);
    written(&["-o", "red/", "--inside", "1,0,0.25"]);
    let materials = std::fs::read_dir(case.folder.path().join("red")).unwrap();
    let mtl = materials.map(|e| e.unwrap().path()).find(|p| p.extension().unwrap() == "mtl");
    let mtl = std::fs::read_to_string(mtl.unwrap()).unwrap();
    assert!(mtl.contains("Kd 1 0 0.25"), "{mtl}");
    written(&["-o", "red.usda", "--inside", "1,0,0.25"]);
    assert!(text("red.usda").contains("diffuseColor = (1, 0, 0.25)"));
    let json: serde_json::Value =
        serde_json::from_str(&written(&["-o", "a.glb", "--material", "clay", "--json"])).unwrap();
    assert_eq!(json["density"].as_f64(), Some(fracture::Material::named("clay").unwrap().density));
    for (option, value, words) in [
        ("--material", "mud", "there is no material `mud`: give one of glass, brick"),
        ("--inside", "1,0,2", "three numbers from 0 to 1"),
        ("--inside", "-0.1,0,0", "three numbers from 0 to 1"),
        ("--inside", "red", "three numbers"),
        ("--inside", "NaN,0,0", "numbers"),
    ] {
        let output = fracture(&["-o", "no.glb", option, value]);
        let message = problem(output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(words), "{message}");
    }
    assert!(!case.names().contains(&"no.glb".to_owned()));
}
