//! Stress in a body that nothing holds, by inertia relief.
//!
//! Loads on a free body accelerate it. Less the rigid body's inertia, they balance, and a support
//! in six components takes no force wherever it is: the stress does not depend on it. The matrix
//! is then that of the body alone, and its factor serves every impact until the body changes. Mu01
//! section 2.8 holds all that is farther than a radius from the impact instead, which changes the
//! stress by 5 to 22 percent at radii of half the body's size and more.

use std::fmt;
use std::sync::{Arc, OnceLock};

use levelset::{Moments, TetError, TetMesh};
use nalgebra::{Matrix3, Point3, Vector3};
use thiserror::Error;

use crate::contact::Surface;
use crate::equilibrium::free;
use crate::quadratic::QuadraticModel;
use crate::{Averaging, BlockMatrix, Contact, LinearSolver, Material, Model, SolveError, Solver};

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
    surface: Surface,
    moments: Moments,
    shape: Shape,
    held: Vec<[bool; 3]>,
    solver: Solver,
    /// Of the vertices, if displacements are linear between them.
    shares: Vec<Share>,
    /// Of the nodes that are more than the vertices.
    node_shares: Vec<Share>,
    averaging: OnceLock<Arc<Averaging>>,
}

/// What a node has of the body by its shape function: its volume, m^3, and the first moment of that
/// about the body's centre, m^4. A rigid acceleration acts on nodes by nothing else.
#[derive(Clone, Copy)]
struct Share {
    volume: f64,
    first: Vector3<f64>,
}

/// A rigid motion about the body's centre.
struct Rigid {
    linear: Vector3<f64>,
    angular: Vector3<f64>,
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
        let (surface, moments) = (Surface::new(&mesh), mesh.moments());
        let shares = linear_shares(&mesh, &moments.centre());
        let node_shares = match &shape {
            Shape::Linear(_) => Vec::new(),
            Shape::Quadratic(model) => quadratic_shares(model, &mesh, &moments.centre()),
        };
        Ok(Self {
            mesh,
            material,
            interpolation,
            choice,
            surface,
            moments,
            shape,
            held,
            solver,
            shares,
            node_shares,
            averaging: OnceLock::new(),
        })
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

    /// For means over a radius, m; that which is asked for first is kept.
    pub(crate) fn averaging(&self, radius: f64) -> Arc<Averaging> {
        let make = || Arc::new(Averaging::new(&self.mesh, radius));
        let kept = self.averaging.get_or_init(make);
        if kept.radius().to_bits() == radius.to_bits() { Arc::clone(kept) } else { make() }
    }

    /// Displacements and stresses while forces act on points of the surface: one solve.
    ///
    /// # Errors
    /// [`SolveError`] if a contact is not finite or the iterations do not suffice.
    pub fn respond(&self, contacts: &[Contact]) -> Result<Response, SolveError> {
        self.respond_spread(contacts, 0.0)
    }

    /// [`FreeBody::respond`] to forces of which each is spread over the surface within `radius` m: as
    /// real ones are, and unlike under points stress there does not grow with the fineness of the
    /// mesh.
    ///
    /// # Errors
    /// As [`FreeBody::respond`].
    pub fn respond_spread(
        &self,
        contacts: &[Contact],
        radius: f64,
    ) -> Result<Response, SolveError> {
        let finite = |x: &f64| x.is_finite();
        if !contacts.iter().all(|c| c.place.iter().all(finite) && c.force.iter().all(finite)) {
            return Err(SolveError::NotFinite);
        }
        self.answer(self.loads(contacts, radius))
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
        let Rigid { linear, angular } = self.acceleration(&loads);
        let shares = if self.node_shares.is_empty() { &self.shares } else { &self.node_shares };
        for ((load, share), held) in loads.iter_mut().zip(shares).zip(&self.held) {
            let inertia = linear * share.volume + angular.cross(&share.first);
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
        let pairs = || displacements.iter().zip(&self.shares);
        let Rigid { linear, angular } = self.rigid(
            pairs().map(|(u, share)| u * share.volume).sum(),
            pairs().map(|(u, share)| share.first.cross(u)).sum(),
        );
        let centre = self.moments.centre();
        for (u, place) in displacements.iter_mut().zip(&self.mesh.vertices) {
            *u -= linear + angular.cross(&(place - centre));
        }
        Ok(Response { displacements, stresses })
    }

    /// Contacts as forces on the nodes, by the shape functions of the faces that each is on.
    fn loads(&self, contacts: &[Contact], radius: f64) -> Vec<Vector3<f64>> {
        let mut loads = vec![Vector3::zeros(); self.shape.nodes()];
        for contact in contacts {
            self.surface.spread(&self.mesh, &contact.place, radius, |face, w, share| {
                let force = contact.force * share;
                for corner in 0..3 {
                    let next = (corner + 1) % 3;
                    match &self.shape {
                        Shape::Linear(_) => loads[face[corner] as usize] += force * w[corner],
                        Shape::Quadratic(model) => {
                            let own = w[corner] * (2.0 * w[corner] - 1.0);
                            loads[face[corner] as usize] += force * own;
                            let middle = model.middle([face[corner], face[next]]);
                            loads[middle] += force * (4.0 * w[corner] * w[next]);
                        }
                    }
                }
            });
        }
        loads
    }

    /// The acceleration, m/s^2 at unit density, that nodal forces cause.
    fn acceleration(&self, forces: &[Vector3<f64>]) -> Rigid {
        let centre = self.moments.centre();
        let torque = |(n, force): (usize, &Vector3<f64>)| (self.place(n) - centre).cross(force);
        self.rigid(forces.iter().sum(), forces.iter().enumerate().map(torque).sum())
    }

    /// What a force and a torque do to the body at unit density.
    fn rigid(&self, force: Vector3<f64>, torque: Vector3<f64>) -> Rigid {
        Rigid {
            linear: force / self.moments.volume,
            // a piece of positive volume has inertia about every axis
            angular: self.moments.inertia().try_inverse().unwrap_or_default() * torque,
        }
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

    fn stiffness(&self) -> BlockMatrix {
        match self {
            Self::Linear(model) => model.stiffness(),
            Self::Quadratic(model) => model.stiffness(),
        }
    }
}

fn linear_shares(mesh: &TetMesh, centre: &Point3<f64>) -> Vec<Share> {
    let mut shares = vec![Share { volume: 0.0, first: Vector3::zeros() }; mesh.vertices.len()];
    for (t, tet) in mesh.tets.iter().enumerate() {
        let (arms, volume) = (mesh.corners(t).map(|p| p - centre), mesh.volume(t));
        let sum: Vector3<f64> = arms.iter().sum();
        for (&v, arm) in tet.iter().zip(&arms) {
            let share = &mut shares[v as usize];
            share.volume += volume / 4.0;
            share.first += (arm + sum) * (volume / 20.0);
        }
    }
    shares
}

fn quadratic_shares(model: &QuadraticModel, mesh: &TetMesh, centre: &Point3<f64>) -> Vec<Share> {
    let volumes = model.body_forces(&vec![Vector3::x(); mesh.vertices.len()]);
    let arms: Vec<_> = mesh.vertices.iter().map(|p| p - centre).collect();
    let firsts = model.body_forces(&arms);
    let pairs = volumes.iter().zip(firsts);
    pairs.map(|(volume, first)| Share { volume: volume.x, first }).collect()
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
