//! Static finite elements beside common programs: the same beams, supports and load.
//!
//! `peers_fem [--json] [--python PATH]`: beams of 960, 3,888 and 19,800 linear tetrahedra, clamped at one end. Times
//! are processor time, ms, the median of several runs on one thread; all solutions are direct or have a residual of
//! 1e-10. `ratio` is our time over the peer's: at most 1 is good. `peer error` (`error` in JSON) is the relative
//! difference of the largest displacement from ours. Peers: scikit-fem for assembly, `SciPy`'s splu and cg, CHOLMOD by scikit-sparse if Python
//! can import them, and `CalculiX` if `ccx` is installed (a whole run, including files).
//!
//! Ratios for 960 and 3,888 tetrahedra, nothing else running: cold, splu 0.021, 0.030, CHOLMOD (amd) 0.020, 0.023 and
//! (metis) 0.019, 0.028, `CalculiX` 0.050, 0.053 (0.13 for 19,800); conjugate gradients 0.033, 0.045; refactoring,
//! CHOLMOD (amd) 0.071, 0.037 and (metis) 0.077, 0.071; the solve alone, CHOLMOD (amd) 0.40, 0.21 and (metis) 0.63,
//! 0.31. Displacements agree to 2e-12, those of `CalculiX`, with seven digits in its output, to 3e-7.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use brisance_benches::beam::{SIZES, beam, clamped};
use brisance_benches::table::{Column, Style, write_table};
use brisance_benches::{ratio, timed};
use levelset::TetMesh;
use nalgebra::{Point3, Vector3};
use serde_json::{Value, json};
use tetfem::{
    Contact, Equilibrium, Interpolation, LinearSolver, Load, Material, Model, Preconditioner,
    Solver, Structure, linear_equilibrium,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let (mut json, mut python) = (false, "python3".to_owned());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = true,
            "--python" => python = arguments.next().ok_or("--python wants a path")?,
            other => return Err(format!("{other} is not known: give --json or --python").into()),
        }
    }
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let mut lines = Vec::new();
    for cells in SIZES {
        let mesh = beam(cells);
        let folder = tempfile::tempdir()?;
        let ours = rows(&mesh)?;
        write_deck(folder.path(), &mesh)?;
        let output = Command::new(&python)
            .arg("benches/peers/fem.py")
            .arg(folder.path())
            .env("OMP_NUM_THREADS", "1")
            .env("OPENBLAS_NUM_THREADS", "1")
            .stderr(Stdio::inherit())
            .output();
        let failed = match &output {
            Ok(output) if output.status.success() => None,
            Ok(output) => Some(output.status.to_string()),
            Err(e) => Some(e.to_string()),
        };
        if let Some(reason) = failed {
            let absent = format!("{python} benches/peers/fem.py: {reason}");
            lines.push(json!({ "step": "cold", "peer": python, "absent": absent }));
        }
        let said = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
        for line in said.unwrap_or_default().lines() {
            // some libraries print
            let Ok(mut peer) = serde_json::from_str::<Value>(line) else { continue };
            let row = ours.iter().find(|row| row["step"] == peer["step"]);
            if let Some(row) = row {
                peer["ours_ms"] = row["ours_ms"].clone();
                peer["ratio"] = json!(ratio(row["ours_ms"].as_f64(), peer["peer_ms"].as_f64()));
                let largest = (peer["largest"].as_f64(), row["largest"].as_f64());
                peer["error"] = json!(largest.0.zip(largest.1).map(|(p, o)| (p / o - 1.0).abs()));
            }
            peer["tets"] = json!(mesh.tets.len());
            lines.push(peer);
        }
        lines.extend(ours);
    }
    lines.sort_by_key(|line| line["tets"].as_u64());
    print(&lines, json)
}

fn print(lines: &[Value], json: bool) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    if json {
        return Ok(lines.iter().try_for_each(|line| writeln!(out, "{line}"))?);
    }
    let columns = [
        Column::new("tets", "tets", Style::Count),
        Column::new("step", "step", Style::Text),
        Column::new("ours ms", "ours_ms", Style::Number),
        Column::new("peer", "peer", Style::Text),
        Column::new("peer ms", "peer_ms", Style::Number),
        Column::new("ratio", "ratio", Style::Number),
        Column::new("peer error", "error", Style::Small),
        Column::new("residual", "residual", Style::Small),
    ];
    write_table(&mut out, &columns, lines)?;
    if let Some(reason) = lines.iter().find_map(|line| line["absent"].as_str()) {
        writeln!(out, "not run: {reason}")?;
    }
    Ok(())
}

fn material() -> Outcome<Material> {
    Ok(Material::from_young(1e9, 0.3)?)
}

