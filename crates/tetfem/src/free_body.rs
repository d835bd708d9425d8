//! Stress in a body that nothing holds, by inertia relief.
//!
//! Loads on a free body accelerate it. Less the rigid body's inertia, they balance, and a support
//! in six components takes no force wherever it is: the stress does not depend on it. The matrix
//! is then that of the body alone, and its factor serves every impact until the body changes. Mu01
//! section 2.8 holds all that is farther than a radius from the impact instead, which changes the
//! stress by 5 to 22 percent at radii of half the body's size and more.

use std::fmt;

use levelset::{Moments, TetError, TetMesh};
use nalgebra::{Matrix3, Point3, Vector3};
use thiserror::Error;

use crate::contact::nearest_face;
use crate::equilibrium::free;
use crate::quadratic::QuadraticModel;
use crate::{BlockMatrix, Contact, LinearSolver, Material, Model, SolveError, Solver};

/// The shape functions that stress is solved with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Linear displacements, constant stress: four nodes.
    Linear,
    /// Quadratic displacements, linear stress: ten nodes, so some seven times the unknowns of the
    /// same mesh, and at equal unknowns a small fraction of the error.
    Quadratic,
}

/// An elastic body at rest but for its rigid motion, ready for impacts.
pub struct FreeBody {
    mesh: TetMesh,
    material: Material,
    interpolation: Interpolation,
    choice: LinearSolver,
    surface: Vec<[u32; 3]>,
    moments: Moments,
    shape: Shape,
    held: Vec<[bool; 3]>,
    solver: Solver,
}

impl fmt::Debug for FreeBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tets, material) = (self.mesh.tets.len(), &self.material);
        f.debug_struct("FreeBody")
            .field("tets", &tets)
            .field("material", material)
            .finish_non_exhaustive()
    }
}

enum Shape {
    Linear(Model),
    Quadratic(QuadraticModel),
}

/// Why there is no free body.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum FreeBodyError {
    /// The mesh is not valid.
    #[error(transparent)]
    Mesh(#[from] TetError),
    /// The mesh falls apart.
    #[error("the mesh has {0} pieces: make a body of each")]
    Disconnected(usize),
    /// The stiffness could not be factored.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

/// How a body answers an impact.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// Displacements of the vertices, m, without mean translation and rotation.
    pub displacements: Vec<Vector3<f64>>,
    /// Stress of every tetrahedron, Pa; the mean over it if it is quadratic.
    pub stresses: Vec<Matrix3<f64>>,
}

impl FreeBody {
    /// Assembles and factors the stiffness of one piece.
    ///
    /// # Errors
    /// [`FreeBodyError`] if the mesh is not valid or not one piece, or if it is too large.
    pub fn new(
        mesh: TetMesh,
        material: Material,
        interpolation: Interpolation,
        choice: LinearSolver,
    ) -> Result<Self, FreeBodyError> {
        mesh.validate()?;
        let pieces = mesh.components().count;
        if pieces != 1 {
            return Err(FreeBodyError::Disconnected(pieces));
        }
        let shape = match interpolation {
            Interpolation::Linear => Shape::Linear(Model::of_valid(&mesh, material)),
            Interpolation::Quadratic => Shape::Quadratic(QuadraticModel::of_valid(&mesh, material)),
        };
        let mut stiffness = shape.stiffness();
        let held = six_supports(&mesh, stiffness.rows());
        stiffness.hold(&held);
        let solver = Solver::new(stiffness, choice)?;
        let (surface, moments) = (mesh.boundary_faces(), mesh.moments());
        Ok(Self { mesh, material, interpolation, choice, surface, moments, shape, held, solver })
    }

    /// Another body of the same material, interpolation and solver.
    ///
    /// # Errors
    /// As [`FreeBody::new`].
    pub fn like(&self, mesh: TetMesh) -> Result<Self, FreeBodyError> {
        Self::new(mesh, self.material, self.interpolation, self.choice)
    }

    /// The mesh at rest.
    pub fn mesh(&self) -> &TetMesh {
        &self.mesh
    }

    /// The material.
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// Volume integrals of the mesh at rest.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// Displacements and stresses while forces act on the surface: one solve.
    ///
    /// # Errors
    /// [`SolveError`] if a contact is not finite or the iterations do not suffice.
    pub fn respond(&self, contacts: &[Contact]) -> Result<Response, SolveError> {
        let finite = |x: &f64| x.is_finite();
        if !contacts.iter().all(|c| c.place.iter().all(finite) && c.force.iter().all(finite)) {
            return Err(SolveError::NotFinite);
        }
        self.answer(self.loads(contacts))
    }

    /// Displacements and stresses that given stresses, one per tetrahedron, would cause if they
    /// were locked into the body.
    pub(crate) fn relax(&self, locked: &[Matrix3<f64>]) -> Result<Response, SolveError> {
        self.answer(match &self.shape {
            Shape::Linear(model) => model.forces_of_stress(locked),
            Shape::Quadratic(model) => model.forces_of_stress(locked),
        })
    }

