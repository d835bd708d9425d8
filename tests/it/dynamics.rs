//! Properties of free flight, the energy fix, mass properties and the integrators.

use brisance_tests::properties;
use brisance_tests::strategies::{direction, mass, pose, rotation, vector};
use dynamics::{
    Body, EnergyFix, IntegrateError, Integrator, Load, MassError, MassMoments, MassProperties,
    Momentum, Order, Scheme, State, Velocity, advance, advance_all, energy_fix, integrate,
    second_order_step,
};
use nalgebra::{Isometry3, Matrix3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use proptest::prelude::*;

const FRAME: f64 = 1.0 / 30.0;

/// Advances a body: its mass, pose, momentum, the rotational energy to keep, and the time, s.
type Step = fn(&MassProperties, &Isometry3<f64>, &Momentum, f64, f64) -> Isometry3<f64>;

/// The library's step and that of Su09, each with its name and its order.
const STEPS: [(&str, i32, Step); 2] = [
    ("advance", 6, |mass, pose, momentum, _, dt| {
        advance(&Body::Dynamic(*mass), pose, momentum, dt)
    }),
    ("Su09", 2, |mass, pose, momentum, energy, dt| {
        let turned = second_order_step(mass, &pose.rotation, &momentum.angular, dt);
        let fixed = energy_fix(mass, &turned, &momentum.angular, energy).0;
        Isometry3::from_parts(pose.translation, fixed)
    }),
];

/// Bodies with an orientation and an angular momentum for spins from 0.01 to 60 rad/s.
fn spinning() -> impl Strategy<Value = (MassProperties, UnitQuaternion<f64>, Vector3<f64>)> {
    (mass(), rotation(), direction(), -2.0..=60f64.log10()).prop_map(|(mass, turn, axis, speed)| {
        let momentum = mass.angular_momentum(&turn, &(axis * 10f64.powf(speed)));
        (mass, turn, momentum)
    })
}

fn at_rest_in_place(turn: UnitQuaternion<f64>) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::identity(), turn)
}

fn spin(angular: Vector3<f64>) -> Momentum {
    Momentum { linear: Vector3::zeros(), angular }
}

/// Minimum and maximum rotational energy with this angular momentum.
fn energies(mass: &MassProperties, momentum: &Vector3<f64>) -> (f64, f64) {
    let twice = momentum.norm_squared();
    (0.5 * twice / mass.inertia().max(), 0.5 * twice / mass.inertia().min())
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The scheme of Su09 equals that of SSF08 with an energy fix.
    #[test]
    fn a_scheme_is_its_step_with_or_without_the_fix((mass, turn, momentum) in spinning()) {
        let body = Body::Dynamic(mass);
        let [bare, fixed] = [false, true].map(|energy_fix| {
            let scheme = Scheme { order: Order::Second, energy_fix };
            scheme.advance(&body, &at_rest_in_place(turn), &spin(momentum), FRAME).rotation
        });
        prop_assert_eq!(bare, second_order_step(&mass, &turn, &momentum, FRAME));
        let energy = mass.rotational_energy(&turn, &momentum);
        let kept = mass.rotational_energy(&fixed, &momentum) / energy - 1.0;
        prop_assert!(kept.abs() <= 1e-12, "{kept:e}");
    }

    /// Su09 section 2: at the frame rate, however long, fast or ill-conditioned.
    #[test]
    fn free_flight_keeps_its_energy_over_ten_thousand_frames(
        (mass, turn, momentum) in spinning(),
    ) {
        let energy = mass.rotational_energy(&turn, &momentum);
        for (step, _, advance) in STEPS {
            let mut pose = at_rest_in_place(turn);
            for frame in 0..10_000 {
                pose = advance(&mass, &pose, &spin(momentum), energy, FRAME);
                let now = mass.rotational_energy(&pose.rotation, &momentum);
                prop_assert!(
                    (now / energy - 1.0).abs() <= 1e-12,
                    "{step}, frame {frame}: {:e}", now / energy - 1.0
                );
            }
        }
    }
}

