//! Level set files: our own `.lset`, VTK image data, `.vti`, and OpenVDB `.vdb`.

mod vdb;

use std::io::Write;
use std::path::Path;

use levelset::{Grid, LevelSet, ReadError};
use nalgebra::Point3;
use ndarray::Array3;
use roxmltree::{Document, Node};
use thiserror::Error;

use crate::format::vtu::compressed;
use crate::mesh_file::MeshFileError;
use crate::vtk_xml::{Lists, split};

pub use vdb::VdbError;

/// File extensions that [`read_volume`] and [`write_volume`] support.
pub const ENDINGS: &str = ".lset, .vti or .vdb";

/// Why a volume cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VolumeFileError {
    /// The file cannot be read.
    #[error("cannot be read ({0}): check the path")]
    Read(#[from] std::io::Error),
    /// A `.lset` file is damaged or of a different kind.
    #[error("{0}: create the file again with `brisance voxelize`")]
    LevelSet(#[from] ReadError),
    /// A `.vti` file is invalid.
    #[error(transparent)]
    Image(#[from] MeshFileError),
    /// A `.vdb` file is invalid.
    #[error(transparent)]
    Vdb(#[from] VdbError),
}

/// Whether a file name has a supported volume format.
pub fn is_volume(path: &Path) -> bool {
    ["lset", "vti", "vdb"].iter().any(|known| ending_is(path, known))
}

fn ending_is(path: &Path, known: &str) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(known))
}

/// Reads the level set at `path` by its extension, of at most `limit` nodes. From `.vti` it reads
/// the point array `distance`, or the first one: signed distance, negative inside. From `.vdb` it
/// reads the first single-precision level set, uncompressed or compressed by zip or Blosc;
/// distances beyond its narrow band are recomputed.
///
/// # Errors
/// [`VolumeFileError`] if the file cannot be read, is malformed, has more nodes, or samples that
/// are not finite.
pub fn read_volume(path: &Path, limit: usize) -> Result<LevelSet, VolumeFileError> {
    let bytes = crate::input::read(path)?;
    if ending_is(path, "vti") {
        Ok(image(&bytes, limit)?)
    } else if ending_is(path, "vdb") {
        Ok(vdb::read(&bytes, limit)?)
    } else {
        Ok(LevelSet::from_bytes(&bytes, limit)?)
    }
}

/// Writes a level set by the extension of `path`; `.vdb` contains distances within three voxels of
/// the surface.
///
/// # Errors
/// The error of the writer.
pub fn write_volume(path: &Path, solid: &LevelSet, out: &mut impl Write) -> std::io::Result<()> {
    if ending_is(path, "vti") {
        write_image(solid, out)
    } else if ending_is(path, "vdb") {
        vdb::write(solid, out)
    } else {
        solid.write_to(out)
    }
}

fn problem(problem: impl Into<String>) -> MeshFileError {
    MeshFileError::Format { format: "VTI", problem: problem.into() }
}

/// Relative tolerance for equal spacings along the axes.
const UNEVEN: f64 = 1e-6;

fn image(bytes: &[u8], limit: usize) -> Result<LevelSet, MeshFileError> {
    let (head, tail) = split(bytes, "VTI")?;
    let document = Document::parse(&head).map_err(|e| problem(e.to_string()))?;
    let root = document.root_element();
    let image = root.children().find(|node| node.has_tag_name("ImageData"));
    let image = image.ok_or_else(|| problem("it holds no image data"))?;
    let grid = grid(&image, limit)?;
    let mut pieces = image.children().filter(|node| node.has_tag_name("Piece"));
    let piece = pieces.next().ok_or_else(|| problem("it has no piece"))?;
    if pieces.next().is_some()
        || numbers(&piece, "Extent", None)? != numbers(&image, "WholeExtent", None)?
    {
        return Err(problem("it is in several pieces: save it as one"));
    }
    let array = scalars(&piece)?;
    let lists = Lists::new(&root, tail, (bytes.len(), "VTI"))?;
    let values = lists.list(&array, |numbers, kind| match kind {
        "Float32" => numbers.single(),
        "Float64" => numbers.double(),
        other => Err(problem(format!("distances are of type {other}, not Float32 or Float64"))),
    })?;
    let [nx, ny, nz] = grid.dims();
    if values.len() != grid.node_count() {
        return Err(problem(format!(
            "it has {} distances for {} points",
            values.len(),
            grid.node_count()
        )));
    }
    let value = |(i, j, k): (usize, usize, usize)| values[i + nx * (j + ny * k)] as f32;
    let samples = Array3::from_shape_fn((nx, ny, nz), value);
    if !samples.iter().all(|x| x.is_finite()) {
        return Err(problem("a distance is not a finite number"));
    }
    Ok(LevelSet::from_values(grid, samples))
}

/// The grid of image data.
fn grid(image: &Node<'_, '_>, limit: usize) -> Result<Grid, MeshFileError> {
    let extent = numbers(image, "WholeExtent", None)?;
    let [low_x, high_x, low_y, high_y, low_z, high_z] = extent[..] else {
        return Err(problem("its extent must be six whole numbers"));
    };
    let origin = three(&numbers(image, "Origin", Some(&[0.0; 3]))?, "Origin")?;
    let [spacing, y, z] = three(&numbers(image, "Spacing", Some(&[1.0; 3]))?, "Spacing")?;
    if [y, z].iter().any(|other| (other - spacing).abs() > UNEVEN * spacing.abs()) {
        return Err(problem("its spacings differ: resample it with equal ones"));
    }
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    if numbers(image, "Direction", Some(&identity))? != identity {
        return Err(problem("it is turned: resample it along the axes"));
    }
    let low = [low_x, low_y, low_z];
    let counts = [high_x - low_x, high_y - low_y, high_z - low_z].map(|n| n + 1.0);
    if !counts.iter().all(|n| (2.0..=4e9).contains(n)) {
        return Err(problem("its extent must be of two points or more along each axis"));
    }
    let corner = Point3::from([0, 1, 2].map(|k| origin[k] + low[k] * spacing));
    if corner.iter().any(|x| x.abs() > 1e30) || spacing.abs() > 1e20 {
        return Err(problem("it is farther off or larger than 1e30 m"));
    }
    Grid::new(corner, spacing, counts.map(|n| n as usize), limit)
        .map_err(|e| problem(e.to_string()))
}

fn three(numbers: &[f64], name: &str) -> Result<[f64; 3], MeshFileError> {
    numbers.try_into().map_err(|_| problem(format!("{name} must be three numbers")))
}

/// The numbers of an attribute.
fn numbers(
    node: &Node<'_, '_>,
    name: &str,
    default: Option<&[f64]>,
) -> Result<Vec<f64>, MeshFileError> {
    let Some(text) = node.attribute(name) else {
        let default = default.map(<[f64]>::to_vec);
        return default.ok_or_else(|| problem(format!("the attribute {name} is missing")));
    };
    let number = |word: &str| word.parse().ok().filter(|x: &f64| x.is_finite());
    let all: Option<Vec<f64>> = text.split_whitespace().map(number).collect();
    all.ok_or_else(|| problem(format!("the attribute {name} must hold numbers, not `{text}`")))
}

/// The array of signed distances.
fn scalars<'a, 'i>(piece: &Node<'a, 'i>) -> Result<Node<'a, 'i>, MeshFileError> {
    let data = piece.children().find(|node| node.has_tag_name("PointData"));
    let arrays =
        || data.iter().flat_map(|data| data.children()).filter(|n| n.has_tag_name("DataArray"));
    let named = |name: &str| arrays().find(|array| array.attribute("Name") == Some(name));
    let active = data.and_then(|data| data.attribute("Scalars"));
    let array = named("distance").or_else(|| active.and_then(named)).or_else(|| arrays().next());
    let array =
        array.ok_or_else(|| problem("its points have no data: give signed distance at points"))?;
    match array.attribute("NumberOfComponents") {
        None | Some("1") => Ok(array),
        Some(_) => Err(problem("its data at points are no single numbers: give signed distance")),
    }
}

fn write_image(solid: &LevelSet, out: &mut impl Write) -> std::io::Result<()> {
    let grid = solid.grid();
    let [nx, ny, nz] = grid.dims();
    let [x, y, z]: [f64; 3] = grid.origin().coords.into();
    let spacing = grid.spacing();
    let (right, top, back) = (nx - 1, ny - 1, nz - 1);
    let mut samples = Vec::with_capacity(4 * grid.node_count());
    for (j, k) in (0..nz).flat_map(|k| (0..ny).map(move |j| (j, k))) {
        (0..nx).for_each(|i| samples.extend(solid.values()[[i, j, k]].to_le_bytes()));
    }
    let data = compressed(&samples)?;
    write!(
        out,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n\
         <ImageData WholeExtent=\"0 {right} 0 {top} 0 {back}\" Origin=\"{x:?} {y:?} {z:?}\" \
         Spacing=\"{spacing:?} {spacing:?} {spacing:?}\">\n<Piece Extent=\"0 {right} 0 {top} 0 {back}\">\n\
         <PointData Scalars=\"distance\">\n\
         <DataArray type=\"Float32\" Name=\"distance\" format=\"appended\" offset=\"0\"/>\n</PointData>\n\
         <CellData>\n</CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_"
    )?;
    out.write_all(&data)?;
    write!(out, "\n</AppendedData>\n</VTKFile>\n")
}
