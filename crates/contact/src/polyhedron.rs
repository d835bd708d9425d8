//! Convex solids against each other: the corners of each and the edges of one against the planes of
//! the other's faces. That is what points spread ever more densely over both would find.

use levelset::{Aabb, ConvexHull};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use crate::candidates::Candidate;
use crate::narrow::Side;
use crate::wide::{LANES, Wide, Wide3};

/// Triangles of less area, by the square of their longest side, are slivers; faces whose normals and
/// offsets, as a share of the size, differ by less than its root are one.
const SAME: f64 = 1e-9;
/// Slope of an edge along a face below which it lies on it: both ends of that part are told.
const FLAT: f64 = 0.3;
/// Share of the margin by which planes of faces may cut in before all normals are to lead out the same
/// way.
const MAX_CUT: f64 = 0.5;
/// Two faces that an edge enters and leaves by part with a normal between theirs; if their mean is
/// shorter they face away from each other.
const SHARP: f64 = 0.3;

/// Cosine to the way that parts solids best below which normals lead sideways.
const SIDEWAYS: f64 = 0.3;
/// Share of the margin by which a corner may be off a solid that it lies on.
const EDGE: f64 = 0.02;

/// Edges of a solid at most for its width to be found exactly: those of 128 corners.
const MAX_EDGES: usize = 378;

/// A convex solid in body coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Polyhedron {
    corners: Box<[Point3<f64>]>,
    /// The same in lanes; the last fills the rest.
    lanes: Box<[Wide3]>,
    planes: Box<[Planes]>,
    edges: Box<[Edge]>,
    /// Half of the least distance of two parallel planes around it, or less if it has very many edges,
    /// m.
    half_width: f64,
    /// Radius of the ball about the origin that fits in, m, or minus the distance of the farthest corner
    /// if the origin is outside.
    inner: f64,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    /// Numbers of its corners.
    ends: [u32; 2],
    /// m.
    length: f64,
}

/// Planes of faces; the last fills the rest.
#[derive(Clone, Copy, Debug)]
struct Planes {
    /// Unit, outwards.
    normals: Wide3,
    /// Distances from the origin along them, m.
    offsets: Wide,
}

impl Polyhedron {
    /// `hull`, whose coordinates `material` takes from those of the body; `None` if it has only slivers.
    pub(crate) fn new(hull: &ConvexHull, material: &Isometry3<f64>) -> Option<Self> {
        let mesh = hull.mesh();
        let corners: Box<[Point3<f64>]> =
            mesh.vertices.iter().map(|p| material.inverse_transform_point(p)).collect();
        let size = corners.iter().map(|p| p.coords.norm()).fold(0.0, f64::max);
        let mut faces: Vec<(Vector3<f64>, f64)> = Vec::new();
        // the face of each triangle; slivers have none
        let mut edges = Vec::new();
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|n| corners[n as usize]);
            let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
            let normal = (b - a).cross(&(c - a)).try_normalize(SAME * longest * longest);
            let face = normal.map(|normal| {
                let offset = normal.dot(&a.coords);
                let same = |(n, d): &(Vector3<f64>, f64)| {
                    (n - normal).norm() < SAME.sqrt() && (d - offset).abs() < SAME.sqrt() * size
                };
                faces.iter().position(same).unwrap_or_else(|| {
                    faces.push((normal, offset));
                    faces.len() - 1
                })
            });
            let [a, b, c] = *triangle;
            edges.extend([[a, b], [b, c], [c, a]].map(|[p, q]| ([p.min(q), p.max(q)], face)));
        }
        edges.sort_unstable();
        // between two triangles of one face there is none
        let of_faces = edges
            .chunk_by(|p, q| p.0 == q.0)
            .filter(|sides| sides.first().map(|side| side.1) != sides.last().map(|side| side.1));
        let edges = of_faces.map(|sides| Edge::new(&corners, sides[0].0)).collect();
        (!faces.is_empty()).then(|| Self::of(corners, &faces, edges))
    }

    /// Of a box about the origin with half edge lengths `half`, m.
    pub(crate) fn cuboid(half: &Vector3<f64>) -> Self {
        let bounds = Aabb { min: Point3::from(-half), max: Point3::from(*half) };
        let faces: Vec<_> = (0..3)
            .flat_map(|axis| [-1.0, 1.0].map(|sign| (axis, sign)))
            .map(|(axis, sign)| (Vector3::ith(axis, sign), half[axis]))
            .collect();
        let along =
            |axis: u32| (0..8).filter(move |n| n >> axis & 1 == 0).map(move |n| [n, n | 1 << axis]);
        // z varies fastest, as in the surface points of a box: both number the corners alike
        let corners: Box<[Point3<f64>]> =
            [0, 4, 2, 6, 1, 5, 3, 7].map(|n: usize| bounds.corners()[n]).into();
        let edges = (0..3).flat_map(along).map(|ends| Edge::new(&corners, ends)).collect();
        Self::of(corners, &faces, edges)
    }

    fn of(corners: Box<[Point3<f64>]>, faces: &[(Vector3<f64>, f64)], edges: Box<[Edge]>) -> Self {
        let half_width = 0.5 * width(&corners, faces, &edges);
        let planes = faces.chunks(LANES).map(Planes::new).collect();
        let in_lanes = |corners: &[Point3<f64>]| {
            let mut lanes = Wide3::default();
            for lane in 0..LANES {
                lanes.set(lane, corners[lane.min(corners.len() - 1)].coords.into());
            }
            lanes
        };
        let lanes = corners.chunks(LANES).map(in_lanes).collect();
        let inner = faces.iter().map(|face| face.1).fold(f64::INFINITY, f64::min);
        let reach = corners.iter().map(|p| p.coords.norm()).fold(0.0, f64::max);
        let inner = if inner < 0.0 { -reach } else { inner };
        Self { corners, lanes, planes, edges, half_width, inner }
    }

    pub(crate) fn corners(&self) -> &[Point3<f64>] {
        &self.corners
    }

    pub(crate) fn half_width(&self) -> f64 {
        self.half_width
    }

    /// Keys that candidates on it may have.
    pub(crate) fn key_count(&self) -> u32 {
        (self.corners.len() + MAX_BENDS * self.edges.len()) as u32
    }

    /// The largest signed distance of a point from the plane of a face, m: that from the solid inside, a
    /// lower bound of it outside.
    pub(crate) fn height(&self, p: &Point3<f64>) -> f64 {
        let (p, mut most) = (wide(&p.coords), Wide([f64::NEG_INFINITY; LANES]));
        for Planes { normals, offsets } in &self.planes {
            most = most.zip(normals.dot(&p) - *offsets, most_of);
        }
        most.0.into_iter().fold(f64::NEG_INFINITY, most_of)
    }

    /// Distance of the farthest corner from the origin, m.
    pub(crate) fn reach(&self) -> f64 {
        self.corners.iter().map(|p| p.coords.norm()).fold(0.0, f64::max)
    }

    /// Numbers of the corners of each edge.
    pub(crate) fn edges(&self) -> impl Iterator<Item = [usize; 2]> {
        (0..self.edges.len()).map(|edge| self.edge(edge))
    }

    pub(crate) fn edge(&self, number: usize) -> [usize; 2] {
        self.edges[number].ends.map(|n| n as usize)
    }

    pub(crate) fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Number of faces; the last may be counted several times.
    pub(crate) fn face_count(&self) -> usize {
        LANES * self.planes.len()
    }

    /// How far it reaches along `way` at least, m.
    #[inline(always)]
    pub(crate) fn least_along(&self, way: &Vector3<f64>) -> f64 {
        let (way, mut least) = (wide(way), Wide([f64::INFINITY; LANES]));
        for corners in &self.lanes {
            least = least.zip(way.dot(corners), least_of);
        }
        least.0.into_iter().fold(f64::INFINITY, least_of)
    }

    /// Unit normal, outwards, and offset of a face.
    pub(crate) fn plane(&self, number: usize) -> (Vector3<f64>, f64) {
        let Planes { normals, offsets } = &self.planes[number / LANES];
        let lane = number % LANES;
        (normals.of(lane).into(), offsets.0[lane])
    }
}

