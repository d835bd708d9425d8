//! External forces, torques and impulses on bodies.
//!
//! A force acts like gravity, evenly over the frame; a torque as an impulse at its start.

use std::collections::BTreeSet;

use dynamics::Body;
use nalgebra::{Isometry3, Point3, Vector3};

use crate::world::input::Load;
use crate::world::limits::is_usable;
use crate::world::steering::{SteeringError, check};
use crate::{BodyId, World};

impl World {
    /// Applies a force, N, to a dynamic body in the next frame, at a point in the world, m, or at
    /// its center of mass. Forces of a frame add up and do not persist: a lasting force must be
    /// applied before every step. It acts evenly over the frame, so that a force equal to its
    /// weight keeps a body in the air; its torque about the center of mass acts at the start of the
    /// frame. The body wakes. Pieces of a body that breaks in the frame do not inherit it.
    ///
    /// [`World::apply_impulse`] applies an impulse.
    ///
    /// # Errors
    ///
    /// [`SteeringError`] if there is no such body, it is not dynamic, or a number is not finite.
    ///
    /// ```
    /// use brisance_sim::nalgebra::Vector3;
    /// # use brisance_sim::{NewBody, Settings, World};
    ///
    /// # let mut world = World::new(Settings::default());
    /// # let drone = world.add(NewBody::ball(0.1, 500.0)?)?;
    /// let lift = Vector3::y() * (9.81 * world.mass());
    /// for _ in 0..30 {
    ///     world.apply_force(drone, &lift, None)?;
    ///     world.step();
    /// }
    /// assert!(world.get(drone).expect("a drone").pose.translation.y.abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn apply_force(
        &mut self,
        id: BodyId,
        force: &Vector3<f64>,
        at: Option<&Point3<f64>>,
    ) -> Result<(), SteeringError> {
        check(force.iter().chain(at.into_iter().flat_map(|at| at.iter())))?;
        let i = self.loadable(id)?;
        let center = self.poses[i].translation.vector;
        let arm = at.map_or_else(Vector3::zeros, |at| at.coords - center);
        self.load(Load { body: id, force: *force, torque: arm.cross(force) })
    }

    /// Applies a torque, N m, to a dynamic body in the next frame. Torques of a frame add up and do
    /// not persist. It acts as an impulse at the start of the frame. The body wakes.
    ///
    /// # Errors
    ///
    /// As [`World::apply_force`].
    pub fn apply_torque(&mut self, id: BodyId, torque: &Vector3<f64>) -> Result<(), SteeringError> {
        check(torque)?;
        self.loadable(id)?;
        self.load(Load { body: id, force: Vector3::zeros(), torque: *torque })
    }

    /// Applies an impulse, N s, to a dynamic body at a point in the world, m, or at its center of
    /// mass. The body wakes.
    ///
    /// # Errors
    ///
    /// As [`World::apply_force`], or if the momentum of the body would exceed 1e30.
    ///
    /// ```
    /// use brisance_sim::nalgebra::{Point3, Vector3};
    /// # use brisance_sim::{NewBody, Settings, World};
    ///
    /// # let mut world = World::new(Settings::default());
    /// # let ball = world.add(NewBody::ball(0.1, 500.0)?)?;
    /// let (impulse, top) = (Vector3::new(4.0, 0.0, 0.0), Point3::new(0.0, 0.1, 0.0));
    /// world.apply_impulse(ball, &impulse, Some(&top))?;
    /// let momentum = world.get(ball).expect("a ball").momentum;
    /// assert_eq!((momentum.linear, momentum.angular.z), (impulse, -0.4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn apply_impulse(
        &mut self,
        id: BodyId,
        impulse: &Vector3<f64>,
        at: Option<&Point3<f64>>,
    ) -> Result<(), SteeringError> {
        check(impulse.iter().chain(at.into_iter().flat_map(|at| at.iter())))?;
        let i = self.loadable(id)?;
        let center = self.poses[i].translation.vector;
        let arm = at.map_or_else(Vector3::zeros, |at| at.coords - center);
        let mut momentum = self.momenta[i];
        momentum.apply_impulse(impulse, &arm);
        if !is_usable(&self.poses[i], &momentum) {
            return Err(SteeringError::NotFinite);
        }
        self.wake(BTreeSet::from([id]));
        self.momenta[i] = momentum;
        Ok(())
    }

    /// The index of a dynamic body.
    fn loadable(&self, id: BodyId) -> Result<usize, SteeringError> {
        let i = self.known(id)?;
        match self.bodies[i] {
            Body::Dynamic(_) => Ok(i),
            Body::Static | Body::Kinematic(_) => Err(SteeringError::NotDynamic(id)),
        }
    }

    fn load(&mut self, load: Load) -> Result<(), SteeringError> {
        check(load.force.iter().chain(&load.torque))?;
        let place = self.steering.loads.binary_search_by_key(&load.body, |known| known.body);
        match place {
            Ok(n) => {
                let known = &mut self.steering.loads[n];
                let (force, torque) = (known.force + load.force, known.torque + load.torque);
                check(force.iter().chain(&torque))?;
                (known.force, known.torque) = (force, torque);
            }
            Err(n) => self.steering.loads.insert(n, load),
        }
        self.wake(BTreeSet::from([load.body]));
        Ok(())
    }

    /// Adds the angular momentum of torques to bodies.
    pub(crate) fn apply_torques(&mut self) {
        for Load { body, torque, .. } in &self.steering.loads {
            if let Ok(i) = self.ids.binary_search(body) {
                self.momenta[i].angular += torque * self.settings.dt;
            }
        }
    }

    /// The force on a body in this frame, N; `None` if there is none.
    pub(crate) fn force(&self, i: usize) -> Option<&Vector3<f64>> {
        if self.steering.loads.is_empty() {
            return None;
        }
        let n = self.steering.loads.binary_search_by_key(&self.ids[i], |load| load.body).ok()?;
        Some(&self.steering.loads[n].force)
    }

    /// The acceleration of a dynamic body by gravity and force, m/s^2.
    pub(crate) fn acceleration(&self, i: usize) -> Vector3<f64> {
        match (self.force(i), &self.bodies[i]) {
            (Some(force), Body::Dynamic(mass)) => self.settings.gravity + force / mass.mass(),
            _ => self.settings.gravity,
        }
    }

    /// The work of the force on a body along its displacement between two poses, J.
    pub(crate) fn force_work(&self, i: usize, [from, to]: [&Isometry3<f64>; 2]) -> f64 {
        let way = to.translation.vector - from.translation.vector;
        self.force(i).map_or(0.0, |force| force.dot(&way))
    }

    /// The work of all forces since the poses `start`, J. A virtual start is off the actual path:
    /// the work up to it and the work from it add up to that of the path.
    pub(crate) fn total_force_work(&self, start: &[Isometry3<f64>]) -> f64 {
        let bodies = 0..if self.steering.loads.is_empty() { 0 } else { start.len() };
        bodies.map(|i| self.force_work(i, [&start[i], &self.poses[i]])).sum()
    }

    /// Adds the work of forces since `start` to that of each body, J.
    pub(crate) fn add_force_work(&self, start: &[Isometry3<f64>], work: &mut [f64]) {
        if self.steering.loads.is_empty() {
            return;
        }
        for (i, work) in work.iter_mut().enumerate() {
            *work += self.force_work(i, [&start[i], &self.poses[i]]);
        }
    }
}
