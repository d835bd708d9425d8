//! The scene of a frame.

use std::sync::Arc;

use nalgebra::{Point3, UnitQuaternion};
use sim::{Coat, Look, Opacity, Recording, Surface};

use super::between::{Interpolated, interpolated};
use super::bvh::{Bvh, Hit, Ray, Vec3};
use super::images::Images;
use super::view::View;
use crate::texture;

/// The bodies of a frame, with the camera target at the origin, and scaled to about 1.
pub(super) struct Stage<'i> {
    tree: Bvh,
    corners: Vec<[Vec3; 3]>,
    facets: Vec<Facet>,
    bodies: Vec<Placed>,
    planes: Vec<Plane>,
    /// Whether a ray can pass through a body.
    has_clear_bodies: bool,
    images: &'i Images,
    /// Length of a unit, m.
    unit: f32,
}

/// A triangle of a body.
#[derive(Clone, Copy)]
struct Facet {
    body: u32,
    corners: [u32; 3],
    is_cut: bool,
    /// The index of its coat in the look of the body, if it has one.
    coat: Option<u32>,
}

struct Placed {
    surface: Arc<Surface>,
    look: Arc<Look>,
    turn: UnitQuaternion<f32>,
}

/// An infinite plane: `normal . x = offset`.
struct Plane {
    normal: Vec3,
    offset: f32,
    look: Arc<Look>,
}

/// The hit of a ray on a surface.
pub(super) struct SurfaceHit {
    pub(super) place: Vec3,
    /// Origin of light rays, outside a coarse surface with smooth shading (Hanika 2021, "Hacking
    /// the Shadow Terminator").
    pub(super) offset_origin: Vec3,
    /// Shading normal, towards the ray's origin.
    pub(super) normal: Vec3,
    pub(super) distance: f32,
    /// Linear color of diffusely reflected or transmitted light.
    pub(super) color: Vec3,
    pub(super) roughness: f32,
    pub(super) metallic: f32,
    pub(super) transmission: f32,
    pub(super) ior: f32,
    pub(super) alpha: f32,
    /// Whether the ray came from inside.
    pub(super) is_inside: bool,
    /// Whether it is on an infinite plane.
    pub(super) is_infinite_plane: bool,
    /// The body; `None` on an infinite plane.
    body: Option<u32>,
}

/// A camera ray on its way through clear bodies.
pub(super) struct CameraRay {
    pub(super) ray: Ray,
    /// The body whose surface is the origin.
    passed: Option<u32>,
}

impl CameraRay {
    pub(super) fn new(ray: Ray) -> Self {
        Self { ray, passed: None }
    }

    /// The ray after it passed a clear surface. It starts just before the surface, so that it hits coincident
    /// surfaces of other bodies.
    pub(super) fn behind(hit: &SurfaceHit, direction: Vec3) -> Self {
        let origin = hit.place - direction * clearance(&hit.place);
        Self { ray: Ray::new(origin, direction), passed: hit.body }
    }
}

/// Offset of ray origins from a surface, relative to the coordinates: some of their last digits.
const CLEARANCE: f32 = 1e-5;

/// The offset of rays at a place.
fn clearance(place: &Vec3) -> f32 {
    CLEARANCE * (1.0 + place.amax())
}

