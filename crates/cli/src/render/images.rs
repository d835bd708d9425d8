//! Decoded images of materials, with mipmaps.

use nalgebra::Vector4;
use png::{ColorType, Transformations};
use sim::{Coat, Image, ImageKind, Paint, PaintedMesh, Recording, Wrap};
use thiserror::Error;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::tone::{linear, srgb};

type Vec4 = Vector4<f64>;

/// Why an image cannot be drawn.
#[derive(Debug, Error)]
pub enum ImageError {
    /// It is damaged or too large.
    #[error("the image `{name}` {problem}")]
    Unusable {
        /// Its name in the recording.
        name: String,
        /// The problem and its fix.
        problem: String,
    },
    /// All images together take too much memory.
    #[error(
        "its images have more than {} pixels together: make them smaller",
        meshfile::MAX_PIXELS
    )]
    TooMany,
}

/// The images of the materials of a recording, decoded.
#[derive(Default)]
pub struct Images(Vec<(Image, Pyramid)>);

impl Images {
    /// Decodes the images of `recording`, each once.
    ///
    /// # Errors
    /// [`ImageError`] if one is damaged, or all have more than [`meshfile::MAX_PIXELS`] pixels
    /// together.
    pub fn of(recording: &Recording) -> Result<Self, ImageError> {
        Self::of_coats(recording.tracks.iter().flat_map(|track| track.look.coats.iter()))
    }

    /// Decodes the images of materials, each once.
    ///
    /// # Errors
    /// As [`Images::of`].
    pub fn of_coats<'c>(coats: impl Iterator<Item = &'c Coat>) -> Result<Self, ImageError> {
        let mut images: Vec<(Image, Pyramid)> = Vec::new();
        let mut pixels = 0;
        for image in coats.filter_map(|coat| coat.image.as_ref()) {
            if images.iter().any(|(known, _)| known == image) {
                continue;
            }
            let unusable = |problem| ImageError::Unusable { name: image.name.clone(), problem };
            let size = meshfile::image_size(image.kind, &image.bytes);
            let size = size.map_err(|e| unusable(e.to_string()))?.map(|n| n as usize);
            pixels += (size[0] * size[1]) as u64;
            if pixels > meshfile::MAX_PIXELS {
                return Err(ImageError::TooMany);
            }
            let pyramid = Pyramid::new(image, size).map_err(unusable)?;
            images.push((image.clone(), pyramid));
        }
        Ok(Self(images))
    }

    /// The mean linear color of a mesh from its materials, their images and its corner colors;
    /// `None` if it has none of these.
    pub fn mean_color(&self, painted: &PaintedMesh) -> Option<[f32; 3]> {
        let PaintedMesh { mesh, corners, coats, coat_of } = painted;
        let (mut sum, mut whole) = (Vec4::zeros(), 0.0);
        for face in 0..mesh.triangles.len() {
            let coat = coat_of.get(face).and_then(|&number| coats.get(number as usize));
            let paint = corners.get(face);
            let colors = paint.and_then(|[a, b, c]| Some(a.color? + b.color? + c.color?));
            if coat.is_none() && colors.is_none() {
                continue;
            }
            let own = coat.map_or(Vec4::repeat(1.0), |coat| self.mean_of_face(coat, paint));
            let area = mesh.area_vector(face).norm();
            let tint = colors.map_or(Vec4::repeat(1.0), |colors| colors / 3.0);
            sum += own.component_mul(&tint) * area;
            whole += area;
        }
        let [r, g, b, _] = (sum / whole).into();
        (whole > 0.0).then_some([r, g, b].map(|c: f64| c as f32))
    }

    /// The linear color of a material at the center of a triangle, averaged over the triangle's
    /// area in the image.
    fn mean_of_face(&self, coat: &Coat, corners: Option<&[Paint; 3]>) -> Vec4 {
        let own = Vec4::from(coat.color.map(f64::from));
        let uvs = corners.and_then(|[a, b, c]| Some([a.uv?, b.uv?, c.uv?]));
        let Some((image, [a, b, c])) = self.find(coat).zip(uvs) else { return own };
        let middle = ((a + b + c) / 3.0).map(|x| x as f32);
        let share = 0.5 * (b - a).perp(&(c - a)).abs();
        let shown = image.at(middle.into(), share.min(1.0) as f32, coat.wrap);
        own.component_mul(&Vec4::from(shown.map(f64::from)))
    }

    /// The decoded image of a coat, if it has one.
    pub(super) fn find(&self, coat: &Coat) -> Option<&Pyramid> {
        let image = coat.image.as_ref()?;
        self.0.iter().find(|(known, _)| known == image).map(|(_, pyramid)| pyramid)
    }
}

/// A mipmap: an image and its successively halved versions down to one pixel (Williams 1983).
pub(super) struct Pyramid(Vec<Level>);

struct Level {
    size: [usize; 2],
    /// sRGB bytes and alpha, row by row from the top.
    pixels: Vec<[u8; 4]>,
}

