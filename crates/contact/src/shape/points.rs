//! Surface points in a tree of bounding spheres, to find those near another body.

use nalgebra::{Point3, center};

use crate::shape::query::{Ask, LANES, Packet, Query};

/// Spheres around leaves or nodes.
#[derive(Clone, Copy, Debug)]
struct Node {
    centers: Packet,
    /// NaN where there is no sphere.
    radii: [f32; LANES],
}

/// Points in an order in which each packet of [`LANES`] is compact, and each packet of as many
/// packets, and so on.
#[derive(Clone, Debug)]
pub(crate) struct PointTree {
    points: Vec<Point3<f64>>,
    leaves: Box<[Packet]>,
    /// Spheres around leaves first, the root last.
    levels: Box<[Box<[Node]>]>,
}

impl PointTree {
    pub(crate) fn new(points: &[Point3<f64>]) -> Self {
        let mut points = points.to_vec();
        sort(&mut points);
        let leaves = points.chunks(LANES).map(Packet::new).collect();
        let mut levels: Vec<Box<[Node]>> = Vec::new();
        let mut group = LANES;
        while !points.is_empty() && levels.last().is_none_or(|level| level.len() > 1) {
            let groups: Vec<&[Point3<f64>]> = points.chunks(group).collect();
            levels.push(groups.chunks(LANES).map(Node::new).collect());
            group *= LANES;
        }
        Self { points, leaves, levels: levels.into() }
    }

    pub(crate) fn points(&self) -> &[Point3<f64>] {
        &self.points
    }

    /// Calls `found(index, point, distance)` for every point nearer than `margin` m to the field of
    /// `query`. Returns the number of points and spheres tested.
    pub(crate) fn near(
        &self,
        margin: f64,
        query: &Query<'_>,
        mut found: impl FnMut(u32, &Point3<f64>, f64),
    ) -> usize {
        let found = |index: usize, distance: f64| {
            found(index as u32, &self.points[index], distance);
            margin
        };
        match query {
            Query::Grid(grid) => self.look(grid, margin, found),
            Query::Analytic(analytic) => self.look(analytic, margin, found),
        }
    }

    /// The least distance of a point to the field of `query`, m, at most `most`, and the number of
    /// points and spheres tested. Once it is below `enough`, any such value may be returned.
    pub(crate) fn least(&self, most: f64, enough: f64, query: &Query<'_>) -> (f64, usize) {
        let mut least = most;
        let found = |_, distance: f64| {
            least = distance;
            if distance < enough { f64::NEG_INFINITY } else { distance }
        };
        let asked = match query {
            Query::Grid(grid) => self.look(grid, most, found),
            Query::Analytic(analytic) => self.look(analytic, most, found),
        };
        (least, asked)
    }

    /// Calls `found(index, distance)` for points nearer than a limit; its return value is the next
    /// limit. Returns the number of points and spheres tested.
    fn look(&self, query: &impl Ask, limit: f64, found: impl FnMut(usize, f64) -> f64) -> usize {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "measured: see the notes of the pile benchmark")]
            // SAFETY: the processor has AVX2, as just checked
            return unsafe { self.visit_wide(query, limit, found) };
        }
        self.visit(query, limit, found)
    }

    /// [`PointTree::visit`] on vectors of eight numbers. Nothing is fused, so the bits are the
    /// same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn visit_wide(
        &self,
        query: &impl Ask,
        limit: f64,
        found: impl FnMut(usize, f64) -> f64,
    ) -> usize {
        self.visit(query, limit, found)
    }

    #[inline(always)]
    fn visit(
        &self,
        query: &impl Ask,
        mut limit: f64,
        mut found: impl FnMut(usize, f64) -> f64,
    ) -> usize {
        let Some(top) = self.levels.len().checked_sub(1) else { return 0 };
        let mut asked = 0;
        // depth of a tree of points with 32-bit indices, with the siblings on the path
        let mut waiting = [(0u32, 0u32, 0.0f32); 11 * LANES];
        let mut left = 1;
        waiting[0] = (top as u32 + 1, 0, f32::NEG_INFINITY);
        while left > 0 {
            left -= 1;
            let (level, at, bound) = waiting[left];
            if bound > limit as f32 {
                continue;
            }
            asked += LANES;
            if level == 0 {
                let (first, leaf) = (at as usize * LANES, &self.leaves[at as usize]);
                let last = (first + LANES).min(self.points.len());
                let exact = &self.points[first..last];
                let Some(distances) = query.distances(leaf, exact, limit as f32) else { continue };
                for (lane, distance) in distances.into_iter().enumerate() {
                    if distance < limit && first + lane < last {
                        limit = found(first + lane, distance);
                    }
                }
                continue;
            }
            let node = &self.levels[level as usize - 1][at as usize];
            let mut nearest = query.bounds(&node.centers);
            for (nearest, radius) in nearest.iter_mut().zip(&node.radii) {
                *nearest -= radius;
            }
            let first = left;
            for lane in (0..LANES).rev().filter(|&lane| nearest[lane] <= limit as f32) {
                waiting[left] = (level - 1, at * LANES as u32 + lane as u32, nearest[lane]);
                left += 1;
            }
            // the nearest next: it may exclude the others
            if let Some(best) = (first..left).min_by(|&p, &q| waiting[p].2.total_cmp(&waiting[q].2))
            {
                waiting.swap(best, left - 1);
            }
        }
        asked
    }
}

