//! Simultaneous impacts of several bodies.
//!
//! If a body meets two others at the same time, the outcome of two impacts one after the other would depend on their
//! order: a beam that lands on two columns would be thrown aside. Both impacts are one complementarity problem.
//!
//! In a stack that lands, impacts repeat at intervals that shrink to zero: inelastic collapse (McNamara and Young
//! 1994). The sequence converges slowly, and after each impact bodies deviate from the paths of their contact search.
//! After [`MAX_SEQUENTIAL`] collisions the next impact of two bodies is therefore one complementarity problem over all
//! contacts that its impulse propagates to. Its restitution coefficients are those of the pairs to the power of the
//! number of collisions, and its impulses add no kinetic energy.
//!
//! An impact on a linkage is one problem with its joints: a body that strikes it meets the inertia of all its bodies.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use dynamics::{Body, Velocity};

use super::impact::{Impact, ImpactGroup, ImpactPair};
use super::pairs_by_body::PairsByBody;
use super::strike::arms;
use super::{Event, ImpactOutcome, ImpulseSource, MAX_COLLISIONS, Pass};
use crate::Frame;
use crate::constraint::{Bounds, Joint, Row, Stepping};
use crate::narrow::contacts::MARGIN;
use crate::passes::collision::{Collision, StrengthQuery, sums};
use crate::solve::exact::impact::{
    Accuracy, Colliding, ImpactImpulses, ImpactTerms, JointRows, Touch, impact as impulses_of,
};

/// Sequential collisions of a body in a step. Of 4, 6, 8, 12 and 16: fewer cost more time, with more plates of a stack
/// that lands sink into the floor.
const MAX_SEQUENTIAL: u32 = 8;
/// Limit of pairs in a group: else the impact of a heap is one problem. Later impacts resolve what is left.
const MAX_PAIRS: usize = 64;
/// Impacts are simultaneous if their times differ by less than this share of the step: more than the round-off of
/// symmetric bodies, and at 30 Hz and 10 m/s a distance of 0.3 micrometers.
const SIMULTANEOUS: f64 = 1e-6;

/// Rows of joints without correction of errors.
const STILL: Stepping = Stepping { dt: 1.0, error_reduction: 0.0, motor_time: 0.0 };

/// What impacts at the same time have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Connected {
    /// A free body without joints.
    Body(usize),
    Linkage(usize),
}

