//! VTK's legacy format, text and binary.

use super::Raw;
use super::numbers::{Coding, Numbers};
use crate::mesh_file::MeshFileError;

/// Tetrahedron cell types, of four nodes and of ten.
pub(super) const TETS: [u64; 2] = [10, 24];

pub(super) fn parse(bytes: &[u8]) -> Result<Raw, MeshFileError> {
    let mut numbers = Numbers::new(bytes, "VTK");
    let version = numbers.line().and_then(|line| line.strip_prefix("# vtk DataFile Version "));
    let Some(version) = version else {
        return Err(numbers.problem("a VTK file begins with `# vtk DataFile Version`"));
    };
    // since 5.0, cells are offsets and connectivity
    let has_offsets =
        version.split('.').next().and_then(|n| n.parse().ok()).is_some_and(|n: u32| n >= 5);
    numbers.line();
    let coding = match numbers.line() {
        Some("ASCII") => Coding::Text,
        Some("BINARY") => Coding::BigEndian,
        _ => return Err(numbers.problem("the third line must be ASCII or BINARY")),
    };
    let mut cells = Cells::default();
    let mut raw = Raw::default();
    while let Some(line) = numbers.full_line() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let count = |n: usize| words.get(n).and_then(|w| w.parse::<u64>().ok());
        match (words[0].to_ascii_uppercase().as_str(), count(1)) {
            ("DATASET", _) if words.get(1) != Some(&"UNSTRUCTURED_GRID") => {
                return Err(numbers.problem("the data set is no UNSTRUCTURED_GRID"));
            }
            ("POINTS", Some(n)) => {
                let is_single = words.get(2).is_some_and(|kind| kind.eq_ignore_ascii_case("float"));
                numbers.coding = coding;
                points(&mut numbers, n, is_single, &mut raw)?;
            }
            ("CELLS", Some(n)) if has_offsets => {
                let size =
                    count(2).ok_or_else(|| numbers.problem("CELLS lacks its second number"))?;
                cells.read_offsets(&mut numbers, coding, n, size)?;
            }
            ("CELLS", Some(n)) => {
                numbers.coding = coding;
                cells.read_lists(&mut numbers, n)?;
            }
            ("CELL_TYPES", Some(n)) => {
                numbers.coding = coding;
                for _ in 0..n {
                    cells.types.push(numbers.count()?);
                }
            }
            // the rest is fields
            ("POINT_DATA" | "CELL_DATA", _) => break,
            ("METADATA", _) => while numbers.line().is_some_and(|line| !line.is_empty()) {},
            _ => {}
        }
        numbers.coding = Coding::Text;
    }
    raw.tets = cells.tets(&numbers)?;
    Ok(raw)
}

fn points(
    numbers: &mut Numbers<'_>,
    count: u64,
    is_single: bool,
    raw: &mut Raw,
) -> Result<(), MeshFileError> {
    for number in 0..count {
        let place = if is_single {
            [numbers.single()?, numbers.single()?, numbers.single()?].into()
        } else {
            numbers.place()?
        };
        raw.vertices.push((number, place));
    }
    Ok(())
}

/// Cells of any kind.
#[derive(Default)]
pub(super) struct Cells {
    /// End of each cell in `nodes`.
    pub(super) ends: Vec<u64>,
    pub(super) nodes: Vec<u64>,
    pub(super) types: Vec<u64>,
}

impl Cells {
    fn read_lists(&mut self, numbers: &mut Numbers<'_>, count: u64) -> Result<(), MeshFileError> {
        for _ in 0..count {
            for _ in 0..numbers.count()? {
                self.nodes.push(numbers.count()?);
            }
            self.ends.push(self.nodes.len() as u64);
        }
        Ok(())
    }

    fn read_offsets(
        &mut self,
        numbers: &mut Numbers<'_>,
        coding: Coding,
        offsets: u64,
        nodes: u64,
    ) -> Result<(), MeshFileError> {
        for (name, count) in [("OFFSETS", offsets), ("CONNECTIVITY", nodes)] {
            let line = numbers.full_line().unwrap_or_default();
            let mut words = line.split_whitespace();
            if words.next() != Some(name) {
                return Err(numbers.problem(format!("{name} is missing")));
            }
            let is_long = words.next().is_some_and(|kind| kind.ends_with("int64"));
            numbers.coding = coding;
            for n in 0..count {
                let number = if is_long { numbers.long()? } else { numbers.count()? };
                // the first offset is 0
                match name {
                    "OFFSETS" if n > 0 => self.ends.push(number),
                    "OFFSETS" => {}
                    _ => self.nodes.push(number),
                }
            }
            numbers.coding = Coding::Text;
        }
        Ok(())
    }

    /// The corners of the tetrahedra among them.
    pub(super) fn tets(&self, numbers: &Numbers<'_>) -> Result<Vec<[u64; 4]>, MeshFileError> {
        if self.types.len() != self.ends.len() {
            let (cells, types) = (self.ends.len(), self.types.len());
            return Err(numbers.problem(format!("there are {cells} cells, but {types} types")));
        }
        let mut tets = Vec::new();
        let mut start = 0;
        for (n, (&end, kind)) in self.ends.iter().zip(&self.types).enumerate() {
            let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
            let nodes = range.and_then(|(start, end)| self.nodes.get(start..end));
            let problem = || numbers.problem(format!("cell {} has nodes beyond their list", n + 1));
            let nodes = nodes.ok_or_else(problem)?;
            if TETS.contains(kind) {
                let corners = nodes.first_chunk::<4>();
                let few = || numbers.problem(format!("tetrahedron {} has too few nodes", n + 1));
                tets.push(*corners.ok_or_else(few)?);
            }
            start = end;
        }
        Ok(tets)
    }
}
