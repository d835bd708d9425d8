//! The rows of joints over a step, as discrete gradients (Gonzalez 1996, "Time integration and
//! discrete Hamiltonian systems").
//!
//! A body translates by `d` and rotates by the Cayley map of `t` (Simo and Wong 1991). A body-fixed
//! vector changes from `r0` to `r1` with `r1 - r0 = t x (r0 + r1) / 2` exactly. Every joint
//! constraint is a scalar product of such vectors or a distance. The row `J` of the means of both
//! ends changes its value by exactly `J (d, t)` for any rotation, so that the constraint forces do
//! no work.

use nalgebra::{Isometry3, Matrix3, Matrix6, Quaternion, UnitQuaternion, Vector3, Vector6};

/// The scalar that a row constrains.
#[derive(Clone, Copy, Debug)]
pub(super) enum ConstraintForm {
    /// Offset of `a` from `b` along an axis of `b` at the start.
    Straight(usize),
    /// Scalar product of a direction of `a` and one of `b`, each in the axes of its joint frame.
    Dot([Vector3<f64>; 2]),
    /// Offset of `a` from `b` along a direction fixed to `b`.
    Across(Vector3<f64>),
    /// Distance of both anchor points times a sign.
    Length(f64),
    /// Angle of `a` relative to `b` about the x axis of `b`.
    Turn,
}

/// Motion of a body over a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) shift: Vector3<f64>,
    /// Rotation vector; the rotation is its Cayley map.
    pub(super) turn: Vector3<f64>,
    pub(super) poses: [Isometry3<f64>; 2],
    pub(super) rotations: [Matrix3<f64>; 2],
    /// Derivative of the final rotation with respect to `turn`.
    pub(super) tangent: Matrix3<f64>,
}

/// A side of a joint at both ends of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointSide {
    turn: Vector3<f64>,
    tangent: Matrix3<f64>,
    places: [Vector3<f64>; 2],
    arms: [Vector3<f64>; 2],
    axes: [Matrix3<f64>; 2],
}

/// A row between two bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowGradient {
    /// Value at the end of the step.
    pub(super) value: f64,
    /// Momentum per unit impulse, linear and angular.
    pub(super) force: [Vector6<f64>; 2],
    /// Derivative of the value with respect to translation and rotation.
    pub(super) slope: [Vector6<f64>; 2],
}

/// Derivative of the joint forces on both bodies with respect to translations and rotations,
/// negated.
pub(super) type Stiffness = [[Matrix6<f64>; 2]; 2];

impl Move {
    pub(super) fn new(pose: &Isometry3<f64>, shift: Vector3<f64>, turn: Vector3<f64>) -> Self {
        let by = UnitQuaternion::new_normalize(Quaternion::from_parts(1.0, turn * 0.5));
        let rotation = UnitQuaternion::new_normalize((by * pose.rotation).into_inner());
        let place = pose.translation.vector + shift;
        Self::with(shift, turn, [*pose, Isometry3::from_parts(place.into(), rotation)])
    }

    /// The motion from one pose to another, less than half a turn away.
    pub(super) fn between(poses: [Isometry3<f64>; 2]) -> Self {
        let by = poses[1].rotation * poses[0].rotation.inverse();
        let shift = poses[1].translation.vector - poses[0].translation.vector;
        Self::with(shift, by.imag() * (2.0 / by.w), poses)
    }

    fn with(shift: Vector3<f64>, turn: Vector3<f64>, poses: [Isometry3<f64>; 2]) -> Self {
        let tangent =
            (Matrix3::identity() + turn.cross_matrix() * 0.5) / (1.0 + 0.25 * turn.norm_squared());
        let rotations = poses.map(|pose| pose.rotation.to_rotation_matrix().into_inner());
        Self { shift, turn, poses, rotations, tangent }
    }

    /// Translation and rotation stacked.
    pub(super) fn both(&self) -> Vector6<f64> {
        stacked(&self.shift, &self.turn)
    }
}

impl JointSide {
    /// The side of a joint with a frame in body coordinates.
    pub(super) fn new(own: &Move, frame: &Isometry3<f64>) -> Self {
        let local = frame.rotation.to_rotation_matrix().into_inner();
        let arms = own.rotations.map(|rotation| rotation * frame.translation.vector);
        let place = |n: usize| own.poses[n].translation.vector + arms[n];
        let Move { turn, tangent, .. } = *own;
        let axes = own.rotations.map(|rotation| rotation * local);
        Self { turn, tangent, places: [place(0), place(1)], arms, axes }
    }

