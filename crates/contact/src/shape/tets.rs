//! Tetrahedra that collide by their vertices (Mu01 section 2.9).

use std::collections::BTreeMap;

use levelset::{Aabb, MeshError, TetMesh, TriMesh};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use thiserror::Error;

use crate::Triangles;

/// A solid of tetrahedra in body coordinates.
///
/// A point is inside if a tetrahedron contains it, which a uniform grid finds. The distance of any
/// point is that to the nearest face of the surface. Faces of a closed crack do not count as
/// surface.
#[derive(Clone, Debug)]
pub struct TetSolid {
    mesh: TetMesh,
    surface: Triangles,
    frames: Vec<Frame>,
    cells: Cells,
}

/// Barycentric coordinates of a tetrahedron.
#[derive(Clone, Copy, Debug)]
struct Frame {
    corner: Point3<f64>,
    /// From offsets to the corner to the barycentric coordinates of the other corners.
    inverse: Matrix3<f64>,
}

/// The tetrahedra that may overlap each cell of a uniform grid.
#[derive(Clone, Debug)]
struct Cells {
    origin: Point3<f64>,
    spacing: Vector3<f64>,
    dims: [usize; 3],
    /// Start of each cell's tetrahedra; one more at the end.
    starts: Vec<u32>,
    tets: Vec<u32>,
}

/// First and last cell along each axis.
type Range = [[usize; 2]; 3];

/// Number of cells in a range.
fn size(range: &Range) -> usize {
    range.iter().map(|[first, last]| last - first + 1).product()
}

