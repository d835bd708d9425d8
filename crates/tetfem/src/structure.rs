//! Static response of an elastic body to the loads of an impact, with supports or free.
//!
//! Supports are Dirichlet conditions. Supported vertices do not move, and carry the reaction forces.
//! A free body is solved by inertia relief: the inertial forces of its rigid acceleration are
//! subtracted from the loads. The result is in equilibrium. Six arbitrary displacement constraints
//! then carry no force, and the stress does not depend on their choice. The matrix depends only on
//! the supports. Its factor serves every impact until the body or its supports change.
//!
//! Mu01 section 2.8 replaces inertia by supports farther than a radius from the impact
//! ([`far_vertices`](crate::far_vertices)). This changes the stress of a free body by 5 to 22
//! percent at radii of at least half the size of the body.

use std::fmt;
use std::sync::{Arc, OnceLock};

use levelset::{Moments, TetError, TetMesh};
use nalgebra::{Matrix3, Point3, Vector3};
use thiserror::Error;

use crate::contact::Surface;
use crate::element::{Element, green_strain};
use crate::equilibrium::{EquilibriumError, Newton, Support, free, newton_equilibrium};
use crate::model::elements_of;
use crate::quadratic::QuadraticModel;
use crate::{
    Averaging, BlockMatrix, Contact, LinearSolver, Load, Material, Model, PlasticState, SolveError,
    Solver,
};

/// The shape functions of the stress solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Linear displacements, constant stress: four nodes.
    Linear,
    /// Quadratic displacements, linear stress: ten nodes, so about seven times the unknowns of the
    /// same mesh, and at equal unknowns a small fraction of the error.
    Quadratic,
}

/// An elastic body at rest except for its rigid motion, ready for impacts.
pub struct Structure {
    mesh: TetMesh,
    /// Supported vertices; none for a free body.
    supports: Vec<bool>,
    material: Material,
    interpolation: Interpolation,
    linear_solver: LinearSolver,
    surface: Surface,
    moments: Moments,
    discretization: Discretization,
    /// Fixed components of nodes.
    fixed_dofs: Vec<[bool; 3]>,
    solver: Solver,
    /// Moments of the vertices, with linear displacements between them.
    vertex_moments: Vec<NodeMoments>,
    /// Moments of the nodes, if there are more than vertices.
    node_moments: Vec<NodeMoments>,
    averaging: OnceLock<Arc<Averaging>>,
    /// Plastic state of each tetrahedron; empty if none yielded.
    pub(crate) plastic: Vec<PlasticState>,
}

/// The integrals of the shape function of a node: its volume, m^3, and its first moment about the
/// center of mass, m^4. They determine the load of a rigid acceleration on the node.
#[derive(Clone, Copy)]
struct NodeMoments {
    volume: f64,
    first: Vector3<f64>,
}

/// A rigid vector field: a linear part, and an angular part about the center of mass.
struct RigidField {
    linear: Vector3<f64>,
    angular: Vector3<f64>,
}

impl fmt::Debug for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tets, material) = (self.mesh.tets.len(), &self.material);
        f.debug_struct("Structure")
            .field("tets", &tets)
            .field("material", material)
            .finish_non_exhaustive()
    }
}

/// The discretization of the displacements.
enum Discretization {
    Linear(Model),
    Quadratic(QuadraticModel),
}

/// Why a body cannot be solved.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StructureError {
    /// The mesh is not valid.
    #[error(transparent)]
    Mesh(#[from] TetError),
    /// The mesh is not connected.
    #[error("the mesh has {0} pieces: make a body of each")]
    Disconnected(usize),
    /// There is not one flag per vertex.
    #[error("{supports} supports for {vertices} vertices: give one per vertex")]
    Supports {
        /// Number of flags.
        supports: usize,
        /// Number of vertices of the mesh.
        vertices: usize,
    },
    /// The supports do not prevent rotation.
    #[error("the supports let the body turn: hold three vertices that are not in a line, or none")]
    Unsupported,
    /// The stiffness could not be factored.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

/// The response of a body to an impact.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// Displacements of the vertices, m; those of a free body have no mean translation or rotation.
    pub displacements: Vec<Vector3<f64>>,
    /// Stress of every tetrahedron, Pa; its mean if it is quadratic.
    pub stresses: Vec<Matrix3<f64>>,
}

