//! Camera placement.

use nalgebra::{Point3, UnitQuaternion, Vector3};
use sim::{Recording, Track};

/// Share of the width or height of a picture that the subject fills.
const FILL: f64 = 0.78;
/// Default vertical field of view, radians.
const FIELD_OF_VIEW: f64 = 0.5;
/// Time after an impact whose pieces a picture should include, s.
const AFTERMATH: f64 = 0.25;
/// Share of the pieces that may be outside a picture on each side.
const OUTLIER_SHARE: f64 = 0.25;
/// A moving body is an outlier if it is farther from the median position than this many times the
/// distance that [`OUTLIER_QUANTILE`] of the positions do not exceed.
const OUTLIER_FACTOR: f64 = 4.0;
/// Quantile of the distances from the median position that [`OUTLIER_FACTOR`] multiplies.
const OUTLIER_QUANTILE: f64 = 0.8;
/// Maximum number of sampled points per surface.
const SAMPLES: usize = 64;

/// A camera in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    pub(super) center: Point3<f64>,
    /// From the center to the camera.
    pub(super) arm: Vector3<f64>,
    /// Vertical field of view, radians.
    pub(super) field: f64,
    /// Radius around the center for which light and haze are scaled.
    pub(super) radius: f64,
}

impl View {
    /// Looks from the front, the right and a little above at the breaking bodies of `recording`, at
    /// the time of fracture, and at most of their pieces shortly after; without fractures at moving
    /// bodies, and without these at everything. Pictures will be `aspect` times as wide as high.
    pub fn fitted(recording: &Recording, aspect: f64) -> Self {
        Self::fitted_from(recording, Vector3::new(0.42, 0.36, 1.0), aspect)
    }

    /// The frame whose bodies the fitted view shows best: shortly after the first fracture; without
    /// fractures the middle one if bodies move, else the first.
    pub fn frame(recording: &Recording) -> usize {
        let last = recording.frames - 1;
        if let Some(first) = first_fracture(recording) {
            return (first + aftermath_frames(recording)).min(last);
        }
        let moves = |track: &Track| track.poses.windows(2).any(|w| w[0] != w[1]);
        if recording.tracks.iter().any(moves) { last / 2 } else { 0 }
    }

    /// As [`View::fitted`], with the camera in the direction `towards` from its target.
    pub(crate) fn fitted_from(recording: &Recording, towards: Vector3<f64>, aspect: f64) -> Self {
        let field = recording.camera.as_ref().map_or(FIELD_OF_VIEW, |camera| camera.field);
        Self::around(&subjects(recording), towards, field, aspect)
    }

    /// The camera of a recording at a time in frames; this view where the recording does not
    /// specify it.
    pub fn at(self, recording: &Recording, time: f64) -> Self {
        let camera = recording.camera.as_ref();
        let sight = camera.and_then(|camera| camera.sight(recording, time, &self.arm));
        sight.and_then(|(at, from)| self.moved(at, from)).unwrap_or(self)
    }

    /// Rotated to the right about the vertical through its target, degrees.
    pub fn turned(self, degrees: f64) -> Self {
        let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), degrees.to_radians());
        Self { arm: turn * self.arm, ..self }
    }

    /// Looks in the direction `-towards` at points that fill most of the picture.
    fn around(points: &[Point3<f64>], towards: Vector3<f64>, field: f64, aspect: f64) -> Self {
        let view = Self { center: Point3::origin(), arm: towards.normalize(), field, radius: 1.0 };
        let [right, up, back] = view.axes();
        let slope = (field / 2.0).tan() * FILL;
        // a point is in the picture if it is above one plane through the camera and below another
        let span = |axis: &Vector3<f64>, slope: f64| {
            let ends = points.iter().map(|p| {
                let (along, deep) = (p.coords.dot(axis), p.coords.dot(&back));
                [along - slope * deep, along + slope * deep]
            });
            let start = [f64::INFINITY, f64::NEG_INFINITY];
            let [low, high] = ends.fold(start, |[a, b], [c, d]| [a.min(c), b.max(d)]);
            ((low + high) / 2.0, (high - low) / (2.0 * slope))
        };
        let ((x, wide), (y, high)) = (span(&right, slope * aspect), span(&up, slope));
        let deep = |pick: fn(f64, f64) -> f64, start| {
            points.iter().map(|p| p.coords.dot(&back)).fold(start, pick)
        };
        let (far, near) = (deep(f64::min, f64::INFINITY), deep(f64::max, f64::NEG_INFINITY));
        let eye = wide.max(high).max(near + 1e-6);
        let middle = (far + near) / 2.0;
        let center = right * x + up * y + back * middle;
        let arm = (eye - middle).max(1e-6);
        let radius = arm * (field / 2.0).tan() * aspect.max(1.0);
        if !(center.iter().all(|x| x.is_finite()) && arm.is_finite()) {
            return Self { arm: view.arm * 4.0, ..view };
        }
        Self { center: center.into(), arm: back * arm, field, radius }
    }

    /// Moves the camera to `from` and its target to `at`; `None` if they coincide.
    pub fn moved(self, at: Point3<f64>, from: Point3<f64>) -> Option<Self> {
        let arm = from - at;
        let radius = arm.norm() * (self.field / 2.0).tan() * 2.0;
        (arm.norm() >= 1e-6).then_some(Self { center: at, arm, radius, ..self })
    }

    /// The camera target, m.
    pub fn center(&self) -> Point3<f64> {
        self.center
    }

    /// From there to the camera, m.
    pub fn arm(&self) -> Vector3<f64> {
        self.arm
    }

    /// The vertical field of view, radians.
    pub fn field(&self) -> f64 {
        self.field
    }

    /// The radius of the lit region, m.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Right, up and backward. In a view from straight above, `-z` is up.
    pub(super) fn axes(&self) -> [Vector3<f64>; 3] {
        let back = self.arm.normalize();
        let level = Vector3::y().cross(&back);
        let right = level.try_normalize(1e-6).unwrap_or_else(Vector3::x);
        [right, back.cross(&right), back]
    }
}

