//! Signed distance from triangles.

use std::ops::Range;

use nalgebra::Point3;
use ndarray::Array3;
use rayon::prelude::*;
use thiserror::Error;

use crate::caps::Caps;
use crate::crossing::{Crosser, Crossing};
use crate::facet::{BAND, Facet, segment_distance_squared};
use crate::open_edges::open_edges;
use crate::sweep::{Anchor, sweep};
use crate::{Aabb, Grid, LevelSet, TriMesh};

/// What determines the inside of the triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The mesh must be closed and wound outwards; points with a positive winding number are
    /// inside.
    Strict,
    /// Any mesh: inside is where the generalised winding number (Jacobson et al. 2013) exceeds one
    /// half, which closes holes smoothly.
    Winding,
}

/// Why a mesh cannot be converted to a level set.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MeshError {
    /// There are no triangles.
    #[error("the mesh has no triangles")]
    Empty,
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} has a coordinate that is not a finite number")]
    NotFinite {
        /// Number of the vertex.
        vertex: usize,
    },
    /// A coordinate is beyond [`MAX_COORDINATE`]: second moments would overflow.
    #[error("vertex {vertex} has a coordinate beyond {MAX_COORDINATE:e} m: scale the mesh down")]
    TooLarge {
        /// Number of the vertex.
        vertex: usize,
    },
    /// A triangle has an unknown vertex.
    #[error("triangle {triangle} refers to vertex {vertex}, but there are only {count}")]
    IndexOutOfRange {
        /// Number of the triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// Number of vertices.
        count: usize,
    },
    /// No triangle has any area.
    #[error("all triangles of the mesh have zero area")]
    Degenerate,
    /// A strict conversion found an edge without its opposite.
    #[error(
        "the mesh is not closed: no triangle has an edge from vertex {to} to vertex {from} to \
         match the one from {from} to {to} ({count} such edges); repair it or use the winding sign"
    )]
    OpenEdge {
        /// Start of the first open edge.
        from: u32,
        /// Its end.
        to: u32,
        /// Number of open edges.
        count: usize,
    },
    /// A closed mesh bounds no volume.
    #[error(
        "the mesh bounds no volume: its triangles cancel each other, as those of a sheet with two sides \
         do; give it a thickness"
    )]
    Flat,
    /// The triangles of a closed mesh face inwards.
    #[error("the mesh is inside out (volume {volume}): reverse its triangles")]
    InsideOut {
        /// Its signed volume, m^3.
        volume: f64,
    },
    /// No triangle comes near the grid.
    #[error("the surface does not come within three cells of the grid")]
    OutsideGrid,
}

/// Largest coordinate of a mesh, m: second moments, of the fifth power, are finite up to here.
pub const MAX_COORDINATE: f64 = 1e61;

/// Planes of the grid per task.
const SLAB: usize = 8;

impl LevelSet {
    /// The signed distance of a mesh.
    ///
    /// Within three cells of the surface the distance is exact to 1e-4 cells and the sign is exact
    /// (with [`Sign::Winding`], except where the winding number is within 0.01 of one half).
    /// Beyond, sweeping finds the distance to the nearest of the surface points of the nodes next
    /// to the surface: on average a few hundredths of a cell too large. The bits are the same for
    /// any number of threads.
    ///
    /// # Errors
    /// [`MeshError`] if the mesh is empty, malformed or flat, if a strict conversion finds an open
    /// or inside-out mesh, or if the surface misses the grid.
    pub fn from_mesh(mesh: &TriMesh, grid: Grid, sign: Sign) -> Result<Self, MeshError> {
        let (mut distance, inside) = scan(mesh, &grid, sign)?;
        let anchors = anchors(&distance, &inside, grid.dims());
        sweep(&mut distance, grid.dims(), &anchors);
        Ok(Self::from_scan(grid, distance, &inside))
    }

    /// [`LevelSet::from_mesh`] only within three cells of the surface; samples farther away have a
    /// distance of three cells and the right sign. It is faster, and sufficient where only the
    /// surface matters.
    ///
    /// # Errors
    /// As [`LevelSet::from_mesh`].
    pub fn band_from_mesh(mesh: &TriMesh, grid: Grid, sign: Sign) -> Result<Self, MeshError> {
        let (mut distance, inside) = scan(mesh, &grid, sign)?;
        distance.iter_mut().for_each(|d| *d = d.min(BAND as f32));
        Ok(Self::from_scan(grid, distance, &inside))
    }

