//! The state of a world as plain data, to continue from later.
//!
//! It excludes solids, which follow from the scene and the recorded fractures. See
//! [`World::replay_frame`].

use contact::constraint::{ImpulseCache, Key, MAX_ROWS, Motor, Reaction};
use contact::{Cache, CachedContact, CachedPair, Combine, Groups, Material, Side, SupportContact};
use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Point3, Vector3};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::sleep::rest::{Link, Rest};
use crate::world::input::{Load, Target};
use crate::world::joint::{WorldJoint, check_drive, check_strength};
use crate::world::limits::is_usable;
use crate::world::numbers::{momentum, momentum_numbers, pose, pose_numbers};
use crate::world::steering::check;
use crate::world::touching::ContactLog;
use crate::{Action, BodyId, Explosion, JointId, TimedAction, World};

/// Why a state cannot be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the state is of another scene: use the scene, meshes and options it was made with")]
pub struct StateError;

/// The full state of a world, except for solids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldState {
    frame: usize,
    gravity: [f64; 3],
    /// Next identifiers of a body and of a joint.
    next: u64,
    next_joint: u64,
    retired_mass: f64,
    lost: bool,
    bodies: Vec<BodyState>,
    frozen: Vec<BodyId>,
    links: Vec<LinkState>,
    pairs: Vec<PairState>,
    /// Impulses by contact position.
    impulses: Vec<(Key, [f64; 3], u8)>,
    joints: Vec<JointState>,
    /// Target poses of kinematic bodies in the next frame.
    targets: Vec<(BodyId, [f64; 7])>,
    /// Forces and torques on bodies in the next frame.
    loads: Vec<(BodyId, [f64; 3], [f64; 3])>,
    /// Actions of the timeline and those that were scheduled, with their frames.
    actions: Vec<(usize, ActionState)>,
    /// Touching pairs, if contact events are enabled.
    touching: Option<Vec<[BodyId; 2]>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum ActionState {
    Cut { from: [[f64; 3]; 2], to: [[f64; 3]; 2] },
    Explode { at: [f64; 3], radius: f64, impulse: f64 },
    Push { body: BodyId, impulse: [f64; 3], at: Option<[f64; 3]> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BodyState {
    id: BodyId,
    motion: Motion,
    pose: [f64; 7],
    momentum: [f64; 6],
    asleep: bool,
    /// Pose of its last large motion, and frames since.
    rest: ([f64; 7], usize),
    /// Pose at the last test of its speed, its displacement, and whether it accelerated.
    speed: ([f64; 7], f64, bool),
    slow: u32,
    is_anchored: bool,
    /// Load by contacts and joints, if it is anchored.
    press: [f64; 6],
    breaks: bool,
    surface: SurfaceState,
    /// Memberships and filter of its groups.
    groups: [u32; 2],
    user_data: Option<u64>,
}

/// Restitution and friction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct SurfaceState {
    /// Restitution, friction, rolling and spinning friction.
    coefficients: [f64; 4],
    /// Combination rules of restitution and friction, by index in [`RULES`].
    rules: [Option<u8>; 2],
}

const RULES: [Combine; 5] =
    [Combine::Average, Combine::GeometricMean, Combine::Min, Combine::Multiply, Combine::Max];

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Motion {
    Static,
    /// Its mass, kg.
    Dynamic(f64),
    /// Its velocity and angular velocity.
    Kinematic([f64; 6]),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LinkState {
    sleeper: BodyId,
    other: BodyId,
    load: [f64; 6],
    average: [f64; 6],
    carries: bool,
    props: Vec<PropState>,
}

/// Position, normal, friction and impulse of a contact that may support a sleeper.
type PropState = ([f64; 3], [f64; 3], f64, [f64; 3]);

/// An existing joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct JointState {
    id: JointId,
    bodies: [BodyId; 2],
    /// Joint frames in each body's coordinates.
    frames: [[f64; 7]; 2],
    limits: Option<[f64; 2]>,
    /// Speed and largest force of the motor.
    motor: Option<[f64; 2]>,
    /// Strengths, N and N m.
    strengths: [f64; 2],
    /// Impulses of the last frame: linear, angular and by row; and the final rates of its rows.
    last: ([f64; 3], [f64; 3], [[f64; MAX_ROWS]; 2]),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PairState {
    names: [u64; 2],
    looked: Option<[f64; 7]>,
    torque: [f64; 3],
    contacts: Vec<ContactState>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ContactState {
    is_of_first: bool,
    key: u32,
    point: [f64; 3],
    normal: [f64; 3],
    distance: f64,
    impulse: [f64; 3],
}

impl World {
    /// The current state, as plain data for files. To go back within a program, also past fractures
    /// and broken joints, keep a clone of the world instead: it shares shapes and continues with the
    /// same bits.
    pub fn saved(&self) -> WorldState {
        WorldState {
            frame: self.frame,
            gravity: self.settings.gravity.into(),
            next: self.next_id,
            next_joint: self.next_joint,
            retired_mass: self.debris.retired_mass,
            lost: self.sleep.bodies_removed,
            bodies: (0..self.len()).map(|i| self.body_state(i)).collect(),
            frozen: self.frozen.clone(),
            links: self.sleep.links.iter().map(link_state).collect(),
            pairs: self.caches.contacts.pairs().iter().map(pair_state).collect(),
            impulses: self.caches.contacts.impulses().entries().collect(),
            joints: self.joints.iter().map(joint_state).collect(),
            targets: self
                .steering
                .targets
                .iter()
                .map(|t| (t.body, pose_numbers(&t.pose)))
                .collect(),
            loads: self.steering.loads.iter().map(load_state).collect(),
            actions: self.script.timeline.actions.iter().map(action_state).collect(),
            touching: self.log.as_ref().map(|log| log.pairs.clone()),
        }
    }

    /// Continues from a state. The world must be built from the same scene, with all fractures up
    /// to then replayed by [`World::replay_frame`]. Bodies that were added since are removed, and
    /// later ones get their identifiers.
    ///
    /// # Errors
    /// [`StateError`] if a body or joint of the state does not exist, such as a joint that broke
    /// since then, or a body is another one; the world is then unusable.
    pub fn restore(&mut self, state: &WorldState) -> Result<(), StateError> {
        let gone: Vec<BodyId> = self
            .ids
            .iter()
            .filter(|id| state.bodies.binary_search_by_key(id, |body| &body.id).is_err())
            .copied()
            .collect();
        for id in gone {
            self.remove(id);
        }
        let is_known = self.ids.last().is_none_or(|last| last.0 < state.next);
        let is_older = self.next_id < state.next || self.next_joint < state.next_joint;
        if is_older || !is_known || self.len() != state.bodies.len() {
            return Err(StateError);
        }
        (self.next_id, self.next_joint) = (state.next, state.next_joint);
        for (i, body) in state.bodies.iter().enumerate() {
            self.restore_body(i, body)?;
        }
        // replayed fractures left their dust, which the state does not contain
        self.debris.dust.clear();
        self.frame = state.frame;
        self.settings.gravity = state.gravity.into();
        self.debris.retired_mass = state.retired_mass;
        self.sleep.bodies_removed = state.lost;
        self.frozen.clone_from(&state.frozen);
        self.sleep.links = state.links.iter().map(link).collect();
        let impulses = ImpulseCache::of_entries(state.impulses.iter().copied());
        self.caches.contacts =
            Cache::of_pairs(state.pairs.iter().map(pair)).with_impulses(impulses);
        self.restore_steering(state)?;
        self.restore_joints(&state.joints)
    }

    /// Restores the caller's settings for the next frame and for bodies. There is no previous
    /// frame, so that interpolation starts with the next one.
    fn restore_steering(&mut self, state: &WorldState) -> Result<(), StateError> {
        let target = |&(body, ref numbers): &(BodyId, _)| Target { body, pose: pose(numbers) };
        self.steering.targets = state.targets.iter().map(target).collect();
        self.steering.loads = state.loads.iter().map(load).collect();
        self.steering.loads.sort_by_cached_key(|load| load.body);
        self.script.timeline.actions = state.actions.iter().map(action).collect();
        let logs_contacts = self.log.is_some();
        let touching = state.touching.clone().or_else(|| logs_contacts.then(Vec::new));
        self.log = touching.map(ContactLog::touching);
        let numbers = state.bodies.iter().map(|body| Some((body.id, body.user_data?)));
        self.user_data = numbers.flatten().collect();
        self.display.previous.clone_from(&self.poses);
        self.display.waypoints = vec![Vec::new(); self.len()];
        self.caches.query_tree.take();
        let is_known = |target: &Target| is_usable(&target.pose, &Momentum::default());
        let all_known = self.steering.targets.iter().all(is_known);
        let numbers =
            self.steering.loads.iter().flat_map(|load| load.force.iter().chain(&load.torque));
        if all_known && check(numbers).is_ok() { Ok(()) } else { Err(StateError) }
    }

    /// Restores the existing joints.
    fn restore_joints(&mut self, left: &[JointState]) -> Result<(), StateError> {
        let known = |state: &JointState| {
            let n = self.joints.binary_search_by_key(&state.id, |joint| joint.id).ok()?;
            let mut link = self.joints[n].clone();
            link.ids = state.bodies;
            link.joint.frames = state.frames.each_ref().map(pose);
            let motor = |[speed, max_force]: [f64; 2]| Motor { speed, max_force };
            (link.joint.limits, link.joint.motor) = (state.limits, state.motor.map(motor));
            [link.break_force, link.break_torque] = state.strengths;
            check_drive(link.joint.kind, link.joint.limits, link.joint.motor).ok()?;
            check_strength(link.break_force, link.break_torque).ok()?;
            let (linear, angular, [impulses, rates]) = state.last;
            let (linear, angular) = (linear.into(), angular.into());
            link.joint.last = Reaction { linear, angular, impulses, rates };
            Some(link)
        };
        let links: Option<Vec<WorldJoint>> = left.iter().map(known).collect();
        self.joints = links.ok_or(StateError)?;
        Ok(())
    }

    fn body_state(&self, i: usize) -> BodyState {
        let Rest { asleep, pose: rested, frames, mark, moved, speeds_up } = &self.sleep.rests[i];
        BodyState {
            id: self.ids[i],
            motion: match &self.bodies[i] {
                Body::Static => Motion::Static,
                Body::Dynamic(mass) => Motion::Dynamic(mass.mass()),
                Body::Kinematic(Velocity { linear, angular }) => Motion::Kinematic([
                    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z,
                ]),
            },
            pose: pose_numbers(&self.poses[i]),
            momentum: momentum_numbers(&self.momenta[i]),
            asleep: *asleep,
            rest: (pose_numbers(rested), *frames),
            speed: (pose_numbers(mark), *moved, *speeds_up),
            slow: self.details[i].slow_frames,
            is_anchored: self.details[i].anchorage.is_some(),
            press: momentum_numbers(
                &self.details[i]
                    .anchorage
                    .as_ref()
                    .map_or_else(Momentum::default, |own| own.constraint_impulse),
            ),
            breaks: self.details[i].breakage.is_some(),
            surface: surface_state(&self.materials[i]),
            groups: [self.groups[i].memberships, self.groups[i].filter],
            user_data: self.user_data.get(&self.ids[i]).copied(),
        }
    }

    fn restore_body(&mut self, i: usize, state: &BodyState) -> Result<(), StateError> {
        let known = (self.details[i].anchorage.is_some() || !state.is_anchored)
            && (self.details[i].breakage.is_some() || !state.breaks);
        if self.ids[i] != state.id || !known {
            return Err(StateError);
        }
        self.bodies[i] = match state.motion {
            Motion::Static => Body::Static,
            Motion::Dynamic(mass) => {
                let own = self.mass_of(i).filter(|own| own.mass().to_bits() == mass.to_bits());
                Body::Dynamic(*own.ok_or(StateError)?)
            }
            Motion::Kinematic([a, b, c, d, e, f]) => Body::Kinematic(Velocity {
                linear: Vector3::new(a, b, c),
                angular: Vector3::new(d, e, f),
            }),
        };
        self.acting[i] = if state.asleep { Body::Static } else { self.bodies[i] };
        (self.poses[i], self.momenta[i]) = (pose(&state.pose), momentum(&state.momentum));
        if !is_usable(&self.poses[i], &self.momenta[i]) {
            return Err(StateError);
        }
        let (rested, frames) = &state.rest;
        let (mark, moved, speeds_up) = &state.speed;
        self.sleep.rests[i] = Rest {
            asleep: state.asleep,
            pose: pose(rested),
            frames: *frames,
            mark: pose(mark),
            moved: *moved,
            speeds_up: *speeds_up,
        };
        self.details[i].slow_frames = state.slow;
        if !state.is_anchored {
            self.details[i].anchorage = None;
        }
        if let Some(anchorage) = &mut self.details[i].anchorage {
            anchorage.constraint_impulse = momentum(&state.press);
        }
        if !state.breaks {
            self.details[i].breakage = None;
        }
        self.materials[i] = surface(&state.surface).ok_or(StateError)?;
        let [memberships, filter] = state.groups;
        self.groups[i] = Groups { memberships, filter };
        Ok(())
    }
}

fn surface_state(material: &Material) -> SurfaceState {
    let Material { restitution, friction, rolling_friction, spinning_friction, .. } = *material;
    let index = |rule: Combine| RULES.iter().position(|own| *own == rule).map(|n| n as u8);
    SurfaceState {
        coefficients: [restitution, friction, rolling_friction, spinning_friction],
        rules: [material.restitution_rule, material.friction_rule].map(|rule| rule.and_then(index)),
    }
}

/// The material, if it is valid.
fn surface(state: &SurfaceState) -> Option<Material> {
    let [restitution, friction, rolling_friction, spinning_friction] = state.coefficients;
    let [restitution_rule, friction_rule] =
        state.rules.map(|rule| rule.and_then(|n| RULES.get(usize::from(n)).copied()));
    let material = Material {
        restitution,
        friction,
        restitution_rule,
        friction_rule,
        rolling_friction,
        spinning_friction,
    };
    material.check().ok().map(|()| material)
}

fn joint_state(link: &WorldJoint) -> JointState {
    let Reaction { linear, angular, impulses, rates } = link.joint.last;
    JointState {
        id: link.id,
        bodies: link.ids,
        frames: link.joint.frames.each_ref().map(pose_numbers),
        limits: link.joint.limits,
        motor: link.joint.motor.map(|motor| [motor.speed, motor.max_force]),
        strengths: [link.break_force, link.break_torque],
        last: (linear.into(), angular.into(), [impulses, rates]),
    }
}

fn load_state(load: &Load) -> (BodyId, [f64; 3], [f64; 3]) {
    (load.body, load.force.into(), load.torque.into())
}

fn load(&(body, force, torque): &(BodyId, [f64; 3], [f64; 3])) -> Load {
    Load { body, force: force.into(), torque: torque.into() }
}

fn action_state(&TimedAction { frame, action }: &TimedAction) -> (usize, ActionState) {
    let ends = |ends: [Point3<f64>; 2]| ends.map(|p| p.coords.into());
    let state = match action {
        Action::Cut { from, to } => ActionState::Cut { from: ends(from), to: ends(to) },
        Action::Explode(Explosion { at, radius, impulse }) => {
            ActionState::Explode { at: at.coords.into(), radius, impulse }
        }
        Action::Push { body, impulse, at } => {
            ActionState::Push { body, impulse: impulse.into(), at: at.map(|p| p.coords.into()) }
        }
    };
    (frame, state)
}

fn action(&(frame, state): &(usize, ActionState)) -> TimedAction {
    let action = match state {
        ActionState::Cut { from, to } => {
            Action::Cut { from: from.map(Point3::from), to: to.map(Point3::from) }
        }
        ActionState::Explode { at, radius, impulse } => {
            Action::Explode(Explosion { at: at.into(), radius, impulse })
        }
        ActionState::Push { body, impulse, at } => {
            Action::Push { body, impulse: impulse.into(), at: at.map(Point3::from) }
        }
    };
    TimedAction { frame, action }
}

fn link_state(link: &Link) -> LinkState {
    let numbers = |prop: &SupportContact| {
        let SupportContact { at, normal, friction, impulse } = *prop;
        (at.coords.into(), normal.into(), friction, impulse.into())
    };
    let Link { sleeper, other, ref load, ref average, supports, ref props } = *link;
    let props = props.iter().map(numbers).collect();
    let [load, average] = [load, average].map(momentum_numbers);
    LinkState { sleeper, other, load, average, carries: supports, props }
}

fn link(state: &LinkState) -> Link {
    let LinkState { sleeper, other, ref load, ref average, carries, ref props } = *state;
    let prop = |&(at, normal, friction, impulse): &PropState| SupportContact {
        at: Point3::from(Vector3::from(at)),
        normal: Vector3::from(normal),
        friction,
        impulse: Vector3::from(impulse),
    };
    let [load, average] = [load, average].map(momentum);
    Link {
        sleeper,
        other,
        load,
        average,
        supports: carries,
        props: props.iter().map(prop).collect(),
    }
}

fn pair_state(pair: &CachedPair) -> PairState {
    let contact = |c: &CachedContact| ContactState {
        is_of_first: c.owner == Side::A,
        key: c.key,
        point: c.point.into(),
        normal: c.normal.into(),
        distance: c.distance,
        impulse: c.impulse.into(),
    };
    PairState {
        names: pair.names,
        looked: pair.tested_pose.as_ref().map(pose_numbers),
        torque: pair.torque.into(),
        contacts: pair.contacts.iter().map(contact).collect(),
    }
}

fn pair(state: &PairState) -> CachedPair {
    let contact = |c: &ContactState| CachedContact {
        owner: if c.is_of_first { Side::A } else { Side::B },
        key: c.key,
        point: c.point.into(),
        normal: c.normal.into(),
        distance: c.distance,
        impulse: c.impulse.into(),
    };
    CachedPair {
        names: state.names,
        tested_pose: state.looked.as_ref().map(pose),
        torque: state.torque.into(),
        contacts: state.contacts.iter().map(contact).collect(),
    }
}
