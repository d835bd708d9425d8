//! Export of bodies to other physics engines.

use std::collections::BTreeMap;
use std::sync::Arc;

use contact::constraint::{JointKind, Motor};
use contact::{Combine, Field, Groups, Shape};
use dynamics::{Body, Velocity};
use fracture::{ClosedMesh, convex_decomposition};
use levelset::{ConvexHull, TriMesh};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use rayon::prelude::*;

use crate::{
    BrokenMesh, LazySurface, Recorder, Recording, RigidError, Settings, Solid, Surface, Track,
    World, rigid,
};

/// Half the edges of the box that represents a half-space, m: other engines and formats have none.
const GROUND: Vector3<f64> = Vector3::new(500.0, 5.0, 500.0);
/// Relative error and maximum number of parts of a [`convex_decomposition`], for solids that are not
/// unions of convex parts already.
const ERROR: f64 = 0.05;
const MAX_PARTS: u32 = 64;

/// Bodies with the data that another physics engine needs to simulate them from here on, in SI
/// units.
#[derive(Clone, Debug)]
pub struct PhysicsScene {
    /// Gravity, m/s^2.
    pub gravity: Vector3<f64>,
    /// A track of one frame per body: its name, pose and look.
    pub recording: Recording,
    /// One per track.
    pub bodies: Vec<PhysicsBody>,
    /// Joints between them.
    pub joints: Vec<PhysicsJoint>,
}

/// A body of a [`PhysicsScene`].
#[derive(Clone, Debug)]
pub struct PhysicsBody {
    /// Its motion.
    pub motion: PhysicsMotion,
    /// Its collision solids, whose union is the body; bodies of one shape share them.
    pub colliders: Arc<[Collider]>,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Combination rule of friction.
    pub friction_rule: Combine,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Combination rule of restitution.
    pub restitution_rule: Combine,
    /// Its collision groups.
    pub groups: Groups,
}

/// The motion of a body of a [`PhysicsScene`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PhysicsMotion {
    /// Static.
    Static,
    /// At a prescribed velocity.
    Kinematic(Velocity),
    /// By forces, from an initial velocity.
    Dynamic(PhysicsMass, Velocity),
}

/// Mass and inertia in the coordinates of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhysicsMass {
    /// Mass, kg.
    pub mass: f64,
    /// Center of mass, m.
    pub center: Point3<f64>,
    /// Principal moments of inertia about the center of mass, kg m^2.
    pub inertia: Vector3<f64>,
    /// From principal axes to those of the body.
    pub axes: UnitQuaternion<f64>,
}

/// A collision solid of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// Its origin in body coordinates, m.
    pub center: Point3<f64>,
    /// Its solid.
    pub solid: ColliderSolid,
}

/// The solid of a [`Collider`] about its origin.
#[derive(Clone, Debug, PartialEq)]
pub enum ColliderSolid {
    /// Half the edge lengths, m.
    Box(Vector3<f64>),
    /// Radius, m.
    Ball(f64),
    /// A cylinder along y, or a cone if the upper radius is zero, m.
    Cylinder {
        /// Half the height.
        half_height: f64,
        /// The lower and the upper radius.
        radii: [f64; 2],
    },
    /// A cylinder along y with hemispheres at both ends, m.
    Capsule {
        /// Half the distance of the centers of the hemispheres.
        half_height: f64,
        /// Radius of the hemispheres.
        radius: f64,
    },
    /// A convex solid by its surface.
    Hull(TriMesh),
    /// Triangles, closed or not: for static and kinematic bodies only.
    Mesh(TriMesh),
}

/// A joint between two bodies of a [`PhysicsScene`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhysicsJoint {
    /// The motion that it allows.
    pub kind: JointKind,
    /// Indices of the bodies that it joins.
    pub bodies: [usize; 2],
    /// The anchor, with the axis along x, in the coordinates of each body.
    pub frames: [Isometry3<f64>; 2],
    /// Range of the angle, rad, or displacement, m, of the first body relative to the second.
    pub limits: Option<[f64; 2]>,
    /// The motor of the first body relative to the second.
    pub motor: Option<Motor>,
    /// Whether the bodies collide with each other.
    pub collides: bool,
}