    fn from_scan(grid: Grid, mut values: Vec<f32>, inside: &[bool]) -> Self {
        let h = grid.spacing();
        for (value, &inside) in values.iter_mut().zip(inside) {
            let distance = (f64::from(*value) * h) as f32;
            // at distance zero the node is outside, as everywhere in this crate
            *value = if inside { -distance } else { distance };
        }
        let [nx, ny, nz] = grid.dims();
        let values = Array3::from_shape_vec((nx, ny, nz), values).expect("one sample per node");
        Self::from_values(grid, values)
    }
}

/// Distance in cells within the band and infinity elsewhere, and whether each node is inside.
fn scan(mesh: &TriMesh, grid: &Grid, sign: Sign) -> Result<(Vec<f32>, Vec<bool>), MeshError> {
    mesh.validate()?;
    if (0..mesh.triangles.len()).all(|t| mesh.area_vector(t).norm_squared() == 0.0) {
        return Err(MeshError::Degenerate);
    }
    let open = open_edges(mesh);
    if sign == Sign::Strict {
        if let Some(&[from, to]) = open.first() {
            return Err(MeshError::OpenEdge { from, to, count: open.len() });
        }
        let volume = mesh.signed_volume();
        if volume <= 0.0 {
            let area: f64 = (0..mesh.triangles.len()).map(|t| mesh.area_vector(t).norm()).sum();
            // round-off of terms that cancel
            if -volume <= 1e-12 * area * grid.bounds().extents().norm() {
                return Err(MeshError::Flat);
            }
            return Err(MeshError::InsideOut { volume });
        }
    }
    let scan = Scan::new(mesh, &open, grid);
    let mut distance = vec![f32::INFINITY; grid.node_count()];
    let mut inside = vec![false; grid.node_count()];
    let [_, ny, nz] = grid.dims();
    let plane = SLAB * ny * nz;
    distance
        .par_chunks_mut(plane)
        .zip(inside.par_chunks_mut(plane))
        .enumerate()
        .for_each(|(slab, (distance, inside))| scan.fill(slab * SLAB, distance, inside));
    if scan.caps.is_some() {
        bridge_holes(&mut distance, &inside, grid);
    }
    if distance.iter().all(|v| v.is_infinite()) {
        return Err(MeshError::OutsideGrid);
    }
    Ok((distance, inside))
}

/// The nearest surface points of the nodes that have one within a cell, along the gradient.
fn anchors(distance: &[f32], inside: &[bool], dims: [usize; 3]) -> Vec<Anchor> {
    let strides = [dims[1] * dims[2], dims[2], 1];
    let signed = |n: usize| if inside[n] { -distance[n] } else { distance[n] };
    let mut anchors = Vec::new();
    for (node, &d) in distance.iter().enumerate() {
        if d > 1.0 {
            continue;
        }
        let at = [node / strides[0], node / strides[1] % dims[1], node % dims[2]];
        let slope: [f32; 3] = std::array::from_fn(|a| {
            let low = if at[a] > 0 { node - strides[a] } else { node };
            let high = if at[a] + 1 < dims[a] { node + strides[a] } else { node };
            (signed(high) - signed(low)) / ((high - low) / strides[a]) as f32
        });
        let size = slope.iter().map(|x| x * x).sum::<f32>().sqrt();
        // a node with several nearest points has no gradient: points of its neighbors replace them
        if size.is_finite() && size > 0.1 {
            let scale = -signed(node) / size;
            anchors.push(Anchor { node: node as u32, offset: slope.map(|x| x * scale) });
        }
    }
    anchors
}

impl TriMesh {
    /// Checks that there are triangles, that vertices are finite and within [`MAX_COORDINATE`], and that indices
    /// are in range. Does not check whether the mesh is closed.
    ///
    /// # Errors
    /// [`MeshError::Empty`], [`MeshError::NotFinite`], [`MeshError::TooLarge`] or
    /// [`MeshError::IndexOutOfRange`].
    pub fn validate(&self) -> Result<(), MeshError> {
        if self.triangles.is_empty() {
            return Err(MeshError::Empty);
        }
        let bad = |p: &Point3<f64>| !p.iter().all(|x| x.is_finite());
        if let Some(vertex) = self.vertices.iter().position(bad) {
            return Err(MeshError::NotFinite { vertex });
        }
        let far = |p: &Point3<f64>| p.iter().any(|x| x.abs() > MAX_COORDINATE);
        if let Some(vertex) = self.vertices.iter().position(far) {
            return Err(MeshError::TooLarge { vertex });
        }
        let count = self.vertices.len();
        for (triangle, t) in self.triangles.iter().enumerate() {
            if let Some(&vertex) = t.iter().find(|&&v| v as usize >= count) {
                return Err(MeshError::IndexOutOfRange { triangle, vertex, count });
            }
        }
        Ok(())
    }
}

