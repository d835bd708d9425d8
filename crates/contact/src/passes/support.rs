//! The contact passes, for every solver.

use std::borrow::Cow;
use std::sync::Arc;

use dynamics::{Momentum, Velocity};
use nalgebra::{Isometry3, Vector3};

use crate::constraint::{ImpulseCache, Joint, Method, Reaction, Rows};
use crate::frame::Frame;
use crate::narrow::cache::Cache;
use crate::narrow::contacts::{Contact, Contacts, Manifold, SearchStats};
use crate::passes::project::project;
use crate::passes::search::Search;
use crate::reference::{self, Graph};
use crate::settings::Solver;
use crate::solve::impulses::{ContactImpulses, work_of_kinematic_bodies};
use crate::solve::islands::Islands;
use crate::solve::levels::Levels;
use crate::solve::order::Order;
use crate::solve::problem::Aim;
use crate::solve::rolling::{Torque, torques};
use crate::solve::settle::{Done, Joined, Reused, push_out, push_out_in, settle};

impl Frame<'_> {
    /// The contact graph after the collision pass.
    pub fn support(&self, search: &Search, momenta: &[Momentum]) -> Support {
        let contacts = &search.contacts;
        let Self { columns, half_kick, dt, settings, .. } = *self;
        if let Solver::Reference { clamp_positions, .. } = settings.solver {
            return Support(Found::Pairs { graph: Graph::new(*self, momenta), clamp_positions });
        }
        let velocities = self.velocities(momenta);
        let levels = Levels::new(columns, contacts, &velocities, half_kick, dt);
        let order = Order::new(columns, contacts, levels);
        if let Some(method) = Method::of(settings.solver) {
            let impulses = vec![Vector3::zeros(); contacts.len()];
            let rows = Rows::default();
            let contacts = Arc::clone(contacts);
            return Support(Found::Rows { contacts, order, impulses, method, rows });
        }
        // the guess comes from a pass with the forces of a whole step; this pass has half of them
        let share = 0.5;
        let impulses = ContactImpulses {
            contacts: contacts.origins().iter().map(|origin| origin.guess * share).collect(),
            torques: torques(*self, contacts, share),
        };
        let joined = Joined { joints: self.joints.to_vec(), ..Joined::default() };
        let contacts = Arc::clone(contacts);
        let reused = Reused::default();
        let done = Done::default();
        Support(Found::Manifolds { contacts, order, impulses, joined, reused, done })
    }
}

/// The contacts of a frame with the impulses of the contact passes.
#[derive(Clone, Copy, Debug)]
pub struct SolvedContacts<'a> {
    /// The contacts of all pairs.
    pub contacts: &'a Contacts,
    /// The impulse of each contact on its first body, N s.
    pub impulses: &'a [Vector3<f64>],
}

impl<'a> SolvedContacts<'a> {
    /// The contacts of a pair, each with its impulse on the first body, N s.
    pub fn of(
        &self,
        pair: &Manifold,
    ) -> impl Iterator<Item = (&'a Contact, &'a Vector3<f64>)> + use<'a> {
        self.contacts.of(pair).iter().zip(&self.impulses[self.contacts.range(pair)])
    }
}

/// The contact graph of a frame, and the state that its contact passes share.
#[derive(Clone, Debug)]
pub struct Support(Found);

