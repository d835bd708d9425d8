//! The regions of a pattern near a body, on the nodes of its grid.

use levelset::Aabb;
use nalgebra::Similarity3;
use rayon::prelude::*;

use crate::Pattern;
use crate::body::Body;
use crate::field::Field;
use crate::node_box::NodeBox;
use crate::planes::{Lines, NodePlane, Planes, pitch};
use crate::region::{Region, transformed_bounds};

/// A region that may own nodes of a body.
pub(crate) enum NearRegion {
    Planes(Planes),
    Samples(Field),
}

impl NearRegion {
    /// For each region of the pattern; `None` if it owns no node.
    pub(crate) fn all(
        pattern: &Pattern,
        to_material: &Similarity3<f64>,
        body: &Body,
    ) -> Vec<Option<Self>> {
        let none = || (0..pattern.region_count()).map(|_| None).collect();
        let Some(bounds) = body.bounds() else { return none() };
        // the pattern's data are in its own space
        let Some(seen) = transformed_bounds(&bounds, &to_material.inverse()) else { return none() };
        let seen = seen.grown(1e-9 * seen.extents().norm());
        let apart =
            |reach: &Aabb| (0..3).any(|a| reach.min[a] > seen.max[a] || reach.max[a] < seen.min[a]);
        // particles may be in the voxels next to the body
        let around = bounds.grown(2.0 * body.grid().spacing());
        let Some(around) = transformed_bounds(&around, &to_material.inverse()) else {
            return none();
        };
        let near = |region: usize| match pattern.region(region) {
            Region::Cell(cell) => {
                if pattern.reach(region).is_none_or(apart) {
                    return None;
                }
                let corners: Vec<_> =
                    cell.corners().map(|p| to_material.transform_point(p)).collect();
                let reach = Aabb::around(&corners)?.grown(body.margin());
                // and the voxels around the body, which may contain particles
                let around = body.nodes().grown(1, body.grid().dims());
                let nodes = NodeBox::around(&reach, body.grid(), 0).common(&around);
                let planes = cell.planes().iter();
                let planes =
                    planes.map(|p| NodePlane::new(&p.transformed(to_material), body.grid()));
                Planes::new(planes.collect(), nodes, body.margin()).map(Self::Planes)
            }
            Region::Sampled(sampled) => {
                Field::new(sampled, to_material, body, &bounds).map(Self::Samples)
            }
        };
        let candidates = pattern.near(&around);
        let found = candidates.par_iter().with_min_len(16).map(|&region| near(region));
        let found: Vec<Option<Self>> = found.collect();
        let mut all: Vec<Option<Self>> = none();
        candidates.into_iter().zip(found).for_each(|(region, near)| all[region] = near);
        all
    }

    pub(crate) fn nodes(&self) -> &NodeBox {
        match self {
            Self::Planes(planes) => &planes.nodes,
            Self::Samples(field) => &field.nodes,
        }
    }

    /// The plane with this region below and `other` above, if it is one.
    pub(crate) fn towards(&self, other: &Self) -> Option<NodePlane> {
        match (self, other) {
            (Self::Planes(a), Self::Planes(b)) => a.towards(b),
            _ => None,
        }
    }

    /// Signed distance at a node, m; `None` where it is unknown.
    pub(crate) fn value(&self, node: [usize; 3]) -> Option<f64> {
        match self {
            Self::Planes(planes) => Some(planes.value(node)),
            Self::Samples(field) => field.at(node).map(f64::from),
        }
    }

    /// Writes the region's values over `slab`, the nodes of `nodes` in slab `i` in rows [`pitch`]
    /// apart, or if `is_more` the lesser of both. Values outside the region are infinite. `lines`
    /// is a buffer.
    ///
    /// [`pitch`]: crate::planes::pitch
    #[inline(always)]
    pub(crate) fn write(
        &self,
        (i, nodes): (usize, &NodeBox),
        slab: &mut [f32],
        is_more: bool,
        lines: &mut Lines,
    ) {
        match self {
            Self::Planes(planes) => planes.write((i, nodes), slab, is_more, lines),
            Self::Samples(field) => {
                if !is_more {
                    slab.fill(f32::INFINITY);
                }
                let rows = slab.chunks_exact_mut(pitch(nodes));
                for (j, row) in (nodes.low[1]..).zip(rows) {
                    field.lower([i, j, nodes.low[2]], &mut row[..nodes.dims()[2]]);
                }
            }
        }
    }
}
