//! Plastic impacts of a linkage.

use nalgebra::{Matrix6, Vector6};

use super::blocks::Blocks;
use super::body::{End, LinkageBody};
use super::joint_row::{JointRow, RowState, Rule, Stop};
use super::link::{Link, RowBlocks, add, delassus_diagonal, sides, speed_of, still};
use super::linkage::Linkage;
use super::row_gradient::{Move, RowGradient};
use crate::constraint::direct::REGULARIZATION;
use crate::constraint::{Joint, MAX_ROWS};

/// Change of constraint velocities since the last step, relative to the fastest body, below which
/// there was no impact.
const UNTOUCHED: f64 = 1e-9;

impl Linkage {
    /// Plastic impact at a time since the start, s: projects velocities so that the rows stop.
    /// Limits are unilateral: a limit takes back at most its impulse of the inner step; if that is
    /// not enough, the limit is released. Returns `false` if the active set of limits was not
    /// found, or the rows contradict each other.
    pub(super) fn stop(&mut self, stop: Stop, time: f64, blocks: &mut Blocks<'_>) -> bool {
        let gradients = self.gradients(stop, time);
        let mut fewest = usize::MAX;
        for _ in 0..self.rounds() {
            let Some(projected) = self.projected(&gradients, blocks) else { return true };
            let wrong = self.wrong(&gradients, &projected);
            if wrong.is_empty() {
                self.take_projected(&gradients, projected);
                return true;
            }
            // block principal pivoting, as for the active set of a step
            let chosen = if wrong.len() < fewest { wrong.len() } else { 1 };
            fewest = wrong.len().min(fewest);
            for &(link, n) in &wrong[..chosen] {
                let state = &mut self.links[link].rows[n].state;
                *state =
                    if *state == RowState::Active { RowState::AtBound } else { RowState::Active };
            }
        }
        false
    }

    /// Projects velocities so that the active rows stop, and removes the impulses of released
    /// limits. `None` if a diagonal block is singular.
    fn projected(
        &self,
        gradients: &[Vec<(usize, RowGradient)>],
        blocks: &mut Blocks<'_>,
    ) -> Option<Projected> {
        blocks.clear();
        for (i, body) in self.bodies.iter().enumerate() {
            let rotation = body.pose.rotation.to_rotation_matrix().into_inner();
            let mut own = Matrix6::identity() * body.mass;
            own.fixed_view_mut::<3, 3>(3, 3).copy_from(&body.world_inertia(&rotation));
            blocks.add(i, i, &own);
        }
        let moves: Vec<Move> = self.bodies.iter().map(|body| still(&body.pose)).collect();
        let inverses = self.inverses(&moves);
        for (n, (link, gradients)) in self.links.iter().zip(gradients).enumerate() {
            let mut rows = RowBlocks::new();
            let own = |gradient: &RowGradient| {
                delassus_diagonal(&inverses, &link.ends, gradient) * REGULARIZATION
            };
            link.active(gradients).for_each(|(_, gradient)| rows.push(gradient, own(gradient)));
            rows.add_to(blocks, self.bodies.len() + n, &link.ends);
        }
        if !blocks.factor() {
            return None;
        }
        let mut bodies = self.bodies.clone();
        let mut given = Vec::new();
        for (n, (link, gradients)) in self.links.iter().zip(gradients).enumerate() {
            for (row, gradient) in
                gradients.iter().filter(|(row, _)| link.rows[*row].state == RowState::AtBound)
            {
                let back = -link.rows[*row].impulse;
                given.push(Given { link: n, row: *row, impulse: back });
                gain(&mut bodies, link, gradient, back);
            }
        }
        // second pass: the regularisation leaves a small speed
        for _ in 0..2 {
            let speeds =
                [bodies.iter().map(LinkageBody::velocity).collect(), self.prescribed_velocities()];
            let mut right = vec![Vector6::zeros(); bodies.len()];
            for (link, gradients) in self.links.iter().zip(gradients) {
                let mut own = Vector6::zeros();
                for (slot, (_, gradient)) in own.iter_mut().zip(link.active(gradients)) {
                    *slot = -speed_of(gradient, &link.ends, &speeds);
                }
                right.push(own);
            }
            let x = blocks.solve(&right);
            for (n, (link, x)) in self.links.iter().zip(&x[bodies.len()..]).enumerate() {
                for ((row, gradient), impulse) in link.active(&gradients[n]).zip(x.iter()) {
                    given.push(Given { link: n, row: *row, impulse: *impulse });
                    gain(&mut bodies, link, gradient, *impulse);
                }
            }
        }
        Some(Projected { bodies, given })
    }

