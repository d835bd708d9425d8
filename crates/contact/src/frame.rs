//! The passes of a frame, whichever solver runs them.

use std::sync::Arc;

use dynamics::{Body, Momentum, Velocity, advance, advance_all};
use nalgebra::{Isometry3, Vector3};

use crate::broad::{Broad, FreeMotion, Way};
use crate::collide::collide;
use crate::constraint::{self, ImpulseCache, Joint, Method, Reaction, Rows, SequentialImpulse};
use crate::flight::{Turn, Turning};
use crate::narrow::{MARGIN, Resumed, Step, detect};
use crate::reference::{self, Graph, Levers};
use crate::rows::Batch;
use crate::settle::{Done, Joined, push_out, push_out_in, settle_joined, work_of_kinematic_bodies};
use crate::{
    Aim, Bearing, Cache, Collisions, Columns, Contacts, Flight, Islands, Levels, Order, Paths,
    Problem, Settings, Tally,
};

/// Which algorithm finds the impulses of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// Contacts and joints as one mixed linear complementarity problem, by projected Gauss-Seidel, as
    /// Br11 does.
    SequentialImpulse(SequentialImpulse),
    /// All normal forces at once as a quadratic programme, as Ku07 does; friction in turn with them.
    QuadraticProgram,
    /// Contact by contact by its class, colliding, resting or separating, as the lecture does. It
    /// has no joints.
    Impulse,
}

impl Solver {
    /// [`Solver::Reference`] with lever arms at time n and the position pass not clamped.
    pub fn reference() -> Self {
        Self::Reference { levers: Levers::default(), clamp_positions: false }
    }

    /// Whether it finds all contacts of a step before it solves them; the reference does not.
    pub fn keeps_contacts(self) -> bool {
        !matches!(self, Self::Reference { .. })
    }

    /// Whether it has joints.
    pub fn has_joints(self) -> bool {
        matches!(self, Self::Manifold | Self::SequentialImpulse(_) | Self::QuadraticProgram)
    }

    /// Whether it decides where bodies go and how they move on in two passes; the others do both in
    /// one.
    pub fn is_split(self) -> bool {
        matches!(self, Self::Manifold | Self::Reference { .. })
    }
}

/// Share of its radius by which the contact pass for positions may send a body elsewhere than forces
/// do before contacts are looked for there: a pass over all is dear.
const DIVERTED: f64 = 0.2;

