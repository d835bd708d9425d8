//! Dust of cracks: points for particle systems, of which the simulation knows nothing.
//!
//! A crack takes energy in proportion to its area ([`fracture::Material::fracture_energy`]), and dust comes in
//! proportion to that energy. Half of it leaves each of the two faces. A face is new where it was inside the body that
//! broke; faces of earlier cracks give no dust again. Specks have no mass, meet nothing but planes and are
//! found after the run from its recording.

use std::convert::Infallible;

use contact::Field;
use fracture::Random;
use nalgebra::{Isometry3, Point3, UnitVector3, Vector3};
use rayon::prelude::*;

use crate::{BrokenMesh, LazySurface, Recording, Surface, SurfaceSource, Track, World};

/// What dust depends on in addition to the recording.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// m/s^2.
    gravity: Vector3<f64>,
    /// Planes at which dust ends: the normal, and its product with a point of the plane, m.
    planes: Vec<(UnitVector3<f64>, f64)>,
    /// Energy that a crack takes, J/m^2, of each body of the scene.
    energies: Vec<f64>,
}

impl Surroundings {
    /// Those of a world before its first frame.
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
            energies: world.substances.iter().map(fracture::Material::fracture_energy).collect(),
        }
    }

    /// When a flight meets a plane, s, if it does.
    fn landing(&self, start: &Point3<f64>, velocity: &Vector3<f64>) -> Option<f64> {
        let time = |(normal, offset): &(UnitVector3<f64>, f64)| {
            let height = (normal.dot(&start.coords) - offset).max(0.0);
            first_root(0.5 * normal.dot(&self.gravity), normal.dot(velocity), height)
        };
        self.planes.iter().filter_map(time).min_by(f64::total_cmp)
    }
}

/// The first time from 0 on at which `height + velocity t + half t^2`, which starts at 0 or above, falls to 0.
fn first_root(half: f64, velocity: f64, height: f64) -> Option<f64> {
    if height == 0.0 && velocity <= 0.0 {
        return Some(0.0);
    }
    let root = (velocity * velocity - 4.0 * half * height).sqrt();
    // the form that adds numbers of one sign
    let time = if velocity > 0.0 {
        -(velocity + root) / (2.0 * half)
    } else {
        2.0 * height / (root - velocity)
    };
    (time >= 0.0 && time.is_finite()).then_some(time)
}

/// A point of dust.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speck {
    /// The track of the piece that it left.
    pub track: usize,
    /// The frame in which it appears, that in which the piece is born.
    pub birth: usize,
    /// Where it is then, m.
    pub position: Point3<f64>,
    /// Its velocity then, m/s.
    pub velocity: Vector3<f64>,
    /// Diameter, m.
    pub size: f64,
    /// How long it is there, s.
    pub life: f64,
}

/// All dust of a recording.
#[derive(Clone, Debug)]
pub struct Dust {
    /// In the order of their births.
    pub specks: Vec<Speck>,
    /// Energy that all cracks together took, J.
    pub energy: f64,
    /// How many specks were asked for, which may be more than there are.
    pub asked: f64,
    gravity: Vector3<f64>,
    fps: f64,
    frames: usize,
}

/// A piece and the faces of the cracks that made it.
struct Faces {
    track: usize,
    /// In body coordinates, m.
    triangles: Vec<[Point3<f64>; 3]>,
    /// Half of the energy of the cracks, J.
    energy: f64,
}

impl Faces {
    /// Those of a track, of cracks that take energy, J/m^2, if they take any.
    fn new(track: usize, triangles: Vec<[Point3<f64>; 3]>, of_area: f64) -> Option<Self> {
        let area: f64 = triangles.iter().map(area).fold(0.0, |sum, x| sum + x);
        let energy = 0.5 * of_area * area;
        (energy > 0.0).then_some(Self { track, triangles, energy })
    }
}

impl Dust {
    /// Specks for each joule of cracks, unless said.
    pub const PER_JOULE: f64 = 1_000.0;
    /// Most specks.
    pub const MAX_SPECKS: usize = 1_000_000;
    /// Most of specks and frames in which they are shown, together.
    pub const MAX_SHOWN_SPECKS: usize = 1 << 26;
    /// Longest life, s.
    pub const LIFETIME: f64 = 2.0;
    /// Specks leave a face with its velocity and one of up to so much more, uniform in a ball, m/s.
    pub const SPREAD: f64 = 0.5;
    /// The smallest and the largest diameter, m.
    pub const SIZES: [f64; 2] = [2e-4, 5e-3];
    /// The number of specks that are larger than `d` falls as `d` to the minus this power (Turcotte, *Fractals and
    /// fragmentation*, 1986: 2.5 for rock that was blown up and for broken coal).
    pub const FRACTAL_DIMENSION: f64 = 2.5;

