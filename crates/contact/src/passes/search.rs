//! The contact search of a step, and its repetition after collisions.

use std::sync::Arc;

use dynamics::{Momentum, Velocity};
use nalgebra::Isometry3;

use crate::constraint::close;
use crate::frame::{Frame, differences};
use crate::narrow::broad::{Broad, FreeMotion, StepMotion};
use crate::narrow::contacts::{Contacts, MARGIN, Resumed};
use crate::narrow::detect::{Step, detect};
use crate::narrow::flight::{Paths, Turning};
use crate::passes::collide::collide;
use crate::passes::collision::{Collisions, StrengthQuery};
use crate::passes::follow::Turn;
use crate::reference;
use crate::settings::Solver;
use crate::solve::islands::Islands;

/// Displacement by the position pass, beyond that by forces, that triggers a new contact search, as
/// a share of the body's radius. A pass over all contacts is expensive.
const DIVERTED: f64 = 0.2;

impl<'a> Frame<'a> {
    /// The contacts of the step from `momenta`. [`Solver::Reference`] keeps none: its contacts are
    /// valid only until the next impulse. `broad` is that of an earlier search, or a new one.
    pub fn search(&self, momenta: &[Momentum], mut broad: Broad) -> Search {
        if !self.settings.solver.keeps_contacts() {
            return Search::default();
        }
        let half = self.with_forces(momenta);
        let (predicted, velocities) = (self.predict(&half), self.velocities(&half));
        let turning = |i: usize| self.turning(i, &half[i], &velocities[i], &predicted[i]);
        let turnings: Vec<_> = (0..half.len()).map(turning).collect();
        broad.place(self.motion(&predicted, &velocities), MARGIN, self.names);
        let found = detect(self.step(&predicted, &velocities, &turnings), &broad.pairs(), &[]);
        let contacts = found.without(&self.joined_apart());
        Search {
            contacts: Arc::new(contacts),
            broad,
            poses: self.poses.to_vec(),
            momenta: momenta.to_vec(),
            tested: predicted.clone(),
            predicted,
            velocities,
            turnings,
        }
    }

    /// Repeats the contact search for the bodies for which `renewed` holds, which have `momenta` or
    /// have just started to move, and for the `resumed` pairs, which are sorted.
    pub fn search_again(
        &self,
        search: &mut Search,
        momenta: &[Momentum],
        renewed: &[bool],
        resumed: &[Resumed],
    ) {
        if !self.settings.solver.keeps_contacts() {
            return;
        }
        for i in (0..renewed.len()).filter(|&i| renewed[i]) {
            self.put(search, i, momenta);
            search.tested[i] = search.predicted[i];
        }
        let Search { contacts, broad, predicted, velocities, turnings, .. } = search;
        broad.update(self.motion(predicted, velocities), renewed);
        let pairs = broad.renewed_pairs(renewed, resumed);
        let step = self.step(predicted, velocities, turnings);
        let fresh = detect(Step { before: Some(contacts), ..step }, &pairs, resumed);
        *contacts =
            Arc::new(contacts.renew(&fresh.without(&self.joined_apart()), renewed, resumed));
    }

    /// Sets the path of a body in a search to that of this frame with `momenta`.
    fn put(&self, search: &mut Search, i: usize, momenta: &[Momentum]) {
        let (body, pose, half_kick) = (&self.columns.bodies[i], &self.poses[i], &self.half_kick[i]);
        let mut half = momenta[i];
        if let Some(mass) = body.mass_properties() {
            half += mass.momentum(&pose.rotation, half_kick);
        }
        search.poses[i] = *pose;
        search.momenta[i] = momenta[i];
        search.predicted[i] = self.settings.scheme.advance(body, pose, &half, self.dt);
        let velocity = body.velocity(&pose.rotation, &half);
        search.velocities[i] = velocity;
        search.turnings[i] = self.turning(i, &half, &velocity, &search.predicted[i]);
    }