    /// The limits, by joint and row, that pull or are violated.
    fn wrong(
        &self,
        gradients: &[Vec<(usize, RowGradient)>],
        projected: &Projected,
    ) -> Vec<(usize, usize)> {
        let Projected { bodies, given } = projected;
        let speeds =
            [bodies.iter().map(LinkageBody::velocity).collect(), self.prescribed_velocities()];
        let (fastest, spin) = self.scale(bodies);
        let mut wrong = Vec::new();
        for (n, (link, gradients)) in self.links.iter().zip(gradients).enumerate() {
            for (row, gradient) in
                gradients.iter().filter(|(row, _)| link.rows[*row].rule == Rule::Limit)
            {
                let joint_row = &link.rows[*row];
                let own = given.iter().filter(|own| (own.link, own.row) == (n, *row));
                let pull = -(joint_row.impulse + own.map(|own| own.impulse).sum::<f64>());
                let least = UNTOUCHED * if joint_row.is_angular() { spin } else { fastest };
                let is_wrong = match joint_row.state {
                    RowState::Active => pull > UNTOUCHED * joint_row.impulse,
                    RowState::AtBound => speed_of(gradient, &link.ends, &speeds) < -least,
                };
                if is_wrong {
                    wrong.push((n, *row));
                }
            }
        }
        wrong
    }

    /// Stores the velocities of a projection, with its work and reactions.
    fn take_projected(&mut self, gradients: &[Vec<(usize, RowGradient)>], projected: Projected) {
        self.bodies = projected.bodies;
        for Given { link: n, row, impulse } in projected.given {
            let link = &mut self.links[n];
            let Some((_, gradient)) = gradients[n].iter().find(|(own, _)| *own == row) else {
                continue;
            };
            for (end, force) in link.ends.iter().zip(&gradient.force) {
                if let End::Prescribed(k) = *end {
                    self.work -= impulse * force.dot(&self.prescribed[k].velocity());
                }
            }
            add(&mut link.reaction, row, gradient, impulse);
        }
        for row in self.links.iter_mut().flat_map(|link| &mut link.rows) {
            if row.rule == Rule::Limit && row.state == RowState::AtBound {
                row.impulse = 0.0;
            }
        }
    }

    /// The constraint Jacobian of the rows of each joint that an impact stops, at the current
    /// poses.
    fn gradients(&self, stop: Stop, time: f64) -> Vec<Vec<(usize, RowGradient)>> {
        let moves: Vec<Move> = self.bodies.iter().map(|body| still(&body.pose)).collect();
        let prescribed: Vec<Move> =
            self.prescribed.iter().map(|body| still(&body.at(time))).collect();
        let of = |link: &Link| {
            let sides = sides(link, &moves, &prescribed);
            let chosen = link.rows.iter().enumerate().filter(|(_, row)| match row.rule {
                Rule::Bilateral => true,
                Rule::Limit => stop == Stop::Limits && row.state == RowState::Active,
                Rule::Motor { .. } => false,
            });
            chosen.map(|(n, row)| (n, row.gradient(&sides))).collect()
        };
        self.links.iter().map(of).collect()
    }

    /// Speeds of the bilateral rows of each joint.
    pub(super) fn rates(&self, time: f64) -> Vec<[f64; MAX_ROWS]> {
        let speeds = self.velocities();
        let of = |(link, gradients): (&Link, Vec<(usize, RowGradient)>)| {
            let mut rates = [0.0; MAX_ROWS];
            gradients
                .iter()
                .for_each(|(n, gradient)| rates[*n] = speed_of(gradient, &link.ends, &speeds));
            rates
        };
        self.links.iter().zip(self.gradients(Stop::Joints, time)).map(of).collect()
    }

    /// Whether anything but this solver changed the velocities since the last step. The midpoint
    /// rule satisfies the constraints with the mean Jacobian of a step, so that the constraint
    /// velocities at its end are small but not zero.
    pub(super) fn was_struck(&self, joints: &[Joint]) -> bool {
        let (fastest, spin) = self.scale(&self.bodies);
        self.links.iter().zip(self.rates(0.0)).any(|(link, rates)| {
            let last = &joints[link.number].last.rates;
            let differs = |(n, row): (usize, &JointRow)| {
                let scale = if row.is_angular() { spin } else { fastest };
                (rates[n] - last[n]).abs() > UNTOUCHED * scale
            };
            link.rows.iter().enumerate().any(differs)
        })
    }
    /// Scales of speeds, m/s and rad/s: those of the fastest body.
    fn scale(&self, bodies: &[LinkageBody]) -> (f64, f64) {
        let speeds = bodies.iter().map(|body| {
            let both = body.velocity();
            both.fixed_rows::<3>(0).norm() + self.size * both.fixed_rows::<3>(3).norm()
        });
        let fastest = speeds.fold(0.0, f64::max);
        (fastest, fastest / self.size)
    }
}

/// Velocities of a linkage after an impact.
struct Projected {
    bodies: Vec<LinkageBody>,
    /// In the order of application.
    given: Vec<Given>,
}

/// An impulse of a row.
struct Given {
    link: usize,
    row: usize,
    impulse: f64,
}

impl Link {
    /// The active rows.
    fn active<'a>(
        &'a self,
        gradients: &'a [(usize, RowGradient)],
    ) -> impl Iterator<Item = &'a (usize, RowGradient)> {
        gradients.iter().filter(|(row, _)| self.rows[*row].state == RowState::Active)
    }
}

/// Applies the impulse of a row to the bodies of a joint.
fn gain(bodies: &mut [LinkageBody], link: &Link, gradient: &RowGradient, impulse: f64) {
    for (end, force) in link.ends.iter().zip(&gradient.force) {
        if let End::Body(i) = *end {
            bodies[i].gain(&(force * impulse));
        }
    }
}
