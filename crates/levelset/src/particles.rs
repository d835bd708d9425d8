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
        let points = self.candidates(spacing);
        let Some(bounds) = Aabb::around(&points) else { return Vec::new() };
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        // an arbitrary order that has no pattern in space, by hash of the candidate's number
        order.sort_by_cached_key(|&n| scramble(n));
        let candidate = |&n: &u32| Candidate { at: points[n as usize], square: f64::INFINITY };
        let mut left: Vec<Candidate> = order.iter().map(candidate).collect();
        let levels = libm::log2((bounds.extents().max() / spacing).max(1.0)).ceil() as i32;
        let mut kept: Vec<Point3<f64>> = Vec::new();
        for level in (0..=levels).rev() {
            let radius = spacing * libm::exp2(f64::from(level));
            let mut buckets = Buckets::new(&bounds, radius, points.len());
            for p in &kept {
                buckets.insert(*p);
            }
            left.retain_mut(|candidate| {
                let Candidate { at, square } = candidate;
                if *square < radius * radius {
                    return true;
                }
                let near = buckets.near(at, radius);
                if let Some(found) = near {
                    *square = found;
                } else {
                    buckets.insert(*at);
                    kept.push(*at);
                }
                near.is_some()
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

/// A point to choose from.
struct Candidate {
    at: Point3<f64>,
    /// Upper bound of the squared distance to the nearest chosen point, m^2; infinite before one is known.
    square: f64,
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

    /// Square of the distance of a point closer to `p` than `radius`, m^2, if there is one.
    fn near(&self, p: &Point3<f64>, radius: f64) -> Option<f64> {
        let cell = self.cell(p);
        // most often one in the same cube
        self.nearest_in(cell, p, radius).or_else(|| {
            let range = |a: usize| cell[a].saturating_sub(1)..=(cell[a] + 1).min(self.dims[a] - 1);
            range(0).find_map(|i| {
                range(1).find_map(|j| range(2).find_map(|k| self.nearest_in([i, j, k], p, radius)))
            })
        })
    }

    /// Square of the distance of the nearest point in a cube, m^2, if it is closer to `p` than `radius`.
    fn nearest_in(&self, cell: [usize; 3], p: &Point3<f64>, radius: f64) -> Option<f64> {
        let mut least = radius * radius;
        let mut at = self.heads[self.head(cell)];
        while at != END {
            let (q, next) = self.links[at as usize];
            least = least.min((p - q).norm_squared());
            at = next;
        }
        (least < radius * radius).then_some(least)
    }
}

/// A bijective hash of 32 bits.
fn scramble(mut x: u32) -> u32 {
    x = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
    x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}