    /// The orientations of a spinning body with `half` a momentum from its last collision to the
    /// end of the step.
    fn turning(
        &self,
        i: usize,
        half: &Momentum,
        velocity: &Velocity,
        end: &Isometry3<f64>,
    ) -> Option<Turning> {
        let flight = self.flights.get(i).filter(|flight| flight.since > 0.0);
        let (since, rotation) =
            flight.map_or((0.0, self.poses[i].rotation), |own| (own.since, own.rotation));
        let pose = Isometry3::from_parts(self.poses[i].translation, rotation);
        let body = &self.columns.bodies[i];
        Turning::new(body, velocity, (&pose, half), (&end.rotation, self.dt - since))
    }

    /// Moves the bodies of a search and their contacts to the paths of this frame with `momenta`;
    /// `shifts` are those of [`Collisions`].
    ///
    /// # Panics
    /// If the number of `shifts` differs from the number of bodies.
    pub fn follow(&self, search: &mut Search, momenta: &[Momentum], shifts: &[Velocity]) {
        if !self.settings.solver.keeps_contacts() {
            return;
        }
        let is_changed =
            |i: usize| self.poses[i] != search.poses[i] || momenta[i] != search.momenta[i];
        let changed: Vec<bool> = (0..momenta.len()).map(is_changed).collect();
        if !changed.contains(&true) {
            return;
        }
        let before = search.velocities.clone();
        for i in (0..changed.len()).filter(|&i| changed[i]) {
            self.put(search, i, momenta);
        }
        let contacts = Arc::make_mut(&mut search.contacts);
        let turn = Turn { frame: *self, shifts, before: &before, after: &search.velocities };
        turn.follow(contacts, &changed);
    }

    /// Whether each body deviated: whether it ends the step farther than the contact margin from
    /// its predicted pose in the search.
    pub fn deviated(&self, search: &Search) -> Vec<bool> {
        if !self.settings.solver.keeps_contacts() {
            return vec![false; self.poses.len()];
        }
        let deviated = |i: usize| {
            let (tested, now) = (&search.tested[i], &search.predicted[i]);
            let radius = self.columns.shapes[i].radius();
            let off = Velocity::between(tested, now, 1.0);
            // beyond half a turn the distance does not grow
            let turned = off.angular.norm().min(2.0) * radius;
            let moves = self.columns.bodies[i].mass_properties().is_some();
            moves
                && tested != now
                && off.linear.norm() + turned > MARGIN * self.columns.shapes[i].size()
        };
        (0..self.poses.len()).map(deviated).collect()
    }

    /// Connected components of bodies by the contacts of a search and by joints.
    pub fn islands_of(&self, search: &Search) -> Islands {
        self.islands(search.contacts())
    }

    /// Moves bodies at the `end` of the step to close their joints, with [`Solver::Manifold`].
    pub fn close_joints(&self, end: &mut [Isometry3<f64>]) {
        if self.settings.solver == Solver::Manifold && !self.joints.is_empty() {
            close(*self, end);
        }
    }

    /// The pairs whose joints exclude collisions, in order.
    fn joined_apart(&self) -> Vec<(u32, u32)> {
        let apart = self.joints.iter().filter(|joint| !joint.collides);
        let mut apart: Vec<(u32, u32)> =
            apart.map(|j| (j.bodies[0].min(j.bodies[1]), j.bodies[0].max(j.bodies[1]))).collect();
        apart.sort_unstable();
        apart
    }

