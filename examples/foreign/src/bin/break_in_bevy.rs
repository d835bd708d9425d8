//! A headless Bevy app with breakable bodies: each body of a `brisance_sim::World` is an entity.
//!
//! [`BrisancePlugin`] owns the world, steps it in `FixedUpdate` and interpolates poses for display.
//! The component [`Body`] of an entity contains the handle of its body; the user data of the body
//! contain the entity. When a body breaks, its pieces become entities with the name of the body. A
//! player finds a wall by a ray cast and shoots a ball at the wall.

use std::collections::BTreeMap;
use std::time::Duration;

use bevy_app::ScheduleRunnerPlugin;
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_time::common_conditions::once_after_delay;
use bevy_time::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::prelude::*;
use brisance_sim::scene::Scene;
use brisance_sim::{Appearance, BodyId, CastHit, Filter, Report, Settings, add_bodies};
use nalgebra::{Isometry3, Point3, UnitVector3, Vector3};

const ROOM: &str = r#"version = 1
pattern.shards.voronoi = { pieces = 25 }
[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "wall"
material = "china"
shape = { box = { half_extents = [0.6, 0.5, 0.06] } }
position = [0, 0.5, 0]
fracture = { pattern = "shards", break_impulse = 20, generations = 1 }
"#;
const BALL: &str = r#"version = 1
[[body]]
name = "ball"
material = "steel"
shape = { sphere = { radius = 0.06 } }
position = [0, 1.4, 2.5]
"#;
/// Time between two displayed frames, s; the physics has another rate.
const DISPLAY: f64 = 1.0 / 50.0;
const PICTURES: u32 = 90;
/// Impulse of the shot, N s.
const SHOT: f32 = 150.0;
/// Relative error of transforms, which are `f32`.
const ROUNDING: f64 = 1e-6;

/// The body of an entity.
#[derive(Component)]
#[require(Transform)]
struct Body(BodyId);

/// An impulse to apply at the center of mass before the next step, N s.
#[derive(Component)]
struct Impulse(Vec3);

/// A player who looks along -z of its transform and shoots.
#[derive(Component)]
#[require(Transform)]
struct Player;

/// A body broke: an event for sound and dust systems.
#[derive(Event)]
struct Broke {
    name: Name,
    point: Vec3,
    pieces: Vec<Entity>,
}

/// The world, and the report of its last step.
#[derive(Resource)]
struct Physics {
    world: brisance_sim::World,
    report: Report,
}

impl Physics {
    /// Adds the bodies of a scene and an entity for each.
    fn spawn_scene(&mut self, commands: &mut Commands, scene: &str) -> Result<Vec<Entity>> {
        let scene = Scene::from_toml(scene)?;
        let bodies = add_bodies(&mut self.world, &scene, &BTreeMap::new())?;
        let spawn = |Appearance { body, name, .. }| self.spawn(commands, body, Name::new(name));
        Ok(bodies.into_iter().map(spawn).collect())
    }

    /// Creates the entity of a body.
    fn spawn(&mut self, commands: &mut Commands, body: BodyId, name: Name) -> Entity {
        let entity = commands.spawn((Body(body), name)).id();
        self.world.set_user_data(body, Some(entity.to_bits()));
        entity
    }

    /// The entity of a body. A new piece inherits the entity of its parent until it gets its own.
    fn entity(&self, body: BodyId) -> Option<Entity> {
        Entity::try_from_bits(self.world.user_data(body)?)
    }

    /// The first hit of a ray along the view direction.
    fn look(&self, from: &Transform) -> Option<CastHit> {
        let along = UnitVector3::new_normalize(vector_of(*from.forward()));
        let from = Point3::from(vector_of(from.translation));
        self.world.cast_ray(&from, &along, 100.0, &Filter::default())
    }
}

/// Plugin that steps a world with these settings.
struct BrisancePlugin(Settings);

impl Plugin for BrisancePlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Time::<Fixed>::from_seconds(self.0.dt))
            .insert_resource(Physics {
                world: brisance_sim::World::new(self.0),
                report: Report::default(),
            })
            .add_systems(FixedUpdate, (give_impulses, step, follow).chain())
            .add_systems(PostUpdate, show.before(TransformSystems::Propagate))
            .add_observer(remove_body);
    }
}

fn give_impulses(
    mut physics: ResMut<Physics>,
    impulses: Query<(Entity, &Body, &Impulse)>,
    mut commands: Commands,
) -> Result {
    for (entity, body, impulse) in &impulses {
        physics.world.apply_impulse(body.0, &vector_of(impulse.0), None)?;
        commands.entity(entity).remove::<Impulse>();
    }
    Ok(())
}

fn step(mut physics: ResMut<Physics>) -> Result {
    physics.report = physics.world.step();
    let Report { frame, energy, .. } = &physics.report;
    if energy.gain > energy.work + 1e-9 {
        let (gain, work) = (energy.gain, energy.work);
        return Err(format!("step {frame} gained {gain} J by {work} J of work").into());
    }
    Ok(())
}

/// Creates entities for new bodies, and despawns the entities of removed bodies.
fn follow(
    mut physics: ResMut<Physics>,
    bodies: Query<(Entity, &Body)>,
    names: Query<&Name>,
    mut commands: Commands,
) -> Result {
    for fracture in std::mem::take(&mut physics.report.events.fractures) {
        // a piece that broke again in the same step no longer exists; its own fracture follows
        let is_there = |piece: &BodyId| physics.world.get(*piece).is_some();
        let pieces: Vec<BodyId> = fracture.fragments.into_iter().filter(is_there).collect();
        let whole = pieces.first().and_then(|piece| physics.entity(*piece));
        let Some(whole) = whole else { continue };
        let name = names.get(whole)?;
        let spawn = |piece| physics.spawn(&mut commands, piece, name.clone());
        let pieces = pieces.into_iter().map(spawn).collect();
        let point = fracture.point.cast::<f32>().into();
        commands.trigger(Broke { name: name.clone(), point, pieces });
    }
    // a dented body has a new `BodyId`, too, see `Events::dents`; no body here dents
    for (entity, body) in &bodies {
        if physics.world.get(body.0).is_none() {
            commands.entity(entity).despawn();
        }
    }
    Ok(())
}