properties! {
    #[test]
    fn the_fix_reaches_every_energy_the_body_can_have(
        (mass, turn, momentum) in spinning(), fraction in 0.0..=1.0,
    ) {
        let (least, greatest) = energies(&mass, &momentum);
        let target = least + fraction * (greatest - least);
        let (fixed, _) = energy_fix(&mass, &turn, &momentum, target);
        let energy = mass.rotational_energy(&fixed, &momentum);
        // round-off of the orientation changes energy by up to the root of the inertia ratio
        let tolerance = 8.0 * f64::EPSILON * (greatest / least).sqrt() + 1e-14;
        prop_assert!((energy / target - 1.0).abs() <= tolerance, "{:e}", energy / target - 1.0);
    }

    #[test]
    fn out_of_reach_the_fix_goes_to_the_nearest_energy(
        (mass, turn, momentum) in spinning(), beyond in 1.001..=1e3, up in any::<bool>(),
    ) {
        let (least, greatest) = energies(&mass, &momentum);
        let (nearest, target) =
            if up { (greatest, greatest * beyond) } else { (least, least / beyond) };
        let (fixed, fix) = energy_fix(&mass, &turn, &momentum, target);
        let energy = mass.rotational_energy(&fixed, &momentum);
        prop_assert_eq!(fix, EnergyFix::Unreachable);
        prop_assert!((energy / nearest - 1.0).abs() <= 1e-12, "{:e}", energy / nearest - 1.0);
    }

    #[test]
    fn a_spin_about_a_principal_axis_is_exact(
        second in [0.5..=1.0, 0.5..=1.0, 0.5..=1.0], turn in rotation(), axis in 0..3_usize,
        speed in 0.0..=60.0,
    ) {
        let [x, y, z] = second;
        let mass = MassProperties::new(1.0, Vector3::new(y + z, z + x, x + y)).unwrap();
        let about = turn * Unit::new_unchecked(Vector3::ith(axis, 1.0));
        let momentum = mass.angular_momentum(&turn, &(*about * speed));
        let expected = UnitQuaternion::from_axis_angle(&about, speed * FRAME) * turn;
        let energy = mass.rotational_energy(&turn, &momentum);
        for (step, _, advance) in STEPS {
            let pose = at_rest_in_place(turn);
            let ours = advance(&mass, &pose, &spin(momentum), energy, FRAME);
            let error = (ours.rotation.inverse() * expected).imag().norm();
            prop_assert!(error <= 2e-14, "{step}: {error:e}");
        }
    }

    /// The closed form: nutation about L, then spin about the axis of symmetry.
    #[test]
    fn a_symmetric_top_precesses_as_it_must(
        across in 0.1..=1.0, along in 0.05..=1.9, turn in rotation(), omega in vector(8.0),
    ) {
        let mass = MassProperties::new(1.0, Vector3::new(across, across, along * across)).unwrap();
        let momentum = mass.angular_momentum(&turn, &omega);
        let own = turn.inverse_transform_vector(&omega).z;
        let expected = |t: f64| {
            UnitQuaternion::from_scaled_axis(momentum * (t / across))
                * turn
                * UnitQuaternion::from_scaled_axis(Vector3::z() * (own * (1.0 - along) * t))
        };
        let start = State { pose: at_rest_in_place(turn), momentum: spin(momentum) };
        let tight = Integrator::DormandPrince { tolerance: 1e-12 };
        let motion = integrate(&mass, &start, 1.0, |_, _| Load::default(), tight).unwrap();
        let error = motion.state.pose.rotation.angle_to(&expected(1.0));
        prop_assert!(error < 1e-9, "Dormand-Prince: {error:e}");

        let energy = mass.rotational_energy(&turn, &momentum);
        for (step, order, advance) in STEPS {
            let error = |frames: i32| {
                let dt = 0.25 / f64::from(frames);
                let frame = |pose, _| advance(&mass, &pose, &spin(momentum), energy, dt);
                let end = (0..frames).fold(start.pose, frame);
                end.rotation.angle_to(&expected(0.25))
            };
            let (coarse, fine) = (error(8), error(16));
            // half an order less, since higher-order terms still contribute; the round-off is
            // independent of the step
            let gain = 2f64.powi(order) / 2f64.sqrt();
            // for nearly equal moments, the energy, exact to round-off, hardly determines the orientation
            let round_off = 1e-9 + (1e-13_f64 / f64::abs(along - 1.0)).min(1e-6);
            prop_assert!(fine <= coarse / gain + round_off, "{step}: {coarse:e} to {fine:e}");
        }
    }

    #[test]
    fn motion_under_loads_runs_backwards(
        mass in mass(), pose in pose(), velocity in vector(10.0), axis in direction(),
        force in vector(10.0),
    ) {
        let velocity = Velocity { linear: velocity, angular: axis * 5.0 };
        let start = State { pose, momentum: mass.momentum(&pose.rotation, &velocity) };
        let load = |_: f64, state: &State| {
            // a spring between the origin and a point of the body
            let r = state.pose.rotation * Vector3::new(0.1, 0.2, -0.1);
            Load::at((force - (state.pose.translation.vector + r)) * mass.mass(), &r)
        };
        let tight = Integrator::DormandPrince { tolerance: 1e-12 };
        let there = integrate(&mass, &start, 0.2, load, tight).unwrap().state;
        let back = integrate(&mass, &there, -0.2, |t, s| load(0.2 + t, s), tight).unwrap().state;
        prop_assert!((back.pose.translation.vector - pose.translation.vector).norm() < 1e-8);
        prop_assert!(back.pose.rotation.angle_to(&pose.rotation) < 1e-6);
    }

    /// Br11's integrator: first order in everything.
    #[test]
    fn semi_implicit_euler_converges_to_the_same_motion(
        mass in mass(), pose in pose(), axis in direction(), force in vector(1.0),
    ) {
        let velocity = Velocity { linear: Vector3::zeros(), angular: axis };
        let start = State { pose, momentum: mass.momentum(&pose.rotation, &velocity) };
        let load = |_: f64, _: &State| Load { force, torque: Vector3::zeros() };
        let end = |integrator| integrate(&mass, &start, 0.1, load, integrator).unwrap().state;
        let exact = end(Integrator::DormandPrince { tolerance: 1e-12 });
        let error = |steps| {
            let ours = end(Integrator::SemiImplicitEuler { steps });
            let place = ours.pose.translation.vector - exact.pose.translation.vector;
            (place.norm(), ours.pose.rotation.angle_to(&exact.pose.rotation))
        };
        let (coarse, fine) = (error(64), error(128));
        prop_assert!(fine.0 <= 0.6 * coarse.0 + 1e-12, "place {coarse:?} to {fine:?}");
        prop_assert!(fine.1 <= 0.6 * coarse.1 + 1e-12, "turn {coarse:?} to {fine:?}");
    }

    #[test]
    fn a_kinematic_body_follows_given_poses(from in pose(), to in pose(), dt in 0.001..=1.0) {
        let body = Body::Kinematic(Velocity::between(&from, &to, dt));
        let reached = advance(&body, &from, &Momentum::default(), dt);
        prop_assert!((reached.translation.vector - to.translation.vector).norm() < 1e-13 * 20.0);
        prop_assert!(reached.rotation.angle_to(&to.rotation) < 1e-7);
        let off = (reached.rotation.to_rotation_matrix().into_inner()
            - to.rotation.to_rotation_matrix().into_inner()).abs().max();
        prop_assert!(off < 1e-14, "{off:e}");
    }

    /// Br11's two-dimensional body: `x += h v`, `r += h L / I`.
    #[test]
    fn a_planar_body_stays_in_its_plane_and_turns_evenly(
        mass in 0.1..=10.0, inertia in 0.01..=10.0, push in vector(5.0), arm in vector(1.0),
    ) {
        let body = Body::Dynamic(MassProperties::planar(mass, inertia).unwrap());
        let mut momentum = Momentum::default();
        momentum.apply_impulse(&push, &arm);
        let momentum = momentum.planar();
        let mut pose = Isometry3::identity();
        for _ in 0..30 {
            pose = advance(&body, &pose, &momentum, FRAME);
        }
        let angle = momentum.angular.z / inertia * 30.0 * FRAME;
        let expected = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle);
        prop_assert!((pose.rotation.inverse() * expected).imag().norm() < 1e-13 * (1.0 + angle.abs()));
        prop_assert_eq!((pose.rotation.i, pose.rotation.j, pose.translation.z), (0.0, 0.0, 0.0));
        let velocity = body.velocity(&pose.rotation, &momentum);
        prop_assert_eq!((velocity.angular.x, velocity.angular.y), (0.0, 0.0));
    }

    #[test]
    fn a_box_weighs_the_same_whole_in_tetrahedra_and_moved(
        size in [0.1..=2.0, 0.1..=2.0, 0.1..=2.0], pose in pose(), density in 0.1..=1e4,
    ) {
        let size = Vector3::from(size);
        let weight = density * size.product();
        let whole = MassMoments::cuboid(weight, &Point3::origin(), &size).moved(&pose);
        // each of the six faces as a fan of two triangles to a point off the box
        let apex = Point3::new(3.0, -1.0, 2.0);
        let corner = |s: [f64; 3]| pose * Point3::from(Vector3::from(s).component_mul(&size) * 0.5);
        let mut pieces = Vec::new();
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let at = |u: f64, v: f64| {
                    let mut s = [0.0; 3];
                    (s[axis], s[(axis + 1) % 3], s[(axis + 2) % 3]) = (side, u * side, v);
                    corner(s)
                };
                let [a, b, c, d] = [at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)];
                pieces.push(MassMoments::tetrahedron(density, &[apex, a, b, c]));
                pieces.push(MassMoments::tetrahedron(density, &[apex, a, c, d]));
            }
        }
        let sum: MassMoments = pieces.into_iter().sum();
        // moments about the origin of a box that is up to 20 m away
        let scale = weight * 1e3;
        prop_assert!((sum.mass - whole.mass).abs() <= 1e-12 * scale);
        prop_assert!((sum.first - whole.first).norm() <= 1e-12 * scale);
        prop_assert!((sum.second - whole.second).norm() <= 1e-11 * scale);

        let (mass, at) = whole.mass_properties().unwrap();
        prop_assert!((at.translation.vector - pose.translation.vector).norm() < 1e-12);
        let mut found: [f64; 3] = mass.inertia().into();
        let squares = size.component_mul(&size);
        let mut expected: [f64; 3] =
            ((Vector3::repeat(squares.sum()) - squares) * (weight / 12.0)).into();
        found.sort_by(f64::total_cmp);
        expected.sort_by(f64::total_cmp);
        for (a, b) in found.into_iter().zip(expected) {
            prop_assert!((a - b).abs() <= 1e-11 * weight * 100.0, "{a} for {b}");
        }
        let back = mass.world_inertia(&at.rotation);
        prop_assert!((back - whole.inertia()).norm() <= 1e-12 * whole.inertia().norm());
        prop_assert_eq!((whole - sum + sum).mass.is_sign_positive(), true);
    }

    #[test]
    fn columns_advance_to_the_same_bits_on_one_thread_and_on_two(
        states in prop::collection::vec((spinning(), vector(10.0)), 300..700),
    ) {
        let bodies: Vec<_> = states.iter().map(|((mass, _, _), _)| Body::Dynamic(*mass)).collect();
        let momenta: Vec<_> = states
            .iter()
            .map(|((_, _, angular), linear)| Momentum { linear: *linear, angular: *angular })
            .collect();
        let start: Vec<_> = states.iter().map(|((_, turn, _), _)| at_rest_in_place(*turn)).collect();
        let each: Vec<_> = (0..states.len())
            .map(|i| advance(&bodies[i], &start[i], &momenta[i], FRAME))
            .collect();
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut poses = start.clone();
            pool.install(|| {
                advance_all(&bodies, &mut poses, &momenta, FRAME);
            });
            prop_assert_eq!(&poses, &each);
        }
    }
}

