//! A pattern as one file.
//!
//! Little-endian: the magic `brispatt`, a `u32` version, in version 2 the noise of cuts (amplitude
//! and frequency as `f64`, octaves as `u32`, seed as `u64`), a `u32` count of regions, and per
//! region a `u32` kind. Kind 0, a convex cell: a `u32` count of planes, then per plane the unit
//! normal and the offset as `f64`. Kind 1, samples: `u32` nodes per axis, origin and spacing as
//! `f64`, the domain's lowest and highest corner as `f64`, then the samples as `f32`, the last axis
//! fastest.

use std::io::{self, Read, Write};

use levelset::{Aabb, Grid, LevelSet};
use nalgebra::{Point3, Vector3};
use ndarray::Array3;
use thiserror::Error;

use crate::Pattern;
use crate::cell::{Cell, Plane};
use crate::noise::Noise;
use crate::region::{Region, Sampled};

const MAGIC: [u8; 8] = *b"brispatt";
/// Versions without and with noise.
const WITHOUT_NOISE: u32 = 1;
const WITH_NOISE: u32 = 2;
const CELL: u32 = 0;
const SAMPLES: u32 = 1;
/// Limit of the sum of squares of the numbers of planes of all cells: the time of cutting a cell
/// grows with the square. One cell may have 4096 planes; 2^14 cells may have 32 each, twice as many
/// as cells of random points.
const MAX_SQUARES: u64 = 1 << 24;

/// Why a pattern cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadPatternError {
    /// The source failed, or ended early.
    #[error("reading the pattern: {0}")]
    Io(#[from] io::Error),
    /// The first bytes are not those of a pattern.
    #[error("this is no pattern file")]
    NotAPattern,
    /// Written by a later version.
    #[error(
        "pattern file version {found} is newer than {WITH_NOISE}, the newest this program reads"
    )]
    Version {
        /// Version of the file.
        found: u32,
    },
    /// It has no region or too many.
    #[error("a pattern has 1 to {} regions, not {found}", Pattern::MAX_REGIONS)]
    Count {
        /// Number of regions in the file.
        found: usize,
    },
    /// A number is not finite or exceeds its limit.
    #[error("region {region} of the pattern file: {what}")]
    Invalid {
        /// Index of the region.
        region: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The noise of cuts is not finite or exceeds its limits.
    #[error(
        "the amplitude, frequency or octaves of the noise of the pattern file are out of range"
    )]
    Noise,
    /// There are bytes after the last region.
    #[error("the pattern file has data after its last region")]
    TrailingBytes,
}

