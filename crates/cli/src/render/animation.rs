//! Animated pictures in one file.

use std::io::{self, Write};

use gif::{Encoder, Frame, Repeat};

use super::Picture;

/// An animated GIF that loops; 256 colors per picture.
pub struct Gif<W: Write> {
    encoder: Encoder<W>,
    size: [u16; 2],
    fps: f64,
    pictures: u32,
}

impl<W: Write> Gif<W> {
    /// For pictures of `size` pixels, `fps` per second.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(out: W, size: [usize; 2], fps: f64) -> io::Result<Self> {
        let size = size.map(|pixels| pixels as u16);
        let mut encoder = Encoder::new(out, size[0], size[1], &[]).map_err(io::Error::other)?;
        encoder.set_repeat(Repeat::Infinite).map_err(io::Error::other)?;
        Ok(Self { encoder, size, fps, pictures: 0 })
    }

    /// Adds a picture of this size.
    ///
    /// # Errors
    /// If writing fails.
    pub fn add(&mut self, picture: &Picture) -> io::Result<()> {
        /// Speed of color selection, from 1 (best) to 30.
        const SPEED: i32 = 10;
        let [width, height] = self.size;
        let mut frame = Frame::from_rgb_speed(width, height, picture.bytes(), SPEED);
        // delays are in hundredths of a second: round their running sum
        let until = |pictures: u32| (f64::from(pictures) * 100.0 / self.fps).round();
        frame.delay = (until(self.pictures + 1) - until(self.pictures)) as u16;
        self.pictures += 1;
        self.encoder.write_frame(&frame).map_err(io::Error::other)
    }
}

/// An animated PNG that loops; all colors, and a larger file than a [`Gif`].
pub struct Apng<W: Write> {
    writer: png::Writer<W>,
}

impl<W: Write> Apng<W> {
    /// For `pictures` pictures of `size` pixels, `fps` per second.
    ///
    /// # Errors
    /// If writing fails, or there are no pictures.
    pub fn new(out: W, size: [usize; 2], pictures: usize, fps: f64) -> io::Result<Self> {
        let [width, height] = size.map(|n| n as u32);
        let mut encoder = png::Encoder::new(out, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_animated(pictures as u32, 0)?;
        encoder.set_frame_delay((1e4 / fps).round().clamp(1.0, 65535.0) as u16, 10_000)?;
        Ok(Self { writer: encoder.write_header()? })
    }

    /// Adds a picture of this size.
    ///
    /// # Errors
    /// If writing fails.
    pub fn add(&mut self, picture: &Picture) -> io::Result<()> {
        Ok(self.writer.write_image_data(picture.bytes())?)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// If writing fails, or a picture is missing.
    pub fn finish(self) -> io::Result<()> {
        Ok(self.writer.finish()?)
    }
}
