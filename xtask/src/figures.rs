//! Pictures of the scenes, and a comparison of measurements with the papers.

use std::fmt::Write;
use std::process::Command;

use crate::{Outcome, cargo};

/// A scene that reproduces a figure.
struct Figure {
    scene: &'static str,
    /// Paper and figure; empty without one.
    of: &'static str,
    /// The result of the paper.
    says: &'static str,
    /// Frames of the picture; empty if another picture includes the scene.
    frames: &'static str,
    /// Target and position of the camera, unless the defaults suffice.
    camera: Option<[&'static str; 2]>,
    /// Whether it shows the crumbs of the scene.
    has_crumbs: bool,
}

const fn figure(
    scene: &'static str,
    of: &'static str,
    says: &'static str,
    frames: &'static str,
) -> Figure {
    Figure { scene, of, says, frames, camera: None, has_crumbs: false }
}

const FIGURES: [Figure; 44] = [
    figure("pillar_small_step", "Su09 figure 1, left", "small time step: shards stay low", ""),
    figure("pillar_unconserved", "Su09 figure 1, center", "shards bounce high into the air", ""),
    figure("pillar_conserved", "Su09 figure 1, right", "shards behave as expected", ""),
    figure("pillar", "Su09 figure 1", "its small shards stay low", "0,15,18,40"),
    figure("stack", "Su09 figure 2", "a larger box scatters a stack", "0,36,52,80"),
    figure("incline", "Su09 figure 3", "beside the analytic solution", "0,15,30,90"),
    figure("wall", "Su09 figure 4", "15 frames/s or faster", "0,11,16,40"),
    figure("cylinder", "Su09 figure 5", "25 pieces, 22 frames/s", "0,8,14,40"),
    figure("bunny", "Su09 figure 6", "35 pieces, 4 frames/s", "0,14,19,45"),
    figure("again", "Su09 figure 7", "a piece breaks again", "0,11,24,50"),
    figure("table_25", "Su09 figure 8", "25, later 3 frames/s", "0,30,39,70"),
    figure("rough", "Su09 figure 9", "15 frames/s or faster", "0,8,12,30"),
    figure("plank", "Mu01", "5 frames/s and more", "0,8,12,30"),
    figure("cantilever", "Mu01", "supported objects, section 2.8", "0,6,9,20"),
    figure("vase", "Mu01 figure 3", "1,440 tetrahedra", "9,10,13,45"),
    figure("teddy", "Mu01 figure 4", "3,747 tetrahedra", "0,12,20,60"),
    figure("tin_can", "Mu01", "dents, section 2.4", "0,4,6,44"),
    figure("copper_pot", "Mu01", "dents, section 2.4", "0,3,5,59"),
    figure("clay_figure", "Mu01", "dents, section 2.4", "0,3,6,12"),
    figure("cinder_blocks", "Mu01 figure 5", "824 tetrahedra each", "0,7,10,45"),
    figure("adobe", "Ku07 figure 2", "4,080 tetrahedra", "0,5,9,24"),
    figure("glass_table", "Ku07 figure 3", "cleft along four planes", "0,7,14,50"),
    figure("uneven", "Ku07 figure 4", "even and random weakening", "0,8,14,40"),
    figure("worn", "Ku07", "weakening lasts, section 3.2", "0,4,8,40"),
    figure("slab", "Ku07", "its own frame loop", "0,2,9,29"),
    figure("flatland", "the lecture", "rigid bodies in 2D", "0,18,30,90"),
    figure("window", "", "", "0,7,9,14"),
    figure("bridge", "", "", "0,12,24,48"),
    figure("clusters", "", "", "0,14,44,110"),
    figure("bonded", "", "", "0,14,24,59"),
    figure("mended", "", "", "0,12,18,59"),
    figure("storeys", "", "", "15,19,36,110"),
    figure("arch", "", "", "29,34,44,110"),
    // from the side of the ball
    Figure {
        camera: Some(["-0.8,2,0", "-4,3.2,9"]),
        ..figure("wrecking_ball", "", "", "0,61,68,110")
    },
    figure("sword", "Br11", "cuts, section 3", "4,12,24,70"),
    figure("plank_bridge", "", "", "20,25,29,60"),
    figure("blast", "", "", "14,16,24,60"),
    figure("jar", "", "", "0,8,16,40"),
    figure("amphora", "", "", "0,1,4,30"),
    figure("letters", "", "", "0,3,6,40"),
    figure("boulders", "", "", "0,8,14,44"),
    Figure { has_crumbs: true, ..figure("crumbs", "", "", "0,3,5,58") },
    figure("bricks", "", "", "0,11,16,40"),
    LARGE,
];

/// The panels of figure 1 of Su09: scene of the first, its frame, scenes of the others at the same time, file.
const PANELS: (&str, &str, [&str; 2], &str) =
    ("pillar_small_step", "224", ["pillar_unconserved", "pillar_conserved"], "pillar_energy");

/// The start of the README line with the numbers of the bunny, which this program updates.
const README_LINE: &str = "| bunny, 70 x 60 x 45 nodes, struck by a ball | ";

/// A picture of the README.
struct Shot {
    scene: &'static str,
    file: &'static str,
    /// Specks of dust per joule of cracks, if it shows dust.
    dust: Option<&'static str>,
    /// Options of `render`.
    options: &'static [&'static str],
}

