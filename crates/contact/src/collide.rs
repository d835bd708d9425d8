//! The collision pass: bodies that would pass into each other bounce (GBF03 section 5, Su09
//! section 3.2).

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use crate::bounce::{self, Impulses, MOST, Meeting};
use crate::narrow::{Contact, Contacts, Manifold};
use crate::{Columns, Mover, Settings, effective_mass, keep_gains, pair_impulse};

/// What two bodies give each other where they collide.
/// [`Solver::Manifold`](crate::Solver::Manifold) counts what all contacts of the pair give together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blow {
    /// First body.
    pub a: u32,
    /// Second body.
    pub b: u32,
    /// Where it was hardest, in body coordinates of `a` and of `b`, m.
    pub at: [Point3<f64>; 2],
    /// Unit normal in world axes, out of `b`.
    pub normal: Vector3<f64>,
    /// The impulse that `a` receives if neither body breaks, N s; `b` the opposite.
    pub impulse: Vector3<f64>,
    /// Speed of approach along the normal, m/s.
    pub approach: f64,
    /// The normal impulse of a blow without rebound over the speed of approach, kg: at a single
    /// contact without friction the effective mass of the pair along the normal.
    pub mass: f64,
}

/// Which bodies may break in a collision, and at what.
pub struct Bearing<'a> {
    /// Whether each body may break; only blows to these are asked about.
    pub may_break: &'a [bool],
    /// The impulses that the first and the second body of a blow bear, N s.
    pub borne: &'a mut dyn FnMut(&Blow) -> [f64; 2],
}

impl Blow {
    /// `u` is the relative velocity of `a` where it was hardest, m/s.
    pub(crate) fn new(
        (a, b): (u32, u32),
        at: [Point3<f64>; 2],
        (normal, impulse): (Vector3<f64>, Vector3<f64>),
        (u, restitution): (Vector3<f64>, f64),
    ) -> Self {
        let approach = -normal.dot(&u);
        let mass = impulse.dot(&normal) / ((1.0 + restitution) * approach);
        Self { a, b, at, normal, impulse, approach, mass }
    }
}

impl Bearing<'_> {
    /// The share of a blow that the weaker body of the pair bears; `None` if both bear all of it.
    pub(crate) fn share(&mut self, (a, b): (u32, u32), blow: impl FnOnce() -> Blow) -> Option<f64> {
        if !self.may_break[a as usize] && !self.may_break[b as usize] {
            return None;
        }
        let blow = blow();
        let [p, q] = (self.borne)(&blow);
        let (borne, size) = (p.min(q), blow.impulse.norm());
        (size >= borne).then(|| if size > 0.0 { (borne / size).clamp(0.0, 1.0) } else { 0.0 })
    }
}

