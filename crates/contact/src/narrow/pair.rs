//! Time of impact and contacts of a pair of bodies over a step.

mod impact;
mod motion;

use nalgebra::{Isometry3, UnitVector3, Vector3};

pub(crate) use self::motion::Motion;
use crate::narrow::cache::{CachedPairRef, Remembered};
use crate::narrow::candidate::{Candidate, Found, Side};
use crate::narrow::contacts::{Contact, Contacts, MARGIN, Origin};
use crate::narrow::posed::Posed;
use crate::narrow::solids::RawCandidates;
use crate::shape::Shape;
use crate::shape::compound::Compound;
use crate::shape::field::Field;

/// Contacts are reused while no point of the smaller body moved farther than this share of its
/// radius: then no point from beyond the margin can have reached contact.
const REUSE: f64 = 0.03;
/// Largest further penetration of bodies in contact before contacts are sought, as a share of the
/// thinner body's half thickness.
const DEEP: f64 = 0.25;

/// Tolerance of the time of impact of hulls as a share of the half thickness: before the limit of
/// penetration or after first contact.
const SLACK: f64 = 0.05;
/// Step over which the slope of the distance is measured, as a share of the half thickness.
const STEP: f64 = 0.1;

/// Rotation over the rest of the step, rad, above which contacts at its end do not represent
/// earlier ones.
const SPINNING: f64 = 1.0;

/// The candidates at the end of a step, as far as computed.
enum AtEnd {
    Unknown,
    /// Candidates of two convex solids before
    /// [`Solids::oriented`](crate::narrow::solids::Solids::oriented).
    Raw(RawCandidates),
    Near(Vec<Candidate>),
}

pub(crate) struct Pair<'a> {
    a: Motion<'a>,
    b: Motion<'a>,
    dt: f64,
    /// `a`'s coordinates in `b`'s at the end of the step.
    relative: Isometry3<f64>,
    /// Start of the search.
    from: f64,
    /// Upper bound of the relative displacement of a point, m; see [`moved`].
    travel: f64,
    /// Upper bound of the relative displacement over a whole step, m.
    speed: f64,
}

