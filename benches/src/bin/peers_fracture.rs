//! Fracture events beside OpenVDB, which also intersects level sets and separates their components.
//!
//! `peers_fracture [--json]`: times the events of the benchmark, writes bodies and regions to a
//! temporary folder, compiles `benches/peers/fracture.cpp` there, which times OpenVDB on the same
//! events, and prints both side by side. Times are processor time of one thread, ms, the median of
//! several runs; `ratio` is our time over OpenVDB's: at most 1 is good. Ours are of complete fragments:
//! level sets, particles, moments and bonds, including the placement of the pattern; or of exact pieces
//! with their moments, bonds and collision geometry (hulls, else level sets and points), with the error
//! of the enclosed volume. OpenVDB's are of level sets only, by regions sampled beforehand on the grid
//! of the body, and small pieces remain. Errors are those of the volume of the fragments, relative to
//! that of the body, both counted by inside nodes.
//!
//! Installs nothing: prints the reason if OpenVDB cannot be compiled.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use brisance_benches::event::{Event, events};
use brisance_benches::ratio;
use brisance_benches::table::{Column, Style, write_table};
use cpu_time::ProcessTime;
use levelset::LevelSet;
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

const RUNS: usize = 15;

fn main() -> Outcome<()> {
    let json = std::env::args().any(|argument| argument == "--json");
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let folder = tempfile::tempdir()?;
    let events = events();
    let mut lines: Vec<Value> = Vec::new();
    for (n, event) in events.iter().enumerate() {
        lines.push(ours(event));
        write_case(&folder.path().join(n.to_string()), event)?;
    }
    let reason = match theirs(folder.path()) {
        Ok(output) => {
            for line in output.lines() {
                add(&mut lines, &events, line)
                    .ok_or("the OpenVDB program printed an unexpected line")?;
            }
            None
        }
        Err(reason) => Some(reason.to_string()),
    };
    print(&lines, reason.as_deref(), json)
}

fn ours(event: &Event) -> Value {
    let (ms, exact_ms) = (median_ms(|| event.run()), median_ms(|| event.run_exact()));
    let (sampled, exact) = (event.run(), event.run_exact());
    let volume: f64 = sampled.fragments.iter().map(|f| f.moments.volume).sum();
    let surfaces = exact.pieces.iter().filter_map(|piece| piece.geometry.surface());
    let exact_volume: f64 = surfaces.map(|surface| surface.mesh.signed_volume()).sum();
    let whole = event.exact.surface().map_or(0.0, |surface| surface.mesh.signed_volume());
    json!({ "row": event.name, "ours_ms": ms, "ours_pieces": sampled.fragments.len(),
        "ours_error": (volume / event.body.moments().volume - 1.0).abs(), "exact_ms": exact_ms,
        "exact_ratio": exact_ms / ms, "exact_pieces": exact.pieces.len(),
        "exact_error": (exact_volume / whole - 1.0).abs() })
}