    fn motion<'s>(
        &'s self,
        predicted: &'s [Isometry3<f64>],
        velocities: &'s [Velocity],
    ) -> StepMotion<'s> {
        let Self { columns, poses, half_kick, flights, dt, .. } = *self;
        let motion = Some(FreeMotion { velocities, half_kick, flights, dt });
        StepMotion { columns, poses, predicted, motion }
    }

    fn step<'s>(
        &'s self,
        predicted: &'s [Isometry3<f64>],
        velocities: &'s [Velocity],
        turnings: &'s [Option<Turning>],
    ) -> Step<'s> {
        let Self { columns, poses, half_kick, flights, dt, settings, cache, names, .. } = *self;
        Step {
            settings,
            columns,
            poses,
            predicted,
            velocities,
            half_kick,
            flights,
            turnings,
            dt,
            before: None,
            cache,
            names,
        }
    }

    /// The collision pass: resolves collisions of pairs that meet within the step while
    /// approaching.
    ///
    /// # Panics
    /// If `paths` has another length than there are bodies.
    pub fn collide(
        &self,
        contacts: &Contacts,
        paths: &mut Paths,
        mut query: StrengthQuery<'_>,
    ) -> Collisions {
        match self.settings.solver {
            Solver::Reference { levers, .. } => {
                reference::collide(*self, levers, &mut paths.momenta, &mut query)
            }
            Solver::Manifold
            | Solver::SequentialImpulse(_)
            | Solver::QuadraticProgram
            | Solver::Impulse
            | Solver::Ku07 => collide(*self, contacts, paths, &mut query),
        }
    }

    /// The bodies that the position pass, which gave them `half` momenta, moves far from their path
    /// under forces alone.
    pub fn diverted(&self, search: &Search, half: &[Momentum]) -> Vec<bool> {
        let momenta = differences(half, &self.half_step_forces());
        let pushed = |i: usize| self.half_kick[i].linear.norm() * self.dt;
        let reach = |i: usize| DIVERTED * self.columns.shapes[i].radius() + pushed(i);
        if !self.settings.solver.keeps_contacts() {
            return vec![false; momenta.len()];
        }
        let diverted = |i: usize| {
            let (p, q, pose) = (&search.momenta[i], &momenta[i], &self.poses[i]);
            self.columns.bodies[i].mass_properties().is_some_and(|mass| {
                let linear = (q.linear - p.linear).norm() / mass.mass();
                let spin = mass.angular_velocity(&pose.rotation, &(q.angular - p.angular)).norm();
                let radius = self.columns.shapes[i].radius();
                // beyond half a turn the distance does not grow
                (linear * self.dt + (spin * self.dt).min(2.0) * radius) > reach(i)
            })
        };
        (0..momenta.len()).map(diverted).collect()
    }

    /// Repeats the contact search for bodies that were [diverted](Self::diverted) to `half`
    /// momenta.
    pub fn search_diverted(&self, search: &mut Search, half: &[Momentum], diverted: &[bool]) {
        let momenta = differences(half, &self.half_step_forces());
        self.search_again(search, &momenta, diverted, &[]);
    }
}

/// The contacts of a step, with the state needed to repeat the search for some of them.
#[derive(Clone, Default)]
pub struct Search {
    pub(super) contacts: Arc<Contacts>,
    broad: Broad,
    /// Poses of bodies at the start of the step.
    poses: Vec<Isometry3<f64>>,
    momenta: Vec<Momentum>,
    /// Predicted poses at the end of the step.
    predicted: Vec<Isometry3<f64>>,
    /// Predicted pose of each body at its last contact search.
    tested: Vec<Isometry3<f64>>,
    /// Velocities at the middle of the step with these momenta.
    velocities: Vec<Velocity>,
    /// Orientations of spinning bodies.
    turnings: Vec<Option<Turning>>,
}

impl Search {
    /// The contacts found.
    pub fn contacts(&self) -> &Contacts {
        &self.contacts
    }

    /// The momenta at the last search of each body.
    pub(crate) fn momenta(&self) -> &[Momentum] {
        &self.momenta
    }

    pub(crate) fn set_contacts(&mut self, contacts: Contacts) {
        self.contacts = Arc::new(contacts);
    }

    /// The broad phase, to start the search of the next frame.
    pub fn into_broad(self) -> Broad {
        self.broad
    }
}