#[derive(Clone, Debug)]
enum Found {
    Manifolds {
        contacts: Arc<Contacts>,
        order: Order,
        impulses: ContactImpulses,
        joined: Joined,
        reused: Reused,
        /// Statistics so far.
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
    /// Builds the contact graph again after the search was continued. The `momenta` in kg m/s and kg m^2/s and the
    /// forces must be those of the first build. The next position pass reuses the solutions of unchanged islands.
    pub fn renew(&mut self, frame: Frame<'_>, search: &Search, momenta: &[Momentum]) {
        let renewed = frame.support(search, momenta);
        let before = std::mem::replace(self, renewed);
        if let (Found::Manifolds { reused: own, .. }, Found::Manifolds { reused, .. }) =
            (&mut self.0, before.0)
        {
            *own = reused;
        }
    }

    /// The contact pass at (x^n, v^{n+1/2}), which only determines the displacements: changes
    /// `momenta` to those that produce them.
    pub fn settle_positions(&mut self, frame: Frame<'_>, momenta: &mut [Momentum]) {
        match &mut self.0 {
            Found::Manifolds { contacts, order, impulses, joined, reused, done } => {
                let problem = frame.problem(contacts, order);
                let own = settle(problem, Aim::Positions, momenta, impulses, joined, reused);
                done.add(own);
                joined.follow(frame, momenta);
            }
            Found::Rows { contacts, impulses, method, rows, .. } => {
                rows.settle(frame, *method, contacts, (momenta, impulses));
            }
            Found::Pairs { graph, clamp_positions } => {
                reference::settle(frame, graph, momenta, *clamp_positions);
            }
        }
    }

    /// The work of kinematic bodies on each body in the step, J, as estimated by
    /// [`Support::settle_positions`]; `end` are the poses at the end of the step. Zero with
    /// [`Solver::Reference`].
    pub fn expected_work(&self, frame: Frame<'_>, end: &[Isometry3<f64>]) -> Vec<f64> {
        let Frame { columns, poses, dt, .. } = frame;
        // impulses of solvers with two passes are those of half the step
        let (mut work, joints, share) = match &self.0 {
            Found::Manifolds { contacts, impulses, joined, .. } => {
                let work = impulses.work_of_kinematic_bodies(columns, poses, contacts);
                (work, Cow::Borrowed(&joined.joints), 2.0)
            }
            Found::Rows { contacts, impulses, rows, .. } => {
                let all = frame.joints.iter().zip(&rows.reactions);
                let joints = all.map(|(joint, &last)| Joint { last, ..*joint }).collect();
                let work = work_of_kinematic_bodies(columns, poses, contacts, impulses);
                (work, Cow::Owned(joints), 1.0)
            }
            Found::Pairs { .. } => return vec![0.0; end.len()],
        };
        for joint in joints.iter() {
            if let Some((moved, done)) = joint.kinematic_work(columns.bodies, [poses, end], dt) {
                work[moved] += done.max(0.0);
            }
        }
        work.iter_mut().for_each(|work| *work *= share);
        work
    }

    /// The push-out of each body after [`Support::settle_positions`] found the `momenta` of its
    /// displacement: displacement in m and rotation vector in rad.
    pub fn push_out(&mut self, frame: Frame<'_>, momenta: &[Momentum]) -> Vec<Velocity> {
        match &mut self.0 {
            Found::Manifolds { contacts, order, reused, .. } => {
                push_out_in(frame.problem(contacts, order), momenta, &mut reused.space)
            }
            // the rows corrected the position errors
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

    /// The displacement of each body, m, that reduces penetrations at the `end` of the step, which
    /// `half` momenta moved the bodies to, to those at its start. Only bodies that spin or collided
    /// and those that touch them are displaced; `end` is called only if there are some. Zero with
    /// solvers other than [`Solver::Manifold`].
    pub fn project(
        &self,
        frame: Frame<'_>,
        half: &[Momentum],
        end: impl FnOnce() -> Vec<Isometry3<f64>>,
    ) -> Vec<Vector3<f64>> {
        match &self.0 {
            Found::Manifolds { contacts, .. } => project(frame, contacts, half, end),
            Found::Rows { .. } | Found::Pairs { .. } => vec![Vector3::zeros(); half.len()],
        }
    }

    /// The contact pass at (x^{n+1}, v^{n+1}), which determines the final velocities: changes
    /// `momenta` of the bodies at the poses of `frame`, after they moved from `start`. Returns the
    /// work of kinematic bodies on each body, J.
    pub fn settle_velocities(
        &mut self,
        frame: Frame<'_>,
        start: &[Isometry3<f64>],
        momenta: &mut [Momentum],
    ) -> Vec<f64> {
        match &mut self.0 {
            Found::Manifolds { contacts, order, impulses, joined, reused, done } => {
                // the contacts have no other owner by now
                Arc::make_mut(contacts).advance(start, frame.poses);
                impulses.double();
                let first = joined.keep_half(frame.columns.bodies, momenta);
                let problem = frame.problem(contacts, order);
                done.add(settle(problem, Aim::Velocities, momenta, impulses, joined, reused));
                joined.add_half(&first);
                impulses.work_of_kinematic_bodies(frame.columns, frame.poses, contacts)
            }
            Found::Rows { contacts, impulses, rows, .. } => {
                momenta.copy_from_slice(&rows.after);
                work_of_kinematic_bodies(frame.columns, start, contacts, impulses)
            }
            Found::Pairs { graph, .. } => reference::settle(frame, graph, momenta, true),
        }
    }

    /// Connected components of bodies by contacts and joints.
    pub fn islands(&self, frame: Frame<'_>) -> Islands {
        match &self.0 {
            Found::Manifolds { contacts, .. } | Found::Rows { contacts, .. } => {
                frame.islands(contacts)
            }
            Found::Pairs { graph, .. } => Islands::new(frame.columns, graph.pairs()),
        }
    }

    /// The reaction of each joint of the frame.
    pub fn reactions(&self) -> Vec<Reaction> {
        match &self.0 {
            Found::Manifolds { joined, .. } => joined.joints.iter().map(|j| j.last).collect(),
            Found::Rows { rows, .. } => rows.reactions.clone(),
            Found::Pairs { .. } => Vec::new(),
        }
    }

    /// Whether no impulses satisfied all conditions of contacts and joints, so that the best of
    /// some sweeps was taken. Reported by [`Solver::QuadraticProgram`], and by all row-based
    /// solvers if a number was not finite.
    pub fn is_unsolved(&self) -> bool {
        matches!(&self.0, Found::Rows { rows, .. } if rows.unsolved)
    }

    /// Whether the quadratic program exceeded its work limit and sweeps replaced it. Implies
    /// [`Self::is_unsolved`].
    pub fn is_limited(&self) -> bool {
        matches!(&self.0, Found::Rows { rows, .. } if rows.limited)
    }

    /// The impulses that row-based solvers keep for the next frame.
    pub fn impulse_cache(&self) -> Option<&ImpulseCache> {
        match &self.0 {
            Found::Rows { rows, .. } => Some(&rows.cache),
            Found::Manifolds { .. } | Found::Pairs { .. } => None,
        }
    }

    /// The contacts of the frame with their impulses; `None` with [`Solver::Reference`].
    pub fn solved(&self) -> Option<SolvedContacts<'_>> {
        let (contacts, impulses) = match &self.0 {
            Found::Manifolds { contacts, impulses, .. } => (contacts, &impulses.contacts),
            Found::Rows { contacts, impulses, .. } => (contacts, impulses),
            Found::Pairs { .. } => return None,
        };
        Some(SolvedContacts { contacts, impulses })
    }

    /// Rolling and spinning friction: indices of manifolds with the angular impulse on their first
    /// body, N m s, in ascending order; empty for solvers other than [`Solver::Manifold`].
    pub fn torques(&self) -> Vec<(usize, Vector3<f64>)> {
        let all = match &self.0 {
            Found::Manifolds { impulses, .. } => &impulses.torques[..],
            Found::Rows { .. } | Found::Pairs { .. } => &[],
        };
        all.iter().map(|torque| (torque.pair as usize, torque.impulse)).collect()
    }

    /// The contact impulses for the warm start of the next frame.
    pub fn cache(&self, names: &[u64]) -> Cache {
        match &self.0 {
            Found::Manifolds { contacts, impulses, .. } => {
                let ContactImpulses { contacts: forces, torques } = impulses;
                Cache::new(contacts, names, forces).with_torques(&named(contacts, names, torques))
            }
            Found::Rows { contacts, impulses, rows, .. } => {
                Cache::new(contacts, names, impulses).with_impulses(rows.cache.clone())
            }
            Found::Pairs { .. } => Cache::default(),
        }
    }

    /// Work statistics of the contact search; [`Solver::Reference`] counts only pairs.
    pub fn stats(&self) -> SearchStats {
        match &self.0 {
            Found::Manifolds { contacts, .. } | Found::Rows { contacts, .. } => *contacts.stats(),
            Found::Pairs { graph, .. } => {
                SearchStats { pairs: graph.pairs().len(), ..SearchStats::default() }
            }
        }
    }

    /// Number of colors of pairs that are solved in parallel.
    pub fn colors(&self) -> u32 {
        match &self.0 {
            Found::Manifolds { order, .. } | Found::Rows { order, .. } => order.colors(),
            Found::Pairs { .. } => 0,
        }
    }

    /// Sweeps over all contacts and over single levels of shock propagation; zero for solvers other
    /// than [`Solver::Manifold`].
    pub fn sweeps(&self) -> usize {
        match &self.0 {
            Found::Manifolds { done, .. } => done.sweeps,
            Found::Rows { .. } | Found::Pairs { .. } => 0,
        }
    }

    /// Islands per pass for which the exact solver failed, so that the better of its result and
    /// that of sweeps was taken; zero for solvers other than [`Solver::Manifold`].
    pub fn unsolved_islands(&self) -> usize {
        match &self.0 {
            Found::Manifolds { done, .. } => done.unsolved,
            Found::Rows { .. } | Found::Pairs { .. } => 0,
        }
    }

    /// The residual of the contact problem at the final velocities, m/s: the largest component of
    /// the natural map, zero if complementarity and Coulomb's law hold. Zero for solvers other than
    /// [`Solver::Manifold`].
    pub fn residual(&self) -> f64 {
        match &self.0 {
            Found::Manifolds { done, .. } => done.residual,
            Found::Rows { .. } | Found::Pairs { .. } => 0.0,
        }
    }

    /// Number of contacts, or of pairs in contact if the solver keeps no contacts.
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

/// The torques by the names of their bodies.
fn named(contacts: &Contacts, names: &[u64], torques: &[Torque]) -> Vec<([u64; 2], Vector3<f64>)> {
    let of = |torque: &Torque| {
        let pair = &contacts.manifolds()[torque.pair as usize];
        ([pair.a, pair.b].map(|i| names[i as usize]), torque.impulse)
    };
    torques.iter().map(of).collect()
}
