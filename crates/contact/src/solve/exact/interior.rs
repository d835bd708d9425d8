//! An interior-point method for islands of contacts.
//!
//! In the frame of a contact let `r` be its normal impulse, `b` its friction, `u` its normal and
//! `w` its tangential speed beyond the target. Coulomb's law is complementarity twice: `r >= 0` and
//! `u >= 0` with `r u = 0`, and `(mu r, b)` and `(z, w)` in the second-order cone with the Jordan
//! product zero, where `z` is the speed of slip (Howell et al. 2022). Both products are set to a barrier parameter that
//! goes to zero. Steps are those of Newton's method (Alizadeh, Haeberly and Overton 1998) with the
//! predictor and corrector of Mehrotra (1992). Elimination of the contacts leaves one 6x6 block per
//! body.
//!
//! The [semismooth Newton method](super::newton) stops at the kinks of the natural map in half of
//! the larger islands with friction. From the interior of the cones a path without kinks leads close
//! to the solution in nine of ten. It starts from the best impulses of the Newton method.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3, Vector6};

use super::factor::{Factor, Pattern};
use super::island::{Island, Solution, Term};
use super::set::Set;

/// Limit of factorizations: of 351 islands, 20 lose 8 % that 30 solve.
const MAX_ROUNDS: usize = 30;
/// Fraction to the boundary: how far an iterate moves toward the boundary of the cones.
const TO_BOUNDARY: f64 = 0.99;
/// Distance of the start from the boundary of the cones, relative to the largest speed without
/// impulses. Of 310 islands, 60 stay unsolved with 0.1, 63 with 0.5, 78 with 0.01, and 67 from the
/// same point in all cones.
const START_DISTANCE: f64 = 0.1;
/// A step length below this means that an iterate is poorly centered. A centering step is tried. If
/// it is blocked too, all points move away from the boundary by the root of the barrier parameter,
/// which solves 10 of the 60 islands.
const BLOCKED: f64 = 0.1;
/// Factor of the barrier parameter in a centering step.
const CENTERING: f64 = 0.5;
/// Compliance of contacts on the path, relative to their effective inverse mass. Where bodies are
/// wedged, impulses of any size satisfy all conditions, and without it the path leads to large
/// ones: the wall of `wrecking_ball` broke into 382 pieces by them, not 92.
const COMPLIANCE: f64 = 1e-6;
/// The Newton method takes over at this residual, relative to that without impulses.
const NEAR: f64 = 1e-4;

/// Contacts of an island in their own frames.
struct Framed {
    island: Island,
    /// Normal and tangents of each contact, as columns.
    axes: Vec<Matrix3<f64>>,
    frictions: Vec<f64>,
}

/// A point in the interior of the cones of a contact.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// Normal impulse and friction.
    impulse: Vector3<f64>,
    /// Normal speed.
    apart: f64,
    /// Speed of slip and tangential velocity: an element of the cone.
    slip: Vector3<f64>,
}

/// Residual of the complementarity products of a contact: barrier parameter minus product.
#[derive(Clone, Copy)]
struct Wanted {
    normal: f64,
    slip: Vector3<f64>,
}

/// The elimination of a contact: a change `d` of its speeds changes its impulse by
/// `still - answer d`.
struct Elimination {
    answer: Matrix3<f64>,
    /// Share of the change of a rigid contact that compliance leaves.
    share: Matrix3<f64>,
    /// Inverse of the factor of friction, and the factors of normal impulse and tangential velocity.
    inverse: Matrix2<f64>,
    of_push: Vector2<f64>,
    of_slip: Matrix2<f64>,
}

impl Elimination {
    /// An elimination with the impulse's change by a change of speeds without compliance.
    fn new(
        rigid: Matrix3<f64>,
        inverse: Matrix2<f64>,
        of_push: Vector2<f64>,
        of_slip: Matrix2<f64>,
    ) -> Self {
        let yielding = Matrix3::identity() + rigid * COMPLIANCE;
        let share = yielding.try_inverse().unwrap_or_else(Matrix3::identity);
        Self { answer: share * rigid, share, inverse, of_push, of_slip }
    }
}

