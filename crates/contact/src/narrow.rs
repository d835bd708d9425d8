//! Narrow phase: the surface points of each body against the other's signed distance, both ways,
//! reduced to at most four contacts a pair.

use dynamics::Velocity;
use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;

use crate::Columns;
use crate::broad::Pairs;
use crate::cache::{Cache, Known, Remembered};
use crate::cuboids::{CuboidContact, cuboid_contacts};
use crate::query::Query;
use crate::shape::{Field, Probe, Shape};

/// Contacts kept per pair: the deepest and those that span the area best.
const MOST: usize = 4;
/// Pairs per task; fixed, so that the work is cut the same way for any thread count.
const CHUNK: usize = 64;
/// Contacts this share of the smaller radius apart are kept: later impulses may close them.
pub(crate) const MARGIN: f64 = 0.05;
/// Contacts are used again while no point of the smaller body moved farther than this share of its
/// radius: then none that was beyond the margin has come to touch.
const REUSE: f64 = 0.03;
/// Share of the thinner body's half thickness that bodies which touch may sink deeper before
/// contacts are looked for.
const DEEP: f64 = 0.25;
/// Ways of more such half thicknesses in a step are gone in strides as long as bodies are apart.
const FAR: f64 = 16.0;

/// Which body of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// A surface point near another body, as it was when the pair was looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The body whose surface point this is.
    pub(crate) owner: Side,
    /// Number of the point in its shape, an identity over frames.
    pub(crate) key: u32,
    /// In the owner's body coordinates.
    pub(crate) point: Point3<f64>,
    /// Out of the other body, in its coordinates.
    pub(crate) normal: Vector3<f64>,
    /// Signed distance to the other body, m.
    pub(crate) distance: f64,
}

/// One point where two bodies touch or soon may.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    pub(crate) found: Found,
    /// The impulse of the last frame on `a`, N s.
    pub(crate) guess: Vector3<f64>,
    /// From the owner's centre of mass to the point where the bodies meet, world axes, m. It stays
    /// as it is over the step: a body that rolls touches with ever new points.
    pub arm: Vector3<f64>,
    /// Where the bodies meet, in body coordinates of `a` and of `b`, m.
    pub met: [Point3<f64>; 2],
    /// Unit normal in world axes, out of `b` towards `a`.
    pub normal: Vector3<f64>,
    /// Gap at the start of the step, m, such that `gap + dt u . n` is the gap at its end: signed
    /// distances are linearised about the predicted pose.
    pub gap: f64,
}

impl Contact {
    /// The contact point in the world, m, when the bodies are at these poses.
    pub fn at(&self, a: &Isometry3<f64>, b: &Isometry3<f64>) -> Point3<f64> {
        match self.found.owner {
            Side::A => Point3::from(a.translation.vector + self.arm),
            Side::B => Point3::from(b.translation.vector + self.arm),
        }
    }
}

/// The contacts of one pair of bodies.
#[derive(Clone, Copy, Debug)]
pub struct Manifold {
    /// First body.
    pub a: u32,
    /// Second body.
    pub b: u32,
    first: u32,
    count: u32,
}

/// A pair that was looked at, whether or not it has contacts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) a: u32,
    pub(crate) b: u32,
    /// `a`'s coordinates in `b`'s when it was, in this step or an earlier one; `None` if what was
    /// found is not to be used again.
    pub(crate) relative: Option<Isometry3<f64>>,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// All contacts of a step, by pair in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    manifolds: Vec<Manifold>,
    contacts: Vec<Contact>,
    looks: Vec<Look>,
    pub(crate) tally: Tally,
}

/// How much was done to find contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Pairs whose boxes overlapped.
    pub pairs: usize,
    /// Pairs whose contacts of an earlier step were used again.
    pub reused: usize,
    /// Pairs that were looked at once more because collisions sent a body elsewhere.
    pub again: usize,
    /// Surface points whose distance to another body was asked.
    pub points: usize,
}

