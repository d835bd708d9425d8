//! VTK's XML format for unstructured grids.

use roxmltree::{Document, Node};

use super::Raw;
use super::numbers::{Coding, Numbers};
use super::vtk::Cells;
use crate::mesh_file::MeshFileError;
use crate::vtk_xml::{Lists, split};

fn problem(problem: impl Into<String>) -> MeshFileError {
    MeshFileError::Format { format: "VTU", problem: problem.into() }
}

pub(super) fn parse(bytes: &[u8]) -> Result<Raw, MeshFileError> {
    let (head, tail) = split(bytes, "VTU")?;
    let document = Document::parse(&head).map_err(|e| problem(e.to_string()))?;
    let root = document.root_element();
    if root.attribute("type") != Some("UnstructuredGrid") {
        return Err(problem("it holds no unstructured grid"));
    }
    let lists = Lists::new(&root, tail, (bytes.len(), "VTU"))?;
    let mut raw = Raw::default();
    for piece in root.descendants().filter(|node| node.has_tag_name("Piece")) {
        read_piece(&lists, &piece, &mut raw)?;
    }
    Ok(raw)
}

fn read_piece(lists: &Lists<'_>, piece: &Node<'_, '_>, raw: &mut Raw) -> Result<(), MeshFileError> {
    let section = |name: &str| piece.children().find(|node| node.has_tag_name(name));
    let arrays = |name: &str| {
        let section = section(name).ok_or_else(|| problem(format!("{name} are missing")))?;
        Ok::<_, MeshFileError>(section.children().filter(|n| n.has_tag_name("DataArray")))
    };
    let first = raw.vertices.len() as u64;
    for array in arrays("Points")?.take(1) {
        let places = lists.list(&array, |numbers, kind| match kind {
            "Float32" => numbers.single(),
            "Float64" => numbers.double(),
            other => Err(problem(format!("points are of type {other}"))),
        })?;
        let (places, rest) = places.as_chunks::<3>();
        if !rest.is_empty() {
            return Err(problem("a point has less than 3 coordinates"));
        }
        raw.vertices.extend((first..).zip(places.iter().map(|p| (*p).into())));
    }
    let mut cells = Cells::default();
    for array in arrays("Cells")? {
        let list = match array.attribute("Name") {
            Some("connectivity") => &mut cells.nodes,
            Some("offsets") => &mut cells.ends,
            Some("types") => &mut cells.types,
            _ => continue,
        };
        *list = lists.list(&array, |numbers, kind| match kind {
            "Int64" | "UInt64" => numbers.long(),
            "Int32" | "UInt32" => numbers.count(),
            "Int8" | "UInt8" if numbers.coding == Coding::Text => numbers.long(),
            "Int8" | "UInt8" => Ok(numbers.bytes::<1>()?[0].into()),
            other => Err(problem(format!("cells are of type {other}"))),
        })?;
    }
    let tets = cells.tets(&Numbers::new(&[], "VTU"))?;
    let count = raw.vertices.len() as u64 - first;
    if let Some(vertex) = tets.iter().flatten().find(|v| **v >= count) {
        return Err(problem(format!("a tetrahedron names point {vertex} of {count}")));
    }
    raw.tets.extend(tets.into_iter().map(|tet| tet.map(|v| v + first)));
    Ok(())
}
