//! The rays of a picture.

use super::bvh::{Ray, Vec3};
use super::view::View;

/// Samples per pixel and axis.
pub(super) const SUPERSAMPLING: usize = 2;
/// Sample positions in a pixel, on a rotated grid so that nearly axis-aligned edges have all steps.
const PLACES: [[[f32; 2]; SUPERSAMPLING]; SUPERSAMPLING] =
    [[[0.375, 0.125], [0.875, 0.375]], [[0.125, 0.625], [0.625, 0.875]]];

/// The rays of a picture.
pub(super) struct Camera {
    pub(super) eye: Vec3,
    /// Right and up by a pixel at a distance of 1, and forward by 1.
    steps: [Vec3; 3],
    /// Width and height in pixels.
    pub(super) size: [usize; 2],
    /// The width of a sample at a distance of 1.
    pub(super) spread: f32,
}

impl Camera {
    pub(super) fn new(view: &View, size: [usize; 2]) -> Self {
        let [right, up, back] = view.axes();
        let spread = 2.0 * (view.field / 2.0).tan() / size[1] as f64;
        let steps = [right * spread, up * spread, -back].map(|step| step.cast());
        let eye = (view.arm / view.radius).cast();
        Self { eye, steps, size, spread: (spread / SUPERSAMPLING as f64) as f32 }
    }

    /// The ray of a sample, counted from the left and from the top.
    pub(super) fn ray(&self, x: usize, y: usize) -> Ray {
        let [right, up, into] = &self.steps;
        let [a, b] = PLACES[y % SUPERSAMPLING][x % SUPERSAMPLING];
        let along = |place: usize, part: f32, of: usize| {
            (place / SUPERSAMPLING) as f32 + part - of as f32 / 2.0
        };
        let direction = into + right * along(x, a, self.size[0]) - up * along(y, b, self.size[1]);
        Ray::new(self.eye, direction.normalize())
    }

    /// The center and the radius of a ball on the picture, in samples from the left and from the
    /// top; `None` if it is not in view.
    pub(super) fn project(&self, center: &Vec3, radius: f32) -> Option<([f32; 2], f32)> {
        let [right, up, into] = &self.steps;
        let arm = center - self.eye;
        let scale = 1.0 / (self.spread * into.dot(&arm));
        let (radius, across) = (radius * scale, scale / (self.spread * SUPERSAMPLING as f32));
        let [width, height] = self.size.map(|pixels| (pixels * SUPERSAMPLING) as f32);
        let at = [0.5 * width + right.dot(&arm) * across, 0.5 * height - up.dot(&arm) * across];
        let is_in = |x: f32, size: f32| x + radius > 0.0 && x - radius < size;
        let is_seen = scale > 0.0 && scale.is_finite() && is_in(at[0], width);
        (is_seen && is_in(at[1], height)).then_some((at, radius))
    }
}
