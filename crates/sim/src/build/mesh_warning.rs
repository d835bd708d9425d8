//! Warnings about the meshes of a scene.

use std::collections::BTreeMap;
use std::fmt;

use levelset::{Aabb, TriMesh};

use super::digits::{counted, rounded};
use super::solids::{extruded, surface_in};
use crate::MeshData;
use crate::scene::{self, MeshSign, NODES_THROUGH, Scene, Shape};

/// Why a mesh may not become the intended solid.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshWarning {
    /// It is not closed, and the winding number determines its inside.
    Open {
        /// Its file.
        file: String,
        /// Number of edges with only one triangle.
        edges: usize,
    },
    /// Parts of it overlap, so that it is sampled and its pieces are not exact.
    Overlapping {
        /// Its file.
        file: String,
    },
    /// Its walls are thinner than the samples resolve.
    Thin {
        /// Its file.
        file: String,
        /// Number of nodes through its thinnest walls.
        nodes: f64,
        /// Spacing that resolves them, m.
        spacing: f64,
    },
}

impl fmt::Display for MeshWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { file, edges } => {
                let edges = match edges {
                    1 => "1 open edge".to_owned(),
                    more => format!("{more} open edges"),
                };
                write!(
                    f,
                    "{file} is not closed ({edges}): the winding number decides what is inside; repair \
                     the mesh, or set `sign` to \"winding\""
                )
            }
            Self::Overlapping { file } => write!(
                f,
                "parts of {file} overlap: the winding number decides what is inside and its pieces are \
                 sampled; unite the parts, or set `sign` to \"winding\""
            ),
            Self::Thin { file, nodes, spacing } => write!(
                f,
                "the walls of {file} are {} thick: take spacing {}",
                counted(*nodes, "nodes"),
                rounded(*spacing)
            ),
        }
    }
}

impl MeshWarning {
    /// The warnings about a mesh sampled with `spec`; none if the mesh is invalid.
    pub fn of(spec: &scene::Mesh, mesh: &TriMesh) -> Vec<Self> {
        let Ok(facts) = mesh.facts() else { return Vec::new() };
        let file = || spec.file.clone();
        let mut warnings = Vec::new();
        if !facts.closed && spec.sign == MeshSign::Auto {
            warnings.push(Self::Open { file: file(), edges: facts.open_edges });
        }
        if facts.closed && spec.sign == MeshSign::Auto && mesh.overlaps_itself() {
            warnings.push(Self::Overlapping { file: file() });
        }
        let bounds = Aabb::around(&mesh.vertices);
        let Some((bounds, wall)) = bounds.zip(mesh.wall_thickness()) else { return warnings };
        let scale = spec.size.map_or(1.0, |size| size / bounds.extents().max());
        let wall = wall * scale;
        let extents = bounds.extents() * scale;
        let spacing = scene::spacing(spec.spacing, spec.nodes, &extents, wall);
        let nodes = wall / spacing;
        // the default spacing just resolves them
        if nodes < NODES_THROUGH * (1.0 - 1e-9) {
            warnings.push(Self::Thin { file: file(), nodes, spacing: wall / NODES_THROUGH });
        }
        warnings
    }
}

impl Scene {
    /// The warnings about its meshes and outlines, one of each kind per file. `meshes` holds both by
    /// file name.
    pub fn mesh_warnings(&self, meshes: &BTreeMap<String, MeshData>) -> Vec<MeshWarning> {
        let mut warnings: Vec<MeshWarning> = Vec::new();
        let surface = |file: &str| surface_in(meshes, file).ok().map(|painted| &painted.mesh);
        for body in &self.bodies {
            let found = match &body.shape {
                Shape::Mesh(spec) => surface(&spec.file).map(|mesh| MeshWarning::of(spec, mesh)),
                Shape::Svg(svg) => surface(&svg.file)
                    .and_then(|outline| extruded(svg, outline.clone()).ok())
                    .map(|(spec, mesh)| MeshWarning::of(&spec, &mesh)),
                _ => None,
            };
            for warning in found.unwrap_or_default() {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        warnings
    }
}
