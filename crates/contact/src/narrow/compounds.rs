//! Contacts of unions of convex polyhedra: the narrow phase runs on every pair of parts whose
//! bounding spheres are near.

use nalgebra::{Isometry3, Vector3};

use crate::narrow::candidate::{Candidate, Side};
use crate::narrow::exit::Exit;
use crate::narrow::solids::{MAX_CUT, RawCandidates, SeparatingAxis, Separation, Solids};
use crate::shape::compound::Compound;

/// Gap beyond an exit face within which another part counts as adjacent, as a share of the margin.
const SEAM: f64 = 0.02;

/// The required accuracy of a signed distance, m.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// Any distance above this may be returned as this.
    pub(crate) most: f64,
    /// A face that separates the bodies by this much ends the search.
    pub(crate) enough: f64,
    /// Above this the distance is that along a face normal; below it corners and edges nearer than
    /// `reach` decide.
    pub(crate) clear: f64,
    pub(crate) reach: f64,
}

/// Two unions of hulls at a relative pose.
pub(crate) struct Compounds<'a> {
    pub(crate) a: &'a Compound,
    pub(crate) b: &'a Compound,
    pub(crate) b_from_a: Isometry3<f64>,
}

impl<'a> Compounds<'a> {
    /// The candidates of two convex solids before [`Solids::oriented`]; `None` for unions of
    /// several parts.
    pub(crate) fn find_candidates(&self, margin: f64) -> Option<RawCandidates> {
        self.single().map(|solids| solids.find_candidates(margin))
    }

    /// The candidates of [`Self::find_candidates`] with normals along the minimum translation
    /// vector.
    pub(crate) fn oriented(&self, raw: RawCandidates, margin: f64) -> Vec<Candidate> {
        match self.single() {
            Some(solids) => solids.oriented(raw, margin),
            None => raw.found,
        }
    }

