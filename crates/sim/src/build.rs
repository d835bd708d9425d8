//! A world from a scene.

use std::collections::BTreeMap;
use std::sync::Arc;

use contact::constraint::{JointKind, Motor};
use contact::{Field, Groups, Material, Shape, Triangles};
use dynamics::{Body, MassError, MassProperties, Velocity};
use fracture::{Neighbours, Noise, Pattern, PatternError, Radial, Spread, Voronoi, Weakness};
use levelset::{
    Aabb, ConvexHull, Grid, GridError, LevelSet, MeshError, Sign, Solid, TetError, TetMesh, TriMesh,
};
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use tetfem::CutLimits;
use thiserror::Error;

use crate::elastic::interpolation;
use crate::scene::{self, Motion, Scene};
use crate::{
    Action, Anchor, Appearance, BodyId, Bonds, Breakage, Debris, ElasticBody, Explosion,
    FractureModel, JointError, JointId, LatticeModel, NewBody, NewJoint, Path, Region, Retire,
    Retired, RigidError, Settings, Strength, StressModel, Timeline, Wind, World, rigid,
};

/// Empty cells around a sampled solid.
const PADDING: usize = 3;

/// What a mesh file holds.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshData {
    /// The surface of a solid.
    Surface(TriMesh),
    /// A solid filled with tetrahedra.
    Tets(TetMesh),
}

/// Why a scene makes no world.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{part}: {cause}")]
pub struct BuildError {
    /// The key of the body, joint or pattern at fault, as `body \"bunny\"`.
    pub part: String,
    /// What is wrong with it.
    pub cause: Cause,
}

/// What is wrong with a part of a scene.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// Its mesh file was not given.
    #[error("the mesh file {file:?} was not read, or not as {kind}")]
    NoMesh {
        /// Name of the file as in the scene.
        file: String,
        /// What the scene takes it for.
        kind: &'static str,
    },
    /// Its tetrahedra are not valid.
    #[error(transparent)]
    Tets(#[from] TetError),
    /// Its tetrahedra fall apart.
    #[error("the tetrahedra are {0} pieces that share no faces: make a body of each")]
    Disconnected(usize),
    /// Its mesh bounds no solid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Its grid cannot be made.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// It has no mass.
    #[error(transparent)]
    Rigid(#[from] RigidError),
    /// No part of it that anchors hold is there, or touches what they hold on to.
    #[error(
        "no part of it is in the region of an anchor, or touches there the body that the anchor \
         holds on to: move or enlarge the region"
    )]
    NotAnchored,
    /// Its pattern's file was not given.
    #[error("the pattern file {file:?} was not read")]
    NoPattern {
        /// Name of the file as in the scene.
        file: String,
    },
    /// Its picture of strength was not given.
    #[error("the picture {file:?} was not read")]
    NoPicture {
        /// Name of the file as in the scene.
        file: String,
    },
    /// Its pattern's parameters are out of range.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// Its bodies cannot be joined so.
    #[error(transparent)]
    Joint(#[from] JointError),
}

impl From<MassError> for Cause {
    fn from(error: MassError) -> Self {
        Self::Rigid(error.into())
    }
}

