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

/// The insides of meshes, and the box around them.
fn solids(meshes: &[TriMesh], spacing: f64) -> Result<(Vec<LevelSet>, Aabb), PatternError> {
    check_count(meshes.len())?;
    check("spacing", spacing, spacing > 0.0, "positive")?;
    let points = meshes.iter().flat_map(|mesh| &mesh.vertices);
    let bounds = Aabb::around(points).unwrap_or(Pattern::REACH);
    // for its limit and its lattice only
    let whole = Grid::enclosing(&bounds, spacing, 3, Pattern::MAX_SAMPLES)?;
    let solids = meshes.par_iter().enumerate().map(|(region, mesh)| {
        LevelSet::from_mesh(mesh, around_mesh(&whole, mesh), Sign::Winding)
            .map_err(|error| PatternError::Mesh { region, error })
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
fn fitted(solids: &[LevelSet], region: usize, near: f64) -> LevelSet {
    let own = &solids[region];
    let grid = *own.grid();
    let others = by_distance(solids, region);
    LevelSet::from_fn(grid, |p| {
        let value = own.value(&p);
        if value.abs() > near {
            return value;
        }
        let mut nearest = f64::INFINITY;
        for (least, bounds, other) in &others {
            // no value outside a box is less than the distance to it
            if *least >= nearest {
                break;
            }
            if (p - bounds.clamp(&p)).norm_squared() < nearest * nearest || nearest < 0.0 {
                nearest = nearest.min(other.value(&p));
            }
        }
        // alone, there is no other to leave anything to
        if nearest.is_finite() { (value - nearest) / 2.0 } else { value }
    })
}

/// The other solids with their boxes, those nearest to the box of one first, and how far they are
/// from it at the least.
fn by_distance(solids: &[LevelSet], region: usize) -> Vec<(f64, Aabb, &LevelSet)> {
    let own = solids[region].grid().bounds();
    let all = solids.iter().enumerate().filter(|(index, _)| *index != region);
    let mut others: Vec<_> = all
        .map(|(_, other)| {
            let bounds = other.grid().bounds();
            let gap =
                |a: usize| (bounds.min[a] - own.max[a]).max(own.min[a] - bounds.max[a]).max(0.0);
            let [x, y, z] = [0, 1, 2].map(gap);
            ((x * x + y * y + z * z).sqrt(), bounds, other)
        })
        .collect();
    others.sort_by(|a, b| a.0.total_cmp(&b.0));
    others
}