/// Reference orientations by an independent method: rotation matrices by Gragg's extrapolated modified
/// midpoint rule (Hairer, Norsett and Wanner 1993, section II.9), 12th order, on `R' = R [I^-1 R^T L]`,
/// in steps of at most 0.05 rad.
fn extrapolated(
    mass: &MassProperties,
    turn: &UnitQuaternion<f64>,
    momentum: &Vector3<f64>,
    duration: f64,
) -> UnitQuaternion<f64> {
    const COLUMNS: usize = 6;
    let inertia = mass.inertia();
    let rate =
        |r: &Matrix3<f64>| r * (r.transpose() * momentum).component_div(&inertia).cross_matrix();
    // no solid has a higher angular velocity with this energy
    let fastest = (2.0 * mass.rotational_energy(turn, momentum) / inertia.min()).sqrt();
    let steps = (duration * fastest / 0.05).ceil().max(1.0);
    let dt = duration / steps;
    let mut at = turn.to_rotation_matrix().into_inner();
    for _ in 0..steps as u32 {
        let mut table = [Matrix3::zeros(); COLUMNS];
        for k in 0..COLUMNS {
            let n = 2 * (k + 1);
            let h = dt / n as f64;
            let (mut before, mut now) = (at, at + rate(&at) * h);
            for _ in 1..n {
                (before, now) = (now, before + rate(&now) * (2.0 * h));
            }
            let mut found = 0.5 * (now + before + rate(&now) * h);
            // row k of the tableau from row k - 1
            for (j, before) in table.iter_mut().enumerate().take(k) {
                let ratio = n as f64 / (2 * (k - j)) as f64;
                let finer = found + (found - *before) / (ratio * ratio - 1.0);
                *before = found;
                found = finer;
            }
            table[k] = found;
        }
        at = table[COLUMNS - 1];
    }
    UnitQuaternion::from_matrix(&at)
}

