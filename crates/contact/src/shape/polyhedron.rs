//! Convex polyhedra: corners, edges and the planes of faces.

use levelset::{Aabb, ConvexHull};
use nalgebra::{Isometry3, Point3, Vector3};

use crate::lanes::{First, LANES, Wide, Wide3, least_of, most_of, wide};

/// Area of a degenerate triangle relative to the square of its longest side. Triangles are coplanar
/// if their normals, and their offsets relative to the size of the solid, differ by less than its
/// square root.
const SAME: f64 = 1e-9;
/// Limit of edges for the exact width, which takes all pairs of edges: that of a polyhedron with
/// 128 corners.
pub(crate) const MAX_EDGES: usize = 378;

/// Limit of contact points on an edge.
pub(crate) const MAX_BREAKPOINTS: usize = 4;

/// A convex solid in body coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Polyhedron {
    pub(crate) corners: Box<[Point3<f64>]>,
    /// The same in lanes; the last corner fills the rest.
    pub(crate) lanes: Box<[Wide3]>,
    pub(crate) planes: Box<[Planes]>,
    pub(crate) edges: Box<[Edge]>,
    /// Half of the least distance of two parallel supporting planes, m; less if there are very many
    /// edges.
    pub(crate) half_width: f64,
    /// Radius of the largest inscribed ball about the origin, m, or minus the distance of the
    /// farthest corner if the origin is outside.
    pub(crate) inner: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// Indices of its corners.
    pub(crate) ends: [u32; 2],
    /// m.
    pub(crate) length: f64,
}

/// Planes of faces; the last one fills the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planes {
    /// Outward unit normals.
    pub(crate) normals: Wide3,
    /// Distances from the origin along them, m.
    pub(crate) offsets: Wide,
}

impl Polyhedron {
    /// `material` maps body coordinates to those of `hull`; `None` if it has only slivers.
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
        // triangles of one face have no edge between them
        let of_faces = edges
            .chunk_by(|p, q| p.0 == q.0)
            .filter(|sides| sides.first().map(|side| side.1) != sides.last().map(|side| side.1));
        let edges = of_faces.map(|sides| Edge::new(&corners, sides[0].0)).collect();
        (!faces.is_empty()).then(|| Self::of(corners, &faces, edges))
    }

    /// A box about the origin with half edge lengths `half`, m.
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

    /// Number of candidate keys.
    pub(crate) fn key_count(&self) -> u32 {
        (self.corners.len() + MAX_BREAKPOINTS * self.edges.len()) as u32
    }

    /// The largest signed distance of a point from the plane of a face, m: inside that from the
    /// solid, outside a lower bound.
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

    /// Indices of the corners of each edge.
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

    /// The least extent along `direction`, m.
    #[inline(always)]
    pub(crate) fn least_along(&self, direction: &Vector3<f64>) -> f64 {
        let (direction, mut least) = (wide(direction), Wide([f64::INFINITY; LANES]));
        for corners in &self.lanes {
            least = least.zip(direction.dot(corners), least_of);
        }
        least.0.into_iter().fold(f64::INFINITY, least_of)
    }

    /// The support of the solid against `direction`: the least projection of its corners, m, and the
    /// first corner that has it.
    #[inline(always)]
    pub(crate) fn support_below(&self, direction: &Vector3<f64>) -> (f64, usize) {
        let (direction, mut least) = (wide(direction), First::new(f64::INFINITY));
        for (group, corners) in self.lanes.iter().enumerate() {
            least.update(group, direction.dot(corners));
        }
        let (least, corner) = least.least();
        // the last corner fills the rest of the lanes
        (least, corner.min(self.corners.len() - 1))
    }

    /// Outward unit normal and offset of a face.
    pub(crate) fn plane(&self, number: usize) -> (Vector3<f64>, f64) {
        let Planes { normals, offsets } = &self.planes[number / LANES];
        let lane = number % LANES;
        (normals.of(lane).into(), offsets.0[lane])
    }
}

/// The least distance of two parallel planes with all `corners` between them, m: one is that of a
/// face, or each contains an edge (Houle and Toussaint 1988). With too many edges for all pairs it
/// is the diameter of an inscribed ball.
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
            // planes through parallel edges are closest along a face
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
