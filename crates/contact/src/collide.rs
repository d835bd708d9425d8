//! The collision pass: bodies that would pass into each other bounce (GBF03 section 5, Su09
//! section 3.2).

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use crate::bounce::{self, Meeting};
use crate::narrow::{Contact, Contacts, Manifold};
use crate::{Columns, Mover, Settings, effective_mass, keep_gains, pair_impulse};

/// A blow that at least one body of the pair is too weak for. Its impulse was given to neither.
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
    /// The impulse that `a` would have received, N s; `b` the opposite.
    pub impulse: Vector3<f64>,
}

/// Changes the momenta at time n of all pairs that would overlap at the end of the step while
/// approaching. All contacts at which a pair would overlap bounce together, so that a box that lands
/// flat does not turn. Returns the blows that break a body, and the work of kinematic bodies, J.
///
/// `drift` is what forces add to each velocity in the half step, `strengths` the impulse in N s
/// that each body bears. Momenta change at the poses `poses` (time n), where lever arms and kinetic
/// energy are taken too: so linear and angular momentum are conserved exactly and no impulse adds
/// kinetic energy.
pub fn collide(
    columns: Columns<'_>,
    poses: &[Isometry3<f64>],
    momenta: &mut [Momentum],
    contacts: &Contacts,
    (drift, strengths): (&[Velocity], &[f64]),
    dt: f64,
    settings: &Settings,
) -> (Vec<Blow>, f64) {
    let mut pass = Pass {
        columns,
        poses,
        drift,
        dt,
        settings,
        movers: Mover::column(columns, poses, momenta),
    };
    let (mut blows, mut work) = (Vec::new(), 0.0);
    let mut broken = vec![false; contacts.manifolds().len()];
    for _ in 0..settings.collision_sweeps {
        let mut changed = false;
        for (manifold, broken) in contacts.manifolds().iter().zip(&mut broken) {
            for _ in 0..settings.pair_repeats {
                if *broken {
                    break;
                }
                let Some(hit) = pass.hit(manifold, contacts.of(manifold)) else { break };
                let (a, b) = (manifold.a as usize, manifold.b as usize);
                if hit.impulse().norm() >= strengths[a].min(strengths[b]) {
                    *broken = true;
                    blows.push(hit.blow(manifold));
                } else {
                    work += pass.work(manifold, &hit);
                    for (meeting, j) in hit.meetings.iter().zip(&hit.impulses) {
                        pass.movers[a].apply(j, &meeting.arms[0]);
                        pass.movers[b].apply(&-j, &meeting.arms[1]);
                    }
                    changed = true;
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

struct Pass<'a> {
    columns: Columns<'a>,
    poses: &'a [Isometry3<f64>],
    drift: &'a [Velocity],
    dt: f64,
    settings: &'a Settings,
    movers: Vec<Mover>,
}

/// What a pair gives each other, at contacts that would overlap.
struct Hit<'a> {
    meetings: Vec<Meeting<'a>>,
    /// On `a`, one a meeting.
    impulses: Vec<Vector3<f64>>,
}

impl Hit<'_> {
    fn impulse(&self) -> Vector3<f64> {
        self.impulses.iter().sum()
    }

    /// The blow is where the pair meets hardest.
    fn blow(&self, pair: &Manifold) -> Blow {
        let mut hardest = 0;
        for (n, j) in self.impulses.iter().enumerate() {
            if j.norm_squared() > self.impulses[hardest].norm_squared() {
                hardest = n;
            }
        }
        let Contact { met, normal, .. } = *self.meetings[hardest].contact;
        Blow { a: pair.a, b: pair.b, at: met, normal, impulse: self.impulse() }
    }
}

impl Pass<'_> {
    /// What a kinematic body of the pair does by the impulses, J.
    fn work(&self, pair: &Manifold, hit: &Hit<'_>) -> f64 {
        let bodies = [pair.a, pair.b].map(|body| &self.columns.bodies[body as usize]);
        let all = hit.meetings.iter().zip(&hit.impulses);
        match bodies {
            [Body::Kinematic(velocity), Body::Dynamic(_)] => {
                all.map(|(meeting, j)| -j.dot(&velocity.at(&meeting.arms[0]))).sum()
            }
            [Body::Dynamic(_), Body::Kinematic(velocity)] => {
                all.map(|(meeting, j)| j.dot(&velocity.at(&meeting.arms[1]))).sum()
            }
            _ => 0.0,
        }
    }

    /// The clamped impulses of the pair, if it approaches where it would overlap.
    fn hit<'c>(&self, pair: &Manifold, contacts: &'c [Contact]) -> Option<Hit<'c>> {
        let (a, b) = (pair.a as usize, pair.b as usize);
        let movers = [self.movers[a], self.movers[b]];
        let overlapping = || contacts.iter().filter_map(|c| self.overlap((a, b), c));
        let approaches = |m: &Meeting<'_>| m.approach() < -self.settings.resting_speed;
        if !overlapping().any(|meeting| approaches(&meeting)) {
            return None;
        }
        let meetings: Vec<Meeting<'_>> = overlapping().collect();
        let (p, q) = (&self.columns.materials[a], &self.columns.materials[b]);
        let restitution = p.restitution.min(q.restitution);
        let friction = self.settings.friction.of(p.friction, q.friction);
        let impulses = match &meetings[..] {
            [one] => {
                let normal = &one.contact.normal;
                let k = mass_at(&movers[0], &one.arms[0]) + mass_at(&movers[1], &one.arms[1]);
                let j = pair_impulse(normal, &k, &one.u, restitution, friction);
                vec![self.settings.clamp.limit(&j, normal, &k, &one.u)]
            }
            _ => bounce::impulses(movers, &meetings, (restitution, friction), self.settings.clamp),
        };
        let gives = impulses.iter().any(|j| *j != Vector3::zeros());
        gives.then_some(Hit { meetings, impulses })
    }

    /// The pair at one of its contacts, if it would overlap there at the end of the step.
    fn overlap<'c>(&self, (a, b): (usize, usize), contact: &'c Contact) -> Option<Meeting<'c>> {
        let point = contact.at(&self.poses[a], &self.poses[b]);
        let arms = [a, b].map(|i| point.coords - self.poses[i].translation.vector);
        let u = self.movers[a].velocity.at(&arms[0]) - self.movers[b].velocity.at(&arms[1]);
        let drift = self.drift[a].at(&arms[0]) - self.drift[b].at(&arms[1]);
        let gap = contact.gap + self.dt * contact.normal.dot(&(u + drift));
        (gap < 0.0).then_some(Meeting { contact, arms, u })
    }
}

pub(crate) fn mass_at(mover: &Mover, arm: &Vector3<f64>) -> Matrix3<f64> {
    if mover.is_fixed() {
        return Matrix3::zeros();
    }
    effective_mass(mover.inverse_mass, &mover.inverse_inertia, arm)
}
