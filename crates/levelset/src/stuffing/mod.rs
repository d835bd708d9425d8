//! Isosurface stuffing (Labelle and Shewchuk 2007): tetrahedra of guaranteed shape in a level set.
//!
//! Space is filled with a body-centered cubic lattice. Lattice points very close to the surface are
//! moved onto it; tetrahedra that it still crosses are cut. Dihedral angles stay within 10.7 and
//! 164.8 degrees whatever the surface. Deep inside, cells join into octants of doubling size. Where
//! the solid is thin, cells are halved; tetrahedra between surface cells of two sizes are not that
//! well shaped.

mod cut;
mod lattice;
mod octants;
mod settings;
mod thin;

use crate::{Aabb, Grid, GridError, LevelSet, TetMesh};
use cut::Cutter;
use lattice::{Lattice, Sites, Values};
use octants::Octants;
pub use settings::Stuffing;
use thin::{REACHES, Thin};

impl TetMesh {
    /// Fills the inside of a level set with tetrahedra by isosurface stuffing (Labelle and Shewchuk
    /// 2007); the mesh is empty if nothing is inside.
    ///
    /// Cells of a size keep a part of the solid if balls with a radius of 0.6 cells that fit into
    /// the solid come within half a spacing of all of it. Cells that lose a part are halved, at
    /// most `stuffing.halvings` times: thinner parts may be lost; [`TetMesh::deviation`] measures
    /// this.
    ///
    /// # Errors
    /// [`GridError`] if the spacing is not positive or the lattice exceeds the limit.
    pub fn stuffed(level_set: &LevelSet, stuffing: &Stuffing) -> Result<Self, GridError> {
        let Some((low, high)) = level_set.inside_range() else { return Ok(Self::default()) };
        let at = |node| level_set.grid().position(node);
        // the surface is less than a node beyond the last one inside
        let bounds = Aabb { min: at(low), max: at(high) }.grown(level_set.grid().spacing());
        let grid = Grid::enclosing(&bounds, stuffing.spacing, 2, stuffing.limit)?;
        let mut mesh = Self::default();
        for reach in REACHES {
            let thin = Thin::new(level_set, &grid, stuffing, reach);
            mesh = filled(level_set, grid, &thin, stuffing.doublings);
            if stuffing.halvings == 0 || is_joined_as(&mesh, level_set) {
                break;
            }
        }
        Ok(mesh)
    }

    /// [`TetMesh::stuffed`] with the spacing, among those tried, that comes nearest to `count`
    /// tetrahedra; `stuffing.spacing` is ignored.
    ///
    /// Counts jump as the lattice moves over the surface, by a few percent for some thousand
    /// tetrahedra.
    ///
    /// # Errors
    /// As [`TetMesh::stuffed`]; the lattice may have at most a thousand points per requested
    /// tetrahedron, plus 2^20.
    pub fn stuffed_to_count(
        level_set: &LevelSet,
        count: usize,
        stuffing: &Stuffing,
    ) -> Result<Self, GridError> {
        const STEPS: usize = 6;
        const AROUND: i32 = 60;
        // points of the lattice per tetrahedron, and a minimum for small counts: solids that fill a
        // thousandth of their box need no more, and samples that are inside by round-off are
        // unbounded
        const POINTS: usize = 1000;
        const FEW_POINTS: usize = 1 << 20;
        let volume = level_set.moments().volume;
        if volume <= 0.0 {
            return Self::stuffed(level_set, stuffing);
        }
        let limit = stuffing.limit.min(POINTS.saturating_mul(count).saturating_add(FEW_POINTS));
        let with = |spacing| Self::stuffed(level_set, &Stuffing { spacing, limit, ..*stuffing });
        // a lattice cell of two points holds twelve tetrahedra
        let mut spacing = libm::cbrt(12.0 * volume / count.max(1) as f64);
        if stuffing.halvings > 0 {
            return nearest(count, spacing, with);
        }
        for _ in 0..STEPS {
            let ratio = with(spacing)?.tets.len().max(1) as f64 / count.max(1) as f64;
            spacing *= libm::cbrt(ratio).clamp(0.5, 2.0);
        }
        // counts are not monotonic near this spacing
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

/// The mesh nearest to `count` tetrahedra of some tries: counts jump where a part of the solid
/// becomes thin.
fn nearest(
    count: usize,
    mut spacing: f64,
    with: impl Fn(f64) -> Result<TetMesh, GridError>,
) -> Result<TetMesh, GridError> {
    const TRIES: usize = 16;
    let off = |mesh: &TetMesh| mesh.tets.len().abs_diff(count);
    let mut best: Option<TetMesh> = None;
    // spacings that gave more and fewer
    let (mut more, mut fewer) = (None, None);
    for _ in 0..TRIES {
        let mesh = with(spacing)?;
        let ratio = mesh.tets.len().max(1) as f64 / count.max(1) as f64;
        *if ratio > 1.0 { &mut more } else { &mut fewer } = Some(spacing);
        spacing = match (more, fewer) {
            (Some(fine), Some(coarse)) => f64::sqrt(fine * coarse),
            _ => spacing * libm::cbrt(ratio).clamp(0.5, 2.0),
        };
        if best.as_ref().is_none_or(|best| off(&mesh) < off(best)) {
            best = Some(mesh);
        }
        if best.as_ref().is_some_and(|best| 100 * off(best) <= count) {
            break;
        }
    }
    Ok(best.unwrap_or_default())
}

fn filled(level_set: &LevelSet, grid: Grid, thin: &Thin, doublings: u8) -> TetMesh {
    let sites = Sites::new(thin.grid(grid));
    let octants = Octants::new(&sites, level_set, &Sites::new(grid), thin, doublings);
    let mut tets = Vec::new();
    let mut values = Values::new(level_set, sites);
    octants.for_each_tet(|corners| {
        if corners.iter().any(|site| values.at(*site) < 0.0) {
            tets.push(corners);
        }
    });
    let (lattice, tets) = Lattice::new(values, tets);
    let mut cutter = Cutter::new(&lattice);
    tets.into_iter().for_each(|tet| cutter.add(tet));
    cutter.into_mesh()
}

/// Whether a mesh is in no more pieces than the solid.
fn is_joined_as(mesh: &TetMesh, level_set: &LevelSet) -> bool {
    let pieces = mesh.components().count;
    pieces <= 1 || pieces <= level_set.components().count
}