/// Changes the momenta at time n of all pairs that would overlap at the end of the step while
/// approaching. All contacts at which a pair would overlap bounce together, so that a box that lands
/// flat does not turn. Returns the blows that break a body, and the work of kinematic bodies, J.
///
/// A pair of which a body breaks exchanges the part of the impulse that the weaker body bears, and
/// nothing more in this pass: what it broke into meets the rest.
///
/// `drift` is what forces add to each velocity in the half step. Momenta change at the poses `poses` (time n), where lever arms and kinetic
/// energy are taken too: so linear and angular momentum are conserved exactly and no impulse adds
/// kinetic energy.
pub fn collide(
    columns: Columns<'_>,
    poses: &[Isometry3<f64>],
    momenta: &mut [Momentum],
    contacts: &Contacts,
    (drift, mut bearing): (&[Velocity], Bearing<'_>),
    dt: f64,
    settings: &Settings,
) -> (Vec<Blow>, f64) {
    let mut pass = Pass {
        columns,
        settings,
        movers: Mover::column(columns, poses, momenta),
        nears: nears(columns, poses, contacts, drift, dt),
        resting: drift.iter().map(|d| settings.resting_share * d.linear.norm()).collect(),
    };
    let (mut blows, mut work) = (Vec::new(), 0.0);
    let mut hit = Hit::default();
    let mut broken = vec![false; contacts.manifolds().len()];
    // impulses so far: at the last of each body, and when each pair was found to need none
    let mut clock = 1;
    let mut moved = vec![1; columns.bodies.len()];
    let mut checked = vec![0; broken.len()];
    for _ in 0..settings.collision_sweeps {
        let mut changed = false;
        let states = broken.iter_mut().zip(&mut checked);
        for (manifold, (broken, checked)) in contacts.manifolds().iter().zip(states) {
            let (a, b) = (manifold.a as usize, manifold.b as usize);
            if *broken || moved[a].max(moved[b]) <= *checked {
                continue;
            }
            for _ in 0..settings.pair_repeats {
                if !pass.hits(manifold, contacts, &mut hit) {
                    *checked = clock;
                    break;
                }
                let blow = || hit.blow(manifold, contacts);
                let share = bearing.share((manifold.a, manifold.b), blow);
                if let Some(share) = share {
                    blows.push(hit.blow(manifold, contacts));
                    hit.impulses.iter_mut().for_each(|j| *j *= share);
                }
                clock += 1;
                work += pass.work(manifold, &hit);
                let [to_a, to_b] = hit.gains();
                pass.movers[a].gain(&to_a);
                pass.movers[b].gain(&to_b);
                for i in [a, b].into_iter().filter(|&i| !pass.movers[i].is_fixed()) {
                    moved[i] = clock;
                }
                changed = true;
                if share.is_some() {
                    *broken = true;
                    break;
                }
            }
        }
        if !changed {
            break;
        }
    }
    keep_gains(columns, &pass.movers, momenta);
    (blows, work)
}

/// Share of the speed at which pairs rest by which speeds after a collision may be off.
const STILL: f64 = 1e-3;

struct Pass<'a> {
    columns: Columns<'a>,
    settings: &'a Settings,
    movers: Vec<Mover>,
    /// One a contact.
    nears: Vec<Near>,
    /// Approach speed below which each body rests, m/s.
    resting: Vec<f64>,
}

/// What tells whether a pair would overlap at a contact, for any velocities.
struct Near {
    arms: [Vector3<f64>; 2],
    normal: Vector3<f64>,
    /// Approach speed from which they would overlap at the end of the step, m/s.
    least: f64,
}

fn nears(
    columns: Columns<'_>,
    poses: &[Isometry3<f64>],
    contacts: &Contacts,
    drift: &[Velocity],
    dt: f64,
) -> Vec<Near> {
    debug_assert_eq!(columns.bodies.len(), drift.len());
    let near = |manifold: &Manifold, contact: &Contact| {
        let bodies = [manifold.a, manifold.b].map(|i| i as usize);
        let normal = contact.normal;
        let point = contact.at(&poses[bodies[0]], &poses[bodies[1]]);
        let arms = bodies.map(|i| point.coords - poses[i].translation.vector);
        let [p, q] = [0, 1].map(|n| drift[bodies[n]].at(&arms[n]));
        let least = contact.gap / dt + normal.dot(&(p - q));
        Near { arms, normal, least }
    };
    let all = contacts.manifolds().iter();
    all.flat_map(|m| contacts.of(m).iter().map(move |c| near(m, c))).collect()
}

/// What a pair gives each other, at contacts that would overlap.
#[derive(Default)]
struct Hit {
    meetings: [Meeting; MOST],
    count: usize,
    /// On `a`, one a meeting.
    impulses: Impulses,
    restitution: f64,
}

impl Hit {
    fn given(&self) -> impl Iterator<Item = (&Meeting, &Vector3<f64>)> {
        self.meetings[..self.count].iter().zip(&self.impulses)
    }

    fn impulse(&self) -> Vector3<f64> {
        self.impulses.iter().sum()
    }

