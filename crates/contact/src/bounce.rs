//! A pair that bounces at several contacts at once.

use nalgebra::{Matrix3, Vector3};

use crate::narrow::Contact;
use crate::{Clamp, Mover};

/// A pair at one of its contacts.
#[derive(Clone, Debug)]
pub(crate) struct Meeting<'a> {
    /// Number of the contact.
    pub(crate) number: usize,
    pub(crate) contact: &'a Contact,
    /// From the centres of mass of both bodies, m.
    pub(crate) arms: [Vector3<f64>; 2],
    /// Velocity of `a` relative to `b` there, m/s.
    pub(crate) u: Vector3<f64>,
}

impl Meeting<'_> {
    /// Negative where the bodies approach, m/s.
    pub(crate) fn approach(&self) -> f64 {
        self.u.dot(&self.contact.normal)
    }
}

/// Gauss-Seidel sweeps over the contacts of a pair.
const SWEEPS: usize = 32;
/// Sweeps end when no speed changes by more than this share of the fastest approach.
const STILL: f64 = 1e-9;

/// The impulses on `a`, one a meeting, after which no contact approaches and each parts with the
/// `restitution` share of its own approach at least, with Coulomb friction; as far as the sweeps
/// reach. Together they add no kinetic energy.
pub(crate) fn impulses(
    movers: [Mover; 2],
    meetings: &[Meeting<'_>],
    (restitution, friction): (f64, f64),
    clamp: Clamp,
) -> Vec<Vector3<f64>> {
    let coupling = Coupling::new(&movers, meetings);
    let solved = Solution::new(&coupling, meetings, restitution, friction);
    if solved.work(meetings) <= 0.0 {
        return solved.impulses;
    }
    let (start, more) = match clamp {
        Clamp::Plastic => {
            let plastic = Solution::new(&coupling, meetings, 0.0, 0.0);
            let more = solved.minus(&plastic);
            (plastic, more)
        }
        Clamp::Scale => {
            let zero = Solution::zero(meetings);
            let more = solved.minus(&zero);
            (zero, more)
        }
        Clamp::Off => return solved.impulses,
    };
    let share = start.share(&more, meetings);
    start.impulses.iter().zip(&more.impulses).map(|(p, q)| p + q * share).collect()
}

/// What impulses at each contact change the relative velocity at each: the Delassus operator.
struct Coupling {
    /// Row by row, 1/kg.
    blocks: Vec<Matrix3<f64>>,
    contacts: usize,
}

impl Coupling {
    fn new(movers: &[Mover; 2], meetings: &[Meeting<'_>]) -> Self {
        let contacts = meetings.len();
        let crosses: Vec<[Matrix3<f64>; 2]> =
            meetings.iter().map(|m| m.arms.map(|arm| arm.cross_matrix())).collect();
        let turned = |cross: &[Matrix3<f64>; 2]| {
            [0, 1].map(|body| movers[body].inverse_inertia * cross[body])
        };
        let turned: Vec<[Matrix3<f64>; 2]> = crosses.iter().map(turned).collect();
        let linear =
            Matrix3::from_diagonal_element(movers[0].inverse_mass + movers[1].inverse_mass);
        let mut blocks = Vec::with_capacity(contacts * contacts);
        for [p, q] in &crosses {
            blocks.extend(turned.iter().map(|[s, t]| linear - p * s - q * t));
        }
        Self { blocks, contacts }
    }

    /// `K` of GBF03 at a contact.
    fn own(&self, contact: usize) -> &Matrix3<f64> {
        &self.blocks[contact * (self.contacts + 1)]
    }

    fn push(&self, velocities: &mut [Vector3<f64>], contact: usize, impulse: &Vector3<f64>) {
        let column = self.blocks[contact..].iter().step_by(self.contacts);
        for (velocity, block) in velocities.iter_mut().zip(column) {
            *velocity += block * impulse;
        }
    }
}

/// Impulses and the relative velocities they lead to.
struct Solution {
    impulses: Vec<Vector3<f64>>,
    velocities: Vec<Vector3<f64>>,
}

/// How a contact answers.
struct Response {
    normal: Vector3<f64>,
    normal_mass: f64,
    /// Step along the tangents that cannot overshoot in any direction.
    tangent_mass: f64,
    target: f64,
    push: f64,
    drag: Vector3<f64>,
}

impl Response {
    fn new(k: &Matrix3<f64>, meeting: &Meeting<'_>, restitution: f64) -> Self {
        let normal = meeting.contact.normal;
        let along = normal.dot(&(k * normal));
        // no eigenvalue is larger than the trace
        let (trace, target) = (k.trace() - along, -restitution * meeting.approach().min(0.0));
        let inverse = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
        Self {
            normal,
            normal_mass: inverse(along),
            tangent_mass: inverse(trace),
            target,
            push: 0.0,
            drag: Vector3::zeros(),
        }
    }
}

impl Solution {
    fn zero(meetings: &[Meeting<'_>]) -> Self {
        Self {
            impulses: vec![Vector3::zeros(); meetings.len()],
            velocities: meetings.iter().map(|m| m.u).collect(),
        }
    }

    fn new(coupling: &Coupling, meetings: &[Meeting<'_>], restitution: f64, friction: f64) -> Self {
        let mut responses: Vec<Response> = meetings
            .iter()
            .enumerate()
            .map(|(n, m)| Response::new(coupling.own(n), m, restitution))
            .collect();
        let Self { mut impulses, mut velocities } = Self::zero(meetings);
        let fastest = meetings.iter().map(Meeting::approach).fold(0.0, f64::min);
        for _ in 0..SWEEPS {
            let mut change = 0.0f64;
            for (n, own) in responses.iter_mut().enumerate() {
                let wanted = own.target - own.normal.dot(&velocities[n]);
                let push = (own.push + wanted * own.normal_mass).max(0.0);
                let mut moved = own.normal * (push - own.push);
                if friction > 0.0 {
                    let u = velocities[n] + coupling.own(n) * moved;
                    let slip = u - own.normal * own.normal.dot(&u);
                    let drag = own.drag - slip * own.tangent_mass;
                    let (size, most) = (drag.norm(), friction * push);
                    let drag = if size > most { drag * (most / size) } else { drag };
                    moved += drag - own.drag;
                    own.drag = drag;
                }
                own.push = push;
                coupling.push(&mut velocities, n, &moved);
                if own.normal_mass > 0.0 {
                    change = change.max(moved.norm() / own.normal_mass);
                }
            }
            if change <= -STILL * fastest {
                break;
            }
        }
        for (impulse, own) in impulses.iter_mut().zip(&responses) {
            *impulse = own.normal * own.push + own.drag;
        }
        Self { impulses, velocities }
    }

    fn minus(&self, other: &Self) -> Self {
        let less =
            |p: &[Vector3<f64>], q: &[Vector3<f64>]| p.iter().zip(q).map(|(p, q)| p - q).collect();
        Self {
            impulses: less(&self.impulses, &other.impulses),
            velocities: less(&self.velocities, &other.velocities),
        }
    }

    /// Twice the kinetic energy that the impulses add, J: they work against the mean of the
    /// velocities before and after.
    fn work(&self, meetings: &[Meeting<'_>]) -> f64 {
        let after = self.impulses.iter().zip(&self.velocities);
        after.zip(meetings).map(|((j, v), m)| j.dot(&(m.u + v))).sum()
    }

    /// The largest share of `more` that these impulses, which add no kinetic energy, can be given
    /// without adding any.
    fn share(&self, more: &Self, meetings: &[Meeting<'_>]) -> f64 {
        // twice the energy is c + 2 b share + a share^2
        let (mut a, mut b) = (0.0, 0.0);
        for (n, meeting) in meetings.iter().enumerate() {
            let (j, v) = (&more.impulses[n], &more.velocities[n]);
            a += j.dot(v);
            b += 0.5 * (j.dot(&(meeting.u + self.velocities[n])) + self.impulses[n].dot(v));
        }
        let c = self.work(meetings);
        if c > 0.0 || a <= 0.0 {
            return 0.0;
        }
        let root = (b * b - a * c).max(0.0).sqrt();
        // the form of the positive root that does not cancel
        let share = if b <= 0.0 { (root - b) / a } else { -c / (b + root) };
        share.clamp(0.0, 1.0)
    }
}