/// Why tetrahedra are invalid.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TetSolidError {
    /// The mesh is not valid.
    #[error(transparent)]
    Tets(#[from] levelset::TetError),
    /// Its surface has no area or is too large.
    #[error(transparent)]
    Surface(#[from] MeshError),
}

/// Tolerance of barycentric coordinates for points on a face, against gaps by rounding.
const ON_FACE: f64 = -1e-12;
/// Cells of the grid per tetrahedron, and the limits of their number along an axis and of the
/// entries in all cells: cells are larger where tetrahedra of very different sizes would need more.
const CELLS_PER_TET: f64 = 2.0;
const MAX_DIM: usize = 1 << 10;
const MAX_ENTRIES_PER_TET: usize = 64;

impl TetSolid {
    /// The solid of a mesh in material coordinates; `material` maps body coordinates to these.
    ///
    /// # Errors
    /// [`TetSolidError`] if a tetrahedron is inverted, flat or has an unknown vertex, or there is
    /// none.
    pub fn new(mesh: &TetMesh, material: &Isometry3<f64>) -> Result<Self, TetSolidError> {
        mesh.validate()?;
        let places = mesh.vertices.iter().map(|p| material.inverse_transform_point(p));
        let mesh = TetMesh { vertices: places.collect(), tets: mesh.tets.clone() };
        let surface = Triangles::new(&open_faces(&mesh), f64::INFINITY)?;
        let frames = (0..mesh.tets.len()).map(|tet| Frame::new(&mesh.corners(tet))).collect();
        let cells = Cells::new(&mesh);
        Ok(Self { mesh, surface, frames, cells })
    }

    /// The tetrahedra, in body coordinates.
    pub fn mesh(&self) -> &TetMesh {
        &self.mesh
    }

    /// The surface, in body coordinates.
    pub fn surface(&self) -> &TriMesh {
        self.surface.mesh()
    }

    /// The first tetrahedron that contains a point.
    pub fn tetrahedron(&self, p: &Point3<f64>) -> Option<usize> {
        let near = self.cells.of(p).iter().map(|&tet| tet as usize);
        near.filter(|&tet| self.frames[tet].holds(p)).min()
    }

    /// Signed distance of a point to the surface, m, and its gradient.
    pub fn distance_and_normal(&self, p: &Point3<f64>) -> (f64, Vector3<f64>) {
        self.surface.seen_from(p, self.tetrahedron(p).is_some())
    }

    /// The vertices on the surface, in body coordinates.
    pub(crate) fn vertices(&self) -> &[Point3<f64>] {
        &self.surface.mesh().vertices
    }

    pub(crate) fn triangles(&self) -> &Triangles {
        &self.surface
    }

    /// Size of a tetrahedron, m: the least edge of the cells.
    pub(crate) fn spacing(&self) -> f64 {
        self.cells.spacing.min()
    }

    pub(crate) fn bounds(&self) -> Aabb {
        self.surface.bounds()
    }
}

impl Frame {
    fn new(&[corner, a, b, c]: &[Point3<f64>; 4]) -> Self {
        let edges = Matrix3::from_columns(&[a - corner, b - corner, c - corner]);
        // a valid tetrahedron has volume
        Self { corner, inverse: edges.try_inverse().unwrap_or_else(Matrix3::zeros) }
    }

    fn holds(&self, p: &Point3<f64>) -> bool {
        let weights = self.inverse * (p - self.corner);
        weights.min() >= ON_FACE && 1.0 - weights.sum() >= ON_FACE
    }
}

impl Cells {
    fn new(mesh: &TetMesh) -> Self {
        let at = Point3::origin();
        let bounds = Aabb::around(&mesh.vertices).unwrap_or(Aabb { min: at, max: at });
        let count = mesh.tets.len().max(1);
        let extents = bounds.extents();
        let least = extents.max() / MAX_DIM as f64;
        let mut edge = libm::cbrt(extents.product() / (CELLS_PER_TET * count as f64)).max(least);
        loop {
            let mut cells = Self::empty(&bounds, edge);
            let ranges: Vec<Range> =
                (0..mesh.tets.len()).map(|tet| cells.range(&mesh.corners(tet))).collect();
            let entries: usize = ranges.iter().map(size).sum();
            let most = MAX_ENTRIES_PER_TET * count;
            if cells.dims == [1; 3]
                || entries <= most && cells.dims.iter().product::<usize>() <= most
            {
                cells.fill(&ranges);
                return cells;
            }
            edge *= 2.0;
        }
    }

    /// Empty cells with some edge length.
    fn empty(bounds: &Aabb, edge: f64) -> Self {
        let extents = bounds.extents();
        let dims = [0, 1, 2].map(|k| ((extents[k] / edge).ceil() as usize).clamp(1, MAX_DIM));
        let spacing = Vector3::from_fn(|k, _| extents[k] / dims[k] as f64);
        Self { origin: bounds.min, spacing, dims, starts: Vec::new(), tets: Vec::new() }
    }

    /// Lists the tetrahedra of each cell by a counting sort.
    fn fill(&mut self, ranges: &[Range]) {
        let [nx, ny, nz] = self.dims;
        let mut starts = vec![0u32; nx * ny * nz + 1];
        ranges.iter().flat_map(|range| self.numbers(range)).for_each(|cell| starts[cell + 1] += 1);
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        let mut next = starts.clone();
        let mut tets = vec![0; starts[nx * ny * nz] as usize];
        for (tet, range) in (0..).zip(ranges) {
            for cell in self.numbers(range) {
                tets[next[cell] as usize] = tet;
                next[cell] += 1;
            }
        }
        (self.starts, self.tets) = (starts, tets);
    }

    /// The cells of a range.
    fn numbers(&self, &[[x0, x1], [y0, y1], [z0, z1]]: &Range) -> impl Iterator<Item = usize> {
        let [_, ny, nz] = self.dims;
        let row = move |x: usize, y: usize| (z0..=z1).map(move |z| (x * ny + y) * nz + z);
        (x0..=x1).flat_map(move |x| (y0..=y1).flat_map(move |y| row(x, y)))
    }

    /// The cells that overlap the bounding box of some points: first and last along each axis.
    fn range(&self, corners: &[Point3<f64>; 4]) -> Range {
        [0, 1, 2].map(|axis| {
            let along = corners.map(|p| p[axis]);
            let (low, high) = along
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
            [self.cell(low, axis), self.cell(high, axis)]
        })
    }

    /// The nearest cell along an axis.
    fn cell(&self, x: f64, axis: usize) -> usize {
        let at = (x - self.origin[axis]) / self.spacing[axis];
        // negative and NaN positions become zero
        (at as usize).min(self.dims[axis] - 1)
    }

    /// The tetrahedra that may contain a point.
    fn of(&self, p: &Point3<f64>) -> &[u32] {
        let is_within = |axis: usize| {
            let along = p[axis] - self.origin[axis];
            (0.0..=self.spacing[axis] * self.dims[axis] as f64).contains(&along)
        };
        if !(0..3).all(is_within) {
            return &[];
        }
        let [x, y, z] = [0, 1, 2].map(|axis| self.cell(p[axis], axis));
        let cell = (x * self.dims[1] + y) * self.dims[2] + z;
        &self.tets[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }
}

/// The faces of exactly one tetrahedron, by the positions of their corners: in a closed crack two
/// vertices share a position.
fn open_faces(mesh: &TetMesh) -> TriMesh {
    let mut names: BTreeMap<[u64; 3], u32> = BTreeMap::new();
    let mut name = |v: u32| {
        let p = &mesh.vertices[v as usize];
        // adding zero merges -0 and 0
        let key = [p.x, p.y, p.z].map(|x| (x + 0.0).to_bits());
        let next = names.len() as u32;
        *names.entry(key).or_insert(next)
    };
    let faces = mesh.boundary_faces();
    let named: Vec<[u32; 3]> = faces.iter().map(|face| face.map(&mut name)).collect();
    let key = |face: &[u32; 3]| {
        let mut corners = *face;
        corners.sort_unstable();
        corners
    };
    let mut shared: BTreeMap<[u32; 3], usize> = BTreeMap::new();
    named.iter().for_each(|face| *shared.entry(key(face)).or_default() += 1);
    let is_open = |face: &&[u32; 3]| shared[&key(face)] == 1;
    let open: Vec<[u32; 3]> = named.iter().filter(is_open).copied().collect();
    compact(names, open)
}

/// Triangles with the positions that they use.
fn compact(names: BTreeMap<[u64; 3], u32>, mut triangles: Vec<[u32; 3]>) -> TriMesh {
    let mut places = vec![Point3::origin(); names.len()];
    for (key, name) in names {
        places[name as usize] = Point3::from(key.map(f64::from_bits));
    }
    let mut used: Vec<u32> = triangles.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let number = |v: u32| used.partition_point(|&known| known < v) as u32;
    triangles.iter_mut().for_each(|corners| *corners = corners.map(number));
    TriMesh { vertices: used.iter().map(|&v| places[v as usize]).collect(), triangles }
}
