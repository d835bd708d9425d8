//! Fracture of a mesh without a simulation.

use fracture::{Alignment, Break, FaceOrigin, Geometry, Pattern, Pieces, draw};
use levelset::{Aabb, Moments, TriMesh};
use nalgebra::{Matrix3, Point3};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sim::scene;

use crate::arrays::{self, positive};
use crate::failure::brisance_error;
use crate::interrupt::interruptible;
use crate::mesh::{Mesh, mesh};

/// A piece of a broken mesh, at its position in the whole.
#[pyclass(frozen, extends = Mesh, module = "brisance")]
pub(crate) struct Piece {
    moments: Moments,
}

#[pymethods]
impl Piece {
    /// Volume, m^3. The volumes of all pieces add up to that of the whole.
    #[getter]
    fn volume(&self) -> f64 {
        self.moments.volume
    }

    /// Center of mass, m.
    #[getter]
    fn center(&self) -> [f64; 3] {
        self.moments.center().coords.into()
    }

    /// Inertia about the center of mass, kg m^2, of shape (3, 3), for a density in kg/m^3.
    #[pyo3(signature = (density=1.0))]
    fn inertia<'py>(&self, py: Python<'py>, density: f64) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let inertia: Matrix3<f64> = self.moments.inertia() * positive(density, "density")?;
        Ok(arrays::array(py, inertia.row_iter().map(|row| [row[0], row[1], row[2]]).collect()))
    }

    /// Mass, kg, for a density in kg/m^3.
    fn mass(&self, density: f64) -> PyResult<f64> {
        Ok(self.moments.volume * positive(density, "density")?)
    }

    fn __repr__(&self) -> String {
        format!("Piece(volume={:?})", self.moments.volume)
    }
}

/// The pieces of a mesh, and the cuts between them.
#[pyclass(frozen, module = "brisance")]
pub(crate) struct Fractured {
    pieces: Vec<Py<Piece>>,
    bonds: Vec<fracture::Bond>,
}

#[pymethods]
impl Fractured {
    /// The pieces.
    #[getter]
    fn pieces(&self, py: Python<'_>) -> Vec<Py<Piece>> {
        self.pieces.iter().map(|piece| piece.clone_ref(py)).collect()
    }

    /// The two pieces of each cut, of shape (k, 2).
    #[getter]
    fn bonds<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<u32>> {
        arrays::array(py, self.bonds.iter().map(|bond| bond.fragments.map(|n| n as u32)).collect())
    }

    /// Area of each cut, m^2, of shape (k,).
    #[getter]
    fn bond_areas<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.bonds.iter().map(|bond| bond.area).collect::<Vec<_>>().into_pyarray(py)
    }

    /// Center of each cut, m, of shape (k, 3).
    #[getter]
    fn bond_centers<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        arrays::array(
            py,
            self.bonds.iter().map(|bond| bond.center.coords.into()).collect::<Vec<[f64; 3]>>(),
        )
    }

    /// Mean unit normal of each cut, from its first piece to its second, of shape (k, 3).
    #[getter]
    fn bond_normals<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        arrays::array(
            py,
            self.bonds.iter().map(|bond| bond.normal.into()).collect::<Vec<[f64; 3]>>(),
        )
    }

    fn __len__(&self) -> usize {
        self.pieces.len()
    }

    fn __getitem__(&self, py: Python<'_>, index: isize) -> PyResult<Py<Piece>> {
        let count = self.pieces.len() as isize;
        let at = if index < 0 { index + count } else { index };
        usize::try_from(at)
            .ok()
            .and_then(|at| self.pieces.get(at))
            .map(|piece| piece.clone_ref(py))
            .ok_or_else(|| {
                pyo3::exceptions::PyIndexError::new_err(format!("there are {count} pieces"))
            })
    }

    fn __repr__(&self) -> String {
        format!("Fractured({} pieces, {} bonds)", self.pieces.len(), self.bonds.len())
    }
}

/// Placement of a pattern and resolution of samples.
struct Job {
    at: Option<Point3<f64>>,
    normal: nalgebra::UnitVector3<f64>,
    seed: u64,
    min_share: f64,
    nodes: Option<usize>,
}

