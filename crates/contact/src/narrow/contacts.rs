//! The contacts of a step, by pair.

use std::cmp::Ordering;
use std::sync::Arc;

use dynamics::Velocity;
use nalgebra::{Isometry3, Point3, Vector3};

use crate::narrow::candidate::{Found, Side};
use crate::shape::Shape;

/// Largest gap of contacts as a share of the smaller radius: later impulses may close it.
pub(crate) const MARGIN: f64 = 0.05;

/// Largest number of contacts of a pair: the deepest and those that span the area best.
pub(crate) const MAX_CONTACTS: usize = 4;

/// A contact point, speculative if its gap is positive. All passes of a step read it.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    pub(crate) owner: Side,
    /// Lever arms from the centers of mass of `a` and `b` to the contact point, world axes, m,
    /// constant over the step. Both end at one point at the start of the step, so that impulses
    /// conserve angular momentum; after a collision, at the point where the contact was found. The
    /// angular velocity takes a point of a polyhedron along its chord; the contact point of a
    /// rolling body moves over its surface.
    pub arms: [Vector3<f64>; 2],
    /// Unit normal in world axes, out of `b` towards `a`.
    pub normal: Vector3<f64>,
    /// Gap at the start of the step, m: `gap + dt u . n` is the gap at its end, because signed
    /// distances are linearized about the predicted pose.
    pub gap: f64,
    /// Overlap at the start of the step or after the last collision of either body in it, m, at
    /// least 0. The contact passes prevent further penetration and leave the overlap itself to the
    /// push-out.
    pub overlap: f64,
    /// Overlap of the contact points at the poses with which the bodies entered the step, m;
    /// infinite if the points move over a curved surface.
    pub(crate) entered: f64,
}

impl Contact {
    /// The contact point in the world, m, with the bodies at these poses.
    pub fn at(&self, a: &Isometry3<f64>, b: &Isometry3<f64>) -> Point3<f64> {
        match self.owner {
            Side::A => Point3::from(a.translation.vector + self.arms[0]),
            Side::B => Point3::from(b.translation.vector + self.arms[1]),
        }
    }
}

/// How a contact was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) found: Found,
    /// The impulse on `a` in the last frame, N s: the warm start.
    pub(crate) guess: Vector3<f64>,
    /// The contact point in body coordinates of `a` and of `b`, m.
    pub(crate) points: [Point3<f64>; 2],
    /// Time at which the gap was `distance` m on the paths of the search, s.
    pub(crate) time: f64,
    pub(crate) distance: f64,
    /// Lever arms from the centers of mass at that time to one common point, m: chord arms as
    /// [`Contact::arms`] for points of polyhedra, else to the contact point.
    pub(crate) arms: [Vector3<f64>; 2],
    /// Separation speed beyond that by the angular velocities at the start of the step, m/s.
    pub(crate) turning: f64,
    /// The linearization of a contact of spinning bodies holds until this time, s; infinite for
    /// other bodies.
    pub(crate) until: f64,
}

/// The contacts of one pair of bodies.
#[derive(Clone, Copy, Debug)]
pub struct Manifold {
    /// First body.
    pub a: u32,
    /// Second body.
    pub b: u32,
    /// Start of the contact search of the pair, s since the start of the step.
    pub(crate) since: f64,
    pub(super) first: u32,
    pub(super) count: u32,
}

impl Manifold {
    /// The shapes of both bodies.
    pub(crate) fn shapes<'s>(&self, shapes: &'s [Arc<Shape>]) -> [&'s Shape; 2] {
        [self.a, self.b].map(|i| &*shapes[i as usize])
    }
}

/// A pair whose contact search restarts at a time within the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resumed {
    /// First body.
    pub a: u32,
    /// Second body.
    pub b: u32,
    /// Start of the search, s since the start of the step.
    pub time: f64,
}

impl Resumed {
    /// Start of the search of a pair, s; `None` if the pair is not in `all`, which is sorted by
    /// pair.
    pub(crate) fn of(all: &[Self], pair: (u32, u32)) -> Option<f64> {
        let found = all.binary_search_by_key(&pair, |resumed| (resumed.a, resumed.b));
        found.ok().map(|n| all[n].time)
    }
}

