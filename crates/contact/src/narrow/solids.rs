//! Contacts of two convex polyhedra: the corners of each, and the edges of one, against the face
//! planes of the other. Dense samples of both surfaces would find the same contacts in the limit.

#[cfg(test)]
mod tests;

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use crate::lanes::{First, LANES, Wide, Wide3, least_of, most_of, wide};
use crate::narrow::candidate::{Candidate, Side};
use crate::shape::polyhedron::{Edge, MAX_BREAKPOINTS, Planes, Polyhedron};

/// Slope below which an edge lies on a face: both ends of that part are candidates.
const FLAT: f64 = 0.3;
/// Penetration of the best separating face, as a share of the margin, beyond which all normals must
/// agree with the minimum translation vector.
pub(crate) const MAX_CUT: f64 = 0.5;
/// An edge that crosses between two faces gets a normal between theirs; if the mean of the normals
/// is shorter than this, the faces point away from each other.
const SHARP: f64 = 0.3;

/// Cosine to the best separating axis below which a normal counts as sideways.
const SIDEWAYS: f64 = 0.3;
/// Tolerance of a corner that lies on a solid, as a share of the margin.
const EDGE: f64 = 0.02;
/// Supporting corners that the search for the best separating face keeps to rule out faces.
const MAX_KNOWN: usize = 4;
/// Planes that the search for candidates keeps to rule out corners and edges.
const MAX_EXCLUDING: u32 = u8::BITS;

/// A separating axis and the separation along it.
#[derive(Clone, Copy)]
pub(crate) struct SeparatingAxis {
    /// Separation, m; negative for a depth.
    pub(crate) distance: f64,
    /// Unit axis out of the second solid, in its coordinates.
    pub(crate) axis: Vector3<f64>,
}

/// Limits of a search.
#[derive(Clone, Copy)]
struct Range {
    /// Candidates are nearer than this, m.
    margin: f64,
    /// A separating face beyond this ends the search for the best one, m.
    enough: f64,
    /// If a face separates the solids by more than this, no candidates are collected, m.
    clear: f64,
}

impl Range {
    fn within(margin: f64) -> Self {
        Self { margin, enough: margin, clear: margin }
    }
}

/// The signed distance of two solids.
#[derive(Clone, Copy)]
pub(crate) struct Separation {
    /// m; a lower bound if the solids are apart.
    pub(crate) distance: f64,
    /// The best separating face; its distance is at most `distance`.
    pub(crate) face: Option<SeparatingAxis>,
}

/// Candidates with the normals of their nearest faces, which may oppose the minimum translation
/// vector.
pub(crate) struct RawCandidates {
    /// The best separating face.
    pub(crate) face: SeparatingAxis,
    pub(crate) found: Vec<Candidate>,
}

/// Two convex solids at a relative pose.
pub(crate) struct Solids<'a> {
    pub(crate) a: &'a Polyhedron,
    pub(crate) b: &'a Polyhedron,
    pub(crate) b_from_a: Isometry3<f64>,
}

