//! How bodies break.

use std::sync::Arc;

use serde::Deserialize;

use super::{Noise, Pattern, Scene};
use crate::Placement;

/// How a body breaks: `fracture = { pattern = "shards" }`. Give one of `pattern`, `lattice` and
/// `stress`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fracture {
    /// Name of a `[pattern.NAME]` table: the body is divided by a pattern centered where it is hit.
    pub pattern: Option<String>,
    /// How the pattern is placed, `"turned"` so that its y axis comes out of the body where it is hit,
    /// `"snapped"` to the nodes of the body's grid, in which copies that are hit at one node share their
    /// pieces, or `"fixed"` in the body wherever that is hit; unless given as the pattern has it, see
    /// [`super::Pattern::placement`].
    pub placement: Option<Placement>,
    /// Name of the pattern that divides pieces which a fixed pattern divides no further; none unless given.
    pub then: Option<String>,
    /// The finer levels of a hierarchy of pieces: a body comes apart into clusters, each of which breaks as its level
    /// says. The patterns of all levels stand in the body. None unless given.
    #[serde(default)]
    pub levels: Vec<Level>,
    /// The body is divided where the links of a lattice of masses break.
    pub lattice: Option<Lattice>,
    /// The body is divided where the blow stretches it too much.
    pub stress: Option<Stress>,
    /// The impulse at one contact that breaks it, N s, wherever and by whatever it is hit. Unless
    /// given, its material, its shape around the blow and what strikes it decide; see
    /// [`fracture::Impact`].
    pub break_impulse: Option<f64>,
    /// The former name of `break_impulse`.
    pub strength: Option<f64>,
    /// How often it and its pieces may break in turn, see [`Fracture::generations`].
    pub generations: Option<u32>,
    /// Pieces of a smaller share of the volume of the body that breaks stay with the neighbor they
    /// touch most; an 8th of the mean share of the pattern's pieces unless given.
    pub min_share: Option<f64>,
    /// So do pieces of less volume than a cube of this edge, m; 0 unless given.
    #[serde(default)]
    pub min_size: f64,
    /// What holds its pieces together where the blow is too weak to part them; nothing unless
    /// given.
    pub bonds: Option<Bonds>,
}

impl Fracture {
    /// The pattern that divides the body itself: of several levels the coarsest.
    pub(crate) fn first_pattern(&self, scene: &Scene) -> Option<Pattern> {
        let pattern = scene.patterns.get(self.pattern.as_ref()?)?;
        pattern.without_finest(self.finer_parts())
    }

    /// How many levels are finer parts of the body's own pattern.
    pub(crate) fn finer_parts(&self) -> usize {
        self.levels.iter().filter(|level| level.pattern.is_none()).count()
    }

    /// How often it and its pieces may break in turn. Unless given, once by a pattern alone: each generation multiplies
    /// the pieces. With levels, `then`, a lattice or finite elements three times, or as often as there are levels to reach.
    pub fn generations(&self) -> u32 {
        let is_alone = self.pattern.is_some() && self.levels.is_empty() && self.then.is_none();
        let default = if is_alone { 1 } else { 3.max(1 + self.levels.len() as u32) };
        self.generations.unwrap_or(default)
    }

    /// The fixed impulse that breaks it, N s, under either name.
    pub fn impulse(&self) -> Option<f64> {
        self.break_impulse.or(self.strength)
    }
}

/// `levels = [{ break_impulse = 8 }]`: how the clusters of the level above come apart.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Name of the pattern that divides clusters; unless given, the next finer one of the body's pattern, which
    /// is nested, or radial with splinters. All levels name one, or none.
    pub pattern: Option<String>,
    /// The impulse at one contact that breaks a cluster, N s; unless given, its material, its shape around the blow
    /// and what strikes it decide.
    pub break_impulse: Option<f64>,
    /// Pieces of a smaller share of the volume of the cluster stay with the neighbor they touch most; an 8th of the
    /// mean share of the pattern's pieces unless given.
    pub min_share: Option<f64>,
    /// What holds the pieces of a cluster together where the blow is too weak to part them; nothing unless given.
    pub bonds: Option<Bonds>,
}

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

/// `stress = { spacing = 0.05 }`: cracks where finite elements of that size find more tension than
/// the body bears (Mu01).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stress {
    /// Edge length of the tetrahedra, m.
    pub spacing: f64,
    /// Tension that the body bears, Pa; that of its material unless given.
    pub strength: Option<f64>,
    /// Young's modulus, Pa; that of its material unless given.
    pub young: Option<f64>,
    /// Poisson's ratio; 0.25 unless given.
    #[serde(default = "quarter")]
    pub poisson: f64,
    /// Von Mises stress beyond which the body stays deformed where it does not break, Pa; it springs
    /// back unless given.
    pub yield_strength: Option<f64>,
    /// Growth of the yield stress per plastic strain, Pa (isotropic linear hardening); 0 unless given.
    pub hardening: Option<f64>,
    /// Radius over which blows are spread and stress is averaged, m; a quarter of the edge of a cube of
    /// the body's volume unless given.
    pub averaging: Option<f64>,
    /// Whether displacements are quadratic in each tetrahedron: stress is far more exact, and takes
    /// some ten times as long; `false` unless given.
    #[serde(default)]
    pub quadratic: bool,
    /// How long a blow lasts, s; as long as the bodies touch by Hertz unless given.
    pub duration: Option<f64>,
    /// Radius around a contact beyond which a body that nothing anchors is supported in the place of its
    /// inertia, m (Mu01 section 2.8); inertia relief unless given.
    pub collision_radius: Option<f64>,
    /// Radius of a crack at the strength, m; twice the spacing unless given.
    pub reach: Option<f64>,
    /// Most cracks in one event; 16 unless given.
    #[serde(default = "sixteen")]
    pub cracks: usize,
}

fn one_fold() -> f64 {
    1.0
}

fn quarter() -> f64 {
    0.25
}

fn sixteen() -> usize {
    16
}

/// `bonds = { strength = 3e6 }`: a cut parts only if the share of the blow that it would have to
/// carry passes strength x area x duration. Pieces whose bonds hold stay one body.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bonds {
    /// Stress that a cut bears, Pa; that of the body's material unless given.
    pub strength: Option<f64>,
    /// How long a blow lasts, s; 0.001 unless given.
    #[serde(default = "millisecond")]
    pub duration: f64,
}

fn millisecond() -> f64 {
    0.001
}
