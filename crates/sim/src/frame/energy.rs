//! The bound on the energy of a frame.
//!
//! Collisions, rotation and the velocity pass add no energy. The position pass can, and Su09 does
//! not bound it: a body on the ground is displaced differently from its mean velocity, and may gain
//! more potential energy than its kinetic energy covers. Only islands in contact with a static or
//! kinematic body can gain energy this way, since impulses between moving bodies do not move their
//! common center of mass. Each such island therefore has its own bound.
//!
//! Bodies held by joints alone conserve their energy without it
//! ([`contact::constraint::Linkages`]).

use contact::{Frame, Islands};
use dynamics::Velocity;
use nalgebra::Isometry3;

use crate::World;

/// The energy bound of each island of touching bodies, J.
pub(crate) struct EnergyBound {
    islands: Islands,
    budget: Vec<f64>,
    /// Energy dissipated by the collisions of the frame, available to the push-out.
    dissipated: Vec<f64>,
}

impl EnergyBound {
    /// The current energy of each island, after collisions whose dissipation is `total`, J.
    pub(crate) fn new(world: &World, islands: Islands, total: f64) -> Self {
        let budget = sums(&islands, |i| world.kinetic_energy_of(i) + world.potential_energy_of(i));
        let mut dissipated = sums(&islands, |i| world.flights[i].dissipated);
        // dents and pieces used a part of it
        let all: f64 = dissipated.iter().sum();
        let share = if all > total { (total / all).max(0.0) } else { 1.0 };
        dissipated.iter_mut().for_each(|dissipated| *dissipated *= share);
        Self { islands, budget, dissipated }
    }

    /// Limits the rise of grounded islands to `end` by their energy: their own, the dissipation of
    /// their collisions, and the work of forces. Islands lifted by kinematic bodies or motors are
    /// exempt. Then limits the push-out `push` by the remaining energy, with the `work` of
    /// kinematic bodies on each body, J. Returns the part of the collision energy that was spent,
    /// J.
    pub(crate) fn bound_positions(
        &mut self,
        world: &World,
        work: &[f64],
        end: &mut [Isometry3<f64>],
        push: &mut [Velocity],
    ) -> f64 {
        let height = |x: &[Isometry3<f64>]| {
            sums(&self.islands, |i| -world.weight(i).dot(&x[i].translation.vector))
        };
        let (start, risen) = (height(&world.poses), height(end));
        let lift = sums(&self.islands, |i| -world.weight(i).dot(&push[i].linear));
        let force = |i: usize| world.force_work(i, [&world.poses[i], &end[i]]);
        let given = sums(&self.islands, |i| force(i) + work[i]);
        let islands = self.islands.of_bodies();
        for (i, island) in islands.iter().enumerate() {
            let Some(island) = *island else { continue };
            let k = island as usize;
            // a negative value is round-off, and would move a sinking body far beyond its end
            let room = (self.budget[k] - start[k] + given[k]).max(0.0) + self.dissipated[k];
            let rise = risen[k] - start[k];
            let is_held = self.islands.is_grounded(island) && !self.islands.is_driven(island);
            if rise > room && is_held {
                end[i] = world.poses[i].lerp_slerp(&end[i], room / rise);
            }
            let left = (room - rise).max(0.0);
            if lift[k] > left {
                push[i].linear *= left / lift[k];
                push[i].angular *= left / lift[k];
            }
        }
        for (k, budget) in self.budget.iter_mut().enumerate() {
            let room = (*budget - start[k] + given[k]).max(0.0);
            let (rise, all) = (risen[k] - start[k], room + self.dissipated[k]);
            let lift = lift[k].min((all - rise).max(0.0)).max(0.0);
            // the push-out uses the energy of collisions first, then kinetic energy
            self.dissipated[k] = self.dissipated[k].min(lift + (rise - room).max(0.0));
            *budget += self.dissipated[k];
        }
        self.dissipated.iter().sum()
    }

    /// Closes the joints of bodies at the `end` of the step that `frame` starts. Grounded islands
    /// that this would lift beyond their energy move less far, or not at all.
    pub(crate) fn close_joints(&self, world: &World, frame: Frame<'_>, end: &mut [Isometry3<f64>]) {
        let islands = self.islands.of_bodies();
        let mut is_joined = vec![false; self.islands.count()];
        for body in frame.joints.iter().flat_map(|joint| joint.bodies) {
            if let Some(Some(k)) = islands.get(body as usize) {
                is_joined[*k as usize] =
                    self.islands.is_grounded(*k) && !self.islands.is_driven(*k);
            }
        }
        let height = |x: &[Isometry3<f64>]| {
            sums(&self.islands, |i| -world.weight(i).dot(&x[i].translation.vector))
        };
        let (start, far) = (height(&world.poses), end.to_vec());
        for share in [0.5, 0.25, 0.125, 0.0] {
            frame.close_joints(end);
            let now = height(end);
            let is_high = |k: usize| {
                // ignores round-off
                let most = self.budget[k].max(start[k]) + 1e-12 * self.budget[k].abs();
                is_joined[k] && now[k] > most
            };
            let high: Vec<bool> = (0..now.len()).map(is_high).collect();
            if !high.contains(&true) {
                return;
            }
            for (i, island) in islands.iter().enumerate() {
                if island.is_some_and(|k| high[k as usize]) {
                    end[i] = world.poses[i].lerp_slerp(&far[i], share);
                }
            }
        }
    }

    /// Slows grounded islands with more energy than before plus the `work` of kinematic bodies on
    /// each body, J. Islands lifted by kinematic bodies or motors are exempt: their excess is added
    /// to the work.
    pub(crate) fn bound_momenta(&self, world: &mut World, work: &mut [f64]) {
        let kinetic = sums(&self.islands, |i| world.kinetic_energy_of(i));
        let potential = sums(&self.islands, |i| world.potential_energy_of(i));
        let given = sums(&self.islands, |i| work[i]);
        let mut lifted: Vec<f64> =
            (0..given.len()).map(|k| (potential[k] - self.budget[k] - given[k]).max(0.0)).collect();
        for (work, island) in work.iter_mut().zip(self.islands.of_bodies()) {
            let driven = island.filter(|&k| self.islands.is_driven(k));
            *work += driven.map_or(0.0, |k| std::mem::take(&mut lifted[k as usize]));
        }
        for (momentum, island) in world.momenta.iter_mut().zip(self.islands.of_bodies()) {
            let Some(island) = *island else { continue };
            let k = island as usize;
            let allowed = (self.budget[k] + given[k] - potential[k]).max(0.0);
            // ignores round-off
            let gained = kinetic[k] - allowed > 1e-12 * (kinetic[k] + potential[k].abs());
            if gained && self.islands.is_grounded(island) {
                let share = (allowed / kinetic[k]).sqrt();
                momentum.linear *= share;
                momentum.angular *= share;
            }
        }
    }
}

/// Adds up a quantity of each body by island.
fn sums(islands: &Islands, of: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; islands.count()];
    for (i, island) in islands.of_bodies().iter().enumerate() {
        if let Some(k) = island {
            sums[*k as usize] += of(i);
        }
    }
    sums
}
