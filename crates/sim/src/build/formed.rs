//! Solids without a closed form: combined ones, and those defined by images.

use fracture::draw;
use levelset::{Grid, LevelSet, TriMesh};

use crate::scene::{self, Combined, MeshSign, Shape};
use crate::{Cause, RigidError};

/// The settings for sampling the mesh of a shape.
pub(super) fn sampling(shape: &Shape) -> scene::Mesh {
    scene::Mesh { spacing: shape.spacing(), sign: MeshSign::Auto, ..scene::Mesh::default() }
}

/// The surface of a solid by dual contouring, with edges as sharp as the samples allow.
pub(super) fn mesh(shape: &Shape) -> Result<TriMesh, Cause> {
    let (Some(bounds), Some(spacing)) = (shape.bounds(), shape.spacing()) else {
        return Err(RigidError::Empty.into());
    };
    mesh_on(Grid::enclosing(&bounds, spacing, scene::MARGIN, scene::MAX_NODES)?, shape)
}

/// [`mesh`] on a given grid.
pub(super) fn mesh_on(grid: Grid, shape: &Shape) -> Result<TriMesh, Cause> {
    let mut solid = LevelSet::from_fn(grid, |p| shape.value(&p));
    if !matches!(shape, Shape::Combined(_)) {
        // images give signs but no distances
        solid = solid.redistanced();
    }
    if let Shape::Combined(Combined { rounding, wall, .. }) = shape {
        if *rounding > 0.0 {
            // opening by a ball: erosion, then dilation
            solid = shifted(&shifted(&solid, *rounding).redistanced(), -rounding);
        }
        if let Some(wall) = wall {
            let distance = solid.redistanced();
            let inner = shifted(&distance, *wall);
            let values = distance.values().to_owned();
            let mut hollow = values;
            hollow.zip_mut_with(inner.values(), |own, inner| *own = own.max(-inner));
            solid = LevelSet::from_values(grid, hollow);
        }
    }
    solid.inside_range().ok_or(RigidError::Empty)?;
    Ok(draw(&solid, &solid, &[]).mesh)
}

/// The level set with a constant added to each value, m.
fn shifted(solid: &LevelSet, by: f64) -> LevelSet {
    LevelSet::from_values(*solid.grid(), solid.values().mapv(|value| value + by as f32))
}