impl Pyramid {
    fn new(image: &Image, size: [usize; 2]) -> Result<Self, String> {
        let damaged = |what: String| format!("is damaged ({what}): save it again");
        let pixels = match image.kind {
            ImageKind::Png => png_pixels(&image.bytes).map_err(|e| damaged(e.to_string()))?,
            ImageKind::Jpeg => jpeg_pixels(&image.bytes, size).map_err(damaged)?,
        };
        if pixels.len() != size[0] * size[1] {
            return Err(damaged("its pixel count differs from its header".to_owned()));
        }
        let mut levels = vec![Level { size, pixels }];
        while let Some(next) = levels.last().and_then(Level::half) {
            levels.push(next);
        }
        Ok(Self(levels))
    }

    /// The linear color and the alpha at texture coordinates, `v` upwards, wrapped beyond 0 to 1, averaged over a
    /// square of pixels with this `area`, a share of the whole image; over the whole image for 1.
    pub(super) fn at(&self, uv: [f32; 2], area: f32, wrap: [Wrap; 2]) -> [f32; 4] {
        let [width, height] = self.0[0].size;
        let pixels = (area * (width * height) as f32).max(1.0);
        let most = (self.0.len() - 1) as f32;
        let level = if area >= 1.0 { most } else { (0.5 * pixels.log2()).clamp(0.0, most) };
        let (low, share) = (level.floor() as usize, level.fract());
        let fine = self.0[low].at(uv, wrap);
        if share == 0.0 {
            return fine;
        }
        let coarse = self.0[low + 1].at(uv, wrap);
        std::array::from_fn(|k| fine[k] + (coarse[k] - fine[k]) * share)
    }
}

/// The pixels of a row of `from` pixels that pixel `n` of a row of `to` covers, with their shares of its color.
fn covered(n: usize, from: usize, to: usize) -> impl Iterator<Item = (usize, f64)> {
    let (start, end) = (n * from, (n + 1) * from);
    (start / to..end.div_ceil(to)).map(move |x| {
        let overlap = end.min((x + 1) * to) - start.max(x * to);
        (x, overlap as f64 / from as f64)
    })
}

impl Level {
    fn half(&self) -> Option<Self> {
        let [width, height] = self.size;
        if width == 1 && height == 1 {
            return None;
        }
        let size = [width.div_ceil(2), height.div_ceil(2)];
        let mean = |n: usize| {
            let mut sum = [0.0; 4];
            for (y, height_share) in covered(n / size[0], height, size[1]) {
                for (x, width_share) in covered(n % size[0], width, size[0]) {
                    let share = (width_share * height_share) as f32;
                    let pixel = self.pixel(x, y);
                    sum.iter_mut().zip(pixel).for_each(|(sum, part)| *sum += share * part);
                }
            }
            let [r, g, b, a] = sum;
            [srgb(r), srgb(g), srgb(b), (255.0 * a).round() as u8]
        };
        Some(Self { size, pixels: (0..size[0] * size[1]).map(mean).collect() })
    }

    /// Linear color and alpha of a pixel.
    fn pixel(&self, x: usize, y: usize) -> [f32; 4] {
        let [r, g, b, a] = self.pixels[y * self.size[0] + x];
        [linear(r), linear(g), linear(b), f32::from(a) / 255.0]
    }

    /// Bilinear interpolation.
    fn at(&self, [u, v]: [f32; 2], wrap: [Wrap; 2]) -> [f32; 4] {
        let [width, height] = self.size;
        let ([left, right], across) = neighbors(u, width, wrap[0]);
        let ([top, bottom], down) = neighbors(1.0 - v, height, wrap[1]);
        let mix = |a: [f32; 4], b: [f32; 4], share: f32| -> [f32; 4] {
            std::array::from_fn(|k| a[k] + (b[k] - a[k]) * share)
        };
        let above = mix(self.pixel(left, top), self.pixel(right, top), across);
        let below = mix(self.pixel(left, bottom), self.pixel(right, bottom), across);
        mix(above, below, down)
    }
}

/// The two pixels around a position from 0 to 1 in a row of `count`, and the interpolation weight
/// of the second.
fn neighbors(x: f32, count: usize, wrap: Wrap) -> ([usize; 2], f32) {
    let row = count as f32;
    // keeps numbers small for distant positions
    let x = match wrap {
        Wrap::Repeat => x.rem_euclid(1.0),
        Wrap::Mirror => x.rem_euclid(2.0),
        Wrap::Clamp => x.clamp(0.0, 1.0),
    };
    let at = x * row - 0.5;
    let low = at.floor();
    let pixel = |n: f32| {
        let n = match wrap {
            Wrap::Repeat => n.rem_euclid(row),
            Wrap::Mirror if n.rem_euclid(2.0 * row) < row => n.rem_euclid(row),
            Wrap::Mirror => row - 1.0 - n.rem_euclid(row),
            Wrap::Clamp => n.max(0.0),
        };
        (n as usize).min(count - 1)
    };
    ([pixel(low), pixel(low + 1.0)], at - low)
}

