//! Common parts of VTK's XML formats: arrays as text, base64 and appended data, plain or compressed
//! by zlib.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use roxmltree::Node;

use crate::mesh_file::MeshFileError;
use crate::tet_file::numbers::{Coding, Numbers};

/// Maximum size of one array, 4 GiB.
const MAX_BYTES: u64 = 1 << 32;
/// Maximum count of one array: a constant plus a multiple of the file size. Compressed arrays may
/// be a thousand times as large as their file; only those of cell types and offsets come close.
const FREE_NUMBERS: usize = 1 << 23;
const NUMBERS_PER_BYTE: usize = 8;

/// Maximum number of attributes of a tag; the parser compares each with all others.
const MAX_ATTRIBUTES: usize = 256;

/// Whether no tag has more attributes than that. Each has an equals sign, and between tags there
/// are no others except base64 padding.
fn has_short_tags(head: &str) -> bool {
    head.split('<').all(|part| part.matches('=').count() <= MAX_ATTRIBUTES)
}

/// Splits a file into its XML and its appended data, which need not be XML.
pub(crate) fn split<'a>(
    bytes: &'a [u8],
    format: &'static str,
) -> Result<(String, &'a [u8]), MeshFileError> {
    let problem = |problem: String| MeshFileError::Format { format, problem };
    let tag = b"<AppendedData";
    let end = bytes.windows(tag.len()).position(|window| window == tag);
    let (head, tail) = bytes.split_at(end.unwrap_or(bytes.len()));
    let head = str::from_utf8(head).map_err(|_| problem("it is not UTF-8".to_owned()))?;
    let mut head = head.to_owned();
    if end.is_some() {
        head.push_str("</VTKFile>");
    }
    if !has_short_tags(&head) {
        return Err(problem(format!("a tag has more than {MAX_ATTRIBUTES} attributes")));
    }
    Ok((head, tail))
}

/// Storage format of the arrays of a file.
pub(crate) struct Lists<'a> {
    format: &'static str,
    is_big_endian: bool,
    has_long_headers: bool,
    compressor: Option<&'a str>,
    appended: (&'a [u8], bool),
    /// Maximum count of an array.
    most_numbers: usize,
}