impl Solids<'_> {
    /// Candidates nearer than `margin`: corners of both and points on edges of `a`. If the solids
    /// overlap deeply, only those that agree with the minimum translation vector.
    pub(crate) fn near(&self, margin: f64) -> Vec<Candidate> {
        self.oriented(self.find_candidates(margin), margin)
    }

    /// Candidates nearer than `margin` with the normals of their nearest faces.
    pub(crate) fn find_candidates(&self, margin: f64) -> RawCandidates {
        self.search(Range::within(margin))
    }

    /// The candidates of [`Self::find_candidates`] with normals along the minimum translation
    /// vector.
    pub(crate) fn oriented(
        &self,
        RawCandidates { face, mut found }: RawCandidates,
        margin: f64,
    ) -> Vec<Candidate> {
        if face.distance < EDGE * margin {
            self.turn_sideways(face, EDGE * margin, &mut found);
        }
        if face.distance < -MAX_CUT * margin {
            self.orient(face, &mut found);
        }
        found
    }

    /// Aligns normals of corners at edges with the minimum translation vector. The nearest face of
    /// a corner that is slightly deeper than its distance to an edge may be an adjacent one, so
    /// that contacts of a tower would push sideways. If a face normal is the minimum translation
    /// vector, such corners get it, and their depth along it.
    fn turn_sideways(&self, by_face: SeparatingAxis, slack: f64, found: &mut Vec<Candidate>) {
        let SeparatingAxis { distance, axis } = by_face;
        let turn = &self.b_from_a.rotation;
        let is_edge = |c: &Candidate| self.is_edge(c);
        let apart = |c: &Candidate| self.out(c).dot(&axis) < SIDEWAYS;
        let parts_better =
            |c: &Candidate| self.separation_and_support(&self.out(c)).0 > distance + slack;
        if !found.iter().any(apart)
            || found.iter().any(|c| is_edge(c) && apart(c) && parts_better(c))
        {
            return;
        }
        found.retain(|c| !(is_edge(c) && apart(c)));
        let most =
            self.b.corners.iter().map(|p| axis.dot(&p.coords)).fold(f64::NEG_INFINITY, most_of);
        let off = slack.max(slack - distance);
        for c in found.iter_mut().filter(|c| c.distance <= off && apart(c)) {
            (c.distance, c.normal) = match c.owner {
                Side::A => (axis.dot(&(self.b_from_a * c.point).coords) - most, Some(axis)),
                Side::B => {
                    (most + distance - axis.dot(&c.point.coords), Some(-(turn.inverse() * axis)))
                }
            };
        }
    }

    /// Removes candidates that oppose the minimum translation vector, and ensures that one along it
    /// remains.
    fn orient(&self, by_face: SeparatingAxis, found: &mut Vec<Candidate>) {
        let SeparatingAxis { distance, axis } = self.translation(by_face, found);
        found.retain(|candidate| self.out(candidate).dot(&axis) > 0.0);
        let leads = |c: &Candidate| self.out(c).dot(&axis) > 0.9 && c.distance < 0.5 * distance;
        if !found.iter().any(leads) {
            let (_, key) = self.separation_and_support(&axis);
            let point = self.a.corners[key];
            let (owner, normal, key) = (Side::A, Some(axis), key as u32);
            found.push(Candidate { owner, point, normal, key, distance });
        }
    }

    /// The normal of a candidate out of the second solid, in its coordinates.
    fn out(&self, candidate: &Candidate) -> Vector3<f64> {
        let normal = candidate.normal.unwrap_or_default();
        if candidate.owner == Side::A { normal } else { -(self.b_from_a.rotation * normal) }
    }

    /// Whether a candidate is on an edge, not at a corner.
    fn is_edge(&self, candidate: &Candidate) -> bool {
        candidate.owner == Side::A && candidate.key as usize >= self.a.corners.len()
    }

    /// The separation of the first solid from the second along a normal in the second's
    /// coordinates, m, and the index of its supporting corner.
    fn separation_and_support(&self, normal: &Vector3<f64>) -> (f64, usize) {
        let most = self.b.corners.iter().map(|p| normal.dot(&p.coords));
        let most = most.fold(f64::NEG_INFINITY, most_of);
        let along = |p: &Point3<f64>| normal.dot(&(self.b_from_a * p).coords);
        let all = self.a.corners.iter().map(along).enumerate();
        let least = all.reduce(|p, q| if q.1 < p.1 { q } else { p });
        least.map_or((f64::INFINITY, 0), |(key, height)| (height - most, key))
    }

    /// The best separating face, or the first that separates the solids by more than `most`.
    pub(crate) fn best_face(&self, most: f64) -> SeparatingAxis {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "measured: see the notes of the pile benchmark")]
            // SAFETY: the processor has AVX2, as just checked
            return unsafe { self.best_face_wide(most) };
        }
        self.best_faces(&self.views(), most).0
    }

    /// [`Solids::best_faces`] on vectors of four numbers. Nothing is fused, so the bits are the
    /// same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn best_face_wide(&self, most: f64) -> SeparatingAxis {
        self.best_faces(&self.views(), most).0
    }

    fn views(&self) -> [View<'_>; 2] {
        let Self { a, b, b_from_a } = self;
        [View::new(a, b, b_from_a), View::new(b, a, &b_from_a.inverse())]
    }

    /// Also returns the best separating planes of the second and of the first, if none separates by
    /// more than `most`.
    #[inline(always)]
    fn best_faces(&self, views: &[View<'_>; 2], most: f64) -> (SeparatingAxis, [usize; 2]) {
        let mut best = [views[0].first_guess(), views[1].first_guess()];
        for (n, view) in views.iter().enumerate() {
            if best[0].distance.max(best[1].distance) <= most {
                best[n] = view.search(best[n]);
            }
        }
        let [of_b, of_a] = best;
        let face = if of_a.distance > of_b.distance {
            let axis = -(self.b_from_a.rotation * self.a.plane(of_a.plane).0);
            SeparatingAxis { distance: of_a.distance, axis }
        } else {
            SeparatingAxis { distance: of_b.distance, axis: self.b.plane(of_b.plane).0 }
        };
        (face, [of_b.plane, of_a.plane])
    }

    /// Separation of the first solid from the second along `axis`, a unit vector in the second's
    /// coordinates, m.
    pub(crate) fn separation_along(&self, axis: &Vector3<f64>) -> f64 {
        let Self { a, b, b_from_a } = self;
        let least = a.least_along(&b_from_a.inverse_transform_vector(axis));
        least + axis.dot(&b_from_a.translation.vector) + b.least_along(&-axis)
    }

    /// The signed distance of the solids, m. If the best separating face, or any by at least
    /// `enough`, separates them by more than `clear`, it is the distance along that face normal.
    /// Else, without overlap, it is the least distance of corners and edges, at most `reach`: long
    /// bars may be separated by an edge axis alone. With overlap it is minus the length of the
    /// minimum translation vector. The depth of corners does not measure overlap: the corners of a
    /// box that sinks into a box of its size stay near the sides of that box.
    pub(crate) fn separation(&self, enough: f64, clear: f64, reach: f64) -> Separation {
        let RawCandidates { face, found } = self.search(Range { margin: reach, enough, clear });
        if face.distance > clear {
            return Separation { distance: face.distance, face: Some(face) };
        }
        let least = found.iter().map(|c| c.distance).fold(reach, least_of);
        let distance =
            if least > 0.0 { least } else { least.min(self.translation(face, &found).distance) };
        Separation { distance, face: Some(face) }
    }

    /// The minimum translation vector: along the best face normal or a normal of two edges.
    fn translation(&self, by_face: SeparatingAxis, found: &[Candidate]) -> SeparatingAxis {
        let of_edges = found.iter().filter(|c| self.is_edge(c)).map(|c| self.out(c));
        let axes = of_edges
            .map(|axis| SeparatingAxis { distance: self.separation_and_support(&axis).0, axis });
        axes.fold(by_face, |p, q| if q.distance > p.distance { q } else { p })
    }

    fn search(&self, range: Range) -> RawCandidates {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "measured: see the notes of the pile benchmark")]
            // SAFETY: the processor has AVX2, as just checked
            return unsafe { self.visit_wide(range) };
        }
        self.visit(range)
    }

    /// [`Solids::visit`] on vectors of four numbers. Nothing is fused, so the bits are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn visit_wide(&self, range: Range) -> RawCandidates {
        self.visit(range)
    }

    #[inline(always)]
    fn visit(&self, Range { margin, enough, clear }: Range) -> RawCandidates {
        let Self { a, b, .. } = self;
        let (mut found, views) = (Vec::new(), self.views());
        let (face, faces) = self.best_faces(&views, enough);
        if face.distance > clear {
            return RawCandidates { face, found };
        }
        let mut of_a = Heights::new(&views[0], margin, faces[0]);
        let mut of_b = Heights::new(&views[1], margin, faces[1]);
        for (owner, heights, own, other) in [(Side::A, &mut of_a, a, b), (Side::B, &mut of_b, b, a)]
        {
            for (key, &point) in own.corners.iter().enumerate() {
                if heights.excluded[key] != 0 {
                    continue;
                }
                let (distance, plane) = heights.highest(key);
                if distance < margin {
                    let (normal, key) = (Some(other.plane(plane).0), key as u32);
                    found.push(Candidate { owner, point, normal, key, distance });
                } else {
                    heights.exclude_beyond(plane);
                }
            }
        }
        for (number, Edge { ends, length }) in a.edges.iter().enumerate() {
            let ends = ends.map(|n| n as usize);
            if of_a.excluded[ends[0]] & of_a.excluded[ends[1]] != 0 {
                continue;
            }
            // `map` of arrays is not inlined, and would lose the wide vectors
            let highest = [of_a.highest(ends[0]), of_a.highest(ends[1])];
            // distances change no faster than the position, and along one plane they do not bend
            if 0.5 * (highest[0].0 + highest[1].0 - length) >= margin
                || highest[0].1 == highest[1].1
            {
                continue;
            }
            let rows = ends.map(|end| of_a.row(end));
            if lowest(rows, highest) >= margin {
                continue;
            }
            let [from, to] = ends.map(|end| a.corners[end]);
            let mut key = (a.corners.len() + MAX_BREAKPOINTS * number) as u32;
            breakpoints(
                rows,
                highest[0].1,
                *length,
                margin,
                |share, distance, [(i, s), (j, t)]| {
                    let [n, m] = [i, j].map(|plane| b.plane(plane).0);
                    let between = n * s + m * t;
                    let length = between.norm();
                    let (normal, distance) = if length > SHARP {
                        (between / length, distance / length)
                    } else {
                        (if s > t { n } else { m }, distance)
                    };
                    if distance < margin {
                        let point = from + (to - from) * share;
                        let (owner, normal) = (Side::A, Some(normal));
                        found.push(Candidate { owner, point, normal, key, distance });
                    }
                    key += 1;
                },
            );
        }
        RawCandidates { face, found }
    }
}

