//! Convex solids.

use nalgebra::{Point3, Vector3};
use robust::{Coord, Coord3D, orient2d, orient3d};
use thiserror::Error;

use crate::facet::segment_distance_squared;
use crate::{Aabb, MeshError, TriMesh};

/// The convex hull of some points, with its exact signed distance.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexHull {
    mesh: TriMesh,
    faces: Vec<Face>,
    /// Planes of the faces, [`LANES`] at a time; the last one fills the rest.
    planes: Vec<Planes>,
}

/// Number of planes evaluated together.
const LANES: usize = 8;

/// Coordinates of normals, and distances from the origin along them, m.
#[derive(Clone, Debug, PartialEq)]
struct Planes {
    normals: [[f64; LANES]; 3],
    offsets: [f64; LANES],
}

impl Planes {
    fn new(faces: &[Face]) -> Self {
        let face = |k: usize| &faces[k.min(faces.len() - 1)];
        Self {
            normals: std::array::from_fn(|a| std::array::from_fn(|k| face(k).normal[a])),
            offsets: std::array::from_fn(|k| face(k).normal.dot(&face(k).corners[0].coords)),
        }
    }

    /// Distance of a point in front of each plane, m.
    #[inline]
    fn heights(&self, p: &Point3<f64>) -> [f64; LANES] {
        let [x, y, z] = &self.normals;
        let mut heights = [0.0; LANES];
        for k in 0..LANES {
            heights[k] = x[k] * p.x + y[k] * p.y + z[k] * p.z - self.offsets[k];
        }
        heights
    }
}

/// Why points have no convex hull with a volume.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum HullError {
    /// A coordinate is NaN or infinite.
    #[error("point {point} has a coordinate that is not a finite number")]
    NotFinite {
        /// Number of the point.
        point: usize,
    },
    /// The mesh is invalid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// There are fewer than four points, or all are in one plane.
    #[error("all {count} points lie in one plane: a convex solid needs four that do not")]
    Flat {
        /// Points given.
        count: usize,
    },
}

fn check_finite(points: &[Point3<f64>]) -> Result<(), HullError> {
    let bad = |p: &Point3<f64>| !p.iter().all(|x| x.is_finite());
    points.iter().position(bad).map_or(Ok(()), |point| Err(HullError::NotFinite { point }))
}

#[derive(Clone, Debug, PartialEq)]
struct Face {
    corners: [Point3<f64>; 3],
    /// Unit, outwards.
    normal: Vector3<f64>,
}

impl ConvexHull {
    /// The hull of `points`, which may repeat and lie on edges, in faces or inside.
    ///
    /// Points are added one by one by exact predicates, so that the faces are closed and none cuts
    /// a point off. Takes time proportional to points times faces.
    ///
    /// # Errors
    /// [`HullError`] when a point is not finite or all lie in one plane.
    pub fn new(points: &[Point3<f64>]) -> Result<Self, HullError> {
        check_finite(points)?;
        let mut triangles = first_four(points)
            .and_then(|four| tetrahedron(points, four))
            .ok_or(HullError::Flat { count: points.len() })?;
        for n in 0..points.len() {
            add(points, n, &mut triangles);
        }
        Self::of(points, &triangles)
    }

    /// The hull of some of `points` beyond which no other point lies by more than `tolerance`
    /// meters.
    ///
    /// Grows from a tetrahedron by the farthest point, so that it has few vertices.
    ///
    /// # Errors
    /// [`HullError`] when a point is not finite or all are within `tolerance` of a plane.
    pub fn simplified(points: &[Point3<f64>], tolerance: f64) -> Result<Self, HullError> {
        check_finite(points)?;
        let mut triangles = farthest_four(points, tolerance)
            .and_then(|four| tetrahedron(points, four))
            .ok_or(HullError::Flat { count: points.len() })?;
        // no point is outside of the first `done`
        let mut done = 0;
        while let Some(triangle) = triangles.get(done).copied() {
            let face = Face::new(triangle.map(|n| points[n]));
            let farthest = face.and_then(|face| highest(points.iter().map(|p| face.height(p))));
            match farthest {
                // only the predicate decides for a face too thin for a normal
                Some((n, height)) if height > tolerance && sees(points, &triangle, n) => {
                    done -= triangles[..done].iter().filter(|t| sees(points, t, n)).count();
                    add(points, n, &mut triangles);
                }
                _ => done += 1,
            }
        }
        Self::of(points, &triangles)
    }

    /// The solid of a closed convex mesh wound outwards, without a search; convexity is not
    /// checked.
    ///
    /// # Errors
    /// [`HullError::Mesh`] when the mesh is [invalid](TriMesh::validate), [`HullError::Flat`] when
    /// no triangle has an area.
    pub fn of_convex(mesh: TriMesh) -> Result<Self, HullError> {
        mesh.validate()?;
        let count = mesh.vertices.len();
        let faces: Vec<Face> =
            (0..mesh.triangles.len()).filter_map(|t| Face::new(mesh.corners(t))).collect();
        Self::with_faces(mesh, faces).ok_or(HullError::Flat { count })
    }

