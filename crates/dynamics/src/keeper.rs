//! The energy fix as a pass over the bodies of another engine.

// handles of engines have a hash but seldom an order; bodies are looked up one by one, so that the
// order has no effect
#[expect(clippy::disallowed_types, reason = "it is never iterated where order counts")]
use std::collections::HashMap;
use std::hash::Hash;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

use crate::{MassProperties, energy_fix};

/// A body of another engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineBody {
    /// From body coordinates to the world. Engines rotate bodies about the origin of body
    /// coordinates, which need not be the center of mass.
    pub pose: Isometry3<f64>,
    /// Angular velocity in world axes, rad/s.
    pub angular_velocity: Vector3<f64>,
    /// Mass, kg.
    pub mass: f64,
    /// Center of mass in body coordinates, m.
    pub center: Point3<f64>,
    /// Principal moments of inertia about the center of mass, kg m^2.
    pub principal_inertia: Vector3<f64>,
    /// From principal axes to body axes.
    pub principal_axes: UnitQuaternion<f64>,
}

impl EngineBody {
    /// The orientation of the principal axes in the world.
    fn rotation(&self) -> UnitQuaternion<f64> {
        self.pose.rotation * self.principal_axes
    }

    /// The pose with another orientation of the principal axes and the same center of mass.
    fn turned(&self, rotation: UnitQuaternion<f64>) -> Isometry3<f64> {
        let rotation = rotation * self.principal_axes.inverse();
        let center = self.pose * self.center;
        let origin = center.coords - rotation * self.center.coords;
        Isometry3::from_parts(Translation3::from(origin), rotation)
    }
}

/// The conserved quantities of a body in free flight.
#[derive(Clone, Copy, Debug)]
struct Kept {
    mass: MassProperties,
    angular_momentum: Vector3<f64>,
    energy: f64,
}

impl Kept {
    /// `None` if the mass or the moments of inertia are not positive, or the state is not finite.
    fn new(body: &EngineBody) -> Option<Self> {
        // engines accept moments that no solid has
        let mass = MassProperties::artificial(body.mass, body.principal_inertia).ok()?;
        let rotation = body.rotation();
        let angular_momentum = mass.angular_momentum(&rotation, &body.angular_velocity);
        let energy = mass.rotational_energy(&rotation, &angular_momentum);
        energy.is_finite().then_some(Self { mass, angular_momentum, energy })
    }
}

/// The state to write back to a body of the engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction {
    /// From body coordinates to the world.
    pub pose: Isometry3<f64>,
    /// Angular velocity in world axes, rad/s.
    pub angular_velocity: Vector3<f64>,
}

/// Conserves the rotational energy and the angular momentum of another engine's bodies in free
/// flight (Su09 section 2), as a pass after each step of the engine.
///
/// `H` is the engine's handle of a body. The keeper stores the conserved quantities from the first
/// step without contact on. Disable the engine's angular damping: the keeper reverts it.
///
/// ```
/// use brisance_dynamics::{EnergyKeeper, EngineBody};
/// use brisance_dynamics::nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
///
/// let mut plate = EngineBody {
///     pose: Isometry3::identity(),
///     angular_velocity: Vector3::new(8.0, 0.1, 6.0),
///     mass: 1.0,
///     center: Point3::new(0.3, 0.0, 0.1),
///     principal_inertia: Vector3::new(0.75, 0.83, 0.09),
///     principal_axes: UnitQuaternion::identity(),
/// };
/// let mut keeper = EnergyKeeper::new();
/// for _ in 0..300 {
///     // the engine's step, here explicit Euler
///     let turn = UnitQuaternion::from_scaled_axis(plate.angular_velocity / 30.0);
///     plate.pose.rotation = turn * plate.pose.rotation;
///
///     let is_touched = false;
///     if let Some(corrected) = keeper.correct("plate", &plate, is_touched) {
///         (plate.pose, plate.angular_velocity) = (corrected.pose, corrected.angular_velocity);
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct EnergyKeeper<H> {
    #[expect(clippy::disallowed_types, reason = "it is never iterated where order counts")]
    kept: HashMap<H, Kept>,
}

impl<H> Default for EnergyKeeper<H> {
    fn default() -> Self {
        Self { kept: Default::default() }
    }
}

impl<H: Eq + Hash> EnergyKeeper<H> {
    /// A keeper without bodies.
    pub fn new() -> Self {
        Self::default()
    }

    /// The state to write back to an awake dynamic body after a step of the engine; `None` to leave
    /// it unchanged.
    ///
    /// `is_touched` is whether contacts, joints, forces off the center of mass or the user changed
    /// the rotation since the last call: the conserved quantities are then measured again. The
    /// center of mass is unchanged. A body whose mass or moments are not positive, or whose state
    /// is not finite, is left unchanged.
    pub fn correct(
        &mut self,
        handle: H,
        body: &EngineBody,
        is_touched: bool,
    ) -> Option<Correction> {
        if !is_touched && let Some(Kept { mass, angular_momentum, energy }) = self.kept.get(&handle)
        {
            let (rotation, _) = energy_fix(mass, &body.rotation(), angular_momentum, *energy);
            let angular_velocity = mass.angular_velocity(&rotation, angular_momentum);
            return Some(Correction { pose: body.turned(rotation), angular_velocity });
        }
        match Kept::new(body) {
            Some(kept) => drop(self.kept.insert(handle, kept)),
            None => self.forget(&handle),
        }
        None
    }

