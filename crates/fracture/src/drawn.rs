//! Patterns an artist draws: a closed mesh per region, or a picture.

use std::collections::BTreeSet;

use levelset::{Aabb, Grid, LevelSet, Sign, TriMesh};
use nalgebra::Point3;
use ndarray::{Array2, Array3};
use rayon::prelude::*;

use crate::pattern::{check, check_count};
use crate::region::{Region, Sampled};
use crate::{Pattern, PatternError};

impl Pattern {
    /// One region per mesh (Su09 section 4.3), sampled `spacing` pattern units apart; the fracture
    /// centre is the meshes' origin.
    ///
    /// Meshes need not fit: a gap or an overlap is divided between the regions next to it. Beyond
    /// the meshes, the outermost regions go on outward. Signs are by winding number, so that open
    /// or self-intersecting meshes do.
    ///
    /// # Errors
    /// [`PatternError`] when a mesh has no signed distance, or the spacing makes no grid of at most
    /// [`Pattern::MAX_SAMPLES`].
    pub fn from_meshes(meshes: &[TriMesh], spacing: f64) -> Result<Self, PatternError> {
        let (solids, bounds) = solids(meshes, spacing)?;
        let regions = (0..solids.len()).into_par_iter().map(|region| {
            let fitted = fitted(&solids, region, f64::INFINITY);
            Region::Sampled(Sampled::new(&fitted, bounds))
        });
        Self::new(regions.collect())
    }

    /// As [`Pattern::from_meshes`], of meshes that fit each other without gaps and overlaps, such as
    /// the parts of a mesh that was cut, which is much faster: they are fitted near their surfaces only.
    ///
    /// # Errors
    /// As [`Pattern::from_meshes`].
    pub fn from_parts(meshes: &[TriMesh], spacing: f64) -> Result<Self, PatternError> {
        let (solids, bounds) = solids(meshes, spacing)?;
        let regions = (0..solids.len()).into_par_iter().map(|region| {
            let fitted = fitted(&solids, region, 3.0 * spacing);
            Region::Sampled(Sampled::new(&fitted, bounds))
        });
        Self::new(regions.collect())
    }

    /// A cut-out: one region per distinct entry of `picture`, in ascending order, the same at every
    /// depth along the normal.
    ///
    /// `picture[[row, column]]` is a pixel, rows along z and columns along x; the picture is
    /// `width` pattern units wide, its middle on the fracture centre, and its rim goes on outward.
    ///
    /// # Errors
    /// [`PatternError`] when the picture has less than 2 x 2 pixels, more than
    /// [`Pattern::MAX_SAMPLES`] / 2, or too many regions.
    pub fn from_picture(picture: &Array2<u32>, width: f64) -> Result<Self, PatternError> {
        check("width", width, width > 0.0, "positive")?;
        let (rows, columns) = picture.dim();
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
    /// Bounding box of the mesh. Outside, the distance to the box is a lower bound of the sampled distance: it is
    /// convex, so that trilinear interpolation is no smaller.
    bounds: Aabb,
}

/// The insides of meshes, and the box around them.
fn solids(meshes: &[TriMesh], spacing: f64) -> Result<(Vec<Solid>, Aabb), PatternError> {
    check_count(meshes.len())?;
    check("spacing", spacing, spacing > 0.0, "positive")?;
    let points = meshes.iter().flat_map(|mesh| &mesh.vertices);
    let bounds = Aabb::around(points).unwrap_or(Pattern::REACH);
    // for its limit and its lattice only
    let whole = Grid::enclosing(&bounds, spacing, 3, Pattern::MAX_SAMPLES)?;
    let solids = meshes.par_iter().enumerate().map(|(region, mesh)| {
        let level_set = LevelSet::from_mesh(mesh, around_mesh(&whole, mesh), Sign::Winding)
            .map_err(|error| PatternError::Mesh { region, error })?;
        let bounds = Aabb::around(&mesh.vertices).unwrap_or(Pattern::REACH);
        Ok::<_, PatternError>(Solid { level_set, bounds })
    });
    Ok((solids.collect::<Result<_, _>>()?, bounds))
}

/// The part of `whole` around a mesh.
fn around_mesh(whole: &Grid, mesh: &TriMesh) -> Grid {
    let Some(bounds) = Aabb::around(&mesh.vertices) else { return *whole };
    let bounds = bounds.grown(6.0 * whole.spacing());
    let (low, _) = whole.locate(&bounds.min);
    let (high, _) = whole.locate(&bounds.max);
    whole.part(low, high.map(|n| n + 1))
}

/// A region's level set, moved so that its zero is halfway between its own surface and the nearest
/// other's: all of them then divide space between them. What is farther than `near` from its own
/// surface stays.
fn fitted(solids: &[Solid], region: usize, near: f64) -> LevelSet {
    let own = &solids[region].level_set;
    let grid = *own.grid();
    let others = by_distance(solids, region, near);
    LevelSet::from_fn(grid, |p| {
        let value = own.value(&p);
        if value.abs() > near {
            return value;
        }
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
        // alone, there is no other to leave anything to
        if nearest.is_finite() { (value - nearest) / 2.0 } else { value }
    })
}

/// Another solid, and how far its box is at least from where a region is fitted, m.
struct Other<'s> {
    least: f64,
    solid: &'s Solid,
}

