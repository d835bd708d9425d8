//! Plastic deformation (Mu01 section 2.4).

use levelset::TetMesh;
use nalgebra::{Matrix3, Vector3};

use crate::model::elements_of;
use crate::{PlasticState, Response, SolveError, Structure, Yielding};

/// The plastic flow of a response.
#[derive(Clone, Debug, PartialEq)]
pub struct PlasticFlow {
    /// The largest of 1, 1/2, 1/4... and 0 of the flow that keeps the volume changes of tetrahedra
    /// within bounds.
    pub max_share: f64,
    yielding: Yielding,
    /// Equivalent plastic strain increment of each tetrahedron.
    strains: Vec<f64>,
    /// Change of each tetrahedron's residual stress, Pa.
    stresses: Vec<Matrix3<f64>>,
    /// Displacements of the vertices, m.
    displacements: Vec<Vector3<f64>>,
}

/// The permanent part of a deformation.
#[derive(Clone, Debug, PartialEq)]
pub struct Dent {
    /// The new rest shape, of the same volume.
    pub mesh: TetMesh,
    /// Plastic state of each tetrahedron, including this flow.
    pub plastic: Vec<PlasticState>,
}

impl PlasticFlow {
    /// Number of yielding tetrahedra.
    pub fn yielded(&self) -> usize {
        self.strains.iter().filter(|strain| **strain > 0.0).count()
    }
}

impl Structure {
    /// The body with the plastic state of each tetrahedron. Residual stress is equilibrated, as
    /// after a crack.
    ///
    /// # Errors
    /// [`SolveError`] if the solve fails.
    ///
    /// # Panics
    /// If there is not one state per tetrahedron or none.
    pub fn with_plastic(mut self, mut plastic: Vec<PlasticState>) -> Result<Self, SolveError> {
        let count = plastic.len();
        assert!(count == 0 || count == self.mesh().tets.len(), "one per tetrahedron");
        if plastic.iter().any(|own| own.stress != Matrix3::zeros()) {
            let stresses: Vec<_> = plastic.iter().map(|own| own.stress).collect();
            let balance = self.respond_to_eigenstress(&stresses)?.stresses;
            plastic.iter_mut().zip(balance).for_each(|(own, balance)| own.stress -= balance);
        }
        self.plastic = plastic;
        Ok(self)
    }

    /// Plastic state of each tetrahedron; empty if none yielded.
    pub fn plastic(&self) -> &[PlasticState] {
        &self.plastic
    }

    /// The plastic flow of a response: in every tetrahedron whose von Mises stress exceeds the
    /// yield stress, the excess shear becomes plastic strain (radial return), and the body relaxes
    /// around it.
    ///
    /// Mu01 copies all deformed coordinates past a bound. Here the elastic part springs back, and
    /// plastic strain is pure shear, so that tetrahedra keep their volume to first order;
    /// [`PlasticFlow::max_share`] of the flow changes no volume by more than `volume_change` of it.
    ///
    /// # Errors
    /// [`SolveError`] if the solve fails.
    ///
    /// # Panics
    /// If the response is of a different body.
    pub fn flow(
        &self,
        response: &Response,
        yielding: Yielding,
        volume_change: f64,
    ) -> Result<PlasticFlow, SolveError> {
        let known = |t: usize| self.plastic.get(t).map_or(0.0, |own| own.strain);
        let shear = self.material().mu;
        let of = |(t, stress)| excess(stress, yielding, known(t), shear);
        let (strains, beyond): (Vec<f64>, Vec<Matrix3<f64>>) =
            response.stresses.iter().enumerate().map(of).unzip();
        let vertices = self.mesh().vertices.len();
        let mut flow = PlasticFlow {
            max_share: 0.0,
            yielding,
            strains,
            stresses: beyond,
            displacements: vec![Vector3::zeros(); vertices],
        };
        if flow.yielded() == 0 {
            return Ok(flow);
        }
        let relaxed = self.respond_to_eigenstress(&flow.stresses)?;
        flow.stresses.iter_mut().zip(relaxed.stresses).for_each(|(own, all)| *own = all - *own);
        flow.max_share = self.admissible(&relaxed.displacements, volume_change);
        flow.displacements = relaxed.displacements;
        Ok(flow)
    }

    /// The plastic work of a fraction of a flow, J: yield stress times plastic strain.
    ///
    /// # Panics
    /// Here and below, if the flow is of a different body.
    pub fn plastic_work(&self, flow: &PlasticFlow, kept: f64) -> f64 {
        let Yielding { strength, hardening } = flow.yielding;
        let work = |(t, strain): (usize, &f64)| {
            let known = self.plastic.get(t).map_or(0.0, |own| own.strain);
            let added = kept * strain;
            self.mesh().volume(t) * added * (strength + hardening * (known + 0.5 * added))
        };
        flow.strains.iter().enumerate().filter(|(_, strain)| **strain > 0.0).map(work).sum()
    }

    /// The rest shape after a fraction of a flow. The body is scaled to preserve its volume.
    pub fn dent(&self, flow: &PlasticFlow, kept: f64) -> Dent {
        let mut mesh = self.mesh().clone();
        if flow.yielded() == 0 {
            return Dent { mesh, plastic: self.plastic.clone() };
        }
        for (place, u) in mesh.vertices.iter_mut().zip(&flow.displacements) {
            *place += u * kept;
        }
        let after = mesh.moments();
        let (scale, center) = (libm::cbrt(self.moments().volume / after.volume), after.center());
        mesh.vertices.iter_mut().for_each(|place| *place = center + (*place - center) * scale);
        let mut plastic = self.plastic.clone();
        plastic.resize(mesh.tets.len(), PlasticState::default());
        let added = flow.strains.iter().zip(&flow.stresses);
        for (own, (strain, stress)) in plastic.iter_mut().zip(added) {
            own.strain += strain * kept;
            own.stress += stress * kept;
        }
        Dent { mesh, plastic }
    }

    /// The largest of 1, 1/2, 1/4... and 0 of the displacements that keeps all volumes within
    /// bounds.
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

/// The equivalent plastic strain that returns a stress to the yield surface, and the corresponding
/// part of the stress, Pa: the radial return of J2 plasticity with linear hardening.
fn excess(
    stress: &Matrix3<f64>,
    Yielding { strength, hardening }: Yielding,
    strain: f64,
    shear: f64,
) -> (f64, Matrix3<f64>) {
    let deviator = stress - Matrix3::from_diagonal_element(stress.trace() / 3.0);
    let mises = 1.5_f64.sqrt() * deviator.norm();
    let beyond = mises - (strength + hardening * strain);
    if beyond <= 0.0 {
        return (0.0, Matrix3::zeros());
    }
    let added = beyond / (3.0 * shear + hardening);
    (added, deviator * (3.0 * shear * added / mises))
}
