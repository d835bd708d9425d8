//! Level-set rows side by side with the libraries people use, same input and same output.
//!
//! `peers_levelset [--json] [--threads N] [MESH.obj]...`: times ours here, writes the inputs to a
//! temporary folder, lets `benches/peers/levelset.py` time what Python can import, and prints both.
//! Times are processor time, the median of several runs. A peer that is not installed is reported
//! as absent. Needs Python 3 with NumPy; peers: scikit-fmm, scikit-image, PyMCubes,
//! connected-components-3d, trimesh (PyPI) and OpenVDB (Debian python3-openvdb).

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use cpu_time::ProcessTime;
use levelset::{Aabb, Grid, LevelSet, Order, Sign, Solid, Stuffing, TetMesh, TriMesh};
use nalgebra::{Point3, Vector3};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// One of our timings; peers answer to the same `row`.
struct Row {
    row: String,
    ms: f64,
    error: Option<f64>,
}

fn main() -> Outcome<()> {
    let mut json = false;
    let mut threads = 1;
    let mut meshes = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = true,
            "--threads" => threads = arguments.next().ok_or("--threads needs a number")?.parse()?,
            _ => meshes.push(argument),
        }
    }
    if meshes.is_empty() {
        meshes.push("assets/bunny.obj".into());
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for path in &meshes {
        let name = Path::new(path).file_stem().and_then(|s| s.to_str()).unwrap_or("mesh");
        let mesh = unit_mesh(path)?;
        for (size, spacing) in [("S", 0.0204), ("150", 0.00699), ("256", 0.00402)] {
            time_mesh(&format!("{name} {size}"), &mesh, spacing, folder.path(), &mut rows)?;
        }
    }
    time_wall(folder.path(), &mut rows)?;
    let peers = time_peers(folder.path(), threads)?;
    print_rows(&rows, &peers, json)
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
    rows: &mut Vec<Row>,
) -> Outcome<()> {
    let bounds = Aabb::around(&mesh.vertices).ok_or("empty mesh")?;
    let grid = Grid::enclosing(&bounds, spacing, 3, Grid::MAX_NODES)?;
    let (ms, band) = timed(|| LevelSet::band_from_mesh(mesh, grid, Sign::Strict));
    band?;
    rows.push(Row { row: format!("mesh to band {name}"), ms, error: None });
    let (ms, exact) = timed(|| LevelSet::from_mesh(mesh, grid, Sign::Strict));
    let exact = exact?;
    rows.push(Row { row: format!("mesh to dense {name}"), ms, error: None });
    write_case(folder, name, &exact, Some(mesh))?;
    time_field(name, &exact, rows);
    for (level, a) in
        [("coarse", 0.05), ("fine", 0.0125)].into_iter().filter(|_| name.ends_with("150"))
    {
        let stuffing = Stuffing { spacing: a, doublings: 0, limit: Grid::MAX_NODES };
        let (ms, tets) = timed(|| TetMesh::stuffed(&exact, &stuffing));
        let tets = tets?;
        let error = (tets.moments().volume / mesh.moments().volume - 1.0).abs();
        let row = format!("stuffing {level} {name} ({} tets)", tets.tets.len());
        rows.push(Row { row, ms, error: Some(error) });
    }
    Ok(())
}

/// The rows that start from a level set.
fn time_field(name: &str, exact: &LevelSet, rows: &mut Vec<Row>) {
    let (ms, swept) = timed(|| exact.redistanced());
    let error = Some(mean_difference(&swept, exact));
    rows.push(Row { row: format!("redistance {name}"), ms, error });
    if exact.grid().node_count() < 1 << 22 {
        let (ms, marched) = timed(|| exact.marched(Order::Second));
        let error = Some(mean_difference(&marched, exact));
        rows.push(Row { row: format!("fast marching, second order {name}"), ms, error });
    }
    let (ms, _) = timed(|| exact.isosurface());
    rows.push(Row { row: format!("marching cubes {name}"), ms, error: None });
    let (ms, _) = timed(|| exact.components());
    rows.push(Row { row: format!("components {name}"), ms, error: None });
    let (ms, _) = timed(|| exact.moments());
    rows.push(Row { row: format!("moments {name}"), ms, error: None });
}