/// Bodies at one time and what acts on them, for a step from there.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// The bodies.
    pub columns: Columns<'a>,
    /// Where they are.
    pub poses: &'a [Isometry3<f64>],
    /// What forces add to each velocity in half the step.
    pub drift: &'a [Velocity],
    /// The last blow to each body in this step; empty if there were none.
    pub flights: &'a [Flight],
    /// Length of the step, s.
    pub dt: f64,
    /// What holds bodies together; without effect for solvers that have none.
    pub joints: &'a [Joint],
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
        advance_all(self.columns.bodies, &mut poses, momenta, self.dt);
        poses
    }

    /// The contacts of the step that bodies with `momenta` make. [`Solver::Reference`] keeps none:
    /// what it finds holds until the next impulse only. `broad` is that of an earlier search, or a new
    /// one.
    pub fn search(&self, momenta: &[Momentum], mut broad: Broad) -> Search {
        if !self.settings.solver.keeps_contacts() {
            return Search::default();
        }
        let half = self.with_forces(momenta);
        let (predicted, velocities) = (self.predict(&half), self.velocities(&half));
        let turning = |i: usize| self.turning(i, &half[i], &velocities[i], &predicted[i]);
        let turnings: Vec<_> = (0..half.len()).map(turning).collect();
        broad.place(self.way(&predicted, &velocities), MARGIN, self.names);
        let found = detect(self.looking(&predicted, &velocities, &turnings), &broad.pairs(), &[]);
        let contacts = found.without(&self.joined_apart());
        Search {
            contacts: Arc::new(contacts),
            broad,
            poses: self.poses.to_vec(),
            momenta: momenta.to_vec(),
            looked: predicted.clone(),
            predicted,
            velocities,
            turnings,
        }
    }

    /// Looks again for the contacts of those bodies for which `renewed` holds, which have `momenta`
    /// or move only now, and of the `resumed` pairs, which are sorted.
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
            search.looked[i] = search.predicted[i];
        }
        let Search { contacts, broad, predicted, velocities, turnings, .. } = search;
        broad.update(self.way(predicted, velocities), renewed);
        let pairs = broad.renewed_pairs(renewed, resumed);
        let step = self.looking(predicted, velocities, turnings);
        let fresh = detect(Step { before: Some(contacts), ..step }, &pairs, resumed);
        *contacts =
            Arc::new(contacts.renew(&fresh.without(&self.joined_apart()), renewed, resumed));
    }

    /// Sets the path of a body in a search to that of this frame with `momenta`.
    fn put(&self, search: &mut Search, i: usize, momenta: &[Momentum]) {
        let (body, pose, drift) = (&self.columns.bodies[i], &self.poses[i], &self.drift[i]);
        let mut half = momenta[i];
        if let Some(mass) = body.mass_properties() {
            let force = mass.momentum(&pose.rotation, drift);
            half.linear += force.linear;
            half.angular += force.angular;
        }
        search.poses[i] = *pose;
        search.momenta[i] = momenta[i];
        search.predicted[i] = advance(body, pose, &half, self.dt);
        let velocity = body.velocity(&pose.rotation, &half);
        search.velocities[i] = velocity;
        search.turnings[i] = self.turning(i, &half, &velocity, &search.predicted[i]);
    }

    /// The orientations of a spinning body with `half` a momentum between its last blow and the end of the step.
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

    /// Moves the bodies of a search and their contacts to the paths of this frame with `momenta`; `shifts` are
    /// those of [`Collisions`].
    ///
    /// # Panics
    /// If `shifts` are not as many as there are bodies.
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

    /// Bodies that end the step farther than the contact margin from where the search predicted them.
    pub fn strayed(&self, search: &Search) -> Vec<bool> {
        if !self.settings.solver.keeps_contacts() {
            return vec![false; self.poses.len()];
        }
        let strayed = |i: usize| {
            let (looked, now) = (&search.looked[i], &search.predicted[i]);
            let radius = self.columns.shapes[i].radius();
            let off = Velocity::between(looked, now, 1.0);
            // beyond half a turn the surface is no farther off
            let turned = off.angular.norm().min(2.0) * radius;
            let moves = self.columns.bodies[i].mass_properties().is_some();
            moves
                && looked != now
                && off.linear.norm() + turned > MARGIN * self.columns.shapes[i].size()
        };
        (0..self.poses.len()).map(strayed).collect()
    }

    /// Moves bodies from the `end` of the step to where their joints are closed, with
    /// [`Solver::Manifold`].
    pub fn close_joints(&self, end: &mut [Isometry3<f64>]) {
        if self.settings.solver == Solver::Manifold && !self.joints.is_empty() {
            constraint::close(*self, end);
        }
    }

    /// The pairs that joints keep from colliding, in order.
    fn joined_apart(&self) -> Vec<(u32, u32)> {
        let apart = self.joints.iter().filter(|joint| !joint.collides);
        let mut apart: Vec<(u32, u32)> =
            apart.map(|j| (j.bodies[0].min(j.bodies[1]), j.bodies[0].max(j.bodies[1]))).collect();
        apart.sort_unstable();
        apart
    }

    fn way<'s>(&'s self, predicted: &'s [Isometry3<f64>], velocities: &'s [Velocity]) -> Way<'s> {
        let Self { columns, poses, drift, flights, dt, .. } = *self;
        let motion = Some(FreeMotion { velocities, drift, flights, dt });
        Way { columns, poses, predicted, motion }
    }

    fn looking<'s>(
        &'s self,
        predicted: &'s [Isometry3<f64>],
        velocities: &'s [Velocity],
        turnings: &'s [Option<Turning>],
    ) -> Step<'s> {
        let Self { columns, poses, drift, flights, dt, settings, cache, names, .. } = *self;
        Step {
            settings,
            columns,
            poses,
            predicted,
            velocities,
            drift,
            flights,
            turnings,
            dt,
            before: None,
            cache,
            names,
        }
    }

    /// The collision pass: changes the paths of pairs that meet within the step while approaching.
    ///
    /// # Panics
    /// If `paths` are not as many as there are bodies.
    pub fn collide(
        &self,
        contacts: &Contacts,
        paths: &mut Paths,
        mut bearing: Bearing<'_>,
    ) -> Collisions {
        match self.settings.solver {
            Solver::Reference { levers, .. } => {
                reference::collide(*self, levers, &mut paths.momenta, &mut bearing)
            }
            Solver::Manifold
            | Solver::SequentialImpulse(_)
            | Solver::QuadraticProgram
            | Solver::Impulse => collide(*self, contacts, paths, &mut bearing),
        }
    }

    /// The bodies that the contact pass for positions, which gave them `half` momenta, sent far off
    /// from where forces alone do.
    pub fn diverted(&self, search: &Search, half: &[Momentum]) -> Vec<bool> {
        let momenta: Vec<Momentum> = without(half, &self.half_step_forces());
        let pushed = |i: usize| self.drift[i].linear.norm() * self.dt;
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
                // beyond half a turn the surface is no farther off
                (linear * self.dt + (spin * self.dt).min(2.0) * radius) > reach(i)
            })
        };
        (0..momenta.len()).map(diverted).collect()
    }

    /// Looks again for the contacts of the bodies that were [diverted](Self::diverted) to `half`
    /// momenta.
    pub fn search_diverted(&self, search: &mut Search, half: &[Momentum], diverted: &[bool]) {
        let momenta: Vec<Momentum> = without(half, &self.half_step_forces());
        self.search_again(search, &momenta, diverted, &[]);
    }

    /// Who rests on whom after the collision pass, by the contacts that were found.
    pub fn support(&self, search: &Search, momenta: &[Momentum]) -> Support {
        let contacts = &search.contacts;
        let Self { columns, drift, dt, settings, .. } = *self;
        if let Solver::Reference { clamp_positions, .. } = settings.solver {
            return Support(Found::Pairs { graph: Graph::new(*self, momenta), clamp_positions });
        }
        let velocities = self.velocities(momenta);
        let levels = Levels::new(columns, contacts, &velocities, drift, dt);
        let order = Order::new(columns, contacts, levels);
        if let Some(method) = Method::of(settings.solver) {
            let impulses = vec![Vector3::zeros(); contacts.len()];
            let rows = Rows::default();
            let contacts = Arc::clone(contacts);
            return Support(Found::Rows { contacts, order, impulses, method, rows });
        }
        // forces act for half a step at first, for a whole one in the pass that left the guess
        let impulses = contacts.origins().iter().map(|origin| origin.guess * 0.5).collect();
        let joined = Joined { joints: self.joints.to_vec(), ..Joined::default() };
        let contacts = Arc::clone(contacts);
        let space = Vec::new();
        let done = Done::default();
        Support(Found::Manifolds { contacts, order, impulses, joined, space, done })
    }

    /// Which bodies touch or are joined, directly or through others.
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

    pub(crate) fn velocities(&self, momenta: &[Momentum]) -> Vec<Velocity> {
        let states = self.poses.iter().zip(momenta);
        let of = |(b, (x, m)): (&Body, (&Isometry3<f64>, &Momentum))| b.velocity(&x.rotation, m);
        self.columns.bodies.iter().zip(states).map(of).collect()
    }

    pub(crate) fn problem(&self, contacts: &'a Contacts, order: &'a Order) -> Problem<'a> {
        let Self { columns, poses, dt, settings, .. } = *self;
        Problem { columns, poses, contacts, order, dt, settings }
    }
}

