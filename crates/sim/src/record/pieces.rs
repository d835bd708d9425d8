//! Breaking a mesh without a simulation.

use std::sync::Arc;

use fracture::{Alignment, Bond, Geometry, Pattern, Piece};
use levelset::Moments;
use nalgebra::{Isometry3, Point3, UnitVector3};
use rayon::prelude::*;

use crate::build::{mesh_geometry, pattern, sites};
use crate::scene::{self, Mesh};
use crate::{
    Cause, Cut, LazySurface, Lineage, Look, PaintedMesh, Placement, Recording, Solid,
    SurfaceSource, Track, Whole,
};

/// Parameters of breaking a mesh.
#[derive(Clone, Debug)]
pub struct Breaking {
    /// Center of the pattern, in the coordinates of the mesh, m.
    pub at: Point3<f64>,
    /// Direction of the pattern's y axis: out of the solid at the impact.
    pub normal: UnitVector3<f64>,
    /// Placement of the pattern; if fixed, `at` and `normal` have no effect.
    pub placement: Placement,
    /// Pieces of a smaller share of the volume are merged with the neighbor they share most area
    /// with.
    pub min_share: f64,
}

/// The pattern of `spec` for a solid, with the alignment `at`: a Voronoi pattern approximates the
/// number of pieces in `spec`; parts of less than `least` m^3 do not count.
///
/// # Errors
/// As [`pattern`].
pub fn piece_pattern(
    spec: &scene::Pattern,
    seed: u64,
    body: &Geometry,
    at: &Alignment,
    least: f64,
) -> Result<Pattern, Cause> {
    let scene::Pattern::Voronoi(voronoi) = spec else { return pattern(spec, seed, Some(body)) };
    if voronoi.noise.is_some() {
        return pattern(spec, seed, Some(body));
    }
    let sites = sites(voronoi, seed).with_pieces_at(voronoi.pieces, body, at, least)?;
    Ok(Pattern::voronoi(&sites)?)
}

/// A broken mesh.
#[derive(Clone, Debug)]
pub struct BrokenMesh {
    /// The pieces in place with the paint of the mesh, as a recording of one frame.
    pub recording: Recording,
    /// One per piece, for unit density.
    pub moments: Vec<Moments>,
    /// The bonds between pieces.
    pub bonds: Vec<Bond>,
}

/// The pieces of the solid of `painted` and `spec`; `pattern` creates the pattern from the solid,
/// the alignment and the volume of the smallest piece in m^3.
///
/// # Errors
/// [`Cause`] if the mesh bounds no solid, or none that its grid resolves.
pub fn break_mesh(
    painted: &PaintedMesh,
    spec: &Mesh,
    breaking: &Breaking,
    pattern: impl FnOnce(&Geometry, &Alignment, f64) -> Result<Pattern, Cause>,
    look: Look,
) -> Result<BrokenMesh, Cause> {
    let (geometry, mesh) = mesh_geometry(spec, painted.mesh.clone())?;
    let mesh = PaintedMesh { mesh, ..painted.clone() };
    let at = breaking.placement.alignment(&geometry, breaking.at, breaking.normal);
    let least = breaking.min_share * geometry.moments().volume;
    let pattern = Arc::new(pattern(&geometry, &at, least)?);
    let broken = geometry.divide(&pattern, &at, least);
    let look = Look { coats: Arc::clone(&mesh.coats), ..look };
    let (mesh, look) = (Arc::new(mesh), Arc::new(look));
    let whole = Arc::new(Whole::new(Arc::new(geometry)));
    let track = |(n, Piece { geometry, regions }): (usize, Piece)| {
        let cut = Cut { pattern: Arc::clone(&pattern), at, regions };
        let lineage = Some(Arc::new(Lineage { whole: Arc::clone(&whole), cuts: vec![cut] }));
        // vertices are stored as `f32`, relative to the center, however far away the mesh is
        let center = Isometry3::from(geometry.moments().center().coords);
        let solid = Solid { geometry: Arc::new(geometry), material: center };
        let shape = Arc::new(contact::Shape::empty());
        let mesh = Some(Arc::clone(&mesh));
        Track {
            name: format!("piece {}", n + 1),
            lazy_surface: LazySurface::Of(Arc::new(SurfaceSource {
                shape,
                solid: Some(solid),
                lineage,
                mesh,
            })),
            look: Arc::clone(&look),
            parent: None,
            birth: 0,
            taken: 0,
            poses: vec![center],
            waypoints: Vec::new(),
            shrinks: None,
            stresses: Vec::new(),
        }
    };
    let moments = broken.pieces.iter().map(|piece| *piece.geometry.moments()).collect();
    let tracks = broken.pieces.into_par_iter().enumerate().map(track).collect();
    let recording =
        Recording { fps: 30.0, frames: 1, tracks, energies: vec![], crumbs: vec![], camera: None };
    Ok(BrokenMesh { recording, moments, bonds: broken.bonds })
}