    /// The dust of a recording of so many specks per joule; `pose` gives the pose of a track in a frame, if it exists
    /// then. There are fewer where more were asked for than [`Dust::MAX_SPECKS`], or than can be
    /// shown.
    ///
    /// A speck has the mean velocity that its place on the piece has in the frame after the birth, or in that of the
    /// birth if the piece ends with it. Gravity accelerates it until it meets a plane of the scene or
    /// its life ends.
    ///
    /// # Errors
    /// What `pose` says.
    pub fn new<E>(
        recording: &Recording,
        surroundings: &Surroundings,
        (per_joule, seed): (f64, u64),
        pose: impl Fn(usize, usize) -> Result<Option<Isometry3<f64>>, E>,
    ) -> Result<Self, E> {
        let faces = new_faces(recording, &surroundings.energies);
        Self::leaving(&faces, recording, surroundings, (per_joule, seed), pose)
    }

    /// The dust of the cracks between the pieces of a mesh through a material that takes `energy`, J/m^2, at the moment at which
    /// it breaks: it leaves pieces at rest.
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
        match Self::leaving(&faces, recording, &surroundings, (per_joule, seed), pose) {
            Ok(dust) => dust,
        }
    }

    /// The dust that leaves faces.
    fn leaving<E>(
        faces: &[Faces],
        recording: &Recording,
        surroundings: &Surroundings,
        (per_joule, seed): (f64, u64),
        pose: impl Fn(usize, usize) -> Result<Option<Isometry3<f64>>, E>,
    ) -> Result<Self, E> {
        let energy: f64 = faces.iter().map(|faces| faces.energy).fold(0.0, |sum, x| sum + x);
        let asked = per_joule * energy;
        let most = most_specks(recording.fps) as f64;
        let rate = if asked > most { most / energy } else { per_joule };
        let mut specks = Vec::with_capacity((rate * energy).min(most) as usize);
        let mut due = 0.0;
        for faces in faces {
            due += rate * faces.energy;
            // a sum that is whole but for rounding counts as whole
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
                    size: size(random.unit()),
                    life: landing.map_or(Self::LIFETIME, |time| time.min(Self::LIFETIME)),
                });
            }
        }
        specks.sort_by_key(|speck| speck.birth);
        let Recording { fps, frames, .. } = *recording;
        Ok(Self { specks, energy, asked, gravity: surroundings.gravity, fps, frames })
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

    /// In how many frames a speck is there, if the recording goes on for so long: one or more.
    pub fn shown_frames(&self, speck: &Speck) -> usize {
        // as `shown` compares, whatever the division rounds
        (1..shown_frames(self.fps))
            .find(|&n| n as f64 / self.fps > speck.life)
            .unwrap_or_else(|| shown_frames(self.fps))
    }

    /// The specks that are there in a frame.
    pub fn shown(&self, frame: usize) -> impl Iterator<Item = ShownSpeck> {
        let longest = shown_frames(self.fps);
        let start = self.specks.partition_point(|speck| speck.birth + longest <= frame);
        let end = self.specks.partition_point(|speck| speck.birth <= frame);
        (start..end).filter_map(move |n| {
            let speck = &self.specks[n];
            let time = (frame - speck.birth) as f64 / self.fps;
            let fall = self.gravity * time;
            let position = speck.position + (speck.velocity + 0.5 * fall) * time;
            let velocity = speck.velocity + fall;
            (time <= speck.life).then_some(ShownSpeck { number: n, position, velocity })
        })
    }
}

/// A speck in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownSpeck {
    /// Its number in [`Dust::specks`].
    pub number: usize,
    /// m.
    pub position: Point3<f64>,
    /// m/s.
    pub velocity: Vector3<f64>,
}

/// Frames in which a speck of the longest life is there.
fn shown_frames(fps: f64) -> usize {
    (Dust::LIFETIME * fps) as usize + 1
}

fn most_specks(fps: f64) -> usize {
    Dust::MAX_SPECKS.min(Dust::MAX_SHOWN_SPECKS / shown_frames(fps))
}

