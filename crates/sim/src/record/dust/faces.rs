//! The crack faces from which dust comes.

use std::collections::BTreeSet;
use std::sync::Arc;

use fracture::{Projector, Random};
use levelset::{LevelSet, TriMesh};
use nalgebra::Point3;
use rayon::prelude::*;

use crate::{LazySurface, Recording, Solid, Surface, SurfaceSource, Track};

/// A piece and its new crack faces.
pub(super) struct Faces {
    pub(super) track: usize,
    /// Triangles in body coordinates, m.
    pub(super) triangles: Vec<[Point3<f64>; 3]>,
    /// Half of the energy of the cracks, J.
    pub(super) energy: f64,
}

impl Faces {
    /// The faces of a track, for cracks of energy `of_area`, J/m^2, if they dissipate any.
    pub(super) fn new(
        track: usize,
        triangles: Vec<[Point3<f64>; 3]>,
        of_area: f64,
    ) -> Option<Self> {
        let area: f64 = triangles.iter().map(area).fold(0.0, |sum, x| sum + x);
        let energy = 0.5 * of_area * area;
        (energy > 0.0).then_some(Self { track, triangles, energy })
    }
}

/// The new crack faces of all pieces, in the order of tracks.
pub(super) fn new_faces(recording: &Recording, energies: &[f64]) -> Vec<Faces> {
    let tracks = &recording.tracks;
    let fragments = recording.fragments();
    let broken: BTreeSet<usize> = fragments
        .iter()
        .filter_map(|&n| Some(recorded_ancestor(tracks, tracks[n].parent?)))
        .collect();
    let broken: Vec<usize> = broken.into_iter().collect();
    let old: Vec<Option<OldCuts>> =
        broken.par_iter().map(|&number| OldCuts::of(&tracks[number])).collect();
    let of = |number: usize| {
        let track = &tracks[number];
        let parent = track.parent?;
        let LazySurface::Of(source) = &track.lazy_surface else { return None };
        if track.end() == track.birth {
            return None;
        }
        let at = broken.binary_search(&recorded_ancestor(tracks, parent)).ok()?;
        let triangles = new_triangles(track, source, old[at].as_ref());
        let of_area = energies.get(root(tracks, parent)).copied().unwrap_or_default();
        Faces::new(number, triangles, of_area)
    };
    fragments.into_par_iter().filter_map(of).collect()
}

/// The body itself, or its nearest ancestor that existed for at least one frame.
pub(super) fn recorded_ancestor(tracks: &[Track], mut number: usize) -> usize {
    while let Track { parent: Some(parent), .. } = tracks[number]
        && tracks[number].end() == tracks[number].birth
    {
        number = parent;
    }
    number
}

/// The body of the scene from which it came.
fn root(tracks: &[Track], mut number: usize) -> usize {
    while let Some(parent) = tracks[number].parent {
        number = parent;
    }
    number
}

/// Cuts of a body that broke again, in material coordinates.
struct OldCuts {
    /// Its samples, in the same coordinates.
    samples: Arc<LevelSet>,
    /// `None` if it has no cuts.
    faces: Option<Projector>,
    /// Largest distance of a face of a piece from the face of the body that it continues, m: the
    /// surfaces of sampled pieces differ from those of the body.
    reach: f64,
}

impl OldCuts {
    /// The cuts of a track; `None` for a body of the scene, which has none.
    fn of(track: &Track) -> Option<Self> {
        /// The reach of a convex body in sample spacings.
        const CONVEX_REACH: f64 = 0.25;
        /// The reach of other bodies. Old faces were found up to 0.41 deep, since they are drawn
        /// sharper than samples.
        const OTHER_REACH: f64 = 0.5;
        track.parent?;
        let LazySurface::Of(source) = &track.lazy_surface else { return None };
        let Solid { geometry, material } = source.solid.as_ref()?;
        let samples = Arc::clone(geometry.level_set());
        let reach = if geometry.is_convex() { CONVEX_REACH } else { OTHER_REACH }
            * samples.grid().spacing();
        let surface = track.surface();
        let place = |v: &[f32; 3]| material * Point3::from(v.map(f64::from));
        let vertices = surface.vertices.iter().map(place).collect();
        let mesh = TriMesh { vertices, triangles: surface.inner.clone() };
        // the projector searches four times as far as its length
        Some(Self { faces: Projector::new(&mesh, reach / 4.0), samples, reach })
    }

    /// Whether a face of a piece continues one of them. A face deeper in the body than `reach` does
    /// not.
    fn contains_face(&self, [a, b, c]: &[Point3<f64>; 3]) -> bool {
        let Some(faces) = &self.faces else { return false };
        let middle = Point3::from((a.coords + b.coords + c.coords) / 3.0);
        self.samples.value(&middle) >= -self.reach
            && faces.nearest_facing(&middle, &(b - a).cross(&(c - a))).is_some()
    }
}

/// Triangles of the cuts of a piece, in its coordinates, except those that continue `old`, the cuts
/// of the body that broke.
fn new_triangles(
    track: &Track,
    source: &SurfaceSource,
    old: Option<&OldCuts>,
) -> Vec<[Point3<f64>; 3]> {
    let Some(Solid { material, .. }) = &source.solid else { return Vec::new() };
    let surface = track.surface();
    let triangles = surface.inner.iter().map(|triangle| corners(&surface, triangle));
    let is_old = |triangle: &[Point3<f64>; 3]| {
        old.is_some_and(|old| old.contains_face(&triangle.map(|corner| material * corner)))
    };
    triangles.filter(|triangle| !is_old(triangle)).collect()
}

pub(super) fn corners(surface: &Surface, triangle: &[u32; 3]) -> [Point3<f64>; 3] {
    triangle.map(|v| Point3::from(surface.vertices[v as usize].map(f64::from)))
}

fn area([a, b, c]: &[Point3<f64>; 3]) -> f64 {
    0.5 * (b - a).cross(&(c - a)).norm()
}

/// Uniform random points on triangles.
pub(super) fn places(triangles: &[[Point3<f64>; 3]]) -> impl FnMut(&mut Random) -> Point3<f64> {
    let mut sum = 0.0;
    let areas = triangles.iter().map(|triangle| {
        sum += area(triangle);
        sum
    });
    let areas: Vec<f64> = areas.collect();
    move |random| {
        let at = random.unit() * sum;
        let number = areas.partition_point(|&end| end <= at).min(triangles.len() - 1);
        let [a, b, c] = triangles[number];
        let (u, v) = (random.unit().sqrt(), random.unit());
        a + u * ((1.0 - v) * (b - a) + v * (c - a))
    }
}
