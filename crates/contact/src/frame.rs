//! The passes of a frame, whichever solver runs them.

use dynamics::{Body, MassProperties, Momentum, OrientationStep, Velocity, advance_all};
use nalgebra::{Isometry3, Vector3};

use crate::narrow::MARGIN;
use crate::reference::{self, Graph, Levers};
use crate::settle::work_of_kinematic_bodies;
use crate::{
    Aim, Blow, Cache, Columns, Contacts, Islands, Levels, Order, Problem, Settings, collide,
    detect, push_out, settle,
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
    /// What is remembered of the last frame.
    pub cache: &'a Cache,
    /// Names of the bodies that last as long as they do and ascend with their numbers.
    pub names: &'a [u64],
    /// Solver, iteration counts and tolerances.
    pub settings: &'a Settings,
}

impl<'a> Frame<'a> {
    /// Where bodies with `momenta` are at the end of the step.
    pub fn predict(&self, momenta: &[Momentum]) -> Vec<Isometry3<f64>> {
        let mut poses = self.poses.to_vec();
        advance_all(self.columns.bodies, &mut poses, momenta, self.dt, self.orientation);
        poses
    }

    /// The contacts of the step that bodies with `momenta` make. [`Solver::Reference`] keeps none:
    /// what it finds holds until the next impulse only.
    pub fn contacts(&self, momenta: &[Momentum]) -> Contacts {
        if self.settings.solver != Solver::Manifold {
            return Contacts::default();
        }
        let half = self.with_forces(momenta);
        let (predicted, velocities) = (self.predict(&half), self.velocities(&half));
        let known = (self.cache, self.names);
        detect(self.columns, self.poses, &predicted, &velocities, self.dt, known)
    }

    /// The collision pass: changes the momenta at time n of pairs that would overlap at the end of
    /// the step while approaching. Returns the blows that break a body and the work of kinematic
    /// bodies, J; `strengths` are the impulses in N s that bodies bear.
    pub fn collide(
        &self,
        contacts: &Contacts,
        momenta: &mut [Momentum],
        strengths: &[f64],
    ) -> (Vec<Blow>, f64) {
        let Self { columns, poses, drift, dt, settings, .. } = *self;
        match settings.solver {
            Solver::Manifold => {
                let forces = (drift, strengths);
                collide(columns, poses, momenta, contacts, forces, dt, settings)
            }
            Solver::Reference { levers, .. } => {
                reference::collide(*self, levers, momenta, strengths)
            }
        }
    }

    /// Whether a body whose momentum changed from `before` to `after` may end the step farther off
    /// than contacts reach that were found before.
    pub fn strayed(&self, before: &[Momentum], after: &[Momentum]) -> bool {
        if self.settings.solver != Solver::Manifold {
            return false;
        }
        let states = before.iter().zip(after).zip(self.columns.shapes);
        self.columns.bodies.iter().zip(states).any(|(body, ((p, q), shape))| {
            let moved =
                |mass: &MassProperties| (q.linear - p.linear).norm() * self.dt / mass.mass();
            body.mass_properties().is_some_and(|m| moved(m) > MARGIN * shape.radius())
        })
    }

    /// Who rests on whom after the collision pass, which found `contacts`.
    pub fn support(&self, contacts: Contacts, momenta: &[Momentum]) -> Support {
        let Self { columns, poses, drift, dt, settings, .. } = *self;
        if let Solver::Reference { clamp_positions, .. } = settings.solver {
            return Support(Found::Pairs { graph: Graph::new(*self, momenta), clamp_positions });
        }
        let velocities = self.velocities(momenta);
        let levels = Levels::new(columns, poses, &contacts, &velocities, drift, dt);
        let order = Order::new(columns, &contacts, levels);
        // forces act for half a step at first, for a whole one in the pass that left the guess
        let impulses = contacts.all().iter().map(|c| c.guess * 0.5).collect();
        Support(Found::Manifolds { contacts, order, impulses })
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

    fn problem(&self, contacts: &'a Contacts, order: &'a Order) -> Problem<'a> {
        let Self { columns, poses, dt, settings, .. } = *self;
        Problem { columns, poses, contacts, order, dt, settings }
    }
}

/// Who touches and who rests on whom in a frame, with what its contact passes need of each other.
#[derive(Clone, Debug)]
pub struct Support(Found);

#[derive(Clone, Debug)]
enum Found {
    Manifolds { contacts: Contacts, order: Order, impulses: Vec<Vector3<f64>> },
    Pairs { graph: Graph, clamp_positions: bool },
}

impl Support {
    /// The contact pass at (x^n, v^{n+1/2}), which only decides where bodies go: changes `momenta`
    /// to what takes them there. Returns how far each body is then to be pushed out of others,
    /// displacement in m and rotation vector in rad.
    pub fn settle_positions(
        &mut self,
        frame: Frame<'_>,
        momenta: &mut [Momentum],
    ) -> Vec<Velocity> {
        match &mut self.0 {
            Found::Manifolds { contacts, order, impulses } => {
                settle(frame.problem(contacts, order), Aim::Positions, momenta, impulses);
                push_out(frame.problem(contacts, order), momenta)
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
            Found::Manifolds { contacts, order, impulses } => {
                contacts.advance(start, frame.poses);
                impulses.iter_mut().for_each(|j| *j *= 2.0);
                settle(frame.problem(contacts, order), Aim::Velocities, momenta, impulses);
                work_of_kinematic_bodies(frame.columns, frame.poses, contacts, impulses)
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

    /// Pairs in contact with the impulse on the first, N s, of [`Solver::Manifold`].
    pub fn pair_impulses(&self) -> impl Iterator<Item = (u32, u32, Vector3<f64>)> {
        let found = match &self.0 {
            Found::Manifolds { contacts, impulses, .. } => Some((contacts, impulses)),
            Found::Pairs { .. } => None,
        };
        found.into_iter().flat_map(|(contacts, impulses)| {
            contacts.manifolds().iter().map(|pair| {
                (pair.a, pair.b, impulses[contacts.range(pair)].iter().sum::<Vector3<f64>>())
            })
        })
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

    /// Pairs whose contacts of an earlier frame were used again.
    pub fn reused(&self) -> usize {
        match &self.0 {
            Found::Manifolds { contacts, .. } => contacts.pairs_reused(),
            Found::Pairs { .. } => 0,
        }
    }

    /// Colours of pairs that are solved side by side.
    pub fn colours(&self) -> u32 {
        match &self.0 {
            Found::Manifolds { order, .. } => order.colours(),
            Found::Pairs { .. } => 0,
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
            Found::Manifolds { order, .. } => order.levels().count(),
            Found::Pairs { graph, .. } => graph.levels.count(),
        }
    }
}
