//! Meshes that bound no solid, or an ambiguous one, on the command line.

use std::fmt::Write;
use std::path::Path;
use std::process::Output;

use brisance::format::glb::read_glb;
use brisance::mesh_file::read_mesh;
use brisance_tests::broken_meshes::meshes;
use levelset::TriMesh;

use crate::cli::brisance;

fn write_obj(mesh: &TriMesh, path: &Path) {
    let mut text = String::new();
    for p in &mesh.vertices {
        writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap();
    }
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|v| v + 1);
        writeln!(text, "f {a} {b} {c}").unwrap();
    }
    std::fs::write(path, text).unwrap();
}

/// The output of `brisance fracture` for a mesh, and its number of pieces.
fn broken(mesh: &Path, pattern: &Path, options: &[&str]) -> (Output, Option<usize>) {
    let out = mesh.with_extension("glb");
    let _ = std::fs::remove_file(&out);
    let mut command = brisance();
    command.arg("fracture").arg(mesh).arg("--pattern").arg(pattern).arg("-o").arg(&out);
    let output = command.args(["--nodes", "30000"]).args(options).output().unwrap();
    let pieces = std::fs::read(&out).ok().map(|bytes| {
        let recording = read_glb(&bytes).expect("a valid recording");
        recording.tracks.len()
    });
    (output, pieces)
}

/// Every mesh of the report breaks, except meshes without an inside, which are refused with advice.
/// Open meshes break with one warning, and are refused if closed ones are required.
#[test]
fn every_broken_mesh_breaks_from_the_command_line_or_is_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let [file, pattern] = ["mesh.obj", "pattern.bfp"].map(|name| folder.path().join(name));
    // one pattern for all, without a search for the number of sites
    let made = brisance().args(["pattern", "new", "voronoi:400", "-o"]).arg(&pattern).output();
    assert!(made.unwrap().status.success());
    for (name, mesh) in meshes().unwrap() {
        write_obj(&mesh, &file);
        // reading merges vertices at the same position
        let open = read_mesh(&file).unwrap().facts().unwrap().open_edges;
        let (output, pieces) = broken(&file, &pattern, &[]);
        let said = String::from_utf8(output.stderr).unwrap();
        if name.contains("inverted") && !name.contains("every") {
            assert_eq!((output.status.code(), pieces), (Some(2), None), "{name}: {said}");
            assert!(said.contains("inside out") && said.contains("reverse"), "{name}: {said}");
            continue;
        }
        assert!(output.status.success(), "{name}: {said}");
        let pieces = pieces.unwrap();
        assert!((5..=200).contains(&pieces), "{name}: {pieces}");
        let warnings: Vec<&str> = said.lines().filter(|l| l.contains("open edges")).collect();
        if open == 0 {
            assert!(!said.contains("open edges"), "{name}: {said}");
            continue;
        }
        assert_eq!(warnings.len(), 1, "{name}: {said}");
        assert!(warnings[0].contains(&format!("{open} open edges")), "{name}: {said}");
        let (output, pieces) = broken(&file, &pattern, &["--sign", "strict"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), pieces), (Some(2), None), "{name}: {said}");
        assert!(said.contains("not closed") && said.contains("winding"), "{name}: {said}");
        let (output, pieces) = broken(&file, &pattern, &["--sign", "winding"]);
        assert!(output.status.success() && pieces.is_some(), "{name}");
    }
}

#[test]
fn scenes_warn_of_open_meshes_in_words_and_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let teapot = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/teapot.obj");
    std::fs::copy(teapot, folder.path().join("teapot.obj")).unwrap();
    let scene = folder.path().join("scene.toml");
    let text = "version = 1\n[simulation]\nframes = 1\n[[body]]\nname = \"pot\"\n\
        shape = { mesh = { file = \"teapot.obj\", size = 0.3, nodes = 30000 } }\n\
        fracture = { pattern = \"shards\", break_impulse = 1 }\n\
        [pattern.shards.voronoi]\npieces = 20\n";
    std::fs::write(&scene, text).unwrap();
    let out = folder.path().join("out.glb");
    for arguments in [&["check"][..], &["run", "-o", out.to_str().unwrap()]] {
        let output = brisance().args(arguments).arg(&scene).arg("--json").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        assert_eq!(said.lines().filter(|l| l.contains("64 open edges")).count(), 1, "{said}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let warnings = json["mesh_warnings"].as_array().unwrap();
        let open: Vec<_> = warnings.iter().filter(|w| w["kind"] == "open").collect();
        assert_eq!(open.len(), 1, "{json}");
        assert_eq!((&open[0]["file"], &open[0]["edges"]), (&"teapot.obj".into(), &64.into()));
        assert!(said.contains(open[0]["text"].as_str().unwrap()));
    }
}
