//! Closing an open mesh, and what that adds to the winding number.
//!
//! Each hole is closed by a cone of triangles from its edges to their middle. With the caps the
//! mesh is closed and its winding number is a whole number, found by crossings; without them its
//! generalised winding number (Jacobson et al. 2013) is that less the caps' solid angle. So only
//! the caps need summing, hierarchically: a far group counts as one dipole (Barill et al. 2018).

use std::f64::consts::PI;

use nalgebra::{Point3, Vector3, center};

use crate::sharing::Union;

/// A group farther than this many of its radii counts as a dipole, at an error of about a hundredth
/// of its own solid angle.
const FAR: f64 = 6.0;

/// Caps in a group that is not divided further.
const LEAF: usize = 8;

/// One triangle of a cap: an edge, and the apex of its hole.
pub(crate) struct Cap {
    pub(crate) corners: [Point3<f64>; 3],
    /// Vertex numbers; apexes come after the mesh's own.
    pub(crate) names: [u32; 3],
}

/// The caps of a mesh and their groups; group 0 holds all, and a group's two halves follow it.
pub(crate) struct Caps {
    pub(crate) caps: Vec<Cap>,
    groups: Vec<Group>,
}

struct Group {
    centre: Point3<f64>,
    radius: f64,
    /// Sum of area vectors.
    dipole: Vector3<f64>,
    first: usize,
    count: usize,
    /// Where the second half is; 0 for a leaf.
    second: usize,
}

impl Caps {
    /// `None` if no edge is open.
    pub(crate) fn new(open: &[[u32; 2]], vertices: &[Point3<f64>]) -> Option<Self> {
        if open.is_empty() {
            return None;
        }
        // edges that share vertices bound the same hole
        let mut holes = Union::new(vertices.len());
        for &[a, b] in open {
            holes.join(a, b);
        }
        let (holes, count) = holes.numbered();
        let mut middles = vec![(Vector3::zeros(), 0.0); count + 1];
        for &[a, b] in open {
            let middle = &mut middles[holes[a as usize] as usize];
            middle.0 += center(&vertices[a as usize], &vertices[b as usize]).coords;
            middle.1 += 1.0;
        }
        let cap = |&[a, b]: &[u32; 2]| {
            let hole = holes[a as usize];
            let (sum, edges) = middles[hole as usize];
            let apex = Point3::from(sum / edges);
            // a cap uses the edge the other way
            Cap {
                corners: [vertices[b as usize], vertices[a as usize], apex],
                names: [b, a, vertices.len() as u32 + hole],
            }
        };
        let mut caps = Self { caps: open.iter().map(cap).collect(), groups: Vec::new() };
        caps.group(0, open.len());
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
        let centre = Point3::from(caps.iter().map(weighted).sum::<Vector3<f64>>());
        let corners = caps.iter().flat_map(|c| c.corners.iter());
        let radius = corners.map(|p| (p - centre).norm()).fold(0.0, f64::max);
        let place = self.groups.len();
        self.groups.push(Group { centre, radius, dipole, first, count, second: 0 });
        if count > LEAF {
            let spread = |a: usize| {
                let (low, high) = caps.iter().fold((f64::MAX, f64::MIN), |(low, high), c| {
                    (low.min(c.corners[0][a]), high.max(c.corners[0][a]))
                });
                high - low
            };
            let axis = (0..3).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0);
            caps.sort_by(|a, b| a.corners[0][axis].total_cmp(&b.corners[0][axis]));
            self.group(first, count / 2);
            self.groups[place].second = self.groups.len();
            self.group(first + count / 2, count - count / 2);
        }
    }

    /// What the caps add to the winding number at `p`.
    pub(crate) fn winding(&self, p: &Point3<f64>) -> f64 {
        self.angle(0, p) / (4.0 * PI)
    }

    fn angle(&self, group: usize, p: &Point3<f64>) -> f64 {
        let Group { centre, radius, dipole, first, count, second } = &self.groups[group];
        let offset = centre - p;
        let square = offset.norm_squared();
        if square > (FAR * radius).powi(2) {
            return dipole.dot(&offset) / (square * square.sqrt());
        }
        if *second == 0 {
            let caps = &self.caps[*first..first + count];
            return caps.iter().map(|c| solid_angle(p, &c.corners)).sum();
        }
        self.angle(group + 1, p) + self.angle(*second, p)
    }
}

/// Signed solid angle of a triangle seen from `p` (Van Oosterom and Strackee 1983): positive from
/// behind.
fn solid_angle(p: &Point3<f64>, corners: &[Point3<f64>; 3]) -> f64 {
    let [a, b, c] = corners.map(|q| q - p);
    let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
    let up = a.dot(&b.cross(&c));
    let down = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
    2.0 * up.atan2(down)
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
            let got = caps.winding(&Point3::new(0.0, 0.0, -z));
            assert!((got - exact).abs() < 1e-2 * exact, "{z}: {got} for {exact}");
        }
    }
}
