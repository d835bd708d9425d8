//! Volume integrals of a solid.

use nalgebra::{Matrix3, Point3, Vector3};

/// Moments of a solid of unit density, from which mass, center and inertia are computed.
///
/// Moments of disjoint solids add.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// Volume, m^3.
    pub volume: f64,
    /// Integral of x, m^4.
    pub first: Vector3<f64>,
    /// Integral of x x^T, m^5.
    pub second: Matrix3<f64>,
}

impl Moments {
    /// Moments of a tetrahedron with these corners, m; with opposite sign if it is inverted.
    pub fn of_tet(corners: [Vector3<f64>; 4]) -> Self {
        let [a, b, c, d] = corners;
        let volume = (b - a).dot(&(c - a).cross(&(d - a))) / 6.0;
        let sum = a + b + c + d;
        let squares: Matrix3<f64> = corners.iter().map(|x| x * x.transpose()).sum();
        Self {
            volume,
            first: sum * (volume / 4.0),
            second: (squares + sum * sum.transpose()) * (volume / 20.0),
        }
    }

    /// The moments times `factor`.
    pub fn times(&self, factor: f64) -> Self {
        Self {
            volume: self.volume * factor,
            first: self.first * factor,
            second: self.second * factor,
        }
    }

    /// Moments of the solid scaled by `factor` about the origin.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        Self {
            volume: self.volume * factor.powi(3),
            first: self.first * factor.powi(4),
            second: self.second * factor.powi(5),
        }
    }

    /// Moments of the solid moved by `offset`.
    pub fn moved(&self, offset: Vector3<f64>) -> Self {
        let cross = offset * self.first.transpose();
        let square = offset * offset.transpose() * self.volume;
        Self {
            volume: self.volume,
            first: self.first + offset * self.volume,
            second: self.second + cross + cross.transpose() + square,
        }
    }

    /// The affine map that takes `self` to `target`, applied to moments of parts: parts that add up
    /// to `self` then add up to `target`.
    ///
    /// The solid is stretched about its center of volume to match the second moment, moved to the
    /// other center, and its density scaled to the other volume. Parts are unchanged if one of the
    /// two solids has no volume or is flat.
    pub fn map_to(&self, target: &Self) -> impl Fn(&Self) -> Self + use<> {
        let factor = target.volume / self.volume;
        let stretch = || {
            let [from, to] = [self, target].map(|m| (m.central() / m.volume).cholesky());
            Some(to?.l() * from?.l().try_inverse()?)
        };
        let is_sound = self.volume > 0.0 && target.volume > 0.0;
        let map = if is_sound { stretch() } else { None };
        let shift = map.map(|map| target.center() - map * self.center().coords);
        move |part| {
            let Some((map, shift)) = map.zip(shift) else { return *part };
            let stretched = Self {
                volume: part.volume * factor,
                first: map * part.first * factor,
                second: map * part.second * map.transpose() * factor,
            };
            stretched.moved(shift.coords)
        }
    }

    /// Center of volume; the origin for an empty solid.
    pub fn center(&self) -> Point3<f64> {
        if self.volume == 0.0 { Point3::origin() } else { Point3::from(self.first / self.volume) }
    }

    /// Second moment about the center of volume, m^5.
    pub fn central(&self) -> Matrix3<f64> {
        let c = self.center().coords;
        self.second - self.volume * c * c.transpose()
    }

    /// Inertia tensor about the center of volume for unit density, `tr(S) I - S`, m^5. Multiply by a
    /// density to obtain kg m^2 (Su09 section 4.2, with the second moment taken about the center).
    pub fn inertia(&self) -> Matrix3<f64> {
        let s = self.central();
        Matrix3::from_diagonal_element(s.trace()) - s
    }
}

impl std::ops::Add for Moments {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            volume: self.volume + other.volume,
            first: self.first + other.first,
            second: self.second + other.second,
        }
    }
}

impl std::iter::Sum for Moments {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |a, b| a + b)
    }
}
