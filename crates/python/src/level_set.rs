//! Signed distances on grids.

use levelset::Grid;
use nalgebra::Point3;
use numpy::{IntoPyArray, PyArray1, PyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sim::scene;

use crate::arrays;
use crate::failure::brisance_error;
use crate::interrupt::{detached, interruptible};
use crate::mesh::{Mesh, mesh};

/// Limit of the nodes of a level set: 2 GiB.
const MAX_NODES: usize = 1 << 29;

/// Signed distance on the nodes of a uniform grid, negative inside, m.
#[pyclass(frozen, module = "brisance")]
pub(crate) struct LevelSet {
    level_set: levelset::LevelSet,
}

#[pymethods]
impl LevelSet {
    /// Samples the solid of a mesh on nodes `spacing` m apart or on about `nodes` nodes.
    #[staticmethod]
    #[pyo3(signature = (vertices, triangles, *, spacing=None, nodes=None))]
    fn from_mesh(
        py: Python<'_>,
        vertices: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        spacing: Option<f64>,
        nodes: Option<usize>,
    ) -> PyResult<Self> {
        let mesh = mesh(vertices, triangles)?;
        if spacing.is_some() && nodes.is_some() {
            return Err(PyValueError::new_err("give `spacing` or `nodes`, not both"));
        }
        spacing.map_or(Ok(0.0), |spacing| arrays::positive(spacing, "spacing"))?;
        arrays::nodes(nodes)?;
        let spec = scene::Mesh { spacing, nodes, ..scene::Mesh::default() };
        let (level_set, _) =
            interruptible(py, move || sim::sample_mesh(&spec, mesh).map_err(brisance_error))?;
        if level_set.inside_range().is_none() {
            return Err(brisance_error(
                "nothing is inside at this fineness: use a smaller spacing or more nodes",
            ));
        }
        Ok(Self { level_set })
    }

    /// Takes the values at the nodes of a grid, of shape (nx, ny, nz), from `origin` on, `spacing` m apart.
    #[staticmethod]
    #[pyo3(signature = (values, *, origin, spacing))]
    fn from_array(values: &Bound<'_, PyAny>, origin: [f64; 3], spacing: f64) -> PyResult<Self> {
        let array = arrays::numbers::<f64, numpy::Ix3>(values, "values", "(nx, ny, nz)")?;
        let array = array.as_array();
        if !array.iter().all(|x| (*x as f32).is_finite()) {
            return Err(PyValueError::new_err(
                "`values` has a number that is not finite, or is beyond those of 32 bits",
            ));
        }
        let (nx, ny, nz) = array.dim();
        let origin = Point3::from(arrays::vector(origin, "origin")?);
        let grid = Grid::new(origin, spacing, [nx, ny, nz], MAX_NODES).map_err(brisance_error)?;
        let values = ndarray::Array3::from_shape_fn((nx, ny, nz), |at| array[at] as f32);
        Ok(Self { level_set: levelset::LevelSet::from_values(grid, values) })
    }

    /// Values at the nodes, m, of shape (nx, ny, nz).
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray3<f32>> {
        let values = self.level_set.values();
        numpy::ndarray::Array3::from_shape_fn(values.dim(), |at| values[at]).into_pyarray(py)
    }

    /// Position of the first node, m.
    #[getter]
    fn origin(&self) -> [f64; 3] {
        self.level_set.grid().origin().coords.into()
    }

    /// Spacing of nodes, m.
    #[getter]
    fn spacing(&self) -> f64 {
        self.level_set.grid().spacing()
    }

    /// Volume inside, m^3.
    #[getter]
    fn volume(&self) -> f64 {
        self.level_set.subcell_moments().volume
    }

    /// Signed distance at points of shape (n, 3), m, of shape (n,).
    fn sample<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let points = arrays::points(points, "points")?;
        let mut values = vec![0.0; points.len()];
        detached(py, || self.level_set.sample(&points, &mut values))?;
        Ok(values.into_pyarray(py))
    }

    /// The isosurface by marching cubes.
    fn to_mesh(&self, py: Python<'_>) -> PyResult<Mesh> {
        let mesh = detached(py, || self.level_set.isosurface())?;
        let is_cut = vec![false; mesh.triangles.len()];
        Ok(Mesh { mesh, is_cut })
    }

    fn __repr__(&self) -> String {
        let [nx, ny, nz] = self.level_set.grid().dims();
        format!("LevelSet({nx} x {ny} x {nz} nodes, {:?} m apart)", self.level_set.grid().spacing())
    }
}
