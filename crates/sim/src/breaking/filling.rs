//! Tetrahedra that fill a body.

use levelset::{LevelSet, Stuffing, TetMesh};

/// Largest number of tetrahedra that fill a body.
const MAX_TETS: usize = 1 << 20;

/// The largest connected part of a solid as tetrahedra of one size.
pub(crate) fn stuffed(body: &LevelSet, spacing: f64) -> Option<TetMesh> {
    let stuffing = Stuffing { spacing, doublings: 0, halvings: 0, limit: MAX_TETS };
    largest(&TetMesh::stuffed(body, &stuffing).ok()?)
}

/// Distance, in edges of tetrahedra, within which missing parts of a solid count as rounding of its
/// surface.
const MAX_LOST: f64 = 2.0;

/// Largest distance of parts of `body` from the surface of the tetrahedra that fill it, with edges of
/// `spacing` m, if that exceeds [`MAX_LOST`] edges, m. Infinite if there are no tetrahedra.
pub(crate) fn lost(filling: Option<TetMesh>, body: &LevelSet, spacing: f64) -> Option<f64> {
    let lost = filling.unwrap_or_default().deviation(body).from_level_set;
    (lost > MAX_LOST * spacing).then_some(lost)
}

/// [`stuffed`], with cells halved where the solid is thin if that lacks parts farther than
/// [`MAX_LOST`] cells from its surface.
pub(crate) fn stuffed_with_thin_parts(body: &LevelSet, spacing: f64) -> Option<TetMesh> {
    const HALVINGS: u8 = 3;
    let even = stuffed(body, spacing);
    let keeps = |mesh: &TetMesh| mesh.deviation(body).from_level_set <= MAX_LOST * spacing;
    if even.as_ref().is_some_and(keeps) {
        return even;
    }
    let stuffing = Stuffing { spacing, doublings: 0, halvings: HALVINGS, limit: MAX_TETS };
    largest(&TetMesh::stuffed(body, &stuffing).ok()?).or(even)
}

fn largest(mesh: &TetMesh) -> Option<TetMesh> {
    let parts = tetfem::pieces(mesh);
    parts.into_iter().map(|(part, _)| part).max_by_key(|part| part.tets.len())
}
