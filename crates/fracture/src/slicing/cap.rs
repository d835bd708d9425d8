//! The repair stage (Br11 section 3.5): a cap whose border is what the split left open.

use std::collections::BTreeMap;

use nalgebra::UnitVector3;
use spade::handles::FixedFaceHandle;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

use super::split::{Split, cancel_opposites};

/// Triangles, in references, that close the back: seen from the front they run counter-clockwise.
pub(super) fn triangulate(split: &Split, normal: &UnitVector3<f64>) -> Vec<[u32; 3]> {
    let plane = Projection::along(normal);
    let mut border = split.border.clone();
    // solids that overlap are closed one by one
    border.sort_by_key(|&[from, _]| split.solid_of(from));
    let mut cap = Vec::new();
    for border in border.chunk_by(|a, b| split.solid_of(a[0]) == split.solid_of(b[0])) {
        let border = Border::new(split, &plane, border);
        match border.convex_loop() {
            Some(corners) => {
                let fan = corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]]);
                cap.extend(fan.map(|triangle| triangle.map(|v| border.references[v as usize])));
            }
            None => cap.extend(border.filled()),
        }
    }
    cap
}

/// Drops the coordinate along which the plane is seen best: no rounding.
struct Projection {
    axes: [usize; 2],
}

impl Projection {
    fn along(normal: &UnitVector3<f64>) -> Self {
        let axis = normal.iamax();
        let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
        // counter-clockwise stays so
        Self { axes: if normal[axis] > 0.0 { [u, v] } else { [v, u] } }
    }
}

/// The open edges of one solid.
struct Border {
    /// What is meant by vertices 0, 1, ... of the border.
    references: Vec<u32>,
    points: Vec<[f64; 2]>,
    edges: Vec<[u32; 2]>,
}

impl Border {
    fn new(split: &Split, plane: &Projection, border: &[[u32; 2]]) -> Self {
        // every vertex where an edge ends is one where another starts
        let mut references: Vec<u32> = border.iter().map(|edge| edge[0]).collect();
        references.sort_unstable();
        references.dedup();
        let point = |&r: &u32| plane.axes.map(|axis| split.position(r)[axis]);
        let name = |r: u32| references.binary_search(&r).expect("borders are closed") as u32;
        let edges = border.iter().map(|edge| edge.map(name)).collect();
        Self { points: references.iter().map(point).collect(), edges, references }
    }

    /// The vertices in order, if they run once around a convex polygon without flat corners.
    fn convex_loop(&self) -> Option<Vec<u32>> {
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
        (corners.len() == count && self.turns_once(&corners)).then_some(corners)
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
        // a curve that turns left everywhere and goes right and back left once goes around once
        reversals == 2
    }

    /// Constrained Delaunay triangles, as often as the border winds around them, and fans for what
    /// edges of the border they do not meet.
    fn filled(&self) -> Vec<[u32; 3]> {
        let mut triangles = self.wound();
        let run = |&[a, b, c]: &[u32; 3]| [[b, a], [c, b], [a, c]];
        let mut left: Vec<[u32; 2]> = triangles.iter().flat_map(run).collect();
        left.extend(&self.edges);
        cancel_opposites(&mut left);
        triangles.extend(fans(left));
        triangles.iter().map(|t| t.map(|v| self.references[v as usize])).collect()
    }

    fn wound(&self) -> Vec<[u32; 3]> {
        let Some((mesh, names)) = self.delaunay() else { return Vec::new() };
        let mut mesh = mesh;
        let mut handles = vec![None; self.points.len()];
        for vertex in mesh.vertices() {
            handles[names[vertex.index()] as usize] = Some(vertex.fix());
        }
        // how often the border runs along each directed edge
        let mut runs = vec![0i32; mesh.num_directed_edges()];
        for &[from, to] in &self.edges {
            // of vertices at the same place only one is there
            let ends = [from, to].map(|v| handles[v as usize]);
            let [Some(from), Some(to)] = ends else { continue };
            for edge in mesh.try_add_constraint(from, to) {
                runs[edge.index()] += 1;
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

    /// The Delaunay triangulation of the border's points, and which each of its vertices is.
    fn delaunay(&self) -> Option<(Delaunay, Vec<u32>)> {
        let mut order: Vec<u32> = (0..self.points.len() as u32).collect();
        let place = |v: u32| self.points[v as usize];
        order.sort_by(|&a, &b| {
            let (p, q) = (place(a), place(b));
            p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1])).then(a.cmp(&b))
        });
        order.dedup_by(|a, b| place(*a) == place(*b));
        let [x, y] = [0, 1].map(|k| order.iter().map(move |&v| place(v)[k]));
        let points = x.zip(y).map(|(x, y)| spade::mitigate_underflow(Point2::new(x, y))).collect();
        // of the ways to load points, the one that keeps their order
        let mesh = Delaunay::try_bulk_load_cdt(points, Vec::new(), |_| ()).ok()?;
        (mesh.num_vertices() == order.len()).then_some((mesh, order))
    }
}

type Delaunay = ConstrainedDelaunayTriangulation<Point2<f64>>;

/// How often the border winds around each face.
fn winding(mesh: &Delaunay, runs: &[i32]) -> Vec<i32> {
    let mut turns = vec![None; mesh.num_all_faces()];
    turns[mesh.outer_face().index()] = Some(0);
    let mut open: Vec<FixedFaceHandle<_>> = Vec::new();
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
        open.push(there.fix());
        if let Some(inner) = there.as_inner() {
            rim.extend(inner.adjacent_edges().map(|edge| edge.fix()));
        }
    }
    turns.into_iter().map(|turns| turns.unwrap_or(0)).collect()
}

/// Closed walks along directed edges that balance at every vertex, each filled by a fan.
fn fans(edges: Vec<[u32; 2]>) -> Vec<[u32; 3]> {
    let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for [from, to] in edges {
        next.entry(from).or_default().push(to);
    }
    let mut triangles = Vec::new();
    while let Some((&start, _)) = next.first_key_value() {
        let mut walk = vec![start];
        let mut at = start;
        while let Some(ends) = next.get_mut(&at) {
            let to = ends.pop().expect("no empty list is kept");
            if ends.is_empty() {
                next.remove(&at);
            }
            at = to;
            walk.push(at);
        }
        let fan = walk.windows(2).map(|pair| [start, pair[0], pair[1]]);
        triangles.extend(fan.filter(|&[a, b, c]| a != b && b != c && a != c));
    }
    triangles
}
