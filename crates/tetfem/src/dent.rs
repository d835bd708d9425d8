//! Plastic deformation (Mu01 section 2.4).

use levelset::TetMesh;
use nalgebra::{Matrix3, Vector3};

use crate::model::elements_of;
use crate::{Response, SolveError, Structure};

/// What a body keeps of a deformation.
#[derive(Clone, Debug, PartialEq)]
pub struct Dent {
    /// The new shape at rest, free of stress, of the same volume.
    pub mesh: TetMesh,
    /// From the old vertices to the new, m.
    pub displacements: Vec<Vector3<f64>>,
    /// Tetrahedra past the yield stress.
    pub yielded: usize,
    /// The fraction of the plastic deformation that was kept, less than 1 only where all of it
    /// would have changed a tetrahedron's volume too much.
    pub kept: f64,
}

impl Structure {
    /// The shape that stays after a response: in every tetrahedron whose von Mises stress is above
    /// `yield_stress`, Pa, the shear beyond it is made permanent, and the body relaxes around it.
    ///
    /// Mu01 copies all deformed coordinates past a bound. Here what is elastic springs back, and
    /// plastic strain is shear, so that tetrahedra keep their volume to first order; no volume
    /// changes by more than `volume_change` of it before the body is scaled, by as much as it takes
    /// to keep its volume. Stress that would stay locked in is forgotten.
    ///
    /// # Errors
    /// [`SolveError`] if the solve fails.
    ///
    /// # Panics
    /// If the response is not one of this body.
    pub fn dent(
        &self,
        response: &Response,
        yield_stress: f64,
        volume_change: f64,
    ) -> Result<Dent, SolveError> {
        let excess: Vec<_> =
            response.stresses.iter().map(|stress| excess(stress, yield_stress)).collect();
        let yielded = excess.iter().filter(|stress| **stress != Matrix3::zeros()).count();
        let mut dent = Dent {
            mesh: self.mesh().clone(),
            displacements: vec![Vector3::zeros(); self.mesh().vertices.len()],
            yielded,
            kept: 1.0,
        };
        if yielded == 0 {
            return Ok(dent);
        }
        let permanent = self.relax(&excess)?.displacements;
        dent.kept = self.admissible(&permanent, volume_change);
        for (place, u) in dent.mesh.vertices.iter_mut().zip(&permanent) {
            *place += u * dent.kept;
        }
        let after = dent.mesh.moments();
        let scale = (self.moments().volume / after.volume).cbrt();
        let centre = after.centre();
        let places = dent.mesh.vertices.iter_mut().zip(&mut dent.displacements);
        for ((place, u), old) in places.zip(&self.mesh().vertices) {
            *place = centre + (*place - centre) * scale;
            *u = *place - old;
        }
        Ok(dent)
    }

    /// The largest of 1, 1/2, 1/4... and 0 of the displacements that keeps all volumes in bounds.
    fn admissible(&self, displacements: &[Vector3<f64>], volume_change: f64) -> f64 {
        let gradients: Vec<_> = elements_of(self.mesh())
            .iter()
            .zip(&self.mesh().tets)
            .map(|(element, tet)| {
                element.displacement_gradient(&tet.map(|v| displacements[v as usize]))
            })
            .collect();
        let sound = |kept: f64| {
            gradients.iter().all(|h| {
                let ratio = (Matrix3::identity() + h * kept).determinant();
                ratio > 0.0 && (ratio - 1.0).abs() <= volume_change
            })
        };
        let kept = (0..30).map(|n| 0.5_f64.powi(n)).find(|&kept| sound(kept));
        kept.unwrap_or(0.0)
    }
}

/// The part of a stress beyond a von Mises stress, without pressure.
fn excess(stress: &Matrix3<f64>, yield_stress: f64) -> Matrix3<f64> {
    let deviator = stress - Matrix3::from_diagonal_element(stress.trace() / 3.0);
    let mises = 1.5_f64.sqrt() * deviator.norm();
    if mises > yield_stress { deviator * (1.0 - yield_stress / mises) } else { Matrix3::zeros() }
}
