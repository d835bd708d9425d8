//! The planes, gravity and materials around dust.

use contact::Field;
use nalgebra::{Isometry3, Point3, UnitVector3, Vector3};

use crate::World;

/// Inputs of dust in addition to the recording.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Gravity, m/s^2.
    pub(super) gravity: Vector3<f64>,
    /// Planes at which dust ends: the normal, and its product with a point of the plane, m.
    pub(super) planes: Vec<(UnitVector3<f64>, f64)>,
    /// Fracture energy of each body of the scene, J/m^2.
    pub(super) energies: Vec<f64>,
}

impl Surroundings {
    /// The surroundings of a world before its first frame.
    pub fn of(world: &World) -> Self {
        let plane = |pose: &Isometry3<f64>| {
            let normal = pose.rotation * Vector3::y_axis();
            (normal, normal.dot(&pose.translation.vector))
        };
        let is_plane = |field: &Field| matches!(field, Field::HalfSpace);
        let planes = world.iter().filter(|state| is_plane(state.shape.field()));
        Self {
            gravity: world.settings().gravity,
            planes: planes.map(|state| plane(state.pose)).collect(),
            energies: world
                .details
                .iter()
                .map(|own| own.solid_material.fracture_energy())
                .collect(),
        }
    }

    /// A point above all planes: it, or the projection onto those above it.
    pub(super) fn lifted(&self, point: Point3<f64>) -> Point3<f64> {
        let lift = |p: Point3<f64>, (normal, offset): &(UnitVector3<f64>, f64)| {
            p + normal.into_inner() * (offset - normal.dot(&p.coords)).max(0.0)
        };
        self.planes.iter().fold(point, lift)
    }

    /// Time at which a flight first reaches a plane, s; `None` if it never does.
    pub(super) fn landing(&self, start: &Point3<f64>, velocity: &Vector3<f64>) -> Option<f64> {
        let time = |(normal, offset): &(UnitVector3<f64>, f64)| {
            let height = (normal.dot(&start.coords) - offset).max(0.0);
            first_root(0.5 * normal.dot(&self.gravity), normal.dot(velocity), height)
        };
        self.planes.iter().filter_map(time).min_by(f64::total_cmp)
    }
}

/// The first time from 0 on at which `height + velocity t + half t^2`, which starts at 0 or above,
/// falls to 0.
fn first_root(half: f64, velocity: f64, height: f64) -> Option<f64> {
    if height == 0.0 && velocity <= 0.0 {
        return Some(0.0);
    }
    let root = (velocity * velocity - 4.0 * half * height).sqrt();
    // the form without cancellation
    let time = if velocity > 0.0 {
        -(velocity + root) / (2.0 * half)
    } else {
        2.0 * height / (root - velocity)
    };
    (time >= 0.0 && time.is_finite()).then_some(time)
}