    /// What both bodies receive.
    fn gains(&self) -> [Momentum; 2] {
        let mut gains = [Momentum::default(); 2];
        for (meeting, j) in self.given() {
            gains[0].apply(j, &meeting.arms[0]);
            gains[1].apply(&-j, &meeting.arms[1]);
        }
        gains
    }

    /// The blow is where the pair meets hardest.
    fn blow(&self, pair: &Manifold, contacts: &Contacts) -> Blow {
        let mut hardest = 0;
        for (n, j) in self.impulses.iter().enumerate() {
            if j.norm_squared() > self.impulses[hardest].norm_squared() {
                hardest = n;
            }
        }
        let Meeting { number, normal, u, .. } = self.meetings[hardest];
        let (at, impulse) = (*contacts.met(number), self.impulse());
        Blow::new((pair.a, pair.b), at, (normal, impulse), (u, self.restitution))
    }
}

impl Pass<'_> {
    /// What a kinematic body of the pair does by the impulses, J.
    fn work(&self, pair: &Manifold, hit: &Hit) -> f64 {
        let bodies = [pair.a, pair.b].map(|body| &self.columns.bodies[body as usize]);
        match bodies {
            [Body::Kinematic(velocity), Body::Dynamic(_)] => {
                hit.given().map(|(meeting, j)| -j.dot(&velocity.at(&meeting.arms[0]))).sum()
            }
            [Body::Dynamic(_), Body::Kinematic(velocity)] => {
                hit.given().map(|(meeting, j)| j.dot(&velocity.at(&meeting.arms[1]))).sum()
            }
            _ => 0.0,
        }
    }

    /// Whether the pair approaches where it would overlap, and the clamped impulses that it then
    /// gives itself.
    fn hits(&self, pair: &Manifold, contacts: &Contacts, hit: &mut Hit) -> bool {
        let (a, b) = (pair.a as usize, pair.b as usize);
        let movers = [&self.movers[a], &self.movers[b]];
        let velocities = movers.map(|mover| &mover.velocity);
        let range = contacts.range(pair);
        let resting = self.settings.resting_speed.max(self.resting[a]).max(self.resting[b]);
        let mut fastest = 0.0f64;
        hit.count = 0;
        for (number, near) in range.clone().zip(&self.nears[range]).take(MOST) {
            let &Near { normal, arms, least } = near;
            let u = velocities[0].at(&arms[0]) - velocities[1].at(&arms[1]);
            let approach = normal.dot(&u);
            if least + approach < 0.0 {
                fastest = fastest.min(approach);
                hit.meetings[hit.count] = Meeting { number, normal, arms, u };
                hit.count += 1;
            }
        }
        if fastest >= -resting {
            return false;
        }
        let meetings = &hit.meetings[..hit.count];
        let (p, q) = (&self.columns.materials[a], &self.columns.materials[b]);
        let restitution = p.restitution_with(q, self.settings.restitution);
        hit.restitution = restitution;
        let friction = p.friction_with(q, self.settings.friction);
        let clamp = self.settings.clamp;
        hit.impulses = match meetings {
            [Meeting { normal, arms, u, .. }] => {
                let k = mass_at(movers[0], &arms[0]) + mass_at(movers[1], &arms[1]);
                let j = pair_impulse(normal, &k, u, restitution, friction);
                let mut impulses = Impulses::default();
                impulses[0] = clamp.limit(&j, normal, &k, u);
                impulses
            }
            all => bounce::impulses(movers, all, (restitution, friction), clamp, STILL * resting),
        };
        hit.impulses.iter().any(|j| *j != Vector3::zeros())
    }
}

pub(crate) fn mass_at(mover: &Mover, arm: &Vector3<f64>) -> Matrix3<f64> {
    if mover.is_fixed() {
        return Matrix3::zeros();
    }
    effective_mass(mover.inverse_mass, &mover.inverse_inertia, arm)
}