impl Tally {
    /// Counts a look at everything as one once more, after what `earlier` ones did.
    pub(crate) fn repeat(&mut self, earlier: &Self) {
        self.again += earlier.again + self.pairs;
        self.points += earlier.points;
    }

    fn add(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.reused += other.reused;
        self.again += other.again;
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

    /// Where in [`Contacts::all`] the contacts of a pair are.
    pub fn range(&self, manifold: &Manifold) -> std::ops::Range<usize> {
        let first = manifold.first as usize;
        first..first + manifold.count as usize
    }

    /// Number of contacts.
    pub fn len(&self) -> usize {
        self.contacts.len()
    }

    /// Whether nothing touches.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty()
    }

    /// What finding them took.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    pub(crate) fn looks(&self) -> &[Look] {
        &self.looks
    }

    /// Moves the gaps from the start of a step to its end, once bodies have moved from `start` to
    /// `end`.
    pub fn advance(&mut self, start: &[Isometry3<f64>], end: &[Isometry3<f64>]) {
        for pair in &self.manifolds {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let range = pair.first as usize..(pair.first + pair.count) as usize;
            for contact in &mut self.contacts[range] {
                let point = contact.at(&start[a], &start[b]);
                // to first order, as gaps are everywhere: what rolls does not come nearer by it
                let moved = |i: usize| {
                    let motion = Velocity::between(&start[i], &end[i], 1.0);
                    motion.at(&(point.coords - start[i].translation.vector))
                };
                contact.gap += contact.normal.dot(&(moved(a) - moved(b)));
            }
        }
    }

    /// The same without those between `pairs`, which are sorted.
    pub(crate) fn without(self, pairs: &[(u32, u32)]) -> Self {
        if pairs.is_empty() {
            return self;
        }
        let mut kept = Self { tally: self.tally, ..Self::default() };
        let stays = |look: &&Look| pairs.binary_search(&(look.a, look.b)).is_err();
        for look in self.looks.iter().filter(stays) {
            let first = kept.contacts.len() as u32;
            let range = look.first as usize..(look.first + look.count) as usize;
            kept.contacts.extend_from_slice(&self.contacts[range]);
            kept.looks.push(Look { first, ..*look });
            if look.count > 0 {
                kept.manifolds.push(Manifold { a: look.a, b: look.b, first, count: look.count });
            }
        }
        kept
    }

    fn add(&mut self, (a, b): (u32, u32), pair: &Pair<'_>, known: Option<Known<'_>>) {
        let first = self.contacts.len() as u32;
        let reused = known.and_then(|known| pair.reused(&known, &mut self.contacts));
        self.tally.reused += usize::from(reused.is_some());
        let relative = reused.or_else(|| pair.look(known, self));
        let count = self.contacts.len() as u32 - first;
        if count > 0 {
            self.manifolds.push(Manifold { a, b, first, count });
        }
        if count > 0 || relative.is_some() {
            self.looks.push(Look { a, b, relative, first, count });
        }
    }

    fn append(&mut self, mut other: Self) {
        let shift = self.contacts.len() as u32;
        other.manifolds.iter_mut().for_each(|m| m.first += shift);
        other.looks.iter_mut().for_each(|look| look.first += shift);
        self.looks.append(&mut other.looks);
        self.tally.add(&other.tally);
        self.manifolds.append(&mut other.manifolds);
        self.contacts.append(&mut other.contacts);
    }
}