/// Processor time, ms, the median of several runs.
fn median_ms<T>(run: impl Fn() -> T) -> f64 {
    let time = |_| {
        let start = ProcessTime::now();
        let made = run();
        let ms = start.elapsed().as_secs_f64() * 1e3;
        drop(made);
        ms
    };
    let mut times: Vec<f64> = (0..RUNS).map(time).collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

/// Writes the input of `benches/peers/fracture.cpp`: the body, and the regions that intersect it.
fn write_case(stem: &Path, event: &Event) -> Outcome<()> {
    let grid = event.body.grid();
    write_floats(&stem.with_extension("phi"), event.body.as_slice())?;
    let to_pattern = event.at.transform().inverse();
    let scale = event.at.scale;
    let mut regions = BufWriter::new(File::create(stem.with_extension("regions"))?);
    let mut count = 0;
    for region in 0..event.pattern.region_count() {
        let value = |p| event.pattern.value(region, &to_pattern.transform_point(&p)) * scale;
        let samples = LevelSet::from_fn(*grid, value);
        let both = samples.as_slice().iter().zip(event.body.as_slice());
        if both.into_iter().any(|(region, body)| *region < 0.0 && *body < 0.0) {
            samples.as_slice().iter().try_for_each(|x| regions.write_all(&x.to_le_bytes()))?;
            count += 1;
        }
    }
    regions.flush()?;
    let [x, y, z] = grid.dims();
    let about = format!("{x} {y} {z} {} {count}\n", grid.spacing());
    Ok(std::fs::write(stem.with_extension("txt"), about)?)
}

fn write_floats(path: &Path, values: &[f32]) -> Outcome<()> {
    let mut file = BufWriter::new(File::create(path)?);
    values.iter().try_for_each(|x| file.write_all(&x.to_le_bytes()))?;
    Ok(file.flush()?)
}

/// Compiles and runs OpenVDB's part.
fn theirs(folder: &Path) -> Outcome<String> {
    let program = folder.join("fracture");
    let compiled = Command::new("c++")
        .args(["-O3", "-std=c++17", "benches/peers/fracture.cpp", "-o"])
        .arg(&program)
        .args(["-lopenvdb", "-ltbb", "-lImath"])
        .output()
        .map_err(|e| format!("c++: {e}"))?;
    if !compiled.status.success() {
        let said = String::from_utf8_lossy(&compiled.stderr);
        let error = said.lines().find(|line| line.contains("error")).unwrap_or("c++ failed");
        return Err(error.into());
    }
    let run = Command::new(&program).arg(folder).output()?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into());
    }
    Ok(String::from_utf8(run.stdout)?)
}

/// Adds a line of the OpenVDB part to ours: case, ms, pieces and volume.
fn add(lines: &mut [Value], events: &[Event], line: &str) -> Option<()> {
    let fields: Vec<f64> = line.split('\t').map_while(|field| field.parse().ok()).collect();
    let [case, ms, pieces, volume] = fields[..] else { return None };
    let (ours, event) = (lines.get_mut(case as usize)?, events.get(case as usize)?);
    ours["peer"] = json!("OpenVDB");
    ours["peer_ms"] = json!(ms);
    ours["peer_pieces"] = json!(pieces as usize);
    ours["peer_error"] = json!((volume / event.body.moments().volume - 1.0).abs());
    ours["ratio"] = json!(ratio(ours["ours_ms"].as_f64(), Some(ms)));
    Some(())
}

fn print(lines: &[Value], reason: Option<&str>, json: bool) -> Outcome<()> {
    const INSTALL: &str = "apt install libopenvdb-dev libboost-dev";
    let mut out = std::io::stdout().lock();
    if json {
        for line in lines {
            writeln!(out, "{line}")?;
        }
        if let Some(reason) = reason {
            let line = json!({ "library": "OpenVDB", "reason": reason, "install": INSTALL });
            writeln!(out, "{line}")?;
        }
        return Ok(());
    }
    let columns = [
        Column::new("row", "row", Style::Text),
        Column::new("sampled ms", "ours_ms", Style::Number),
        Column::new("OpenVDB ms", "peer_ms", Style::Number),
        Column::new("ratio", "ratio", Style::Number),
        Column::new("pieces", "ours_pieces", Style::Count),
        Column::new("OpenVDB", "peer_pieces", Style::Count),
        Column::new("error", "ours_error", Style::Small),
        Column::new("OpenVDB", "peer_error", Style::Small),
        Column::new("exact ms", "exact_ms", Style::Number),
        Column::new("to sampled", "exact_ratio", Style::Number),
        Column::new("pieces", "exact_pieces", Style::Count),
        Column::new("error", "exact_error", Style::Small),
    ];
    write_table(&mut out, &columns, lines)?;
    if let Some(reason) = reason {
        writeln!(out, "not timed: OpenVDB ({reason}); to have it: {INSTALL}")?;
    }
    Ok(())
}