impl Framed {
    /// `None` for islands with other terms than contacts.
    fn new(island: &Island) -> Option<Self> {
        let (mut terms, mut axes, mut frictions) = (Vec::new(), Vec::new(), Vec::new());
        for term in &island.terms {
            let Set::Contact { normal, friction } = term.set else { return None };
            let first = normal.cross(&Vector3::ith(normal.iamin(), 1.0)).normalize();
            let own = Matrix3::from_columns(&[normal, first, normal.cross(&first)]);
            terms.push(Term {
                transposed: term.transposed.map(|transposed| transposed * own),
                excess: own.tr_mul(&term.excess),
                set: Set::Contact { normal: Vector3::x(), friction },
                ..*term
            });
            axes.push(own);
            frictions.push(friction);
        }
        Some(Self { island: Island { bodies: island.bodies, terms }, axes, frictions })
    }

    /// The warm start: impulses and speeds of a solution in contact frames, projected onto the cones
    /// and moved into their interior.
    fn start(&self, solution: &Solution) -> Vec<Point> {
        let terms = &self.island.terms;
        let size = terms.iter().map(|term| term.excess.norm()).fold(0.0, f64::max);
        let speeds = self.island.speeds(&solution.velocities);
        let own = self.axes.iter().zip(&solution.impulses).map(|(axes, j)| axes.tr_mul(j));
        let point = |((term, impulse), u): ((&Term, Vector3<f64>), &Vector3<f64>)| {
            let slip = Vector3::new(u.yz().norm(), u.y, u.z);
            let on_cones = Point { impulse: term.set.project(&impulse), apart: u.x.max(0.0), slip };
            on_cones.moved_inside(START_DISTANCE * size)
        };
        terms.iter().zip(own).zip(&speeds).map(point).collect()
    }

    /// The mean product of all complementary pairs.
    fn barrier(&self, points: &[Point]) -> f64 {
        let all = || points.iter().zip(&self.frictions);
        let count: f64 = self.frictions.iter().map(|mu| if *mu > 0.0 { 2.0 } else { 1.0 }).sum();
        all().map(|(point, mu)| point.product(*mu)).sum::<f64>() / count
    }
}

impl Point {
    /// The element of the friction cone.
    fn friction(&self, mu: f64) -> Vector3<f64> {
        Vector3::new(mu * self.impulse.x, self.impulse.y, self.impulse.z)
    }

    fn product(&self, mu: f64) -> f64 {
        let slip = if mu > 0.0 { self.friction(mu).dot(&self.slip) } else { 0.0 };
        self.impulse.x * self.apart + slip
    }

    /// The residual of the products for a barrier parameter.
    fn wanted(&self, mu: f64, barrier: f64) -> Wanted {
        let mut slip = -jordan(&self.friction(mu), &self.slip);
        slip.x += barrier;
        Wanted { normal: barrier - self.impulse.x * self.apart, slip }
    }

    /// [`Self::wanted`] with the second-order terms of a step subtracted.
    fn corrected(&self, mu: f64, barrier: f64, step: &Self) -> Wanted {
        let Wanted { normal, slip } = self.wanted(mu, barrier);
        Wanted {
            normal: normal - step.impulse.x * step.apart,
            slip: slip - jordan(&step.friction(mu), &step.slip),
        }
    }

    fn eliminate(&self, mu: f64) -> Elimination {
        let stiffness = self.impulse.x / self.apart;
        let mut answer = Matrix3::zeros();
        answer[(0, 0)] = stiffness;
        let none = Matrix2::zeros();
        let (own, slip) = (self.friction(mu), self.slip);
        let (bound, along, across) = (own.x, own.yz(), slip.yz());
        let factor = Matrix2::from_diagonal_element(slip.x) - along * across.transpose() / bound;
        let inverse = (mu > 0.0).then(|| factor.try_inverse()).flatten();
        let Some(inverse) = inverse else {
            let of_push = Vector2::zeros();
            return Elimination::new(answer, none, of_push, none);
        };
        let of_push = across * mu - along * (slip.x / self.impulse.x);
        let of_slip = Matrix2::from_diagonal_element(bound) - along * along.transpose() / bound;
        let friction = inverse * of_slip;
        answer.fixed_view_mut::<2, 1>(1, 0).copy_from(&(inverse * of_push * -stiffness));
        answer.fixed_view_mut::<2, 2>(1, 1).copy_from(&friction);
        Elimination::new(answer, inverse, of_push, of_slip)
    }

    /// The change of the impulse at unchanged velocities of bodies, at the speeds `u`.
    fn still(&self, mu: f64, u: &Vector3<f64>, wanted: &Wanted, own: &Elimination) -> Vector3<f64> {
        let push = (wanted.normal - self.impulse.x * (u.x - self.apart)) / self.apart;
        if mu == 0.0 {
            return own.share * Vector3::x() * push;
        }
        let along = self.friction(mu).yz() * (wanted.slip.x / (mu * self.impulse.x));
        let missing = own.of_slip * (u.yz() - self.slip.yz());
        let friction = own.inverse * (wanted.slip.yz() - along - own.of_push * push - missing);
        own.share * Vector3::new(push, friction.x, friction.y)
    }

