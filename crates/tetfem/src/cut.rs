//! Splitting of tetrahedra by a crack plane (Mu01 section 2.5).

use levelset::TetMesh;
use nalgebra::Point3;

use crate::Crack;
use crate::crack::centroid;

/// Limits of cuts that avoid slivers.
///
/// An edge that is too short, or that would be cut too close to an end, is not cut: the crack
/// passes through its nearer end instead. No vertex moves, so volume is preserved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutLimits {
    /// Minimum length of an edge to be cut, m.
    pub min_edge: f64,
    /// Minimum fraction of an edge that is cut off, above 0 and at most 0.5. Every part of a
    /// tetrahedron then has at least the cube of this fraction of its volume.
    pub min_fraction: f64,
}

/// A mesh whose tetrahedra are each on one side of a crack.
#[derive(Clone, Debug, PartialEq)]
pub struct CutMesh {
    /// The original vertices, then those on cut edges.
    pub mesh: TetMesh,
    /// The original tetrahedron of each part.
    pub parents: Vec<u32>,
    /// The side of the crack, 1 or -1, and 0 for centroids beyond its radius.
    pub marks: Vec<i8>,
}

/// Faces of a tetrahedron, with consistent winding.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

impl Crack {
    /// Splits the tetrahedra that the crack plane crosses within `radius` m of its origin. The mesh
    /// stays conforming.
    ///
    /// # Panics
    /// If a tetrahedron refers to a missing vertex.
    pub fn cut(&self, mesh: &TetMesh, radius: f64, limits: &CutLimits) -> CutMesh {
        let edges = Edges::new(self, mesh, radius, limits);
        let mut cut = CutMesh {
            mesh: TetMesh { vertices: mesh.vertices.clone(), tets: Vec::new() },
            parents: Vec::new(),
            marks: Vec::new(),
        };
        cut.mesh.vertices.extend(edges.cut.iter().map(|(_, place)| place));
        for (t, tet) in mesh.tets.iter().enumerate() {
            let sides = tet.map(|v| edges.sides[v as usize]);
            let crossed = sides.contains(&1) && sides.contains(&-1);
            if crossed {
                for side in [1, -1] {
                    fill(&edges.part(tet, side), &mut cut.mesh);
                    cut.marks.resize(cut.mesh.tets.len(), side);
                }
            } else {
                let sum: i8 = sides.iter().sum();
                // a tetrahedron between vertices on the crack is on one side too
                let above = || self.signed_distance(&centroid(mesh, t)) >= 0.0;
                let side = if sum > 0 || (sum == 0 && above()) { 1 } else { -1 };
                cut.mesh.tets.push(*tet);
                cut.marks.push(side);
            }
            cut.parents.resize(cut.mesh.tets.len(), t as u32);
        }
        for (t, mark) in cut.marks.iter_mut().enumerate() {
            if (centroid(&cut.mesh, t) - self.origin).norm() > radius {
                *mark = 0;
            }
        }
        cut
    }
}

/// The cut edges.
struct Edges {
    /// Side of the plane per vertex, and 0 where the crack passes through it.
    sides: Vec<i8>,
    /// Edges, ends ascending, with the positions of their cuts, sorted.
    cut: Vec<([u32; 2], Point3<f64>)>,
}

impl Edges {
    fn new(crack: &Crack, mesh: &TetMesh, radius: f64, limits: &CutLimits) -> Self {
        let heights: Vec<_> = mesh.vertices.iter().map(|p| crack.signed_distance(p)).collect();
        let mut sides: Vec<i8> =
            heights.iter().map(|&h| if h > 0.0 { 1 } else { -i8::from(h < 0.0) }).collect();
        let mut cut = crossing_edges(mesh, &sides);
        for &[a, b] in &cut {
            let [(p, up), (q, down)] =
                [a, b].map(|v| (mesh.vertices[v as usize], heights[v as usize]));
            let t = up / (up - down);
            let long = (q - p).norm() >= limits.min_edge;
            let within = (p + (q - p) * t - crack.origin).norm() <= radius;
            if !(long && within && t.min(1.0 - t) >= limits.min_fraction) {
                sides[if t <= 0.5 { a } else { b } as usize] = 0;
            }
        }
        cut.retain(|ends| ends.iter().all(|&v| sides[v as usize] != 0));
        let at = |[a, b]: [u32; 2]| {
            let [(p, up), (q, down)] =
                [a, b].map(|v| (mesh.vertices[v as usize], heights[v as usize]));
            p + (q - p) * (up / (up - down))
        };
        Self { sides, cut: cut.into_iter().map(|ends| (ends, at(ends))).collect() }
    }