/// One solid in the coordinates of another.
struct View<'a> {
    own: &'a Polyhedron,
    other: &'a Polyhedron,
    turn: Matrix3<f64>,
    shift: Vector3<f64>,
}

impl<'a> View<'a> {
    #[inline(always)]
    fn new(own: &'a Polyhedron, other: &'a Polyhedron, other_from_own: &Isometry3<f64>) -> Self {
        let turn = other_from_own.rotation.to_rotation_matrix().into_inner();
        Self { own, other, turn, shift: other_from_own.translation.vector }
    }

    /// The separation by the other's plane that is most below the center. A cheap first guess.
    #[inline(always)]
    fn first_guess(&self) -> FaceSeparation {
        let middle = wide(&self.shift);
        let mut under = First::new(f64::INFINITY);
        for (group, Planes { normals, offsets }) in self.other.planes.iter().enumerate() {
            under.update(group, *offsets - normals.dot(&middle));
        }
        let (depth, plane) = under.least();
        let normal = self.turn.tr_mul(&self.other.plane(plane).0);
        let (least, support) = self.own.support_below(&normal);
        FaceSeparation { distance: least - depth, plane, support }
    }

    /// The best separation by the other's planes, starting from `best`. The height of any corner
    /// over a plane bounds the separation by that plane from above. The supporting corners found so
    /// far therefore rule out most planes without a search over all corners.
    #[inline(always)]
    fn search(&self, mut best: FaceSeparation) -> FaceSeparation {
        let (middle, corners) = (wide(&self.shift), &self.own.corners);
        let mut known = [wide(&corners[best.support].coords); MAX_KNOWN];
        let mut added = 1;
        for (group, Planes { normals, offsets }) in self.other.planes.iter().enumerate() {
            let height = normals.dot(&middle) - *offsets;
            if !height.0.iter().any(|height| height - self.own.inner > best.distance) {
                continue;
            }
            let turned = Wide3(std::array::from_fn(|k| {
                let along = |axis: usize| normals.0[axis].map(|x| self.turn[(axis, k)] * x);
                along(0) + along(1) + along(2)
            }));
            let first = turned.dot(&known[0]);
            let lowest = known[1..added.min(MAX_KNOWN)]
                .iter()
                .fold(first, |least, corner| least.zip(turned.dot(corner), least_of));
            let most = height + lowest;
            for lane in 0..LANES {
                if most.0[lane] <= best.distance {
                    continue;
                }
                let (least, support) = self.own.support_below(&Vector3::from(turned.of(lane)));
                known[added % MAX_KNOWN] = wide(&corners[support].coords);
                added += 1;
                let distance = height.0[lane] + least;
                if distance > best.distance {
                    best = FaceSeparation { distance, plane: LANES * group + lane, support };
                }
            }
        }
        best
    }
}