/// Makes the world that `scene` describes. `meshes` holds the meshes it names, by file name.
///
/// # Errors
/// [`BuildError`], naming the body or pattern, when a mesh is missing or bounds no solid, or a body
/// has no mass at its resolution.
pub fn build(
    scene: &Scene,
    meshes: &BTreeMap<String, MeshData>,
) -> Result<(World, Vec<Appearance>), BuildError> {
    let mut patterns = Patterns { scene, made: Vec::new() };
    let mut world = World::new(Settings {
        dt: 1.0 / scene.simulation.fps,
        gravity: scene.simulation.gravity.into(),
        debris: debris(scene),
        sleep: scene.simulation.sleep,
        contact: contact::Settings {
            solver: scene.simulation.solver.contact(),
            ..contact::Settings::default()
        },
        ..Settings::default()
    });
    let mut appearances: Vec<Appearance> = Vec::new();
    let mut paths = Vec::new();
    for spec in &scene.bodies {
        let failed = |cause| BuildError { part: format!("body {:?}", spec.name), cause };
        let solids = solid(spec, meshes).map_err(failed)?;
        let mesh = solids.mesh.clone();
        let breakage = breakage(spec, &mut patterns, &solids)?;
        let frame = solids.frame;
        let one = NewBody {
            groups: scene.groups_of(spec),
            ..body(spec, solids, breakage).map_err(failed)?
        };
        let look = Arc::new(spec.look());
        for (name, offset) in places(spec, scene.simulation.seed) {
            let pose = Translation3::from(offset) * one.pose;
            let body = world.add(NewBody { pose, ..one.clone() });
            world.set_solid(body, spec.solid().unwrap_or(fracture::Material::STONE));
            if let Some(keyframes) = &spec.keyframes {
                let place = |k: &scene::Keyframe| Translation3::from(offset) * k.pose() * frame;
                let keys = keyframes.iter().map(|k| (k.time, place(k))).collect();
                paths.push(Path { body, keys });
            }
            appearances.push(Appearance { body, name, look: look.clone(), mesh: mesh.clone() });
        }
    }
    anchor(scene, &mut world, &appearances)?;
    for (n, spec) in scene.joints.iter().enumerate() {
        let failed =
            |cause: JointError| BuildError { part: format!("joints[{n}]"), cause: cause.into() };
        join(spec, &mut world, &appearances).map_err(failed)?;
    }
    world.set_timeline(timeline(scene, &appearances, paths));
    Ok((world, appearances))
}

fn join(
    spec: &scene::Joint,
    world: &mut World,
    appearances: &[Appearance],
) -> Result<JointId, JointError> {
    let named = |name: &String| appearances.iter().find(|a| a.name == *name).map(|a| a.body);
    let [Some(a), Some(b)] = spec.bodies.each_ref().map(named) else {
        return Err(JointError::Bodies);
    };
    let anchors = [spec.anchor, spec.second_anchor.unwrap_or(spec.anchor)].map(Point3::from);
    let limits = spec.limits;
    let (kind, limits) = match spec.kind {
        scene::JointKind::Point => (JointKind::Point, limits),
        scene::JointKind::Hinge => (JointKind::Hinge, limits.map(|l| l.map(f64::to_radians))),
        scene::JointKind::Slider => (JointKind::Slider, limits),
        scene::JointKind::Fixed => (JointKind::Fixed, limits),
        scene::JointKind::Distance => {
            let length = (anchors[0] - anchors[1]).norm();
            let [least, most] = limits.unwrap_or([length; 2]);
            (JointKind::Distance { least, most }, None)
        }
    };
    world.join(NewJoint {
        kind,
        bodies: [a, b],
        anchors,
        axis: spec.axis.into(),
        limits,
        motor: spec.motor.map(|scene::Motor { speed, most }| Motor { speed, most }),
        break_force: spec.break_force.unwrap_or(f64::INFINITY),
        break_torque: spec.break_torque.unwrap_or(f64::INFINITY),
        collides: spec.collides,
    })
}

fn timeline(scene: &Scene, appearances: &[Appearance], paths: Vec<Path>) -> Timeline {
    let places = |ends: [[f64; 3]; 2]| ends.map(Point3::from);
    let action = |event: &scene::Event| -> Option<Action> {
        if let Some(scene::Cut { from, to }) = event.cut {
            return Some(Action::Cut { from: places(from), to: places(to) });
        }
        if let Some(scene::Explosion { at, radius, impulse }) = event.explode {
            return Some(Action::Explode(Explosion { at: at.into(), radius, impulse }));
        }
        let push = event.push.as_ref()?;
        let body = appearances.iter().find(|a| a.name == push.body)?.body;
        let (impulse, at) = (push.impulse.into(), push.at.map(Point3::from));
        Some(Action::Push { body, impulse, at })
    };
    let frame = |event: &scene::Event| (event.time * scene.simulation.fps).round() as usize;
    Timeline {
        wind: scene.wind.map(|scene::Wind { velocity, density, drag }| Wind {
            velocity: velocity.into(),
            density,
            drag,
        }),
        actions: scene.events.iter().filter_map(|e| Some((frame(e), action(e)?))).collect(),
        paths,
    }
}

