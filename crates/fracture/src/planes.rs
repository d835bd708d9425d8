//! A convex region on the nodes of the parent's grid.

use std::ops::Range;

use levelset::Grid;
use nalgebra::Vector3;

use crate::cell::Plane;
use crate::field::NodeBox;
use crate::near;

/// A plane in the coordinates of a grid: its value at node `n` is `at + step . n`, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NodePlane {
    pub(crate) at: f64,
    pub(crate) step: Vector3<f64>,
}

impl NodePlane {
    pub(crate) fn new(plane: &Plane, grid: &Grid) -> Self {
        Self { at: plane.value(&grid.origin()), step: plane.normal * grid.spacing() }
    }

    pub(crate) fn value(&self, [i, j, k]: [usize; 3]) -> f64 {
        self.at + self.step.x * i as f64 + self.step.y * j as f64 + self.step.z * k as f64
    }

    pub(crate) fn flipped(&self) -> Self {
        Self { at: -self.at, step: -self.step }
    }

    /// The least value in a box.
    fn least(&self, nodes: &NodeBox) -> f64 {
        self.value(std::array::from_fn(|a| {
            if self.step[a] > 0.0 { nodes.low[a] } else { nodes.high[a] - 1 }
        }))
    }
}

/// A convex region: where all planes are zero or less.
pub(crate) struct Planes {
    /// It owns no node outside.
    pub(crate) nodes: NodeBox,
    planes: Vec<NodePlane>,
    /// Per plane where it bounds the nodes of a slab along j and those of a row along k.
    bounds: [Vec<Bound>; 2],
}

/// Where a plane, moved out by the margin, crosses a line of nodes: at `zero + step . n` for `n` of
/// the axes before, and which side of that is in.
struct Bound {
    zero: f64,
    step: [f64; 2],
    side: Side,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Below,
    Above,
    /// The line is along the plane: all of it is in where the crossing is above zero.
    All,
}

impl Bound {
    fn new(axis: usize, at: f64, step: &Vector3<f64>) -> Self {
        let along = step[axis];
        let side = match along.total_cmp(&0.0) {
            _ if along == 0.0 => Side::All,
            std::cmp::Ordering::Less => Side::Above,
            _ => Side::Below,
        };
        let scale = if along == 0.0 { -1.0 } else { -1.0 / along };
        Self { zero: at * scale, step: [step.x * scale, step.y * scale], side }
    }

    fn keep(&self, crossing: f64, range: &mut [f64; 2]) {
        match self.side {
            Side::Below => range[1] = if crossing < range[1] { crossing } else { range[1] },
            Side::Above => range[0] = if crossing > range[0] { crossing } else { range[0] },
            Side::All if crossing < 0.0 => range[1] = f64::NEG_INFINITY,
            Side::All => {}
        }
    }
}

/// The whole numbers in a range.
fn nodes([low, high]: [f64; 2]) -> Range<usize> {
    let (low, high) = (low.ceil(), high.floor());
    if low <= high { low as usize..high as usize + 1 } else { 0..0 }
}

impl Planes {
    /// `None` if one of the planes has all of `nodes` on its outside. A node up to `margin` metres
    /// out of the region counts as one of its own.
    pub(crate) fn new(planes: Vec<NodePlane>, nodes: NodeBox, margin: f64) -> Option<Self> {
        if nodes.len() == 0 || planes.iter().any(|plane| plane.least(&nodes) > margin) {
            return None;
        }
        let row = |p: &NodePlane| Bound::new(2, p.at - margin, &p.step);
        let slab = |p: &NodePlane| {
            let k = if p.step.z > 0.0 { nodes.low[2] } else { nodes.high[2] - 1 };
            Bound::new(1, p.value([0, 0, k]) - margin, &p.step)
        };
        let bounds = [planes.iter().map(slab).collect(), planes.iter().map(row).collect()];
        Some(Self { nodes, planes, bounds })
    }