/// A pair that was tested, with or without contacts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairTest {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(super) since: f64,
    /// `a`'s coordinates in `b`'s at the test, in this step or an earlier one; `None` if its result
    /// must not be reused.
    pub(crate) relative: Option<Isometry3<f64>>,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl PairTest {
    /// Indices of its contacts.
    fn range(&self) -> std::ops::Range<usize> {
        let first = self.first as usize;
        first..first + self.count as usize
    }
}

/// Contacts of consecutive pairs.
struct Run<'c> {
    from: &'c Contacts,
    range: std::ops::Range<usize>,
}

/// All contacts of a step, by pair in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    pub(super) manifolds: Vec<Manifold>,
    contacts: Vec<Contact>,
    /// One per contact.
    origins: Vec<Origin>,
    pub(super) pair_tests: Vec<PairTest>,
    pub(crate) stats: SearchStats,
}

/// Work statistics of the contact search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchStats {
    /// Pairs whose boxes overlapped.
    pub pairs: usize,
    /// Pairs whose contacts of an earlier step were reused.
    pub reused: usize,
    /// Pairs whose search was repeated because a collision changed the motion of a body.
    pub repeated: usize,
    /// Signed distance queries at surface points.
    pub points: usize,
}

impl SearchStats {
    fn add(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.reused += other.reused;
        self.repeated += other.repeated;
        self.points += other.points;
    }
}

impl Contacts {
    /// The pairs that have contacts, sorted by `(a, b)`.
    pub fn manifolds(&self) -> &[Manifold] {
        &self.manifolds
    }

    /// The contacts of a pair, deepest first; one to four.
    pub fn of(&self, manifold: &Manifold) -> &[Contact] {
        &self.contacts[self.range(manifold)]
    }

    /// All contacts, in the order of [`Contacts::manifolds`].
    pub fn all(&self) -> &[Contact] {
        &self.contacts
    }

    /// Indices of the contacts of a pair in [`Contacts::all`].
    pub fn range(&self, manifold: &Manifold) -> std::ops::Range<usize> {
        let first = manifold.first as usize;
        first..first + manifold.count as usize
    }

    /// Number of contacts.
    pub fn len(&self) -> usize {
        self.contacts.len()
    }

    /// Whether there are no contacts.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty()
    }

    /// Work statistics of the search.
    pub fn stats(&self) -> &SearchStats {
        &self.stats
    }

    /// The contact point with this index in [`Contacts::all`], in body coordinates of the first and
    /// of the second body, m.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn points(&self, number: usize) -> &[Point3<f64>; 2] {
        &self.origins[number].points
    }

    /// The contacts of a pair with their origins, mutable.
    pub(crate) fn of_mut(
        &mut self,
        range: std::ops::Range<usize>,
    ) -> impl Iterator<Item = (&mut Contact, &mut Origin)> {
        self.contacts[range.clone()].iter_mut().zip(&mut self.origins[range])
    }

    /// How each contact was found.
    pub(crate) fn origins(&self) -> &[Origin] {
        &self.origins
    }

    pub(crate) fn push(&mut self, (contact, origin): (Contact, Origin)) {
        self.contacts.push(contact);
        self.origins.push(origin);
    }

    pub(crate) fn pair_tests(&self) -> &[PairTest] {
        &self.pair_tests
    }

    /// Moves the gaps from the start of a step to its end, after bodies moved from `start` to
    /// `end`.
    pub fn advance(&mut self, start: &[Isometry3<f64>], end: &[Isometry3<f64>]) {
        let motions: Vec<Velocity> =
            start.iter().zip(end).map(|(from, to)| Velocity::between(from, to, 1.0)).collect();
        for pair in &self.manifolds {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let range = pair.first as usize..(pair.first + pair.count) as usize;
            for contact in &mut self.contacts[range] {
                // to first order, as everywhere: rolling does not change the gap
                let moved = [0, 1].map(|n| motions[[a, b][n]].at(&contact.arms[n]));
                contact.gap += contact.normal.dot(&(moved[0] - moved[1]));
                contact.overlap = (-contact.gap).max(0.0);
                // one common point, so that impulses conserve angular momentum
                let point = contact.at(&end[a], &end[b]).coords;
                contact.arms = [a, b].map(|i| point - end[i].translation.vector);
            }
        }
    }

    /// Removes the contacts of `pairs`, which are sorted.
    pub(crate) fn without(self, pairs: &[(u32, u32)]) -> Self {
        if pairs.is_empty() {
            return self;
        }
        let mut kept = Self { stats: self.stats, ..Self::default() };
        let stays = |test: &&PairTest| pairs.binary_search(&(test.a, test.b)).is_err();
        for test in self.pair_tests.iter().filter(stays) {
            kept.take(test, kept.contacts.len() as u32);
            kept.copy(&self, test.range());
        }
        kept
    }

    /// Adds the test and the manifold of a pair of `others`. [`Self::copy`] adds its contacts.
    fn take(&mut self, test: &PairTest, first: u32) {
        if test.count > 0 {
            let PairTest { a, b, since, count, .. } = *test;
            self.manifolds.push(Manifold { a, b, since, first, count });
        }
        self.pair_tests.push(PairTest { first, ..*test });
    }

    /// Copies contacts of `others` with their origins.
    fn copy(&mut self, others: &Self, range: std::ops::Range<usize>) {
        self.contacts.extend_from_slice(&others.contacts[range.clone()]);
        self.origins.extend_from_slice(&others.origins[range]);
    }

    /// The last test of a pair: its relative pose, if contacts may be reused, and the contacts.
    pub(super) fn last_test(
        &self,
        pair: (u32, u32),
    ) -> Option<(Option<Isometry3<f64>>, &[Origin])> {
        let found = self.pair_tests.binary_search_by_key(&pair, |test| (test.a, test.b)).ok()?;
        let PairTest { relative, first, count, .. } = self.pair_tests[found];
        Some((relative, &self.origins[first as usize..(first + count) as usize]))
    }

    pub(super) fn reserve(&mut self, more: usize) {
        self.contacts.reserve(more);
        self.origins.reserve(more);
    }

    pub(super) fn append(&mut self, mut other: Self) {
        let shift = self.contacts.len() as u32;
        other.manifolds.iter_mut().for_each(|m| m.first += shift);
        other.pair_tests.iter_mut().for_each(|test| test.first += shift);
        self.pair_tests.append(&mut other.pair_tests);
        self.stats.add(&other.stats);
        self.manifolds.append(&mut other.manifolds);
        self.contacts.append(&mut other.contacts);
        self.origins.append(&mut other.origins);
    }
}

