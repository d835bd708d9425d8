//! A step of the row-based solvers: one solution at its start determines both final velocities and
//! displacements, as in semi-implicit Euler.

use dynamics::Momentum;
use nalgebra::Vector3;

use super::alternate::{Bodies, Rounds, Solved, alternate};
use super::codes::{ImpulseCache, Key, kd_code};
use super::impulses::Classes;
use super::joint::{Reaction, Stepping, guesses, reactions, rows_of};
use super::mlcp::MAX_FRICTION_SWEEPS;
use super::mlcp::Mlcp;
use super::row::{Bounds, Row};
use super::touching::{PER_CONTACT, Rule, contact_rows, friction, vectors};
use crate::frame::Frame;
use crate::settings::{FrictionBounds, SequentialImpulse, Solver};
use crate::solve::clamp::kinetic_share;
use crate::{Clamp, Contacts, Islands};

/// The solution method for the rows of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Method {
    Sequential(SequentialImpulse),
    Program,
    Impulse,
}

impl Method {
    /// `None` for solvers that are not row-based.
    pub(crate) fn of(solver: Solver) -> Option<Self> {
        match solver {
            Solver::Manifold | Solver::Reference { .. } | Solver::Ku07 => None,
            Solver::SequentialImpulse(settings) => Some(Self::Sequential(settings)),
            Solver::QuadraticProgram => Some(Self::Program),
            Solver::Impulse => Some(Self::Impulse),
        }
    }
}

/// Share of a joint's error that a step of [`Method::Program`] corrects.
const JOINT_ERROR: f64 = 0.2;
/// The solution of the rows of a frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Momenta at the end of the step.
    pub(crate) after: Vec<Momentum>,
    pub(crate) reactions: Vec<Reaction>,
    pub(crate) cache: ImpulseCache,
    /// Whether no impulses satisfy all conditions, or a number was not finite.
    pub(crate) unsolved: bool,
    /// Whether a program exceeded its work limit.
    pub(crate) limited: bool,
}

/// All rows of a step: three per contact, then those of the joints.
struct Together {
    rows: Vec<Row>,
    /// Number of contact rows.
    first: usize,
    /// Rows of each joint.
    counts: Vec<usize>,
}

impl Rows {
    /// Solves the step: `momenta` include half a step of forces, and become those of the
    /// displacement to the end of the step.
    pub(crate) fn settle(
        &mut self,
        frame: Frame<'_>,
        method: Method,
        contacts: &Contacts,
        (momenta, impulses): (&mut [Momentum], &mut [Vector3<f64>]),
    ) {
        let start = frame.with_forces(momenta);
        let together = together(frame, method, contacts, &start);
        let mut solved = match method {
            Method::Sequential(settings) => {
                self.sequential(frame, settings, contacts, &together, &start)
            }
            Method::Program => {
                let bodies = Bodies { columns: frame.columns, poses: frame.poses };
                alternate(bodies, &together.rows, &start, &Rounds::of_a_step())
            }
            Method::Impulse => {
                let settings = SequentialImpulse {
                    sweeps: frame.settings.contact_sweeps,
                    warm_start: true,
                    ..SequentialImpulse::default()
                };
                self.sequential(frame, settings, contacts, &together, &start)
            }
        };
        self.bound_energy(frame, contacts, &together, &start, &mut solved);
        let [touching, joined] = [0..together.first, together.first..together.rows.len()];
        let own = &solved.impulses[touching.clone()];
        impulses.copy_from_slice(&vectors(&together.rows[touching], own));
        let (rows, own) = (&together.rows[joined.clone()], &solved.impulses[joined]);
        self.reactions = reactions(rows, &together.counts, own);
        self.unsolved = solved.unsolved;
        self.limited = solved.limited;
        let keyed = keys(frame, contacts).zip(solved.impulses.chunks(PER_CONTACT));
        let keyed = keyed.map(|(key, own)| (key, std::array::from_fn(|k| own[k])));
        self.cache = frame.cache.impulses().after(keyed);
        momenta.copy_from_slice(&solved.momenta);
        self.after = solved.momenta;
    }

    fn sequential(
        &self,
        frame: Frame<'_>,
        settings: SequentialImpulse,
        contacts: &Contacts,
        together: &Together,
        start: &[Momentum],
    ) -> Solved {
        let Ok(mut mlcp) = Mlcp::new(frame.columns, frame.poses, start, &together.rows) else {
            return Solved::none(&together.rows, start);
        };
        if settings.warm_start {
            let known = frame.cache.impulses();
            let of = |key: Key| known.get(&key).unwrap_or_default();
            let mut guess: Vec<f64> = keys(frame, contacts).flat_map(of).collect();
            guess.extend(guesses(frame.joints, &together.counts, 1.0));
            mlcp.start(&guess);
        }
        mlcp.sweep(settings.sweeps);
        Solved::of(&mlcp, Bodies { columns: frame.columns, poses: frame.poses }, start)
    }

