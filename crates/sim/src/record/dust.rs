//! Dust and crumbs of cracks, as points for particle systems.
//!
//! A crack dissipates energy in proportion to its area ([`fracture::Material::fracture_energy`]),
//! and the amount of dust is proportional to that energy. Half of it leaves each of the two faces.
//! A face is new where the body that broke had no cut; faces of earlier cracks produce no more
//! dust. Specks have no mass, collide with planes only and are computed from the recording after
//! the run.
//!
//! [Crumbs](crate::Crumbs) have mass, and the simulation decides about them. Their flight is that
//! of dust, but they stay where they land.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use contact::Field;
use fracture::{Projector, Random};
use levelset::{LevelSet, TriMesh};
use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, UnitVector3, Vector3};
use rayon::prelude::*;

use crate::breaking::crumbs::{FRACTAL_DIMENSION, fractal_size};
use crate::{
    BrokenMesh, LazySurface, RecordedCrumb, Recording, Solid, Surface, SurfaceSource, Track, World,
};

/// Inputs of dust in addition to the recording.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Gravity, m/s^2.
    gravity: Vector3<f64>,
    /// Planes at which dust ends: the normal, and its product with a point of the plane, m.
    planes: Vec<(UnitVector3<f64>, f64)>,
    /// Fracture energy of each body of the scene, J/m^2.
    energies: Vec<f64>,
}

impl Surroundings {
    /// The surroundings of a world before its first frame.
    pub fn of(world: &World) -> Self {
        let plane = |pose: &Isometry3<f64>| {
            let normal = pose.rotation * Vector3::y_axis();
            (normal, normal.dot(&pose.translation.vector))
        };
        let is_plane = |field: &Field| matches!(field, Field::HalfSpace);
        let planes = world.iter().filter(|state| is_plane(state.shape.field()));
        Self {
            gravity: world.settings().gravity,
            planes: planes.map(|state| plane(state.pose)).collect(),
            energies: world
                .solid_materials
                .iter()
                .map(fracture::Material::fracture_energy)
                .collect(),
        }
    }

    /// A point above all planes: it, or the projection onto those above it.
    fn lifted(&self, point: Point3<f64>) -> Point3<f64> {
        let lift = |p: Point3<f64>, (normal, offset): &(UnitVector3<f64>, f64)| {
            p + normal.into_inner() * (offset - normal.dot(&p.coords)).max(0.0)
        };
        self.planes.iter().fold(point, lift)
    }

    /// Time at which a flight reaches a plane, s, if it does.
    fn landing(&self, start: &Point3<f64>, velocity: &Vector3<f64>) -> Option<f64> {
        let time = |(normal, offset): &(UnitVector3<f64>, f64)| {
            let height = (normal.dot(&start.coords) - offset).max(0.0);
            first_root(0.5 * normal.dot(&self.gravity), normal.dot(velocity), height)
        };
        self.planes.iter().filter_map(time).min_by(f64::total_cmp)
    }
}

/// The first time from 0 on at which `height + velocity t + half t^2`, which starts at 0 or above,
/// falls to 0.
fn first_root(half: f64, velocity: f64, height: f64) -> Option<f64> {
    if height == 0.0 && velocity <= 0.0 {
        return Some(0.0);
    }
    let root = (velocity * velocity - 4.0 * half * height).sqrt();
    // the form without cancellation
    let time = if velocity > 0.0 {
        -(velocity + root) / (2.0 * half)
    } else {
        2.0 * height / (root - velocity)
    };
    (time >= 0.0 && time.is_finite()).then_some(time)
}

/// A speck of dust or a crumb.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speck {
    /// The track of its piece.
    pub track: usize,
    /// The frame in which it appears: that of the birth of the piece.
    pub birth: usize,
    /// Position at that time, m.
    pub position: Point3<f64>,
    /// Velocity at that time, m/s.
    pub velocity: Vector3<f64>,
    /// Diameter of a speck, or edge of a cube of the volume of a crumb, m.
    pub size: f64,
    /// Lifetime of a speck, or time to the landing of a crumb, s; infinite if it never lands.
    pub life: f64,
    /// Linear color: that of the cuts of its piece.
    pub color: [f32; 3],
}

