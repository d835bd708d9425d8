//! Pixels and PNG.

use std::io::{self, Write};

/// An sRGB picture, three bytes per pixel, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    size: [usize; 2],
    bytes: Vec<u8>,
    /// Whether a body of finite size is in view.
    shows_body: bool,
}

impl Picture {
    /// From bytes in the layout of [`Picture`].
    ///
    /// # Panics
    /// If there are not three bytes per pixel.
    pub(crate) fn new(size: [usize; 2], bytes: Vec<u8>) -> Self {
        assert_eq!(bytes.len(), 3 * size[0] * size[1], "three bytes a pixel");
        Self { size, bytes, shows_body: true }
    }

    /// The same, of a view with a body of finite size or without.
    pub(super) fn showing(self, shows_body: bool) -> Self {
        Self { shows_body, ..self }
    }

    /// Whether a picture of a recording shows a body, other than endless planes.
    pub fn shows_body(&self) -> bool {
        self.shows_body
    }

    /// Red, green and blue of each pixel, row by row from the top.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Red, green and blue of the pixel in a column, counted from the left, and a row, counted
    /// from the top.
    pub fn pixel(&self, column: usize, row: usize) -> [u8; 3] {
        let at = 3 * (row * self.size[0] + column);
        [self.bytes[at], self.bytes[at + 1], self.bytes[at + 2]]
    }

    /// Writes the picture as PNG.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_png(&self, out: impl Write) -> io::Result<()> {
        let [width, height] = self.size.map(|n| n as u32);
        let mut encoder = png::Encoder::new(out, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.write_header()?.write_image_data(&self.bytes)?;
        Ok(())
    }
}

/// Arranges pictures of one size in rows of `columns`.
///
/// # Panics
/// If there are no pictures, no columns, or the sizes differ.
pub fn contact_sheet(pictures: &[Picture], columns: usize) -> Picture {
    let [width, height] = pictures[0].size;
    let rows = pictures.len().div_ceil(columns);
    let size = [width * columns, height * rows];
    let mut bytes = vec![255; 3 * size[0] * size[1]];
    for (i, picture) in pictures.iter().enumerate() {
        assert_eq!(picture.size, [width, height], "pictures of one size");
        let corner = (i / columns * height * size[0] + i % columns * width) * 3;
        for (row, line) in picture.bytes.chunks_exact(3 * width).enumerate() {
            let at = corner + 3 * row * size[0];
            bytes[at..at + line.len()].copy_from_slice(line);
        }
    }
    let shows_body = pictures.iter().any(Picture::shows_body);
    Picture { size, bytes, shows_body }
}
