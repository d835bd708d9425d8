//! Poses of the copies of bodies.

use std::borrow::Cow;

use fracture::Random;
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};

use crate::scene::{self, Axis, Body, Scene, mirrored_pose};

/// A body with the copies that share its solid.
pub(super) struct Set<'a> {
    pub(super) spec: Cow<'a, Body>,
    /// Names and places of the copies.
    pub(super) places: Vec<(String, CopyPlace)>,
}

/// All bodies of a scene; those with mirrored copies are followed by their images.
pub(super) fn sets(scene: &Scene) -> Vec<Set<'_>> {
    scene.bodies.iter().flat_map(|spec| sets_of(spec, scene.simulation.seed)).collect()
}

/// A body of a scene with its copies, and their images if there are any.
pub(super) fn sets_of(spec: &Body, seed: u64) -> Vec<Set<'_>> {
    let places = places(spec, seed);
    let image = spec.copies.and_then(|copies| Some((copies.mirror?, copies.mirror_at)));
    let images = image.map(|(axis, at)| {
        let image = Image { axis, at, own: spec.shape.mirror_axis() };
        let count = places.len();
        let of = |(n, (_, place)): (usize, &(String, CopyPlace))| {
            let name = format!("{} {}", spec.name, count + n + 1);
            (name, CopyPlace { image: Some(image), ..*place })
        };
        let places = places.iter().enumerate().map(of).collect();
        Set { spec: Cow::Owned(spec.image(axis)), places }
    });
    [Set { spec: Cow::Borrowed(spec), places }].into_iter().chain(images).collect()
}

/// The mirror plane of a copy.
#[derive(Clone, Copy)]
struct Image {
    axis: Axis,
    /// Position of the plane along the axis, m.
    at: f64,
    /// The local axis along which the shape is mirrored.
    own: Axis,
}

/// The place of a copy relative to its body.
#[derive(Clone, Copy)]
pub(super) struct CopyPlace {
    /// Offset from the body, m.
    offset: Vector3<f64>,
    /// Rotation about its origin in addition to that of the body.
    turn: UnitQuaternion<f64>,
    /// Mirror plane, applied last.
    image: Option<Image>,
}

impl CopyPlace {
    /// Position in the copy of a point of the body's shape, with the body at a pose.
    pub(super) fn point(&self, pose: &Isometry3<f64>, mut p: Point3<f64>) -> Point3<f64> {
        if let Some(Image { own, .. }) = self.image {
            p[own as usize] = -p[own as usize];
        }
        self.of(pose) * p
    }

    /// The pose of the copy with the body at a pose.
    pub(super) fn of(&self, pose: &Isometry3<f64>) -> Isometry3<f64> {
        let place = Translation3::from(pose.translation.vector + self.offset);
        // a pose without rotation must keep its bits
        let is_turned = self.turn != UnitQuaternion::identity();
        let rotation = if is_turned { self.turn * pose.rotation } else { pose.rotation };
        let pose = Isometry3::from_parts(place, rotation);
        match self.image {
            Some(Image { axis, at, own }) => mirrored_pose(&pose, axis, at, own),
            None => pose,
        }
    }
}

/// Names and places of a body's copies.
fn places(spec: &scene::Body, seed: u64) -> Vec<(String, CopyPlace)> {
    let Some(copies) = &spec.copies else {
        let place =
            CopyPlace { offset: Vector3::zeros(), turn: UnitQuaternion::identity(), image: None };
        return vec![(spec.name.clone(), place)];
    };
    let [nx, ny, nz] = copies.count;
    let spacing = Vector3::from(copies.spacing);
    let middle = |n: usize| (n as f64 - 1.0) / 2.0;
    let mut random = Random::new(seed);
    let mut places = Vec::new();
    for j in 0..ny {
        for (i, k) in (0..nx).flat_map(|i| (0..nz).map(move |k| (i, k))) {
            let steps = Vector3::new(i as f64 - middle(nx), j as f64, k as f64 - middle(nz));
            let jitter = random.in_cube() * copies.jitter;
            let name = format!("{} {}", spec.name, places.len() + 1);
            let turn = turned(copies, places.len(), &mut random);
            let offset = steps.component_mul(&spacing) + jitter;
            places.push((name, CopyPlace { offset, turn, image: None }));
        }
    }
    places
}

/// Rotation of the copy with an index.
fn turned(copies: &scene::Copies, number: usize, random: &mut Random) -> UnitQuaternion<f64> {
    let rotation = |axis: Vector3<f64>, degrees: f64| {
        UnitQuaternion::from_axis_angle(&Unit::new_normalize(axis), degrees.to_radians())
    };
    let even = rotation(copies.turn.axis.into(), copies.turn.degrees * number as f64);
    if copies.turn_jitter == 0.0 {
        return even;
    }
    let axis = random.in_cube();
    let axis = if axis.norm_squared() > 1e-6 { axis } else { Vector3::y() };
    rotation(axis, copies.turn_jitter * random.signed()) * even
}