/// A mesh in grid units, ready to be scanned slab by slab.
struct Scan<'a> {
    dims: [usize; 3],
    vertices: Vec<Point3<f64>>,
    triangles: &'a [[u32; 3]],
    caps: Option<Caps>,
}

impl<'a> Scan<'a> {
    fn new(mesh: &'a TriMesh, open: &[[u32; 2]], grid: &Grid) -> Self {
        let (origin, h) = (grid.origin(), grid.spacing());
        let vertices: Vec<_> =
            mesh.vertices.iter().map(|v| Point3::from((v - origin) / h)).collect();
        let caps = Caps::new(open, &vertices);
        Self { dims: grid.dims(), vertices, triangles: &mesh.triangles, caps }
    }

    /// Fills the planes from `first` on: distance in cells where it is within the band and
    /// infinity elsewhere, and whether each node is inside.
    fn fill(&self, first: usize, values: &mut [f32], inside: &mut [bool]) {
        let planes = values.len() / (self.dims[1] * self.dims[2]);
        let slab = Slab { first, planes, dims: self.dims };
        let mut crossings = Vec::new();
        for &names in self.triangles {
            let corners = names.map(|v| self.vertices[v as usize]);
            slab.lower(&corners, values);
            slab.cross(&Crosser::new(corners, names), &corners, &mut crossings);
        }
        if let Some(caps) = &self.caps {
            for cap in &caps.caps {
                slab.cross(&Crosser::new(cap.corners, cap.names), &cap.corners, &mut crossings);
            }
        }
        for value in values.iter_mut() {
            *value = if *value <= (BAND * BAND) as f32 { value.sqrt() } else { f32::INFINITY };
        }
        crossings.sort_unstable_by_key(|c| c.node);
        self.wind(&slab, &crossings, values, inside);
    }

    /// Adds up the crossings along each row.
    fn wind(&self, slab: &Slab, crossings: &[Crossing], values: &[f32], inside: &mut [bool]) {
        let [_, ny, nz] = self.dims;
        let mut windings = vec![0; if self.caps.is_some() { inside.len() } else { 0 }];
        let mut rest = crossings;
        for (row, inside) in inside.chunks_exact_mut(nz).enumerate() {
            let mut winding = 0;
            for (k, inside) in inside.iter_mut().enumerate() {
                while let Some((next, after)) = rest.split_first()
                    && next.node as usize == row * nz + k
                {
                    winding += next.turn;
                    rest = after;
                }
                *inside = winding > 0;
                if let Some(kept) = windings.get_mut(row * nz + k) {
                    *kept = winding;
                }
            }
        }
        if let Some(caps) = &self.caps {
            let open = OpenSlab { caps, slab, windings: &windings, distance: values };
            let planes = slab.first..slab.first + slab.planes;
            open.decide([planes, 0..ny, 0..nz], inside);
        }
    }
}

/// A slab of a mesh with holes: inside is where the winding number of the capped mesh minus that of
/// the caps exceeds one half.
struct OpenSlab<'a> {
    caps: &'a Caps,
    slab: &'a Slab,
    /// Winding numbers of the capped mesh.
    windings: &'a [i32],
    distance: &'a [f32],
}

impl OpenSlab<'_> {
    /// Sets a block of nodes, all together if the winding number is known to change little within
    /// it.
    fn decide(&self, block: [Range<usize>; 3], inside: &mut [bool]) {
        let [_, ny, nz] = self.slab.dims;
        let index = |i: usize, j: usize, k: usize| ((i - self.slab.first) * ny + j) * nz + k;
        let middle = [0, 1, 2].map(|a| block[a].start.midpoint(block[a].end));
        let reach = (0..3).map(|a| ((middle[a] - block[a].start) as f64).powi(2)).sum::<f64>();
        let reach = reach.sqrt();
        let estimate = self.caps.winding_from(&Point3::from(middle.map(|n| n as f64)), reach);
        let shifted = estimate.winding + 0.5;
        let room = (shifted - shifted.floor()).min(shifted.floor() + 1.0 - shifted);
        let least = shifted.floor() as i32 + 1;
        let center = index(middle[0], middle[1], middle[2]);
        // no triangle between the middle and the rest: all are on one side
        let clear = f64::from(self.distance[center]) > reach && reach < BAND;
        let one_side = clear && estimate.smooth_slope * reach < room;
        if reach == 0.0 || one_side || estimate.slope * reach < room {
            let [planes, rows, nodes] = block;
            for i in planes {
                for j in rows.clone() {
                    let row = index(i, j, nodes.start)..index(i, j, nodes.end);
                    for n in row {
                        let node = if one_side { center } else { n };
                        inside[n] = self.windings[node] >= least;
                    }
                }
            }
            return;
        }
        let axis = (0..3).max_by_key(|&a| block[a].len()).unwrap_or(0);
        for part in [block[axis].start..middle[axis], middle[axis]..block[axis].end] {
            let mut block = block.clone();
            block[axis] = part;
            self.decide(block, inside);
        }
    }
}

