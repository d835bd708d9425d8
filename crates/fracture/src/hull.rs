//! Exact hulls of fragments of convex bodies.

use levelset::{ConvexHull, TriMesh};
use rayon::prelude::*;

use crate::cell::{Cell, Plane};
use crate::field::NodeBox;
use crate::planes::{Nearest, NodePlane, Planes};
use crate::region::Region;
use crate::{Alignment, Fragment, Pattern, Shattered};

/// Share of the body's size by which corners differ that count as one.
const SAME: f64 = 1e-10;
/// Share of the spacing by which nodes may be off a face and count to either side of it.
const ON: f64 = 1e-3;

impl Shattered {
    /// Per fragment its convex hull, m, in the parent's material space, if it has one.
    ///
    /// Of a convex parent with the hull `parent` the pattern's convex cells cut out convex pieces: the
    /// hull of each is the parent's behind the cell's planes (clipping as of Sutherland and Hodgman
    /// 1974). Neighbours share those planes and overlap by rounding only, and volumes add up to that of
    /// the parent, but for spikes: where a fragment is too thin for samples its hull ends with their grid,
    /// two cells beyond the last of them. `pattern` and `at` are those that the body was shattered by.
    ///
    /// There is none for a fragment of several regions, or of one that other fragments hold a part of,
    /// nor for one of a region that is not a convex cell. And the hull must be that of the samples: it
    /// holds the nodes that the fragment does, give or take those on its faces. As that is all that
    /// samples tell of a solid, a `parent` that is not the parent's hull gives none that is wrong.
    /// (Volumes would tell less: counting the nodes of a plate five cells thick errs by a fifth.)
    pub fn hulls(
        &self,
        parent: &ConvexHull,
        pattern: &Pattern,
        at: &Alignment,
    ) -> Vec<Option<ConvexHull>> {
        let mut holders = vec![0_u32; pattern.region_count()];
        for region in self.fragments.iter().flat_map(|fragment| &fragment.regions) {
            if let Some(holders) = holders.get_mut(*region) {
                *holders += 1;
            }
        }
        let whole = Cell::of(parent.mesh());
        let size = parent.bounds().extents().norm();
        let to_material = at.transform();
        let hull = |fragment: &Fragment| {
            let [region] = *fragment.regions else { return None };
            let Some(Region::Cell(cell)) = pattern.regions().get(region) else { return None };
            if holders[region] != 1 {
                return None;
            }
            let planes = cell.planes().iter().map(|plane| plane.transformed(&to_material));
            let part = planes.fold(whole.clone(), |part, plane| part.behind(&plane));
            let part = part.within(&fragment.level_set.grid().bounds());
            let corners: Vec<_> = part.corners().copied().collect();
            let hull = ConvexHull::simplified(&corners, SAME * size).ok()?;
            holds_the_nodes_of(&hull, fragment).then_some(hull)
        };
        self.fragments.par_iter().map(hull).collect()
    }
}

/// Whether the inside nodes of a fragment are those in a hull, where any that are on its faces may or
/// may not be.
fn holds_the_nodes_of(hull: &ConvexHull, fragment: &Fragment) -> bool {
    let (grid, samples) = (fragment.level_set.grid(), fragment.level_set.as_slice());
    let all = NodeBox { low: [0; 3], high: grid.dims() };
    let wanted = vec![0..all.high[2]; all.high[1]];
    let planes: Vec<_> =
        planes(hull.mesh()).iter().map(|plane| NodePlane::new(plane, grid)).collect();
    let margin = ON * grid.spacing();
    let within = |margin: f64, seen: &mut dyn FnMut(&[f32])| {
        let Some(hull) = Planes::new(planes.clone(), all, margin) else { return };
        let mut nearest = Nearest::default();
        for i in 0..all.high[0] {
            hull.runs(i, &wanted, &mut nearest, |j, ks| {
                let row = grid.index([i, j, 0]);
                seen(&samples[row + ks.start..row + ks.end]);
            });
        }
    };
    let held = |row: &[f32]| row.iter().filter(|&&sample| sample < 0.0).count();
    let (mut others, mut own) = (0, 0);
    within(-margin, &mut |row| others += row.len() - held(row));
    within(margin, &mut |row| own += held(row));
    others == 0 && own == held(samples)
}

/// The planes of triangles; slivers have none.
fn planes(mesh: &TriMesh) -> Vec<Plane> {
    let plane = |n: usize| {
        let [a, b, c] = mesh.corners(n);
        let normal = (b - a).cross(&(c - a));
        let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
        let clear = normal.norm() > 1e-9 * longest * longest;
        clear.then(|| Plane::through(&a, normal))
    };
    (0..mesh.triangles.len()).filter_map(plane).collect()
}