impl Contacts {
    /// These contacts with those of bodies for which `renewed` holds replaced by the `fresh` ones.
    pub(crate) fn renew(&self, fresh: &Self, renewed: &[bool]) -> Self {
        let mut tally = self.tally;
        tally.again += fresh.looks.len();
        tally.points += fresh.tally.points;
        let mut all = Self { tally, ..Self::default() };
        all.contacts.reserve(self.contacts.len());
        let kept = |look: &&Look| !renewed[look.a as usize] && !renewed[look.b as usize];
        let (mut kept, mut new) = (self.looks.iter().filter(kept).peekable(), 0);
        loop {
            let (old, next) = (kept.peek().copied(), fresh.looks.get(new));
            let (from, look) = match (old, next) {
                (Some(p), Some(q)) if (q.a, q.b) < (p.a, p.b) => (fresh, q),
                (Some(p), _) => (self, p),
                (None, Some(q)) => (fresh, q),
                (None, None) => return all,
            };
            if std::ptr::eq(from, self) {
                kept.next();
            } else {
                new += 1;
            }
            let first = all.contacts.len() as u32;
            let range = look.first as usize..(look.first + look.count) as usize;
            all.contacts.extend_from_slice(&from.contacts[range]);
            if look.count > 0 {
                all.manifolds.push(Manifold { a: look.a, b: look.b, first, count: look.count });
            }
            all.looks.push(Look { first, ..*look });
        }
    }
}

/// A step that takes bodies from `poses` to `predicted`. All slices have one entry a body.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    pub(crate) columns: Columns<'a>,
    pub(crate) poses: &'a [Isometry3<f64>],
    pub(crate) predicted: &'a [Isometry3<f64>],
    pub(crate) velocities: &'a [Velocity],
    pub(crate) dt: f64,
    /// What is known of earlier steps.
    pub(crate) cache: &'a Cache,
    /// What it calls the bodies.
    pub(crate) names: &'a [u64],
}

/// Finds the contacts of `pairs` in a step.
///
/// Bodies are tested where they are predicted to be, and pairs that move far relative to their
/// size also on the way, so that nothing thin is passed through. Pairs that hardly moved since
/// they were looked at in an earlier step are not looked at again.
pub(crate) fn detect(step: Step<'_>, pairs: &Pairs) -> Contacts {
    let Step { columns, poses, predicted, velocities, dt, cache, names } = step;
    let motion = |i: u32| Motion {
        shape: &columns.shapes[i as usize],
        start: &poses[i as usize],
        end: &predicted[i as usize],
        velocity: &velocities[i as usize],
    };
    let named = |&(a, b): &(u32, u32)| [names[a as usize], names[b as usize]];
    let parts: Vec<Contacts> = pairs
        .near
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut found = Contacts::default();
            let mut cursor = cache.from(named(&chunk[0]));
            for &(a, b) in chunk {
                let pair = Pair { a: motion(a), b: motion(b), dt };
                found.add((a, b), &pair, cursor.find(named(&(a, b))));
            }
            found
        })
        .collect();
    let tally = Tally { pairs: pairs.boxes, ..Tally::default() };
    let mut contacts = Contacts { tally, ..Contacts::default() };
    contacts.contacts.reserve(parts.iter().map(|part| part.contacts.len()).sum());
    parts.into_iter().for_each(|part| contacts.append(part));
    contacts
}

/// A body over the step.
struct Motion<'a> {
    shape: &'a Shape,
    start: &'a Isometry3<f64>,
    end: &'a Isometry3<f64>,
    velocity: &'a Velocity,
}

impl Motion<'_> {
    fn at(&self, time: f64) -> Isometry3<f64> {
        if time == 1.0 { *self.end } else { self.start.lerp_slerp(self.end, time) }
    }

    /// How far it moves, m.
    fn shift(&self) -> Vector3<f64> {
        self.end.translation.vector - self.start.translation.vector
    }

    /// Twice the sine of half the angle by which it turns, which is the angle where that is small.
    fn turn(&self) -> f64 {
        let cosine = self.start.rotation.coords.dot(&self.end.rotation.coords);
        2.0 * (1.0 - cosine * cosine).max(0.0).sqrt()
    }

    /// Half the smallest extent: what another body must not skip in one move, m.
    fn half_thickness(&self) -> f64 {
        self.shape.half_thickness()
    }
}

