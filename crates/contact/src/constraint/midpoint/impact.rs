//! Plastic impacts of a linkage.

use nalgebra::{Matrix6, Vector6};

use super::blocks::Blocks;
use super::held::{Act, Held, Rule, Stop};
use super::line::{Line, Move};
use super::link::{Link, RowBlocks, SHARING, add, answer, sides, speed_of, still};
use super::linkage::Linkage;
use super::part::End;
use crate::constraint::{Joint, MAX_ROWS};

/// Speed of rows that the last step left untouched, relative to the fastest body.
const UNTOUCHED: f64 = 1e-9;

impl Linkage {
    /// Plastic impact: projects velocities so that the rows stop, at a time since the start, s.
    pub(super) fn stop(&mut self, stop: Stop, time: f64, blocks: &mut Blocks<'_>) {
        let lines = self.lines(stop, time);
        blocks.clear();
        for (i, part) in self.parts.iter().enumerate() {
            let rotation = part.pose.rotation.to_rotation_matrix().into_inner();
            let mut own = Matrix6::identity() * part.mass;
            own.fixed_view_mut::<3, 3>(3, 3).copy_from(&part.world_inertia(&rotation));
            blocks.add(i, i, &own);
        }
        let moves: Vec<Move> = self.parts.iter().map(|part| still(&part.pose)).collect();
        let inverses = self.inverses(&moves);
        for (n, (link, lines)) in self.links.iter().zip(&lines).enumerate() {
            let mut rows = RowBlocks::new();
            let own = |line: &Line| answer(&inverses, &link.ends, line) * SHARING;
            lines.iter().for_each(|(_, line)| rows.push(line, own(line)));
            rows.add_to(blocks, self.parts.len() + n, &link.ends);
        }
        if !blocks.factor() {
            return;
        }
        // second pass: the regularisation leaves a small speed
        for _ in 0..2 {
            let speeds = self.velocities();
            let mut right = vec![Vector6::zeros(); self.parts.len()];
            for (link, lines) in self.links.iter().zip(&lines) {
                let mut own = Vector6::zeros();
                for (slot, (_, line)) in own.iter_mut().zip(lines) {
                    *slot = -speed_of(line, &link.ends, &speeds);
                }
                right.push(own);
            }
            let x = blocks.solve(&right);
            for ((link, lines), x) in self.links.iter_mut().zip(&lines).zip(&x[self.parts.len()..])
            {
                for ((n, line), impulse) in lines.iter().zip(x.iter()) {
                    for (end, force) in link.ends.iter().zip(&line.force) {
                        match *end {
                            End::Part(i) => self.parts[i].gain(&(force * *impulse)),
                            End::Prop(k) => {
                                self.work -= impulse * force.dot(&self.props[k].velocity());
                            }
                        }
                    }
                    add(&mut link.reaction, *n, line, *impulse);
                }
            }
        }
    }

    /// The rows of each joint to be stopped, at the present poses.
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

    /// Whether anything else changed the velocities since the last step. The midpoint rule closes joints by the
    /// mean of both ends, so the velocities at one end differ from the constraint by a small amount.
    pub(super) fn was_struck(&self, joints: &[Joint]) -> bool {
        let speeds = self.parts.iter().map(|part| {
            let both = part.velocity();
            both.fixed_rows::<3>(0).norm() + self.size * both.fixed_rows::<3>(3).norm()
        });
        let fastest = speeds.fold(0.0, f64::max);
        let spin = fastest / self.size;
        self.links.iter().zip(self.rates(0.0)).any(|(link, rates)| {
            let last = &joints[link.number].last.rates;
            let differs = |(n, row): (usize, &Held)| {
                let scale = if row.is_angular() { spin } else { fastest };
                (rates[n] - last[n]).abs() > UNTOUCHED * scale
            };
            link.rows.iter().enumerate().any(differs)
        })
    }
}
