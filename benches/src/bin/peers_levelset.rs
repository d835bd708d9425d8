//! Level-set rows side by side with common libraries, same input and same output.
//!
//! `peers_levelset [--json] [--threads N] [--python PATH]... [MESH.obj]...`: times ours and the Rust
//! libraries here, writes the inputs to a temporary folder, lets `benches/peers/levelset.py` time the
//! libraries that the Pythons can import (by default `python3` and `/usr/bin/python3`), and prints all
//! side by side. Times are processor time, the median of several runs; `ratio` is our time over the
//! peer's: at most 1 is good. Installs nothing: prints the reason for missing libraries, and how to
//! install them.
//!
//! Errors: for redistancing and fast marching, the mean difference to the exact field, cells. For meshes, the mean
//! difference to parry within 2.9 cells of the surface, cells. For triangle moments and tetrahedra, the relative
//! volume error.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use brisance_benches::ratio;
use brisance_benches::table::{Column, Style, write_table};
use cpu_time::ProcessTime;
use fast_surface_nets::ndshape::{RuntimeShape, Shape};
use fast_surface_nets::{SurfaceNetsBuffer, surface_nets};
use levelset::{Aabb, Grid, LevelSet, Sign, Solid, Stuffing, TetMesh, TriMesh, UpwindOrder};
use nalgebra::{Point3, Vector3};
use parry3d::mass_properties::MassProperties;
use parry3d::math::Vector;
use parry3d::query::PointQuery;
use parry3d::shape::{TriMesh as ParryMesh, TriMeshFlags};
use rayon::prelude::*;
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// One of our timings; peers have the same `row`.
struct Row {
    row: String,
    ms: f64,
    error: Option<f64>,
}

/// All measurements so far.
#[derive(Default)]
struct Report {
    rows: Vec<Row>,
    /// Output lines of `levelset.py`.
    peers: Vec<Value>,
}

impl Report {
    fn ours(&mut self, row: String, ms: f64, error: Option<f64>) {
        self.rows.push(Row { row, ms, error });
    }

    fn peer(&mut self, row: &str, peer: &str, ms: f64, error: Option<f64>) {
        self.peers.push(json!({"row": row, "peer": peer, "ms": ms, "error": error}));
    }
}

fn main() -> Outcome<()> {
    let mut json = false;
    let mut threads = 1;
    let (mut meshes, mut pythons) = (Vec::new(), Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = true,
            "--threads" => threads = arguments.next().ok_or("--threads needs a number")?.parse()?,
            "--python" => pythons.push(arguments.next().ok_or("--python needs a path")?),
            _ => meshes.push(argument),
        }
    }
    if meshes.is_empty() {
        meshes.push("assets/bunny.obj".into());
    }
    if pythons.is_empty() {
        pythons = ["python3", "/usr/bin/python3"].map(String::from).to_vec();
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let folder = tempfile::tempdir()?;
    let mut report = Report::default();
    for path in &meshes {
        let name = Path::new(path).file_stem().and_then(|s| s.to_str()).unwrap_or("mesh");
        let mesh = unit_mesh(path)?;
        for (size, spacing) in [("S", 0.0204), ("150", 0.00699), ("256", 0.00402)] {
            time_mesh(&format!("{name} {size}"), &mesh, spacing, folder.path(), &mut report)?;
        }
    }
    time_wall(folder.path(), &mut report)?;
    report.peers.extend(time_peers(folder.path(), threads, &pythons)?);
    print_rows(&report, json)
}

/// A mesh scaled so that its longest side is 1.
fn unit_mesh(path: &str) -> Outcome<TriMesh> {
    let options = tobj::LoadOptions { single_index: true, triangulate: true, ..Default::default() };
    let (models, _) = tobj::load_obj(path, &options).map_err(|e| format!("{path}: {e}"))?;
    let mesh = &models.first().ok_or_else(|| format!("{path} holds no mesh"))?.mesh;
    let point = |p: &[f64]| Point3::new(p[0], p[1], p[2]);
    let vertices: Vec<Point3<f64>> = mesh.positions.chunks_exact(3).map(point).collect();
    let bounds = Aabb::around(&vertices).ok_or_else(|| format!("{path} has no finite points"))?;
    let scale = 1.0 / bounds.extents().max();
    Ok(TriMesh {
        vertices: vertices.iter().map(|v| Point3::from((v - bounds.min) * scale)).collect(),
        triangles: mesh.indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect(),
    })
}

