//! Building a world from a scene.

mod breakage;
mod copies;
mod digits;
pub(crate) mod error;
mod formed;
mod lattice;
pub(crate) mod mass_warning;
pub(crate) mod mesh_data;
pub(crate) mod mesh_warning;
pub(crate) mod piece_warning;
mod pieces;
mod prescored;
mod solids;
mod terrain;
pub(crate) mod wall_warning;
pub(crate) mod walls;

pub use pieces::{bond_capacity, separate};
pub use prescored::pattern;
pub(crate) use prescored::sites;
pub use solids::{mesh_geometry, sample_mesh};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use contact::constraint::{JointKind, Motor};
use contact::{Groups, Material};
use dynamics::{Body, Velocity};
use nalgebra::{Isometry3, Point3, Translation3, Unit, Vector3};

use self::breakage::breakage;
use self::copies::{Set, sets};
use self::prescored::Patterns;
use self::solids::{Solids, solid};
use crate::scene::{self, Motion, Scene};
use crate::{
    Action, Anchor, Appearance, BodyId, Breakage, BuildError, Cause, Crumbs, Debris, Explosion,
    JointError, JointId, Look, MeshData, NewBody, NewJoint, PaintedMesh, Path, PathKey, Region,
    Retire, RetireAction, RigidError, Settings, SteeringError, TimedAction, Timeline, Wind, World,
};

/// Builds the world of `scene`. `meshes` holds its meshes by file name.
///
/// # Errors
/// [`BuildError`], with the body or pattern, if a mesh is missing or bounds no solid, or a body has
/// no mass at its resolution.
pub fn build(
    scene: &Scene,
    meshes: &BTreeMap<String, MeshData>,
) -> Result<(World, Vec<Appearance>), BuildError> {
    let mut world = World::new(Settings {
        dt: 1.0 / scene.simulation.fps,
        gravity: scene.simulation.gravity.into(),
        debris: debris(scene),
        plane: scene.simulation.plane,
        sleep: scene.simulation.sleep,
        contact: scene.simulation.contact_settings(),
        bound_energy: scene.simulation.energy.bound,
        ..Settings::default()
    });
    let (appearances, paths) = add(&mut world, scene, meshes)?;
    for (n, spec) in scene.joints.iter().enumerate() {
        let failed =
            |cause: JointError| BuildError { part: format!("joints[{n}]"), cause: cause.into() };
        join(spec, &mut world, &appearances).map_err(failed)?;
    }
    let failed =
        |cause: SteeringError| BuildError { part: "keyframes".into(), cause: cause.into() };
    world.set_timeline(timeline(scene, &appearances, paths)).map_err(failed)?;
    Ok((world, appearances))
}

/// Adds the bodies of `scene` to a world, like [`build`]; its other settings, joints, events and
/// keyframes are ignored. Names of bodies are those of this scene.
///
/// # Errors
/// As [`build`]; the world is then unchanged.
pub fn add_bodies(
    world: &mut World,
    scene: &Scene,
    meshes: &BTreeMap<String, MeshData>,
) -> Result<Vec<Appearance>, BuildError> {
    let before = world.iter().next_back().map(|body| body.id);
    add(world, scene, meshes).map(|(appearances, _)| appearances).inspect_err(|_| {
        let new: Vec<BodyId> =
            world.iter().map(|body| body.id).filter(|id| Some(*id) > before).collect();
        for id in new {
            world.remove(id);
        }
    })
}

/// Adds the bodies of a scene, and anchors them. Returns their appearances and keyframes.
fn add(
    world: &mut World,
    scene: &Scene,
    meshes: &BTreeMap<String, MeshData>,
) -> Result<(Vec<Appearance>, Vec<Path>), BuildError> {
    let sets = sets(scene);
    let mut patterns = Patterns::new(scene);
    let mut appearances: Vec<Appearance> = Vec::new();
    let mut paths = Vec::new();
    for Set { spec, places } in &sets {
        let failed = |cause| BuildError { part: format!("body {:?}", spec.name), cause };
        let solids = solid(spec, meshes).map_err(failed)?;
        let mesh = solids.mesh.clone();
        let breakage = breakage(spec, &mut patterns, &solids)?;
        let frame = solids.frame;
        let one = NewBody {
            groups: scene.groups_of(spec),
            ..body(spec, solids, breakage).map_err(failed)?
        };
        let looks = looks(spec, mesh.as_deref());
        for (n, (name, place)) in places.iter().enumerate() {
            let at = place.of(&spec.pose());
            let mut copy = NewBody { pose: at * frame, ..one.clone() };
            if let Some(whole) = &spec.whole {
                let arm = at.rotation * Vector3::from(whole.arm);
                copy.velocity.linear += copy.velocity.angular.cross(&arm);
            }
            let body = world.add(copy).map_err(|cause| failed(cause.into()))?;
            world.set_solid_material(body, spec.solid().unwrap_or(fracture::Material::STONE));
            if let Some(keyframes) = &spec.keyframes {
                let keys =
                    keyframes.iter().map(|k| PathKey { time: k.time, pose: place.of(&k.pose()) });
                paths.push(Path { body, keys: keys.collect(), in_frame: frame });
            }
            appearances.push(Appearance {
                body,
                name: name.clone(),
                look: looks[n % looks.len()].clone(),
                mesh: mesh.clone(),
            });
        }
    }
    anchor(&sets, world, &appearances)?;
    Ok((appearances, paths))
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
    world.add_joint(joint(spec, [a, b]))
}