/// `momenta` less the `forces` of half a step.
fn without(momenta: &[Momentum], forces: &[Momentum]) -> Vec<Momentum> {
    let less = |(m, force): (&Momentum, &Momentum)| Momentum {
        linear: m.linear - force.linear,
        angular: m.angular - force.angular,
    };
    momenta.iter().zip(forces).map(less).collect()
}

/// The contacts of a step, with what is needed to look for some of them again.
#[derive(Clone, Default)]
pub struct Search {
    contacts: Arc<Contacts>,
    broad: Broad,
    /// Poses of bodies at the start of the step.
    poses: Vec<Isometry3<f64>>,
    momenta: Vec<Momentum>,
    /// Predicted poses at the end of the step.
    predicted: Vec<Isometry3<f64>>,
    /// Predicted poses at the last search for contacts of each body.
    looked: Vec<Isometry3<f64>>,
    /// In the middle of the step, from there.
    velocities: Vec<Velocity>,
    /// Orientations of spinning bodies.
    turnings: Vec<Option<Turning>>,
}

impl Search {
    /// The contacts found.
    pub fn contacts(&self) -> &Contacts {
        &self.contacts
    }

    /// What bodies had when they were looked at.
    pub(crate) fn momenta(&self) -> &[Momentum] {
        &self.momenta
    }