impl<'i> Stage<'i> {
    pub(super) fn new(
        (recording, images): (&Recording, &'i Images),
        view: &View,
        time: f64,
    ) -> Self {
        let (mut corners, mut facets, mut bodies) = (vec![], vec![], vec![]);
        let mut planes = vec![];
        for Interpolated { track, pose, scale } in interpolated(recording, time) {
            let track = &recording.tracks[track];
            let (surface, look) = (track.surface(), Arc::clone(&track.look));
            if surface.is_endless() {
                let normal = pose.rotation * nalgebra::Vector3::y();
                let offset = normal.dot(&(pose.translation.vector - view.center.coords));
                let offset = (offset / view.radius) as f32;
                planes.push(Plane { normal: normal.cast(), offset, look });
                continue;
            }
            let body = bodies.len() as u32;
            for (triangles, is_cut) in [(&surface.outer, false), (&surface.inner, true)] {
                for (n, &triangle) in triangles.iter().enumerate() {
                    let place = |v: u32| {
                        let p = pose * (Point3::from(surface.vertices[v as usize]).cast() * scale);
                        ((p - view.center) / view.radius).cast()
                    };
                    corners.push(triangle.map(place));
                    let coat = surface.coats.get(n).filter(|_| !is_cut).copied();
                    let coat = coat.filter(|&coat| (coat as usize) < look.coats.len());
                    facets.push(Facet { body, corners: triangle, is_cut, coat });
                }
            }
            bodies.push(Placed { surface, look, turn: pose.rotation.cast() });
        }
        let unit = view.radius as f32;
        let tree = Bvh::new(&corners);
        let mut stage =
            Self { tree, corners, facets, bodies, planes, has_clear_bodies: false, images, unit };
        stage.has_clear_bodies = stage.facets.iter().any(|facet| stage.is_clear(facet));
        stage
    }

    /// The first surface that a ray hits before `limit`.
    ///
    /// `width` is that of the ray at a distance of 1: finer detail is omitted.
    pub(super) fn intersect(&self, ray: &Ray, limit: f32, width: f32) -> Option<SurfaceHit> {
        let plane = self.nearest_plane(ray, limit);
        let limit = plane.map_or(limit, |(at, _)| at);
        match (self.tree.nearest(ray, limit), plane) {
            (Some(hit), _) => Some(self.surface_hit(ray, &hit, width)),
            (None, Some((at, plane))) => Some(plane.surface_hit(ray, at)),
            (None, None) => None,
        }
    }

    /// The first surface that a camera ray hits. Of coincident surfaces the clear one comes first; otherwise
    /// round-off would choose one for each pixel.
    pub(super) fn first_hit(&self, camera: &CameraRay, width: f32) -> Option<SurfaceHit> {
        let CameraRay { ray, passed } = camera;
        let first = self.nearest_except(ray, *passed, f32::INFINITY, |_| true);
        let plane = self.nearest_plane(ray, first.map_or(f32::INFINITY, |hit| hit.distance));
        let distance = plane.map(|(at, _)| at).or(first.map(|hit| hit.distance))?;
        let limit = distance + 2.0 * clearance(&ray.at(distance));
        let clear = self
            .has_clear_bodies
            .then(|| self.nearest_except(ray, *passed, limit, |facet| self.is_clear(facet)));
        match (clear.flatten(), first, plane) {
            (Some(hit), ..) | (None, Some(hit), None) => Some(self.surface_hit(ray, &hit, width)),
            (None, _, Some((at, plane))) => Some(plane.surface_hit(ray, at)),
            (None, None, None) => None,
        }
    }

    /// The nearest triangle before `limit` for which `is_wanted` holds. Omits triangles of the `passed` body at the
    /// origin of the ray.
    fn nearest_except(
        &self,
        ray: &Ray,
        passed: Option<u32>,
        limit: f32,
        is_wanted: impl Fn(&Facet) -> bool,
    ) -> Option<Hit> {
        let near = 4.0 * clearance(&ray.origin);
        self.tree.nearest_of(ray, limit, |hit| {
            let facet = &self.facets[hit.triangle as usize];
            (passed != Some(facet.body) || hit.distance > near) && is_wanted(facet)
        })
    }

    /// The nearest infinite plane before `limit`, and its distance.
    fn nearest_plane(&self, ray: &Ray, limit: f32) -> Option<(f32, &Plane)> {
        let planes = self.planes.iter().filter_map(|plane| Some((plane.intersect(ray)?, plane)));
        planes.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(at, _)| *at < limit)
    }

    /// Whether a ray can pass through a triangle.
    fn is_clear(&self, facet: &Facet) -> bool {
        let look = &self.bodies[facet.body as usize].look;
        let coat = facet.coat.map(|coat| &look.coats[coat as usize]);
        coat.map_or_else(|| body_transmittance(look), coat_transmittance) > 0.0
    }

    /// Whether a body of finite size is on a ray, before a plane or behind it.
    pub(super) fn has_body(&self, ray: &Ray) -> bool {
        self.tree.any(ray, f32::INFINITY, |_| true)
    }

    /// The share of distant light that arrives along a ray.
    pub(super) fn transmittance(&self, ray: &Ray) -> f32 {
        if self.planes.iter().any(|plane| plane.intersect(ray).is_some()) {
            return 0.0;
        }
        let mut transmittance = 1.0;
        self.tree.any(ray, f32::INFINITY, |triangle| {
            let facet = &self.facets[triangle as usize];
            let look = &self.bodies[facet.body as usize].look;
            let coat = facet.coat.map(|coat| &look.coats[coat as usize]);
            // a ray leaves a solid as often as it enters it
            transmittance *=
                coat.map_or_else(|| body_transmittance(look), coat_transmittance).sqrt();
            transmittance < 0.01
        });
        transmittance
    }