/// All dust of a recording, or all its crumbs.
#[derive(Clone, Debug)]
pub struct Dust {
    /// In order of birth.
    pub specks: Vec<Speck>,
    /// Energy dissipated by all cracks, J; zero for crumbs.
    pub energy: f64,
    /// Requested number of specks, which may exceed the actual one.
    pub requested: f64,
    gravity: Vector3<f64>,
    fps: f64,
    frames: usize,
    /// For crumbs: they stay where they land, turned by random numbers of this seed.
    crumbs_seed: Option<u64>,
}

/// A crumb where it landed: the image of a body of unit volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LandedCrumb {
    /// Its index in [`Dust::specks`].
    pub number: usize,
    /// The first frame in which it rests.
    pub frame: usize,
    /// Position and orientation.
    pub pose: Isometry3<f64>,
    /// Scale along each axis before the rotation, m.
    pub scale: Vector3<f64>,
}

/// A piece and its new crack faces.
struct Faces {
    track: usize,
    /// Triangles in body coordinates, m.
    triangles: Vec<[Point3<f64>; 3]>,
    /// Half of the energy of the cracks, J.
    energy: f64,
}

impl Faces {
    /// The faces of a track, for cracks of energy `of_area`, J/m^2, if they dissipate any.
    fn new(track: usize, triangles: Vec<[Point3<f64>; 3]>, of_area: f64) -> Option<Self> {
        let area: f64 = triangles.iter().map(area).fold(0.0, |sum, x| sum + x);
        let energy = 0.5 * of_area * area;
        (energy > 0.0).then_some(Self { track, triangles, energy })
    }
}

impl Dust {
    /// Default number of specks per joule of cracks.
    pub const PER_JOULE: f64 = 1_000.0;
    /// Largest number of specks.
    pub const MAX_SPECKS: usize = 1_000_000;
    /// Largest sum of specks over the frames in which they are visible.
    pub const MAX_SHOWN_SPECKS: usize = 1 << 26;
    /// Largest lifetime, s.
    pub const LIFETIME: f64 = 2.0;
    /// Specks leave a face with its velocity plus one of at most this, uniform in a ball, m/s.
    pub const SPREAD: f64 = 0.5;
    /// The smallest and the largest diameter, m.
    pub const SIZES: [f64; 2] = [2e-4, 5e-3];
    /// The number of specks larger than `d` is proportional to `d` to the minus this power
    /// (Turcotte, *Fractals and fragmentation*, 1986: 2.5 for blasted rock and broken coal).
    pub const FRACTAL_DIMENSION: f64 = FRACTAL_DIMENSION;

    /// The dust of a recording with `per_joule` specks per joule; `pose` returns the pose of a track
    /// in a frame, if it exists then. The number is limited by [`Dust::MAX_SPECKS`] and
    /// [`Dust::MAX_SHOWN_SPECKS`].
    ///
    /// A speck has the mean velocity of its position on the piece in the frame after the birth, or
    /// in that of the birth if the piece ends with it. Gravity accelerates it until it reaches a
    /// plane of the scene or its lifetime ends.
    ///
    /// # Errors
    /// The errors of `pose`.
    pub fn new<E>(
        recording: &Recording,
        surroundings: &Surroundings,
        (per_joule, seed): (f64, u64),
        pose: impl Fn(usize, usize) -> Result<Option<Isometry3<f64>>, E>,
    ) -> Result<Self, E> {
        let faces = new_faces(recording, &surroundings.energies);
        Self::from_faces(&faces, recording, surroundings, (per_joule, seed), pose)
    }

