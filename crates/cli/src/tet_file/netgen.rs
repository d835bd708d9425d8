//! NETGEN's neutral volume meshes.

use super::Raw;
use super::numbers::Numbers;
use crate::mesh_file::MeshFileError;

pub(super) fn parse(bytes: &[u8]) -> Result<Raw, MeshFileError> {
    let mut numbers = Numbers::with_comments(bytes, "NETGEN");
    let mut raw = Raw::default();
    let mut is_mesh = false;
    while let Some(line) = numbers.full_line() {
        match line {
            "mesh3d" => is_mesh = true,
            "volumeelements" => elements(&mut numbers, &mut raw)?,
            "points" => {
                for number in 1..=numbers.long()? {
                    raw.vertices.push((number, numbers.place()?));
                }
            }
            "endmesh" => break,
            // rows of other sections
            _ => {}
        }
    }
    if is_mesh { Ok(raw) } else { Err(numbers.problem("a NETGEN file has a line `mesh3d`")) }
}

fn elements(numbers: &mut Numbers<'_>, raw: &mut Raw) -> Result<(), MeshFileError> {
    for _ in 0..numbers.long()? {
        let (_, count) = (numbers.long()?, numbers.long()?);
        let mut corners = [0; 4];
        for n in 0..count {
            let node = numbers.long()?;
            if let Some(corner) = usize::try_from(n).ok().and_then(|n| corners.get_mut(n)) {
                *corner = node;
            }
        }
        if count == 4 || count == 10 {
            raw.tets.push(corners);
        }
    }
    Ok(())
}
