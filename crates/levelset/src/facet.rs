//! One triangle laid out for scanning: its distance to a row of grid nodes.

use std::ops::Range;

use nalgebra::{Point3, Vector3};

/// Distance from the surface within which distances are exact, in cells.
pub(crate) const BAND: f64 = 3.0;

/// Nodes taken together: one run of the single-precision recurrence, so that its error stays below
/// 1e-5 cells, and whole vector registers.
const RUN: usize = 8;

/// The affine function `n . p + c` of position.
#[derive(Clone, Copy)]
struct Affine {
    n: Vector3<f64>,
    c: f64,
}

impl Affine {
    fn through(origin: &Point3<f64>, n: Vector3<f64>) -> Self {
        Self { n, c: -n.dot(&origin.coords) }
    }

    /// Its value at the start of row `(i, j)`; along the row it grows by `n.z` a node.
    fn at_row(&self, i: f64, j: f64) -> f64 {
        self.n.x * i + self.n.y * j + self.c
    }
}

/// A triangle in grid units (one cell is 1) as affine functions of position.
pub(crate) struct Facet {
    /// Height over the plane.
    height: Affine,
    /// Distance outside of each edge in the plane.
    away: [Affine; 3],
    /// Position along each edge.
    along: [Affine; 3],
    length: [f64; 3],
    /// Inverse change along a row of height and of the three `away`.
    inverse: [f64; 4],
}

/// The functions' values at the start of a row.
struct RowStart {
    height: f64,
    away: [f64; 3],
    along: [f64; 3],
}

impl Facet {
    /// `None` if the triangle is too thin to have a plane; its edges then replace it.
    pub(crate) fn new(corners: &[Point3<f64>; 3]) -> Option<Self> {
        let edges: [Vector3<f64>; 3] = std::array::from_fn(|e| corners[(e + 1) % 3] - corners[e]);
        let length = edges.map(|e| e.norm());
        let longest = length.iter().copied().fold(0.0, f64::max);
        let cross = edges[0].cross(&-edges[2]);
        let area = cross.norm();
        if area <= 1e-9 * longest * longest {
            return None;
        }
        let normal = cross / area;
        let height = Affine::through(&corners[0], normal);
        let away = std::array::from_fn(|e| {
            Affine::through(&corners[e], edges[e].cross(&normal) / length[e])
        });
        let along = std::array::from_fn(|e| Affine::through(&corners[e], edges[e] / length[e]));
        let inverse = [&height, &away[0], &away[1], &away[2]].map(|f| 1.0 / f.n.z);
        Some(Self { height, away, along, length, inverse })
    }

    /// Lowers the squared distances of a row of nodes, `best`, to this triangle's for all nodes of
    /// `range` within the band, and perhaps for others.
    pub(crate) fn lower_row(&self, i: usize, j: usize, range: Range<usize>, best: &mut [f32]) {
        let (i, j) = (i as f64, j as f64);
        let start = RowStart {
            height: self.height.at_row(i, j),
            away: self.away.map(|f| f.at_row(i, j)),
            along: self.along.map(|f| f.at_row(i, j)),
        };
        let range = self.reach(&start, &range);
        for from in range.clone().step_by(RUN) {
            let from = from.min(best.len().saturating_sub(RUN));
            match best[from..].first_chunk_mut::<RUN>() {
                Some(run) => self.lower_run(&start, from, run),
                None => self.lower_run(&start, from, &mut best[from..]),
            }
        }
    }

    /// The part of a row inside the prism that bounds the band: plane and edges pushed out.
    fn reach(&self, start: &RowStart, range: &Range<usize>) -> Range<usize> {
        let (mut low, mut high) = (range.start as f64, range.end as f64 - 1.0);
        // keeps at + step k <= BAND, with a hair of slack
        let mut clip = |at: f64, step: f64, inverse: f64| {
            let room = BAND + 1e-6 - at;
            if step > 1e-9 {
                high = high.min(room * inverse);
            } else if step < -1e-9 {
                low = low.max(room * inverse);
            } else if room < -1e-3 {
                high = -1.0;
            }
        };
        clip(start.height, self.height.n.z, self.inverse[0]);
        clip(-start.height, -self.height.n.z, -self.inverse[0]);
        for e in 0..3 {
            clip(start.away[e], self.away[e].n.z, self.inverse[e + 1]);
        }
        if high < low {
            return 0..0;
        }
        low.ceil() as usize..high.floor() as usize + 1
    }

    /// Squared distance at each node of a short run, branch-free so that it vectorises: in the
    /// triangle's plane the nearest point of an outside point is on an edge that faces it.
    #[inline(always)]
    fn lower_run(&self, start: &RowStart, from: usize, best: &mut [f32]) {
        let from = from as f64;
        let single = |at: f64, f: &Affine| ((at + f.n.z * from) as f32, f.n.z as f32);
        let (h0, dh) = single(start.height, &self.height);
        let edge = |e: usize| {
            let (away, away_step) = single(start.away[e], &self.away[e]);
            let (along, along_step) = single(start.along[e], &self.along[e]);
            let (past, _) = single(start.along[e] - self.length[e], &self.along[e]);
            [away, away_step, along, along_step, past]
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
            let h = h0 + dh * x;
            let d = h * h + flat;
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
