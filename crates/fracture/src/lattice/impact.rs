//! An impact on a lattice (Ku07 section 3.2).

use nalgebra::Vector3;

use super::graph::Lattice;
use super::{Links, SolverLimits, Spread};
use crate::random::Random;

/// How links break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatticeImpactSettings {
    /// Compressive over tensile strength of a link: 1 compares the size of the force, as Ku07; with
    /// infinity only tension breaks links.
    pub compression: f64,
    /// Permanent loss of strength of a link that withstands an impact, as a share of the largest
    /// force that it carries in it. (Ku07 subtracts all of it at every solve, however many there
    /// are.)
    pub damage: f64,
    /// The share of its initial strength below which a link breaks without a force.
    pub least: f64,
    /// How a broken link weakens others.
    pub spread: Spread,
    /// Number of load steps of the impact.
    pub steps: usize,
    /// Limit of the solves of a step; links that still change then stay unchanged.
    pub rounds: usize,
    /// Relative residual of a solve.
    pub tolerance: f64,
    /// Steps of the conjugate gradients in a solve.
    pub iterations: usize,
    /// Seed of the links that weaken more.
    pub seed: u64,
}

impl Default for LatticeImpactSettings {
    fn default() -> Self {
        Self {
            compression: 1.0,
            damage: 0.5,
            least: 0.05,
            spread: Spread { share: 0.3, falloff: 0.7, least: 0.1, extra: 1.0 },
            steps: 1,
            rounds: 100,
            tolerance: 1e-6,
            iterations: 2000,
            seed: 0,
        }
    }
}

/// The effect of an impact.
#[derive(Clone, Debug, Default)]
pub struct LatticeImpact {
    /// The links that broke, in order.
    pub broken: Vec<u32>,
    /// Number of solves for multipliers.
    pub solves: usize,
    /// Total steps of the conjugate gradients.
    pub iterations: usize,
    /// The worst relative residual of a solve.
    pub residual: f64,
    /// Whether all links held at the end.
    pub quiet: bool,
    /// Force in each link at the last solve, N, positive in compression; 0 for broken links.
    pub forces: Vec<f64>,
}

impl Lattice {
    /// Applies forces, N, to the tetrahedra at rest and breaks links until all hold. Lost strength
    /// is permanent: a repetition of the impact finds a weaker lattice.
    ///
    /// # Panics
    /// If the number of forces differs from that of tetrahedra.
    pub fn impact(
        &mut self,
        forces: &[Vector3<f64>],
        breaking: &LatticeImpactSettings,
    ) -> LatticeImpact {
        assert_eq!(forces.len(), self.positions.len(), "a force for each tetrahedron");
        let mut impact =
            LatticeImpact { forces: vec![0.0; self.links.len()], ..LatticeImpact::default() };
        let mut random = Random::new(breaking.seed);
        let mut potential = vec![Vector3::zeros(); forces.len()];
        let mut carried = self.none_carried();
        let steps = breaking.steps.max(1);
        for step in 1..=steps {
            let share = step as f64 / steps as f64;
            let loads: Vec<_> = forces.iter().map(|force| force * share).collect();
            impact.quiet = false;
            for _ in 0..breaking.rounds {
                self.find_forces(&loads, breaking, &mut potential, &mut impact);
                let broken = self.break_links(&impact.forces, breaking, &mut carried);
                if broken.is_empty() {
                    impact.quiet = true;
                    break;
                }
                breaking.spread.apply(self, &broken, &mut random);
                impact.broken.extend(broken.iter().map(|(link, _)| link));
            }
        }
        impact
    }

    fn find_forces(
        &self,
        loads: &[Vector3<f64>],
        breaking: &LatticeImpactSettings,
        potential: &mut [Vector3<f64>],
        impact: &mut LatticeImpact,
    ) {
        let inverse: Vec<f64> = self
            .masses
            .iter()
            .zip(&self.fixed)
            .map(|(m, &fixed)| if fixed { 0.0 } else { 1.0 / m })
            .collect();
        let held: Vec<usize> = (0..self.links.len()).filter(|&l| self.strengths[l] > 0.0).collect();
        let ends: Vec<[u32; 2]> = held.iter().map(|&l| self.links[l].ends).collect();
        let links = Links { positions: &self.positions, inverse_masses: &inverse, ends: &ends };
        let limits =
            SolverLimits { tolerance: breaking.tolerance, max_iterations: breaking.iterations };
        let found = links.multipliers_from(potential, loads, limits);
        impact.forces.fill(0.0);
        for (&link, lambda) in held.iter().zip(found.lambda) {
            impact.forces[link] = lambda;
        }
        impact.solves += 1;
        impact.iterations += found.iterations;
        impact.residual = impact.residual.max(found.residual);
    }

    /// The largest loads of links before an impact, N: 0, and infinite for broken links.
    fn none_carried(&self) -> Vec<f64> {
        let carried = |&strength: &f64| if strength > 0.0 { 0.0 } else { f64::INFINITY };
        self.strengths.iter().map(carried).collect()
    }

    /// Breaks overloaded links, and weakens the others by the part of their load beyond the largest
    /// that each has carried in this impact; returns the links that broke, each with its load as a
    /// share of its initial strength.
    fn break_links(
        &mut self,
        forces: &[f64],
        breaking: &LatticeImpactSettings,
        carried: &mut [f64],
    ) -> Vec<(u32, f64)> {
        let mut broken = Vec::new();
        for (link, (&force, carried)) in forces.iter().zip(carried).enumerate() {
            let strength = self.strengths[link];
            if *carried == f64::INFINITY {
                continue;
            }
            let load = if force > 0.0 { force / breaking.compression } else { -force };
            let more = (load - *carried).max(0.0);
            *carried = carried.max(load);
            let left = strength - breaking.damage * more;
            if load > strength || left < breaking.least * self.whole[link] {
                self.strengths[link] = 0.0;
                *carried = f64::INFINITY;
                broken.push((link as u32, (load / self.whole[link]).min(1.0)));
            } else {
                self.strengths[link] = left;
            }
        }
        broken
    }
}
