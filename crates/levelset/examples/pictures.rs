//! Draws the pictures of the documentation as SVG files into a folder.
//!
//! `cargo run --release -p brisance-levelset --example pictures -- crates/levelset/doc`

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use brisance_levelset::nalgebra::{Point3, UnitQuaternion, Vector3};
use brisance_levelset::{Grid, GridError, LevelSet, Solid, Stuffing, TetMesh, TriMesh};

/// Pixels to a meter, and the half width of a picture in meters.
const SCALE: f64 = 100.0;
const HALF: f64 = 1.3;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: pictures FOLDER")?;
    let save = |name: &str, views: &[String]| {
        std::fs::write(Path::new(&folder).join(name), picture(views))
    };
    let ring = sampled(0.05, |p| Solid::Torus { major: 0.75, minor: 0.35 }.distance(&p))?;
    let ball =
        sampled(0.05, |p| Solid::Sphere { radius: 0.7 }.distance(&(p - Vector3::x() * 0.5)))?;
    let joined = ring.union(&ball);
    save("distance.svg", &[contours(&ring), contours(&joined), contours(&joined.redistanced())])?;
    let (rest, part) = (ring.difference(&ball), ring.intersection(&ball));
    save("cut.svg", &[contours(&ball), contours(&rest), contours(&part)])?;
    let block = Solid::Box { half_extents: Vector3::new(0.8, 0.6, 0.7) };
    let drill = Solid::Cylinder { half_height: 2.0, radius: 0.35 };
    let drilled = sampled(0.17, |p| block.distance(&p).max(-drill.distance(&p)))?;
    save("surface.svg", &[shaded(&drilled.isosurface()), shaded(&drilled.dual_contour())])?;
    let ball = sampled(0.05, |p| p.coords.norm() - 0.85)?;
    let half = |spacing, doublings| -> Result<String, GridError> {
        let stuffing = Stuffing { spacing, doublings, halvings: 0, limit: Grid::MAX_NODES };
        let mut tets = TetMesh::stuffed(&ball, &stuffing)?;
        let behind = |t: &[u32; 4]| t.iter().all(|&v| tets.vertices[v as usize].z < 0.05);
        tets.tets = tets.tets.iter().filter(|t| behind(t)).copied().collect();
        Ok(shaded(&tets.boundary()))
    };
    save("tetrahedra.svg", &[half(0.3, 0)?, half(0.105, 3)?])?;
    Ok(())
}

fn sampled(spacing: f64, distance: impl Fn(Point3<f64>) -> f64) -> Result<LevelSet, GridError> {
    let nodes = (2.0 * HALF / spacing) as usize + 1;
    let grid = Grid::new(Point3::from([-HALF; 3]), spacing, [nodes; 3], Grid::MAX_NODES)?;
    Ok(LevelSet::from_fn(grid, distance))
}

/// Views side by side. No line is empty, so that it may stand in Markdown.
fn picture(views: &[String]) -> String {
    let side = 2.0 * HALF * SCALE;
    let width = side * views.len() as f64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{side}\" \
         viewBox=\"0 0 {width} {side}\">\n"
    );
    for (n, view) in views.iter().enumerate() {
        let x = side * (n as f64 + 0.5);
        let _ = write!(text, "<g transform=\"translate({x} {})\">\n{view}</g>\n", side / 2.0);
    }
    text + "</svg>\n"
}

/// Lines of equal distance, every 0.2 m, in the plane y = 0; the solid's outline is thick.
fn contours(level_set: &LevelSet) -> String {
    let mut text = String::new();
    for n in -4..=4 {
        let level = f64::from(n) * 0.2;
        let value = |x: f64, z: f64| level_set.value(&Point3::new(x, 0.0, z)) - level;
        let mut path = String::new();
        let h = 0.065;
        let cells = (2.0 * HALF / h) as i32;
        for cell in 0..cells * cells {
            let at = |n: i32| -HALF + f64::from(n) * h;
            let (x, z) = (at(cell / cells), at(cell % cells));
            // two triangles, so that no case is ambiguous
            for corners in [[(0.0, 0.0), (h, 0.0), (h, h)], [(0.0, 0.0), (h, h), (0.0, h)]] {
                let corners = corners.map(|(u, v)| (x + u, z + v));
                let ends: Vec<_> = (0..3)
                    .filter_map(|e| {
                        let (a, b) = (corners[e], corners[(e + 1) % 3]);
                        let (from, to) = (value(a.0, a.1), value(b.0, b.1));
                        let t = from / (from - to);
                        ((from < 0.0) != (to < 0.0))
                            .then_some((a.0 + (b.0 - a.0) * t, a.1 + (b.1 - a.1) * t))
                    })
                    .collect();
                if let [(a, b), (c, d)] = ends[..] {
                    let [a, b, c, d] = [a, b, c, d].map(|x| x * SCALE);
                    let _ = write!(path, "M{a:.0} {b:.0}L{c:.0} {d:.0}");
                }
            }
        }
        let (color, width) = match n {
            0 => ("#333", 3),
            1.. => ("#69c", 1),
            _ => ("#c73", 1),
        };
        let _ = writeln!(
            text,
            "<path d=\"{path}\" stroke=\"{color}\" stroke-width=\"{width}\" fill=\"none\" \
             stroke-linecap=\"round\"/>"
        );
    }
    text
}

/// The triangles that face the eye, far ones first.
fn shaded(mesh: &TriMesh) -> String {
    let turn = UnitQuaternion::from_euler_angles(0.5, -0.6, 0.0);
    let light = Vector3::new(-0.4, 0.6, 0.7).normalize();
    let mut faces: Vec<(f64, String)> = Vec::new();
    for t in 0..mesh.triangles.len() {
        let corners = mesh.corners(t).map(|p| turn * p);
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
        if normal.z <= 0.0 {
            continue;
        }
        let bright = 0.35 + 0.6 * normal.normalize().dot(&light).max(0.0);
        // a hexadecimal digit each keeps the files small, as do relative moves
        let [r, g, b] = [15.0, 12.5, 9.5].map(|c| (c * bright) as u8);
        let [p, q, s] = corners.map(|p| [p.x, -p.y].map(|x| (x * SCALE).round() as i32));
        let moves = [q[0] - p[0], q[1] - p[1], s[0] - q[0], s[1] - q[1]];
        let mut path = format!("M{} {}l", p[0], p[1]);
        for step in moves {
            let _ =
                write!(path, "{}{step}", if step < 0 || path.ends_with('l') { "" } else { " " });
        }
        let depth = corners.iter().map(|p| p.z).sum();
        faces.push((depth, format!("<path d=\"{path}z\" fill=\"#{r:x}{g:x}{b:x}\"/>\n")));
    }
    faces.sort_by(|a, b| a.0.total_cmp(&b.0));
    let faces: String = faces.into_iter().map(|(_, text)| text).collect();
    format!("<g stroke=\"#543\" stroke-width=\".4\">\n{faces}</g>\n")
}
