//! Tetrahedral meshes.

use nalgebra::Point3;
use thiserror::Error;

use crate::sharing::{Union, sorted_by_vertex};
use crate::{Components, Moments, TriMesh, total_order};

/// A tetrahedral mesh: vertices in meters and tetrahedra of positive volume: the first three
/// corners are counter-clockwise seen from the fourth.
///
/// The fields are plain data; [`TetMesh::validate`] checks them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Vertex positions, m.
    pub vertices: Vec<Point3<f64>>,
    /// Indices into `vertices`, four per tetrahedron.
    pub tets: Vec<[u32; 4]>,
}

/// Why a tetrahedral mesh is invalid.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TetError {
    /// There are no tetrahedra.
    #[error("the mesh has no tetrahedra")]
    Empty,
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} has a coordinate that is not a finite number")]
    NotFinite {
        /// Number of the vertex.
        vertex: usize,
    },
    /// A tetrahedron has an unknown vertex.
    #[error("tetrahedron {tet} refers to vertex {vertex}, but there are only {count}")]
    IndexOutOfRange {
        /// Number of the tetrahedron.
        tet: usize,
        /// Index of the unknown vertex.
        vertex: u32,
        /// Number of vertices.
        count: usize,
    },
    /// A tetrahedron is flat or inside out.
    #[error("tetrahedron {tet} has volume {volume}: reorder or remove it")]
    Inverted {
        /// Number of the tetrahedron.
        tet: usize,
        /// Its volume, m^3.
        volume: f64,
    },
    /// A face belongs to more than two tetrahedra, or to two on the same side.
    #[error("face {face:?} of tetrahedron {tet} is not shared by two on opposite sides")]
    NotConforming {
        /// One of the tetrahedra.
        tet: usize,
        /// Vertices of the face.
        face: [u32; 3],
    },
}

/// Corners of each face, wound outwards; face `f` is opposite corner `f`.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Face `f` of tetrahedron `t`: its lowest vertex, its two higher vertices, whether its winding is
/// an odd permutation of the sorted vertices, and `4 t + f`.
type Shared = (u32, (u32, u32, bool, u32));

impl TetMesh {
    /// The corners of a tetrahedron.
    ///
    /// # Panics
    /// If there is no such tetrahedron or it names a vertex that does not exist.
    pub fn corners(&self, tet: usize) -> [Point3<f64>; 4] {
        self.tets[tet].map(|v| self.vertices[v as usize])
    }

    /// Signed volume of one tetrahedron, m^3.
    ///
    /// # Panics
    /// As [`TetMesh::corners`].
    pub fn volume(&self, tet: usize) -> f64 {
        let [a, b, c, d] = self.corners(tet);
        (b - a).dot(&(c - a).cross(&(d - a))) / 6.0
    }

