//! Closing an open mesh, and the effect on the winding number.
//!
//! Triangles between its own vertices cap the rim of each hole. With the caps the mesh is closed
//! and its winding number is an integer, found by crossings; without them its generalised winding
//! number (Jacobson et al. 2013) is that minus the caps' solid angle. So only the caps are summed,
//! hierarchically: a far group counts as one dipole (Barill et al. 2018). The sum is needed only
//! where it is near one half, since only its rounding matters.

use std::f64::consts::PI;

use nalgebra::{Point3, Vector3};

use crate::sharing::sorted_by_vertex;
use crate::total_order;

/// Distance, in radii of a group, beyond which it counts as a dipole, at an error of about a
/// hundredth of its own solid angle.
const FAR: f64 = 6.0;

/// Caps in a group that is not divided further.
const LEAF: usize = 4;

/// One triangle of a cap.
pub(crate) struct Cap {
    pub(crate) corners: [Point3<f64>; 3],
    /// Vertex indices.
    pub(crate) names: [u32; 3],
    /// Length of its edges that belong to the mesh.
    rim: f64,
}

/// The caps of a mesh and their groups; group 0 holds all, and a group's two halves follow it.
pub(crate) struct Caps {
    pub(crate) caps: Vec<Cap>,
    groups: Vec<Group>,
}

struct Group {
    center: Point3<f64>,
    radius: f64,
    /// Sum of area vectors.
    dipole: Vector3<f64>,
    /// Sum of areas.
    area: f64,
    /// Length of the edges that belong to the mesh.
    rim: f64,
    first: usize,
    count: usize,
    /// Index of the second half; 0 for a leaf.
    second: usize,
}

impl Caps {
    /// `None` if no edge is open.
    pub(crate) fn new(open: &[[u32; 2]], vertices: &[Point3<f64>]) -> Option<Self> {
        if open.is_empty() {
            return None;
        }
        let mut triangles = Vec::with_capacity(open.len());
        for rim in rims(open, vertices.len()) {
            cap(&rim, &mut triangles);
        }
        let cap = |(names, rim): ([u32; 3], [bool; 2])| {
            let corners = names.map(|v| vertices[v as usize]);
            let edges = [(corners[0] - corners[1]).norm(), (corners[1] - corners[2]).norm()];
            let rim = edges.iter().zip(rim).filter(|(_, rim)| *rim).map(|(length, _)| length).sum();
            Cap { corners, names, rim }
        };
        let count = triangles.len();
        let caps = triangles.into_iter().map(cap).collect();
        let mut caps = Self { caps, groups: Vec::new() };
        caps.group(0, count);
        Some(caps)
    }

    fn group(&mut self, first: usize, count: usize) {
        let caps = &mut self.caps[first..first + count];
        let area = |c: &Cap| {
            let [p, q, r] = c.corners;
            (q - p).cross(&(r - p)) / 2.0
        };
        let dipole = caps.iter().map(area).sum();
        // about the centroid the next term of the expansion vanishes for a flat group
        let total: f64 = caps.iter().map(|c| area(c).norm()).sum();
        let weighted = |c: &Cap| {
            let [p, q, r] = c.corners.map(|p| p.coords);
            let share = if total > 0.0 { area(c).norm() / total } else { 1.0 / count as f64 };
            (p + q + r) / 3.0 * share
        };
        let center = Point3::from(caps.iter().map(weighted).sum::<Vector3<f64>>());
        let corners = caps.iter().flat_map(|c| c.corners.iter());
        let radius = corners.map(|p| (p - center).norm()).fold(0.0, f64::max);
        let rim = caps.iter().map(|c| c.rim).sum();
        let place = self.groups.len();
        self.groups.push(Group {
            center,
            radius,
            dipole,
            area: total,
            rim,
            first,
            count,
            second: 0,
        });
        if count > LEAF {
            let spread = |a: usize| {
                let (low, high) = caps.iter().fold((f64::MAX, f64::MIN), |(low, high), c| {
                    (low.min(c.corners[0][a]), high.max(c.corners[0][a]))
                });
                high - low
            };
            let axis = (0..3).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0);
            caps.sort_by_cached_key(|cap| total_order(cap.corners[0][axis]));
            self.group(first, count / 2);
            self.groups[place].second = self.groups.len();
            self.group(first + count / 2, count - count / 2);
        }
    }

    /// The winding number of all caps in the ball of radius `reach` around a point.
    pub(crate) fn winding_from(&self, p: &Point3<f64>, reach: f64) -> WindingEstimate {
        self.estimate(0, p, reach)
    }

    /// The winding number of a group in the ball of a radius around a point.
    fn estimate(&self, group: usize, p: &Point3<f64>, reach: f64) -> WindingEstimate {
        let Group { center, radius, dipole, area, rim, first, count, second } = &self.groups[group];
        let offset = center - p;
        let square = offset.norm_squared();
        let distance = square.sqrt();
        if distance > FAR * radius && distance > radius + reach {
            let winding = dipole.dot(&offset) / (square * distance) / (4.0 * PI);
            return WindingEstimate::new(winding, [*area, *rim], distance - radius - reach);
        }
        if *second == 0 {
            let caps = self.caps[*first..first + count].iter();
            return caps
                .map(|cap| cap.estimate(p, reach))
                .fold(WindingEstimate::default(), WindingEstimate::plus);
        }
        self.estimate(group + 1, p, reach).plus(self.estimate(*second, p, reach))
    }
}

