//! Pictures of a recording without a browser or a graphics card: a z-buffer, one sun with shadows
//! and a pale sky.

mod animation;
mod picture;
mod raster;

use nalgebra::{Isometry3, Matrix4, Orthographic3, Perspective3, Point3, Unit, Vector3, Vector4};
use sim::{Recording, Surface, Track};

pub use animation::{Apng, Gif};
pub(crate) use picture::srgb_bytes;
pub use picture::{Picture, contact_sheet};
use raster::{Buffer, rasterise};

/// Samples per pixel and axis.
const SUPERSAMPLING: usize = 2;
/// Room around what the camera looks at.
const MARGIN: f64 = 1.15;
/// Vertical field of view, radians.
const FIELD_OF_VIEW: f64 = 0.6;
/// Pixels along a side of the shadow map.
const SHADOW_MAP: usize = 2048;
/// Share of the light that comes from everywhere.
const AMBIENT: f64 = 0.35;

/// A camera that does not move, and a sun.
#[derive(Clone, Debug)]
pub struct View {
    centre: Point3<f64>,
    /// From the centre to the camera.
    arm: Vector3<f64>,
    /// Around the centre, what light and haze are made for.
    radius: f64,
}

impl View {
    /// Looks from the front, the right and a little above at what breaks in `recording`; at what
    /// moves where nothing breaks, and at everything where nothing moves. Pictures will be
    /// `aspect` times as wide as high.
    pub fn fitted(recording: &Recording, aspect: f64) -> Self {
        let breaks = |t: &Track| t.parent.is_some() || t.end() < recording.frames;
        let moves = |t: &Track| t.poses.windows(2).any(|w| w[0] != w[1]);
        let mut balls = Balls::of(recording, breaks);
        if balls.all.is_empty() {
            balls = Balls::of(recording, moves);
        }
        if balls.all.is_empty() {
            balls = Balls::of(recording, |_| true);
        }
        let towards = Vector3::new(0.5, 0.35, 1.0).normalize();
        let right = Vector3::y().cross(&towards).normalize();
        let up = towards.cross(&right);
        let [across, along, deep] = [right, up, towards].map(|axis| balls.span(&axis));
        let middle = |[low, high]: [f64; 2]| (low + high) / 2.0;
        let half = |[low, high]: [f64; 2]| (high - low) / 2.0;
        let reach = (half(across) / aspect).max(half(along)) / (FIELD_OF_VIEW / 2.0).tan();
        Self {
            centre: (right * middle(across) + up * middle(along) + towards * middle(deep)).into(),
            arm: towards * (MARGIN * reach + half(deep)).max(1e-6),
            radius: half(across).hypot(half(along)).hypot(half(deep)).max(1e-6),
        }
    }

    /// Looks at `at` from `from` instead, in light made for what is around `at`; `None` if the two
    /// are one, or one above the other.
    pub fn moved(self, at: Point3<f64>, from: Point3<f64>) -> Option<Self> {
        let arm = from - at;
        let radius = arm.norm() * (FIELD_OF_VIEW / 2.0).tan() * 2.0;
        (arm.cross(&Vector3::y()).norm() >= 1e-6).then_some(Self { centre: at, arm, radius })
    }

    /// Vertical field of view, radians.
    pub const FIELD: f64 = FIELD_OF_VIEW;

    /// Where the camera looks, the way from there to the camera, and the radius of what is lit, m.
    pub fn parts(&self) -> ([f64; 3], [f64; 3], f64) {
        (self.centre.into(), self.arm.into(), self.radius)
    }

    /// World to clip space of the picture.
    fn camera(&self, aspect: f64) -> Matrix4<f64> {
        let view = Isometry3::look_at_rh(&(self.centre + self.arm), &self.centre, &Vector3::y());
        let distance = self.arm.norm();
        let projection =
            Perspective3::new(aspect, FIELD_OF_VIEW, distance / 100.0, distance * 100.0);
        projection.to_homogeneous() * view.to_homogeneous()
    }

    /// Towards the sun.
    fn sun() -> Unit<Vector3<f64>> {
        Unit::new_normalize(Vector3::new(-0.5, 1.0, 0.45))
    }

    /// World to clip space of the sun.
    fn shadow(&self) -> Matrix4<f64> {
        let reach = 2.0 * self.radius;
        let eye = self.centre + Self::sun().into_inner() * (2.0 * reach);
        let view = Isometry3::look_at_rh(&eye, &self.centre, &Vector3::z());
        let lit = Orthographic3::new(-reach, reach, -reach, reach, 0.1 * reach, 4.0 * reach);
        lit.to_homogeneous() * view.to_homogeneous()
    }
}

/// Balls around bodies, centre and radius.
struct Balls {
    /// In every frame.
    all: Vec<(Point3<f64>, f64)>,
    /// Of bodies that were there from the beginning, where they were then.
    first: Vec<(Point3<f64>, f64)>,
}