/// A few planes of the grid, all coordinates in cells.
struct Slab {
    first: usize,
    planes: usize,
    dims: [usize; 3],
}

impl Slab {
    /// Nodes within `margin` of the box around `corners`, as half-open ranges per axis.
    fn reach(&self, corners: &[Point3<f64>; 3], margin: f64) -> Option<[(usize, usize); 3]> {
        let bounds = Aabb::around(corners)?.grown(margin);
        let limits = [(self.first, self.first + self.planes), (0, self.dims[1]), (0, self.dims[2])];
        let mut ranges = [(0, 0); 3];
        for a in 0..3 {
            // casts saturate, so a mesh far outside gives an empty range
            let low = (bounds.min[a].ceil().max(0.0) as usize).max(limits[a].0);
            let high = ((bounds.max[a].floor() + 1.0).max(0.0) as usize).min(limits[a].1);
            if low >= high {
                return None;
            }
            ranges[a] = (low, high);
        }
        Some(ranges)
    }

    /// Lowers squared distances near a triangle.
    fn lower(&self, corners: &[Point3<f64>; 3], values: &mut [f32]) {
        let Some([(i0, i1), (j0, j1), (k0, k1)]) = self.reach(corners, BAND) else { return };
        let facet = Facet::new(corners);
        for i in i0..i1 {
            for j in j0..j1 {
                let row = ((i - self.first) * self.dims[1] + j) * self.dims[2];
                let best = &mut values[row..row + self.dims[2]];
                if let Some(facet) = &facet {
                    facet.lower_row(i, j, k0..k1, best);
                    continue;
                }
                for (k, best) in (k0..k1).zip(&mut best[k0..k1]) {
                    let p = Point3::new(i as f64, j as f64, k as f64);
                    for e in 0..3 {
                        let d = segment_distance_squared(&p, &corners[e], &corners[(e + 1) % 3]);
                        *best = best.min(d as f32);
                    }
                }
            }
        }
    }

    /// Records where a triangle crosses the rows of the slab.
    fn cross(&self, crosser: &Crosser, corners: &[Point3<f64>; 3], into: &mut Vec<Crossing>) {
        let [_, ny, nz] = self.dims;
        // height does not matter here: a crossing below the grid counts for the whole row
        let flat = corners.map(|p| Point3::new(p.x, p.y, 0.0));
        let Some([(i0, i1), (j0, j1), _]) = self.reach(&flat, 0.0) else { return };
        for i in i0..i1 {
            for j in j0..j1 {
                let (x, y) = (i as f64, j as f64);
                let turn = crosser.turn(x, y);
                if turn == 0 {
                    continue;
                }
                let k = crosser.first_above(x, y, turn, nz);
                if k < nz {
                    let node = (((i - self.first) * ny + j) * nz + k) as u32;
                    into.push(Crossing { node, turn });
                }
            }
        }
    }
}

/// Places the surface half-way between neighbors of opposite sign far from any triangle, where the
/// winding number alone closes a hole.
fn bridge_holes(values: &mut [f32], inside: &[bool], grid: &Grid) {
    let dims = grid.dims();
    let strides = [dims[1] * dims[2], dims[2], 1];
    let mut bridged = Vec::new();
    for node in 0..values.len() {
        for a in 0..3 {
            let next = node + strides[a];
            let last = node / strides[a] % dims[a] + 1 == dims[a];
            // a surface between two nodes is within one cell of both together
            if !last && inside[node] != inside[next] && values[node] + values[next] > 1.001 {
                bridged.extend([node, next]);
            }
        }
    }
    for node in bridged {
        values[node] = values[node].min(0.5);
    }
}
