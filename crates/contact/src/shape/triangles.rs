//! Surfaces of triangles, possibly open, and the solid behind them.

use dynamics::Velocity;
use levelset::{Aabb, MeshError, TriMesh};
use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};
use parry3d::bounding_volume::Aabb as TreeBox;
use parry3d::math::Vector as TreeVector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhLeafCost, BvhNode};
use parry3d::query::{PointQuery, PointQueryWithLocation};
use parry3d::shape::{Triangle, TrianglePointLocation};

/// The surface of a mesh and the solid behind it.
///
/// The solid is the layer within a thickness behind the triangles, as seen from the side from which
/// their corners run counter-clockwise. The distance is that to the nearest point of the triangles,
/// exact except for the far side of a thick sheet, where it is a lower bound. The solid ends at
/// open edges.
#[derive(Clone)]
pub struct Triangles {
    mesh: TriMesh,
    tree: Bvh,
    thickness: f64,
    faces: Vec<Face>,
    /// Angle-weighted mean normals of the faces around each vertex; `None` on open edges.
    vertices: Vec<Option<Vector3<f64>>>,
    /// The triangles around each vertex, and where each list starts; one more at the end.
    incident: Vec<u32>,
    starts: Vec<u32>,
}

/// Normals closer than this are one contact: a foot on an edge of coplanar faces belongs to both.
const SAME: f64 = 1e-6;
/// Sine of the angle by which a face may rise from an edge or vertex that is nearest, for round-off.
const LEVEL: f64 = 1e-9;

/// Angle, rad, up to which faces are coplanar, and a direction is normal to a face: above the
/// round-off of samples, which are single precision.
const FLAT: f64 = 1e-5;

#[derive(Clone, Copy, Debug)]
struct Face {
    normal: Vector3<f64>,
    /// Sums of the normals of both faces at the edges AB, BC and CA; `None` if there is one face.
    edges: [Option<Vector3<f64>>; 3],
}

/// A feature of a triangle, by its corners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feature {
    Face,
    /// From this corner to the next.
    Edge(usize),
    Vertex(usize),
}

/// The point of a triangle nearest to another point.
#[derive(Clone, Copy, Debug)]
struct Nearest {
    triangle: u32,
    feature: Feature,
    /// Offset to the other point, m.
    offset: Vector3<f64>,
}

/// Where a point is relative to triangles and the solid behind them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Front {
        /// m.
        distance: f64,
    },
    /// Beyond the back of the solid, with its nearest point there.
    Back(Facing),
    /// In the solid, with the way out.
    Inside(Facing),
}

/// A local minimum of the distance from a point to the surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facing {
    /// m; negative behind the surface.
    pub(crate) distance: f64,
    pub(crate) normal: Vector3<f64>,
    pub(crate) key: u32,
}

impl std::fmt::Debug for Triangles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (triangles, thickness) = (self.faces.len(), self.thickness);
        f.debug_struct("Triangles")
            .field("triangles", &triangles)
            .field("thickness", &thickness)
            .finish_non_exhaustive()
    }
}

