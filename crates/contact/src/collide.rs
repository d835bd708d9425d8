//! The collision pass: bodies that would pass into each other bounce (GBF03 section 5, Su09
//! section 3.2).

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use crate::narrow::{Contact, Contacts, Manifold};
use crate::{Columns, Mover, Settings, effective_mass, keep_gains, pair_impulse};

/// A blow that at least one body of the pair is too weak for. Its impulse was given to neither.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blow {
    /// First body.
    pub a: u32,
    /// Second body.
    pub b: u32,
    /// Where, in body coordinates of `a` and of `b`, m.
    pub at: [Point3<f64>; 2],
    /// Unit normal in world axes, out of `b`.
    pub normal: Vector3<f64>,
    /// The impulse that `a` would have received, N s; `b` the opposite.
    pub impulse: Vector3<f64>,
}

/// Changes the momenta at time n of all pairs that would overlap at the end of the step while
/// approaching. Returns the blows that break a body, and the work of kinematic bodies, J.
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
                let Some(hit) = pass.impulse(manifold, contacts.of(manifold)) else { break };
                let size = hit.j.norm();
                if size >= strengths[manifold.a as usize].min(strengths[manifold.b as usize]) {
                    *broken = true;
                    blows.push(hit.blow(manifold));
                } else {
                    work += pass.work(manifold, &hit);
                    pass.movers[manifold.a as usize].apply(&hit.j, &hit.arm_a);
                    pass.movers[manifold.b as usize].apply(&-hit.j, &hit.arm_b);
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

struct Hit {
    j: Vector3<f64>,
    at: [Point3<f64>; 2],
    normal: Vector3<f64>,
    arm_a: Vector3<f64>,
    arm_b: Vector3<f64>,
}

impl Hit {
    fn blow(&self, pair: &Manifold) -> Blow {
        Blow { a: pair.a, b: pair.b, at: self.at, normal: self.normal, impulse: self.j }
    }
}

impl Pass<'_> {
    /// What a kinematic body of the pair does by the impulse, J.
    fn work(&self, pair: &Manifold, hit: &Hit) -> f64 {
        match (&self.columns.bodies[pair.a as usize], &self.columns.bodies[pair.b as usize]) {
            (Body::Kinematic(velocity), Body::Dynamic(_)) => -hit.j.dot(&velocity.at(&hit.arm_a)),
            (Body::Dynamic(_), Body::Kinematic(velocity)) => hit.j.dot(&velocity.at(&hit.arm_b)),
            _ => 0.0,
        }
    }

    /// The clamped impulse of the pair's deepest approaching contact.
    fn impulse(&self, pair: &Manifold, contacts: &[Contact]) -> Option<Hit> {
        let (a, b) = (pair.a as usize, pair.b as usize);
        let (mover_a, mover_b) = (&self.movers[a], &self.movers[b]);
        let mut deepest = 0.0;
        let mut best = None;
        for contact in contacts {
            let point = contact.at(&self.poses[a], &self.poses[b]);
            let arm_a = point.coords - self.poses[a].translation.vector;
            let arm_b = point.coords - self.poses[b].translation.vector;
            let u = mover_a.velocity.at(&arm_a) - mover_b.velocity.at(&arm_b);
            let drift = self.drift[a].at(&arm_a) - self.drift[b].at(&arm_b);
            let gap = contact.gap + self.dt * contact.normal.dot(&(u + drift));
            if gap < deepest && u.dot(&contact.normal) < -self.settings.resting_speed {
                deepest = gap;
                best = Some((contact, arm_a, arm_b, u));
            }
        }
        let (contact, arm_a, arm_b, u) = best?;
        let (normal, at) = (contact.normal, contact.met);
        let k = mass_at(mover_a, &arm_a) + mass_at(mover_b, &arm_b);
        let (p, q) = (&self.columns.materials[a], &self.columns.materials[b]);
        let restitution = p.restitution.min(q.restitution);
        let friction = self.settings.friction.of(p.friction, q.friction);
        let j = pair_impulse(&normal, &k, &u, restitution, friction);
        let j = self.settings.clamp.limit(&j, &normal, &k, &u);
        (j != Vector3::zeros()).then_some(Hit { j, at, normal, arm_a, arm_b })
    }
}

pub(crate) fn mass_at(mover: &Mover, arm: &Vector3<f64>) -> Matrix3<f64> {
    if mover.is_fixed() {
        return Matrix3::zeros();
    }
    effective_mass(mover.inverse_mass, &mover.inverse_inertia, arm)
}
