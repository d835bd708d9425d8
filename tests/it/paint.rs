//! Texture coordinates, normals and colors of meshes on their pieces.

use std::fmt::Write;
use std::path::Path;

use brisance::format::glb::read_glb;
use brisance::mesh_file::{MeshFile, read_mesh_file};
use nalgebra::{Point3, Vector2, Vector3, Vector4};
use sim::Surface;

use crate::cli::{Case, problem};

/// Corner `n` of a cube from -1 to 1 m.
pub(crate) fn corner(n: usize) -> Vector3<f64> {
    Vector3::from_fn(|axis, _| if n >> axis & 1 == 1 { 1.0 } else { -1.0 })
}

/// Texture coordinates on the face of a cube normal to an axis: every face has a separate part.
pub(crate) fn uv(axis: usize, p: &Vector3<f64>) -> Vector2<f64> {
    let part = 0.2 * axis as f64 + 0.1 * f64::from(u8::from(p[axis] > 0.0));
    Vector2::new(part + 0.04 * p[(axis + 1) % 3], 0.5 + 0.4 * p[(axis + 2) % 3])
}

/// The faces of a cube: axis, and corners counter-clockwise seen from outside.
pub(crate) fn faces() -> impl Iterator<Item = (usize, [usize; 4])> {
    (0..6).map(|n| {
        let (axis, is_high) = (n / 2, n % 2 == 1);
        let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
        let base = if is_high { 1 << axis } else { 0 };
        let round = [base, base + u, base + u + v, base + v];
        (axis, if is_high { round } else { [round[3], round[2], round[1], round[0]] })
    })
}

/// A cube as OBJ with separate texture coordinates on every face, and normals that point up.
fn textured_cube() -> String {
    let mut text = String::from("mtllib cube.mtl\nusemtl wood\nvn 0 1 0\n");
    for n in 0..8 {
        let p = corner(n);
        writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap();
    }
    let mut next = 1;
    for (axis, corners) in faces() {
        for n in corners {
            let uv = uv(axis, &corner(n));
            writeln!(text, "vt {} {}", uv.x, uv.y).unwrap();
        }
        let face = corners.iter().zip(next..).map(|(v, t)| format!(" {}/{t}/1", v + 1));
        writeln!(text, "f{}", face.collect::<String>()).unwrap();
        next += 4;
    }
    text
}

fn color(p: &Vector3<f64>) -> Vector4<f64> {
    (p * 0.4).add_scalar(0.5).push(1.0)
}

/// A cube as PLY with colors of its corners.
fn colored_cube() -> String {
    let mut text = String::from("ply\nformat ascii 1.0\nelement vertex 8\n");
    for name in ["x", "y", "z", "red", "green", "blue"] {
        writeln!(text, "property float {name}").unwrap();
    }
    text += "element face 6\nproperty list uchar int vertex_indices\nend_header\n";
    for n in 0..8 {
        let (p, c) = (corner(n), color(&corner(n)));
        writeln!(text, "{} {} {} {} {} {}", p.x, p.y, p.z, c.x, c.y, c.z).unwrap();
    }
    for (_, [a, b, c, d]) in faces() {
        writeln!(text, "4 {a} {b} {c} {d}").unwrap();
    }
    text
}

/// Whether a triangle has an area; vertices on edges of cuts cause degenerate ones.
pub(crate) fn has_area([a, b, c]: &[Point3<f64>; 3]) -> bool {
    (b - a).cross(&(c - a)).norm() > 1e-6
}

/// The axis of the cube face of a triangle, if any.
pub(crate) fn face_of(corners: &[Point3<f64>; 3]) -> Option<usize> {
    (0..3).find(|&axis| {
        corners.iter().all(|p| (p[axis] - corners[0][axis]).abs() < 1e-6)
            && (corners[0][axis].abs() - 1.0).abs() < 1e-6
    })
}

