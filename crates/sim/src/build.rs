//! A world from a scene.

use std::collections::BTreeMap;
use std::sync::Arc;

use contact::{Field, Material, Shape};
use dynamics::{Body, MassError, MassProperties, Velocity};
use fracture::{Pattern, PatternError, Radial, Voronoi};
use levelset::{Aabb, Grid, GridError, LevelSet, MeshError, Sign, Solid, TriMesh};
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use thiserror::Error;

use crate::scene::{self, Motion, Scene};
use crate::{BodyId, Breakage, NewBody, RigidError, Settings, World, rigid};

/// Empty cells around a sampled solid.
const PADDING: usize = 3;

/// Why a scene makes no world.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{part}: {cause}")]
pub struct BuildError {
    /// The key of the body or pattern at fault, as `body \"bunny\"`.
    pub part: String,
    /// What is wrong with it.
    pub cause: Cause,
}

/// What is wrong with a part of a scene.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// Its mesh file was not given.
    #[error("the mesh file {file:?} was not read")]
    NoMesh {
        /// Name of the file as in the scene.
        file: String,
    },
    /// Its mesh bounds no solid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Its grid cannot be made.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// It has no mass.
    #[error(transparent)]
    Rigid(#[from] RigidError),
    /// Its pattern's parameters are out of range.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

impl From<MassError> for Cause {
    fn from(error: MassError) -> Self {
        Self::Rigid(error.into())
    }
}

/// How a body of a scene is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Appearance {
    /// The body.
    pub body: BodyId,
    /// Its name in the scene.
    pub name: String,
    /// Linear RGB colour.
    pub colour: [f32; 3],
}

/// Makes the world that `scene` describes. `meshes` holds the meshes it names, by file name.
///
/// # Errors
/// [`BuildError`], naming the body or pattern, when a mesh is missing or bounds no solid, or a body
/// has no mass at its resolution.
pub fn build(
    scene: &Scene,
    meshes: &BTreeMap<String, TriMesh>,
) -> Result<(World, Vec<Appearance>), BuildError> {
    let mut patterns = Patterns { scene, made: Vec::new() };
    let mut world = World::new(Settings {
        dt: 1.0 / scene.simulation.fps,
        gravity: scene.simulation.gravity.into(),
        sleep: scene.simulation.sleep,
        ..Settings::default()
    });
    let mut appearances = Vec::new();
    for spec in &scene.bodies {
        let failed = |cause| BuildError { part: format!("body {:?}", spec.name), cause };
        let mut new = body(spec, meshes).map_err(failed)?;
        if let (Some(f), Field::Grid { level_set, .. }) = (&spec.fracture, new.shape.field()) {
            let pattern = patterns.of(&f.pattern, &spec.shape, level_set)?;
            new.breakage = pattern.map(|pattern| Breakage {
                pattern,
                strength: f.strength,
                generations: f.generations,
                least_samples: f.min_nodes,
            });
        }
        let body = world.add(new);
        appearances.push(Appearance { body, name: spec.name.clone(), colour: spec.colour });
    }
    Ok((world, appearances))
}

/// The patterns of a scene: a pattern's number of pieces is that of the body it breaks, so there is
/// one for each of its bodies that are not alike.
struct Patterns<'a> {
    scene: &'a Scene,
    made: Vec<(&'a str, &'a scene::Shape, Arc<Pattern>)>,
}

impl<'a> Patterns<'a> {
    /// The pattern of that name for a body; `None` if the scene has none.
    fn of(
        &mut self,
        name: &'a str,
        shape: &'a scene::Shape,
        body: &LevelSet,
    ) -> Result<Option<Arc<Pattern>>, BuildError> {
        let known = self.made.iter().find(|(n, s, _)| *n == name && *s == shape);
        if let Some((_, _, pattern)) = known {
            return Ok(Some(Arc::clone(pattern)));
        }
        let mut numbered = (0..).zip(&self.scene.patterns);
        let Some((n, (_, spec))) = numbered.find(|(_, (other, _))| *other == name) else {
            return Ok(None);
        };
        let seed = self.scene.simulation.seed.wrapping_add(n);
        let failed =
            |e: PatternError| BuildError { part: format!("pattern {name:?}"), cause: e.into() };
        let made = Arc::new(pattern(spec, seed, body).map_err(failed)?);
        self.made.push((name, shape, Arc::clone(&made)));
        Ok(Some(made))
    }
}

fn pattern(spec: &scene::Pattern, seed: u64, body: &LevelSet) -> Result<Pattern, PatternError> {
    match spec {
        // a clustering of 1 lets the density of sites fall with the square of the distance
        scene::Pattern::Voronoi(v) => {
            let clustering = 1.0 + 2.0 * v.clustering;
            let sites = Voronoi { clustering, ..Voronoi::new(v.pieces, seed) };
            Pattern::voronoi(&sites.with_pieces(v.pieces, body))
        }
        scene::Pattern::Radial(r) => {
            Pattern::radial(&Radial { jitter: r.jitter, ..Radial::new(r.sectors, r.rings, seed) })
        }
    }
}

