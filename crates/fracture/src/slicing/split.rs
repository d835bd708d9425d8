//! The split stage (Br11 section 3.4): triangles to either side, clipped where they cross.

use nalgebra::Point3;

use super::ClosedMesh;
use super::plane::Plane;
use super::projection::Projection;

/// Tolerance of a vertex on the plane, as a share of the mesh's size. Positions of new vertices are
/// rounded to about 4e-16 of it, also after repeated slicing.
const ON_PLANE: f64 = 1e-13;

/// A mesh split by a plane. *References* identify vertices: first the vertices of the solid, then
/// the crossings of edges in order.
pub(super) struct Split<'a> {
    pub(super) solid: &'a ClosedMesh,
    /// -1 behind the plane, 0 on it, 1 in front.
    sides: Vec<i8>,
    /// Edges that cross the plane, low end first, sorted.
    pub(super) crossings: Vec<Crossing>,
    pub(super) front: Side,
    pub(super) back: Side,
    /// Directed edges of the cap that closes the back, with the solid on their left seen from the
    /// front.
    pub(super) border: Vec<[u32; 2]>,
}

/// A new vertex, where an edge of the mesh crosses the plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    pub(super) ends: [u32; 2],
    /// Position along the edge, as a share.
    pub(super) share: f64,
    pub(super) position: Point3<f64>,
}

/// Triangles of one side, in references, and the triangles they were cut from.
#[derive(Default)]
pub(super) struct Side {
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) sources: Vec<u32>,
}

impl Side {
    fn push(&mut self, triangle: [u32; 3], source: usize) {
        self.triangles.push(triangle);
        self.sources.push(source as u32);
    }
}

impl<'a> Split<'a> {
    pub(super) fn new(solid: &'a ClosedMesh, plane: &Plane) -> Self {
        let (distances, sides) = sides(solid, plane);
        let crossings = crossings(solid, &distances, &sides);
        let (front, back, border) = Default::default();
        let mut split = Self { solid, sides, crossings, front, back, border };
        // all on one side: nothing to cut, even if triangles lie in the plane
        if !split.sides.contains(&1) || !split.sides.contains(&-1) {
            let side = if split.sides.contains(&1) { &mut split.front } else { &mut split.back };
            side.triangles.clone_from(&solid.mesh().triangles);
            side.sources = (0..side.triangles.len() as u32).collect();
            return split;
        }
        let projection = Projection::along(&plane.normal());
        for source in 0..solid.mesh().triangles.len() {
            split.sort(source, &projection);
        }
        cancel_opposites(&mut split.border);
        split
    }

    pub(super) fn position(&self, reference: u32) -> Point3<f64> {
        let old = &self.solid.mesh().vertices;
        match (reference as usize).checked_sub(old.len()) {
            None => old[reference as usize],
            Some(crossing) => self.crossings[crossing].position,
        }
    }

    /// The solid that a reference belongs to.
    pub(super) fn solid_of(&self, reference: u32) -> u32 {
        let solids = self.solid.solids();
        match (reference as usize).checked_sub(solids.len()) {
            None => solids[reference as usize],
            Some(crossing) => solids[self.crossings[crossing].ends[0] as usize],
        }
    }

    /// Assigns a triangle to its side, or clips it.
    fn sort(&mut self, source: usize, projection: &Projection) {
        let triangle = self.solid.mesh().triangles[source];
        let sides = triangle.map(|v| self.sides[v as usize]);
        let behind = sides.contains(&-1);
        let in_front = sides.contains(&1);
        match (behind, in_front) {
            (true, true) => self.clip(source, triangle, sides),
            (true, false) => {
                self.back.push(triangle, source);
                if sides.iter().filter(|&&side| side == 0).count() == 2 {
                    self.add_border(triangle);
                }
            }
            (false, true) => self.front.push(triangle, source),
            // a triangle in the plane goes to the side of its solid
            (false, false) => {
                if projection.area_sign(self.solid.mesh().corners(source)) < 0.0 {
                    self.front.push(triangle, source);
                } else {
                    self.back.push(triangle, source);
                    self.add_border(triangle);
                }
            }
        }
    }