    /// Removes a body, for example one that sleeps, is removed or gets another mass.
    pub fn forget(&mut self, handle: &H) {
        self.kept.remove(handle);
    }

    /// Removes the bodies for which `stays` does not hold.
    pub fn retain(&mut self, mut stays: impl FnMut(&H) -> bool) {
        self.kept.retain(|handle, _| stays(handle));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
        [-size..=size, -size..=size, -size..=size].prop_map(Vector3::from)
    }

    fn bodies() -> impl Strategy<Value = EngineBody> {
        let inertia = [0.1..2.0, 0.1..2.0, 0.1..2.0].prop_map(Vector3::from);
        (vector(3.0), vector(3.0), vector(8.0), vector(1.0), inertia, vector(3.0)).prop_map(
            |(place, turn, spin, center, principal_inertia, axes)| EngineBody {
                pose: Isometry3::new(place, turn),
                angular_velocity: spin,
                mass: 1.5,
                center: Point3::from(center),
                principal_inertia,
                principal_axes: UnitQuaternion::from_scaled_axis(axes),
            },
        )
    }

    /// Angular momentum and rotational energy by the full inertia tensor.
    fn spin(body: &EngineBody) -> (Vector3<f64>, f64) {
        let axes = body.rotation().to_rotation_matrix().into_inner();
        let inertia =
            axes * nalgebra::Matrix3::from_diagonal(&body.principal_inertia) * axes.transpose();
        let momentum = inertia * body.angular_velocity;
        (momentum, 0.5 * momentum.dot(&body.angular_velocity))
    }

    /// Rotates a body about its center of mass with its current angular velocity, as the simplest
    /// engines do.
    fn step(body: &mut EngineBody, velocity: &Vector3<f64>) {
        let center = body.pose * body.center + velocity / 30.0;
        let turn = UnitQuaternion::from_scaled_axis(body.angular_velocity / 30.0);
        let rotation = turn * body.pose.rotation;
        let origin = center.coords - rotation * body.center.coords;
        body.pose = Isometry3::from_parts(origin.into(), rotation);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn energy_momentum_and_the_path_of_the_center_are_those_of_free_flight(
            start in bodies(),
            velocity in vector(2.0),
        ) {
            let mut body = start;
            let mut keeper = EnergyKeeper::new();
            let (momentum, energy) = spin(&start);
            prop_assert_eq!(keeper.correct(7, &body, false), None);
            for _ in 0..120 {
                step(&mut body, &velocity);
                let held = keeper.correct(7, &body, false).unwrap();
                (body.pose, body.angular_velocity) = (held.pose, held.angular_velocity);
            }
            let (now, held) = spin(&body);
            prop_assert!((held - energy).abs() <= 1e-11 * energy, "{held} {energy}");
            prop_assert!((now - momentum).norm() <= 1e-11 * momentum.norm());
            let center = start.pose * start.center + velocity * 4.0;
            prop_assert!((body.pose * body.center - center).norm() < 1e-12 * 120.0);
        }
    }

    #[test]
    fn touched_forgotten_or_unusable_bodies_are_measured_again() {
        let mut body = EngineBody {
            pose: Isometry3::identity(),
            angular_velocity: Vector3::new(1.0, 2.0, 3.0),
            mass: 2.0,
            center: Point3::origin(),
            principal_inertia: Vector3::new(1.0, 2.0, 2.5),
            principal_axes: UnitQuaternion::identity(),
        };
        let mut keeper = EnergyKeeper::new();
        assert_eq!(keeper.correct(1, &body, false), None);
        body.angular_velocity *= 2.0;
        // a contact sped it up
        assert_eq!(keeper.correct(1, &body, true), None);
        let held = keeper.correct(1, &body, false).unwrap();
        assert!((held.angular_velocity - body.angular_velocity).norm() < 1e-12);
        keeper.forget(&1);
        assert_eq!(keeper.correct(1, &body, false), None);
        keeper.retain(|handle| *handle != 1);
        assert_eq!(keeper.correct(1, &body, false), None);
        for broken in [
            EngineBody { mass: f64::NAN, ..body },
            EngineBody { principal_inertia: Vector3::zeros(), ..body },
            EngineBody { angular_velocity: Vector3::repeat(f64::INFINITY), ..body },
        ] {
            assert_eq!(keeper.correct(2, &broken, false), None);
            assert_eq!(keeper.correct(2, &broken, false), None, "{broken:?}");
        }
    }
}
