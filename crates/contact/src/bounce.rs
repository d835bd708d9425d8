//! A pair that bounces at several contacts at once.

use nalgebra::Vector3;

use crate::collide::mass_at;
use crate::narrow::Contact;
use crate::{Clamp, Mover};

/// A pair at one of its contacts.
#[derive(Clone, Debug)]
pub(crate) struct Meeting<'a> {
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

    fn velocity(&self, movers: &[Mover; 2]) -> Vector3<f64> {
        movers[0].velocity.at(&self.arms[0]) - movers[1].velocity.at(&self.arms[1])
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
    let solved = Solution::new(movers, meetings, restitution, friction);
    if solved.work(meetings) <= 0.0 {
        return solved.impulses;
    }
    let (start, more) = match clamp {
        Clamp::Plastic => {
            let plastic = Solution::new(movers, meetings, 0.0, 0.0);
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
    fn new(movers: &[Mover; 2], meeting: &Meeting<'_>, restitution: f64) -> Self {
        let k = mass_at(&movers[0], &meeting.arms[0]) + mass_at(&movers[1], &meeting.arms[1]);
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

    fn new(
        mut movers: [Mover; 2],
        meetings: &[Meeting<'_>],
        restitution: f64,
        friction: f64,
    ) -> Self {
        let mut responses: Vec<Response> =
            meetings.iter().map(|m| Response::new(&movers, m, restitution)).collect();
        let fastest = meetings.iter().map(Meeting::approach).fold(0.0, f64::min);
        for _ in 0..SWEEPS {
            let mut change = 0.0f64;
            for (meeting, own) in meetings.iter().zip(&mut responses) {
                let wanted = own.target - own.normal.dot(&meeting.velocity(&movers));
                let push = (own.push + wanted * own.normal_mass).max(0.0);
                let more = own.normal * (push - own.push);
                let mut moved = more;
                push_apart(&mut movers, meeting, &more);
                if friction > 0.0 {
                    let u = meeting.velocity(&movers);
                    let slip = u - own.normal * own.normal.dot(&u);
                    let drag = own.drag - slip * own.tangent_mass;
                    let (size, most) = (drag.norm(), friction * push);
                    let drag = if size > most { drag * (most / size) } else { drag };
                    push_apart(&mut movers, meeting, &(drag - own.drag));
                    moved += drag - own.drag;
                    own.drag = drag;
                }
                own.push = push;
                if own.normal_mass > 0.0 {
                    change = change.max(moved.norm() / own.normal_mass);
                }
            }
            if change <= -STILL * fastest {
                break;
            }
        }
        Self {
            impulses: responses.iter().map(|own| own.normal * own.push + own.drag).collect(),
            velocities: meetings.iter().map(|m| m.velocity(&movers)).collect(),
        }
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

fn push_apart(movers: &mut [Mover; 2], meeting: &Meeting<'_>, j: &Vector3<f64>) {
    movers[0].apply(j, &meeting.arms[0]);
    movers[1].apply(&-j, &meeting.arms[1]);
}
