//! One frame.

use contact::{Cache, Contacts, Levels, Problem, collide, detect, push_out, settle};
use dynamics::{Body, Momentum, Velocity, advance, energy_fix};
use nalgebra::{Isometry3, Translation3, UnitQuaternion};

use crate::energy::EnergyBound;
use crate::{Report, World};

impl World {
    /// Advances all bodies by one frame, `settings().dt` s in one time step.
    ///
    /// Positions move in the Newmark variant of GBF03 that Su09 builds on: collisions change the
    /// velocities at the start of the frame, one contact pass decides where bodies go, another how
    /// they move on. Superscripts below name the time that poses x and velocities v belong to.
    pub fn step(&mut self) -> Report {
        let mut report = Report::default();
        let energy = self.kinetic_energy() + self.potential_energy();

        // 1 collide: detected at (x^{n+1}, v^n), applied and bounded at (x^n, v^n)
        // 2 break: bodies hit harder than they bear become pieces, which collide in their place
        let mut contacts = self.collide_and_break(&mut report);

        // 3 move: contact at (x^{n+1}, v^{n+1/2}), only to find where bodies go
        let start = self.poses.clone();
        let levels = self.levels(&contacts);
        let bound = EnergyBound::new(self, &contacts);
        let mut half = self.pushed(0.5);
        let names: Vec<u64> = self.ids.iter().map(|id| id.name()).collect();
        let mut impulses = self.cache.guess(&contacts, &names);
        // forces act for half a step here, for a whole one in the pass that left the guess
        impulses.iter_mut().for_each(|j| *j *= 0.5);
        settle(self.problem(&contacts, &levels), &mut half, &mut impulses);
        let mut push = push_out(self.problem(&contacts, &levels), &half);
        let mut end = self.predicted(&half);
        bound.bound_positions(self, &mut end, &mut push);
        self.displace(&mut end, &push);
        self.poses = end;
        contacts.advance(&start, &self.poses);

        // 4 contact: the same contacts at (x^{n+2}, v^{n+1}), applied at (x^{n+1}, v^{n+1})
        let mut momenta = self.pushed(1.0);
        impulses.iter_mut().for_each(|j| *j *= 2.0);
        settle(self.problem(&contacts, &levels), &mut momenta, &mut impulses);
        self.momenta = momenta;
        bound.bound_momenta(self, &contacts, &impulses);
        self.cache = Cache::new(&contacts, &names, &impulses);

        // 5 ledger
        self.frame += 1;
        self.freeze_broken_states(&start, &mut report);
        report.frame = self.frame;
        report.bodies = self.len();
        report.pairs = contacts.pairs_tested();
        report.contacts = contacts.len();
        report.levels = levels.count();
        report.kinetic_energy = self.kinetic_energy();
        report.potential_energy = self.potential_energy();
        report.energy_gain = report.kinetic_energy + report.potential_energy - energy;
        report
    }

    /// Phases 1 and 2: repeated until nothing more breaks. Returns the contacts of the frame.
    fn collide_and_break(&mut self, report: &mut Report) -> Contacts {
        let dt = self.settings.dt;
        for round in 0.. {
            let drift = self.drift();
            let half = self.pushed(0.5);
            let predicted = self.predicted(&half);
            let columns = self.columns();
            let velocities: Vec<Velocity> = self.velocities_of(&half);
            let contacts = detect(columns, &self.poses, &predicted, &velocities, dt);
            // in the last round all hold, so that no blow is lost
            let last = round == self.settings.break_rounds;
            let strengths = if last { vec![f64::INFINITY; self.len()] } else { self.strengths() };
            let mut momenta = self.momenta.clone();
            let blows = collide(
                columns,
                &self.poses,
                &mut momenta,
                &contacts,
                (&drift, &strengths),
                dt,
                &self.settings.contact,
            );
            self.momenta = momenta;
            if blows.is_empty() {
                return contacts;
            }
            self.break_bodies(&blows, report);
        }
        unreachable!("the last round has no blows")
    }

    fn levels(&self, contacts: &Contacts) -> Levels {
        let (velocities, drift) = (self.velocities_of(&self.momenta), self.drift());
        Levels::new(self.columns(), &self.poses, contacts, &velocities, &drift, self.settings.dt)
    }

    fn problem<'a>(&'a self, contacts: &'a Contacts, levels: &'a Levels) -> Problem<'a> {
        Problem {
            columns: self.columns(),
            poses: &self.poses,
            contacts,
            levels,
            dt: self.settings.dt,
            settings: &self.settings.contact,
        }
    }

    /// What forces add to each velocity in half a step.
    fn drift(&self) -> Vec<Velocity> {
        let linear = self.settings.gravity * (self.settings.dt / 2.0);
        let of = |body: &Body| match body {
            Body::Dynamic(_) => Velocity { linear, ..Velocity::default() },
            Body::Static | Body::Kinematic(_) => Velocity::default(),
        };
        self.bodies.iter().map(of).collect()
    }

    /// Momenta after forces have acted for a share of the step.
    fn pushed(&self, share: f64) -> Vec<Momentum> {
        let linear = self.settings.gravity * (self.settings.dt * share);
        let push = |(body, momentum): (&Body, &Momentum)| match body {
            Body::Dynamic(mass) => {
                Momentum { linear: momentum.linear + linear * mass.mass(), ..*momentum }
            }
            Body::Static | Body::Kinematic(_) => *momentum,
        };
        self.bodies.iter().zip(&self.momenta).map(push).collect()
    }

    fn velocities_of(&self, momenta: &[Momentum]) -> Vec<Velocity> {
        let states = self.poses.iter().zip(momenta);
        self.bodies.iter().zip(states).map(|(b, (x, m))| b.velocity(&x.rotation, m)).collect()
    }

    fn predicted(&self, momenta: &[Momentum]) -> Vec<Isometry3<f64>> {
        let Self { settings, bodies, poses, .. } = self;
        let states = poses.iter().zip(momenta);
        let ahead = |(b, (x, m)): (&Body, (&Isometry3<f64>, &Momentum))| {
            advance(b, x, m, settings.dt, settings.orientation)
        };
        bodies.iter().zip(states).map(ahead).collect()
    }

    /// Pushes poses out of overlap and fixes each orientation once more: the momenta that led there
    /// held contact impulses that are thrown away, and energy must be right for the angular
    /// momentum that the body keeps.
    fn displace(&self, end: &mut [Isometry3<f64>], push: &[Velocity]) {
        for (i, pose) in end.iter_mut().enumerate() {
            let Body::Dynamic(mass) = &self.bodies[i] else { continue };
            let turn = UnitQuaternion::from_scaled_axis(push[i].angular);
            let kept = &self.momenta[i].angular;
            let energy = mass.rotational_energy(&self.poses[i].rotation, kept);
            let (rotation, _) = energy_fix(mass, &(turn * pose.rotation), kept, energy);
            let place = pose.translation.vector + push[i].linear;
            *pose = Isometry3::from_parts(Translation3::from(place), rotation);
        }
    }

    /// Puts bodies whose state is not finite back to `start`, at rest.
    fn freeze_broken_states(&mut self, start: &[Isometry3<f64>], report: &mut Report) {
        for (i, pose) in self.poses.iter_mut().enumerate() {
            let momentum = &mut self.momenta[i];
            let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
            let moving = momentum.linear.iter().chain(momentum.angular.iter());
            if !numbers.chain(moving).all(|x| x.is_finite()) {
                (*pose, *momentum) = (start[i], Momentum::default());
                report.frozen.push(self.ids[i]);
            }
        }
    }
}