impl Structure {
    /// Assembles and factors the stiffness of a free body of one piece.
    ///
    /// # Errors
    /// [`StructureError`] if the mesh is not valid or not one piece, or if it is too large.
    pub fn new(
        mesh: TetMesh,
        material: Material,
        interpolation: Interpolation,
        linear_solver: LinearSolver,
    ) -> Result<Self, StructureError> {
        let supports = vec![false; mesh.vertices.len()];
        Self::supported(mesh, supports, material, interpolation, linear_solver)
    }

    /// [`Structure::new`] with one flag per vertex that marks supported vertices; a free body if
    /// there are none.
    ///
    /// # Errors
    /// As [`Structure::new`], and if there is not one flag per vertex or the supports do not
    /// prevent rotation.
    pub fn supported(
        mesh: TetMesh,
        supports: Vec<bool>,
        material: Material,
        interpolation: Interpolation,
        linear_solver: LinearSolver,
    ) -> Result<Self, StructureError> {
        mesh.validate()?;
        let pieces = mesh.components().count;
        if pieces != 1 {
            return Err(StructureError::Disconnected(pieces));
        }
        let (flags, vertices) = (supports.len(), mesh.vertices.len());
        if flags != vertices {
            return Err(StructureError::Supports { supports: flags, vertices });
        }
        let discretization = match interpolation {
            Interpolation::Linear => Discretization::Linear(Model::of_valid(&mesh, material)),
            Interpolation::Quadratic => {
                Discretization::Quadratic(QuadraticModel::of_valid(&mesh, material))
            }
        };
        let mut stiffness = discretization.stiffness();
        let fixed_dofs = match supports.contains(&true) {
            true if is_restrained(&mesh, &supports) => discretization.fixed_dofs(&supports),
            true => return Err(StructureError::Unsupported),
            false => six_supports(&mesh, stiffness.rows()),
        };
        stiffness.fix(&fixed_dofs);
        let solver = Solver::new(stiffness, linear_solver)?;
        let (surface, moments) = (Surface::new(&mesh), mesh.moments());
        let vertex_moments = linear_moments(&mesh, &moments.center());
        let node_moments = match &discretization {
            Discretization::Linear(_) => Vec::new(),
            Discretization::Quadratic(model) => quadratic_moments(model, &mesh, &moments.center()),
        };
        Ok(Self {
            mesh,
            supports,
            material,
            interpolation,
            linear_solver,
            surface,
            moments,
            discretization,
            fixed_dofs,
            solver,
            vertex_moments,
            node_moments,
            averaging: OnceLock::new(),
            plastic: Vec::new(),
        })
    }

    /// A structure of another mesh with the same material, interpolation and solver. Supports that
    /// do not prevent rigid motion are omitted.
    ///
    /// # Errors
    /// As [`Structure::new`].
    pub fn with_mesh(&self, mesh: TetMesh, supports: Vec<bool>) -> Result<Self, StructureError> {
        let Self { material, interpolation, linear_solver, .. } = *self;
        if is_restrained(&mesh, &supports) {
            Self::supported(mesh, supports, material, interpolation, linear_solver)
        } else {
            Self::new(mesh, material, interpolation, linear_solver)
        }
    }

    /// Whether it has supports.
    pub fn is_supported(&self) -> bool {
        self.supports.contains(&true)
    }

