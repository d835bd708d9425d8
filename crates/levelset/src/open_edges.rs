//! The edges of a triangle mesh, and which of them are open.

use crate::TriMesh;
use crate::sharing::sorted_by_vertex;

/// Directed edges `[from, to]` without an opposite, each as often as it lacks one.
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
/// ends adjacent.
pub(crate) fn directed_edges(mesh: &TriMesh) -> Vec<(u32, (u32, bool, u32))> {
    let edges = mesh.triangles.iter().zip(0..).flat_map(|(t, triangle)| {
        [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]
            .into_iter()
            .filter(|[a, b]| a != b)
            .map(move |[a, b]| (a.min(b), (a.max(b), a > b, triangle)))
    });
    sorted_by_vertex(mesh.vertices.len(), edges)
}
