//! Triangle meshes.

use std::path::PathBuf;

use brisance::mesh_file::{self, MeshFileError};
use fracture::{ClosedMesh, Plane};
use levelset::TriMesh;
use nalgebra::Point3;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::arrays;
use crate::failure::{brisance_error, file_error};
use crate::interrupt::interruptible;

/// A triangle mesh.
#[pyclass(frozen, subclass, module = "brisance")]
pub(crate) struct Mesh {
    pub(crate) mesh: TriMesh,
    /// One entry per triangle.
    pub(crate) is_cut: Vec<bool>,
}

#[pymethods]
impl Mesh {
    /// Vertices, m, of shape (n, 3).
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let places = self.mesh.vertices.iter().map(|p| p.coords.into());
        arrays::array(py, places.collect::<Vec<[f64; 3]>>())
    }

    /// Vertices of each triangle, counter-clockwise from outside, of shape (m, 3).
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<u32>> {
        arrays::array(py, self.mesh.triangles.clone())
    }

    /// Whether each triangle belongs to a cut, of shape (m,).
    #[getter]
    fn is_cut<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.is_cut.clone().into_pyarray(py)
    }

    /// Enclosed volume, m^3.
    #[getter]
    fn volume(&self) -> f64 {
        self.mesh.signed_volume()
    }

    fn __repr__(&self) -> String {
        let TriMesh { vertices, triangles } = &self.mesh;
        format!("Mesh({} vertices, {} triangles)", vertices.len(), triangles.len())
    }
}

/// A mesh from arrays.
pub(crate) fn mesh(vertices: &Bound<'_, PyAny>, triangles: &Bound<'_, PyAny>) -> PyResult<TriMesh> {
    let vertices = arrays::points(vertices, "vertices")?;
    let triangles = arrays::indices(triangles, "triangles", vertices.len())?;
    Ok(TriMesh { vertices, triangles })
}

/// Reads the triangles of an .obj, .stl, .ply or .glb file.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub(crate) fn read_mesh(py: Python<'_>, path: PathBuf) -> PyResult<Mesh> {
    let read = py.detach(|| mesh_file::read_mesh(&path));
    let mesh = read.map_err(|error| match error {
        MeshFileError::Read(source) => file_error(&path, &source),
        other => brisance_error(format!("{}: {other}", path.display())),
    })?;
    let is_cut = vec![false; mesh.triangles.len()];
    Ok(Mesh { mesh, is_cut })
}

/// Cuts a closed mesh by a plane; returns the parts behind and in front of the plane.
#[pyfunction]
#[pyo3(signature = (vertices, triangles, *, point, normal))]
pub(crate) fn slice(
    py: Python<'_>,
    vertices: &Bound<'_, PyAny>,
    triangles: &Bound<'_, PyAny>,
    point: [f64; 3],
    normal: [f64; 3],
) -> PyResult<(Mesh, Mesh)> {
    let mesh = mesh(vertices, triangles)?;
    let point = Point3::from(arrays::vector(point, "point")?);
    let normal = arrays::direction(normal, "normal")?;
    let half = |half: fracture::Half| {
        let sources = half.sources().len();
        let mesh = half.into_mesh().mesh().clone();
        let is_cut = (0..mesh.triangles.len()).map(|t| t >= sources).collect();
        Mesh { mesh, is_cut }
    };
    interruptible(py, move || {
        let solid = ClosedMesh::new(mesh).map_err(brisance_error)?;
        let plane = Plane::through(&point, normal.into_inner())
            .ok_or_else(|| brisance_error("`normal` must have a length above 0"))?;
        let fracture::Slice { back, front, .. } = fracture::slice(&solid, &plane);
        Ok((half(back), half(front)))
    })
}
