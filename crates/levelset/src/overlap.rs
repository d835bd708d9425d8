//! Whether parts of a closed mesh overlap each other.

use nalgebra::{Point3, Vector3};

use crate::TriMesh;

/// Largest number of pairs of ray and triangle that are tested, except for the least number of
/// rays.
const MAX_PAIRS: usize = 1 << 23;
/// Least and sufficient number of rays.
const RAYS: [usize; 2] = [16, 4096];
/// Columns of triangles along a side at most.
const MAX_COLUMNS: usize = 512;
/// Largest mean number of columns per triangle; needles get fewer and wider ones.
const MAX_SHARED: usize = 32;
/// Largest gap of coincident faces, as a share of the size of the mesh.
const TOUCHING: f64 = 1e-9;
/// Directions of rays along which edges are unlikely.
const RAY_DIRECTIONS: [[f64; 3]; 2] = [[0.313_5, 0.561_7, 0.765_6], [-0.682_9, 0.417_1, -0.599_7]];

/// The result of a ray from the surface into the solid behind it.
enum Behind {
    /// The winding number behind the surface.
    Winds(i32),
    /// The same face exists twice.
    Twice,
    /// Another part touches the surface there.
    Touched,
}

impl TriMesh {
    /// Whether parts of a closed mesh overlap, tested at points spread over its surface by area, at
    /// most 4096: whether the winding number right behind one of them is two or more, or most of
    /// the surface exists twice. An overlap over a smaller share of the surface than that of one
    /// point may be missed, and mere contact does not count.
    ///
    /// # Panics
    /// If a triangle names a vertex that does not exist.
    pub fn overlaps_itself(&self) -> bool {
        let columns = RAY_DIRECTIONS.map(|direction| Columns::new(self, Vector3::from(direction)));
        let longest = columns.iter().flat_map(|c| &c.triangles).map(Vec::len).max().unwrap_or(0);
        let rays = (MAX_PAIRS / longest.max(1)).clamp(RAYS[0], RAYS[1]);
        let size = crate::Aabb::around(&self.vertices).map_or(0.0, |b| b.extents().norm());
        let mut repeated = 0;
        for (from, start) in self.spread(rays) {
            let seen = columns.each_ref().map(|columns| self.behind(from, &start, columns, size));
            if seen.iter().all(|seen| matches!(seen, Behind::Winds(2..))) {
                return true;
            }
            repeated += usize::from(seen.iter().all(|seen| matches!(seen, Behind::Twice)));
        }
        // a point on an edge is no evidence, half of the surface is
        2 * repeated > rays
    }

    /// About `count` points over the surface by area, each with its triangle.
    fn spread(&self, count: usize) -> impl Iterator<Item = (usize, Point3<f64>)> + '_ {
        let area = |t: usize| self.area_vector(t).norm();
        let total: f64 = (0..self.triangles.len()).map(area).sum();
        let step = total / count as f64;
        let (mut seen, mut given) = (0.0, 0_usize);
        (0..self.triangles.len()).flat_map(move |t| {
            seen += area(t);
            let first = given;
            while step > 0.0 && (given as f64 + 0.5) * step < seen {
                given += 1;
            }
            let [a, b, c] = self.corners(t);
            (first..given).map(move |n| {
                // the additive sequence of Roberts 2018, folded into the triangle
                let [x, y] = [0.754_877_666_246_693, 0.569_840_290_998_053]
                    .map(|share| (share * (n + 1) as f64).fract());
                let [x, y] = if x + y > 1.0 { [1.0 - x, 1.0 - y] } else { [x, y] };
                (t, a + (b - a) * x + (c - a) * y)
            })
        })
    }

    /// The result of the ray from a point of triangle `from` along some columns.
    fn behind(&self, from: usize, start: &Point3<f64>, columns: &Columns, size: f64) -> Behind {
        let direction = &columns.direction;
        let own = self.area_vector(from);
        // a ray out of the solid has left it once
        let mut times = i32::from(own.dot(direction) > 0.0);
        for t in columns.at(start).iter().map(|&t| t as usize).filter(|&t| t != from) {
            let Some(distance) = self.hit(t, start, direction) else { continue };
            let area = self.area_vector(t);
            if distance.abs() <= TOUCHING * size {
                let is_same = own.dot(&area) > 0.0;
                return if is_same { Behind::Twice } else { Behind::Touched };
            }
            if distance > 0.0 {
                times += if area.dot(direction) > 0.0 { 1 } else { -1 };
            }
        }
        Behind::Winds(times)
    }
}

/// Triangles by the columns along a direction that they overlap.
struct Columns {
    direction: Vector3<f64>,
    /// Two directions across it.
    across: [Vector3<f64>; 2],
    /// Position of the first column, m.
    low: [f64; 2],
    /// Widths of columns, m.
    step: [f64; 2],
    /// Columns along a side.
    count: usize,
    /// In ascending order.
    triangles: Vec<Vec<u32>>,
}

impl Columns {
    fn new(mesh: &TriMesh, direction: Vector3<f64>) -> Self {
        let u = direction.cross(&Vector3::x()).normalize();
        let across = [u, direction.cross(&u).normalize()];
        let range = |along: &Vector3<f64>, points: &[Point3<f64>]| {
            let heights = points.iter().map(|p| along.dot(&p.coords));
            heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| {
                [low.min(x), high.max(x)]
            })
        };
        let whole = across.each_ref().map(|along| range(along, &mesh.vertices));
        let ranges: Vec<[[f64; 2]; 2]> = (0..mesh.triangles.len())
            .map(|t| across.each_ref().map(|along| range(along, &mesh.corners(t))))
            .collect();
        let mut count = (ranges.len() as f64).sqrt().ceil().clamp(1.0, MAX_COLUMNS as f64) as usize;
        loop {
            let step =
                whole.map(|[low, high]| ((high - low) / count as f64).max(f64::MIN_POSITIVE));
            let low = whole.map(|[low, _]| low);
            let mut columns = Self { direction, across, low, step, count, triangles: Vec::new() };
            let shared: usize = ranges
                .iter()
                .map(|range| columns.reached(range).map(|r| r.len()).iter().product::<usize>())
                .sum();
            if count == 1 || shared <= MAX_SHARED * ranges.len() {
                columns.triangles = vec![Vec::new(); count * count];
                for (range, t) in ranges.iter().zip(0..) {
                    let [us, vs] = columns.reached(range);
                    for u in us {
                        vs.clone().for_each(|v| columns.triangles[u * count + v].push(t));
                    }
                }
                return columns;
            }
            count = count.div_ceil(2);
        }
    }

    /// The columns of a triangle, with one more on each side against rounding.
    fn reached(&self, ranges: &[[f64; 2]; 2]) -> [std::ops::Range<usize>; 2] {
        [0, 1].map(|axis| {
            let [first, last] = ranges[axis].map(|x| self.number(axis, x));
            first.saturating_sub(1)..(last + 2).min(self.count)
        })
    }

    fn number(&self, axis: usize, x: f64) -> usize {
        (((x - self.low[axis]) / self.step[axis]) as usize).min(self.count - 1)
    }

    /// The triangles that the line through a point may meet.
    fn at(&self, p: &Point3<f64>) -> &[u32] {
        let [u, v] = [0, 1].map(|axis| self.number(axis, self.across[axis].dot(&p.coords)));
        &self.triangles[u * self.count + v]
    }
}
