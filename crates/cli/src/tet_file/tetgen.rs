//! `TetGen`: vertices in one file, tetrahedra in another.

use super::Raw;
use super::numbers::Numbers;
use crate::mesh_file::MeshFileError;

pub(super) fn parse(nodes: &[u8], elements: &[u8]) -> Result<Raw, MeshFileError> {
    let mut raw = Raw::default();
    let mut numbers = Numbers::with_comments(nodes, "TetGen");
    let (count, dimension) = (numbers.long()?, numbers.long()?);
    if dimension != 3 {
        return Err(numbers.problem(format!("vertices have {dimension} coordinates, not 3")));
    }
    let extra = numbers.long()?.saturating_add(numbers.long()?);
    for _ in 0..count {
        let number = numbers.long()?;
        raw.vertices.push((number, numbers.place()?));
        skip(&mut numbers, extra)?;
    }
    let mut numbers = Numbers::with_comments(elements, "TetGen");
    let (count, corners, extra) = (numbers.long()?, numbers.long()?, numbers.long()?);
    if corners != 4 && corners != 10 {
        return Err(numbers.problem(format!("tetrahedra have {corners} nodes, not 4 or 10")));
    }
    for _ in 0..count {
        numbers.long()?;
        let tet = [numbers.long()?, numbers.long()?, numbers.long()?, numbers.long()?];
        raw.tets.push(tet);
        skip(&mut numbers, (corners - 4).saturating_add(extra))?;
    }
    Ok(raw)
}

fn skip(numbers: &mut Numbers<'_>, count: u64) -> Result<(), MeshFileError> {
    for _ in 0..count {
        numbers.word()?;
    }
    Ok(())
}
