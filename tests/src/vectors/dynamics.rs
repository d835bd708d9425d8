//! Rotation, energy fix and inertia.

use super::Worst;
use dynamics::{
    EnergyFix, Integrator, Load, MassMoments, MassProperties, Momentum, State, Velocity,
    energy_fix as fix, integrate, second_order_step,
};
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, UnitQuaternion, Vector3};
use serde::Deserialize;

type Vector = [f64; 3];
/// A matrix by rows.
type Matrix = [[f64; 3]; 3];

fn matrix(rows: &Matrix) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| rows[i][j])
}

fn rotation(rows: &Matrix) -> UnitQuaternion<f64> {
    UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix(rows)))
}

/// Some reference bodies have moments that violate the triangle inequality of solids.
fn body(inertia: Vector) -> MassProperties {
    MassProperties::artificial(1.0, inertia.into()).expect("the vectors' moments are positive")
}

/// The largest difference of the entries of two rotation matrices.
fn apart(a: &UnitQuaternion<f64>, b: &Matrix) -> f64 {
    (a.to_rotation_matrix().into_inner() - matrix(b)).abs().max()
}

/// The largest difference relative to the largest entry.
fn relative<const R: usize, const C: usize>(
    a: &nalgebra::SMatrix<f64, R, C>,
    b: &nalgebra::SMatrix<f64, R, C>,
) -> f64 {
    (a - b).abs().max() / b.abs().max()
}

fn mismatch(same: bool) -> f64 {
    if same { 0.0 } else { f64::INFINITY }
}

/// The branch that has the name `name` in the files.
fn named_branch(name: &str) -> Option<EnergyFix> {
    match name {
        "none" => Some(EnergyFix::Unneeded),
        "primary" => Some(EnergyFix::Primary),
        "fallback_max" => Some(EnergyFix::LargestInertia),
        "fallback_min" => Some(EnergyFix::SmallestInertia),
        _ => None,
    }
}

#[derive(Deserialize)]
struct EnergyFixes {
    cases: Vec<EnergyFixCase>,
}

#[derive(Deserialize)]
struct EnergyFixCase {
    name: String,
    #[serde(rename = "I0")]
    inertia: Vector,
    #[serde(rename = "R")]
    rotation: Matrix,
    #[serde(rename = "L")]
    momentum: Vector,
    #[serde(rename = "KE0")]
    target: f64,
    branch: String,
    #[serde(rename = "R_fixed")]
    fixed: Matrix,
    a: Option<f64>,
}

/// The energy and the orientation after the fix, and the branch taken (Su09 section 2).
pub(super) fn energy_fix(text: &str) -> Result<Worst, serde_json::Error> {
    let file: EnergyFixes = serde_json::from_str(text)?;
    let mut worst = Worst::new();
    for (i, case) in file.cases.iter().enumerate() {
        let what = |quantity: &str| format!("{} {i}, {quantity}", case.name);
        let mass = body(case.inertia);
        let momentum = case.momentum.into();
        let before = rotation(&case.rotation);
        let (after, branch) = fix(&mass, &before, &momentum, case.target);
        let energy = mass.rotational_energy(&after, &momentum);
        worst.compare(what("energy"), (energy / case.target - 1.0).abs(), 1e-13);
        let mut error = apart(&after, &case.fixed);
        if case.a.is_some_and(|a| a.abs() < 1e-14) {
            // a rotation in either direction reaches the energy: also accepts the reverse rotation
            let other = before * rotation(&case.fixed).inverse() * before;
            let other = other.to_rotation_matrix().into_inner();
            error = error.min((after.to_rotation_matrix().into_inner() - other).abs().max());
        }
        worst.compare(what("orientation"), error, 1e-10);
        worst.compare(what("branch"), mismatch(named_branch(&case.branch) == Some(branch)), 1.0);
    }
    Ok(worst)
}

#[derive(Deserialize)]
struct FreeRotations {
    cases: Vec<FreeRotationCase>,
}

#[derive(Deserialize)]
struct FreeRotationCase {
    name: String,
    #[serde(rename = "I0")]
    inertia: Vector,
    #[serde(rename = "R0")]
    start: Matrix,
    #[serde(rename = "L")]
    momentum: Vector,
    #[serde(rename = "KE")]
    energy: f64,
    times: Vec<f64>,
    #[serde(rename = "R_exact")]
    exact: Vec<Matrix>,
    dt: f64,
    first_order: Step,
    second_order: Step,
}

#[derive(Deserialize)]
struct Step {
    #[serde(rename = "R")]
    turned: Matrix,
    #[serde(rename = "R_fixed")]
    fixed: Matrix,
    branch: String,
}