fn time_wall(folder: &Path, rows: &mut Vec<Row>) -> Outcome<()> {
    let wall = Solid::Box { half_extents: Vector3::new(0.72, 0.02, 0.47) };
    let origin = Point3::new(-0.745, -0.045, -0.495);
    let grid = Grid::new(origin, 0.01, [150, 10, 100], Grid::MAX_NODES)?;
    let exact = LevelSet::from_fn(grid, |p| wall.distance(&p));
    write_case(folder, "wall", &exact, None)?;
    time_field("wall", &exact, rows);
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
    });
    let path = |end: &str| folder.join(format!("{name}.{end}"));
    std::fs::write(path("json"), about.to_string())?;
    let mut file = File::create(path("phi"))?;
    for value in field.as_slice() {
        file.write_all(&value.to_le_bytes())?;
    }
    let Some(mesh) = mesh else { return Ok(()) };
    let mut file = File::create(path("vertices"))?;
    for x in mesh.vertices.iter().flat_map(|v| v.iter()) {
        file.write_all(&x.to_le_bytes())?;
    }
    let mut file = File::create(path("triangles"))?;
    for v in mesh.triangles.iter().flatten() {
        file.write_all(&v.to_le_bytes())?;
    }
    Ok(())
}

/// What each interpreter can import: PyPI's packages and Debian's are rarely in the same one.
fn time_peers(folder: &Path, threads: usize) -> Outcome<Vec<Value>> {
    let mut lines = Vec::new();
    for python in ["python3", "/usr/bin/python3"] {
        let output = Command::new(python)
            .arg("benches/peers/levelset.py")
            .arg(folder)
            .env("OMP_NUM_THREADS", threads.to_string())
            .output();
        let Ok(output) = output else { continue };
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            lines.push(serde_json::from_str(line)?);
        }
    }
    // absent for one interpreter, perhaps present for the other
    let timed: Vec<Value> = lines.iter().filter(|l: &&Value| !l["ms"].is_null()).cloned().collect();
    let found = |peer: &Value| timed.iter().any(|l| l["peer"] == *peer);
    let absent = lines.iter().filter(|l| l["ms"].is_null() && !found(&l["peer"]));
    let mut absent: Vec<Value> = absent.cloned().collect();
    absent.dedup();
    Ok(timed.into_iter().chain(absent).collect())
}

fn print_rows(rows: &[Row], peers: &[Value], json: bool) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    if !json {
        writeln!(
            out,
            "{:44} {:>9} {:28} {:>9} {:>6} {:>9} {:>9}",
            "row", "ours ms", "peer", "peer ms", "ratio", "our err", "peer err"
        )?;
    }
    for ours in rows {
        let theirs: Vec<&Value> = peers.iter().filter(|p| p["row"] == ours.row.as_str()).collect();
        for peer in theirs.iter().copied().chain(theirs.is_empty().then_some(&Value::Null)) {
            let ratio = peer["ms"].as_f64().map(|ms| ms / ours.ms);
            if json {
                let line = json!({
                    "row": ours.row, "ours_ms": ours.ms, "peer": peer["peer"],
                    "peer_ms": peer["ms"], "ratio": ratio,
                    "ours_error": ours.error, "peer_error": peer["error"],
                });
                writeln!(out, "{line}")?;
                continue;
            }
            let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.3}"));
            writeln!(
                out,
                "{:44} {:9.3} {:28} {:>9} {:>6} {:>9} {:>9}",
                ours.row,
                ours.ms,
                peer["peer"].as_str().unwrap_or(""),
                number(peer["ms"].as_f64()),
                number(ratio),
                number(ours.error),
                number(peer["error"].as_f64())
            )?;
        }
    }
    for peer in peers.iter().filter(|p| p["ms"].is_null()) {
        if json {
            writeln!(out, "{}", json!({"row": null, "peer": peer["peer"], "absent": true}))?;
        } else {
            writeln!(out, "absent: {}", peer["peer"].as_str().unwrap_or("?"))?;
        }
    }
    Ok(())
}