/// Numbers of triangles on faces of the cube and inside.
fn check_uvs(path: &Path) -> [usize; 2] {
    let MeshFile { mesh, corners, .. } = read_mesh_file(path).unwrap();
    let mut counts = [0, 0];
    for (t, paint) in corners.iter().enumerate() {
        let places = mesh.corners(t);
        if !has_area(&places) {
            continue;
        }
        let axis = face_of(&places);
        counts[usize::from(axis.is_none())] += 1;
        let normal = mesh.area_vector(t).normalize();
        for (p, paint) in places.iter().zip(paint) {
            let found = paint.uv.unwrap();
            let (wanted, facing) = match axis {
                Some(axis) => (uv(axis, &p.coords), Vector3::y()),
                None => {
                    let axis = normal.iamax();
                    (Vector2::new(p[(axis + 1) % 3], p[(axis + 2) % 3]), normal)
                }
            };
            assert!((found - wanted).norm() < 1e-4, "{found} for {wanted} at {p}");
            let shaded = paint.normal.unwrap();
            assert!(shaded.dot(&facing) > 0.999, "{shaded:?} for {facing}");
        }
    }
    counts
}

#[test]
fn pieces_of_a_textured_mesh_are_textured_as_it_is() {
    let case = Case::new(&[("cube.obj", &textured_cube())]);
    for out in ["pieces.glb", "pieces/"] {
        let arguments = ["fracture", "cube.obj", "--pattern", "voronoi:9", "-o", out];
        let done = case.run(&arguments);
        assert!(done.status.success());
        let said = problem(done.stderr);
        let warning = "warning: cube.obj: materials are left out: `cube.mtl` cannot be read";
        assert!(said.starts_with(warning), "{said}");
        let file = case.folder.path().join(out);
        let file = if file.is_dir() { file.join("frame_00000.obj") } else { file };
        let [outer, inner] = check_uvs(&file);
        assert!(outer > 30 && inner > 30, "{outer} {inner}");
    }
}

#[test]
fn a_textured_mesh_that_breaks_in_a_scene_stays_textured() {
    let scene = r#"version = 1
        [simulation]
        frames = 2
        gravity = [0, 0, 0]
        [pattern.shards.voronoi]
        pieces = 9
        [[body]]
        name = "cube"
        shape = { mesh = { file = "cube.obj" } }
        fracture = { pattern = "shards", break_impulse = 1e9 }
        [[event]]
        time = 0.02
        cut = { from = [[0.1, 3, -3], [0.1, 3, 3]], to = [[0, -3, -3], [0, -3, 3]] }
    "#;
    let case = Case::new(&[("cube.obj", &textured_cube()), ("scene.toml", scene)]);
    let done = case.run(&["run", "scene.toml", "-o", "out.glb"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let recording = read_glb(&std::fs::read(case.folder.path().join("out.glb")).unwrap()).unwrap();
    assert_eq!(recording.tracks.len(), 3);
    for track in &recording.tracks {
        let Surface { rest, uvs, outer, inner, .. } = &*track.surface();
        assert_eq!(inner.is_empty(), track.parent.is_none());
        for triangle in outer {
            let at = |v: &u32| Point3::from(rest[*v as usize]).cast::<f64>();
            let places = [0, 1, 2].map(|k| at(&triangle[k]));
            let Some(axis) = face_of(&places).filter(|_| has_area(&places)) else { continue };
            for (v, p) in triangle.iter().zip(&places) {
                let found = Vector2::from(uvs[*v as usize]).cast::<f64>();
                let wanted = uv(axis, &p.coords);
                assert!((found - wanted).norm() < 1e-4, "{found} for {wanted} at {p}");
            }
        }
    }
}

#[test]
fn pieces_of_a_colored_mesh_are_colored_as_it_is() {
    let case = Case::new(&[("cube.ply", &colored_cube())]);
    let arguments = ["fracture", "cube.ply", "--pattern", "voronoi:9", "-o", "pieces.glb"];
    assert!(case.run(&arguments).status.success());
    let file = case.folder.path().join("pieces.glb");
    let MeshFile { mesh, corners, .. } = read_mesh_file(&file).unwrap();
    let mut painted = 0;
    for (t, paint) in corners.iter().enumerate() {
        let places = mesh.corners(t);
        if !has_area(&places) {
            continue;
        }
        let on_face = face_of(&places).is_some();
        painted += usize::from(on_face);
        for (p, paint) in places.iter().zip(paint) {
            // linear on each of the two triangles of a face, and for a cube on the whole face
            let wanted = if on_face { color(&p.coords) } else { Vector4::repeat(1.0) };
            let found = paint.color.unwrap();
            assert!((found - wanted).norm() < 1e-4, "{found} for {wanted} at {p}");
        }
    }
    assert!(painted > 30, "{painted}");
}