/// The exact orientation, and one step at 30 Hz with the fix.
pub(super) fn free_rotation(text: &str) -> Result<Worst, serde_json::Error> {
    let file: FreeRotations = serde_json::from_str(text)?;
    let mut worst = Worst::new();
    for case in &file.cases {
        let what = |quantity: &str| format!("{}, {quantity}", case.name);
        let mass = body(case.inertia);
        let start = Isometry3::from_parts(Vector3::zeros().into(), rotation(&case.start));
        let momentum = Momentum { linear: Vector3::zeros(), angular: case.momentum.into() };

        let tight = Integrator::DormandPrince { tolerance: 1e-13 };
        let state = State { pose: start, momentum };
        for (time, expected) in case.times.iter().zip(&case.exact) {
            let error = integrate(&mass, &state, *time, |_, _| Load::default(), tight)
                .map_or(f64::INFINITY, |motion| apart(&motion.state.pose.rotation, expected));
            worst.compare(what(&format!("orientation at {time} s")), error, 1e-10);
        }

        let start = &start.rotation;
        let second = second_order_step(&mass, start, &momentum.angular, case.dt);
        let error = apart(&second, &case.second_order.turned);
        worst.compare(what("second-order step"), error, 1e-12);
        for (name, step) in [("first", &case.first_order), ("second", &case.second_order)] {
            let turned = rotation(&step.turned);
            let (fixed, branch) = fix(&mass, &turned, &momentum.angular, case.energy);
            worst.compare(what(&format!("{name}-order, fixed")), apart(&fixed, &step.fixed), 1e-10);
            let same = named_branch(&step.branch) == Some(branch);
            worst.compare(what(&format!("{name}-order, branch")), mismatch(same), 1.0);
        }
    }
    Ok(worst)
}

#[derive(Deserialize)]
struct Fragments {
    cases: Vec<FragmentCase>,
}

#[derive(Deserialize)]
struct FragmentCase {
    h: f64,
    density: f64,
    #[serde(rename = "voxel_centres")]
    voxel_centers: Vec<Vector>,
    parent: Piece,
    fragments: Vec<Piece>,
    momentum: Vector,
    angular_momentum_about_parent_com: Vector,
    kinetic_energy: f64,
}

#[derive(Deserialize)]
struct Piece {
    /// The cells; all cells for the parent.
    voxels: Option<Vec<usize>>,
    mass: f64,
    com: Vector,
    inertia: Matrix,
    v: Vector,
    w: Vector,
}

/// Mass properties of the pieces of a voxel solid, their velocities and the conserved quantities.
pub(super) fn fragments(text: &str) -> Result<Worst, serde_json::Error> {
    const TOLERANCE: f64 = 1e-11;
    let file: Fragments = serde_json::from_str(text)?;
    let mut worst = Worst::new();
    for (i, case) in file.cases.iter().enumerate() {
        let cell = |index: usize| {
            let center = Point3::from(case.voxel_centers[index]);
            MassMoments::cuboid(case.density * case.h.powi(3), &center, &Vector3::repeat(case.h))
        };
        let parent_center = Vector3::from(case.parent.com);
        let parent = Velocity { linear: case.parent.v.into(), angular: case.parent.w.into() };
        let (mut linear, mut angular, mut energy) = (Vector3::zeros(), Vector3::zeros(), 0.0);
        for (k, piece) in std::iter::once(&case.parent).chain(&case.fragments).enumerate() {
            let what = |quantity: &str| format!("case {i}, piece {k}, {quantity}");
            let all = || (0..case.voxel_centers.len()).collect();
            let cells = piece.voxels.clone().unwrap_or_else(all);
            let moments: MassMoments = cells.into_iter().map(cell).sum();
            let center = moments.center().coords;
            let tensor = matrix(&piece.inertia);
            worst.compare(what("mass"), (moments.mass / piece.mass - 1.0).abs(), TOLERANCE);
            worst.compare(what("centre"), relative(&center, &piece.com.into()), TOLERANCE);
            worst.compare(what("inertia"), relative(&moments.inertia(), &tensor), TOLERANCE);
            let Ok((mass, pose)) = moments.mass_properties() else {
                worst.compare(what("body"), f64::INFINITY, TOLERANCE);
                continue;
            };
            let back = mass.world_inertia(&pose.rotation);
            worst.compare(what("principal axes"), relative(&back, &tensor), TOLERANCE);
            let inherited =
                Velocity { linear: parent.at(&(center - parent_center)), angular: parent.angular };
            worst.compare(what("v"), relative(&inherited.linear, &piece.v.into()), TOLERANCE);
            worst.compare(what("w"), relative(&inherited.angular, &piece.w.into()), TOLERANCE);
            if piece.voxels.is_some() {
                let momentum = mass.momentum(&pose.rotation, &inherited);
                linear += momentum.linear;
                angular += momentum.angular + (center - parent_center).cross(&momentum.linear);
                energy += mass.kinetic_energy(&pose.rotation, &momentum);
            }
        }
        let what = |quantity: &str| format!("case {i}, sum of {quantity}");
        worst.compare(what("momentum"), relative(&linear, &case.momentum.into()), TOLERANCE);
        let expected = case.angular_momentum_about_parent_com.into();
        worst.compare(what("angular momentum"), relative(&angular, &expected), TOLERANCE);
        worst.compare(what("energy"), (energy / case.kinetic_energy - 1.0).abs(), TOLERANCE);
    }
    Ok(worst)
}
