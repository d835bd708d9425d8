//! Fracture by a lattice of masses and links.

use std::sync::Arc;

use serde::Deserialize;

use super::breakable::Breakable;
use super::check::{at, bounded, count, direction, fraction, positive, require};
use super::defaults::millisecond;
use super::{InvalidValue, Noise};

/// Most steps in which a blow grows.
const MAX_STEPS: usize = 100;
/// Most rounds of smoothing.
const MAX_ROUNDS: usize = 100;

/// `lattice = { spacing = 0.1 }`: a mass for each tetrahedron of that size (Ku07).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lattice {
    /// Edge length of the tetrahedra that fill the body, m, unless its shape is `tets`. A blow is borne by
    /// those within as much of it.
    pub spacing: f64,
    /// Stress that links bear when pulled and when pressed, Pa; unless given that of the body's material
    /// when pulled and 8 times as much when pressed.
    pub strength: Option<f64>,
    /// How long a blow lasts, s; 0.001 unless given.
    #[serde(default = "millisecond")]
    pub duration: f64,
    /// Which tetrahedra are linked, those that share `"faces"`, as in the paper, whose lattice gives
    /// way a few tetrahedra around the blow, or also those that share `"edges"`, which breaks into
    /// large parts; `"edges"` unless given.
    #[serde(default)]
    pub links: LatticeLinks,
    /// How much more one link at each mass is weakened by a crack than the others, 0 for a uniform
    /// body; 1 unless given.
    #[serde(default = "one_fold")]
    pub randomness: f64,
    /// Bumps in the strength: amplitude below 1, frequency in 1/m; none unless given.
    pub noise: Option<Noise>,
    /// Planes along which links are weak.
    #[serde(default)]
    pub cleave: Vec<Cleave>,
    /// Spheres on whose surface links are weak.
    #[serde(default)]
    pub weak_spheres: Vec<WeakSphere>,
    /// A picture of how strong it is; as strong everywhere unless given.
    pub strength_picture: Option<StrengthPicture>,
    /// In how many steps a blow grows to its full force, 1 to 100; 1 unless given.
    pub steps: Option<usize>,
    /// How many times more a link bears when pressed than when pulled; unless given 1 with a `strength`,
    /// and 8 with that of the material.
    pub compression: Option<f64>,
    /// What a link that holds a blow loses for good, as a share of the force that it carries, 0 to 1;
    /// 0.5 unless given.
    pub damage: Option<f64>,
    /// What the links beside a broken one lose, as a share of their strength, 0 to 1; 0.3 unless given.
    pub weakening: Option<f64>,
    /// By how much the weakening around a crack falls with each link away from it, between 0 and 1;
    /// 0.7 unless given.
    pub alpha: Option<f64>,
    /// The share of the first weakening below which it goes no farther, 0 to 1; 0.1 unless given.
    pub tau: Option<f64>,
    /// What becomes of single tetrahedra that nothing holds: `"keep"`, they are pieces, as in the paper,
    /// `"merge"`, they stay with a neighbor, or `"dust"`, they are gone; `"merge"` unless given.
    #[serde(default)]
    pub shards: LatticeShards,
    /// In how many rounds the surfaces between pieces are smoothed, 0 to 100; 0 unless given.
    #[serde(default)]
    pub smoothing: usize,
}

/// What becomes of single tetrahedra that no link holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatticeShards {
    /// They are pieces.
    Keep,
    /// They stay with the neighbor with which they shared the largest face.
    #[default]
    Merge,
    /// They are gone at the end of the frame; their mass counts as retired.
    Dust,
}

/// `weak_spheres = [{ center = [0, 0.1, 0], radius = 0.2, width = 0.05, factor = 0.2 }]`, in the coordinates
/// of the body's shape.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeakSphere {
    /// Its center, m; the origin unless given.
    #[serde(default, rename = "centre", alias = "center")]
    pub center: [f64; 3],
    /// Its radius, m.
    pub radius: f64,
    /// Distance from its surface at which links are as strong as elsewhere, m.
    pub width: f64,
    /// What strengths on its surface are multiplied by.
    pub factor: f64,
}

/// `strength_picture = { file = "weak.png", corner = [-1, 1, 0], across = [2, 0, 0], down = [0, -2, 0] }`,
/// in the coordinates of the body's shape: links are as strong as elsewhere where it is white, and the
/// picture is the same at every depth.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrengthPicture {
    /// Path of a PNG file, relative to the scene file.
    pub file: String,
    /// Where the upper left corner of the picture is, m.
    pub corner: [f64; 3],
    /// From there to its upper right corner, m.
    pub across: [f64; 3],
    /// From there to its lower left corner, m; at a right angle to `across`.
    pub down: [f64; 3],
    /// What strengths are multiplied by where it is black; 0 unless given.
    #[serde(default)]
    pub darkest: f64,
    /// What is in it; see [`super::Scene::give_strength`].
    #[serde(skip)]
    pub(crate) read: Option<Arc<fracture::Stencil>>,
}

/// Which tetrahedra of a lattice are linked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatticeLinks {
    /// Those that share a face.
    Faces,
    /// Also those that share an edge.
    #[default]
    Edges,
}

/// `cleave = [{ normal = [1, 0, 0], width = 0.1, factor = 0.2 }]`, in the coordinates of the
/// body's shape.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cleave {
    /// Across the plane, of any length but zero.
    pub normal: [f64; 3],
    /// Where the plane is along the unit normal, m; 0 unless given.
    #[serde(default)]
    pub offset: f64,
    /// Distance at which links are as strong as elsewhere, m.
    pub width: f64,
    /// What strengths on the plane are multiplied by.
    pub factor: f64,
}

fn one_fold() -> f64 {
    1.0
}

impl Lattice {
    pub(super) fn check(&self, key: &str, body: &Breakable<'_>) -> Result<(), InvalidValue> {
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

    /// How links break and weaken each other.
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
