//! Solids with a closed form.

use serde::Deserialize;

use super::defaults::up;

/// `shape = { sphere = { radius = 0.1 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    /// Radius, m.
    pub radius: f64,
    /// Spacing of the level set, m; see [`super::Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Largest number of nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

/// `shape = { box = { half_extents = [1, 0.5, 0.1] } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cuboid {
    /// Half the edge lengths, m.
    pub half_extents: [f64; 3],
    /// Spacing of the level set, m; see [`super::Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Largest number of nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

/// `shape = { cylinder = { radius = 0.1, half_height = 0.5 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// Radius, m.
    pub radius: f64,
    /// Half the length along y, m.
    pub half_height: f64,
    /// Spacing of the level set, m; see [`super::Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Largest number of nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

/// `shape = { capsule = { radius = 0.1, half_height = 0.5 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capsule {
    /// Radius, m.
    pub radius: f64,
    /// Half the length along y of the part between the round ends, m.
    pub half_height: f64,
    /// Spacing of the level set, m; see [`super::Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Largest number of nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

/// `shape = { cone = { radius = 0.1, half_height = 0.2 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cone {
    /// Radius of the base, m.
    pub radius: f64,
    /// Half the height along y, m.
    pub half_height: f64,
    /// Spacing of the level set, m; see [`super::Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Largest number of nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

/// `shape = { torus = { major = 0.2, minor = 0.05 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Torus {
    /// Distance from the axis to the center of the tube, m.
    pub major: f64,
    /// Radius of the tube, m.
    pub minor: f64,
    /// Spacing of the level set, m; see [`super::Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Largest number of nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

/// `shape = { plane = { normal = [0, 1, 0] } }`: the half-space `normal . x < offset`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// Normal out of the solid, of any length but zero; `[0, 1, 0]` by default.
    #[serde(default = "up")]
    pub normal: [f64; 3],
    /// Offset of the surface along the unit normal, m; 0 by default.
    #[serde(default)]
    pub offset: f64,
}
