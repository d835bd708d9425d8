//! Evenly spread points on the surface, coarse to fine.

use nalgebra::Point3;

use crate::{Aabb, LevelSet};

impl LevelSet {
    /// Points on the zero surface, no two closer than `spacing` meters, and with no part of the
    /// surface farther than about `spacing` from one.
    ///
    /// They are ordered from coarse to fine: the first are spread over the whole surface at about
    /// its size, and the least distance halves from level to level, so that every prefix is a good
    /// coarse set. The order is a function of the samples alone. They are no denser than 64 per
    /// edge of the [isosurface](LevelSet::isosurface), whatever `spacing` is.
    ///
    /// # Panics
    /// If `spacing` is not positive and finite.
    pub fn surface_particles(&self, spacing: f64) -> Vec<Point3<f64>> {
        assert!(spacing > 0.0 && spacing.is_finite(), "spacing {spacing} is not positive");
        let candidates = self.candidates(spacing);
        let Some(bounds) = Aabb::around(&candidates) else { return Vec::new() };
        let mut left: Vec<u32> = (0..candidates.len() as u32).collect();
        // an arbitrary order that has no pattern in space, by hash of the candidate's number
        left.sort_unstable_by_key(|&n| (scramble(n), n));
        let levels = libm::log2((bounds.extents().max() / spacing).max(1.0)).ceil() as i32;
        let mut kept: Vec<Point3<f64>> = Vec::new();
        for level in (0..=levels).rev() {
            let radius = spacing * libm::exp2(f64::from(level));
            let mut buckets = Buckets::new(&bounds, radius, candidates.len());
            for p in &kept {
                buckets.insert(*p);
            }
            left.retain(|&n| {
                let p = candidates[n as usize];
                let free = buckets.is_free(&p, radius);
                if free {
                    buckets.insert(p);
                    kept.push(p);
                }
                !free
            });
        }
        kept
    }

    /// Candidate points, dense enough to choose from: the isosurface's vertices, and more on
    /// triangles that are large for the spacing.
    fn candidates(&self, spacing: f64) -> Vec<Point3<f64>> {
        /// Parts of an edge: a tiny spacing must not fill the memory.
        const MAX_PARTS: f64 = 64.0;
        let mesh = self.isosurface();
        let mut points = mesh.vertices.clone();
        let wanted = spacing / 2.0;
        // an edge of the isosurface is at most a cell's diagonal
        if wanted > self.grid().spacing() {
            return points;
        }
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(t);
            let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
            let parts = (longest / wanted).ceil().min(MAX_PARTS) as usize;
            for u in 1..parts {
                for v in 1..parts - u {
                    let (u, v) = (u as f64 / parts as f64, v as f64 / parts as f64);
                    points.push(self.pulled_to_surface(a + (b - a) * u + (c - a) * v));
                }
            }
        }
        points
    }

    /// A point near the surface, projected onto it by Newton steps along the gradient.
    fn pulled_to_surface(&self, mut p: Point3<f64>) -> Point3<f64> {
        let h = self.grid().spacing();
        for _ in 0..3 {
            let value = self.value(&p);
            if value.abs() < 1e-3 * h {
                break;
            }
            let gradient = self.gradient(&p);
            let square = gradient.norm_squared();
            if square > 1e-6 {
                p -= (gradient * (value / square)).cap_magnitude(h / 2.0);
            }
        }
        p
    }
}

/// Points in a box by cubes, as linked lists in two flat arrays.
struct Buckets {
    origin: Point3<f64>,
    size: f64,
    dims: [usize; 3],
    heads: Vec<u32>,
    links: Vec<(Point3<f64>, u32)>,
}

const END: u32 = u32::MAX;

impl Buckets {
    /// Cubes of edge `radius`, or larger if that would be many more cubes than points.
    fn new(bounds: &Aabb, radius: f64, points: usize) -> Self {
        let mut size = radius;
        let most = 8 * points + 64;
        let count = |size: f64| bounds.extents().map(|x| (x / size).floor() + 1.0).product();
        while count(size) > most as f64 {
            size *= 2.0;
        }
        let dims = std::array::from_fn(|a| (bounds.extents()[a] / size) as usize + 1);
        let heads = vec![END; dims.iter().product()];
        Self { origin: bounds.min, size, dims, heads, links: Vec::new() }
    }

    fn cell(&self, p: &Point3<f64>) -> [usize; 3] {
        let at = |a: usize| (((p[a] - self.origin[a]) / self.size) as usize).min(self.dims[a] - 1);
        std::array::from_fn(at)
    }

    fn head(&self, [i, j, k]: [usize; 3]) -> usize {
        (i * self.dims[1] + j) * self.dims[2] + k
    }

    fn insert(&mut self, p: Point3<f64>) {
        let head = self.head(self.cell(&p));
        self.links.push((p, self.heads[head]));
        self.heads[head] = (self.links.len() - 1) as u32;
    }

    /// Whether no point is closer to `p` than `radius`.
    fn is_free(&self, p: &Point3<f64>, radius: f64) -> bool {
        let cell = self.cell(p);
        let range = |a: usize| cell[a].saturating_sub(1)..=(cell[a] + 1).min(self.dims[a] - 1);
        for i in range(0) {
            for j in range(1) {
                for k in range(2) {
                    let mut at = self.heads[self.head([i, j, k])];
                    while at != END {
                        let (q, next) = self.links[at as usize];
                        if (p - q).norm_squared() < radius * radius {
                            return false;
                        }
                        at = next;
                    }
                }
            }
        }
        true
    }
}

/// A bijective hash of 32 bits.
fn scramble(mut x: u32) -> u32 {
    x = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
    x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}
