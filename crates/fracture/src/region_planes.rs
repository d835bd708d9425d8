//! Planes between regions.

use levelset::Grid;
use nalgebra::Vector3;

use crate::cut::{Edges, Pair};
use crate::near_region::NearRegion;
use crate::planes::NodePlane;

/// Least share of a cut per edge: an edge along a plane crosses it only by round-off.
pub(crate) const MIN_COSINE: f64 = 1e-3;

/// The planes between pieces.
pub(crate) struct RegionPlanes {
    /// One per pair.
    of_pairs: Vec<Option<RegionPlane>>,
    /// For each region the adjacent regions of higher index, each with the index of their pair.
    by_region: Vec<Vec<(u32, u32)>>,
}

/// The plane between two regions.
pub(crate) struct RegionPlane {
    /// The region that is below.
    below: u32,
    plane: NodePlane,
    /// The axis nearest to the normal. The edges along one axis cross a plane on a lattice with
    /// steps (1, 0, a) and (0, 1, b), where |a|, |b| <= 1 if it is this axis: no point of the plane
    /// is farther than sqrt(3) / 2 spacings from one of them.
    pub(crate) nearest: usize,
    /// For each axis the factor from the value at an edge's lower end to the share of the edge up
    /// to the plane; 0 for an axis along the plane.
    scales: [f64; 3],
    /// Cosines of the angles between the normal and the axes.
    cosines: [f64; 3],
}

/// Area of a cut, m^2, and its first moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Section {
    pub(crate) area: f64,
    pub(crate) moment: Vector3<f64>,
    /// Area times normal, from the first piece of the pair to the second, m^2.
    pub(crate) vector: Vector3<f64>,
}

impl Section {
    /// The same seen from the other side.
    pub(crate) fn reversed(self) -> Self {
        Self { vector: -self.vector, ..self }
    }
}

impl std::ops::AddAssign for Section {
    fn add_assign(&mut self, other: Self) {
        self.area += other.area;
        self.moment += other.moment;
        self.vector += other.vector;
    }
}

impl RegionPlanes {
    /// `spacing` is that of the nodes, m.
    pub(crate) fn new(near: &[Option<NearRegion>], pairs: &[Pair], spacing: f64) -> Self {
        let mut by_region: Vec<Vec<(u32, u32)>> = near.iter().map(|_| Vec::new()).collect();
        let region_plane = |&Pair { regions, .. }: &Pair| {
            let [a, b] = regions.map(|region| near[region as usize].as_ref());
            Some(RegionPlane::new(regions[0], a?.towards(b?)?, spacing))
        };
        for (pair, Pair { regions: [a, b], .. }) in (0..).zip(pairs) {
            by_region[*a.min(b) as usize].push((*a.max(b), pair));
        }
        Self { of_pairs: pairs.iter().map(region_plane).collect(), by_region }
    }

    pub(crate) fn of(&self, pair: u32) -> Option<&RegionPlane> {
        self.of_pairs[pair as usize].as_ref()
    }

    pub(crate) fn between(&self, [a, b]: [u32; 2]) -> Option<&RegionPlane> {
        let mut meeting = self.by_region[a.min(b) as usize].iter();
        let (_, pair) = meeting.find(|(other, _)| *other == a.max(b))?;
        self.of(*pair)
    }
}

impl RegionPlane {
    fn new(below: u32, plane: NodePlane, spacing: f64) -> Self {
        let steps: [f64; 3] = plane.step.into();
        let rises = |step: f64| step.abs() > 1e-9 * spacing;
        Self {
            below,
            plane,
            nearest: plane.step.iamax(),
            scales: steps.map(|step| if rises(step) { -1.0 / step } else { 0.0 }),
            cosines: steps.map(|step| (step.abs() / spacing).clamp(MIN_COSINE, 1.0)),
        }
    }

    /// Half the signed distance to a region minus that to the other.
    pub(crate) fn value(&self, region: u32, node: [usize; 3]) -> f64 {
        let value = self.plane.value(node);
        if region == self.below { value } else { -value }
    }

    /// Intersection of the edge from a node along an axis with the plane, as a share of it.
    pub(crate) fn crossing(&self, axis: usize, node: [usize; 3]) -> f64 {
        (self.plane.value(node) * self.scales[axis]).clamp(0.0, 1.0)
    }

    /// The section of the cut by edges of a grid, each with a share of a cell's face as large as
    /// the cosine between the edge and the normal.
    pub(crate) fn section(&self, edges: &[Edges; 3], grid: &Grid) -> Section {
        let h = grid.spacing();
        let mut section = Section::default();
        for (axis, edges) in edges.iter().enumerate() {
            let (count, sums) = (edges.count as f64, Vector3::from(edges.sums.map(|x| x as f64)));
            // crossings are linear in the node: one evaluation gives the sum over all edges
            let value = count * self.plane.at + self.plane.step.dot(&sums);
            let mut at = grid.origin().coords * count + sums * h;
            at[axis] += (value * self.scales[axis]).clamp(0.0, count) * h;
            let area = h * h * self.cosines[axis];
            section.area += area * count;
            section.moment += at * area;
        }
        // the first region of the pair is below
        let normal = self.plane.step.try_normalize(0.0).unwrap_or_default();
        Section { vector: normal * section.area, ..section }
    }
}
