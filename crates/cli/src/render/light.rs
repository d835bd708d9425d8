//! Lighting: one sun, a sky, and one bounce of light between bodies.

use std::f32::consts::PI;

use nalgebra::Vector4;

use super::bvh::{Ray, Vec3};
use super::directions::{Random, masking, near, visible_half};
use super::stage::{CameraRay, Stage, SurfaceHit};

/// The result of a camera ray, without the light that falls on its surface, which is noisy and
/// averaged with that of neighbors.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    /// Factor on `light`.
    pub(super) color: Vec3,
    /// Radiance that does not depend on `light`.
    pub(super) glow: Vec3,
    /// Irradiance of the sky on a white surface, and the share of sunlight.
    pub(super) light: Light,
    pub(super) place: Vec3,
    /// Shading normal; zero for the sky.
    pub(super) normal: Vec3,
    /// Distance from the camera.
    pub(super) distance: f32,
}

/// Red, green and blue of the sky, and the share of the sun.
pub(super) type Light = Vector4<f32>;

impl Sample {
    /// Linear color.
    pub(super) fn bright(&self) -> Vec3 {
        self.color.component_mul(&(self.light.xyz() + SUN * self.light.w)) + self.glow
    }

    /// Covers a share of the sample by something of a radiance.
    pub(super) fn cover(&mut self, bright: &Vec3, share: f32) {
        self.color *= 1.0 - share;
        self.glow = self.glow.lerp(bright, share);
    }
}

/// The mean radiance of a small white ball in the direction `to_eye`; `transmittance` is the share
/// of distant light that arrives from a direction.
pub(super) fn speck_light(to_eye: &Vec3, transmittance: impl Fn(Vec3) -> f32) -> Vec3 {
    let (sun, up) = (sun(), Vec3::y());
    let sunny = SUN * (ball_phase(sun.dot(to_eye)) * transmittance(sun));
    // half of its surroundings is sky, and half ground
    sunny + ((HORIZON + ZENITH) * (0.5 * transmittance(up)) + sky(-up)) * 0.5
}

/// The brightness of a diffuse ball, as a share of that of a surface that faces the sun, from the
/// cosine of the angle between the sun and the observer (Lambert 1760).
fn ball_phase(cosine: f32) -> f32 {
    let angle = cosine.clamp(-1.0, 1.0).acos();
    2.0 / 3.0 * (angle.sin() + (PI - angle) * angle.cos()) / PI
}

/// Maximum number of surfaces that a ray passes through.
const MAX_SURFACES: usize = 16;
/// Radiance of a white surface that faces the sun.
const SUN: Vec3 = Vec3::new(2.2, 2.0, 1.72);
/// Radiance of the sky at the zenith and at the horizon.
const ZENITH: Vec3 = Vec3::new(0.33, 0.42, 0.57);
const HORIZON: Vec3 = Vec3::new(0.7, 0.735, 0.78);
/// Half the angular diameter of the sun, which softens shadows, radians.
const SUN_SIZE: f32 = 0.035;
/// Sky rays per point.
pub(super) const SKY_RAYS: u32 = 2;
/// Length of sky rays, in radii of the view.
const SKY_REACH: f32 = 6.0;
/// Assumed irradiance where sky rays hit a body, as a share of the unoccluded one.
const BOUNCED: f32 = 0.3;
/// Roughness above which no specular reflection is traced.
const GLOSSY: f32 = 0.6;
/// Reflected rays per point of a rough metal.
const METAL_RAYS: u32 = 16;
/// Roughness below which a metal is drawn as a mirror, by one ray: its highlight is then smaller
/// than a pixel.
const MIRROR: f32 = 0.04;
/// Fresnel reflectance of dielectrics at normal incidence, for a refractive index of 1.5.
const REFLECTANCE: f32 = 0.04;
/// Distance, in radii, at which the ground is half blended into the horizon.
const HAZE: f32 = 14.0;

/// Direction to the center of the sun.
fn sun() -> Vec3 {
    Vec3::new(-0.55, 0.95, 0.4).normalize()
}

/// Radiance of the sky in a direction.
pub(super) fn sky(direction: Vec3) -> Vec3 {
    let up = direction.y.clamp(0.0, 1.0);
    let blue = 1.0 - (1.0 - up).powi(4);
    let clear = HORIZON.lerp(&ZENITH, blue);
    // below the horizon the sky stands for the ground
    clear * (1.0 + 0.35 * direction.y.min(0.0))
}

