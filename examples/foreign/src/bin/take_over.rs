//! Rapier continues a scene of brisance after the fracture: poses, velocities, masses, colliders
//! and materials.

use std::collections::BTreeMap;
use std::error::Error;

use brisance_foreign::{points, pose, rotation, vector, vector_of};
use brisance_sim::scene::Scene;
use brisance_sim::{
    Collider, ColliderSolid, Combine, PhysicsBody, PhysicsMotion, PhysicsScene, Recorder, Track,
    build,
};
use nalgebra::Vector3;
use rapier3d_f64::prelude::*;

const SCENE: &str = r#"version = 1
pattern.shards.voronoi = { pieces = 40 }
[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "wall"
material = "china"
shape = { box = { half_extents = [0.6, 0.5, 0.06], spacing = 0.03 } }
position = [0, 0.5, 0]
fracture = { pattern = "shards", break_impulse = 20, generations = 1 }
[[body]]
name = "ball"
material = "steel"
shape = { sphere = { radius = 0.1 } }
position = [0.1, 0.5, 0.6]
velocity = [0, 0, -12]
[[body]]
name = "drum"
shape = { cylinder = { half_height = 0.2, radius = 0.1 } }
position = [1.5, 0.4, 0]
angular_velocity = [0, 8, 0]
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut world, appearances) = build(&Scene::from_toml(SCENE)?, &BTreeMap::new())?;
    let mut recorder = Recorder::new(&world, &appearances);
    // simulate until the wall is broken
    for _ in 0..6 {
        let report = world.step();
        recorder.record(&world, &report);
    }
    let scene = world.physics_scene(&recorder);
    let mut rapier = taken_over(&scene)?;
    let (ours, theirs) = (world.momentum().linear, momentum(&rapier));
    println!("{} bodies, momentum {ours:.6?}, in Rapier {theirs:.6?}", scene.bodies.len());
    if (ours - theirs).norm() > 1e-9 * ours.norm() {
        return Err("the momentum changed".into());
    }
    for _ in 0..120 {
        rapier.step();
    }
    let low =
        rapier.rigid_bodies().filter(|(_, body)| body.is_dynamic() && body.translation().y < -0.1);
    match low.count() {
        0 => Ok(()),
        fallen => Err(format!("{fallen} bodies fell through the floor").into()),
    }
}

fn taken_over(scene: &PhysicsScene) -> Result<PhysicsWorld, Box<dyn Error>> {
    let mut world = PhysicsWorld::new();
    world.gravity = vector(&scene.gravity);
    for (body, track) in scene.bodies.iter().zip(&scene.recording.tracks) {
        let handle = world.insert_body(rigid_body(body, track));
        for collider in body.colliders.iter() {
            let new =
                shape(collider).ok_or_else(|| format!("{} has a degenerate hull", track.name))?;
            let new = new
                .translation(vector(&collider.center.coords))
                .density(0.0)
                .friction(body.friction)
                .friction_combine_rule(rule(body.friction_rule))
                .restitution(body.restitution)
                .restitution_combine_rule(rule(body.restitution_rule));
            world.insert_collider(new, Some(handle));
        }
        world.bodies[handle].recompute_mass_properties_from_colliders(&world.colliders);
    }
    Ok(world)
}

fn rigid_body(body: &PhysicsBody, track: &Track) -> RigidBodyBuilder {
    let at = pose(&track.poses[0]);
    match &body.motion {
        PhysicsMotion::Static => RigidBodyBuilder::fixed().pose(at),
        PhysicsMotion::Kinematic(velocity) => RigidBodyBuilder::kinematic_velocity_based()
            .pose(at)
            .linvel(vector(&velocity.linear))
            .angvel(vector(&velocity.angular)),
        PhysicsMotion::Dynamic(mass, velocity) => RigidBodyBuilder::dynamic()
            .pose(at)
            .linvel(vector(&velocity.linear))
            .angvel(vector(&velocity.angular))
            .additional_mass_properties(MassProperties::with_principal_inertia_frame(
                vector(&mass.center.coords),
                mass.mass,
                vector(&mass.inertia),
                rotation(&mass.axes),
            )),
    }
}

fn shape(collider: &Collider) -> Option<ColliderBuilder> {
    Some(match &collider.solid {
        ColliderSolid::Box(half) => ColliderBuilder::cuboid(half.x, half.y, half.z),
        ColliderSolid::Ball(radius) => ColliderBuilder::ball(*radius),
        ColliderSolid::Cylinder { half_height, radii: [bottom, top] } if top < bottom => {
            ColliderBuilder::cone(*half_height, *bottom)
        }
        ColliderSolid::Cylinder { half_height, radii: [radius, _] } => {
            ColliderBuilder::cylinder(*half_height, *radius)
        }
        ColliderSolid::Capsule { half_height, radius } => {
            ColliderBuilder::capsule_y(*half_height, *radius)
        }
        ColliderSolid::Hull(mesh) => ColliderBuilder::convex_hull(&points(&mesh.vertices))?,
        ColliderSolid::Mesh(mesh) => {
            ColliderBuilder::trimesh(points(&mesh.vertices), mesh.triangles.clone()).ok()?
        }
    })
}

fn rule(rule: Combine) -> CoefficientCombineRule {
    match rule {
        Combine::Average => CoefficientCombineRule::Average,
        Combine::Min => CoefficientCombineRule::Min,
        Combine::GeometricMean => CoefficientCombineRule::GeometricMean,
        Combine::Multiply => CoefficientCombineRule::Multiply,
        Combine::Max => CoefficientCombineRule::Max,
    }
}

fn momentum(world: &PhysicsWorld) -> Vector3<f64> {
    world.rigid_bodies().map(|(_, body)| vector_of(body.linvel()) * body.mass()).sum()
}
