//! Slicing closed meshes beside common libraries: same mesh, same plane, both halves.
//!
//! `peers_slice [--json] [MESH.obj]...`: spheres of 80 to 81,920 triangles and the given meshes, or the bunny. Times
//! are processor time of one thread, ms, the median of several runs, for both halves with their caps. `ratio` is our
//! time over the peer's: at most 1 is good. Errors are those of the sum of the volumes of both halves, relative to the
//! whole; `open` counts the random and vertex-aligned cuts with an open edge or a wrong volume. Peers: parry3d here;
//! trimesh and manifold3d (PyPI) if Python can import them.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use brisance_benches::table::{Column, Style, write_table};
use brisance_benches::{ratio, timed};
use fracture::{ClosedMesh, Plane, slice};
use levelset::TriMesh;
use nalgebra::{Point3, Vector3};
use parry3d::math::Vector;
use parry3d::query::SplitResult;
use parry3d::shape::{TriMesh as ParryMesh, TriMeshFlags};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Number of checked cuts of each kind and mesh.
const CUTS: usize = 60;

fn main() -> Outcome<()> {
    let mut json = false;
    let mut paths = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--json" => json = true,
            _ => paths.push(argument),
        }
    }
    if paths.is_empty() {
        paths.push("assets/bunny.obj".into());
    }
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let folder = tempfile::tempdir()?;
    let mut meshes: Vec<(String, TriMesh)> =
        (1..=6).map(|level| (format!("sphere {}", 20 << (2 * level)), sphere(level))).collect();
    for path in &paths {
        let name = Path::new(path).file_stem().and_then(|s| s.to_str()).unwrap_or("mesh");
        meshes.push((name.to_owned(), unit_mesh(path)?));
    }
    let mut lines = Vec::new();
    for (name, mesh) in meshes {
        write_case(folder.path(), &name, &mesh)?;
        lines.extend(rows(&name, &mesh)?);
    }
    let output = Command::new("python3").arg("benches/peers/slice.py").arg(folder.path()).output();
    let peers = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    for line in peers.lines() {
        let mut peer: Value = serde_json::from_str(line)?;
        let ours = lines.iter().find(|l: &&Value| l["row"] == peer["row"]);
        if let Some(ours) = ours.cloned() {
            for key in ["ours_ms", "ours_error", "ours_failures"] {
                peer[key] = ours[key].clone();
            }
            peer["ratio"] = json!(ratio(ours["ours_ms"].as_f64(), peer["peer_ms"].as_f64()));
        }
        lines.push(peer);
    }
    print(&lines, json)
}

fn print(lines: &[Value], json: bool) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    if json {
        return Ok(lines.iter().try_for_each(|line| writeln!(out, "{line}"))?);
    }
    let columns = [
        Column::new("row", "row", Style::Text),
        Column::new("ours ms", "ours_ms", Style::Number),
        Column::new("peer", "peer", Style::Text),
        Column::new("peer ms", "peer_ms", Style::Number),
        Column::new("ratio", "ratio", Style::Number),
        Column::new("our error", "ours_error", Style::Small),
        Column::new("peer error", "peer_error", Style::Small),
        Column::new("ours bad", "ours_failures", Style::Text),
        Column::new("peer bad", "peer_failures", Style::Text),
    ];
    Ok(write_table(&mut out, &columns, lines)?)
}