fn debris(scene: &Scene) -> Debris {
    let spec = &scene.debris;
    Debris {
        most_bodies: spec.max_bodies.unwrap_or(usize::MAX),
        most_new: spec.max_new.unwrap_or(usize::MAX),
        most_samples: scene.nodes_left(),
        least_size: spec.min_size,
        retire: spec.retire.map(|retire| Retire {
            after: retire.after,
            slower_than: retire.slower_than,
            then: match retire.then {
                scene::Then::Keep => Retired::Kept,
                scene::Then::Remove => Retired::Removed,
                scene::Then::Shrink => Retired::Shrunk,
            },
        }),
    }
}

/// Names of a body's copies, and how far from its position each is.
fn places(spec: &scene::Body, seed: u64) -> Vec<(String, Vector3<f64>)> {
    let Some(copies) = &spec.copies else {
        return vec![(spec.name.clone(), Vector3::zeros())];
    };
    let [nx, ny, nz] = copies.count;
    let spacing = Vector3::from(copies.spacing);
    let middle = |n: usize| (n as f64 - 1.0) / 2.0;
    let mut word = seed;
    let mut stray = || {
        // SplitMix64 (Steele, Lea and Flood 2014)
        word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = word;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        copies.jitter * (2.0 * ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 1.0)
    };
    let mut places = Vec::new();
    for j in 0..ny {
        for (i, k) in (0..nx).flat_map(|i| (0..nz).map(move |k| (i, k))) {
            let steps = Vector3::new(i as f64 - middle(nx), j as f64, k as f64 - middle(nz));
            let strays = Vector3::new(stray(), stray(), stray());
            let name = format!("{} {}", spec.name, places.len() + 1);
            places.push((name, steps.component_mul(&spacing) + strays));
        }
    }
    places
}

/// Anchors the bodies that have anchors, those first that hold others.
fn anchor(scene: &Scene, world: &mut World, appearances: &[Appearance]) -> Result<(), BuildError> {
    let named = |name: &str| appearances.iter().find(|a| a.name == name).map(|a| a.body);
    // one entry per copy, in the order in which bodies were added
    let copies = scene.bodies.iter().flat_map(|spec| {
        let places = places(spec, scene.simulation.seed);
        places.into_iter().map(move |(_, offset)| (spec, Translation3::from(offset) * spec.pose()))
    });
    let mut open: Vec<_> =
        copies.zip(appearances).filter(|((spec, _), _)| !spec.anchors.is_empty()).collect();
    while !open.is_empty() {
        let before = open.len();
        open.retain(|((spec, pose), appearance)| {
            let anchors = spec.anchors.iter().map(|a| region(a, pose, named)).collect();
            !world.anchor(appearance.body, anchors, spec.anchor_strength())
        });
        if open.len() == before {
            let part = format!("body {:?}", open[0].0.0.name);
            return Err(BuildError { part, cause: Cause::NotAnchored });
        }
    }
    Ok(())
}