const fn shot(scene: &'static str, file: &'static str, options: &'static [&'static str]) -> Shot {
    Shot { scene, file, dust: None, options }
}

const SHOTS: [Shot; 4] = [
    Shot {
        dust: Some("60000"),
        ..shot(
            "bunny",
            "bunny.png",
            &[
                "--frame",
                "18",
                "--size",
                "1200x675",
                "--at",
                "0.17,0.24,0",
                "--from",
                "0.8,0.7,1.55",
            ],
        )
    },
    shot("bricks", "bricks.png", &["--frame", "14", "--size", "1200x675"]),
    shot("window", "window.png", &["--frame", "8", "--size", "1200x675"]),
    shot("jar", "jar.gif", &["--every", "2", "--speed", "0.3", "--size", "400x250"]),
];

/// Pictures of stress in `docs/tetrahedra.md`, with their options of `stress`.
const STRESSES: [(&str, &[&str]); 3] = [
    (
        "vase_stress",
        &[
            "assets/vase.msh",
            "--at",
            "0.06,0,0",
            "--impulse",
            "0,60,0",
            "--duration",
            "0.0001",
            "--averaging",
            "0.04",
            "--isolines",
        ],
    ),
    ("block_loads", &BLOCK),
    (
        "block_crack",
        &[BLOCK[0], BLOCK[1], BLOCK[2], BLOCK[3], BLOCK[4], "--isolines", "--crack-plane"],
    ),
];

/// A block under the loads of a file.
const BLOCK: [&str; 5] =
    ["assets/cinder_block.msh", "--loads", "scenes/loads/cinder_block.toml", "--young", "2e10"];

/// Limit of the size of a README picture, bytes.
const MOST_BYTES: u64 = 2_000_000;

/// Cargo arguments that run the program.
const PROGRAM: [&str; 6] = ["run", "--quiet", "--release", "--package", "brisance", "--"];

/// The figure with a long run.
const LARGE: Figure = figure(
    "table_1000",
    "Su09 figure 8",
    "8,992 pieces, 25 frames/s, later 5 minutes a frame",
    "0,30,39,70",
);

const INTRODUCTION: &str = "# Figures

Measurements of the scenes by `cargo xtask figures`, beside the values of the papers. Frames per second
are for the release build on one thread, without output, on one core of a shared virtual AMD EPYC.
[Su09](references.md) used one 3.0 GHz Xeon core of 2009, which explains most of the ratio. The number of
pieces includes pieces that broke again. Energy is the largest growth of kinetic plus potential energy in
a frame that external work does not explain. [The gallery](gallery.md) describes each scene.

| figure | scene | pieces | bodies at the end | frames/s | energy, J | the paper |
|---|---|---|---|---|---|---|
";

/// Measurements of a run.
struct Measured {
    pieces: String,
    bodies: String,
    rate: String,
    gain: f64,
}

