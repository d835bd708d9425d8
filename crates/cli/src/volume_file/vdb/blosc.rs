//! Blosc blocks compressed by LZ4, as OpenVDB writes them (C-Blosc 1 format, LZ4 block format).

/// Unpacks a block of `length` bytes; `None` if it is damaged or compressed in another way.
pub(super) fn unpacked(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    let number = |at: usize| {
        let bytes = packed.get(at..at.checked_add(4)?)?;
        usize::try_from(i32::from_le_bytes(bytes.try_into().ok()?)).ok()
    };
    let (flags, size) = (*packed.get(2)?, usize::from(*packed.get(3)?));
    let (whole, block) = (number(4)?, number(8)?);
    if whole != length || size == 0 {
        return None;
    }
    if flags & 0x02 != 0 {
        return packed.get(16..16 + length).map(<[u8]>::to_vec);
    }
    let (is_shuffled, is_other, codec) = (flags & 0x01 != 0, flags & 0x04 != 0, flags >> 5);
    if is_other || codec != 1 || (block == 0 && length > 0) {
        return None;
    }
    let mut all = Vec::with_capacity(length);
    for n in 0..length.div_ceil(block.max(1)) {
        let own = block.min(length - n * block);
        // bytes of equal significance may be compressed separately
        let is_split = flags & 0x10 == 0 && own == block && size <= 16 && block / size >= 128;
        let parts = if is_split { size } else { 1 };
        let mut at = number(16 + 4 * n)?;
        let mut bytes = Vec::with_capacity(own);
        for _ in 0..parts {
            let count = number(at)?;
            let part = packed.get(at + 4..(at + 4).checked_add(count)?)?;
            at += 4 + count;
            if count == own / parts {
                bytes.extend(part);
            } else {
                lz4(part, &mut bytes, own / parts)?;
            }
        }
        if bytes.len() != own {
            return None;
        }
        all.extend(if is_shuffled { unshuffled(&bytes, size) } else { bytes });
    }
    Some(all)
}

/// Undoes the Blosc shuffle, which groups the bytes of values by significance. Values have `size`
/// bytes each; bytes after the last value were not shuffled.
fn unshuffled(bytes: &[u8], size: usize) -> Vec<u8> {
    let count = bytes.len() / size;
    let values = (0..count * size).map(|n| bytes[n / size + n % size * count]);
    values.chain(bytes[count * size..].iter().copied()).collect()
}

/// Appends `length` bytes decompressed from an LZ4 block.
fn lz4(block: &[u8], out: &mut Vec<u8>, length: usize) -> Option<()> {
    let start = out.len();
    out.resize(start + length, 0);
    let count = lz4_flex::block::decompress_into(block, &mut out[start..]).ok()?;
    (count == length).then_some(())
}