/// An anchor in the world, of a body with its shape at `pose`.
fn region(
    spec: &scene::Anchor,
    pose: &Isometry3<f64>,
    named: impl Fn(&str) -> Option<BodyId>,
) -> Anchor {
    let scene::Anchor { sphere, r#box, plane, to } = spec;
    let region = if let Some(ball) = sphere {
        Region::Ball { centre: pose * Point3::from(ball.centre), radius: ball.radius }
    } else if let Some(block) = r#box {
        let place = Translation3::from(Vector3::from(block.centre));
        Region::Cuboid { pose: pose * place, half: block.half_extents.into() }
    } else if let Some(plane) = plane {
        let normal = pose.rotation * Unit::new_normalize(Vector3::from(plane.normal));
        Region::HalfSpace { normal, offset: plane.offset + normal.dot(&pose.translation.vector) }
    } else {
        Region::Everywhere
    };
    Anchor { region, to: to.as_deref().and_then(named) }
}

/// The pattern that `spec` describes; a number of pieces is that of `body`, or of all space where
/// there is none.
///
/// # Errors
/// [`Cause`] when a parameter is out of its range, or the pattern's file was not given.
pub fn pattern(
    spec: &scene::Pattern,
    seed: u64,
    body: Option<&LevelSet>,
) -> Result<Pattern, Cause> {
    let (pattern, noise) = match spec {
        // a clustering of 1 lets the density of sites fall with the square of the distance
        scene::Pattern::Voronoi(v) => {
            let clustering = 1.0 + 2.0 * v.clustering;
            let sites = Voronoi { clustering, ..Voronoi::new(v.pieces, seed) };
            let sites = body.map_or(sites, |body| sites.with_pieces(v.pieces, body));
            (Pattern::voronoi(&sites)?, v.noise)
        }
        scene::Pattern::File(named) => {
            let missing = || Cause::NoPattern { file: named.file.clone() };
            (Pattern::clone(named.read.as_ref().ok_or_else(missing)?), None)
        }
        scene::Pattern::Radial(r) => {
            let spec = Radial { jitter: r.jitter, ..Radial::new(r.sectors, r.rings, seed) };
            let radial = Pattern::radial(&spec)?;
            let whole = r.splinters == 1;
            let splinters = || Pattern::voronoi(&Voronoi::new(r.splinters, seed));
            (if whole { radial } else { radial.nested(&splinters()?)? }, r.noise)
        }
    };
    let Some(scene::Noise { amplitude, frequency }) = noise else { return Ok(pattern) };
    let bounds = Aabb { min: Point3::from([-1.0; 3]), max: Point3::from([1.0; 3]) };
    // as fine as the samples of most bodies, whose diagonal is a unit
    Ok(pattern.roughened(&bounds, 0.016, &Noise { amplitude, frequency, octaves: 3, seed })?)
}

/// How a body breaks.
fn breakage<'a>(
    spec: &'a scene::Body,
    patterns: &mut Patterns<'a>,
    solids: &Solids,
) -> Result<Option<Breakage>, BuildError> {
    let (Some(fracture), Some(mass)) = (&spec.fracture, solids.mass) else { return Ok(None) };
    let Field::Grid { level_set, .. } = solids.shape.field() else { return Ok(None) };
    let size = (mass.mass() / spec.density()).cbrt();
    let model = if let Some(name) = &fracture.pattern {
        let pattern = patterns.of(name, &spec.shape, level_set)?;
        pattern.map(|pattern| {
            FractureModel::Prescored(pattern, fracture.placement.unwrap_or_default())
        })
    } else {
        let lattice = fracture.lattice.as_ref();
        let picture = lattice.and_then(|lattice| lattice.strength_picture.as_ref());
        if let Some(picture) = picture.filter(|picture| picture.read.is_none()) {
            let cause = Cause::NoPicture { file: picture.file.clone() };
            return Err(BuildError { part: format!("body {:?}", spec.name), cause });
        }
        cracking((spec, size), fracture, solids.tets.as_ref(), patterns.scene.simulation.seed)
    };
    Ok(model.map(|model| Breakage {
        model,
        strength: fracture.impulse().map_or(Strength::Material, Strength::Impulse),
        generations: fracture.generations,
        least_samples: fracture.min_nodes,
        bonds: fracture.bonds.and_then(|bonds| {
            let by_material = || spec.solid().map(|solid| solid.tensile_strength);
            let strength = bonds.strength.or_else(by_material)?;
            Some(Bonds { strength, duration: bonds.duration })
        }),
    }))
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
        let failed = |cause| BuildError { part: format!("pattern {name:?}"), cause };
        let made = Arc::new(pattern(spec, seed, Some(body)).map_err(failed)?);
        self.made.push((name, shape, Arc::clone(&made)));
        Ok(Some(made))
    }
}

