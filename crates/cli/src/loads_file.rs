//! Loads and supports of a body, from TOML.

use levelset::{Aabb, TetMesh};
use nalgebra::{Point3, Vector3};
use serde::Deserialize;
use sim::scene::{SceneError, read_toml};
use tetfem::{Contact, Load};
use thiserror::Error;

use crate::wording::place;

/// The JSON schema of load files.
pub const LOADS_SCHEMA: &str = include_str!("loads.schema.json");

/// Maximum number of entries of each kind.
const MAX_ENTRIES: usize = 1000;
/// Largest number, as for mesh coordinates.
const MAX_NUMBER: f64 = 1e30;
/// A boundary face is on a side of the bounding box if its vertices are within this share of its mean
/// edge length of the side, and the cosine of its normal to that of the side is at least
/// [`SIDE_COSINE`]: surfaces of `tetrahedralize` are not exactly plane, and round off edges.
const SIDE_TOLERANCE: f64 = 0.3;
/// The cosine of 30 degrees.
const SIDE_COSINE: f64 = 0.866;

/// Why a load file is rejected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadsError {
    /// The file is not valid TOML, or has an unknown key or a value of the wrong type.
    #[error(transparent)]
    Toml(#[from] SceneError),
    /// A value is invalid.
    #[error("`{key}` {problem}")]
    Value {
        /// Its position.
        key: String,
        /// The problem.
        problem: String,
    },
}

/// Loads and supports of a body.
#[derive(Default)]
pub(crate) struct LoadCase {
    /// For each vertex, whether it is fixed.
    pub(crate) supports: Vec<bool>,
    /// Forces, and the radius over which each is spread, m.
    pub(crate) contacts: Vec<(Contact, f64)>,
    /// Pressure on each boundary face, Pa; empty without pressure loads.
    pub(crate) pressures: Vec<f64>,
    /// Body force, N/m^3.
    pub(crate) body_force: Vector3<f64>,
}

impl LoadCase {
    /// All loads.
    pub(crate) fn loads(&self) -> Vec<Load<'_>> {
        let Self { contacts, pressures, body_force, .. } = self;
        let all = Load { pressures, body_force: *body_force, ..Load::new(&[]) };
        let forces = contacts
            .iter()
            .map(|(contact, radius)| Load::new(std::slice::from_ref(contact)).spread(*radius));
        std::iter::once(all).chain(forces).collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sheet {
    #[serde(default)]
    support: Vec<Region>,
    load: Vec<Entry>,
}

/// A region of the body: a box, or a side of its bounding box.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Region {
    face: Option<Side>,
    #[serde(rename = "box")]
    corners: Option<[[f64; 3]; 2]>,
}

#[derive(Clone, Copy, Deserialize)]
enum Side {
    #[serde(rename = "-x")]
    LowX,
    #[serde(rename = "+x")]
    HighX,
    #[serde(rename = "-y")]
    LowY,
    #[serde(rename = "+y")]
    HighY,
    #[serde(rename = "-z")]
    LowZ,
    #[serde(rename = "+z")]
    HighZ,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    force: Option<[f64; 3]>,
    impulse: Option<[f64; 3]>,
    body_force: Option<[f64; 3]>,
    pressure: Option<f64>,
    at: Option<[f64; 3]>,
    radius: Option<f64>,
    duration: Option<f64>,
    face: Option<Side>,
    #[serde(rename = "box")]
    corners: Option<[[f64; 3]; 2]>,
}

/// Reads loads and supports for a body.
///
/// # Errors
/// [`LoadsError`] if the text is not a load file, or an entry does not fit the body.
pub(crate) fn read_load_case(text: &str, mesh: &TetMesh) -> Result<LoadCase, LoadsError> {
    let sheet: Sheet = read_toml(text)?;
    for (key, count) in [("support", sheet.support.len()), ("load", sheet.load.len())] {
        if count > MAX_ENTRIES {
            return Err(value(key, format!("has {count} entries: give at most {MAX_ENTRIES}")));
        }
    }
    if sheet.load.is_empty() {
        return Err(value("load", "is empty: give at least one load"));
    }
    let mut reader = Reader::new(mesh);
    for (n, region) in sheet.support.iter().enumerate() {
        reader.support(&format!("support[{n}]"), region)?;
    }
    for (n, entry) in sheet.load.iter().enumerate() {
        reader.load(&format!("load[{n}]"), entry)?;
    }
    Ok(reader.load_case)
}

fn value(key: impl Into<String>, problem: impl Into<String>) -> LoadsError {
    LoadsError::Value { key: key.into(), problem: problem.into() }
}

fn finite(key: &str, name: &str, numbers: &[f64]) -> Result<(), LoadsError> {
    if numbers.iter().all(|x| x.abs() <= MAX_NUMBER) {
        return Ok(());
    }
    Err(value(format!("{key}.{name}"), "must hold numbers from -1e30 to 1e30"))
}

struct Reader<'a> {
    mesh: &'a TetMesh,
    bounds: Aabb,
    faces: Vec<[u32; 3]>,
    load_case: LoadCase,
}

impl<'a> Reader<'a> {
    fn new(mesh: &'a TetMesh) -> Self {
        let origin = Point3::origin();
        let bounds = Aabb::around(&mesh.vertices).unwrap_or(Aabb { min: origin, max: origin });
        let load_case =
            LoadCase { supports: vec![false; mesh.vertices.len()], ..LoadCase::default() };
        Self { mesh, bounds, faces: mesh.boundary_faces(), load_case }
    }

