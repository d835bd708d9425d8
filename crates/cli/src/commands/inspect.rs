//! `brisance check` and `brisance info`: the contents of a file, without running a simulation.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use fracture::Pattern;
use levelset::Aabb;
use nalgebra::{Isometry3, Vector3};
use serde_json::{Value, json};
use sim::scene::{Body, Motion, Scene};
use sim::{BodyState, MeshWarning, Recording, World};

use crate::args::{CheckArguments, FileArguments};
use crate::commands::Failure;
use crate::commands::impacts::critical_impact;
use crate::commands::inputs::ends_in;
use crate::commands::load::{build, load, print_notes, print_warnings, read_plain, read_scene};
use crate::commands::outputs::print;
use crate::commands::regions::read_pattern;
use crate::commands::volume::volume_at;
use crate::commands::warnings::{
    PairWarning, mesh_warning_json, pair_warnings, print_pair_warnings,
};
use crate::format::count_specks;
use crate::format::glb::read_glb;
use crate::mesh_file::{is_mesh, read_mesh};
use crate::tet_file::{is_tets, read_tets};
use crate::volume_file::is_volume;
use crate::wording::{count, number};

/// Number of frames simulated to estimate the time per frame.
const TIMED_FRAMES: usize = 3;

/// Builds a scene and describes its contents and cost.
pub(super) fn check(arguments: &CheckArguments) -> Result<(), Failure> {
    let CheckArguments { file: arguments, allow_outside } = arguments;
    let path = &arguments.file;
    let loaded = load(path, read_scene(path, *allow_outside)?)?;
    let start = Instant::now();
    let (mut world, _) = build(path, &loaded, arguments.quiet || arguments.json)?;
    let built = start.elapsed().as_secs_f64();
    let found = bodies(&loaded.scene, &world);
    let warnings = pair_warnings(&loaded.scene, &world);
    let scene_warnings = loaded.scene_warnings(&world);
    let scene = &loaded.scene;
    if !arguments.quiet {
        print_notes(scene);
    }
    let frames = scene.simulation.frames;
    let memory = memory(scene, &world);
    let start = Instant::now();
    let tried = frames.min(TIMED_FRAMES);
    for _ in 0..tried {
        world.step();
    }
    let pace = start.elapsed().as_secs_f64() / tried as f64;
    let seconds = built + pace * frames as f64;
    let mesh_warnings = loaded.mesh_warnings();
    let checked = SceneSummary { scene, bodies: found, warnings, mesh_warnings, memory, seconds };
    if !arguments.quiet {
        print_pair_warnings(&checked.warnings);
        print_warnings(&scene_warnings);
    }
    print(|out| {
        if arguments.json {
            writeln!(out, "{}", checked.to_json(path))
        } else if arguments.quiet {
            Ok(())
        } else {
            checked.print(path, out)
        }
    })
}

/// A body of a scene.
struct BodySummary<'a> {
    /// The body of the scene file; copies share it.
    spec: &'a Body,
    name: String,
    motion: &'static str,
    /// Mass, kg; `None` if the body is not dynamic.
    mass: Option<f64>,
    /// Impulse strength, N s, if the strength is an impulse; `None` if it follows from the material.
    break_impulse: Option<f64>,
    /// Critical impact of the body, as a phrase.
    critical_impact: Option<String>,
}

impl BodySummary<'_> {
    /// Whether `other` is a copy of the same body, and their output lines differ only in the name.
    fn is_like(&self, other: &Self) -> bool {
        std::ptr::eq(self.spec, other.spec)
            && self.motion == other.motion
            && nearly_equal(self.mass, other.mass)
            && nearly_equal(self.break_impulse, other.break_impulse)
            && self.critical_impact == other.critical_impact
    }

    /// The output line of the body, or of its `copies`.
    fn line(&self, copies: usize) -> String {
        let mass = self.mass.map(|mass| format!("{} kg", number(mass)));
        let impulse = self.break_impulse.map(|j| format!("breaks above {} N s", number(j)));
        let strength: Vec<String> =
            impulse.into_iter().chain(self.critical_impact.clone()).collect();
        let strength = (!strength.is_empty()).then(|| strength.join(", "));
        if copies == 1 {
            let parts = [Some(self.motion.to_owned()), mass, strength];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            return format!("{}: {}", self.name, parts.join(", "));
        }
        let mass = mass.map_or_else(String::new, |mass| format!(" of {mass}"));
        let each = if copies > 1 { "each " } else { "" };
        let strength = strength.map_or_else(String::new, |s| format!(", {each}{s}"));
        let copies = count(copies, "copy", "copies");
        format!("{}: {copies}{mass}, {}{strength}", self.spec.name, self.motion)
    }
}