struct Pair<'a> {
    a: Motion<'a>,
    b: Motion<'a>,
    dt: f64,
}

/// A surface point near the other body.
pub(crate) struct Candidate {
    pub(crate) owner: Side,
    /// In the owner's body coordinates.
    pub(crate) point: Point3<f64>,
    /// In the other's.
    pub(crate) asked: Point3<f64>,
    /// Normal out of the other, in its coordinates, where it is known already.
    pub(crate) normal: Option<Vector3<f64>>,
    pub(crate) key: u32,
    pub(crate) distance: f64,
}

impl Pair<'_> {
    fn size(&self) -> f64 {
        self.a.half_thickness().min(self.b.half_thickness())
    }

    fn margin(&self) -> f64 {
        MARGIN * self.a.shape.radius().min(self.b.shape.radius())
    }

    /// Whether the bodies move too little to pass anything on the way.
    fn is_slow(&self, size: f64) -> bool {
        self.travel() < 0.2 * size
    }

    /// The contacts of an earlier frame, if the bodies are nearly as they were then, and how they
    /// were: signed distances are linearised.
    fn reused(&self, known: &Known<'_>, contacts: &mut Vec<Contact>) -> Option<Isometry3<f64>> {
        let looked = known.looked?;
        let relative = self.b.end.inv_mul(self.a.end);
        let (r, s) = (self.a.shape.radius(), self.b.shape.radius());
        let moved = if r <= s {
            relative.translation.vector - looked.translation.vector
        } else {
            relative.inverse().translation.vector - looked.inverse().translation.vector
        };
        let cosine = relative.rotation.coords.dot(&looked.rotation.coords);
        let angle = 2.0 * (1.0 - cosine * cosine).max(0.0).sqrt();
        let smaller = r.min(s);
        if moved.norm() + angle * smaller > REUSE * smaller || !self.is_slow(self.size()) {
            return None;
        }
        contacts.extend(known.contacts.iter().map(|Remembered { found, impulse }| {
            let (now, then) = match found.owner {
                Side::A => (relative * found.point, looked * found.point),
                Side::B => (
                    relative.inverse_transform_point(&found.point),
                    looked.inverse_transform_point(&found.point),
                ),
            };
            let distance = found.distance + found.normal.dot(&(now - then));
            let contact = self.contact(found, distance, 1.0, (self.a.end, self.b.end));
            Contact { guess: *impulse, ..contact }
        }));
        Some(looked)
    }

    /// Finds contacts. Returns where the bodies were, if it may serve later frames too.
    fn look(&self, known: Option<Known<'_>>, found: &mut Contacts) -> Option<Isometry3<f64>> {
        let (size, margin) = (self.size(), self.margin());
        let tested = &mut found.tally.points;
        if !self.is_slow(size) && self.stays_clear(margin) {
            return None;
        }
        let time = self.contact_time(size, margin, tested);
        let (pose_a, pose_b) = (self.a.at(time), self.b.at(time));
        let mut candidates = self.candidates(&pose_a, &pose_b, margin, tested);
        let known = known.map_or(&[][..], |known| known.contacts);
        if candidates.iter().any(|c| c.distance < -DEEP * size) {
            self.keep_near_side(&mut candidates, known, (&pose_a, &pose_b));
        }
        found.contacts.extend(reduce(&candidates, margin, &pose_a, &pose_b).into_iter().map(|c| {
            let found = self.found(c);
            let same = |r: &&Remembered| r.found.owner == c.owner && r.found.key == c.key;
            let guess = known.iter().find(same).map_or_else(Vector3::zeros, |r| r.impulse);
            let contact = self.contact(&found, c.distance, time, (&pose_a, &pose_b));
            Contact { guess, ..contact }
        }));
        // analytic shapes are exact and cheap to ask again
        let sampled = |m: &Motion<'_>| matches!(m.shape.field(), Field::Grid { .. });
        (time == 1.0 && (sampled(&self.a) || sampled(&self.b))).then(|| pose_b.inv_mul(&pose_a))
    }

    /// Whether the sphere around one body stays off the other all the way, by what it is off in the
    /// middle: most of what falls has the ground far below it.
    fn stays_clear(&self, margin: f64) -> bool {
        let (pose_a, pose_b) = (self.a.at(0.5), self.b.at(0.5));
        type Placed<'p> = (&'p Motion<'p>, &'p Isometry3<f64>);
        let apart = |(body, pose): Placed<'_>, (other, from): Placed<'_>| {
            let centre = from.inverse_transform_point(&pose.translation.vector.into());
            let shift = body.shift() - other.shift();
            let swung = other.turn() * (centre.coords.norm() + shift.norm());
            let reach = body.shape.radius() + margin + shift.norm() / 2.0 + swung;
            reach.is_finite() && other.shape.field().distance(&centre) > reach
        };
        let (a, b) = ((&self.a, &pose_a), (&self.b, &pose_b));
        apart(a, b) || apart(b, a)
    }

    /// Drops what would push bodies that overlap deeply out the far side: points whose normals
    /// oppose those of the last frame or, where there were none, the way that the bodies came.
    fn keep_near_side(
        &self,
        candidates: &mut Vec<Candidate>,
        known: &[Remembered],
        (pose_a, pose_b): (&Isometry3<f64>, &Isometry3<f64>),
    ) {
        let out_of_b = |owner: Side, normal: &Vector3<f64>| match owner {
            Side::A => pose_b * normal,
            Side::B => -(pose_a * normal),
        };
        let way_in: Vector3<f64> = if known.is_empty() {
            self.a.shift() - self.b.shift()
        } else {
            -known.iter().map(|r| out_of_b(r.found.owner, &r.found.normal)).sum::<Vector3<f64>>()
        };
        let is_near = |c: &Candidate| out_of_b(c.owner, &self.found(c).normal).dot(&way_in) < 0.0;
        if candidates.iter().any(is_near) {
            candidates.retain(is_near);
        }
    }

    /// The most that a point of one body moves as seen from the other, m, to first order.
    fn travel(&self) -> f64 {
        let reach = self.a.shape.radius().min(self.b.shape.radius());
        (self.a.shift() - self.b.shift()).norm() + (self.a.turn() + self.b.turn()) * reach
    }

    /// The time in the step, 0 to 1, at which the contacts are found: the end, unless the bodies
    /// moved so far that they passed into or through each other; then shortly after they met, or,
    /// if they touched at the start, before they are so deep that normals lead out the other side.
    ///
    /// The way is taken in steps as long as the bodies are apart, and of half the thickness next to
    /// each other, so that nothing is stepped over.
    fn contact_time(&self, size: f64, margin: f64, tested: &mut usize) -> f64 {
        const MOST_STEPS: usize = 256;
        if self.is_slow(size) {
            return 1.0;
        }
        let way = self.travel();
        // to see far is dear, and pays where there is far to go
        let smaller = self.a.shape.radius().min(self.b.shape.radius());
        let reach = if way > FAR * size { margin.max(0.5 * smaller) } else { margin };
        let (mut before, first) = (0.0, self.apart(0.0, reach, tested));
        let most = if first < 0.0 { first - DEEP * size } else { 0.0 };
        let mut apart = first;
        for left in (1..=MOST_STEPS).rev() {
            let step = apart.max(0.5 * size) / way;
            let mut after = (before + step.max((1.0 - before) / left as f64)).min(1.0);
            apart = self.apart(after, reach, tested);
            if apart < most {
                for _ in 0..4 {
                    let middle = 0.5 * (before + after);
                    let meets = self.deepest(middle, margin, tested) < most;
                    if meets { after = middle } else { before = middle }
                }
                return if first < 0.0 { before } else { after };
            }
            if after == 1.0 {
                return 1.0;
            }
            before = after;
        }
        1.0
    }

    /// How far the bodies are apart at least, m, as far as `reach` tells; negative where they overlap.
    fn apart(&self, time: f64, reach: f64, tested: &mut usize) -> f64 {
        let (r, s) = (self.a.shape.radius(), self.b.shape.radius());
        let centres = self.a.at(time).translation.vector - self.b.at(time).translation.vector;
        let spheres = centres.norm() - r - s;
        // without end for a half-space
        if spheres > reach { spheres } else { self.deepest(time, reach, tested).min(reach) }
    }

    fn deepest(&self, time: f64, margin: f64, tested: &mut usize) -> f64 {
        let candidates = self.candidates(&self.a.at(time), &self.b.at(time), margin, tested);
        candidates.iter().map(|c| c.distance).fold(f64::INFINITY, f64::min)
    }

    fn candidates(
        &self,
        pose_a: &Isometry3<f64>,
        pose_b: &Isometry3<f64>,
        margin: f64,
        tested: &mut usize,
    ) -> Vec<Candidate> {
        candidates((self.a.shape, pose_a), (self.b.shape, pose_b), margin, tested)
    }

    fn found(&self, candidate: &Candidate) -> Found {
        let Candidate { owner, key, point, distance, .. } = *candidate;
        let other = match owner {
            Side::A => &self.b,
            Side::B => &self.a,
        };
        let normal = || other.shape.field().normal(&candidate.asked);
        Found { owner, key, point, normal: candidate.normal.unwrap_or_else(normal), distance }
    }

    /// The contact of `found` with the bodies at `pose_a` and `pose_b`, where it is `distance` m
    /// off the other body.
    fn contact(
        &self,
        found: &Found,
        distance: f64,
        time: f64,
        (pose_a, pose_b): (&Isometry3<f64>, &Isometry3<f64>),
    ) -> Contact {
        let (owner, other, sign) = match found.owner {
            Side::A => ((&self.a, pose_a), pose_b, 1.0),
            Side::B => ((&self.b, pose_b), pose_a, -1.0),
        };
        let outward = other * found.normal;
        let mut arm = owner.1.rotation * found.point.coords;
        if let Probe::Ball(radius) = owner.0.shape.probe() {
            arm -= outward * *radius;
        }
        let normal = outward * sign;
        let place = Point3::from(owner.1.translation.vector + arm);
        let met = [pose_a, pose_b].map(|pose| pose.inverse_transform_point(&place));
        let start = owner.0.start.translation.vector + arm;
        let velocity = |m: &Motion<'_>| m.velocity.at(&(start - m.start.translation.vector));
        let speed = normal.dot(&(velocity(&self.a) - velocity(&self.b)));
        let gap = distance - time * self.dt * speed;
        Contact { found: *found, guess: Vector3::zeros(), arm, met, normal, gap }
    }
}

