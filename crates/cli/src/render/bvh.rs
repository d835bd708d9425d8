//! A bounding volume hierarchy over triangles, split by the surface area heuristic (Wald 2007, "On
//! fast Construction of SAH-based Bounding Volume Hierarchies").

use nalgebra::Vector3;

/// Single precision suffices: coordinates are relative to the camera target, in units of the radius
/// of the subject.
pub(super) type Vec3 = Vector3<f32>;

/// Maximum number of triangles in a leaf that is not split further.
const LEAF: usize = 4;
/// Bins of the binned surface area heuristic (Wald 2007).
const BINS: usize = 12;
/// Splits below this depth halve the number of triangles, which bounds the depth of the tree.
const DEEP: usize = 40;
/// Size of the traversal stack: one node per level, and no tree of 2^32 triangles has more levels.
const STACK: usize = DEEP + 34;

/// A ray; `direction` is a unit vector.
#[derive(Clone, Copy)]
pub(super) struct Ray {
    pub(super) origin: Vec3,
    pub(super) direction: Vec3,
    inverse: Vec3,
}

impl Ray {
    pub(super) fn new(origin: Vec3, direction: Vec3) -> Self {
        Self { origin, direction, inverse: direction.map(|x| 1.0 / x) }
    }

    pub(super) fn at(&self, distance: f32) -> Vec3 {
        self.origin + self.direction * distance
    }
}

/// Intersection of a ray and a triangle.
#[derive(Clone, Copy)]
pub(super) struct Hit {
    pub(super) distance: f32,
    pub(super) triangle: u32,
    /// Barycentric coordinates of the second and third corner.
    pub(super) weights: [f32; 2],
}

/// A node: its box, and `count` triangles from `first` on or, if `count` is 0, two child nodes from
/// `first` on.
#[derive(Clone, Copy)]
struct Node {
    min: Vec3,
    first: u32,
    max: Vec3,
    count: u32,
}

/// A corner and two edges.
#[derive(Clone, Copy)]
struct Triangle {
    corner: Vec3,
    edges: [Vec3; 2],
    number: u32,
}

pub(super) struct Bvh {
    nodes: Vec<Node>,
    triangles: Vec<Triangle>,
}

/// A growing bounding box.
#[derive(Clone, Copy)]
struct Bounds {
    min: Vec3,
    max: Vec3,
}

impl Bounds {
    const NONE: Self = Self {
        min: Vec3::new(f32::INFINITY, f32::INFINITY, f32::INFINITY),
        max: Vec3::new(f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY),
    };

    fn plus(self, other: Self) -> Self {
        Self { min: self.min.inf(&other.min), max: self.max.sup(&other.max) }
    }

    fn with(self, p: Vec3) -> Self {
        self.plus(Self { min: p, max: p })
    }

    /// Half its surface area; 0 for an empty box.
    fn area(&self) -> f64 {
        let d = (self.max - self.min).map(|x| f64::from(x).max(0.0));
        d.x * d.y + d.y * d.z + d.z * d.x
    }
}

/// A triangle while the tree is built.
#[derive(Clone, Copy)]
struct Part {
    bounds: Bounds,
    middle: Vec3,
    number: u32,
}

impl Bvh {
    pub(super) fn new(corners: &[[Vec3; 3]]) -> Self {
        let part = |(number, triangle): (usize, &[Vec3; 3])| {
            let bounds = triangle.iter().fold(Bounds::NONE, |b, p| b.with(*p));
            let middle = bounds.min * 0.5 + bounds.max * 0.5;
            Part { bounds, middle, number: number as u32 }
        };
        let mut parts: Vec<Part> = corners.iter().enumerate().map(part).collect();
        let root = Node { min: Vec3::zeros(), first: 0, max: Vec3::zeros(), count: 0 };
        let mut nodes = Vec::with_capacity(parts.len());
        nodes.push(root);
        // node, its triangles and its depth
        let mut open = vec![(0, 0, parts.len(), 0)];
        while let Some((node, first, end, depth)) = open.pop() {
            let own = &mut parts[first..end];
            let bounds = own.iter().fold(Bounds::NONE, |b, part| b.plus(part.bounds));
            let Bounds { min, max } = bounds;
            let Some(split) = split(own, &bounds, depth) else {
                let count = (end - first) as u32;
                nodes[node] = Node { min, first: first as u32, max, count };
                continue;
            };
            let children = nodes.len();
            nodes.extend([root; 2]);
            nodes[node] = Node { min, first: children as u32, max, count: 0 };
            open.push((children + 1, first + split, end, depth + 1));
            open.push((children, first, first + split, depth + 1));
        }
        let triangle = |part: &Part| {
            let [a, b, c] = corners[part.number as usize];
            Triangle { corner: a, edges: [b - a, c - a], number: part.number }
        };
        Self { nodes, triangles: parts.iter().map(triangle).collect() }
    }

