//! Convex solids against each other: the corners of each and the edges of one against the planes of
//! the other's faces. That is what points spread ever more densely over both would find.

use levelset::ConvexHull;
use nalgebra::{Isometry3, Point3, Vector3};

use crate::candidates::Candidate;
use crate::narrow::Side;
use crate::wide::{LANES, Wide, Wide3};

/// Faces whose normals and offsets, as a share of the size, differ less are one.
const SAME: f64 = 1e-9;
/// Slope of an edge along a face below which it lies on it: both ends of that part are told.
const FLAT: f64 = 0.3;
/// Two faces that an edge enters and leaves by part with a normal between theirs; if their mean is
/// shorter they face away from each other.
const SHARP: f64 = 0.3;

/// A convex solid in body coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Polyhedron {
    corners: Box<[Point3<f64>]>,
    planes: Box<[Planes]>,
    edges: Box<[Edge]>,
    /// Half of the least distance of two parallel planes around it, one of them that of a face, m.
    half_width: f64,
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
    /// `hull`, whose coordinates `material` takes from those of the body.
    pub(crate) fn new(hull: &ConvexHull, material: &Isometry3<f64>) -> Self {
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
        Self::of(corners, &faces, edges)
    }

    /// Of a box about the origin with half edge lengths `half`, m.
    pub(crate) fn cuboid(half: &Vector3<f64>) -> Self {
        let corner = |n: u32| {
            let sign = |axis: u32| if n >> axis & 1 == 0 { -1.0 } else { 1.0 };
            Point3::from(Vector3::new(sign(0), sign(1), sign(2)).component_mul(half))
        };
        let faces: Vec<_> = (0..3)
            .flat_map(|axis| [-1.0, 1.0].map(|sign| (axis, sign)))
            .map(|(axis, sign)| (Vector3::ith(axis, sign), half[axis]))
            .collect();
        let along =
            |axis: u32| (0..8).filter(move |n| n >> axis & 1 == 0).map(move |n| [n, n | 1 << axis]);
        let corners: Box<[Point3<f64>]> = (0..8).map(corner).collect();
        let edges = (0..3).flat_map(along).map(|ends| Edge::new(&corners, ends)).collect();
        Self::of(corners, &faces, edges)
    }

    fn of(corners: Box<[Point3<f64>]>, faces: &[(Vector3<f64>, f64)], edges: Box<[Edge]>) -> Self {
        let width = |(normal, offset): &(Vector3<f64>, f64)| {
            offset - corners.iter().map(|p| normal.dot(&p.coords)).fold(f64::INFINITY, f64::min)
        };
        let half_width = 0.5 * faces.iter().map(width).fold(f64::INFINITY, f64::min);
        let planes = faces.chunks(LANES).map(Planes::new).collect();
        Self { corners, planes, edges, half_width }
    }

    pub(crate) fn half_width(&self) -> f64 {
        self.half_width
    }

    fn plane(&self, number: usize) -> (Vector3<f64>, f64) {
        let Planes { normals, offsets } = &self.planes[number / LANES];
        let lane = number % LANES;
        (normals.of(lane).into(), offsets.0[lane])
    }
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

/// Two convex solids where they are.
pub(crate) struct Solids<'a> {
    pub(crate) a: &'a Polyhedron,
    pub(crate) b: &'a Polyhedron,
    pub(crate) b_from_a: Isometry3<f64>,
}