/// Draws every figure into `docs/figures` and writes the measurements to `docs/figures.md` and the README, with
/// one build; includes the slow `table_1000` only if `large`.
pub(crate) fn figures(large: bool) -> Outcome {
    let (mut table, mut pictures) = (INTRODUCTION.to_owned(), String::new());
    // all runs precede the pictures: drawing is parallel, and its load would appear as that of other programs
    let mut load = load_average();
    let mut drawn = Vec::new();
    for figure in FIGURES.iter().filter(|f| large || f.scene != LARGE.scene) {
        let Figure { scene, of, says, frames, .. } = figure;
        let Measured { pieces, bodies, rate, gain } = simulate(figure)?;
        load = load.max(load_average());
        let shown = if of.is_empty() { "-" } else { of };
        let row = format!("| {shown} | [`{scene}`](../scenes/{scene}.toml) | {pieces} | {bodies} ");
        let _ = writeln!(table, "{row}| {rate} | {gain:.1e} | {says} |");
        if *scene == "bunny" {
            update_readme(&format!("{pieces} pieces, {rate} frames/s"))?;
        }
        if !frames.is_empty() {
            let picture = format!("![{scene}](figures/{scene}.png)");
            let _ = write!(pictures, "\n`{scene}`: frames {frames}\n{picture}\n");
            drawn.push(figure);
        }
    }
    drawn.into_iter().try_for_each(draw)?;
    draw_panels()?;
    STRESSES.iter().try_for_each(|(file, arguments)| {
        let output = format!("docs/figures/{file}.png");
        cargo(&[&PROGRAM[..], &["stress"], arguments, &["-q", "-o", &output]].concat())
    })?;
    SHOTS.iter().try_for_each(shoot)?;
    let panels = panels_text();
    let text = table + &load_note(load) + &incline_error()? + &panels + &pictures;
    std::fs::write("docs/figures.md", text).map_err(|e| format!("docs/figures.md: {e}"))
}

/// Draws only the pictures of some scenes.
pub(crate) fn some(scenes: &[&str]) -> Outcome {
    for name in scenes {
        let known = FIGURES.iter().find(|figure| figure.scene == *name);
        let figure = known.ok_or_else(|| format!("no figure shows the scene {name}"))?;
        simulate(figure)?;
        if !figure.frames.is_empty() {
            draw(figure)?;
        }
    }
    let all = |scene: &&str| scenes.contains(scene);
    if all(&PANELS.0) && PANELS.2.iter().all(all) { draw_panels() } else { Ok(()) }
}

/// Runs a scene and keeps the recording.
fn simulate(Figure { scene, has_crumbs, .. }: &Figure) -> Result<Measured, String> {
    println!("{scene}");
    for folder in ["target/figures", "docs/figures"] {
        std::fs::create_dir_all(folder).map_err(|e| format!("{folder}: {e}"))?;
    }
    let (recording, file) = (recording(scene), format!("scenes/{scene}.toml"));
    let options = ["--quiet", "--json", "--threads", "1", "-o", &recording];
    let specks = crumbs_of(scene);
    let more = if *has_crumbs { &["--crumbs", &specks][..] } else { &[] };
    let summary = output(&[&PROGRAM[..], &["run", &file], &options, more].concat())?;
    let number = |key: &str| {
        let after = summary.split(&format!("\"{key}\":")).nth(1);
        let text = after.and_then(|t| t.split([',', '}']).next());
        text.and_then(|t| t.parse::<f64>().ok()).ok_or(format!("no {key} in {summary}"))
    };
    let rate = number("frames_per_second")?;
    Ok(Measured {
        pieces: number("fragments")?.to_string(),
        bodies: number("bodies")?.to_string(),
        // a shared machine measures at most three digits
        rate: if rate < 100.0 { format!("{rate:.1}") } else { format!("{rate:.0}") },
        gain: number("numerical_energy_gain")?,
    })
}

fn recording(scene: &str) -> String {
    format!("target/figures/{scene}.glb")
}

fn crumbs_of(scene: &str) -> String {
    format!("target/figures/{scene}_crumbs.glb")
}

/// Draws a figure from its recording.
fn draw(figure: &Figure) -> Outcome {
    let Figure { scene, frames, camera, has_crumbs, .. } = figure;
    let (recording, picture) = (recording(scene), format!("docs/figures/{scene}.png"));
    let options = ["--frame", frames, "--size", "560x350", "-q", "-o", &picture];
    let camera = camera.map(|[at, from]| ["--at", at, "--from", from]);
    let camera = camera.as_ref().map_or(&[][..], |camera| &camera[..]);
    let specks = crumbs_of(scene);
    let dust = if *has_crumbs { &["--dust", &specks][..] } else { &[] };
    cargo(&[&PROGRAM[..], &["render", &recording], &options, camera, dust].concat())
}

