//! Bodies over one step.

use dynamics::{Body, Momentum, Velocity};
use nalgebra::Isometry3;

use crate::body::Columns;
use crate::constraint::Joint;
use crate::narrow::cache::Cache;
use crate::narrow::contacts::Contacts;
use crate::narrow::flight::Flight;
use crate::settings::Settings;
use crate::solve::islands::Islands;
use crate::solve::order::Order;
use crate::solve::problem::Problem;

/// Bodies at one time and the forces on them, for a step from there.
///
/// Every slice has one entry per body, except `joints` and `flights`, which may be empty; otherwise
/// the passes may panic. The passes do not check numbers: a state that is not finite, or a shape
/// that is not [usable](crate::Shape::is_usable), may make the states of all bodies not finite. Check
/// materials by [`Material::check`](crate::Material::check) and settings by
/// [`Settings::is_usable`].
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// The bodies.
    pub columns: Columns<'a>,
    /// Poses of the bodies.
    pub poses: &'a [Isometry3<f64>],
    /// Change of each velocity by forces in half the step.
    pub half_kick: &'a [Velocity],
    /// The last collision of each body in this step; empty if there were none.
    pub flights: &'a [Flight],
    /// Length of the step, s.
    pub dt: f64,
    /// Joints between bodies; ignored by solvers without joints.
    pub joints: &'a [Joint],
    /// The contact cache of the last frame.
    pub cache: &'a Cache,
    /// Names of the bodies, persistent over their lifetime and ascending with their indices.
    pub names: &'a [u64],
    /// Solver, iteration counts and tolerances.
    pub settings: &'a Settings,
}

impl<'a> Frame<'a> {
    /// Poses of bodies with `momenta` at the end of the step.
    pub fn predict(&self, momenta: &[Momentum]) -> Vec<Isometry3<f64>> {
        let mut poses = self.poses.to_vec();
        let scheme = &self.settings.scheme;
        scheme.advance_all(self.columns.bodies, &mut poses, momenta, self.dt);
        poses
    }

    /// Connected components of bodies by contacts and joints.
    pub(crate) fn islands(&self, contacts: &Contacts) -> Islands {
        let mut pairs: Vec<_> = contacts.manifolds().iter().map(|m| (m.a, m.b)).collect();
        let known =
            |joint: &&Joint| joint.bodies.iter().all(|&i| (i as usize) < self.columns.bodies.len());
        pairs.extend(self.joints.iter().filter(known).map(|j| (j.bodies[0], j.bodies[1])));
        let mut islands = Islands::new(self.columns, &pairs);
        for joint in self.joints.iter().filter(known).filter(|j| j.motor.is_some()) {
            joint.bodies.into_iter().for_each(|i| islands.drive(i));
        }
        islands
    }

    /// Connected components of bodies by joints, and the indices of the joints of each.
    pub(crate) fn linkages(&self) -> (Islands, Vec<Vec<usize>>) {
        let count = self.columns.bodies.len();
        let is_known = |joint: &Joint| joint.bodies.iter().all(|&i| (i as usize) < count);
        let known = || self.joints.iter().enumerate().filter(|(_, joint)| is_known(joint));
        let pairs: Vec<(u32, u32)> = known().map(|(_, joint)| joint.bodies.into()).collect();
        let islands = Islands::new(self.columns, &pairs);
        let mut joints = vec![Vec::new(); islands.count()];
        for (n, joint) in known() {
            if let Some(k) = joint.bodies.iter().find_map(|&i| islands.of_bodies()[i as usize]) {
                joints[k as usize].push(n);
            }
        }
        (islands, joints)
    }

    /// Change of each momentum by forces in half the step.
    pub(crate) fn half_step_forces(&self) -> Vec<Momentum> {
        let force = |((body, pose), half_kick): ((&Body, &Isometry3<f64>), &Velocity)| match body {
            Body::Dynamic(mass) => mass.momentum(&pose.rotation, half_kick),
            Body::Static | Body::Kinematic(_) => Momentum::default(),
        };
        self.columns.bodies.iter().zip(self.poses).zip(self.half_kick).map(force).collect()
    }

    /// Momenta after half the step.
    pub(crate) fn with_forces(&self, momenta: &[Momentum]) -> Vec<Momentum> {
        momenta.iter().zip(self.half_step_forces()).map(|(m, force)| *m + force).collect()
    }

    pub(crate) fn velocities(&self, momenta: &[Momentum]) -> Vec<Velocity> {
        let states = self.poses.iter().zip(momenta);
        let of = |(b, (x, m)): (&Body, (&Isometry3<f64>, &Momentum))| b.velocity(&x.rotation, m);
        self.columns.bodies.iter().zip(states).map(of).collect()
    }

    pub(crate) fn problem(&self, contacts: &'a Contacts, order: &'a Order) -> Problem<'a> {
        let Self { columns, poses, half_kick, dt, settings, .. } = *self;
        Problem { columns, poses, contacts, order, half_kick, dt, settings }
    }
}

/// `after - before` for each body.
pub(crate) fn differences(after: &[Momentum], before: &[Momentum]) -> Vec<Momentum> {
    after.iter().zip(before).map(|(after, before)| *after - *before).collect()
}
