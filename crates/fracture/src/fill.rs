//! Triangles that fill closed borders in a plane.

use std::collections::BTreeMap;

use robust::{Coord, orient2d};
use spade::handles::FixedVertexHandle;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

use crate::slicing::cancel_opposites;

/// Directed edges in a plane. They balance at every vertex unless numbers overflowed; then some are
/// dropped.
pub(crate) struct Border {
    /// The caller's indices of vertices 0, 1, ... of the border.
    references: Vec<u32>,
    points: Vec<[f64; 2]>,
    edges: Vec<[u32; 2]>,
}

impl Border {
    /// The border of `edges`, whose vertices `point` projects onto the plane.
    pub(crate) fn new(edges: &[[u32; 2]], point: impl Fn(u32) -> [f64; 2]) -> Self {
        let mut references: Vec<u32> = edges.as_flattened().to_vec();
        references.sort_unstable();
        references.dedup();
        let point = |&r: &u32| point(r);
        let name = |r: u32| references.partition_point(|&other| other < r) as u32;
        let edges = edges.iter().map(|edge| edge.map(name)).collect();
        Self { points: references.iter().map(point).collect(), edges, references }
    }

    /// Adds vertices for triangles inside the border.
    pub(crate) fn with_points(mut self, inside: &[u32], point: impl Fn(u32) -> [f64; 2]) -> Self {
        self.references.extend_from_slice(inside);
        self.points.extend(inside.iter().map(|&r| point(r)));
        self
    }

    /// The vertices in order, by the caller's indices, if the edges run once around a convex
    /// polygon without flat corners.
    pub(crate) fn convex_loop(&self) -> Option<Vec<u32>> {
        let corners = self.single_loop().filter(|corners| self.turns_once(corners))?;
        Some(corners.into_iter().map(|v| self.references[v as usize]).collect())
    }

    /// The vertices in order, if the edges form one loop that passes each of them once.
    fn single_loop(&self) -> Option<Vec<u32>> {
        let count = self.points.len();
        if self.edges.len() != count || count < 3 {
            return None;
        }
        let mut next = vec![u32::MAX; count];
        for &[from, to] in &self.edges {
            next[from as usize] = to;
        }
        let mut corners = vec![0];
        while let Some(&corner) = corners.last().filter(|_| corners.len() <= count) {
            match next[corner as usize] {
                0 => break,
                u32::MAX => return None,
                other => corners.push(other),
            }
        }
        (corners.len() == count).then_some(corners)
    }

    fn turns_once(&self, corners: &[u32]) -> bool {
        let count = corners.len();
        let side = |k: usize| {
            let [p, q] = [k, k + 1].map(|k| self.points[corners[k % count] as usize]);
            [q[0] - p[0], q[1] - p[1]]
        };
        let mut reversals = 0;
        for k in 0..count {
            let (a, b) = (side(k), side(k + 1));
            let cross = a[0] * b[1] - a[1] * b[0];
            let lengths = (a[0] * a[0] + a[1] * a[1]) * (b[0] * b[0] + b[1] * b[1]);
            if cross <= 1e-7 * lengths.sqrt() {
                return false;
            }
            reversals += usize::from((a[0] > 0.0) != (b[0] > 0.0));
        }
        // a closed curve that turns left everywhere and reverses twice along x winds around once
        reversals == 2
    }

    /// Constrained Delaunay triangles, each repeated by its winding number. Flat fans close the
    /// edges that the triangulation lacks: those between coincident vertices, and those that cross
    /// another by rounding.
    pub(crate) fn filled(&self) -> Vec<[u32; 3]> {
        if let Some(ears) = self.single_loop().and_then(|corners| self.ears(&corners)) {
            return ears.iter().map(|t| t.map(|v| self.references[v as usize])).collect();
        }
        let mut triangles = self.wound();
        let run = |&[a, b, c]: &[u32; 3]| [[b, a], [c, b], [a, c]];
        let mut left: Vec<[u32; 2]> = triangles.iter().flat_map(run).collect();
        left.extend(&self.edges);
        cancel_opposites(&mut left);
        triangles.extend(loops(left).iter().flat_map(|walk| self.fan(walk)));
        triangles.iter().map(|t| t.map(|v| self.references[v as usize])).collect()
    }

