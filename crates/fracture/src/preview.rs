//! Images of patterns.

use nalgebra::{Point3, Vector3};
use ndarray::Array2;

use crate::Pattern;
use crate::random::mix;

impl Pattern {
    /// Largest number of pixels of an image's side.
    pub const MAX_PIXELS: usize = 4096;

    /// A slice through the pattern as RGB pixels, `[row, column]`, rows from the top: a color per
    /// region and black cuts.
    ///
    /// The image is `pixels` wide and high, at most [`Pattern::MAX_PIXELS`]. Its center is
    /// `center`, and `right` and `up` are half its sides, pattern units: with `x` and `z` it shows
    /// the cracks on the face of a wall that is hit, with `x` and `y` those into its depth.
    pub fn slice(
        &self,
        center: &Point3<f64>,
        right: &Vector3<f64>,
        up: &Vector3<f64>,
        pixels: usize,
    ) -> Array2<[u8; 3]> {
        let pixels = pixels.min(Self::MAX_PIXELS);
        let place = |n: usize| (2 * n + 1) as f64 / pixels as f64 - 1.0;
        let regions = Array2::from_shape_fn((pixels, pixels), |(row, column)| {
            self.region_at(&(center + right * place(column) - up * place(row)))
        });
        Array2::from_shape_fn((pixels, pixels), |(row, column)| {
            let region = regions[[row, column]];
            let differs = |r: usize, c: usize| regions.get([r, c]).is_some_and(|n| *n != region);
            let cut = differs(row + 1, column) || differs(row, column + 1);
            if cut { [0; 3] } else { color(region) }
        })
    }
}

/// A light color, clearly different from that of the next region.
fn color(region: usize) -> [u8; 3] {
    let bits = mix(region as u64 + 1);
    [0, 8, 16].map(|shift| 96 + ((bits >> shift) & 0x7f) as u8)
}
