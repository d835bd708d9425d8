//! OpenVDB level sets: one single-precision grid in a tree of 32, 16 and 8 nodes along each axis.

mod blosc;
mod layout;
mod read;
mod reader;
mod tree;
mod write;

use levelset::{Grid, LevelSet};
use nalgebra::Point3;
use ndarray::{Array3, s};

pub use self::layout::VdbError;
use self::layout::WIDTHS;
use self::read::{Found, find};
use self::tree::Part;
pub(super) use self::write::write;

/// Nodes added around the active voxels.
const MARGIN: i64 = 3;
/// Node limit: a constant plus a multiple of the file size, so that a small damaged file allocates
/// little. The ball of the tests has 0.4 nodes per byte.
const ANY_NODES: usize = 1 << 21;
const NODES_PER_BYTE: usize = 64;

/// Reads the first level set of a file. Its grid may have at most `limit` nodes, and at most 2^21
/// nodes plus 64 per byte of the file. Distances beyond the narrow band are recomputed.
///
/// # Errors
/// [`VdbError`] if the file is damaged, or contains no unrotated single-precision level set.
pub(super) fn read(bytes: &[u8], limit: usize) -> Result<LevelSet, VdbError> {
    let Found { tree, scale, origin } = find(bytes)?;
    let mut low = [i64::MAX; 3];
    let mut high = [i64::MIN; 3];
    let background = tree.clone().walk(&mut |part| {
        part.active(&mut |first, last| {
            for k in 0..3 {
                low[k] = low[k].min(first[k]);
                high[k] = high[k].max(last[k]);
            }
        });
        Ok(())
    })?;
    if low[0] > high[0] {
        return Err(VdbError::Unknown("holds no active voxels: save a level set".to_owned()));
    }
    if !(background > 0.0 && background.is_finite()) {
        let problem =
            "has a background that is not above 0: save signed distance, positive outside";
        return Err(VdbError::Unknown(problem.to_owned()));
    }
    let low = low.map(|n| n - MARGIN);
    let dims = [0, 1, 2].map(|k| (high[k] + MARGIN - low[k] + 1) as usize);
    let corner = Point3::from([0, 1, 2].map(|k| origin[k] + low[k] as f64 * scale));
    let limit = limit.min(ANY_NODES.saturating_add(bytes.len().saturating_mul(NODES_PER_BYTE)));
    let grid = Grid::new(corner, scale, dims, limit)
        .map_err(|e| VdbError::Unknown(format!("has a grid that cannot be made ({e})")))?;
    let mut values = Array3::from_elem(dims, background);
    tree.walk(&mut |part| fill(&mut values, low, &part))?;
    Ok(with_far(&LevelSet::from_values(grid, values), background))
}

/// Writes a part of a tree to samples, the first of which is at `low`.
fn fill(values: &mut Array3<f32>, low: [i64; 3], part: &Part<'_>) -> Result<(), VdbError> {
    let not_finite = VdbError::Damaged("a distance is not a finite number");
    let dims: [usize; 3] = values.dim().into();
    match part {
        Part::Tile { origin, size, value, .. } => {
            if !value.is_finite() {
                return Err(not_finite);
            }
            let clip = |at: i64, k: usize| (at - low[k]).clamp(0, dims[k] as i64) as usize;
            let range = |k: usize| clip(origin[k], k)..clip(origin[k] + size, k);
            values.slice_mut(s![range(0), range(1), range(2)]).fill(*value);
        }
        Part::Leaf { origin, values: own, .. } => {
            for (n, value) in own.iter().enumerate() {
                let at = tree::coordinates(n, WIDTHS[2]);
                let index = [0, 1, 2].map(|k| origin[k] + at[k] - low[k]);
                if (0..3).all(|k| (0..dims[k] as i64).contains(&index[k])) {
                    if !value.is_finite() {
                        return Err(not_finite);
                    }
                    values[index.map(|i| i as usize)] = *value;
                }
            }
        }
    }
    Ok(())
}

/// Replaces background samples by recomputed distances, which are at least as large.
fn with_far(solid: &LevelSet, background: f32) -> LevelSet {
    let far = solid.redistanced();
    let mut values = solid.values().to_owned();
    values.zip_mut_with(far.values(), |own, far| {
        if own.abs() >= background {
            *own = far.abs().max(background).copysign(*own);
        }
    });
    LevelSet::from_values(*solid.grid(), values)
}