/// The points of each body that are nearer than `margin` to the other, with the bodies where they
/// are given. Adds to `tested` how many were asked.
pub(crate) fn candidates(
    (shape_a, pose_a): (&Shape, &Isometry3<f64>),
    (shape_b, pose_b): (&Shape, &Isometry3<f64>),
    margin: f64,
    tested: &mut usize,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    let b_from_a = pose_b.inv_mul(pose_a);
    if let (Field::Cuboid { half: a }, Field::Cuboid { half: b }) =
        (shape_a.field(), shape_b.field())
    {
        let candidate = |c: CuboidContact| Candidate {
            owner: Side::A,
            point: c.point,
            asked: b_from_a * c.point,
            normal: Some(c.normal),
            key: c.key,
            distance: c.distance,
        };
        return cuboid_contacts(a, b, &b_from_a.inverse(), margin).map(candidate).collect();
    }
    if probes(shape_a, shape_b) {
        *tested += probe(Side::A, shape_a, shape_b.field(), &b_from_a, margin, &mut found);
    }
    if probes(shape_b, shape_a) && !(is_ball(shape_a) && is_ball(shape_b)) {
        let map = b_from_a.inverse();
        *tested += probe(Side::B, shape_b, shape_a.field(), &map, margin, &mut found);
    }
    found
}

