//! Fracture by a lattice of masses and links.

use std::sync::Arc;

use serde::Deserialize;

use super::check::{at, bounded, count, direction, fraction, positive, require};
use super::defaults::millisecond;
use super::fracture_context::FractureContext;
use super::{InvalidValue, Noise};

/// Largest number of load steps of an impact.
const MAX_STEPS: usize = 100;
/// Largest number of smoothing rounds.
const MAX_ROUNDS: usize = 100;

/// `lattice = { spacing = 0.1 }`: one mass per tetrahedron of this edge length (Ku07).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lattice {
    /// Edge length of the tetrahedra that fill the body, m, unless its shape is `tets`. An impact
    /// acts on the tetrahedra within this distance.
    pub spacing: f64,
    /// Tensile and compressive strength of links, Pa; by default the tensile strength of the body's
    /// material and 8 times as much in compression.
    pub strength: Option<f64>,
    /// Duration of an impact, s; 0.001 by default.
    #[serde(default = "millisecond")]
    pub duration: f64,
    /// Links between tetrahedra. `"faces"` links tetrahedra with a common face, as in the paper,
    /// and crumbles a few tetrahedra around the impact. `"edges"`, the default, also links
    /// tetrahedra with a common edge, and breaks the body into large parts.
    #[serde(default)]
    pub links: LatticeLinks,
    /// Randomness of the weakening around a crack: the excess weakening of one random link at each
    /// mass; 0 is uniform. 1 by default.
    #[serde(default = "one_fold")]
    pub randomness: f64,
    /// Noise in the strength: amplitude below 1, frequency in 1/m; none by default.
    pub noise: Option<Noise>,
    /// Planes along which links are weak.
    #[serde(default)]
    pub cleave: Vec<Cleave>,
    /// Spheres on whose surface links are weak.
    #[serde(default)]
    pub weak_spheres: Vec<WeakSphere>,
    /// An image of the strength; uniform by default.
    pub strength_picture: Option<StrengthPicture>,
    /// Number of load steps of an impact, 1 to 100; 1 by default.
    pub steps: Option<usize>,
    /// Ratio of compressive to tensile strength of a link; by default 1 with a `strength`, and 8
    /// with the strength of the material.
    pub compression: Option<f64>,
    /// Permanent damage of a link that withstands an impact, as a fraction of its load, 0 to 1; 0.5
    /// by default.
    pub damage: Option<f64>,
    /// Weakening of the links beside a broken one, as a share of their strength, 0 to 1; 0.3 by
    /// default.
    pub weakening: Option<f64>,
    /// Decay of the weakening around a crack per link away from it, between 0 and 1; 0.7 by
    /// default.
    pub alpha: Option<f64>,
    /// Fraction of the first weakening below which the weakening stops, 0 to 1; 0.1 by default.
    pub tau: Option<f64>,
    /// Treatment of single loose tetrahedra: they become pieces (`"keep"`, as in the paper), merge
    /// with a neighbor (`"merge"`, the default), or are removed (`"dust"`).
    #[serde(default)]
    pub shards: LatticeShards,
    /// Number of smoothing rounds of the surfaces between pieces, 0 to 100; 0 by default.
    #[serde(default)]
    pub smoothing: usize,
}

/// Treatment of single loose tetrahedra.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatticeShards {
    /// They become pieces.
    Keep,
    /// The neighbor with the largest common face absorbs them.
    #[default]
    Merge,
    /// They are removed at the end of the frame; their mass counts as retired.
    Dust,
}

/// `weak_spheres = [{ center = [0, 0.1, 0], radius = 0.2, width = 0.05, factor = 0.2 }]`, in the
/// coordinates of the body's shape.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeakSphere {
    /// Its center, m; the origin by default.
    #[serde(default, rename = "centre", alias = "center")]
    pub center: [f64; 3],
    /// Its radius, m.
    pub radius: f64,
    /// Distance from its surface at which links have full strength, m.
    pub width: f64,
    /// Factor of the strength on its surface.
    pub factor: f64,
}

/// `strength_picture = { file = "weak.png", corner = [-1, 1, 0], across = [2, 0, 0], down = [0, -2, 0] }`,
/// in the coordinates of the body's shape. White is full strength, and the image applies at every
/// depth.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrengthPicture {
    /// Path of a PNG file, relative to the scene file.
    pub file: String,
    /// Position of the upper left corner of the image, m.
    pub corner: [f64; 3],
    /// Vector from the upper left to the upper right corner, m.
    pub across: [f64; 3],
    /// Vector from the upper left to the lower left corner, m; perpendicular to `across`.
    pub down: [f64; 3],
    /// Factor of the strength where the image is black; 0 by default.
    #[serde(default)]
    pub darkest: f64,
    /// Its contents; see [`super::Scene::set_strength_images`].
    #[serde(skip)]
    pub(crate) read: Option<Arc<fracture::Stencil>>,
}

