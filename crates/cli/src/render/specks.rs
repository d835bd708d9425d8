//! Dust: specks are discs that face the camera, drawn over the traced samples.

use nalgebra::Vector3;
use rayon::prelude::*;

use super::bvh::{Ray, Vec3};
use super::camera::Camera;
use super::light::{Sample, speck_light};
use super::stage::Stage;
use super::view::View;
use crate::format::VisibleSpeck;

/// Radius below which a speck is drawn with this radius and less opacity, in samples: half the
/// diagonal of a sample, so that each disc contains the center of one.
const MIN_RADIUS: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// A speck on the picture.
#[derive(Clone, Copy)]
pub(super) struct Speck {
    /// Column and row of its center, in samples.
    at: [f32; 2],
    /// In samples.
    radius: f32,
    opacity: f32,
    /// Distance from the camera.
    distance: f32,
    /// Radiance.
    bright: Vec3,
}

/// The specks in view, from back to front.
pub(super) fn specks(
    stage: &Stage<'_>,
    camera: &Camera,
    view: &View,
    visible: Vec<VisibleSpeck>,
) -> Vec<Speck> {
    let speck = |VisibleSpeck { position, size, color }: VisibleSpeck| {
        let place: Vector3<f64> = (position.cast() - view.center.coords) / view.radius;
        let (place, size): (Vec3, f32) = (place.cast(), (f64::from(size) / view.radius) as f32);
        let (at, radius) = camera.project(&place, 0.5 * size)?;
        let drawn = radius.max(MIN_RADIUS);
        let distance = (camera.eye - place).norm();
        let to_eye = (camera.eye - place) / distance;
        // outside the surface on which a speck may lie
        let start = place + to_eye * size;
        let lit =
            speck_light(&to_eye, |direction| stage.transmittance(&Ray::new(start, direction)));
        Some(Speck {
            at,
            radius: drawn,
            opacity: (radius / drawn).powi(2),
            distance,
            bright: Vec3::from(color).component_mul(&lit),
        })
    };
    let mut specks: Vec<Speck> = visible.into_par_iter().filter_map(speck).collect();
    specks.sort_by(|p, q| q.distance.total_cmp(&p.distance));
    specks
}

/// Draws specks over rows of `width` samples, of which the first is row `first` of the picture.
pub(super) fn draw(specks: &[Speck], samples: &mut [Sample], width: usize, first: usize) {
    let mut by_row: Vec<Vec<&Speck>> = vec![Vec::new(); samples.len() / width];
    for speck in specks {
        let [start, end] = covered(speck.at[1] - first as f32, speck.radius, by_row.len());
        by_row[start..end].iter_mut().for_each(|row| row.push(speck));
    }
    let rows = samples.par_chunks_mut(width).zip(&by_row).enumerate();
    rows.for_each(|(row, (samples, specks))| {
        for speck in specks {
            let above = (first + row) as f32 + 0.5 - speck.at[1];
            let half = (speck.radius * speck.radius - above * above).max(0.0).sqrt();
            let [start, end] = covered(speck.at[0], half, width);
            for sample in &mut samples[start..end] {
                if speck.distance < sample.distance {
                    sample.cover(&speck.bright, speck.opacity);
                }
            }
        }
    });
}

/// The range of the `count` samples whose centers are within `radius` of a place.
fn covered(place: f32, radius: f32, count: usize) -> [usize; 2] {
    // negative numbers become 0
    let at = |x: f32| (x.ceil() as usize).min(count);
    let start = at(place - radius - 0.5);
    [start, at(place + radius - 0.5).max(start)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_covered_where_their_centers_are() {
        for (place, radius) in [(2.0, 0.6), (-1.0, 3.2), (7.9, 0.45), (9.5, 3.25), (4.5, 0.3)] {
            let [start, end] = covered(place, radius, 10);
            let is_in = |n: usize| ((n as f32 + 0.5) - place).abs() < radius;
            let all: Vec<usize> = (0..10).filter(|&n| is_in(n)).collect();
            assert_eq!((start..end).collect::<Vec<_>>(), all, "{place} {radius}");
        }
    }
}
