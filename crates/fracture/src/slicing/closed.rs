//! Closed meshes.

use levelset::{MAX_COORDINATE, TriMesh, Union};
use nalgebra::{Point3, Vector3};

/// A triangle mesh that bounds a solid: the triangles at every edge form opposite pairs.
///
/// Checked once, by [`ClosedMesh::new`]; slicing preserves it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClosedMesh {
    mesh: TriMesh,
    /// Index of the solid of each vertex. Solids may overlap.
    solids: Vec<u32>,
    /// Largest coordinate of the mesh from which it was cut, m: the scale of rounding.
    size: f64,
}

/// Why a mesh bounds no solid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotClosed {
    /// The mesh is empty.
    #[error("the mesh has no triangles: give one that encloses a volume")]
    Empty,
    /// A coordinate is not finite.
    #[error("vertex {vertex} has a coordinate that is not finite: give it a number in meters")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
    },
    /// A coordinate is beyond [`levelset::MAX_COORDINATE`]: second moments would overflow.
    #[error("vertex {vertex} has a coordinate beyond {MAX_COORDINATE:e} m: scale the mesh down")]
    TooLarge {
        /// Index of the vertex.
        vertex: usize,
    },
    /// A triangle has an unknown vertex.
    #[error("triangle {triangle} names vertex {vertex} of {vertices}: remove it, or add vertices")]
    NoSuchVertex {
        /// Index of the triangle.
        triangle: usize,
        /// The vertex index.
        vertex: u32,
        /// The number of vertices.
        vertices: usize,
    },
    /// A triangle uses a vertex twice.
    #[error("triangle {triangle} uses vertex {vertex} twice: remove it")]
    Collapsed {
        /// Index of the triangle.
        triangle: usize,
        /// The vertex.
        vertex: u32,
    },
    /// An edge with a triangle on one side only.
    #[error(
        "the edge from vertex {from} to {to} has no triangle on its other side: close the mesh \
         there, weld vertices at the same place, or turn triangles that face the other way"
    )]
    Open {
        /// Start of the edge.
        from: u32,
        /// Its end.
        to: u32,
    },
    /// An edge with more than two triangles.
    #[error(
        "the edge from vertex {from} to {to} is used twice in this direction: separate what \
         touches there, or turn triangles that face the other way"
    )]
    NonManifold {
        /// Start of the edge.
        from: u32,
        /// Its end.
        to: u32,
    },
}

impl ClosedMesh {
    /// Checks that each edge has exactly one triangle on either side.
    ///
    /// Parts of the mesh may be nested: an inverted part is a cavity of the smallest part around
    /// it. Vertices at the same position count as different: weld them first.
    ///
    /// # Errors
    /// [`NotClosed`] with the first invalid vertex, triangle or edge.
    pub fn new(mesh: TriMesh) -> Result<Self, NotClosed> {
        check_numbers(&mesh)?;
        check_edges(&mesh)?;
        let solids = solids(&mesh);
        let size = mesh.vertices.iter().fold(0.0, |size: f64, p| size.max(p.coords.amax()));
        Ok(Self { mesh, solids, size })
    }

    /// A closed part of this one.
    pub(super) fn part(&self, mesh: TriMesh, solids: Vec<u32>) -> Self {
        assert_eq!(mesh.vertices.len(), solids.len());
        Self { mesh, solids, size: self.size }
    }

    pub(super) fn size(&self) -> f64 {
        self.size
    }

    /// Vertices and triangles.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// Vertices and triangles, without the guarantee that they are closed.
    pub fn into_mesh(self) -> TriMesh {
        self.mesh
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.mesh.triangles.is_empty()
    }

    /// Index of the solid of each vertex.
    pub(super) fn solids(&self) -> &[u32] {
        &self.solids
    }

    /// The connected solids, in order of their first triangles; contact in a vertex counts as
    /// connected. Cavities belong to the part around them.
    pub fn pieces(&self) -> Vec<ClosedMesh> {
        let solids = solids(&self.mesh);
        let count = solids.iter().max().map_or(0, |&last| last as usize + 1);
        let mut pieces = vec![TriMesh::default(); count];
        let mut names = vec![u32::MAX; self.mesh.vertices.len()];
        for triangle in &self.mesh.triangles {
            let piece = &mut pieces[solids[triangle[0] as usize] as usize];
            let named = triangle.map(|v| {
                let name = &mut names[v as usize];
                if *name == u32::MAX {
                    *name = piece.vertices.len() as u32;
                    piece.vertices.push(self.mesh.vertices[v as usize]);
                }
                *name
            });
            piece.triangles.push(named);
        }
        let whole = |mesh: TriMesh| {
            let solids = vec![0; mesh.vertices.len()];
            self.part(mesh, solids)
        };
        pieces.into_iter().filter(|mesh| !mesh.triangles.is_empty()).map(whole).collect()
    }
}