/// The least distance of two parallel planes with all `corners` between them, m: one is that of a face,
/// or each holds an edge (Houle and Toussaint 1988). If there are more edges than are worth trying
/// two by two it is the width of a ball inside.
fn width(corners: &[Point3<f64>], faces: &[(Vector3<f64>, f64)], edges: &[Edge]) -> f64 {
    if edges.len() > MAX_EDGES {
        let sum: Vector3<f64> = corners.iter().map(|p| p.coords).sum();
        let middle = sum / corners.len() as f64;
        let depths = faces.iter().map(|(normal, offset)| offset - normal.dot(&middle));
        return 2.0 * depths.fold(f64::INFINITY, least_of);
    }
    let across = |(normal, offset): &(Vector3<f64>, f64)| {
        offset - corners.iter().map(|p| normal.dot(&p.coords)).fold(f64::INFINITY, least_of)
    };
    let mut least = faces.iter().map(across).fold(f64::INFINITY, least_of);
    let ends = |edge: &Edge| edge.ends.map(|n| &corners[n as usize]);
    for (n, edge) in edges.iter().enumerate() {
        let [p, end] = ends(edge);
        for other in &edges[..n] {
            let [q, other_end] = ends(other);
            let normal = (end - p).cross(&(other_end - q));
            let length = normal.norm();
            // planes through parallel edges are least apart along a face
            if length <= SAME.sqrt() * edge.length * other.length {
                continue;
            }
            let most = least * length;
            let heights = [p, q].map(|p| normal.dot(&p.coords));
            let (mut low, mut high) =
                (least_of(heights[0], heights[1]), most_of(heights[0], heights[1]));
            for corner in corners {
                let height = normal.dot(&corner.coords);
                (low, high) = (least_of(low, height), most_of(high, height));
                if high - low >= most {
                    break;
                }
            }
            least = least_of(least, (high - low) / length);
        }
    }
    least
}

impl Edge {
    fn new(corners: &[Point3<f64>], ends: [u32; 2]) -> Self {
        let [p, q] = ends.map(|n| corners[n as usize]);
        Self { ends, length: (q - p).norm() }
    }
}

impl Planes {
    fn new(faces: &[(Vector3<f64>, f64)]) -> Self {
        let (mut normals, mut offsets) = (Wide3::default(), Wide::default());
        for lane in 0..LANES {
            let (normal, offset) = faces[lane.min(faces.len() - 1)];
            normals.set(lane, normal.into());
            offsets.0[lane] = offset;
        }
        Self { normals, offsets }
    }
}

/// How far one solid is beyond another along a direction.
#[derive(Clone, Copy)]
pub(crate) struct Parting {
    /// m.
    pub(crate) distance: f64,
    /// Unit, out of the second solid and in its coordinates.
    pub(crate) way: Vector3<f64>,
}

/// How much of two solids a search is for.
#[derive(Clone, Copy)]
struct Range {
    /// Candidates are nearer than this, m.
    margin: f64,
    /// The search for the best separating face ends at one beyond this, m.
    enough: f64,
    /// Without candidates where a face parts the solids by more, m.
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
    /// m; a lower bound where they are apart.
    pub(crate) distance: f64,
    /// The face that parts them best, by no more than the distance.
    pub(crate) face: Option<Parting>,
}