fn body(spec: &scene::Body, meshes: &BTreeMap<String, TriMesh>) -> Result<NewBody, Cause> {
    let Solids { shape, mass, frame } = solid(spec, spec.fracture.is_some(), meshes)?;
    let velocity = Velocity { linear: spec.velocity.into(), angular: spec.angular_velocity.into() };
    let body = match (spec.motion, mass) {
        (Motion::Dynamic, Some(mass)) => Body::Dynamic(mass),
        (Motion::Dynamic, None) => return Err(RigidError::Empty.into()),
        (Motion::Static, _) => Body::Static,
        (Motion::Kinematic, _) => Body::Kinematic(velocity),
    };
    Ok(NewBody {
        body,
        pose: spec.pose() * frame,
        velocity,
        shape: Arc::new(shape),
        material: Material {
            restitution: spec.restitution,
            friction: spec.friction,
            ..Material::default()
        },
        breakage: None,
    })
}

struct Solids {
    shape: Shape,
    /// `None` for a solid without end.
    mass: Option<MassProperties>,
    /// Body coordinates to those of the scene's shape.
    frame: Isometry3<f64>,
}

/// The solid of a body: exact where it is a plane, or a ball or box that never breaks, else sampled.
fn solid(
    spec: &scene::Body,
    breaks: bool,
    meshes: &BTreeMap<String, TriMesh>,
) -> Result<Solids, Cause> {
    let exact = |shape, volume: f64, per_mass: Vector3<f64>| -> Result<Solids, Cause> {
        let mass = volume * spec.density;
        let mass = Some(MassProperties::new(mass, per_mass * mass)?);
        Ok(Solids { shape, mass, frame: Isometry3::identity() })
    };
    let spacing = spec.shape.spacing().unwrap_or(1.0);
    match &spec.shape {
        scene::Shape::Plane(plane) => {
            let normal = Unit::new_normalize(Vector3::from(plane.normal));
            let up = Vector3::y_axis();
            let rotation =
                UnitQuaternion::rotation_between_axis(&up, &normal).unwrap_or_else(|| {
                    UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI)
                });
            let place = Translation3::from(normal.into_inner() * plane.offset);
            let frame = Isometry3::from_parts(place, rotation);
            Ok(Solids { shape: Shape::half_space(), mass: None, frame })
        }
        scene::Shape::Sphere(s) if !breaks => {
            let volume = 4.0 / 3.0 * std::f64::consts::PI * s.radius.powi(3);
            exact(Shape::ball(s.radius), volume, Vector3::repeat(0.4 * s.radius.powi(2)))
        }
        scene::Shape::Box(b) if !breaks => {
            let half = Vector3::from(b.half_extents);
            let s = half.component_mul(&half) / 3.0;
            let per_mass = Vector3::new(s.y + s.z, s.z + s.x, s.x + s.y);
            exact(Shape::cuboid(half, spacing), 8.0 * half.product(), per_mass)
        }
        scene::Shape::Mesh(mesh) => sampled(mesh_level_set(mesh, meshes)?, spec.density),
        scene::Shape::Sphere(s) => analytic(spec, Solid::Sphere { radius: s.radius }),
        scene::Shape::Box(b) => analytic(spec, Solid::Box { half_extents: b.half_extents.into() }),
        scene::Shape::Cylinder(c) => {
            let (radius, half_height) = (c.radius, c.half_height);
            analytic(spec, Solid::Cylinder { half_height, radius })
        }
        scene::Shape::Capsule(c) => {
            let (radius, half_height) = (c.radius, c.half_height);
            analytic(spec, Solid::Capsule { half_height, radius })
        }
    }
}

fn analytic(spec: &scene::Body, solid: Solid) -> Result<Solids, Cause> {
    let half = Vector3::from(spec.shape.extents().unwrap_or_default()) / 2.0;
    let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
    let spacing = spec.shape.spacing().unwrap_or(1.0);
    let grid = Grid::enclosing(&bounds, spacing, PADDING, Grid::MAX_NODES)?;
    sampled(LevelSet::from_fn(grid, |p| solid.distance(&p)), spec.density)
}

fn sampled(level_set: LevelSet, density: f64) -> Result<Solids, Cause> {
    let (mass, frame) = rigid(&level_set.moments(), density)?;
    let points = level_set.surface_particles(level_set.grid().spacing());
    Ok(Solids { shape: Shape::grid(level_set, &points, frame), mass: Some(mass), frame })
}

fn mesh_level_set(
    spec: &scene::Mesh,
    meshes: &BTreeMap<String, TriMesh>,
) -> Result<LevelSet, Cause> {
    let mesh = meshes.get(&spec.file).ok_or(Cause::NoMesh { file: spec.file.clone() })?;
    let bounds = Aabb::around(&mesh.vertices).ok_or(MeshError::Empty)?;
    let (scaled, bounds) = match spec.size {
        None => (mesh.clone(), bounds),
        Some(size) => {
            let (scale, centre) = (size / bounds.extents().max(), bounds.centre());
            let place = |p: &Point3<f64>| Point3::from((p - centre) * scale);
            let vertices: Vec<_> = mesh.vertices.iter().map(place).collect();
            let bounds = Aabb { min: place(&bounds.min), max: place(&bounds.max) };
            (TriMesh { vertices, triangles: mesh.triangles.clone() }, bounds)
        }
    };
    let cells = |a: usize| (spec.resolution[a].saturating_sub(1 + 2 * PADDING)).max(1) as f64;
    let spacing = (0..3).map(|a| bounds.extents()[a] / cells(a)).fold(0.0, f64::max);
    let grid = Grid::enclosing(&bounds, spacing, PADDING, Grid::MAX_NODES)?;
    Ok(LevelSet::from_mesh(&scaled, grid, Sign::Strict)?)
}