/// Ours beside parry, both in this process.
fn rows(name: &str, mesh: &TriMesh) -> Outcome<Vec<Value>> {
    let volume = mesh.signed_volume();
    let plane = first_plane(mesh)?;
    let solid = ClosedMesh::new(mesh.clone())?;
    let (ms, halves) = timed(|| slice(&solid, &plane));
    let sum =
        halves.front.mesh().mesh().signed_volume() + halves.back.mesh().mesh().signed_volume();
    let bad = failures(&solid);
    let theirs = parry(mesh)?;
    let (normal, offset) = (vector(*plane.normal()), plane.offset());
    let (peer_ms, split) = timed(|| theirs.local_split(normal, offset, 1e-9));
    let peer_sum = parry_halves(split).map(|parts| parts.iter().map(TriMesh::signed_volume).sum());
    let peer_error = peer_sum.map(|sum: f64| (sum / volume - 1.0).abs());
    Ok(vec![json!({
        "row": name, "ours_ms": ms, "peer": "parry3d", "peer_ms": peer_ms,
        "ratio": ratio(Some(ms), Some(peer_ms)),
        "ours_error": (sum / volume - 1.0).abs(), "peer_error": peer_error,
        "ours_failures": bad, "peer_failures": parry_failures(mesh, &theirs),
    })])
}

/// A plane slightly off the middle.
fn first_plane(mesh: &TriMesh) -> Outcome<Plane> {
    let bounds = levelset::Aabb::around(&mesh.vertices).ok_or("no finite points")?;
    let normal = Vector3::new(0.3, 0.5, 0.81).normalize();
    Ok(Plane::through(&(bounds.center() + normal * 0.05), normal).ok_or("a plane")?)
}

/// Planes through the middle, and along an axis through a vertex.
fn planes(mesh: &TriMesh) -> impl Iterator<Item = Plane> + '_ {
    let part = |k: usize, share: f64| (k as f64 * share).fract() - 0.5;
    (1..=CUTS)
        .flat_map(move |k| {
            let normal =
                Vector3::new(part(k, 0.7548776662), part(k, 0.5698402909), part(k, 0.4385790214));
            let vertex = mesh.vertices[k * 7919 % mesh.vertices.len()];
            let middle = nalgebra::center(&Point3::new(0.5, 0.4, 0.4), &vertex);
            [Plane::through(&middle, normal), Plane::through(&vertex, Vector3::ith(k % 3, 1.0))]
        })
        .flatten()
}

fn failures(solid: &ClosedMesh) -> String {
    let whole = solid.mesh().signed_volume();
    let (mut open, mut wrong) = (0, 0);
    for plane in planes(solid.mesh()) {
        let halves = slice(solid, &plane);
        let parts = [halves.front, halves.back].map(|half| half.into_mesh().into_mesh());
        open += usize::from(!parts.iter().all(is_closed));
        let sum: f64 = parts.iter().map(TriMesh::signed_volume).sum();
        wrong += usize::from((sum / whole - 1.0).abs() > 1e-12);
    }
    format!("{open}+{wrong}/{}", 2 * CUTS)
}

fn parry_failures(mesh: &TriMesh, theirs: &ParryMesh) -> String {
    let whole = mesh.signed_volume();
    let (mut open, mut wrong) = (0, 0);
    for plane in planes(mesh) {
        let split = theirs.local_split(vector(*plane.normal()), plane.offset(), 1e-9);
        let Some(parts) = parry_halves(split) else { continue };
        open += usize::from(!parts.iter().all(is_closed));
        let sum: f64 = parts.iter().map(TriMesh::signed_volume).sum();
        wrong += usize::from((sum / whole - 1.0).abs() > 1e-6);
    }
    format!("{open}+{wrong}/{}", 2 * CUTS)
}

/// Whether every directed edge occurs as often as its opposite.
fn is_closed(mesh: &TriMesh) -> bool {
    let mut balance: BTreeMap<[u32; 2], i32> = BTreeMap::new();
    for &[a, b, c] in &mesh.triangles {
        for [from, to] in [[a, b], [b, c], [c, a]] {
            let sign = if from < to { 1 } else { -1 };
            *balance.entry([from.min(to), from.max(to)]).or_default() += sign;
        }
    }
    balance.values().all(|&sum| sum == 0)
}