impl World {
    /// The bodies in their current state, with the names and looks of a recording, for another
    /// physics engine.
    pub fn physics_scene(&self, recorder: &Recorder) -> PhysicsScene {
        let track = |i: usize| {
            let known = recorder.track(self.ids[i]);
            let lazy_surface =
                known.map_or_else(LazySurface::default, |track| track.lazy_surface.clone());
            Track {
                name: known.map_or_else(|| format!("body {i}"), |track| track.name.clone()),
                lazy_surface,
                look: known.map_or_else(Arc::default, |track| Arc::clone(&track.look)),
                parent: None,
                birth: 0,
                taken: 0,
                poses: vec![self.poses[i]],
                waypoints: Vec::new(),
                shrinks: None,
                stresses: Vec::new(),
            }
        };
        let tracks: Vec<Track> = (0..self.len()).map(track).collect();
        let colliders = self.colliders(&tracks);
        let body = |(i, colliders): (usize, Arc<[Collider]>)| {
            let (material, settings) = (&self.materials[i], &self.settings.contact);
            PhysicsBody {
                motion: self.physics_motion(i),
                colliders,
                friction: material.friction,
                friction_rule: material.friction_rule.unwrap_or(settings.friction),
                restitution: material.restitution,
                restitution_rule: material.restitution_rule.unwrap_or(settings.restitution),
                groups: self.groups[i],
            }
        };
        let recording = Recording {
            fps: 1.0 / self.settings.dt,
            frames: 1,
            tracks,
            energies: Vec::new(),
            crumbs: Vec::new(),
            camera: recorder.recording().camera.clone(),
        };
        let joints = self.frame_joints().into_iter().map(|joint| PhysicsJoint {
            kind: joint.kind,
            bodies: joint.bodies.map(|body| body as usize),
            frames: joint.frames,
            limits: joint.limits,
            motor: joint.motor,
            collides: joint.collides,
        });
        PhysicsScene {
            gravity: self.settings.gravity,
            bodies: colliders.into_iter().enumerate().map(body).collect(),
            joints: joints.collect(),
            recording,
        }
    }

    /// The colliders of each body of `tracks`; bodies of one shape share them.
    fn colliders(&self, tracks: &[Track]) -> Vec<Arc<[Collider]>> {
        let address = |i: &usize| Arc::as_ptr(&self.shapes[*i]).addr();
        let mut first = BTreeMap::new();
        for i in 0..self.len() {
            first.entry(address(&i)).or_insert(i);
        }
        let found: BTreeMap<usize, Arc<[Collider]>> = first
            .into_par_iter()
            .map(|(address, i)| {
                let colliders =
                    colliders(&self.shapes[i], self.details[i].solid.as_ref(), &tracks[i]);
                (address, colliders.into())
            })
            .collect();
        (0..self.len()).map(|i| Arc::clone(&found[&address(&i)])).collect()
    }

    fn physics_motion(&self, i: usize) -> PhysicsMotion {
        let (body, rotation) = (&self.bodies[i], &self.poses[i].rotation);
        match body {
            Body::Static => PhysicsMotion::Static,
            Body::Kinematic(velocity) => PhysicsMotion::Kinematic(*velocity),
            Body::Dynamic(mass) => {
                let properties = PhysicsMass {
                    mass: mass.mass(),
                    center: Point3::origin(),
                    inertia: mass.inertia(),
                    axes: UnitQuaternion::identity(),
                };
                PhysicsMotion::Dynamic(properties, body.velocity(rotation, &self.momenta[i]))
            }
        }
    }
}

