//! Gmsh, versions 2.2 and 4.1, text and binary.

use super::Raw;
use super::numbers::{Coding, Numbers};
use crate::mesh_file::MeshFileError;

/// Number of nodes of each element type from 1 on.
const NODES: [usize; 31] = [
    2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5, 6,
    20, 35, 56,
];

/// Tetrahedron types, corners first: of 4, 10, 20, 35 and 56 nodes.
const TETS: [u64; 5] = [4, 11, 29, 30, 31];

pub(super) fn parse(bytes: &[u8]) -> Result<Raw, MeshFileError> {
    let mut numbers = Numbers::new(bytes, "Gmsh");
    let mut version = None;
    let mut raw = Raw::default();
    while let Some(line) = numbers.full_line() {
        match (line, version) {
            ("$MeshFormat", _) => version = Some(header(&mut numbers)?),
            ("$Nodes", Some(Version::Two)) => nodes_2(&mut numbers, &mut raw)?,
            ("$Nodes", Some(Version::Four)) => nodes_4(&mut numbers, &mut raw)?,
            ("$Elements", Some(Version::Two)) => elements_2(&mut numbers, &mut raw)?,
            ("$Elements", Some(Version::Four)) => elements_4(&mut numbers, &mut raw)?,
            (_, None) => return Err(numbers.problem("a Gmsh file begins with $MeshFormat")),
            (section, Some(_)) => {
                // its content may be binary
                if let Some(name) = section.strip_prefix('$').filter(|n| !n.starts_with("End")) {
                    numbers.skip_past(&format!("$End{name}"))?;
                }
            }
        }
    }
    Ok(raw)
}

#[derive(Clone, Copy)]
enum Version {
    Two,
    Four,
}

fn header(numbers: &mut Numbers<'_>) -> Result<Version, MeshFileError> {
    let version = match numbers.word()? {
        "2" | "2.0" | "2.1" | "2.2" => Version::Two,
        "4.1" => Version::Four,
        other => {
            let problem = format!("Gmsh version {other} is not read: save it as 2.2 or 4.1");
            return Err(numbers.problem(problem));
        }
    };
    let is_binary = match numbers.int()? {
        0 => false,
        1 => true,
        other => return Err(numbers.problem(format!("{other} is neither text (0) nor binary (1)"))),
    };
    if numbers.int()? != 8 {
        return Err(numbers.problem("numbers are not of 8 bytes: save them so"));
    }
    numbers.line();
    if is_binary {
        numbers.coding = Coding::LittleEndian;
        if numbers.int()? != 1 {
            return Err(
                numbers.problem("bytes are in the order of another machine: save it as text")
            );
        }
    }
    Ok(version)
}

fn nodes_2(numbers: &mut Numbers<'_>, raw: &mut Raw) -> Result<(), MeshFileError> {
    for _ in 0..text_count(numbers)? {
        let number = numbers.count()?;
        raw.vertices.push((number, numbers.place()?));
    }
    Ok(())
}

/// A count that is text in binary files too, on a separate line.
fn text_count(numbers: &mut Numbers<'_>) -> Result<u64, MeshFileError> {
    let coding = std::mem::replace(&mut numbers.coding, Coding::Text);
    let count = numbers.long()?;
    numbers.line();
    numbers.coding = coding;
    Ok(count)
}

fn elements_2(numbers: &mut Numbers<'_>, raw: &mut Raw) -> Result<(), MeshFileError> {
    let mut left = text_count(numbers)?;
    while left > 0 {
        // in text every element has its own header, in the order number, type, tags
        let (kind, follow, tags) = if numbers.coding == Coding::Text {
            numbers.count()?;
            (numbers.count()?, 1, numbers.count()?)
        } else {
            (numbers.count()?, numbers.count()?, numbers.count()?)
        };
        if follow == 0 || follow > left {
            return Err(numbers.problem(format!("{follow} elements follow where {left} are left")));
        }
        for _ in 0..follow {
            let number = u64::from(numbers.coding != Coding::Text);
            for _ in 0..tags + number {
                numbers.int()?;
            }
            element(numbers, kind, raw, |numbers| numbers.count())?;
        }
        left -= follow;
    }
    Ok(())
}

fn nodes_4(numbers: &mut Numbers<'_>, raw: &mut Raw) -> Result<(), MeshFileError> {
    let blocks = numbers.long()?;
    for _ in 0..3 {
        numbers.long()?;
    }
    for _ in 0..blocks {
        let (dimension, _, parametric) = (numbers.count()?, numbers.int()?, numbers.int()?);
        let count = numbers.long()?;
        let first = raw.vertices.len();
        for _ in 0..count {
            raw.vertices.push((numbers.long()?, nalgebra::Point3::origin()));
        }
        for n in first..raw.vertices.len() {
            raw.vertices[n].1 = numbers.place()?;
            for _ in 0..if parametric == 0 { 0 } else { dimension.min(3) } {
                numbers.double()?;
            }
        }
    }
    Ok(())
}

fn elements_4(numbers: &mut Numbers<'_>, raw: &mut Raw) -> Result<(), MeshFileError> {
    let blocks = numbers.long()?;
    for _ in 0..3 {
        numbers.long()?;
    }
    for _ in 0..blocks {
        numbers.int()?;
        numbers.int()?;
        let kind = numbers.count()?;
        for _ in 0..numbers.long()? {
            numbers.long()?;
            element(numbers, kind, raw, |numbers| numbers.long())?;
        }
    }
    Ok(())
}

fn element(
    numbers: &mut Numbers<'_>,
    kind: u64,
    raw: &mut Raw,
    node: impl Fn(&mut Numbers<'_>) -> Result<u64, MeshFileError>,
) -> Result<(), MeshFileError> {
    let known = usize::try_from(kind).ok().and_then(|kind| NODES.get(kind.checked_sub(1)?));
    let Some(&count) = known else {
        return Err(numbers.problem(format!("elements of type {kind} are not known")));
    };
    let mut corners = [0; 4];
    for n in 0..count {
        let node = node(numbers)?;
        if let Some(corner) = corners.get_mut(n) {
            *corner = node;
        }
    }
    if TETS.contains(&kind) {
        raw.tets.push(corners);
    }
    Ok(())
}
