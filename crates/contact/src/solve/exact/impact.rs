//! The simultaneous impact of several bodies.

use dynamics::{Body, Velocity};
use nalgebra::{UnitQuaternion, Vector3};

use super::ends::{Coordinates, Ends};
use super::factor::Pattern;
use super::island::Island;
use super::newton::Limits;

/// Residual of a converged solution, relative to that without impulses.
#[derive(Clone, Copy)]
pub(crate) enum Accuracy {
    /// For an impact of a sequence that converges to rest.
    Coarse,
    /// For an impact after which bodies fly apart: later impacts are simultaneous only if it keeps
    /// the symmetry of the bodies.
    Fine,
}

impl Accuracy {
    fn limits(self) -> Limits {
        let converged = match self {
            Self::Coarse => 1e-3,
            Self::Fine => 1e-11,
        };
        Limits { factorizations: 30, converged, accepted: ACCEPTED, memory: 2 }
    }
}

/// Residual that is accepted once steps reduce it slowly, relative to that without impulses.
const ACCEPTED: f64 = 1e-2;
/// Limit of sweeps. Of the simultaneous impacts in a heap of 1,000 hulls that lands, 61 % take
/// fewer; the Newton solver continues the others from the impulses of the last sweep.
const MAX_SWEEPS: usize = 40;
/// Largest usable residual, relative to the residual without impulses: later impacts resolve the
/// rest.
const USEFUL: f64 = 0.1;
/// Limit of block products in a factorization, about 2 ms.
const MAX_PRODUCTS: usize = 10_000;

/// A body at the time of the impact.
#[derive(Clone, Copy)]
pub(crate) struct Colliding<'a> {
    pub(crate) body: &'a Body,
    pub(crate) rotation: UnitQuaternion<f64>,
    pub(crate) velocity: Velocity,
}

/// A contact of the impact.
#[derive(Clone, Copy)]
pub(crate) struct Touch {
    /// Indices of both bodies among the colliding ones.
    pub(crate) bodies: [usize; 2],
    /// Lever arms from their centers of mass, m.
    pub(crate) arms: [Vector3<f64>; 2],
    /// Unit normal out of the second body.
    pub(crate) normal: Vector3<f64>,
    /// Target separation speed after the impact, m/s.
    pub(crate) target: f64,
    /// Friction coefficient.
    pub(crate) friction: f64,
}

/// The impulses of contacts on their first bodies, N s, that satisfy all complementarity conditions
/// at once. `None` if the solver misses its tolerance or a factorization takes too long.
pub(crate) fn impact(
    bodies: &[Colliding<'_>],
    touches: &[Touch],
    start: &[Vector3<f64>],
    accuracy: Accuracy,
) -> Option<Vec<Vector3<f64>>> {
    let mut free = 0;
    let number = |own: &Colliding<'_>| {
        own.body.mass_properties().map(|_| {
            free += 1;
            free - 1
        })
    };
    let numbers: Vec<Option<u32>> = bodies.iter().map(number).collect();
    let coordinates: Vec<_> =
        bodies.iter().map(|own| Coordinates::new(own.body, &own.rotation)).collect();
    let term = |touch: &Touch| {
        let ends = Ends {
            bodies: touch.bodies.map(|i| numbers[i]),
            coordinates: touch.bodies.map(|i| coordinates[i]),
            velocities: touch.bodies.map(|i| bodies[i].velocity),
        };
        ends.contact(&touch.arms, touch.normal, (touch.target, touch.friction)).0
    };
    let island = Island { bodies: free as usize, terms: touches.iter().map(term).collect() };
    let scaled = start.iter().zip(&island.terms).map(|(j, term)| j.component_mul(&term.scale));
    let guess: Vec<_> = scaled.collect();
    let limits = accuracy.limits();
    let swept = island.sweep(island.guessed(&guess), limits.converged, MAX_SWEEPS);
    let solution = if swept.is_solved {
        swept
    } else {
        let pattern = Pattern::new(island.bodies, &island.pairs(), MAX_PRODUCTS)?;
        island.solve(&pattern, limits, swept)
    };
    let impulses = solution.impulses.iter().zip(&island.terms);
    let unscaled = impulses.map(|(impulse, term)| impulse.component_div(&term.scale));
    solution.is_within(USEFUL).then(|| unscaled.collect())
}