    /// The dust of the cracks between the pieces of a mesh of a material with fracture energy
    /// `energy`, J/m^2, at the moment of fracture: it leaves pieces at rest.
    pub fn of_pieces(broken: &BrokenMesh, energy: f64, (per_joule, seed): (f64, u64)) -> Self {
        let recording = &broken.recording;
        let of = |(number, track): (usize, &Track)| {
            let surface = track.surface();
            // the mesh was whole: all cuts are new
            let triangles = surface.inner.iter().map(|triangle| corners(&surface, triangle));
            Faces::new(number, triangles.collect(), energy)
        };
        let faces: Vec<Faces> = recording.tracks.par_iter().enumerate().filter_map(of).collect();
        let surroundings =
            Surroundings { gravity: Vector3::zeros(), planes: Vec::new(), energies: Vec::new() };
        let pose = |track: usize, frame: usize| {
            Ok::<_, Infallible>(recording.tracks[track].pose(frame).copied())
        };
        match Self::from_faces(&faces, recording, &surroundings, (per_joule, seed), pose) {
            Ok(dust) => dust,
        }
    }

    /// The crumbs of a recording; `pose` as for [`Dust::new`].
    ///
    /// A crumb has the motion of a speck of dust at the same point, but stays where it lands on a
    /// plane of the scene, to the end of the recording.
    ///
    /// # Errors
    /// The errors of `pose`.
    pub fn of_crumbs<E>(
        recording: &Recording,
        surroundings: &Surroundings,
        seed: u64,
        pose: impl Fn(usize, usize) -> Result<Option<Isometry3<f64>>, E>,
    ) -> Result<Self, E> {
        let Recording { fps, frames, ref crumbs, .. } = *recording;
        let mut specks = Vec::with_capacity(crumbs.len());
        let of_track = |a: &RecordedCrumb, b: &RecordedCrumb| a.track == b.track;
        for crumbs in crumbs.chunk_by(of_track) {
            let number = crumbs[0].track;
            let track = &recording.tracks[number];
            let Some(at) = pose(number, track.birth)? else { continue };
            let velocity = velocities(recording, number, &pose)?;
            let mut random = Random::stream(seed, number as u64);
            specks.extend(crumbs.iter().map(|crumb| {
                let position = surroundings.lifted(at * crumb.point);
                let velocity = velocity(&crumb.point) + Self::SPREAD * random.in_ball();
                Speck {
                    track: number,
                    birth: track.birth,
                    position,
                    velocity,
                    size: crumb.size,
                    life: surroundings.landing(&position, &velocity).unwrap_or(f64::INFINITY),
                    color: track.look.inner_color,
                }
            }));
        }
        specks.sort_by_key(|speck| speck.birth);
        let (requested, gravity) = (specks.len() as f64, surroundings.gravity);
        Ok(Self { specks, energy: 0.0, requested, gravity, fps, frames, crumbs_seed: Some(seed) })
    }

    /// The dust of `faces`.
    fn from_faces<E>(
        faces: &[Faces],
        recording: &Recording,
        surroundings: &Surroundings,
        (per_joule, seed): (f64, u64),
        pose: impl Fn(usize, usize) -> Result<Option<Isometry3<f64>>, E>,
    ) -> Result<Self, E> {
        let energy: f64 = faces.iter().map(|faces| faces.energy).fold(0.0, |sum, x| sum + x);
        let requested = per_joule * energy;
        let most = most_specks(recording.fps) as f64;
        let rate = if requested > most { most / energy } else { per_joule };
        let mut specks = Vec::with_capacity((rate * energy).min(most) as usize);
        let mut due = 0.0;
        for faces in faces {
            due += rate * faces.energy;
            // a sum that is an integer up to round-off counts as one
            let all = (due * (1.0 + 1e-12)).min(most) as usize;
            let count = all.saturating_sub(specks.len());
            if count == 0 {
                continue;
            }
            let mut random = Random::stream(seed, faces.track as u64);
            let velocity = velocities(recording, faces.track, &pose)?;
            let track = &recording.tracks[faces.track];
            let Some(at) = pose(faces.track, track.birth)? else { continue };
            let mut place = places(&faces.triangles);
            for _ in 0..count {
                let place = place(&mut random);
                let position = at * place;
                let velocity = velocity(&place) + Self::SPREAD * random.in_ball();
                let landing = surroundings.landing(&position, &velocity);
                specks.push(Speck {
                    track: faces.track,
                    birth: track.birth,
                    position,
                    velocity,
                    size: fractal_size(random.unit(), Self::SIZES),
                    life: landing.map_or(Self::LIFETIME, |time| time.min(Self::LIFETIME)),
                    color: track.look.inner_color,
                });
            }
        }
        specks.sort_by_key(|speck| speck.birth);
        let Recording { fps, frames, .. } = *recording;
        let gravity = surroundings.gravity;
        Ok(Self { specks, energy, requested, gravity, fps, frames, crumbs_seed: None })
    }

