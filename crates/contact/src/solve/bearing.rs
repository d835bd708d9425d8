//! Tests whether the supports of a body at rest can bear a load: compressive forces within their
//! friction cones (Coulomb) that balance it.

use dynamics::{MassProperties, Momentum, Velocity};
use nalgebra::{Isometry3, Matrix3, Matrix6, Matrix6x3, Point3, Vector3, Vector6};

/// Compliance of a support, m/s per N s on a body of 1 kg. Small enough that the residual of a
/// bearable load does not count; above zero, so that the solution nearest to the last one is
/// unique.
const COMPLIANCE: f64 = 1e-6;
/// Limit of Newton steps; about five suffice.
const STEPS: usize = 40;
/// Limit of halvings of a step.
const HALVINGS: usize = 30;
/// Tolerance of the balance as a share of all loads on the body.
const LEFT: f64 = 1e-9;

/// A support of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportContact {
    /// Contact point in the world, m.
    pub at: Point3<f64>,
    /// Unit normal in world axes, out of the supporting body.
    pub normal: Vector3<f64>,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Impulse on the body in a step, N s.
    pub impulse: Vector3<f64>,
}

impl SupportContact {
    /// The projection of `j` onto the friction cone, and its derivative.
    fn nearest(&self, j: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        let along = j.dot(&self.normal);
        let across = j - self.normal * along;
        let (size, friction) = (across.norm(), self.friction);
        if size <= friction * along {
            return (*j, Matrix3::identity());
        }
        if along + friction * size <= 0.0 {
            return (Vector3::zeros(), Matrix3::zeros());
        }
        let tangent = across / size;
        let edge = (self.normal + tangent * friction) / (1.0 + friction * friction).sqrt();
        let length = edge.dot(j);
        let turns = friction * length / ((1.0 + friction * friction).sqrt() * size);
        let side = self.normal.cross(&tangent);
        (edge * length, edge * edge.transpose() + side * side.transpose() * turns)
    }
}

/// A supported body, in momentum coordinates in which its kinetic energy is half the square.
struct SupportedBody<'a> {
    load: Vector6<f64>,
    supports: &'a [SupportContact],
    /// Change of momentum by a unit impulse at each support.
    arms: Vec<Matrix6x3<f64>>,
    compliance: f64,
}

impl SupportedBody<'_> {
    /// The impulses of supports at `velocity`.
    fn impulses(
        &self,
        velocity: &Vector6<f64>,
    ) -> impl Iterator<Item = (Vector3<f64>, Matrix3<f64>)> {
        self.supports.iter().zip(&self.arms).map(move |(support, arm)| {
            support.nearest(&(support.impulse - arm.tr_mul(velocity) / self.compliance))
        })
    }

    /// The cost function whose minimum is the common velocity of the body and its supports.
    fn cost(&self, velocity: &Vector6<f64>) -> f64 {
        let supports: f64 = self.impulses(velocity).map(|(j, _)| j.norm_squared()).sum();
        0.5 * velocity.norm_squared() - self.load.dot(velocity) + 0.5 * self.compliance * supports
    }

    /// The Newton step from `velocity`, valid if no support starts to slip or separates, and the
    /// slope of the cost; `None` at the minimum.
    fn step(&self, velocity: &Vector6<f64>) -> Option<(Vector6<f64>, f64)> {
        let (mut slope, mut bend) = (velocity - self.load, Matrix6::identity());
        let mut size = self.load.norm();
        for (arm, (impulse, change)) in self.arms.iter().zip(self.impulses(velocity)) {
            let given = arm * impulse;
            size += given.norm();
            slope -= given;
            bend += arm * change * arm.transpose() / self.compliance;
        }
        if slope.norm() <= LEFT * size {
            return None;
        }
        let direction = -bend.cholesky()?.solve(&slope);
        Some((direction, slope.dot(&direction)))
    }

    fn solve(&self) -> Vector6<f64> {
        let mut velocity = Vector6::zeros();
        for _ in 0..STEPS {
            let Some((direction, slope)) = self.step(&velocity) else { break };
            let cost = self.cost(&velocity);
            let lower = |share: &f64| {
                self.cost(&(velocity + direction * *share)) <= cost + 1e-4 * share * slope
            };
            let shares = (0..HALVINGS).map(|n| 0.5_f64.powi(n as i32));
            let Some(share) = shares.into_iter().find(lower) else { break };
            velocity += direction * share;
        }
        velocity
    }
}

