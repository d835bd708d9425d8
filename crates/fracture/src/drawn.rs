//! Drawn patterns: a closed mesh per region, or an image.

use std::collections::BTreeSet;
use std::ops::Range;

use levelset::{Aabb, Grid, LevelSet, Sign, TriMesh, total_order};
use nalgebra::Point3;
use ndarray::{Array2, Array3, Slice, Zip};
use rayon::prelude::*;

use crate::pattern::{check, check_count};
use crate::region::{Region, Sampled};
use crate::{Pattern, PatternError};

/// Cells around its surface in which a part is fitted to others. Gradients at samples next to a
/// surface use those two cells away.
const NEAR: f64 = 2.5;
/// Width of the band of [`LevelSet::band_from_mesh`], in cells.
const BAND: f64 = 3.0;

impl Pattern {
    /// One region per mesh (Su09 section 4.3), sampled `spacing` pattern units apart; the fracture
    /// center is the meshes' origin.
    ///
    /// Meshes need not fit: a gap or an overlap is divided between the adjacent regions. Beyond the
    /// meshes, the outermost regions extend outward. Signs are by winding number, so that open or
    /// self-intersecting meshes are valid.
    ///
    /// # Errors
    /// [`PatternError`] if a mesh has no signed distance, or the spacing gives no grid of at most
    /// [`Pattern::MAX_SAMPLES`].
    pub fn from_meshes(meshes: &[TriMesh], spacing: f64) -> Result<Self, PatternError> {
        let (solids, bounds) = solids(meshes, spacing, Reach::Space)?;
        let regions = (0..solids.len())
            .into_par_iter()
            .map(|region| Region::Sampled(Sampled::new(&fitted(&solids, region), bounds)));
        Self::new(regions.collect())
    }

    /// [`Pattern::from_meshes`] for meshes that fit without gaps and overlaps, such as the parts of
    /// a cut mesh. It is much faster: they are fitted near their surfaces only.
    ///
    /// # Errors
    /// As [`Pattern::from_meshes`].
    pub fn from_parts(meshes: &[TriMesh], spacing: f64) -> Result<Self, PatternError> {
        let (solids, bounds) = solids(meshes, spacing, Reach::Band)?;
        let along = Along::new(&solids);
        let regions = (0..solids.len()).into_par_iter().map(|region| {
            Region::Sampled(Sampled::new(&fitted_near(&solids, &along, region), bounds))
        });
        Self::new(regions.collect())
    }

    /// A cut-out: one region per distinct entry of `picture`, in ascending order, constant along
    /// the normal.
    ///
    /// `picture[[row, column]]` is a pixel, rows along z and columns along x; the image is `width`
    /// pattern units wide, its center at the fracture center, and extends outward at its edges.
    ///
    /// # Errors
    /// [`PatternError`] if the image has less than 2 x 2 pixels, more than [`Pattern::MAX_SAMPLES`]
    /// / 2, or too many regions.
    pub fn from_picture(picture: &Array2<u32>, width: f64) -> Result<Self, PatternError> {
        check("width", width, width > 0.0, "positive")?;
        let (rows, columns) = picture.dim();
        for (name, count) in [("rows of pixels", rows), ("columns of pixels", columns)] {
            check(name, count as f64, count >= 2, "at least 2")?;
        }
        let spacing = width / columns as f64;
        let half = |n: usize| (n as f64 - 1.0) / 2.0 * spacing;
        let origin = Point3::new(-half(columns), -spacing / 2.0, -half(rows));
        let grid = Grid::new(origin, spacing, [columns, 2, rows], Self::MAX_SAMPLES)?;
        let labels: BTreeSet<u32> = picture.iter().copied().collect();
        check_count(labels.len())?;
        let labels: Vec<u32> = labels.into_iter().collect();
        let regions = labels.par_iter().map(|&label| {
            let values = Array3::from_shape_fn((columns, 2, rows), |(x, _, z)| {
                let half = spacing as f32 / 2.0;
                if picture[[z, x]] == label { -half } else { half }
            });
            let level_set = LevelSet::from_values(grid, values).redistanced();
            Region::Sampled(Sampled::new(&level_set, grid.bounds()))
        });
        Self::new(regions.collect())
    }
}

/// The inside of a mesh.
struct Solid {
    level_set: LevelSet,
    /// Node of the common lattice that is the first node of `level_set`.
    first: [usize; 3],
    /// Bounding box of the mesh. Outside, the distance to the box is a lower bound of the sampled
    /// distance: it is convex, so that trilinear interpolation is no smaller.
    bounds: Aabb,
}