/// What is near, before [`Solids::led_out`].
pub(crate) struct Looked {
    /// The face that parts the solids best.
    pub(crate) face: Parting,
    pub(crate) found: Vec<Candidate>,
}

/// Two convex solids where they are.
pub(crate) struct Solids<'a> {
    pub(crate) a: &'a Polyhedron,
    pub(crate) b: &'a Polyhedron,
    pub(crate) b_from_a: Isometry3<f64>,
}

impl Solids<'_> {
    /// The corners of both and points on edges of `a` that are nearer than `margin` to the other. Where
    /// the solids overlap deeply, those that lead out by the shortest way.
    pub(crate) fn near(&self, margin: f64) -> Vec<Candidate> {
        self.led_out(self.look(margin), margin)
    }

    /// What is nearer than `margin`, with the normals of nearest faces.
    pub(crate) fn look(&self, margin: f64) -> Looked {
        self.search(Range::within(margin))
    }

    /// What was [found](Self::look) within a margin, with normals that lead out.
    pub(crate) fn led_out(
        &self,
        Looked { face, mut found }: Looked,
        margin: f64,
    ) -> Vec<Candidate> {
        if face.distance < EDGE * margin {
            self.turn_sideways(face, EDGE * margin, &mut found);
        }
        if face.distance < -MAX_CUT * margin {
            self.lead_out(face, &mut found);
        }
        found
    }

    /// Where two solids overlap by more than a corner is off an edge, its nearest face is as often one
    /// beside that on which it lies: those of towers would all lead out sideways. If a face parts the
    /// solids best, such corners are told by how deep they are along its normal.
    fn turn_sideways(&self, by_face: Parting, slack: f64, found: &mut Vec<Candidate>) {
        let Parting { distance, way } = by_face;
        let turn = &self.b_from_a.rotation;
        let is_edge = |c: &Candidate| self.is_edge(c);
        let apart = |c: &Candidate| self.out(c).dot(&way) < SIDEWAYS;
        let parts_better = |c: &Candidate| self.parted_by(&self.out(c)).0 > distance + slack;
        if !found.iter().any(apart)
            || found.iter().any(|c| is_edge(c) && apart(c) && parts_better(c))
        {
            return;
        }
        found.retain(|c| !(is_edge(c) && apart(c)));
        let most =
            self.b.corners.iter().map(|p| way.dot(&p.coords)).fold(f64::NEG_INFINITY, most_of);
        let off = slack.max(slack - distance);
        for c in found.iter_mut().filter(|c| c.distance <= off && apart(c)) {
            (c.distance, c.normal) = match c.owner {
                Side::A => (way.dot(&(self.b_from_a * c.point).coords) - most, Some(way)),
                Side::B => {
                    (most + distance - way.dot(&c.point.coords), Some(-(turn.inverse() * way)))
                }
            };
        }
    }

    /// Drops what does not lead out by the shortest way, along the normal of the face that parts best
    /// or of two edges, and sees to it that something does.
    fn lead_out(&self, by_face: Parting, found: &mut Vec<Candidate>) {
        let of_edges = found.iter().filter(|c| self.is_edge(c)).map(|c| self.out(c));
        let ways = of_edges.map(|way| Parting { distance: self.parted_by(&way).0, way });
        let Parting { distance, way } =
            ways.fold(by_face, |p, q| if q.distance > p.distance { q } else { p });
        found.retain(|candidate| self.out(candidate).dot(&way) > 0.0);
        let leads = |c: &Candidate| self.out(c).dot(&way) > 0.9 && c.distance < 0.5 * distance;
        if !found.iter().any(leads) {
            let (_, key) = self.parted_by(&way);
            let point = self.a.corners[key];
            let (owner, normal, key) = (Side::A, Some(way), key as u32);
            found.push(Candidate { owner, point, normal, key, distance });
        }
    }

    /// A normal out of the second solid, in its coordinates.
    fn out(&self, candidate: &Candidate) -> Vector3<f64> {
        let normal = candidate.normal.unwrap_or_default();
        if candidate.owner == Side::A { normal } else { -(self.b_from_a.rotation * normal) }
    }

    /// Whether it is on an edge, not at a corner.
    fn is_edge(&self, candidate: &Candidate) -> bool {
        candidate.owner == Side::A && candidate.key as usize >= self.a.corners.len()
    }

    /// How far the first solid is beyond the second along a normal in the coordinates of that, m, and
    /// the number of its corner that is the least.
    fn parted_by(&self, normal: &Vector3<f64>) -> (f64, usize) {
        let most = self.b.corners.iter().map(|p| normal.dot(&p.coords));
        let most = most.fold(f64::NEG_INFINITY, most_of);
        let along = |p: &Point3<f64>| normal.dot(&(self.b_from_a * p).coords);
        let all = self.a.corners.iter().map(along).enumerate();
        let least = all.reduce(|p, q| if q.1 < p.1 { q } else { p });
        least.map_or((f64::INFINITY, 0), |(key, height)| (height - most, key))
    }

    /// How the face that parts them best does so, or one that parts them by more than `most`.
    pub(crate) fn parting(&self, most: f64) -> Parting {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "measured: see the notes of the pile benchmark")]
            // SAFETY: the processor has AVX2, which was asked just now
            return unsafe { self.part_wide(most) };
        }
        self.part(&self.views(), most).0
    }

    /// [`Solids::part`] on vectors of four numbers. Nothing is fused, so the bits are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn part_wide(&self, most: f64) -> Parting {
        self.part(&self.views(), most).0
    }

    fn views(&self) -> [View<'_>; 2] {
        let Self { a, b, b_from_a } = self;
        [View::new(a, b, b_from_a), View::new(b, a, &b_from_a.inverse())]
    }

    /// Also the planes of the second and of the first that part them best, if none does so by more than
    /// `most`.
    #[inline(always)]
    fn part(&self, views: &[View<'_>; 2], most: f64) -> (Parting, [usize; 2]) {
        let mut best = [(f64::NEG_INFINITY, 0); 2];
        for (view, best) in views.iter().zip(&mut best) {
            *best = view.glance();
        }
        for (n, view) in views.iter().enumerate() {
            if best[0].0.max(best[1].0) <= most {
                best[n] = view.search(best[n]);
            }
        }
        let [(of_a, p), (of_b, q)] = best;
        let parting = if of_b > of_a {
            Parting { distance: of_b, way: -(self.b_from_a.rotation * self.a.plane(q).0) }
        } else {
            Parting { distance: of_a, way: self.b.plane(p).0 }
        };
        (parting, [p, q])
    }

    /// How far the first solid is beyond the second along `way`, a unit vector in the coordinates of
    /// that, m.
    pub(crate) fn beyond(&self, way: &Vector3<f64>) -> f64 {
        let Self { a, b, b_from_a } = self;
        let least = a.least_along(&b_from_a.inverse_transform_vector(way));
        least + way.dot(&b_from_a.translation.vector) + b.least_along(&-way)
    }

    /// Their signed distance: by the best face, or any by at least `enough`, where it parts them by more than
    /// `clear`; else by what is nearer than `reach`, or that if nothing is: long bars are parted by their edges
    /// alone.
    pub(crate) fn separation(&self, enough: f64, clear: f64, reach: f64) -> Separation {
        let Looked { face, found } = self.search(Range { margin: reach, enough, clear });
        if face.distance > clear {
            return Separation { distance: face.distance, face: Some(face) };
        }
        let distance = found.iter().map(|c| c.distance).fold(reach, least_of);
        Separation { distance, face: Some(face) }
    }

    fn search(&self, range: Range) -> Looked {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "measured: see the notes of the pile benchmark")]
            // SAFETY: the processor has AVX2, which was asked just now
            return unsafe { self.visit_wide(range) };
        }
        self.visit(range)
    }

    /// [`Solids::visit`] on vectors of four numbers. Nothing is fused, so the bits are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn visit_wide(&self, range: Range) -> Looked {
        self.visit(range)
    }

    #[inline(always)]
    fn visit(&self, Range { margin, enough, clear }: Range) -> Looked {
        let Self { a, b, .. } = self;
        let (mut found, views) = (Vec::new(), self.views());
        let (face, faces) = self.part(&views, enough);
        if face.distance > clear {
            return Looked { face, found };
        }
        let mut of_a = Heights::new(&views[0], faces[0]);
        let mut of_b = Heights::new(&views[1], faces[1]);
        for (owner, heights, own, other) in [(Side::A, &mut of_a, a, b), (Side::B, &mut of_b, b, a)]
        {
            for (key, &point) in own.corners.iter().enumerate() {
                // what is that far off one plane is no nearer
                if heights.over_face[key] >= margin {
                    continue;
                }
                let (distance, plane) = heights.highest(key);
                if distance < margin {
                    let (normal, key) = (Some(other.plane(plane).0), key as u32);
                    found.push(Candidate { owner, point, normal, key, distance });
                }
            }
        }
        for (number, Edge { ends, length }) in a.edges.iter().enumerate() {
            let ends = ends.map(|n| n as usize);
            if ends.iter().all(|&end| of_a.over_face[end] >= margin) {
                continue;
            }
            let highest = ends.map(|end| of_a.highest(end));
            // no distance grows faster than the way, and along one plane none bends
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
            let mut key = (a.corners.len() + MAX_BENDS * number) as u32;
            bends(rows, highest[0].1, *length, margin, |share, distance, [(i, s), (j, t)]| {
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
            });
        }
        Looked { face, found }
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

    /// How far the plane of the other that is most under the middle keeps all corners off, m, and its
    /// number.
    #[inline(always)]
    fn glance(&self) -> (f64, usize) {
        let middle = wide(&self.shift);
        let mut under = First::new(f64::INFINITY);
        for (group, Planes { normals, offsets }) in self.other.planes.iter().enumerate() {
            under.look(group, *offsets - normals.dot(&middle));
        }
        let (depth, plane) = under.least();
        let normal = self.turn.tr_mul(&self.other.plane(plane).0);
        (self.own.least_along(&normal) - depth, plane)
    }

    /// The same of the plane that keeps them off best, if `best` is one of them.
    #[inline(always)]
    fn search(&self, mut best: (f64, usize)) -> (f64, usize) {
        let middle = wide(&self.shift);
        for (group, Planes { normals, offsets }) in self.other.planes.iter().enumerate() {
            let height = normals.dot(&middle) - *offsets;
            if !height.0.iter().any(|height| height - self.own.inner > best.0) {
                continue;
            }
            let turned = Wide3(std::array::from_fn(|k| {
                let along = |axis: usize| normals.0[axis].map(|x| self.turn[(axis, k)] * x);
                along(0) + along(1) + along(2)
            }));
            let mut least = Wide([f64::INFINITY; LANES]);
            for corner in &self.own.corners {
                least = least.zip(turned.dot(&wide(&corner.coords)), least_of);
            }
            for (lane, &distance) in (height + least).0.iter().enumerate() {
                if distance > best.0 {
                    best = (distance, LANES * group + lane);
                }
            }
        }
        best
    }
}