    /// Checks that numbers are finite, indices exist, volumes are positive and at most two
    /// tetrahedra share a face, one on each side.
    ///
    /// # Errors
    /// [`TetError`] with the first invalid element.
    pub fn validate(&self) -> Result<(), TetError> {
        if self.tets.is_empty() {
            return Err(TetError::Empty);
        }
        let bad = |p: &Point3<f64>| !p.iter().all(|x| x.is_finite());
        if let Some(vertex) = self.vertices.iter().position(bad) {
            return Err(TetError::NotFinite { vertex });
        }
        let count = self.vertices.len();
        for (tet, corners) in self.tets.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= count) {
                return Err(TetError::IndexOutOfRange { tet, vertex, count });
            }
            let volume = self.volume(tet);
            if volume <= 0.0 {
                return Err(TetError::Inverted { tet, volume });
            }
        }
        for same in self.shared_faces().chunk_by(same_face) {
            let proper = same.len() == 1 || (same.len() == 2 && same[0].1.2 != same[1].1.2);
            if !proper {
                let (tet, face) = self.face(same[0].1.3);
                return Err(TetError::NotConforming { tet, face });
            }
        }
        Ok(())
    }

    /// The faces that belong to one tetrahedron only, wound outwards, as indices into `vertices`,
    /// in order of their tetrahedra.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn boundary_faces(&self) -> Vec<[u32; 3]> {
        self.boundary_faces_of_tets().into_iter().map(|(_, face)| face).collect()
    }

    /// [`TetMesh::boundary_faces`], each with its tetrahedron.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn boundary_faces_of_tets(&self) -> Vec<(usize, [u32; 3])> {
        let mut single: Vec<u32> = self
            .shared_faces()
            .chunk_by(same_face)
            .filter(|same| same.len() == 1)
            .map(|same| same[0].1.3)
            .collect();
        single.sort_unstable();
        single.into_iter().map(|f| self.face(f)).collect()
    }

    /// The surface as a mesh of its own vertices, in order of first use.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn boundary(&self) -> TriMesh {
        let mut numbers = vec![u32::MAX; self.vertices.len()];
        let mut mesh = TriMesh::default();
        for face in self.boundary_faces() {
            let triangle = face.map(|v| {
                let number = &mut numbers[v as usize];
                if *number == u32::MAX {
                    *number = mesh.vertices.len() as u32;
                    mesh.vertices.push(self.vertices[v as usize]);
                }
                *number
            });
            mesh.triangles.push(triangle);
        }
        mesh
    }

    /// Components connected through faces: one label per tetrahedron, from 1 in order of first
    /// appearance.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn components(&self) -> Components {
        let mut pieces = Union::new(self.tets.len());
        for same in self.shared_faces().chunk_by(same_face) {
            for pair in same.windows(2) {
                pieces.join(pair[0].1.3 / 4, pair[1].1.3 / 4);
            }
        }
        let (labels, count) = pieces.numbered();
        Components { labels, count }
    }

    /// Exact volume, center and inertia.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn moments(&self) -> Moments {
        let Some(base) = self.vertices.first() else { return Moments::default() };
        let of = |t: usize| Moments::of_tet(self.corners(t).map(|p| p - base));
        (0..self.tets.len()).map(of).sum::<Moments>().moved(base.coords)
    }

    /// Overlaps of the mesh with itself: the surface vertices inside a tetrahedron of which they
    /// are not a corner, each with this tetrahedron, in order.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn overlaps(&self) -> Vec<(u32, usize)> {
        /// Minimum barycentric coordinate of a point strictly inside.
        const INSIDE: f64 = 1e-9;
        let mut surface: Vec<u32> = self.boundary_faces().into_iter().flatten().collect();
        surface.sort_unstable();
        surface.dedup();
        let x = |v: &u32| self.vertices[*v as usize].x;
        surface.sort_by_cached_key(|v| total_order(x(v)));
        let range = |t: usize| {
            let mut xs = self.tets[t].iter().map(x);
            let first = xs.next().unwrap_or(0.0);
            xs.fold((first, first), |(low, high), x| (low.min(x), high.max(x)))
        };
        let mut tets: Vec<(f64, f64, usize)> = (0..self.tets.len())
            .map(|t| {
                let (low, high) = range(t);
                (low, high, t)
            })
            .collect();
        tets.sort_by_cached_key(|(low, ..)| total_order(*low));
        // a sweep along x
        let (mut next, mut near, mut found) = (0, Vec::new(), Vec::new());
        for v in surface {
            let place = self.vertices[v as usize];
            while next < tets.len() && tets[next].0 <= place.x {
                near.push(tets[next]);
                next += 1;
            }
            near.retain(|(_, high, _)| *high >= place.x);
            let is_in = |&&(_, _, t): &&(f64, f64, usize)| {
                let weights = || barycentric(&self.corners(t), &place);
                !self.tets[t].contains(&v) && weights().iter().all(|w| *w > INSIDE)
            };
            found.extend(near.iter().find(is_in).map(|(_, _, t)| (v, *t)));
        }
        found.sort_unstable();
        found
    }

    fn face(&self, name: u32) -> (usize, [u32; 3]) {
        let (tet, face) = (name as usize / 4, name as usize % 4);
        (tet, FACES[face].map(|c| self.tets[tet][c]))
    }

    /// All faces, sorted so that equal faces are adjacent.
    fn shared_faces(&self) -> Vec<Shared> {
        let faces = (0..4 * self.tets.len() as u32).map(|name| {
            let mut face = self.face(name).1;
            let mut odd = false;
            for (a, b) in [(0, 1), (1, 2), (0, 1)] {
                if face[a] > face[b] {
                    face.swap(a, b);
                    odd = !odd;
                }
            }
            (face[0], (face[1], face[2], odd, name))
        });
        sorted_by_vertex(self.vertices.len(), faces)
    }
}

/// Barycentric coordinates in a tetrahedron.
fn barycentric([a, b, c, d]: &[Point3<f64>; 4], place: &Point3<f64>) -> [f64; 4] {
    let (x, y, z, p) = (b - a, c - a, d - a, place - a);
    let six = x.dot(&y.cross(&z));
    let [s, t, u] = [y.cross(&z), z.cross(&x), x.cross(&y)].map(|row| row.dot(&p) / six);
    [1.0 - s - t - u, s, t, u]
}

fn same_face(a: &Shared, b: &Shared) -> bool {
    (a.0, a.1.0, a.1.1) == (b.0, b.1.0, b.1.1)
}
