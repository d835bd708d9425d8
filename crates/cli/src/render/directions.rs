//! Random directions.

use std::f32::consts::TAU;

use super::bvh::Vec3;

/// Number of rays that share a random sequence.
const SQUARE: u32 = 16;

/// Random numbers that depend only on the position in the picture.
pub(super) struct Random {
    tile: [f32; 2],
    count: u32,
}

impl Random {
    /// The generator of a ray: rays of a 4 by 4 square share a sequence (Roberts 2018, R2),
    /// interleaved.
    pub(super) fn at(x: u32, y: u32) -> Self {
        const ORDER: [u32; SQUARE as usize] =
            [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];
        let tile = hash(x / 4, y / 4);
        let part = |bits: u32| (bits & 0xffff) as f32 / 65536.0;
        let turn = ORDER[(y % 4 * 4 + x % 4) as usize];
        Self { tile: [part(tile), part(tile >> 16)], count: turn }
    }

    /// Two numbers in [0, 1).
    pub(super) fn pair(&mut self) -> [f32; 2] {
        let n = self.count as f32;
        // the rays of a square are interleaved: neighbors in the sequence are far apart
        self.count += SQUARE;
        [(self.tile[0] + n * 0.754_877_7).fract(), (self.tile[1] + n * 0.569_840_3).fract()]
    }
}

/// A hash of a position (Jarzynski and Olano 2020, pcg2d).
fn hash(x: u32, y: u32) -> u32 {
    let [mut a, mut b] = [x, y].map(|n| n.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    a = a.wrapping_add(b.wrapping_mul(1_664_525));
    b = b.wrapping_add(a.wrapping_mul(1_664_525));
    a ^= a >> 16;
    b ^= b >> 16;
    a = a.wrapping_add(b.wrapping_mul(1_664_525));
    b = b.wrapping_add(a.wrapping_mul(1_664_525));
    b ^ (b >> 16) ^ (a >> 16)
}

/// Two vectors orthogonal to a unit vector and to each other (Duff and others 2017).
fn tangents(n: &Vec3) -> [Vec3; 2] {
    let sign = 1f32.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    let first = Vec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    [first, Vec3::new(b, sign + n.y * n.y * a, -n.y)]
}

/// A cosine-weighted direction around `axis`, within the cone with the given `sine`; 1 for the
/// hemisphere.
pub(super) fn near(axis: &Vec3, sine: f32, [u, v]: [f32; 2]) -> Vec3 {
    let radius = sine * u.sqrt();
    let (y, x) = (TAU * v).sin_cos();
    let [a, b] = tangents(axis);
    let along = (1.0 - radius * radius).max(0.0).sqrt();
    a * (radius * x) + b * (radius * y) + axis * along
}

/// A sampled visible normal of a GGX surface of roughness `alpha`, seen from `towards` (Dupuy and
/// Benyoub 2023, "Sampling Visible GGX Normals with Spherical Caps").
pub(super) fn visible_half(towards: &Vec3, normal: &Vec3, alpha: f32, [u, v]: [f32; 2]) -> Vec3 {
    let [a, b] = tangents(normal);
    let local = Vec3::new(a.dot(towards), b.dot(towards), normal.dot(towards).max(1e-3));
    let stretched = Vec3::new(alpha * local.x, alpha * local.y, local.z).normalize();
    let (sine, cosine) = (TAU * u).sin_cos();
    let z = (1.0 - v) * (1.0 + stretched.z) - stretched.z;
    let across = (1.0 - z * z).clamp(0.0, 1.0).sqrt();
    let half = Vec3::new(across * cosine, across * sine, z) + stretched;
    (a * (alpha * half.x) + b * (alpha * half.y) + normal * half.z.max(1e-6)).normalize()
}

/// The visible share of a rough surface in a direction with the given cosine (Smith 1967, for GGX).
pub(super) fn masking(slope: f32, alpha: f32) -> f32 {
    let squared = alpha * alpha;
    2.0 * slope / (slope + (squared + (1.0 - squared) * slope * slope).sqrt())
}

#[cfg(test)]
mod tests {
    use std::f32::consts::PI;

    use super::*;

    #[test]
    fn directions_are_as_frequent_as_their_slope() {
        let axis = Vec3::new(0.3, -0.5, 0.8).normalize();
        let slopes = (0..4096).map(|n| {
            let direction = near(&axis, 1.0, Random::at(n % 64, n / 64).pair());
            assert!((direction.norm() - 1.0).abs() < 1e-5);
            direction.dot(&axis)
        });
        // the mean of cos over cos/pi is 2/3
        let mean = slopes.sum::<f32>() / 4096.0;
        assert!((mean - 2.0 / 3.0).abs() < 0.01, "{mean}");
    }

    /// The mean cosine of sampled normals equals its integral over their density.
    #[test]
    fn normals_of_rough_metals_are_as_frequent_as_they_are_seen() {
        for (alpha, degrees) in [(0.1_f32, 20.0_f32), (0.4, 60.0), (0.7, 75.0)] {
            let normal = Vec3::new(0.2, 0.9, -0.4).normalize();
            let (sine, cosine) = degrees.to_radians().sin_cos();
            let [across, _] = tangents(&normal);
            let towards = normal * cosine + across * sine;
            const COUNT: u32 = 1 << 14;
            let slopes = (0..COUNT).map(|n| {
                let numbers = Random::at(n % 128, n / 128).pair();
                visible_half(&towards, &normal, alpha, numbers).dot(&normal)
            });
            let mean = slopes.sum::<f32>() / COUNT as f32;
            let (mut whole, mut sum) = (0.0, 0.0);
            const STEPS: u32 = 1000;
            for (i, j) in (0..STEPS).flat_map(|i| (0..STEPS).map(move |j| (i, j))) {
                let slope = (f64::from(i) + 0.5) / f64::from(STEPS);
                let angle = (f64::from(j) + 0.5) / f64::from(STEPS) * f64::from(2.0 * PI);
                let spread = slope * slope * f64::from(alpha * alpha - 1.0) + 1.0;
                let density = f64::from(alpha * alpha) / (f64::from(PI) * spread * spread);
                let seen = f64::from(cosine) * slope
                    + f64::from(sine) * (1.0 - slope * slope).sqrt() * angle.cos();
                let shown = f64::from(masking(cosine, alpha) / cosine) * seen.max(0.0);
                let share = density * shown * f64::from(2.0 * PI) / f64::from(STEPS * STEPS);
                whole += share;
                sum += share * slope;
            }
            assert!((whole - 1.0).abs() < 0.01, "{alpha}: {whole}");
            assert!((f64::from(mean) - sum).abs() < 0.005, "{alpha}: {mean}, not {sum}");
        }
    }
}