/// Principal moments of solids with a ratio of up to 350.
fn moments_to_350() -> impl Strategy<Value = MassProperties> {
    let moment = || (0.0..=350f64.log10()).prop_map(|e| 10f64.powf(-e));
    [moment(), moment(), moment()].prop_map(|[x, y, z]| {
        MassProperties::new(1.0, Vector3::new(y + z, z + x, x + y)).expect("a solid has them")
    })
}

/// Orientation and energy after a second at 30 Hz, degrees and relative.
fn errors_after_a_second(
    mass: &MassProperties,
    turn: &UnitQuaternion<f64>,
    momentum: &Vector3<f64>,
    advance: Step,
) -> (f64, f64) {
    let energy = mass.rotational_energy(turn, momentum);
    let frame = |pose, _| advance(mass, &pose, &spin(*momentum), energy, FRAME);
    let end = (0..30).fold(at_rest_in_place(*turn), frame).rotation;
    let exact = extrapolated(mass, turn, momentum, 1.0);
    let kept = mass.rotational_energy(&end, momentum) / energy - 1.0;
    (end.angle_to(&exact).to_degrees(), kept)
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_solid_that_makes_up_to_a_turn_a_frame_is_right_to_two_degrees_after_a_second(
        mass in moments_to_350(), turn in rotation(), axis in direction(), turns in 0.01..=1.0,
    ) {
        let spin = axis.normalize() * (turns * std::f64::consts::TAU / FRAME);
        let momentum = mass.angular_momentum(&turn, &spin);
        let [(_, _, advance), _] = STEPS;
        let (error, kept) = errors_after_a_second(&mass, &turn, &momentum, advance);
        prop_assert!(error <= 2.0, "{error} degrees");
        // near a principal axis no small rotation corrects the energy, which may drift by 1e-13 a frame
        prop_assert!(kept.abs() <= 1e-12, "{kept:e}");
    }

    /// Ten revolutions a frame: the number of inner steps grows, not their length.
    #[test]
    fn a_faster_spin_is_no_further_off_for_its_turns(
        mass in moments_to_350(), turn in rotation(), axis in direction(),
    ) {
        let spin = axis.normalize() * (10.0 * std::f64::consts::TAU / FRAME);
        let momentum = mass.angular_momentum(&turn, &spin);
        let momenta = Momentum { linear: Vector3::zeros(), angular: momentum };
        let frame = advance(&Body::Dynamic(mass), &at_rest_in_place(turn), &momenta, FRAME);
        let exact = extrapolated(&mass, &turn, &momentum, FRAME);
        let error = frame.rotation.angle_to(&exact).to_degrees();
        prop_assert!(error <= 1.0, "{error} degrees");
    }
}

