//! The chunks of a file: JSON, then surfaces and images. Animation keys come last.

use std::io::Write;

use serde_json::Value;
use sim::{Image, Recording, Track};

use super::buffer::{Layout, padded};
use super::encoded::Encoded;
use super::error::WriteError;
use super::surfaces::{different, for_each_surface};

/// Writes everything before the data.
pub(super) fn write_head(
    json: &Value,
    layout: &Layout,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let chunk_headers = if layout.len() == 0 { 8 } else { 16 };
    let bytes = 12 + chunk_headers + text.len() + layout.len();
    let total = u32::try_from(bytes).map_err(|_| WriteError::TooLarge { bytes })?;
    out.write_all(b"glTF")?;
    out.write_all(&2u32.to_le_bytes())?;
    out.write_all(&total.to_le_bytes())?;
    out.write_all(&(text.len() as u32).to_le_bytes())?;
    out.write_all(b"JSON")?;
    out.write_all(&text)?;
    if layout.len() > 0 {
        out.write_all(&(layout.len() as u32).to_le_bytes())?;
        out.write_all(b"BIN\0")?;
    }
    Ok(())
}

/// Writes the surfaces of a recording and then images.
pub(super) fn write_surfaces(
    recording: &Recording,
    images: &[Image],
    out: &mut impl Write,
) -> Result<(), WriteError> {
    let write = |_: &Track, surface: Encoded| Ok(out.write_all(&surface.bytes)?);
    for_each_surface(&different(recording), Encoded::new, write)?;
    write_images(images, out)
}

pub(super) fn write_images(images: &[Image], out: &mut impl Write) -> Result<(), WriteError> {
    for Image { bytes, .. } in images {
        out.write_all(bytes)?;
        out.write_all(&[0; 3][..padded(bytes.len()) - bytes.len()])?;
    }
    Ok(())
}