impl Contacts {
    /// Replaces the contacts of bodies for which `renewed` holds and of the `resumed` pairs,
    /// sorted, by the `fresh` ones.
    ///
    /// A pair without fresh contacts keeps its old ones: a later impulse may reverse the motion
    /// that separated it.
    pub(crate) fn renew(&self, fresh: &Self, renewed: &[bool], resumed: &[Resumed]) -> Self {
        let mut stats = self.stats;
        stats.repeated += fresh.pair_tests.len();
        stats.points += fresh.stats.points;
        let mut all = Self { stats, ..Self::default() };
        all.reserve(self.contacts.len() + fresh.contacts.len());
        all.pair_tests.reserve(self.pair_tests.len() + fresh.pair_tests.len());
        all.manifolds.reserve(self.manifolds.len() + fresh.manifolds.len());
        let stays = |test: &&PairTest| {
            test.count > 0 || !renewed[test.a as usize] && !renewed[test.b as usize]
        };
        let mut old = self.pair_tests.iter().filter(stays).peekable();
        let mut new = fresh.pair_tests.iter().peekable();
        let mut run = Run { from: self, range: 0..0 };
        loop {
            let order = match (old.peek(), new.peek()) {
                (Some(p), Some(q)) => (p.a, p.b).cmp(&(q.a, q.b)),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let known = old.next_if(|_| order.is_le()).map(|test| (self, test));
            let found = new.next_if(|_| order.is_ge()).map(|test| (fresh, test));
            let found = found.filter(|(_, test)| test.count > 0 || known.is_none());
            let Some((from, test)) = found.or(known) else { continue };
            let range = test.range();
            // one copy for consecutive pairs of the same source
            if !std::ptr::eq(run.from, from) || run.range.end != range.start {
                all.copy(run.from, run.range);
                run = Run { from, range: range.start..range.start };
            }
            all.take(test, (all.contacts.len() + run.range.len()) as u32);
            run.range.end = range.end;
        }
        all.copy(run.from, run.range);
        for pair in resumed {
            let own = (pair.a, pair.b);
            if let Ok(n) = all.pair_tests.binary_search_by_key(&own, |test| (test.a, test.b)) {
                all.pair_tests[n].since = pair.time;
            }
            if let Ok(n) = all.manifolds.binary_search_by_key(&own, |m| (m.a, m.b)) {
                all.manifolds[n].since = pair.time;
            }
        }
        all
    }
}