impl Solids<'_> {
    /// The corners of both and points on edges of `a` that are nearer than `margin` to the other.
    pub(crate) fn near(&self, margin: f64) -> Vec<Candidate> {
        let mut found = Vec::new();
        let add = |candidate| {
            found.push(candidate);
            margin
        };
        self.look(margin, margin, add);
        found
    }

    /// The least distance of one of these, m, or `most` if none is nearer, or any below `enough` if
    /// there is one. Where the solids are apart it is a lower bound of their distance.
    pub(crate) fn least(&self, most: f64, enough: f64) -> f64 {
        let mut least = most;
        let nearer = |candidate: Candidate| {
            least = least.min(candidate.distance);
            if least < enough { f64::NEG_INFINITY } else { least }
        };
        let apart = self.look(0.0, most, nearer);
        if apart > 0.0 { apart.min(most) } else { least }
    }

    /// Calls `found` for points nearer than a limit; what it returns is the limit from then on.
    /// Returns how far the planes of one keep the other off, m, and finds nothing beyond `margin`.
    fn look(&self, margin: f64, limit: f64, found: impl FnMut(Candidate) -> f64) -> f64 {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "measured: see the notes of the pile benchmark")]
            // SAFETY: the processor has AVX2, which was asked just now
            return unsafe { self.visit_wide(margin, limit, found) };
        }
        self.visit(margin, limit, found)
    }

    /// [`Solids::visit`] on vectors of four numbers. Nothing is fused, so the bits are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn visit_wide(&self, margin: f64, limit: f64, found: impl FnMut(Candidate) -> f64) -> f64 {
        self.visit(margin, limit, found)
    }

    #[inline(always)]
    fn visit(&self, margin: f64, mut limit: f64, mut found: impl FnMut(Candidate) -> f64) -> f64 {
        let Self { a, b, b_from_a } = self;
        let a_from_b = b_from_a.inverse();
        let most = margin.max(limit);
        for (own, other, map) in [(a, b, b_from_a), (b, a, &a_from_b)] {
            let apart = parted(own, other, map);
            if apart > most {
                return apart;
            }
        }
        let mut of_a = Heights::new(a, b, b_from_a);
        if of_a.apart > margin {
            return of_a.apart;
        }
        let mut of_b = Heights::new(b, a, &a_from_b);
        let apart = of_a.apart.max(of_b.apart);
        if apart > margin {
            return apart;
        }
        for (owner, heights, own, other) in [(Side::A, &mut of_a, a, b), (Side::B, &mut of_b, b, a)]
        {
            for (key, &point) in own.corners.iter().enumerate() {
                let distance = heights.find_highest(key);
                if distance < limit {
                    let normal = Some(other.plane(position(heights.row(key), distance)).0);
                    limit = found(Candidate { owner, point, normal, key: key as u32, distance });
                }
            }
        }
        for (number, Edge { ends, length }) in a.edges.iter().enumerate() {
            let [p, q] = ends.map(|n| n as usize);
            // no distance grows faster than the way
            if 0.5 * (of_a.highest(p) + of_a.highest(q) - length) >= limit {
                continue;
            }
            let rows = [of_a.row(p), of_a.row(q)];
            if lowest(rows) >= limit {
                continue;
            }
            let ends = [a.corners[p], a.corners[q]];
            let mut key = (a.corners.len() + MOST_BENDS * number) as u32;
            let start = of_a.highest(p);
            bends(rows, start, *length, limit, |share, distance, [(i, s), (j, t)]| {
                let [n, m] = [i, j].map(|plane| b.plane(plane).0);
                let between = n * s + m * t;
                let length = between.norm();
                let (normal, distance) = if length > SHARP {
                    (between / length, distance / length)
                } else {
                    (if s > t { n } else { m }, distance)
                };
                if distance < limit {
                    let point = ends[0] + (ends[1] - ends[0]) * share;
                    let normal = Some(normal);
                    limit = found(Candidate { owner: Side::A, point, normal, key, distance });
                }
                key += 1;
            });
        }
        apart
    }
}

/// How far the plane of `other` that is most under the middle of `own` keeps that off, m.
#[inline(always)]
fn parted(own: &Polyhedron, other: &Polyhedron, other_from_own: &Isometry3<f64>) -> f64 {
    let middle = wide(&other_from_own.translation.vector);
    let mut best = (f64::NEG_INFINITY, 0, 0);
    for (group, plane) in other.planes.iter().enumerate() {
        let heights = plane.normals.dot(&middle) - plane.offsets;
        for (lane, &height) in heights.0.iter().enumerate() {
            if height > best.0 {
                best = (height, group, lane);
            }
        }
    }
    let (height, group, lane) = best;
    let normal = Vector3::from(other.planes[group].normals.of(lane));
    let normal = other_from_own.inverse_transform_vector(&normal);
    let depth = own.corners.iter().map(|p| normal.dot(&p.coords)).fold(0.0, least_of);
    height + depth
}

#[inline(always)]
fn wide(v: &Vector3<f64>) -> Wide3 {
    Wide3([v.x, v.y, v.z].map(|x| Wide([x; LANES])))
}

/// The corners of one solid over the planes of another.
struct Heights {
    /// Row by row, one a corner, m; in the last place of a row the highest.
    all: Vec<Wide>,
    /// Length of a row without that.
    width: usize,
    /// How far the plane that parts them best keeps all corners off, m.
    apart: f64,
}

/// Corners that are moved at once.
const CHUNK: usize = 16;