/// Radius over which stress is averaged and blows are spread, as a share of the edge of a cube of the
/// body's volume.
const AVERAGING: f64 = 0.25;

/// How a body, of the edge in m of a cube of as much, cracks by itself.
fn cracking(
    (spec, size): (&scene::Body, f64),
    fracture: &scene::Fracture,
    tets: Option<&TetMesh>,
    seed: u64,
) -> Option<FractureModel> {
    let tensile = spec.solid().map(|solid| solid.tensile_strength);
    if let Some(lattice) = &fracture.lattice {
        let neighbours = match lattice.links {
            scene::LatticeLinks::Faces => Neighbours::Faces,
            scene::LatticeLinks::Edges => Neighbours::Edges { share: 0.25 },
        };
        let default = fracture::Breaking::default();
        let spread = Spread { extra: lattice.randomness, ..default.spread };
        // links that bear no more when pressed than when pulled let the struck part crumble at once,
        // and nothing reaches the rest of the body
        let compression = match lattice.strength {
            Some(_) => default.compression,
            None => fracture::Material::COMPRESSION,
        };
        return Some(FractureModel::Lattice(Arc::new(LatticeModel {
            spacing: lattice.spacing,
            neighbours,
            strength: lattice.strength.or(tensile)?,
            duration: lattice.duration,
            breaking: fracture::Breaking { spread, seed, compression, ..default },
            noise: lattice.noise.map(|scene::Noise { amplitude, frequency }| Noise {
                amplitude,
                frequency,
                octaves: 3,
                seed,
            }),
            weaknesses: lattice.cleave.iter().filter_map(weakness).collect(),
            stencil: lattice.strength_picture.as_ref().and_then(|picture| picture.read.clone()),
        })));
    }
    let model = Arc::new(stressing((spec, size), fracture.stress.as_ref()?)?);
    let elastic = match tets {
        Some(tets) => ElasticBody::of_mesh(model, tets.clone()),
        None => ElasticBody::new(model),
    };
    Some(FractureModel::Stress(Arc::new(elastic)))
}

fn stressing((spec, size): (&scene::Body, f64), stress: &scene::Stress) -> Option<StressModel> {
    let young = stress.young.or_else(|| spec.solid().map(|solid| solid.stiffness))?;
    let tensile = || spec.solid().map(|solid| solid.tensile_strength);
    Some(StressModel {
        spacing: stress.spacing,
        material: tetfem::Material::from_young(young, stress.poisson).ok()?,
        interpolation: interpolation(stress.quadratic),
        fracture: tetfem::Fracture {
            strength: stress.strength.or_else(tensile)?,
            // of the body and not of its mesh, which is to change nothing
            averaging: stress.averaging.unwrap_or(AVERAGING * size),
            reach: stress.reach.unwrap_or(2.0 * stress.spacing),
            cut: Some(CutLimits { min_edge: 0.3 * stress.spacing, min_fraction: 0.2 }),
            most: stress.cracks,
            least_volume: stress.spacing.powi(3),
        },
        yield_strength: stress.yield_strength,
        duration: stress.duration,
    })
}

fn weakness(cleave: &scene::Cleave) -> Option<Weakness> {
    let plane = fracture::Plane::new(cleave.normal.into(), cleave.offset)?;
    Some(Weakness::Plane { plane, width: cleave.width, factor: cleave.factor })
}