    /// The specks with numbers that are evenly spread, at most `most`.
    #[must_use]
    pub fn thinned(mut self, most: usize) -> Self {
        let count = self.specks.len();
        if count > most {
            self.specks = (0..most).map(|n| self.specks[n * count / most]).collect();
        }
        self
    }

    /// Whether the specks are crumbs.
    pub fn are_crumbs(&self) -> bool {
        self.crumbs_seed.is_some()
    }

    /// Frames of the recording.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Frames per second.
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// The acceleration of all specks, m/s^2.
    pub fn gravity(&self) -> Vector3<f64> {
        self.gravity
    }

    /// Number of frames in which a speck flies, if the recording is long enough: at least one.
    pub fn shown_frames(&self, speck: &Speck) -> usize {
        // compared as in `shown`, however the division rounds
        let longest = self.longest();
        (1..longest).find(|&n| n as f64 / self.fps > speck.life).unwrap_or(longest)
    }

    /// Largest number of frames in which a speck is visible.
    fn longest(&self) -> usize {
        if self.crumbs_seed.is_some() { self.frames } else { shown_frames(self.fps) }
    }

    /// The largest size of a speck, m.
    pub fn max_size(&self) -> f64 {
        self.specks.iter().map(|speck| speck.size).fold(0.0, f64::max)
    }

    /// The crumbs that landed before the end of the recording.
    pub fn landed(&self) -> impl Iterator<Item = LandedCrumb> {
        let all = self.crumbs_seed.into_iter().flat_map(|seed| {
            self.specks.iter().enumerate().map(move |(number, speck)| (seed, number, speck))
        });
        all.filter_map(|(seed, number, speck)| {
            let frame = speck.birth + self.shown_frames(speck);
            if frame >= self.frames {
                return None;
            }
            let mut random = Random::stream(seed, number as u64);
            let turn = rotation(&mut random);
            let at =
                speck.position + (speck.velocity + 0.5 * self.gravity * speck.life) * speck.life;
            let pose = Isometry3::from_parts(at.into(), turn);
            let [wide, high] = [random.unit(), random.unit()].map(|share| 0.75 + 0.5 * share);
            let scale = speck.size * Vector3::new(wide, high, 1.0 / (wide * high));
            Some(LandedCrumb { number, frame, pose, scale })
        })
    }

    /// The specks visible in a frame. Those of crumbs that landed are at rest.
    pub fn shown(&self, frame: usize) -> impl Iterator<Item = ShownSpeck> {
        let longest = self.longest();
        let start = self.specks.partition_point(|speck| speck.birth + longest <= frame);
        let end = self.specks.partition_point(|speck| speck.birth <= frame);
        (start..end).filter_map(move |n| {
            let speck = &self.specks[n];
            let time = (frame - speck.birth) as f64 / self.fps;
            let flown = time.min(speck.life);
            let fall = self.gravity * flown;
            let position = speck.position + (speck.velocity + 0.5 * fall) * flown;
            let flies = time <= speck.life;
            let velocity = if flies { speck.velocity + fall } else { Vector3::zeros() };
            let is_shown = flies || self.crumbs_seed.is_some();
            is_shown.then_some(ShownSpeck { number: n, position, velocity })
        })
    }
}

/// A speck in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownSpeck {
    /// Its index in [`Dust::specks`].
    pub number: usize,
    /// Position, m.
    pub position: Point3<f64>,
    /// Velocity, m/s.
    pub velocity: Vector3<f64>,
}

