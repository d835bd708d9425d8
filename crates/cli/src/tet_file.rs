//! Tetrahedral meshes from files of mesh generators and solvers.

mod msh;
mod netgen;
pub(crate) mod numbers;
mod tetgen;
mod vtk;
mod vtu;

use std::path::{Path, PathBuf};

use levelset::TetMesh;
use nalgebra::Point3;

use crate::mesh_file::{MeshFileError, check_places};

/// File extensions that [`read_tets`] supports.
pub const ENDINGS: &str = ".msh, .ele, .node, .vol, .vtk or .vtu";

/// Whether a file name has a supported format of tetrahedra.
pub fn is_tets(path: &Path) -> bool {
    let ending = ending(path);
    ["msh", "ele", "node", "vol", "vtk", "vtu"].iter().any(|known| ending == *known)
}

fn ending(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).unwrap_or_default()
}

/// The files that [`read_tets`] reads: one, or the two of `TetGen`, vertices first.
pub fn files(path: &Path) -> Vec<PathBuf> {
    match &*ending(path) {
        "ele" | "node" => vec![path.with_extension("node"), path.with_extension("ele")],
        _ => vec![path.to_owned()],
    }
}

/// Reads the tetrahedra at `path` by its extension: Gmsh 2.2 and 4.1 (.msh), `TetGen` (.ele next to
/// .node), NETGEN (.vol), and VTK, legacy (.vtk) and XML (.vtu), as text or binary where the format
/// has both.
///
/// Elements of other kinds are omitted, quadratic tetrahedra lose their edge nodes, and unused
/// vertices are dropped. If all tetrahedra are inverted, as some programs write them, all are
/// flipped.
///
/// # Errors
/// [`MeshFileError`] if the file cannot be read, is malformed or contains no tetrahedra.
/// [`TetMesh::validate`] checks whether they are valid.
pub fn read_tets(path: &Path) -> Result<TetMesh, MeshFileError> {
    parse_tets(path, &read_files(path)?)
}

/// The contents of the [`files`] of the tetrahedra at `path`.
pub(crate) fn read_files(path: &Path) -> Result<Vec<Vec<u8>>, MeshFileError> {
    crate::input::refuse_folder(path)?;
    if !is_tets(path) {
        return Err(MeshFileError::UnknownTetFormat { known: ENDINGS });
    }
    files(path).iter().map(|file| Ok(crate::input::read(file)?)).collect()
}

/// Parses the tetrahedra at `path` from the `contents` that [`read_files`] returned.
pub(crate) fn parse_tets(path: &Path, contents: &[Vec<u8>]) -> Result<TetMesh, MeshFileError> {
    let raw = match (&*ending(path), contents) {
        ("msh", [mesh]) => msh::parse(mesh)?,
        ("vol", [mesh]) => netgen::parse(mesh)?,
        ("vtk", [mesh]) => vtk::parse(mesh)?,
        ("vtu", [mesh]) => vtu::parse(mesh)?,
        ("ele" | "node", [vertices, tets]) => tetgen::parse(vertices, tets)?,
        _ => return Err(MeshFileError::UnknownTetFormat { known: ENDINGS }),
    };
    raw.finish()
}

/// Vertices and tetrahedra with the numbers of a file.
#[derive(Default)]
struct Raw {
    /// Number and position of each vertex.
    vertices: Vec<(u64, Point3<f64>)>,
    tets: Vec<[u64; 4]>,
}

impl Raw {
    fn finish(mut self) -> Result<TetMesh, MeshFileError> {
        if self.tets.is_empty() {
            return Err(MeshFileError::NoTets);
        }
        self.vertices.sort_by_key(|(number, _)| *number);
        if let Some(two) = self.vertices.windows(2).find(|two| two[0].0 == two[1].0) {
            return Err(MeshFileError::Twice { vertex: two[0].0 });
        }
        let mut used = vec![false; self.vertices.len()];
        let mut tets = Vec::with_capacity(self.tets.len());
        for (n, corners) in self.tets.iter().enumerate() {
            let mut tet = [0; 4];
            for (place, &vertex) in tet.iter_mut().zip(corners) {
                let at = self.vertices.binary_search_by_key(&vertex, |(number, _)| *number);
                let dangling = |_| MeshFileError::DanglingTet { tet: n + 1, vertex };
                *place = at.map_err(dangling)?;
                used[*place] = true;
            }
            tets.push(tet);
        }
        if u32::try_from(self.vertices.len()).is_err() || u32::try_from(4 * tets.len()).is_err() {
            return Err(MeshFileError::TooLarge);
        }
        let mut names = vec![0; used.len()];
        let mut mesh = TetMesh::default();
        for (n, (_, place)) in self.vertices.iter().enumerate().filter(|(n, _)| used[*n]) {
            names[n] = mesh.vertices.len() as u32;
            mesh.vertices.push(*place);
        }
        // mesh validation reports those that are not finite
        if let Err(far @ MeshFileError::TooFar { .. }) = check_places(&mesh.vertices) {
            return Err(far);
        }
        mesh.tets = tets.into_iter().map(|tet| tet.map(|n| names[n])).collect();
        if (0..mesh.tets.len()).all(|t| mesh.volume(t) < 0.0) {
            mesh.tets.iter_mut().for_each(|tet| tet.swap(0, 1));
        }
        Ok(mesh)
    }
}
