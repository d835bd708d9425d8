//! Exact pieces beside manifold3d, which also intersects closed meshes.
//!
//! `peers_cut [--json] [MESH.obj]...`: cuts the bodies of the fracture events, and the given meshes into
//! 20 Voronoi pieces, writes bodies, cells and pieces to a temporary folder and lets
//! `benches/peers/cut.py` intersect each body with the same cells. Times are processor time of one
//! thread, ms, the median of several runs: ours with connected parts, moments, bonds and the samples of
//! pieces that are not convex; theirs only of the intersections. `ratio` is our time over theirs: at
//! most 1 is good. Errors are those of the sum of the volumes of the pieces. `bad` counts the pieces,
//! and pieces of pieces, that trimesh (`is_watertight`) or manifold3d (its status) rejects.
//!
//! On one core of a shared virtual AMD EPYC, manifold3d 3.5.4 of PyPI:
//!
//! | body | pieces | ours, ms | manifold3d, ms | ratio | bad |
//! |---|---|---|---|---|---|
//! | wall voronoi | 26 | 0.49 | 3.4 | 0.14 | 0 of 130 |
//! | wall radial | 21 | 0.24 | 1.8 | 0.13 | 0 of 105 |
//! | table | 110 | 2.3 | 17 | 0.13 | 0 of 550 |
//! | cylinder | 26 | 1.0 | 14 | 0.07 | 0 of 130 |
//! | bunny, 3,674 triangles | 42 | 5.6 | 69 | 0.08 | 0 of 210 |
//! | bunny, 84,818 triangles | 19 | 58 | 593 | 0.10 | 0 of 95 |

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use brisance_benches::event::{Event, events};
use brisance_benches::table::{Column, Style, write_table};
use brisance_benches::{ratio, timed};
use fracture::{Alignment, ClosedMesh, Geometry, Pattern, Pieces, Voronoi};
use levelset::{Aabb, Grid, LevelSet, Sign, Solid, TriMesh};
use nalgebra::{Point3, Vector3};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Number of pieces of given meshes.
const PIECES: usize = 20;
/// Number of pieces of each piece in the second fracture.
const AGAIN: usize = 4;

/// A body and its cuts.
struct Case {
    name: String,
    solid: Geometry,
    pattern: Pattern,
    at: Alignment,
}

fn main() -> Outcome<()> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let mut json = false;
    let mut cases: Vec<Case> = events().into_iter().map(Case::of_event).collect();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--json" => json = true,
            path => cases.push(Case::of_mesh(path)?),
        }
    }
    let folder = tempfile::tempdir()?;
    let mut lines = Vec::new();
    for (n, case) in cases.iter().enumerate() {
        lines.push(case.measured(&folder.path().join(n.to_string()))?);
    }
    let output = Command::new("python3").arg("benches/peers/cut.py").arg(folder.path()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let peer: Value = serde_json::from_str(line)?;
        let ours = peer["case"].as_u64().and_then(|case| lines.get_mut(case as usize));
        let (Some(ours), Some(fields)) = (ours, peer.as_object()) else { continue };
        fields.iter().for_each(|(key, value)| ours[key] = value.clone());
        ours["ratio"] = json!(ratio(ours["ours_ms"].as_f64(), ours["peer_ms"].as_f64()));
    }
    print(&lines, json)
}

impl Case {
    fn of_event(event: Event) -> Self {
        Self {
            name: event.name.to_owned(),
            solid: event.exact,
            pattern: event.pattern,
            at: event.at,
        }
    }

    fn of_mesh(path: &str) -> Outcome<Self> {
        let options =
            tobj::LoadOptions { single_index: true, triangulate: true, ..Default::default() };
        let (models, _) = tobj::load_obj(path, &options).map_err(|e| format!("{path}: {e}"))?;
        let mesh = &models.first().ok_or_else(|| format!("{path} holds no mesh"))?.mesh;
        let mesh = TriMesh {
            vertices: mesh.positions.chunks_exact(3).map(Point3::from_slice).collect(),
            triangles: mesh.indices.as_chunks().0.to_vec(),
        };
        let triangles = mesh.triangles.len();
        let bounds = Aabb::around(&mesh.vertices).ok_or("no finite points")?;
        let grid = Grid::enclosing(&bounds, bounds.extents().max() / 60.0, 2, 1 << 22)?;
        let samples = Arc::new(LevelSet::from_mesh(&mesh, grid, Sign::Strict)?);
        let solid = Geometry::mesh(&ClosedMesh::new(mesh)?, samples);
        let at = Alignment::enclosing(&bounds, bounds.center(), Vector3::y_axis());
        let spec = Voronoi::new(PIECES, 1).with_pieces_at(PIECES, &solid, &at, 0.0)?;
        let name = Path::new(path).file_stem().and_then(|s| s.to_str()).unwrap_or("mesh");
        let name = format!("{name} {triangles}");
        Ok(Self { name, solid, pattern: Pattern::voronoi(&spec)?, at })
    }

