//! Inputs of a frame.

use contact::Frame;
use contact::constraint::Joint;
use dynamics::{Body, Momentum, Velocity};

use crate::{Settings, World};

/// Inputs of the passes of a frame beside the columns of the world.
#[derive(Clone, Copy)]
pub(crate) struct FrameInputs<'a> {
    /// Changes of velocity by forces in half a step.
    pub(crate) half_kick: &'a [Velocity],
    /// Persistent names of the bodies.
    pub(crate) names: &'a [u64],
    pub(crate) joints: &'a [Joint],
}

impl World {
    /// The current state of the bodies, with `inputs`.
    pub(crate) fn contact_frame<'a>(&'a self, inputs: FrameInputs<'a>) -> Frame<'a> {
        let Settings { dt, contact: ref settings, .. } = self.settings;
        let (columns, poses, cache) = (self.columns(), &self.poses, &self.caches.contacts);
        let (FrameInputs { half_kick, names, joints }, flights) = (inputs, &self.flights);
        Frame { columns, poses, half_kick, flights, dt, joints, cache, names, settings }
    }

    pub(crate) fn names(&self) -> Vec<u64> {
        self.ids.iter().map(|id| id.number()).collect()
    }

    /// Changes of velocity by forces in half a step.
    pub(crate) fn half_kick(&self) -> Vec<Velocity> {
        let of = |(i, body): (usize, &Body)| match body {
            Body::Dynamic(_) => {
                let linear = self.acceleration(i) * (self.settings.dt / 2.0);
                Velocity { linear, ..Velocity::default() }
            }
            Body::Static | Body::Kinematic(_) => Velocity::default(),
        };
        self.acting.iter().enumerate().map(of).collect()
    }

    /// Momenta after forces have acted for a share of the step.
    pub(crate) fn momenta_after_forces(&self, share: f64) -> Vec<Momentum> {
        let push = |(i, (body, momentum)): (usize, (&Body, &Momentum))| match body {
            Body::Dynamic(mass) => {
                let linear = self.acceleration(i) * (self.settings.dt * share);
                Momentum { linear: momentum.linear + linear * mass.mass(), ..*momentum }
            }
            Body::Static | Body::Kinematic(_) => *momentum,
        };
        self.acting.iter().zip(&self.momenta).enumerate().map(push).collect()
    }
}
