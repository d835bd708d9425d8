//! Compression of integers and bytes (`pxr/base/tf/fastCompression.cpp`,
//! `pxr/usd/sdf/integerCoding.cpp`).

use std::collections::BTreeMap;
use std::io;

/// Maximum number of bytes in one LZ4 block.
const LARGEST_BLOCK: usize = 0x7E00_0000;

/// LZ4-compressed bytes, preceded by the number of blocks minus one.
pub(super) fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    if bytes.len() > LARGEST_BLOCK {
        let problem = "more than 2 GB of one kind do not fit in a .usdc file: write .usda";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    let mut all = vec![0];
    all.extend(lz4_flex::block::compress(bytes));
    Ok(all)
}

/// Appends compressed integers, preceded by their size in bytes.
pub(super) fn write_integers(
    integers: impl Iterator<Item = i32>,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let bytes = compressed(&encoded(integers))?;
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend(bytes);
    Ok(())
}

/// Delta encoding: the most frequent difference, a two-bit code per integer (0: the most frequent
/// difference; otherwise 1, 2 or 4 bytes), and the other differences.
fn encoded(integers: impl Iterator<Item = i32>) -> Vec<u8> {
    let mut last = 0_i32;
    let difference = |n: i32| n.wrapping_sub(std::mem::replace(&mut last, n));
    let differences: Vec<i32> = integers.map(difference).collect();
    let mut counts: BTreeMap<i32, usize> = BTreeMap::new();
    for difference in &differences {
        *counts.entry(*difference).or_default() += 1;
    }
    let common = counts.iter().max_by_key(|(_, count)| **count).map_or(0, |(n, _)| *n);
    let mut codes = vec![0_u8; differences.len().div_ceil(4)];
    let mut long = Vec::new();
    for (n, difference) in differences.into_iter().enumerate() {
        let code = if difference == common {
            0
        } else if let Ok(byte) = i8::try_from(difference) {
            long.extend(byte.to_le_bytes());
            1
        } else if let Ok(two) = i16::try_from(difference) {
            long.extend(two.to_le_bytes());
            2
        } else {
            long.extend(difference.to_le_bytes());
            3
        };
        codes[n / 4] |= code << (2 * (n % 4));
    }
    [&common.to_le_bytes()[..], &codes, &long].concat()
}

/// Appends a count as 64 bits.
pub(super) fn put(out: &mut Vec<u8>, count: usize) {
    out.extend((count as u64).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::encoded;

    /// The example in `pxr/usd/sdf/integerCoding.cpp`.
    #[test]
    fn differences_are_encoded_as_in_the_source_of_usd() {
        let bytes = encoded([123, 124, 125, 100_125, 100_125, 100_126, 100_126].into_iter());
        let [common, long] = [1_i32, 100_000].map(i32::to_le_bytes);
        let codes = [0b11_00_00_01, 0b01_00_01];
        assert_eq!(bytes, [&common[..], &codes, &[123], &long, &[0, 0]].concat());
    }
}
