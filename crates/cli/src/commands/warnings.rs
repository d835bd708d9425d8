//! Warnings of `brisance check` and `brisance run`.

use std::io::Write;

use serde_json::{Value, json};
use sim::scene::{Body, Scene};
use sim::{BodyId, MeshWarning, Warning, World};

use crate::wording::{count, number};

/// A warning about a pair of bodies and their copies.
pub(super) struct PairWarning {
    warning: Warning,
    /// Names of the bodies of the worst pair.
    names: [String; 2],
    /// Number of pairs of copies.
    pairs: usize,
}

/// The warnings about a world just built from a scene. Pairs of copies of the same two bodies share
/// one warning, which names the worst pair.
pub(super) fn warnings(scene: &Scene, world: &World) -> Vec<PairWarning> {
    let specs = scene.bodies.iter().flat_map(|spec| spec.names().map(move |name| (spec, name)));
    let bodies: Vec<(BodyId, (&Body, String))> = world.iter().map(|s| s.id).zip(specs).collect();
    let body = |id: BodyId| {
        let at = bodies.binary_search_by_key(&id, |(id, _)| *id);
        at.ok().map(|at| &bodies[at].1)
    };
    let mut kinds: Vec<([*const Body; 2], PairWarning)> = Vec::new();
    for warning in world.warnings() {
        let [Some(first), Some(second)] = warning.bodies().map(body) else { continue };
        let specs = [first, second].map(|(spec, _)| std::ptr::from_ref(*spec));
        let names = [first, second].map(|(_, name)| name.clone());
        let same = |(other, warned): &&mut ([*const Body; 2], PairWarning)| {
            *other == specs && kind(&warned.warning) == kind(&warning)
        };
        match kinds.iter_mut().find(same) {
            Some((_, warned)) => {
                warned.pairs += 1;
                if severity(&warning) > severity(&warned.warning) {
                    (warned.warning, warned.names) = (warning, names);
                }
            }
            None => kinds.push((specs, PairWarning { warning, names, pairs: 1 })),
        }
    }
    kinds.into_iter().map(|(_, warned)| warned).collect()
}

/// Prints warnings to standard error.
pub(super) fn warn(warnings: &[PairWarning]) {
    for sentence in warnings.iter().map(PairWarning::sentence) {
        // stderr may be closed
        let _ = writeln!(std::io::stderr(), "warning: {sentence}");
    }
}

/// A mesh warning as JSON; values that do not apply are null.
pub(super) fn mesh_warning_json(warning: &MeshWarning) -> Value {
    let (kind, file, edges, nodes, spacing) = match warning {
        MeshWarning::Open { file, edges } => ("open", file, Some(edges), None, None),
        MeshWarning::Overlapping { file } => ("overlapping", file, None, None, None),
        MeshWarning::Thin { file, nodes, spacing } => {
            ("thin", file, None, Some(nodes), Some(spacing))
        }
    };
    json!({ "kind": kind, "file": file, "text": warning.to_string(), "edges": edges, "nodes": nodes,
        "spacing": spacing })
}

fn kind(warning: &Warning) -> &'static str {
    match warning {
        Warning::Fast { .. } => "fast",
        Warning::Inside { .. } => "inside",
        _ => "other",
    }
}

/// Severity: among warnings of one kind, larger is worse.
fn severity(warning: &Warning) -> f64 {
    match warning {
        Warning::Fast { fps, .. } => *fps,
        Warning::Inside { depth, .. } => *depth,
        _ => 0.0,
    }
}

impl PairWarning {
    /// A sentence with a suggestion.
    pub(super) fn sentence(&self) -> String {
        let [body, other] = &self.names;
        let more = match self.pairs - 1 {
            0 => String::new(),
            more => format!(" (and {} of copies)", count(more, "other pair", "other pairs")),
        };
        match &self.warning {
            Warning::Fast { way, thickness, fps, .. } => format!(
                "{body} moves {} m a frame and may pass through {other}{more}, both together {} m \
                 thick: give --fps {} or more",
                number(*way),
                number(*thickness),
                rounded_up(*fps)
            ),
            Warning::Inside { depth, .. } => {
                format!("{body} starts {} m inside {other}{more}: move one of them", number(*depth))
            }
            _ => format!("{body} and {other}{more}: see --json"),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        // values that do not apply are null
        let (way, thickness, fps, depth) = match self.warning {
            Warning::Fast { way, thickness, fps, .. } => {
                (Some(way), Some(thickness), Some(fps), None)
            }
            Warning::Inside { depth, .. } => (None, None, None, Some(depth)),
            _ => (None, None, None, None),
        };
        json!({ "kind": kind(&self.warning), "bodies": self.names, "pairs": self.pairs,
            "text": self.sentence(), "way": way, "thickness": thickness, "fps": fps, "depth": depth })
    }
}

/// Rounds up to two digits.
fn rounded_up(x: f64) -> f64 {
    let unit = 10_f64.powf(x.log10().floor() - 1.0).max(1.0);
    ((x / unit).floor() + 1.0) * unit
}