/// Changes the impulses of `supports` on a body of this `mass` at `pose` to bear `load`, N s and
/// N m s in a step about its center of mass, as far as possible. Returns the velocity by the rest
/// of the load.
///
/// Of all solutions this is the one nearest to the previous impulses, as if each support were a
/// stiff spring.
pub fn balance_load(
    mass: &MassProperties,
    pose: &Isometry3<f64>,
    load: &Momentum,
    supports: &mut [SupportContact],
) -> Velocity {
    let axes = pose.rotation.to_rotation_matrix().into_inner();
    let linear = 1.0 / mass.mass().sqrt();
    // zero about a locked axis
    let angular = mass.inertia().map(|i| 1.0 / i.sqrt());
    let turned = Matrix3::from_diagonal(&angular) * axes.transpose();
    let both = |p: &Momentum| {
        let (p, l) = (p.linear * linear, turned * p.angular);
        Vector6::new(p.x, p.y, p.z, l.x, l.y, l.z)
    };
    let arm = |support: &SupportContact| {
        let mut arm = Matrix6x3::zeros();
        let lever = support.at.coords - pose.translation.vector;
        arm.fixed_view_mut::<3, 3>(0, 0).copy_from(&Matrix3::from_diagonal_element(linear));
        arm.fixed_view_mut::<3, 3>(3, 0).copy_from(&(turned * lever.cross_matrix()));
        arm
    };
    let arms = supports.iter().map(arm).collect();
    let compliance = COMPLIANCE / mass.mass();
    let supported = SupportedBody { load: both(load), supports, arms, compliance };
    let velocity = supported.solve();
    let impulses: Vec<Vector3<f64>> = supported.impulses(&velocity).map(|(j, _)| j).collect();
    let mut left = *load;
    for (support, impulse) in supports.iter_mut().zip(impulses) {
        support.impulse = impulse;
        left.apply_impulse(&impulse, &(support.at.coords - pose.translation.vector));
    }
    Velocity {
        linear: left.linear / mass.mass(),
        angular: mass.angular_velocity(&pose.rotation, &left.angular),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plank() -> (MassProperties, Isometry3<f64>) {
        // 2 m long, 12 kg, turned about y so that its axes are not those of the world
        let mass = MassProperties::new(12.0, Vector3::new(0.2, 4.2, 4.2)).expect("a solid");
        (mass, Isometry3::rotation(Vector3::y() * 0.7))
    }

    fn support(pose: &Isometry3<f64>, along: f64, across: f64) -> SupportContact {
        let at = pose * Point3::new(along, -0.1, across);
        SupportContact { at, normal: Vector3::y(), friction: 0.5, impulse: Vector3::zeros() }
    }

    /// A weight on a plank, N s.
    fn load(pose: &Isometry3<f64>, own: f64, weight: f64, along: f64) -> Momentum {
        let mut load = Momentum { linear: Vector3::y() * -own, ..Momentum::default() };
        load.apply_impulse(&(Vector3::y() * -weight), &(pose * Vector3::new(along, 0.1, 0.0)));
        load
    }

    #[test]
    fn a_beam_on_two_supports_loads_them_by_its_levers() {
        let (mass, pose) = plank();
        let mut supports = [-0.6, -0.6, 0.2, 0.2].map(|x| support(&pose, x, 0.0));
        supports[0].at += pose * Vector3::z() * 0.1;
        supports[1].at -= pose * Vector3::z() * 0.1;
        let left = balance_load(&mass, &pose, &load(&pose, 4.0, 1.0, 0.1), &mut supports);
        assert!(left.linear.norm() < 1e-5 && left.angular.norm() < 1e-5, "{left:?}");
        let sides =
            [supports[0].impulse + supports[1].impulse, supports[2].impulse + supports[3].impulse];
        // moments about the left support: 4 * 0.6 + 1 * 0.7 = 0.8 R
        let right = (4.0 * 0.6 + 0.7) / 0.8;
        assert!((sides[1].y - right).abs() < 1e-4, "{sides:?}");
        assert!((sides[0].y - (5.0 - right)).abs() < 1e-4, "{sides:?}");
    }

    #[test]
    fn a_beam_tips_as_soon_as_its_load_is_past_the_support() {
        let (mass, pose) = plank();
        // 4 * 0.02 balances 0.1 * 0.8
        for (along, bears) in [(0.81, true), (0.83, false)] {
            let mut supports =
                [support(&pose, -0.02, 0.1), support(&pose, 0.02, 0.1), support(&pose, 0.02, -0.1)];
            let left = balance_load(&mass, &pose, &load(&pose, 4.0, 0.1, along), &mut supports);
            let speed = left.linear.norm() + left.angular.norm();
            assert_eq!(speed < 1e-5, bears, "{along}: {speed}");
            // it falls about the support
            let moment = 0.1 * (along - 0.02) - 4.0 * 0.02;
            let about = 4.2 + 12.0 * (0.02_f64.powi(2) + 0.1_f64.powi(2));
            let spin = (pose.inverse() * left.angular).z;
            assert!(bears || (spin + moment / about).abs() < 0.1 * moment / about, "{spin}");
        }
    }

    #[test]
    fn a_body_on_a_slope_slides_past_the_angle_of_friction() {
        let (mass, pose) = plank();
        for (slope, bears) in [(0.49_f64, true), (0.51, false)] {
            let normal = Vector3::new(slope, 1.0, 0.0).normalize();
            let corner = |x: f64, z: f64| SupportContact { normal, ..support(&pose, x, z) };
            let mut supports = [(-1.0, 0.1), (-1.0, -0.1), (1.0, 0.1), (1.0, -0.1)];
            let mut supports = supports.each_mut().map(|(x, z)| corner(*x, *z));
            let left = balance_load(&mass, &pose, &load(&pose, 4.0, 0.0, 0.0), &mut supports);
            let speed = left.linear.norm();
            assert_eq!(speed < 1e-5, bears, "{slope}: {speed}");
            for p in supports {
                let along = p.impulse.dot(&p.normal);
                let across = (p.impulse - p.normal * along).norm();
                assert!(along >= 0.0 && across <= p.friction * along * (1.0 + 1e-9), "{p:?}");
            }
        }
    }

    #[test]
    fn balanced_impulses_do_not_change() {
        let (mass, pose) = plank();
        let mut supports = [-0.5, 0.5, 1.0].map(|x| support(&pose, x, 0.0));
        // not the solution of springs
        supports[0].impulse = Vector3::y() * 2.0 + pose * Vector3::x() * 0.3;
        supports[1].impulse = Vector3::y() * 2.0 - pose * Vector3::x() * 0.3;
        let before = supports;
        balance_load(&mass, &pose, &load(&pose, 4.0, 0.0, 0.0), &mut supports);
        for (p, q) in supports.iter().zip(&before) {
            assert!((p.impulse - q.impulse).norm() < 1e-6, "{p:?} {q:?}");
        }
    }
}