impl Heights {
    #[inline(always)]
    fn new(own: &Polyhedron, other: &Polyhedron, other_from_own: &Isometry3<f64>) -> Self {
        let turn = other_from_own.rotation.to_rotation_matrix().into_inner();
        let shift = other_from_own.translation.vector;
        let width = other.planes.len();
        let mut all = vec![Wide::default(); (width + 1) * own.corners.len() + width];
        let (rows, least) = all.split_at_mut((width + 1) * own.corners.len());
        least.fill(Wide([f64::INFINITY; LANES]));
        for (n, corners) in own.corners.chunks(CHUNK).enumerate() {
            let rows = &mut rows[n * CHUNK * (width + 1)..][..corners.len() * (width + 1)];
            let mut moved = [Vector3::zeros(); CHUNK];
            for (moved, corner) in moved.iter_mut().zip(corners) {
                *moved = turn * corner.coords + shift;
            }
            for (group, (plane, least)) in other.planes.iter().zip(least.iter_mut()).enumerate() {
                let Planes { normals, offsets } = *plane;
                let mut under = *least;
                for (row, corner) in rows.chunks_exact_mut(width + 1).zip(&moved) {
                    let height = normals.dot(&wide(corner)) - offsets;
                    row[group] = height;
                    under = under.zip(height, least_of);
                }
                *least = under;
            }
        }
        let apart = least.iter().flat_map(|least| least.0).fold(f64::NEG_INFINITY, most_of);
        Self { all, width, apart }
    }

    fn row(&self, corner: usize) -> &[Wide] {
        &self.all[corner * (self.width + 1)..][..self.width]
    }

    /// The distance of a corner from the solid, m; outside it is a lower bound.
    fn highest(&self, corner: usize) -> f64 {
        self.all[corner * (self.width + 1) + self.width].0[0]
    }

    #[inline(always)]
    fn find_highest(&mut self, corner: usize) -> f64 {
        let mut most = Wide([f64::NEG_INFINITY; LANES]);
        for heights in self.row(corner) {
            most = most.zip(*heights, most_of);
        }
        let most = most.0.into_iter().fold(f64::NEG_INFINITY, most_of);
        self.all[corner * (self.width + 1) + self.width].0[0] = most;
        most
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

/// The first plane of a row of this height.
#[inline(always)]
fn position(row: &[Wide], height: f64) -> usize {
    let group = row.iter().position(|heights| heights.0.contains(&height)).unwrap_or(0);
    let lane = row[group].0.iter().position(|&x| x == height).unwrap_or(0);
    LANES * group + lane
}

/// No point between two corners, whose heights over planes are given, is nearer than this.
#[inline(always)]
fn lowest([p, q]: [&[Wide]; 2]) -> f64 {
    let mut most = Wide([f64::NEG_INFINITY; LANES]);
    for (p, q) in p.iter().zip(q) {
        most = most.zip(p.zip(*q, least_of), most_of);
    }
    most.0.into_iter().fold(f64::NEG_INFINITY, most_of)
}

/// Most points of an edge that are told.
const MOST_BENDS: usize = 4;

/// Where the distance along an edge bends, from one plane to the next: at its least, and at the ends
/// of what lies flat on a face. The heights of its ends over planes are given, the most of the
/// first, and its length, m. `told` is given the share of the length, the distance, m, and both
/// planes with the shares of their normals that a contact there has.
#[inline(always)]
fn bends(
    [p, q]: [&[Wide]; 2],
    start: f64,
    length: f64,
    limit: f64,
    mut told: impl FnMut(f64, f64, [(usize, f64); 2]),
) {
    let mut plane = position(p, start);
    let mut count = 0;
    while count < MOST_BENDS {
        let height = at(p, plane);
        let falls = at(q, plane) - height;
        // the share of the length at which each plane comes to be the higher
        let meets = |group: usize| {
            let (p, q) = (p[group], q[group]);
            let lead = p.map(|x| height - x);
            let gain = (q - p).map(|x| x - falls);
            lead.zip(gain, |lead, gain| if gain > 0.0 { lead / gain } else { 1.0 })
        };
        let mut first = Wide([1.0; LANES]);
        for group in 0..p.len() {
            first = first.zip(meets(group), least_of);
        }
        let share = first.0.into_iter().fold(1.0, least_of);
        if share >= 1.0 {
            return;
        }
        let is_next = |&group: &usize| meets(group).0.contains(&share);
        let group = (0..p.len()).find(is_next).unwrap_or(0);
        let lane = meets(group).0.iter().position(|&x| x == share).unwrap_or(0);
        let next = LANES * group + lane;
        let (distance, rises) = (height + falls * share, at(q, next) - at(p, next));
        let is_least = falls < 0.0 && rises >= 0.0;
        let flat = |slope: f64| slope.abs() < FLAT * length;
        if distance < limit && share > 0.0 && (is_least || flat(falls) || flat(rises)) {
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