impl<'a> Pair<'a> {
    /// The pair from the time `from` (a share of the step), but not before the last collision of
    /// either body.
    pub(crate) fn new(a: Motion<'a>, b: Motion<'a>, from: f64) -> Self {
        let dt = a.dt;
        let from = a.from.max(b.from).max(from).min(1.0);
        let (before, relative) = (b.at(from).inv_mul(&a.at(from)), b.end.inv_mul(a.end));
        let (r, s) = (a.shape.radius(), b.shape.radius());
        let [p, q] = [&a, &b].map(Motion::spin);
        let travel = if p.max(q) < SPINNING {
            moved(&before, &relative, (r, s))
        } else {
            // a body that makes whole turns moves by its full arc
            let along = |motion: &Motion<'_>| {
                (motion.end.translation.vector - motion.start.translation.vector) * (1.0 - from)
            };
            let turned = |angle: f64, radius: f64| if angle > 0.0 { angle * radius } else { 0.0 };
            (along(&a) - along(&b)).norm() + turned(p, r) + turned(q, s)
        };
        let speed =
            if from < 1.0 { travel / (1.0 - from) + (a.fall - b.fall).norm() } else { travel };
        Self { a, b, dt, relative, from, travel, speed }
    }

    /// Start of the search, s.
    pub(crate) fn since(&self) -> f64 {
        self.from * self.dt
    }

    fn size(&self) -> f64 {
        self.a.half_thickness().min(self.b.half_thickness())
    }

    fn margin(&self) -> f64 {
        MARGIN * self.a.shape.size().min(self.b.shape.size())
    }

    /// Whether a body rotates so far that contacts at the end do not represent earlier ones.
    fn spins(&self) -> bool {
        self.a.spin().max(self.b.spin()) >= SPINNING
    }

    /// Whether the bodies move too little for tunnelling.
    fn is_slow(&self, size: f64) -> bool {
        self.travel < 0.2 * size
    }

    /// The compounds of both bodies, if both are unions of polyhedra.
    fn compounds(&self) -> Option<[&Compound; 2]> {
        let [a, b] = self.shapes();
        Some([a.compound()?, b.compound()?])
    }

    /// Whether the solids have a signed distance that is exact outside and shortly after first
    /// contact: convex solids, or a solid of revolution and triangles. Balls against triangles take
    /// the general way, as balls against hulls do.
    fn has_exact_distance(&self) -> bool {
        let is_round = |shape: &Shape| matches!(shape.field(), Field::Round(_));
        let is_known = |shape: &&Shape| shape.compound().is_some() || is_round(shape);
        let [a, b] = self.shapes();
        let of_triangles =
            |round: &Shape, other: &Shape| is_round(round) && other.triangles().is_some();
        self.shapes().iter().all(is_known) || of_triangles(a, b) || of_triangles(b, a)
    }

    /// Whether one body is a half-space. Its normal leads out at any depth, so that contacts are
    /// taken at the end of the step. At the time of impact, a tipping body would have contacts only
    /// on its supporting edge, and none at the point of its later impact.
    fn is_on_plane(&self) -> bool {
        self.shapes().iter().any(|shape| matches!(shape.field(), Field::HalfSpace))
    }

    /// Reuses the contacts of an earlier frame if the relative pose has hardly changed. Signed
    /// distances are linearized about the old pose.
    pub(crate) fn reused<'k>(
        &self,
        tested_pose: Option<Isometry3<f64>>,
        known: impl Iterator<Item = (&'k Found, &'k Vector3<f64>)>,
        contacts: &mut Contacts,
    ) -> Option<Isometry3<f64>> {
        let tested_pose = tested_pose?;
        let relative = &self.relative;
        let (r, s) = (self.a.shape.radius(), self.b.shape.radius());
        if moved(&tested_pose, relative, (r, s)) > REUSE * r.min(s) || !self.is_slow(self.size()) {
            return None;
        }
        for (found, impulse) in known {
            let (now, then) = match found.owner {
                Side::A => (relative * found.point, tested_pose * found.point),
                Side::B => (
                    relative.inverse_transform_point(&found.point),
                    tested_pose.inverse_transform_point(&found.point),
                ),
            };
            let distance = found.distance + found.normal.dot(&(now - then));
            contacts.push(self.contact(
                found,
                impulse,
                distance,
                1.0,
                self.posed([self.a.end, self.b.end]),
            ));
        }
        Some(tested_pose)
    }

    /// Finds contacts. Returns the relative pose if later frames may reuse them.
    pub(crate) fn find_contacts(
        &self,
        known: Option<CachedPairRef<'_>>,
        found: &mut Contacts,
    ) -> Option<Isometry3<f64>> {
        let (size, margin) = (self.size(), self.margin());
        let tested = &mut found.stats.points;
        let deep = |candidates: &[Candidate]| candidates.iter().any(|c| c.distance < -DEEP * size);
        let is_slow = self.is_slow(size);
        let is_sure = is_slow || self.is_on_plane() && !self.spins();
        // the depth of hulls changes no faster than points move: if they move less than the half
        // thickness and are not deep at the end, they never passed the middle
        let is_short = is_sure || self.travel < size && self.compounds().is_some();
        let separation = if is_short { 0.0 } else { self.separation_bound(margin) };
        if separation > margin {
            return None;
        }
        let mut at_end = AtEnd::Unknown;
        if is_short || separation > -DEEP * size {
            at_end = self.candidates_at_end(margin, tested);
            // a deep overlap at the end has a time of impact before it: its normals are not needed
            let is_met = |raw: &RawCandidates| !is_sure && deep(&raw.found);
            if !matches!(&at_end, AtEnd::Raw(raw) if is_met(raw)) {
                at_end = AtEnd::Near(self.oriented_at_end(at_end, margin, tested));
            }
        }
        let (mut time, mut candidates) = match at_end {
            AtEnd::Near(near) if is_sure || !deep(&near) => (1.0, near),
            at_end => self.advance_to_contact(size, margin, at_end, tested)?,
        };
        let known = known.map_or(&[][..], |known| known.contacts);
        if !self.is_on_plane()
            && deep(&candidates)
            && !self.keep_near_side(&mut candidates, known, time)
        {
            // all candidates lead out of the far side; fewer did at the start
            let mut before = self.near(self.from, margin, tested);
            if self.keep_near_side(&mut before, known, self.from) {
                (time, candidates) = (self.from, before);
            }
        }
        let poses = self.at(time);
        let posed = self.posed(poses.each_ref());
        for c in posed.reduce(&candidates, margin) {
            let origin = posed.found(c);
            let same = |r: &&Remembered| r.found.owner == c.owner && r.found.key == c.key;
            let guess = known.iter().find(same).map_or_else(Vector3::zeros, |r| r.impulse);
            found.push(self.contact(&origin, &guess, c.distance, time, posed));
        }
        // analytic shapes are exact and cheap to test again; rolling changes the contact points
        let fields = self.shapes().map(Shape::field);
        let is_costly = |field: &&Field| {
            matches!(field, Field::Grid { .. } | Field::Hull(_) | Field::Hulls(_) | Field::Tets(_))
        };
        let rolls = |field: &&Field| matches!(field, Field::Round(_));
        let are_costly = self.compounds().is_some() || fields.iter().any(is_costly);
        let again = are_costly && !fields.iter().any(rolls);
        (time == 1.0 && again).then_some(self.relative)
    }

    /// Removes candidates that would push deeply overlapping bodies out of the far side: points
    /// whose normals oppose those of the last frame or, without these, the direction from which
    /// they came. Returns whether any are left; if not, all stay.
    fn keep_near_side(
        &self,
        candidates: &mut Vec<Candidate>,
        known: &[Remembered],
        time: f64,
    ) -> bool {
        let poses = self.at(time);
        let out =
            |owner: Side, normal: &Vector3<f64>| poses[owner.order()[1]] * normal * owner.sign();
        let before: Vector3<f64> = known.iter().map(|r| out(r.found.owner, &r.found.normal)).sum();
        // contacts of the parts of a union may have opposite normals, whose sum means nothing
        let are_solids = self.compounds().is_none_or(|unions| unions.iter().all(|u| u.is_convex()));
        let before = UnitVector3::try_new(before, 0.0).filter(|_| are_solids);
        let first = self.at(self.from);
        let [now, start] = [&poses, &first].map(|poses| self.posed(poses.each_ref()).queries());
        let step = STEP * self.size();
        let is_near = |c: &Candidate| {
            let [own, other] = c.owner.order();
            // in the owner's coordinates, as for queries of its points
            let direction = match before {
                Some(before) => poses[own].inverse_transform_vector(&before.scale(-c.owner.sign())),
                None => {
                    let then = first[other].inverse_transform_point(&(first[own] * c.point));
                    c.point - poses[own].inverse_transform_point(&(poses[other] * then))
                }
            };
            let Some(direction) = UnitVector3::try_new(direction, 1e-3 * step) else { return true };
            let leads_out = match c.normal {
                Some(normal) => {
                    (poses[other] * normal).dot(&(poses[own] * direction.into_inner())) > 0.0
                }
                None => {
                    let [after, here] = [c.point + direction.scale(step), c.point];
                    now[other].distance(&after) > now[other].distance(&here)
                }
            };
            // a point that was deeper at the start leaves through the side by which it entered
            let comes = before.is_some() || start[other].distance(&c.point) > c.distance;
            !(leads_out && comes)
        };
        let near: Vec<Candidate> = candidates.iter().copied().filter(is_near).collect();
        let any = !near.is_empty();
        if any {
            *candidates = near;
        }
        any
    }

    fn shapes(&self) -> [&'a Shape; 2] {
        [self.a.shape, self.b.shape]
    }

    fn motions(&self) -> [&Motion<'a>; 2] {
        [&self.a, &self.b]
    }

    /// The poses of both bodies at a time.
    fn at(&self, time: f64) -> [Isometry3<f64>; 2] {
        self.motions().map(|motion| motion.at(time))
    }

    /// Both bodies at these poses.
    fn posed<'p>(&self, poses: [&'p Isometry3<f64>; 2]) -> Posed<'p>
    where
        'a: 'p,
    {
        Posed { shapes: self.shapes(), poses }
    }

    fn near(&self, time: f64, margin: f64, tested: &mut usize) -> Vec<Candidate> {
        self.posed(self.at(time).each_ref()).candidates(margin, tested)
    }

    /// The contact of `found`, warm-started from the last frame, with the bodies `distance` m apart
    /// at a time.
    fn contact(
        &self,
        found: &Found,
        guess: &Vector3<f64>,
        distance: f64,
        time: f64,
        posed: Posed<'_>,
    ) -> (Contact, Origin) {
        let motions = self.motions();
        let owner = found.owner.order()[0];
        let spot = posed.spot(found);
        let (mut arm, normal) = (spot.arm, spot.normal);
        let points = spot.at(posed.poses);
        let struck = self.a.from.max(self.b.from);
        let is_curved = self.shapes().iter().any(|shape| shape.field().is_curved());
        if !self.spins() {
            arm = motions[owner].chord_arm([struck, time], [&found.point.coords, &arm], &normal);
        }
        let shared = posed.poses[owner].translation.vector + arm;
        let then_arms = posed.poses.map(|pose| shared - pose.translation.vector);
        let start = motions[owner].start.translation.vector + arm;
        let arms = if struck == 0.0 {
            motions.map(|motion| start - motion.start.translation.vector)
        } else {
            then_arms
        };
        let [p, q] = [self.a.velocity.at(&arms[0]), self.b.velocity.at(&arms[1])];
        let displacement = self.dt * normal.dot(&(p - q));
        let fall = normal.dot(&(self.a.fall - self.b.fall));
        // displacement from the start to a time
        let moved = |time: f64| time * (displacement - (1.0 - time) * fall);
        let gap = distance - moved(time);
        let overlap = (-gap - moved(struck)).max(0.0);
        let entered = if is_curved {
            f64::INFINITY
        } else {
            let [p, q] = [0, 1].map(|n| motions[n].entry * points[n] - posed.poses[n] * points[n]);
            (-distance - normal.dot(&(p - q))).max(0.0)
        };
        let [p, q] =
            motions.map(|motion| motion.velocity_at(time).angular - motion.velocity.angular);
        let turning = normal.dot(&(p.cross(&then_arms[0]) - q.cross(&then_arms[1])));
        let valid = if self.spins() { self.validity(time) } else { f64::INFINITY };
        let time = time * self.dt;
        let until = time + valid;
        let origin = Origin {
            found: *found,
            guess: *guess,
            points,
            time,
            distance,
            arms: then_arms,
            turning,
            until,
        };
        (Contact { owner: found.owner, arms, normal, gap, overlap, entered }, origin)
    }
}