    pub(crate) fn set_contacts(&mut self, contacts: Contacts) {
        self.contacts = Arc::new(contacts);
    }

    /// What the search of the next frame starts from.
    pub fn into_broad(self) -> Broad {
        self.broad
    }
}

/// Who touches and who rests on whom in a frame, with what its contact passes need of each other.
#[derive(Clone, Debug)]
pub struct Support(Found);

#[derive(Clone, Debug)]
enum Found {
    Manifolds {
        contacts: Arc<Contacts>,
        order: Order,
        impulses: Vec<Vector3<f64>>,
        joined: Joined,
        /// For the passes, one after the other.
        space: Vec<Batch>,
        /// So far.
        done: Done,
    },
    Rows {
        contacts: Arc<Contacts>,
        order: Order,
        impulses: Vec<Vector3<f64>>,
        method: Method,
        rows: Rows,
    },
    Pairs {
        graph: Graph,
        clamp_positions: bool,
    },
}

impl Support {
    /// The contact pass at (x^n, v^{n+1/2}), which only decides where bodies go: changes `momenta`
    /// to what takes them there.
    pub fn settle_positions(&mut self, frame: Frame<'_>, momenta: &mut [Momentum]) {
        match &mut self.0 {
            Found::Manifolds { contacts, order, impulses, joined, space, done } => {
                let problem = frame.problem(contacts, order);
                let own = settle_joined(problem, Aim::Positions, momenta, impulses, joined, space);
                done.add(own);
                joined.follow(frame, momenta);
            }
            Found::Rows { contacts, order, impulses, method, rows } => {
                rows.settle(frame, *method, (contacts, order), (momenta, impulses));
            }
            Found::Pairs { graph, clamp_positions } => {
                reference::settle(frame, graph, momenta, *clamp_positions);
            }
        }
    }