impl Balls {
    /// Those of the tracks that count.
    fn of(recording: &Recording, counts: impl Fn(&Track) -> bool) -> Self {
        let mut balls = Self { all: vec![], first: vec![] };
        for track in recording.tracks.iter().filter(|t| counts(t)) {
            let reach = |v: &[f32; 3]| Vector3::from(v.map(f64::from)).norm();
            let radius = track.surface().vertices.iter().map(reach).fold(0.0, f64::max);
            let ball = |pose: &Isometry3<f64>| (pose.translation.vector.into(), radius);
            balls.all.extend(track.poses.iter().map(ball));
            if track.birth == 0 {
                balls.first.extend(track.poses.first().map(ball));
            }
        }
        balls
    }

    /// Where they begin and end along an axis. A few that lie far out do not count, unless a body
    /// starts there.
    fn span(&self, axis: &Vector3<f64>) -> [f64; 2] {
        let end = |&(c, r): &(Point3<f64>, f64), sign: f64| c.coords.dot(axis) + sign * r;
        let sorted = |sign: f64| {
            let mut ends: Vec<f64> = self.all.iter().map(|ball| end(ball, sign)).collect();
            ends.sort_by(f64::total_cmp);
            ends
        };
        let outliers = self.all.len() / 50;
        let low = sorted(-1.0).get(outliers).copied().unwrap_or(-1.0);
        let high = sorted(1.0).iter().rev().nth(outliers).copied().unwrap_or(1.0);
        self.first.iter().fold([low, high], |[low, high], ball| {
            [low.min(end(ball, -1.0)), high.max(end(ball, 1.0))]
        })
    }
}

/// A triangle of the frame, in the world.
struct Facet {
    corners: [Point3<f64>; 3],
    normals: [Vector3<f64>; 3],
    colour: Vector3<f64>,
}

/// Draws one frame of `recording`, `size` pixels wide and high.
pub fn render(recording: &Recording, view: &View, frame: usize, size: [usize; 2]) -> Picture {
    let facets = facets(recording, frame);
    let [width, height] = size.map(|pixels| pixels * SUPERSAMPLING);
    let camera = view.camera(width as f64 / height as f64);
    let seen = rasterise(clip(&facets, &camera), [width, height]);
    let shadow = view.shadow();
    let lit = rasterise(clip(&facets, &shadow), [SHADOW_MAP; 2]);
    let colours = seen.pixels().enumerate().map(|(at, pixel)| {
        let background = sky((at / width) as f64 / height as f64);
        let Some(facet) = facets.get(pixel.triangle as usize) else { return background };
        let (colour, haze) = shade(facet, pixel.weights, view, (&shadow, &lit));
        colour.lerp(&background, haze)
    });
    Picture::downsampled(colours, [width, height], SUPERSAMPLING)
}

fn facets(recording: &Recording, frame: usize) -> Vec<Facet> {
    let mut facets = vec![];
    for track in &recording.tracks {
        let Some(pose) = track.pose(frame) else { continue };
        let scale = track.scale(frame, recording.fps);
        let surface = track.surface();
        let Surface { vertices, normals, outer, inner, .. } = &*surface;
        for (colour, triangles) in [(track.look.colour, outer), (track.look.inner_colour, inner)] {
            facets.extend(triangles.iter().map(|triangle| Facet {
                corners:
                    triangle.map(|v| pose * (Point3::from(vertices[v as usize]).cast() * scale)),
                normals: triangle.map(|v| pose * Vector3::from(normals[v as usize]).cast()),
                colour: Vector3::from(colour).cast(),
            }));
        }
    }
    facets
}

fn clip(facets: &[Facet], projection: &Matrix4<f64>) -> impl Iterator<Item = [Vector4<f64>; 3]> {
    facets.iter().map(move |f| f.corners.map(|p| projection * p.to_homogeneous()))
}

/// Linear colour of the sky, from the top of the picture (0) to the bottom (1).
fn sky(down: f64) -> Vector3<f64> {
    Vector3::new(0.55, 0.68, 0.85).lerp(&Vector3::new(0.9, 0.93, 0.95), down)
}

/// Linear colour of a point of a triangle, and the share of it that is lost in the distance.
fn shade(
    facet: &Facet,
    weights: [f32; 3],
    view: &View,
    (shadow, lit): (&Matrix4<f64>, &Buffer),
) -> (Vector3<f64>, f64) {
    let [a, b, c] = weights.map(f64::from);
    let mix = |[p, q, r]: [Vector3<f64>; 3]| p * a + q * b + r * c;
    let place = Point3::from(mix(facet.corners.map(|p| p.coords)));
    let normal = mix(facet.normals).try_normalize(1e-12).unwrap_or(Vector3::y());
    let sun = View::sun();
    let slope = normal.dot(&sun).max(0.0);
    // a point just above the surface is not shadowed by the surface itself
    let above = place + normal * (view.radius * 0.006);
    let light = slope * lit.open(&(shadow * above.to_homogeneous()));
    let from_above = 0.5 + 0.5 * normal.y;
    let colour = facet.colour * (AMBIENT * (0.4 + 0.6 * from_above) + (1.0 - AMBIENT) * light);
    let haze = ((place - view.centre).norm() / (8.0 * view.radius) - 0.2).clamp(0.0, 1.0);
    (colour, haze)
}
