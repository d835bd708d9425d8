//! Mass, center and inertia of bodies, as sums over their parts.

use crate::{MassError, MassProperties};
use nalgebra::{Isometry3, Matrix3, Point3, Translation3, Vector3};

/// Moments of a distribution of mass about the origin of its frame, from which the mass
/// properties of a body follow.
///
/// Moments of parts add up to those of the whole, and a part that was cut off can be subtracted.
/// They are exact for points (the textbook `I = sum m (r.r - r r)`), for cells and for tetrahedra.
/// Those of a closed mesh are the sum over its triangles of the signed tetrahedra to the origin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MassMoments {
    /// Mass, kg.
    pub mass: f64,
    /// Integral of x, kg m.
    pub first: Vector3<f64>,
    /// Integral of x x^T, kg m^2.
    pub second: Matrix3<f64>,
}

impl MassMoments {
    /// A solid of uniform `density` kg/m^3 with the integrals of 1 (m^3), of x (m^4) and of x x^T
    /// (m^5) over it.
    pub fn uniform(density: f64, volume: f64, first: Vector3<f64>, second: Matrix3<f64>) -> Self {
        Self { mass: density * volume, first: first * density, second: second * density }
    }

    /// A point of `mass` kg.
    pub fn point(mass: f64, place: &Point3<f64>) -> Self {
        let first = place.coords * mass;
        Self { mass, first, second: first * place.coords.transpose() }
    }

    /// A box of `mass` kg with edges of lengths `size` m along the axes, such as a cell of a grid.
    pub fn cuboid(mass: f64, center: &Point3<f64>, size: &Vector3<f64>) -> Self {
        let mut moments = Self::point(mass, center);
        moments.second += Matrix3::from_diagonal(&size.component_mul(size)) * (mass / 12.0);
        moments
    }

    /// A tetrahedron of uniform `density` kg/m^3.
    ///
    /// Its mass is positive if the first three corners run counter-clockwise as seen from the last,
    /// and negative otherwise.
    ///
    /// ```
    /// use brisance_dynamics::MassMoments;
    /// use brisance_dynamics::nalgebra::Point3;
    ///
    /// // from a point on the z axis, x to y is counter-clockwise
    /// let [x, y, z] = [[6.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Point3::from);
    /// let tetrahedron = MassMoments::tetrahedron(2.0, &[Point3::origin(), x, y, z]);
    /// assert!((tetrahedron.mass - 2.0).abs() < 1e-12);
    /// ```
    pub fn tetrahedron(density: f64, corners: &[Point3<f64>; 4]) -> Self {
        let [a, b, c, d] = corners.map(|p| p.coords);
        let volume = (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0;
        let mass = density * volume;
        let sum = a + b + c + d;
        let squares = [a, b, c, d].map(|p| p * p.transpose());
        let second = squares.into_iter().fold(sum * sum.transpose(), |s, square| s + square);
        Self { mass, first: sum * (mass / 4.0), second: second * (mass / 20.0) }
    }

    /// The moments of this distribution moved by `pose`.
    pub fn moved(&self, pose: &Isometry3<f64>) -> Self {
        let r = pose.rotation.to_rotation_matrix().into_inner();
        let t = pose.translation.vector;
        let first = r * self.first;
        let cross = first * t.transpose();
        Self {
            mass: self.mass,
            first: first + t * self.mass,
            second: r * self.second * r.transpose()
                + cross
                + cross.transpose()
                + t * t.transpose() * self.mass,
        }
    }

    /// Center of mass, m; not finite if there is no mass.
    pub fn center(&self) -> Point3<f64> {
        Point3::from(self.first / self.mass)
    }

    /// Inertia tensor about the center of mass, kg m^2: `tr(S) I - S` with the second moment `S`
    /// taken about the center (Su09 section 4.2 prints the formula without this shift).
    pub fn inertia(&self) -> Matrix3<f64> {
        let central = self.second - self.first * self.first.transpose() / self.mass;
        Matrix3::from_diagonal_element(central.trace()) - central
    }

    /// The body with these moments, and its pose in their frame: the center of mass and the
    /// principal axes.
    ///
    /// # Errors
    /// [`MassError`] if the mass or a principal moment is not positive and finite.
    pub fn mass_properties(&self) -> Result<(MassProperties, Isometry3<f64>), MassError> {
        let (mass, rotation) = MassProperties::from_inertia(self.mass, &self.inertia())?;
        Ok((mass, Isometry3::from_parts(Translation3::from(self.center().coords), rotation)))
    }
}

impl std::ops::Add for MassMoments {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            first: self.first + other.first,
            second: self.second + other.second,
        }
    }
}

impl std::ops::Sub for MassMoments {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            mass: self.mass - other.mass,
            first: self.first - other.first,
            second: self.second - other.second,
        }
    }
}

impl std::iter::Sum for MassMoments {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |a, b| a + b)
    }
}