impl Solid {
    /// The nodes of the common lattice along an axis that `level_set` holds.
    fn nodes(&self, axis: usize) -> Range<usize> {
        self.first[axis]..self.first[axis] + self.level_set.grid().dims()[axis]
    }
}

/// Where distances to the meshes are needed.
#[derive(Clone, Copy, Debug)]
enum Reach {
    /// In the band around each surface only.
    Band,
    /// Everywhere.
    Space,
}

/// The insides of meshes, and their common bounding box. The grids are parts of one lattice.
fn solids(
    meshes: &[TriMesh],
    spacing: f64,
    reach: Reach,
) -> Result<(Vec<Solid>, Aabb), PatternError> {
    check_count(meshes.len())?;
    check("spacing", spacing, spacing > 0.0, "positive")?;
    let points = meshes.iter().flat_map(|mesh| &mesh.vertices);
    let all = Aabb::around(points).unwrap_or(Pattern::REACH);
    // only for its limit and its lattice
    let lattice = Grid::enclosing(&all, spacing, 3, Pattern::MAX_SAMPLES)?;
    let solids = meshes.par_iter().enumerate().map(|(region, mesh)| {
        let bounds = Aabb::around(&mesh.vertices).unwrap_or(all);
        let margin = match reach {
            Reach::Band => BAND,
            Reach::Space => 2.0 * BAND,
        };
        let near = bounds.grown(margin * spacing);
        let (first, _) = lattice.locate(&near.min);
        let (last, _) = lattice.locate(&near.max);
        let grid = lattice.subgrid(first, last.map(|n| n + 1));
        let invalid = |error| PatternError::Mesh { region, error };
        mesh.validate().map_err(invalid)?;
        // seams of normals or texture coordinates are no open edges, whose solid angles are slow
        let mesh = mesh.welded();
        let sampled = match reach {
            Reach::Band => LevelSet::band_from_mesh(&mesh, grid, Sign::Winding),
            Reach::Space => LevelSet::from_mesh(&mesh, grid, Sign::Winding),
        };
        let level_set = sampled.map_err(invalid)?;
        Ok::<_, PatternError>(Solid { level_set, first, bounds })
    });
    Ok((solids.collect::<Result<_, _>>()?, all))
}

/// A region's level set, shifted so that its zero is halfway between its own surface and the
/// nearest other one: all of them then divide space.
fn fitted(solids: &[Solid], region: usize) -> LevelSet {
    let own = &solids[region].level_set;
    let others = by_distance(solids, region);
    LevelSet::from_fn(*own.grid(), |p| {
        let mut nearest = f64::INFINITY;
        for Other { least, solid } in &others {
            if *least >= nearest {
                break;
            }
            // inside a box the distance may be negative
            let gap = (p - solid.bounds.clamp(&p)).norm_squared();
            if gap == 0.0 || (nearest > 0.0 && gap < nearest * nearest) {
                nearest = nearest.min(solid.level_set.value(&p));
            }
        }
        halfway(own.value(&p), nearest)
    })
}

/// Solids in the order of their first nodes along the longest axis of the lattice. Few of many
/// share nodes with a given one.
struct Along {
    axis: usize,
    order: Vec<usize>,
    /// Most nodes of a solid along the axis.
    longest: usize,
}

impl Along {
    fn new(solids: &[Solid]) -> Self {
        let end = |axis: usize| solids.iter().map(|solid| solid.nodes(axis).end).max();
        let axis = (0..3).max_by_key(|&axis| end(axis)).unwrap_or_default();
        let mut order: Vec<usize> = (0..solids.len()).collect();
        order.sort_by_cached_key(|&n| solids[n].nodes(axis).start);
        let longest = solids.iter().map(|solid| solid.nodes(axis).len()).max().unwrap_or_default();
        Self { axis, order, longest }
    }

    /// The solids that may share nodes with a region.
    fn others(&self, solids: &[Solid], region: usize) -> &[usize] {
        let own = solids[region].nodes(self.axis);
        let before = |limit: usize| {
            self.order.partition_point(|&n| solids[n].nodes(self.axis).start < limit)
        };
        &self.order[before((own.start + 1).saturating_sub(self.longest))..before(own.end)]
    }
}