/// Links between the tetrahedra of a lattice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatticeLinks {
    /// Between tetrahedra with a common face.
    Faces,
    /// Also between tetrahedra with a common edge.
    #[default]
    Edges,
}

/// `cleave = [{ normal = [1, 0, 0], width = 0.1, factor = 0.2 }]`, in the coordinates of the
/// body's shape.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cleave {
    /// Normal of the plane, of any nonzero length.
    pub normal: [f64; 3],
    /// Offset of the plane along the unit normal, m; 0 by default.
    #[serde(default)]
    pub offset: f64,
    /// Distance from the plane at which links have full strength, m.
    pub width: f64,
    /// Factor of the strength on the plane.
    pub factor: f64,
}

fn one_fold() -> f64 {
    1.0
}

impl Lattice {
    pub(super) fn check(&self, key: &str, body: &FractureContext<'_>) -> Result<(), InvalidValue> {
        body.check_tetrahedra(key, self.spacing)?;
        positive(&at(key, "duration"), self.duration, "s")?;
        body.check_strength(key, "strength", self.strength)?;
        require((0.0..=100.0).contains(&self.randomness), &at(key, "randomness"), || {
            format!("must be from 0 to 100, not {:?}", self.randomness)
        })?;
        self.check_links(key)?;
        count(&at(key, "smoothing"), self.smoothing, 0, MAX_ROUNDS)?;
        if let Some(Noise { amplitude, frequency }) = self.noise {
            require((0.0..1.0).contains(&amplitude), &at(key, "noise.amplitude"), || {
                format!("must be from 0 to below 1, not {amplitude:?}")
            })?;
            positive(&at(key, "noise.frequency"), frequency, "1/m")?;
        }
        for (n, c) in self.cleave.iter().enumerate() {
            c.check(&format!("{key}.cleave[{n}]"))?;
        }
        for (n, s) in self.weak_spheres.iter().enumerate() {
            s.check(&format!("{key}.weak_spheres[{n}]"))?;
        }
        let picture = self.strength_picture.as_ref();
        picture.map_or(Ok(()), |picture| picture.check(&at(key, "strength_picture")))
    }

    /// Checks the settings of breaking and weakening links.
    fn check_links(&self, key: &str) -> Result<(), InvalidValue> {
        if let Some(steps) = self.steps {
            count(&at(key, "steps"), steps, 1, MAX_STEPS)?;
        }
        if let Some(compression) = self.compression {
            positive(&at(key, "compression"), compression, "times")?;
        }
        for (name, share) in
            [("damage", self.damage), ("weakening", self.weakening), ("tau", self.tau)]
        {
            share.map_or(Ok(()), |share| fraction(&at(key, name), share))?;
        }
        self.alpha.map_or(Ok(()), |alpha| {
            require(alpha > 0.0 && alpha < 1.0, &at(key, "alpha"), || {
                format!("must be above 0 and below 1, not {alpha:?}")
            })
        })
    }
}

impl Cleave {
    fn check(&self, key: &str) -> Result<(), InvalidValue> {
        require(
            self.normal.iter().any(|x| *x != 0.0) && self.normal.iter().all(|x| x.is_finite()),
            &at(key, "normal"),
            || format!("must be a direction, not {:?}", self.normal),
        )?;
        require(self.offset.is_finite(), &at(key, "offset"), || {
            format!("must be a number, not {:?}", self.offset)
        })?;
        positive(&at(key, "width"), self.width, "m")?;
        factor(key, self.factor)
    }
}

impl WeakSphere {
    fn check(&self, key: &str) -> Result<(), InvalidValue> {
        bounded(&at(key, "centre"), &self.center, "m")?;
        positive(&at(key, "radius"), self.radius, "m")?;
        positive(&at(key, "width"), self.width, "m")?;
        factor(key, self.factor)
    }
}

impl StrengthPicture {
    fn check(&self, key: &str) -> Result<(), InvalidValue> {
        bounded(&at(key, "corner"), &self.corner, "m")?;
        direction(&at(key, "across"), &self.across)?;
        direction(&at(key, "down"), &self.down)?;
        let dot = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let sizes = dot(&self.across, &self.across) * dot(&self.down, &self.down);
        require(
            dot(&self.across, &self.down).abs() <= 1e-6 * sizes.sqrt(),
            &at(key, "down"),
            || "must be at a right angle to `across`",
        )?;
        fraction(&at(key, "darkest"), self.darkest)
    }
}

fn factor(key: &str, factor: f64) -> Result<(), InvalidValue> {
    require((0.0..=1.0).contains(&factor), &at(key, "factor"), || {
        format!("must be from 0 to 1, not {factor:?}")
    })
}
