//! A scene with the settings of a visitor.

use serde::Deserialize;
use sim::scene::{Body, FileError, Scene, SceneError};
use sim::{Appearance, World};
use thiserror::Error;
use toml::{Table, Value};

/// Default limit of dynamic bodies.
const MAX_BODIES: i64 = 2_500;
/// Limit of the pieces of a pattern.
const MAX_PIECES: usize = 300;
/// Edge length of tetrahedra over that of a cube of the volume of the body.
const SPACING: f64 = 0.17;
/// Material of breakable bodies without one, for models that need a material.
const MATERIAL: &str = "clay";
/// Keys of bodies with defaults of the material.
const OF_MATERIAL: [&str; 15] = [
    "density",
    "restitution",
    "friction",
    "restitution_rule",
    "friction_rule",
    "rolling_friction",
    "spinning_friction",
    "colour",
    "color",
    "inner_colour",
    "inner_color",
    "roughness",
    "metallic",
    "texture",
    "transmission",
];

/// Initial state of a run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The scene, in TOML.
    pub scene: String,
    /// Pieces of Voronoi patterns, 2 to 300; default: as in the scene.
    #[serde(default)]
    pub pieces: Option<usize>,
    /// Fracture model of all breakable bodies; default: as in the scene.
    #[serde(default)]
    pub model: Option<Model>,
    /// Material of all breakable bodies, with its strength; default: as in the scene.
    #[serde(default)]
    pub material: Option<String>,
    /// Seed of all random numbers; default: as in the scene.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Whether energy is conserved (`[simulation.energy]`); `true`: as in the scene.
    #[serde(default = "kept")]
    pub keeps_energy: bool,
}

fn kept() -> bool {
    true
}

/// Fracture model of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// A lattice of masses and links (Ku07).
    Lattice,
    /// Stress by finite elements (Mu01).
    Stress,
}

/// Why a scene cannot be set up.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The scene or a change is invalid.
    #[error("{0}")]
    Scene(#[from] SceneError),
    /// A file of the scene is invalid.
    #[error("{0}")]
    File(#[from] FileError),
    /// The number of pieces is out of range.
    #[error("the number of pieces must be from 2 to {MAX_PIECES}, not {0}")]
    Pieces(usize),
    /// The changed scene cannot be serialized.
    #[error("the scene cannot be changed: {0}")]
    Text(#[from] toml::ser::Error),
}

impl Setup {
    /// The unchanged scene.
    pub fn of(scene: &str) -> Self {
        Self {
            scene: scene.to_owned(),
            pieces: None,
            model: None,
            material: None,
            seed: None,
            keeps_energy: true,
        }
    }

    /// The scene with all changes but [`Setup::model`].
    ///
    /// # Errors
    /// As [`Setup::changed`].
    pub fn changed_but_model(&self) -> Result<Scene, SetupError> {
        Self { model: None, ..self.clone() }.changed(&[])
    }

    /// The scene with all changes. `volumes` are the volumes of its bodies, m^3, from [`volumes`];
    /// they determine the size of the elements of a model.
    ///
    /// # Errors
    /// [`SetupError`] with the invalid key.
    pub fn changed(&self, volumes: &[Option<f64>]) -> Result<Scene, SetupError> {
        // errors name lines of the original text
        Scene::from_toml(&self.scene)?;
        let mut table: Table = self.scene.parse().unwrap_or_default();
        if let Some(pieces) = self.pieces {
            if !(2..=MAX_PIECES).contains(&pieces) {
                return Err(SetupError::Pieces(pieces));
            }
            give_pieces(&mut table, pieces);
        }
        let bodies = table.get_mut("body").and_then(Value::as_array_mut);
        for (n, body) in bodies.into_iter().flatten().enumerate() {
            let Some(body) = body.as_table_mut().filter(|body| body.contains_key("fracture"))
            else {
                continue;
            };
            if let Some(material) = &self.material {
                give_material(body, material);
            }
            if let Some(model) = self.model {
                give_model(body, model, volumes.get(n).copied().flatten());
            }
        }
        let debris = part(&mut table, "debris");
        debris.entry("max_bodies").or_insert(Value::Integer(MAX_BODIES));
        let simulation = part(&mut table, "simulation");
        if !self.keeps_energy {
            let off = ["fix", "clamp", "bound"].map(|key| (key.to_owned(), Value::Boolean(false)));
            simulation.insert("energy".to_owned(), Value::Table(off.into_iter().collect()));
        }
        if let Some(seed) = self.seed {
            simulation.insert("seed".to_owned(), Value::Integer(seed as i64));
        }
        Ok(Scene::from_toml(&toml::to_string(&table)?)?)
    }
}

/// The volume of each of the `bodies` of a scene, or of its largest piece, m^3, in a world built
/// from the scene.
pub fn volumes(bodies: &[Body], world: &World, appearances: &[Appearance]) -> Vec<Option<f64>> {
    let solid = |a: &Appearance| Some(world.get(a.body)?.solid?.geometry.moments().volume);
    let volume = |body: &Body| {
        let own = appearances.iter().filter(|a| body.has_name(&a.name));
        own.filter_map(solid).reduce(f64::max)
    };
    bodies.iter().map(volume).collect()
}

/// A subtable, inserted if missing.
fn part<'a>(table: &'a mut Table, key: &str) -> &'a mut Table {
    let value = table.entry(key).or_insert_with(|| Value::Table(Table::new()));
    if !value.is_table() {
        *value = Value::Table(Table::new());
    }
    match value {
        Value::Table(table) => table,
        _ => unreachable!("it was made a table"),
    }
}

fn give_pieces(table: &mut Table, pieces: usize) {
    let patterns = table.get_mut("pattern").and_then(Value::as_table_mut);
    for (_, pattern) in patterns.into_iter().flatten() {
        let voronoi = pattern.get_mut("voronoi").and_then(Value::as_table_mut);
        if let Some(voronoi) = voronoi {
            voronoi.insert("pieces".to_owned(), Value::Integer(pieces as i64));
        }
    }
}

fn give_material(body: &mut Table, material: &str) {
    OF_MATERIAL.iter().for_each(|key| drop(body.remove(*key)));
    body.insert("material".to_owned(), Value::String(material.to_owned()));
    if let Some(fracture) = body.get_mut("fracture").and_then(Value::as_table_mut) {
        fracture.remove("break_impulse");
        fracture.remove("strength");
    }
}

fn give_model(body: &mut Table, model: Model, volume: Option<f64>) {
    let spacing = SPACING * libm::cbrt(volume.unwrap_or(1.0));
    let elements = Table::from_iter([("spacing".to_owned(), Value::Float(spacing))]);
    let key = match model {
        Model::Lattice => "lattice",
        Model::Stress => "stress",
    };
    let mut fracture = Table::from_iter([(key.to_owned(), Value::Table(elements))]);
    fracture.insert("generations".to_owned(), Value::Integer(2));
    if let Some(Value::Table(before)) = body.get("fracture")
        && let Some(impulse) = before.get("break_impulse")
    {
        fracture.insert("break_impulse".to_owned(), impulse.clone());
    }
    body.insert("fracture".to_owned(), Value::Table(fracture));
    body.entry("material").or_insert(Value::String(MATERIAL.to_owned()));
}
