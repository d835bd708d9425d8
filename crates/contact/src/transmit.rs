//! What bodies in a row give each other at once: the part of a collision that pairs, one after the other,
//! do not finish.
//!
//! A heavy body that lands on light ones which lie on a third gives it its momentum through them. Pair by
//! pair that takes as many exchanges as the ratio of masses. Su09 leaves the rest to the contact pass,
//! which does not say how hard it was. Here that pass, at (x^n, v^{n+1/2}), is solved before bodies move,
//! so that what it transmits can break a body.

use dynamics::{Momentum, Velocity};
use nalgebra::Vector3;

use crate::collide::Met;
use crate::narrow::{Contacts, Manifold};
use crate::{Bearing, Blow, Contact, Frame, Islands, Search, Solver};

/// What a group of touching bodies goes through.
#[derive(Clone, Copy, Default)]
struct Group {
    /// How fast two of its bodies approach at most, m/s; zero if no faster than bodies at rest.
    approach: f64,
    may_break: bool,
    /// Share of the impulses that the weakest of the bodies that break bears; `None` if none breaks.
    share: Option<f64>,
}

impl Frame<'_> {
    /// The rest of a collision in groups of touching bodies in which, after the collision pass left them
    /// `momenta`, some still approach faster than bodies at rest do, and some may break. Returns the blows
    /// that break bodies. A group in which one breaks exchanges the share that the weakest of them bears,
    /// as far as its kinetic energy does not grow; others exchange nothing yet.
    pub fn transmit(
        &self,
        search: &Search,
        momenta: &mut [Momentum],
        bearing: &mut Bearing<'_>,
    ) -> Vec<Blow> {
        // others solve both contact passes at once
        if !bearing.may_break.contains(&true) || self.settings.solver != Solver::Manifold {
            return Vec::new();
        }
        let contacts = search.contacts();
        let islands = self.islands(contacts);
        let mut groups = self.groups(contacts, &islands, momenta, bearing.may_break);
        if !groups.iter().any(|group| group.approach > 0.0 && group.may_break) {
            return Vec::new();
        }
        let before = self.with_forces(momenta);
        let (mut after, mut support) = (before.clone(), self.support(search, momenta));
        support.settle_positions(*self, &mut after);
        let Some((_, impulses)) = support.solved() else { return Vec::new() };
        let mut blows = Vec::new();
        for pair in contacts.manifolds() {
            let Some(island) = island_of(&islands, pair) else { continue };
            let group = &mut groups[island];
            let blow = blow(*self, contacts, pair, impulses, group.approach);
            let Some(blow) = blow else { continue };
            if let Some(share) = bearing.share((pair.a, pair.b), || blow) {
                group.share = Some(group.share.map_or(share, |known| known.min(share)));
                blows.push(blow);
            }
        }
        if !blows.is_empty() {
            self.exchange(&islands, &groups, (&before, &after), momenta);
        }
        blows
    }

    fn groups(
        &self,
        contacts: &Contacts,
        islands: &Islands,
        momenta: &[Momentum],
        may_break: &[bool],
    ) -> Vec<Group> {
        let velocities = self.velocities(momenta);
        let mut groups = vec![Group::default(); islands.count()];
        for pair in contacts.manifolds() {
            let Some(island) = island_of(islands, pair) else { continue };
            let group = &mut groups[island];
            group.approach = group.approach.max(self.approach(contacts, pair, &velocities));
            group.may_break |= may_break[pair.a as usize] || may_break[pair.b as usize];
        }
        groups
    }

    /// How fast a pair approaches where it would overlap at the end of the step, m/s; zero if no faster
    /// than bodies at rest do.
    fn approach(&self, contacts: &Contacts, pair: &Manifold, velocities: &[Velocity]) -> f64 {
        let bodies = [pair.a, pair.b].map(|i| i as usize);
        let [p, q] = bodies.map(|i| self.settings.resting_at(&self.drift[i]));
        let resting = p.max(q);
        let of = |contact: &Contact| {
            let along = |of: &[Velocity]| {
                let [p, q] = [0, 1].map(|n| of[bodies[n]].at(&contact.arms[n]));
                contact.normal.dot(&(q - p))
            };
            let approach = along(velocities);
            let meets = contact.gap < self.dt * (approach + along(self.drift));
            if meets { approach } else { 0.0 }
        };
        let fastest = contacts.of(pair).iter().map(of).fold(0.0, f64::max);
        if fastest > resting { fastest } else { 0.0 }
    }

    /// Gives the bodies of each group its share of the change from `before` to `after`, less if that would
    /// raise their kinetic energy.
    fn exchange(
        &self,
        islands: &Islands,
        groups: &[Group],
        (before, after): (&[Momentum], &[Momentum]),
        momenta: &mut [Momentum],
    ) {
        let gain = |i: usize| Momentum {
            linear: after[i].linear - before[i].linear,
            angular: after[i].angular - before[i].angular,
        };
        // of a share s the kinetic energy grows by s a + s^2 b
        let mut growth = vec![(0.0, 0.0); groups.len()];
        let member = |(i, island): (usize, &Option<u32>)| {
            let island = (*island)? as usize;
            Some((i, island, groups[island].share?))
        };
        let members: Vec<_> = islands.of_bodies().iter().enumerate().filter_map(member).collect();
        for &(i, island, _) in &members {
            let (body, rotation) = (&self.columns.bodies[i], &self.poses[i].rotation);
            let (gain, is) = (gain(i), body.velocity(rotation, &momenta[i]));
            let to = body.velocity(rotation, &gain);
            let (a, b) = &mut growth[island];
            *a += is.linear.dot(&gain.linear) + is.angular.dot(&gain.angular);
            *b += 0.5 * (to.linear.dot(&gain.linear) + to.angular.dot(&gain.angular));
        }
        for (i, island, borne) in members {
            let (a, b) = growth[island];
            let most = if b > 0.0 { (-a / b).max(0.0) } else { 0.0 };
            let (gain, share) = (gain(i), borne.min(most));
            momenta[i].linear += gain.linear * share;
            momenta[i].angular += gain.angular * share;
        }
    }
}

fn island_of(islands: &Islands, pair: &Manifold) -> Option<usize> {
    let of = islands.of_bodies();
    of[pair.a as usize].or(of[pair.b as usize]).map(|island| island as usize)
}

/// The blow of a pair in a group in which bodies approach by `approach` m/s; `None` if the pair gives
/// itself nothing.
fn blow(
    frame: Frame<'_>,
    contacts: &Contacts,
    pair: &Manifold,
    impulses: &[Vector3<f64>],
    approach: f64,
) -> Option<Blow> {
    let range = contacts.range(pair);
    let harder = |p: usize, q: usize| {
        if impulses[q].norm_squared() > impulses[p].norm_squared() { q } else { p }
    };
    let hardest = range.clone().reduce(harder)?;
    let impulse: Vector3<f64> = impulses[range].iter().sum();
    let normal = contacts.all()[hardest].normal;
    let is_struck = approach > 0.0 && impulse.dot(&normal) > 0.0;
    let (at, u) = (*contacts.met(hardest), normal * -approach);
    let rotations = [pair.a, pair.b].map(|i| frame.poses[i as usize].rotation);
    let met = Met { at, time: 0.0, rotations };
    is_struck.then(|| Blow::new((pair.a, pair.b), met, (normal, impulse), (u, 0.0)))
}
