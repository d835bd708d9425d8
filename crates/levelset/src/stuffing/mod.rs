//! Isosurface stuffing (Labelle and Shewchuk 2007): tetrahedra of guaranteed shape in a level set.
//!
//! Space is filled with a body-centred cubic lattice. Lattice points very close to the surface are
//! moved onto it; tetrahedra that it still crosses are cut. Dihedral angles stay within 10.7 and
//! 164.8 degrees whatever the surface. Deep inside, cells join into octants of doubling size.

mod cut;
mod lattice;
mod octants;

use crate::{Aabb, Grid, GridError, LevelSet, TetMesh};
use cut::Cutter;
use lattice::Lattice;
use octants::Octants;

/// How to fill a level set with tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stuffing {
    /// Edge of the lattice's cells at the surface, m.
    pub spacing: f64,
    /// How often cells may double away from the surface; 0 gives tetrahedra of one size.
    pub doublings: u8,
    /// Most lattice cells to allow.
    pub limit: usize,
}

impl TetMesh {
    /// Fills the inside of a level set with tetrahedra by isosurface stuffing (Labelle and Shewchuk
    /// 2007); the mesh is empty if nothing is inside.
    ///
    /// Features thinner than about two spacings may be lost: [`TetMesh::deviation`] tells.
    ///
    /// # Errors
    /// [`GridError`] when the spacing is no positive number or the lattice passes the limit.
    pub fn stuffed(level_set: &LevelSet, stuffing: &Stuffing) -> Result<Self, GridError> {
        let Some((low, high)) = level_set.inside_range() else { return Ok(Self::default()) };
        let at = |node| level_set.grid().position(node);
        // the surface is less than a node beyond the last one inside
        let bounds = Aabb { min: at(low), max: at(high) }.grown(level_set.grid().spacing());
        let grid = Grid::enclosing(&bounds, stuffing.spacing, 2, stuffing.limit)?;
        let lattice = Lattice::new(level_set, grid);
        let octants = Octants::new(&lattice, stuffing.doublings);
        let mut cutter = Cutter::new(&lattice);
        octants.for_each_tet(|corners| cutter.add(corners));
        Ok(cutter.into_mesh())
    }

    /// [`TetMesh::stuffed`] with the spacing, among those tried, that comes nearest to `count`
    /// tetrahedra; `stuffing.spacing` is not looked at.
    ///
    /// Counts jump as the lattice moves over the surface, by some percent for some thousand
    /// tetrahedra.
    ///
    /// # Errors
    /// As [`TetMesh::stuffed`]; the lattice may have at most a thousand points for each tetrahedron
    /// that is asked for, and 2^20.
    pub fn stuffed_to_count(
        level_set: &LevelSet,
        count: usize,
        stuffing: &Stuffing,
    ) -> Result<Self, GridError> {
        const STEPS: usize = 6;
        const AROUND: i32 = 60;
        // points of the lattice for each tetrahedron, and some for small counts: solids that fill a
        // thousandth of their box need no more, and samples that are inside by round-off have no end
        const POINTS: usize = 1000;
        const FEW_POINTS: usize = 1 << 20;
        let volume = level_set.moments().volume;
        if volume <= 0.0 {
            return Self::stuffed(level_set, stuffing);
        }
        let limit = stuffing.limit.min(POINTS.saturating_mul(count).saturating_add(FEW_POINTS));
        let with = |spacing| Self::stuffed(level_set, &Stuffing { spacing, limit, ..*stuffing });
        // a lattice cell of two points holds twelve tetrahedra
        let mut spacing = (12.0 * volume / count.max(1) as f64).cbrt();
        for _ in 0..STEPS {
            let ratio = with(spacing)?.tets.len().max(1) as f64 / count.max(1) as f64;
            spacing *= ratio.cbrt().clamp(0.5, 2.0);
        }
        // counts go up and down about there
        let mut best = with(spacing)?;
        for step in -AROUND..=AROUND {
            if 1000 * best.tets.len().abs_diff(count) <= count {
                break;
            }
            let mesh = with(spacing * (1.0 + 0.0025 * f64::from(step)))?;
            if mesh.tets.len().abs_diff(count) < best.tets.len().abs_diff(count) {
                best = mesh;
            }
        }
        Ok(best)
    }
}