    /// [`Solids::near`] for every pair of parts. Normals lead out of the whole union; deep corners
    /// get its shortest exit.
    pub(crate) fn near(&self, margin: f64) -> Vec<Candidate> {
        if let Some(solids) = self.single() {
            return solids.near(margin);
        }
        let deep = |exit: &Exit<'_>, own: &OfPart| {
            // corners at the crease of two parts have contacts with both
            let is_deep = own.is_corner && own.candidate.distance < -MAX_CUT * margin;
            is_deep.then(|| exit.shortest(own.part)).flatten().map(|displacement| {
                let distance = -displacement.norm();
                Candidate { normal: Some(displacement / -distance), distance, ..own.candidate }
            })
        };
        self.leading_out(margin, deep)
    }

    /// [`Self::near`] without exits: candidates whose normal leads into another part are dropped.
    pub(crate) fn near_by_faces(&self, margin: f64) -> Vec<Candidate> {
        match self.single() {
            Some(solids) => solids.near(margin),
            None => self.leading_out(margin, |_, _| None),
        }
    }

    /// The candidates of all pairs of parts: those whose normal leads into another part are
    /// replaced by `instead`, or dropped. If none is left, all are kept. Each key occurs once, with
    /// its least distance; sorted by body and key.
    fn leading_out(
        &self,
        margin: f64,
        instead: impl Fn(&Exit<'_>, &OfPart) -> Option<Candidate>,
    ) -> Vec<Candidate> {
        let found = self.of_parts(margin);
        let leading = |own: &OfPart| {
            let exit = self.exit(own, SEAM * margin);
            let leads_out = exit.leads_out(&own.candidate, own.part);
            if leads_out { Some(own.candidate) } else { instead(&exit, own) }
        };
        let mut kept: Vec<Candidate> = found.iter().filter_map(leading).collect();
        if kept.is_empty() {
            kept.extend(found.iter().map(|own| own.candidate));
        }
        let place = |c: &Candidate| (c.owner == Side::B, c.key);
        kept.sort_by(|c, d| place(c).cmp(&place(d)).then(c.distance.total_cmp(&d.distance)));
        kept.dedup_by(|c, d| place(c) == place(d));
        kept
    }

    /// The candidates of every pair of parts, with keys of the unions.
    fn of_parts(&self, margin: f64) -> Vec<OfPart> {
        let mut found = Vec::new();
        for [i, j] in self.near_parts(margin) {
            let [a, b] = [&self.a.parts[i], &self.b.parts[j]];
            let corners = [a, b].map(|part| part.solid.corners().len() as u32);
            for mut candidate in self.solids([i, j]).near(margin) {
                let (first, count, other, keys) = match candidate.owner {
                    Side::A => (a.first_key, corners[0], j, self.a.keys),
                    Side::B => (b.first_key, corners[1], i, self.b.keys),
                };
                // an edge may cross several parts; a corner exists once
                let is_corner = candidate.key < count;
                candidate.key += first + if is_corner { 0 } else { other as u32 * keys };
                found.push(OfPart { candidate, part: other, is_corner });
            }
        }
        found
    }

    /// The signed distance as [`Solids::separation`] computes it. For unions of several parts: that
    /// of a face that separates all parts by at least `enough`, else the least over pairs of parts,
    /// at most `most`.
    pub(crate) fn separation(&self, Wanted { most, enough, clear, reach }: Wanted) -> Separation {
        if let Some(solids) = self.single() {
            return solids.separation(enough, clear, reach);
        }
        if let Some(face) = self.best_face().filter(|face| face.distance >= enough) {
            return Separation { distance: face.distance, face: Some(face) };
        }
        let mut parts: Vec<(f64, [usize; 2])> = self.gaps(most).collect();
        parts.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)));
        let mut distance = most;
        for (gap, parts) in parts {
            if gap >= distance {
                break;
            }
            distance = distance.min(self.solids(parts).separation(distance, 0.0, reach).distance);
        }
        Separation { distance, face: None }
    }

    /// Minimum of `stays` over all pairs of parts within `reach`; `reach` if there are none.
    pub(crate) fn least_of_parts(&self, reach: f64, stays: impl Fn(&Solids<'a>) -> f64) -> f64 {
        self.near_parts(reach).fold(reach, |least, parts| least.min(stays(&self.solids(parts))))
    }

    /// The separation of the whole unions along the best face normal of the two parts with the
    /// nearest spheres. `None` if there are no parts.
    pub(crate) fn best_face(&self) -> Option<SeparatingAxis> {
        if let Some(solids) = self.single() {
            return Some(solids.best_face(f64::INFINITY));
        }
        let nearest = self.gaps(f64::INFINITY).min_by(|p, q| p.0.total_cmp(&q.0))?;
        let axis = self.solids(nearest.1).best_face(f64::INFINITY).axis;
        Some(SeparatingAxis { distance: self.separation_along(&axis), axis })
    }

    /// Separation of the first union from the second along `axis`, a unit vector in the second's
    /// coordinates, m.
    pub(crate) fn separation_along(&self, axis: &Vector3<f64>) -> f64 {
        let least = |union: &Compound, axis: Vector3<f64>| {
            let parts = union.parts.iter().map(|part| part.solid.least_along(&axis));
            parts.fold(f64::INFINITY, f64::min)
        };
        let of_a = least(self.a, self.b_from_a.inverse_transform_vector(axis));
        of_a + axis.dot(&self.b_from_a.translation.vector) + least(self.b, -axis)
    }

    /// The two polyhedra, if both unions have one part.
    fn single(&self) -> Option<Solids<'a>> {
        let is_single = self.a.parts.len() == 1 && self.b.parts.len() == 1;
        is_single.then(|| self.solids([0, 0]))
    }

    fn solids(&self, [i, j]: [usize; 2]) -> Solids<'a> {
        Solids { a: &self.a.parts[i].solid, b: &self.b.parts[j].solid, b_from_a: self.b_from_a }
    }

    /// The pairs of parts whose spheres are nearer than `reach` m.
    fn near_parts(&self, reach: f64) -> impl Iterator<Item = [usize; 2]> {
        self.gaps(reach).map(|(_, parts)| parts)
    }

    /// These pairs with the gaps between their spheres, m.
    fn gaps(&self, reach: f64) -> impl Iterator<Item = (f64, [usize; 2])> {
        (0..self.a.parts.len()).flat_map(move |i| {
            let part = &self.a.parts[i];
            let center = self.b_from_a * part.center;
            let gap = move |j: usize| {
                let other = &self.b.parts[j];
                ((center - other.center).norm() - (part.radius + other.radius), [i, j])
            };
            (0..self.b.parts.len()).map(gap).filter(move |(gap, _)| *gap < reach)
        })
    }

    fn exit(&self, OfPart { candidate, .. }: &OfPart, step: f64) -> Exit<'a> {
        let Candidate { owner, point, .. } = candidate;
        match owner {
            Side::A => Exit { union: self.b, from: self.b_from_a * point, step },
            Side::B => {
                Exit { union: self.a, from: self.b_from_a.inverse_transform_point(point), step }
            }
        }
    }
}

/// A candidate at one part of a union.
struct OfPart {
    candidate: Candidate,
    part: usize,
    is_corner: bool,
}
