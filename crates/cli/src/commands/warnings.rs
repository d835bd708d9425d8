//! Warnings of `brisance check` and `brisance run`.

use std::io::Write;

use serde_json::{Value, json};
use sim::scene::Scene;
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

/// A warning about two bodies of the scene file, by their indices, and their copies.
struct WarningGroup {
    bodies: [usize; 2],
    warning: PairWarning,
}

/// The warnings about a world just built from a scene. Pairs of copies of the same two bodies share
/// one warning, which names the worst pair.
pub(super) fn pair_warnings(scene: &Scene, world: &World) -> Vec<PairWarning> {
    let all = scene.bodies.iter().enumerate();
    let copies = all.flat_map(|(index, spec)| spec.names().map(move |name| (index, name)));
    let bodies: Vec<(BodyId, (usize, String))> =
        world.iter().map(|state| state.id).zip(copies).collect();
    let body = |id: BodyId| {
        let at = bodies.binary_search_by_key(&id, |(id, _)| *id);
        at.ok().map(|at| &bodies[at].1)
    };
    let mut groups: Vec<WarningGroup> = Vec::new();
    for warning in world.warnings() {
        let [Some(first), Some(second)] = warning.bodies().map(body) else { continue };
        let bodies = [first, second].map(|(index, _)| *index);
        let names = [first, second].map(|(_, name)| name.clone());
        let is_same = |group: &&mut WarningGroup| {
            group.bodies == bodies && kind(&group.warning.warning) == kind(&warning)
        };
        match groups.iter_mut().find(is_same) {
            Some(WarningGroup { warning: worst, .. }) => {
                worst.pairs += 1;
                if severity(&warning) > severity(&worst.warning) {
                    (worst.warning, worst.names) = (warning, names);
                }
            }
            None => {
                let warning = PairWarning { warning, names, pairs: 1 };
                groups.push(WarningGroup { bodies, warning });
            }
        }
    }
    groups.into_iter().map(|group| group.warning).collect()
}

/// Prints warnings about pairs of bodies to standard error.
pub(super) fn print_pair_warnings(warnings: &[PairWarning]) {
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
            Warning::Fast { way: displacement, thickness, fps, .. } => format!(
                "{body} moves {} m per frame and may tunnel through {other}{more}; their combined \
                 thickness is {} m: use --fps {} or more",
                number(*displacement),
                number(*thickness),
                next_above_two_digits(*fps)
            ),
            Warning::Inside { depth, .. } => {
                format!("{body} starts {} m inside {other}{more}: move one of them", number(*depth))
            }
            _ => format!("{body} and {other}{more}: see --json"),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        // values that do not apply are null
        let (displacement, thickness, fps, depth) = match self.warning {
            Warning::Fast { way: displacement, thickness, fps, .. } => {
                (Some(displacement), Some(thickness), Some(fps), None)
            }
            Warning::Inside { depth, .. } => (None, None, None, Some(depth)),
            _ => (None, None, None, None),
        };
        json!({ "kind": kind(&self.warning), "bodies": self.names, "pairs": self.pairs,
            "text": self.sentence(), "displacement": displacement, "thickness": thickness, "fps": fps,
            "depth": depth })
    }
}

/// The least whole number above `x` with two significant digits.
fn next_above_two_digits(x: f64) -> f64 {
    let unit = 10_f64.powf(x.log10().floor() - 1.0).max(1.0);
    ((x / unit).floor() + 1.0) * unit
}