    /// Limits the kinetic energy of each island after its impulses to that before them, by the
    /// clamp of the settings. Islands with kinematic bodies and motors may gain energy.
    fn bound_energy(
        &self,
        frame: Frame<'_>,
        contacts: &Contacts,
        together: &Together,
        start: &[Momentum],
        solved: &mut Solved,
    ) {
        let clamp = frame.settings.clamp;
        if clamp == Clamp::Off {
            return;
        }
        let plastic = match clamp {
            Clamp::Plastic => plastic(frame, together, start),
            Clamp::Scale | Clamp::Off => Solved::none(&together.rows, start),
        };
        let islands = frame.islands(contacts);
        let shares = shares(frame, &islands, start, [&plastic.momenta, &solved.momenta]);
        let share = |body: u32| islands.of_bodies()[body as usize].map(|k| shares[k as usize]);
        let part = |from: f64, to: f64, share: f64| from + share * (to - from);
        for (i, momentum) in (0..).zip(&mut solved.momenta) {
            let Some(share) = share(i).filter(|share| *share < 1.0) else { continue };
            let (p, q) = (&plastic.momenta[i as usize], *momentum);
            momentum.linear = p.linear + (q.linear - p.linear) * share;
            momentum.angular = p.angular + (q.angular - p.angular) * share;
        }
        for (n, row) in together.rows.iter().enumerate() {
            let share = row.bodies.into_iter().find_map(share).unwrap_or(1.0);
            solved.impulses[n] = part(plastic.impulses[n], solved.impulses[n], share);
        }
    }
}

/// The rows of all contacts and joints.
fn together(frame: Frame<'_>, method: Method, contacts: &Contacts, start: &[Momentum]) -> Together {
    let Frame { columns, poses, dt, settings, joints, .. } = frame;
    let classes = Classes::new(frame, start);
    let (error_reduction, form) = match method {
        Method::Sequential(own) => (own.error_reduction, own.friction),
        Method::Program | Method::Impulse => (JOINT_ERROR, FrictionBounds::Cone),
    };
    let mut rows = contact_rows(contacts, |pair, contact| {
        let slop = settings.slop_of(pair.shapes(columns.shapes));
        let overlap = (contact.overlap - slop).max(0.0);
        let closing = -(contact.gap + contact.overlap).max(0.0) / dt;
        let target = match method {
            Method::Sequential(_) => closing + error_reduction * overlap / dt,
            Method::Program => closing,
            Method::Impulse => classes.target(pair, contact).unwrap_or(closing),
        };
        Rule { target, friction: friction(columns, pair, settings.friction), form }
    });
    let first = rows.len();
    let stepping = Stepping { dt, error_reduction, motor_time: dt };
    let (own, counts) = rows_of(joints, poses, stepping);
    // friction rows refer to normal rows by index, so joint rows come last
    rows.extend(own);
    Together { rows, first, counts }
}

/// Frictionless plastic impulses, which never add energy.
fn plastic(frame: Frame<'_>, together: &Together, start: &[Momentum]) -> Solved {
    let stopping = |row: &Row| {
        let bounds = match row.bounds {
            Bounds::Box { normal, .. } => Bounds::Box { normal, coefficient: 0.0 },
            Bounds::Cone { normal, .. } => Bounds::Cone { normal, coefficient: 0.0 },
            Bounds::Between { .. } | Bounds::Cone2 => row.bounds,
        };
        Row { target: row.target.min(0.0), bounds, ..*row }
    };
    let rows: Vec<Row> = together.rows.iter().map(stopping).collect();
    let Ok(mut mlcp) = Mlcp::new(frame.columns, frame.poses, start, &rows) else {
        return Solved::none(&together.rows, start);
    };
    mlcp.sweep(MAX_FRICTION_SWEEPS);
    Solved::of(&mlcp, Bodies { columns: frame.columns, poses: frame.poses }, start)
}

/// For each island, the largest share of the step from the first to the second momenta that leaves
/// no more energy than at the start.
fn shares(
    frame: Frame<'_>,
    islands: &Islands,
    start: &[Momentum],
    [plastic, whole]: [&[Momentum]; 2],
) -> Vec<f64> {
    let mut energy = vec![[0.0; 3]; islands.count()];
    for (i, body) in frame.columns.bodies.iter().enumerate() {
        let (Some(island), Some(mass)) = (islands.of_bodies()[i], body.mass_properties()) else {
            continue;
        };
        let rotation = &frame.poses[i].rotation;
        let change = whole[i] - plastic[i];
        let velocity = body.velocity(rotation, &plastic[i]);
        let [constant, first, second] = &mut energy[island as usize];
        *constant +=
            mass.kinetic_energy(rotation, &plastic[i]) - mass.kinetic_energy(rotation, &start[i]);
        *first += change.linear.dot(&velocity.linear) + change.angular.dot(&velocity.angular);
        *second += 2.0 * mass.kinetic_energy(rotation, &change);
    }
    let share = |(k, energy): (u32, [f64; 3])| {
        if islands.is_driven(k) { 1.0 } else { kinetic_share(energy) }
    };
    (0..).zip(energy).map(share).collect()
}

/// The cache key of each contact.
fn keys<'a>(frame: Frame<'a>, contacts: &'a Contacts) -> impl Iterator<Item = Key> + 'a {
    contacts.manifolds().iter().flat_map(move |pair| {
        let [(p, x), (q, y)] = [pair.a as usize, pair.b as usize]
            .map(|i| (frame.names[i], frame.columns.shapes[i].bounds()));
        contacts.range(pair).map(move |number| {
            let met = contacts.points(number);
            (p, kd_code(x, &met[0]), q, kd_code(y, &met[1]))
        })
    })
}
