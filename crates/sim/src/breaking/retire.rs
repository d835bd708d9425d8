//! Room for pieces, and retirement of pieces.

use dynamics::{Body, Momentum};

use crate::{Debris, Events, Retire, RetireAction, World};

impl World {
    /// Number of additional pieces that a body may become, beyond itself.
    pub(crate) fn room(&self) -> usize {
        let Debris { max_bodies, max_new, .. } = self.settings.debris;
        let live = (0..self.len()).filter(|&i| self.mass_of(i).is_some()).count();
        max_bodies
            .saturating_sub(live)
            .min(max_new.saturating_sub(self.debris.new_pieces).saturating_sub(1))
    }

    /// Whether there is room for the pieces of a body, given their numbers of samples.
    pub(crate) fn fits(&self, pieces: impl ExactSizeIterator<Item = usize>) -> bool {
        let held = (0..self.len()).filter(|&i| self.details[i].lineage.is_some());
        let solids = held.filter_map(|i| self.details[i].solid.as_ref());
        let held: usize = solids.map(|solid| solid.geometry.memory()).sum();
        let count = pieces.len();
        let new: usize = pieces.sum();
        count <= self.room().saturating_add(1)
            && held.saturating_add(new) <= self.settings.debris.max_samples
    }

    /// Sheds the crumbs and removes the dust of this frame, and retires pieces that were slow for
    /// the time of the settings.
    pub(crate) fn retire(&mut self, events: &mut Events) {
        self.shed_crumbs(events);
        self.remove_dust(events);
        self.retire_slow(events);
    }

    fn remove_dust(&mut self, events: &mut Events) {
        for id in std::mem::take(&mut self.debris.dust) {
            let Ok(i) = self.ids.binary_search(&id) else { continue };
            self.debris.retired_mass += self.mass_of(i).map_or(0.0, dynamics::MassProperties::mass);
            self.remove(id);
            events.retired.push(id);
        }
    }

    fn retire_slow(&mut self, events: &mut Events) {
        let Some(Retire { after, slower_than, action }) = self.settings.debris.retire else {
            return;
        };
        for i in 0..self.len() {
            let velocity = self.bodies[i].velocity(&self.poses[i].rotation, &self.momenta[i]);
            let fastest =
                velocity.linear.norm() + velocity.angular.norm() * self.shapes[i].radius();
            let moves = matches!(self.bodies[i], Body::Dynamic(_));
            let is_slow = moves && self.details[i].lineage.is_some() && fastest < slower_than;
            self.details[i].slow_frames = if is_slow { self.details[i].slow_frames + 1 } else { 0 };
        }
        let old = |frames: u32| f64::from(frames) * self.settings.dt >= after;
        let retired: Vec<_> = (0..self.len())
            .filter(|&i| self.details[i].slow_frames > 0 && old(self.details[i].slow_frames))
            .map(|i| (self.ids[i], i))
            .collect();
        for &(_, i) in &retired {
            self.debris.retired_mass += self.mass_of(i).map_or(0.0, dynamics::MassProperties::mass);
            self.become_body(i, Body::Static);
            self.momenta[i] = Momentum::default();
            (self.details[i].breakage, self.details[i].slow_frames) = (None, 0);
        }
        events.retired.extend(retired.into_iter().map(|(id, _)| id));
        if action != RetireAction::Keep {
            for &id in &events.retired {
                self.remove(id);
            }
        }
    }
}
