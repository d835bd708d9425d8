//! Rigid bodies that keep their energy and angular momentum at one time step per frame.
//!
//! **Conventions.** SI units, right-handed frames. A pose maps body coordinates, whose origin is
//! the centre of mass and whose axes are the principal axes, to the world. State is pose and
//! *momentum*: angular momentum is stored, so it is conserved to the bit in free flight, and
//! velocity is derived from it. Only sums, products, divisions and square roots are used, in a
//! fixed order, so the bits are the same on every platform and for any number of threads.
//!
//! # A frame
//! [`MassMoments`] adds up what a body is made of and finds its principal axes; [`advance`] carries
//! it over one frame. At 30 Hz an ordinary second-order step of a fast, ill-conditioned body can
//! multiply its energy; here the energy is held (Su09 section 2), and the orientation follows the true
//! one. [`second_order_step`] with [`energy_fix`] is the method of Su09 itself; [`Scheme`] chooses both.
//!
//! ```
//! use brisance_dynamics::{Body, MassMoments, Velocity, advance};
//! use nalgebra::{Point3, Vector3};
//!
//! let hammer = MassMoments::cuboid(0.3, &Point3::origin(), &Vector3::new(0.02, 0.3, 0.02))
//!     + MassMoments::cuboid(0.7, &Point3::new(0.0, 0.16, 0.0), &Vector3::new(0.12, 0.04, 0.04));
//! let (mass, mut pose) = hammer.body()?;
//! let thrown = Velocity { linear: Vector3::y(), angular: Vector3::new(12.0, 0.1, 0.1) };
//! let momentum = mass.momentum(&pose.rotation, &thrown);
//! let energy = mass.kinetic_energy(&pose.rotation, &momentum);
//! for _ in 0..300 {
//!     pose = advance(&Body::Dynamic(mass), &pose, &momentum, 1.0 / 30.0);
//! }
//! let drift = mass.kinetic_energy(&pose.rotation, &momentum) / energy - 1.0;
//! assert!(drift.abs() < 1e-12);
//! # Ok::<(), brisance_dynamics::MassError>(())
//! ```
//!
//! Impulses and loads change the momentum between frames ([`Momentum::apply`], [`Momentum::push`]);
//! [`advance_all`] moves columns of bodies in parallel.
//!
//! # The energy fix beside another engine
//! [`energy_fix`] needs no other part of this crate. After the engine's step give it the
//! orientation that came out, the angular momentum the body had before (plus what acted on it in
//! the step) and the energy it must have; put back the orientation it returns and the angular
//! velocity that goes with it.
//!
//! ```
//! use brisance_dynamics::{MassProperties, energy_fix};
//! use nalgebra::{UnitQuaternion, Vector3};
//!
//! // once, and again whenever something touches the body; `artificial` takes any moments
//! let mass = MassProperties::artificial(1.0, Vector3::new(0.75, 0.83, 0.09))?;
//! let mut rotation = UnitQuaternion::identity();
//! let mut spin = Vector3::new(8.0, 0.1, 6.0);
//! let angular_momentum = mass.angular_momentum(&rotation, &spin);
//! let energy = mass.rotational_energy(&rotation, &angular_momentum);
//!
//! // the engine's step, here the crudest there is
//! rotation = UnitQuaternion::from_scaled_axis(spin / 30.0) * rotation;
//!
//! // the drop-in
//! (rotation, _) = energy_fix(&mass, &rotation, &angular_momentum, energy);
//! spin = mass.angular_velocity(&rotation, &angular_momentum);
//! assert!((0.5 * angular_momentum.dot(&spin) / energy - 1.0).abs() < 1e-12);
//! # Ok::<(), brisance_dynamics::MassError>(())
//! ```
//!
//! The example `rapier_energy_fix` of the benches does this to Rapier's bodies. Measure energy as
//! kept, not anew each frame, or round-off wanders; [`advance`] sees to that by itself.
//!
//! # Other motion
//! [`integrate`] follows a body under loads by [`Integrator::DormandPrince`] or
//! [`Integrator::SemiImplicitEuler`], over the same [`State`]; [`integrate_coupled`] follows bodies that act on each
//! other. [`Velocity::between`] lets a
//! [`Body::Kinematic`] follow given poses. [`MassProperties::planar`] makes a body of two
//! dimensions. `examples/spin.rs` compares them all.

mod advance;
mod body;
mod energy_fix;
mod integrate;
mod mass;
mod moments;
mod principal;
mod rotation;
mod spin;

pub use advance::{Order, Scheme, advance, advance_all, second_order_step};
pub use body::{Body, Load, Momentum, Velocity};
pub use energy_fix::{EnergyFix, energy_fix};
pub use integrate::{
    Accuracy, CoupledBody, IntegrateError, Integrator, Motion, Scale, State, integrate,
    integrate_coupled,
};
pub use mass::{MassError, MassProperties};
pub use moments::MassMoments;