    /// The step with these changes of the impulse and of the speeds `u`.
    fn step(&self, mu: f64, u: &Vector3<f64>, wanted: &Wanted, changes: [Vector3<f64>; 2]) -> Self {
        let [impulse, speeds] = changes;
        let apart = u.x + speeds.x - self.apart;
        let across = u.yz() + speeds.yz() - self.slip.yz();
        let own = self.friction(mu);
        let known = mu * self.slip.x * impulse.x + self.slip.yz().dot(&impulse.yz());
        let rest = wanted.slip.x - known - own.yz().dot(&across);
        let along = if mu > 0.0 { rest / own.x } else { 0.0 };
        Self { impulse, apart, slip: Vector3::new(along, across.x, across.y) }
    }

    /// Largest step length that stays in the cones.
    fn share(&self, mu: f64, step: &Self) -> f64 {
        let linear =
            |own: f64, change: f64| if change < 0.0 { -own / change } else { f64::INFINITY };
        let normal = linear(self.impulse.x, step.impulse.x).min(linear(self.apart, step.apart));
        if mu == 0.0 {
            return normal;
        }
        let friction = share_in_cone(&self.friction(mu), &step.friction(mu));
        normal.min(friction).min(share_in_cone(&self.slip, &step.slip))
    }

    /// The point moved along the axes of the cones, away from their boundary.
    fn moved_inside(mut self, distance: f64) -> Self {
        self.impulse.x += distance;
        self.apart += distance;
        self.slip.x += distance;
        self
    }

    fn after(&self, step: &Self, share: f64) -> Self {
        Self {
            impulse: self.impulse + step.impulse * share,
            apart: self.apart + step.apart * share,
            slip: self.slip + step.slip * share,
        }
    }
}

/// The Jordan product of the second-order cone: the inner product first, then the tangential part.
fn jordan(p: &Vector3<f64>, q: &Vector3<f64>) -> Vector3<f64> {
    let across = q.yz() * p.x + p.yz() * q.x;
    Vector3::new(p.dot(q), across.x, across.y)
}

/// Largest step length from an interior point of the second-order cone that stays in the cone.
fn share_in_cone(p: &Vector3<f64>, step: &Vector3<f64>) -> f64 {
    // the first zero of the determinant of p + t step: a t^2 + 2 b t + c with c > 0
    let form = |p: &Vector3<f64>, q: &Vector3<f64>| p.x * q.x - p.yz().dot(&q.yz());
    let (a, b, c) = (form(step, step), form(p, step), form(p, p));
    let root = (b * b - a * c).sqrt();
    let sum = -(b + root.copysign(b));
    // without a root, both are NaN and the step never leaves the cone
    [sum / a, c / sum].into_iter().filter(|t| *t > 0.0).fold(f64::INFINITY, f64::min)
}

/// The system of one round: eliminated contacts, and the factor of the bodies' velocities.
struct Round<'a> {
    framed: &'a Framed,
    points: &'a [Point],
    speeds: &'a [Vector3<f64>],
    eliminated: Vec<Elimination>,
    factor: Factor<'a>,
}

impl<'a> Round<'a> {
    /// `None` if a pivot is singular.
    fn new(
        framed: &'a Framed,
        pattern: &'a Pattern,
        points: &'a [Point],
        speeds: &'a [Vector3<f64>],
    ) -> Option<Self> {
        let all = points.iter().zip(&framed.frictions);
        let eliminated: Vec<_> = all.map(|(point, mu)| point.eliminate(*mu)).collect();
        let mut factor = Factor::identity(pattern);
        for (n, (term, own)) in framed.island.terms.iter().zip(&eliminated).enumerate() {
            factor.add(n, &term.transposed, &own.answer);
        }
        factor.factorize().then_some(Self { framed, points, speeds, eliminated, factor })
    }