/// The faces of new cracks of all pieces, in the order of tracks.
fn new_faces(recording: &Recording, energies: &[f64]) -> Vec<Faces> {
    let tracks = &recording.tracks;
    let of = |number: usize| {
        let track = &tracks[number];
        let parent = track.parent?;
        let (LazySurface::Of(own), LazySurface::Of(whole)) =
            (&track.lazy_surface, &tracks[seen(tracks, parent)].lazy_surface)
        else {
            return None;
        };
        if track.end() == track.birth {
            return None;
        }
        let triangles = new_triangles(track, own, whole);
        let of_area = energies.get(root(tracks, parent)).copied().unwrap_or_default();
        Faces::new(number, triangles, of_area)
    };
    recording.fragments().into_par_iter().filter_map(of).collect()
}

/// The body itself, or the nearest one that it broke off and that was there in a frame.
fn seen(tracks: &[Track], mut number: usize) -> usize {
    while let Track { parent: Some(parent), .. } = tracks[number]
        && tracks[number].end() == tracks[number].birth
    {
        number = parent;
    }
    number
}

/// The body of the scene that it was a part of.
fn root(tracks: &[Track], mut number: usize) -> usize {
    while let Some(parent) = tracks[number].parent {
        number = parent;
    }
    number
}

/// Triangles of cuts that were inside the body that broke.
fn new_triangles(
    track: &Track,
    own: &SurfaceSource,
    whole: &SurfaceSource,
) -> Vec<[Point3<f64>; 3]> {
    /// Least depth of new faces of a convex body, over the distance of its samples: a pane may be thinner than this.
    const CONVEX: f64 = 0.25;
    /// The same of others, the old faces of which were found up to 0.41 deep, since they are drawn sharper than samples.
    const OTHER: f64 = 0.5;
    let (Some(own), Some(whole)) = (&own.solid, &whole.solid) else { return Vec::new() };
    let samples = whole.geometry.level_set();
    let depth = if whole.geometry.is_convex() { CONVEX } else { OTHER };
    let least = depth * samples.grid().spacing();
    let surface = track.surface();
    let triangles = surface.inner.iter().map(|triangle| corners(&surface, triangle));
    let is_new = |[a, b, c]: &[Point3<f64>; 3]| {
        let middle = Point3::from((a.coords + b.coords + c.coords) / 3.0);
        samples.value(&(own.material * middle)) < -least
    };
    triangles.filter(is_new).collect()
}

fn corners(surface: &Surface, triangle: &[u32; 3]) -> [Point3<f64>; 3] {
    triangle.map(|v| Point3::from(surface.vertices[v as usize].map(f64::from)))
}

fn area([a, b, c]: &[Point3<f64>; 3]) -> f64 {
    0.5 * (b - a).cross(&(c - a)).norm()
}

/// Uniform places on triangles.
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

/// The mean velocity of points of a piece, given in its body coordinates, in the frame after its birth, or in that of
/// its birth if it has no other.
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
        None => [before(tracks, number, pose)?, now],
    };
    let [start, end] = [start.or(end), end].map(Option::unwrap_or_default);
    let fps = *fps;
    Ok(move |p: &Point3<f64>| (end * p - start * p) * fps)
}

/// The pose of a piece as a part of its parent in the frame before its birth, if the parent existed then.
fn before<E>(
    tracks: &[Track],
    number: usize,
    pose: &impl Fn(usize, usize) -> Result<Option<Isometry3<f64>>, E>,
) -> Result<Option<Isometry3<f64>>, E> {
    let Track { parent, birth, lazy_surface: own, .. } = &tracks[number];
    let Some((parent, last)) = parent.zip(birth.checked_sub(1)) else { return Ok(None) };
    let parent = seen(tracks, parent);
    let material = |lazy_surface: &LazySurface| match lazy_surface {
        LazySurface::Of(source) => source.solid.as_ref().map(|solid| solid.material),
        LazySurface::Made(_) => None,
    };
    let Some((own, whole)) = material(own).zip(material(&tracks[parent].lazy_surface)) else {
        return Ok(None);
    };
    Ok(pose(parent, last)?.map(|pose| pose * whole.inverse() * own))
}

/// The diameter that a share of all specks exceeds, m.
fn size(share: f64) -> f64 {
    let [least, most] = Dust::SIZES;
    let rarest = libm::pow(least / most, Dust::FRACTAL_DIMENSION);
    least * libm::pow(1.0 - share * (1.0 - rarest), -1.0 / Dust::FRACTAL_DIMENSION)
}