    /// How far each body is to be pushed out of others once [`Support::settle_positions`] has found the
    /// `momenta` that take it to the end of the step: displacement in m and rotation vector in rad.
    pub fn push_out(&mut self, frame: Frame<'_>, momenta: &[Momentum]) -> Vec<Velocity> {
        match &mut self.0 {
            Found::Manifolds { contacts, order, space, .. } => {
                push_out_in(frame.problem(contacts, order), momenta, space)
            }
            // the rows took the errors away
            Found::Rows { method: Method::Sequential(_), .. } => {
                vec![Velocity::default(); momenta.len()]
            }
            Found::Rows { contacts, order, .. } => {
                push_out(frame.problem(contacts, order), momenta)
            }
            Found::Pairs { graph, .. } => {
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
            Found::Manifolds { contacts, order, impulses, joined, space, done } => {
                // nobody else needs them by now
                Arc::make_mut(contacts).advance(start, frame.poses);
                impulses.iter_mut().for_each(|j| *j *= 2.0);
                let first = joined.keep_half(momenta);
                let problem = frame.problem(contacts, order);
                done.add(settle_joined(problem, Aim::Velocities, momenta, impulses, joined, space));
                joined.add_half(&first);
                work_of_kinematic_bodies(frame.columns, frame.poses, contacts, impulses)
            }
            Found::Rows { rows, .. } => {
                momenta.copy_from_slice(&rows.after);
                vec![0.0; momenta.len()]
            }
            Found::Pairs { graph, .. } => reference::settle(frame, graph, momenta, true),
        }
    }

    /// Which bodies touch or are joined, directly or through others.
    pub fn islands(&self, frame: Frame<'_>) -> Islands {
        match &self.0 {
            Found::Manifolds { contacts, .. } | Found::Rows { contacts, .. } => {
                frame.islands(contacts)
            }
            Found::Pairs { graph, .. } => Islands::new(frame.columns, graph.pairs()),
        }
    }

    /// What each joint of the frame bore.
    pub fn reactions(&self) -> Vec<Reaction> {
        match &self.0 {
            Found::Manifolds { joined, .. } => joined.joints.iter().map(|j| j.last).collect(),
            Found::Rows { rows, .. } => rows.reactions.clone(),
            Found::Pairs { .. } => Vec::new(),
        }
    }

    /// Whether no impulses met all conditions of contacts and joints, so that the best of some sweeps
    /// was taken. Only [`Solver::QuadraticProgram`] can tell, and all that work on rows if a number
    /// was not finite.
    pub fn is_unsolved(&self) -> bool {
        matches!(&self.0, Found::Rows { rows, .. } if rows.unsolved)
    }

    /// Whether the quadratic programme took more work than is given to it, so that sweeps were made in
    /// its place. [`Self::is_unsolved`] then too.
    pub fn is_limited(&self) -> bool {
        matches!(&self.0, Found::Rows { rows, .. } if rows.limited)
    }

    /// Impulses that solvers on rows remember for the next frame.
    pub fn remembered(&self) -> Option<&ImpulseCache> {
        match &self.0 {
            Found::Rows { rows, .. } => Some(&rows.cache),
            Found::Manifolds { .. } | Found::Pairs { .. } => None,
        }
    }

    /// The contacts with the impulse of each on its first body, N s; none of [`Solver::Reference`].
    pub fn solved(&self) -> Option<(&Contacts, &[Vector3<f64>])> {
        match &self.0 {
            Found::Manifolds { contacts, impulses, .. }
            | Found::Rows { contacts, impulses, .. } => Some((contacts, impulses)),
            Found::Pairs { .. } => None,
        }
    }

    /// The contact impulses, to start the next frame from.
    pub fn cache(&self, names: &[u64]) -> Cache {
        match &self.0 {
            Found::Manifolds { contacts, impulses, .. } => Cache::new(contacts, names, impulses),
            Found::Rows { contacts, impulses, rows, .. } => {
                Cache::new(contacts, names, impulses).with_impulses(rows.cache.clone())
            }
            Found::Pairs { .. } => Cache::default(),
        }
    }

    /// What it took to find the contacts; [`Solver::Reference`] counts only pairs.
    pub fn tally(&self) -> Tally {
        match &self.0 {
            Found::Manifolds { contacts, .. } | Found::Rows { contacts, .. } => *contacts.tally(),
            Found::Pairs { graph, .. } => Tally { pairs: graph.pairs().len(), ..Tally::default() },
        }
    }

    /// Colours of pairs that are solved side by side.
    pub fn colours(&self) -> u32 {
        match &self.0 {
            Found::Manifolds { order, .. } | Found::Rows { order, .. } => order.colours(),
            Found::Pairs { .. } => 0,
        }
    }

    /// Sweeps over all contacts and over single levels of shock propagation; zero of other solvers than
    /// [`Solver::Manifold`].
    pub fn sweeps(&self) -> usize {
        match &self.0 {
            Found::Manifolds { done, .. } => done.sweeps,
            Found::Rows { .. } | Found::Pairs { .. } => 0,
        }
    }

    /// Islands, counted once a pass, whose contacts and joints were to be solved exactly and were not,
    /// so that the better of that and sweeps was taken; zero of other solvers than
    /// [`Solver::Manifold`].
    pub fn unsolved_islands(&self) -> usize {
        match &self.0 {
            Found::Manifolds { done, .. } => done.unsolved,
            Found::Rows { .. } | Found::Pairs { .. } => 0,
        }
    }

    /// Contacts, or pairs of bodies in contact where the solver keeps no contacts.
    pub fn contacts(&self) -> usize {
        match &self.0 {
            Found::Manifolds { contacts, .. } | Found::Rows { contacts, .. } => contacts.len(),
            Found::Pairs { graph, .. } => graph.pairs().len(),
        }
    }

    /// Levels of the contact graph.
    pub fn levels(&self) -> u32 {
        match &self.0 {
            Found::Manifolds { order, .. } | Found::Rows { order, .. } => order.levels().count(),
            Found::Pairs { graph, .. } => graph.levels.count(),
        }
    }
}