/// Median processor time of several runs, ms, and the last result.
fn timed<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    let mut times = Vec::new();
    loop {
        let start = ProcessTime::now();
        let result = run();
        times.push(start.elapsed().as_secs_f64() * 1e3);
        if times.len() >= 15 || times.iter().sum::<f64>() > 2000.0 && times.len() >= 3 {
            times.sort_by(f64::total_cmp);
            return (times[times.len() / 2], result);
        }
    }
}

fn time_mesh(
    name: &str,
    mesh: &TriMesh,
    spacing: f64,
    folder: &Path,
    report: &mut Report,
) -> Outcome<()> {
    let bounds = Aabb::around(&mesh.vertices).ok_or("empty mesh")?;
    let grid = Grid::enclosing(&bounds, spacing, 3, Grid::MAX_NODES)?;
    let (band_row, dense_row) = (format!("mesh to band {name}"), format!("mesh to dense {name}"));
    let (parry_ms, reference) = timed(|| parry_band(mesh, &grid));
    report.peer(&band_row, "parry3d-f64, own loop", parry_ms, Some(0.0));
    let (ms, band) = timed(|| LevelSet::band_from_mesh(mesh, grid, Sign::Strict));
    report.ours(band_row, ms, Some(band_error(&band?, &reference)));
    let (ms, exact) = timed(|| LevelSet::from_mesh(mesh, grid, Sign::Strict));
    let exact = exact?;
    report.ours(dense_row, ms, Some(band_error(&exact, &reference)));
    write_case(folder, name, &exact, Some(mesh))?;
    write_floats(&folder.join(format!("{name}.band")), &reference)?;
    time_field(name, &exact, report);
    time_triangle_moments(name, mesh, report);
    for a in [0.05, 0.0125].into_iter().filter(|_| name.ends_with("150")) {
        let stuffing = Stuffing { spacing: a, doublings: 0, halvings: 0, limit: Grid::MAX_NODES };
        let (ms, tets) = timed(|| TetMesh::stuffed(&exact, &stuffing));
        let tets = tets?;
        let error = (tets.moments().volume / mesh.moments().volume - 1.0).abs();
        let row = format!("stuffing, ms for 1000 tets, spacing {a} {name}");
        report.ours(row, ms / tets.tets.len() as f64 * 1e3, Some(error));
    }
    Ok(())
}

/// Signed distance by parry's queries at the nodes within three cells of a triangle's box, infinity
/// elsewhere: a loop over queries of parry.
fn parry_band(mesh: &TriMesh, grid: &Grid) -> Vec<f32> {
    let vertices = mesh.vertices.iter().map(|v| Vector::new(v.x, v.y, v.z)).collect();
    let parry = ParryMesh::with_flags(vertices, mesh.triangles.clone(), TriMeshFlags::ORIENTED)
        .expect("a mesh with triangles");
    let mut near = vec![false; grid.node_count()];
    let dims = grid.dims();
    for t in 0..mesh.triangles.len() {
        let Some(bounds) = Aabb::around(&mesh.corners(t)) else { continue };
        let bounds = bounds.grown(3.0 * grid.spacing());
        let range = |a: usize| {
            let at = |x: f64| ((x - grid.origin()[a]) / grid.spacing()).max(0.0);
            at(bounds.min[a]).ceil() as usize..(at(bounds.max[a]) as usize + 1).min(dims[a])
        };
        for i in range(0) {
            for j in range(1) {
                let row = grid.index([i, j, 0]);
                near[row + range(2).start..row + range(2).end].fill(true);
            }
        }
    }
    let distance = |n: usize| {
        let node = [n / (dims[1] * dims[2]), n / dims[2] % dims[1], n % dims[2]];
        let p = grid.position(node);
        let p = Vector::new(p.x, p.y, p.z);
        let projection = parry.project_local_point(p, false);
        let distance = (projection.point - p).length() as f32;
        if projection.is_inside { -distance } else { distance }
    };
    let nodes = near.into_par_iter().enumerate();
    nodes.map(|(n, near)| if near { distance(n) } else { f32::INFINITY }).collect()
}