/// Whether two numbers are equal up to rounding; values of a mirror image differ by rounding.
fn nearly_equal(a: Option<f64>, b: Option<f64>) -> bool {
    const ROUNDING: f64 = 1e-9;
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= ROUNDING * a.abs(),
        _ => a == b,
    }
}

/// Groups of equal copies: the first body of each group and the number of copies, in order.
fn grouped<'a, 'b>(bodies: &'b [BodySummary<'a>]) -> Vec<(&'b BodySummary<'a>, usize)> {
    let mut groups: Vec<(&BodySummary<'a>, usize)> = Vec::new();
    for found in bodies {
        // copies of a body are consecutive, so the search ends at another body
        let kinds = groups.iter_mut().rev();
        let mut same = kinds.take_while(|(first, _)| std::ptr::eq(first.spec, found.spec));
        match same.find(|(first, _)| first.is_like(found)) {
            Some((_, copies)) => *copies += 1,
            None => groups.push((found, 1)),
        }
    }
    groups
}

fn bodies<'a>(scene: &'a Scene, world: &World) -> Vec<BodySummary<'a>> {
    let specs = scene.bodies.iter().flat_map(|spec| spec.names().map(move |name| (spec, name)));
    let found = |((spec, name), state): ((&'a Body, String), BodyState<'_>)| BodySummary {
        spec,
        name,
        motion: match spec.motion {
            Motion::Dynamic if world.is_anchored(state.id) => "anchored",
            Motion::Dynamic => "dynamic",
            Motion::Static => "static",
            Motion::Kinematic => "kinematic",
        },
        mass: state.body.mass_properties().map(|mass| mass.mass()),
        critical_impact: critical_impact(world, state.id),
        break_impulse: state.breakage.and_then(|breakage| match breakage.strength {
            sim::Strength::Impulse(impulse) => Some(impulse),
            sim::Strength::Material => None,
        }),
    };
    specs.zip(world.iter()).map(found).collect()
}

/// The memory of a scene before anything breaks, bytes: samples of all shapes, which copies share,
/// and a pose per body and frame.
fn memory(scene: &Scene, world: &World) -> f64 {
    let nodes: f64 = scene.bodies.iter().map(Body::nodes).sum();
    let poses = (scene.simulation.frames + 1) * world.len();
    nodes * size_of::<f32>() as f64 + (poses * size_of::<Isometry3<f64>>()) as f64
}

struct SceneSummary<'a> {
    scene: &'a Scene,
    bodies: Vec<BodySummary<'a>>,
    warnings: Vec<PairWarning>,
    mesh_warnings: Vec<MeshWarning>,
    /// Bytes.
    memory: f64,
    /// Estimated duration of a run, extrapolated from the first frames.
    seconds: f64,
}

impl SceneSummary<'_> {
    fn to_json(&self, path: &Path) -> Value {
        let simulation = &self.scene.simulation;
        let body = |found: &BodySummary<'_>| {
            json!({ "name": found.name, "motion": found.motion, "mass": found.mass,
                "break_impulse": found.break_impulse, "critical_impact": found.critical_impact })
        };
        json!({
            "scene": path.display().to_string(),
            "frames": simulation.frames,
            "fps": simulation.fps,
            "bodies": self.bodies.iter().map(body).collect::<Vec<_>>(),
            "warnings": self.warnings.iter().map(PairWarning::to_json).collect::<Vec<_>>(),
            "mesh_warnings": self.mesh_warnings.iter().map(mesh_warning_json).collect::<Vec<_>>(),
            "memory": self.memory,
            "seconds": self.seconds,
        })
    }

    fn print(&self, path: &Path, out: &mut impl Write) -> io::Result<()> {
        let simulation = &self.scene.simulation;
        let bodies = count(self.bodies.len(), "body", "bodies");
        let frames = count(simulation.frames, "frame", "frames");
        let fps = number(simulation.fps);
        writeln!(out, "{}: {bodies}, {frames} of 1/{fps} s", path.display())?;
        for (found, copies) in grouped(&self.bodies) {
            writeln!(out, "  {}", found.line(copies))?;
        }
        writeln!(out, "about {} MB before anything breaks", number(self.memory * 1e-6))?;
        let first = match simulation.frames.min(TIMED_FRAMES) {
            1 => "frame".to_owned(),
            tried => format!("{tried} frames"),
        };
        writeln!(out, "about {} s at the pace of the first {first}", number(self.seconds))
    }
}

