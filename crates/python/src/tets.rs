//! Tetrahedra, and the stress in them.

use brisance::commands::filling::Loss;
use levelset::{Aabb, Stuffing, TetMesh};
use nalgebra::{Matrix3, Point3, Vector3};
use numpy::ndarray::Array3;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sim::scene;
use tetfem::{Contact, Interpolation, LinearSolver, Load, Material, Structure, max_principal};

use crate::arrays;
use crate::failure::brisance_error;
use crate::interrupt::interruptible;
use crate::mesh::mesh;

/// Limit of the nodes of the lattice of tetrahedra.
const MAX_NODES: usize = 1 << 29;

/// Vertices and tetrahedra as arrays.
type Arrays<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<u32>>);

/// Fills the solid of a mesh with tetrahedra (isosurface stuffing), about `count` of them or with cells of `cell` m.
/// Cells are halved up to `halvings` times where the mesh is too thin; a mesh that would still lose parts is refused.
/// Returns vertices, m, of shape (n, 3), and tetrahedra of shape (m, 4).
#[pyfunction]
#[pyo3(signature = (vertices, triangles, *, count=None, cell=None, halvings=3))]
pub(crate) fn tetrahedralize<'py>(
    py: Python<'py>,
    vertices: &Bound<'py, PyAny>,
    triangles: &Bound<'py, PyAny>,
    count: Option<usize>,
    cell: Option<f64>,
    halvings: u8,
) -> PyResult<Arrays<'py>> {
    let mesh = mesh(vertices, triangles)?;
    if count.is_some() && cell.is_some() {
        return Err(PyValueError::new_err("give `count` or `cell`, not both"));
    }
    if halvings > 5 {
        return Err(PyValueError::new_err("`halvings` must be from 0 to 5"));
    }
    cell.map_or(Ok(0.0), |cell| arrays::positive(cell, "cell"))?;
    let filled = interruptible(py, move || {
        let (solid, _) = sim::sample_mesh(&scene::Mesh::default(), mesh).map_err(brisance_error)?;
        let spacing = cell.unwrap_or(1.0);
        let stuffing = Stuffing { spacing, doublings: 0, halvings, limit: MAX_NODES };
        let filled = match cell {
            Some(_) => TetMesh::stuffed(&solid, &stuffing),
            None => TetMesh::stuffed_to_count(&solid, count.unwrap_or(1000), &stuffing),
        }
        .map_err(brisance_error)?;
        if filled.tets.is_empty() {
            return Err(brisance_error(
                "nothing is inside at this fineness: use smaller cells or a larger count",
            ));
        }
        match Loss::of(&filled, &solid, filled.deviation(&solid)) {
            Some(loss) => Err(brisance_error(format!(
                "the tetrahedra would {loss}: use smaller cells, a larger count or more halvings"
            ))),
            None => Ok(filled),
        }
    })?;
    let vertices = filled.vertices.iter().map(|p| p.coords.into()).collect::<Vec<[f64; 3]>>();
    Ok((arrays::array(py, vertices), arrays::array(py, filled.tets)))
}

/// Displacements and stresses of a body of tetrahedra under static loads.
#[pyclass(frozen, module = "brisance")]
pub(crate) struct Stress {
    displacements: Vec<Vector3<f64>>,
    stresses: Vec<Matrix3<f64>>,
}

#[pymethods]
impl Stress {
    /// Displacement of each vertex, m, of shape (n, 3).
    #[getter]
    fn displacements<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        arrays::array(py, self.displacements.iter().map(|u| (*u).into()).collect::<Vec<[f64; 3]>>())
    }

    /// Cauchy stress of each tetrahedron, Pa, of shape (m, 3, 3).
    #[getter]
    fn stresses<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray3<f64>> {
        let at = |(t, i, j): (usize, usize, usize)| self.stresses[t][(i, j)];
        Array3::from_shape_fn((self.stresses.len(), 3, 3), at).into_pyarray(py)
    }

    /// Largest principal stress of each tetrahedron, Pa, of shape (m,).
    #[getter]
    fn principal<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.stresses.iter().map(max_principal).collect::<Vec<_>>().into_pyarray(py)
    }
}

/// Solves for the static stress of an elastic body of tetrahedra (Mu01 section 2).
///
/// `fixed` marks vertices with supports; without supports the body is free, and its inertia balances the forces.
/// `forces`, N, of shape (k, 3), act at `points`, m. `body_force` is in N/m^3.
#[pyfunction]
#[pyo3(signature = (vertices, tets, *, young, poisson, fixed=None, points=None, forces=None,
    body_force=[0.0; 3], quadratic=false))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn stress(
    py: Python<'_>,
    vertices: &Bound<'_, PyAny>,
    tets: &Bound<'_, PyAny>,
    young: f64,
    poisson: f64,
    fixed: Option<&Bound<'_, PyAny>>,
    points: Option<&Bound<'_, PyAny>>,
    forces: Option<&Bound<'_, PyAny>>,
    body_force: [f64; 3],
    quadratic: bool,
) -> PyResult<Stress> {
    let vertices = arrays::points(vertices, "vertices")?;
    let tets = arrays::indices(tets, "tets", vertices.len())?;
    let supports = match fixed {
        Some(fixed) => flags(fixed, vertices.len())?,
        None => vec![false; vertices.len()],
    };
    let places = points.map_or(Ok(Vec::new()), |points| arrays::points(points, "points"))?;
    let forces = forces.map_or(Ok(Vec::new()), |forces| arrays::rows::<3>(forces, "forces"))?;
    if places.len() != forces.len() {
        let problem = format!("there are {} points for {} forces", places.len(), forces.len());
        return Err(PyValueError::new_err(problem));
    }
    check_near(&vertices, &places)?;
    let body_force = arrays::vector(body_force, "body_force")?;
    let pushes = places.into_iter().zip(forces);
    let contacts: Vec<Contact> =
        pushes.map(|(place, force)| Contact { place, force: force.into() }).collect();
    let material = Material::from_young(young, poisson).map_err(brisance_error)?;
    let interpolation = if quadratic { Interpolation::Quadratic } else { Interpolation::Linear };
    interruptible(py, move || {
        let mesh = TetMesh { vertices, tets };
        let body =
            Structure::supported(mesh, supports, material, interpolation, LinearSolver::Cholesky);
        let load = Load { body_force, ..Load::new(&contacts) };
        let response = body.map_err(brisance_error)?.respond(&load).map_err(brisance_error)?;
        Ok(Stress { displacements: response.displacements, stresses: response.stresses })
    })
}

/// Checks that points of forces are no farther from the box of a body than it is large.
fn check_near(vertices: &[Point3<f64>], places: &[Point3<f64>]) -> PyResult<()> {
    let Some(bounds) = Aabb::around(vertices) else { return Ok(()) };
    let size = bounds.extents().norm();
    match places.iter().position(|p| (p - bounds.clamp(p)).norm() > size) {
        None => Ok(()),
        Some(n) => Err(brisance_error(format!(
            "`points[{n}]` is farther from the body than the body is large, {size} m: give a point on it"
        ))),
    }
}

fn flags(fixed: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<bool>> {
    let array = arrays::numbers::<bool, numpy::Ix1>(fixed, "fixed", "(n,)")?;
    let flags = array.as_array().to_vec();
    if flags.len() == count {
        return Ok(flags);
    }
    let problem =
        format!("`fixed` must be of shape ({count},), one for each vertex, not ({},)", flags.len());
    Err(PyValueError::new_err(problem))
}
