//! Containers of files: lengths and checksums are repaired after changes, so that readers reach the
//! changed contents.

use crate::mutate::{Random, mutate};

/// The container of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Envelope {
    /// No container.
    None,
    /// Binary glTF: chunks of JSON and of data with their lengths.
    Glb,
    /// PNG: chunks with their CRC-32.
    Png,
    /// A CRC-32 of all preceding bytes at the end.
    Sum,
}

impl Envelope {
    /// Changes `file`; `other` is a file of the same kind.
    pub(crate) fn mutate(self, file: &mut Vec<u8>, other: &[u8], random: &mut Random) {
        match self {
            // one case in eight damages the container, too
            _ if random.below(8) == 0 => mutate(file, other, random),
            Self::None => mutate(file, other, random),
            Self::Glb => {
                let (Some(mut own), Some(theirs)) = (glb_parts(file), glb_parts(other)) else {
                    return mutate(file, other, random);
                };
                let part = usize::from(random.below(4) == 0);
                mutate(&mut own[part], &theirs[part], random);
                *file = glb(own);
            }
            Self::Png => {
                mutate(file, other, random);
                mend_png(file);
            }
            Self::Sum => {
                file.truncate(file.len().saturating_sub(4));
                mutate(file, &other[..other.len().saturating_sub(4)], random);
                file.extend(crc32fast::hash(file).to_le_bytes());
            }
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at + 4)?.first_chunk()?;
    Some(u32::from_le_bytes(*word) as usize)
}

/// The JSON and data chunks.
fn glb_parts(file: &[u8]) -> Option<[Vec<u8>; 2]> {
    let length = word(file, 12)?;
    let json = file.get(20..20 + length)?.to_vec();
    Some([json, file.get(28 + length..).unwrap_or_default().to_vec()])
}

fn glb([mut json, mut data]: [Vec<u8>; 2]) -> Vec<u8> {
    json.resize(json.len().next_multiple_of(4), b' ');
    data.resize(data.len().next_multiple_of(4), 0);
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend(((28 + json.len() + data.len()) as u32).to_le_bytes());
    for (kind, part) in [(b"JSON", json), (b"BIN\0", data)] {
        file.extend((part.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(part);
    }
    file
}

/// Repairs the checksums of valid chunks.
fn mend_png(file: &mut [u8]) {
    let mut at = 8;
    while let Some(length) = file.get(at..at + 4).and_then(|b| b.first_chunk::<4>()) {
        let end = at + 8 + u32::from_be_bytes(*length) as usize;
        let Some(chunk) = file.get(at + 4..end) else { return };
        let sum = crc32fast::hash(chunk);
        let Some(place) = file.get_mut(end..end + 4) else { return };
        place.copy_from_slice(&sum.to_be_bytes());
        at = end + 4;
    }
}
