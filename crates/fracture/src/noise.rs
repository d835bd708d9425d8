//! Gradient noise (Perlin 2002) on a seeded hash.

use nalgebra::{Point3, Vector3};

use crate::random::mix;

/// Roughness of cut surfaces; lengths in pattern units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// About the most that a cut moves along each axis. A third of `1 / frequency` or less keeps the pieces
    /// from folding over.
    pub amplitude: f64,
    /// Bumps per unit, of the coarsest octave.
    pub frequency: f64,
    /// Each octave after the first has twice the frequency and half the amplitude of the one
    /// before; 1 to 12.
    pub octaves: u32,
    /// Chooses the bumps.
    pub seed: u64,
}

impl Noise {
    /// The displacement at `p`; about `amplitude` at most along each axis.
    pub(crate) fn displacement(&self, p: &Point3<f64>) -> Vector3<f64> {
        let mut sum = Vector3::zeros();
        let (mut weight, mut weights) = (1.0, 0.0);
        let mut frequency = self.frequency;
        for octave in 0..u64::from(self.octaves) {
            let seed = mix(self.seed ^ mix(octave));
            sum += weight * gradient_noise(&(p * frequency), seed);
            weights += weight;
            (weight, frequency) = (weight / 2.0, frequency * 2.0);
        }
        sum * (self.amplitude / weights)
    }
}

/// Three independent noises in `[-1, 1]`, zero on the lattice of integers.
fn gradient_noise(p: &Point3<f64>, seed: u64) -> Vector3<f64> {
    let base = p.map(f64::floor);
    let offset = p - base;
    let fade = offset.map(|t| t * t * t * (t * (t * 6.0 - 15.0) + 10.0));
    let mut sum = Vector3::zeros();
    for corner in 0..8_usize {
        let step = Vector3::from_fn(|a, _| (corner >> a & 1) as f64);
        let weight: f64 =
            (0..3).map(|a| if step[a] == 1.0 { fade[a] } else { 1.0 - fade[a] }).product();
        let mut hash = seed;
        for a in 0..3 {
            hash = mix(hash ^ (base[a] + step[a]) as i64 as u64);
        }
        sum += weight * slopes(hash, &(offset - step));
    }
    sum
}

/// Three slopes at a lattice point, each one of Perlin's twelve gradients, times the offset.
fn slopes(hash: u64, offset: &Vector3<f64>) -> Vector3<f64> {
    Vector3::from_fn(|a, _| {
        let bits = hash >> (8 * a);
        let skipped = (bits >> 2) as usize % 3;
        let [u, v] = [offset[(skipped + 1) % 3], offset[(skipped + 2) % 3]];
        let sign = |bit: u64, x: f64| if bits >> bit & 1 == 0 { x } else { -x };
        sign(0, u) + sign(1, v)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn noise_is_continuous_bounded_and_not_flat() {
        let noise = Noise { amplitude: 0.3, frequency: 2.0, octaves: 4, seed: 9 };
        let mut random = Random::new(1);
        let mut largest = 0.0_f64;
        for _ in 0..5000 {
            let p = Point3::from(random.in_cube() * 3.0);
            let d = noise.displacement(&p);
            largest = largest.max(d.amax());
            let step = random.in_cube() * 1e-7;
            assert!((noise.displacement(&(p + step)) - d).norm() < 1e-5);
        }
        assert!((0.1..=0.3).contains(&largest), "{largest}");
    }
}
