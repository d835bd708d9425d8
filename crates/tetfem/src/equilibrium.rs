//! Static equilibrium of a supported body (Mu01 section 2.3).

use levelset::TetMesh;
use nalgebra::{Point3, Vector3};
use thiserror::Error;

use crate::conjugate_gradient::{dot, norm};
use crate::{LinearSolver, Model, SolveError, Solver};

/// Fixed components of a node, with their displacements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    /// The node.
    pub node: u32,
    /// The components that are fixed.
    pub axes: [bool; 3],
    /// Their prescribed displacement, m.
    pub displacement: Vector3<f64>,
}

impl Support {
    /// Fixes a node at its rest position.
    pub fn fixed(node: u32) -> Self {
        Self { node, axes: [true; 3], displacement: Vector3::zeros() }
    }
}

/// Convergence criteria of Newton's method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newton {
    /// Maximum residual, relative to the applied forces.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub max_iterations: usize,
}

impl Default for Newton {
    fn default() -> Self {
        Self { tolerance: 1e-12, max_iterations: 50 }
    }
}

/// A body in static equilibrium.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Equilibrium {
    /// Displacements of the nodes, m.
    pub displacements: Vec<Vector3<f64>>,
    /// Number of linear solves.
    pub iterations: usize,
    /// Residual force, relative to the applied forces.
    pub residual: f64,
}

/// Why no equilibrium was found.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum EquilibriumError {
    /// There is not one load per node.
    #[error("{loads} loads for {nodes} nodes: give one per node")]
    Loads {
        /// Loads given.
        loads: usize,
        /// Number of nodes.
        nodes: usize,
    },
    /// A load or a prescribed displacement is NaN or infinite.
    #[error("a load or support at node {0} is not a finite number")]
    NotFinite(usize),
    /// A support refers to a missing node.
    #[error("support at node {0}, which does not exist")]
    NoSuchNode(u32),
    /// A linear system was not solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// Displacements are quadratic.
    #[error("Newton's method takes linear displacements only: make the structure linear")]
    Quadratic,
    /// The supports invert a tetrahedron initially.
    #[error("the supports turn tetrahedron {0} inside out: move them in smaller steps")]
    Inverted(usize),
    /// Newton's method did not converge.
    #[error("residual {residual:.1e} after {iterations} iterations: apply the load in steps")]
    NotConverged {
        /// Number of linear solves.
        iterations: usize,
        /// Residual force, relative to the applied forces.
        residual: f64,
    },
}

/// Equilibrium of linear elasticity: one solve, accurate to 1e-3 up to strains of 1e-2.
///
/// # Errors
/// [`EquilibriumError`] unless the supports of every piece prevent rigid motion.
pub fn linear_equilibrium(
    model: &Model,
    supports: &[Support],
    loads: &[Vector3<f64>],
    solver: LinearSolver,
) -> Result<Equilibrium, EquilibriumError> {
    let problem = Problem::new(model, supports, loads)?;
    let displacements = problem.linear(solver)?;
    let residual = problem.residual(&model.linear_forces(&displacements));
    Ok(Equilibrium { displacements, iterations: 1, residual })
}

/// Equilibrium of a St. Venant-Kirchhoff body by Newton's method with a line search on the energy.
///
/// The energy is finite for inverted tetrahedra, so that plain Newton iterations converge to
/// spurious equilibria: inverting steps are shortened. Iterations start from rest, or from the
/// linear equilibrium if supports are displaced.
///
/// # Errors
/// [`EquilibriumError`] as [`linear_equilibrium`], if no equilibrium is found, or if the
/// displacements of supports invert a tetrahedron initially.
pub fn newton_equilibrium(
    model: &Model,
    supports: &[Support],
    loads: &[Vector3<f64>],
    solver: LinearSolver,
    newton: Newton,
) -> Result<Equilibrium, EquilibriumError> {
    let problem = Problem::new(model, supports, loads)?;
    let displaced = problem.prescribed.iter().any(|d| *d != Vector3::zeros());
    let mut displacements =
        if displaced { problem.linear(solver)? } else { problem.prescribed.clone() };
    if let Some(tet) = model.inverted(&displacements) {
        return Err(EquilibriumError::Inverted(tet));
    }
    let mut prepared: Option<Solver> = None;
    let mut residual = f64::INFINITY;
    for iterations in 0..=newton.max_iterations {
        let forces = model.forces(&displacements);
        residual = problem.residual(&forces);
        if residual <= newton.tolerance {
            return Ok(Equilibrium { displacements, iterations, residual });
        }
        if iterations == newton.max_iterations {
            break;
        }
        let rest = problem.rest(&forces);
        let step = problem.step(&displacements, &rest, solver, &mut prepared)?;
        match problem.search(&displacements, &step, &rest) {
            Some(next) => displacements = next,
            None => return Err(EquilibriumError::NotConverged { iterations, residual }),
        }
    }
    Err(EquilibriumError::NotConverged { iterations: newton.max_iterations, residual })
}

struct Problem<'a> {
    model: &'a Model,
    loads: &'a [Vector3<f64>],
    fixed_dofs: Vec<[bool; 3]>,
    prescribed: Vec<Vector3<f64>>,
}