fn draw_panels() -> Outcome {
    let (first, frame, others, file) = PANELS;
    let (first, picture) = (recording(first), format!("docs/figures/{file}.png"));
    let beside = others.map(recording).join(",");
    let options = ["--frame", frame, "--size", "373x560", "-q", "-o", &picture];
    cargo(&[&PROGRAM[..], &["render", &first, "--beside", &beside], &options].concat())
}

fn panels_text() -> String {
    let (first, _, [second, third], file) = PANELS;
    format!(
        "\n`{first}`, `{second}` and `{third}` at the same time; small shards are green\n\
         ![{file}](figures/{file}.png)\n"
    )
}

/// Writes the numbers of the bunny into the README.
fn update_readme(measured: &str) -> Outcome {
    let text = std::fs::read_to_string("README.md").map_err(|e| format!("README.md: {e}"))?;
    if !text.lines().any(|line| line.starts_with(README_LINE)) {
        return Err(format!("README.md has no line {README_LINE:?}"));
    }
    let updated = text.lines().map(|line| match line.strip_prefix(README_LINE) {
        Some(cells) => {
            let paper = cells.split_once('|').map_or("", |(_, paper)| paper);
            format!("{README_LINE}{measured} |{paper}\n")
        }
        None => format!("{line}\n"),
    });
    let updated: String = updated.collect();
    std::fs::write("README.md", updated).map_err(|e| format!("README.md: {e}"))
}

/// Distance of the cube of `incline` from the analytic solution, which another body follows.
fn incline_error() -> Result<String, String> {
    let poses = "target/figures/incline.jsonl";
    output(&[&PROGRAM[..], &["run", "scenes/incline.toml", "--quiet", "-o", poses]].concat())?;
    let text = std::fs::read_to_string(poses).map_err(|e| format!("{poses}: {e}"))?;
    // from the cube to the other body, m
    let apart = |line: &str| -> Option<[f64; 3]> {
        let all = line.split("\"poses\":[[").nth(1)?;
        let place = |body: usize| -> Option<[f64; 3]> {
            let mut numbers = all.split("],[").nth(body)?.split(',').map(str::parse::<f64>);
            Some([numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?])
        };
        let (cube, other) = (place(2)?, place(3)?);
        Some([0, 1, 2].map(|k| other[k] - cube[k]))
    };
    let frames: Option<Vec<[f64; 3]>> = text.lines().skip(1).map(apart).collect();
    let frames = frames.ok_or(format!("{poses}: a frame without the poses of both bodies"))?;
    let first = frames.first().ok_or(format!("{poses}: no frames"))?;
    let off = |now: &[f64; 3]| (0..3).map(|k| (now[k] - first[k]).powi(2)).sum::<f64>().sqrt();
    let most = frames.iter().map(off).fold(0.0, f64::max);
    Ok(format!(
        "\nThe cube of `incline` deviates by at most {:.2} mm from the analytic solution, which stops after 3.589 \
         m.\n",
        1e3 * most
    ))
}

/// Draws a picture of the README from an existing recording, with dust from another run.
fn shoot(Shot { scene, file, dust, options }: &Shot) -> Outcome {
    let (recording, file) = (recording(scene), format!("docs/{file}"));
    let (specks, scene) =
        (format!("target/figures/{scene}_dust.glb"), format!("scenes/{scene}.toml"));
    let mut shown = vec!["render", &recording, "-q", "-o", &file];
    if let Some(rate) = dust {
        let run = ["run", &scene, "-q", "-o", &recording, "--dust", &specks];
        cargo(&[&PROGRAM[..], &run, &["--dust-per-joule", rate]].concat())?;
        shown.extend(["--dust", &specks]);
    }
    cargo(&[&PROGRAM[..], &shown, options].concat())?;
    let bytes = std::fs::metadata(&file).map_err(|e| format!("{file}: {e}"))?.len();
    let is_small = bytes <= MOST_BYTES;
    is_small.then_some(()).ok_or_else(|| format!("{file}: {bytes} bytes are too many: draw less"))
}

/// The load of the machine in the last minute, 0 if the system does not report it.
fn load_average() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

/// A remark on the largest load during the runs, if other programs ran.
fn load_note(busy: f64) -> String {
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    // the run itself keeps one core busy
    if busy < 1.5 {
        return String::new();
    }
    format!(
        "\nThe machine was not idle (load {busy:.0} on {processors} processors), so frames/s are \
         too low.\n"
    )
}

fn output(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(env!("CARGO")).args(arguments).output().map_err(|e| e.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