impl BrokenMesh {
    /// The pieces as bodies at rest of `density` kg/m^3, for a physics engine.
    ///
    /// # Errors
    /// [`RigidError`] if a piece has no volume or the density is not a positive number.
    pub fn physics_scene(&self, density: f64) -> Result<PhysicsScene, RigidError> {
        let body = |(track, moments): (&Track, &levelset::Moments)| {
            let (mass, material) = rigid(moments, density)?;
            let pose = track.poses.first().copied().unwrap_or_default();
            let local = pose.inverse() * material;
            let properties = PhysicsMass {
                mass: mass.mass(),
                center: local.translation.vector.into(),
                inertia: mass.inertia(),
                axes: local.rotation,
            };
            let solid = match &track.lazy_surface {
                LazySurface::Of(source) => source.solid.as_ref(),
                LazySurface::Made(_) => None,
            };
            let of = |solid: &Solid| colliders(&solid.shape(), Some(solid), track);
            let material = contact::Material::default();
            let rules = contact::Settings::default();
            Ok(PhysicsBody {
                motion: PhysicsMotion::Dynamic(properties, Velocity::default()),
                colliders: solid.map(of).unwrap_or_default().into(),
                friction: material.friction,
                friction_rule: rules.friction,
                restitution: material.restitution,
                restitution_rule: rules.restitution,
                groups: Groups::default(),
            })
        };
        let tracks = self.recording.tracks.par_iter().zip(&self.moments);
        Ok(PhysicsScene {
            gravity: Settings::default().gravity,
            recording: self.recording.clone(),
            bodies: tracks.map(body).collect::<Result<_, RigidError>>()?,
            joints: Vec::new(),
        })
    }
}

/// Solids whose union approximates a shape. The parts of a sampled shape come from the surface of
/// its track, which is sharper than the samples.
fn colliders(shape: &Shape, solid: Option<&Solid>, track: &Track) -> Vec<Collider> {
    let one = |center: Vector3<f64>, solid: ColliderSolid| {
        vec![Collider { center: center.into(), solid }]
    };
    let at = Vector3::zeros();
    match shape.field() {
        Field::HalfSpace => one(-GROUND.y * Vector3::y(), ColliderSolid::Box(GROUND)),
        // empty
        Field::Ball { radius } if *radius <= 0.0 => Vec::new(),
        Field::Ball { radius } => one(at, ColliderSolid::Ball(*radius)),
        Field::Cuboid { half } => one(at, ColliderSolid::Box(*half)),
        Field::Round(round) => {
            let [low, high] = *round.rims();
            let (half_height, middle) =
                (0.5 * (high.height - low.height), low.height + high.height);
            let solid = match round.rounding() {
                0.0 => ColliderSolid::Cylinder { half_height, radii: [low.radius, high.radius] },
                radius => ColliderSolid::Capsule { half_height, radius },
            };
            one(0.5 * middle * Vector3::y(), solid)
        }
        Field::Hull(hull) => hulls(vec![hull.mesh().clone()]),
        Field::Hulls(parts) => hulls(parts.iter().map(|hull| hull.mesh().clone()).collect()),
        Field::Mesh(triangles) => one(at, ColliderSolid::Mesh(triangles.mesh().clone())),
        Field::Tets(tets) => hulls(parts_of(tets.surface()).unwrap_or_else(|| {
            let hull = ConvexHull::new(&tets.surface().vertices).ok();
            hull.map(|hull| hull.mesh().clone()).into_iter().collect()
        })),
        Field::Grid { .. } => hulls(parts_of(&drawn(&track.surface())).unwrap_or_else(|| {
            let samples = || Solid::of_samples(shape);
            let Some(Solid { geometry, material }) = solid.cloned().or_else(samples) else {
                return Vec::new();
            };
            let mut parts = geometry.convex_decomposition(ERROR, MAX_PARTS);
            for vertex in parts.iter_mut().flat_map(|part| &mut part.vertices) {
                *vertex = material.inverse_transform_point(vertex);
            }
            parts
        })),
    }
}

/// The convex parts of the solid bounded by a surface; `None` if the surface is not closed.
fn parts_of(surface: &TriMesh) -> Option<Vec<TriMesh>> {
    let solid = ClosedMesh::new(surface.welded()).ok()?;
    let parts = convex_decomposition(&solid, ERROR, MAX_PARTS);
    (!parts.is_empty()).then_some(parts)
}

/// The triangles of a surface.
fn drawn(surface: &Surface) -> TriMesh {
    let vertices = surface.vertices.iter().map(|v| Point3::from(v.map(f64::from)));
    let triangles = surface.outer.iter().chain(&surface.inner).copied();
    TriMesh { vertices: vertices.collect(), triangles: triangles.collect() }
}

fn hulls(parts: Vec<TriMesh>) -> Vec<Collider> {
    let hull = |part| Collider { center: Point3::origin(), solid: ColliderSolid::Hull(part) };
    parts.into_iter().map(hull).collect()
}
