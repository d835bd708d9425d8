//! Fracture patterns.

use std::sync::Arc;

use serde::Deserialize;

use super::validate;

/// A division of space that is centred where a body is hit: `[pattern.NAME.KIND]`, or
/// `[pattern.NAME]` with a `file`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Cells of random points.
    Voronoi(Voronoi),
    /// Sectors and rings about the impact, as in a pane of glass.
    Radial(Radial),
    /// A file that `brisance pattern new` wrote.
    File(PatternFile),
}

impl Pattern {
    /// Share of the volume of the smallest piece of a pattern whose pieces are not known.
    pub const MIN_SHARE: f64 = 2e-3;

    /// Share of the volume of the smallest piece of a body that it divides, unless a scene gives one: an
    /// 8th of the mean, less is a splinter.
    pub fn least_share(&self) -> f64 {
        let share = |pieces: usize| 1.0 / (8.0 * pieces.max(1) as f64);
        self.pieces().map_or(Self::MIN_SHARE, share)
    }

    /// How many pieces it asks for; `None` of a file.
    pub(crate) fn pieces(&self) -> Option<usize> {
        match self {
            Self::Voronoi(voronoi) => Some(voronoi.pieces),
            Self::Radial(radial) => Some(radial.sectors * radial.rings * radial.splinters),
            Self::File(_) => None,
        }
    }
}

/// `[pattern.NAME]` with `file = "shards.pattern"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
pub struct PatternFile {
    /// Path of the file, relative to the scene file.
    pub file: String,
    /// What is in it; see [`super::Scene::give_pattern`].
    pub(crate) read: Option<Arc<fracture::Pattern>>,
}

impl From<String> for PatternFile {
    fn from(file: String) -> Self {
        Self { file, read: None }
    }
}

impl PartialEq for PatternFile {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file
    }
}

/// Reads `voronoi:35` (pieces), `radial:9x3` (sectors and rings), and more settings after commas by
/// their keys in scene files: `voronoi:35,clustering=0.8`.
impl std::str::FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "give voronoi:PIECES or radial:SECTORSxRINGS, as in \
            voronoi:35,clustering=0.8";
        let mut parts = text.split(',');
        let first = parts.next().unwrap_or_default();
        let (kind, counts) = first.split_once(':').ok_or(FORM)?;
        let whole = |name: &str, text: &str| match text.parse::<usize>() {
            Ok(number) => Ok(format!("{name} = {number}\n")),
            Err(_) => {
                Err(format!("{name} must be a whole number of 1 or more, not {text:?}: {FORM}"))
            }
        };
        let counts = match (kind, counts.split_once('x')) {
            ("voronoi", None) => whole("pieces", counts)?,
            ("radial", Some((sectors, rings))) => {
                whole("sectors", sectors)? + &whole("rings", rings)?
            }
            _ => return Err(FORM.to_owned()),
        };
        let rest: Vec<&str> = parts.collect();
        let toml = format!("[{kind}]\n{counts}\n{}\n", rest.join("\n"));
        let pattern: Self =
            toml::from_str(&toml).map_err(|e| format!("{}: {FORM}", e.message()))?;
        validate::pattern("pattern", &pattern).map_err(|invalid| invalid.to_string())?;
        Ok(pattern)
    }
}

/// `[pattern.NAME.voronoi]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voronoi {
    /// About how many pieces a body comes apart into; bodies of different shapes each get cells
    /// enough for that.
    pub pieces: usize,
    /// How much the cells crowd around the impact: 0 not at all, 1 strongly; 0.5 unless given.
    #[serde(default = "half")]
    pub clustering: f64,
    /// How rough the cuts are; plane unless given.
    pub noise: Option<Noise>,
}

/// `[pattern.NAME.radial]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Radial {
    /// Number of sectors around the impact.
    pub sectors: usize,
    /// Number of rings around the impact.
    pub rings: usize,
    /// How irregular the cracks are: 0 not at all, 1 strongly; 0.5 unless given.
    #[serde(default = "half")]
    pub jitter: f64,
    /// Cells of random points that each sector of each ring is divided into; 1 unless given.
    #[serde(default = "one")]
    pub splinters: usize,
    /// How rough the cuts are; plane unless given.
    pub noise: Option<Noise>,
}

/// `noise = { amplitude = 0.02, frequency = 6 }`: rough cuts. Lengths are in diagonals of the
/// body's box.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// About the most that a cut moves; at most a third of `1 / frequency`.
    pub amplitude: f64,
    /// Bumps per diagonal.
    pub frequency: f64,
}

fn one() -> usize {
    1
}

fn half() -> f64 {
    0.5
}