/// Frames in which a speck of the longest lifetime is visible.
fn shown_frames(fps: f64) -> usize {
    (Dust::LIFETIME * fps) as usize + 1
}

fn most_specks(fps: f64) -> usize {
    Dust::MAX_SPECKS.min(Dust::MAX_SHOWN_SPECKS / shown_frames(fps))
}

/// The new crack faces of all pieces, in the order of tracks.
fn new_faces(recording: &Recording, energies: &[f64]) -> Vec<Faces> {
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
fn recorded_ancestor(tracks: &[Track], mut number: usize) -> usize {
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
        const CONVEX: f64 = 0.25;
        /// The reach of other bodies. Old faces were found up to 0.41 deep, since they are drawn
        /// sharper than samples.
        const OTHER: f64 = 0.5;
        track.parent?;
        let LazySurface::Of(source) = &track.lazy_surface else { return None };
        let Solid { geometry, material } = source.solid.as_ref()?;
        let samples = Arc::clone(geometry.level_set());
        let reach = if geometry.is_convex() { CONVEX } else { OTHER } * samples.grid().spacing();
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

fn corners(surface: &Surface, triangle: &[u32; 3]) -> [Point3<f64>; 3] {
    triangle.map(|v| Point3::from(surface.vertices[v as usize].map(f64::from)))
}

fn area([a, b, c]: &[Point3<f64>; 3]) -> f64 {
    0.5 * (b - a).cross(&(c - a)).norm()
}

/// Uniform random points on triangles.
fn places(triangles: &[[Point3<f64>; 3]]) -> impl FnMut(&mut Random) -> Point3<f64> {
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

/// Uniform over all rotations, by rejection from the cube of quaternions.
fn rotation(random: &mut Random) -> UnitQuaternion<f64> {
    loop {
        let [w, x, y, z] = [(); 4].map(|()| random.signed());
        let turn = Quaternion::new(w, x, y, z);
        if (1e-4..=1.0).contains(&turn.norm_squared()) {
            return UnitQuaternion::new_normalize(turn);
        }
    }
}

/// The mean velocity of points of a piece, given in its body coordinates, in the frame after its
/// birth, or in that of its birth if it has no other.
fn velocities<E>(
    recording: &Recording,
    number: usize,
    pose: &impl Fn(usize, usize) -> Result<Option<Isometry3<f64>>, E>,
) -> Result<impl Fn(&Point3<f64>) -> Vector3<f64>, E> {
    let Recording { tracks, fps, .. } = recording;
    let track = &tracks[number];
    let now = pose(number, track.birth)?;
    let [start, end] = match pose(number, track.birth + 1)? {
        Some(next) => [now, Some(next)],
        None => [pose_before_birth(tracks, number, pose)?, now],
    };
    let [start, end] = [start.or(end), end].map(Option::unwrap_or_default);
    let fps = *fps;
    Ok(move |p: &Point3<f64>| (end * p - start * p) * fps)
}

/// The pose of a piece as a part of its parent in the frame before its birth, if the parent existed
/// then.
fn pose_before_birth<E>(
    tracks: &[Track],
    number: usize,
    pose: &impl Fn(usize, usize) -> Result<Option<Isometry3<f64>>, E>,
) -> Result<Option<Isometry3<f64>>, E> {
    let Track { parent, birth, lazy_surface: own, .. } = &tracks[number];
    let Some((parent, last)) = parent.zip(birth.checked_sub(1)) else { return Ok(None) };
    let parent = recorded_ancestor(tracks, parent);
    let material = |lazy_surface: &LazySurface| match lazy_surface {
        LazySurface::Of(source) => source.solid.as_ref().map(|solid| solid.material),
        LazySurface::Made(_) => None,
    };
    let Some((own, whole)) = material(own).zip(material(&tracks[parent].lazy_surface)) else {
        return Ok(None);
    };
    Ok(pose(parent, last)?.map(|pose| pose * whole.inverse() * own))
}