impl Triangles {
    /// The surface of `mesh` with `thickness` m of solid behind it, which may be infinite.
    ///
    /// Vertices at the same position are merged, and triangles without area are left out.
    ///
    /// # Errors
    /// [`MeshError`] if the mesh is empty, malformed or without area.
    pub fn new(mesh: &TriMesh, thickness: f64) -> Result<Self, MeshError> {
        mesh.facts()?;
        let mut mesh = mesh.welded();
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| mesh.vertices[v as usize]);
            (b - a).cross(&(c - a)).norm()
        };
        let triangles = std::mem::take(&mut mesh.triangles);
        let kept: Vec<_> = triangles.into_iter().filter(|t| area(t) > 0.0).collect();
        if kept.is_empty() {
            return Err(MeshError::Degenerate);
        }
        mesh.triangles = kept;
        let faces = faces(&mesh);
        let vertices = vertex_normals(&mesh, &faces);
        let boxes: Vec<TreeBox> = (0..faces.len())
            .map(|t| {
                let [a, b, c] = mesh.corners(t);
                let low = a.inf(&b).inf(&c);
                TreeBox::new(tree_vector(&low), tree_vector(&a.sup(&b).sup(&c)))
            })
            .collect();
        let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        let (incident, starts) = incident(&mesh);
        let thickness = thickness.max(0.0);
        Ok(Self { mesh, tree, thickness, faces, vertices, incident, starts })
    }

    /// The triangles.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// Thickness of the solid behind the triangles, m.
    pub fn thickness(&self) -> f64 {
        self.thickness
    }

    /// The tree of the triangles' boxes.
    pub(crate) fn tree(&self) -> &Bvh {
        &self.tree
    }

    /// Whether every edge has a face on both sides.
    pub fn is_closed(&self) -> bool {
        self.faces.iter().all(|face| face.edges.iter().all(Option::is_some))
    }

    /// The bounding box of the triangles, grown by the solid behind them.
    pub(crate) fn bounds(&self) -> Aabb {
        let at = Point3::origin();
        let bounds = Aabb::around(&self.mesh.vertices).unwrap_or(Aabb { min: at, max: at });
        let behind = if self.is_closed() { 0.0 } else { 0.1 * bounds.extents().max() };
        bounds.grown(self.thickness.min(behind))
    }

    /// Signed distance at `p`, m.
    pub fn distance(&self, p: &Point3<f64>) -> f64 {
        let Some(nearest) = self.nearest(p) else { return f64::INFINITY };
        let distance = self.signed(&nearest);
        distance.max(-distance - self.thickness)
    }

    /// Outward normal at `p`.
    pub fn normal(&self, p: &Point3<f64>) -> Option<Vector3<f64>> {
        let nearest = self.nearest(p)?;
        let distance = self.signed(&nearest);
        let front = self.front(&nearest, distance);
        let is_back = -distance - self.thickness > distance;
        Some(if is_back { -front } else { front })
    }

    /// Distance at `p`, m, negative if `p` is inside, and its gradient.
    pub(crate) fn seen_from(&self, p: &Point3<f64>, is_inside: bool) -> (f64, Vector3<f64>) {
        let Some(nearest) = self.nearest(p) else { return (f64::INFINITY, Vector3::y()) };
        let distance = nearest.offset.norm() * if is_inside { -1.0 } else { 1.0 };
        (distance, self.front(&nearest, distance))
    }

    /// Where a point is.
    pub(crate) fn place_of(&self, p: &Point3<f64>) -> Place {
        let Some(nearest) = self.nearest(p) else {
            return Place::Front { distance: f64::INFINITY };
        };
        let distance = self.signed(&nearest);
        let (front, key) = (self.front(&nearest, distance), nearest.triangle);
        let back = -distance - self.thickness;
        match distance {
            0.0.. => Place::Front { distance },
            _ if back > 0.0 => Place::Back(Facing { distance: back, normal: -front, key }),
            _ if back > distance => Place::Inside(Facing { distance: back, normal: -front, key }),
            _ => Place::Inside(Facing { distance, normal: front, key }),
        }
    }

    /// The local minima of the distance from `p` to the surface below `reach` m, in the order of
    /// triangles; the nearest one alone of a point that is not in front.
    ///
    /// An edge between coplanar faces is no minimum: the face below `p` is nearer.
    pub(crate) fn facing(&self, p: &Point3<f64>, reach: f64) -> Vec<Facing> {
        match self.place_of(p) {
            Place::Front { distance } if distance < reach => {}
            Place::Back(facing) | Place::Inside(facing) if facing.distance < reach => {
                return vec![facing];
            }
            _ => return Vec::new(),
        }
        let center = tree_vector(p);
        let is_near = |node: &BvhNode| node.aabb().distance_to_local_point(center, true) < reach;
        let mut near: Vec<Nearest> = self
            .tree
            .leaves(is_near)
            .map(|t| self.nearest_of(t, p))
            .filter(|n| n.offset.norm() < reach && self.signed(n) >= 0.0 && self.is_minimum(n))
            .collect();
        near.sort_unstable_by_key(|n| n.triangle);
        let mut facing: Vec<Facing> = Vec::new();
        for own in &near {
            let distance = own.offset.norm();
            let normal = self.front(own, distance);
            let fresh = Facing { distance, normal, key: own.triangle };
            match facing.iter_mut().find(|known| (known.normal - normal).norm() < SAME) {
                Some(known) if known.distance > distance => *known = fresh,
                Some(_) => {}
                None => facing.push(fresh),
            }
        }
        facing
    }

    /// Whether the triangles around a nearest point have no point nearer.
    fn is_minimum(&self, nearest: &Nearest) -> bool {
        let ends = match nearest.feature {
            Feature::Face => return true,
            Feature::Edge(k) => self.edge(nearest.triangle, k),
            Feature::Vertex(k) => [self.edge(nearest.triangle, k)[0]; 2],
        };
        let place = self.mesh.vertices[ends[0] as usize];
        self.is_lowest(ends, &place, &nearest.offset)
    }

    /// Whether the triangles around the edge between two vertices, or around a vertex given twice,
    /// are not above a place there along `direction`.
    pub(crate) fn is_lowest(
        &self,
        ends: [u32; 2],
        place: &Point3<f64>,
        direction: &Vector3<f64>,
    ) -> bool {
        let is_below = |&v: &u32| {
            let along = self.mesh.vertices[v as usize] - place;
            along.dot(direction) <= LEVEL * along.norm() * direction.norm()
        };
        self.at_edge(ends).all(|t| self.mesh.triangles[t as usize].iter().all(is_below))
    }

    /// Whether one of these triangles is perpendicular to a unit vector.
    pub(crate) fn has_normal(&self, ends: [u32; 2], direction: &Vector3<f64>) -> bool {
        self.at_edge(ends).any(|t| (self.face_normal(t) - direction).norm() <= FLAT)
    }

    /// The triangles at the edge between two vertices, or around a vertex given twice.
    fn at_edge(&self, [first, second]: [u32; 2]) -> impl Iterator<Item = u32> {
        let has = move |t: &u32| self.mesh.triangles[*t as usize].contains(&second);
        self.around(first).iter().copied().filter(has)
    }

    /// The vertices at the ends of a side of a triangle.
    pub(crate) fn edge(&self, triangle: u32, side: usize) -> [u32; 2] {
        let corners = self.mesh.triangles[triangle as usize];
        [corners[side], corners[(side + 1) % 3]]
    }

    /// Whether a triangle is the first at one of its sides.
    pub(crate) fn owns_edge(&self, triangle: u32, side: usize) -> bool {
        self.at_edge(self.edge(triangle, side)).min() == Some(triangle)
    }

    /// Whether the surface bends or ends at a side of a triangle.
    pub(crate) fn is_bent(&self, triangle: u32, side: usize) -> bool {
        let own = self.face_normal(triangle);
        let mut others =
            self.at_edge(self.edge(triangle, side)).filter(|&t| t != triangle).peekable();
        others.peek().is_none() || others.any(|t| (self.face_normal(t) - own).norm() > FLAT)
    }

    /// Whether a segment crosses, from front to back, a triangle whose normal is within 60 degrees of
    /// a direction.
    pub(crate) fn is_between(
        &self,
        [from, to]: [&Point3<f64>; 2],
        direction: &Vector3<f64>,
    ) -> bool {
        let bounds = Aabb { min: from.inf(to), max: from.sup(to) };
        self.within(&bounds).into_iter().any(|triangle| {
            let [a, b, c] = self.mesh.corners(triangle as usize);
            let normal = self.face_normal(triangle);
            let [before, after] = [from, to].map(|p| normal.dot(&(p - a)));
            let is_aslant = normal.dot(direction) < 0.5;
            if is_aslant || before < 0.0 || after > 0.0 || before <= after {
                return false;
            }
            let place = from + (to - from) * (before / (before - after));
            let slack = LEVEL * bounds.extents().norm();
            let is_inside = |(p, q): (Point3<f64>, Point3<f64>)| {
                (q - p).cross(&(place - p)).dot(&normal) >= -slack * (q - p).norm()
            };
            [(a, b), (b, c), (c, a)].into_iter().all(is_inside)
        })
    }

    /// The unit normal of a triangle.
    pub(crate) fn face_normal(&self, triangle: u32) -> Vector3<f64> {
        self.faces[triangle as usize].normal
    }

    /// The triangles whose boxes overlap a box, in ascending order.
    pub(crate) fn within(&self, bounds: &Aabb) -> Vec<u32> {
        let [low, high] = [bounds.min, bounds.max].map(|p| tree_vector(&p));
        let around = BvhNode::leaf(TreeBox::new(low, high), 0);
        let mut within: Vec<u32> = self.tree.leaves(|node| node.intersects(&around)).collect();
        within.sort_unstable();
        within
    }

    /// The triangles around a vertex.
    fn around(&self, vertex: u32) -> &[u32] {
        let [first, last] = [vertex, vertex + 1].map(|v| self.starts[v as usize] as usize);
        &self.incident[first..last]
    }

    fn nearest(&self, p: &Point3<f64>) -> Option<Nearest> {
        let point = tree_vector(p);
        let found = self.tree.find_best(
            f64::INFINITY,
            |node, _| node.aabb().distance_to_local_point(point, true),
            |triangle, _| Some(Best(self.nearest_of(triangle, p))),
        );
        found.map(|(_, Best(nearest))| nearest)
    }

    fn nearest_of(&self, triangle: u32, p: &Point3<f64>) -> Nearest {
        let [a, b, c] = self.mesh.corners(triangle as usize).map(|v| tree_vector(&v));
        let point = tree_vector(p);
        let shape = Triangle::new(a, b, c);
        let (found, location) = shape.project_local_point_and_get_location(point, false);
        let feature = match location {
            TrianglePointLocation::OnVertex(k) => Feature::Vertex(k as usize),
            TrianglePointLocation::OnEdge(k, _) => Feature::Edge(k as usize),
            TrianglePointLocation::OnFace(..) | TrianglePointLocation::OnSolid => Feature::Face,
        };
        Nearest { triangle, feature, offset: Vector3::from((point - found.point).to_array()) }
    }

    /// A normal that separates inside from outside; `None` on an open edge.
    fn pseudonormal(&self, nearest: &Nearest) -> Option<Vector3<f64>> {
        let face = &self.faces[nearest.triangle as usize];
        match nearest.feature {
            Feature::Face => Some(face.normal),
            Feature::Edge(k) => face.edges[k],
            Feature::Vertex(k) => {
                let corner = self.mesh.triangles[nearest.triangle as usize][k];
                self.vertices[corner as usize]
            }
        }
    }

    /// Distance to the triangles, negative behind them.
    fn signed(&self, nearest: &Nearest) -> f64 {
        let behind = self.pseudonormal(nearest).is_some_and(|n| n.dot(&nearest.offset) < 0.0);
        let distance = nearest.offset.norm();
        if behind { -distance } else { distance }
    }

    /// The gradient of the distance.
    fn front(&self, nearest: &Nearest, distance: f64) -> Vector3<f64> {
        let face = self.faces[nearest.triangle as usize].normal;
        if nearest.feature == Feature::Face {
            return face;
        }
        let own = || self.pseudonormal(nearest).and_then(|n| n.try_normalize(1e-12));
        let direction = nearest.offset * distance.signum();
        direction.try_normalize(1e-12).or_else(own).unwrap_or(face)
    }
}