/// Upper bound of the relative displacement of a point, m, while `a`'s pose in `b`'s coordinates
/// changes from `from` to `to`; `r` and `s` are the radii. It leaves out the curvature of the path
/// by forces.
fn moved(from: &Isometry3<f64>, to: &Isometry3<f64>, (r, s): (f64, f64)) -> f64 {
    let shift = if r <= s {
        to.translation.vector - from.translation.vector
    } else {
        to.inverse().translation.vector - from.inverse().translation.vector
    };
    let cosine = from.rotation.coords.dot(&to.rotation.coords);
    let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
    // upper bound of the angle, which is twice the arc sine
    let angle = 2.0 * sine + (std::f64::consts::PI - 2.0) * sine.powi(3);
    // as seen from a turning body, the other moves along an arc, not its chord
    let bend = if sine > 0.0 { angle / (2.0 * sine) } else { 1.0 };
    shift.norm() * bend + angle * r.min(s)
}

#[cfg(test)]
mod tests {
    use dynamics::Velocity;
    use nalgebra::UnitQuaternion;

    use super::*;
    use parry3d::math::{Pose, Rotation, Vector};
    use parry3d::query::details::contact_support_map_support_map;
    use parry3d::shape::Cuboid;

    fn motion<'a>(shape: &'a Shape, [start, end]: [&'a Isometry3<f64>; 2]) -> Motion<'a> {
        const STILL: &Velocity =
            &Velocity { linear: Vector3::new(0.0, 0.0, 0.0), angular: Vector3::new(0.0, 0.0, 0.0) };
        let fall = Vector3::zeros();
        let (dt, rotation) = (1.0 / 30.0, start.rotation);
        let (turning, resting) = (None, 0.0);
        Motion {
            shape,
            start,
            entry: start,
            end,
            velocity: STILL,
            dt,
            fall,
            from: 0.0,
            resting,
            rotation,
            turning,
        }
    }

    /// The signed distance of two boxes by GJK and EPA, m.
    fn cuboid_distance(halves: [&Vector3<f64>; 2], first_from_second: &Isometry3<f64>) -> f64 {
        let vector = |v: &Vector3<f64>| Vector::from_array((*v).into());
        let [first, second] = halves.map(|half| Cuboid::new(vector(half)));
        let rotation = Rotation::from_array(first_from_second.rotation.coords.into());
        let pose = Pose::from_parts(vector(&first_from_second.translation.vector), rotation);
        let contact = contact_support_map_support_map(&pose, &first, &second, f64::INFINITY);
        contact.map_or(f64::INFINITY, |contact| contact.dist)
    }

    fn meets(a: (&Shape, [Isometry3<f64>; 2]), b: (&Shape, [Isometry3<f64>; 2])) -> bool {
        let [a, b] = [motion(a.0, [&a.1[0], &a.1[1]]), motion(b.0, [&b.1[0], &b.1[1]])];
        let pair = Pair::new(a, b, 0.0);
        let mut found = Contacts::default();
        pair.find_contacts(None, &mut found);
        !found.is_empty()
    }

    #[test]
    fn boxes_that_pass_through_each_other_in_a_step_meet() {
        let mut state = 12345u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
        };
        let mut vector = |size: f64| Vector3::new(random(), random(), random()) * size;
        let mut met = 0;
        for case in 0..1200 {
            let scale = [0.5, 0.8, 1.2, 2.0][case % 4];
            let [h, k] = [0; 2].map(|_| vector(0.3).abs().add_scalar(0.02));
            let still = Isometry3::new(Vector3::zeros(), vector(6.0));
            let (turn, from) = (vector(6.0), vector(scale));
            let to = vector(0.2) - from;
            let at = |share: f64| Isometry3::new(from + (to - from) * share, turn);
            let depth = |n: u32| {
                let place = still.inv_mul(&at(f64::from(n) / 300.0));
                -cuboid_distance([&h, &k], &place)
            };
            if depth(0) >= 0.0 {
                continue;
            }
            if (0..=300).map(depth).fold(0.0, f64::max) < 0.01 {
                continue;
            }
            met += 1;
            let [p, q] = [h, k].map(|half| Shape::cuboid(half, 0.02));
            assert!(meets((&p, [still; 2]), (&q, [at(0.0), at(1.0)])), "case {case}");
        }
        assert!(met > 500, "{met}");
    }