/// Describes the contents of a file.
pub(super) fn info(arguments: &FileArguments) -> Result<(), Failure> {
    let path = &arguments.file;
    let bytes = read_plain(path)?;
    let facts = if let Ok(pattern) = Pattern::read(&bytes[..]) {
        pattern_facts(&pattern)
    } else if let Some(specks) = count_specks(&bytes) {
        dust_facts(specks)
    } else {
        let recording = if ends_in(path, "glb") { read_glb(&bytes).ok() } else { None };
        match recording {
            Some(recording) => recording_facts(&recording),
            None if is_tets(path) => tets_facts(path)?,
            None if is_volume(path) => level_set_facts(path)?,
            None if is_mesh(path) => mesh_facts(path)?,
            // the extension is that of a pattern, but the contents are not: reports the error
            None if ends_in(path, "pattern") => pattern_facts(&read_pattern(path)?),
            None => return Err(Failure::UnknownKind { path: path.clone() }),
        }
    };
    let Facts { text, mut json } = facts;
    json["file"] = path.display().to_string().into();
    print(|out| {
        if arguments.json {
            writeln!(out, "{json}")
        } else if arguments.quiet {
            Ok(())
        } else {
            write!(out, "{}: {text}", path.display())
        }
    })
}

/// The contents of a file, as text and as JSON.
struct Facts {
    text: String,
    json: Value,
}

fn dust_facts(specks: usize) -> Facts {
    Facts {
        text: format!("{} of dust and no bodies\n", count(specks, "speck", "specks")),
        json: json!({ "kind": "dust", "specks": specks }),
    }
}

fn recording_facts(recording: &Recording) -> Facts {
    let Recording { fps, frames, tracks, .. } = recording;
    let fragments = recording.fragments().len();
    let last = tracks.iter().filter(|t| t.pose(frames - 1).is_some()).count();
    let triangles: usize =
        tracks.iter().map(|t| t.surface().outer.len() + t.surface().inner.len()).sum();
    Facts {
        text: format!(
            "recording of {} at {} per second\n{}, of these {}; {} at the end\n{}\n",
            count(*frames, "frame", "frames"),
            number(*fps),
            count(tracks.len(), "body", "bodies"),
            count(fragments, "fragment", "fragments"),
            count(last, "body", "bodies"),
            count(triangles, "triangle", "triangles"),
        ),
        json: json!({ "kind": "recording", "frames": frames, "fps": fps, "bodies": tracks.len(),
            "fragments": fragments, "bodies_at_end": last, "triangles": triangles }),
    }
}

/// Note on a pattern with noise and straight rims.
const NOISE_NOTE: &str = "noise is added to the cut faces of pieces only (`rims = \"straight\"`)\n";

fn pattern_facts(pattern: &Pattern) -> Facts {
    // sample points along each axis, enough for all but tiny regions
    const ALONG: usize = 24;
    let place = |n: usize| (n as f64 + 0.5) / ALONG as f64 * 2.0 - 1.0;
    let regions = pattern.region_count();
    let mut counts = vec![0_usize; regions];
    for n in 0..ALONG * ALONG * ALONG {
        let p = [place(n % ALONG), place(n / ALONG % ALONG), place(n / ALONG / ALONG)];
        counts[pattern.region_at(&p.into())] += 1;
    }
    let share = |count: usize| count as f64 / (ALONG * ALONG * ALONG) as f64;
    counts.sort_unstable();
    let bumps = if pattern.drawn_noise().is_some() { NOISE_NOTE } else { "" };
    let (median, largest) = (share(counts[counts.len() / 2]), share(counts[counts.len() - 1]));
    Facts {
        text: format!(
            "pattern of {}\nvolume of regions in the preview box: median {} %, largest {} \
             %\n{bumps}",
            count(regions, "region", "regions"),
            number(100.0 * median),
            number(100.0 * largest)
        ),
        json: json!({ "kind": "pattern", "regions": regions, "median_share": median,
            "largest_share": largest, "bumps": pattern.drawn_noise().is_some() }),
    }
}