    fn cut(&self) -> Pieces {
        self.solid.divide(&self.pattern, &self.at, 0.0)
    }

    /// Our figures; writes the input of the peer.
    fn measured(&self, stem: &Path) -> Outcome<Value> {
        let (ms, pieces) = timed(|| self.cut());
        let volume = |pieces: &[fracture::Piece]| -> f64 {
            pieces.iter().filter_map(|p| p.geometry.surface()).map(|s| s.mesh.signed_volume()).sum()
        };
        let whole = self.solid.surface().ok_or("an exact solid")?.mesh;
        let error = (volume(&pieces.pieces) / whole.signed_volume() - 1.0).abs();
        let again = pieces.pieces.iter().map(|piece| broken_again(&piece.geometry));
        let again = again.collect::<Outcome<Vec<_>>>()?.concat();
        let second = (volume(&again) / whole.signed_volume() - 1.0).abs();
        // a box around the body is cut into the cells themselves
        let around = self.solid.bounds();
        let half_extents = around.extents() * 0.75;
        let grid =
            Grid::enclosing(&around.grown(half_extents.max()), half_extents.max(), 1, 1 << 20)?;
        let block = Geometry::primitive(Solid::Box { half_extents }, grid).ok_or("a block")?;
        let moved = Alignment { at: self.at.at - around.center().coords, ..self.at };
        let cells = block.divide(&self.pattern, &moved, 0.0).pieces;
        let mut cells = surfaces(&cells);
        let center = around.center().coords;
        cells.iter_mut().flat_map(|cell| &mut cell.vertices).for_each(|p| *p += center);
        write_meshes(&stem.with_extension("body"), &[whole])?;
        write_meshes(&stem.with_extension("cells"), &cells)?;
        let mut all = surfaces(&pieces.pieces);
        all.extend(surfaces(&again));
        write_meshes(&stem.with_extension("pieces"), &all)?;
        Ok(json!({ "row": self.name, "ours_ms": ms, "ours_pieces": pieces.pieces.len(),
            "ours_again": again.len(), "ours_error": error.max(second) }))
    }
}

fn broken_again(solid: &Geometry) -> Outcome<Vec<fracture::Piece>> {
    let bounds = solid.bounds();
    let at = Alignment::enclosing(&bounds, bounds.center(), Vector3::y_axis());
    let spec = Voronoi::new(AGAIN, 7).with_pieces_at(AGAIN, solid, &at, 0.0)?;
    let pattern = Pattern::voronoi(&spec)?;
    Ok(solid.divide(&pattern, &at, 0.0).pieces)
}

fn surfaces(pieces: &[fracture::Piece]) -> Vec<TriMesh> {
    pieces.iter().filter_map(|piece| piece.geometry.surface()).map(|s| s.mesh).collect()
}

/// Writes the counts, the vertices and the triangles of each mesh.
fn write_meshes(path: &Path, meshes: &[TriMesh]) -> Outcome<()> {
    let mut bytes: Vec<u8> = Vec::new();
    for mesh in meshes {
        for count in [mesh.vertices.len(), mesh.triangles.len()] {
            bytes.extend((count as u32).to_le_bytes());
        }
        bytes.extend(mesh.vertices.iter().flat_map(|p| p.iter()).flat_map(|x| x.to_le_bytes()));
        bytes.extend(mesh.triangles.as_flattened().iter().flat_map(|v| v.to_le_bytes()));
    }
    Ok(std::fs::write(path, bytes)?)
}

fn print(lines: &[Value], json: bool) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    if json {
        return Ok(lines.iter().try_for_each(|line| writeln!(out, "{line}"))?);
    }
    let columns = [
        Column::new("row", "row", Style::Text),
        Column::new("ours ms", "ours_ms", Style::Number),
        Column::new("manifold3d", "peer_ms", Style::Number),
        Column::new("ratio", "ratio", Style::Number),
        Column::new("pieces", "ours_pieces", Style::Count),
        Column::new("again", "ours_again", Style::Count),
        Column::new("bad", "bad", Style::Count),
        Column::new("error", "ours_error", Style::Small),
        Column::new("manifold3d", "peer_error", Style::Small),
    ];
    write_table(&mut out, &columns, lines)?;
    if let Some(reason) = lines.iter().find_map(|line| line["absent"].as_str()) {
        writeln!(out, "not run: {reason}; to have them: pip install manifold3d trimesh numpy")?;
    }
    Ok(())
}
