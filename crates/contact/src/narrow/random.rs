//! Random numbers for tests.

use nalgebra::Vector3;

/// A linear congruential generator with the multiplier of Knuth's MMIX.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number from -0.5 to 0.5.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as f64 / f64::from(1u32 << 31) - 0.5
    }

    pub(crate) fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next()) * size
    }
}
