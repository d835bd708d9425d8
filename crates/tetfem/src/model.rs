//! A body of linear tetrahedra: element data and assembly (Mu01 eq 12).

use levelset::{TetError, TetMesh};
use nalgebra::{Matrix3, Vector3};

use crate::element::small_strain;
use crate::parallel;
use crate::pattern::Pattern;
use crate::{BlockMatrix, Element, Material, green_strain};

/// A tetrahedral mesh of one elastic material, ready for assembly.
pub struct Model {
    material: Material,
    tets: Vec<[u32; 4]>,
    elements: Vec<Element>,
    pattern: Pattern<4>,
}

/// Tetrahedra per task.
const TETS: usize = 1024;

impl Model {
    /// Elements of a mesh at rest.
    ///
    /// # Errors
    /// [`TetError`] if the mesh is not valid.
    pub fn new(mesh: &TetMesh, material: Material) -> Result<Self, TetError> {
        mesh.validate()?;
        Ok(Self::of_valid(mesh, material))
    }

    pub(crate) fn of_valid(mesh: &TetMesh, material: Material) -> Self {
        Self {
            material,
            tets: mesh.tets.clone(),
            elements: elements_of(mesh),
            pattern: Pattern::new(&mesh.vertices, &mesh.tets),
        }
    }

    /// The rest shapes, one per tetrahedron.
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// The material.
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// Number of nodes, which are the vertices of the mesh.
    pub fn nodes(&self) -> usize {
        self.pattern.rows()
    }

    /// Stiffness of linear elasticity, N/m. Its null space includes the six rigid motions.
    pub fn stiffness(&self) -> BlockMatrix {
        self.pattern.assemble(|t, a, b| self.elements[t].stiffness(&self.material, a, b))
    }

    /// Derivative of [`Model::forces`], N/m.
    ///
    /// # Panics
    /// Here and below, if there is not one displacement per node.
    pub fn tangent(&self, displacements: &[Vector3<f64>]) -> BlockMatrix {
        let states = self.map(displacements, |t, h| self.elements[t].state(&self.material, &h));
        self.pattern.assemble(|t, a, b| states[t].block(a, b))
    }

    /// Forces, N, that hold the nodes at their displacements, m (Mu01 eq 12).
    pub fn forces(&self, displacements: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        let forces = self.map(displacements, |t, h| {
            let stress = self.material.stress(&green_strain(&h));
            self.elements[t].forces_of(&(stress + h * stress))
        });
        self.pattern.gather(|t, corner| forces[t][corner])
    }

    /// [`Model::forces`] in linear elasticity: the product with [`Model::stiffness`].
    pub(crate) fn linear_forces(&self, displacements: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        self.forces_of_stress(&self.linear_stresses(displacements))
    }

    /// Nodal forces, N, that balance the given stresses of the tetrahedra, Pa.
    pub(crate) fn forces_of_stress(&self, stresses: &[Matrix3<f64>]) -> Vec<Vector3<f64>> {
        self.pattern.gather(|t, corner| self.elements[t].forces_of(&stresses[t])[corner])
    }

    /// Elastic energy, J.
    pub fn energy(&self, displacements: &[Vector3<f64>]) -> f64 {
        let energies = self.map(displacements, |t, h| {
            let strain = green_strain(&h);
            0.5 * self.elements[t].volume * self.material.stress(&strain).dot(&strain)
        });
        energies.iter().sum()
    }

    /// Second Piola-Kirchhoff stress of every tetrahedron, Pa, in the material frame, from Green
    /// strain.
    pub fn stresses(&self, displacements: &[Vector3<f64>]) -> Vec<Matrix3<f64>> {
        self.map(displacements, |_, h| self.material.stress(&green_strain(&h)))
    }

    /// Stress of every tetrahedron in linear elasticity, Pa.
    pub fn linear_stresses(&self, displacements: &[Vector3<f64>]) -> Vec<Matrix3<f64>> {
        self.map(displacements, |_, h| self.material.stress(&small_strain(&h)))
    }

    /// The first tetrahedron that displacements invert or flatten, `det F <= 0`.
    pub fn inverted(&self, displacements: &[Vector3<f64>]) -> Option<usize> {
        let inverted =
            self.map(displacements, |_, h| (h + Matrix3::identity()).determinant() <= 0.0);
        inverted.iter().position(|inverted| *inverted)
    }

    /// Maps every tetrahedron, given its index and its displacement gradient.
    fn map<T: Send>(
        &self,
        displacements: &[Vector3<f64>],
        of: impl Fn(usize, Matrix3<f64>) -> T + Sync + Send,
    ) -> Vec<T> {
        assert_eq!(displacements.len(), self.nodes(), "one displacement per node");
        parallel::map(self.tets.len(), TETS, |t| {
            let moved = self.tets[t].map(|node| displacements[node as usize]);
            of(t, self.elements[t].displacement_gradient(&moved))
        })
    }
}

pub(crate) fn elements_of(mesh: &TetMesh) -> Vec<Element> {
    (0..mesh.tets.len()).map(|t| Element::new(mesh.corners(t))).collect()
}
