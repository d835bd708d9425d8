//! The native binary format: a fixed header, then raw samples, little-endian.

use std::io::{self, Read, Write};

use bytemuck::{Pod, Zeroable};
use nalgebra::Point3;
use ndarray::Array3;
use thiserror::Error;

use crate::{CompactLevelSet, Grid, GridError, LevelSet};

/// Why a level set cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The source failed or ended early.
    #[error("reading a level set failed: {0}")]
    Io(#[from] io::Error),
    /// The first bytes are not those of the format.
    #[error("not a level set: the file does not start with \"BRLS\"")]
    NotALevelSet,
    /// The version is newer than this library, or damaged.
    #[error("level-set version {version} is not known; this library reads version {VERSION}")]
    Version {
        /// The version in the header.
        version: u32,
    },
    /// The samples are of the other kind.
    #[error(
        "the samples are of kind {found}, not {expected}: read kind 0 as `LevelSet` and kind 1 as \
         `CompactLevelSet`"
    )]
    Kind {
        /// The kind in the header: 0 for full samples, 1 for compact ones.
        found: u32,
        /// The expected kind.
        expected: u32,
    },
    /// The header describes no grid, or one beyond the limit; nothing was allocated.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The header's band is not positive, a sample is not finite, or a position is beyond 1e30 m.
    #[error("the level set contains invalid values: its band, a sample or a position")]
    Damaged,
    /// There are bytes after the samples.
    #[error("{count} bytes follow the samples")]
    Trailing {
        /// Their number.
        count: usize,
    },
}

const MAGIC: [u8; 4] = *b"BRLS";
const VERSION: u32 = 1;

/// The header of a file; 72 bytes, no padding.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 4],
    version: u32,
    kind: u32,
    reserved: u32,
    dims: [u32; 4],
    origin: [f64; 3],
    spacing: f64,
    band: f64,
}

/// Samples converted together, so that the caller's limit bounds memory whatever the header claims.
const CHUNK: usize = 1 << 16;

impl LevelSet {
    /// Writes all samples after a header of 72 bytes.
    ///
    /// # Errors
    /// Those of the writer.
    ///
    /// # Panics
    /// If an axis has more than `u32::MAX` nodes.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        writer.write_all(bytemuck::bytes_of(&header(self.grid(), 0, 0.0)))?;
        write_words(writer, self.as_slice(), |v| v.to_le_bytes())
    }

    /// Reads the output of [`LevelSet::write_to`], with at most `limit` nodes.
    ///
    /// # Errors
    /// [`ReadError`] if the source fails, is no level set of this version and kind, has more than
    /// `limit` nodes, or a number is not finite.
    pub fn read_from(reader: &mut impl Read, limit: usize) -> Result<Self, ReadError> {
        let (grid, _) = read_header(reader, 0, limit)?;
        let values: Vec<f32> = read_words(reader, grid.node_count(), f32::from_le_bytes)?;
        if !values.iter().all(|v| v.is_finite()) {
            return Err(ReadError::Damaged);
        }
        let [nx, ny, nz] = grid.dims();
        let values = Array3::from_shape_vec((nx, ny, nz), values).expect("one sample per node");
        Ok(Self::from_values(grid, values))
    }

    /// Reads a whole file of a level set, of at most `limit` nodes.
    ///
    /// # Errors
    /// As [`LevelSet::read_from`], and [`ReadError::Trailing`] if more bytes follow.
    pub fn from_bytes(mut bytes: &[u8], limit: usize) -> Result<Self, ReadError> {
        let solid = Self::read_from(&mut bytes, limit)?;
        if bytes.is_empty() { Ok(solid) } else { Err(ReadError::Trailing { count: bytes.len() }) }
    }
}

impl CompactLevelSet {
    /// Writes all steps after a header of 72 bytes.
    ///
    /// # Errors
    /// Those of the writer.
    ///
    /// # Panics
    /// If an axis has more than `u32::MAX` nodes.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        writer.write_all(bytemuck::bytes_of(&header(self.grid(), 1, self.band())))?;
        write_words(writer, self.steps(), |v| v.to_le_bytes())
    }

    /// Reads the output of [`CompactLevelSet::write_to`], with at most `limit` nodes.
    ///
    /// # Errors
    /// As [`LevelSet::read_from`].
    pub fn read_from(reader: &mut impl Read, limit: usize) -> Result<Self, ReadError> {
        let (grid, band) = read_header(reader, 1, limit)?;
        if !band.is_finite() || band <= 0.0 {
            return Err(ReadError::Damaged);
        }
        let steps = read_words(reader, grid.node_count(), i16::from_le_bytes)?;
        Ok(Self::from_parts(grid, band, steps))
    }
}

fn header(grid: &Grid, kind: u32, band: f64) -> Header {
    let [nx, ny, nz] = grid.dims().map(|n| u32::try_from(n).expect("documented limit").to_le());
    let number = |x: f64| f64::from_bits(x.to_bits().to_le());
    Header {
        magic: MAGIC,
        version: VERSION.to_le(),
        kind: kind.to_le(),
        reserved: 0,
        dims: [nx, ny, nz, 0],
        origin: grid.origin().coords.map(number).into(),
        spacing: number(grid.spacing()),
        band: number(band),
    }
}

fn read_header(
    reader: &mut impl Read,
    expected: u32,
    limit: usize,
) -> Result<(Grid, f64), ReadError> {
    let mut header = Header::zeroed();
    reader.read_exact(bytemuck::bytes_of_mut(&mut header))?;
    if header.magic != MAGIC {
        return Err(ReadError::NotALevelSet);
    }
    let (version, found) = (u32::from_le(header.version), u32::from_le(header.kind));
    if version != VERSION {
        return Err(ReadError::Version { version });
    }
    if found != expected {
        return Err(ReadError::Kind { found, expected });
    }
    let number = |x: f64| f64::from_bits(u64::from_le(x.to_bits()));
    let dims = [0, 1, 2].map(|a| u32::from_le(header.dims[a]) as usize);
    let origin = Point3::from(header.origin.map(number));
    // volumes of larger or more distant grids are not finite
    let far = |x: f64| x.abs() > 1e30;
    if origin.iter().copied().any(far) || far(number(header.spacing) * 4_294_967_296.0) {
        return Err(ReadError::Damaged);
    }
    let grid = Grid::new(origin, number(header.spacing), dims, limit)?;
    Ok((grid, number(header.band)))
}

fn write_words<T: Copy, const N: usize>(
    writer: &mut impl Write,
    words: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> io::Result<()> {
    for chunk in words.chunks(CHUNK) {
        let bytes: Vec<u8> = chunk.iter().flat_map(|&w| bytes(w)).collect();
        writer.write_all(&bytes)?;
    }
    Ok(())
}

fn read_words<T, const N: usize>(
    reader: &mut impl Read,
    count: usize,
    word: impl Fn([u8; N]) -> T,
) -> io::Result<Vec<T>> {
    let mut words = Vec::new();
    let mut buffer = vec![0; N * CHUNK];
    // grows as bytes arrive, so that a header alone cannot trigger a large allocation
    while words.len() < count {
        let bytes = &mut buffer[..N * CHUNK.min(count - words.len())];
        reader.read_exact(bytes)?;
        words.extend(bytes.as_chunks::<N>().0.iter().map(|&b| word(b)));
    }
    Ok(words)
}