/// Bodies for which a fourth-order step on the rotation group has errors of up to 130 degrees.
#[test]
fn fast_boxes_and_plates_keep_their_orientation() {
    for (size, omega) in [
        // that step has an error of 68 degrees
        ([0.02, 0.5, 3.0], [30.0, 1.0, 20.0]),
        ([0.1, 0.2, 0.4], [3.0, 20.0, 1.0]),
        ([0.02, 1.0, 1.0], [1.0, 2.0, 0.5]),
        ([0.02, 1.0, 1.2], [10.0, 20.0, 5.0]),
    ] {
        let body =
            MassMoments::cuboid(1.0, &Point3::origin(), &Vector3::from(size)).mass_properties();
        let (mass, pose) = body.unwrap();
        let momentum = mass.angular_momentum(&pose.rotation, &Vector3::from(omega));
        let errors = STEPS.map(|(_, _, advance)| {
            errors_after_a_second(&mass, &pose.rotation, &momentum, advance).0
        });
        assert!(errors[0] <= 0.1, "{size:?}: {errors:?} degrees");
        assert!(errors[1] > 10.0 * errors[0], "{size:?}: {errors:?} degrees");
    }
}

/// Half the step leaves at most a quarter of the error with Su09's step, and a sixty-fourth with the
/// library's. The error may be smaller, since the fix removes its energy component.
#[test]
fn orientation_converges_at_the_order_of_the_step() {
    let mass = MassProperties::new(1.0, Vector3::new(0.3, 0.5, 0.7)).unwrap();
    let turn = UnitQuaternion::from_euler_angles(0.3, -0.8, 1.9);
    let momentum = mass.angular_momentum(&turn, &Vector3::new(3.0, 5.0, -2.0));
    let energy = mass.rotational_energy(&turn, &momentum);
    let exact = extrapolated(&mass, &turn, &momentum, 1.0);
    for (step, order, advance) in STEPS {
        let error = |steps: i32| {
            let dt = 1.0 / f64::from(steps);
            let frame = |pose, _| advance(&mass, &pose, &spin(momentum), energy, dt);
            let end = (0..steps).fold(at_rest_in_place(turn), frame);
            end.rotation.angle_to(&exact)
        };
        // below the angle of subdivision into inner steps, and above round-off
        let errors = [12, 24, 48].map(error);
        for pair in errors.windows(2) {
            let ratio = pair[0] / pair[1];
            assert!(ratio > 0.8 * 2f64.powi(order), "{step}: {errors:?}");
        }
    }
}
/// Each branch, from states that certainly reach it.
#[test]
fn every_branch_of_the_fix_is_taken_where_it_must() {
    let mass = MassProperties::new(1.0, Vector3::new(2.0, 4.0, 5.0)).unwrap();
    let sphere = MassProperties::new(1.0, Vector3::repeat(1.0)).unwrap();
    let top = MassProperties::new(1.0, Vector3::new(2.0, 2.0, 3.0)).unwrap();
    let turn = UnitQuaternion::from_euler_angles(0.4, -1.1, 2.0);
    let energy = |mass: &MassProperties, l: Vector3<f64>| {
        mass.rotational_energy(&UnitQuaternion::identity(), &l)
    };
    let skew = Vector3::new(0.6, 0.3, 0.7);
    for (what, body, l, ratio, expected) in [
        ("right already", mass, skew, 1.0, EnergyFix::Unneeded),
        ("wrong by less than round-off", mass, skew, 1.0 + 4e-16, EnergyFix::Unneeded),
        ("a little too much", mass, skew, 0.99, EnergyFix::Primary),
        ("a little too little", mass, skew, 1.01, EnergyFix::Primary),
        ("too little by far", mass, skew, 1.56, EnergyFix::SmallestInertia),
        ("on the axis of least inertia", mass, Vector3::x(), 0.7, EnergyFix::LargestInertia),
        ("on the middle axis, too much", mass, Vector3::y(), 0.9, EnergyFix::LargestInertia),
        ("on the middle axis, too little", mass, Vector3::y(), 1.2, EnergyFix::SmallestInertia),
        ("on the axis of most inertia", mass, Vector3::z(), 1.2, EnergyFix::SmallestInertia),
        ("already at the least", mass, Vector3::z(), 0.9, EnergyFix::Unreachable),
        ("already at the most", mass, Vector3::x(), 1.1, EnergyFix::Unreachable),
        ("below the least", mass, skew, 0.1, EnergyFix::Unreachable),
        ("sphere by round-off", sphere, skew, 1.0 + 2e-15, EnergyFix::Unneeded),
        ("sphere", sphere, skew, 0.9, EnergyFix::Unreachable),
        ("top", top, skew, 1.02, EnergyFix::Primary),
        ("top on its equator, too much", top, Vector3::x(), 0.8, EnergyFix::LargestInertia),
        ("top on its equator, too little", top, Vector3::x(), 1.1, EnergyFix::Unreachable),
    ] {
        let target = energy(&body, l) * ratio;
        // in world axes, to include round-off
        let (fixed, fix) = energy_fix(&body, &turn, &(turn * l), target);
        assert_eq!(fix, expected, "{what}");
        if fix != EnergyFix::Unreachable {
            let error = body.rotational_energy(&fixed, &(turn * l)) / target - 1.0;
            assert!(error.abs() <= 2e-14, "{what}: {error:e}");
        }
    }
}

