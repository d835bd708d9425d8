//! Energy fix as a drop-in after another engine's step: Rapier bodies in free flight at 30 Hz.
//!
//! `cargo run --release -p brisance-benches --example rapier_energy_fix`
#![expect(clippy::print_stdout, reason = "an example that reports")]

use dynamics::{MassProperties, energy_fix};
use nalgebra::{UnitQuaternion, Vector3};
use rapier::prelude::{
    AngVector, MassProperties as RapierMass, PhysicsWorld, RigidBody, RigidBodyBuilder, Rotation,
    Vector,
};
use std::error::Error;

const FRAMES: usize = 300;

/// What to hold a free body to: computed once, and again whenever something touches the body.
struct Kept {
    mass: MassProperties,
    angular_momentum: Vector3<f64>,
    energy: f64,
}

impl Kept {
    fn new(body: &RigidBody) -> Result<Self, Box<dyn Error>> {
        let inertia = body.mass_properties().local_mprops.principal_inertia();
        // engines let users set any inertia, so do not ask for that of a solid
        let mass = MassProperties::artificial(body.mass(), inertia.to_array().into())?;
        let rotation = rotation(body);
        let angular_momentum = mass.angular_momentum(&rotation, &body.angvel().to_array().into());
        let energy = mass.rotational_energy(&rotation, &angular_momentum);
        Ok(Self { mass, angular_momentum, energy })
    }

    /// The drop-in, after each step: the engine's orientation, turned until the energy is right,
    /// and the angular velocity that goes with it.
    fn hold(&self, body: &mut RigidBody) {
        let (turn, _) =
            energy_fix(&self.mass, &rotation(body), &self.angular_momentum, self.energy);
        let spin = self.mass.angular_velocity(&turn, &self.angular_momentum);
        body.set_rotation(Rotation::from_array(turn.coords.into()), false);
        body.set_angvel(AngVector::from_array(spin.into()), false);
    }

    /// Energy relative to the kept one, and by how many degrees angular momentum has turned.
    fn drift(&self, body: &RigidBody) -> (f64, f64) {
        let rotation = rotation(body);
        let now = self.mass.angular_momentum(&rotation, &body.angvel().to_array().into());
        let energy = self.mass.rotational_energy(&rotation, &now) / self.energy;
        (energy, now.angle(&self.angular_momentum).to_degrees())
    }
}

/// From principal axes to world axes; the body here has them along its own axes.
fn rotation(body: &RigidBody) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(nalgebra::Quaternion::from(body.rotation().to_array()))
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{FRAMES} frames of 1/30 s, box of 1 x 0.2 x 3 m, start (8, 0.1, 6) rad/s times");
    for speed in [0.5, 1.0, 2.0] {
        let [plain, held] = [false, true].map(|hold| fly(speed, hold));
        let ((plain, turned), (held, still)) = (plain?, held?);
        println!(
            "{speed:>4}: Rapier alone: energy x {plain:.3}, angular momentum off by {turned:.1} deg"
        );
        println!(
            "      with the fix: energy off by {:.0e}, momentum by {still:.0e} deg",
            held - 1.0
        );
        if (held - 1.0).abs() > 1e-12 || still > 1e-5 {
            return Err("the drift is not gone".into());
        }
    }
    Ok(())
}

fn fly(speed: f64, hold: bool) -> Result<(f64, f64), Box<dyn Error>> {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::ZERO;
    world.integration_parameters.dt = 1.0 / 30.0;
    let inertia = AngVector::new(0.04 + 9.0, 1.0 + 9.0, 1.0 + 0.04) / 12.0;
    let body = world.insert_body(
        RigidBodyBuilder::dynamic()
            .additional_mass_properties(RapierMass::new(Vector::ZERO, 1.0, inertia))
            .angvel(AngVector::new(8.0, 0.1, 6.0) * speed)
            .can_sleep(false),
    );
    // Rapier works the mass out in its first step
    world.bodies[body].recompute_mass_properties_from_colliders(&world.colliders);
    let kept = Kept::new(&world.bodies[body])?;
    for _ in 0..FRAMES {
        world.step();
        if hold {
            kept.hold(&mut world.bodies[body]);
        }
    }
    Ok(kept.drift(&world.bodies[body]))
}