    fn arm(&self) -> Vector3<f64> {
        (self.arms[0] + self.arms[1]) * 0.5
    }

    /// Derivative of a body-fixed vector `r` with respect to the rotation.
    fn carried(&self, r: &Vector3<f64>) -> Matrix3<f64> {
        -r.cross_matrix() * self.tangent
    }
}

/// Both vectors stacked.
pub(super) fn stacked(linear: &Vector3<f64>, angular: &Vector3<f64>) -> Vector6<f64> {
    Vector6::new(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
}

/// Adds to a 3 x 3 block of translations (0) or rotations (1).
fn add(matrix: &mut Matrix6<f64>, [row, column]: [usize; 2], block: &Matrix3<f64>) {
    let mut target = matrix.fixed_view_mut::<3, 3>(3 * row, 3 * column);
    target += block;
}

impl ConstraintForm {
    /// The row between sides `a` and `b` with an `impulse`; adds its geometric stiffness.
    pub(super) fn gradient(
        self,
        sides: [&JointSide; 2],
        impulse: f64,
        stiffness: &mut Stiffness,
    ) -> RowGradient {
        match self {
            Self::Straight(n) => {
                let axis = sides[1].axes[0].column(n).into_owned();
                straight(sides, &axis, impulse, stiffness)
            }
            Self::Dot(local) => dot(sides, &local, impulse, stiffness),
            Self::Across(local) => across(sides, &local, impulse, stiffness),
            Self::Length(sign) => length(sides, sign, impulse, stiffness),
            Self::Turn => turn(sides, impulse, stiffness),
        }
    }

    /// Value at the start (0) or end (1).
    pub(super) fn value(self, [a, b]: [&JointSide; 2], n: usize) -> f64 {
        let apart = a.places[n] - b.places[n];
        match self {
            Self::Straight(axis) => b.axes[0].column(axis).dot(&apart),
            Self::Dot([u, v]) => (a.axes[n] * u).dot(&(b.axes[n] * v)),
            Self::Across(axis) => (b.axes[n] * axis).dot(&apart),
            Self::Length(sign) => sign * apart.norm(),
            Self::Turn => b.axes[n].column(0).dot(&(a.turn - b.turn)),
        }
    }
}

fn straight(
    [a, b]: [&JointSide; 2],
    axis: &Vector3<f64>,
    impulse: f64,
    stiffness: &mut Stiffness,
) -> RowGradient {
    let force = axis.cross_matrix() * (0.5 * impulse);
    add(&mut stiffness[0][0], [1, 1], &(force * a.carried(&a.arms[1])));
    add(&mut stiffness[1][1], [1, 1], &(-force * b.carried(&b.arms[1])));
    RowGradient {
        value: axis.dot(&(a.places[1] - b.places[1])),
        force: [stacked(axis, &a.arm().cross(axis)), -stacked(axis, &b.arm().cross(axis))],
        slope: [
            stacked(axis, &a.carried(&a.arms[1]).tr_mul(axis)),
            -stacked(axis, &b.carried(&b.arms[1]).tr_mul(axis)),
        ],
    }
}

fn dot(
    [a, b]: [&JointSide; 2],
    local: &[Vector3<f64>; 2],
    impulse: f64,
    stiffness: &mut Stiffness,
) -> RowGradient {
    let [u, v] = [a.axes.map(|axes| axes * local[0]), b.axes.map(|axes| axes * local[1])];
    let [mean_u, mean_v] = [u, v].map(|ends| (ends[0] + ends[1]) * 0.5);
    let torque = mean_u.cross(&mean_v);
    // cross terms of both sides
    let by_a = -mean_v.cross_matrix() * a.carried(&u[1]) * (0.5 * impulse);
    let by_b = mean_u.cross_matrix() * b.carried(&v[1]) * (0.5 * impulse);
    for (sign, row) in [-1.0, 1.0].into_iter().zip(stiffness) {
        add(&mut row[0], [1, 1], &(by_a * sign));
        add(&mut row[1], [1, 1], &(by_b * sign));
    }
    let none = Vector3::zeros();
    RowGradient {
        value: u[1].dot(&v[1]),
        force: [stacked(&none, &torque), -stacked(&none, &torque)],
        slope: [
            stacked(&none, &a.carried(&u[1]).tr_mul(&v[1])),
            stacked(&none, &b.carried(&v[1]).tr_mul(&u[1])),
        ],
    }
}

fn across(
    [a, b]: [&JointSide; 2],
    local: &Vector3<f64>,
    impulse: f64,
    stiffness: &mut Stiffness,
) -> RowGradient {
    let axes = b.axes.map(|axes| axes * local);
    let axis = (axes[0] + axes[1]) * 0.5;
    let apart = [a.places[0] - b.places[0], a.places[1] - b.places[1]];
    // both forces act at the anchor point of `a`
    let reach = b.arm() + (apart[0] + apart[1]) * 0.5;
    let force = axis.cross_matrix() * (0.5 * impulse);
    let swept = a.carried(&a.arms[1]);
    let tilt = b.carried(&axes[1]) * (0.5 * impulse);
    add(&mut stiffness[0][0], [1, 1], &(force * swept));
    add(&mut stiffness[0][1], [0, 1], &-tilt);
    add(&mut stiffness[0][1], [1, 1], &(-a.arm().cross_matrix() * tilt));
    add(&mut stiffness[1][0], [1, 0], &-force);
    add(&mut stiffness[1][0], [1, 1], &(-force * swept));
    add(&mut stiffness[1][1], [1, 0], &force);
    add(&mut stiffness[1][1], [0, 1], &tilt);
    add(&mut stiffness[1][1], [1, 1], &(reach.cross_matrix() * tilt));
    let tilted = b.carried(&axes[1]).tr_mul(&apart[1]) - b.carried(&b.arms[1]).tr_mul(&axes[1]);
    RowGradient {
        value: axes[1].dot(&apart[1]),
        force: [stacked(&axis, &a.arm().cross(&axis)), -stacked(&axis, &reach.cross(&axis))],
        slope: [stacked(&axes[1], &swept.tr_mul(&axes[1])), stacked(&-axes[1], &tilted)],
    }
}

fn length(
    [a, b]: [&JointSide; 2],
    sign: f64,
    impulse: f64,
    stiffness: &mut Stiffness,
) -> RowGradient {
    let apart = [a.places[0] - b.places[0], a.places[1] - b.places[1]];
    let both = apart[0].norm() + apart[1].norm();
    let along = (apart[0] + apart[1]) * (sign / both);
    let at_end = apart[1] * (sign / apart[1].norm());
    let bend = (Matrix3::identity() - along * at_end.transpose()) * (sign * impulse / both);
    let force = along.cross_matrix() * (0.5 * impulse);
    for (s, (row, own)) in stiffness.iter_mut().zip([a, b]).enumerate() {
        let outer = [-1.0, 1.0][s];
        for (t, other) in [a, b].into_iter().enumerate() {
            let swept = bend * other.carried(&other.arms[1]);
            let inner = outer * [1.0, -1.0][t];
            add(&mut row[t], [0, 0], &(bend * inner));
            add(&mut row[t], [0, 1], &(swept * inner));
            add(&mut row[t], [1, 0], &(own.arm().cross_matrix() * bend * inner));
            add(&mut row[t], [1, 1], &(own.arm().cross_matrix() * swept * inner));
        }
        add(&mut row[s], [1, 1], &(force * own.carried(&own.arms[1]) * -outer));
    }
    RowGradient {
        value: sign * apart[1].norm(),
        force: [stacked(&along, &a.arm().cross(&along)), -stacked(&along, &b.arm().cross(&along))],
        slope: [
            stacked(&at_end, &a.carried(&a.arms[1]).tr_mul(&at_end)),
            -stacked(&at_end, &b.carried(&b.arms[1]).tr_mul(&at_end)),
        ],
    }
}

fn turn([a, b]: [&JointSide; 2], impulse: f64, stiffness: &mut Stiffness) -> RowGradient {
    let axes = b.axes.map(|axes| axes.column(0).into_owned());
    let axis = (axes[0] + axes[1]) * 0.5;
    let by = a.turn - b.turn;
    let tilt = b.carried(&axes[1]) * 0.5;
    add(&mut stiffness[0][1], [1, 1], &(tilt * -impulse));
    add(&mut stiffness[1][1], [1, 1], &(tilt * impulse));
    let none = Vector3::zeros();
    RowGradient {
        value: axis.dot(&by),
        force: [stacked(&none, &axis), -stacked(&none, &axis)],
        slope: [stacked(&none, &axis), stacked(&none, &(tilt.tr_mul(&by) - axis))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: [ConstraintForm; 5] = [
        ConstraintForm::Straight(1),
        ConstraintForm::Dot([Vector3::new(0.6, 0.0, 0.8), Vector3::new(0.0, 1.0, 0.0)]),
        ConstraintForm::Across(Vector3::new(0.0, 0.8, 0.6)),
        ConstraintForm::Length(-1.0),
        ConstraintForm::Turn,
    ];

    fn frames() -> [Isometry3<f64>; 2] {
        let at = |x: f64, turn: [f64; 3]| Isometry3::new(Vector3::new(x, 0.2, -0.3), turn.into());
        [at(0.4, [0.3, -0.2, 0.9]), at(-0.7, [-0.5, 0.4, 0.1])]
    }

    fn moves(x: &[Vector6<f64>; 2]) -> [Move; 2] {
        let start = [
            Isometry3::new(Vector3::new(1.0, 0.5, 0.0), Vector3::new(0.2, 0.7, -0.4)),
            Isometry3::new(Vector3::new(-0.5, 0.1, 0.3), Vector3::new(-0.6, 0.1, 0.5)),
        ];
        let body = |n: usize, first: usize| x[n].fixed_rows::<3>(first).into_owned();
        [0, 1].map(|n| Move::new(&start[n], body(n, 0), body(n, 3)))
    }

    fn gradient(
        form: ConstraintForm,
        x: &[Vector6<f64>; 2],
        impulse: f64,
    ) -> (RowGradient, Stiffness, f64) {
        let (moves, frames, mut stiffness) = (moves(x), frames(), Stiffness::default());
        let sides = [0, 1].map(|n| JointSide::new(&moves[n], &frames[n]));
        let sides = [&sides[0], &sides[1]];
        let gradient = form.gradient(sides, impulse, &mut stiffness);
        assert!(
            (gradient.value - form.value(sides, 1)).abs() < 1e-14
                || matches!(form, ConstraintForm::Turn)
        );
        (gradient, stiffness, form.value(sides, 0))
    }

    const X: [Vector6<f64>; 2] =
        [Vector6::new(0.1, -0.2, 0.3, 0.4, -0.3, 0.2), Vector6::new(0.0, 0.2, 0.1, -0.1, 0.5, 0.3)];

    #[test]
    fn rows_change_their_value_by_exactly_the_discrete_gradient() {
        for form in FORMS {
            let (gradient, _, start) = gradient(form, &X, 0.0);
            let computed: f64 = gradient.force.iter().zip(&X).map(|(row, x)| row.dot(x)).sum();
            let change = if matches!(form, ConstraintForm::Turn) {
                gradient.value
            } else {
                gradient.value - start
            };
            assert!((computed - change).abs() < 1e-14, "{form:?}: {computed} {change}");
        }
    }

    #[test]
    fn slopes_and_stiffness_are_derivatives() {
        let (impulse, step) = (1.7, 1e-6);
        for form in FORMS {
            let (gradient, stiffness, _) = gradient(form, &X, impulse);
            for side in 0..2 {
                for n in 0..6 {
                    let at = |sign: f64| {
                        let mut x = X;
                        x[side][n] += sign * step;
                        self::gradient(form, &x, impulse).0
                    };
                    let (more, less) = (at(1.0), at(-1.0));
                    let slope = (more.value - less.value) / (2.0 * step);
                    assert!((slope - gradient.slope[side][n]).abs() < 1e-8, "{form:?} {side} {n}");
                    for (other, row) in stiffness.iter().enumerate() {
                        let change = (more.force[other] - less.force[other]) / (2.0 * step);
                        let rest = (change * impulse + row[side].column(n)).amax();
                        assert!(rest < 1e-8, "{form:?} {other} {side} {n}: {rest}");
                    }
                }
            }
        }
    }
}