/// Breaks the solid of a mesh by a pattern, like `brisance fracture`.
///
/// `pattern` is a text such as `"voronoi:20,clustering=0.8"` or `"radial:9x4"`; `pieces=20` stands for
/// `"voronoi:20"`. The pattern is centered at `at`, m, with its y axis along `normal`; by default at the middle
/// of the top. Pieces below the share `min_share` of the volume merge with a neighbor. An open mesh is sampled
/// with about `nodes` nodes.
#[pyfunction]
#[pyo3(name = "fracture", signature = (vertices, triangles, *, pattern=None, pieces=None, at=None, normal=[0.0, 1.0, 0.0], seed=0,
    min_share=None, nodes=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn break_mesh(
    py: Python<'_>,
    vertices: &Bound<'_, PyAny>,
    triangles: &Bound<'_, PyAny>,
    pattern: Option<&str>,
    pieces: Option<usize>,
    at: Option<[f64; 3]>,
    normal: [f64; 3],
    seed: u64,
    min_share: Option<f64>,
    nodes: Option<usize>,
) -> PyResult<Fractured> {
    let mesh = mesh(vertices, triangles)?;
    let text = match (pattern, pieces) {
        (Some(_), Some(_)) => {
            return Err(PyValueError::new_err("give `pattern` or `pieces`, not both"));
        }
        (Some(pattern), None) => pattern.to_owned(),
        (None, pieces) => format!("voronoi:{}", pieces.unwrap_or(20)),
    };
    let spec: scene::Pattern = text.parse().map_err(brisance_error)?;
    let min_share = min_share.unwrap_or_else(|| spec.min_share());
    if !(0.0..=1.0).contains(&min_share) {
        return Err(PyValueError::new_err("`min_share` must be from 0 to 1"));
    }
    arrays::nodes(nodes)?;
    let job = Job {
        at: at.map(|at| arrays::vector(at, "at").map(Point3::from)).transpose()?,
        normal: arrays::direction(normal, "normal")?,
        seed,
        min_share,
        nodes,
    };
    let (all, bonds) = interruptible(py, move || divided(mesh, &spec, &job))?;
    if all.is_empty() {
        return Err(brisance_error(
            "the pattern leaves no piece: move `at` nearer to the mesh, or lower `min_share`",
        ));
    }
    let made = all.into_iter().map(|(piece, mesh)| Py::new(py, (piece, mesh)));
    let pieces = made.collect::<PyResult<_>>()?;
    Ok(Fractured { pieces, bonds })
}

/// A piece and its surface.
type PieceWithSurface = (Piece, Mesh);

fn divided(
    mesh: TriMesh,
    spec: &scene::Pattern,
    job: &Job,
) -> PyResult<(Vec<PieceWithSurface>, Vec<fracture::Bond>)> {
    let sampling = scene::Mesh { nodes: job.nodes, ..scene::Mesh::default() };
    let (geometry, mesh) = sim::mesh_geometry(&sampling, mesh).map_err(brisance_error)?;
    let top = Aabb::around(&mesh.vertices)
        .map_or(Point3::origin(), |b| Point3::new(b.center().x, b.max.y, b.center().z));
    let at = spec.placement().alignment(&geometry, job.at.unwrap_or(top), job.normal);
    let least = job.min_share * geometry.moments().volume;
    let pattern =
        sim::piece_pattern(spec, job.seed, &geometry, &at, least).map_err(brisance_error)?;
    let Pieces { pieces, bonds, .. } = geometry.divide(&pattern, &at, least);
    let of = |piece: fracture::Piece| piece_surface(&piece, &geometry, &pattern, at);
    Ok((pieces.into_iter().map(of).collect(), bonds))
}

/// The surface of a piece: exact, or by dual contouring of its samples.
fn piece_surface(
    piece: &fracture::Piece,
    whole: &Geometry,
    pattern: &Pattern,
    at: Alignment,
) -> PieceWithSurface {
    let moments = *piece.geometry.moments();
    if let Some(surface) = piece.geometry.surface() {
        let is_cut = surface.origins.iter().map(|origin| *origin == FaceOrigin::Cut).collect();
        return (Piece { moments }, Mesh { mesh: surface.mesh, is_cut });
    }
    let cut = Break { pattern, at, regions: &piece.regions };
    let drawing = draw(piece.geometry.level_set(), whole.level_set(), &[cut]);
    (Piece { moments }, Mesh { mesh: drawing.mesh, is_cut: drawing.inner })
}
