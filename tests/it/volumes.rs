//! Level sets as VTK image data, as OpenVDB files, and as meshes.

use std::fmt::Write as _;
use std::process::Output;

use brisance::volume_file::{read_volume, write_volume};
use brisance_tests::properties;
use brisance_tests::skipped::skipped;
use levelset::{Aabb, Grid, LevelSet, Solid};
use nalgebra::{Point3, Vector3};
use proptest::prelude::*;

use crate::cli::{Case, problem};

/// Image data in the style of another program: a ball of radius 1 on 21^3 points, 0.125 apart.
fn ball(kind: &str) -> String {
    let mut distances = String::new();
    for (k, j, i) in
        (0..21).flat_map(|k| (0..21).flat_map(move |j| (0..21).map(move |i| (k, j, i))))
    {
        let [x, y, z] = [i, j, k].map(|n| 0.125 * f64::from(n) - 1.25);
        // off the middle along x, to detect swapped axes
        let distance = ((x - 0.1).powi(2) + y * y + z * z).sqrt() - 1.0;
        write!(distances, "{distance:.7} ").unwrap();
    }
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\">\n\
         <ImageData WholeExtent=\"5 25 0 20 0 20\" Origin=\"-1.875 -1.25 -1.25\" Spacing=\"0.125 0.125 0.125\">\n\
         <Piece Extent=\"5 25 0 20 0 20\">\n<PointData Scalars=\"sdf\">\n\
         <DataArray type=\"UInt8\" Name=\"mask\" format=\"ascii\">0</DataArray>\n\
         <DataArray type=\"{kind}\" Name=\"sdf\" format=\"ascii\">{distances}</DataArray>\n\
         </PointData>\n<CellData>\n</CellData>\n</Piece>\n</ImageData>\n</VTKFile>\n"
    )
}

