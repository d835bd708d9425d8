//! The boundary of an open mesh, and what closing it adds to the winding number.

use std::f64::consts::PI;

use nalgebra::{Point3, center};

use crate::TriMesh;
use crate::sharing::sorted_by_vertex;

/// Directed edges `[from, to]` that no triangle uses the other way, each as often as it lacks one.
pub(crate) fn open_edges(mesh: &TriMesh) -> Vec<[u32; 2]> {
    let edges = directed_edges(mesh);
    let mut open = Vec::new();
    for same in edges.chunk_by(|a, b| (a.0, a.1.0) == (b.0, b.1.0)) {
        let (low, (high, _, _)) = same[0];
        let backward = same.iter().filter(|(_, (_, backward, _))| *backward).count();
        let forward = same.len() - backward;
        let edge = if forward > backward { [low, high] } else { [high, low] };
        open.extend(std::iter::repeat_n(edge, forward.abs_diff(backward)));
    }
    open
}

/// All edges as `(low, (high, whether it runs from high to low, triangle))`, those with the same
/// ends side by side.
pub(crate) fn directed_edges(mesh: &TriMesh) -> Vec<(u32, (u32, bool, u32))> {
    let edges = mesh.triangles.iter().zip(0..).flat_map(|(t, triangle)| {
        [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]
            .into_iter()
            .filter(|[a, b]| a != b)
            .map(move |[a, b]| (a.min(b), (a.max(b), a > b, triangle)))
    });
    sorted_by_vertex(mesh.vertices.len(), edges)
}

/// Triangles from each open edge to one apex: with them the mesh is closed, and without them its
/// generalised winding number is the closed one less their solid angle (Jacobson et al. 2013).
pub(crate) struct Caps {
    /// Where all caps meet.
    pub(crate) apex: Point3<f64>,
    /// The caps' other edges, directed as a cap uses them.
    pub(crate) edges: Vec<[u32; 2]>,
}

impl Caps {
    /// `None` if the mesh is closed.
    pub(crate) fn new(open: Vec<[u32; 2]>, vertices: &[Point3<f64>]) -> Option<Self> {
        let middle = |e: &[u32; 2]| center(&vertices[e[0] as usize], &vertices[e[1] as usize]);
        let count = open.len() as f64;
        let sum = open.iter().map(|e| middle(e).coords / count).reduce(|a, b| a + b)?;
        let edges = open.into_iter().map(|[a, b]| [b, a]).collect();
        Some(Self { apex: sum.into(), edges })
    }

    /// What the caps add to the winding number at `p`.
    pub(crate) fn winding(&self, p: &Point3<f64>, vertices: &[Point3<f64>]) -> f64 {
        let angle = |[a, b]: &[u32; 2]| {
            solid_angle(p, [&vertices[*a as usize], &vertices[*b as usize], &self.apex])
        };
        self.edges.iter().map(angle).sum::<f64>() / (4.0 * PI)
    }
}

/// Signed solid angle of a triangle seen from `p` (Van Oosterom and Strackee 1983): positive from
/// behind.
pub(crate) fn solid_angle(p: &Point3<f64>, corners: [&Point3<f64>; 3]) -> f64 {
    let [a, b, c] = corners.map(|q| q - p);
    let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
    let up = a.dot(&b.cross(&c));
    let down = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
    2.0 * up.atan2(down)
}