impl Stage<'_> {
    /// Traces a camera ray, through glass too; `width` is that of a sample at a distance of 1.
    pub(super) fn trace(&self, ray: &Ray, width: f32, random: &mut Random) -> Sample {
        let mut camera = CameraRay::new(*ray);
        let mut path = Path { through: Vec3::repeat(1.0), glow: Vec3::zeros(), length: 0.0 };
        for _ in 0..MAX_SURFACES {
            let Some(hit) = self.first_hit(&camera, width) else { break };
            path.length += hit.distance;
            let is_clear = hit.transmission > 0.0 || hit.alpha < 1.0;
            if !is_clear {
                return self.shade_opaque(&camera.ray, &hit, &path, random);
            }
            camera = self.transmit(&camera.ray, &hit, &mut path, random);
        }
        let direction = camera.ray.direction;
        let glow = path.glow + path.through.component_mul(&sky(direction));
        let (light, normal) = (Light::zeros(), Vec3::zeros());
        let color = Vec3::zeros();
        Sample { color, glow, light, place: direction, normal, distance: f32::INFINITY }
    }

    /// Shades an opaque surface, which ends the path.
    fn shade_opaque(
        &self,
        ray: &Ray,
        hit: &SurfaceHit,
        path: &Path,
        random: &mut Random,
    ) -> Sample {
        let lit = self.sunlit(hit, random);
        let sky_light = self.sky_light(hit, random);
        let direct = hit.normal.dot(&sun()).max(0.0) * lit;
        let light = Light::new(sky_light.x, sky_light.y, sky_light.z, direct);
        let fresnel = fresnel(hit, &-ray.direction);
        let mut glow = self.gloss(ray, hit, fresnel) + SUN * (highlight(hit, ray) * lit);
        if hit.metallic > 0.0 {
            glow = glow.lerp(&self.metal(ray, hit, lit, random), hit.metallic);
        }
        let clear = if hit.is_infinite_plane { clearness(path.length) } else { 1.0 };
        let horizon = Vec3::new(ray.direction.x, 0.0, ray.direction.z);
        let horizon = sky(horizon.try_normalize(1e-6).unwrap_or(ray.direction));
        let glow = glow * clear + horizon * (1.0 - clear);
        Sample {
            color: path.through.component_mul(&hit.color)
                * ((1.0 - fresnel) * clear * (1.0 - hit.metallic)),
            glow: path.glow + path.through.component_mul(&glow),
            light,
            place: hit.place,
            normal: hit.normal,
            distance: path.length,
        }
    }

    /// Continues through a surface, or by total internal reflection, and adds the reflected light.
    fn transmit(
        &self,
        ray: &Ray,
        hit: &SurfaceHit,
        path: &mut Path,
        random: &mut Random,
    ) -> CameraRay {
        let own = path.through * hit.alpha;
        let slope = -hit.normal.dot(&ray.direction);
        let mirrored = (ray.direction + hit.normal * (2.0 * slope)).normalize();
        let ratio = if hit.is_inside { hit.ior } else { 1.0 / hit.ior };
        let left = 1.0 - ratio * ratio * (1.0 - slope * slope);
        if left <= 0.0 {
            // thin or open surfaces soon end such paths
            return CameraRay::new(Ray::new(hit.offset_origin, mirrored));
        }
        let reflected = dielectric(slope, left.sqrt(), ratio);
        if !hit.is_inside {
            let mirror = self.around(&Ray::new(hit.offset_origin, mirrored), f32::INFINITY);
            let sunny = highlight(hit, ray) * self.sunlit(hit, random);
            path.glow += own.component_mul(&(mirror * reflected + SUN * sunny));
        }
        let scattered = (1.0 - reflected) * (1.0 - hit.transmission);
        if scattered > 0.0 {
            let sunny = hit.normal.dot(&sun()).max(0.0) * self.sunlit(hit, random);
            let light = HORIZON * 0.7 + SUN * sunny;
            let body = hit.color.component_mul(&light) * scattered;
            path.glow += own.component_mul(&body);
        }
        // a solid tints on the way in and out
        let tint = hit.color.map(f32::sqrt) * ((1.0 - reflected) * hit.transmission);
        path.through = own.component_mul(&tint) + path.through * (1.0 - hit.alpha);
        let bent = ray.direction * ratio + hit.normal * (ratio * slope - left.sqrt());
        let bent = if hit.alpha < 1.0 { ray.direction } else { bent.normalize() };
        CameraRay::behind(hit, bent)
    }

    /// 1 if one sampled ray to the sun is unoccluded, else 0; in between through glass.
    fn sunlit(&self, hit: &SurfaceHit, random: &mut Random) -> f32 {
        let towards = near(&sun(), SUN_SIZE, random.pair());
        if hit.normal.dot(&towards) <= 0.0 {
            return 0.0;
        }
        self.transmittance(&Ray::new(hit.offset_origin, towards))
    }

    /// Light of the sky and of surrounding bodies on a white surface.
    fn sky_light(&self, hit: &SurfaceHit, random: &mut Random) -> Vec3 {
        let mut light = Vec3::zeros();
        for _ in 0..SKY_RAYS {
            let ray = Ray::new(hit.offset_origin, near(&hit.normal, 1.0, random.pair()));
            light += self.around(&ray, SKY_REACH);
        }
        light / SKY_RAYS as f32
    }

    /// The sky in a direction, or the approximate color of a body in front of it.
    fn around(&self, ray: &Ray, reach: f32) -> Vec3 {
        let Some(met) = self.intersect(ray, reach, 0.05) else { return sky(ray.direction) };
        let sunny = SUN * met.normal.dot(&sun()).max(0.0) + HORIZON;
        // the ray's origin occludes nearby surfaces
        let open = met.distance / (met.distance + 0.25);
        let shine = met.color.component_mul(&sunny) * (BOUNCED * open);
        let clear = 1.0 - met.alpha + met.alpha * met.transmission;
        shine * (1.0 - clear) + met.color.component_mul(&sky(ray.direction)) * (0.9 * clear)
    }

    /// The specular reflection of a smooth surface.
    fn gloss(&self, ray: &Ray, hit: &SurfaceHit, fresnel: f32) -> Vec3 {
        if hit.roughness >= GLOSSY {
            return HORIZON * (fresnel * 0.5);
        }
        let along = ray.direction.dot(&hit.normal);
        let mirrored = ray.direction - hit.normal * (2.0 * along);
        let ray = Ray::new(hit.offset_origin, mirrored.normalize());
        self.around(&ray, f32::INFINITY) * fresnel
    }
}

