//! Simultaneous transmission of impulses through several bodies: the part of a collision that
//! sequential pair impulses leave unresolved.
//!
//! A heavy body that lands on light ones on top of a third transmits its momentum through them.
//! Sequential pair impulses need as many exchanges as the mass ratio. Su09 leaves the rest to the
//! contact pass, which does not report impact strength. Here that pass, at (x^n, v^{n+1/2}), is
//! solved before bodies move, so that transmitted impulses can break a body.

use dynamics::{Momentum, Velocity};
use nalgebra::{Point3, Vector3};

use crate::constraint::{Joint, Reaction};
use crate::frame::differences;
use crate::narrow::contacts::{Contacts, Manifold};
use crate::passes::collision::{ImpactState, PairImpulse, sums, total};
use crate::solve::exact::{Exact, PassResult};
use crate::solve::impulses::ContactImpulses;
use crate::solve::levels::Levels;
use crate::solve::order::Order;
use crate::solve::problem::Aim;
use crate::solve::settle::Joined;
use crate::{Collision, Contact, Frame, Islands, Search, Solver, StrengthQuery};

/// Share of the restitution threshold below which an approach is residual motion of resting contact
/// and starts no shock. The threshold itself is too high, as a slow heavy body may break a light
/// one.
const RESIDUAL_SHARE: f64 = 0.06;
/// Shocks whose upper bound is below this share of a body's strength are not solved: reports of the
/// hardest impact need no smaller ones.
const REPORTED_SHARE: f64 = 0.1;

/// An impulse at a point of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointImpulse {
    /// The body.
    pub body: u32,
    /// Position in body coordinates, m.
    pub at: Point3<f64>,
    /// Impulse in world axes, N s.
    pub impulse: Vector3<f64>,
}

/// The state after a shock.
struct ImpactSolution {
    momenta: Vec<Momentum>,
    /// Impulse of each contact.
    impulses: Vec<Vector3<f64>>,
    /// Joints with their reactions.
    joints: Vec<Joint>,
}

/// The state of a group of touching bodies.
#[derive(Clone, Copy, Default)]
struct ShockGroup {
    /// Largest approach speed of two of its bodies, m/s; zero if none exceeds that of bodies at
    /// rest.
    approach: f64,
    may_break: bool,
    /// Whether an impact in the group could break a body.
    impact_may_break: bool,
    /// Share of the impulses that the weakest of the breaking bodies bears; `None` if none breaks.
    share: Option<f64>,
}

