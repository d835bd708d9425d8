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

/// The part of its set onto which an impulse was projected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The projection is linear nearby: inside, outside all bounds, or at bounds of single rows
    /// (one bit per row at a bound).
    Flat(u8),
    /// On the curved side of a cone or disc.
    Curved,
}

/// The projection of an impulse onto its set.
pub(crate) struct Projection {
    pub(crate) impulse: Vector3<f64>,
    /// Derivative of the projection, symmetric, with eigenvalues from 0 to 1.
    pub(crate) slope: Matrix3<f64>,
    pub(crate) place: Place,
}

const OPEN: Place = Place::Flat(7);
/// The place of an admissible impulse.
pub(super) const INSIDE: Place = Place::Flat(0);

impl Set {
    /// The nearest impulse to `y`; for a contact in the second-order cone, which is convex.
    pub(crate) fn project(&self, y: &Vector3<f64>) -> Projection {
        match *self {
            Self::Rows { least, most } => {
                let impulse = y.sup(&least).inf(&most);
                let is_free = |k: usize| least[k] < y[k] && y[k] < most[k];
                let at_bound = |k: usize| u8::from(!is_free(k)) << k;
                let slope = Matrix3::from_diagonal(&Vector3::from_fn(|k, _| f64::from(is_free(k))));
                let place = Place::Flat((0..3).map(at_bound).sum());
                Projection { impulse, slope, place }
            }
            Self::Contact { normal, friction } => onto_cone(y, &normal, friction),
            Self::Torque { normal, across, about } => onto_torques(y, &normal, across, about),
        }
    }

    /// The impulse of [`Self::project`] alone.
    pub(crate) fn nearest(&self, y: &Vector3<f64>) -> Vector3<f64> {
        match *self {
            Self::Rows { least, most } => y.sup(&least).inf(&most),
            Self::Contact { normal, friction } => {
                let along = y.dot(&normal);
                let across = y - normal * along;
                let size = across.norm();
                if size <= friction * along {
                    return *y;
                }
                if along + friction * size <= 0.0 {
                    return Vector3::zeros();
                }
                let length = (along + friction * size) / (1.0 + friction * friction);
                normal * length + across * (length * friction / size)
            }
            Self::Torque { normal, across, about } => nearest_torque(y, &normal, across, about),
        }
    }

    /// The nearest impulse to `y` by Coulomb's law: the normal component first, then friction
    /// within its bound. This is the projection of the natural map.
    pub(crate) fn coulomb(&self, y: &Vector3<f64>) -> Vector3<f64> {
        match *self {
            Self::Rows { least, most } => y.sup(&least).inf(&most),
            Self::Contact { normal, friction } => {
                let along = y.dot(&normal);
                let (push, across) = (along.max(0.0), y - normal * along);
                let (size, most) = (across.norm(), friction * push);
                let share = if size > most { most / size } else { 1.0 };
                normal * push + across * share
            }
            Self::Torque { .. } => self.nearest(y),
        }
    }
}

fn nearest_torque(
    y: &Vector3<f64>,
    normal: &Vector3<f64>,
    across: f64,
    about: f64,
) -> Vector3<f64> {
    let along = y.dot(normal);
    let rest = y - normal * along;
    let size = rest.norm();
    let share = if size > across { across / size } else { 1.0 };
    rest * share + normal * along.clamp(-about, about)
}

fn onto_torques(y: &Vector3<f64>, normal: &Vector3<f64>, across: f64, about: f64) -> Projection {
    let along = y.dot(normal);
    let rest = y - normal * along;
    let size = rest.norm();
    let axial = normal * normal.transpose();
    let is_spun = along.abs() < about;
    let mut slope = if is_spun { axial } else { Matrix3::zeros() };
    let spun = u8::from(!is_spun) << 2;
    let place = if size < across {
        slope += Matrix3::identity() - axial;
        Place::Flat(spun)
    } else if across > 0.0 {
        let side = normal.cross(&(rest / size));
        slope += side * side.transpose() * (across / size);
        Place::Curved
    } else {
        Place::Flat(spun | 3)
    };
    Projection { impulse: nearest_torque(y, normal, across, about), slope, place }
}

/// Projects onto the cone `across <= friction * along`.
fn onto_cone(y: &Vector3<f64>, normal: &Vector3<f64>, friction: f64) -> Projection {
    let along = y.dot(normal);
    let across = y - normal * along;
    let size = across.norm();
    if size <= friction * along {
        return Projection { impulse: *y, slope: Matrix3::identity(), place: INSIDE };
    }
    if along + friction * size <= 0.0 {
        return Projection { impulse: Vector3::zeros(), slope: Matrix3::zeros(), place: OPEN };
    }
    let tangent = across / size;
    let steepness = (1.0 + friction * friction).sqrt();
    let edge = (normal + tangent * friction) / steepness;
    let length = edge.dot(y);
    let turns = friction * length / (steepness * size);
    let side = normal.cross(&tangent);
    let slope = edge * edge.transpose() + side * side.transpose() * turns;
    // without friction the cone is a ray, which has no curvature
    let place = if friction == 0.0 { Place::Flat(6) } else { Place::Curved };
    Projection { impulse: edge * length, slope, place }
}
