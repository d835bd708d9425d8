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

mod faces;
pub(crate) mod surroundings;

use std::convert::Infallible;

use fracture::Random;
use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};
use rayon::prelude::*;

use self::faces::{Faces, corners, new_faces, places, recorded_ancestor};
use self::surroundings::Surroundings;
use crate::breaking::crumbs::{FRACTAL_DIMENSION, fractal_size};
use crate::{BrokenMesh, LazySurface, RecordedCrumb, Recording, Track};

/// How much dust cracks emit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DustAmount {
    /// Specks per joule of fracture energy.
    pub per_joule: f64,
    /// Seed of positions, sizes and velocities.
    pub seed: u64,
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

    /// The dust of a recording; `pose` returns the pose of a track in a frame, if it exists then. The number is limited by [`Dust::MAX_SPECKS`] and
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
        amount: DustAmount,
        pose: impl Fn(usize, usize) -> Result<Option<Isometry3<f64>>, E>,
    ) -> Result<Self, E> {
        let faces = new_faces(recording, &surroundings.energies);
        Self::from_faces(&faces, recording, surroundings, amount, pose)
    }

    /// The dust of the cracks between the pieces of a mesh of a material with fracture energy
    /// `energy`, J/m^2, at the moment of fracture: it leaves pieces at rest.
    pub fn of_pieces(broken: &BrokenMesh, energy: f64, amount: DustAmount) -> Self {
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
        match Self::from_faces(&faces, recording, &surroundings, amount, pose) {
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
        amount: DustAmount,
        pose: impl Fn(usize, usize) -> Result<Option<Isometry3<f64>>, E>,
    ) -> Result<Self, E> {
        let DustAmount { per_joule, seed } = amount;
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