/// The caps' winding number at a point, and an upper bound of its change per cell in the ball
/// around it.
#[derive(Clone, Copy, Default)]
pub(crate) struct WindingEstimate {
    pub(crate) winding: f64,
    pub(crate) slope: f64,
    /// `slope` without the jumps by one across caps: only the mesh's rim changes it, as a current
    /// loop does a magnetic field.
    pub(crate) smooth_slope: f64,
}

impl WindingEstimate {
    /// The estimate of an area with its rim, both at least `distance` from the whole ball.
    fn new(winding: f64, [area, rim]: [f64; 2], distance: f64) -> Self {
        let at = |bound: f64| if distance > 0.0 { bound / (4.0 * PI) } else { f64::INFINITY };
        // a dipole's field on its axis; Biot and Savart's law
        let slope = at(2.0 * area / distance.powi(3));
        let smooth_slope = if rim > 0.0 { at(rim / distance.powi(2)) } else { 0.0 };
        Self { winding, slope, smooth_slope }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            winding: self.winding + other.winding,
            slope: self.slope + other.slope,
            smooth_slope: self.smooth_slope + other.smooth_slope,
        }
    }
}

impl Cap {
    fn estimate(&self, p: &Point3<f64>, reach: f64) -> WindingEstimate {
        let [a, b, c] = self.corners.map(|q| q - p);
        let normal = (b - a).cross(&(c - a));
        let double = normal.norm();
        let over_plane = if double > 0.0 { a.dot(&normal).abs() / double } else { 0.0 };
        let middle = (a + b + c) / 3.0;
        let radius = [a, b, c].iter().map(|q| (q - middle).norm()).fold(0.0, f64::max);
        let distance = over_plane.max(middle.norm() - radius) - reach;
        let winding = solid_angle(p, &self.corners) / (4.0 * PI);
        WindingEstimate::new(winding, [double / 2.0, self.rim], distance)
    }
}

/// The boundary edges as closed loops, in a fixed order. In the boundary of a mesh the in-degree of
/// each vertex equals its out-degree, so that a walk ends only at its start.
fn rims(open: &[[u32; 2]], vertices: usize) -> Vec<Vec<u32>> {
    let edges = sorted_by_vertex(vertices, open.iter().map(|&[from, to]| (from, to)));
    let first = |v: u32| edges.partition_point(|(from, _)| *from < v);
    // number of edges already walked, at the first edge of each vertex
    let mut walked = vec![0; edges.len()];
    let mut rims = Vec::new();
    for start in 0..edges.len() {
        let mut rim = Vec::new();
        let mut at = edges[start].0;
        loop {
            let leave = first(at);
            let next = edges.get(leave + walked.get(leave).copied().unwrap_or(0));
            match next.filter(|(from, _)| *from == at) {
                Some((_, to)) => {
                    walked[leave] += 1;
                    rim.push(at);
                    at = *to;
                }
                None => break,
            }
        }
        if rim.len() > 2 {
            rims.push(rim);
        }
    }
    rims
}

/// Triangles on a rim, wound against it, and which of their first two edges are on the rim. The rim
/// is halved recursively, so that most triangles are small and at the rim, which keeps groups
/// small.
fn cap(rim: &[u32], triangles: &mut Vec<([u32; 3], [bool; 2])>) {
    if rim.len() < 3 {
        return;
    }
    let (middle, last) = (rim.len() / 2, rim.len() - 1);
    triangles.push(([rim[last], rim[middle], rim[0]], [middle + 1 == last, middle == 1]));
    cap(&rim[..=middle], triangles);
    cap(&rim[middle..], triangles);
}

/// Signed solid angle of a triangle seen from `p` (Van Oosterom and Strackee 1983): positive from
/// behind.
fn solid_angle(p: &Point3<f64>, corners: &[Point3<f64>; 3]) -> f64 {
    let [a, b, c] = corners.map(|q| q - p);
    let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
    let up = a.dot(&b.cross(&c));
    let down = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
    2.0 * libm::atan2(up, down)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_groups_count_as_their_caps_do() {
        // a ring of many edges, capped: a disc, whose solid angle on its axis is known
        let count = 500;
        let at = |n: u32| {
            let (sin, cos) = (f64::from(n) * 2.0 * PI / f64::from(count)).sin_cos();
            Point3::new(cos, sin, 0.0)
        };
        let vertices: Vec<_> = (0..count).map(at).collect();
        let open: Vec<_> = (0..count).map(|n| [(n + 1) % count, n]).collect();
        let caps = Caps::new(&open, &vertices).expect("open");
        for z in [0.1_f64, 1.0, 3.0, 10.0, 100.0] {
            let exact = (1.0 - z / z.hypot(1.0)) / 2.0;
            let got = caps.winding_from(&Point3::new(0.0, 0.0, -z), 0.0).winding;
            assert!((got - exact).abs() < 1e-2 * exact, "{z}: {got} for {exact}");
        }
    }
}