    /// The vertex on a cut edge.
    fn middle(&self, a: u32, b: u32) -> u32 {
        let ends = [a.min(b), a.max(b)];
        let before = self.sides.len();
        (before + self.cut.partition_point(|(other, _)| *other < ends)) as u32
    }

    fn is_cut(&self, a: u32, b: u32) -> bool {
        self.sides[a as usize] * self.sides[b as usize] < 0
    }

    /// Faces, as polygons, of the part of a cut tetrahedron on one side.
    fn part(&self, tet: &[u32; 4], side: i8) -> Vec<Vec<u32>> {
        let mut faces: Vec<Vec<u32>> = FACES
            .iter()
            .map(|corners| {
                let mut polygon = Vec::with_capacity(4);
                for n in 0..3 {
                    let (v, next) = (tet[corners[n]], tet[corners[(n + 1) % 3]]);
                    if self.sides[v as usize] * side >= 0 {
                        polygon.push(v);
                    }
                    if self.is_cut(v, next) {
                        polygon.push(self.middle(v, next));
                    }
                }
                polygon
            })
            .filter(|polygon| polygon.len() >= 3)
            .collect();
        faces.push(self.section(tet));
        faces
    }

    /// The intersection polygon of a tetrahedron and the crack.
    fn section(&self, tet: &[u32; 4]) -> Vec<u32> {
        let on =
            |wanted: i8| tet.iter().copied().filter(move |&v| self.sides[v as usize] == wanted);
        let (above, below): (Vec<_>, Vec<_>) = (on(1).collect(), on(-1).collect());
        if let ([a, b], [c, d]) = (&above[..], &below[..]) {
            // cyclic order of the quadrilateral
            return [(a, c), (a, d), (b, d), (b, c)].map(|(p, q)| self.middle(*p, *q)).to_vec();
        }
        let middles = above.iter().flat_map(|&a| below.iter().map(move |&b| self.middle(a, b)));
        on(0).chain(middles).collect()
    }
}

/// Edges, ends ascending, between vertices on opposite sides.
fn crossing_edges(mesh: &TetMesh, sides: &[i8]) -> Vec<[u32; 2]> {
    let mut edges = Vec::new();
    for tet in &mesh.tets {
        for (n, &a) in tet.iter().enumerate() {
            for &b in &tet[n + 1..] {
                if sides[a as usize] * sides[b as usize] < 0 {
                    edges.push([a.min(b), a.max(b)]);
                }
            }
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Fills a convex polyhedron with tetrahedra from its lowest-numbered vertex to all faces without
/// it, which are themselves split from their lowest-numbered vertices: so neighbors agree on shared
/// faces.
fn fill(faces: &[Vec<u32>], mesh: &mut TetMesh) {
    let Some(&apex) = faces.iter().flatten().min() else { return };
    for face in faces.iter().filter(|face| !face.contains(&apex)) {
        let low = (0..face.len()).min_by_key(|&n| face[n]).unwrap_or(0);
        let vertex = |n: usize| face[(low + n) % face.len()];
        for n in 1..face.len() - 1 {
            mesh.tets.push([vertex(0), vertex(n), vertex(n + 1), apex]);
            let last = mesh.tets.len() - 1;
            if mesh.volume(last) < 0.0 {
                mesh.tets[last].swap(0, 1);
            }
        }
    }
}
