//! Collision impulses of a pair at several contacts at once.

use dynamics::{Momentum, Velocity};
use nalgebra::{Vector3, Vector6};

use crate::narrow::contacts::MAX_CONTACTS;
use crate::solve::clamp::{Blend, blend};
use crate::solve::cone::{DelassusBlock, within};
use crate::{Clamp, Mover};

/// A pair at one of its contacts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactPoint {
    /// Out of `b`.
    pub(crate) normal: Vector3<f64>,
    /// From the centers of mass of both bodies, m.
    pub(crate) arms: [Vector3<f64>; 2],
    /// Velocity of `a` relative to `b` there, m/s.
    pub(crate) u: Vector3<f64>,
}

/// The law of the impact of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImpactLaw {
    /// Share of the approach speed with which each contact separates at least.
    pub(crate) restitution: f64,
    /// Coefficient of Coulomb friction.
    pub(crate) friction: f64,
    pub(crate) clamp: Clamp,
    /// Tolerance of the speeds, m/s.
    pub(crate) tolerance: f64,
}

/// Impulses on `a`, one per contact, N s.
pub(crate) type Impulses = [Vector3<f64>; MAX_CONTACTS];

/// Limit of solutions of a single contact.
const MAX_CONTACT_SOLVES: usize = 48;
/// The same for plastic impacts without friction, which take no Newton steps.
const MAX_PLASTIC_SOLVES: usize = 128;
/// Limit of Newton steps on all contacts with an impulse.
const MAX_NEWTON_STEPS: usize = 8;
/// Tolerance of the speeds, as a share of the fastest approach.
const CONVERGED: f64 = 1e-9;
/// Iterations of the direction of friction, if only one contact has an impulse.
const MAX_DIRECTION_STEPS: usize = 12;
/// Limit of the change of an impulse by a Newton step, as a multiple of the sum of all normal
/// impulses.
const MAX_GROWTH: f64 = 1e3;
/// Regularization of the Newton matrix, as a share of its mean diagonal: there may be more
/// unknowns than degrees of freedom of the pair.
const REGULARIZATION: f64 = 1e-9;
/// Share of the limit of friction above which a contact slides.
const SLIDING_SHARE: f64 = 1.0 - 1e-12;

/// The impulses on `a`, one per contact, that satisfy the law of the impact within the limits of
/// iterations. Together they add no kinetic energy.
///
/// # Panics
/// If there are no contacts, or more than [`MAX_CONTACTS`].
pub(crate) fn impulses(movers: [&Mover; 2], contacts: &[ContactPoint], law: ImpactLaw) -> Impulses {
    let mut solved = Bounce::new(movers, contacts, law);
    solved.solve(MAX_CONTACT_SOLVES, MAX_NEWTON_STEPS);
    let solved = solved.solution();
    if solved.work(contacts) <= 0.0 {
        return solved.impulses;
    }
    let start = match law.clamp {
        Clamp::Plastic => {
            let law = ImpactLaw { restitution: 0.0, friction: 0.0, ..law };
            let mut plastic = Bounce::new(movers, contacts, law);
            // one contact after the other never adds energy; a Newton step may
            plastic.solve(MAX_PLASTIC_SOLVES, 0);
            plastic.solution()
        }
        Clamp::Scale => Solution::new(movers, contacts, Impulses::default()),
        Clamp::Off => return solved.impulses,
    };
    let more = solved.minus(&start);
    let share = start.share(&more, contacts);
    std::array::from_fn(|n| start.impulses[n] + more.impulses[n] * share)
}

/// A pair while its contacts are solved, the one with the largest error first.
struct Bounce<'a> {
    movers: [&'a Mover; 2],
    contacts: &'a [ContactPoint],
    friction: f64,
    /// Velocity of `a` relative to `b` at the first contact: linear, angular.
    motion: Vector6<f64>,
    sites: [Site; MAX_CONTACTS],
    /// Tolerance of the speeds, m/s.
    tolerance: f64,
}

