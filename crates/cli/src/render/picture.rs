//! Pixels and PNG.

use std::io::{self, Write};

use nalgebra::Vector3;

/// An sRGB picture, three bytes a pixel, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    size: [usize; 2],
    bytes: Vec<u8>,
}

impl Picture {
    /// Averages squares of `factor` by `factor` of linear colours given row by row.
    pub(crate) fn downsampled(
        colours: impl Iterator<Item = Vector3<f64>>,
        [width, height]: [usize; 2],
        factor: usize,
    ) -> Self {
        let size = [width / factor, height / factor];
        let mut sums = vec![Vector3::zeros(); size[0] * size[1]];
        for (at, colour) in colours.enumerate() {
            let (row, column) = (at / width / factor, at % width / factor);
            sums[row * size[0] + column] += colour;
        }
        let share = 1.0 / (factor * factor) as f64;
        let bytes = sums.iter().flat_map(|sum| (sum * share).map(srgb).data.0[0]).collect();
        Self { size, bytes }
    }

    /// Of bytes as [`Picture`] holds them.
    ///
    /// # Panics
    /// If they are not three a pixel.
    pub(crate) fn new(size: [usize; 2], bytes: Vec<u8>) -> Self {
        assert_eq!(bytes.len(), 3 * size[0] * size[1], "three bytes a pixel");
        Self { size, bytes }
    }

    /// Red, green and blue of each pixel, row by row from the top.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Pixels across and down.
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
    /// When writing fails.
    pub fn write_png(&self, out: impl Write) -> io::Result<()> {
        let [width, height] = self.size.map(|n| n as u32);
        let mut encoder = png::Encoder::new(out, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.write_header()?.write_image_data(&self.bytes)?;
        Ok(())
    }
}

/// A linear color as pixels have it.
pub(crate) fn srgb_bytes(linear: [f32; 3]) -> [u8; 3] {
    linear.map(|value| srgb(value.into()))
}

/// The sRGB byte of a linear value.
fn srgb(linear: f64) -> u8 {
    let x = linear.clamp(0.0, 1.0);
    let curved = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
    (curved * 255.0).round() as u8
}

/// Pictures of one size side by side, `columns` in a row.
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
    Picture { size, bytes }
}