/// Sorts points into groups of [`LANES`], [`LANES`] squared and so on.
fn sort(points: &mut [Point3<f64>]) {
    if points.len() <= LANES {
        return;
    }
    let (low, high) = bounds(points);
    // whole groups of the largest possible size on the left
    let mut group = LANES;
    while group * LANES < points.len() {
        group *= LANES;
    }
    let middle = (points.len() / 2).next_multiple_of(group).min((points.len() - 1) / group * group);
    let axis = (high - low).imax();
    points.select_nth_unstable_by(middle, |p, q| p[axis].total_cmp(&q[axis]));
    let (left, right) = points.split_at_mut(middle);
    sort(left);
    sort(right);
}

fn bounds(points: &[Point3<f64>]) -> (Point3<f64>, Point3<f64>) {
    points.iter().fold((points[0], points[0]), |(low, high), p| (low.inf(p), high.sup(p)))
}

impl Node {
    /// Spheres around groups of points.
    fn new(groups: &[&[Point3<f64>]]) -> Self {
        // centers and queries are rounded
        const SLACK: f64 = 1e-5;
        let middle = |group: &&[Point3<f64>]| {
            let (low, high) = bounds(group);
            center(&low, &high)
        };
        let centers: Vec<Point3<f64>> = groups.iter().map(middle).collect();
        let radius = |(group, center): (&&[Point3<f64>], &Point3<f64>)| {
            let radius = group.iter().map(|p| (p - center).norm()).fold(0.0, f64::max);
            radius + SLACK * (radius + center.coords.norm())
        };
        let mut radii = [f32::NAN; LANES];
        let all = groups.iter().zip(&centers).map(radius);
        radii.iter_mut().zip(all).for_each(|(slot, radius)| *slot = radius as f32);
        Self { centers: Packet::new(&centers), radii }
    }
}

#[cfg(test)]
mod tests {
    use levelset::{Aabb, Grid, LevelSet};
    use nalgebra::{Isometry3, Vector3};

    use super::*;
    use crate::shape::field::Field;

    /// The samples of an ellipsoid, with points on and around it.
    fn ellipsoid() -> (Field, Vec<Point3<f64>>) {
        let half = Vector3::new(0.3, 0.2, 0.1);
        let bounds = Aabb { min: (-half).into(), max: half.into() };
        let grid = Grid::enclosing(&bounds, 0.02, 2, 1 << 15).expect("a small grid");
        let distance = |p: Point3<f64>| (p.coords.component_div(&half).norm() - 1.0) * 0.1;
        let material = Isometry3::new(Vector3::new(0.01, 0.02, 0.03), Vector3::new(0.4, 0.5, 0.6));
        let field = Field::Grid { level_set: LevelSet::from_fn(grid, distance).into(), material };
        // a spiral of 517 points: the last leaf is not full
        let point = |i: usize| {
            let (turn, z) = (2.4 * i as f64, i as f64 / 258.0 - 1.0);
            let flat = (1.0 - z * z).max(0.0).sqrt();
            Point3::new(flat * turn.cos(), flat * turn.sin(), z) * 0.25
        };
        (field, (0..517).map(point).collect())
    }

    #[test]
    fn finds_what_asking_every_point_finds() {
        let (field, points) = ellipsoid();
        let tree = PointTree::new(&points);
        for turn in 0..8 {
            let turn = f64::from(turn);
            let map = Isometry3::new(Vector3::new(0.2 * turn.sin(), 0.1, 0.0), Vector3::x() * turn);
            let query = Query::new(&field, &map);
            let margin = 0.01;
            let mut found = Vec::new();
            tree.near(margin, &query, |key, point, distance| {
                assert_eq!(*point, tree.points()[key as usize]);
                found.push((key, distance));
            });
            found.sort_by_key(|&(key, _)| key);
            let all: Vec<f64> = tree.points().iter().map(|p| field.distance(&(map * p))).collect();
            let near = |key: usize| found.iter().find(|(k, _)| *k as usize == key);
            for (key, exact) in all.iter().enumerate() {
                match near(key) {
                    Some((_, distance)) => assert!((distance - exact).abs() < 1e-7, "{exact}"),
                    None => assert!(*exact > margin - 1e-7, "{exact} was missed"),
                }
            }
            let exact = all.iter().copied().fold(1.0, f64::min);
            let (least, _) = tree.least(1.0, f64::NEG_INFINITY, &query);
            assert!((least - exact).abs() < 1e-7, "{least} for {exact}");
            let (some, _) = tree.least(1.0, exact + 0.02, &query);
            assert!(some < exact + 0.02 && some >= least);
        }
    }

    #[test]
    fn wide_vectors_have_the_same_bits() {
        let (field, points) = ellipsoid();
        let (tree, map) = (PointTree::new(&points), Isometry3::translation(0.1, 0.0, 0.05));
        let Query::Grid(grid) = Query::new(&field, &map) else { panic!("the field has samples") };
        let (mut narrow, mut wide) = (Vec::new(), Vec::new());
        tree.visit(&grid, 0.02, |key, distance| {
            narrow.push((key, distance.to_bits()));
            0.02
        });
        tree.look(&grid, 0.02, |key, distance| {
            wide.push((key, distance.to_bits()));
            0.02
        });
        assert!(narrow.len() > 50);
        assert_eq!(narrow, wide);
    }
}
