//! The passes of a frame, whichever solver runs them.

use dynamics::{Body, Momentum, OrientationStep, Velocity, advance};
use nalgebra::{Isometry3, Vector3};

use crate::reference::{self, Graph, Levers};
use crate::{
    Aim, Blow, Cache, Columns, Contacts, Islands, Levels, Problem, Settings, collide, detect,
    push_out, settle,
};

/// Which algorithm finds the impulses of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// One look for contacts a frame, at most four a pair, solved together.
    #[default]
    Manifold,
    /// Pair by pair, the deepest point first, predicting the pair anew after every impulse, as
    /// GBF03 and Su09 do. Some hundred times slower.
    Reference {
        /// Where the lever arms of collision impulses are taken.
        levers: Levers,
        /// Whether the contact pass that decides where bodies go is clamped too, at (x^n, v^{n+1/2}).
        /// Su09 leaves it open.
        clamp_positions: bool,
    },
}

impl Solver {
    /// [`Solver::Reference`] with lever arms at time n and the position pass not clamped.
    pub fn reference() -> Self {
        Self::Reference { levers: Levers::default(), clamp_positions: false }
    }
}

/// Bodies at one time and what acts on them, for a step from there.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// The bodies.
    pub columns: Columns<'a>,
    /// Where they are.
    pub poses: &'a [Isometry3<f64>],
    /// What forces add to each velocity in half the step.
    pub drift: &'a [Velocity],
    /// Length of the step, s.
    pub dt: f64,
    /// How orientations are stepped.
    pub orientation: OrientationStep,
    /// Solver, iteration counts and tolerances.
    pub settings: &'a Settings,
}

impl<'a> Frame<'a> {
    /// Where bodies with `momenta` are at the end of the step.
    pub fn predict(&self, momenta: &[Momentum]) -> Vec<Isometry3<f64>> {
        let states = self.columns.bodies.iter().zip(self.poses.iter().zip(momenta));
        states.map(|(b, (x, m))| advance(b, x, m, self.dt, self.orientation)).collect()
    }

    /// The collision pass: changes the momenta at time n of pairs that would overlap at the end of
    /// the step while approaching. Returns the contacts it found and the blows that break a body;
    /// `strengths` are the impulses in N s that bodies bear.
    pub fn collide(&self, momenta: &mut [Momentum], strengths: &[f64]) -> (Contacts, Vec<Blow>) {
        let Self { columns, poses, drift, dt, settings, .. } = *self;
        if let Solver::Reference { levers, .. } = settings.solver {
            let blows = reference::collide(*self, levers, momenta, strengths);
            // what it finds holds until the next impulse only
            return (Contacts::default(), blows);
        }
        let half = self.with_forces(momenta);
        let contacts = detect(columns, poses, &self.predict(&half), &self.velocities(&half), dt);
        let forces = (drift, strengths);
        let blows = collide(columns, poses, momenta, &contacts, forces, dt, settings);
        (contacts, blows)
    }

    /// Who rests on whom after the collision pass, which found `contacts`.
    pub fn support(&self, contacts: Contacts, momenta: &[Momentum]) -> Support {
        let Self { columns, poses, drift, dt, settings, .. } = *self;
        if let Solver::Reference { clamp_positions, .. } = settings.solver {
            return Support(Found::Pairs { graph: Graph::new(*self, momenta), clamp_positions });
        }
        let velocities = self.velocities(momenta);
        let levels = Levels::new(columns, poses, &contacts, &velocities, drift, dt);
        let impulses = vec![Vector3::zeros(); contacts.len()];
        Support(Found::Manifolds { contacts, levels, impulses })
    }

    /// What forces add to each momentum in half the step.
    pub(crate) fn half_step_forces(&self) -> Vec<Momentum> {
        let force = |((body, pose), drift): ((&Body, &Isometry3<f64>), &Velocity)| match body {
            Body::Dynamic(mass) => mass.momentum(&pose.rotation, drift),
            Body::Static | Body::Kinematic(_) => Momentum::default(),
        };
        self.columns.bodies.iter().zip(self.poses).zip(self.drift).map(force).collect()
    }

    /// Momenta after half the step.
    pub(crate) fn with_forces(&self, momenta: &[Momentum]) -> Vec<Momentum> {
        let add = |(m, force): (&Momentum, Momentum)| Momentum {
            linear: m.linear + force.linear,
            angular: m.angular + force.angular,
        };
        momenta.iter().zip(self.half_step_forces()).map(add).collect()
    }

    fn velocities(&self, momenta: &[Momentum]) -> Vec<Velocity> {
        let states = self.poses.iter().zip(momenta);
        let of = |(b, (x, m)): (&Body, (&Isometry3<f64>, &Momentum))| b.velocity(&x.rotation, m);
        self.columns.bodies.iter().zip(states).map(of).collect()
    }

