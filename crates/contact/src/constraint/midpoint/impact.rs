//! Plastic impacts of a linkage.

use nalgebra::{Matrix6, Vector6};

use super::blocks::Blocks;
use super::held::{Act, Held, Rule, Stop};
use super::line::{Line, Move};
use super::link::{Link, RowBlocks, add, answer, sides, speed_of, still};
use super::linkage::Linkage;
use super::part::{End, Part};
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
        let lines = self.lines(stop, time);
        let mut fewest = usize::MAX;
        for _ in 0..self.rounds() {
            let Some(projected) = self.projected(&lines, blocks) else { return true };
            let wrong = self.wrong(&lines, &projected);
            if wrong.is_empty() {
                self.take_projected(&lines, projected);
                return true;
            }
            // block principal pivoting, as for the active set of a step
            let chosen = if wrong.len() < fewest { wrong.len() } else { 1 };
            fewest = wrong.len().min(fewest);
            for &(link, n) in &wrong[..chosen] {
                let act = &mut self.links[link].rows[n].act;
                *act = if *act == Act::Keeps { Act::Bound } else { Act::Keeps };
            }
        }
        false
    }

    /// Projects velocities so that the active rows stop, and removes the impulses of released
    /// limits. `None` if a diagonal block is singular.
    fn projected(
        &self,
        lines: &[Vec<(usize, Line)>],
        blocks: &mut Blocks<'_>,
    ) -> Option<Projected> {
        blocks.clear();
        for (i, part) in self.parts.iter().enumerate() {
            let rotation = part.pose.rotation.to_rotation_matrix().into_inner();
            let mut own = Matrix6::identity() * part.mass;
            own.fixed_view_mut::<3, 3>(3, 3).copy_from(&part.world_inertia(&rotation));
            blocks.add(i, i, &own);
        }
        let moves: Vec<Move> = self.parts.iter().map(|part| still(&part.pose)).collect();
        let inverses = self.inverses(&moves);
        for (n, (link, lines)) in self.links.iter().zip(lines).enumerate() {
            let mut rows = RowBlocks::new();
            let own = |line: &Line| answer(&inverses, &link.ends, line) * REGULARIZATION;
            link.active(lines).for_each(|(_, line)| rows.push(line, own(line)));
            rows.add_to(blocks, self.parts.len() + n, &link.ends);
        }
        if !blocks.factor() {
            return None;
        }
        let mut parts = self.parts.clone();
        let mut given = Vec::new();
        for (n, (link, lines)) in self.links.iter().zip(lines).enumerate() {
            for (row, line) in lines.iter().filter(|(row, _)| link.rows[*row].act == Act::Bound) {
                let back = -link.rows[*row].impulse;
                given.push(Given { link: n, row: *row, impulse: back });
                gain(&mut parts, link, line, back);
            }
        }
        // second pass: the regularisation leaves a small speed
        for _ in 0..2 {
            let speeds = [parts.iter().map(Part::velocity).collect(), self.props_velocities()];
            let mut right = vec![Vector6::zeros(); parts.len()];
            for (link, lines) in self.links.iter().zip(lines) {
                let mut own = Vector6::zeros();
                for (slot, (_, line)) in own.iter_mut().zip(link.active(lines)) {
                    *slot = -speed_of(line, &link.ends, &speeds);
                }
                right.push(own);
            }
            let x = blocks.solve(&right);
            for (n, (link, x)) in self.links.iter().zip(&x[parts.len()..]).enumerate() {
                for ((row, line), impulse) in link.active(&lines[n]).zip(x.iter()) {
                    given.push(Given { link: n, row: *row, impulse: *impulse });
                    gain(&mut parts, link, line, *impulse);
                }
            }
        }
        Some(Projected { parts, given })
    }

    /// The limits, by joint and row, that pull or are violated.
    fn wrong(&self, lines: &[Vec<(usize, Line)>], projected: &Projected) -> Vec<(usize, usize)> {
        let Projected { parts, given } = projected;
        let speeds = [parts.iter().map(Part::velocity).collect(), self.props_velocities()];
        let (fastest, spin) = self.scale(parts);
        let mut wrong = Vec::new();
        for (n, (link, lines)) in self.links.iter().zip(lines).enumerate() {
            for (row, line) in lines.iter().filter(|(row, _)| link.rows[*row].rule == Rule::Limit) {
                let held = &link.rows[*row];
                let own = given.iter().filter(|own| (own.link, own.row) == (n, *row));
                let pull = -(held.impulse + own.map(|own| own.impulse).sum::<f64>());
                let least = UNTOUCHED * if held.is_angular() { spin } else { fastest };
                let is_wrong = match held.act {
                    Act::Keeps => pull > UNTOUCHED * held.impulse,
                    Act::Bound => speed_of(line, &link.ends, &speeds) < -least,
                };
                if is_wrong {
                    wrong.push((n, *row));
                }
            }
        }
        wrong
    }

    /// Stores the velocities of a projection, with its work and reactions.
    fn take_projected(&mut self, lines: &[Vec<(usize, Line)>], projected: Projected) {
        self.parts = projected.parts;
        for Given { link: n, row, impulse } in projected.given {
            let link = &mut self.links[n];
            let Some((_, line)) = lines[n].iter().find(|(own, _)| *own == row) else { continue };
            for (end, force) in link.ends.iter().zip(&line.force) {
                if let End::Prop(k) = *end {
                    self.work -= impulse * force.dot(&self.props[k].velocity());
                }
            }
            add(&mut link.reaction, row, line, impulse);
        }
        for row in self.links.iter_mut().flat_map(|link| &mut link.rows) {
            if row.rule == Rule::Limit && row.act == Act::Bound {
                row.impulse = 0.0;
            }
        }
    }

    /// The constraint Jacobian of the rows of each joint that an impact stops, at the current
    /// poses.
    fn lines(&self, stop: Stop, time: f64) -> Vec<Vec<(usize, Line)>> {
        let moves: Vec<Move> = self.parts.iter().map(|part| still(&part.pose)).collect();
        let props: Vec<Move> = self.props.iter().map(|prop| still(&prop.at(time))).collect();
        let of = |link: &Link| {
            let sides = sides(link, &moves, &props);
            let chosen = link.rows.iter().enumerate().filter(|(_, row)| match row.rule {
                Rule::Always => true,
                Rule::Limit => stop == Stop::Limits && row.act == Act::Keeps,
                Rule::Motor { .. } => false,
            });
            chosen.map(|(n, row)| (n, row.line(&sides))).collect()
        };
        self.links.iter().map(of).collect()
    }

    /// Speeds of the bilateral rows of each joint.
    pub(super) fn rates(&self, time: f64) -> Vec<[f64; MAX_ROWS]> {
        let speeds = self.velocities();
        let of = |(link, lines): (&Link, Vec<(usize, Line)>)| {
            let mut rates = [0.0; MAX_ROWS];
            lines.iter().for_each(|(n, line)| rates[*n] = speed_of(line, &link.ends, &speeds));
            rates
        };
        self.links.iter().zip(self.lines(Stop::Joints, time)).map(of).collect()
    }

    /// Whether anything but this solver changed the velocities since the last step. The midpoint
    /// rule satisfies the constraints with the mean Jacobian of a step, so that the constraint
    /// velocities at its end are small but not zero.
    pub(super) fn was_struck(&self, joints: &[Joint]) -> bool {
        let (fastest, spin) = self.scale(&self.parts);
        self.links.iter().zip(self.rates(0.0)).any(|(link, rates)| {
            let last = &joints[link.number].last.rates;
            let differs = |(n, row): (usize, &Held)| {
                let scale = if row.is_angular() { spin } else { fastest };
                (rates[n] - last[n]).abs() > UNTOUCHED * scale
            };
            link.rows.iter().enumerate().any(differs)
        })
    }
    /// Scales of speeds, m/s and rad/s: those of the fastest body.
    fn scale(&self, parts: &[Part]) -> (f64, f64) {
        let speeds = parts.iter().map(|part| {
            let both = part.velocity();
            both.fixed_rows::<3>(0).norm() + self.size * both.fixed_rows::<3>(3).norm()
        });
        let fastest = speeds.fold(0.0, f64::max);
        (fastest, fastest / self.size)
    }
}

/// Velocities of a linkage after an impact.
struct Projected {
    parts: Vec<Part>,
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
    fn active<'a>(&'a self, lines: &'a [(usize, Line)]) -> impl Iterator<Item = &'a (usize, Line)> {
        lines.iter().filter(|(row, _)| self.rows[*row].act == Act::Keeps)
    }
}

/// Applies the impulse of a row to the bodies of a joint.
fn gain(parts: &mut [Part], link: &Link, line: &Line, impulse: f64) {
    for (end, force) in link.ends.iter().zip(&line.force) {
        if let End::Part(i) = *end {
            parts[i].gain(&(force * impulse));
        }
    }
}