    /// For each vertex, whether it is in a region.
    fn within(&self, key: &str, region: &Region) -> Result<Vec<bool>, LoadsError> {
        match (region.face, region.corners) {
            (Some(side), None) => Ok(self.on_side(side)),
            (None, Some([a, b])) => {
                finite(key, "box", &[a, b].concat())?;
                let [a, b] = [a, b].map(Point3::from);
                let (min, max) = (a.inf(&b), a.sup(&b));
                let is_in = |p: &Point3<f64>| (0..3).all(|k| (min[k]..=max[k]).contains(&p[k]));
                Ok(self.mesh.vertices.iter().map(is_in).collect())
            }
            _ => Err(value(key, "must have either `face` or `box`")),
        }
    }

    /// For each vertex, whether it belongs to a boundary face on a side of the bounding box.
    fn on_side(&self, side: Side) -> Vec<bool> {
        let (axis, is_high) = match side {
            Side::LowX => (0, false),
            Side::HighX => (0, true),
            Side::LowY => (1, false),
            Side::HighY => (1, true),
            Side::LowZ => (2, false),
            Side::HighZ => (2, true),
        };
        let (sign, bound) =
            if is_high { (1.0, self.bounds.max[axis]) } else { (-1.0, self.bounds.min[axis]) };
        let mut within = vec![false; self.mesh.vertices.len()];
        for face in &self.faces {
            let [a, b, c] = face.map(|n| self.mesh.vertices[n as usize]);
            let normal = (b - a).cross(&(c - a));
            let mean_edge = ((b - a).norm() + (c - b).norm() + (a - c).norm()) / 3.0;
            let is_near =
                [a, b, c].iter().all(|p| (p[axis] - bound).abs() <= SIDE_TOLERANCE * mean_edge);
            if is_near && sign * normal[axis] >= SIDE_COSINE * normal.norm() {
                face.iter().for_each(|&n| within[n as usize] = true);
            }
        }
        within
    }

    fn nothing(&self, key: &str, what: &str) -> LoadsError {
        let [low, high] = [self.bounds.min, self.bounds.max].map(|p| place(&p));
        value(key, format!("{what}: its vertices are from {low} to {high}"))
    }

    fn support(&mut self, key: &str, region: &Region) -> Result<(), LoadsError> {
        let within = self.within(key, region)?;
        if !within.contains(&true) {
            return Err(self.nothing(key, "fixes no vertex of the body"));
        }
        self.load_case.supports.iter_mut().zip(within).for_each(|(own, more)| *own |= more);
        Ok(())
    }

    fn load(&mut self, key: &str, entry: &Entry) -> Result<(), LoadsError> {
        match (entry.force, entry.impulse, entry.body_force, entry.pressure) {
            (Some(force), None, None, None) => {
                finite(key, "force", &force)?;
                only(key, entry, &["at", "radius"])?;
                self.contact(key, entry, force.into())
            }
            (None, Some(impulse), None, None) => {
                finite(key, "impulse", &impulse)?;
                only(key, entry, &["at", "radius", "duration"])?;
                let Some(duration) = entry.duration.filter(|s| (1e-9..=1e3).contains(s)) else {
                    let wanted = "must be a number of seconds from 1e-9 to 1000";
                    return Err(value(format!("{key}.duration"), wanted));
                };
                self.contact(key, entry, Vector3::from(impulse) / duration)
            }
            (None, None, Some(force), None) => {
                finite(key, "body_force", &force)?;
                only(key, entry, &[])?;
                self.load_case.body_force += Vector3::from(force);
                Ok(())
            }
            (None, None, None, Some(pressure)) => {
                finite(key, "pressure", &[pressure])?;
                only(key, entry, &["face", "box"])?;
                self.pressure(key, entry, pressure)
            }
            _ => {
                let kinds = "must have one of `force`, `impulse`, `body_force` and `pressure`";
                Err(value(key, kinds))
            }
        }
    }

    fn contact(&mut self, key: &str, entry: &Entry, force: Vector3<f64>) -> Result<(), LoadsError> {
        let Some(at) = entry.at else {
            return Err(value(key, "lacks `at`, the place where it acts"));
        };
        finite(key, "at", &at)?;
        let radius = entry.radius.unwrap_or(0.0);
        if !(0.0..=MAX_NUMBER).contains(&radius) {
            return Err(value(format!("{key}.radius"), "must be a number from 0 to 1e30"));
        }
        self.load_case.contacts.push((Contact { place: at.into(), force }, radius));
        Ok(())
    }

    fn pressure(&mut self, key: &str, entry: &Entry, pressure: f64) -> Result<(), LoadsError> {
        let region = Region { face: entry.face, corners: entry.corners };
        let within = self.within(key, &region)?;
        self.load_case.pressures.resize(self.faces.len(), 0.0);
        let mut is_borne = false;
        for (own, face) in self.load_case.pressures.iter_mut().zip(&self.faces) {
            if face.iter().all(|&v| within[v as usize]) {
                *own += pressure;
                is_borne = true;
            }
        }
        if is_borne { Ok(()) } else { Err(self.nothing(key, "presses on no face of the body")) }
    }
}

/// Rejects keys that do not apply to a load of this kind.
fn only(key: &str, entry: &Entry, known: &[&str]) -> Result<(), LoadsError> {
    let given = [
        ("at", entry.at.is_some()),
        ("radius", entry.radius.is_some()),
        ("duration", entry.duration.is_some()),
        ("face", entry.face.is_some()),
        ("box", entry.corners.is_some()),
    ];
    match given.iter().find(|(name, is_given)| *is_given && !known.contains(name)) {
        Some((name, _)) => {
            Err(value(format!("{key}.{name}"), "says nothing about a load of this kind: remove it"))
        }
        None => Ok(()),
    }
}
