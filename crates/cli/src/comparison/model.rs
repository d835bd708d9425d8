//! Conversion of scenes to another fracture model.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sim::scene::{
    Body, Fracture, Lattice, LatticeLinks, LatticeShards, Pattern, Scene, Stress, Voronoi,
};
use thiserror::Error;

/// A fracture model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Prescored fracture (Su09).
    Prescored,
    /// Mass-spring lattice (Ku07).
    Lattice,
    /// Finite elements (Mu01).
    Stress,
}

/// A name is not a model.
#[derive(Clone, Debug, Error)]
#[error("there is no model `{0}`: give some of prescored, lattice and stress")]
pub struct UnknownModel(String);

impl Model {
    /// All models.
    pub const ALL: [Self; 3] = [Self::Prescored, Self::Lattice, Self::Stress];

    /// Name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prescored => "prescored",
            Self::Lattice => "lattice",
            Self::Stress => "stress",
        }
    }
}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<Self, UnknownModel> {
        let found = Self::ALL.into_iter().find(|model| model.name() == text);
        found.ok_or_else(|| UnknownModel(text.to_owned()))
    }
}

/// Resolution of bodies without a resolution for the model in the scene.
#[derive(Clone, Copy, Debug)]
pub struct Fineness {
    /// Pieces of a pattern.
    pub pieces: usize,
    /// Approximate number of tetrahedra of a body.
    pub tets: usize,
    /// Factor on the spacing of samples and tetrahedra.
    pub factor: f64,
}

/// Name of the default pattern.
const PATTERN: &str = "brisance compare";
/// Default impact duration, s: the default of lattices.
const DURATION: f64 = 1e-3;
/// Ratio of compressive to tensile strength of links (Griffith 1924).
const COMPRESSION: f64 = 8.0;

/// The scene with `model` for all breakable bodies. Bodies keep the settings that the model
/// supports. A lattice takes spacing, strength and impact duration from finite elements and vice
/// versa, so that both have the same impact. The critical impact of a body is the same in all
/// models. `volumes` are the volumes of the bodies, m^3.
pub fn with_model(scene: &Scene, model: Model, volumes: &[f64], fineness: &Fineness) -> Scene {
    let mut scene = scene.clone();
    let lacks = |body: &Body| body.fracture.as_ref().is_some_and(|f| f.pattern.is_none());
    if model == Model::Prescored && scene.bodies.iter().any(lacks) {
        let voronoi =
            Voronoi { pieces: fineness.pieces, clustering: 0.5, stretch: [1.0; 3], noise: None };
        scene.patterns.insert(PATTERN.to_owned(), Pattern::Voronoi(voronoi));
    }
    for (body, volume) in scene.bodies.iter_mut().zip(volumes) {
        let Some(fracture) = &mut body.fracture else { continue };
        // a body-centered cubic lattice of edge h has 12 tetrahedra in h^3 (Labelle and Shewchuk
        // 2007)
        let spacing = (12.0 * volume / fineness.tets as f64).cbrt();
        divide_by(fracture, model, spacing, fineness.factor);
        if model == Model::Prescored {
            body.shape.scale_spacing(fineness.factor);
        }
    }
    scene
}

fn divide_by(fracture: &mut Fracture, model: Model, spacing: f64, factor: f64) {
    let (lattice, stress) = (fracture.lattice.take(), fracture.stress.take());
    match model {
        Model::Prescored => {
            fracture.pattern.get_or_insert_with(|| PATTERN.to_owned());
        }
        Model::Lattice => {
            let mut lattice = lattice.unwrap_or_else(|| lattice_like(stress.as_ref(), spacing));
            lattice.spacing *= factor;
            fracture.lattice = Some(lattice);
        }
        Model::Stress => {
            let mut stress = stress.unwrap_or_else(|| stress_like(lattice.as_ref(), spacing));
            stress.spacing *= factor;
            fracture.stress = Some(stress);
        }
    }
    if model != Model::Prescored {
        (fracture.pattern, fracture.placement) = (None, None);
    }
}

fn lattice_like(stress: Option<&Stress>, spacing: f64) -> Lattice {
    let strength = stress.and_then(|s| s.strength);
    Lattice {
        spacing: stress.map_or(spacing, |s| s.spacing),
        strength,
        duration: stress.and_then(|s| s.duration).unwrap_or(DURATION),
        links: LatticeLinks::default(),
        randomness: 1.0,
        noise: None,
        cleave: Vec::new(),
        weak_spheres: Vec::new(),
        strength_picture: None,
        steps: None,
        compression: strength.map(|_| COMPRESSION),
        damage: None,
        weakening: None,
        alpha: None,
        tau: None,
        shards: LatticeShards::default(),
        smoothing: 0,
    }
}

fn stress_like(lattice: Option<&Lattice>, spacing: f64) -> Stress {
    Stress {
        spacing: lattice.map_or(spacing, |l| l.spacing),
        strength: lattice.and_then(|l| l.strength),
        young: None,
        poisson: 0.25,
        yield_strength: None,
        hardening: None,
        averaging: None,
        quadratic: false,
        duration: Some(lattice.map_or(DURATION, |l| l.duration)),
        collision_radius: None,
        reach: None,
        cracks: 16,
    }
}