/// Ordered by distance.
struct Best(Nearest);

impl BvhLeafCost for Best {
    fn cost(&self) -> f64 {
        self.0.offset.norm()
    }
}

fn faces(mesh: &TriMesh) -> Vec<Face> {
    let normals: Vec<Vector3<f64>> = (0..mesh.triangles.len())
        .map(|t| mesh.area_vector(t).try_normalize(0.0).unwrap_or_else(Vector3::y))
        .collect();
    // by their ends, then by triangle
    let mut edges: Vec<(u32, u32, usize, usize)> = Vec::with_capacity(3 * normals.len());
    for (t, corners) in mesh.triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            edges.push((a.min(b), a.max(b), t, k));
        }
    }
    edges.sort_unstable();
    let face = |normal: &Vector3<f64>| Face { normal: *normal, edges: [None; 3] };
    let mut faces: Vec<Face> = normals.iter().map(face).collect();
    for shared in edges.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
        let sum: Vector3<f64> = shared.iter().map(|&(_, _, t, _)| normals[t]).sum();
        for &(_, _, t, k) in shared {
            faces[t].edges[k] = (shared.len() > 1).then_some(sum);
        }
    }
    faces
}

/// The triangles around each vertex, and where each list starts.
fn incident(mesh: &TriMesh) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0; mesh.vertices.len() + 1];
    mesh.triangles.iter().flatten().for_each(|&v| starts[v as usize + 1] += 1);
    for v in 1..starts.len() {
        starts[v] += starts[v - 1];
    }
    let mut next = starts.clone();
    let mut incident = vec![0; 3 * mesh.triangles.len()];
    for (t, corners) in (0..).zip(&mesh.triangles) {
        for &v in corners {
            incident[next[v as usize] as usize] = t;
            next[v as usize] += 1;
        }
    }
    (incident, starts)
}

