//! The signed distance of exact solids.

use levelset::{Grid, LevelSet, Sign, Solid};
use ndarray::Array3;
use pulp::{Arch, Simd, WithSimd};

use super::solid::{Exact, Geometry, Kind};
use crate::facets::Facets;
use crate::node_box::NodeBox;
use crate::planes::{Lines, NodePlane, Planes, pitch};
use crate::rows::lower_to;

impl Geometry {
    /// Samples the signed distance of a solid without given samples.
    pub(super) fn samples(&self) -> LevelSet {
        let distance = |solid: &Solid| LevelSet::from_fn(self.grid, |p| solid.distance(&p));
        match &self.kind {
            Kind::Exact(Exact { primitive: Some(solid), .. }) => distance(solid),
            Kind::Exact(exact) => match exact.convex_decomposition() {
                Some(parts) => convex(parts, self.grid),
                None => LevelSet::from_mesh(&exact.facets.surface().mesh, self.grid, Sign::Winding)
                    .unwrap_or_else(|_| outside(self.grid)),
            },
            Kind::Sampled(_) => outside(self.grid),
        }
    }
}

fn outside(grid: Grid) -> LevelSet {
    LevelSet::from_fn(grid, |_| grid.spacing())
}

/// For a union of convex solids the least of the largest signed distances to their planes: exact
/// inside each, and a lower bound outside.
fn convex(parts: &[Facets], grid: Grid) -> LevelSet {
    let nodes = NodeBox { low: [0; 3], high: grid.dims() };
    let region = |part: &Facets| {
        let planes = part.planes().iter().map(|plane| NodePlane::new(plane, &grid)).collect();
        Planes::new(planes, nodes, f64::INFINITY)
    };
    let regions: Vec<Planes> = parts.iter().filter_map(region).collect();
    sampled(None, &regions, &grid, &nodes)
}

/// The intersection of a solid with a union of regions: the larger of its signed distance, on the
/// nodes of its grid, and the least of theirs. Without a solid, the union of the regions.
pub(super) fn sampled(
    solid: Option<&LevelSet>,
    regions: &[Planes],
    grid: &Grid,
    nodes: &NodeBox,
) -> LevelSet {
    // uses the widest vector registers of the processor, with the same results
    Arch::new().dispatch(Sampling { solid, regions, grid, nodes })
}

struct Sampling<'a> {
    solid: Option<&'a LevelSet>,
    regions: &'a [Planes],
    grid: &'a Grid,
    nodes: &'a NodeBox,
}

impl WithSimd for Sampling<'_> {
    type Output = LevelSet;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> LevelSet {
        let Self { solid, regions, grid, nodes } = self;
        let row_len = nodes.dims()[2];
        let mut values = Vec::with_capacity(nodes.len());
        let mut slab = vec![0.0_f32; nodes.dims()[1] * pitch(nodes)];
        let mut lines = Lines::default();
        for i in nodes.low[0]..nodes.high[0] {
            for (n, region) in regions.iter().enumerate() {
                region.write((i, nodes), &mut slab, n > 0, &mut lines);
                if regions.len() > 1 {
                    // in the gaps that interpolation leaves between regions a larger value would be
                    // wrong
                    lower_to(&mut slab, 2.0 * grid.spacing() as f32);
                }
            }
            for (j, region) in (nodes.low[1]..nodes.high[1]).zip(slab.chunks_exact(pitch(nodes))) {
                let Some(solid) = solid else {
                    values.extend_from_slice(&region[..row_len]);
                    continue;
                };
                let start = grid.index([i, j, nodes.low[2]]);
                let body = &solid.as_slice()[start..start + row_len];
                let pairs = body.iter().zip(region);
                values.extend(pairs.map(|(&body, &region)| {
                    // a selection instead of a branch: the loop is vectorized
                    if region > body { region } else { body }
                }));
            }
        }
        let part = grid.subgrid(nodes.low, nodes.high.map(|n| n - 1));
        let [nx, ny, nz] = part.dims();
        let values = Array3::from_shape_vec((nx, ny, nz), values)
            .expect("as many values as nodes by construction");
        LevelSet::from_values(part, values)
    }
}
