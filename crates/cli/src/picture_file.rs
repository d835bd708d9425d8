//! Pictures from PNG files.

use std::io::Cursor;
use std::path::Path;

use ndarray::Array2;
use thiserror::Error;

/// Why a picture is rejected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PictureError {
    /// The file cannot be read.
    #[error("cannot be read ({0}): check the path")]
    Read(#[from] std::io::Error),
    /// The file is not a PNG file, or it is damaged.
    #[error("is not a PNG file, or damaged ({0}): save it again")]
    Format(#[from] png::DecodingError),
    /// The image would take too much memory.
    #[error("has {width} x {height} pixels, more than {}: make it smaller", MAX_PIXELS)]
    TooLarge {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
}

/// Maximum number of pixels of a picture.
const MAX_PIXELS: u64 = 1 << 24;

/// Reads a PNG as sRGB bytes, row by row from the top; transparency is ignored.
///
/// # Errors
/// [`PictureError`] if the file cannot be read, is not a PNG or has more than 2^24 pixels.
pub fn read_picture(path: &Path) -> Result<Array2<[u8; 3]>, PictureError> {
    let mut decoder = png::Decoder::new(Cursor::new(crate::input::read(path)?));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let (width, height) = (reader.info().width, reader.info().height);
    let too_large = PictureError::TooLarge { width, height };
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(too_large);
    }
    let mut bytes = vec![0; reader.output_buffer_size().ok_or(too_large)?];
    let frame = reader.next_frame(&mut bytes)?;
    let samples = frame.color_type.samples();
    let pixel = |(row, column): (usize, usize)| {
        let at = row * frame.line_size + column * samples;
        match samples {
            1 | 2 => [bytes[at]; 3],
            _ => [bytes[at], bytes[at + 1], bytes[at + 2]],
        }
    };
    Ok(Array2::from_shape_fn((height as usize, width as usize), pixel))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, color: png::ColorType, bytes: &[u8]) -> Array2<[u8; 3]> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let mut encoder = png::Encoder::new(std::fs::File::create(&path).unwrap(), 2, 2);
        encoder.set_color(color);
        encoder.write_header().unwrap().write_image_data(bytes).unwrap();
        read_picture(&path).unwrap()
    }

    #[test]
    fn gray_and_colored_pictures_are_read_from_the_top() {
        let gray = written("grey.png", png::ColorType::Grayscale, &[1, 2, 3, 4]);
        assert_eq!(gray[[0, 1]], [2; 3]);
        assert_eq!(gray[[1, 0]], [3; 3]);
        let colors: Vec<u8> = (0..16).collect();
        let clear = written("clear.png", png::ColorType::Rgba, &colors);
        assert_eq!(clear[[1, 1]], [12, 13, 14]);
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        assert!(matches!(read_picture(&path).unwrap_err(), PictureError::Read(_)));
        std::fs::write(&path, b"\x89PNG\r\n\x1a\nno more").unwrap();
        assert!(matches!(read_picture(&path).unwrap_err(), PictureError::Format(_)));
    }
}
