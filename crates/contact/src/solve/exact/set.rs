//! The sets of admissible impulses and the projections onto them.

use nalgebra::{Matrix3, Vector3};

/// The admissible impulses of up to three rows, in coordinates in which a unit impulse changes the
/// speed of its own row by about one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Set {
    /// Each row between its own bounds: joints, limits and motors.
    Rows {
        /// Lower bound of each row.
        least: Vector3<f64>,
        /// Upper bound of each row.
        most: Vector3<f64>,
    },
    /// Coulomb friction about a unit normal; rows are the axes of the world.
    Contact {
        /// Unit normal out of the second body.
        normal: Vector3<f64>,
        /// Coulomb friction coefficient.
        friction: f64,
    },
    /// A torque in a disc across a unit normal and in an interval about it; rows are the axes of
    /// the world.
    Torque {
        /// Unit normal out of the second body.
        normal: Vector3<f64>,
        /// Largest torque across the normal.
        across: f64,
        /// Largest torque about the normal.
        about: f64,
    },
}

impl Set {
    /// The nearest impulse to `y` by Coulomb's law: the normal component first, then friction
    /// within its bound. This is the projection of the natural map.
    pub(crate) fn project(&self, y: &Vector3<f64>) -> Vector3<f64> {
        match *self {
            Self::Rows { least, most } => y.sup(&least).inf(&most),
            Self::Contact { normal, friction } => {
                let along = y.dot(&normal);
                let push = along.max(0.0);
                normal * push + within(y - normal * along, friction * push)
            }
            Self::Torque { normal, across, about } => {
                let along = y.dot(&normal);
                within(y - normal * along, across) + normal * along.clamp(-about, about)
            }
        }
    }

    /// The derivative of [`Self::project`]; at a kink, the derivative on one side of it.
    pub(crate) fn slope(&self, y: &Vector3<f64>) -> Matrix3<f64> {
        match *self {
            Self::Rows { least, most } => {
                let is_free = |k: usize| least[k] < y[k] && y[k] < most[k];
                Matrix3::from_diagonal(&Vector3::from_fn(|k, _| f64::from(is_free(k))))
            }
            Self::Contact { normal, friction } => {
                let along = y.dot(&normal);
                if along <= 0.0 {
                    return Matrix3::zeros();
                }
                let axial = normal * normal.transpose();
                let (turned, shortened) = slope_within(y - normal * along, friction * along, axial);
                // the bound of friction grows with the normal component
                axial + turned + shortened * (friction * normal).transpose()
            }
            Self::Torque { normal, across, about } => {
                let along = y.dot(&normal);
                let axial = normal * normal.transpose();
                let (turned, _) = slope_within(y - normal * along, across, axial);
                if along.abs() < about { turned + axial } else { turned }
            }
        }
    }
}

/// A vector, shortened to at most this size.
fn within(across: Vector3<f64>, most: f64) -> Vector3<f64> {
    let size = across.norm();
    if size > most { across * (most / size) } else { across }
}

/// Derivatives of [`within`] with respect to the vector and the bound. The vector is perpendicular
/// to the unit vector `n` of `axial = n n^T`.
fn slope_within(
    across: Vector3<f64>,
    most: f64,
    axial: Matrix3<f64>,
) -> (Matrix3<f64>, Vector3<f64>) {
    let (size, plane) = (across.norm(), Matrix3::identity() - axial);
    if size <= most {
        return (plane, Vector3::zeros());
    }
    let along = across / size;
    ((plane - along * along.transpose()) * (most / size), along)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vector() -> impl Strategy<Value = Vector3<f64>> {
        prop::array::uniform3(-1.0..1.0).prop_map(Vector3::from)
    }

    fn set() -> impl Strategy<Value = Set> {
        let normal =
            || vector().prop_filter_map("too short for a direction", |v| v.try_normalize(0.1));
        let rows =
            (vector(), vector()).prop_map(|(a, b)| Set::Rows { least: a.inf(&b), most: a.sup(&b) });
        let contact =
            (normal(), 0.0..1.5).prop_map(|(normal, friction)| Set::Contact { normal, friction });
        let torque = (normal(), 0.0..1.0, 0.0..1.0)
            .prop_map(|(normal, across, about)| Set::Torque { normal, across, about });
        prop_oneof![rows, contact, torque]
    }

    proptest! {
        /// A projection is admissible: projected again, it stays.
        #[test]
        fn a_projection_is_admissible(set in set(), y in vector()) {
            let once = set.project(&y);
            prop_assert!((set.project(&once) - once).norm() < 1e-12);
            if let Set::Contact { normal, friction } = set {
                let along = once.dot(&normal);
                let across = (once - normal * along).norm();
                prop_assert!(along >= 0.0 && across <= friction * along + 1e-12);
            }
        }

        /// The slope is the central difference of the projection, except next to kinks, where the
        /// differences of both sides disagree.
        #[test]
        fn the_slope_is_the_difference_quotient(set in set(), y in vector(), d in vector()) {
            let h = 1e-6;
            let [before, here, after] = [-h, 0.0, h].map(|h| set.project(&(y + d * h)));
            let [left, right] = [(here - before) / h, (after - here) / h];
            prop_assume!((left - right).norm() < 1e-4);
            let found = set.slope(&y) * d;
            let wanted = (after - before) / (2.0 * h);
            prop_assert!((found - wanted).norm() < 1e-4, "{found} {wanted}");
        }
    }
}
