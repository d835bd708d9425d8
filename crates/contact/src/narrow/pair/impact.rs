//! The time of impact of two bodies in a step, by conservative advancement (Mirtich 1996).

use nalgebra::{Isometry3, UnitQuaternion, Vector3};

use super::motion::Motion;
use super::{AtEnd, DEEP, Pair, SLACK};
use crate::narrow::candidate::Candidate;
use crate::narrow::compounds::{Compounds, Wanted};
use crate::narrow::solids::{SeparatingAxis, Separation, Solids};

/// Limit of conservative advancement: bodies that pass at a distance of a quarter of the thickness
/// of the thinner one may take as many steps as that fits into their path.
const MAX_ADVANCES: usize = 4096;
/// Least approach of spinning bodies while a contact is linearized, as a share of the half
/// thickness; less is round-off.
const MIN_APPROACH: f64 = 1e-3;
/// Bisections of the last advancement step.
const BISECTIONS: usize = 4;

impl Pair<'_> {
    /// How long the linearization of a contact of spinning bodies holds, s: until points deviate
    /// from their tangents by [`SLACK`] of the half thickness.
    pub(super) fn validity(&self, time: f64) -> f64 {
        let bend = |motion: &Motion<'_>| {
            let spin = motion.velocity_at(time).angular.norm_squared();
            if spin > 0.0 { spin * motion.shape.radius() } else { 0.0 }
        };
        (2.0 * SLACK * self.size() / (bend(&self.a) + bend(&self.b))).sqrt()
    }

    /// Whether spinning bodies collide at a candidate found at a time, while its linearization
    /// holds.
    fn touches_soon(&self, candidate: &Candidate, time: f64) -> bool {
        let poses = self.at(time);
        let posed = self.posed(poses.each_ref());
        let found = posed.found(candidate);
        let (contact, origin) = self.contact(&found, &Vector3::zeros(), 0.0, time, posed);
        let [p, q] = &origin.arms;
        let [a, b] = [self.a.velocity_at(time), self.b.velocity_at(time)];
        let speed = contact.normal.dot(&(a.at(p) - b.at(q)));
        let displacement = speed * self.validity(time);
        let collides = speed < -self.a.resting.max(self.b.resting);
        collides
            && displacement < -MIN_APPROACH * self.size()
            && candidate.distance + displacement < 0.0
    }

    /// Lower bound of the separation of polyhedra over the whole step, m, along the normal of a
    /// separating face at the start: of the best one if the bound is at most `margin`. At least
    /// `margin` if no parts come near; minus infinity for other solids.
    pub(super) fn separation_bound(&self, margin: f64) -> f64 {
        let Some([a, b]) = self.compounds() else { return f64::NEG_INFINITY };
        if self.spins() {
            return f64::NEG_INFINITY;
        }
        let [at_a, at_b] = self.at(self.from);
        let start = Compounds { a, b, b_from_a: at_b.inv_mul(&at_a) };
        let turn = |m: &Motion<'_>, at: &Isometry3<f64>| m.end.rotation.inverse() * at.rotation;
        let [turn_a, turn_b] = [turn(&self.a, &at_a), turn(&self.b, &at_b)];
        // points of a turning body move along arcs
        let bend = |motion: &Motion<'_>, turn: &UnitQuaternion<f64>| {
            motion.shape.radius() * (1.0 - turn.w.abs().min(1.0))
        };
        let bends = bend(&self.a, &turn_a) + bend(&self.b, &turn_b);
        let bound = |solids: &Solids<'_>| {
            let end = Solids { b_from_a: self.relative, ..*solids };
            let stays = |face: SeparatingAxis| {
                face.distance.min(end.separation_along(&(turn_b * face.axis))) - bends
            };
            let some = solids.best_face(margin);
            let lower = stays(some);
            if some.distance <= margin || lower > margin {
                return lower;
            }
            stays(solids.best_face(f64::INFINITY))
        };
        start.least_of_parts(2.0 * margin + self.travel, bound)
    }

    /// Candidates at the end of the step; those of two convex solids are not oriented yet.
    pub(super) fn candidates_at_end(&self, margin: f64, tested: &mut usize) -> AtEnd {
        let compounds = self.compounds().map(|[a, b]| Compounds { a, b, b_from_a: self.relative });
        match compounds.and_then(|compounds| compounds.find_candidates(margin)) {
            Some(raw) => AtEnd::Raw(raw),
            None => AtEnd::Near(self.near(1.0, margin, tested)),
        }
    }

    /// Candidates at the end of the step, from those in `known` if there are any.
    pub(super) fn oriented_at_end(
        &self,
        known: AtEnd,
        margin: f64,
        tested: &mut usize,
    ) -> Vec<Candidate> {
        match (known, self.compounds()) {
            (AtEnd::Near(near), _) => near,
            (AtEnd::Raw(raw), Some([a, b])) => {
                Compounds { a, b, b_from_a: self.relative }.oriented(raw, margin)
            }
            (AtEnd::Raw(_) | AtEnd::Unknown, _) => self.near(1.0, margin, tested),
        }
    }

    /// The time in the step, 0 to 1, at which contacts are found, and the candidates at that time.
    /// It is the end of the step unless the bodies penetrate or pass through each other before;
    /// then it is shortly after the time of impact or, for bodies that touched at the start, before
    /// normals lead out of the far side. `None` if the bodies stay apart.
    ///
    /// Conservative advancement by the distance of the bodies, but at least by a quarter of the
    /// thickness, which cannot skip a contact.
    pub(super) fn advance_to_contact(
        &self,
        size: f64,
        margin: f64,
        at_end: AtEnd,
        tested: &mut usize,
    ) -> Option<(f64, Vec<Candidate>)> {
        // bodies farther apart than this at a time stay apart
        let most = |time: f64| (1.0 - time) * self.speed + margin;
        let wanted = |time: f64, clear: f64| Wanted {
            most: most(time),
            enough: if clear < 0.0 { clear } else { most(time).min(0.5 * size) },
            clear,
            reach: SLACK * size,
        };
        let mut before = self.from;
        let first = Wanted { enough: most(before), ..wanted(before, 0.0) };
        // face normals in world axes
        let Separation { distance: mut apart, mut face } =
            self.separation(before, first, f64::NEG_INFINITY, None, tested);
        let touched = apart < if self.has_exact_distance() { SLACK * size } else { 0.0 };
        if touched && self.spins() {
            let near = self.near(before, margin, tested);
            if near.iter().any(|candidate| self.touches_soon(candidate, before)) {
                return Some((before, near));
            }
        }
        let depth = if self.spins() { SLACK * size } else { DEEP * size };
        let mut deepest = if touched { apart - depth } else { 0.0 };
        for _ in 0..MAX_ADVANCES {
            if before >= 1.0 {
                break;
            }
            if apart >= most(before) {
                return None;
            }
            let least = apart.max(0.5 * size) / self.speed;
            let along = |f: SeparatingAxis| (f.distance - deepest) / self.closing(before, &f.axis);
            let after = (before + face.map_or(least, |face| least.max(along(face)))).min(1.0);
            let clear = if touched { deepest } else { 0.0 };
            let next = self.separation(after, wanted(after, clear), deepest, face, tested);
            let now = next.distance;
            face = next.face;
            if now < deepest {
                let met = self.impact([before, after], [apart, now], deepest, touched, tested);
                if met.is_some() {
                    return met;
                }
            }
            (before, apart) = (after, now.max(deepest));
            if touched {
                deepest = deepest.max(apart.min(0.0) - depth);
            }
        }
        Some((1.0, self.oriented_at_end(at_end, margin, tested)))
    }

    /// The time between two at which the penetration passes `deepest` m, and the candidates:
    /// shortly after it, or before it for bodies that touched at the start. The distances at the
    /// two times are `apart` and `now`.
    fn impact(
        &self,
        [mut before, mut after]: [f64; 2],
        [apart, now]: [f64; 2],
        deepest: f64,
        touched: bool,
        tested: &mut usize,
    ) -> Option<(f64, Vec<Candidate>)> {
        let (size, margin) = (self.size(), self.margin());
        if self.has_exact_distance() && !self.spins() {
            // regula falsi: along one separating face the signed distance is nearly linear in time
            let wanted = deepest + if touched { SLACK * size } else { -SLACK * size };
            let share = ((apart - wanted) / (apart - now)).clamp(0.0, 1.0);
            let middle = before + share * (after - before);
            let near = self.near(middle, margin, tested);
            let least = near.iter().map(|c| c.distance).fold(f64::INFINITY, f64::min);
            let most = if touched { margin } else { 0.0 };
            if least < most && (least >= deepest || !touched) {
                return Some((middle, near));
            }
        }
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (before + after);
            let wanted = Wanted {
                most: deepest,
                enough: deepest,
                clear: deepest.min(0.0),
                reach: SLACK * size,
            };
            let meets = self.separation(middle, wanted, deepest, None, tested).distance < deepest;
            if meets { after = middle } else { before = middle }
        }
        // the search of a spinning pair continues from here: it must have moved
        let time = if touched && !self.spins() { before } else { after };
        let near = self.near(time, margin, tested);
        // bodies that touched may have separated in between
        (!near.is_empty()).then_some((time, near))
    }

    /// The signed distance of the bodies at a time and the best separating face of polyhedra, its
    /// normal in world axes. The `last` face, of an earlier time, is reused if it separates them by
    /// enough. Other shapes may return any distance below `any_below` once they are that near.
    fn separation(
        &self,
        time: f64,
        wanted: Wanted,
        any_below: f64,
        last: Option<SeparatingAxis>,
        tested: &mut usize,
    ) -> Separation {
        let poses = self.at(time);
        let (posed, at_b) = (self.posed(poses.each_ref()), poses[1]);
        let Some(solids) = posed.compounds() else {
            let distance = posed.distance(wanted.most, any_below, tested);
            return Separation { distance, face: None };
        };
        let again = last.map(|SeparatingAxis { axis, .. }| {
            let distance = solids.separation_along(&at_b.inverse_transform_vector(&axis));
            Separation { distance, face: Some(SeparatingAxis { distance, axis }) }
        });
        again.filter(|along| along.distance >= wanted.enough).unwrap_or_else(|| {
            let Separation { distance, face } = solids.separation(wanted);
            Separation {
                distance,
                face: face.map(|face| SeparatingAxis { axis: at_b * face.axis, ..face }),
            }
        })
    }

    /// Upper bound of the closing speed along an axis after a time, m per whole step.
    fn closing(&self, time: f64, axis: &Vector3<f64>) -> f64 {
        let left = 1.0 - time;
        let between = |time: f64| {
            let [p, q] = [&self.a, &self.b].map(|motion| motion.place(time));
            axis.dot(&(p - q))
        };
        let fall = axis.dot(&(self.a.fall - self.b.fall)) * left * left;
        let moved = (between(time) - between(1.0) + fall.abs()).max(0.0) / left;
        let turned = |motion: &Motion<'_>| {
            let angle = motion.velocity.angular.norm() * self.dt;
            if angle > 0.0 { angle * motion.shape.radius() } else { 0.0 }
        };
        moved + turned(&self.a) + turned(&self.b)
    }
}
