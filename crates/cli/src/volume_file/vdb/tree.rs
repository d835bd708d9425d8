//! The tree of a grid.

use std::collections::BTreeSet;
use std::io::Read;

use super::blosc;
use super::layout::{ACTIVE_MASK, BLOSC, VdbError, WIDTHS, ZIP};
use super::reader::Reader;

/// The unread tree of a grid.
#[derive(Clone)]
pub(super) struct Tree<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) compression: u32,
}

/// A part of a tree with its values.
pub(super) enum Part<'v> {
    /// A cube of `size` equal voxels along an axis.
    Tile { origin: [i64; 3], size: i64, value: f32, is_active: bool },
    /// A cube of 8 voxels along an axis.
    Leaf { origin: [i64; 3], values: &'v [f32], mask: &'v [u8] },
}

/// Callback for each part.
type Visit<'v> = dyn FnMut(Part<'_>) -> Result<(), VdbError> + 'v;

/// The coordinates of value `n` in a cube with `2^width` along an axis.
pub(super) fn coordinates(n: usize, width: u32) -> [i64; 3] {
    let mask = (1 << width) - 1;
    [n >> (2 * width), (n >> width) & mask, n & mask].map(|x| x as i64)
}

fn is_on(mask: &[u8], n: usize) -> bool {
    mask[n / 8] >> (n % 8) & 1 == 1
}

impl Part<'_> {
    /// Calls `visit` with the first and the last voxel of each active cube.
    pub(super) fn active(&self, visit: &mut impl FnMut([i64; 3], [i64; 3])) {
        match self {
            Self::Tile { origin, size, is_active: true, .. } => {
                visit(*origin, origin.map(|x| x + size - 1));
            }
            Self::Tile { .. } => {}
            Self::Leaf { origin, mask, .. } => {
                for n in (0..512).filter(|&n| is_on(mask, n)) {
                    let at = coordinates(n, WIDTHS[2]);
                    let at = [0, 1, 2].map(|k| origin[k] + at[k]);
                    visit(at, at);
                }
            }
        }
    }
}

impl Tree<'_> {
    /// Visits all parts except background tiles outside; returns the background.
    pub(super) fn walk(mut self, visit: &mut Visit<'_>) -> Result<f32, VdbError> {
        if self.reader.u32()? != 1 {
            return Err(VdbError::Damaged("it has several buffers"));
        }
        let background = self.reader.f32()?;
        let (tiles, children) = (self.reader.u32()?, self.reader.u32()?);
        let size = 1_i64 << WIDTHS.iter().sum::<u32>();
        let (mut taken, mut leaves) = (BTreeSet::new(), Vec::new());
        for n in 0..u64::from(tiles) + u64::from(children) {
            let mut origin = [0; 3];
            for x in &mut origin {
                *x = i64::from(self.reader.i32()?);
            }
            if origin.iter().any(|x| x.rem_euclid(size) != 0) || !taken.insert(origin) {
                return Err(VdbError::Damaged("its top nodes overlap"));
            }
            if n < u64::from(tiles) {
                let (value, is_active) = (self.reader.f32()?, self.reader.u8()? != 0);
                visit(Part::Tile { origin, size, value, is_active })?;
            } else {
                self.topology(0, origin, background, &mut leaves, visit)?;
            }
        }
        for origin in leaves {
            let mask = self.reader.take(64)?;
            let values = self.values(512, mask, background)?;
            visit(Part::Leaf { origin, values: &values, mask })?;
        }
        Ok(background)
    }

    /// Reads the masks and tiles of a node and of its descendants, and collects the leaves.
    fn topology(
        &mut self,
        level: usize,
        origin: [i64; 3],
        background: f32,
        leaves: &mut Vec<[i64; 3]>,
        visit: &mut Visit<'_>,
    ) -> Result<(), VdbError> {
        let width = WIDTHS[level];
        if level == 2 {
            self.reader.take(64)?;
            leaves.push(origin);
            return Ok(());
        }
        let count = 1_usize << (3 * width);
        let (children, active) = (self.reader.take(count / 8)?, self.reader.take(count / 8)?);
        let values = self.values(count, active, background)?;
        let size = 1_i64 << WIDTHS[level + 1..].iter().sum::<u32>();
        let place = |n: usize| {
            let at = coordinates(n, width);
            [0, 1, 2].map(|k| origin[k] + size * at[k])
        };
        for n in (0..count).filter(|&n| !is_on(children, n)) {
            let (value, is_active) = (values[n], is_on(active, n));
            if is_active || value != background {
                visit(Part::Tile { origin: place(n), size, value, is_active })?;
            }
        }
        drop(values);
        (0..count)
            .filter(|&n| is_on(children, n))
            .try_for_each(|n| self.topology(level + 1, place(n), background, leaves, visit))
    }

    /// The values of a node. Files may store only the active ones.
    fn values(
        &mut self,
        count: usize,
        active: &[u8],
        background: f32,
    ) -> Result<Vec<f32>, VdbError> {
        let kind = self.reader.u8()?;
        let mut inactive = match kind {
            0 => [background; 2],
            1..=6 => [-background, background],
            _ => return Err(VdbError::Damaged("a node is of an unknown kind")),
        };
        if matches!(kind, 2 | 4 | 5) {
            inactive[0] = self.reader.f32()?;
        }
        if kind == 5 {
            inactive[1] = self.reader.f32()?;
        }
        let second = if matches!(kind, 3..=5) { Some(self.reader.take(count / 8)?) } else { None };
        let is_masked = self.compression & ACTIVE_MASK != 0 && kind != 6;
        if !is_masked {
            return self.numbers(count);
        }
        let given = active.iter().map(|byte| byte.count_ones() as usize).sum();
        let mut given = self.numbers(given)?.into_iter();
        let value = |n: usize| {
            let own = if is_on(active, n) { given.next() } else { None };
            own.unwrap_or(inactive[usize::from(second.is_some_and(|mask| is_on(mask, n)))])
        };
        Ok((0..count).map(value).collect())
    }

    fn numbers(&mut self, count: usize) -> Result<Vec<f32>, VdbError> {
        let length = 4 * count;
        let number = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
        let all = |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(number).collect();
        if self.compression & (ZIP | BLOSC) == 0 {
            return Ok(all(self.reader.take(length)?));
        }
        let wrong = VdbError::Damaged("compressed values do not have their length");
        let packed = self.reader.i64()?;
        if packed <= 0 {
            if packed.unsigned_abs() != length as u64 {
                return Err(wrong);
            }
            return Ok(all(self.reader.take(length)?));
        }
        let packed = usize::try_from(packed).map_err(|_| VdbError::Damaged("it ends too early"))?;
        let packed = self.reader.take(packed)?;
        if self.compression & BLOSC != 0 {
            let bytes = blosc::unpacked(packed, length).ok_or(VdbError::Damaged(
                "compressed values are damaged, or compressed otherwise than by zip or by LZ4 of Blosc",
            ))?;
            return Ok(all(&bytes));
        }
        let mut bytes = Vec::with_capacity(length + 1);
        let unpacked = flate2::read::ZlibDecoder::new(packed);
        let read = unpacked.take(length as u64 + 1).read_to_end(&mut bytes);
        if read.is_err() || bytes.len() != length {
            return Err(wrong);
        }
        Ok(all(&bytes))
    }
}
