//! Tetrahedra from and for other programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use brisance::mesh_file::MeshFileError;
use brisance::tet_file::read_tets;
use brisance_tests::properties;
use brisance_tests::skipped::skipped;
use brisance_tests::tet_boxes::kuhn_box;
use levelset::TetMesh;
use nalgebra::{Matrix3, Vector3};
use proptest::prelude::*;
use tetfem::{Fields, write_msh, write_vtu};

use crate::cli::{Case, problem};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tet_files")
}

/// The committed files; a mesh of `TetGen` is two files.
fn files() -> Vec<PathBuf> {
    let known = |path: &PathBuf| {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        ["msh", "ele", "vol", "vtk", "vtu"].contains(&ending)
    };
    let entries = std::fs::read_dir(folder()).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(known).collect();
    files.sort();
    files
}

/// The result of `read_tets` for a file with these bytes.
fn read(name: &str, bytes: &[u8]) -> Result<TetMesh, MeshFileError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read_tets(&path)
}

#[test]
fn all_formats_hold_the_same_mesh() {
    let files = files();
    assert_eq!(files.len(), 15);
    let first = read_tets(&files[0]).unwrap();
    first.validate().unwrap();
    // vertices without a tetrahedron are dropped
    assert_eq!((first.vertices.len(), first.tets.len()), (12, 12));
    assert!((first.moments().volume - 0.6 * 0.1 * 0.7).abs() < 1e-15);
    for file in &files[1..] {
        let mesh = read_tets(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        mesh.validate().unwrap();
        assert_eq!(mesh.vertices, first.vertices, "{}", file.display());
        let sorted = |mesh: &TetMesh| {
            let mut tets = mesh.tets.clone();
            tets.iter_mut().for_each(|tet| tet.sort_unstable());
            tets
        };
        assert_eq!(sorted(&mesh), sorted(&first), "{}", file.display());
    }
}

#[test]
fn files_cut_short_are_errors_and_nothing_else() {
    for file in files() {
        let bytes = std::fs::read(&file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        if name.ends_with("ele") {
            continue;
        }
        for share in [10, 30, 50, 70, 85] {
            let found = read(name, &bytes[..bytes.len() * share / 100]);
            // fields after the tetrahedra may be cut off
            assert!(found.is_err() || name.starts_with("vtu_appended"), "{name} {share} %");
        }
    }
}

properties! {
    #[test]
    fn damaged_files_never_panic(
        file in any::<prop::sample::Index>(),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let file = file.get(&files()).clone();
        let mut bytes = std::fs::read(&file).unwrap();
        for (place, byte) in places {
            *place.get_mut(&mut bytes) = byte;
        }
        // the parser terminates on any input
        let _ = read(file.file_name().unwrap().to_str().unwrap(), &bytes);
    }
}

#[test]
fn errors_say_where_and_what() {
    let head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n";
    let nodes = "4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n";
    for (name, text, said) in [
        ("a.msh", "4 4\n".to_owned(), "begins with $MeshFormat"),
        ("a.msh", "$MeshFormat\n3 0 8\n".to_owned(), "Gmsh version 3 is not read"),
        ("a.msh", format!("{head}2\n1 0 0 0\n2 0 x 0\n"), "line 7: `x` is no number"),
        ("a.msh", format!("{head}2\n1 0 0 0\n2 0 nan 0\n"), "line 7: a coordinate is not a finite"),
        ("a.msh", format!("{head}99999999999999\n1 0 0 0\n"), "the file ends"),
        ("a.msh", format!("{head}{nodes}1\n1 4 0 1 2 3 5\n$EndElements\n"), "names vertex 5"),
        ("a.msh", format!("{head}{nodes}1\n1 99 0 1 2 3 4\n"), "type 99 are not known"),
        ("a.msh", format!("{head}{nodes}1\n1 2 0 1 2 3\n$EndElements\n"), "no tetrahedra"),
        ("a.vol", "points\n1\n0 0 0\n".to_owned(), "mesh3d"),
        ("a.vtk", "# vtk\n".to_owned(), "begins with"),
        ("a.vtk", "# vtk DataFile Version 4.2\n\nASCII\nDATASET POLYDATA\n".to_owned(), "data set"),
        ("a.vtu", "<VTKFile type=\"PolyData\"/>".to_owned(), "no unstructured grid"),
        ("a.vtu", "<VTKFile".to_owned(), "is not a VTU file"),
        ("a.inp", String::new(), "give a .msh"),
    ] {
        let found = read(name, text.as_bytes()).unwrap_err().to_string();
        assert!(found.contains(said), "{name}: {found}");
    }
    let twice = format!("{head}2\n1 0 0 0\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 4 0 1 1 1 1\n");
    assert!(matches!(read("a.msh", twice.as_bytes()), Err(MeshFileError::Twice { vertex: 1 })));
}

#[test]
fn meshes_inside_out_are_turned_but_single_tetrahedra_are_not() {
    let text = |tets: &str, count: usize| {
        format!(
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n\
             5 1 1 1\n$EndNodes\n$Elements\n{count}\n{tets}$EndElements\n"
        )
    };
    let turned = read("a.msh", text("1 4 0 2 1 3 4\n2 4 0 3 2 4 5\n", 2).as_bytes()).unwrap();
    turned.validate().unwrap();
    let mixed = read("a.msh", text("1 4 0 2 1 3 4\n2 4 0 2 3 4 5\n", 2).as_bytes()).unwrap();
    assert!(matches!(mixed.validate(), Err(levelset::TetError::Inverted { .. })));
}

/// A mesh with fields, as files.
fn written() -> (TetMesh, Vec<(&'static str, Vec<u8>)>) {
    let mesh = kuhn_box([2, 1, 1], Vector3::new(0.3, 0.1, 0.1));
    let displacements: Vec<_> = mesh.vertices.iter().map(|p| p.coords * 1e-4).collect();
    let stresses: Vec<_> =
        (0..mesh.tets.len()).map(|t| Matrix3::from_diagonal_element(1e6 * t as f64)).collect();
    let fields = Fields { displacements: &displacements, stresses: &stresses };
    let (mut msh, mut vtu) = (Vec::new(), Vec::new());
    write_msh(&mut msh, &mesh, &fields).unwrap();
    write_vtu(&mut vtu, &mesh, &fields).unwrap();
    (mesh, vec![("ours.msh", msh), ("ours.vtu", vtu)])
}

#[test]
fn what_is_written_is_read_again_bit_for_bit() {
    let (mesh, files) = written();
    for (name, bytes) in files {
        assert_eq!(read(name, &bytes).unwrap(), mesh, "{name}");
    }
}

#[test]
fn meshio_reads_what_is_written() {
    let (mesh, files) = written();
    let folder = tempfile::tempdir().unwrap();
    let mut check = Command::new("python3");
    check.arg(self::folder().join("make.py")).arg("check");
    for (name, bytes) in &files {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        check.arg(path);
    }
    let known = Command::new("python3").args(["-c", "import meshio"]).output();
    if !known.is_ok_and(|output| output.status.success()) {
        return skipped("python3 has no meshio (pip install meshio)");
    }
    let output = check.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.lines().count(), 2, "{said}");
    for line in said.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[1..3], [mesh.vertices.len().to_string(), mesh.tets.len().to_string()]);
        let volume: f64 = words[3].parse().unwrap();
        assert!((volume / 3e-3 - 1.0).abs() < 1e-12, "{line}");
        // 11 * 12 / 2 on each of three diagonal entries
        assert!(line.contains("'stress': 198000000.0"), "{line}");
        assert!(line.contains("displacement") && line.contains("tension"), "{line}");
    }
}

