//! The rotational energy of a plate in free flight in Rapier, with and without `EnergyKeeper` (Su09
//! section 2).

use std::error::Error;

use brisance_dynamics::{EnergyKeeper, EngineBody};
use brisance_foreign::{pose, pose_of, rotation_of, vector, vector_of};
use rapier3d_f64::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let [rapier, held] = [false, true].map(drift);
    println!(
        "change of the rotational energy in 10 s at 30 Hz: Rapier {rapier:+.1e}, with the keeper {held:+.1e}"
    );
    if held.abs() > 1e-9 {
        return Err("the energy drifts in spite of the keeper".into());
    }
    Ok(())
}

/// The relative change of the rotational energy in 10 s.
fn drift(is_held: bool) -> f64 {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, -9.81, 0.0);
    world.integration_parameters.dt = 1.0 / 30.0;
    let (plate, _) = world.insert(
        RigidBodyBuilder::dynamic().angvel(Vector::new(8.0, 0.1, 6.0)).can_sleep(false),
        // the center of mass differs from the origin of the body, as in most models
        ColliderBuilder::cuboid(0.5, 0.02, 0.3).translation(Vector::new(0.3, 0.0, 0.1)),
    );
    let mut keeper = EnergyKeeper::new();
    let mut energies = Vec::new();
    for _ in 0..300 {
        let body = engine_body(&world.bodies[plate]);
        let is_touched =
            world.narrow_phase.contact_pairs().any(|pair| pair.has_any_active_contact());
        if let Some(corrected) = keeper.correct(plate, &body, is_touched).filter(|_| is_held) {
            let body = &mut world.bodies[plate];
            body.set_position(pose(&corrected.pose), true);
            body.set_angvel(vector(&corrected.angular_velocity), true);
        }
        energies.push(energy(&engine_body(&world.bodies[plate])));
        world.step();
    }
    energies[energies.len() - 1] / energies[0] - 1.0
}

/// The state of a Rapier body for the keeper.
fn engine_body(body: &RigidBody) -> EngineBody {
    let mass = &body.mass_properties().local_mprops;
    EngineBody {
        pose: pose_of(body.position()),
        angular_velocity: vector_of(body.angvel()),
        mass: mass.mass(),
        center: vector_of(mass.local_com).into(),
        principal_inertia: vector_of(mass.principal_inertia()),
        principal_axes: rotation_of(mass.principal_inertia_local_frame),
    }
}

fn energy(body: &EngineBody) -> f64 {
    let axes = body.pose.rotation * body.principal_axes;
    let spin = axes.inverse_transform_vector(&body.angular_velocity);
    0.5 * spin.component_mul(&spin).dot(&body.principal_inertia)
}