fn body(spec: &scene::Body, solids: Solids, breakage: Option<Breakage>) -> Result<NewBody, Cause> {
    let Solids { shape, mass, frame, .. } = solids;
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
            restitution: spec.restitution(),
            friction: spec.friction(),
            ..Material::default()
        },
        groups: Groups::default(),
        breakage,
    })
}

struct Solids {
    shape: Shape,
    /// `None` for scenery: a solid without end, or triangles.
    mass: Option<MassProperties>,
    /// Body coordinates to those of the scene's shape.
    frame: Isometry3<f64>,
    /// What a sampled one was made from, in the coordinates of the scene's shape.
    mesh: Option<Arc<TriMesh>>,
    /// Its tetrahedra, in the same coordinates.
    tets: Option<TetMesh>,
}

fn surface_in<'m>(
    meshes: &'m BTreeMap<String, MeshData>,
    file: &str,
) -> Result<&'m TriMesh, Cause> {
    match meshes.get(file) {
        Some(MeshData::Surface(mesh)) => Ok(mesh),
        _ => Err(Cause::NoMesh { file: file.to_owned(), kind: "a surface" }),
    }
}

/// The solid of a body: exact where it is a plane, or a ball or box that never breaks, else sampled.
fn solid(spec: &scene::Body, meshes: &BTreeMap<String, MeshData>) -> Result<Solids, Cause> {
    // what is anchored needs samples to find what anchors hold
    let breaks = spec.fracture.is_some() || !spec.anchors.is_empty();
    let exact = |shape, volume: f64, per_mass: Vector3<f64>| -> Result<Solids, Cause> {
        let mass = volume * spec.density();
        let mass = Some(MassProperties::new(mass, per_mass * mass)?);
        Ok(Solids { shape, mass, frame: Isometry3::identity(), mesh: None, tets: None })
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
            Ok(Solids { shape: Shape::half_space(), mass: None, frame, mesh: None, tets: None })
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
        scene::Shape::Mesh(mesh) => {
            let given = surface_in(meshes, &mesh.file)?;
            let (level_set, mesh) = mesh_level_set(mesh, given.clone())?;
            let solids = sampled(level_set, convex_hull(&mesh), spec.density())?;
            Ok(Solids { mesh: Some(Arc::new(mesh)), ..solids })
        }
        scene::Shape::Trimesh(surface) => {
            let given = surface_in(meshes, &surface.file)?;
            let (mesh, _) = scaled(given.clone(), surface.size)?;
            let thickness = surface.thickness.unwrap_or(f64::INFINITY);
            let shape = Shape::mesh(Arc::new(Triangles::new(&mesh, thickness)?));
            Ok(Solids { shape, mass: None, frame: Isometry3::identity(), mesh: None, tets: None })
        }
        scene::Shape::Tets(mesh) => {
            let Some(MeshData::Tets(given)) = meshes.get(&mesh.file) else {
                return Err(Cause::NoMesh { file: mesh.file.clone(), kind: "tetrahedra" });
            };
            let tets = scaled_tets(mesh, given)?;
            let (level_set, surface) =
                mesh_level_set(&scene::Mesh { size: None, ..mesh.clone() }, tets.boundary())?;
            let solids = sampled(level_set, convex_hull(&surface), spec.density())?;
            Ok(Solids { mesh: Some(Arc::new(surface)), tets: Some(tets), ..solids })
        }
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
        scene::Shape::Cone(c) => {
            let (radius, half_height) = (c.radius, c.half_height);
            analytic(spec, Solid::Cone { half_height, radius })
        }
        scene::Shape::Torus(t) => analytic(spec, Solid::Torus { major: t.major, minor: t.minor }),
    }
}