fn png_pixels(bytes: &[u8]) -> Result<Vec<[u8; 4]>, png::DecodingError> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(Transformations::normalize_to_color8() | Transformations::ALPHA);
    let mut reader = decoder.read_info()?;
    let mut buffer = vec![0; reader.output_buffer_size().unwrap_or(0)];
    let frame = reader.next_frame(&mut buffer)?;
    let samples = frame.color_type.samples();
    let rows = buffer.chunks_exact(frame.line_size).take(frame.height as usize);
    let pixel = |pixel: &[u8]| match (frame.color_type, pixel) {
        (ColorType::GrayscaleAlpha, &[gray, alpha]) => [gray, gray, gray, alpha],
        (ColorType::Rgba, &[r, g, b, a]) => [r, g, b, a],
        (_, &[r, g, b]) => [r, g, b, 255],
        (_, rest) => [rest[0], rest[0], rest[0], 255],
    };
    Ok(rows.flat_map(|row| row.chunks_exact(samples).map(pixel)).collect())
}

fn jpeg_pixels(bytes: &[u8], [width, height]: [usize; 2]) -> Result<Vec<[u8; 4]>, String> {
    let options = DecoderOptions::default()
        .set_max_width(width)
        .set_max_height(height)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let bytes = decoder.decode().map_err(|e| format!("{e:?}"))?;
    Ok(bytes.as_chunks::<3>().0.iter().map(|&[r, g, b]| [r, g, b, 255]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Black on the left and white on the right, red below.
    fn level() -> Level {
        let (black, white, red) = ([0, 0, 0, 255], [255; 4], [255, 0, 0, 255]);
        Level { size: [2, 2], pixels: vec![black, white, red, red] }
    }

    #[test]
    fn pixels_are_where_texture_coordinates_say() {
        let level = level();
        let repeated = [Wrap::Repeat; 2];
        assert_eq!(level.at([0.25, 0.75], repeated), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(level.at([0.75, 0.75], repeated), [1.0; 4]);
        assert_eq!(level.at([1.75, -0.25], repeated), [1.0; 4]);
        assert_eq!(level.at([0.5, 0.25], repeated), [1.0, 0.0, 0.0, 1.0]);
        let half = level.at([0.5, 0.75], repeated);
        assert!(half.iter().take(3).all(|x| (x - 0.5).abs() < 1e-6), "{half:?}");
    }

    #[test]
    fn images_are_repeated_mirrored_or_end_beyond_their_rims() {
        let level = level();
        // black, white | white, black | black, white
        for (wrap, colors) in [
            (Wrap::Repeat, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]),
            (Wrap::Mirror, [1.0, 0.0, 0.0, 1.0, 1.0, 0.0]),
            (Wrap::Clamp, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]),
        ] {
            for (n, color) in colors.into_iter().enumerate() {
                let u = -0.75 + 0.5 * n as f32;
                assert_eq!(level.at([u, 0.75], [wrap, Wrap::Repeat])[0], color, "{wrap:?} at {u}");
            }
            // only repetition blends opposite borders
            let rim = if wrap == Wrap::Repeat { 0.5 } else { 1.0 };
            assert!((level.at([1.0, 0.75], [wrap, wrap])[0] - rim).abs() < 1e-6, "{wrap:?}");
            // above the image only repetition shows the lower part
            let above = level.at([0.75, 1.25], [Wrap::Repeat, wrap]);
            assert_eq!(above[1], if wrap == Wrap::Repeat { 0.0 } else { 1.0 }, "{wrap:?}");
            // non-finite numbers do not panic
            level.at([f32::NAN, f32::INFINITY], [wrap; 2]);
            level.at([-f32::MAX, f32::MAX], [wrap; 2]);
        }
    }

    #[test]
    fn a_patch_as_large_as_the_image_has_its_mean_color() {
        let level = level();
        let half = level.half().unwrap();
        let pyramid = Pyramid(vec![level, half]);
        let wrap = [Wrap::Repeat; 2];
        let [r, g, b, a] = pyramid.at([0.1, 0.2], 1.0, wrap);
        assert!((r - 0.75).abs() < 0.01 && (g - 0.25).abs() < 0.01 && b == g && a == 1.0);
        assert_eq!(pyramid.at([0.25, 0.75], 0.0, wrap), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn images_of_any_size_have_the_mean_of_all_their_pixels() {
        for size in [[3, 1], [1, 7], [5, 3], [64, 2], [37, 23]] {
            let pixels =
                (0..size[0] * size[1]).map(|n| [[0; 3], [255; 3]][usize::from(n % 3 == 2)]);
            let pixels: Vec<[u8; 4]> = pixels.map(|[r, g, b]| [r, g, b, 255]).collect();
            let mean = pixels.iter().filter(|p| p[0] > 0).count() as f32 / pixels.len() as f32;
            let mut levels = vec![Level { size, pixels }];
            while let Some(next) = levels.last().and_then(Level::half) {
                levels.push(next);
            }
            let found = Pyramid(levels).at([0.9, 0.1], 1.0, [Wrap::Repeat; 2])[0];
            assert!((found - mean).abs() < 0.02, "{size:?}: {found} for {mean}");
        }
    }
}