impl<'a> Lists<'a> {
    /// For a file of `size` bytes.
    pub(crate) fn new(
        root: &Node<'a, '_>,
        tail: &'a [u8],
        (size, format): (usize, &'static str),
    ) -> Result<Self, MeshFileError> {
        Ok(Self {
            format,
            is_big_endian: root.attribute("byte_order") == Some("BigEndian"),
            has_long_headers: root.attribute("header_type") == Some("UInt64"),
            compressor: root.attribute("compressor"),
            appended: appended(tail, format)?,
            most_numbers: NUMBERS_PER_BYTE.saturating_mul(size).saturating_add(FREE_NUMBERS),
        })
    }

    fn problem(&self, problem: impl Into<String>) -> MeshFileError {
        MeshFileError::Format { format: self.format, problem: problem.into() }
    }

    /// All numbers of a `DataArray`.
    pub(crate) fn list<T>(
        &self,
        array: &Node<'_, '_>,
        number: impl Fn(&mut Numbers<'_>, &str) -> Result<T, MeshFileError>,
    ) -> Result<Vec<T>, MeshFileError> {
        let kind = array.attribute("type").unwrap_or_default();
        let text = array.text().unwrap_or_default();
        let mut list = Vec::new();
        if array.attribute("format") == Some("ascii") {
            let mut numbers = Numbers::new(text.trim_end().as_bytes(), self.format);
            while !numbers.is_at_end() {
                list.push(number(&mut numbers, kind)?);
            }
            return Ok(list);
        }
        // no type is longer than 8 bytes
        let length = match kind {
            "Int8" | "UInt8" => 1,
            "Int32" | "UInt32" | "Float32" => 4,
            _ => 8,
        };
        let most = self.most_numbers.saturating_mul(length);
        let bytes = match array.attribute("format") {
            Some("binary") => self.decoded(text.trim().as_bytes(), true, most)?,
            Some("appended") => {
                let offset = array.attribute("offset").and_then(|o| o.parse().ok()).unwrap_or(0);
                let (data, is_base64) = self.appended;
                let data =
                    data.get(offset..).ok_or_else(|| self.problem("an offset is too large"))?;
                self.decoded(data, is_base64, most)?
            }
            _ => return Err(self.problem("a list is neither ascii, binary nor appended")),
        };
        let mut numbers = Numbers::new(&bytes, self.format);
        numbers.coding = if self.is_big_endian { Coding::BigEndian } else { Coding::LittleEndian };
        while !numbers.is_at_end() {
            list.push(number(&mut numbers, kind)?);
        }
        Ok(list)
    }

    /// The bytes of an array that begins at the start of `data`, at most `most`: its size or its
    /// compressed block sizes, followed by its content.
    fn decoded(&self, data: &[u8], is_base64: bool, most: usize) -> Result<Vec<u8>, MeshFileError> {
        let short = || self.problem("a list is shorter than it says");
        let word = if self.has_long_headers { 8 } else { 4 };
        let size = |bytes: &[u8], n: usize| -> Result<usize, MeshFileError> {
            let bytes = bytes.get(n * word..(n + 1) * word).ok_or_else(short)?;
            let byte = |(at, byte): (usize, &u8)| {
                u64::from(*byte) << (8 * if self.is_big_endian { word - 1 - at } else { at })
            };
            let size: u64 = bytes.iter().enumerate().map(byte).sum();
            if size > MAX_BYTES {
                Err(self.problem("a list is too large"))
            } else {
                Ok(size as usize)
            }
        };
        let plain = |count: usize, data: &[u8]| -> Result<Vec<u8>, MeshFileError> {
            if !is_base64 {
                return Ok(data.get(..count).ok_or_else(short)?.to_vec());
            }
            let letters = data.get(..count.div_ceil(3) * 4).ok_or_else(short)?;
            STANDARD.decode(letters).map_err(|e| self.problem(e.to_string()))
        };
        // in base64 the header is encoded separately
        let after = |count: usize| {
            let length = if is_base64 { count.div_ceil(3) * 4 } else { count };
            data.get(length..).ok_or_else(short)
        };
        let Some(compressor) = self.compressor else {
            // header and content are encoded together
            let count = size(&plain(word, data)?, 0)?;
            let all = plain(word + count, data)?;
            return Ok(all.get(word..word + count).ok_or_else(short)?.to_vec());
        };
        if compressor != "vtkZLibDataCompressor" {
            return Err(self.problem(format!("{compressor} is not read: use zlib or none")));
        }
        let blocks = size(&plain(word, data)?, 0)?;
        let header = plain((3 + blocks) * word, data)?;
        let sizes: Vec<usize> =
            (0..blocks).map(|n| size(&header, 3 + n)).collect::<Result<_, _>>()?;
        let bytes = plain(sizes.iter().sum(), after(header.len())?)?;
        self.inflated(&bytes, &sizes, most)
    }

    /// Decompresses blocks of `sizes` bytes into at most `most` bytes.
    fn inflated(
        &self,
        bytes: &[u8],
        sizes: &[usize],
        most: usize,
    ) -> Result<Vec<u8>, MeshFileError> {
        let mut list = Vec::new();
        let mut rest = bytes;
        for &size in sizes {
            let block = rest.split_at_checked(size);
            let (block, next) =
                block.ok_or_else(|| self.problem("a list is shorter than it says"))?;
            rest = next;
            // one byte beyond the limit reveals oversized data
            let left = (most - list.len()) as u64 + 1;
            flate2::read::ZlibDecoder::new(block)
                .take(left)
                .read_to_end(&mut list)
                .map_err(|e| self.problem(e.to_string()))?;
            if list.len() > most {
                return Err(self.problem("a list is too large for the size of the file"));
            }
        }
        Ok(list)
    }
}

/// The appended data, and whether they are base64.
fn appended<'a>(tail: &'a [u8], format: &'static str) -> Result<(&'a [u8], bool), MeshFileError> {
    let Some(close) = tail.iter().position(|byte| *byte == b'>') else { return Ok((&[], false)) };
    let opening = String::from_utf8_lossy(&tail[..close]);
    let data = &tail[close + 1..];
    let lacking = || {
        let problem = "appended data lack their mark".to_owned();
        MeshFileError::Format { format, problem }
    };
    let mark = data.iter().position(|byte| *byte == b'_');
    let data = &data[mark.ok_or_else(lacking)? + 1..];
    Ok((data, opening.contains("base64")))
}
