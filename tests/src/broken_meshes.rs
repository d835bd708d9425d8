//! Results for meshes that bound no solid, or an ambiguous one.

use std::fmt::Write;
use std::path::Path;

use brisance::mesh_file::read_mesh;
use fracture::{Alignment, Pattern, PatternError, Voronoi};
use levelset::{Aabb, Grid, GridError, LevelSet, MeshError, Sign, TriMesh};
use nalgebra::{Point3, Vector3};
use sim::scene::MeshSign;
use thiserror::Error;

/// Why the report cannot be made.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A mesh of `assets` cannot be read.
    #[error("{0}")]
    Read(String),
    /// The facts of a mesh cannot be computed.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The grid of a mesh is invalid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The pattern is invalid.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

/// The result for one mesh.
pub struct Row {
    /// The mesh and its defect.
    pub name: String,
    /// Volume with the strict sign, m^3.
    pub strict: Result<f64, MeshError>,
    /// Volume by winding number, m^3.
    pub winding: Result<f64, MeshError>,
    /// Area of its triangles, m^2.
    pub area: f64,
    /// Volume of the solid in a scene, m^3; 0 if refused.
    pub volume: f64,
    /// Number of pieces, and the sum of their volumes, m^3.
    pub broken: (usize, f64),
    facts: levelset::MeshFacts,
}

/// Breaks every mesh of the report, scaled to a longest side of 1 m on a grid with spacing 1/48 m.
///
/// # Errors
/// [`ReportError`] when a file of `assets` cannot be read.
pub fn rows() -> Result<Vec<Row>, ReportError> {
    meshes()?.into_iter().map(|(name, mesh)| row(name, &mesh)).collect()
}

fn row(name: String, mesh: &TriMesh) -> Result<Row, ReportError> {
    let bounds = Aabb::around(&mesh.vertices).ok_or(MeshError::Empty)?;
    let scale = 1.0 / bounds.extents().max();
    let place = |p: &Point3<f64>| Point3::from((p - bounds.center()) * scale);
    let mesh = TriMesh {
        vertices: mesh.vertices.iter().map(place).collect(),
        triangles: mesh.triangles.clone(),
    };
    let half = Point3::from(bounds.extents() * scale / 2.0);
    let grid = Grid::enclosing(&Aabb { min: -half, max: half }, 1.0 / 48.0, 3, Grid::MAX_NODES)?;
    let volume = |level_set: LevelSet| level_set.moments().volume;
    let winding = LevelSet::from_mesh(&mesh, grid, Sign::Winding);
    let spec = Voronoi::new(1, 7);
    let sampling = sim::scene::Mesh {
        file: String::new(),
        size: None,
        spacing: Some(1.0 / 48.0),
        nodes: None,
        sign: MeshSign::Auto,
        mirror: None,
        collide: sim::scene::Collide::Samples,
    };
    let (volume_of_solid, broken) = match sim::mesh_geometry(&sampling, mesh.clone()) {
        Ok((body, _)) => {
            let top = Point3::new(0.0, half.y, 0.0);
            let at = Alignment::enclosing(&body.bounds(), top, Vector3::y_axis());
            let least = 1e-4 * body.moments().volume;
            let pattern = Pattern::voronoi(&spec.with_pieces_at(20, &body, &at, least)?)?;
            let pieces = body.divide(&pattern, &at, least).pieces;
            let sum = pieces.iter().map(|piece| piece.geometry.moments().volume).sum();
            (body.moments().volume, (pieces.len(), sum))
        }
        Err(_) => (0.0, (0, 0.0)),
    };
    Ok(Row {
        name,
        area: mesh.facts()?.area,
        volume: volume_of_solid,
        strict: LevelSet::from_mesh(&mesh, grid, Sign::Strict).map(volume),
        winding: winding.map(volume),
        broken,
        facts: mesh.facts()?,
    })
}