fn mesh_facts(path: &Path) -> Result<Facts, Failure> {
    let failed = |source| Failure::MeshInfo { path: path.to_owned(), source };
    let mesh = read_mesh(path).map_err(failed)?;
    let facts =
        mesh.facts().map_err(|source| Failure::MeshFacts { path: path.to_owned(), source })?;
    let (vertices, triangles) = (mesh.vertices.len(), mesh.triangles.len());
    let size = Aabb::around(&mesh.vertices).map_or_else(Vector3::zeros, |b| b.extents());
    let say = |is: bool| if is { "" } else { "not " };
    let (closed, oriented) = (say(facts.closed), say(facts.oriented));
    let (area, volume, components) = (facts.area, mesh.signed_volume(), facts.components);
    let is_inside_out = facts.closed && facts.oriented && volume < 0.0;
    let advice = if is_inside_out { "inside out: reverse its triangles\n" } else { "" };
    Ok(Facts {
        text: format!(
            "mesh of {}, {}\nsize {}\n{closed}closed, {oriented}oriented, {}\narea {}, volume {}\n{advice}",
            count(vertices, "vertex", "vertices"),
            count(triangles, "triangle", "triangles"),
            format_extents(&size),
            count(components, "component", "components"),
            number(area),
            number(volume)
        ),
        json: json!({ "kind": "mesh", "vertices": vertices, "triangles": triangles,
            "size": [size.x, size.y, size.z], "closed": facts.closed, "oriented": facts.oriented,
            "inside_out": is_inside_out, "components": components, "area": area,
            "volume": volume }),
    })
}

fn format_extents(size: &Vector3<f64>) -> String {
    format!("{} x {} x {}", number(size.x), number(size.y), number(size.z))
}

fn level_set_facts(path: &Path) -> Result<Facts, Failure> {
    let solid = volume_at(path)?;
    let ([nx, ny, nz], spacing) = (solid.grid().dims(), solid.grid().spacing());
    let volume = solid.subcell_moments().volume;
    Ok(Facts {
        text: format!(
            "level set of {nx} x {ny} x {nz} nodes, {} apart\nvolume {}\n",
            number(spacing),
            number(volume)
        ),
        json: json!({ "kind": "level_set", "nodes": [nx, ny, nz], "spacing": spacing,
            "volume": volume }),
    })
}

fn tets_facts(path: &Path) -> Result<Facts, Failure> {
    let failed = |source| Failure::MeshInfo { path: path.to_owned(), source };
    let mesh = read_tets(path).map_err(failed)?;
    let (vertices, tets) = (mesh.vertices.len(), mesh.tets.len());
    let size = Aabb::around(&mesh.vertices).map_or_else(Vector3::zeros, |b| b.extents());
    let mut text = format!(
        "{}, {}\nsize {}\n",
        count(tets, "tetrahedron", "tetrahedra"),
        count(vertices, "vertex", "vertices"),
        format_extents(&size)
    );
    let mut json = json!({ "kind": "tetrahedra", "tetrahedra": tets, "vertices": vertices,
        "size": [size.x, size.y, size.z], "problem": null, "pieces": null, "volume": null,
        "least_angle": null, "greatest_angle": null });
    if let Err(problem) = mesh.validate() {
        json["problem"] = problem.to_string().into();
        return Ok(Facts { text: text + &format!("not valid: {problem}\n"), json });
    }
    let quality = mesh.quality();
    let (least, most) = (quality.min_dihedral, quality.max_dihedral);
    let (pieces, volume) = (mesh.components().count, mesh.moments().volume);
    json["pieces"] = pieces.into();
    json["volume"] = volume.into();
    json["least_angle"] = least.into();
    json["greatest_angle"] = most.into();
    text += &format!(
        "{}, volume {}\ndihedral angles from {} to {} degrees, radius ratio at least {:.2}\n",
        count(pieces, "piece", "pieces"),
        number(volume),
        number(least),
        number(most),
        quality.min_radius_ratio
    );
    Ok(Facts { text, json })
}