fn case(text: &str) -> Case {
    let case = Case::new(&[("ball.vti", text)]);
    let made = case.run(&["voxelize", "ball.vti", "-o", "ball.lset", "--quiet"]);
    assert!(made.status.success(), "{}", problem(made.stderr));
    case
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn image_data_of_other_programs_are_read() {
    for kind in ["Float32", "Float64"] {
        let case = case(&ball(kind));
        for name in ["ball.vti", "ball.lset"] {
            let facts = json(&case.run(&["info", name, "--json"]));
            assert_eq!(facts["kind"], "level_set");
            let volume = facts["volume"].as_f64().unwrap();
            let exact = 4.0 / 3.0 * std::f64::consts::PI;
            // the square of the spacing over the radius
            assert!((volume / exact - 1.0).abs() < 0.125 * 0.125, "{volume}, not {exact}");
        }
    }
}

#[test]
fn level_sets_become_image_data_and_back_bit_for_bit() {
    let case = case(&ball("Float64"));
    for (from, to) in [("ball.lset", "again.vti"), ("again.vti", "again.lset")] {
        let made = case.run(&["voxelize", from, "-o", to, "--quiet"]);
        assert!(made.status.success(), "{}", problem(made.stderr));
    }
    let read = |name: &str| std::fs::read(case.folder.path().join(name)).unwrap();
    assert_eq!(read("ball.lset"), read("again.lset"));
}

/// A cube of edge 1 whose faces are multiples of a 20th and of a 40th from the origin.
const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nf 4 3 2 1\n\
    f 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/// The number after a word of a text.
fn number_after(text: &str, word: &str) -> f64 {
    let rest = text.split_once(word).unwrap_or_else(|| panic!("{word} is not in {text}")).1;
    let number = rest.trim_start().split([' ', ',', '\n']).next().unwrap();
    number.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn volumes_of_level_sets_converge_where_faces_lie_on_nodes() {
    let case = Case::new(&[("cube.obj", CUBE)]);
    let message = |arguments: &[&str]| {
        let output = case.run(arguments);
        assert!(output.status.success(), "{}", problem(output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for spacing in [0.05, 0.025] {
        let text = spacing.to_string();
        let made = message(&["voxelize", "cube.obj", "--spacing", &text, "-o", "cube.lset"]);
        let filled = message(&["tetrahedralize", "cube.lset", "--cell", "0.2", "-o", "cube.msh"]);
        // cells cut the 12 edges off by at most half their section; numbers have four digits
        let most = 12.0 * 0.5 * spacing * spacing + 5e-4;
        for text in [&made, &message(&["info", "cube.lset"])] {
            let volume = number_after(text, "volume");
            assert!((volume - 1.0).abs() < most, "{spacing}: {text}");
        }
        // the command compares tetrahedra with that volume
        let own = filled.split_once("volume").unwrap().1;
        let volume = number_after(own, "") / (1.0 + 0.01 * number_after(own, ", "));
        assert!((volume - 1.0).abs() < most, "{spacing}: {filled}");
    }
}

#[test]
fn options_of_sampling_are_refused_for_level_sets() {
    let case = case(&ball("Float32"));
    for (from, option) in [
        ("ball.lset", ["--spacing", "0.1"]),
        ("ball.vti", ["--sign", "strict"]),
        ("ball.vti", ["--sign", "auto"]),
        ("ball.lset", ["--nodes", "9000"]),
    ] {
        for command in [
            &["voxelize", from, "-o", "out.vti"][..],
            &["tetrahedralize", from, "--cell", "0.2", "-o", "out.msh"],
        ] {
            let output = case.run(&[command, &option].concat());
            let message = problem(output.stderr);
            assert_eq!(output.status.code(), Some(2), "{message}");
            let expected = format!(
                "brisance: {from}: is a level set, and so already sampled: remove {}\n",
                option[0]
            );
            assert_eq!(message, expected);
        }
    }
    assert_eq!(case.names(), ["ball.lset", "ball.vti"]);
}

/// Area and position of a ball.
#[test]
fn a_level_set_becomes_a_mesh() {
    let case = case(&ball("Float64"));
    let made = case.run(&["voxelize", "ball.lset", "-o", "ball.obj"]);
    assert!(made.status.success(), "{}", problem(made.stderr));
    let mesh = brisance::mesh_file::read_mesh(&case.folder.path().join("ball.obj")).unwrap();
    assert!(fracture::ClosedMesh::new(mesh.clone()).is_ok());
    for p in &mesh.vertices {
        let radius = (p - nalgebra::Point3::new(0.1, 0.0, 0.0)).norm();
        // chords of cells of 0.125
        assert!((radius - 1.0).abs() < 0.01, "{radius}");
    }
    let exact = 4.0 / 3.0 * std::f64::consts::PI;
    assert!((mesh.signed_volume() / exact - 1.0).abs() < 0.02);
}

#[test]
fn image_data_that_are_no_level_set_are_refused() {
    let good = ball("Float32");
    for (from, to, why) in [
        ("0.125 0.125 0.125", "0.125 0.125 0.25", "spacings differ"),
        ("Spacing=", "Direction=\"0 1 0 1 0 0 0 0 1\" Spacing=", "turned"),
        ("WholeExtent=\"5 25", "WholeExtent=\"5 26", "several pieces"),
        ("5 25 0 20 0 20", "5 25 0 20 0 21", "distances for"),
        ("5 25 0 20 0 20", "5 2000000000 0 2000000000 0 20", "limit"),
        ("5 25 0 20 0 20", "5 25 0 20", "six whole numbers"),
        ("Spacing=\"0.125 ", "Spacing=\"wide ", "must hold numbers"),
        ("Float32", "Int16", "of type Int16"),
        ("Name=\"sdf\"", "Name=\"sdf\" NumberOfComponents=\"3\"", "no single numbers"),
        ("PointData", "FieldData", "no data"),
        ("ImageData", "PolyData", "no image data"),
    ] {
        assert!(good.contains(from), "{from}");
        let case = Case::new(&[("bad.vti", &good.replace(from, to))]);
        let refused = case.run(&["voxelize", "bad.vti", "-o", "bad.lset"]);
        assert_eq!(refused.status.code(), Some(2), "{to}");
        let message = problem(refused.stderr);
        assert!(message.contains(why) && message.contains("bad.vti"), "{to}: {message}");
        assert_eq!(case.names(), ["bad.vti"]);
    }
}

fn read(case: &Case, name: &str) -> LevelSet {
    read_volume(&case.folder.path().join(name), 1 << 20).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Checks that a level set has the values of another within `band` of the surface, at the same positions, and its
/// signs.
fn assert_same_band(own: &LevelSet, other: &LevelSet, band: f32) {
    let (grid, place) = (own.grid(), other.grid());
    let offset = (grid.origin() - place.origin()) / grid.spacing();
    let mut near = 0;
    for ((i, j, k), value) in own.values().indexed_iter() {
        let index = [i, j, k].map(|n| n as f64);
        let at = [0, 1, 2].map(|n| (index[n] + offset[n]).round());
        let known = at.iter().all(|x| *x >= 0.0);
        let found = other.values().get(at.map(|x| x as usize)).filter(|_| known);
        if value.abs() < band {
            assert_eq!(found, Some(value), "at {index:?}");
            near += 1;
        }
        let is_inside = found.is_some_and(|found| *found < 0.0);
        assert_eq!(*value < 0.0, is_inside, "at {index:?}");
    }
    assert!(near > 0);
}

#[test]
fn level_sets_become_files_of_openvdb_and_back_with_the_values_of_the_band() {
    let case = case(&ball("Float64"));
    for (from, to) in [
        ("ball.lset", "ball.vdb"),
        ("ball.vdb", "again.lset"),
        ("again.lset", "again.vdb"),
        ("again.vdb", "third.lset"),
        ("third.lset", "third.vdb"),
    ] {
        let made = case.run(&["voxelize", from, "-o", to, "--quiet"]);
        assert!(made.status.success(), "{from}: {}", problem(made.stderr));
    }
    assert_same_band(&read(&case, "ball.lset"), &read(&case, "again.lset"), 0.375);
    let bytes = |name: &str| std::fs::read(case.folder.path().join(name)).unwrap();
    assert!(bytes("again.vdb") == bytes("third.vdb"), "the same level set has the same bytes");
    let facts = json(&case.run(&["info", "ball.vdb", "--json"]));
    let (volume, exact) = (facts["volume"].as_f64().unwrap(), 4.0 / 3.0 * std::f64::consts::PI);
    assert!((volume / exact - 1.0).abs() < 0.125 * 0.125, "{volume}, not {exact}");
    // distances deep inside are restored, for larger tetrahedra there
    let deepest = read(&case, "again.lset").values().iter().copied().fold(0.0, f32::min);
    assert!(deepest < -0.9, "{deepest}");
    let made = case.run(&["tetrahedralize", "ball.vdb", "--count", "500", "-q", "-o", "ball.msh"]);
    assert!(made.status.success(), "{}", problem(made.stderr));
}

#[test]
fn files_that_openvdb_wrote_are_read() {
    // of version 10.0.1, compressed by Blosc: a ball of radius 0.5 about (1.5, 1.25, 1)
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz_files/ball.vdb");
    let ball = read_volume(std::path::Path::new(path), 1 << 20).unwrap();
    let grid = ball.grid();
    assert!((grid.spacing() - 0.125).abs() < 1e-12);
    for ((i, j, k), value) in ball.values().indexed_iter() {
        let at = grid.origin() + grid.spacing() * Vector3::new(i as f64, j as f64, k as f64);
        let distance = (at - Point3::new(1.5, 1.25, 1.0)).norm() - 0.5;
        // beyond the band by fast marching, whose error grows with the spacing
        let tolerance = if value.abs() < 0.375 { 1e-6 } else { 0.0625 };
        assert!((f64::from(*value) - distance).abs() < tolerance, "{value}, not {distance}");
    }
    let exact = 4.0 / 3.0 * std::f64::consts::PI * 0.125;
    let volume = ball.subcell_moments().volume;
    assert!((volume / exact - 1.0).abs() < 0.0625, "{volume}, not {exact}");
}

properties! {
    #[test]
    fn any_ball_and_ring_keep_their_bands_as_files_of_openvdb(
        (spacing, radius, ring) in (0.02..0.3_f64, 1.0..12.0_f64, any::<bool>()),
        center in proptest::array::uniform3(-0.5..0.5_f64),
        cut in 0_usize..3,
    ) {
        let radius = radius * spacing;
        let solid = if ring {
            Solid::Torus { major: radius, minor: 0.5 * radius }
        } else {
            Solid::Sphere { radius }
        };
        let reach = Vector3::repeat(1.6 * radius);
        let bounds = Aabb { min: Point3::from(center) - reach, max: Point3::from(center) + reach };
        // grids with all remainders modulo the leaf size of a tree
        let grid = Grid::enclosing(&bounds, spacing, 4 + cut, 1 << 20).unwrap();
        let own = LevelSet::from_fn(grid, |p| solid.distance(&(p - Vector3::from(center))));
        prop_assume!(own.inside_range().is_some());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.vdb");
        write_volume(&path, &own, &mut std::fs::File::create(&path).unwrap()).unwrap();
        assert_same_band(&own, &read_volume(&path, 1 << 20).unwrap(), (3.0 * spacing) as f32);
    }
}

#[test]
fn files_of_openvdb_that_are_no_level_set_are_refused() {
    let case = case(&ball("Float64"));
    assert!(case.run(&["voxelize", "ball.lset", "-q", "-o", "good.vdb"]).status.success());
    let good = std::fs::read(case.folder.path().join("good.vdb")).unwrap();
    let place = |word: &[u8]| good.windows(word.len()).position(|bytes| bytes == word).unwrap();
    let with = |at: usize, bytes: &[u8]| {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        bad
    };
    let class = place(b"level set");
    let kind = place(b"Tree_float_5_4_3");
    let map = place(b"UniformScaleTranslateMap");
    // the translation and the scales follow the name of the map
    let scales = map + 24 + 24;
    let tree = map + 24 + 6 * 24;
    for (bad, why) in [
        (with(0, b"VTK"), "starts with other bytes"),
        (with(8, &[221]), "version 221"),
        (with(class, b"staggered"), "`surface` is of class staggered"),
        (with(kind, b"Tree_int32_5_4_3"), "of type Tree_int32_5_4_3"),
        (with(map, b"NonlinearFrustumMap-----"), "has a NonlinearFrustumMap"),
        (with(scales, &0.25_f64.to_le_bytes()), "voxels that are no cubes"),
        (with(scales, &[0; 24]), "voxels of no size"),
        (with(tree, &[2]), "several buffers"),
        (with(tree + 4, &(-1.0_f32).to_le_bytes()), "background that is not above 0"),
        (with(tree + 16, &[1]), "top nodes overlap"),
        (good[..good.len() - 9].to_vec(), "ends too early"),
        (good[..60].to_vec(), "ends too early"),
        (Vec::new(), "ends too early"),
    ] {
        std::fs::write(case.folder.path().join("bad.vdb"), bad).unwrap();
        let before = case.names();
        let refused = case.run(&["voxelize", "bad.vdb", "-o", "bad.lset"]);
        let message = problem(refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{why}: {message}");
        assert!(message.contains(why) && message.contains("bad.vdb"), "{why}: {message}");
        assert_eq!((message.lines().count(), case.names()), (1, before), "{message}");
    }
}

#[test]
fn a_level_set_without_a_surface_is_no_file_of_openvdb() {
    let bounds = Aabb { min: Point3::origin(), max: Point3::new(1.0, 1.0, 1.0) };
    let grid = Grid::enclosing(&bounds, 0.1, 0, 2000).unwrap();
    let case = Case::new(&[("scene.toml", "")]);
    for value in [9.0, -9.0] {
        let path = case.folder.path().join("flat.lset");
        let mut bytes = Vec::new();
        write_volume(&path, &LevelSet::from_fn(grid, |_| value), &mut bytes).unwrap();
        std::fs::write(&path, bytes).unwrap();
        let before = case.names();
        let refused = case.run(&["voxelize", "flat.lset", "-o", "flat.vdb"]);
        let message = problem(refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{message}");
        assert!(message.contains("no surface"), "{message}");
        assert_eq!(case.names(), before);
    }
}

/// OpenVDB reads our file, and we read its copy, bit by bit.
#[test]
fn openvdb_reads_level_sets_and_writes_what_is_read() {
    let has_it = |python: &String| {
        let known = std::process::Command::new(python).args(["-c", "import pyopenvdb"]).output();
        known.is_ok_and(|output| output.status.success())
    };
    let given = std::env::var("BRISANCE_OPENVDB").ok();
    let usual = ["python3", "/usr/bin/python3"].map(str::to_owned);
    let Some(python) = given.into_iter().chain(usual).find(has_it) else {
        skipped("no Python with OpenVDB: Debian's python3-openvdb, named in BRISANCE_OPENVDB");
        return;
    };
    let case = case(&ball("Float64"));
    for (from, to) in [("ball.lset", "ours.vdb"), ("ours.vdb", "ours.lset")] {
        assert!(case.run(&["voxelize", from, "-q", "-o", to]).status.success());
    }
    let script = "import pyopenvdb as vdb\n\
        g = vdb.read('ours.vdb', 'surface')\n\
        print(g.gridClass, g.background, g.activeVoxelCount(), g.transform.indexToWorld((0, 0, 0)))\n\
        vdb.write('theirs.vdb', grids=[g])\n\
        f = vdb.FloatGrid(); f.name = 'density'; f.gridClass = vdb.GridClass.FOG_VOLUME\n\
        f.fill((0, 0, 0), (3, 3, 3), 1.0)\n\
        vdb.write('fog.vdb', grids=[f]); vdb.write('both.vdb', grids=[f, g])\n\
        g.saveFloatAsHalf = True; vdb.write('half.vdb', grids=[g])";
    let mut openvdb = std::process::Command::new(&python);
    let seen = openvdb.args(["-c", script]).current_dir(case.folder.path()).output().unwrap();
    let text = String::from_utf8(seen.stdout).unwrap();
    let ball = read(&case, "ball.lset");
    let active = ball.values().iter().filter(|value| value.abs() < 0.375).count();
    let expected = format!("level set 0.375 {active} (-1.25, -1.25, -1.25)\n");
    assert_eq!(text, expected, "{}", String::from_utf8_lossy(&seen.stderr));
    for name in ["theirs", "both"] {
        let made = case.run(&["voxelize", &format!("{name}.vdb"), "-q", "-o", "theirs.lset"]);
        assert!(made.status.success(), "{name}: {}", problem(made.stderr));
        assert!(read(&case, "theirs.lset") == read(&case, "ours.lset"), "{name}");
    }
    for (name, why) in [("fog", "`density` is of class fog volume"), ("half", "in half precision")]
    {
        let refused = case.run(&["info", &format!("{name}.vdb")]);
        assert_eq!(refused.status.code(), Some(2), "{name}");
        let message = problem(refused.stderr);
        assert!(message.contains(why), "{message}");
    }
}

/// VTK computes the volume of the ball from our file, and we read files of VTK: as text, in base64 and appended,
/// uncompressed and with zlib.
#[test]
fn vtk_reads_image_data_and_writes_what_is_read() {
    let python = std::env::var("BRISANCE_VTK").unwrap_or_else(|_| "python3".to_owned());
    let known = std::process::Command::new(&python).args(["-c", "import vtk"]).output();
    if !known.is_ok_and(|output| output.status.success()) {
        skipped("no Python with VTK: pip install vtk, and name it in BRISANCE_VTK");
        return;
    }
    let case = case(&ball("Float64"));
    assert!(case.run(&["voxelize", "ball.lset", "-q", "-o", "ours.vti"]).status.success());
    let script = "import vtk\n\
        r = vtk.vtkXMLImageDataReader(); r.SetFileName('ours.vti'); r.Update()\n\
        c = vtk.vtkContourFilter(); c.SetInputData(r.GetOutput()); c.SetValue(0, 0.0)\n\
        m = vtk.vtkMassProperties(); m.SetInputConnection(c.GetOutputPort()); m.Update()\n\
        print(m.GetVolume())\n\
        w = vtk.vtkXMLImageDataWriter(); w.SetInputData(r.GetOutput())\n\
        for name, mode, zlib in ('text', 0, 0), ('base64', 1, 1), ('plain', 1, 0), ('appended', 2, 1):\n\
        \x20   w.SetFileName(name + '.vti'); w.SetDataMode(mode); w.SetCompressorType(zlib); w.Write()\n\
        w.EncodeAppendedDataOff(); w.SetFileName('raw.vti'); w.Write()";
    let mut vtk = std::process::Command::new(&python);
    let seen = vtk.args(["-c", script]).current_dir(case.folder.path()).output().unwrap();
    let text = String::from_utf8(seen.stdout).unwrap();
    let exact = 4.0 / 3.0 * std::f64::consts::PI;
    let volume: f64 = text.trim().parse().unwrap_or_else(|_| panic!("{text} {:?}", seen.stderr));
    assert!((volume / exact - 1.0).abs() < 0.125 * 0.125, "{volume}, not {exact}");
    for name in ["text", "base64", "plain", "appended", "raw"] {
        let (from, to) = (format!("{name}.vti"), format!("{name}.lset"));
        let made = case.run(&["voxelize", &from, "-q", "-o", &to]);
        assert!(made.status.success(), "{name}: {}", problem(made.stderr));
        let read = |name: &str| std::fs::read(case.folder.path().join(name)).unwrap();
        assert_eq!(read("ball.lset"), read(&to), "{name}");
    }
}