/// Points that a picture should include.
fn subjects(recording: &Recording) -> Vec<Point3<f64>> {
    let breaks = |track: &Track| track.end() < recording.frames && track.shrinks.is_none();
    let whole = |track: &&Track| track.parent.is_none();
    let mut points = vec![];
    for (n, track) in recording.tracks.iter().enumerate() {
        let is_parent = || recording.tracks.iter().any(|t| t.parent == Some(n));
        if track.parent.is_none() && breaks(track) && is_parent() {
            points.extend(places(track, track.end().saturating_sub(1)));
        }
    }
    if !points.is_empty() {
        points.extend(aftermath(recording));
        return points;
    }
    let moves = |track: &&Track| track.poses.windows(2).any(|w| w[0] != w[1]);
    let last = recording.frames - 1;
    let moving: Vec<&Track> = recording.tracks.iter().filter(whole).filter(moves).collect();
    let position = |track: &Track, frame: usize| Some(track.pose(frame)?.translation.vector);
    let keys: Vec<(&Track, usize, Vector3<f64>)> = moving
        .iter()
        .flat_map(|track| [0, last / 2, last].map(|frame| (*track, frame)))
        .filter_map(|(track, frame)| Some((track, frame, position(track, frame)?)))
        .collect();
    let is_near = near_most(&keys.iter().map(|(_, _, position)| *position).collect::<Vec<_>>());
    for (track, frame, _) in keys.iter().filter(|(_, _, position)| is_near(*position)) {
        points.extend(places(track, *frame));
    }
    if points.is_empty() {
        let still = recording.tracks.iter().filter(|track| !track.surface().is_endless());
        points = still.flat_map(|track| places(track, track.birth)).collect();
    }
    points
}

/// The quantile of `values` at a share from 0 to 1; 0 without values.
fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1) as f64;
    values.get((last * share).round() as usize).copied().unwrap_or(0.0)
}

/// The quantile of each coordinate of some positions.
fn quantiles(positions: &[Vector3<f64>], share: f64) -> Vector3<f64> {
    Vector3::from_fn(|axis, _| quantile(positions.iter().map(|p| p[axis]).collect(), share))
}

/// Whether a position is near most of `positions`: a body that falls off the scene would make all
/// others tiny.
fn near_most(positions: &[Vector3<f64>]) -> impl Fn(Vector3<f64>) -> bool + use<> {
    let center = quantiles(positions, 0.5);
    let distances = positions.iter().map(|p| (p - center).norm()).collect();
    let limit = OUTLIER_FACTOR * quantile(distances, OUTLIER_QUANTILE);
    move |position| (position - center).norm() <= limit
}

/// Frames of [`AFTERMATH`].
fn aftermath_frames(recording: &Recording) -> usize {
    (AFTERMATH * recording.fps).round() as usize
}

/// The frame in which the first pieces appear.
fn first_fracture(recording: &Recording) -> Option<usize> {
    recording.tracks.iter().filter(|track| track.parent.is_some()).map(|track| track.birth).min()
}

/// Corners of a box of most pieces shortly after the first fracture, without outliers.
fn aftermath(recording: &Recording) -> Vec<Point3<f64>> {
    let after = aftermath_frames(recording);
    let Some(first) = first_fracture(recording) else { return vec![] };
    let place = |track: &Track| {
        let frame = (first + after).min(recording.frames - 1);
        let pose = track.pose(frame)?;
        track.parent.map(|_| pose.translation.vector)
    };
    let places: Vec<Vector3<f64>> = recording.tracks.iter().filter_map(place).collect();
    if places.is_empty() {
        return vec![];
    }
    let [low, high] = [OUTLIER_SHARE, 1.0 - OUTLIER_SHARE].map(|share| quantiles(&places, share));
    let corner = |n: usize| {
        Point3::from(Vector3::from_fn(|a, _| if n >> a & 1 == 0 { low[a] } else { high[a] }))
    };
    (0..8).map(corner).collect()
}

/// Points of a body in a frame, sampled from its vertices.
fn places(track: &Track, frame: usize) -> Vec<Point3<f64>> {
    let Some(pose) = track.pose(frame) else { return vec![] };
    let surface = track.surface();
    let extremes = (0..6).filter_map(|n| {
        let along = |v: &[f32; 3]| if n % 2 == 0 { v[n / 2] } else { -v[n / 2] };
        surface.vertices.iter().max_by(|a, b| along(a).total_cmp(&along(b)))
    });
    let step = surface.vertices.len().div_ceil(SAMPLES).max(1);
    let sampled = surface.vertices.iter().step_by(step).chain(extremes);
    sampled.map(|v| pose * Point3::from(*v).cast()).collect()
}