/// All our steps.
fn rows(mesh: &TetMesh) -> Outcome<Vec<Value>> {
    let (supports, loads) = clamped(mesh);
    let material = material()?;
    let mut lines = Vec::new();
    let mut row = |step: &str, ms: f64, largest: Option<f64>, residual: Option<f64>| {
        lines.push(json!({
            "tets": mesh.tets.len(), "step": step, "ours_ms": ms, "largest": largest,
            "residual": residual,
        }));
    };
    let (ms, model) = timed(|| Model::new(mesh, material).map(|model| (model.stiffness(), model)));
    let (stiffness, model) = model?;
    row("assembly", ms, None, None);
    let cold = |solver| {
        timed(|| -> Outcome<Equilibrium> {
            let model = Model::new(mesh, material)?;
            Ok(linear_equilibrium(&model, &supports, &loads, solver)?)
        })
    };
    let report = |found: &Equilibrium| {
        let u = &found.displacements;
        let largest = u.iter().map(Vector3::norm).fold(0.0, f64::max);
        let mut rest = stiffness.multiply(u);
        rest.iter_mut().zip(&loads).for_each(|(r, f)| *r -= f);
        for support in &supports {
            rest[support.node as usize] = Vector3::zeros();
        }
        let norm = |v: &[Vector3<f64>]| v.iter().map(Vector3::norm_squared).sum::<f64>().sqrt();
        (Some(largest), Some(norm(&rest) / norm(&loads)))
    };
    let (ms, found) = cold(LinearSolver::Cholesky);
    let (largest, residual) = report(&found?);
    row("cold", ms, largest, residual);
    let conjugate = LinearSolver::ConjugateGradient {
        preconditioner: Preconditioner::IncompleteCholesky,
        tolerance: 1e-10,
        max_iterations: 5000,
    };
    let (ms, found) = cold(conjugate);
    let (largest, residual) = report(&found?);
    row("cold cg", ms, largest, residual);
    // the data of a body: six supports, and a factor for all its impacts
    let free = || {
        let (linear, direct) = (Interpolation::Linear, LinearSolver::Cholesky);
        Structure::new(mesh.clone(), material, linear, direct)
    };
    let (ms, body) = timed(free);
    row("new body", ms, None, None);
    let body = body?;
    let (ms, _) = timed(|| body.respond(&Load::new(&impact(mesh))));
    row("warm impact", ms, None, None);
    let shifted = || {
        let mut matrix = model.stiffness();
        // replaces supports, and makes the matrix definite
        matrix.shift(1e6);
        matrix
    };
    let (ms, solver) = timed(|| Solver::new(shifted(), LinearSolver::Cholesky));
    let mut solver = solver?;
    let (assembly, _) = timed(shifted);
    row("factor", ms - assembly, None, None);
    let (ms, _) = timed(|| solver.replace(shifted()));
    row("refactor", ms - assembly, None, None);
    let (ms, _) = timed(|| solver.solve(&loads));
    row("solve", ms, None, None);
    Ok(lines)
}

/// A downward force in the middle of the top, and upward forces at the ends of the bottom.
fn impact(mesh: &TetMesh) -> [Contact; 3] {
    let length = mesh.vertices.iter().fold(0.0_f64, |m, p| m.max(p.x));
    let at =
        |x: f64, y: f64, f: f64| Contact { place: Point3::new(x, y, 0.5), force: Vector3::y() * f };
    [at(length / 2.0, 1.0, -1e6), at(0.0, 0.0, 5e5), at(length, 0.0, 5e5)]
}

/// The beam, its supports and its load, for Python and for `CalculiX`.
fn write_deck(folder: &Path, mesh: &TetMesh) -> Outcome<()> {
    let (supports, loads) = clamped(mesh);
    let bytes = |numbers: &mut dyn Iterator<Item = f64>| -> Vec<u8> {
        numbers.flat_map(f64::to_le_bytes).collect()
    };
    let words = |numbers: &mut dyn Iterator<Item = u32>| -> Vec<u8> {
        numbers.flat_map(u32::to_le_bytes).collect()
    };
    let places = bytes(&mut mesh.vertices.iter().flat_map(|p| [p.x, p.y, p.z]));
    std::fs::write(folder.join("vertices"), places)?;
    std::fs::write(folder.join("tets"), words(&mut mesh.tets.iter().flatten().copied()))?;
    std::fs::write(folder.join("fixed"), words(&mut supports.iter().map(|s| s.node)))?;
    let loads = bytes(&mut loads.iter().flat_map(|f| [f.x, f.y, f.z]));
    std::fs::write(folder.join("loads"), loads)?;
    // Lame's constants
    let Material { lambda, mu } = material()?;
    std::fs::write(folder.join("material"), bytes(&mut [lambda, mu].into_iter()))?;
    Ok(())
}
