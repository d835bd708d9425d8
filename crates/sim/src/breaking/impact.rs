//! A blow in the material space of a body.

use nalgebra::{Point3, UnitVector3, Vector3};

/// A blow in the material space of the body.
#[derive(Clone, Copy)]
pub(crate) struct Impact<'a> {
    /// Where, m.
    pub(crate) at: Point3<f64>,
    /// Along the blow, out of the body.
    pub(crate) normal: UnitVector3<f64>,
    /// N s.
    pub(crate) impulse: Vector3<f64>,
    /// How long it lasts, s.
    pub(crate) duration: f64,
    /// Other impulses on the body during the blow: where, m, and N s.
    pub(crate) reactions: &'a [(Point3<f64>, Vector3<f64>)],
    /// m/s^2.
    pub(crate) gravity: Vector3<f64>,
    /// Of the body, kg/m^3.
    pub(crate) density: f64,
    /// Whether anchors hold the body at a place.
    pub(crate) held: &'a dyn Fn(&Point3<f64>) -> bool,
}
