//! Random bodies, states and impulses.

use dynamics::{Body, MassProperties, Momentum, Velocity};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use proptest::prelude::*;

/// Vectors with components in `[-size, size]`.
pub fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
    [-size..=size, -size..=size, -size..=size].prop_map(Vector3::from)
}

/// Unit vectors.
pub fn direction() -> impl Strategy<Value = Vector3<f64>> {
    vector(1.0).prop_filter_map("too short", |v| v.try_normalize(1e-3))
}

/// Orientations, uniform except for a set of measure zero.
pub fn rotation() -> impl Strategy<Value = UnitQuaternion<f64>> {
    (vector(1.0), -1.0..=1.0)
        .prop_map(|(v, w): (_, f64)| Quaternion::from_parts(w, v))
        .prop_filter_map("too short", |q| UnitQuaternion::try_new(q, 1e-3))
}

/// Poses within 10 m of the origin.
pub fn pose() -> impl Strategy<Value = Isometry3<f64>> {
    (vector(10.0), rotation()).prop_map(|(x, r)| Isometry3::from_parts(Translation3::from(x), r))
}

/// Masses from 10 g to 1 t with ratios of principal moments up to 1e4.
pub fn mass() -> impl Strategy<Value = MassProperties> {
    // the second moments of a solid are arbitrary positive numbers; inertia is their pairwise sum
    let moment = || (-4.0..=0.0).prop_map(|e| 10f64.powf(e));
    ((-2.0..=3.0), [moment(), moment(), moment()]).prop_map(|(m, [x, y, z])| {
        let mass = 10f64.powf(m);
        MassProperties::new(mass, Vector3::new(y + z, z + x, x + y) * mass)
            .expect("sums of positive numbers keep the triangle inequality")
    })
}

/// Momenta of ordinary size for a body of about 1 kg.
pub fn momentum() -> impl Strategy<Value = Momentum> {
    (vector(20.0), vector(5.0)).prop_map(|(linear, angular)| Momentum { linear, angular })
}

/// Velocities up to 10 m/s and 30 rad/s.
pub fn velocity() -> impl Strategy<Value = Velocity> {
    (vector(10.0), vector(30.0)).prop_map(|(linear, angular)| Velocity { linear, angular })
}

/// Dynamic, static and kinematic bodies.
pub fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        4 => mass().prop_map(Body::Dynamic),
        1 => Just(Body::Static),
        1 => velocity().prop_map(Body::Kinematic),
    ]
}