#[inline(always)]
fn wide(v: &Vector3<f64>) -> Wide3 {
    Wide3([v.x, v.y, v.z].map(|x| Wide([x; LANES])))
}

/// The corners of one solid over the planes of another.
struct Heights<'v, 'a> {
    view: &'v View<'a>,
    /// Of each corner over one of the planes, m.
    over_face: Vec<f64>,
    /// What is known of each.
    known: Vec<Option<Highest>>,
    /// Over all planes, row by row, m.
    rows: Vec<Wide>,
}

/// The height of a corner over the plane over which it is highest.
#[derive(Clone, Copy)]
struct Highest {
    /// m.
    height: f64,
    plane: usize,
    /// Where its row is.
    row: usize,
}

impl<'v, 'a> Heights<'v, 'a> {
    #[inline(always)]
    fn new(view: &'v View<'a>, face: usize) -> Self {
        let (normal, offset) = view.other.plane(face);
        let (own, middle) = (view.own, normal.dot(&view.shift) - offset);
        let normal = wide(&view.turn.tr_mul(&normal));
        let over = |corners: &Wide3| normal.dot(corners).map(|height| height + middle).0;
        let over_face = own.lanes.iter().flat_map(over).collect();
        let rows = Vec::with_capacity(own.corners.len() * view.other.planes.len());
        Self { view, over_face, known: vec![None; own.corners.len()], rows }
    }

