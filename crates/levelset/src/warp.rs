//! Solids that follow the deformation of their tetrahedra.

use nalgebra::{Point3, Vector3};
use ndarray::Array3;

use crate::{Grid, GridError, LevelSet, TetMesh};

/// Limit of volume corrections.
const ROUNDS: usize = 4;

impl LevelSet {
    /// The solid after its tetrahedra moved from `before` to `after`, with its volume scaled by the
    /// ratio of theirs, on an enlarged grid of the same nodes.
    ///
    /// Displacement is linear in each tetrahedron, and extrapolated beyond. Every node is mapped
    /// back to this level set, so that details finer than the tetrahedra are kept. Points farther
    /// from the tetrahedra than the solid was before are outside: nodes in an opening gap map back
    /// to the other side. Distance is then restored, and the surface offset to match the volume to
    /// 1e-3.
    ///
    /// # Errors
    /// [`GridError`] if the grid would have more than `limit` nodes.
    ///
    /// # Panics
    /// If the meshes do not have the same tetrahedra, or have an unknown vertex.
    pub fn warped(
        &self,
        before: &TetMesh,
        after: &TetMesh,
        limit: usize,
    ) -> Result<Self, GridError> {
        assert!(before.tets == after.tets, "the same tetrahedra");
        let Some((low, high)) = self.inside_range() else { return Ok(self.clone()) };
        let moves: Vec<Vector3<f64>> =
            before.vertices.iter().zip(&after.vertices).map(|(old, new)| new - old).collect();
        let farthest = moves.iter().fold(0.0_f64, |most, u| most.max(u.amax()));
        let grid = self.enlarged(low, high, farthest, limit)?;
        let displacements = Displacements::new(grid, after, &moves);
        let reach = self.reach(before);
        let [nx, ny, nz] = grid.dims();
        let values = Array3::from_shape_fn((nx, ny, nz), |(i, j, k)| {
            let node = [i, j, k];
            let n = grid.index(node);
            let from = self.value(&(grid.position(node) - displacements.at(n)));
            let beyond = displacements.layers[n].saturating_sub(reach);
            let least = f64::from(beyond) * grid.spacing() / 3.0_f64.sqrt();
            (if beyond > 0 { from.max(least) } else { from }) as f32
        });
        let warped = Self::from_values(grid, values);
        let ratio = after.moments().volume / before.moments().volume;
        let solid = warped.redistanced().of_volume(ratio * self.subcell_moments().volume);
        Ok(solid.cropped_to_inside(3).unwrap_or(solid))
    }

    /// Largest number of steps along the grid by which the solid extends beyond its tetrahedra,
    /// plus one for rounding.
    fn reach(&self, mesh: &TetMesh) -> u32 {
        let still = vec![Vector3::zeros(); mesh.vertices.len()];
        let layers = Displacements::new(*self.grid(), mesh, &still).layers;
        let inside = self.as_slice().iter().zip(layers).filter(|(value, _)| **value < 0.0);
        inside.map(|(_, layer)| layer).max().unwrap_or(0) + 1
    }

    /// A grid of this one's nodes around inside nodes, extended by `farthest`.
    fn enlarged(
        &self,
        low: [usize; 3],
        high: [usize; 3],
        farthest: f64,
        limit: usize,
    ) -> Result<Grid, GridError> {
        let spacing = self.grid().spacing();
        // a float too large saturates, and then fails the limit
        let more = ((farthest / spacing).ceil() as usize).saturating_add(4);
        let origin = self.grid().position(low) - Vector3::repeat(more as f64 * spacing);
        let dims: [usize; 3] =
            std::array::from_fn(|a| (high[a] - low[a] + 1).saturating_add(more.saturating_mul(2)));
        Grid::new(origin, spacing, dims, limit)
    }

    /// The solid offset to a volume, m^3.
    fn of_volume(&self, volume: f64) -> Self {
        let step = 0.1 * self.grid().spacing();
        let mut solid = self.clone();
        for _ in 0..ROUNDS {
            let own = solid.subcell_moments().volume;
            let area = (solid.offset(step).subcell_moments().volume - own) / step;
            if (own / volume - 1.0).abs() < 1e-5 || area <= 0.0 {
                break;
            }
            let most = 0.5 * self.grid().spacing();
            solid = solid.offset(((volume - own) / area).clamp(-most, most));
        }
        solid
    }
}