    /// The corners of a box that sinks into another of its size stay near the sides of that box.
    #[test]
    fn a_box_that_falls_through_another_of_its_size_is_met_on_top() {
        let half = Vector3::repeat(0.1);
        let bounds = levelset::Aabb { min: (-half).into(), max: half.into() };
        let hull = levelset::ConvexHull::new(&bounds.corners()).expect("a solid");
        let hull = Shape::convex(&hull, 0.02, &Isometry3::identity()).expect("eight corners");
        let mut state = 7u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
        };
        for shape in [&Shape::cuboid(half, 0.02), &hull] {
            for case in 0..300 {
                let aside = Vector3::new(random(), 0.0, random()) * 0.02;
                let turn = Vector3::new(random(), random(), random()) * 0.02;
                let (above, fall) = (0.2 + 0.02 * random(), 0.03 + 0.4 * (random() + 0.5));
                let at = |y: f64| Isometry3::new(aside + Vector3::y() * y, turn);
                let (still, poses) = (Isometry3::identity(), [at(above), at(above - fall)]);
                let [a, b] = [motion(shape, [&poses[0], &poses[1]]), motion(shape, [&still; 2])];
                let mut found = Contacts::default();
                Pair::new(a, b, 0.0).find_contacts(None, &mut found);
                assert!(!found.is_empty(), "case {case}");
                let up = |contact: &Contact| contact.normal.y > 0.9;
                assert!(found.all().iter().any(up), "case {case}: {:?}", found.all());
                let depth = found.origins().iter().map(|o| -o.distance).fold(0.0, f64::max);
                assert!(depth < 0.05, "case {case}: {depth} m deep");
            }
        }
    }

    fn sampled(half: Vector3<f64>, spacing: f64) -> Shape {
        let bounds = levelset::Aabb { min: (-half).into(), max: half.into() };
        let grid = levelset::Grid::enclosing(&bounds, spacing, 2, 1 << 20).expect("a grid");
        let solid = levelset::LevelSet::from_fn(grid, |p| Field::Cuboid { half }.distance(&p));
        let points = solid.surface_particles(spacing);
        Shape::grid(solid, &points, Isometry3::identity())
    }

    #[test]
    fn bars_that_cross_edge_on_edge_meet() {
        let mut state = 5u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        let (long, thin) = (0.5, 0.02);
        let half = Vector3::new(long, thin, thin);
        let corners = levelset::Aabb { min: (-half).into(), max: half.into() }.corners();
        let hull = levelset::ConvexHull::new(&corners).expect("a solid");
        let bar = Shape::convex(&hull, thin, &Isometry3::identity()).expect("eight corners");
        let rolled = |yaw: f64, roll: f64| {
            UnitQuaternion::from_scaled_axis(Vector3::y() * yaw)
                * UnitQuaternion::from_scaled_axis(Vector3::x() * roll)
        };
        for case in 0..600 {
            let yaw = 0.3 + 2.5 * random();
            let [p, q] = [rolled(0.0, 6.0 * random()), rolled(yaw, 6.0 * random())];
            let along = q * Vector3::x() * (0.6 * random() - 0.3);
            let aside = Vector3::x() * (0.6 * random() - 0.3) + along;
            let (above, fall) = (2.0 * thin * 2f64.sqrt() + 0.04 * random(), 0.1 + 0.2 * random());
            let at = |y: f64| Isometry3::from_parts((aside + Vector3::y() * y).into(), q);
            let still = Isometry3::from_parts(Vector3::zeros().into(), p);
            let poses = [at(above), at(above - fall)];
            assert!(meets((&bar, [still; 2]), (&bar, poses)), "case {case}");
        }
    }

    #[test]
    fn a_shard_tilting_into_a_slab_is_pushed_out_on_the_entry_side() {
        let slab = sampled(Vector3::new(0.15, 0.03, 0.15), 0.01);
        let shard = sampled(Vector3::new(0.03, 0.008, 0.02), 0.002);
        let still = Isometry3::identity();
        for (tilt, rise) in [(0.6, 0.002), (0.8, 0.004), (-0.7, 0.003), (0.7, 0.0)] {
            let from = Isometry3::translation(0.0, 0.037, 0.0);
            let to = Isometry3::new(Vector3::new(0.007, 0.037 + rise, 0.005), Vector3::z() * tilt);
            let [a, b] = [motion(&slab, [&still, &still]), motion(&shard, [&from, &to])];
            let mut found = Contacts::default();
            Pair::new(a, b, 0.0).find_contacts(None, &mut found);
            assert!(!found.is_empty(), "{tilt}");
            for contact in found.all() {
                assert!(contact.normal.y < -0.7, "{tilt}: {}", contact.normal);
            }
        }
    }

    #[test]
    fn a_spinning_plate_meets_bodies_anywhere_in_its_sweep() {
        let plate = Shape::cuboid(Vector3::new(1.2, 0.01, 0.2), 0.01);
        let ball = Shape::ball(0.01);
        for angle in [0.3, 0.8, 1.5, 2.0, 2.5, 3.0] {
            let spin = [0.0, angle].map(|angle| Isometry3::rotation(Vector3::z() * angle));
            for n in 1..20 {
                let at = angle * f64::from(n) / 20.0;
                let place = Isometry3::translation(at.cos(), at.sin(), 0.0);
                assert!(meets((&plate, spin), (&ball, [place; 2])), "{at} of {angle}");
            }
        }
    }
}