impl Stage<'_> {
    /// Light reflected by a metal: of its surroundings by samples of the GGX distribution for its
    /// roughness, and of the sun times `lit`, the share that reaches the point.
    fn metal(&self, ray: &Ray, hit: &SurfaceHit, lit: f32, random: &mut Random) -> Vec3 {
        let towards = -ray.direction;
        let alpha = hit.roughness * hit.roughness;
        let rays = if hit.roughness < MIRROR { 1 } else { METAL_RAYS };
        let mut light = Vec3::zeros();
        for _ in 0..rays {
            let half = visible_half(&towards, &hit.normal, alpha, random.pair());
            let slope = towards.dot(&half);
            let mirrored = (half * (2.0 * slope) - towards).normalize();
            let left = mirrored.dot(&hit.normal);
            if left > 0.0 {
                let seen = self.mirrored(&Ray::new(hit.offset_origin, mirrored), random);
                let share = metal_fresnel(&hit.color, slope) * masking(left, alpha);
                light += seen.component_mul(&share);
            }
        }
        let half = (sun() + towards).normalize();
        let share = metal_fresnel(&hit.color, towards.dot(&half)) / REFLECTANCE;
        light / rays as f32 + SUN.component_mul(&share) * (highlight(hit, ray) * lit)
    }

    /// Radiance along a reflected ray of a metal: more accurate than for lighting, since the
    /// reflection is visible.
    fn mirrored(&self, ray: &Ray, random: &mut Random) -> Vec3 {
        let open_sky = sky(ray.direction);
        let Some(met) = self.intersect(ray, f32::INFINITY, 0.05) else { return open_sky };
        // the ray's origin occludes nearby surfaces
        let open = met.distance / (met.distance + 0.25);
        let sunny = met.normal.dot(&sun()).max(0.0) * self.sunlit(&met, random);
        let scattered = met.color.component_mul(&(HORIZON * (0.7 * open) + SUN * sunny));
        // a metal reflected in a metal shows the sky
        let along = ray.direction.dot(&met.normal);
        let metal = met.color.component_mul(&sky(ray.direction - met.normal * (2.0 * along)));
        let shine = scattered.lerp(&metal, met.metallic);
        let far = if met.is_infinite_plane { 1.0 - clearness(met.distance) } else { 0.0 };
        let shine = shine.lerp(&HORIZON, far);
        let clear = 1.0 - met.alpha + met.alpha * met.transmission;
        shine.lerp(&(met.color.component_mul(&open_sky) * 0.9), clear)
    }
}