    /// The step that changes the products of each contact as wanted.
    fn steps(&self, wanted: &[Wanted]) -> Vec<Point> {
        let Framed { island, frictions, .. } = self.framed;
        let mut right = vec![Vector6::zeros(); island.bodies];
        let mut still = Vec::with_capacity(self.points.len());
        for (n, term) in island.terms.iter().enumerate() {
            let (speeds, own) = (&self.speeds[n], &self.eliminated[n]);
            let change = self.points[n].still(frictions[n], speeds, &wanted[n], own);
            term.moved().for_each(|(body, transposed)| right[body] += transposed * change);
            still.push(change);
        }
        let velocities = self.factor.solve(&right);
        let step = |(n, term): (usize, &Term)| {
            let moved = term.change(&velocities);
            let impulse = still[n] - self.eliminated[n].answer * moved;
            let speeds = moved + impulse * COMPLIANCE;
            self.points[n].step(frictions[n], &self.speeds[n], &wanted[n], [impulse, speeds])
        };
        island.terms.iter().enumerate().map(step).collect()
    }

    /// The common step length: a fraction `part` of the way to the boundary of the cones, at most one.
    fn share(&self, steps: &[Point], part: f64) -> f64 {
        let all = self.points.iter().zip(steps).zip(&self.framed.frictions);
        let share = all.map(|((point, step), mu)| point.share(*mu, step));
        (part * share.fold(f64::INFINITY, f64::min)).min(1.0)
    }

    fn wanted(&self, of: impl Fn(usize, &Point, f64) -> Wanted) -> Vec<Wanted> {
        let all = self.points.iter().zip(&self.framed.frictions).enumerate();
        all.map(|(n, (point, mu))| of(n, point, *mu)).collect()
    }

    /// The points of the next round.
    fn next(&self) -> Vec<Point> {
        let after = |steps: &[Point], share: f64| -> Vec<Point> {
            self.points.iter().zip(steps).map(|(point, step)| point.after(step, share)).collect()
        };
        let barrier = self.framed.barrier(self.points);
        let predicted = self.steps(&self.wanted(|_, point, mu| point.wanted(mu, 0.0)));
        let left = self.framed.barrier(&after(&predicted, self.share(&predicted, 1.0)));
        let target = barrier * (left / barrier).clamp(0.0, 1.0).powi(3);
        let corrected = |n: usize, point: &Point, mu| point.corrected(mu, target, &predicted[n]);
        let mut steps = self.steps(&self.wanted(corrected));
        let mut share = self.share(&steps, TO_BOUNDARY);
        if share < BLOCKED {
            let target = barrier * CENTERING;
            let centered = self.steps(&self.wanted(|_, point, mu| point.wanted(mu, target)));
            let other = self.share(&centered, TO_BOUNDARY);
            if other > share {
                (steps, share) = (centered, other);
            }
        }
        let mut points = after(&steps, share);
        if share < BLOCKED {
            let distance = self.framed.barrier(&points).sqrt();
            points.iter_mut().for_each(|point| *point = point.moved_inside(distance));
        }
        points
    }
}