/// Mean absolute difference to a reference within 2.9 cells of the surface, in cells.
fn band_error(level_set: &LevelSet, reference: &[f32]) -> f64 {
    let h = level_set.grid().spacing();
    let pairs = level_set.as_slice().iter().zip(reference);
    let near =
        pairs.map(|(a, b)| (f64::from(*a), f64::from(*b))).filter(|(_, b)| b.abs() < 2.9 * h);
    let (sum, count) = near.fold((0.0, 0), |(sum, n), (a, b)| (sum + (a - b).abs(), n + 1));
    sum / f64::from(count) / h
}

fn time_triangle_moments(name: &str, mesh: &TriMesh, report: &mut Report) {
    let row = format!("moments of the triangles {name}");
    let vertices: Vec<_> = mesh.vertices.iter().map(|v| Vector::new(v.x, v.y, v.z)).collect();
    let (ms, parry) = timed(|| MassProperties::from_trimesh(1.0, &vertices, &mesh.triangles));
    let (our_ms, ours) = timed(|| mesh.moments());
    let error = |volume: f64| Some((volume / mesh.signed_volume() - 1.0).abs());
    report.peer(&row, "parry3d-f64", ms, error(parry.mass()));
    report.ours(row, our_ms, error(ours.volume));
}

/// The rows with a level set as input.
fn time_field(name: &str, exact: &LevelSet, report: &mut Report) {
    let (ms, swept) = timed(|| exact.redistanced());
    report.ours(format!("redistance {name}"), ms, Some(mean_difference(&swept, exact)));
    if exact.grid().node_count() < 1 << 22 {
        let (ms, marched) = timed(|| exact.fast_marched(UpwindOrder::Second));
        let error = Some(mean_difference(&marched, exact));
        report.ours(format!("fast marching, second order {name}"), ms, error);
    }
    let row = format!("marching cubes {name}");
    let (ms, _) = timed(|| surface_net(exact));
    report.peer(&row, "fast-surface-nets (nets, no MC)", ms, None);
    let (ms, _) = timed(|| exact.isosurface());
    report.ours(row, ms, None);
    let (ms, _) = timed(|| exact.components());
    report.ours(format!("components {name}"), ms, None);
    let (ms, _) = timed(|| exact.moments());
    report.ours(format!("moments of the samples {name}"), ms, None);
}

fn surface_net(level_set: &LevelSet) -> SurfaceNetsBuffer {
    // theirs has x fastest
    let [nx, ny, nz] = level_set.grid().dims().map(|n| n as u32);
    let shape = RuntimeShape::<u32, 3>::new([nz, ny, nx]);
    assert_eq!(shape.usize(), level_set.as_slice().len());
    let mut buffer = SurfaceNetsBuffer::default();
    surface_nets(level_set.as_slice(), &shape, [0; 3], [nz - 1, ny - 1, nx - 1], &mut buffer);
    buffer
}

fn time_wall(folder: &Path, report: &mut Report) -> Outcome<()> {
    let wall = Solid::Box { half_extents: Vector3::new(0.72, 0.02, 0.47) };
    let origin = Point3::new(-0.745, -0.045, -0.495);
    let grid = Grid::new(origin, 0.01, [150, 10, 100], Grid::MAX_NODES)?;
    let exact = LevelSet::from_fn(grid, |p| wall.distance(&p));
    write_case(folder, "wall", &exact, None)?;
    time_field("wall", &exact, report);
    Ok(())
}

/// Mean absolute difference, in cells.
fn mean_difference(a: &LevelSet, b: &LevelSet) -> f64 {
    let pairs = a.as_slice().iter().zip(b.as_slice());
    let sum: f64 = pairs.map(|(a, b)| (f64::from(*a) - f64::from(*b)).abs()).sum();
    sum / a.as_slice().len() as f64 / a.grid().spacing()
}