    /// The nearest triangle that a ray hits before `limit`, from either side.
    pub(super) fn nearest(&self, ray: &Ray, limit: f32) -> Option<Hit> {
        self.nearest_of(ray, limit, |_| true)
    }

    /// The nearest hit before `limit` for which `is_wanted` holds.
    pub(super) fn nearest_of(
        &self,
        ray: &Ray,
        limit: f32,
        is_wanted: impl Fn(&Hit) -> bool,
    ) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        self.walk(ray, limit, |hit| {
            if is_wanted(&hit) {
                best = Some(hit);
            }
            best.map_or(limit, |best| best.distance)
        });
        best
    }

    /// Visits the triangles that a ray hits before `limit`, unordered, until `stops` returns true.
    pub(super) fn any(&self, ray: &Ray, limit: f32, mut stops: impl FnMut(u32) -> bool) -> bool {
        let mut stopped = false;
        self.walk(ray, limit, |hit| {
            stopped |= stops(hit.triangle);
            // this limit ends the traversal, since no hit is nearer
            if stopped { f32::NEG_INFINITY } else { limit }
        });
        stopped
    }

    /// Visits the hits of a ray before a limit; each hit sets the new limit.
    fn walk(&self, ray: &Ray, mut limit: f32, mut found: impl FnMut(Hit) -> f32) {
        if self.triangles.is_empty() {
            return;
        }
        let mut waiting = [(0, f32::INFINITY); STACK];
        let (mut count, mut at) = (0, 0);
        loop {
            let node = &self.nodes[at];
            if node.count > 0 {
                let first = node.first as usize;
                for triangle in &self.triangles[first..first + node.count as usize] {
                    if let Some(hit) = triangle.intersect(ray, limit) {
                        limit = found(hit);
                    }
                }
            } else {
                let first = node.first as usize;
                let [near, far] =
                    [first, first + 1].map(|n| (n, self.nodes[n].intersect(ray, limit)));
                let [near, far] = if far.1 < near.1 { [far, near] } else { [near, far] };
                if near.1 < f32::INFINITY {
                    if far.1 < f32::INFINITY {
                        waiting[count] = far;
                        count += 1;
                    }
                    at = near.0;
                    continue;
                }
            }
            loop {
                if count == 0 {
                    return;
                }
                count -= 1;
                if waiting[count].1 <= limit {
                    at = waiting[count].0;
                    break;
                }
            }
        }
    }
}

impl Node {
    /// The distance at which a ray enters; infinite if it does not before `limit`.
    #[inline]
    fn intersect(&self, ray: &Ray, limit: f32) -> f32 {
        let a = (self.min - ray.origin).component_mul(&ray.inverse);
        let b = (self.max - ray.origin).component_mul(&ray.inverse);
        // float `min` and `max` ignore NaN, which occurs for a ray within a face
        let enter = a.x.min(b.x).max(a.y.min(b.y)).max(a.z.min(b.z)).max(0.0);
        let leave = a.x.max(b.x).min(a.y.max(b.y)).min(a.z.max(b.z)).min(limit);
        if enter <= leave { enter } else { f32::INFINITY }
    }
}

impl Triangle {
    /// Moeller and Trumbore 1997.
    #[inline]
    fn intersect(&self, ray: &Ray, limit: f32) -> Option<Hit> {
        let [e, f] = &self.edges;
        let p = ray.direction.cross(f);
        let determinant = e.dot(&p);
        let s = ray.origin - self.corner;
        let inverse = 1.0 / determinant;
        let u = s.dot(&p) * inverse;
        let q = s.cross(e);
        let v = ray.direction.dot(&q) * inverse;
        let distance = f.dot(&q) * inverse;
        // a triangle seen edge-on yields NaN, which fails every comparison
        let hits = u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0 && distance < limit;
        hits.then_some(Hit { distance, triangle: self.number, weights: [u, v] })
    }
}