    /// For each vertex, whether a support fixes it.
    pub fn supports(&self) -> &[bool] {
        &self.supports
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

    /// The averaging over a radius, m. Only the first radius is cached.
    pub(crate) fn averaging(&self, radius: f64) -> Arc<Averaging> {
        let make = || Arc::new(Averaging::new(&self.mesh, radius));
        let kept = self.averaging.get_or_init(make);
        if kept.radius().to_bits() == radius.to_bits() { Arc::clone(kept) } else { make() }
    }

    /// Displacements and stresses under a load, including residual stress, by one linear solve.
    ///
    /// # Errors
    /// [`SolveError`] if the load is not finite or the iterations do not suffice.
    pub fn respond(&self, load: &Load<'_>) -> Result<Response, SolveError> {
        self.respond_to_all(std::slice::from_ref(load))
    }

    /// [`Structure::respond`] for simultaneous loads, each spread over its own radius.
    ///
    /// # Errors
    /// [`SolveError`] if a load is not finite or the iterations do not suffice.
    pub fn respond_to_all(&self, loads: &[Load<'_>]) -> Result<Response, SolveError> {
        let mut response = self.solve(self.nodal(loads)?)?;
        self.add_residual_stress(&mut response.stresses);
        Ok(response)
    }

    /// Adds the residual stress.
    fn add_residual_stress(&self, stresses: &mut [Matrix3<f64>]) {
        stresses.iter_mut().zip(&self.plastic).for_each(|(stress, own)| *stress += own.stress);
    }

    /// The response of a St. Venant-Kirchhoff body with Green strain, by Newton's method, whose
    /// first step is the linear response (Mu01 section 2.3): for strains above about 1e-2. Loads
    /// act simultaneously and keep their directions.
    ///
    /// # Errors
    /// [`EquilibriumError`] if displacements are quadratic, a load is not finite, or no equilibrium
    /// is found.
    pub fn respond_nonlinear(
        &self,
        loads: &[Load<'_>],
        newton: Newton,
    ) -> Result<Response, EquilibriumError> {
        let Discretization::Linear(model) = &self.discretization else {
            return Err(EquilibriumError::Quadratic);
        };
        let mut loads = self.nodal(loads)?;
        if !self.is_supported() {
            self.balance(&mut loads);
        }
        let support =
            |(node, axes): (u32, &[bool; 3])| Support { axes: *axes, ..Support::fixed(node) };
        let supports: Vec<Support> = (0..).zip(&self.fixed_dofs).map(support).collect();
        let found = newton_equilibrium(model, &supports, &loads, self.linear_solver, newton)?;
        let (mut displacements, mut stresses) =
            (found.displacements.clone(), model.stresses(&found.displacements));
        self.add_residual_stress(&mut stresses);
        if !self.is_supported() {
            self.remove_mean_rigid_motion(&mut displacements);
        }
        Ok(Response { displacements, stresses })
    }

    /// The largest Green strain of a response: the greatest Frobenius norm over the tetrahedra,
    /// with displacements linear between their vertices.
    ///
    /// # Panics
    /// If the response is of a different body.
    pub fn largest_strain(&self, response: &Response) -> f64 {
        let strain = |(element, tet): (Element, &[u32; 4])| {
            let moved = tet.map(|v| response.displacements[v as usize]);
            green_strain(&element.displacement_gradient(&moved)).norm()
        };
        let elements = elements_of(&self.mesh).into_iter();
        elements.zip(&self.mesh.tets).map(strain).fold(0.0, f64::max)
    }

    /// A load as nodal forces.
    fn nodal(&self, loads: &[Load<'_>]) -> Result<Vec<Vector3<f64>>, SolveError> {
        if !loads.iter().all(Load::is_finite) {
            return Err(SolveError::NotFinite);
        }
        let mut nodal = vec![Vector3::zeros(); self.discretization.nodes()];
        for load in loads {
            self.add_contacts(load.contacts, load.radius, &mut nodal);
            self.add_pressures(load.pressures, &mut nodal);
            nodal.iter_mut().zip(self.node_moments()).for_each(|(own, moments)| {
                *own += load.body_force * moments.volume;
            });
        }
        Ok(nodal)
    }

    /// The moments of all nodes.
    fn node_moments(&self) -> &[NodeMoments] {
        if self.node_moments.is_empty() { &self.vertex_moments } else { &self.node_moments }
    }

    /// Displacements and stresses caused by an eigenstress, given for each tetrahedron.
    pub(crate) fn respond_to_eigenstress(
        &self,
        eigenstress: &[Matrix3<f64>],
    ) -> Result<Response, SolveError> {
        self.solve(match &self.discretization {
            Discretization::Linear(model) => model.forces_of_stress(eigenstress),
            Discretization::Quadratic(model) => model.forces_of_stress(eigenstress),
        })
    }

    /// Displacements and stresses under nodal forces, without residual stress.
    fn solve(&self, mut loads: Vec<Vector3<f64>>) -> Result<Response, SolveError> {
        if !self.is_supported() {
            self.balance(&mut loads);
        }
        // fixed components of the loads are reactions; the constraints of a free body carry none
        loads
            .iter_mut()
            .zip(&self.fixed_dofs)
            .for_each(|(load, fixed_dofs)| *load = free(*load, fixed_dofs));
        let mut displacements = self.solver.solve(&loads)?;
        let stresses = match &self.discretization {
            Discretization::Linear(model) => model.linear_stresses(&displacements),
            Discretization::Quadratic(model) => model.stresses(&displacements),
        };
        displacements.truncate(self.mesh.vertices.len());
        if !self.is_supported() {
            self.remove_mean_rigid_motion(&mut displacements);
        }
        Ok(Response { displacements, stresses })
    }

    /// Subtracts the rigid-body inertia from the loads.
    fn balance(&self, loads: &mut [Vector3<f64>]) {
        let RigidField { linear, angular } = self.acceleration(loads);
        for (load, moments) in loads.iter_mut().zip(self.node_moments()) {
            *load -= linear * moments.volume + angular.cross(&moments.first);
        }
    }

    /// Subtracts the mean rigid motion from the displacements. The constraints of a free body are
    /// arbitrary, and so is the rigid motion of the solution.
    fn remove_mean_rigid_motion(&self, displacements: &mut [Vector3<f64>]) {
        let pairs = || displacements.iter().zip(&self.vertex_moments);
        let RigidField { linear, angular } = self.rigid_motion(
            pairs().map(|(u, moments)| u * moments.volume).sum(),
            pairs().map(|(u, moments)| moments.first.cross(u)).sum(),
        );
        let center = self.moments.center();
        for (u, place) in displacements.iter_mut().zip(&self.mesh.vertices) {
            *u -= linear + angular.cross(&(place - center));
        }
    }

    /// Adds contacts as nodal forces, by the shape functions of their faces.
    fn add_contacts(&self, contacts: &[Contact], radius: f64, loads: &mut [Vector3<f64>]) {
        for contact in contacts {
            self.surface.spread(&self.mesh, &contact.place, radius, |face, w, share| {
                let force = contact.force * share;
                for corner in 0..3 {
                    let next = (corner + 1) % 3;
                    match &self.discretization {
                        Discretization::Linear(_) => {
                            loads[face[corner] as usize] += force * w[corner];
                        }
                        Discretization::Quadratic(model) => {
                            let own = w[corner] * (2.0 * w[corner] - 1.0);
                            loads[face[corner] as usize] += force * own;
                            let middle = model.middle([face[corner], face[next]]);
                            loads[middle] += force * (4.0 * w[corner] * w[next]);
                        }
                    }
                }
            });
        }
    }

    /// Adds pressures as nodal forces: equal ones at the corners of a face or, by the integrals of
    /// quadratic shape functions, at the midpoints of its edges.
    fn add_pressures(&self, pressures: &[f64], loads: &mut [Vector3<f64>]) {
        for (face, force) in self.surface.pressed(&self.mesh, pressures) {
            for corner in 0..3 {
                let node = match &self.discretization {
                    Discretization::Linear(_) => face[corner] as usize,
                    Discretization::Quadratic(model) => {
                        model.middle([face[corner], face[(corner + 1) % 3]])
                    }
                };
                loads[node] += force / 3.0;
            }
        }
    }

    /// The acceleration, m/s^2 at unit density, caused by nodal forces.
    fn acceleration(&self, forces: &[Vector3<f64>]) -> RigidField {
        let center = self.moments.center();
        let torque = |(n, force): (usize, &Vector3<f64>)| (self.place(n) - center).cross(force);
        self.rigid_motion(forces.iter().sum(), forces.iter().enumerate().map(torque).sum())
    }

    /// The rigid vector field with this volume integral and this first moment: an acceleration if
    /// they are force and torque at unit density, a displacement if they are integrals of
    /// displacement.
    fn rigid_motion(&self, total: Vector3<f64>, moment: Vector3<f64>) -> RigidField {
        RigidField {
            linear: total / self.moments.volume,
            // a piece of positive volume has inertia about every axis
            angular: self.moments.inertia().try_inverse().unwrap_or_default() * moment,
        }
    }

    fn place(&self, node: usize) -> Point3<f64> {
        match &self.discretization {
            Discretization::Quadratic(model) if node >= self.mesh.vertices.len() => {
                let [a, b] = model.ends(node).map(|v| self.mesh.vertices[v as usize]);
                nalgebra::center(&a, &b)
            }
            _ => self.mesh.vertices[node],
        }
    }
}

impl Discretization {
    fn nodes(&self) -> usize {
        match self {
            Self::Linear(model) => model.nodes(),
            Self::Quadratic(model) => model.nodes(),
        }
    }

    /// The fixed components of nodes for supported vertices: an edge between two of them is fixed,
    /// too.
    fn fixed_dofs(&self, supports: &[bool]) -> Vec<[bool; 3]> {
        let is_fixed = |node: usize| match self {
            Self::Quadratic(model) if node >= supports.len() => {
                model.ends(node).iter().all(|&v| supports[v as usize])
            }
            _ => supports[node],
        };
        (0..self.nodes()).map(|node| [is_fixed(node); 3]).collect()
    }

    fn stiffness(&self) -> BlockMatrix {
        match self {
            Self::Linear(model) => model.stiffness(),
            Self::Quadratic(model) => model.stiffness(),
        }
    }
}

fn linear_moments(mesh: &TetMesh, center: &Point3<f64>) -> Vec<NodeMoments> {
    let mut all = vec![NodeMoments { volume: 0.0, first: Vector3::zeros() }; mesh.vertices.len()];
    for (t, tet) in mesh.tets.iter().enumerate() {
        let (arms, volume) = (mesh.corners(t).map(|p| p - center), mesh.volume(t));
        let sum: Vector3<f64> = arms.iter().sum();
        for (&v, arm) in tet.iter().zip(&arms) {
            let own = &mut all[v as usize];
            own.volume += volume / 4.0;
            own.first += (arm + sum) * (volume / 20.0);
        }
    }
    all
}

fn quadratic_moments(
    model: &QuadraticModel,
    mesh: &TetMesh,
    center: &Point3<f64>,
) -> Vec<NodeMoments> {
    let volumes = model.body_forces(&vec![Vector3::x(); mesh.vertices.len()]);
    let arms: Vec<_> = mesh.vertices.iter().map(|p| p - center).collect();
    let firsts = model.body_forces(&arms);
    let pairs = volumes.iter().zip(firsts);
    pairs.map(|(volume, first)| NodeMoments { volume: volume.x, first }).collect()
}

/// Share of the longest distance between supports within which they count as collinear.
const IN_LINE: f64 = 1e-3;

/// Whether supported vertices of tetrahedra prevent rigid motion: whether three of them are not
/// collinear.
pub fn is_restrained(mesh: &TetMesh, supports: &[bool]) -> bool {
    let is_supported = |&v: &u32| supports.get(v as usize) == Some(&true);
    let supported = || mesh.tets.iter().flatten().filter(|v| is_supported(v));
    let place = |v: &u32| mesh.vertices[*v as usize];
    let Some(first) = supported().next().map(place) else { return false };
    let far = |p: &Point3<f64>, q: &Point3<f64>| {
        (p - first).norm_squared().total_cmp(&(q - first).norm_squared())
    };
    let Some(last) = supported().map(place).max_by(far) else { return false };
    let axis = last - first;
    let least = IN_LINE * axis.norm_squared();
    supported().any(|v| axis.cross(&(place(v) - first)).norm() > least)
}

/// Fixes three distant vertices in three, two and one components, which excludes rigid motion.
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
    let mut fixed_dofs = vec![[false; 3]; nodes];
    fixed_dofs[first as usize] = [true; 3];
    fixed_dofs[second as usize] = [true; 3];
    fixed_dofs[second as usize][axis.iamax()] = false;
    fixed_dofs[third as usize][turn.iamax()] = true;
    fixed_dofs
}
