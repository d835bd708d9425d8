//! What makes some links weaker than others from the start (Ku07 section 2).

use levelset::TetMesh;
use nalgebra::Point3;

use super::Lattice;
use crate::noise::Noise;
use crate::slicing::Plane;

/// A place where a body is weak: the factor there, and one at `width` from it and beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weakness {
    /// Along a plane, as in the cleaving of Ku07.
    Plane {
        /// Where.
        plane: Plane,
        /// m.
        width: f64,
        /// Of the strength, on the plane.
        factor: f64,
    },
    /// On the surface of a ball.
    Sphere {
        /// Its centre.
        centre: Point3<f64>,
        /// m.
        radius: f64,
        /// m.
        width: f64,
        /// Of the strength, on the sphere.
        factor: f64,
    },
}

impl Weakness {
    /// What strengths at `p` are multiplied by.
    pub fn factor(&self, p: &Point3<f64>) -> f64 {
        let (distance, width, factor) = match self {
            Self::Plane { plane, width, factor } => (plane.distance(p), width, factor),
            Self::Sphere { centre, radius, width, factor } => {
                ((p - centre).norm() - radius, width, factor)
            }
        };
        let away = if *width > 0.0 { (distance.abs() / width).min(1.0) } else { 1.0 };
        factor + (1.0 - factor) * away
    }
}

impl Lattice {
    /// Makes links along a plane or sphere weaker.
    pub fn weaken(&mut self, weakness: &Weakness) {
        self.scale_strengths(|p| weakness.factor(p));
    }

    /// Multiplies strengths by `1 + noise`; an amplitude below 1 keeps them positive.
    pub fn vary(&mut self, noise: &Noise) {
        self.scale_strengths(|p| 1.0 + noise.displacement(p).x);
    }

    /// Multiplies strengths by factors painted on the vertices of the mesh that the lattice is
    /// made from: a link's is the mean over the vertices that its ends share.
    ///
    /// # Panics
    /// If `mesh` is another mesh, or has more vertices than there are factors.
    pub fn paint(&mut self, mesh: &TetMesh, factors: &[f64]) {
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