/// The separation of one solid from another by one of its planes.
#[derive(Clone, Copy)]
struct FaceSeparation {
    /// m.
    distance: f64,
    plane: usize,
    /// The supporting corner.
    support: usize,
}

/// The heights of one solid's corners over the planes of another.
struct Heights<'v, 'a> {
    view: &'v View<'a>,
    /// Candidates are nearer than this, m.
    margin: f64,
    /// The planes over which each corner is at least as high as the margin: one bit for each of the
    /// first [`MAX_EXCLUDING`] planes in [`Self::exclude_beyond`]. Such a corner is no nearer to the
    /// solid, and neither is an edge whose ends share such a plane.
    excluded: Vec<u8>,
    /// Number of these planes.
    excluding: u32,
    /// The highest plane of each corner, if computed.
    known: Vec<Option<Highest>>,
    /// Heights over all planes, row by row, m.
    rows: Vec<Wide>,
}

/// The plane over which a corner is highest.
#[derive(Clone, Copy)]
struct Highest {
    /// m.
    height: f64,
    plane: usize,
    /// Start of the corner's row.
    row: usize,
}

impl<'v, 'a> Heights<'v, 'a> {
    #[inline(always)]
    fn new(view: &'v View<'a>, margin: f64, face: usize) -> Self {
        let count = view.own.corners.len();
        let rows = Vec::with_capacity(count * view.other.planes.len());
        let (excluded, known) = (vec![0; count], vec![None; count]);
        let mut heights = Self { view, margin, excluded, excluding: 0, known, rows };
        heights.exclude_beyond(face);
        heights
    }