#[derive(Clone, Copy, Default)]
struct Site {
    /// Offset from the first contact, m.
    offset: Vector3<f64>,
    /// Row of the Jacobian along the normal.
    normal: Vector6<f64>,
    /// Separation speed, m/s.
    target: f64,
    /// `None` until the contact is first solved.
    jacobian: Option<ContactJacobian>,
    /// Along its own axes, N s.
    impulse: [f64; 3],
}

#[derive(Clone, Copy)]
struct ContactJacobian {
    /// Rows of the Jacobian along the normal and two tangents.
    axes: [Vector6<f64>; 3],
    /// Change of the motion by unit impulses along these axes.
    motions: [Vector6<f64>; 3],
    delassus: DelassusBlock,
}

impl ContactJacobian {
    fn along(&self, motion: &Vector6<f64>) -> [f64; 3] {
        self.axes.each_ref().map(|axis| axis.dot(motion))
    }

    /// The change of the motion by an impulse along the axes.
    fn motion(&self, [p, x, y]: [f64; 3]) -> Vector6<f64> {
        let [n, a, b] = &self.motions;
        n * p + a * x + b * y
    }
}

/// An unknown of a Newton step: an impulse at a contact.
#[derive(Clone, Copy, Default)]
struct Unknown {
    site: usize,
    /// For each unit, along the axes of the site.
    impulse: [f64; 3],
    /// Change of the motion per unit.
    motion: Vector6<f64>,
    /// Its equation: the speed along this row changes by `wanted`, m/s.
    axis: Vector6<f64>,
    wanted: f64,
    /// Term on the diagonal of the matrix, 1/kg.
    diagonal: f64,
}