impl Pattern {
    /// Writes the pattern; [`Pattern::read`] restores it bit for bit, unless the squares of the
    /// numbers of planes of its cells add up to more than 2^24, which it rejects.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(&MAGIC)?;
        match self.drawn_noise() {
            None => out.write_all(&WITHOUT_NOISE.to_le_bytes())?,
            Some(Noise { amplitude, frequency, octaves, seed }) => {
                out.write_all(&WITH_NOISE.to_le_bytes())?;
                out.write_all(&amplitude.to_le_bytes())?;
                out.write_all(&frequency.to_le_bytes())?;
                out.write_all(&octaves.to_le_bytes())?;
                out.write_all(&seed.to_le_bytes())?;
            }
        }
        // counts are within u32 by the limits on regions, planes and samples
        out.write_all(&(self.region_count() as u32).to_le_bytes())?;
        for region in self.regions() {
            match region {
                Region::Cell(cell) => write_cell(cell, &mut out)?,
                Region::Sampled(sampled) => write_samples(sampled, &mut out)?,
            }
        }
        out.flush()
    }

    /// Reads a pattern. All counts of a damaged or hostile file are checked before use, and no more
    /// memory is allocated than there are bytes.
    ///
    /// # Errors
    /// [`ReadPatternError`] if this version cannot read it as a pattern.
    pub fn read(mut source: impl Read) -> Result<Self, ReadPatternError> {
        if bytes::<8>(&mut source)? != MAGIC {
            return Err(ReadPatternError::NotAPattern);
        }
        let version = word(&mut source)?;
        let noise = match version {
            WITHOUT_NOISE => None,
            WITH_NOISE => {
                let [amplitude, frequency] = numbers(&mut source)?;
                let octaves = word(&mut source)?;
                let seed = u64::from_le_bytes(bytes(&mut source)?);
                Some(Noise { amplitude, frequency, octaves, seed })
            }
            found => return Err(ReadPatternError::Version { found }),
        };
        let count = word(&mut source)? as usize;
        if !(1..=Self::MAX_REGIONS).contains(&count) {
            return Err(ReadPatternError::Count { found: count });
        }
        let mut regions = Vec::new();
        let (mut samples, mut squares) = (0, 0);
        for region in 0..count {
            let invalid = |what| ReadPatternError::Invalid { region, what };
            regions.push(match word(&mut source)? {
                CELL => Region::Cell(read_cell(&mut source, &mut squares)?.map_err(invalid)?),
                SAMPLES => {
                    let sampled = read_samples(&mut source, &mut samples)?;
                    Region::Sampled(sampled.map_err(invalid)?)
                }
                _ => return Err(invalid("it is neither a cell nor samples")),
            });
        }
        if source.read(&mut [0])? != 0 {
            return Err(ReadPatternError::TrailingBytes);
        }
        let pattern = Self::new(regions).expect("the count was checked");
        match noise {
            Some(noise) => pattern.with_drawn_noise(&noise).map_err(|_| ReadPatternError::Noise),
            None => Ok(pattern),
        }
    }
}

fn write_cell(cell: &Cell, out: &mut impl Write) -> io::Result<()> {
    out.write_all(&CELL.to_le_bytes())?;
    out.write_all(&(cell.planes().len() as u32).to_le_bytes())?;
    for plane in cell.planes() {
        write_numbers(plane.normal.iter().chain([&plane.offset]), out)?;
    }
    Ok(())
}

fn write_samples(sampled: &Sampled, out: &mut impl Write) -> io::Result<()> {
    let level_set = sampled.level_set();
    let grid = level_set.grid();
    out.write_all(&SAMPLES.to_le_bytes())?;
    for n in grid.dims() {
        out.write_all(&(n as u32).to_le_bytes())?;
    }
    write_numbers(grid.origin().iter().chain([&grid.spacing()]), out)?;
    let domain = sampled.domain();
    write_numbers(domain.min.iter().chain(domain.max.iter()), out)?;
    for row in level_set.as_slice().chunks(1024) {
        let bytes: Vec<u8> = row.iter().flat_map(|v| v.to_le_bytes()).collect();
        out.write_all(&bytes)?;
    }
    Ok(())
}

fn write_numbers<'a>(
    numbers: impl IntoIterator<Item = &'a f64>,
    out: &mut impl Write,
) -> io::Result<()> {
    numbers.into_iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
}

/// `squares` is the sum of the squares of the numbers of planes of the file so far.
fn read_cell(source: &mut impl Read, squares: &mut u64) -> io::Result<Result<Cell, &'static str>> {
    let planes = word(source)?;
    *squares += u64::from(planes).pow(2);
    if *squares > MAX_SQUARES {
        return Ok(Err(
            "it and the regions before have too many planes: cut it into fewer or simpler ones",
        ));
    }
    let mut cell = Cell::whole(&Pattern::REACH);
    for _ in 0..planes {
        let [x, y, z, offset] = numbers(source)?;
        let normal = Vector3::new(x, y, z);
        let is_unit = (normal.norm() - 1.0).abs() <= 1e-6;
        if !is_unit || !offset.is_finite() {
            return Ok(Err("a plane is not finite, or its normal not of unit length"));
        }
        cell = cell.cut(Plane { normal, offset });
    }
    Ok(Ok(cell))
}

