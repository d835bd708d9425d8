//! Output of meshes with stress and displacement for ParaView and Gmsh.

use std::io::{self, Write};

use levelset::TetMesh;
use nalgebra::{Matrix3, Vector3};

use crate::max_principal;

/// Fields to write with a mesh; empty ones are omitted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields<'a> {
    /// One per vertex, m.
    pub displacements: &'a [Vector3<f64>],
    /// One per tetrahedron, Pa.
    pub stresses: &'a [Matrix3<f64>],
}

impl Fields<'_> {
    /// Checks that each field has the length of the mesh, or none.
    fn check(&self, mesh: &TetMesh) -> io::Result<()> {
        let counts = [
            ("displacements", self.displacements.len(), "vertices", mesh.vertices.len()),
            ("stresses", self.stresses.len(), "tetrahedra", mesh.tets.len()),
        ];
        for (fields, given, places, wanted) in counts {
            if given != 0 && given != wanted {
                let problem =
                    format!("{given} {fields} for {wanted} {places}: give one each, or none");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
            }
        }
        Ok(())
    }
}

/// Writes a VTU file (XML, text): point displacement, and cell stress and tension, the largest
/// principal stress.
///
/// # Errors
/// If `out` fails, or the fields have other numbers of entries than the mesh.
pub fn write_vtu(out: &mut impl Write, mesh: &TetMesh, fields: &Fields<'_>) -> io::Result<()> {
    fields.check(mesh)?;
    writeln!(out, "<?xml version=\"1.0\"?>")?;
    writeln!(
        out,
        "<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\">"
    )?;
    let (points, cells) = (mesh.vertices.len(), mesh.tets.len());
    writeln!(
        out,
        "<UnstructuredGrid><Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">"
    )?;
    writeln!(out, "<PointData>")?;
    if !fields.displacements.is_empty() {
        open(out, "Float64", "displacement", 3)?;
        rows(out, fields.displacements.iter().map(|u| u.iter().copied()))?;
    }
    writeln!(out, "</PointData><CellData>")?;
    if !fields.stresses.is_empty() {
        open(out, "Float64", "stress", 9)?;
        rows(out, fields.stresses.iter().map(|stress| stress.iter().copied()))?;
        open(out, "Float64", "tension", 1)?;
        rows(out, fields.stresses.iter().map(|stress| [max_principal(stress)]))?;
    }
    writeln!(out, "</CellData><Points>")?;
    open(out, "Float64", "points", 3)?;
    rows(out, mesh.vertices.iter().map(|p| p.iter().copied()))?;
    writeln!(out, "</Points><Cells>")?;
    open(out, "Int64", "connectivity", 1)?;
    rows(out, mesh.tets.iter().copied())?;
    open(out, "Int64", "offsets", 1)?;
    rows(out, (1..=cells).map(|n| [4 * n]))?;
    open(out, "UInt8", "types", 1)?;
    rows(out, (0..cells).map(|_| [VTK_TETRA]))?;
    writeln!(out, "</Cells></Piece></UnstructuredGrid></VTKFile>")
}

/// The VTK cell type of a linear tetrahedron.
const VTK_TETRA: u8 = 10;

fn open(out: &mut impl Write, kind: &str, name: &str, components: usize) -> io::Result<()> {
    write!(out, "<DataArray type=\"{kind}\" Name=\"{name}\" ")?;
    writeln!(out, "NumberOfComponents=\"{components}\" format=\"ascii\">")
}

/// The remainder of a data array.
fn rows<R: IntoIterator<Item: std::fmt::Display>>(
    out: &mut impl Write,
    rows: impl Iterator<Item = R>,
) -> io::Result<()> {
    for row in rows {
        line(out, row)?;
    }
    writeln!(out, "</DataArray>")
}

fn line<R: IntoIterator<Item: std::fmt::Display>>(out: &mut impl Write, row: R) -> io::Result<()> {
    for (n, x) in row.into_iter().enumerate() {
        if n > 0 {
            write!(out, " ")?;
        }
        write!(out, "{x}")?;
    }
    writeln!(out)
}

/// Writes a Gmsh file (version 2.2, text) with the fields as views.
///
/// # Errors
/// If `out` fails, or the fields have other numbers of entries than the mesh.
pub fn write_msh(out: &mut impl Write, mesh: &TetMesh, fields: &Fields<'_>) -> io::Result<()> {
    fields.check(mesh)?;
    writeln!(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}", mesh.vertices.len())?;
    for (n, p) in mesh.vertices.iter().enumerate() {
        writeln!(out, "{} {} {} {}", n + 1, p.x, p.y, p.z)?;
    }
    writeln!(out, "$EndNodes\n$Elements\n{}", mesh.tets.len())?;
    for (n, tet) in mesh.tets.iter().enumerate() {
        // Gmsh orients tetrahedra as we do; 4 is the tetrahedron type, and two tags are required
        let [a, b, c, d] = tet.map(|v| v + 1);
        writeln!(out, "{} 4 2 1 1 {a} {b} {c} {d}", n + 1)?;
    }
    writeln!(out, "$EndElements")?;
    let displacements = fields.displacements.iter().map(|u| u.iter().copied().collect());
    view(out, "Node", "displacement", 3, displacements)?;
    let stresses = fields.stresses.iter().map(|stress| stress.iter().copied().collect());
    view(out, "Element", "stress", 9, stresses)?;
    let tensions = fields.stresses.iter().map(|stress| vec![max_principal(stress)]);
    view(out, "Element", "tension", 1, tensions)
}

/// One view, unless it is empty.
fn view(
    out: &mut impl Write,
    place: &str,
    name: &str,
    components: usize,
    values: impl ExactSizeIterator<Item = Vec<f64>>,
) -> io::Result<()> {
    let count = values.len();
    if count == 0 {
        return Ok(());
    }
    writeln!(out, "${place}Data\n1\n\"{name}\"\n1\n0\n3\n0\n{components}\n{count}")?;
    for (n, value) in values.enumerate() {
        write!(out, "{} ", n + 1)?;
        line(out, value)?;
    }
    writeln!(out, "$End{place}Data")
}