    fn answer(&self, mut loads: Vec<Vector3<f64>>) -> Result<Response, SolveError> {
        let inertia = self.shape.body_forces(&self.rigid(&loads));
        for ((load, inertia), held) in loads.iter_mut().zip(inertia).zip(&self.held) {
            // where the body is held nothing moves, and the balance leaves no force
            *load = free(*load - inertia, held);
        }
        let mut displacements = self.solver.solve(&loads)?;
        let stresses = match &self.shape {
            Shape::Linear(model) => model.linear_stresses(&displacements),
            Shape::Quadratic(model) => model.stresses(&displacements),
        };
        displacements.truncate(self.mesh.vertices.len());
        // the supports are arbitrary, so is the rigid motion that they leave
        let mean = self.rigid(&self.shape.body_forces(&displacements));
        displacements.iter_mut().zip(mean).for_each(|(u, mean)| *u -= mean);
        Ok(Response { displacements, stresses })
    }

    /// Contacts as forces on the nodes, by the shape functions of the face that each is on.
    fn loads(&self, contacts: &[Contact]) -> Vec<Vector3<f64>> {
        let mut loads = vec![Vector3::zeros(); self.shape.nodes()];
        for contact in contacts {
            let Some((face, weights)) = nearest_face(&self.mesh, &self.surface, &contact.place)
            else {
                continue;
            };
            for corner in 0..3 {
                let (next, w) = ((corner + 1) % 3, &weights);
                match &self.shape {
                    Shape::Linear(_) => loads[face[corner] as usize] += contact.force * w[corner],
                    Shape::Quadratic(model) => {
                        let own = w[corner] * (2.0 * w[corner] - 1.0);
                        loads[face[corner] as usize] += contact.force * own;
                        let middle = model.middle([face[corner], face[next]]);
                        loads[middle] += contact.force * (4.0 * w[corner] * w[next]);
                    }
                }
            }
        }
        loads
    }

    /// At the vertices, the rigid acceleration, m/s^2 at unit density, that nodal forces cause.
    fn rigid(&self, forces: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        let centre = self.moments.centre();
        let force: Vector3<f64> = forces.iter().sum();
        let torque: Vector3<f64> =
            (0..forces.len()).map(|n| (self.place(n) - centre).cross(&forces[n])).sum();
        let linear = force / self.moments.volume;
        // a piece of positive volume has inertia about every axis
        let angular = self.moments.inertia().try_inverse().unwrap_or_default() * torque;
        self.mesh.vertices.iter().map(|p| linear + angular.cross(&(p - centre))).collect()
    }

    fn place(&self, node: usize) -> Point3<f64> {
        match &self.shape {
            Shape::Quadratic(model) if node >= self.mesh.vertices.len() => {
                let [a, b] = model.ends(node).map(|v| self.mesh.vertices[v as usize]);
                nalgebra::center(&a, &b)
            }
            _ => self.mesh.vertices[node],
        }
    }
}

impl Shape {
    fn nodes(&self) -> usize {
        match self {
            Self::Linear(model) => model.nodes(),
            Self::Quadratic(model) => model.nodes(),
        }
    }

    fn body_forces(&self, density: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        match self {
            Self::Linear(model) => model.body_forces(density),
            Self::Quadratic(model) => model.body_forces(density),
        }
    }

    fn stiffness(&self) -> BlockMatrix {
        match self {
            Self::Linear(model) => model.stiffness(),
            Self::Quadratic(model) => model.stiffness(),
        }
    }
}

/// Holds three vertices far apart in three, two and one components, which no rigid motion leaves
/// at rest.
fn six_supports(mesh: &TetMesh, nodes: usize) -> Vec<[bool; 3]> {
    let place = |v: u32| mesh.vertices[v as usize];
    let farthest = |measure: &dyn Fn(Vector3<f64>) -> f64, from: Point3<f64>| {
        let mut best = (0, f64::NEG_INFINITY);
        for &v in mesh.tets.iter().flatten() {
            let size = measure(place(v) - from);
            if size > best.1 {
                best = (v, size);
            }
        }
        best.0
    };
    let first = mesh.tets[0][0];
    let second = farthest(&|arm| arm.norm_squared(), place(first));
    let axis = place(second) - place(first);
    let third = farthest(&|arm| axis.cross(&arm).norm_squared(), place(first));
    let turn = axis.cross(&(place(third) - place(first)));
    let mut held = vec![[false; 3]; nodes];
    held[first as usize] = [true; 3];
    held[second as usize] = [true; 3];
    held[second as usize][axis.iamax()] = false;
    held[third as usize][turn.iamax()] = true;
    held
}