impl Frame<'_> {
    /// Resolves the rest of a collision in groups of touching bodies that still approach, with the
    /// `momenta` after the collision pass, faster than bodies at rest, and that contain breakable
    /// bodies. Returns the impacts that break bodies. A group with a breaking body exchanges the
    /// share of the impulses that its weakest one bears, limited by kinetic energy; other groups
    /// exchange nothing yet.
    pub fn transmit(
        &self,
        search: &Search,
        momenta: &mut [Momentum],
        query: &mut StrengthQuery<'_>,
    ) -> Vec<Collision> {
        // other solvers solve both contact passes at once
        if !query.may_break.contains(&true) || self.settings.solver != Solver::Manifold {
            return Vec::new();
        }
        let contacts = search.contacts();
        let islands = self.islands(contacts);
        let mut groups = self.groups(contacts, &islands, momenta, query.may_break);
        if !groups.iter().any(|group| group.approach > 0.0 && group.may_break) {
            return Vec::new();
        }
        self.find_breakable_groups(contacts, &islands, &mut groups, momenta, query);
        let impact_may_break =
            |island: &Option<u32>| island.is_some_and(|k| groups[k as usize].impact_may_break);
        let chosen: Vec<bool> = islands.of_bodies().iter().map(impact_may_break).collect();
        if !chosen.contains(&true) {
            return Vec::new();
        }
        let before = self.with_forces(momenta);
        let ImpactSolution { momenta: after, impulses, .. } =
            self.shock(search, momenta, &before, &chosen);
        let mut all = Vec::new();
        for pair in contacts.manifolds() {
            let approach =
                island_of(&islands, [pair.a, pair.b]).map_or(0.0, |island| groups[island].approach);
            all.extend(collision(*self, contacts, pair, &impulses, approach));
        }
        all.extend(sums(&all, query.may_break));
        let mut breaking = Vec::new();
        for collision in all {
            let Some(island) = island_of(&islands, [collision.a, collision.b]) else { continue };
            let group = &mut groups[island];
            if let Some(share) = query.share(&collision) {
                group.share = Some(group.share.map_or(share, |known| known.min(share)));
                breaking.push(collision);
            }
        }
        if !breaking.is_empty() {
            let gains = differences(&after, &before);
            self.exchange(&islands, &groups, &gains, momenta);
        }
        breaking
    }

    /// The impulses of contacts and joints on the `chosen` bodies if an impact gives all bodies
    /// these `momenta`: the reactions of both supports on a beam that is struck between them.
    ///
    /// Contacts have no friction. Moments of joints are not included.
    pub fn reactions(
        &self,
        search: &Search,
        momenta: &[Momentum],
        chosen: &[bool],
    ) -> Vec<PointImpulse> {
        let contacts = search.contacts();
        let ImpactSolution { impulses, joints, .. } = self.shock(search, momenta, momenta, chosen);
        let mut found = Vec::new();
        let mut push = |bodies: [u32; 2], at: [Point3<f64>; 2], impulse: Vector3<f64>| {
            let sides = bodies.into_iter().zip(at).zip([impulse, -impulse]);
            let pushes = sides.map(|((body, at), impulse)| PointImpulse { body, at, impulse });
            found.extend(pushes.filter(|push| {
                chosen.get(push.body as usize) == Some(&true) && push.impulse != Vector3::zeros()
            }));
        };
        for pair in contacts.manifolds() {
            contacts
                .range(pair)
                .for_each(|n| push([pair.a, pair.b], *contacts.points(n), impulses[n]));
        }
        for joint in &joints {
            let anchors = joint.frames.map(|frame| frame.translation.vector.into());
            push(joint.bodies, anchors, joint.last.linear);
        }
        found
    }

    /// The state after the approach of the `chosen` bodies with momenta `before` is stopped, without
    /// friction. Sweeps with friction replace the exact solver where that fails. The velocities of
    /// `momenta` order the contacts.
    fn shock(
        &self,
        search: &Search,
        momenta: &[Momentum],
        before: &[Momentum],
        chosen: &[bool],
    ) -> ImpactSolution {
        let contacts = search.contacts();
        let velocities = self.velocities(momenta);
        let levels = Levels::new(self.columns, contacts, &velocities, self.half_kick, self.dt);
        let order = Order::new(self.columns, contacts, levels);
        let problem = self.problem(contacts, &order);
        let none = ContactImpulses {
            contacts: vec![Vector3::zeros(); contacts.len()],
            ..ContactImpulses::default()
        };
        // reactions of the last step are no warm start for a shock
        let idle = |joint: &Joint| Joint { last: Reaction::default(), ..*joint };
        let joined = Joined { joints: self.joints.iter().map(idle).collect(), ..Joined::default() };
        let start = joined.exact_start(problem, Aim::Positions, before, &none);
        let exact = Exact::shock(problem, start, chosen);
        let solved = exact.solved_bodies(chosen.len());
        let (mut after, mut impulses) = (before.to_vec(), none.clone());
        if chosen.iter().zip(&solved).any(|(chosen, solved)| *chosen && !solved) {
            let mut support = self.support(search, momenta);
            support.settle_positions(*self, &mut after);
            if let Some(solved) = support.solved() {
                impulses.contacts.copy_from_slice(solved.impulses);
            }
        }
        let (mut gains, mut joints) =
            (vec![Momentum::default(); after.len()], joined.joints.clone());
        exact.keep(
            problem,
            &mut PassResult {
                momenta: &mut after,
                impulses: &mut impulses,
                gains: &mut gains,
                joints: &mut joints,
            },
        );
        ImpactSolution { momenta: after, impulses: impulses.contacts, joints }
    }

    /// Marks the groups in which an impact could break a body: impulses that do not add energy
    /// change the momentum of a group by at most `sqrt(2 m E)`.
    fn find_breakable_groups(
        &self,
        contacts: &Contacts,
        islands: &Islands,
        groups: &mut [ShockGroup],
        momenta: &[Momentum],
        query: &mut StrengthQuery<'_>,
    ) {
        let mut totals = vec![(0.0, 0.0); groups.len()];
        for (i, island) in islands.of_bodies().iter().enumerate() {
            let Some(mass) = self.columns.bodies[i].mass_properties() else { continue };
            let Some(island) = *island else { continue };
            let (sum, energy) = &mut totals[island as usize];
            *sum += mass.mass();
            *energy += mass.kinetic_energy(&self.poses[i].rotation, &momenta[i]);
        }
        for pair in contacts.manifolds() {
            let bodies = [pair.a as usize, pair.b as usize];
            let may_break = bodies.iter().any(|&i| query.may_break[i]);
            let Some(island) = island_of(islands, [pair.a, pair.b]) else { continue };
            let group = &mut groups[island];
            if group.impact_may_break || !may_break || group.approach == 0.0 {
                continue;
            }
            if islands.is_driven(island as u32) {
                group.impact_may_break = true;
                continue;
            }
            let (mass, energy) = totals[island];
            let most = (2.0 * mass * energy).sqrt();
            let first = contacts.range(pair).start;
            let impulse = contacts.all()[first].normal * most;
            let at = ContactImpulse { contact: first, impulse };
            let trial = collision_at(*self, contacts, pair, at, group.approach);
            let [p, q] = (query.strengths)(&trial, false);
            group.impact_may_break = REPORTED_SHARE * p.min(q) <= most;
        }
    }

    fn groups(
        &self,
        contacts: &Contacts,
        islands: &Islands,
        momenta: &[Momentum],
        may_break: &[bool],
    ) -> Vec<ShockGroup> {
        let velocities = self.velocities(momenta);
        let mut groups = vec![ShockGroup::default(); islands.count()];
        for pair in contacts.manifolds() {
            let Some(island) = island_of(islands, [pair.a, pair.b]) else { continue };
            let group = &mut groups[island];
            group.approach = group.approach.max(self.approach(contacts, pair, &velocities));
            group.may_break |= may_break[pair.a as usize] || may_break[pair.b as usize];
        }
        groups
    }

    /// Approach speed of a pair where it would overlap at the end of the step, m/s; zero if no
    /// faster than bodies at rest.
    fn approach(&self, contacts: &Contacts, pair: &Manifold, velocities: &[Velocity]) -> f64 {
        let bodies = [pair.a, pair.b].map(|i| i as usize);
        let [p, q] = bodies.map(|i| self.settings.resting_at(&self.half_kick[i], 0.0));
        let resting = RESIDUAL_SHARE * p.max(q);
        let of = |contact: &Contact| {
            let along = |of: &[Velocity]| {
                let [p, q] = [0, 1].map(|n| of[bodies[n]].at(&contact.arms[n]));
                contact.normal.dot(&(q - p))
            };
            let approach = along(velocities);
            let meets = contact.gap < self.dt * (approach + along(self.half_kick));
            if meets { approach } else { 0.0 }
        };
        let fastest = contacts.of(pair).iter().map(of).fold(0.0, f64::max);
        if fastest > resting { fastest } else { 0.0 }
    }

    /// Gives the bodies of each group its share of their `gains`, less if that would raise their
    /// kinetic energy.
    fn exchange(
        &self,
        islands: &Islands,
        groups: &[ShockGroup],
        gains: &[Momentum],
        momenta: &mut [Momentum],
    ) {
        // a share s changes the kinetic energy by s a + s^2 b
        let mut growth = vec![(0.0, 0.0); groups.len()];
        let member = |(i, island): (usize, &Option<u32>)| {
            let island = (*island)? as usize;
            Some((i, island, groups[island].share?))
        };
        let members: Vec<_> = islands.of_bodies().iter().enumerate().filter_map(member).collect();
        for &(i, island, _) in &members {
            let (body, rotation) = (&self.columns.bodies[i], &self.poses[i].rotation);
            let (gain, is) = (&gains[i], body.velocity(rotation, &momenta[i]));
            let to = body.velocity(rotation, gain);
            let (a, b) = &mut growth[island];
            *a += is.linear.dot(&gain.linear) + is.angular.dot(&gain.angular);
            *b += 0.5 * (to.linear.dot(&gain.linear) + to.angular.dot(&gain.angular));
        }
        for (i, island, strength) in members {
            let (a, b) = growth[island];
            let most = if b > 0.0 { (-a / b).max(0.0) } else { 0.0 };
            let (gain, share) = (&gains[i], strength.min(most));
            momenta[i] += *gain * share;
        }
    }
}