#[test]
fn nothing_becomes_nan_from_zero_tiny_or_huge_numbers() {
    let sizes = [0.0, 5e-324, 1e-310, 1e-160, 1e-12, 1.0, 1e12];
    let moments = [1e-12, 1.0, 1e12];
    for inertia in moments {
        for shape in [[1.0, 1.0, 1.0], [1e-4, 1.0, 1.0], [0.5, 0.8, 1.0]] {
            let mass = MassProperties::new(1e-12, Vector3::from(shape) * inertia).unwrap();
            for size in sizes {
                for axis in
                    [Vector3::x(), Vector3::new(1.0, -1.0, 1e-9), Vector3::new(0.3, 2.0, -1.0)]
                {
                    let momentum = Momentum { linear: axis * size, angular: axis * size };
                    let energy = mass.rotational_energy(&UnitQuaternion::identity(), &axis) * size;
                    for (step, _, advance) in STEPS {
                        let pose = Isometry3::identity();
                        let pose = advance(&mass, &pose, &momentum, energy * size, FRAME);
                        let norm = pose.rotation.norm();
                        assert!((norm - 1.0).abs() < 1e-15, "{inertia} {size} {step}: {norm}");
                        assert!(pose.translation.vector.iter().all(|x| x.is_finite()));
                    }
                    for target in [0.0, 5e-324, 1.0, 1e300, -1.0, f64::NAN, f64::INFINITY] {
                        let turn = UnitQuaternion::identity();
                        let (turn, _) = energy_fix(&mass, &turn, &momentum.angular, target);
                        assert!((turn.norm() - 1.0).abs() < 1e-15, "{inertia} {size} {target}");
                    }
                }
            }
        }
    }
}

