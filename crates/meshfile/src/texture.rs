//! Solid textures: factors of the colors of a material at a point of the whole body, so that the
//! grain of the surface continues in cuts and across fragments. `viewer/page/texture.js` has the
//! same functions.

use nalgebra::Vector3;
use sim::Texture;

type Vec3 = Vector3<f32>;

/// The color of a texture at a point, m, each component between 0 and 1; detail finer than `width`,
/// m, is omitted.
pub fn color(texture: Texture, place: Vec3, width: f32) -> Vec3 {
    let noise = Noise { place, width };
    let gray = |value: f32| Vec3::repeat(value);
    match texture {
        Texture::Plain => gray(1.0),
        Texture::Marble => {
            let vein = (2.0 * noise.clouds(5.0) - 1.0).abs();
            let fine = (2.0 * noise.clouds(13.0) - 1.0).abs();
            let clear = smoothstep(0.0, 0.16, vein) * (0.75 + 0.25 * smoothstep(0.0, 0.1, fine));
            Vec3::new(0.3, 0.32, 0.36).lerp(&gray(1.0), clear) * (0.9 + 0.1 * noise.at(3.0))
        }
        Texture::Clay => gray(0.74 + 0.2 * noise.clouds(12.0) + 0.06 * noise.at(210.0)),
        Texture::Wood => {
            let bent = 0.5 * noise.at(3.0) + 0.1 * noise.at(11.0);
            let ring = (libm::hypotf(place.x, place.z) * 24.0 + bent * 2.0).fract();
            let early = smoothstep(0.0, 0.6, ring) * (1.0 - smoothstep(0.85, 1.0, ring));
            let along = Noise { place: place.component_mul(&Vec3::new(1.0, 0.05, 1.0)), width };
            let fibers = 0.85 + 0.15 * along.at(170.0);
            gray(1.0).lerp(&Vec3::new(0.58, 0.47, 0.38), early) * fibers
        }
        Texture::Concrete => {
            let pore = 1.0 - 0.5 * smoothstep(0.76, 0.84, noise.at(38.0));
            gray((0.68 + 0.22 * noise.clouds(5.0) + 0.1 * noise.at(170.0)) * pore)
        }
        Texture::Stone => {
            let dark = smoothstep(0.6, 0.7, noise.at(55.0));
            let warm = smoothstep(0.55, 0.7, noise.at(31.0));
            let ground = gray(0.74 + 0.26 * noise.clouds(6.0));
            let warm =
                ground.component_mul(&Vec3::new(1.0, 0.9, 0.82).lerp(&gray(1.0), 1.0 - warm));
            warm * (1.0 - 0.35 * dark)
        }
    }
}

/// Value noise: random values at lattice points, interpolated smoothly.
struct Noise {
    place: Vec3,
    width: f32,
}

impl Noise {
    /// Between 0 and 1; `rate` is in lattice points per meter. The mean where the noise is too fine
    /// to resolve.
    fn at(&self, rate: f32) -> f32 {
        let seen = (1.5 - rate * self.width).clamp(0.0, 1.0);
        if seen == 0.0 {
            return 0.5;
        }
        let p = self.place * rate;
        let cell = p.map(f32::floor);
        let part = (p - cell).map(|t| t * t * (3.0 - 2.0 * t));
        let corner = |dx: u32, dy: u32, dz: u32| {
            let [x, y, z] = [(cell.x, dx), (cell.y, dy), (cell.z, dz)]
                .map(|(c, d)| (c as i32 as u32).wrapping_add(d));
            (hash(x, y, z) >> 8) as f32 / 16_777_216.0
        };
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let line = |y, z| mix(corner(0, y, z), corner(1, y, z), part.x);
        let face = |z| mix(line(0, z), line(1, z), part.y);
        0.5 + (mix(face(0), face(1), part.z) - 0.5) * seen
    }

    /// Three octaves.
    fn clouds(&self, rate: f32) -> f32 {
        (4.0 * self.at(rate) + 2.0 * self.at(2.03 * rate) + self.at(4.1 * rate)) / 7.0
    }
}

/// Jarzynski and Olano 2020, pcg3d.
fn hash(x: u32, y: u32, z: u32) -> u32 {
    let [mut x, mut y, mut z] =
        [x, y, z].map(|n| n.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    for round in 0..2 {
        x = x.wrapping_add(y.wrapping_mul(z));
        y = y.wrapping_add(z.wrapping_mul(x));
        z = z.wrapping_add(x.wrapping_mul(y));
        if round == 0 {
            [x, y, z] = [x, y, z].map(|n| n ^ (n >> 16));
        }
    }
    x
}

fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_shares_that_vary_by_place_and_settle_at_a_mean() {
        for texture in Texture::ALL {
            let mut low = f32::INFINITY;
            let mut high = 0f32;
            for n in 0..4000 {
                let place = Vec3::new(0.013, -0.017, 0.011) * n as f32;
                let color = color(texture, place, 0.0);
                assert!(color.iter().all(|c| (0.0..=1.0).contains(c)), "{texture:?} {color}");
                low = low.min(color.y);
                high = high.max(color.y);
            }
            let is_plain = texture == Texture::Plain;
            assert_eq!(high - low > 0.1, !is_plain, "{texture:?} from {low} to {high}");
        }
        let far = |x: f32| color(Texture::Stone, Vec3::new(x, 0.0, 0.0), 10.0);
        assert_eq!(far(0.0), far(7.3), "what is too fine to be seen is not there");
    }

    #[test]
    fn noise_is_even_and_smooth() {
        let at = |x: f32| Noise { place: Vec3::new(x, 0.3 * x, 0.7 * x), width: 0.0 }.at(1.0);
        let values: Vec<f32> = (0..20_000).map(|n| at(n as f32 * 0.37)).collect();
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        let steepest = (0..20_000).map(|n| n as f32 * 1e-3);
        let steepest = steepest.map(|x| (at(x + 1e-3) - at(x)).abs()).fold(0.0, f32::max);
        assert!(steepest < 0.005, "{steepest}");
    }
}
