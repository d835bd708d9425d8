//! What a caller changes while a world runs: gravity and the velocity of kinematic bodies.

use std::collections::BTreeSet;

use dynamics::{Body, Velocity};
use nalgebra::Vector3;
use thiserror::Error;

use crate::world::MAX_NUMBER;
use crate::{BodyId, World};

/// Why a world was not steered; it stays as it was.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SteeringError {
    /// A number is not finite or beyond 1e30.
    #[error("a number of the new value is not finite or beyond 1e30: give finite numbers")]
    NotFinite,
    /// The body is gone.
    #[error("there is no body {0}: it broke or was removed")]
    Unknown(BodyId),
    /// The body is not kinematic.
    #[error("body {0} is not kinematic: give a dynamic body an impulse by `World::push`")]
    NotKinematic(BodyId),
    /// The body follows a path of the timeline.
    #[error("body {0} follows a path: take the path out of the timeline first")]
    OnPath(BodyId),
}

fn check<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> Result<(), SteeringError> {
    let usable = numbers.into_iter().all(|x| x.abs() <= MAX_NUMBER);
    if usable { Ok(()) } else { Err(SteeringError::NotFinite) }
}

impl World {
    /// Changes gravity, m/s^2, from the next frame on. If it differs from before, all sleepers wake.
    /// Potential energy is that of the new gravity from now on.
    ///
    /// # Errors
    ///
    /// [`SteeringError::NotFinite`].
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use brisance_sim::{Settings, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// world.step();
    /// world.set_gravity(Vector3::new(0.0, -1.62, 0.0))?;
    /// assert_eq!(world.settings().gravity.y, -1.62);
    /// # Ok::<(), brisance_sim::SteeringError>(())
    /// ```
    pub fn set_gravity(&mut self, gravity: Vector3<f64>) -> Result<(), SteeringError> {
        check(&gravity)?;
        if gravity != self.settings.gravity {
            self.settings.gravity = gravity;
            let asleep = (0..self.len()).filter(|&i| self.rests[i].asleep);
            self.wake(asleep.map(|i| self.ids[i]).collect());
        }
        Ok(())
    }

    /// Changes the velocity of a kinematic body, from the next frame on. If it differs from before,
    /// what sleeps on it, against it or joined to it wakes.
    ///
    /// # Errors
    ///
    /// [`SteeringError`] if there is no such body, it is not kinematic, it follows a
    /// [`Path`](crate::Path), or a number is not finite.
    ///
    /// ```
    /// use contact::{Groups, Material, Shape};
    /// use dynamics::{Body, Velocity};
    /// use nalgebra::{Isometry3, Vector3};
    /// use brisance_sim::{NewBody, Settings, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let door = world.add(NewBody {
    ///     body: Body::Kinematic(Velocity::default()),
    ///     pose: Isometry3::identity(),
    ///     velocity: Velocity::default(),
    ///     shape: Shape::cuboid(Vector3::new(0.5, 1.0, 0.02), 0.02).into(),
    ///     solid: None,
    ///     material: Material::default(),
    ///     groups: Groups::default(),
    ///     breakage: None,
    /// })?;
    /// let opens = Velocity { linear: Vector3::x(), ..Velocity::default() };
    /// world.set_velocity(door, opens)?;
    /// (0..30).for_each(|_| drop(world.step()));
    /// let state = world.get(door).expect("a door");
    /// assert!((state.pose.translation.x - 1.0).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_velocity(&mut self, id: BodyId, velocity: Velocity) -> Result<(), SteeringError> {
        check(velocity.linear.iter().chain(&velocity.angular))?;
        let i = self.ids.binary_search(&id).map_err(|_| SteeringError::Unknown(id))?;
        let Body::Kinematic(before) = self.bodies[i] else {
            return Err(SteeringError::NotKinematic(id));
        };
        if self.timeline.paths.iter().any(|path| path.body == id) {
            return Err(SteeringError::OnPath(id));
        }
        if velocity != before {
            self.bodies[i] = Body::Kinematic(velocity);
            self.acting[i] = self.bodies[i];
            let touching = self.links.iter().filter(|link| link.other == id);
            let mut woken: BTreeSet<BodyId> = touching.map(|link| link.sleeper).collect();
            woken.insert(id);
            self.wake(woken);
        }
        Ok(())
    }
}