/// Baerentzen and Aanaes (2005): face normals weighted by their angle at the vertex separate inside
/// from outside.
fn vertex_normals(mesh: &TriMesh, faces: &[Face]) -> Vec<Option<Vector3<f64>>> {
    let mut normals = vec![Some(Vector3::zeros()); mesh.vertices.len()];
    for (t, corners) in mesh.triangles.iter().enumerate() {
        let places = mesh.corners(t);
        for k in 0..3 {
            let (to, from) = (places[(k + 1) % 3] - places[k], places[(k + 2) % 3] - places[k]);
            let angle = angle(&to, &from);
            let is_open = faces[t].edges[k].is_none() || faces[t].edges[(k + 2) % 3].is_none();
            let own = &mut normals[corners[k] as usize];
            *own = own.filter(|_| !is_open).map(|sum| sum + faces[t].normal * angle);
        }
    }
    normals
}

/// The angle between two directions, rad.
fn angle(p: &Vector3<f64>, q: &Vector3<f64>) -> f64 {
    let turn = Quaternion::from_parts(p.norm() * q.norm() + p.dot(q), p.cross(q));
    let turned = Isometry3::from_parts(Default::default(), UnitQuaternion::new_normalize(turn));
    // not `Vector3::angle`, whose bits differ between platforms
    Velocity::between(&Isometry3::identity(), &turned, 1.0).angular.norm()
}

fn tree_vector(p: &Point3<f64>) -> TreeVector {
    TreeVector::from_array(Vector3::from(p.coords).into())
}