    fn of(points: &[Point3<f64>], triangles: &[[usize; 3]]) -> Result<Self, HullError> {
        let mut mesh = TriMesh::default();
        let mut numbers = vec![u32::MAX; points.len()];
        for triangle in triangles {
            mesh.triangles.push(triangle.map(|n| {
                if numbers[n] == u32::MAX {
                    numbers[n] = mesh.vertices.len() as u32;
                    mesh.vertices.push(points[n]);
                }
                numbers[n]
            }));
        }
        let faces: Vec<Face> =
            (0..mesh.triangles.len()).filter_map(|t| Face::new(mesh.corners(t))).collect();
        Self::with_faces(mesh, faces).ok_or(HullError::Flat { count: points.len() })
    }

    fn with_faces(mesh: TriMesh, faces: Vec<Face>) -> Option<Self> {
        let planes = faces.chunks(LANES).map(Planes::new).collect();
        (!faces.is_empty()).then_some(Self { mesh, faces, planes })
    }

    /// The surface, closed and wound outwards.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// The smallest box around the solid.
    pub fn bounds(&self) -> Aabb {
        Aabb::around(&self.mesh.vertices).expect("a hull has finite vertices")
    }

    /// Exact signed distance, m, negative inside.
    pub fn distance(&self, p: &Point3<f64>) -> f64 {
        if self.lower_bound(p) <= 0.0 { self.highest(p).1 } else { self.nearest(p).1.sqrt() }
    }

    /// The largest signed distance of `p` from the plane of a face, m: inside that from the hull,
    /// outside a lower bound, up to round-off, in a fraction of the time.
    #[inline]
    pub fn lower_bound(&self, p: &Point3<f64>) -> f64 {
        let mut most = [f64::NEG_INFINITY; LANES];
        for planes in &self.planes {
            let heights = planes.heights(p);
            for k in 0..LANES {
                most[k] = if heights[k] > most[k] { heights[k] } else { most[k] };
            }
        }
        most.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Distance from an inner point `from` to the surface along `direction`, as a multiple of its
    /// length; zero from outside.
    pub fn exit(&self, from: &Point3<f64>, direction: &Vector3<f64>) -> f64 {
        let mut least = f64::INFINITY;
        for face in &self.faces {
            let (height, speed) = (face.height(from), face.normal.dot(direction));
            if height > 0.0 {
                return 0.0;
            }
            if speed > 0.0 {
                least = least.min(-height / speed);
            }
        }
        least
    }

    /// Gradient of [`ConvexHull::distance`] at `p`: outside the direction from the nearest point,
    /// inside and on the surface the normal of the nearest face, the first among equals.
    pub fn normal(&self, p: &Point3<f64>) -> Vector3<f64> {
        let (highest, height) = self.highest(p);
        if height <= 0.0 {
            return highest.normal;
        }
        let (nearest, _) = self.nearest(p);
        (p - nearest.nearest(p)).try_normalize(0.0).unwrap_or(highest.normal)
    }

    /// The face whose plane `p` is farthest in front of, the first among equals, and the distance,
    /// m.
    fn highest(&self, p: &Point3<f64>) -> (&Face, f64) {
        let mut highest = (&self.faces[0], self.faces[0].height(p));
        for face in &self.faces[1..] {
            let height = face.height(p);
            if height > highest.1 {
                highest = (face, height);
            }
        }
        highest
    }

    /// The face nearest to `p`, which is outside, and the square of its distance, m^2.
    fn nearest(&self, p: &Point3<f64>) -> (&Face, f64) {
        /// Share of its distance from the origin by which a point may be in front of a face or not:
        /// of two faces in one plane rounding may find `p` in front of the farther one only.
        const SLACK: f64 = 1e-12;
        let mut highest = (f64::NEG_INFINITY, 0);
        for (block, planes) in self.planes.iter().enumerate() {
            for (k, height) in planes.heights(p).into_iter().enumerate() {
                if height > highest.0 {
                    highest = (height, (block * LANES + k).min(self.faces.len() - 1));
                }
            }
        }
        // often the nearest, so that few planes are nearer than it is
        let first = &self.faces[highest.1];
        let mut nearest = (first, first.distance_squared(p));
        let slack = SLACK * (p.coords.amax() + highest.0);
        for (planes, faces) in self.planes.iter().zip(self.faces.chunks(LANES)) {
            let heights = planes.heights(p);
            for (face, height) in faces.iter().zip(heights) {
                if height < -slack || height > slack && (height - slack).powi(2) > nearest.1 {
                    continue;
                }
                let distance = face.distance_squared(p);
                if distance < nearest.1 {
                    nearest = (face, distance);
                }
            }
        }
        nearest
    }
}

impl Face {
    /// `None` if it is too thin to have a normal; its neighbors replace it.
    fn new(corners: [Point3<f64>; 3]) -> Option<Self> {
        let [a, b, c] = corners;
        let normal = (b - a).cross(&(c - a));
        let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
        let clear = normal.norm() > 1e-9 * longest * longest;
        clear.then(|| Self { corners, normal: normal.normalize() })
    }

