//! Initial weaknesses of links (Ku07 section 2).

use levelset::TetMesh;
use nalgebra::{Point3, Vector3};
use ndarray::Array2;

use super::graph::Lattice;
use crate::noise::Noise;
use crate::slicing::Plane;

/// A weakness of a body: the factor of strength there rises to one at the distance `width`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weakness {
    /// Along a plane, as in the cleaving of Ku07.
    Plane {
        /// The plane.
        plane: Plane,
        /// Width, m.
        width: f64,
        /// Factor of the strength on the plane.
        factor: f64,
    },
    /// On the surface of a ball.
    Sphere {
        /// Its center.
        center: Point3<f64>,
        /// Radius, m.
        radius: f64,
        /// Width, m.
        width: f64,
        /// Factor of the strength on the sphere.
        factor: f64,
    },
}

impl Weakness {
    /// Factor of strengths at `p`.
    pub fn factor(&self, p: &Point3<f64>) -> f64 {
        let (distance, width, factor) = match self {
            Self::Plane { plane, width, factor } => (plane.distance(p), width, factor),
            Self::Sphere { center, radius, width, factor } => {
                ((p - center).norm() - radius, width, factor)
            }
        };
        let away = if *width > 0.0 { (distance.abs() / width).min(1.0) } else { 1.0 };
        factor + (1.0 - factor) * away
    }
}

/// An image of strength projected through a body, the same at every depth.
#[derive(Clone, Debug, PartialEq)]
pub struct Stencil {
    /// Factors of the strength, row by row; between the centers of pixels they change linearly.
    pub factors: Array2<f64>,
    /// The outer corner of the first pixel of the first row, m.
    pub corner: Point3<f64>,
    /// Vector along a whole row, m.
    pub across: Vector3<f64>,
    /// Vector along a whole column, m; perpendicular to a row.
    pub down: Vector3<f64>,
}

impl Stencil {
    /// Factor of strengths at `p`; 1 outside the image.
    pub fn factor(&self, p: &Point3<f64>) -> f64 {
        let (rows, columns) = self.factors.dim();
        let share = |axis: &Vector3<f64>| (p - self.corner).dot(axis) / axis.norm_squared();
        let (x, y) = (share(&self.across), share(&self.down));
        if !((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y)) || rows * columns == 0 {
            return 1.0;
        }
        // from pixel center to pixel center, the outermost half pixels as at their centers
        let place = |share: f64, count: usize| {
            let at = (share * count as f64 - 0.5).clamp(0.0, count as f64 - 1.0);
            let low = (at as usize).min(count.saturating_sub(2));
            (low, (low + 1).min(count - 1), at - low as f64)
        };
        let (left, right, u) = place(x, columns);
        let (top, bottom, v) = place(y, rows);
        let row = |r: usize| self.factors[[r, left]] * (1.0 - u) + self.factors[[r, right]] * u;
        row(top) * (1.0 - v) + row(bottom) * v
    }
}

impl Lattice {
    /// Multiplies strengths by an image.
    pub fn scale_by_stencil(&mut self, stencil: &Stencil) {
        self.scale_strengths(|p| stencil.factor(p));
    }

    /// Makes links along a plane or sphere weaker.
    pub fn weaken(&mut self, weakness: &Weakness) {
        self.scale_strengths(|p| weakness.factor(p));
    }

    /// Multiplies strengths by `1 + noise`; an amplitude below 1 keeps them positive.
    pub fn scale_by_noise(&mut self, noise: &Noise) {
        self.scale_strengths(|p| 1.0 + noise.displacement(p).x);
    }

    /// Multiplies strengths by factors on the vertices of the lattice's mesh: that of a link is the
    /// mean over the vertices that its ends share.
    ///
    /// # Panics
    /// If `mesh` is another mesh, or has more vertices than there are factors.
    pub fn scale_by_vertices(&mut self, mesh: &TetMesh, factors: &[f64]) {
        for link in 0..self.links.len() {
            let [a, b] = self.links[link].ends.map(|tet| mesh.tets[tet as usize]);
            let shared = a.iter().filter(|v| b.contains(v));
            let (mut sum, mut count) = (0.0, 0.0);
            for &v in shared {
                sum += factors[v as usize];
                count += 1.0;
            }
            let factor = if sum > 0.0 { sum / count } else { 0.0 };
            self.strengths[link] *= factor;
            self.whole[link] *= factor;
        }
    }
}