/// A joint between two bodies with the settings of a scene, except for names.
pub fn joint(spec: &scene::Joint, bodies: [BodyId; 2]) -> NewJoint {
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
    NewJoint {
        kind,
        bodies,
        anchors,
        axis: spec.axis.into(),
        limits,
        motor: spec.motor.map(|scene::Motor { speed, max_force }| Motor { speed, max_force }),
        break_force: spec.break_force.unwrap_or(f64::INFINITY),
        break_torque: spec.break_torque.unwrap_or(f64::INFINITY),
        collides: spec.collides,
    }
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
    let timed = |event: &scene::Event| {
        let frame = (event.time * scene.simulation.fps).round() as usize;
        Some(TimedAction { frame, action: action(event)? })
    };
    Timeline {
        wind: scene.wind.map(|scene::Wind { velocity, density, drag }| Wind {
            velocity: velocity.into(),
            density,
            drag,
        }),
        actions: scene.events.iter().filter_map(timed).collect(),
        paths,
    }
}

fn debris(scene: &Scene) -> Debris {
    let spec = &scene.debris;
    Debris {
        max_bodies: spec.max_bodies.unwrap_or(usize::MAX),
        max_new: spec.max_new.unwrap_or(usize::MAX),
        max_samples: scene.nodes_left(),
        min_size: spec.min_size,
        retire: spec.retire.map(|retire| Retire {
            after: retire.after,
            slower_than: retire.slower_than,
            action: match retire.then {
                scene::Then::Keep => RetireAction::Keep,
                scene::Then::Remove => RetireAction::Remove,
                scene::Then::Shrink => RetireAction::Shrink,
            },
        }),
        crumbs: spec.crumbs.map(|crumbs| Crumbs {
            energy_share: crumbs.energy_share,
            sizes: crumbs.sizes,
            max_count: crumbs.max_count,
            seed: scene.simulation.seed,
        }),
    }
}

/// The look of a body, or several looks that alternate among its copies, some darker than others.
/// The materials of its mesh show unless the body has its own color.
fn looks(spec: &scene::Body, mesh: Option<&PaintedMesh>) -> Vec<Arc<Look>> {
    const SHADES: [f32; 5] = [1.0, 0.86, 0.96, 0.8, 0.92];
    let coats = mesh.filter(|_| spec.color.is_none()).map(|mesh| Arc::clone(&mesh.coats));
    let look = Look { coats: coats.unwrap_or_default(), ..spec.look() };
    if spec.copies.is_none() || look.transmission > 0.0 {
        return vec![Arc::new(look)];
    }
    let shaded = |shade: f32| Look {
        color: look.color.map(|c| c * shade),
        inner_color: look.inner_color.map(|c| c * shade),
        ..look.clone()
    };
    SHADES.into_iter().map(|shade| Arc::new(shaded(shade))).collect()
}

/// Anchors the bodies that have anchors, supporting ones first. Of a body in pieces, at least one
/// piece must be in the region of an anchor, and only those pieces are anchored.
fn anchor(
    sets: &[Set<'_>],
    world: &mut World,
    appearances: &[Appearance],
) -> Result<(), BuildError> {
    let named = |name: &str| appearances.iter().find(|a| a.name == name).map(|a| a.body);
    // one entry per copy, in the order in which bodies were added
    let copies = sets.iter().flat_map(|Set { spec, places }| {
        places.iter().map(move |(_, place)| (spec, place.of(&spec.pose())))
    });
    let mut open: Vec<_> =
        copies.zip(appearances).filter(|((spec, _), _)| !spec.anchors.is_empty()).collect();
    let mut held: BTreeSet<&str> = BTreeSet::new();
    loop {
        let before = open.len();
        open.retain(|((spec, pose), appearance)| {
            let anchors = spec.anchors.iter().map(|a| region(a, pose, named)).collect();
            let is_held = world.anchor(appearance.body, anchors, spec.anchor_strength());
            held.extend(spec.whole.as_ref().filter(|_| is_held).map(|whole| whole.name.as_str()));
            !is_held
        });
        if open.len() == before {
            break;
        }
    }
    open.retain(|((spec, _), _)| {
        spec.whole.as_ref().is_none_or(|whole| !held.contains(whole.name.as_str()))
    });
    let Some(((spec, _), _)) = open.first() else { return Ok(()) };
    let name = spec.given_name();
    Err(BuildError { part: format!("body {name:?}"), cause: Cause::NotAnchored })
}

/// An anchor in the world, of a body with its shape at `pose`.
fn region(
    spec: &scene::Anchor,
    pose: &Isometry3<f64>,
    named: impl Fn(&str) -> Option<BodyId>,
) -> Anchor {
    let scene::Anchor { sphere, r#box, plane, to } = spec;
    let region = if let Some(ball) = sphere {
        Region::Ball { center: pose * Point3::from(ball.center), radius: ball.radius }
    } else if let Some(block) = r#box {
        let place = Translation3::from(Vector3::from(block.center));
        Region::Cuboid { pose: pose * place, half: block.half_extents.into() }
    } else if let Some(plane) = plane {
        let normal = pose.rotation * Unit::new_normalize(Vector3::from(plane.normal));
        Region::HalfSpace { normal, offset: plane.offset + normal.dot(&pose.translation.vector) }
    } else {
        Region::Everywhere
    };
    Anchor { region, to: to.as_deref().and_then(named) }
}

fn body(spec: &scene::Body, solids: Solids, breakage: Option<Breakage>) -> Result<NewBody, Cause> {
    let Solids { shape, solid, mass, frame, .. } = solids;
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
        solid,
        material: Material {
            restitution: spec.restitution(),
            friction: spec.friction(),
            restitution_rule: spec.restitution_rule(),
            friction_rule: spec.friction_rule(),
            rolling_friction: spec.rolling_friction(),
            spinning_friction: spec.spinning_friction(),
        },
        groups: Groups::default(),
        breakage,
    })
}
