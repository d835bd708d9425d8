//! Impulses and contacts.

use brisance_tests::properties;
use brisance_tests::strategies::{body, direction, mass, momentum, rotation, vector, velocity};
use contact::{ClampedBody, clamp_scale, clamp_to_plastic, effective_mass, pair_impulse};
use dynamics::{Body, MassProperties, Momentum, Velocity};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use proptest::prelude::*;

type State = (Body, UnitQuaternion<f64>, Momentum, Vector3<f64>);

fn state(body: impl Strategy<Value = Body>) -> impl Strategy<Value = State> {
    (body, rotation(), momentum(), vector(1.0))
}

fn clamped<'a>((body, rotation, momentum, arm): &'a State) -> ClampedBody<'a> {
    ClampedBody { body, rotation, momentum, arm: *arm }
}

/// Kinetic energy of a dynamic body after the momentum change `extra`, in a frame of reference with
/// velocity `frame`.
fn energy((body, rotation, momentum, _): &State, extra: &Momentum, frame: &Vector3<f64>) -> f64 {
    let Body::Dynamic(mass) = body else { return 0.0 };
    let relative = Momentum {
        linear: momentum.linear + extra.linear - frame * mass.mass(),
        angular: momentum.angular + extra.angular,
    };
    mass.kinetic_energy(rotation, &relative)
}

fn momentum_change(arm: &Vector3<f64>, j: Vector3<f64>, torque: Vector3<f64>) -> Momentum {
    Momentum { linear: j, angular: arm.cross(&j) + torque }
}

#[derive(Debug)]
struct Approach {
    k: Matrix3<f64>,
    u: Vector3<f64>,
    normal: Vector3<f64>,
}

type Mover = (MassProperties, UnitQuaternion<f64>, Velocity, Vector3<f64>);

fn mover() -> impl Strategy<Value = Mover> {
    (mass(), rotation(), velocity(), vector(1.0))
}

/// The second body may be static, or kinematic with its velocity.
fn approach((p, q, mut normal, fixed): (Mover, Mover, Vector3<f64>, bool)) -> Approach {
    let k = |m: &Mover| effective_mass(1.0 / m.0.mass(), &m.0.inverse_inertia(&m.1), &m.3);
    let u = p.2.at(&p.3) - q.2.at(&q.3);
    if u.dot(&normal) > 0.0 {
        normal = -normal;
    }
    let other = if fixed { Matrix3::zeros() } else { k(&q) };
    Approach { k: k(&p) + other, u, normal }
}

