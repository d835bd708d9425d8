//! Reader of the data before the tree of a grid: the header, descriptors, metadata and the
//! transform.

use super::layout::{MAGIC, TREE, VdbError};
use super::reader::Reader;
use super::tree::Tree;

/// The tree of a level set, and its voxel transform.
pub(super) struct Found<'a> {
    pub(super) tree: Tree<'a>,
    /// Voxel spacing, m.
    pub(super) scale: f64,
    /// Position of voxel index zero, m.
    pub(super) origin: [f64; 3],
}

/// Finds the first level set of a file.
pub(super) fn find(bytes: &[u8]) -> Result<Found<'_>, VdbError> {
    let mut reader = Reader { bytes, at: 0 };
    if reader.i64()?.cast_unsigned() != MAGIC {
        return Err(VdbError::Damaged("it starts with other bytes"));
    }
    let version = reader.u32()?;
    if !(222..=224).contains(&version) {
        let problem = format!("is of version {version}: save it with OpenVDB 3 to 12");
        return Err(VdbError::Unknown(problem));
    }
    reader.take(8)?;
    let has_offsets = reader.u8()? != 0;
    reader.take(36)?;
    reader.metadata("")?;
    let mut others = Vec::new();
    for _ in 0..reader.u32()? {
        let [name, kind, parent] = [reader.text()?, reader.text()?, reader.text()?];
        let [_, _, end] = [reader.i64()?, reader.i64()?, reader.i64()?];
        let name = name.split('\u{1e}').next().unwrap_or_default().to_owned();
        let start = reader;
        match grid(&mut reader, &kind, &parent)? {
            Ok(found) => return Ok(found),
            Err(what) => others.push(format!("`{name}` is {what}")),
        }
        let end = usize::try_from(end).unwrap_or(0);
        if !has_offsets || end <= start.at || end > bytes.len() {
            break;
        }
        reader.at = end;
    }
    let problem = match others.is_empty() {
        true => "holds no grid: save a level set".to_owned(),
        false => {
            format!("holds no level set of single precision ({}): save one", others.join(", "))
        }
    };
    Err(VdbError::Unknown(problem))
}

/// A grid, or why it is not a supported level set.
fn grid<'a>(
    reader: &mut Reader<'a>,
    kind: &str,
    parent: &str,
) -> Result<Result<Found<'a>, String>, VdbError> {
    let compression = reader.u32()?;
    let class = reader.metadata("class")?.map(String::from_utf8_lossy);
    let class = class.as_deref().unwrap_or("unknown");
    if kind.ends_with("_HalfFloat") {
        return Ok(Err("in half precision".to_owned()));
    }
    if kind != TREE {
        return Ok(Err(format!("of type {kind}")));
    }
    if !parent.is_empty() {
        return Ok(Err(format!("the same as `{parent}`")));
    }
    if !matches!(class, "level set" | "unknown") {
        return Ok(Err(format!("of class {class}")));
    }
    let (scale, origin) = transform(reader)?;
    Ok(Ok(Found { tree: Tree { reader: *reader, compression }, scale, origin }))
}

/// Relative tolerance for equal scales along the axes.
const UNEVEN: f64 = 1e-6;

/// The voxel spacing and the position of index zero, m.
fn transform(reader: &mut Reader<'_>) -> Result<(f64, [f64; 3]), VdbError> {
    let unknown = |problem: String| Err(VdbError::Unknown(problem));
    let kind = reader.text()?;
    let (scales, origin) = match kind.as_str() {
        "UniformScaleMap" | "ScaleMap" => {
            let scales = reader.doubles::<3>()?;
            reader.doubles::<12>()?;
            (scales, [0.0; 3])
        }
        "UniformScaleTranslateMap" | "ScaleTranslateMap" => {
            let (origin, scales) = (reader.doubles::<3>()?, reader.doubles::<3>()?);
            reader.doubles::<12>()?;
            (scales, origin)
        }
        "TranslationMap" => ([1.0; 3], reader.doubles::<3>()?),
        "AffineMap" => {
            let m = reader.doubles::<16>()?;
            let turned = [1, 2, 4, 6, 8, 9].iter().any(|&n| m[n] != 0.0);
            if turned {
                return unknown("is turned: resample it along the axes".to_owned());
            }
            ([m[0], m[5], m[10]], [m[12], m[13], m[14]])
        }
        _ => return unknown(format!("has a {kind}, no uniform scale: resample it")),
    };
    let [scale, y, z] = scales;
    if [y, z].iter().any(|other| (other - scale).abs() > UNEVEN * scale.abs()) {
        return unknown("has voxels that are no cubes: resample it".to_owned());
    }
    let is_near = scale > 0.0 && scale <= 1e20 && origin.iter().all(|x| x.abs() <= 1e30);
    if !is_near {
        return unknown("has voxels of no size, or farther off than 1e30 m".to_owned());
    }
    Ok((scale, origin))
}