fn is_ball(shape: &Shape) -> bool {
    matches!(shape.probe(), Probe::Ball(_))
}

/// Whether `source`'s probe is asked of `target`. A ball's centre is exact against analytic
/// fields, while the sampled distance outside a fragment is only a lower bound: there the
/// fragment's points are asked of the ball instead, unless the ball would slip between them.
fn probes(source: &Shape, target: &Shape) -> bool {
    match (source.probe(), target.field()) {
        (Probe::None, _) => false,
        (Probe::Ball(radius), Field::Grid { level_set, .. }) => {
            *radius < 2.0 * level_set.grid().spacing()
        }
        (Probe::Ball(_), _) => true,
        (Probe::Points(_), Field::Ball { .. }) => matches!(source.field(), Field::Grid { .. }),
        (Probe::Points(_), _) => true,
    }
}

/// Returns how many points were asked.
fn probe(
    owner: Side,
    source: &Shape,
    field: &Field,
    map: &Isometry3<f64>,
    margin: f64,
    found: &mut Vec<Candidate>,
) -> usize {
    let query = Query::new(field, map);
    match source.probe() {
        Probe::None => 0,
        Probe::Ball(radius) => {
            let asked = map * Point3::origin();
            if let Field::Mesh(triangles) = field {
                let facing = triangles.facing(&asked, radius + margin);
                found.extend(facing.into_iter().map(|f| Candidate {
                    owner,
                    point: Point3::origin(),
                    asked,
                    normal: Some(f.normal),
                    key: f.key,
                    distance: f.distance - radius,
                }));
                return 1;
            }
            let distance = query.distance(&Point3::origin()) - radius;
            if distance < margin {
                let point = Point3::origin();
                found.push(Candidate { owner, point, asked, normal: None, key: 0, distance });
            }
            1
        }
        Probe::Points(tree) => tree.near(
            margin,
            |p, limit| query.within(p, limit),
            |key, p, distance| {
                let asked = map * p;
                found.push(Candidate { owner, point: *p, asked, normal: None, key, distance });
            },
        ),
    }
}

