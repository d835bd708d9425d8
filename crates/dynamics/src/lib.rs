//! Rigid bodies that conserve energy and angular momentum at one time step per frame.
//!
//! **Conventions.** SI units, right-handed frames. A pose maps body coordinates, whose origin is
//! the center of mass and whose axes are the principal axes, to the world. State is pose and
//! *momentum*: angular momentum is stored, so that it is conserved to the bit in free flight, and
//! velocity is derived from it. Only sums, products, divisions and square roots are used, in a
//! fixed order, so that the bits are the same on every platform and for any number of threads.
//!
//! # A frame
//! [`MassMoments`] adds up the masses of a body and finds its principal axes; [`advance`] moves it
//! over one frame. At 30 Hz an ordinary second-order step of a fast, ill-conditioned body can
//! multiply its energy; [`advance`] conserves the energy (Su09 section 2) and rotates the body by a
//! step of sixth order. [`second_order_step`] with [`energy_fix`] is the method of Su09 itself.
//! [`Scheme`] selects the order of the step, and whether the energy fix follows.
//!
//! ```
//! use brisance_dynamics::{Body, MassMoments, Velocity, advance};
//! use brisance_dynamics::nalgebra::{Point3, Vector3};
//!
//! let hammer = MassMoments::cuboid(0.3, &Point3::origin(), &Vector3::new(0.02, 0.3, 0.02))
//!     + MassMoments::cuboid(0.7, &Point3::new(0.0, 0.16, 0.0), &Vector3::new(0.12, 0.04, 0.04));
//! let (mass, mut pose) = hammer.mass_properties()?;
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
//! Impulses and loads change the momentum between frames ([`Momentum::apply_impulse`],
//! [`Momentum::push`]); [`advance_all`] moves columns of bodies in parallel.
//!
//! # The energy fix in another engine
//! [`EnergyKeeper`] is a pass over the bodies of an engine after each of its steps: it conserves
//! the energy and angular momentum of bodies without contacts, and leaves their centers of mass
//! unchanged. The example `rapier_energy_fix` of the benches runs it in Rapier's loop.
//! [`energy_fix`] is the formula alone.
//!
//! # Other motion
//! [`integrate`] integrates the motion of a body under loads with [`Integrator::DormandPrince`] or
//! [`Integrator::SemiImplicitEuler`], over the same [`State`]; [`integrate_coupled`] does so for
//! bodies that act on each other. [`Velocity::between`] lets a [`Body::Kinematic`] follow given poses.
//! [`MassProperties::planar`] creates a two-dimensional body. `examples/spin.rs` compares them all.

// a browser has one thread
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
extern crate serial as rayon;

mod advance;
mod body;
mod energy_fix;
mod integrate;
mod keeper;
mod mass;
mod moments;
mod momentum;
mod principal;
mod rotation;
mod spin;

// users can name the types of this API without further dependencies
pub use nalgebra;

pub use advance::{Order, Scheme, advance, advance_all, second_order_step};
pub use body::Body;
pub use energy_fix::{EnergyFix, energy_fix};
pub use integrate::{
    Accuracy, CoupledBody, IntegrateError, Integrator, Motion, Scale, State, integrate,
    integrate_coupled,
};
pub use keeper::{Correction, EnergyKeeper, EngineBody};
pub use mass::{MassError, MassProperties};
pub use moments::MassMoments;
pub use momentum::{Load, Momentum, Velocity};

/// Tests the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
