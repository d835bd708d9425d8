//! Clamped impulses.

use super::Worst;
use contact::{ClampedBody, clamp_scale};
use dynamics::{Body, MassProperties, Momentum, Velocity};
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use serde::Deserialize;

type Vector = [f64; 3];

#[derive(Deserialize)]
struct ImpulseClamps {
    cases: Vec<ImpulseClamp>,
}

#[derive(Deserialize)]
struct ImpulseClamp {
    name: String,
    #[serde(rename = "A")]
    a: Moving,
    /// Static or kinematic if missing.
    #[serde(rename = "B")]
    b: Option<Moving>,
    j: Vector,
    j_tau: Vector,
    kinematic_velocity: Option<Vector>,
    eps: f64,
    #[serde(rename = "KE_before")]
    before: f64,
    #[serde(rename = "KE_after")]
    after: f64,
}

#[derive(Deserialize)]
struct Moving {
    m: f64,
    /// In world axes.
    #[serde(rename = "I")]
    inertia: [Vector; 3],
    v: Vector,
    w: Vector,
    r: Vector,
}

impl Moving {
    fn state(&self) -> (Body, UnitQuaternion<f64>, Momentum, Vector3<f64>) {
        let inertia = Matrix3::from_fn(|i, j| self.inertia[i][j]);
        let eigen = inertia.symmetric_eigen();
        let mut axes = eigen.eigenvectors;
        if axes.determinant() < 0.0 {
            axes.set_column(2, &-axes.column(2));
        }
        // some reference bodies have moments that violate the triangle inequality of solids
        let mass = MassProperties::artificial(self.m, eigen.eigenvalues)
            .expect("the vectors' masses are positive");
        let axes = Rotation3::from_matrix_unchecked(axes);
        let momentum = Momentum {
            linear: Vector3::from(self.v) * self.m,
            angular: inertia * Vector3::from(self.w),
        };
        let rotation = UnitQuaternion::from_rotation_matrix(&axes);
        (Body::Dynamic(mass), rotation, momentum, self.r.into())
    }
}

/// Su09 section 3.2.
pub(super) fn impulse_clamp(text: &str) -> Result<Worst, serde_json::Error> {
    let mut worst = Worst::new();
    for case in serde_json::from_str::<ImpulseClamps>(text)?.cases {
        let partner = || {
            let linear = case.kinematic_velocity.map(Vector3::from);
            let body = linear.map_or(Body::Static, |linear| {
                Body::Kinematic(Velocity { linear, ..Velocity::default() })
            });
            (body, UnitQuaternion::identity(), Momentum::default(), Vector3::zeros())
        };
        let states = [case.a.state(), case.b.as_ref().map_or_else(partner, Moving::state)];
        let side = |i: usize| {
            let (body, rotation, momentum, arm) = &states[i];
            ClampedBody { body, rotation, momentum, arm: *arm }
        };
        let (j, torque) = (Vector3::from(case.j), Vector3::from(case.j_tau));
        let share = clamp_scale(&side(0), &side(1), &j, &torque);
        worst.compare(format!("{}: share", case.name), (share - case.eps).abs(), 1e-12);
        let frame = case.kinematic_velocity.map_or(Vector3::zeros(), Vector3::from);
        let energy = |share: f64| -> f64 {
            let of = |i: usize, sign: f64| {
                let (body, rotation, momentum, arm) = &states[i];
                let Body::Dynamic(mass) = body else { return 0.0 };
                let change = j * (sign * share);
                let moved = Momentum {
                    linear: momentum.linear - frame * mass.mass() + change,
                    angular: momentum.angular + arm.cross(&change) + torque * (sign * share),
                };
                mass.kinetic_energy(rotation, &moved)
            };
            of(0, 1.0) + of(1, -1.0)
        };
        let (before, after) = (energy(0.0), energy(share));
        let gain = ((after - before) / before).max(0.0);
        worst.compare(format!("{}: gain", case.name), gain, 1e-12);
        let apart = |found: f64, reference: f64| (found - reference).abs() / case.before;
        worst.compare(format!("{}: energy before", case.name), apart(before, case.before), 1e-12);
        worst.compare(format!("{}: energy after", case.name), apart(after, case.after), 1e-12);
    }
    Ok(worst)
}
