//! Which triangle each pixel shows.

use nalgebra::Vector4;

/// The triangle of a pixel that shows none.
const NOTHING: u32 = u32::MAX;

/// What a pixel shows: a point of a triangle by its barycentric coordinates.
#[derive(Clone, Copy)]
pub(super) struct Pixel {
    /// Its place among the triangles drawn; past their end for none.
    pub(super) triangle: u32,
    pub(super) weights: [f32; 3],
    /// From -1 (near) to 1 (far).
    depth: f32,
}

/// Pixels, row by row from the top.
pub(super) struct Buffer {
    size: [usize; 2],
    pixels: Vec<Pixel>,
}

/// A corner of a clipped triangle: in clip space, and as barycentric coordinates in the triangle.
#[derive(Clone, Copy)]
struct Corner {
    clip: Vector4<f64>,
    weights: [f64; 3],
}

/// Draws triangles given in clip space; the nearest wins, the first of equals.
pub(super) fn rasterise(
    triangles: impl Iterator<Item = [Vector4<f64>; 3]>,
    size: [usize; 2],
) -> Buffer {
    let empty = Pixel { triangle: NOTHING, weights: [0.0; 3], depth: 1.0 };
    let mut buffer = Buffer { size, pixels: vec![empty; size[0] * size[1]] };
    for (index, triangle) in triangles.enumerate() {
        let corner = |i: usize| {
            let mut weights = [0.0; 3];
            weights[i] = 1.0;
            Corner { clip: triangle[i], weights }
        };
        let polygon = in_front([corner(0), corner(1), corner(2)]);
        for i in 2..polygon.len() {
            buffer.fill(index as u32, [polygon[0], polygon[i - 1], polygon[i]]);
        }
    }
    buffer
}

/// The part of a triangle in front of the near plane, three or four corners or none.
fn in_front(triangle: [Corner; 3]) -> Vec<Corner> {
    let front = |c: &Corner| c.clip.z + c.clip.w;
    let mut kept = Vec::with_capacity(4);
    for i in 0..3 {
        let (from, to) = (triangle[i], triangle[(i + 1) % 3]);
        let (a, b) = (front(&from), front(&to));
        if a > 0.0 {
            kept.push(from);
        }
        if (a > 0.0) != (b > 0.0) {
            let t = a / (a - b);
            kept.push(Corner {
                clip: from.clip.lerp(&to.clip, t),
                weights: std::array::from_fn(|k| {
                    from.weights[k] + (to.weights[k] - from.weights[k]) * t
                }),
            });
        }
    }
    kept
}

impl Buffer {
    pub(super) fn pixels(&self) -> impl Iterator<Item = &Pixel> {
        self.pixels.iter()
    }

    /// The share of the light that reaches a point in clip space, between 0 and 1: what of the
    /// pixels around it shows nothing nearer. Beyond the picture there is light.
    pub(super) fn open(&self, clip: &Vector4<f64>) -> f64 {
        let [x, y, depth] = self.on_screen(clip);
        let mut open = 0;
        for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
            let (column, row) = (x.floor() as i64 + dx, y.floor() as i64 + dy);
            let inside = (0..self.size[0] as i64).contains(&column)
                && (0..self.size[1] as i64).contains(&row);
            let at = row * self.size[0] as i64 + column;
            open += i32::from(!inside || f64::from(self.pixels[at as usize].depth) >= depth);
        }
        f64::from(open) / 9.0
    }

    /// Column, row and depth.
    fn on_screen(&self, clip: &Vector4<f64>) -> [f64; 3] {
        let [x, y, depth] = [clip.x, clip.y, clip.z].map(|v| v / clip.w);
        [(x + 1.0) / 2.0 * self.size[0] as f64, (1.0 - y) / 2.0 * self.size[1] as f64, depth]
    }

    fn fill(&mut self, triangle: u32, corners: [Corner; 3]) {
        let screen = corners.map(|c| self.on_screen(&c.clip));
        let [a, b, c] = screen;
        let edge = |p: [f64; 3], q: [f64; 3], x: f64, y: f64| {
            (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])
        };
        let area = edge(a, b, c[0], c[1]);
        if area.abs() < 1e-12 || !area.is_finite() {
            return;
        }
        let range = |axis: usize| {
            let low = a[axis].min(b[axis]).min(c[axis]).floor().max(0.0) as usize;
            let high = a[axis].max(b[axis]).max(c[axis]).ceil().max(0.0) as usize;
            low..high.min(self.size[axis])
        };
        let columns = range(0);
        for row in range(1) {
            for column in columns.clone() {
                let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
                let flat = [edge(b, c, x, y), edge(c, a, x, y), edge(a, b, x, y)].map(|e| e / area);
                if flat.iter().any(|w| *w < 0.0) {
                    continue;
                }
                let depth = (0..3).map(|i| flat[i] * screen[i][2]).sum::<f64>() as f32;
                let pixel = &mut self.pixels[row * self.size[0] + column];
                if depth < pixel.depth {
                    *pixel = Pixel { triangle, weights: blend(&corners, flat), depth };
                }
            }
        }
    }
}

/// Barycentric coordinates in the unclipped triangle of a point given by those on the screen.
fn blend(corners: &[Corner; 3], flat: [f64; 3]) -> [f32; 3] {
    let shares: [f64; 3] = std::array::from_fn(|i| flat[i] / corners[i].clip.w);
    let total: f64 = shares.iter().sum();
    std::array::from_fn(|k| {
        let weight: f64 = (0..3).map(|i| shares[i] * corners[i].weights[k]).sum();
        (weight / total) as f32
    })
}