fn vector(v: Vector3<f64>) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn parry(mesh: &TriMesh) -> Outcome<ParryMesh> {
    let vertices = mesh.vertices.iter().map(|p| vector(p.coords)).collect();
    let flags = TriMeshFlags::ORIENTED;
    Ok(ParryMesh::with_flags(vertices, mesh.triangles.clone(), flags)?)
}

fn parry_halves(split: SplitResult<ParryMesh>) -> Option<[TriMesh; 2]> {
    let SplitResult::Pair(one, two) = split else { return None };
    let plain = |mesh: ParryMesh| TriMesh {
        vertices: mesh.vertices().iter().map(|v| Point3::new(v.x, v.y, v.z)).collect(),
        triangles: mesh.indices().to_vec(),
    };
    Some([plain(one), plain(two)])
}

/// An icosphere of radius 1 after `level` subdivisions.
fn sphere(level: usize) -> TriMesh {
    let g = (1.0 + 5f64.sqrt()) / 2.0;
    let corner = |k: usize| {
        let (a, b) = (if k & 1 == 0 { 1.0 } else { -1.0 }, if k & 2 == 0 { g } else { -g });
        Vector3::from([[0.0, a, b], [a, b, 0.0], [b, 0.0, a]][k / 4])
    };
    let mut points: Vec<Vector3<f64>> = (0..12).map(|k| corner(k).normalize()).collect();
    let near = |a: usize, b: usize| (points[a] - points[b]).norm() < 1.1;
    let mut triangles = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in (b + 1..12).filter(|&c| near(a, b) && near(b, c) && near(a, c)) {
                let out = points[a].dot(&points[b].cross(&points[c])) > 0.0;
                triangles.push(if out { [a, b, c] } else { [a, c, b] });
            }
        }
    }
    for _ in 0..level {
        let mut middles = BTreeMap::new();
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let [ab, bc, ca] = [[a, b], [b, c], [c, a]].map(|[p, q]: [usize; 2]| {
                *middles.entry([p.min(q), p.max(q)]).or_insert_with(|| {
                    points.push((points[p] + points[q]).normalize());
                    points.len() - 1
                })
            });
            finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    TriMesh {
        vertices: points.into_iter().map(Point3::from).collect(),
        triangles: triangles.into_iter().map(|t| t.map(|v| v as u32)).collect(),
    }
}

/// A mesh scaled so that its longest side is 1.
fn unit_mesh(path: &str) -> Outcome<TriMesh> {
    let options = tobj::LoadOptions { single_index: true, triangulate: true, ..Default::default() };
    let (models, _) = tobj::load_obj(path, &options).map_err(|e| format!("{path}: {e}"))?;
    let mesh = &models.first().ok_or_else(|| format!("{path} holds no mesh"))?.mesh;
    let point = |p: &[f64]| Point3::new(p[0], p[1], p[2]);
    let vertices: Vec<Point3<f64>> = mesh.positions.chunks_exact(3).map(point).collect();
    let bounds = levelset::Aabb::around(&vertices).ok_or("no finite points")?;
    let scale = 1.0 / bounds.extents().max();
    let triangles = mesh.indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
    let vertices = vertices.iter().map(|v| Point3::from((v - bounds.min) * scale)).collect();
    Ok(TriMesh { vertices, triangles })
}

fn write_case(folder: &Path, name: &str, mesh: &TriMesh) -> Outcome<()> {
    let numbers: Vec<u8> =
        mesh.vertices.iter().flat_map(|v| v.iter().copied()).flat_map(f64::to_le_bytes).collect();
    std::fs::write(folder.join(format!("{name}.vertices")), numbers)?;
    std::fs::write(folder.join(format!("{name}.offset")), first_plane(mesh)?.offset().to_string())?;
    let indices = mesh.triangles.iter().flatten().copied().flat_map(u32::to_le_bytes);
    Ok(std::fs::write(folder.join(format!("{name}.triangles")), indices.collect::<Vec<u8>>())?)
}
