//! A Rapier body breaks where it is hit, and its pieces are Rapier bodies.
//!
//! Rapier moves and collides all bodies. `brisance-fracture` has the solid of a china slab. When
//! Rapier reports a contact force above the strength of the slab, `brisance-fracture` divides the
//! solid around the impact. Each piece becomes a body with the mass properties of its solid and a
//! collider for each of its convex parts.

use std::error::Error;
use std::sync::Mutex;

use brisance_foreign::{matrix, points, pose_of, vector, vector_of};
use brisance_fracture::{Alignment, Geometry, Pattern, Voronoi};
use brisance_levelset::{Aabb, Grid, Solid};
use nalgebra::{Point3, UnitVector3, Vector3};
use rapier3d_f64::prelude::*;

const DENSITY: f64 = 2400.0;
/// Impulse per step above which the slab breaks, N s; its weight causes 19.
const STRENGTH: f64 = 60.0;
const HALF: Vector3<f64> = Vector3::new(0.5, 0.4, 0.03);

/// The contact with the largest impulse in a step.
#[derive(Default)]
struct Hardest(Mutex<Option<(Real, ColliderHandle, ColliderHandle)>>);

impl EventHandler for Hardest {
    fn handle_collision_event(
        &self,
        _: &RigidBodySet,
        _: &ColliderSet,
        _: CollisionEvent,
        _: Option<&ContactPair>,
    ) {
    }

    fn handle_soft_body_tear_event(&self, _: &SoftBodySet, _: &SoftBodyTearEvent) {}

    fn handle_contact_force_event(
        &self,
        dt: Real,
        _: &RigidBodySet,
        _: &ColliderSet,
        pair: &ContactPair,
        force: Real,
    ) {
        let mut hardest = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if hardest.is_none_or(|(impulse, ..)| force * dt > impulse) {
            *hardest = Some((force * dt, pair.collider1, pair.collider2));
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, -9.81, 0.0);
    world.integration_parameters.dt = 1.0 / 60.0;
    world.insert(
        RigidBodyBuilder::fixed().translation(Vector::new(0.0, -1.0, 0.0)),
        ColliderBuilder::cuboid(20.0, 1.0, 20.0),
    );

    // the solid of the slab, in the coordinates of its body
    let bounds = Aabb { min: Point3::from(-HALF), max: Point3::from(HALF) };
    let grid = Grid::enclosing(&bounds, 0.02, 3, Grid::MAX_NODES)?;
    let solid = Geometry::primitive(Solid::Box { half_extents: HALF }, grid).ok_or("no solid")?;
    let (slab, collider) = world.insert(
        RigidBodyBuilder::dynamic().translation(Vector::new(0.0, HALF.y, 0.0)),
        ColliderBuilder::cuboid(HALF.x, HALF.y, HALF.z)
            .density(DENSITY)
            .active_events(ActiveEvents::CONTACT_FORCE_EVENTS)
            .contact_force_event_threshold(STRENGTH / world.integration_parameters.dt),
    );
    let (ball, _) = world.insert(
        RigidBodyBuilder::dynamic()
            .translation(Vector::new(0.1, 0.45, 1.0))
            .linvel(Vector::new(0.0, 0.0, -12.0))
            .ccd_enabled(true),
        ColliderBuilder::ball(0.08).density(7800.0),
    );

    let (mut whole, mut pieces) = (Some(slab), Vec::new());
    for step in 1..=120 {
        let before = whole.map(|slab| world.bodies[slab].clone());
        let events = Hardest::default();
        world.step_with_events(&(), &events);
        let hardest = events.0.into_inner()?;
        let Some(((impulse, a, b), before)) = hardest.zip(before) else { continue };
        let Some((at, normal)) = place(&world, collider, [a, b]) else { continue };
        println!("step {step}: {impulse:.0} N s at {:.2}, {:.2}, {:.2}", at.x, at.y, at.z);
        pieces = break_body(&mut world, &before, &solid, &at, &normal)?;
        world.remove_body(slab);
        whole = None;
        // the momentum that the ball keeps, set by hand in this example
        world.bodies[ball].set_linvel(Vector::new(0.0, 0.0, -9.0), true);
    }

    let mass: f64 = pieces.iter().map(|&piece: &RigidBodyHandle| world.bodies[piece].mass()).sum();
    let expected = 8.0 * HALF.product() * DENSITY;
    println!("{} pieces of {mass:.3} kg, of {expected:.3} kg", pieces.len());
    if pieces.len() < 5 || (mass / expected - 1.0).abs() > 1e-9 {
        return Err("the slab did not break into pieces of its mass".into());
    }
    // pieces keep the body coordinates of the slab, so heights are those of their centers of mass
    let height = |piece: &RigidBodyHandle| world.bodies[*piece].center_of_mass().y;
    if !pieces.iter().all(|piece| (0.0..0.8).contains(&height(piece))) {
        let heights: Vec<f64> = pieces.iter().map(height).collect();
        return Err(format!("a piece is not on the floor: heights {heights:.2?}").into());
    }
    Ok(())
}

/// The point of the impact on the slab and the outward normal, both in coordinates of the slab.
fn place(
    world: &PhysicsWorld,
    slab: ColliderHandle,
    [a, b]: [ColliderHandle; 2],
) -> Option<(Point3<f64>, UnitVector3<f64>)> {
    let pair = world.narrow_phase.contact_pair(a, b)?;
    let (manifold, contact) = pair.find_deepest_contact()?;
    // both points are in coordinates of their own colliders, which here are those of the bodies
    let (point, normal) = match a == slab {
        true => (contact.local_p1, manifold.local_n1),
        false => (contact.local_p2, manifold.local_n2),
    };
    let normal = UnitVector3::try_new(vector_of(normal), 1e-9)?;
    Some((vector_of(point).into(), normal))
}

/// Creates the pieces of a solid at the pose of its `body` before the impact, with its velocity.
fn break_body(
    world: &mut PhysicsWorld,
    body: &RigidBody,
    solid: &Geometry,
    at: &Point3<f64>,
    normal: &UnitVector3<f64>,
) -> Result<Vec<RigidBodyHandle>, Box<dyn Error>> {
    let pattern = Pattern::voronoi(&Voronoi { clustering: 1.0, ..Voronoi::new(400, 7) })?;
    let around = Alignment::enclosing(&solid.bounds(), *at, *normal);
    let broken = solid.divide(&pattern, &around, 4e-3 * solid.moments().volume);
    let pose = pose_of(body.position());
    let (linear, angular) = (vector_of(body.linvel()), vector_of(body.angvel()));
    let mut handles = Vec::new();
    for piece in &broken.pieces {
        let moments = piece.geometry.moments();
        let center = moments.center();
        let arm = pose * center - pose * Point3::from(vector_of(body.local_center_of_mass()));
        let mass = MassProperties::with_inertia_matrix(
            vector(&center.coords),
            DENSITY * moments.volume,
            matrix(&(moments.inertia() * DENSITY)),
        );
        let new = RigidBodyBuilder::dynamic()
            .pose(*body.position())
            .linvel(vector(&(linear + angular.cross(&arm))))
            .angvel(vector(&angular))
            .additional_mass_properties(mass);
        let handle = world.insert_body(new);
        for part in piece.geometry.convex_decomposition(0.05, 8) {
            let hull = ColliderBuilder::convex_hull(&points(&part.vertices)).ok_or("no hull")?;
            // colliders have no mass, since the body has the mass of the solid
            world.insert_collider(hull.density(0.0), Some(handle));
        }
        handles.push(handle);
    }
    Ok(handles)
}
