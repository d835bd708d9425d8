//! Tone mapping from linear light to display values.

use std::sync::LazyLock;

use nalgebra::{Matrix3, Vector3};

/// Exposure.
const EXPOSURE: f32 = 0.66;

/// Display value of light, linear, each between 0 and 1: Stephen Hill's fit to the film curve of
/// the Academy Color Encoding System, which three.js also uses.
pub(super) fn film(light: Vector3<f32>) -> Vector3<f32> {
    let wide = Matrix3::new(
        0.59719, 0.35458, 0.04823, //
        0.07600, 0.90834, 0.01566, //
        0.02840, 0.13383, 0.83777,
    );
    let narrow = Matrix3::new(
        1.60475, -0.53108, -0.07367, //
        -0.10208, 1.10813, -0.00605, //
        -0.00327, -0.07276, 1.07602,
    );
    let curve = |v: f32| {
        (v * (v + 0.024_578_6) - 0.000_090_537) / (v * (0.983_729 * v + 0.432_951) + 0.238_081)
    };
    (narrow * (wide * (light * (EXPOSURE / 0.6))).map(curve)).map(|x| x.clamp(0.0, 1.0))
}

/// The linear value of an sRGB byte (IEC 61966-2-1).
pub(super) fn linear(byte: u8) -> f32 {
    static TABLE: LazyLock<[f32; 256]> = LazyLock::new(|| {
        std::array::from_fn(|n| {
            let x = n as f32 / 255.0;
            if x <= 0.040_45 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
        })
    });
    TABLE[usize::from(byte)]
}

/// The sRGB byte of a linear value.
pub(crate) fn srgb(linear: f32) -> u8 {
    let x = linear.clamp(0.0, 1.0);
    let curved = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
    (curved * 255.0).round() as u8
}