/// `samples` counts all samples of the file so far.
fn read_samples(
    source: &mut impl Read,
    samples: &mut usize,
) -> io::Result<Result<Sampled, &'static str>> {
    let mut dims = [0; 3];
    for n in &mut dims {
        *n = word(source)? as usize;
    }
    let [ox, oy, oz, spacing] = numbers(source)?;
    let [ax, ay, az, bx, by, bz] = numbers(source)?;
    let domain = Aabb { min: Point3::new(ax, ay, az), max: Point3::new(bx, by, bz) };
    let ordered = (0..3).all(|a| domain.min[a] <= domain.max[a]);
    let finite = domain.min.iter().chain(domain.max.iter()).all(|x| x.is_finite());
    if !ordered || !finite {
        return Ok(Err("its domain is not a box"));
    }
    let left = (8 * Pattern::MAX_SAMPLES).saturating_sub(*samples);
    let Ok(grid) = Grid::new(Point3::new(ox, oy, oz), spacing, dims, left) else {
        return Ok(Err("its grid is not finite, or has too few or too many nodes"));
    };
    *samples += grid.node_count();
    let mut values = Vec::new();
    while values.len() < grid.node_count() {
        // grows as bytes arrive, so that a short file cannot trigger a long array
        let mut chunk = [0; 4096];
        let missing = 4 * (grid.node_count() - values.len());
        let chunk = &mut chunk[..missing.min(4096)];
        source.read_exact(chunk)?;
        values.extend(chunk.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
    }
    if values.iter().any(|v| !v.is_finite()) {
        return Ok(Err("a sample is not finite"));
    }
    let values = Array3::from_shape_vec(dims, values).map_err(io::Error::other)?;
    Ok(Ok(Sampled::new(&LevelSet::from_values(grid, values), domain)))
}

fn bytes<const N: usize>(source: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn word(source: &mut impl Read) -> io::Result<u32> {
    Ok(u32::from_le_bytes(bytes(source)?))
}

fn numbers<const N: usize>(source: &mut impl Read) -> io::Result<[f64; N]> {
    let mut numbers = [0.0; N];
    for x in &mut numbers {
        *x = f64::from_le_bytes(bytes(source)?);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Noise, Radial};

    fn files() -> [Vec<u8>; 2] {
        let cells = Pattern::radial(&Radial::new(5, 2, 3)).unwrap();
        let bounds = Aabb { min: Point3::new(-0.5, -0.2, -0.5), max: Point3::new(0.5, 0.2, 0.5) };
        let noise = Noise { amplitude: 0.05, frequency: 4.0, octaves: 2, seed: 7 };
        let noisy = cells.with_sampled_noise(&bounds, 0.1, &noise).unwrap();
        [cells, noisy].map(|pattern| {
            let mut file = Vec::new();
            pattern.write(&mut file).unwrap();
            file
        })
    }

    #[test]
    fn a_pattern_that_was_read_writes_the_same_file() {
        for file in files() {
            let mut again = Vec::new();
            Pattern::read(&file[..]).unwrap().write(&mut again).unwrap();
            assert!(file == again);
        }
    }

    #[test]
    fn cut_short_or_changed_files_are_errors_or_patterns_but_never_panics() {
        for file in files() {
            for end in (0..file.len()).step_by(7) {
                assert!(Pattern::read(&file[..end]).is_err());
            }
            for at in 0..file.len().min(4000) {
                for flip in [1, 0x80, 0xff] {
                    let mut changed = file.clone();
                    changed[at] ^= flip;
                    drop(Pattern::read(&changed[..]));
                }
            }
            let longer = [&file[..], &[0]].concat();
            assert!(matches!(Pattern::read(&longer[..]), Err(ReadPatternError::TrailingBytes)));
        }
    }

    #[test]
    fn a_claim_of_many_samples_is_refused_before_they_are_read() {
        let mut file = Vec::new();
        file.extend(MAGIC);
        for word in [WITHOUT_NOISE, 1, SAMPLES, u32::MAX, u32::MAX, u32::MAX] {
            file.extend(word.to_le_bytes());
        }
        for x in [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0_f64] {
            file.extend(x.to_le_bytes());
        }
        let error = Pattern::read(&file[..]).unwrap_err();
        assert!(matches!(error, ReadPatternError::Invalid { region: 0, .. }), "{error}");
    }
}