/// Moves entities to the interpolated poses of their bodies at the display time.
fn show(physics: Res<Physics>, time: Res<Time<Fixed>>, mut bodies: Query<(&Body, &mut Transform)>) {
    for (body, mut transform) in &mut bodies {
        let share = time.overstep_fraction_f64();
        if let Some(pose) = physics.world.interpolated_pose(body.0, share) {
            *transform = transform_of(&pose);
        }
    }
}

/// Removes the body of a despawned entity.
fn remove_body(
    removed: On<Remove<Body>>,
    bodies: Query<&Body>,
    mut physics: ResMut<Physics>,
) -> Result {
    // returns `false` for a body that broke
    physics.world.remove(bodies.get(removed.entity)?.0);
    Ok(())
}

fn main() -> AppExit {
    let at = |picture: u32| once_after_delay(Duration::from_secs_f64(DISPLAY) * picture);
    App::new()
        .add_plugins((TaskPoolPlugin::default(), TimePlugin, TransformPlugin))
        // simulated display time, as fast as possible
        .add_plugins(ScheduleRunnerPlugin::default())
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(DISPLAY)))
        .add_plugins(BrisancePlugin(Settings::default()))
        .add_systems(Startup, set_up)
        .add_systems(Update, shoot.run_if(at(10)))
        .add_systems(Update, clear_up.run_if(at(70)))
        .add_systems(Last, (check, end.run_if(at(PICTURES))).chain())
        .add_observer(tell)
        .run()
}

fn set_up(mut physics: ResMut<Physics>, mut commands: Commands) -> Result {
    physics.spawn_scene(&mut commands, ROOM)?;
    let eye = Transform::from_xyz(0.0, 1.4, 2.5).looking_at(Vec3::new(0.1, 0.6, 0.0), Vec3::Y);
    commands.spawn((Player, eye));
    Ok(())
}

/// Shoots a ball in the view direction of the player.
fn shoot(
    mut physics: ResMut<Physics>,
    player: Single<&Transform, With<Player>>,
    names: Query<&Name>,
    mut commands: Commands,
) -> Result {
    let hit = physics.look(&player).ok_or("the ray of the player hits nothing")?;
    let seen = physics.entity(hit.body).ok_or("the hit body has no entity")?;
    println!("shot at the {}, {:.2} m away", names.get(seen)?, hit.distance);
    for ball in physics.spawn_scene(&mut commands, BALL)? {
        commands.entity(ball).insert(Impulse(*player.forward() * SHOT));
    }
    Ok(())
}

fn tell(broke: On<Broke>) {
    println!("the {} broke into {} pieces at {:.2}", broke.name, broke.pieces.len(), broke.point);
}

/// Despawns the ball and so removes its body.
fn clear_up(named: Query<(Entity, &Name)>, mut commands: Commands) {
    for (entity, _) in named.iter().filter(|(_, name)| name.as_str() == "ball") {
        commands.entity(entity).despawn();
    }
}

/// Checks that bodies and entities correspond one to one, and that their poses agree.
fn check(
    physics: Res<Physics>,
    time: Res<Time<Fixed>>,
    bodies: Query<(Entity, &Body, &GlobalTransform)>,
) -> Result {
    let (count, expected) = (bodies.iter().len(), physics.world.len());
    if count != expected {
        return Err(format!("{count} entities of {expected} bodies").into());
    }
    for (entity, body, transform) in &bodies {
        let pose = physics.world.interpolated_pose(body.0, time.overstep_fraction_f64());
        let pose = pose.ok_or_else(|| format!("{entity} has no body"))?;
        if physics.entity(body.0) != Some(entity) {
            return Err(format!(
                "the user data of body {} name another entity than {entity}",
                body.0
            )
            .into());
        }
        for axis in [Vec3::ZERO, Vec3::X, Vec3::Y] {
            let place = pose * Point3::from(vector_of(axis));
            let error = (vector_of(transform.transform_point(axis)) - place.coords).norm();
            if error > ROUNDING * (1.0 + place.coords.norm()) {
                return Err(format!("{entity} is {error:.1e} m off its body").into());
            }
        }
    }
    Ok(())
}

fn end(
    physics: Res<Physics>,
    names: Query<&Name, With<Body>>,
    mut exit: MessageWriter<AppExit>,
) -> Result {
    let mut counts = BTreeMap::new();
    for name in &names {
        *counts.entry(name.as_str()).or_insert(0) += 1;
    }
    println!("{PICTURES} displayed frames, {} steps, entities: {counts:?}", physics.world.frame());
    let pieces = counts.remove("wall").unwrap_or(0);
    if pieces < 5 || counts != BTreeMap::from([("floor", 1)]) {
        return Err("the final entities are not the floor and the pieces of the wall".into());
    }
    exit.write(AppExit::Success);
    Ok(())
}

/// Converts a pose to Bevy.
fn transform_of(pose: &Isometry3<f64>) -> Transform {
    let (translation, rotation): (Vec3, Quat) = pose.cast::<f32>().into();
    Transform { translation, rotation, ..Transform::IDENTITY }
}

/// Converts a vector from Bevy.
fn vector_of(v: Vec3) -> Vector3<f64> {
    Vector3::<f32>::from(v).cast()
}
