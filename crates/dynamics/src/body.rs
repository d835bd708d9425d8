//! Response of bodies to forces and impulses.

use nalgebra::UnitQuaternion;

use crate::{MassProperties, Momentum, Velocity};

/// The response of a body to forces and impulses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body {
    /// Moves by its momentum.
    Dynamic(MassProperties),
    /// Never moves.
    Static,
    /// Moves at a prescribed velocity.
    Kinematic(Velocity),
}

impl Body {
    /// Mass properties of a dynamic body.
    pub fn mass_properties(&self) -> Option<&MassProperties> {
        match self {
            Self::Dynamic(mass) => Some(mass),
            Self::Static | Self::Kinematic(_) => None,
        }
    }

    /// Velocity in world axes; `momentum` matters only for a dynamic body.
    pub fn velocity(&self, rotation: &UnitQuaternion<f64>, momentum: &Momentum) -> Velocity {
        match self {
            Self::Dynamic(mass) => Velocity {
                linear: momentum.linear / mass.mass(),
                angular: mass.angular_velocity(rotation, &momentum.angular),
            },
            Self::Static => Velocity::default(),
            Self::Kinematic(velocity) => *velocity,
        }
    }

    /// Kinetic energy of a dynamic body, J; zero for the others.
    pub fn kinetic_energy(&self, rotation: &UnitQuaternion<f64>, momentum: &Momentum) -> f64 {
        self.mass_properties().map_or(0.0, |mass| mass.kinetic_energy(rotation, momentum))
    }
}