properties! {
    /// Su09 section 3.2, for every kind of partner; for a kinematic partner the energy is relative
    /// to the rest frame of its contact point.
    #[test]
    fn no_scaled_impulse_raises_kinetic_energy(
        a in state(mass().prop_map(Body::Dynamic)),
        b in state(body()),
        (j, torque) in (vector(50.0), vector(10.0)),
        swap in any::<bool>(),
    ) {
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let share = clamp_scale(&clamped(&a), &clamped(&b), &j, &torque);
        prop_assert!((0.0..=1.0).contains(&share));
        let frame = [&a, &b].into_iter().find_map(|s| match s.0 {
            Body::Kinematic(velocity) => Some(velocity.at(&s.3)),
            _ => None,
        }).unwrap_or_default();
        let total = |share: f64| {
            energy(&a, &momentum_change(&a.3, j * share, torque * share), &frame)
                + energy(&b, &momentum_change(&b.3, -j * share, -torque * share), &frame)
        };
        let (before, after) = (total(0.0), total(share));
        // rounding is relative to the energies before and after the whole impulse
        let scale = before + total(1.0);
        prop_assert!(after <= before + 1e-12 * scale, "{before} -> {after} at {share}");
        // and the clamp removes no more than needed
        if share > 0.0 && share < 1.0 {
            prop_assert!((after - before).abs() <= 1e-9 * scale, "{before} -> {after} at {share}");
        }
    }

    #[test]
    fn an_impulse_clamped_to_plastic_adds_no_energy_and_ends_the_approach(
        pair in (mover(), mover(), direction(), any::<bool>()).prop_map(approach),
        restitution in 0.0..=1.0,
        friction in 0.0..=2.0,
    ) {
        let Approach { k, u, normal } = pair;
        let j = pair_impulse(&normal, &k, &u, restitution, friction);
        let clamped = clamp_to_plastic(&j, &normal, &k, &u);
        let gain = clamped.dot(&u) + 0.5 * clamped.dot(&(k * clamped));
        let size = clamped.norm() * u.norm() + clamped.dot(&(k * clamped));
        prop_assert!(gain <= 1e-13 * size, "gains {gain} of {size}");
        let after = (u + k * clamped).dot(&normal);
        prop_assert!(after >= -1e-9 * (u.norm() + (k * clamped).norm()), "still closes at {after}");
        let along = clamped.dot(&normal);
        let across = (clamped - normal * along).norm();
        prop_assert!(across <= friction * along * (1.0 + 1e-9) + 1e-12 * size, "{across} {along}");
    }

    #[test]
    fn a_frictionless_impulse_turns_the_approach_round_by_its_restitution(
        pair in (mover(), mover(), direction(), any::<bool>()).prop_map(approach),
        restitution in 0.0..=1.0,
    ) {
        let Approach { k, u, normal } = pair;
        let j = pair_impulse(&normal, &k, &u, restitution, 0.0);
        let speed = u.dot(&normal);
        let after = (u + k * j).dot(&normal);
        prop_assert!((after + restitution * speed).abs() <= 1e-9 * u.norm());
    }

    /// For a frictionless impact with `over` times its impulse, the scale is `2 / ((1 + e) over)`.
    #[test]
    fn a_frictionless_elastic_impulse_is_just_allowed(
        a in state(mass().prop_map(Body::Dynamic)),
        b in state(body()),
        direction in direction(),
        restitution in 0.0..=1.0_f64,
        over in 0.2..3.0_f64,
    ) {
        let velocity = |s: &State| s.0.velocity(&s.1, &s.2).at(&s.3);
        let k = |s: &State| match &s.0 {
            Body::Dynamic(mass) => effective_mass(1.0 / mass.mass(), &mass.inverse_inertia(&s.1), &s.3),
            Body::Static | Body::Kinematic(_) => Matrix3::zeros(),
        };
        let u = velocity(&a) - velocity(&b);
        let normal = if u.dot(&direction) > 0.0 { -direction } else { direction };
        // parts of the velocity may cancel
        let size = velocity(&a).norm() + velocity(&b).norm();
        prop_assume!(-u.dot(&normal) > 1e-4 * size);
        let elastic = pair_impulse(&normal, &(k(&a) + k(&b)), &u, 1.0, 0.0);
        let share = clamp_scale(&clamped(&a), &clamped(&b), &elastic, &Vector3::zeros());
        prop_assert!((share - 1.0).abs() <= 1e-9, "{share} of an elastic impulse");
        let j = pair_impulse(&normal, &(k(&a) + k(&b)), &u, restitution, 0.0) * over;
        let share = clamp_scale(&clamped(&a), &clamped(&b), &j, &Vector3::zeros());
        let expected = (2.0 / ((1.0 + restitution) * over)).min(1.0);
        prop_assert!((share - expected).abs() <= 1e-9, "{share}, not {expected}");
    }
}

#[test]
fn an_elevator_may_lift_what_stands_on_it() {
    let mass = MassProperties::new(2.0, Vector3::repeat(0.3)).unwrap();
    let body = Body::Dynamic(mass);
    let lift = Body::Kinematic(Velocity { linear: Vector3::y(), ..Velocity::default() });
    let rest = Momentum::default();
    let rotation = UnitQuaternion::identity();
    let at = |body| ClampedBody { body, rotation: &rotation, momentum: &rest, arm: -Vector3::y() };
    let j = Vector3::y() * 2.0;
    let share = clamp_scale(&at(&body), &at(&lift), &j, &Vector3::zeros());
    assert!((share - 1.0).abs() < 1e-15, "{share}");
    // against a static floor, the same impulse would gain energy
    let share = clamp_scale(&at(&body), &at(&Body::Static), &j, &Vector3::zeros());
    assert_eq!(share, 0.0);
}
