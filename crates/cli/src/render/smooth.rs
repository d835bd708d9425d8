//! Filtering of light over neighbors on the same surface (Dammertz and others 2010, "Edge-Avoiding
//! A-Trous Wavelet Transform for fast Global Illumination Filtering").

use rayon::prelude::*;

use super::bvh::Vec3;
use super::light::{Light, Sample};

/// Distance of neighbors in each pass.
const STEPS: [usize; 4] = [1, 2, 4, 8];
/// Radius of the whole filter.
pub(super) const REACH: usize = 15;
/// From this step on only sky light is filtered: sun shadows stay sharp.
const SHARP: usize = 4;
/// Distance from the plane of a surface at which neighbors count as off it, in sample widths.
const THICKNESS: f32 = 2.0;

/// Filters the light of rows of `width` samples; `spread` is the width of a sample at a distance of
/// 1.
pub(super) fn smooth(samples: &mut [Sample], width: usize, spread: f32) {
    let mut light: Vec<Light> = samples.iter().map(|sample| sample.light).collect();
    for step in STEPS {
        let from = light.clone();
        light.par_chunks_mut(width).enumerate().for_each(|(row, lights)| {
            for (column, light) in lights.iter_mut().enumerate() {
                if samples[row * width + column].normal != Vec3::zeros() {
                    let sun = light.w;
                    *light = average(samples, &from, [column, row], width, step, spread);
                    if step >= SHARP {
                        light.w = sun;
                    }
                }
            }
        });
    }
    for (sample, light) in samples.iter_mut().zip(light) {
        sample.light = light;
    }
}

fn average(
    samples: &[Sample],
    light: &[Light],
    [column, row]: [usize; 2],
    width: usize,
    step: usize,
    spread: f32,
) -> Light {
    let own = &samples[row * width + column];
    let thickness = THICKNESS * spread * own.distance * step as f32;
    let (mut sum, mut total) = (light[row * width + column] * 4.0, 4.0);
    for (dx, dy) in NEIGHBORS {
        let x = column.wrapping_add_signed(dx * step as isize);
        let y = row.wrapping_add_signed(dy * step as isize);
        let at = y.wrapping_mul(width).wrapping_add(x);
        let Some(other) = samples.get(at).filter(|_| x < width) else { continue };
        let off = own.normal.dot(&(other.place - own.place)) / thickness;
        let alike = own.normal.dot(&other.normal).max(0.0).powi(16);
        let weight = alike / (1.0 + off.powi(4)) * if dx * dy == 0 { 2.0 } else { 1.0 };
        // sky samples have no position
        if weight > 0.0 {
            sum += light[at] * weight;
            total += weight;
        }
    }
    sum / total
}

const NEIGHBORS: [(isize, isize); 8] =
    [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];