#[test]
fn masses_that_no_body_has_are_refused_each_for_its_reason() {
    let unit = Vector3::repeat(1.0);
    for mass in [0.0, -1.0, 1e-310, f64::NAN, f64::INFINITY] {
        let refusals = [MassProperties::new(mass, unit), MassProperties::artificial(mass, unit)];
        for refusal in refusals {
            assert!(matches!(refusal, Err(MassError::Mass { .. })), "{mass}: {refusal:?}");
        }
        assert!(matches!(
            MassProperties::from_inertia(mass, &Matrix3::identity()),
            Err(MassError::Mass { .. })
        ));
    }
    for moment in [0.0, -1.0, 1e-310, f64::NAN] {
        let inertia = Vector3::new(1.0, moment, 1.0);
        for refusal in [MassProperties::new(1.0, inertia), MassProperties::artificial(1.0, inertia)]
        {
            assert!(matches!(refusal, Err(MassError::Inertia { .. })), "{moment}: {refusal:?}");
        }
    }
    let locked = Vector3::new(1.0, f64::INFINITY, 1.0);
    assert!(matches!(MassProperties::new(1.0, locked), Err(MassError::Inertia { .. })));
    assert!(MassProperties::artificial(1.0, locked).is_ok());
    let impossible = Vector3::new(1.0, 1.0, 2.1);
    assert!(matches!(MassProperties::new(1.0, impossible), Err(MassError::Triangle { .. })));
    assert!(MassProperties::artificial(1.0, impossible).is_ok());
    let plate = MassProperties::new(1.0, Vector3::new(0.1, 0.2, 0.1 + 0.2));
    assert!(plate.is_ok(), "a flat body meets the bound");

    let one_point = MassMoments::point(1.0, &Point3::new(1.0, 2.0, 3.0));
    assert!(matches!(one_point.mass_properties(), Err(MassError::Inertia { .. })));
    assert!(matches!(MassMoments::default().mass_properties(), Err(MassError::Mass { .. })));
}