impl<'a> Bounce<'a> {
    fn new(movers: [&'a Mover; 2], contacts: &'a [ContactPoint], law: ImpactLaw) -> Self {
        let ImpactLaw { restitution, friction, tolerance, .. } = law;
        let mut sites = [Site::default(); MAX_CONTACTS];
        let mut fastest = 0.0f64;
        for (site, contact) in sites.iter_mut().zip(contacts) {
            site.offset = contact.arms[0] - contacts[0].arms[0];
            site.normal = axis(&site.offset, &contact.normal);
            let approach = contact.u.dot(&contact.normal).min(0.0);
            site.target = -restitution * approach;
            fastest = fastest.min(approach);
        }
        let [a, b] = movers.map(|mover| mover.velocity.angular);
        let motion = both(&contacts[0].u, &(a - b));
        let tolerance = tolerance.max(-CONVERGED * fastest);
        Self { movers, contacts, friction, motion, sites, tolerance }
    }

    fn solve(&mut self, contact_solves: usize, mut newton_steps: usize) {
        for _ in 0..contact_solves {
            let Some(mut site) = self.worst_contact() else { return };
            let pushing = self.sites.iter().filter(|site| site.impulse[0] > 0.0).count();
            if pushing > 1 && newton_steps > 0 {
                newton_steps -= 1;
                self.newton_step();
                let Some(next) = self.worst_contact() else { return };
                site = next;
            }
            self.solve_contact(site);
        }
    }

    /// The contact with the largest error of the speed along the normal above the tolerance, or
    /// else of friction.
    fn worst_contact(&self) -> Option<usize> {
        let sites = &self.sites[..self.contacts.len()];
        let mut farthest = None;
        let mut most = self.tolerance;
        for (n, site) in sites.iter().enumerate() {
            let wanted = site.target - site.normal.dot(&self.motion);
            let off = if site.impulse[0] > 0.0 { wanted.abs() } else { wanted };
            if off > most {
                (farthest, most) = (Some(n), off);
            }
        }
        if farthest.is_some() || self.friction == 0.0 {
            return farthest;
        }
        for (n, site) in sites.iter().enumerate() {
            let [push, x, y] = site.impulse;
            let Some(own) = site.jacobian.as_ref().filter(|_| push > 0.0) else { continue };
            let step = own.delassus.tangent_step();
            let slip = [own.axes[1].dot(&self.motion), own.axes[2].dot(&self.motion)];
            let drag = within([x - slip[0] * step, y - slip[1] * step], self.friction * push);
            let (x, y) = (drag[0] - x, drag[1] - y);
            let off = (x * x + y * y).sqrt() * own.delassus.normal;
            if off > most {
                (farthest, most) = (Some(n), off);
            }
        }
        farthest
    }

    /// Solves one contact.
    fn solve_contact(&mut self, n: usize) {
        if self.sites[n].jacobian.is_none() {
            self.sites[n].jacobian = Some(self.jacobian(n));
        }
        // with several contacts, Newton steps find the direction of friction
        let others = self.sites.iter().enumerate().any(|(m, site)| m != n && site.impulse[0] > 0.0);
        let steps = if others { 1 } else { MAX_DIRECTION_STEPS };
        let Site { target, jacobian: Some(own), impulse: last, .. } = &self.sites[n] else {
            return;
        };
        let (now, given) = (own.along(&self.motion), own.delassus.times(*last));
        let free = std::array::from_fn(|k| now[k] - given[k]);
        let impulse = own.delassus.impulse(free, *target, self.friction, *last, steps);
        self.set_impulse(n, impulse);
    }

    fn set_impulse(&mut self, n: usize, impulse: [f64; 3]) {
        let site = &mut self.sites[n];
        let Some(own) = &site.jacobian else { return };
        self.motion += own.motion(std::array::from_fn(|k| impulse[k] - site.impulse[k]));
        site.impulse = impulse;
    }

    fn jacobian(&self, n: usize) -> ContactJacobian {
        let (ContactPoint { normal, arms, .. }, offset) =
            (&self.contacts[n], &self.sites[n].offset);
        let [first, second] = tangents(normal);
        let axes = [*normal, first, second];
        let motions = axes.map(|axis| self.motion_change(arms, &axis));
        let axes = axes.map(|direction| axis(offset, &direction));
        let at = |motion: &Vector6<f64>| axes.each_ref().map(|axis| axis.dot(motion));
        let [[normal, ..], [na, aa, _], [nb, ab, bb]] = motions.each_ref().map(at);
        ContactJacobian {
            axes,
            motions,
            delassus: DelassusBlock { normal, mixed: [na, nb], tangent: [aa, ab, bb] },
        }
    }

    /// The change of the motion by an impulse.
    fn motion_change(&self, arms: &[Vector3<f64>; 2], j: &Vector3<f64>) -> Vector6<f64> {
        let first = &self.contacts[0].arms;
        let [a, b] = self.movers;
        let spins = [a.inverse_inertia * arms[0].cross(j), b.inverse_inertia * arms[1].cross(j)];
        let linear = j * (a.inverse_mass + b.inverse_mass)
            + spins[0].cross(&first[0])
            + spins[1].cross(&first[1]);
        both(&linear, &(spins[0] + spins[1]))
    }

    /// A Newton step on all contacts with an impulse: sticking contacts stop, and sliding ones
    /// continue to slide against their friction.
    fn newton_step(&mut self) {
        match self.sites.iter().map(|site| self.unknown_count(site)).sum() {
            0..=4 => self.newton_step_of::<4>(),
            5..=8 => self.newton_step_of::<8>(),
            _ => self.newton_step_of::<{ 3 * MAX_CONTACTS }>(),
        }
    }

    /// Number of unknowns of a contact.
    fn unknown_count(&self, site: &Site) -> usize {
        match site.impulse {
            [push, ..] if push <= 0.0 => 0,
            _ if self.friction == 0.0 => 1,
            impulse if self.slides(impulse) => 2,
            _ => 3,
        }
    }

    /// The same with at most `N` unknowns.
    fn newton_step_of<const N: usize>(&mut self) {
        let (unknowns, count) = self.unknowns::<N>();
        let unknowns = &unknowns[..count];
        let mut matrix = [[0.0; N]; N];
        let mut right = [0.0; N];
        let mut trace = 0.0;
        for (row, unknown) in unknowns.iter().enumerate() {
            for (column, other) in unknowns.iter().enumerate() {
                matrix[row][column] = unknown.axis.dot(&other.motion);
            }
            trace += matrix[row][row];
            right[row] = unknown.wanted;
        }
        let regularization = REGULARIZATION * trace / unknowns.len() as f64;
        for (k, row) in matrix.iter_mut().enumerate() {
            row[k] += unknowns.get(k).map_or(1.0, |unknown| unknown.diagonal + regularization);
        }
        let amounts = solve(matrix, right);
        let pushes: f64 = self.sites.iter().map(|site| site.impulse[0]).sum();
        // no motion of the pair may satisfy all sticking contacts
        if !amounts.iter().all(|amount| amount.abs() <= MAX_GROWTH * pushes) {
            return;
        }
        let mut impulses: [[f64; 3]; MAX_CONTACTS] = std::array::from_fn(|n| self.sites[n].impulse);
        for (unknown, amount) in unknowns.iter().zip(&amounts) {
            for (j, share) in impulses[unknown.site].iter_mut().zip(&unknown.impulse) {
                *j += share * amount;
            }
        }
        for (n, [push, x, y]) in impulses.into_iter().enumerate() {
            let last = self.sites[n].impulse;
            if last[0] <= 0.0 {
                continue;
            }
            let most = self.friction * push;
            let size = (x * x + y * y).sqrt();
            let share =
                if size > most || self.slides(last) && size > 0.0 { most / size } else { 1.0 };
            self.set_impulse(n, if push > 0.0 { [push, x * share, y * share] } else { [0.0; 3] });
        }
    }

    fn slides(&self, [push, x, y]: [f64; 3]) -> bool {
        let most = SLIDING_SHARE * self.friction * push;
        x * x + y * y >= most * most
    }

    /// The unknowns of the contacts with an impulse.
    fn unknowns<const N: usize>(&self) -> ([Unknown; N], usize) {
        let mut unknowns = [Unknown::default(); N];
        let mut count = 0;
        let mut add = |unknown| {
            unknowns[count] = unknown;
            count += 1;
        };
        for (site, Site { target, jacobian: own, impulse, .. }) in self.sites.iter().enumerate() {
            let (Some(own), true) = (own, impulse[0] > 0.0) else { continue };
            let [normal, first, second] = own.axes;
            let [speed, s, t] = own.along(&self.motion);
            let plain = |k: usize, wanted| {
                let mut impulse = [0.0; 3];
                impulse[k] = 1.0;
                Unknown {
                    site,
                    impulse,
                    motion: own.motions[k],
                    axis: own.axes[k],
                    wanted,
                    diagonal: 0.0,
                }
            };
            let wanted = target - speed;
            if self.friction == 0.0 {
                add(plain(0, wanted));
            } else if self.slides(*impulse) {
                let [push, x, y] = *impulse;
                let size = (x * x + y * y).sqrt();
                let [c, d] = [x / size, y / size];
                let drag = [1.0, self.friction * c, self.friction * d];
                let motion = own.motion(drag);
                add(Unknown { site, impulse: drag, motion, axis: normal, wanted, diagonal: 0.0 });
                // friction turns until no slip across it is left
                let turn = [0.0, -d, c];
                let (motion, axis) = (own.motion(turn), second * c - first * d);
                let (wanted, diagonal) = (s * d - t * c, -(s * c + t * d) / (self.friction * push));
                add(Unknown { site, impulse: turn, motion, axis, wanted, diagonal });
            } else {
                add(plain(0, wanted));
                add(plain(1, -s));
                add(plain(2, -t));
            }
        }
        (unknowns, count)
    }

    fn solution(&self) -> Solution {
        let mut impulses = Impulses::default();
        for (site, j) in self.sites.iter().zip(&mut impulses) {
            let Some(own) = &site.jacobian else { continue };
            let [p, x, y] = site.impulse;
            let [normal, first, second] = &own.axes;
            *j = (normal * p + first * x + second * y).fixed_rows::<3>(0).into();
        }
        Solution::new(self.movers, self.contacts, impulses)
    }
}

fn both(linear: &Vector3<f64>, angular: &Vector3<f64>) -> Vector6<f64> {
    Vector6::new(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
}

/// The row of the Jacobian along a direction at an offset.
fn axis(offset: &Vector3<f64>, direction: &Vector3<f64>) -> Vector6<f64> {
    both(direction, &offset.cross(direction))
}

fn tangents(normal: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let least = if normal.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
    let first = normal.cross(&least);
    let first = first / first.norm();
    [first, normal.cross(&first)]
}

/// Gaussian elimination without pivoting: the diagonal dominates. A result that is not finite shows
/// that a pivot was too small.
fn solve<const N: usize>(mut matrix: [[f64; N]; N], mut right: [f64; N]) -> [f64; N] {
    for column in 0..N {
        let upper = matrix[column];
        let inverse = 1.0 / upper[column];
        right[column] *= inverse;
        for row in column + 1..N {
            let share = matrix[row][column];
            for k in column + 1..N {
                matrix[row][k] -= share * inverse * upper[k];
            }
            right[row] -= share * right[column];
        }
        for above in &mut matrix[column][column + 1..] {
            *above *= inverse;
        }
    }
    for row in (0..N).rev() {
        for k in row + 1..N {
            right[row] -= matrix[row][k] * right[k];
        }
    }
    right
}

/// Impulses and the relative velocities that result.
struct Solution {
    impulses: Impulses,
    velocities: [Vector3<f64>; MAX_CONTACTS],
}

impl Solution {
    /// Computes the velocities at the actual lever arms, because offsets carry round-off.
    fn new(movers: [&Mover; 2], contacts: &[ContactPoint], impulses: Impulses) -> Self {
        let given = contacts.iter().zip(&impulses);
        let [a, b] = [0, 1].map(|body| {
            let Momentum { linear, angular } =
                given.clone().fold(Momentum::default(), |mut sum, (contact, j)| {
                    sum.apply_impulse(j, &contact.arms[body]);
                    sum
                });
            let mover = movers[body];
            Velocity {
                linear: linear * mover.inverse_mass,
                angular: mover.inverse_inertia * angular,
            }
        });
        let mut velocities = Impulses::default();
        for (velocity, contact) in velocities.iter_mut().zip(contacts) {
            *velocity = contact.u + a.at(&contact.arms[0]) + b.at(&contact.arms[1]);
        }
        Self { impulses, velocities }
    }

    fn minus(&self, other: &Self) -> Self {
        let less = |p: &Impulses, q: &Impulses| std::array::from_fn(|n| p[n] - q[n]);
        Self {
            impulses: less(&self.impulses, &other.impulses),
            velocities: less(&self.velocities, &other.velocities),
        }
    }

    /// The kinetic energy that the impulses add, J: they work against the mean of the velocities
    /// before and after.
    fn work(&self, contacts: &[ContactPoint]) -> f64 {
        let after = self.impulses.iter().zip(&self.velocities);
        after.zip(contacts).map(|((j, v), m)| 0.5 * j.dot(&(m.u + v))).sum()
    }

    /// The largest share of `more` that these impulses, which add no kinetic energy, can be given
    /// without adding any.
    fn share(&self, more: &Self, contacts: &[ContactPoint]) -> f64 {
        let contact = |(n, contact): (usize, &ContactPoint)| Blend {
            before: contact.u,
            impulse: self.impulses[n],
            after: self.velocities[n],
            more: more.impulses[n],
            change: more.velocities[n],
        };
        blend(contacts.iter().enumerate().map(contact))
    }
}