    fn height(&self, p: &Point3<f64>) -> f64 {
        self.normal.dot(&(p - self.corners[0]))
    }

    fn edges(&self) -> impl Iterator<Item = [&Point3<f64>; 2]> {
        (0..3).map(|n| [&self.corners[n], &self.corners[(n + 1) % 3]])
    }

    /// Whether `p` is above or below it, not beside it.
    fn faces(&self, p: &Point3<f64>) -> bool {
        self.edges().all(|[a, b]| (b - a).cross(&(p - a)).dot(&self.normal) >= 0.0)
    }

    fn distance_squared(&self, p: &Point3<f64>) -> f64 {
        if self.faces(p) {
            return self.height(p).powi(2);
        }
        let distances = self.edges().map(|[a, b]| segment_distance_squared(p, a, b));
        distances.fold(f64::INFINITY, f64::min)
    }

    fn nearest(&self, p: &Point3<f64>) -> Point3<f64> {
        if self.faces(p) {
            return p - self.normal * self.height(p);
        }
        let on_edge = |[a, b]: [&Point3<f64>; 2]| {
            let edge = b - a;
            let t = edge.dot(&(p - a)) / edge.norm_squared();
            // an edge without length is a point
            a + edge * if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.0 }
        };
        let nearer = |q: Point3<f64>, r: Point3<f64>| {
            if (r - p).norm_squared() < (q - p).norm_squared() { r } else { q }
        };
        self.edges().map(on_edge).reduce(nearer).expect("a triangle has three edges")
    }
}

/// Whether `p` is strictly above a triangle, exactly.
fn sees(points: &[Point3<f64>], triangle: &[usize; 3], p: usize) -> bool {
    side(points, triangle, p) < 0.0
}

/// Negative if `p` is above a triangle, which is then counter-clockwise seen from `p`.
fn side(points: &[Point3<f64>], triangle: &[usize; 3], p: usize) -> f64 {
    let coord = |n: usize| Coord3D { x: points[n].x, y: points[n].y, z: points[n].z };
    let [a, b, c] = *triangle;
    orient3d(coord(a), coord(b), coord(c), coord(p))
}

/// The first four points that span a volume.
fn first_four(points: &[Point3<f64>]) -> Option<[usize; 4]> {
    let b = (1..points.len()).find(|&n| points[n] != points[0])?;
    let in_line = |n: usize| {
        [(0, 1), (1, 2), (2, 0)].iter().all(|&(u, v)| {
            let flat = |n: usize| Coord { x: points[n][u], y: points[n][v] };
            orient2d(flat(0), flat(b), flat(n)) == 0.0
        })
    };
    let c = (b + 1..points.len()).find(|&n| !in_line(n))?;
    let d = (c + 1..points.len()).find(|&n| side(points, &[0, b, c], n) != 0.0)?;
    Some([0, b, c, d])
}

/// The lowest point along x and three more, each the farthest from the previous ones, if by more
/// than `tolerance`.
fn farthest_four(points: &[Point3<f64>], tolerance: f64) -> Option<[usize; 4]> {
    let farthest = |distance: &dyn Fn(&Point3<f64>) -> f64| {
        highest(points.iter().map(distance)).filter(|(_, most)| *most > tolerance)
    };
    let (a, _) = highest(points.iter().map(|p| -p.x))?;
    let (b, length) = farthest(&|p| (p - points[a]).norm())?;
    let along = (points[b] - points[a]) / length;
    let (c, _) = farthest(&|p| (p - points[a]).cross(&along).norm())?;
    let face = Face::new([a, b, c].map(|n| points[n]))?;
    let (d, _) = farthest(&|p| face.height(p).abs())?;
    Some([a, b, c, d])
}

/// Index and value of the highest, the first among equals.
fn highest(values: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    values.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// Four points as triangles wound outwards; `None` if they span no volume.
fn tetrahedron(points: &[Point3<f64>], [a, b, c, d]: [usize; 4]) -> Option<Vec<[usize; 3]>> {
    let side = side(points, &[a, b, c], d);
    let (b, c) = if side < 0.0 { (c, b) } else { (b, c) };
    (side != 0.0).then(|| vec![[a, b, c], [a, d, b], [b, d, c], [c, d, a]])
}

/// Replaces the triangles visible from point `n` by those from their rim to it.
fn add(points: &[Point3<f64>], n: usize, triangles: &mut Vec<[usize; 3]>) {
    let mut edges = Vec::new();
    triangles.retain(|t| {
        let seen = sees(points, t, n);
        if seen {
            edges.extend([[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]);
        }
        !seen
    });
    edges.sort_unstable();
    let rim = edges.iter().filter(|[a, b]| edges.binary_search(&[*b, *a]).is_err());
    triangles.extend(rim.map(|&[a, b]| [a, b, n]));
}
