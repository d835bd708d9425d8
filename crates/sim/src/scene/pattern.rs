//! Fracture patterns.

mod check;
mod text;

use std::sync::Arc;

use fracture::DensityMap;
use serde::Deserialize;

use crate::Placement;

/// A division of space centered at the impact: `[pattern.NAME.KIND]`, or `[pattern.NAME]` with a
/// `file` or a `preset`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Voronoi cells of random points.
    Voronoi(Voronoi),
    /// Sectors and rings around the impact, as in a pane of glass.
    Radial(Radial),
    /// Bricks in courses, with or without mortar.
    Bricks(Bricks),
    /// Planes across all of space.
    Slices(Slices),
    /// Voronoi cells of given points and of points along curves.
    Points(Points),
    /// Voronoi cells with a density proportional to the darkness of an image.
    Painted(Painted),
    /// A pattern whose regions a second pattern divides.
    Nested(Nested),
    /// Predefined settings for a material.
    Preset(Preset),
    /// A file: output of `brisance pattern new`, closed meshes, or an image.
    File(PatternFile),
}

impl Pattern {
    /// Minimum share of the volume of a piece, for a pattern with an unknown number of pieces.
    pub const MIN_SHARE: f64 = 2e-3;
    /// Minimum share of the volume of a piece, for a pattern whose small pieces are intended.
    const NO_SPLINTERS: f64 = 1e-6;

    /// Default of the minimum share of the volume of a piece: an eighth of the mean; smaller pieces
    /// are splinters.
    pub fn min_share(&self) -> f64 {
        let share = |pieces: usize| 1.0 / (8.0 * pieces.max(1) as f64);
        match self.spec() {
            Self::Bricks(_) => Self::NO_SPLINTERS,
            Self::Nested(nested) if matches!(nested.outer.spec(), Self::Bricks(_)) => {
                Self::NO_SPLINTERS
            }
            spec => spec.pieces().map_or(Self::MIN_SHARE, share),
        }
    }

    /// The requested number of pieces, if any.
    pub(crate) fn pieces(&self) -> Option<usize> {
        match self {
            Self::Voronoi(voronoi) => Some(voronoi.pieces),
            Self::Radial(radial) => Some(radial.sectors * radial.rings * radial.splinters),
            Self::Painted(painted) => Some(painted.pieces),
            Self::Nested(nested) => {
                Some(nested.outer.pieces()?.saturating_mul(nested.inner.pieces()?))
            }
            Self::Preset(preset) => preset.spec().pieces(),
            Self::Bricks(_) | Self::Slices(_) | Self::Points(_) | Self::File(_) => None,
        }
    }

    /// The pattern of a preset; returns other patterns unchanged.
    pub fn spec(&self) -> Self {
        match self {
            Self::Preset(preset) => preset.spec(),
            other => other.clone(),
        }
    }

    /// The pattern whose regions the finest level of this one divides; `None` if this one is not
    /// nested. A nested pattern has the cuts of the coarser one before noise displaces them.
    pub(crate) fn coarser(&self) -> Option<Self> {
        match self.spec() {
            Self::Nested(Nested { outer, inner, noise }) => Some(match inner.coarser() {
                Some(inner) => Self::Nested(Nested { outer, inner: Box::new(inner), noise }),
                None => *outer,
            }),
            Self::Radial(radial) if radial.splinters > 1 => {
                Some(Self::Radial(Radial { splinters: 1, ..radial }))
            }
            _ => None,
        }
    }

    /// The pattern without its `count` finest parts; `None` if no part is left.
    pub(crate) fn without_finest(&self, count: usize) -> Option<Self> {
        (0..count).try_fold(self.clone(), |pattern, _| pattern.coarser())
    }

    /// Default placement: patterns for the shape of a body are fixed in the body, and patterns with
    /// a grain keep their axes along those of the shape.
    pub fn placement(&self) -> Placement {
        match self {
            Self::Bricks(_) | Self::Points(_) | Self::Painted(_) => Placement::Fixed,
            Self::Voronoi(Voronoi { stretch, .. }) if *stretch != [1.0; 3] => Placement::Snapped,
            Self::Nested(nested) => nested.outer.placement(),
            Self::Preset(preset) => preset.spec().placement(),
            Self::Voronoi(_) | Self::Radial(_) | Self::Slices(_) | Self::File(_) => {
                Placement::Turned
            }
        }
    }