    /// The plane that has this region below and `other` above, if it is one: regions that meet
    /// across an edge share two.
    pub(crate) fn towards(&self, other: &Self) -> Option<NodePlane> {
        let mut shared = self.planes.iter().filter(|plane| other.planes.contains(&plane.flipped()));
        shared.next().filter(|_| shared.next().is_none()).copied()
    }

    pub(crate) fn value(&self, node: [usize; 3]) -> f64 {
        self.planes.iter().map(|plane| plane.value(node)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Calls `found(j, ks)` for the rows of slab `i` that the region has nodes in, and those nodes;
    /// a node within the margin of the region is one of them.
    pub(crate) fn runs(&self, i: usize, mut found: impl FnMut(usize, Range<usize>)) {
        let NodeBox { low, high } = self.nodes;
        if !(low[0]..high[0]).contains(&i) {
            return;
        }
        let mut columns = [low[1] as f64, high[1] as f64 - 1.0];
        for bound in &self.bounds[0] {
            bound.keep(bound.zero + bound.step[0] * i as f64, &mut columns);
        }
        for j in nodes(columns) {
            let mut row = [low[2] as f64, high[2] as f64 - 1.0];
            for bound in &self.bounds[1] {
                let crossing = bound.zero + bound.step[0] * i as f64 + bound.step[1] * j as f64;
                bound.keep(crossing, &mut row);
            }
            let ks = nodes(row);
            if !ks.is_empty() {
                found(j, ks);
            }
        }
    }

    /// Writes the lesser of `slab`, the nodes of `nodes` in slab `i`, and the region's values.
    pub(crate) fn lower(&self, i: usize, nodes: &NodeBox, slab: &mut [f32], lines: &mut Lines) {
        let pitch = pitch(nodes);
        for j in (nodes.low[1]..nodes.high[1]).step_by(TILE_ROWS) {
            let start = (j - nodes.low[1]) * pitch;
            let end = slab.len().min(start + TILE_ROWS * pitch);
            for (n, k) in (nodes.low[2]..nodes.high[2]).step_by(LANES).enumerate() {
                self.keep_upper([i, j, k], lines);
                let rows = slab[start..end].chunks_exact_mut(pitch);
                for (row, values) in rows.enumerate() {
                    let mut most = [f32::NEG_INFINITY; LANES];
                    for &[at, dj, dk] in &*lines {
                        let (at, step) = ((at + dj * row as f64) as f32, dk as f32);
                        for (most, x) in most.iter_mut().zip(RAMP) {
                            let value = at + step * x;
                            *most = if value > *most { value } else { *most };
                        }
                    }
                    near::lower(&mut values[n * LANES..], &most);
                }
            }
        }
    }

    /// The planes that are uppermost somewhere in the tile from `node` on, as their values there and
    /// steps: of a region's dozen most tiles see one or two.
    fn keep_upper(&self, node: [usize; 3], lines: &mut Lines) {
        let middle = [(TILE_ROWS - 1) as f64 / 2.0, (LANES - 1) as f64 / 2.0];
        let mut bound = f64::NEG_INFINITY;
        lines.clear();
        for plane in &self.planes {
            let at = plane.value(node);
            let [y, z] = [plane.step.y, plane.step.z];
            let centre = at + y * middle[0] + z * middle[1];
            let radius = y.abs() * middle[0] + z.abs() * middle[1];
            if centre + radius >= bound {
                bound = bound.max(centre - radius);
                lines.push([at, y, z]);
            }
        }
        lines.retain(|[at, y, z]| {
            let centre = at + y * middle[0] + z * middle[1];
            centre + (y.abs() * middle[0] + z.abs() * middle[1]) >= bound
        });
    }
}

/// Nodes that are computed at once, along k and along j.
const LANES: usize = 16;
const TILE_ROWS: usize = 8;
const RAMP: [f32; LANES] = [0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12., 13., 14., 15.];

/// Working space of [`Planes::lower`].
pub(crate) type Lines = Vec<[f64; 3]>;

/// How far the rows of a slab of `nodes` are apart: whole lanes.
pub(crate) fn pitch(nodes: &NodeBox) -> usize {
    nodes.dims()[2].next_multiple_of(LANES)
}