    fn clip(&mut self, source: usize, triangle: [u32; 3], sides: [i8; 3]) {
        // start at the corner alone on its side, or at the one on the plane
        let alone = |k: usize| sides.iter().filter(|&&side| side == sides[k]).count() == 1;
        let first = (0..3).find(|&k| sides[k] == 0).or_else(|| (0..3).find(|&k| alone(k)));
        let first = first.expect("three corners on two sides");
        let [a, b, c] = [0, 1, 2].map(|k| triangle[(first + k) % 3]);
        let side = sides[first];
        if side == 0 {
            let cut = self.crossing(b, c);
            let second = sides[(first + 1) % 3];
            self.give([a, b, cut], source, second);
            self.give([a, cut, c], source, -second);
        } else {
            let (ab, ca) = (self.crossing(a, b), self.crossing(c, a));
            self.give([a, ab, ca], source, side);
            // the shorter diagonal of the rest
            let apart = |p, q| (self.position(p) - self.position(q)).norm_squared();
            let (one, two) = if apart(ab, c) <= apart(b, ca) {
                ([ab, b, c], [ab, c, ca])
            } else {
                ([ab, b, ca], [b, c, ca])
            };
            self.give(one, source, -side);
            self.give(two, source, -side);
        }
    }

    fn give(&mut self, triangle: [u32; 3], source: usize, side: i8) {
        if side > 0 {
            self.front.push(triangle, source);
        } else {
            self.back.push(triangle, source);
            self.add_border(triangle);
        }
    }

    /// Adds the edges of a triangle of the back that lie in the plane.
    fn add_border(&mut self, triangle: [u32; 3]) {
        let on_plane = triangle.map(|v| self.sides.get(v as usize).is_none_or(|&side| side == 0));
        for k in 0..3 {
            let next = (k + 1) % 3;
            if on_plane[k] && on_plane[next] {
                // the cap has the opposite orientation
                self.border.push([triangle[next], triangle[k]]);
            }
        }
    }

    fn crossing(&self, a: u32, b: u32) -> u32 {
        let ends = [a.min(b), a.max(b)];
        let at = self.crossings.binary_search_by(|crossing| crossing.ends.cmp(&ends));
        self.sides.len() as u32 + at.expect("found with the edges that cross") as u32
    }
}

fn sides(solid: &ClosedMesh, plane: &Plane) -> (Vec<f64>, Vec<i8>) {
    let vertices = &solid.mesh().vertices;
    let distances: Vec<f64> = vertices.iter().map(|p| plane.distance(p)).collect();
    let least = ON_PLANE * solid.size().max(plane.offset().abs());
    let side = |&d: &f64| i8::from(d > least) - i8::from(d < -least);
    let sides = distances.iter().map(side).collect();
    (distances, sides)
}

fn crossings(solid: &ClosedMesh, distances: &[f64], sides: &[i8]) -> Vec<Crossing> {
    let mut edges: Vec<[u32; 2]> = Vec::new();
    for &[a, b, c] in &solid.mesh().triangles {
        for [from, to] in [[a, b], [b, c], [c, a]] {
            // only one of the two directions of each edge has the lower index first
            if from < to && sides[from as usize] * sides[to as usize] < 0 {
                edges.push([from, to]);
            }
        }
    }
    edges.sort_unstable();
    // an edge shared by parts of a solid has more than one pair of triangles
    edges.dedup();
    let cross = |ends: [u32; 2]| {
        let [from, to] = ends.map(|v| distances[v as usize]);
        let share = from / (from - to);
        let [p, q] = ends.map(|v| solid.mesh().vertices[v as usize]);
        Crossing { ends, share, position: p + (q - p) * share }
    };
    edges.into_iter().map(cross).collect()
}

/// Removes pairs of opposite edges; the rest is sorted.
pub(crate) fn cancel_opposites(edges: &mut Vec<[u32; 2]>) {
    let ends = |&[a, b]: &[u32; 2]| [a.min(b), a.max(b)];
    edges.sort_unstable_by_key(ends);
    let mut kept = Vec::new();
    for same in edges.chunk_by(|a, b| ends(a) == ends(b)) {
        let [low, high] = ends(&same[0]);
        let forward = same.iter().filter(|edge| edge[0] == low).count();
        let backward = same.len() - forward;
        let edge = if forward > backward { [low, high] } else { [high, low] };
        kept.extend(std::iter::repeat_n(edge, forward.abs_diff(backward)));
    }
    kept.sort_unstable();
    *edges = kept;
}
