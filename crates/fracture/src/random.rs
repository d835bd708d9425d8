//! Seeded random numbers: the same stream on every machine.

use nalgebra::{UnitVector3, Vector3};

/// Seeded random numbers, the same on every machine: SplitMix64 (Steele, Lea and Flood 2014), which
/// has one word of state and passes BigCrush.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of many streams of a seed, selected by index.
    pub fn stream(seed: u64, number: u64) -> Self {
        Self(seed ^ mix(number.wrapping_add(1)))
    }

    /// Uniform over all words.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Uniform in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in `[-1, 1)`.
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// Uniform in the cube `[-1, 1)^3`.
    pub fn in_cube(&mut self) -> Vector3<f64> {
        Vector3::new(self.signed(), self.signed(), self.signed())
    }

    /// Uniform in the unit ball, by rejection from the cube.
    pub fn in_ball(&mut self) -> Vector3<f64> {
        loop {
            let v = self.in_cube();
            if v.norm_squared() <= 1.0 {
                return v;
            }
        }
    }

    /// Uniform on the sphere, by rejection from the cube.
    pub(crate) fn direction(&mut self) -> UnitVector3<f64> {
        loop {
            let v = self.in_cube();
            if (1e-4..=1.0).contains(&v.norm_squared()) {
                return UnitVector3::new_normalize(v);
            }
        }
    }
}

/// The finalizer of SplitMix64: a bijection in which every output bit depends on every input bit.
pub(crate) fn mix(word: u64) -> u64 {
    let z = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        // first outputs of the reference implementation for seed 1234567
        let mut random = Random::new(1_234_567);
        assert_eq!(random.word(), 6_457_827_717_110_365_317);
        assert_eq!(random.word(), 3_203_168_211_198_807_973);
    }
}
