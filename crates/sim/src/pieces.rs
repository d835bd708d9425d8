//! Breaking a mesh without simulating anything.

use std::sync::Arc;

use contact::Shape;
use fracture::{Alignment, Pattern, shatter};
use levelset::{LevelSet, TriMesh};
use nalgebra::{Isometry3, Point3, UnitVector3};
use rayon::prelude::*;

use crate::build::{Cause, mesh_level_set};
use crate::scene::Mesh;
use crate::{Cut, Lineage, Look, Recording, Skin, Track, Undrawn};

/// How a mesh is broken.
#[derive(Clone, Debug)]
pub struct Breaking {
    /// Where its centre goes, in the coordinates of the mesh, m.
    pub at: Point3<f64>,
    /// Where its y axis goes: out of the solid where it is hit.
    pub normal: UnitVector3<f64>,
    /// Pieces of fewer samples stay with the neighbour they touch most.
    pub least_samples: usize,
    /// Most nodes of the level set along x, y and z.
    pub resolution: [usize; 3],
}

/// The pieces of a solid `mesh`, in place, as a recording of one frame; `pattern` is made
/// for its level set.
///
/// # Errors
/// [`Cause`] when the mesh bounds no solid, or none that its grid resolves.
pub fn break_mesh(
    mesh: &TriMesh,
    breaking: &Breaking,
    pattern: impl FnOnce(&LevelSet) -> Result<Pattern, Cause>,
    look: Look,
) -> Result<Recording, Cause> {
    let spec = Mesh { file: String::new(), size: None, resolution: breaking.resolution };
    let level_set = mesh_level_set(&spec, mesh.clone())?.0;
    let pattern = Arc::new(pattern(&level_set)?);
    let Breaking { at, normal, least_samples, .. } = breaking;
    let at = Alignment::enclosing(&level_set.grid().bounds(), *at, *normal);
    let points = level_set.surface_particles(level_set.grid().spacing());
    let broken = shatter(&level_set, &points, &pattern, &at, *least_samples);
    let identity = Isometry3::identity();
    let mesh = Arc::new(mesh.clone());
    let whole = Arc::new(Shape::grid(level_set, &points, identity));
    let look = Arc::new(look);
    let track = |(n, fragment): (usize, fracture::Fragment)| {
        let cut = Cut { pattern: Arc::clone(&pattern), at, regions: fragment.regions };
        let lineage = Some(Arc::new(Lineage { whole: Arc::clone(&whole), cuts: vec![cut] }));
        let shape = Arc::new(Shape::grid(fragment.level_set, &fragment.particles, identity));
        Track {
            name: format!("piece {}", n + 1),
            skin: Skin::Of(Arc::new(Undrawn { shape, lineage, mesh: Some(Arc::clone(&mesh)) })),
            look: Arc::clone(&look),
            parent: None,
            birth: 0,
            poses: vec![identity],
            shrinks: None,
            stresses: Vec::new(),
        }
    };
    let tracks = broken.fragments.into_par_iter().enumerate().map(track).collect();
    Ok(Recording { fps: 30.0, frames: 1, tracks, energies: vec![] })
}