/// The other solids in ascending order of the distance between their boxes and the region within `near` of the
/// surface of one.
fn by_distance(solids: &[Solid], region: usize, near: f64) -> Vec<Other<'_>> {
    let grid = solids[region].level_set.grid();
    // interpolation is off by less than a cell
    let (domain, fitted) = (grid.bounds(), solids[region].bounds.grown(near + grid.spacing()));
    let all = solids.iter().enumerate().filter(|(index, _)| *index != region);
    let mut others: Vec<_> = all
        .map(|(_, solid)| {
            let Aabb { min, max } = solid.bounds;
            let gap = |axis: usize| {
                let low = domain.min[axis].max(fitted.min[axis]);
                let high = domain.max[axis].min(fitted.max[axis]);
                (min[axis] - high).max(low - max[axis]).max(0.0)
            };
            let [x, y, z] = [0, 1, 2].map(gap);
            Other { least: (x * x + y * y + z * z).sqrt(), solid }
        })
        .collect();
    others.sort_by(|a, b| a.least.total_cmp(&b.least));
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
        let over = (p - bounds.centre()).abs() - bounds.extents() / 2.0;
        over.sup(&nalgebra::Vector3::zeros()).norm() + over.max().min(0.0)
    }

    #[test]
    fn regions_end_half_way_to_the_nearest_other() {
        let (solids, _) = solids(&parts(), 0.1).unwrap();
        for (region, near) in [(0, 0.3), (13, 0.3), (13, f64::INFINITY), (25, f64::INFINITY)] {
            let fitted = fitted(&solids, region, near);
            let grid = fitted.grid();
            let (mut checked, mut off) = (0, 0.0_f64);
            for p in (0..grid.node_count()).map(|n| grid.position(grid.node(n))) {
                let value = distance(&solids[region].bounds, &p);
                let others = solids.iter().enumerate().filter(|(n, _)| *n != region);
                let least = others.map(|(_, other)| distance(&other.bounds, &p));
                let nearest = least.fold(f64::INFINITY, f64::min);
                // beyond its grid a distance is a lower bound
                if value.abs() < near - 1e-3 && nearest < 0.5 {
                    off = off.max((fitted.value(&p) - (value - nearest) / 2.0).abs());
                    checked += 1;
                }
            }
            assert!(checked > 500, "{checked}");
            // samples next to a surface are exact; others are swept, with an error of a few percent of a cell
            assert!(off < 0.03 * grid.spacing(), "{region}, {near}: {off}");
        }
    }
}