#[test]
fn thin_parts_of_a_mesh_are_kept_or_the_command_says_how_many_tetrahedra_would_keep_them() {
    let case = Case::new(&[]);
    let bunny = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/bunny.obj");
    let fill = |count: &str, more: &[&str]| {
        let options = ["tetrahedralize", bunny, "--count", count, "-o", "bunny.msh"];
        case.run(&[&options[..], more].concat())
    };
    let kept = fill("4000", &[]);
    let said = String::from_utf8_lossy(&kept.stdout);
    assert!(kept.status.success(), "{}", String::from_utf8_lossy(&kept.stderr));
    assert!(said.contains("1 piece") && said.contains("dihedral angles from"), "{said}");
    // ears are 3 units high
    let lost = said.rsplit("the mesh is up to ").next().unwrap();
    let lost: f64 = lost.split(' ').next().unwrap().parse().unwrap();
    assert!(lost < 0.6, "{said}");

    let refused = fill("1000", &[]);
    assert_eq!(refused.status.code(), Some(2));
    let message = problem(refused.stderr);
    assert!(message.contains("have 3 components") && message.contains("--lossy"), "{message}");
    let enough = message.split("--count ").nth(1).unwrap().split(',').next().unwrap();
    assert!(fill(enough, &[]).status.success(), "{message}");

    // the wall of a hollow ball between cells: a fill with holes is no fill
    let sphere = |radius: f64| levelset::Solid::Sphere { radius };
    let grid = |half: f64| {
        let half = nalgebra::Vector3::repeat(half);
        let bounds = levelset::Aabb { min: (-half).into(), max: half.into() };
        levelset::Grid::enclosing(&bounds, 0.02, 3, levelset::Grid::MAX_NODES).unwrap()
    };
    let shell = levelset::LevelSet::from_fn(grid(0.5), |p| {
        sphere(0.5).distance(&p).max(-sphere(0.4).distance(&p))
    });
    let surface = shell.isosurface();
    let mut obj = String::new();
    for p in &surface.vertices {
        obj.push_str(&format!("v {} {} {}\n", p.x, p.y, p.z));
    }
    for [a, b, c] in &surface.triangles {
        obj.push_str(&format!("f {} {} {}\n", a + 1, b + 1, c + 1));
    }
    std::fs::write(case.folder.path().join("shell.obj"), obj).unwrap();
    let fill_shell = |count: &str| {
        case.run(&["tetrahedralize", "shell.obj", "--count", count, "-o", "shell.msh"])
    };
    for count in ["1000", "2000", "4000"] {
        let output = fill_shell(count);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let volume = said.split("volume ").nth(1).and_then(|text| text.split(", ").nth(1));
        let lost = volume.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
        assert!(lost.is_none_or(|lost| lost.abs() < 10.0), "{count}: {said}");
        assert!(output.status.success() == lost.is_some(), "{count}: {said}");
    }
    assert!(fill_shell("40000").status.success());

    let refused = fill("4000", &["--halvings", "0"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = problem(refused.stderr);
    assert!(message.contains("lack parts") && message.contains("more --halvings"), "{message}");
    assert!(fill("4000", &["--halvings", "0", "--lossy"]).status.success());
}