impl Island {
    /// The solution with the smallest residual on a path through the interior of the cones; the
    /// start if none has a smaller one, and for islands with joints or torques.
    pub(crate) fn approach(&self, pattern: &Pattern, start: Solution) -> Solution {
        let Some(framed) = Framed::new(self) else { return start };
        let near = NEAR * start.unsolved;
        let (mut least, mut best) = (start.residual, None);
        let mut points = framed.start(&start);
        let mut factorizations = start.factorizations;
        for round in 0..=MAX_ROUNDS {
            let impulses: Vec<_> = points.iter().map(|point| point.impulse).collect();
            let mut speeds = framed.island.speeds(&framed.island.given(&impulses));
            let residual = framed.island.natural_map_at(&speeds, &impulses);
            speeds.iter_mut().zip(&impulses).for_each(|(u, impulse)| *u += impulse * COMPLIANCE);
            if residual < least {
                (least, best) = (residual, Some(impulses));
            }
            if !residual.is_finite() || least <= near || round == MAX_ROUNDS {
                break;
            }
            factorizations += 1;
            let Some(round) = Round::new(&framed, pattern, &points, &speeds) else { break };
            points = round.next();
        }
        let Some(best) = best else { return Solution { factorizations, ..start } };
        let turned = framed.axes.iter().zip(best).map(|(axes, impulse)| axes * impulse);
        Solution { factorizations, ..self.at(turned.collect(), &start) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::solve::exact::EXACT;
    use crate::solve::exact::random::Random;

    /// A vector in the interior of the second-order cone.
    fn inside() -> impl Strategy<Value = Vector3<f64>> {
        (0.01..1.0, 0.0..0.99, 0.0..6.3f64).prop_map(|(size, share, angle): (f64, f64, f64)| {
            Vector3::new(size, size * share * angle.cos(), size * share * angle.sin())
        })
    }

    fn vector() -> impl Strategy<Value = Vector3<f64>> {
        prop::array::uniform3(-1.0..1.0).prop_map(Vector3::from)
    }

    fn point(mu: f64) -> impl Strategy<Value = Point> {
        (inside(), 0.01..1.0, inside()).prop_map(move |(friction, apart, slip)| {
            let push = if mu > 0.0 { friction.x / mu } else { friction.x };
            let impulse = Vector3::new(push, mu * friction.y, mu * friction.z);
            Point { impulse, apart, slip }
        })
    }

    proptest! {
        /// The share of a step ends on the boundary of the cone.
        #[test]
        fn a_step_is_shortened_to_the_boundary_of_the_cone(p in inside(), step in vector()) {
            let depth = |p: &Vector3<f64>| p.x - p.yz().norm();
            let share = share_in_cone(&p, &step);
            if share.is_finite() {
                let end = depth(&(p + step * share));
                prop_assert!(end.abs() < 1e-9 * (1.0 + share), "{end}");
            }
            let inner = 0.999 * share.min(1e3);
            prop_assert!((0..=10).all(|n| depth(&(p + step * (inner * f64::from(n) / 10.0))) > 0.0));
        }

        /// A step changes the products to first order as wanted, and its speeds to those of the
        /// bodies.
        #[test]
        fn a_step_solves_the_linearized_products(
            (mu, point) in prop_oneof![Just(0.0), 0.05..1.5].prop_flat_map(|mu| (Just(mu), point(mu))),
            u in vector(), change in vector(), barrier in 0.0..1.0,
        ) {
            let wanted = point.wanted(mu, barrier);
            let own = point.eliminate(mu);
            let impulse = point.still(mu, &u, &wanted, &own) - own.answer * change;
            let change = change + impulse * COMPLIANCE;
            let step = point.step(mu, &u, &wanted, [impulse, change]);
            let size = 1.0 + impulse.norm() + step.slip.norm();
            let normal = point.impulse.x * step.apart + step.impulse.x * point.apart;
            prop_assert!((normal - wanted.normal).abs() < 1e-9 * size, "{normal}");
            prop_assert!((point.apart + step.apart - u.x - change.x).abs() < 1e-9 * size);
            if mu > 0.0 {
                let [p, q] = [&point, &step].map(|own| own.friction(mu));
                let off = jordan(&p, &step.slip) + jordan(&q, &point.slip) - wanted.slip;
                prop_assert!(off.norm() < 1e-9 * size, "{off}");
                let across = point.slip.yz() + step.slip.yz() - u.yz() - change.yz();
                prop_assert!(across.norm() < 1e-9 * size);
            }
        }
    }

    /// The path ends near the solution of the Newton method, with impulses in their cones.
    #[test]
    fn the_path_leads_close_to_the_solution() {
        let (mut random, mut lost) = (Random::new(31), 0);
        for case in 0..300 {
            let friction = 0.3 * f64::from(case % 4);
            let island = random.island(friction, false);
            let pattern = Pattern::new(island.bodies, &island.couplings(), usize::MAX).unwrap();
            let none = island.guessed(&vec![Vector3::zeros(); island.terms.len()]);
            let near = island.approach(&pattern, none.clone());
            lost += usize::from(!near.is_within(NEAR));
            assert!(near.residual <= none.residual && near.factorizations <= MAX_ROUNDS, "{case}");
            for (term, impulse) in island.terms.iter().zip(&near.impulses) {
                let off = (term.set.project(impulse) - impulse).norm();
                assert!(off < 1e-12 * (1.0 + impulse.norm()), "{case}: {off} outside the cone");
            }
            let exact = island.solve(&pattern, EXACT, none.clone());
            if friction == 0.0 && exact.is_solved && near.is_within(NEAR) {
                // without friction velocities are unique
                let pairs = near.velocities.iter().zip(&exact.velocities);
                let off = pairs.map(|(p, q)| (p - q).norm()).fold(0.0, f64::max);
                assert!(off <= 0.05 * none.unsolved, "{case}: {off} of {}", none.unsolved);
            }
        }
        assert!(lost <= 9, "{lost} of 300");
    }

    #[test]
    fn islands_with_joints_are_left_to_the_newton_method() {
        let island = Random::new(7).island(0.3, true);
        let pattern = Pattern::new(island.bodies, &island.couplings(), usize::MAX).unwrap();
        let none = island.guessed(&vec![Vector3::zeros(); island.terms.len()]);
        let near = island.approach(&pattern, none.clone());
        assert_eq!((near.residual, near.factorizations), (none.residual, 0));
    }
}