/// The deepest candidate, then those farthest from the chosen ones, nearer gaps preferred.
fn reduce<'c>(
    candidates: &'c [Candidate],
    margin: f64,
    pose_a: &Isometry3<f64>,
    pose_b: &Isometry3<f64>,
) -> Vec<&'c Candidate> {
    // a ball meets all sides of a groove with its one point
    let turned = |c: &Candidate| c.normal.map_or_else(Vector3::zeros, |n| n * margin);
    let place = |c: &Candidate| match c.owner {
        Side::A => pose_a * c.point + pose_b * turned(c),
        Side::B => pose_b * c.point + pose_a * turned(c),
    };
    let Some(deepest) = candidates.iter().min_by(|p, q| p.distance.total_cmp(&q.distance)) else {
        return Vec::new();
    };
    let weight = |c: &Candidate| {
        let range = margin - deepest.distance;
        if range > 0.0 { (margin - c.distance) / range } else { 1.0 }
    };
    let mut chosen = vec![deepest];
    let mut spread: Vec<f64> = vec![f64::INFINITY; candidates.len()];
    while chosen.len() < MOST {
        let last = place(chosen[chosen.len() - 1]);
        let mut best = (0.0, None);
        for (c, nearest) in candidates.iter().zip(&mut spread) {
            *nearest = nearest.min((place(c) - last).norm_squared());
            let score = *nearest * weight(c).powi(2);
            if score > best.0 {
                best = (score, Some(c));
            }
        }
        let Some(next) = best.1 else { break };
        chosen.push(next);
    }
    chosen
}