    /// A simple polygon cut into ears (Meisters 1975), the roundest ear first; `None` if
    /// it has more than [`MAX_EARS`] corners, turns clockwise, or crosses or touches itself.
    ///
    /// Faster than a Delaunay triangulation for the few corners of most borders.
    fn ears(&self, corners: &[u32]) -> Option<Vec<[u32; 3]>> {
        let turn = |t: [u32; 3]| {
            let [a, b, c] = t.map(|v| {
                let [x, y] = self.points[v as usize];
                Coord { x, y }
            });
            orient2d(a, b, c)
        };
        if corners.len() > MAX_EARS {
            return None;
        }
        let mut rest = corners.to_vec();
        let mut triangles = Vec::with_capacity(rest.len());
        while rest.len() > 3 {
            let count = rest.len();
            let ear = |k: usize| [rest[(k + count - 1) % count], rest[k], rest[(k + 1) % count]];
            let is_free = |t: [u32; 3]| {
                let [a, b, c] = t;
                rest.iter().filter(|v| !t.contains(v)).all(|&v| {
                    turn([a, b, v]) < 0.0 || turn([b, c, v]) < 0.0 || turn([c, a, v]) < 0.0
                })
            };
            let mut best: Option<(f64, usize)> = None;
            for k in 0..count {
                let roundness = self.roundness(ear(k));
                let is_better = best.is_none_or(|(most, _)| roundness > most);
                if is_better && turn(ear(k)) > 0.0 && is_free(ear(k)) {
                    best = Some((roundness, k));
                }
            }
            let (_, k) = best?;
            triangles.push(ear(k));
            rest.remove(k);
        }
        let last = [rest[0], rest[1], rest[2]];
        triangles.push(last);
        (turn(last) > 0.0).then_some(triangles)
    }

    /// Twice the area of a triangle over the square of its longest side.
    fn roundness(&self, triangle: [u32; 3]) -> f64 {
        let [a, b, c] = triangle.map(|v| self.points[v as usize]);
        let square = |p: [f64; 2], q: [f64; 2]| (q[0] - p[0]).powi(2) + (q[1] - p[1]).powi(2);
        self.area(triangle) / square(a, b).max(square(b, c)).max(square(c, a))
    }

    fn wound(&self) -> Vec<[u32; 3]> {
        let Some((mut mesh, names, handles)) = self.delaunay() else { return Vec::new() };
        // how often the border runs along each directed edge
        let mut runs = vec![0i32; mesh.num_directed_edges()];
        for &[from, to] in &self.edges {
            let [from, to] = [from, to].map(|v| handles[v as usize]);
            if from != to {
                for edge in mesh.try_add_constraint(from, to) {
                    runs[edge.index()] += 1;
                }
            }
        }
        let turns = winding(&mesh, &runs);
        let mut triangles = Vec::new();
        for face in mesh.inner_faces() {
            let corners = face.vertices().map(|v| names[v.index()]);
            let [a, b, c] = corners;
            let turns = turns[face.index()];
            let triangle = if turns < 0 { [a, c, b] } else { corners };
            triangles.extend(std::iter::repeat_n(triangle, turns.unsigned_abs() as usize));
        }
        triangles
    }