    /// Excludes the corners that are at least as high as the margin over a plane.
    #[inline(always)]
    fn exclude_beyond(&mut self, plane: usize) {
        if self.excluding == MAX_EXCLUDING {
            return;
        }
        let View { own, other, turn, shift } = self.view;
        let (normal, offset) = other.plane(plane);
        let middle = normal.dot(shift) - offset;
        let normal = wide(&turn.tr_mul(&normal));
        for (corners, excluded) in own.lanes.iter().zip(self.excluded.chunks_mut(LANES)) {
            let heights = normal.dot(corners).map(|height| height + middle).0;
            for (height, excluded) in heights.into_iter().zip(excluded) {
                *excluded |= u8::from(height >= self.margin) << self.excluding;
            }
        }
        self.excluding += 1;
    }

    /// The distance of a corner from the solid, m, and the plane that gives it; outside it is a
    /// lower bound.
    #[inline(always)]
    fn highest(&mut self, corner: usize) -> (f64, usize) {
        if let Some(Highest { height, plane, .. }) = self.known[corner] {
            return (height, plane);
        }
        let View { own, other, turn, shift } = self.view;
        let place = wide(&(turn * own.corners[corner].coords + shift));
        let (row, mut under) = (self.rows.len(), First::new(f64::INFINITY));
        for (group, Planes { normals, offsets }) in other.planes.iter().enumerate() {
            let depth = *offsets - normals.dot(&place);
            self.rows.push(depth.map(|x| -x));
            under.update(group, depth);
        }
        let (depth, plane) = under.least();
        self.known[corner] = Some(Highest { height: -depth, plane, row });
        (-depth, plane)
    }

    /// The row of a corner whose highest plane is known.
    #[inline(always)]
    fn row(&self, corner: usize) -> &[Wide] {
        let row = self.known[corner].map_or(0, |known| known.row);
        &self.rows[row..][..self.view.other.planes.len()]
    }
}

fn at(row: &[Wide], plane: usize) -> f64 {
    row[plane / LANES].0[plane % LANES]
}

/// Lower bound of the distance of points between two corners, from their heights over planes and
/// the highest plane of each.
#[inline(always)]
fn lowest([p, q]: [&[Wide]; 2], [(from, i), (to, j)]: [(f64, usize); 2]) -> f64 {
    let (lead, gain) = (from - at(p, j), to - at(q, i));
    // the intersection of the two planes
    let share = if lead + gain > 0.0 { lead / (lead + gain) } else { 0.0 };
    let meet = from + (at(q, i) - from) * share;
    least_of(meet, least_of(from, to))
}

/// Breakpoints of the distance along an edge, where the highest plane changes: its minimum, and the
/// ends of parts that lie flat on a face. Inputs are the heights of both ends over planes, the
/// highest plane at the first end, and the length, m. `found` receives the share of the length, the
/// distance, m, and both planes with the weights of their normals in the contact normal.
#[inline(always)]
fn breakpoints(
    [p, q]: [&[Wide]; 2],
    mut plane: usize,
    length: f64,
    limit: f64,
    mut found: impl FnMut(f64, f64, [(usize, f64); 2]),
) {
    let mut count = 0;
    loop {
        let height = at(p, plane);
        let falls = at(q, plane) - height;
        // the share of the length at which each plane becomes the highest
        let mut first = First::new(1.0);
        for (group, (p, q)) in p.iter().zip(q).enumerate() {
            let lead = p.map(|x| height - x);
            let gain = (*q - *p).map(|x| x - falls);
            first.update(group, lead.zip(gain, |l, gain| if gain > 0.0 { l / gain } else { 1.0 }));
        }
        let (share, next) = first.least();
        if share >= 1.0 {
            return;
        }
        let (distance, rises) = (height + falls * share, at(q, next) - at(p, next));
        let is_least = falls < 0.0 && rises >= 0.0;
        let flat = |slope: f64| slope.abs() < FLAT * length;
        // one slot is reserved for the minimum
        let most = if falls < 0.0 { MAX_BREAKPOINTS - 1 } else { MAX_BREAKPOINTS };
        let is_end = count < most && (flat(falls) || flat(rises));
        if distance < limit && share > 0.0 && (is_least || is_end) {
            let shares = if is_least {
                // perpendicular to the edge
                let first = rises / (rises - falls);
                [first, 1.0 - first]
            } else if falls.abs() < rises.abs() {
                [1.0, 0.0]
            } else {
                [0.0, 1.0]
            };
            found(share, distance, [(plane, shares[0]), (next, shares[1])]);
            count += 1;
        }
        plane = next;
    }
}