impl Pass<'_> {
    /// Removes the events of the same impact as `event` from the queue: those at the same time whose pairs are connected
    /// to its pair by free bodies or linkages.
    pub(super) fn simultaneous(
        &self,
        event: &Event,
        queue: &mut BinaryHeap<Reverse<Event>>,
    ) -> Vec<Event> {
        let mut connected = Vec::new();
        if !self.may_join(event) {
            return connected;
        }
        let latest = event.time + SIMULTANEOUS * self.frame.dt;
        let mut others = Vec::new();
        while let Some(Reverse(next)) = queue.peek().copied()
            && next.time <= latest
            && others.len() < MAX_PAIRS
        {
            queue.pop();
            if next.stamp == self.histories[next.pair as usize].stamp {
                others.push(next);
            }
        }
        if others.is_empty() {
            return connected;
        }
        // bodies of a linkage are connected, too
        let free = |event: &Event| {
            let own = self.bodies_of(event.pair as usize).into_iter().filter(|&i| self.is_free(i));
            own.map(|i| self.linkages.of(i).map_or(Connected::Body(i), Connected::Linkage))
        };
        let mut bodies: BTreeSet<Connected> = free(event).collect();
        loop {
            let (more, rest): (Vec<Event>, Vec<Event>) = others.into_iter().partition(|other| {
                self.may_join(other) && free(other).any(|i| bodies.contains(&i))
            });
            others = rest;
            if more.is_empty() {
                break;
            }
            bodies.extend(more.iter().flat_map(free));
            connected.extend(more);
        }
        queue.extend(others.into_iter().map(Reverse));
        connected
    }

    /// Whether the pair of an event was apart until then, may collide, and its bodies are where the contact search
    /// assumed them.
    fn may_join(&self, event: &Event) -> bool {
        let bodies = self.bodies_of(event.pair as usize);
        event.time > self.last_collision_time(bodies)
            && self.collision_count(bodies) < MAX_COLLISIONS
            && !bodies.into_iter().any(|i| self.deviates(i, event.time))
    }

    /// Resolves the impact of an event together with the joints of its bodies and the simultaneous `others`, or with all
    /// contacts that its impulse propagates to, if both bodies had [`MAX_SEQUENTIAL`] collisions.
    pub(super) fn strike_together(
        &mut self,
        event: &Event,
        others: &[Event],
        by_body: &PairsByBody,
        query: &mut StrengthQuery<'_>,
    ) -> ImpactOutcome {
        let (pair, time) = (event.pair as usize, event.time);
        let collisions = self.collision_count(self.bodies_of(pair));
        let is_sequence = collisions >= MAX_SEQUENTIAL;
        let is_joined = self.bodies_of(pair).iter().any(|&i| self.linkages.of(i).is_some());
        if !is_sequence && others.is_empty() && !is_joined {
            return ImpactOutcome::Alone;
        }
        let (collisions, accuracy) =
            if is_sequence { (collisions, Accuracy::Coarse) } else { (0, Accuracy::Fine) };
        let (bodies, pairs) = (BTreeMap::new(), BTreeMap::new());
        let (members, joints) = (BTreeSet::new(), BTreeMap::new());
        let mut group = ImpactGroup { time, collisions, accuracy, bodies, pairs, members, joints };
        for pair in std::iter::once(event).chain(others).map(|event| event.pair as usize) {
            self.look(&mut group, pair, true);
            if self.approaches(&group, pair, |i| group.bodies[&i].mover.velocity) {
                self.add_member(&mut group, pair);
            }
        }
        if !group.members.contains(&pair) {
            return ImpactOutcome::Missed;
        }
        let Some(mut impact) = self.solve(&group, None) else { return ImpactOutcome::Alone };
        if is_sequence {
            impact = self.grown(&mut group, impact, by_body);
        }
        if impact.pairs.len() == 1 && impact.joints.is_empty() {
            return ImpactOutcome::Alone;
        }
        ImpactOutcome::Together(self.exchange(&group, impact, query))
    }

    /// The impact of a group with all pairs that its impulses propagate to, at most [`MAX_PAIRS`].
    fn grown(&self, group: &mut ImpactGroup, mut impact: Impact, by_body: &PairsByBody) -> Impact {
        loop {
            let reached = self.reached(group, &impact, by_body);
            reached.iter().for_each(|&pair| self.add_member(group, pair));
            if reached.is_empty() || group.members.len() > MAX_PAIRS {
                return impact;
            }
            // a smaller group is resolved in full; the rest collides later
            let Some(more) = self.solve(group, Some(&impact)) else { return impact };
            impact = more;
        }
    }

    /// Adds a pair that collides, with the linkages of its bodies.
    fn add_member(&self, group: &mut ImpactGroup, pair: usize) {
        group.members.insert(pair);
        for linkage in self.bodies_of(pair).into_iter().filter_map(|i| self.linkages.of(i)) {
            let joints = self.linkages.joints(linkage);
            if joints.iter().any(|n| group.joints.contains_key(n)) {
                continue;
            }
            for &n in joints {
                let joint = &self.frame.joints[n];
                for i in joint.bodies.map(|i| i as usize) {
                    group.bodies.entry(i).or_insert_with(|| self.body_at(i, group.time));
                }
                let bilateral = Joint { motor: None, limits: None, ..*joint };
                let mut rows = bilateral.usable_rows(&self.paths.poses, STILL);
                // a rope
                rows.retain(|row| row.bounds == Bounds::FREE);
                group.joints.insert(n, rows);
            }
        }
    }

    /// Finds the contacts of a pair at the time of the impact.
    fn look(&self, group: &mut ImpactGroup, pair: usize, is_met: bool) {
        if group.pairs.contains_key(&pair) {
            return;
        }
        let own = self.bodies_of(pair);
        let [a, b] = own.map(|i| &self.frame.columns.shapes[i]);
        let [p, q] = own.map(|i| self.place_at(i, group.time));
        // bodies that rest on others are lifted a little
        let is_far = (p - q).norm() > a.radius() + b.radius() + MARGIN * a.size().min(b.size());
        let found = if is_far {
            Vec::new()
        } else {
            for i in own {
                group.bodies.entry(i).or_insert_with(|| self.body_at(i, group.time));
            }
            self.spots(own, group.poses(own), is_met)
        };
        group.pairs.insert(pair, found);
    }

    /// Whether a pair touches and approaches faster than the restitution threshold.
    fn approaches(
        &self,
        group: &ImpactGroup,
        pair: usize,
        velocity: impl Fn(usize) -> Velocity,
    ) -> bool {
        let own = self.bodies_of(pair);
        group.pairs[&pair].iter().any(|spot| {
            let ([p, q], arms) = (own.map(&velocity), spot.arms(group.poses(own)));
            let u = p.at(&arms[0]) - q.at(&arms[1]);
            spot.normal.dot(&u) < -self.resting(own)
        })
    }

    /// Whether a linearized contact of a pair approaches at `time`, s. The test is cheap and rules out most pairs.
    fn may_approach(&self, pair: usize, time: f64, velocity: impl Fn(usize) -> Velocity) -> bool {
        let own = self.bodies_of(pair);
        let [p, q] = own.map(velocity);
        let [a, b] = own.map(|i| self.frame.columns.shapes[i].size());
        let resting = self.resting(own);
        self.contacts.range(&self.contacts.manifolds()[pair]).any(|number| {
            let gap = &self.gaps[number];
            let [c0, c1, c2] = self.distance(own, gap);
            let speed = gap.normal.dot(&(p.at(&gap.arms[0]) - q.at(&gap.arms[1])));
            speed < -resting && c0 + (c1 + c2 * time) * time <= MARGIN * a.min(b)
        })
    }

    /// The pairs outside the group that touch one of its bodies and approach after an impact.
    fn reached(
        &self,
        group: &mut ImpactGroup,
        impact: &Impact,
        by_body: &PairsByBody,
    ) -> Vec<usize> {
        let changes = impact.changes(&impact.impulses, group);
        let mut reached = Vec::new();
        for (&i, change) in impact.bodies.iter().zip(&changes) {
            let shape = &self.frame.columns.shapes[i];
            let most = change.linear.norm() + change.angular.norm() * shape.radius();
            if !self.is_free(i) || most <= self.resting([i, i]) {
                continue;
            }
            for &pair in by_body.of(i) {
                let pair = pair as usize;
                if group.members.contains(&pair) || self.histories[pair].is_over {
                    continue;
                }
                let change = |i: usize| {
                    let change = impact.bodies.binary_search(&i).map(|place| changes[place]);
                    change.unwrap_or_default()
                };
                let after = |i: usize| moved(&self.velocity_at(i, group.time), &change(i));
                if !self.may_approach(pair, group.time, after) {
                    continue;
                }
                self.look(group, pair, false);
                if self.approaches(group, pair, |i| {
                    moved(&group.bodies[&i].mover.velocity, &change(i))
                }) {
                    reached.push(pair);
                }
            }
        }
        reached
    }

    /// The impulses of the members of a group, from those of a part of it; `None` if the solver does not reach its
    /// tolerance.
    fn solve(&self, group: &ImpactGroup, part: Option<&Impact>) -> Option<Impact> {
        let all = group.members.iter().flat_map(|&pair| self.bodies_of(pair));
        let joined = group.joints.keys().flat_map(|&n| self.frame.joints[n].bodies);
        let numbers: BTreeSet<usize> = all.chain(joined.map(|i| i as usize)).collect();
        let bodies: Vec<usize> = numbers.into_iter().collect();
        let place = |i: u32| bodies.partition_point(|&other| other < i as usize);
        let joint = |(&n, rows): (&usize, &Vec<Row>)| {
            (n, JointRows { bodies: self.frame.joints[n].bodies.map(place), rows: rows.clone() })
        };
        let joints = group.joints.iter().map(joint).collect();
        let (pairs, touches, at) = (Vec::new(), Vec::new(), Vec::new());
        let (before, impulses) = (Vec::new(), ImpactImpulses::default());
        let mut impact = Impact { bodies, pairs, touches, at, before, joints, impulses };
        group.members.iter().for_each(|&pair| self.add(&mut impact, group, pair));
        let start = impact.start(part);
        let columns = self.frame.columns;
        let colliding = |i: &usize| Colliding {
            body: &columns.bodies[*i],
            rotation: group.bodies[i].rotation,
            velocity: group.bodies[i].mover.velocity,
        };
        let bodies: Vec<_> = impact.bodies.iter().map(colliding).collect();
        let joints: Vec<_> = impact.joints.iter().map(|(_, rows)| rows.clone()).collect();
        let solved = |touches: &[Touch], start: &ImpactImpulses| {
            let terms = ImpactTerms { touches, joints: &joints };
            impulses_of(&bodies, terms, start, group.accuracy)
        };
        let full = solved(&impact.touches, &start)?;
        impact.impulses = if impact.work(&full, group) <= 0.0 {
            full
        } else {
            let still = |touch: &Touch| Touch { target: 0.0, ..*touch };
            let still: Vec<_> = impact.touches.iter().map(still).collect();
            impact.blended(solved(&still, &full)?, &full, group)
        };
        Some(impact)
    }

    /// Adds the contacts of a pair.
    fn add(&self, impact: &mut Impact, group: &ImpactGroup, pair: usize) {
        let own = self.bodies_of(pair);
        let [a, b] = own.map(|i| &group.bodies[&i]);
        let bodies = own.map(|i| impact.bodies.partition_point(|&other| other < i));
        let Frame { columns, settings, .. } = self.frame;
        let [p, q] = own.map(|i| &columns.materials[i]);
        let friction = p.friction_with(q, settings.friction);
        let first = impact.touches.len();
        let places = self.arm_origins([a, b]);
        let mut fastest = 0.0f64;
        let poses = group.poses(own);
        for spot in &group.pairs[&pair] {
            let normal = spot.normal;
            let arms = arms(spot.owner, spot.arms(poses), &places);
            let u = a.mover.velocity.at(&arms[0]) - b.mover.velocity.at(&arms[1]);
            let approach = -normal.dot(&u);
            fastest = fastest.max(approach);
            let target = approach.max(0.0);
            impact.touches.push(Touch { bodies, arms, normal, target, friction });
            impact.before.push(u);
            impact.at.push(spot.at(poses));
        }
        let restitution = if fastest > self.resting(own) {
            // each collision of the sequence keeps this share; `powi` may differ between platforms
            let kept = p.restitution_with(q, settings.restitution);
            (0..=group.collisions).fold(1.0, |share, _| share * kept)
        } else {
            0.0
        };
        impact.touches[first..].iter_mut().for_each(|touch| touch.target *= restitution);
        let contacts = first..impact.touches.len();
        impact.pairs.push(ImpactPair { number: pair, contacts, restitution });
    }

    /// Gives a group its impulses, or what the weakest body bears of them. Returns the bodies.
    fn exchange(
        &mut self,
        group: &ImpactGroup,
        mut impact: Impact,
        query: &mut StrengthQuery<'_>,
    ) -> Vec<usize> {
        let own = impact.collisions(self, group);
        own.iter().for_each(|&(pair, _)| self.histories[pair].collisions += 1);
        let all: Vec<Collision> = own.iter().map(|(_, collision)| *collision).collect();
        let totals = sums(&all, query.may_break).into_iter().map(|collision| (None, collision));
        let mut hard = Vec::new();
        for (pair, collision) in
            totals.chain(own.iter().map(|(pair, collision)| (Some(*pair), *collision)))
        {
            hard.extend(query.share(&collision).map(|share| (share, pair, collision)));
        }
        // the weakest body breaks first, and its pieces and the others receive the rest
        let share = hard.iter().map(|(share, ..)| *share).fold(1.0, f64::min);
        for (_, pair, collision) in hard.into_iter().filter(|(own, ..)| *own <= share) {
            self.done.breaking.push(collision);
            let struck = collision.struck;
            let is_over = |number: usize, own: &Collision| match struck {
                Some(body) => own.a == body || own.b == body,
                None => Some(number) == pair,
            };
            for (number, own) in own.iter().filter(|(number, own)| is_over(*number, own)) {
                self.histories[*number].is_over = true;
                self.done.breaking.extend(struck.map(|_| Collision { struck, ..*own }));
            }
        }
        self.done.exchanged.extend(own.iter().map(|(_, collision)| collision.scaled(share)));
        impact.impulses = impact.impulses.scaled(share);
        for (touch, j) in impact.touches.iter().zip(&impact.impulses.contacts) {
            let own = touch.bodies.map(|place| impact.bodies[place]);
            self.done.work += self.work_at(own, &touch.arms, j);
        }
        self.done.work += self.joint_work(&impact);
        let free = impact.bodies.iter().filter(|&&i| self.is_free(i)).count();
        let dissipated = -impact.work(&impact.impulses, group) / free as f64;
        let sources = self.sources(&impact);
        let gains = impact.gains(&impact.impulses);
        for ((i, gain), source) in impact.bodies.iter().zip(&gains).zip(sources) {
            self.paths.flights[*i].dissipated += dissipated;
            self.give(&group.bodies[i], gain, source, group.time);
        }
        let own = impact.joints.iter().zip(&impact.impulses.joints);
        let reactions =
            own.map(|((n, joint), impulses)| (*n, Joint::reaction(&joint.rows, impulses)));
        self.done.joints.extend(reactions);
        impact.bodies
    }

    /// What gives each body of an impact its impulse.
    fn sources(&self, impact: &Impact) -> Vec<ImpulseSource> {
        let mut sources = vec![ImpulseSource::Joints; impact.bodies.len()];
        for touch in &impact.touches {
            let [a, b] = touch.bodies;
            for (own, other) in [(a, b), (b, a)] {
                let source = match self.is_free(impact.bodies[other]) {
                    true => ImpulseSource::Free,
                    false => ImpulseSource::Grounded,
                };
                sources[own] = sources[own].max(source);
            }
        }
        sources
    }

    /// Work of kinematic bodies by the joints of an impact, J.
    fn joint_work(&self, impact: &Impact) -> f64 {
        let mut work = 0.0;
        for ((_, joint), impulses) in impact.joints.iter().zip(&impact.impulses.joints) {
            for (side, place) in joint.bodies.into_iter().enumerate() {
                let body = &self.frame.columns.bodies[impact.bodies[place]];
                let Body::Kinematic(velocity) = body else { continue };
                let still = Velocity::default();
                let both = if side == 0 { [velocity, &still] } else { [&still, velocity] };
                let rows = joint.rows.iter().zip(impulses);
                work -= rows.map(|(row, j)| j * row.speed(both[0], both[1])).sum::<f64>();
            }
        }
        work
    }
}

fn moved(velocity: &Velocity, change: &Velocity) -> Velocity {
    let linear = velocity.linear + change.linear;
    Velocity { linear, angular: velocity.angular + change.angular }
}
