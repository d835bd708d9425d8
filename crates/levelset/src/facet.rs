//! One triangle laid out for scanning: its distance to a row of grid nodes.

use nalgebra::{Point3, Vector3};

/// How far from the surface distances are exact, in cells.
pub(crate) const BAND: f64 = 3.0;

/// Nodes per restart of the single-precision recurrence, so that its error stays below 1e-5 cells.
const RUN: usize = 32;

/// An affine function of position along a row: its value at the row's start and per node.
#[derive(Clone, Copy)]
struct Slope {
    at: f64,
    step: f64,
}

/// A triangle in grid units (one cell is 1): plane, outward edge normals and edge directions.
pub(crate) struct Facet {
    corners: [Point3<f64>; 3],
    normal: Vector3<f64>,
    outward: [Vector3<f64>; 3],
    along: [Vector3<f64>; 3],
    length: [f64; 3],
}

impl Facet {
    /// `None` if the triangle is too thin to have a plane; then its edges stand for it.
    pub(crate) fn new(corners: [Point3<f64>; 3]) -> Option<Self> {
        let edges: [Vector3<f64>; 3] = std::array::from_fn(|e| corners[(e + 1) % 3] - corners[e]);
        let length = edges.map(|e| e.norm());
        let longest = length.iter().copied().fold(0.0, f64::max);
        let cross = edges[0].cross(&-edges[2]);
        let area = cross.norm();
        if area <= 1e-9 * longest * longest {
            return None;
        }
        let normal = cross / area;
        let along = std::array::from_fn(|e| edges[e] / length[e]);
        let outward = std::array::from_fn(|e: usize| edges[e].cross(&normal) / length[e]);
        Some(Self { corners, normal, outward, along, length })
    }

    /// Lowers `best` (squared distances of the row of nodes `(i, j, first..)`) to this triangle's
    /// wherever that is within the band.
    pub(crate) fn lower_row(&self, i: usize, j: usize, first: usize, best: &mut [f32]) {
        let start = Point3::new(i as f64, j as f64, first as f64);
        let (low, high) = self.reach(&start, best.len());
        let mut from = low;
        while from < high {
            let to = high.min(from + RUN);
            let p = start + Vector3::new(0.0, 0.0, from as f64);
            self.lower_run(&p, &mut best[from..to]);
            from = to;
        }
    }

    /// The part of a row inside the prism that bounds the band: plane and edges pushed out.
    fn reach(&self, start: &Point3<f64>, len: usize) -> (usize, usize) {
        let (mut low, mut high) = (0.0_f64, len as f64 - 1.0);
        let mut clip = |s: Slope| {
            // keeps at + step x <= BAND, with a hair of slack
            let room = BAND + 1e-6 - s.at;
            if s.step > 1e-12 {
                high = high.min(room / s.step);
            } else if s.step < -1e-12 {
                low = low.max(room / s.step);
            } else if room < 0.0 {
                high = -1.0;
            }
        };
        let plane = self.slope(&self.normal, &self.corners[0], start);
        clip(plane);
        clip(Slope { at: -plane.at, step: -plane.step });
        for e in 0..3 {
            clip(self.slope(&self.outward[e], &self.corners[e], start));
        }
        if high < low {
            return (0, 0);
        }
        (low.ceil() as usize, (high.floor() as usize + 1).min(len))
    }

    fn slope(&self, direction: &Vector3<f64>, origin: &Point3<f64>, p: &Point3<f64>) -> Slope {
        Slope { at: direction.dot(&(p - origin)), step: direction.z }
    }

    /// Squared distance at each node of a short run, branch-free so that it vectorises: in the
    /// triangle's plane the nearest point of an outside point is on an edge that faces it.
    fn lower_run(&self, p: &Point3<f64>, best: &mut [f32]) {
        let split = |s: Slope| (s.at as f32, s.step as f32);
        let (s0, ds) = split(self.slope(&self.normal, &self.corners[0], p));
        let edge = |e: usize| {
            let away = split(self.slope(&self.outward[e], &self.corners[e], p));
            let along = self.slope(&self.along[e], &self.corners[e], p);
            let past = (along.at - self.length[e]) as f32;
            [away.0, away.1, along.at as f32, along.step as f32, past]
        };
        let edges = [edge(0), edge(1), edge(2)];
        for (n, best) in best.iter_mut().enumerate() {
            let x = n as i32 as f32;
            let mut flat = f32::INFINITY;
            let mut outside = false;
            for [away, away_step, along, along_step, past] in edges {
                let e = away + away_step * x;
                let t = along_step * x;
                let before = -(along + t);
                let after = past + t;
                let over = if before > after { before } else { after };
                let over = if over > 0.0 { over } else { 0.0 };
                let d = e * e + over * over;
                let faces = e > 0.0;
                outside |= faces;
                let d = if faces { d } else { f32::INFINITY };
                flat = if d < flat { d } else { flat };
            }
            let flat = if outside { flat } else { 0.0 };
            let s = s0 + ds * x;
            let d = s * s + flat;
            *best = if d < *best { d } else { *best };
        }
    }
}

/// Squared distance from `p` to the segment `ab`.
pub(crate) fn segment_distance_squared(p: &Point3<f64>, a: &Point3<f64>, b: &Point3<f64>) -> f64 {
    let edge = b - a;
    let length = edge.norm_squared();
    let t = if length > 0.0 { ((p - a).dot(&edge) / length).clamp(0.0, 1.0) } else { 0.0 };
    (p - (a + edge * t)).norm_squared()
}