/// [`fitted`] for meshes without gaps: only vertices within [`NEAR`] cells of the region's surface
/// move, and other surfaces count up to [`BAND`] cells away.
fn fitted_near(solids: &[Solid], along: &Along, region: usize) -> LevelSet {
    let own = &solids[region];
    let grid = *own.level_set.grid();
    let far = if solids.len() == 1 { f64::INFINITY } else { BAND * grid.spacing() };
    let mut nearest = Array3::from_elem(grid.dims(), far as f32);
    for other in along.others(solids, region).iter().filter(|n| **n != region).map(|&n| &solids[n])
    {
        let shared = [0, 1, 2].map(|axis| {
            let (mine, theirs) = (own.nodes(axis), other.nodes(axis));
            mine.start.max(theirs.start)..mine.end.min(theirs.end)
        });
        if shared.iter().any(Range::is_empty) {
            continue;
        }
        let within = |solid: &Solid| {
            let first = solid.first;
            [0, 1, 2].map(|a| Slice::from(shared[a].start - first[a]..shared[a].end - first[a]))
        };
        let (mine, theirs) = (within(own), within(other));
        let values = other.level_set.values().slice_each_axis(|axis| theirs[axis.axis.index()]);
        Zip::from(nearest.slice_each_axis_mut(|axis| mine[axis.axis.index()]))
            .and(&values)
            .for_each(|nearest, value| *nearest = nearest.min(*value));
    }
    let near = (NEAR * grid.spacing()) as f32;
    Zip::from(&mut nearest).and(own.level_set.values()).for_each(|nearest, &value| {
        let moved = halfway(value.into(), (*nearest).into()) as f32;
        *nearest = if value.abs() > near { value } else { moved };
    });
    LevelSet::from_values(grid, nearest)
}

/// Half of the distance from `own` surface less half of that from the nearest other, if there is
/// one.
fn halfway(own: f64, nearest: f64) -> f64 {
    if nearest.is_finite() { (own - nearest) / 2.0 } else { own }
}

/// Another solid, and a lower bound of the distance of its box from the region, m.
struct Other<'s> {
    least: f64,
    solid: &'s Solid,
}

/// The other solids in ascending order of the distance between their boxes and the region's grid.
fn by_distance(solids: &[Solid], region: usize) -> Vec<Other<'_>> {
    let domain = solids[region].level_set.grid().bounds();
    let all = solids.iter().enumerate().filter(|(index, _)| *index != region);
    let mut others: Vec<_> = all
        .map(|(_, solid)| {
            let Aabb { min, max } = solid.bounds;
            let gap = |a: usize| (min[a] - domain.max[a]).max(domain.min[a] - max[a]).max(0.0);
            let [x, y, z] = [0, 1, 2].map(gap);
            Other { least: (x * x + y * y + z * z).sqrt(), solid }
        })
        .collect();
    others.sort_by_cached_key(|other| total_order(other.least));
    others
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::touching::tests::cuboid;

    /// Boxes that leave no gaps, of edges between 0.5 and 1.5.
    fn parts() -> Vec<TriMesh> {
        let at = |n: usize| [0.0, 0.7, 2.2, 2.9][n];
        let cells = (0..27).map(|n| [n % 3, n / 3 % 3, n / 9]);
        cells.map(|cell| cuboid(cell.map(at), cell.map(|n| at(n + 1)))).collect()
    }

    /// The signed distance to a box, m.
    fn distance(bounds: &Aabb, p: &Point3<f64>) -> f64 {
        let over = (p - bounds.center()).abs() - bounds.extents() / 2.0;
        over.sup(&nalgebra::Vector3::zeros()).norm() + over.max().min(0.0)
    }

    #[test]
    fn regions_end_half_way_to_the_nearest_other() {
        for (region, reach) in
            [(0, Reach::Band), (13, Reach::Band), (13, Reach::Space), (25, Reach::Space)]
        {
            let (solids, _) = solids(&parts(), 0.1, reach).unwrap();
            let (fitted, near) = match reach {
                Reach::Band => (fitted_near(&solids, &Along::new(&solids), region), NEAR * 0.1),
                Reach::Space => (fitted(&solids, region), f64::INFINITY),
            };
            let grid = fitted.grid();
            let (mut checked, mut off) = (0, 0.0_f64);
            for p in (0..grid.node_count()).map(|n| grid.position(grid.node(n))) {
                let value = distance(&solids[region].bounds, &p);
                let others = solids.iter().enumerate().filter(|(n, _)| *n != region);
                let least = others.map(|(_, other)| distance(&other.bounds, &p));
                let nearest = least.fold(f64::INFINITY, f64::min);
                // beyond its grid a distance is a lower bound
                if value.abs() < near - 1e-3 && nearest < BAND * 0.1 {
                    off = off.max((fitted.value(&p) - (value - nearest) / 2.0).abs());
                    checked += 1;
                }
            }
            assert!(checked > 500, "{checked}");
            // samples next to a surface are exact; others are swept, with an error of a few percent
            // of a cell
            assert!(off < 0.03 * grid.spacing(), "{region}, {reach:?}: {off}");
        }
    }
}