#[test]
fn integrators_refuse_what_they_cannot_do() {
    let mass = MassProperties::new(1.0, Vector3::repeat(1.0)).unwrap();
    let start = State { pose: Isometry3::identity(), momentum: spin(Vector3::z()) };
    let run = |duration, integrator| {
        integrate(&mass, &start, duration, |_, _| Load::default(), integrator)
    };
    let good = Integrator::DormandPrince { tolerance: 1e-6 };
    assert!(matches!(run(f64::NAN, good), Err(IntegrateError::Duration { .. })));
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refusal = run(1.0, Integrator::DormandPrince { tolerance });
        assert!(matches!(refusal, Err(IntegrateError::Tolerance { .. })), "{tolerance}");
    }
    let tiny = MassProperties::new(1e-310, Vector3::repeat(1.0)).unwrap_err().to_string();
    assert!(tiny.ends_with("not 1e-310 kg"), "{tiny}");
    let none = Integrator::SemiImplicitEuler { steps: 0 };
    assert_eq!(run(1.0, none), Err(IntegrateError::NoSteps));
    let bad = |_: f64, _: &State| Load { force: Vector3::repeat(f64::NAN), ..Load::default() };
    let stuck = integrate(&mass, &start, 1.0, bad, good);
    assert!(matches!(stuck, Err(IntegrateError::Stuck { .. })), "{stuck:?}");
    let euler = Integrator::SemiImplicitEuler { steps: 4 };
    let after_one = IntegrateError::NotFinite { time: 0.25 };
    assert_eq!(integrate(&mass, &start, 1.0, bad, euler), Err(after_one));
    let lost = State { momentum: spin(Vector3::z() * f64::INFINITY), ..start };
    for integrator in [good, euler] {
        let found = integrate(&mass, &lost, 1.0, |_, _| Load::default(), integrator);
        assert_eq!(found, Err(IntegrateError::NotFinite { time: 0.0 }));
    }
    assert_eq!(run(0.0, good).map(|motion| motion.state), Ok(start));
}

/// The bound of Ku07: a tighter tolerance takes more steps and gives smaller errors.
#[test]
fn a_tighter_tolerance_comes_closer() {
    let mass = MassProperties::new(1.0, Vector3::new(0.3, 0.7, 0.9)).unwrap();
    let start = State { pose: Isometry3::identity(), momentum: spin(Vector3::new(0.1, 5.0, 0.1)) };
    let end = |tolerance| {
        let integrator = Integrator::DormandPrince { tolerance };
        integrate(&mass, &start, 2.0, |_, _| Load::default(), integrator).unwrap()
    };
    let exact = end(1e-14);
    let mut before = (0, f64::INFINITY);
    for tolerance in [1e-3, 1e-5, 1e-7, 1e-9] {
        let motion = end(tolerance);
        let error = motion.state.pose.rotation.angle_to(&exact.state.pose.rotation);
        assert!(motion.steps > before.0 && error < before.1, "{tolerance:e}: {error:e}");
        assert!(error < 1e4 * tolerance, "{tolerance:e}: {error:e}");
        before = (motion.steps, error);
    }
}

/// All orientations of a cube have the same energy except for round-off, which must not rotate it.
#[test]
fn a_cube_that_was_sampled_turns_as_its_velocity_says() {
    let inertia = Vector3::new(0.053333333333333545, 0.053333333333333385, 0.05333333333333356);
    let mass = MassProperties::new(8.0, inertia).unwrap();
    for k in 0..1000 {
        let size = 10f64.powf(-18.0 + 0.016 * f64::from(k));
        let angular = Vector3::new(-0.8379, 3.0767, 5.9626 + 0.01 * f64::from(k)) * size;
        let momentum = Momentum { angular, ..Momentum::default() };
        let dt = 1.0 / 30.0;
        let start = Isometry3::rotation(Vector3::new(0.3, 0.1, -0.2));
        let end = advance(&Body::Dynamic(mass), &start, &momentum, dt);
        let exact = angular.norm() / 0.0533333333333335 * dt;
        let turned = start.rotation.angle_to(&end.rotation);
        assert!((turned - exact).abs() <= 2e-6, "{turned} for {exact}");
    }
}