    /// The noise of its cuts.
    pub(crate) fn noise(&self) -> Option<CutNoise> {
        match self {
            Self::Voronoi(voronoi) => voronoi.noise,
            Self::Radial(radial) => radial.noise,
            Self::Bricks(bricks) => bricks.noise,
            Self::Slices(slices) => slices.noise,
            Self::Points(points) => points.noise,
            Self::Painted(painted) => painted.noise,
            Self::Nested(nested) => nested.noise,
            Self::Preset(preset) => preset.spec().noise(),
            Self::File(_) => None,
        }
    }

    /// The names of its files.
    pub(crate) fn files_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::File(reference) => vec![&mut reference.file],
            Self::Painted(painted) => vec![&mut painted.picture],
            Self::Nested(nested) => {
                let Nested { outer, inner, .. } = nested;
                outer.files_mut().into_iter().chain(inner.files_mut()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The patterns within it that are in files, or itself.
    pub(crate) fn in_files_mut(&mut self) -> Vec<&mut PatternFile> {
        match self {
            Self::File(reference) => vec![reference],
            Self::Nested(nested) => {
                let Nested { outer, inner, .. } = nested;
                outer.in_files_mut().into_iter().chain(inner.in_files_mut()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The painted patterns within it, or itself.
    pub(crate) fn painted_mut(&mut self) -> Vec<&mut Painted> {
        match self {
            Self::Painted(painted) => vec![painted],
            Self::Nested(nested) => {
                let Nested { outer, inner, .. } = nested;
                outer.painted_mut().into_iter().chain(inner.painted_mut()).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// `[pattern.NAME]` with `file = "shards.pattern"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
pub struct PatternFile {
    /// Path of the file, relative to the scene file.
    pub file: String,
    /// Its contents; see [`super::Scene::set_pattern`].
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

/// `[pattern.NAME]` with `preset = "glass"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Radial and concentric cracks.
    Glass,
    /// Rough lumps, smaller near the impact.
    Concrete,
    /// Splinters along the y axis of the shape.
    Wood,
    /// Bricks of 240 x 71 x 115 mm with joints of 10 mm (DIN 105, NF).
    Brick,
    /// Radial cracks whose parts break into shards.
    Ice,
}

impl Preset {
    /// All presets with their names.
    pub const ALL: [(&'static str, Self); 5] = [
        ("glass", Self::Glass),
        ("concrete", Self::Concrete),
        ("wood", Self::Wood),
        ("brick", Self::Brick),
        ("ice", Self::Ice),
    ];

    /// The pattern of the preset.
    pub fn spec(self) -> Pattern {
        let radial = Radial { sectors: 13, rings: 5, jitter: 0.45, splinters: 1, noise: None };
        let voronoi = Voronoi { pieces: 40, clustering: 0.6, stretch: [1.0; 3], noise: None };
        match self {
            Self::Glass => Pattern::Radial(radial),
            Self::Concrete => Pattern::Voronoi(Voronoi {
                noise: Some(CutNoise { amplitude: 0.012, frequency: 9.0, rims: Rims::Rough }),
                ..voronoi
            }),
            Self::Wood => Pattern::Voronoi(Voronoi {
                pieces: 24,
                clustering: 0.4,
                stretch: [1.0, 9.0, 1.0],
                ..voronoi
            }),
            Self::Brick => Pattern::Bricks(Bricks {
                size: Some([0.24, 0.071, 0.115]),
                count: None,
                bond: 0.5,
                jitter: 0.0,
                mortar: 0.01,
                noise: None,
            }),
            Self::Ice => Pattern::Radial(Radial {
                sectors: 7,
                rings: 3,
                jitter: 0.9,
                splinters: 3,
                ..radial
            }),
        }
    }
}

/// `[pattern.NAME.voronoi]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voronoi {
    /// Approximate number of pieces of a body; the number of cells is adapted to the shape of each
    /// body.
    pub pieces: usize,
    /// Clustering of the cells around the impact: 0 for none, 1 for strong; 0.5 by default.
    #[serde(default = "half")]
    pub clustering: f64,
    /// Elongation of pieces along each axis, as for splinters of wood; 1 by default.
    #[serde(default = "ones")]
    pub stretch: [f64; 3],
    /// Noise of the cuts; plane by default.
    pub noise: Option<CutNoise>,
}

/// `[pattern.NAME.radial]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Radial {
    /// Number of sectors around the impact.
    pub sectors: usize,
    /// Number of rings around the impact.
    pub rings: usize,
    /// Irregularity of the cracks: 0 for none, 1 for strong; 0.5 by default.
    #[serde(default = "half")]
    pub jitter: f64,
    /// Number of Voronoi cells in each field of the sectors and rings; 1 by default.
    #[serde(default = "one")]
    pub splinters: usize,
    /// Noise of the cuts; plane by default.
    pub noise: Option<CutNoise>,
}

/// `[pattern.NAME.bricks]`: courses along x, stacked along y, from the lowest corner of the shape's
/// box.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bricks {
    /// Length, height and depth of a brick without its mortar, m.
    pub size: Option<[f64; 3]>,
    /// Number of bricks along the length, height and depth of the shape's box, instead of a size.
    pub count: Option<[usize; 3]>,
    /// Shift of each course relative to the course below, in bricks; 0.5 by default.
    #[serde(default = "half")]
    pub bond: f64,
    /// Irregularity of the joints: 0 for none, 1 for 0.4 of a brick; 0 by default.
    #[serde(default)]
    pub jitter: f64,
    /// Width of the joints, m; their mortar forms separate pieces. 0 by default.
    #[serde(default)]
    pub mortar: f64,
    /// Noise of the cuts; plane by default.
    pub noise: Option<CutNoise>,
}

/// `[pattern.NAME.slices]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slices {
    /// Number of planes.
    pub planes: usize,
    /// Largest distance of planes from the center, in diagonals of the body's box; 0.4 by default.
    #[serde(default = "spread")]
    pub spread: f64,
    /// Mean normal of the planes; random by default.
    pub axis: Option<[f64; 3]>,
    /// Largest tilt of normals from the axis: the tangent of the angle, 0 to 1; 0 by default.
    #[serde(default)]
    pub tilt: f64,
    /// Noise of the cuts; plane by default.
    pub noise: Option<CutNoise>,
}

/// `[pattern.NAME.points]`: Voronoi cells of given points.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// Points, in the coordinates of the shape, m.
    #[serde(default)]
    pub points: Vec<[f64; 3]>,
    /// Polylines, each with at least two points, m.
    #[serde(default)]
    pub curves: Vec<Vec<[f64; 3]>>,
    /// Largest distance between points along curves, m; required with curves.
    pub spacing: Option<f64>,
    /// Largest random offset of points along each axis, m; 0 by default.
    #[serde(default)]
    pub scatter: f64,
    /// Noise of the cuts; plane by default.
    pub noise: Option<CutNoise>,
}

/// `[pattern.NAME.painted]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Painted {
    /// Path of a PNG file, relative to the scene file. The image covers the front of the shape's
    /// box; the density of cells is proportional to its darkness.
    pub picture: String,
    /// Number of cells in the shape's box.
    pub pieces: usize,
    /// Noise of the cuts; plane by default.
    pub noise: Option<CutNoise>,
    /// The darkness of its pixels; see [`super::Scene::set_density_maps`].
    #[serde(skip)]
    pub(crate) read: Option<Arc<DensityMap>>,
}

impl PartialEq for Painted {
    fn eq(&self, other: &Self) -> bool {
        let own = |painted: &Self| (painted.picture.clone(), painted.pieces, painted.noise);
        own(self) == own(other)
    }
}

/// `[pattern.NAME.nested]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nested {
    /// The outer pattern, with planar cuts.
    pub outer: Box<Pattern>,
    /// The inner pattern, scaled to each region of the outer pattern and centered in it, with
    /// planar cuts.
    pub inner: Box<Pattern>,
    /// Noise of the cuts; plane by default.
    pub noise: Option<CutNoise>,
}

/// `noise = { amplitude = 0.02, frequency = 6 }`: cuts with noise. Lengths are in diagonals of the
/// body's box.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutNoise {
    /// Approximate largest displacement of a cut; at most a third of `1 / frequency`.
    pub amplitude: f64,
    /// Periods per diagonal.
    pub frequency: f64,
    /// Treatment of the edges of cuts.
    #[serde(default)]
    pub rims: Rims,
}

/// The edges of cuts with noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rims {
    /// As rough as the cuts. Samples divide the bodies.
    #[default]
    Rough,
    /// Straight, with noise drawn between them. Exact surfaces stay exact, with the mass and
    /// collision shape of planar cuts.
    Straight,
}

/// `noise = { amplitude = 0.2, frequency = 6 }`: spatially varying values.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Approximate largest variation of a value, as a share of it.
    pub amplitude: f64,
    /// Periods per meter.
    pub frequency: f64,
}

fn one() -> usize {
    1
}

fn ones() -> [f64; 3] {
    [1.0; 3]
}

fn half() -> f64 {
    0.5
}

fn spread() -> f64 {
    0.4
}