/// The meshes of `assets` with their defects, and variants of the ring-shaped float with several defects.
///
/// # Errors
/// [`ReportError`] when a file of `assets` cannot be read.
pub fn meshes() -> Result<Vec<(String, TriMesh)>, ReportError> {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets").join(name);
        read_mesh(&path).map_err(|e| ReportError::Read(e.to_string()))
    };
    let mut meshes = Vec::new();
    for (name, what) in [
        ("bunny.obj", "closed"),
        ("shape_sorter.obj", "closed, genus 3"),
        ("diff_carrier.obj", "closed, genus 5"),
        ("ant_15parts.obj", "15 shells that overlap"),
        ("teapot.obj", "open, 3 parts"),
    ] {
        meshes.push((format!("`{name}`: {what}"), read(name)?));
    }
    let ring = read("bob_small.obj")?;
    let mut spoil = |what: &str, change: &dyn Fn(&mut TriMesh)| {
        let mut mesh = ring.clone();
        change(&mut mesh);
        meshes.push((format!("`bob_small.obj` {what}"), mesh));
    };
    spoil("inverted", &|mesh| mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2)));
    spoil("with every 10th triangle inverted", &|mesh| {
        mesh.triangles.iter_mut().step_by(10).for_each(|t| t.swap(1, 2));
    });
    spoil("without 5 % of its triangles", &|mesh| {
        let mut n = 0;
        mesh.triangles.retain(|_| {
            n += 1;
            n % 20 != 0
        });
    });
    spoil("through itself, moved a quarter", &|mesh| {
        let count = mesh.vertices.len() as u32;
        let size = Aabb::around(&mesh.vertices).map_or(1.0, |b| b.extents().max());
        let moved: Vec<_> =
            mesh.vertices.iter().map(|p| p + Vector3::new(size / 4.0, 0.0, 0.0)).collect();
        let triangles: Vec<_> = mesh.triangles.iter().map(|t| t.map(|v| v + count)).collect();
        mesh.vertices.extend(moved);
        mesh.triangles.extend(triangles);
    });
    spoil("with its triangles apart (a soup)", &|mesh| {
        let corners = (0..mesh.triangles.len()).flat_map(|t| mesh.corners(t));
        let vertices: Vec<_> = corners.collect();
        let count = mesh.triangles.len() as u32;
        mesh.triangles = (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        mesh.vertices = vertices;
    });
    Ok(meshes)
}

/// The report on `rows` as a Markdown document.
pub fn report(rows: &[Row]) -> String {
    let mut text = String::from(
        "# Broken meshes

Results for meshes that do not bound a solid, or bound it ambiguously. `cargo run -p brisance-tests
--bin broken_meshes > docs/broken-meshes.md` writes this file. Each mesh is scaled to a longest edge of
1 m, sampled with a spacing of 1/48 m and broken into about 20 pieces. The strict sign rejects meshes
without a solid; the winding sign (Jacobson et al. 2013) accepts any triangles. By default (`sign =
\"auto\"`) scenes and commands use the winding sign for meshes that are not closed, with a warning: the
last two columns have this default. Volumes are in litres.

| mesh | area | closed | strict sign | winding sign | pieces | their volume |
|---|---|---|---|---|---|---|
",
    );
    for row in rows {
        let outcome = |result: &Result<f64, MeshError>| match result {
            Ok(volume) => format!("{:.1}", 1e3 * volume),
            Err(error) => format!("refused: {error}"),
        };
        let closed = if row.facts.closed { "yes" } else { "no" };
        let (pieces, volume) = row.broken;
        // a String takes any text
        let _ = writeln!(
            text,
            "| {} | {:.1} m^2 | {closed} | {} | {} | {pieces} | {:.1} |",
            row.name,
            row.facts.area,
            outcome(&row.strict),
            outcome(&row.winding),
            1e3 * volume + 0.0
        );
    }
    text
}
