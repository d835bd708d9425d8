//! Gradient noise (Perlin 2002), seeded.

use nalgebra::{Point3, Vector3};
use noise_functions::{Perlin, Sample};

use crate::random::mix;

/// Noise that displaces cuts; lengths in pattern units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Approximate largest displacement of a cut along each axis. At most a third of
    /// `1 / frequency` keeps the pieces from folding over.
    pub amplitude: f64,
    /// Periods per unit, of the coarsest octave.
    pub frequency: f64,
    /// Each octave after the first has twice the frequency and half the amplitude of the previous
    /// one; 1 to 12.
    pub octaves: u32,
    /// Seed of the noise.
    pub seed: u64,
}

impl Noise {
    /// The displacement at `p`; approximately at most `amplitude` along each axis.
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
    let p: [f32; 3] = p.map(|x| x as f32).into();
    Vector3::from_fn(|axis, _| {
        let seed = mix(seed ^ axis as u64) as i32;
        f64::from(Perlin.sample_with_seed(p, seed))
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