/// A camera path so far.
struct Path {
    /// The transmitted share of light.
    through: Vec3,
    /// Light reflected by earlier surfaces.
    glow: Vec3,
    length: f32,
}

/// The Fresnel reflectance of a smooth surface, from the cosines of the ray before and after it and
/// the ratio of refractive indices.
fn dielectric(before: f32, after: f32, ratio: f32) -> f32 {
    let across = (ratio * before - after) / (ratio * before + after);
    let along = (before - ratio * after) / (before + ratio * after);
    (across * across + along * along) / 2.0
}

/// The Fresnel reflectance of a dielectric (Schlick 1994), reduced for rough surfaces.
fn fresnel(hit: &SurfaceHit, towards: &Vec3) -> f32 {
    let grazing = (1.0 - hit.normal.dot(towards)).clamp(0.0, 1.0).powi(5);
    let most = (1.0 - hit.roughness).max(REFLECTANCE);
    REFLECTANCE + (most - REFLECTANCE) * grazing
}

/// The Fresnel reflectance of a metal of a color (Schlick 1994).
fn metal_fresnel(color: &Vec3, slope: f32) -> Vec3 {
    color.lerp(&Vec3::repeat(1.0), (1.0 - slope).clamp(0.0, 1.0).powi(5))
}

/// The specular reflection of the sun as a share of its light (Walter and others 2007, GGX, with
/// the masking of Hammon 2017).
fn highlight(hit: &SurfaceHit, ray: &Ray) -> f32 {
    let towards = sun();
    let slope = hit.normal.dot(&towards);
    if slope <= 0.0 {
        return 0.0;
    }
    // at least as wide as the sun itself
    let alpha = (hit.roughness * hit.roughness).max(SUN_SIZE);
    let half = (towards - ray.direction).normalize();
    let squared = alpha * alpha;
    let spread = hit.normal.dot(&half).powi(2) * (squared - 1.0) + 1.0;
    let seen = hit.normal.dot(&-ray.direction).max(0.05);
    let masked = 0.5 / (2.0 * slope * seen * (1.0 - alpha) + (slope + seen) * alpha);
    REFLECTANCE * squared / (spread * spread) * masked * slope
}

/// The visible share of the ground at a distance; the rest is horizon.
fn clearness(distance: f32) -> f32 {
    1.0 / (1.0 + (distance / HAZE).powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ball scatters as much light as falls on its shadow: the mean over all directions is a
    /// quarter.
    #[test]
    fn a_ball_scatters_the_light_that_falls_on_it() {
        let cosines = (0..2000).map(|n| (n as f32 + 0.5) / 1000.0 - 1.0);
        let mean = cosines.map(ball_phase).sum::<f32>() / 2000.0;
        assert!((mean - 0.25).abs() < 1e-4, "{mean}");
        // seen from the sun, the mean of the cosine over the disc
        assert!((ball_phase(1.0) - 2.0 / 3.0).abs() < 1e-6);
        assert!(ball_phase(-1.0).abs() < 1e-6);
    }

    #[test]
    fn fresnel_is_as_in_closed_form() {
        let reflectance = |degrees: f32, ior: f32| {
            let slope = degrees.to_radians().cos();
            let left = 1.0 - (1.0 - slope * slope) / (ior * ior);
            dielectric(slope, left.sqrt(), 1.0 / ior)
        };
        assert!((reflectance(0.0, 1.5) - 0.04).abs() < 1e-6);
        // at Brewster's angle only s-polarized light is reflected
        let brewster = 1.5f32.atan();
        let across = (brewster - (PI / 2.0 - brewster)).sin().powi(2);
        assert!((reflectance(brewster.to_degrees(), 1.5) - across / 2.0).abs() < 1e-5);
        assert!(reflectance(89.99, 1.5) > 0.99);
        assert!(reflectance(40.0, 1.0).abs() < 1e-6, "without a change there is no mirror");
    }
}