    /// The distance of a corner from the solid, m, and the plane that tells it; outside it is a lower
    /// bound.
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
            under.look(group, depth);
        }
        let (depth, plane) = under.least();
        self.known[corner] = Some(Highest { height: -depth, plane, row });
        (-depth, plane)
    }

    /// Of a corner of which the highest is known.
    #[inline(always)]
    fn row(&self, corner: usize) -> &[Wide] {
        let row = self.known[corner].map_or(0, |known| known.row);
        &self.rows[row..][..self.view.other.planes.len()]
    }
}

// these become single instructions
#[inline(always)]
fn least_of(p: f64, q: f64) -> f64 {
    if q < p { q } else { p }
}

#[inline(always)]
fn most_of(p: f64, q: f64) -> f64 {
    if q > p { q } else { p }
}

fn at(row: &[Wide], plane: usize) -> f64 {
    row[plane / LANES].0[plane % LANES]
}

/// The first of the least numbers in rows.
struct First {
    least: Wide,
    /// Of rows.
    groups: Wide,
}

impl First {
    #[inline(always)]
    fn new(most: f64) -> Self {
        Self { least: Wide([most; LANES]), groups: Wide::default() }
    }

    #[inline(always)]
    fn look(&mut self, group: usize, numbers: Wide) {
        let group = group as f64;
        for lane in 0..LANES {
            let is_less = numbers.0[lane] < self.least.0[lane];
            self.groups.0[lane] = if is_less { group } else { self.groups.0[lane] };
            self.least.0[lane] = if is_less { numbers.0[lane] } else { self.least.0[lane] };
        }
    }

    /// It and its place.
    #[inline(always)]
    fn least(&self) -> (f64, usize) {
        let least = self.least.0.into_iter().fold(f64::INFINITY, least_of);
        let place = |lane: usize| LANES * self.groups.0[lane] as usize + lane;
        let places = (0..LANES).filter(|&lane| self.least.0[lane] == least).map(place);
        (least, places.min().unwrap_or(0))
    }
}

/// No point between two corners is nearer than this. Their heights over planes are given, and which are
/// the highest.
#[inline(always)]
fn lowest([p, q]: [&[Wide]; 2], [(from, i), (to, j)]: [(f64, usize); 2]) -> f64 {
    let (lead, gain) = (from - at(p, j), to - at(q, i));
    // where the two planes meet
    let share = if lead + gain > 0.0 { lead / (lead + gain) } else { 0.0 };
    let meet = from + (at(q, i) - from) * share;
    least_of(meet, least_of(from, to))
}

/// Most points of an edge that are told.
const MAX_BENDS: usize = 4;

/// Where the distance along an edge bends, from one plane to the next: at its least, and at the ends
/// of what lies flat on a face. The heights of its ends over planes are given, the plane that is the
/// highest at the first, and its length, m. `told` is given the share of the length, the distance, m,
/// and both planes with the shares of their normals that a contact there has.
#[inline(always)]
fn bends(
    [p, q]: [&[Wide]; 2],
    mut plane: usize,
    length: f64,
    limit: f64,
    mut told: impl FnMut(f64, f64, [(usize, f64); 2]),
) {
    let mut count = 0;
    loop {
        let height = at(p, plane);
        let falls = at(q, plane) - height;
        // the share of the length at which each plane comes to be the higher
        let mut first = First::new(1.0);
        for (group, (p, q)) in p.iter().zip(q).enumerate() {
            let lead = p.map(|x| height - x);
            let gain = (*q - *p).map(|x| x - falls);
            first.look(group, lead.zip(gain, |l, gain| if gain > 0.0 { l / gain } else { 1.0 }));
        }
        let (share, next) = first.least();
        if share >= 1.0 {
            return;
        }
        let (distance, rises) = (height + falls * share, at(q, next) - at(p, next));
        let is_least = falls < 0.0 && rises >= 0.0;
        let flat = |slope: f64| slope.abs() < FLAT * length;
        // a place is kept for the least
        let most = if falls < 0.0 { MAX_BENDS - 1 } else { MAX_BENDS };
        let is_end = count < most && (flat(falls) || flat(rises));
        if distance < limit && share > 0.0 && (is_least || is_end) {
            let shares = if is_least {
                // does not slope along the edge
                let first = rises / (rises - falls);
                [first, 1.0 - first]
            } else if falls.abs() < rises.abs() {
                [1.0, 0.0]
            } else {
                [0.0, 1.0]
            };
            told(share, distance, [(plane, shares[0]), (next, shares[1])]);
            count += 1;
        }
        plane = next;
    }
}