#[cfg(test)]
mod tests {
    use dynamics::MassProperties;

    use super::*;

    fn sphere(mass: f64, speed: f64) -> (Body, Velocity) {
        let inertia = Vector3::repeat(0.4 * mass);
        let body = Body::Dynamic(MassProperties::new(mass, inertia).expect("a mass"));
        (body, Velocity { linear: Vector3::y() * speed, ..Velocity::default() })
    }

    /// Speeds of a column of spheres after its impact on the ground below, from the masses and
    /// speeds, with a target separation speed for each contact, from the ground up.
    fn after(spheres: &[(f64, f64)], targets: &[f64]) -> Vec<f64> {
        let ground = (Body::Static, Velocity::default());
        let spheres: Vec<_> = spheres.iter().map(|&(mass, speed)| sphere(mass, speed)).collect();
        let all: Vec<_> = std::iter::once(ground).chain(spheres).collect();
        let rotation = UnitQuaternion::identity();
        let bodies: Vec<_> = all
            .iter()
            .map(|(body, velocity)| Colliding { body, rotation, velocity: *velocity })
            .collect();
        let touch = |(n, &target): (usize, &f64)| Touch {
            bodies: [n + 1, n],
            arms: [-Vector3::y(), if n == 0 { Vector3::zeros() } else { Vector3::y() }],
            normal: Vector3::y(),
            target,
            friction: 0.5,
        };
        let touches: Vec<_> = targets.iter().enumerate().map(touch).collect();
        let none = vec![Vector3::zeros(); touches.len()];
        let impulses = impact(&bodies, &touches, &none, Accuracy::Coarse).expect("a solution");
        let speed = |n: usize| {
            let mass = all[n].0.mass_properties().expect("a sphere").mass();
            let above = impulses.get(n).map_or(0.0, |j| j.y);
            all[n].1.linear.y + (impulses[n - 1].y - above) / mass
        };
        (1..all.len()).map(speed).collect()
    }

    #[test]
    fn a_column_stops_at_once_for_any_ratio_of_masses() {
        for ratio in [1.0, 10.0, 1000.0] {
            let column: Vec<_> =
                (0..8).map(|n| (if n % 2 == 0 { 1.0 } else { ratio }, -10.0)).collect();
            let speeds = after(&column, &[0.0; 8]);
            let below = std::iter::once(&0.0).chain(&speeds);
            let mut closing = speeds.iter().zip(below).map(|(above, below)| above - below);
            assert!(closing.all(|speed| speed.abs() < ACCEPTED * 10.0), "{ratio}: {speeds:?}");
        }
    }

    /// With Newton's law at the ground and no restitution between them, both rise together.
    #[test]
    fn two_spheres_rise_at_the_restitution_of_the_lower_one() {
        for restitution in [0.3, 1.0] {
            let speeds = after(&[(1.0, -4.0), (3.0, -4.0)], &[4.0 * restitution, 0.0]);
            let expected = 4.0 * restitution;
            assert!(speeds.iter().all(|v| (v - expected).abs() < ACCEPTED * 4.0), "{speeds:?}");
        }
    }

    #[test]
    fn a_separating_contact_gets_no_impulse() {
        let speeds = after(&[(1.0, -4.0), (1.0, 2.0)], &[0.0, 0.0]);
        assert!(speeds[0].abs() < ACCEPTED * 4.0 && speeds[1] == 2.0, "{speeds:?}");
    }
}
