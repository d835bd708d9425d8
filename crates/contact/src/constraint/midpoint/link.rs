//! A joint of a linkage with its rows.

use nalgebra::{Isometry3, Matrix3, Matrix6, Vector3, Vector6};

use super::blocks::Blocks;
use super::body::End;
use super::joint_row::{JointRow, Rule};
use super::row_gradient::{JointSide, Move, RowGradient, Stiffness};
use crate::constraint::Reaction;

/// A joint of a linkage.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) number: usize,
    pub(super) ends: [End; 2],
    pub(super) frames: [Isometry3<f64>; 2],
    pub(super) rows: Vec<JointRow>,
    pub(super) reaction: Reaction,
}

impl Link {
    /// Whether it has a limit or a motor.
    pub(super) fn is_bounded(&self) -> bool {
        self.rows.iter().any(|row| row.rule != Rule::Bilateral)
    }
}

impl JointRow {
    pub(super) fn gradient(&self, sides: &[JointSide; 2]) -> RowGradient {
        self.form.gradient([&sides[0], &sides[1]], self.impulse, &mut Stiffness::default())
    }
}

/// The active rows of a joint as a block.
pub(super) struct RowBlocks {
    slopes: [Matrix6<f64>; 2],
    forces: [Matrix6<f64>; 2],
    own: Matrix6<f64>,
    pub(super) count: usize,
}

impl RowBlocks {
    pub(super) fn new() -> Self {
        let [slopes, forces] = [[Matrix6::zeros(); 2]; 2];
        Self { slopes, forces, own: Matrix6::identity(), count: 0 }
    }

    /// Adds an active row; a joint has at most six.
    pub(super) fn push(&mut self, gradient: &RowGradient, own: f64) {
        let n = self.count;
        self.count += 1;
        if n >= 6 {
            return;
        }
        for side in 0..2 {
            self.slopes[side].set_row(n, &gradient.slope[side].transpose());
            self.forces[side].set_column(n, &-gradient.force[side]);
        }
        self.own[(n, n)] = own;
    }

    pub(super) fn add_to(&self, blocks: &mut Blocks<'_>, node: usize, ends: &[End; 2]) {
        blocks.add(node, node, &self.own);
        for (side, end) in ends.iter().enumerate() {
            if let End::Body(i) = *end {
                blocks.add(node, i, &self.slopes[side]);
                blocks.add(i, node, &self.forces[side]);
            }
        }
    }
}

pub(super) fn still(pose: &Isometry3<f64>) -> Move {
    Move::new(pose, Vector3::zeros(), Vector3::zeros())
}

pub(super) fn sides(link: &Link, moves: &[Move], prescribed: &[Move]) -> [JointSide; 2] {
    [0, 1].map(|side| {
        let own = match link.ends[side] {
            End::Body(i) => &moves[i],
            End::Prescribed(k) => &prescribed[k],
        };
        JointSide::new(own, &link.frames[side])
    })
}

/// Diagonal of the Delassus operator, `J M^-1 J^T`.
pub(super) fn delassus_diagonal(
    inverses: &[(f64, Matrix3<f64>)],
    ends: &[End; 2],
    gradient: &RowGradient,
) -> f64 {
    let of = |(end, row): (&End, &Vector6<f64>)| {
        let End::Body(i) = *end else { return 0.0 };
        let (mass, inertia) = &inverses[i];
        let (linear, angular) = (row.fixed_rows::<3>(0), row.fixed_rows::<3>(3));
        linear.norm_squared() * mass + angular.dot(&(inertia * angular))
    };
    ends.iter().zip(&gradient.force).map(of).sum()
}

/// `J v`.
pub(super) fn speed_of(
    gradient: &RowGradient,
    ends: &[End; 2],
    [bodies, prescribed]: &[Vec<Vector6<f64>>; 2],
) -> f64 {
    let of = |(end, row): (&End, &Vector6<f64>)| match *end {
        End::Body(i) => row.dot(&bodies[i]),
        End::Prescribed(k) => row.dot(&prescribed[k]),
    };
    ends.iter().zip(&gradient.force).map(of).sum()
}

/// Adds the impulse of the `n`-th row to a reaction.
pub(super) fn add(reaction: &mut Reaction, n: usize, gradient: &RowGradient, impulse: f64) {
    let [linear, angular] =
        [0, 3].map(|first| gradient.force[0].fixed_rows::<3>(first).into_owned());
    reaction.impulses[n] += impulse;
    reaction.linear += linear * impulse;
    if linear == Vector3::zeros() {
        reaction.angular += angular * impulse;
    }
}