#[cfg(test)]
mod tests {
    use parry3d::math::{Pose, Rotation, Vector};
    use parry3d::query::{contact, distance};
    use parry3d::shape::{ConvexPolyhedron, Cuboid};

    use super::*;

    /// The least distance, of no more than 1 m; where the solids are apart a bound of it from below.
    fn least_told(solids: &Solids<'_>) -> f64 {
        let Looked { face, found } = solids.look(1.0);
        let least = found.iter().map(|c| c.distance).fold(1.0, f64::min);
        if face.distance > 0.0 { face.distance } else { least }
    }

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) as f64 / f64::from(1u32 << 31) - 0.5
        }

        fn vector(&mut self, size: f64) -> Vector3<f64> {
            Vector3::new(self.next(), self.next(), self.next()) * size
        }

        fn hull(&mut self) -> ConvexHull {
            let points: Vec<_> = (0..14).map(|_| Point3::from(self.vector(0.3))).collect();
            ConvexHull::new(&points).expect("random points span a volume")
        }
    }

    fn pose(x: &Isometry3<f64>) -> Pose {
        let place = Vector::from_array(x.translation.vector.into());
        Pose::from_parts(place, Rotation::from_array(x.rotation.coords.into()))
    }

    fn parry(hull: &ConvexHull) -> ConvexPolyhedron {
        let points: Vec<_> =
            hull.mesh().vertices.iter().map(|p| Vector::from_array(p.coords.into())).collect();
        ConvexPolyhedron::from_convex_hull(&points).expect("a hull")
    }

    /// Points all along the edges.
    fn edges(hull: &ConvexHull) -> Vec<Point3<f64>> {
        const STEPS: u32 = 100;
        let mesh = hull.mesh();
        let along = |[p, q]: [Point3<f64>; 2]| {
            (0..=STEPS).map(move |n| p + (q - p) * (f64::from(n) / f64::from(STEPS)))
        };
        let sides = |[a, b, c]: [Point3<f64>; 3]| [[a, b], [b, c], [c, a]];
        let all = (0..mesh.triangles.len()).flat_map(|t| sides(mesh.corners(t)));
        all.flat_map(along).collect()
    }

    /// How wide a solid is along a unit vector, m.
    fn width_along(solid: &Polyhedron, way: &Vector3<f64>) -> f64 {
        let heights = solid.corners.iter().map(|p| way.dot(&p.coords));
        let (low, high) = heights
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        high - low
    }

    fn of_points(points: &[Point3<f64>]) -> Polyhedron {
        let hull = ConvexHull::new(points).expect("points span a volume");
        Polyhedron::new(&hull, &Isometry3::identity()).expect("no slivers")
    }

    #[test]
    fn no_two_planes_are_nearer_around_a_solid_than_its_width() {
        let mut random = Random(13);
        let mut between_edges = 0;
        for case in 0..60 {
            let points: Vec<_> =
                (0..4 + case % 12).map(|_| Point3::from(random.vector(0.3))).collect();
            let solid = of_points(&points);
            let told = 2.0 * solid.half_width;
            let mut best = (f64::INFINITY, Vector3::x());
            for n in 0..6000 {
                // at first everywhere, then ever closer to the best
                let reach = 0.998_f64.powi((n - 3000).max(0));
                let way = if n < 3000 { Vector3::zeros() } else { best.1 };
                let Some(way) = (way + random.vector(reach)).try_normalize(1e-9) else { continue };
                let width = width_along(&solid, &way);
                assert!(width > told * (1.0 - 1e-9), "{case}: {width} for {told}");
                best = if width < best.0 { (width, way) } else { best };
            }
            assert!(best.0 < told * 1.01, "{case}: {} for {told}", best.0);
            let faces = (0..LANES * solid.planes.len()).map(|n| solid.plane(n).0);
            let by_faces = faces.map(|way| width_along(&solid, &way)).fold(f64::INFINITY, f64::min);
            between_edges += usize::from(told < by_faces * (1.0 - 1e-6));
        }
        assert!(between_edges > 20, "{between_edges}");
    }

    #[test]
    fn a_tetrahedron_is_as_wide_as_two_edges_are_apart() {
        let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
        let solid = of_points(&corners.map(Point3::from));
        assert!((solid.half_width - 1.0).abs() < 1e-12, "{}", solid.half_width);
        let brick = Polyhedron::cuboid(&Vector3::new(0.2, 0.05, 0.1));
        assert!((brick.half_width - 0.05).abs() < 1e-15, "{}", brick.half_width);
    }

    #[test]
    fn what_has_very_many_edges_is_no_wider_than_told() {
        let mut random = Random(17);
        let ball: Vec<_> = (0..400)
            .filter_map(|_| random.vector(1.0).try_normalize(0.1))
            .map(|p| Point3::from(p.component_mul(&Vector3::new(0.1, 0.2, 0.3))))
            .collect();
        let solid = of_points(&ball);
        assert!(solid.edges.len() > MAX_EDGES, "{}", solid.edges.len());
        let least = (0..3000)
            .filter_map(|_| random.vector(1.0).try_normalize(0.1))
            .map(|way| width_along(&solid, &way))
            .fold(f64::INFINITY, f64::min);
        let told = 2.0 * solid.half_width;
        assert!(told <= least && told > 0.8 * least, "{told} for {least}");
    }

    #[test]
    fn finds_what_points_all_along_the_edges_find() {
        let mut random = Random(7);
        let mut overlap = 0;
        for case in 0..150 {
            let [p, q] = [random.hull(), random.hull()];
            let map = Isometry3::new(random.vector(0.35), random.vector(6.0));
            let [a, b] = [&p, &q]
                .map(|hull| Polyhedron::new(hull, &Isometry3::identity()).expect("no slivers"));
            let least = |points: &[Point3<f64>], hull: &ConvexHull, map: &Isometry3<f64>| {
                points.iter().map(|x| hull.distance(&(map * x))).fold(1.0, f64::min)
            };
            let (on_edges, back) = (edges(&p), map.inverse());
            let corners =
                least(&p.mesh().vertices, &q, &map).min(least(&q.mesh().vertices, &p, &back));
            let exact = corners.min(least(&on_edges, &q, &map));
            if exact > -0.002 {
                continue;
            }
            overlap += 1;
            let told = least_told(&Solids { a: &a, b: &b, b_from_a: map });
            // by the normal of two edges the way out is longer than to either face
            assert!(told < exact + 1e-12, "{case}: {told} for {exact}");
            assert!(told >= (exact - 0.004) / SHARP, "{case}: {told} for {exact}");
            // but no corner is told deeper than it is
            if corners < exact + 1e-12 {
                let is_corner =
                    |c: &Candidate| c.owner == Side::B || c.key < a.corners.len() as u32;
                let found = Solids { a: &a, b: &b, b_from_a: map }.look(0.0).found;
                let deepest =
                    found.iter().filter(|c| is_corner(c)).map(|c| c.distance).fold(0.0, f64::min);
                assert!((deepest - corners).abs() < 1e-12, "{case}: {deepest} for {corners}");
            }
        }
        assert!(overlap > 40, "{overlap}");
    }

    #[test]
    fn what_is_apart_is_no_farther_than_it_is() {
        let mut random = Random(11);
        let (mut apart, mut near) = (0, 0);
        for _ in 0..2000 {
            let [p, q] = [random.hull(), random.hull()];
            let map = Isometry3::new(random.vector(0.8), random.vector(6.0));
            let [a, b] = [&p, &q]
                .map(|hull| Polyhedron::new(hull, &Isometry3::identity()).expect("no slivers"));
            let gap = distance(&pose(&map), &parry(&p), &Pose::IDENTITY, &parry(&q))
                .expect("both have points")
                .distance;
            let told = least_told(&Solids { a: &a, b: &b, b_from_a: map });
            if gap > 1e-6 {
                apart += 1;
                assert!(told > 0.0 && told < gap + 1e-6, "{told} for {gap}");
                near += usize::from(told > 0.8 * gap);
            } else {
                assert!(told < 1e-6, "{told} though they touch");
            }
        }
        assert!(apart > 400 && near > apart / 2, "{near} of {apart}");
    }

    #[test]
    fn crossed_edges_part_by_the_normal_of_both() {
        // two bars whose edges cross at a right angle, 1 mm deep
        let half = Vector3::new(0.3, 0.05, 0.05);
        let roll = |axis: Vector3<f64>| Isometry3::rotation(axis * std::f64::consts::FRAC_PI_4);
        let high = 2.0 * 0.05 * 2f64.sqrt() - 0.001;
        let a = Isometry3::translation(0.02, high, 0.01) * roll(Vector3::x());
        let b =
            Isometry3::rotation(Vector3::y() * std::f64::consts::FRAC_PI_2) * roll(Vector3::x());
        let bar = Polyhedron::cuboid(&half);
        let found = Solids { a: &bar, b: &bar, b_from_a: b.inv_mul(&a) }.near(0.002);
        let deepest = found.iter().min_by(|p, q| p.distance.total_cmp(&q.distance));
        let deepest = deepest.expect("they overlap");
        assert!((deepest.distance + 0.001).abs() < 1e-12, "{}", deepest.distance);
        let normal = b * deepest.normal.expect("it is known");
        assert!((normal - Vector3::y()).norm() < 1e-12, "{normal}");
        let at = a * deepest.point;
        assert!((at.x.abs() < 1e-12) && (at.z - 0.01).abs() < 1e-12, "{at}");
        let cuboid = Cuboid::new(Vector::from_array(half.into()));
        let told = contact(&pose(&a), &cuboid, &pose(&b), &cuboid, 0.0);
        let told = told.expect("both are convex").expect("they overlap");
        assert!((told.dist - deepest.distance).abs() < 1e-6, "{}", told.dist);
    }

    #[test]
    fn a_bar_across_a_bar_rests_on_four_points() {
        let half = Vector3::new(0.3, 0.05, 0.05);
        let turn = Vector3::y() * std::f64::consts::FRAC_PI_2;
        let map = Isometry3::new(Vector3::new(0.0, 0.0999, 0.0), turn);
        let bar = Polyhedron::cuboid(&half);
        let found = Solids { a: &bar, b: &bar, b_from_a: map }.near(0.002);
        // where the sides of the lower bar are as near as its top
        for (x, z) in [(-0.05, -0.0499), (-0.05, 0.0499), (0.05, -0.0499), (0.05, 0.0499)] {
            let corner = Point3::new(x, 0.0499, z);
            let at = |c: &&Candidate| (map * c.point - corner).norm() < 1e-9;
            let found = found.iter().find(at).expect("a crossing of edges");
            assert!((found.distance + 1e-4).abs() < 1e-12, "{}", found.distance);
            assert!((found.normal.expect("known") - Vector3::y()).norm() < 1e-9);
        }
    }

    #[test]
    fn what_overlaps_deeply_is_led_out_one_way() {
        let mut random = Random(5);
        let mut deep = 0;
        for case in 0..400 {
            let [a, b] = [0; 2].map(|_| {
                Polyhedron::new(&random.hull(), &Isometry3::identity()).expect("no slivers")
            });
            let b_from_a = Isometry3::new(random.vector(0.2), random.vector(6.0));
            let solids = Solids { a: &a, b: &b, b_from_a };
            if solids.parting(f64::INFINITY).distance > -0.01 {
                continue;
            }
            deep += 1;
            let found = solids.near(0.01);
            let out = |c: &Candidate| {
                let normal = c.normal.expect("it is known");
                if c.owner == Side::A { normal } else { -(b_from_a.rotation * normal) }
            };
            let best = found
                .iter()
                .max_by(|p, q| solids.parted_by(&out(p)).0.total_cmp(&solids.parted_by(&out(q)).0));
            let way = out(best.expect("something leads out"));
            for candidate in &found {
                assert!(out(candidate).dot(&way) > -0.8, "{case}");
            }
            // as far as that the solids part, and not much less far than it takes
            let far = -solids.parted_by(&way).0;
            let after = |share: f64| {
                let mut moved = b_from_a;
                moved.translation.vector += way * (far * share);
                least_told(&Solids { b_from_a: moved, ..solids })
            };
            assert!(after(1.001) > -1e-9, "{case}: {}", after(1.001));
            assert!(after(0.5) < 0.0, "{case}: {}", after(0.5));
        }
        assert!(deep > 100, "{deep}");
    }

    #[test]
    fn wide_vectors_have_the_same_bits() {
        let mut random = Random(3);
        let mut count = 0;
        for _ in 0..100 {
            let [a, b] = [0; 2].map(|_| {
                Polyhedron::new(&random.hull(), &Isometry3::identity()).expect("no slivers")
            });
            let b_from_a = Isometry3::new(random.vector(0.4), random.vector(6.0));
            let solids = Solids { a: &a, b: &b, b_from_a };
            let bits = |c: &Candidate| (c.owner == Side::A, c.key, c.distance.to_bits());
            let both = [solids.visit(Range::within(0.01)), solids.look(0.01)];
            let [first, second] = both.map(|Looked { face, found }| {
                let found: Vec<_> = found.iter().map(bits).collect();
                (face.distance.to_bits(), face.way.map(f64::to_bits), found)
            });
            assert_eq!(first, second);
            let [first, second] = [solids.part(&solids.views(), 0.0).0, solids.parting(0.0)]
                .map(|face| (face.distance.to_bits(), face.way.map(f64::to_bits)));
            assert_eq!(first, second);
            count += solids.look(0.01).found.len();
        }
        assert!(count > 300, "{count}");
    }

    #[test]
    fn what_lies_flush_on_its_like_is_borne_at_all_corners() {
        let brick = Polyhedron::cuboid(&Vector3::new(0.2, 0.05, 0.1));
        for depth in [0.0, 1e-17, 1e-6, 1e-4, 2e-3] {
            for (x, z, turn) in
                [(0.0, 0.0, 0.0), (5e-5, -5e-5, 0.0), (0.0, 0.0, 1e-4), (0.02, 0.0, 0.0)]
            {
                let map = Isometry3::new(Vector3::new(x, 0.1 - depth, z), Vector3::y() * turn);
                let found = Solids { a: &brick, b: &brick, b_from_a: map }.near(0.01);
                let up = |c: &&Candidate| match c.owner {
                    Side::A => c.normal.is_some_and(|n| n.y > 0.999),
                    Side::B => c.normal.is_some_and(|n| n.y < -0.999),
                };
                for corner in [[-0.2, -0.1], [-0.2, 0.1], [0.2, -0.1], [0.2, 0.1]] {
                    let bears = found.iter().filter(up).any(|c| {
                        let at = if c.owner == Side::A { map * c.point } else { c.point };
                        (at.x - corner[0]).abs() < 0.021
                            && (at.z - corner[1]).abs() < 1e-3
                            && (c.distance + depth).abs() < 1e-9
                    });
                    assert!(bears, "{depth} {x} {z} {turn}: {corner:?}");
                }
            }
        }
    }

    #[test]
    fn a_ridge_across_a_shallow_dome_is_met_where_it_is_deepest() {
        const HIGH: f64 = 0.02;
        // slopes nowhere more than 0.27, in steps of 0.04
        let (rings, around, radius) = (7, 15, 0.15);
        let place = |ring: u32, n: u32, y: f64| {
            let turn = f64::from(n) + 0.5 * f64::from(ring % 2);
            let (sin, cos) = (std::f64::consts::TAU * turn / f64::from(around)).sin_cos();
            let far = radius * f64::from(ring) / f64::from(rings);
            Point3::new(far * cos, y, far * sin)
        };
        let mut points = vec![Point3::new(0.0, HIGH, 0.0)];
        for n in 0..around {
            let height =
                |ring: u32| HIGH * (1.0 - f64::from(ring * ring) / f64::from(rings * rings));
            points.extend((1..=rings).map(|ring| place(ring, n, height(ring))));
            points.push(place(rings, n, -0.03));
        }
        let hull = ConvexHull::new(&points).expect("a solid");
        let dome = Polyhedron::new(&hull, &Isometry3::identity()).expect("no slivers");
        let bar = Polyhedron::cuboid(&Vector3::new(0.3, 0.03, 0.03));
        for (depth, aside) in [(0.001, 0.011), (0.003, 0.011), (0.003, 0.017)] {
            let above = HIGH + 0.03 * 2f64.sqrt() - depth;
            let turn = Vector3::x() * std::f64::consts::FRAC_PI_4;
            let map = Isometry3::new(Vector3::new(0.0, above, aside), turn);
            let below = |n: i32| Point3::new(0.0001 * f64::from(n), HIGH - depth, aside);
            let exact = (-2000..2000).map(|n| hull.distance(&below(n))).fold(1.0, f64::min);
            let solids = Solids { a: &bar, b: &dome, b_from_a: map };
            let near = solids.near(0.0075).iter().map(|c| c.distance).fold(1.0, f64::min);
            for told in [near, least_told(&solids)] {
                assert!(told < exact + 1e-6, "{depth} {aside}: {told} for {exact}");
            }
        }
    }
}
