//! An impact in the material space of a body.

use nalgebra::{Point3, UnitVector3, Vector3};

/// An impact in the material space of the body.
#[derive(Clone, Copy)]
pub(crate) struct Impact<'a> {
    /// Impact point, m.
    pub(crate) at: Point3<f64>,
    /// Direction of the impact, out of the body.
    pub(crate) normal: UnitVector3<f64>,
    /// Impulse, N s.
    pub(crate) impulse: Vector3<f64>,
    /// Duration of the impact, s.
    pub(crate) duration: f64,
    /// Other impulses on the body during the impact: point, m, and impulse, N s.
    pub(crate) reactions: &'a [(Point3<f64>, Vector3<f64>)],
    /// Gravity, m/s^2.
    pub(crate) gravity: Vector3<f64>,
    /// Density of the body, kg/m^3.
    pub(crate) density: f64,
    /// Whether the body is anchored at a point.
    pub(crate) held: &'a dyn Fn(&Point3<f64>) -> bool,
}