    fn problem(&self, contacts: &'a Contacts, levels: &'a Levels) -> Problem<'a> {
        let Self { columns, poses, dt, settings, .. } = *self;
        Problem { columns, poses, contacts, levels, dt, settings }
    }
}

/// Who touches and who rests on whom in a frame, with what its contact passes need of each other.
#[derive(Clone, Debug)]
pub struct Support(Found);

#[derive(Clone, Debug)]
enum Found {
    Manifolds { contacts: Contacts, levels: Levels, impulses: Vec<Vector3<f64>> },
    Pairs { graph: Graph, clamp_positions: bool },
}

impl Support {
    /// The contact pass at (x^n, v^{n+1/2}), which only decides where bodies go: changes `momenta`
    /// to what takes them there. Returns how far each body is then to be pushed out of others,
    /// displacement in m and rotation vector in rad.
    ///
    /// `cache` is that of the last frame, `names` last as long as the bodies.
    pub fn settle_positions(
        &mut self,
        frame: Frame<'_>,
        momenta: &mut [Momentum],
        (cache, names): (&Cache, &[u64]),
    ) -> Vec<Velocity> {
        match &mut self.0 {
            Found::Manifolds { contacts, levels, impulses } => {
                *impulses = cache.guess(contacts, names);
                // forces act for half a step here, for a whole one in the pass that left the guess
                impulses.iter_mut().for_each(|j| *j *= 0.5);
                settle(frame.problem(contacts, levels), Aim::Positions, momenta, impulses);
                push_out(frame.problem(contacts, levels), momenta)
            }
            Found::Pairs { graph, clamp_positions } => {
                reference::settle(frame, graph, momenta, *clamp_positions);
                let end = frame.predict(momenta);
                reference::push_out(Frame { poses: &end, ..frame }, graph)
            }
        }
    }

    /// The contact pass at (x^{n+1}, v^{n+1}), which decides how bodies move on: changes `momenta`
    /// of the bodies where `frame` has them, after they moved from `start`. Returns the work that
    /// kinematic bodies did on each body, J.
    pub fn settle_velocities(
        &mut self,
        frame: Frame<'_>,
        start: &[Isometry3<f64>],
        momenta: &mut [Momentum],
    ) -> Vec<f64> {
        match &mut self.0 {
            Found::Manifolds { contacts, levels, impulses } => {
                contacts.advance(start, frame.poses);
                impulses.iter_mut().for_each(|j| *j *= 2.0);
                settle(frame.problem(contacts, levels), Aim::Velocities, momenta, impulses);
                work_of_kinematic_bodies(frame, contacts, impulses)
            }
            Found::Pairs { graph, .. } => reference::settle(frame, graph, momenta, true),
        }
    }

    /// Which bodies touch, directly or through others.
    pub fn islands(&self, columns: Columns<'_>) -> Islands {
        match &self.0 {
            Found::Manifolds { contacts, .. } => {
                let pairs: Vec<_> = contacts.manifolds().iter().map(|m| (m.a, m.b)).collect();
                Islands::new(columns, &pairs)
            }
            Found::Pairs { graph, .. } => Islands::new(columns, graph.pairs()),
        }
    }

    /// The contact impulses, to start the next frame from.
    pub fn cache(&self, names: &[u64]) -> Cache {
        match &self.0 {
            Found::Manifolds { contacts, impulses, .. } => Cache::new(contacts, names, impulses),
            Found::Pairs { .. } => Cache::default(),
        }
    }

    /// Pairs of bodies that were looked at.
    pub fn pairs(&self) -> usize {
        match &self.0 {
            Found::Manifolds { contacts, .. } => contacts.pairs_tested(),
            Found::Pairs { graph, .. } => graph.pairs().len(),
        }
    }

    /// Contacts, or pairs of bodies in contact where the solver keeps no contacts.
    pub fn contacts(&self) -> usize {
        match &self.0 {
            Found::Manifolds { contacts, .. } => contacts.len(),
            Found::Pairs { graph, .. } => graph.pairs().len(),
        }
    }

    /// Levels of the contact graph.
    pub fn levels(&self) -> u32 {
        match &self.0 {
            Found::Manifolds { levels, .. } => levels.count(),
            Found::Pairs { graph, .. } => graph.levels.count(),
        }
    }
}

fn work_of_kinematic_bodies(
    frame: Frame<'_>,
    contacts: &Contacts,
    impulses: &[Vector3<f64>],
) -> Vec<f64> {
    let (bodies, poses) = (frame.columns.bodies, frame.poses);
    let mut work = vec![0.0; bodies.len()];
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
