//! The impulses of a contact pass: its warm start and its result.

use dynamics::Body;
use nalgebra::{Isometry3, Vector3};

use crate::body::Columns;
use crate::narrow::contacts::Contacts;
use crate::solve::rolling::{Torque, add_work_of_kinematic_bodies};

/// Impulses of contacts and torques of pairs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactImpulses {
    /// One impulse per contact on its body `a`, N s.
    pub(crate) contacts: Vec<Vector3<f64>>,
    /// Rolling and spinning friction of pairs.
    pub(crate) torques: Vec<Torque>,
}

impl ContactImpulses {
    pub(crate) fn double(&mut self) {
        self.contacts.iter_mut().for_each(|impulse| *impulse *= 2.0);
        self.torques.iter_mut().for_each(|torque| torque.impulse *= 2.0);
    }

    pub(crate) fn clear(&mut self) {
        self.contacts.fill(Vector3::zeros());
        self.torques.iter_mut().for_each(|torque| torque.impulse = Vector3::zeros());
    }

    /// The work of kinematic bodies on each body, J.
    pub(crate) fn work_of_kinematic_bodies(
        &self,
        columns: Columns<'_>,
        poses: &[Isometry3<f64>],
        contacts: &Contacts,
    ) -> Vec<f64> {
        let mut work = work_of_kinematic_bodies(columns, poses, contacts, &self.contacts);
        add_work_of_kinematic_bodies(columns, contacts, &self.torques, &mut work);
        work
    }
}

/// The work of kinematic bodies on each body by `impulses`, J.
pub(crate) fn work_of_kinematic_bodies(
    columns: Columns<'_>,
    poses: &[Isometry3<f64>],
    contacts: &Contacts,
    impulses: &[Vector3<f64>],
) -> Vec<f64> {
    let bodies = columns.bodies;
    let mut work = vec![0.0; bodies.len()];
    if !bodies.iter().any(|body| matches!(body, Body::Kinematic(_))) {
        return work;
    }
    for pair in contacts.manifolds() {
        let (a, b) = (pair.a as usize, pair.b as usize);
        let (mover, moved, sign) = match (&bodies[a], &bodies[b]) {
            (Body::Kinematic(velocity), Body::Dynamic(_)) => ((a, velocity), b, -1.0),
            (Body::Dynamic(_), Body::Kinematic(velocity)) => ((b, velocity), a, 1.0),
            _ => continue,
        };
        for index in contacts.range(pair) {
            let point = contacts.all()[index].at(&poses[a], &poses[b]);
            let arm = point.coords - poses[mover.0].translation.vector;
            work[moved] += sign * impulses[index].dot(&mover.1.at(&arm));
        }
    }
    work
}