    fn surface_hit(&self, ray: &Ray, hit: &Hit, width: f32) -> SurfaceHit {
        let corners = &self.corners[hit.triangle as usize];
        let Facet { body, corners: vertices, is_cut, .. } = self.facets[hit.triangle as usize];
        let Placed { surface, look, turn } = &self.bodies[body as usize];
        let [u, v] = hit.weights;
        let weights = [1.0 - u - v, u, v];
        let flat = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
        let flat = flat.try_normalize(0.0).unwrap_or_else(Vec3::y);
        let side = if flat.dot(&ray.direction) > 0.0 { -1.0 } else { 1.0 };
        let flat = flat * side;
        let normals = vertices.map(|v| turn * Vec3::from(surface.normals[v as usize]) * side);
        let mix = |of: &[Vec3; 3]| of[0] * weights[0] + of[1] * weights[1] + of[2] * weights[2];
        let place = mix(corners);
        let below: [Vec3; 3] =
            std::array::from_fn(|i| normals[i] * (place - corners[i]).dot(&normals[i]).min(0.0));
        let start = clearance(&place);
        let normal = mix(&normals).try_normalize(0.1).unwrap_or(flat);
        // a back-facing shading normal occurs at the silhouette of a coarse surface: make it
        // perpendicular
        let away = normal.dot(&ray.direction).max(0.0);
        let normal = (normal - ray.direction * away).try_normalize(0.1).unwrap_or(flat);
        let tint = vertices.map(|v| surface.colors.get(v as usize).map_or(ONE, |c| xyz(*c)));
        let tint = mix(&tint);
        let shading = self.shading(hit, weights, width * hit.distance).unwrap_or_else(|| {
            let own = if is_cut { look.inner_color } else { look.color };
            let rest = mix(&vertices.map(|v| surface.rest[v as usize].into()));
            let grain = texture::color(look.texture, rest, width * hit.distance * self.unit);
            let Look { roughness, metallic, transmission, ior, alpha, .. } = **look;
            let color = Vec3::from(own).component_mul(&grain);
            Shading { color, roughness, metallic, transmission, ior, alpha }
        });
        let Shading { color, roughness, metallic, transmission, ior, alpha } = shading;
        SurfaceHit {
            place,
            offset_origin: place - mix(&below) + flat * start,
            normal,
            distance: hit.distance,
            color: color.component_mul(&tint),
            roughness,
            metallic,
            transmission,
            ior,
            alpha,
            is_inside: side < 0.0,
            is_infinite_plane: false,
            body: Some(body),
        }
    }
}

impl Stage<'_> {
    /// The shading of a triangle's coat at a point, if it has one; `width` is that of the ray
    /// there.
    fn shading(&self, hit: &Hit, weights: [f32; 3], width: f32) -> Option<Shading> {
        let Facet { body, corners: vertices, coat, .. } = self.facets[hit.triangle as usize];
        let Placed { surface, look, .. } = &self.bodies[body as usize];
        let coat = &look.coats[coat? as usize];
        let mut color = coat.color;
        let uvs = vertices.map(|v| surface.uvs.get(v as usize).copied());
        if let (Some(image), [Some(a), Some(b), Some(c)]) = (self.images.find(coat), uvs) {
            let at = [0, 1].map(|k| a[k] * weights[0] + b[k] * weights[1] + c[k] * weights[2]);
            let [e, f] = [[b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]];
            let [p, q, r] = self.corners[hit.triangle as usize];
            let whole = (q - p).cross(&(r - p)).norm();
            // share of the image per area of the ray
            let share = (e[0] * f[1] - e[1] * f[0]).abs() / whole.max(f32::MIN_POSITIVE);
            let pixel = image.at(at, (share * width * width).min(1.0), coat.wrap);
            color.iter_mut().zip(pixel).for_each(|(own, of)| *own *= of);
        }
        let [r, g, b, alpha] = color;
        let alpha = match coat.opacity {
            Opacity::Opaque => 1.0,
            Opacity::Mask(cutoff) => f32::from(u8::from(alpha >= cutoff)),
            Opacity::Blend => alpha,
        };
        let roughness = coat.roughness.unwrap_or(look.roughness);
        let metallic = coat.metallic;
        // partial coverage does not refract
        let (color, transmission, ior) = (Vec3::new(r, g, b), 0.0, 1.0);
        Some(Shading { color, roughness, metallic, transmission, ior, alpha })
    }
}

/// The material at a point of a surface.
struct Shading {
    color: Vec3,
    roughness: f32,
    metallic: f32,
    transmission: f32,
    ior: f32,
    alpha: f32,
}

/// The share of light that a coat transmits.
fn coat_transmittance(coat: &Coat) -> f32 {
    if coat.opacity == Opacity::Blend { 1.0 - coat.color[3] } else { 0.0 }
}

/// The share of light that a body transmits.
fn body_transmittance(look: &Look) -> f32 {
    let tint = look.color.iter().sum::<f32>() / 3.0;
    1.0 - look.alpha + look.alpha * look.transmission * tint * 0.9
}

const ONE: Vec3 = Vec3::new(1.0, 1.0, 1.0);

fn xyz([x, y, z, _]: [f32; 4]) -> Vec3 {
    Vec3::new(x, y, z)
}

impl Plane {
    /// The distance at which a ray hits it from outside.
    fn intersect(&self, ray: &Ray) -> Option<f32> {
        let slope = self.normal.dot(&ray.direction);
        let at = (self.offset - self.normal.dot(&ray.origin)) / slope;
        (slope < 0.0 && at > 0.0).then_some(at)
    }

    fn surface_hit(&self, ray: &Ray, distance: f32) -> SurfaceHit {
        let place = ray.at(distance);
        SurfaceHit {
            place,
            offset_origin: place + self.normal * clearance(&place),
            normal: self.normal,
            distance,
            color: self.look.color.into(),
            roughness: self.look.roughness,
            metallic: self.look.metallic,
            transmission: 0.0,
            ior: 1.5,
            alpha: 1.0,
            is_inside: false,
            is_infinite_plane: true,
            body: None,
        }
    }
}
