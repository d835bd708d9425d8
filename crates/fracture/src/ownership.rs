//! The region of each inside sample.

use std::ops::Range;

use levelset::{LevelSet, Run};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::body::Body;
use crate::near_region::NearRegion;
use crate::planes::{Lines, Nearest, pitch};

/// The regions of a body's nodes.
pub(crate) struct Owners {
    /// For each node: one plus the index of its region, or 0 where the region is unknown, outside
    /// the body. The region of a node has the least signed distance there, the first among equals.
    /// [`Pattern::MAX_REGIONS`] fit in 16 bits.
    ///
    /// [`Pattern::MAX_REGIONS`]: crate::Pattern::MAX_REGIONS
    pub(crate) nearest: Vec<u16>,
    /// The inside nodes by region (also plus one), row by row.
    pub(crate) runs: Vec<Run>,
}

impl Owners {
    /// `far` returns the region of a node outside all regions near it.
    pub(crate) fn new(
        parent: &LevelSet,
        body: &Body,
        near: &[Option<NearRegion>],
        far: impl Fn([usize; 3]) -> usize + Sync,
    ) -> Self {
        let [nx, ny, nz] = parent.grid().dims();
        let regions: Vec<(u16, &NearRegion)> =
            (1..).zip(near).filter_map(|(n, near)| Some((n, near.as_ref()?))).collect();
        let convex = regions.iter().all(|(_, near)| matches!(near, NearRegion::Planes(_)));
        let mut nearest = vec![0_u16; nx * ny * nz];
        let slabs = nearest.par_chunks_exact_mut(ny * nz).enumerate().map(|(i, slab)| {
            if convex {
                let reach = body.reach(i);
                Arch::new().dispatch(Filling {
                    regions: &regions,
                    near,
                    i,
                    wanted: &reach,
                    slab,
                    nz,
                });
            } else {
                fill_by_values(&regions, i, slab, nz);
            }
            let mut runs = Vec::new();
            for (j, row) in slab.chunks_exact_mut(nz).enumerate() {
                let base = (i * ny + j) * nz;
                for run in body.row([i, j]) {
                    let start = run.start as usize - base;
                    let row = &mut row[start..run.end as usize - base];
                    // testing the whole row is faster than stopping at the first match
                    if row.iter().fold(false, |any, owner| any | (*owner == 0)) {
                        let bare = (start..).zip(&mut *row).filter(|(_, owner)| **owner == 0);
                        bare.for_each(|(k, owner)| *owner = far([i, j, k]) as u16 + 1);
                    }
                    let mut start = run.start;
                    for same in row.chunk_by(|a, b| a == b) {
                        let end = start + same.len() as u32;
                        runs.push(Run { start, end, owner: same[0].into() });
                        start = end;
                    }
                }
            }
            runs
        });
        let runs: Vec<Vec<Run>> = slabs.collect();
        Self { runs: runs.concat(), nearest }
    }
}

/// Finds the owners of the `wanted` nodes of slab `i` for convex regions. A row crosses each region
/// in one run, and few nodes are in two regions.
struct Filling<'a> {
    regions: &'a [(u16, &'a NearRegion)],
    near: &'a [Option<NearRegion>],
    i: usize,
    wanted: &'a [Range<usize>],
    slab: &'a mut [u16],
    nz: usize,
}

impl WithSimd for Filling<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { regions, near, i, wanted, slab, nz } = self;
        // for each row the range of nodes with an owner
        let mut owned: Vec<Range<usize>> = vec![nz..0; wanted.len()];
        let mut nearest = Nearest::default();
        for &(region, shape) in regions {
            let NearRegion::Planes(planes) = shape else { continue };
            planes.runs(i, wanted, &mut nearest, |j, ks| {
                let row = &mut slab[j * nz..][ks.clone()];
                let Range { start, end } = owned[j];
                owned[j] = start.min(ks.start)..end.max(ks.end);
                let is_beside = ks.end <= start || end <= ks.start;
                if is_beside || row.iter().fold(0, |any, owner| any | owner) == 0 {
                    row.fill(region);
                    return;
                }
                for (k, owner) in ks.zip(row) {
                    let node = [i, j, k];
                    let other = (*owner as usize).checked_sub(1).and_then(|n| near[n].as_ref());
                    if other.is_none_or(|other| shape.value(node) < other.value(node)) {
                        *owner = region;
                    }
                }
            });
        }
    }
}

/// Owners of slab `i` by the values of all regions at all nodes.
fn fill_by_values(regions: &[(u16, &NearRegion)], i: usize, slab: &mut [u16], nz: usize) {
    let mut least = vec![f32::INFINITY; slab.len()];
    let (mut values, mut lines) = (Vec::new(), Lines::default());
    for (region, shape) in regions {
        let nodes = shape.nodes();
        if !(nodes.low[0]..nodes.high[0]).contains(&i) {
            continue;
        }
        let pitch = pitch(nodes);
        values.resize(nodes.dims()[1] * pitch, 0.0);
        shape.write((i, nodes), &mut values, false, &mut lines);
        for (j, values) in (nodes.low[1]..).zip(values.chunks_exact(pitch)) {
            let row = j * nz + nodes.low[2]..j * nz + nodes.high[2];
            let pairs = least[row.clone()].iter_mut().zip(&mut slab[row]);
            for (value, (least, owner)) in values.iter().zip(pairs) {
                let better = value < least;
                *least = if better { *value } else { *least };
                *owner = if better { *region } else { *owner };
            }
        }
    }
}