impl<'a> Problem<'a> {
    fn new(
        model: &'a Model,
        supports: &[Support],
        loads: &'a [Vector3<f64>],
    ) -> Result<Self, EquilibriumError> {
        let nodes = model.nodes();
        if loads.len() != nodes {
            return Err(EquilibriumError::Loads { loads: loads.len(), nodes });
        }
        if let Some(node) = loads.iter().position(|f| !f.iter().all(|x| x.is_finite())) {
            return Err(EquilibriumError::NotFinite(node));
        }
        let (fixed_dofs, prescribed) = dense(nodes, supports)?;
        Ok(Self { model, loads, fixed_dofs, prescribed })
    }

    /// The residual force: zero at fixed components.
    fn rest(&self, forces: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        let pairs = self.loads.iter().zip(forces).zip(&self.fixed_dofs);
        pairs.map(|((load, force), fixed_dofs)| free(load - force, fixed_dofs)).collect()
    }

    /// Norm of [`Problem::rest`], relative to the loads and reactions.
    fn residual(&self, forces: &[Vector3<f64>]) -> f64 {
        let size = norm(forces).max(norm(self.loads));
        if size == 0.0 { 0.0 } else { norm(&self.rest(forces)) / size }
    }

    fn linear(&self, solver: LinearSolver) -> Result<Vec<Vector3<f64>>, SolveError> {
        let rest = self.rest(&self.model.linear_forces(&self.prescribed));
        let mut stiffness = self.model.stiffness();
        stiffness.fix(&self.fixed_dofs);
        let step = Solver::new(stiffness, solver)?.solve(&rest)?;
        Ok(self.prescribed.iter().zip(step).map(|(u, d)| u + d).collect())
    }

    /// The Newton step; if the tangent is not positive definite, its diagonal is shifted.
    fn step(
        &self,
        displacements: &[Vector3<f64>],
        rest: &[Vector3<f64>],
        solver: LinearSolver,
        prepared: &mut Option<Solver>,
    ) -> Result<Vec<Vector3<f64>>, SolveError> {
        let mut tangent = self.model.tangent(displacements);
        tangent.fix(&self.fixed_dofs);
        let scale = tangent.largest_diagonal();
        let mut total = 0.0;
        for shift in [0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0] {
            tangent.shift((shift - total) * scale);
            total = shift;
            let made = match prepared {
                Some(solver) => solver.replace(tangent.clone()),
                None => Solver::new(tangent.clone(), solver).map(|made| *prepared = Some(made)),
            };
            let step = made.and_then(|()| match prepared {
                Some(solver) => solver.solve(rest),
                None => Err(SolveError::NotPositiveDefinite),
            });
            match step {
                Err(SolveError::NotPositiveDefinite) => {}
                done => return done,
            }
        }
        Err(SolveError::NotPositiveDefinite)
    }

    /// Backtracking line search: the first step that inverts nothing and reduces the energy
    /// sufficiently.
    fn search(
        &self,
        from: &[Vector3<f64>],
        step: &[Vector3<f64>],
        rest: &[Vector3<f64>],
    ) -> Option<Vec<Vector3<f64>>> {
        let potential = |u: &[Vector3<f64>]| self.model.energy(u) - dot(self.loads, u);
        let before = potential(from);
        let slope = dot(rest, step);
        // tolerance for the cancellation in energy differences
        let rounding = 1e-12 * (self.model.energy(from) + dot(self.loads, from).abs());
        let mut length = 1.0;
        for _ in 0..40 {
            let to: Vec<_> = from.iter().zip(step).map(|(u, d)| u + d * length).collect();
            let sound = self.model.inverted(&to).is_none();
            if sound && potential(&to) <= before - 1e-4 * length * slope + rounding {
                return Some(to);
            }
            length *= 0.5;
        }
        None
    }
}

/// The free components of a force.
pub(crate) fn free(force: Vector3<f64>, fixed_dofs: &[bool; 3]) -> Vector3<f64> {
    Vector3::from_fn(|axis, _| if fixed_dofs[axis] { 0.0 } else { force[axis] })
}

/// Supports by node.
type FixedDofs = (Vec<[bool; 3]>, Vec<Vector3<f64>>);

fn dense(nodes: usize, supports: &[Support]) -> Result<FixedDofs, EquilibriumError> {
    let mut fixed_dofs = vec![[false; 3]; nodes];
    let mut prescribed = vec![Vector3::zeros(); nodes];
    for support in supports {
        let node = support.node as usize;
        if node >= nodes {
            return Err(EquilibriumError::NoSuchNode(support.node));
        }
        for axis in (0..3).filter(|&axis| support.axes[axis]) {
            if !support.displacement[axis].is_finite() {
                return Err(EquilibriumError::NotFinite(node));
            }
            fixed_dofs[node][axis] = true;
            prescribed[node][axis] = support.displacement[axis];
        }
    }
    Ok((fixed_dofs, prescribed))
}

/// Whether each vertex belongs to a tetrahedron whose centroid is farther than `radius` m from
/// `impact`: the supports that replace inertia in Mu01 section 2.8. A
/// [`Structure`](crate::Structure) without supports needs none.
///
/// # Panics
/// If a tetrahedron refers to a missing vertex.
pub fn far_vertices(mesh: &TetMesh, impact: &Point3<f64>, radius: f64) -> Vec<bool> {
    let mut far = vec![false; mesh.vertices.len()];
    for (t, tet) in mesh.tets.iter().enumerate() {
        if (crate::crack::centroid(mesh, t) - impact).norm() > radius {
            tet.iter().for_each(|&v| far[v as usize] = true);
        }
    }
    far
}