fn island_of(islands: &Islands, [a, b]: [u32; 2]) -> Option<usize> {
    let of = islands.of_bodies();
    of[a as usize].or(of[b as usize]).map(|island| island as usize)
}

/// The impact of a pair in a group with the approach speed `approach`, m/s; `None` if the pair
/// exchanges no impulse.
fn collision(
    frame: Frame<'_>,
    contacts: &Contacts,
    pair: &Manifold,
    impulses: &[Vector3<f64>],
    approach: f64,
) -> Option<Collision> {
    let range = contacts.range(pair);
    let (impulse, hardest) = total(&impulses[range.clone()])?;
    let hardest = range.start + hardest;
    let is_struck = approach > 0.0 && impulse.dot(&contacts.all()[hardest].normal) > 0.0;
    let at = ContactImpulse { contact: hardest, impulse };
    is_struck.then(|| collision_at(frame, contacts, pair, at, approach))
}

/// An impulse at a contact.
struct ContactImpulse {
    contact: usize,
    /// N s.
    impulse: Vector3<f64>,
}

/// The impact of a pair with an impulse at one of its contacts.
fn collision_at(
    frame: Frame<'_>,
    contacts: &Contacts,
    pair: &Manifold,
    ContactImpulse { contact, impulse }: ContactImpulse,
    approach: f64,
) -> Collision {
    let normal = contacts.all()[contact].normal;
    let at = *contacts.points(contact);
    let poses = [pair.a, pair.b].map(|i| frame.poses[i as usize]);
    let exchanged = PairImpulse { normal, impulse, approach, restitution: 0.0 };
    Collision::new([pair.a, pair.b], ImpactState { at, time: 0.0, poses }, exchanged)
}