fn check_numbers(mesh: &TriMesh) -> Result<(), NotClosed> {
    let vertices = mesh.vertices.len();
    if mesh.triangles.is_empty() {
        return Err(NotClosed::Empty);
    }
    let finite = |p: &Point3<f64>| p.coords.iter().all(|x| x.is_finite());
    if let Some(vertex) = mesh.vertices.iter().position(|p| !finite(p)) {
        return Err(NotClosed::NotFinite { vertex });
    }
    if let Some(vertex) = mesh.vertices.iter().position(|p| p.coords.amax() > MAX_COORDINATE) {
        return Err(NotClosed::TooLarge { vertex });
    }
    for (triangle, &[a, b, c]) in mesh.triangles.iter().enumerate() {
        if let Some(vertex) = [a, b, c].into_iter().find(|&v| v as usize >= vertices) {
            return Err(NotClosed::NoSuchVertex { triangle, vertex, vertices });
        }
        if a == b || a == c || b == c {
            let vertex = if a == b || a == c { a } else { b };
            return Err(NotClosed::Collapsed { triangle, vertex });
        }
    }
    Ok(())
}

fn check_edges(mesh: &TriMesh) -> Result<(), NotClosed> {
    let all = mesh.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut edges: Vec<[u32; 2]> = all.collect();
    edges.sort_unstable();
    if let Some(pair) = edges.windows(2).find(|pair| pair[0] == pair[1]) {
        let [from, to] = pair[0];
        return Err(NotClosed::NonManifold { from, to });
    }
    let mut opposite: Vec<[u32; 2]> = edges.iter().map(|&[a, b]| [b, a]).collect();
    opposite.sort_unstable();
    // the first difference of two sorted lists is an edge without its opposite
    let Some(at) = (0..edges.len()).find(|&i| edges[i] != opposite[i]) else { return Ok(()) };
    let [from, to] =
        if edges[at] < opposite[at] { edges[at] } else { [opposite[at][1], opposite[at][0]] };
    Err(NotClosed::Open { from, to })
}

/// The index of the solid of each vertex: shells that share vertices, and cavities with the
/// smallest shell around them. Vertices without a triangle get an index of their own or another's.
fn solids(mesh: &TriMesh) -> Vec<u32> {
    let shells = shells(mesh);
    let count = shells.iter().max().map_or(0, |&last| last as usize + 1);
    if count < 2 {
        return shells;
    }
    let mut volumes = vec![0.0; count];
    let base = mesh.vertices[0];
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = mesh.corners(t).map(|p| p - base);
        volumes[shells[triangle[0] as usize] as usize] += a.dot(&b.cross(&c)) / 6.0;
    }
    let mut owners: Vec<u32> = (0..count as u32).collect();
    for cavity in (0..count).filter(|&s| volumes[s] < 0.0) {
        let inside = shells.iter().position(|&s| s as usize == cavity).expect("no shell is empty");
        let turns = turns_around(mesh, &shells, count, &mesh.vertices[inside]);
        let around = (0..count).filter(|&s| volumes[s] > 0.0 && turns[s] > 0.5);
        if let Some(owner) = around.min_by(|&a, &b| volumes[a].total_cmp(&volumes[b])) {
            owners[cavity] = owner as u32;
        }
    }
    shells.iter().map(|&shell| owners[shell as usize]).collect()
}

/// The index of the connected component of each vertex.
fn shells(mesh: &TriMesh) -> Vec<u32> {
    let mut shells = Union::new(mesh.vertices.len());
    for &[a, b, c] in &mesh.triangles {
        shells.join(a, b);
        shells.join(a, c);
    }
    // counted from 1
    shells.numbered().0.into_iter().map(|number| number - 1).collect()
}

/// The winding number of each shell around a point.
fn turns_around(mesh: &TriMesh, shells: &[u32], count: usize, point: &Point3<f64>) -> Vec<f64> {
    let mut turns = vec![0.0; count];
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        let corners = mesh.corners(t).map(|p| p - point);
        turns[shells[triangle[0] as usize] as usize] += solid_angle(corners);
    }
    turns.iter().map(|angle| angle / (4.0 * std::f64::consts::PI)).collect()
}

/// Van Oosterom and Strackee, *The solid angle of a plane triangle* (1983), eq. 8.
pub(crate) fn solid_angle([a, b, c]: [Vector3<f64>; 3]) -> f64 {
    let [x, y, z] = [a, b, c].map(|v| v.norm());
    let cosine = x * y * z + a.dot(&b) * z + b.dot(&c) * x + c.dot(&a) * y;
    2.0 * libm::atan2(a.dot(&b.cross(&c)), cosine)
}