/// Partitions triangles and returns the size of the first group; `None` if they should stay
/// together.
fn split(parts: &mut [Part], bounds: &Bounds, depth: usize) -> Option<usize> {
    if parts.len() <= LEAF {
        return None;
    }
    let middles = parts.iter().fold(Bounds::NONE, |b, part| b.with(part.middle));
    let extent = middles.max - middles.min;
    let axis = extent.imax();
    let halves = |parts: &mut [Part]| {
        let half = parts.len() / 2;
        parts.select_nth_unstable_by(half, |a, b| {
            a.middle[axis].total_cmp(&b.middle[axis]).then(a.number.cmp(&b.number))
        });
        Some(half)
    };
    let scale = BINS as f32 / extent[axis];
    if depth >= DEEP || !(scale.is_finite() && scale > 0.0) {
        return halves(parts);
    }
    let bin = |part: &Part| {
        (((part.middle[axis] - middles.min[axis]) * scale).max(0.0) as usize).min(BINS - 1)
    };
    let mut bins = [(Bounds::NONE, 0usize); BINS];
    for part in &*parts {
        let (bounds, count) = &mut bins[bin(part)];
        *bounds = bounds.plus(part.bounds);
        *count += 1;
    }
    let (cost, at) = cheapest(&bins);
    if parts.len() <= 4 * LEAF && cost >= bounds.area() * parts.len() as f64 {
        return None;
    }
    let mut count = 0;
    for n in 0..parts.len() {
        if bin(&parts[n]) < at {
            parts.swap(count, n);
            count += 1;
        }
    }
    if count == 0 || count == parts.len() { halves(parts) } else { Some(count) }
}

/// The minimum split cost, and the bin after the split.
fn cheapest(bins: &[(Bounds, usize); BINS]) -> (f64, usize) {
    let mut below = [0.0; BINS];
    let (mut bounds, mut count) = (Bounds::NONE, 0);
    for (n, bin) in bins.iter().enumerate() {
        below[n] = bounds.area() * count as f64;
        bounds = bounds.plus(bin.0);
        count += bin.1;
    }
    let mut best = (f64::INFINITY, BINS / 2);
    let (mut bounds, mut count) = (Bounds::NONE, 0);
    for (n, bin) in bins.iter().enumerate().skip(1).rev() {
        bounds = bounds.plus(bin.0);
        count += bin.1;
        let cost = below[n] + bounds.area() * count as f64;
        if cost < best.0 {
            best = (cost, n);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between -1 and 1.
    fn numbers(seed: u32) -> impl Iterator<Item = f32> {
        let mut state = seed;
        std::iter::from_fn(move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Some((state >> 8) as f32 / (1 << 23) as f32 - 1.0)
        })
    }

    #[test]
    fn rays_meet_what_they_meet_without_a_tree() {
        let mut random = numbers(7);
        let mut vector = || Vec3::from_fn(|_, _| random.next().unwrap());
        let corners: Vec<[Vec3; 3]> = (0..3000)
            .map(|_| {
                let at = vector();
                [at, at + vector() * 0.1, at + vector() * 0.1]
            })
            .collect();
        let tree = Bvh::new(&corners);
        let mut met = 0;
        for _ in 0..500 {
            let start = vector() * 2.0;
            let ray = Ray::new(start, (vector() - start).normalize());
            let every = tree.triangles.iter().filter_map(|t| t.intersect(&ray, 10.0));
            let nearest = every.min_by(|a, b| a.distance.total_cmp(&b.distance));
            let found = tree.nearest(&ray, 10.0);
            assert_eq!(found.map(|hit| hit.triangle), nearest.map(|hit| hit.triangle));
            assert_eq!(tree.any(&ray, 10.0, |_| true), nearest.is_some());
            met += usize::from(found.is_some());
        }
        assert!(met > 100, "{met}");
    }

    #[test]
    fn triangles_in_one_place_or_far_apart_make_a_tree() {
        let same = [[Vec3::zeros(), Vec3::x(), Vec3::y()]; 5000];
        let ray = Ray::new(Vec3::new(0.2, 0.2, 1.0), -Vec3::z());
        assert_eq!(Bvh::new(&same).nearest(&ray, 2.0).map(|hit| hit.distance), Some(1.0));
        let far: Vec<[Vec3; 3]> = (0..200)
            .map(|n| [Vec3::x() * 1e18f32.powf(n as f32 / 199.0), Vec3::y(), Vec3::z() * 1e30])
            .collect();
        assert!(Bvh::new(&far).nodes.len() > 50);
    }
}