    /// The Delaunay triangulation of the border's points. Beside it, for each vertex of the
    /// triangulation its vertex of the border (the first of coincident ones), and for each vertex
    /// of the border its vertex of the triangulation.
    fn delaunay(&self) -> Option<(Delaunay, Vec<u32>, Vec<FixedVertexHandle>)> {
        let mut order: Vec<u32> = (0..self.points.len() as u32).collect();
        let place = |v: u32| self.points[v as usize];
        order.sort_by(|&a, &b| {
            let (p, q) = (place(a), place(b));
            p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1])).then(a.cmp(&b))
        });
        let mut names: Vec<u32> = Vec::new();
        let mut handles = vec![FixedVertexHandle::from_index(0); self.points.len()];
        for v in order {
            if names.last().is_none_or(|&last| place(last) != place(v)) {
                names.push(v);
            }
            handles[v as usize] = FixedVertexHandle::from_index(names.len() - 1);
        }
        let point = |&v: &u32| spade::mitigate_underflow(Point2::from(place(v)));
        let points = names.iter().map(point).collect();
        // this constructor keeps the order of the points
        let mesh = Delaunay::try_bulk_load_cdt(points, Vec::new(), |_| ()).ok()?;
        (mesh.num_vertices() == names.len()).then_some((mesh, names, handles))
    }

    /// Fills a loop with the fan of the least area.
    fn fan(&self, walk: &[u32]) -> Vec<[u32; 3]> {
        let count = walk.len();
        let from = |first: usize| {
            let corner = move |k: usize| walk[(first + k) % count];
            (1..count - 1).map(move |k| [corner(0), corner(k), corner(k + 1)])
        };
        let covered = |first: &usize| -> f64 { from(*first).map(|t| self.area(t).abs()).sum() };
        let best = (0..count.min(MAX_CORNERS))
            .map(|first| (covered(&first), first))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or(Vec::new(), |(_, first)| from(first).collect())
    }

    /// Twice the area of a triangle.
    fn area(&self, triangle: [u32; 3]) -> f64 {
        let [a, b, c] = triangle.map(|v| self.points[v as usize]);
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    }
}

/// Corners tried as the center of a fan.
const MAX_CORNERS: usize = 64;

/// Corners up to which cutting ears, of cubic cost, takes less time than a Delaunay triangulation.
const MAX_EARS: usize = 24;

type Delaunay = ConstrainedDelaunayTriangulation<Point2<f64>>;

/// The winding number of the border around each face.
fn winding(mesh: &Delaunay, runs: &[i32]) -> Vec<i32> {
    let mut turns = vec![None; mesh.num_all_faces()];
    turns[mesh.outer_face().index()] = Some(0);
    let mut rim: Vec<_> = mesh.convex_hull().map(|edge| edge.fix()).collect();
    // the hull's edges have the outer face on their left
    while let Some(edge) = rim.pop() {
        let edge = mesh.directed_edge(edge);
        let here = turns[edge.face().index()].unwrap_or(0);
        let there = edge.rev().face();
        if turns[there.index()].is_some() {
            continue;
        }
        let crossed = runs[edge.rev().fix().index()] - runs[edge.fix().index()];
        turns[there.index()] = Some(here + crossed);
        if let Some(inner) = there.as_inner() {
            rim.extend(inner.adjacent_edges().map(|edge| edge.fix()));
        }
    }
    turns.into_iter().map(|turns| turns.unwrap_or(0)).collect()
}

/// The loops along directed edges that balance at every vertex.
fn loops(edges: Vec<[u32; 2]>) -> Vec<Vec<u32>> {
    let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for [from, to] in edges {
        next.entry(from).or_default().push(to);
    }
    let mut loops = Vec::new();
    while let Some((&start, _)) = next.first_key_value() {
        let mut walk = vec![start];
        while let Some(&at) = walk.last() {
            // the walk is back at its start, and no edge is left there
            let Some(ends) = next.get_mut(&at) else { break };
            let to = ends.pop().expect("no empty list is kept");
            if ends.is_empty() {
                next.remove(&at);
            }
            match walk.iter().position(|&v| v == to) {
                Some(first) => {
                    loops.push(walk[first..].to_vec());
                    walk.truncate(first + 1);
                }
                None => walk.push(to),
            }
        }
    }
    loops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_border_with_a_gap_fills_what_is_closed() {
        let points = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [5.0, 5.0]];
        let filled = |edges: &[[u32; 2]]| {
            let border = Border::new(edges, |v| points[v as usize]);
            assert!(border.convex_loop().is_none() || border.filled().len() == 2);
            border.filled().len()
        };
        assert_eq!(filled(&[[0, 1], [1, 2], [2, 3], [3, 0]]), 2);
        // an edge to a vertex without a next one, and a loop that lacks its last edge
        filled(&[[0, 1], [1, 2], [2, 3], [3, 0], [2, 4]]);
        filled(&[[0, 1], [1, 2], [2, 3]]);
        filled(&[[0, 4]]);
    }
}
