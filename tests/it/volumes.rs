//! Level sets as image data of VTK, and as meshes.

use std::fmt::Write as _;
use std::process::Output;

use crate::cli::{Case, problem};

/// Image data as another program may write them: a ball of radius 1 on 21^3 points, 0.125 apart.
fn ball(kind: &str) -> String {
    let mut distances = String::new();
    for (k, j, i) in
        (0..21).flat_map(|k| (0..21).flat_map(move |j| (0..21).map(move |i| (k, j, i))))
    {
        let [x, y, z] = [i, j, k].map(|n| 0.125 * f64::from(n) - 1.25);
        // off the middle along x, so that axes cannot be mixed up
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

/// A ball's area and where it is.
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
        let told = problem(refused.stderr);
        assert!(told.contains(why) && told.contains("bad.vti"), "{to}: {told}");
        assert_eq!(case.names(), ["bad.vti"]);
    }
}

/// The volume that VTK finds in our file is that of the ball, and we read what VTK writes: as text, in base64 and
/// appended, plain and of zlib.
#[test]
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn vtk_reads_image_data_and_writes_what_is_read() {
    let python = std::env::var("BRISANCE_VTK").unwrap_or_else(|_| "python3".to_owned());
    let known = std::process::Command::new(&python).args(["-c", "import vtk"]).output();
    if !known.is_ok_and(|output| output.status.success()) {
        println!("skipped: no Python with VTK: pip install vtk, and name it in BRISANCE_VTK");
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
