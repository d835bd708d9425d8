//! Changes by a caller while a world runs: gravity, poses and velocities of bodies.

use std::collections::BTreeSet;

use contact::MaterialError;
use dynamics::{Body, Velocity};
use nalgebra::{Isometry3, Vector3};
use thiserror::Error;

use crate::sleep::rest::Rest;
use crate::world::input::Target;
use crate::world::limits::{MAX_NUMBER, UNIT, is_usable};
use crate::{BodyId, BreakageError, World};

/// Distance, in radii, within which a sleeper is near a moving body.
const NEAR: f64 = 1.1;

/// Why a change was rejected; the world is then unchanged.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SteeringError {
    /// A number is not finite or beyond 1e30.
    #[error("a number of the new value is not finite or beyond 1e30: give finite numbers")]
    NotFinite,
    /// A rotation is not of length 1.
    #[error("the rotation is not of length 1: normalize it")]
    NotARotation,
    /// The body does not exist.
    #[error("there is no body {0}: it broke or was removed")]
    Unknown(BodyId),
    /// A coefficient of restitution or friction is invalid.
    #[error(transparent)]
    Material(#[from] MaterialError),
    /// The body cannot break that way.
    #[error(transparent)]
    Breakage(#[from] BreakageError),
    /// The body is static.
    #[error("body {0} is static and has no velocity: add it as a kinematic or dynamic body")]
    Static(BodyId),
    /// The body is not dynamic.
    #[error("body {0} is not dynamic: give a kinematic body a velocity by `World::set_velocity`")]
    NotDynamic(BodyId),
    /// The body is not kinematic.
    #[error("body {0} is not kinematic: give a dynamic body an impulse")]
    NotKinematic(BodyId),
    /// The body follows a path of the timeline.
    #[error("body {0} follows a path: take the path out of the timeline first")]
    OnPath(BodyId),
    /// The times of a path do not ascend.
    #[error("the times of the path of body {0} do not ascend: sort its keys")]
    PathOrder(BodyId),
}

/// Whether numbers are valid.
pub(crate) fn check<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> Result<(), SteeringError> {
    let usable = numbers.into_iter().all(|x| x.abs() <= MAX_NUMBER);
    if usable { Ok(()) } else { Err(SteeringError::NotFinite) }
}

/// Checks that a pose is finite and its rotation a unit quaternion.
pub(crate) fn check_pose(pose: &Isometry3<f64>) -> Result<(), SteeringError> {
    let rotation = &pose.rotation.coords;
    check(pose.translation.vector.iter().chain(rotation))?;
    let is_unit = (rotation.norm_squared() - 1.0).abs() <= UNIT;
    if is_unit { Ok(()) } else { Err(SteeringError::NotARotation) }
}

impl World {
    /// Changes gravity, m/s^2, from the next frame on. If it differs from before, all sleepers
    /// wake. Potential energy is that of the new gravity from now on.
    ///
    /// # Errors
    ///
    /// [`SteeringError::NotFinite`].
    ///
    /// ```
    /// use brisance_sim::nalgebra::Vector3;
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
            let asleep = (0..self.len()).filter(|&i| self.sleep.rests[i].asleep);
            self.wake(asleep.map(|i| self.ids[i]).collect());
        }
        Ok(())
    }

    /// Changes the velocity of a dynamic or kinematic body, from the next frame on: that of its
    /// center of mass in m/s and its angular velocity in rad/s. If it differs from before, the body
    /// wakes, and so do sleepers that touch it or are joined to it.
    ///
    /// # Errors
    ///
    /// [`SteeringError`] if there is no such body, it is static, it follows a
    /// [`Path`](crate::Path), or a number is not finite.
    ///
    /// ```
    /// use brisance_sim::contact::Shape;
    /// use brisance_sim::dynamics::{Body, Velocity};
    /// use brisance_sim::nalgebra::Vector3;
    /// use brisance_sim::{NewBody, Settings, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let panel = Shape::cuboid(Vector3::new(0.5, 1.0, 0.02), 0.02);
    /// let door = world.add(NewBody::of(Body::Kinematic(Velocity::default()), panel))?;
    /// let opens = Velocity { linear: Vector3::x(), ..Velocity::default() };
    /// world.set_velocity(door, opens)?;
    /// (0..30).for_each(|_| drop(world.step()));
    /// let state = world.get(door).expect("a door");
    /// assert!((state.pose.translation.x - 1.0).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_velocity(&mut self, id: BodyId, velocity: Velocity) -> Result<(), SteeringError> {
        check(velocity.linear.iter().chain(&velocity.angular))?;
        let i = self.steerable(id)?;
        let is_new = match self.bodies[i] {
            Body::Static => return Err(SteeringError::Static(id)),
            Body::Kinematic(before) => {
                self.steering.targets.retain(|target| target.body != id);
                self.bodies[i] = Body::Kinematic(velocity);
                before != velocity
            }
            Body::Dynamic(mass) => {
                let momentum = mass.momentum(&self.poses[i].rotation, &velocity);
                if !is_usable(&self.poses[i], &momentum) {
                    return Err(SteeringError::NotFinite);
                }
                std::mem::replace(&mut self.momenta[i], momentum) != momentum
            }
        };
        if is_new {
            self.acting[i] = self.bodies[i];
            self.wake_around(id);
        }
        Ok(())
    }

    /// Places a body at a pose, without motion in between: nothing is hit, and
    /// [`World::interpolated`] shows no motion. `pose` maps body coordinates, whose origin is the
    /// center of mass, to the world. Linear and angular velocity stay the same. The body wakes, and
    /// so do sleepers near its old and new pose; its cached contact impulses are dropped. Joints
    /// and anchors stay in place.
    ///
    /// # Errors
    ///
    /// [`SteeringError`] if there is no such body, it follows a [`Path`](crate::Path), a number is
    /// not finite, or the rotation is invalid.
    ///
    /// ```
    /// # use brisance_sim::dynamics::Velocity;
    /// use brisance_sim::nalgebra::Isometry3;
    /// # use brisance_sim::{NewBody, Settings, World};
    ///
    /// # let mut world = World::new(Settings::default());
    /// # let ball = world.add(NewBody::ball(0.1, 250.0)?)?;
    /// let start = Isometry3::translation(0.0, 3.0, 0.0);
    /// world.set_pose(ball, &start)?;
    /// world.set_velocity(ball, Velocity::default())?;
    /// assert_eq!(world.get(ball).expect("a ball").pose, &start);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_pose(&mut self, id: BodyId, pose: &Isometry3<f64>) -> Result<(), SteeringError> {
        check_pose(pose)?;
        let i = self.steerable(id)?;
        if let Body::Dynamic(mass) = self.bodies[i] {
            let velocity = self.bodies[i].velocity(&self.poses[i].rotation, &self.momenta[i]);
            let momentum = mass.momentum(&pose.rotation, &velocity);
            if !is_usable(pose, &momentum) {
                return Err(SteeringError::NotFinite);
            }
            self.momenta[i] = momentum;
        }
        self.steering.targets.retain(|target| target.body != id);
        self.wake_around(id);
        (self.poses[i], self.display.previous[i]) = (*pose, *pose);
        self.display.waypoints[i].clear();
        self.sleep.rests[i] = Rest::new(pose);
        self.caches.contacts.forget(id.number());
        self.caches.query_tree.take();
        self.wake_near(i);
        Ok(())
    }

    /// Moves a kinematic body to a pose over the next frame at constant velocity, and stops it
    /// there. It pushes bodies in its path. The last of several targets for a frame applies.
    /// Sleepers on it or near its path wake.
    ///
    /// # Errors
    ///
    /// [`SteeringError`] if there is no such body, it is not kinematic, it follows a
    /// [`Path`](crate::Path), a number is not finite, the speed would exceed 1e30, or the rotation
    /// is invalid.
    ///
    /// ```
    /// # use brisance_sim::contact::Shape;
    /// # use brisance_sim::dynamics::{Body, Velocity};
    /// use brisance_sim::nalgebra::{Isometry3, Vector3};
    /// # use brisance_sim::{NewBody, Settings, World};
    ///
    /// # let mut world = World::new(Settings::default());
    /// # let floor = Shape::cuboid(Vector3::new(0.5, 0.1, 0.5), 0.1);
    /// # let lift = world.add(NewBody::of(Body::Kinematic(Velocity::default()), floor))?;
    /// let above = Isometry3::new(Vector3::y() * 0.05, Vector3::y() * 0.2);
    /// world.move_kinematic(lift, &above)?;
    /// world.step();
    /// assert_eq!(world.get(lift).expect("a lift").pose, &above);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn move_kinematic(
        &mut self,
        id: BodyId,
        pose: &Isometry3<f64>,
    ) -> Result<(), SteeringError> {
        check_pose(pose)?;
        let i = self.steerable(id)?;
        let Body::Kinematic(_) = self.bodies[i] else {
            return Err(SteeringError::NotKinematic(id));
        };
        let velocity = Velocity::between(&self.poses[i], pose, self.settings.dt);
        check(velocity.linear.iter().chain(&velocity.angular))?;
        self.steering.targets.retain(|target| target.body != id);
        self.steering.targets.push(Target { body: id, pose: *pose });
        self.wake_around(id);
        Ok(())
    }

    /// Sets the velocities at which kinematic bodies reach their targets at the end of the frame.
    pub(crate) fn approach_targets(&mut self) {
        for Target { body, pose } in &self.steering.targets {
            let Ok(i) = self.ids.binary_search(body) else { continue };
            if let Body::Kinematic(_) = self.bodies[i] {
                let velocity = Velocity::between(&self.poses[i], pose, self.settings.dt);
                self.bodies[i] = Body::Kinematic(velocity);
                self.acting[i] = self.bodies[i];
            }
        }
    }

    /// Stops kinematic bodies at their targets.
    pub(crate) fn stop_at_targets(&mut self) {
        for Target { body, pose } in std::mem::take(&mut self.steering.targets) {
            let Ok(i) = self.ids.binary_search(&body) else { continue };
            if let Body::Kinematic(_) = self.bodies[i] {
                self.bodies[i] = Body::Kinematic(Velocity::default());
                (self.acting[i], self.poses[i]) = (self.bodies[i], pose);
            }
        }
    }

    /// The index of a body without a path.
    fn steerable(&self, id: BodyId) -> Result<usize, SteeringError> {
        let i = self.known(id)?;
        if self.script.timeline.paths.iter().any(|path| path.body == id) {
            return Err(SteeringError::OnPath(id));
        }
        Ok(i)
    }

    /// Wakes a body and sleepers that touch it or are joined to it.
    pub(super) fn wake_around(&mut self, id: BodyId) {
        let touching = self.sleep.links.iter().filter(|link| link.other == id);
        let mut woken: BTreeSet<BodyId> = touching.map(|link| link.sleeper).collect();
        woken.insert(id);
        self.wake(woken);
    }

    /// Wakes sleeping bodies with bounding spheres that overlap the bounding box of a body.
    pub(super) fn wake_near(&mut self, moved: usize) {
        let (bounds, pose) = (self.shapes[moved].bounds(), &self.poses[moved]);
        let is_near = |i: &usize| {
            let center = pose.inverse_transform_point(&self.poses[*i].translation.vector.into());
            let apart = (center - bounds.clamp(&center)).norm();
            self.sleep.rests[*i].asleep && apart <= NEAR * self.shapes[*i].radius()
        };
        let woken = (0..self.len()).filter(is_near).map(|i| self.ids[i]).collect();
        self.wake(woken);
    }
}
