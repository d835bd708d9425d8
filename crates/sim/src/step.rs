//! One frame.

use contact::{Cache, Contacts, Frame};
use dynamics::{Body, Momentum, Velocity, energy_fix};
use nalgebra::{Isometry3, Translation3, UnitQuaternion};

use crate::energy::EnergyBound;
use crate::world::is_usable;
use crate::{Report, Settings, World};

impl World {
    /// Advances all bodies by one frame, `settings().dt` s in one time step.
    ///
    /// Positions move in the Newmark variant of GBF03 that Su09 builds on: collisions change the
    /// velocities at the start of the frame, one contact pass decides where bodies go, another how
    /// they move on. Superscripts below name the time that poses x and velocities v belong to.
    pub fn step(&mut self) -> Report {
        let mut report = Report { frozen: std::mem::take(&mut self.frozen), ..Report::default() };
        let energy = self.kinetic_energy() + self.potential_energy();
        self.born = 0;

        // 1 collide: detected at (x^{n+1}, v^n), applied and bounded at (x^n, v^n)
        // 2 break: bodies hit harder than they bear become pieces, which collide in their place
        let contacts = self.collide_and_break(&mut report);

        // 3 move: contact at (x^{n+1}, v^{n+1/2}), only to find where bodies go
        let drift = self.drift();
        let mut support = self.at(&drift).support(contacts, &self.momenta);
        let bound = EnergyBound::new(self, support.islands(self.columns()));
        let names: Vec<u64> = self.ids.iter().map(|id| id.name()).collect();
        let mut half = self.pushed(0.5);
        let mut push = support.settle_positions(self.at(&drift), &mut half, (&self.cache, &names));
        let mut end = self.at(&drift).predict(&half);
        bound.bound_positions(self, &mut end, &mut push);
        self.displace(&mut end, &push);
        let start = std::mem::replace(&mut self.poses, end);

        // 4 contact: at (x^{n+2}, v^{n+1}), applied at (x^{n+1}, v^{n+1})
        let mut momenta = self.pushed(1.0);
        let work = support.settle_velocities(self.at(&drift), &start, &mut momenta);
        self.momenta = momenta;
        bound.bound_momenta(self, &work);
        self.cache = support.cache(&names);

        // 5 ledger
        self.frame += 1;
        self.freeze_broken_states(&start, &mut report);
        report.frame = self.frame;
        report.pairs = support.pairs();
        report.contacts = support.contacts();
        report.levels = support.levels();
        report.energy_gain = self.kinetic_energy() + self.potential_energy() - energy;
        self.retire_slow(&mut report);
        report.bodies = self.len();
        report.kinetic_energy = self.kinetic_energy();
        report.potential_energy = self.potential_energy();
        report
    }

    /// Phases 1 and 2: repeated until nothing more breaks. Returns the contacts of the frame.
    fn collide_and_break(&mut self, report: &mut Report) -> Contacts {
        for round in 0.. {
            // in the last round all hold, so that no blow is lost
            let last = round == self.settings.break_rounds;
            let strengths =
                if last { vec![f64::INFINITY; self.len()] } else { self.strengths(report) };
            let mut momenta = self.momenta.clone();
            let (contacts, blows) = self.at(&self.drift()).collide(&mut momenta, &strengths);
            self.momenta = momenta;
            if blows.is_empty() {
                return contacts;
            }
            self.break_bodies(&blows, report);
        }
        unreachable!("the last round has no blows")
    }

    /// The bodies where they are now, with what forces add to their velocities.
    fn at<'a>(&'a self, drift: &'a [Velocity]) -> Frame<'a> {
        let Settings { dt, orientation, contact: settings, .. } = &self.settings;
        let (columns, poses) = (self.columns(), &self.poses);
        Frame { columns, poses, drift, dt: *dt, orientation: *orientation, settings }
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
            if !is_usable(pose, &self.momenta[i]) {
                (*pose, self.momenta[i]) = (start[i], Momentum::default());
                report.frozen.push(self.ids[i]);
                // its impulses are no guess for others
                self.cache = Cache::default();
            }
        }
    }
}
