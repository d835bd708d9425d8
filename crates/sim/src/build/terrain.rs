//! The surface of terrain.

use levelset::TriMesh;
use nalgebra::Point3;

use crate::scene::Heightfield;

/// Limit of squares along an axis: 131,072 triangles, about as many as a body has samples by default.
const MAX_SQUARES: usize = 256;

/// The closed surface of terrain with sides and a flat base. Vertices are at the centers of pixels,
/// between which the height is bilinear, and between these at most about `spacing` meters apart.
pub(super) fn mesh(terrain: &Heightfield, spacing: f64) -> TriMesh {
    let [rows, columns] = terrain.pixels();
    let [xs, zs] = [(terrain.size[0], columns), (terrain.size[1], rows)]
        .map(|(length, pixels)| places(length, pixels, spacing));
    let mut mesh = TriMesh::default();
    for &x in &xs {
        let ground = |z: &f64| Point3::new(x, terrain.ground([x, *z]), *z);
        mesh.vertices.extend(zs.iter().map(ground));
    }
    let [nx, nz] = [xs.len() as u32 - 1, zs.len() as u32 - 1];
    let top = |i: u32, k: u32| i * (nz + 1) + k;
    for i in 0..nx {
        for k in 0..nz {
            let [a, b, c, d] = [top(i, k), top(i, k + 1), top(i + 1, k + 1), top(i + 1, k)];
            // the shorter diagonal in space keeps ridges and valleys
            let height = |v: u32| mesh.vertices[v as usize].y;
            if (height(a) - height(c)).abs() <= (height(b) - height(d)).abs() {
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                mesh.triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    // once around, counter-clockwise seen from above
    let border: Vec<u32> = (0..nz)
        .map(|k| top(0, k))
        .chain((0..nx).map(|i| top(i, nz)))
        .chain((1..=nz).rev().map(|k| top(nx, k)))
        .chain((1..=nx).rev().map(|i| top(i, 0)))
        .collect();
    let first = mesh.vertices.len() as u32;
    for &v in &border {
        let Point3 { coords } = mesh.vertices[v as usize];
        mesh.vertices.push(Point3::new(coords.x, -terrain.base, coords.z));
    }
    let center = mesh.vertices.len() as u32;
    mesh.vertices.push(Point3::new(0.0, -terrain.base, 0.0));
    let count = border.len() as u32;
    for (n, &v) in (0..count).zip(&border) {
        let next = (n + 1) % count;
        let (w, low, low_next) = (border[next as usize], first + n, first + next);
        mesh.triangles.extend([[v, low, low_next], [v, low_next, w], [low, center, low_next]]);
    }
    mesh
}

/// Coordinates of vertices along an axis, in ascending order.
fn places(length: f64, pixels: usize, spacing: f64) -> Vec<f64> {
    if pixels + 1 > MAX_SQUARES {
        let at = |n: usize| (n as f64 / MAX_SQUARES as f64 - 0.5) * length;
        return (0..=MAX_SQUARES).map(at).collect();
    }
    let pixel = length / pixels as f64;
    let most = MAX_SQUARES / (pixels + 1);
    let parts = ((pixel / spacing).ceil() as usize).clamp(1, most);
    let center = |n: usize| ((n as f64 - 0.5) / pixels as f64).clamp(0.0, 1.0);
    let between = |n: usize| {
        let (from, to) = (center(n), center(n + 1));
        (0..parts).map(move |k| from + (to - from) * k as f64 / parts as f64)
    };
    let shares = (0..=pixels).flat_map(between).chain([1.0]);
    shares.map(|share| (share - 0.5) * length).collect()
}