fn analytic(spec: &scene::Body, solid: Solid) -> Result<Solids, Cause> {
    let half = Vector3::from(spec.shape.extents().unwrap_or_default()) / 2.0;
    let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
    let spacing = spec.shape.spacing().unwrap_or(1.0);
    let grid = Grid::enclosing(&bounds, spacing, PADDING, Grid::MAX_NODES)?;
    let hull = match solid {
        Solid::Box { .. } => ConvexHull::new(&bounds.corners()).ok(),
        _ => None,
    };
    sampled(LevelSet::from_fn(grid, |p| solid.distance(&p)), hull, spec.density())
}

fn sampled(level_set: LevelSet, hull: Option<ConvexHull>, density: f64) -> Result<Solids, Cause> {
    let (mass, frame) = rigid(&level_set.moments(), density)?;
    let points = level_set.surface_particles(level_set.grid().spacing());
    let mut shape = Shape::grid(level_set, &points, frame);
    if let Some(hull) = hull {
        shape = shape.with_hull(hull, &frame);
    }
    Ok(Solids { shape, mass: Some(mass), frame, mesh: None, tets: None })
}

/// Share of its volume by which a mesh may differ from its hull and count as convex. It is more where
/// parts of a mesh overlap.
const CONVEX: f64 = 1e-6;

/// The hull of a mesh that is convex and not too fine.
fn convex_hull(mesh: &TriMesh) -> Option<ConvexHull> {
    if mesh.vertices.len() > Shape::MOST_CORNERS {
        return None;
    }
    let hull = ConvexHull::new(&mesh.vertices).ok()?;
    let whole = hull.mesh().signed_volume();
    ((whole - mesh.signed_volume()).abs() <= CONVEX * whole).then_some(hull)
}

/// The level set of a mesh, and the mesh scaled and moved as `spec` says.
pub(crate) fn mesh_level_set(
    spec: &scene::Mesh,
    mesh: TriMesh,
) -> Result<(LevelSet, TriMesh), Cause> {
    let (scaled, bounds) = scaled(mesh, spec.size)?;
    let cells = |a: usize| (spec.resolution[a].saturating_sub(1 + 2 * PADDING)).max(1) as f64;
    let spacing = (0..3).map(|a| bounds.extents()[a] / cells(a)).fold(0.0, f64::max);
    let grid = Grid::enclosing(&bounds, spacing, PADDING, Grid::MAX_NODES)?;
    Ok((LevelSet::from_mesh(&scaled, grid, Sign::Strict)?, scaled))
}

/// A mesh whose longest edge is `size` m, about the origin, or as it is; with the box around it.
fn scaled(mesh: TriMesh, size: Option<f64>) -> Result<(TriMesh, Aabb), MeshError> {
    let bounds = Aabb::around(&mesh.vertices).ok_or(MeshError::Empty)?;
    let Some(size) = size else { return Ok((mesh, bounds)) };
    let (scale, centre) = (size / bounds.extents().max(), bounds.centre());
    let place = |p: &Point3<f64>| Point3::from((p - centre) * scale);
    let vertices: Vec<_> = mesh.vertices.iter().map(place).collect();
    let bounds = Aabb { min: place(&bounds.min), max: place(&bounds.max) };
    Ok((TriMesh { vertices, triangles: mesh.triangles }, bounds))
}

/// Tetrahedra scaled and moved as `spec` says, of which there is one piece.
fn scaled_tets(spec: &scene::Mesh, tets: &TetMesh) -> Result<TetMesh, Cause> {
    tets.validate()?;
    let pieces = tets.components().count;
    if pieces != 1 {
        return Err(Cause::Disconnected(pieces));
    }
    let mut tets = tets.clone();
    if let Some((size, bounds)) = spec.size.zip(Aabb::around(&tets.vertices)) {
        let (scale, centre) = (size / bounds.extents().max(), bounds.centre());
        for p in &mut tets.vertices {
            *p = Point3::from((*p - centre) * scale);
        }
        // numbers may underflow
        tets.validate()?;
    }
    Ok(tets)
}