/// A displacement for every node of a grid.
struct Displacements {
    nodes: Vec<Vector3<f32>>,
    /// Steps along the grid to the nearest node in a tetrahedron.
    layers: Vec<u32>,
}

impl Displacements {
    fn new(grid: Grid, after: &TetMesh, moves: &[Vector3<f64>]) -> Self {
        let mut nodes = vec![Vector3::repeat(f32::NAN); grid.node_count()];
        for (t, tet) in after.tets.iter().enumerate() {
            let corners = after.corners(t);
            let u = tet.map(|v| moves[v as usize]);
            for_each_node(&grid, &corners, |node, weights| {
                let mean: Vector3<f64> = (0..4).map(|c| u[c] * weights[c]).sum();
                nodes[node] = mean.cast();
            });
        }
        let layers = spread(&grid, &mut nodes);
        Self { nodes, layers }
    }

    fn at(&self, node: usize) -> Vector3<f64> {
        let u = self.nodes[node];
        // only in a mesh without nodes inside
        if u.x.is_nan() { Vector3::zeros() } else { u.cast() }
    }
}

/// Calls for all nodes in a tetrahedron, with barycentric coordinates.
fn for_each_node(grid: &Grid, corners: &[Point3<f64>; 4], mut call: impl FnMut(usize, [f64; 4])) {
    /// Tolerance at faces, so that rounding leaves no nodes out.
    const OUTSIDE: f64 = -1e-9;
    let [a, b, c, d] = corners;
    let (x, y, z) = (b - a, c - a, d - a);
    let six = x.dot(&y.cross(&z));
    if six.is_nan() || six <= 0.0 {
        return;
    }
    let rows = [y.cross(&z) / six, z.cross(&x) / six, x.cross(&y) / six];
    let range = |axis: usize| {
        let of = |p: &Point3<f64>| (p[axis] - grid.origin()[axis]) / grid.spacing();
        let (low, high) =
            corners.iter().map(of).fold((f64::INFINITY, 0.0_f64), |(l, h), x| (l.min(x), h.max(x)));
        (low - 1e-6).ceil().max(0.0) as usize..grid.dims()[axis].min((high + 1e-6) as usize + 1)
    };
    for i in range(0) {
        for j in range(1) {
            for k in range(2) {
                let p = grid.position([i, j, k]) - a;
                let [s, t, u] = rows.map(|row| row.dot(&p));
                let weights = [1.0 - s - t - u, s, t, u];
                if weights.iter().all(|w| *w >= OUTSIDE) {
                    call(grid.index([i, j, k]), weights);
                }
            }
        }
    }
}

/// Sets nodes without a value to the mean of their neighbors, layer by layer. Returns the layer of
/// each, from 1 on.
fn spread(grid: &Grid, nodes: &mut [Vector3<f32>]) -> Vec<u32> {
    let mut layers = vec![0; nodes.len()];
    let mut layer = 0;
    let neighbors = |node: usize| {
        let at = grid.node(node);
        (0..6).filter_map(move |side| {
            let (axis, up) = (side / 2, side % 2 == 0);
            let mut next = at;
            next[axis] = if up { at[axis] + 1 } else { at[axis].checked_sub(1)? };
            (next[axis] < grid.dims()[axis]).then(|| grid.index(next))
        })
    };
    let mut open: Vec<usize> = (0..nodes.len())
        .filter(|&n| nodes[n].x.is_nan() && neighbors(n).any(|m| !nodes[m].x.is_nan()))
        .collect();
    while !open.is_empty() {
        let mean = |&node: &usize| {
            let known = neighbors(node).map(|n| nodes[n]).filter(|u| !u.x.is_nan());
            let (sum, count) = known.fold((Vector3::zeros(), 0.0), |(s, n), u| (s + u, n + 1.0));
            sum / count
        };
        let means: Vec<Vector3<f32>> = open.iter().map(mean).collect();
        layer += 1;
        for (&node, mean) in open.iter().zip(means) {
            nodes[node] = mean;
            layers[node] = layer;
        }
        let mut next: Vec<usize> =
            open.iter().flat_map(|&n| neighbors(n)).filter(|&n| nodes[n].x.is_nan()).collect();
        next.sort_unstable();
        next.dedup();
        open = next;
    }
    layers
}