/// Writes a case as raw little-endian numbers with a JSON description.
fn write_case(folder: &Path, name: &str, field: &LevelSet, mesh: Option<&TriMesh>) -> Outcome<()> {
    let grid = field.grid();
    let about = json!({
        "name": name,
        "dims": grid.dims(),
        "spacing": grid.spacing(),
        "origin": grid.origin().coords.as_slice(),
        "mesh": mesh.is_some(),
        "volume": mesh.map(TriMesh::signed_volume),
    });
    let path = |end: &str| folder.join(format!("{name}.{end}"));
    std::fs::write(path("json"), about.to_string())?;
    write_floats(&path("phi"), field.as_slice())?;
    let Some(mesh) = mesh else { return Ok(()) };
    let mut file = BufWriter::new(File::create(path("vertices"))?);
    for x in mesh.vertices.iter().flat_map(|v| v.iter()) {
        file.write_all(&x.to_le_bytes())?;
    }
    file.flush()?;
    let mut file = BufWriter::new(File::create(path("triangles"))?);
    for v in mesh.triangles.iter().flatten() {
        file.write_all(&v.to_le_bytes())?;
    }
    Ok(file.flush()?)
}

fn write_floats(path: &Path, values: &[f32]) -> Outcome<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for value in values {
        file.write_all(&value.to_le_bytes())?;
    }
    Ok(file.flush()?)
}

/// Runs the libraries of each interpreter: packages of PyPI and Debian are rarely in the same one.
fn time_peers(folder: &Path, threads: usize, pythons: &[String]) -> Outcome<Vec<Value>> {
    let mut timed: Vec<Value> = Vec::new();
    let mut missing: Vec<Value> = Vec::new();
    for python in pythons {
        let found = timed.iter().filter_map(|line| line["library"].as_str());
        let output = Command::new(python)
            .arg("benches/peers/levelset.py")
            .arg(folder)
            .args(found)
            .env("OMP_NUM_THREADS", threads.to_string())
            .stderr(Stdio::inherit())
            .output();
        let Ok(output) = output else { continue };
        // the other interpreter may have the libraries
        if !output.status.success() {
            writeln!(std::io::stderr(), "{python} benches/peers/levelset.py: {}", output.status)?;
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            // some libraries print
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            let list = if line["ms"].is_null() { &mut missing } else { &mut timed };
            list.push(line);
        }
    }
    // missing in one interpreter, perhaps present in another
    missing.retain(|line| !timed.iter().any(|t| t["library"] == line["library"]));
    // the failure of a present library is more informative than a missing one
    missing.sort_by_key(|line| (line["library"].to_string(), absent(line)));
    missing.dedup_by(|a, b| a["library"] == b["library"]);
    Ok(timed.into_iter().chain(missing).collect())
}

fn absent(line: &Value) -> bool {
    line["reason"].as_str().is_some_and(|reason| reason.starts_with("ModuleNotFoundError"))
}

fn print_rows(report: &Report, json: bool) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    let mut lines = Vec::new();
    for ours in &report.rows {
        let theirs = report.peers.iter().filter(|p| p["row"] == ours.row.as_str());
        let theirs: Vec<&Value> = theirs.collect();
        let theirs = theirs.iter().copied().chain(theirs.is_empty().then_some(&Value::Null));
        lines.extend(theirs.map(|peer| {
            json!({
                "row": ours.row, "ours_ms": ours.ms, "peer": peer["peer"], "peer_ms": peer["ms"],
                "ratio": ratio(Some(ours.ms), peer["ms"].as_f64()),
                "ours_error": ours.error, "peer_error": peer["error"],
            })
        }));
    }
    let absent = report.peers.iter().filter(|p| p["ms"].is_null());
    if json {
        return Ok(lines.iter().chain(absent).try_for_each(|line| writeln!(out, "{line}"))?);
    }
    let columns = [
        Column::new("row", "row", Style::Text),
        Column::new("ours ms", "ours_ms", Style::Number),
        Column::new("peer", "peer", Style::Text),
        Column::new("peer ms", "peer_ms", Style::Number),
        Column::new("ratio", "ratio", Style::Number),
        Column::new("our error", "ours_error", Style::Small),
        Column::new("peer error", "peer_error", Style::Small),
    ];
    write_table(&mut out, &columns, &lines)?;
    for peer in absent {
        let text = |key: &str| peer[key].as_str().unwrap_or("?").to_owned();
        let (library, reason, install) = (text("library"), text("reason"), text("install"));
        writeln!(out, "not timed: {library} ({reason}); to have it: {install}")?;
    }
    Ok(())
}
