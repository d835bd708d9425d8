//! Approximate convex decomposition, for engines that collide convex solids.

use levelset::{Aabb, ConvexHull, TriMesh};
use nalgebra::{Matrix3, Point3, Vector3};

use crate::slicing::{ClosedMesh, Half, Plane, Slice, slice};

/// Sample points per part at which the concavity is measured.
const SAMPLES: usize = 512;
/// Candidate cutting planes per principal axis, at equal distances.
const CUTS: usize = 7;
/// Refinements of the best plane: each halves the step of its offset.
const REFINEMENTS: usize = 2;
/// Weights of the balance of a cut: 1 plus the weight times the difference of both sides' shares of
/// the surface multiplies its concavity. Both weights are tried. Of 0, 0.3, 1 and 3, thin cups need
/// the fewest parts with 0.3, cups and hollow balls with 1; rings and coils differ little.
const BALANCE: [f64; 2] = [1.0, 0.3];
/// Tolerance of the hulls of candidate cuts, as a share of the size of the part.
const TRIAL_TOLERANCE: f64 = 0.01;
/// Tolerance of the hulls that are returned, as a share of the diagonal of the solid.
const TOLERANCE: f64 = 0.002;
/// Parts of less than this share of the volume of the solid are dropped.
const MIN_VOLUME_FRACTION: f64 = 1e-6;
/// Limit of cuts, as a multiple of the limit of parts.
const MAX_CUTS: usize = 4;

/// Approximate convex decomposition of a solid. The volumes of the parts, m^3, exceed that of the
/// solid by at most the share `error` in sum, unless that takes more than `most` parts. An `error`
/// that is not positive counts as 0, and `most` as at least 1. Connected components whose bounding
/// boxes are apart are never merged, so that there may be more parts than `most`.
///
/// A plane cuts the part whose hull exceeds it most, until the sum of all excesses is small enough.
/// Neighbors whose common hull exceeds theirs least are then merged. The plane minimizes the
/// concavity of both sides: the distance from the surface to the hull along the surface normal,
/// summed over the surface, and weighted by the balance of the cut. The volume between hull and
/// solid, which V-HACD (Mamou 2016) minimizes, does not change with the first cuts of a hollow
/// solid; this distance does, without the tree search of CoACD (Wei et al. 2022).
///
/// A hull lies inside the exact one by up to 0.2 % of the diagonal of the solid. A mesh of no
/// positive volume has no parts. The time grows with the number of cuts times the vertices, and
/// with the square of the number of parts. The result is the same on every platform.
pub fn convex_decomposition(solid: &ClosedMesh, error: f64, most: u32) -> Vec<TriMesh> {
    let volume = solid.mesh().signed_volume();
    if !(volume > 0.0 && volume.is_finite()) {
        return Vec::new();
    }
    let tolerance = TOLERANCE * diagonal(&solid.mesh().vertices);
    let allowed = if error > 0.0 { error * volume } else { 0.0 };
    let mut best: Option<Decomposition> = None;
    for balance in BALANCE {
        let min_volume = MIN_VOLUME_FRACTION * volume;
        let limits = Limits { min_volume, tolerance, allowed, most: most.max(1) as usize, balance };
        let next = Decomposition::new(solid, limits);
        if best.as_ref().is_none_or(|best| next.is_better_than(best)) {
            best = Some(next);
        }
        if best.as_ref().is_some_and(|best| best.excess() <= allowed) {
            break;
        }
    }
    let parts = best.map(|best| best.parts).unwrap_or_default();
    parts.into_iter().map(|part| part.hull).collect()
}

#[derive(Clone, Copy)]
struct Limits {
    /// Volume of a part that is dropped, m^3.
    min_volume: f64,
    /// Tolerance of hulls, m.
    tolerance: f64,
    /// Largest excess of all hulls over the solid, m^3.
    allowed: f64,
    /// Number of parts.
    most: usize,
    /// See [`BALANCE`].
    balance: f64,
}

struct Decomposition {
    limits: Limits,
    parts: Vec<Part>,
    /// Merges of parts with numbers below `compared`, including some obsolete ones.
    merges: Vec<Merge>,
    compared: usize,
    /// Number of parts created so far.
    count: usize,
}

/// A part of a solid and its hull.
struct Part {
    /// Its number among all parts ever created.
    number: usize,
    /// `None` if it must not be cut.
    solid: Option<ClosedMesh>,
    /// m^3.
    volume: f64,
    hull: TriMesh,
    /// m^3.
    hull_volume: f64,
}

/// Two parts that may become one.
#[derive(Clone, Copy)]
struct Merge {
    /// Excess of the common hull over both hulls, m^3.
    cost: f64,
    parts: [usize; 2],
}

/// A point on the surface of a part.
struct Sample {
    at: Point3<f64>,
    /// Unit, outwards.
    normal: Vector3<f64>,
}

impl Decomposition {
    fn new(solid: &ClosedMesh, limits: Limits) -> Self {
        let mut parts =
            Self { limits, parts: Vec::new(), merges: Vec::new(), compared: 0, count: 0 };
        let whole = parts.made(solid);
        whole.into_iter().for_each(|part| parts.add(part));
        while parts.parts.len() > limits.most && parts.merge_cheapest(f64::INFINITY) {}
        for _ in 0..MAX_CUTS * limits.most {
            // merging takes the rest
            if parts.excess() <= 0.5 * limits.allowed || !parts.cut_worst() {
                break;
            }
        }
        while parts.merge_cheapest(limits.allowed - parts.excess()) {}
        parts
    }

    /// Excess of all hulls over their parts, m^3.
    fn excess(&self) -> f64 {
        self.parts.iter().map(Part::excess).sum()
    }

    fn is_better_than(&self, other: &Self) -> bool {
        let allowed = self.limits.allowed;
        let order = |parts: &Self| (parts.excess().max(allowed), parts.parts.len());
        let ((own, count), (others, other_count)) = (order(self), order(other));
        own.total_cmp(&others).then(count.cmp(&other_count)).is_lt()
    }

    /// The connected components of a solid, each with its hull.
    fn made(&self, solid: &ClosedMesh) -> Vec<Part> {
        let part = |solid: ClosedMesh| {
            let volume = solid.mesh().signed_volume();
            if volume <= self.limits.min_volume {
                return None;
            }
            let hull = hull(&solid.mesh().vertices, self.limits.tolerance)?;
            let hull_volume = hull.signed_volume();
            Some(Part { number: 0, solid: Some(solid), volume, hull, hull_volume })
        };
        solid.pieces().into_iter().filter_map(part).collect()
    }

    fn add(&mut self, part: Part) {
        self.parts.push(Part { number: self.count, ..part });
        self.count += 1;
    }

    /// Computes the costs of merging new parts.
    fn compare_new(&mut self) {
        let tolerance = self.limits.tolerance;
        let merge = |own: &Part, other: &Part| {
            let hull = other.common_hull(own, tolerance)?;
            let cost = hull.signed_volume() - own.hull_volume - other.hull_volume;
            Some(Merge { cost, parts: [other.number, own.number] })
        };
        let compared = self.compared;
        for own in self.parts.iter().filter(|part| part.number >= compared) {
            let older = self.parts.iter().filter(|other| other.number < own.number);
            self.merges.extend(older.filter_map(|other| merge(own, other)));
        }
        self.compared = self.count;
    }

    /// Cuts the part with the largest excess; `false` if no part can be cut. At the limit of parts,
    /// others are merged first, if that costs less than the cut gains.
    fn cut_worst(&mut self) -> bool {
        let can_be_cut = |n: &usize| self.parts[*n].solid.is_some();
        let excess = |n: usize| self.parts[n].excess();
        let all = (0..self.parts.len()).filter(can_be_cut);
        let Some(worst) = all.max_by(|&p, &q| excess(p).total_cmp(&excess(q))) else {
            return false;
        };
        let mut worst = self.parts.remove(worst);
        let sides = worst.solid.take().map_or_else(Vec::new, |solid| self.sides(&solid));
        let gain = worst.excess() - sides.iter().map(Part::excess).sum::<f64>();
        let fits = |own: &Self| own.parts.len() + sides.len() <= own.limits.most;
        while !fits(self) && self.merge_cheapest(gain) {}
        if sides.len() > 1 && fits(self) {
            sides.into_iter().for_each(|part| self.add(part));
        } else {
            self.parts.push(worst);
        }
        true
    }

    /// The connected components on both sides of the best cut.
    fn sides(&self, solid: &ClosedMesh) -> Vec<Part> {
        let Some(plane) = best_cut(solid.mesh(), self.limits.balance) else {
            return Vec::new();
        };
        let Slice { front, back } = slice(solid, &plane);
        [front, back].map(Half::into_mesh).iter().flat_map(|side| self.made(side)).collect()
    }

    /// Merges the two parts with the least cost, if that is below `most` m^3.
    fn merge_cheapest(&mut self, most: f64) -> bool {
        self.compare_new();
        let place = |number: usize| self.parts.iter().position(|part| part.number == number);
        let both = |merge: &Merge| Some([place(merge.parts[0])?, place(merge.parts[1])?]);
        let known = self.merges.iter().filter_map(|merge| Some((*merge, both(merge)?)));
        let order = |merge: &Merge| (merge.cost, merge.parts);
        let cheapest = known.min_by(|(p, _), (q, _)| {
            let ((cost, parts), (other, others)) = (order(p), order(q));
            cost.total_cmp(&other).then(parts.cmp(&others))
        });
        let Some((_, [p, q])) = cheapest.filter(|(merge, _)| merge.cost < most) else {
            return false;
        };
        let Some(hull) = self.parts[p].common_hull(&self.parts[q], self.limits.tolerance) else {
            return false;
        };
        let volume = self.parts[p].volume + self.parts[q].volume;
        let hull_volume = hull.signed_volume();
        let gone = [p.max(q), p.min(q)].map(|place| self.parts.remove(place).number);
        self.merges.retain(|merge| !merge.parts.iter().any(|part| gone.contains(part)));
        self.add(Part { number: 0, solid: None, volume, hull, hull_volume });
        true
    }
}

impl Part {
    /// Excess of its hull, m^3.
    fn excess(&self) -> f64 {
        (self.hull_volume - self.volume).max(0.0)
    }

    /// The common convex hull; `None` if the bounding boxes do not overlap.
    fn common_hull(&self, other: &Self, tolerance: f64) -> Option<TriMesh> {
        let [own, others] =
            [Aabb::around(&self.hull.vertices)?, Aabb::around(&other.hull.vertices)?];
        let apart = |k: usize| own.min[k].max(others.min[k]) - own.max[k].min(others.max[k]);
        if (0..3).any(|k| apart(k) > tolerance) {
            return None;
        }
        let all = self.hull.vertices.iter().chain(&other.hull.vertices);
        hull(&all.copied().collect::<Vec<_>>(), tolerance)
    }
}

fn diagonal(points: &[Point3<f64>]) -> f64 {
    Aabb::around(points).map_or(0.0, |bounds| bounds.extents().norm())
}

/// The convex hull of points; `None` if they are nearly coplanar.
fn hull(points: &[Point3<f64>], tolerance: f64) -> Option<TriMesh> {
    /// Tolerance for solids thinner than the tolerance, as a share of it.
    const THIN: f64 = 0.01;
    let hull = ConvexHull::simplified(points, tolerance);
    let hull = hull.or_else(|_| ConvexHull::simplified(points, THIN * tolerance));
    hull.ok().map(|hull| hull.mesh().clone())
}

/// Sample points at equal shares of the surface area.
fn samples(mesh: &TriMesh) -> Vec<Sample> {
    /// Multiples of the inverse powers of this number spread evenly over a square (Roberts 2018).
    const PLASTIC: f64 = 1.324_717_957_244_746;
    let areas: Vec<Vector3<f64>> = (0..mesh.triangles.len()).map(|t| mesh.area_vector(t)).collect();
    let step = areas.iter().map(Vector3::norm).sum::<f64>() / SAMPLES as f64;
    let (mut samples, mut next, mut sum) = (Vec::with_capacity(SAMPLES), 0.5 * step, 0.0);
    for (triangle, area) in areas.iter().enumerate() {
        let [a, b, c] = mesh.corners(triangle);
        sum += area.norm();
        while next < sum && samples.len() < SAMPLES {
            let number = samples.len() as f64 + 1.0;
            let [u, v] = [number / PLASTIC, number / (PLASTIC * PLASTIC)].map(f64::fract);
            let [u, v] = if u + v > 1.0 { [1.0 - u, 1.0 - v] } else { [u, v] };
            samples.push(Sample { at: a + (b - a) * u + (c - a) * v, normal: area.normalize() });
            next += step;
        }
    }
    samples
}

/// The best candidate plane across a principal axis, with its offset refined.
fn best_cut(mesh: &TriMesh, balance: f64) -> Option<Plane> {
    let samples = samples(mesh);
    let mut best: Option<(f64, Plane, f64)> = None;
    for axis in axes(&samples).column_iter() {
        let along = samples.iter().map(|sample| axis.dot(&sample.at.coords));
        let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), height| {
            (low.min(height), high.max(height))
        });
        let spacing = (high - low) / (CUTS + 1) as f64;
        let planes =
            (1..=CUTS).filter_map(|n| Plane::new(axis.into_owned(), low + spacing * n as f64));
        for plane in planes {
            let cost = cost(&samples, &plane, balance);
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, plane, spacing));
            }
        }
    }
    let (mut least, mut plane, mut spacing) = best?;
    for _ in 0..REFINEMENTS {
        spacing *= 0.5;
        let (normal, offset) = (plane.normal(), plane.offset());
        for near in [-spacing, spacing].map(|by| Plane::new(*normal, offset + by)).iter().flatten()
        {
            let cost = cost(&samples, near, balance);
            if cost < least {
                (least, plane) = (cost, *near);
            }
        }
    }
    Some(plane)
}

/// The principal axes of samples, as columns.
fn axes(samples: &[Sample]) -> Matrix3<f64> {
    let sum: Vector3<f64> = samples.iter().map(|sample| sample.at.coords).sum();
    let middle = sum / samples.len().max(1) as f64;
    let spread = |sample: &Sample| {
        let off = sample.at.coords - middle;
        off * off.transpose()
    };
    let spread: Matrix3<f64> = samples.iter().map(spread).sum();
    spread.symmetric_eigen().eigenvectors
}

/// The concavity of both sides of a plane, weighted by the balance of the cut, m.
fn cost(samples: &[Sample], plane: &Plane, balance: f64) -> f64 {
    let (front, back): (Vec<&Sample>, Vec<&Sample>) =
        samples.iter().partition(|sample| plane.distance(&sample.at) > 0.0);
    let unequal = front.len().abs_diff(back.len()) as f64 / samples.len() as f64;
    (concavity(&front) + concavity(&back)) * (1.0 + balance * unequal)
}

/// The concavity of a set of samples: their distances to their hull along their normals, summed, m.
fn concavity(samples: &[&Sample]) -> f64 {
    let points: Vec<Point3<f64>> = samples.iter().map(|sample| sample.at).collect();
    let Ok(hull) = ConvexHull::simplified(&points, TRIAL_TOLERANCE * diagonal(&points)) else {
        return 0.0;
    };
    samples.iter().map(|sample| hull.exit(&sample.at, &sample.normal)).sum()
}

#[cfg(test)]
mod tests {
    use levelset::{Grid, LevelSet};

    use super::*;

    fn solid(spacing: f64, distance: impl Fn(&Point3<f64>) -> f64 + Sync) -> ClosedMesh {
        let at = Point3::new(1.0, 0.0, -2.0);
        let bounds = Aabb { min: at, max: at }.grown(1.5);
        let grid = Grid::enclosing(&bounds, spacing, 2, Grid::MAX_NODES).expect("a grid");
        let mesh = LevelSet::from_fn(grid, |p| distance(&(p - at).into())).isosurface();
        ClosedMesh::new(mesh).expect("an isosurface within its grid")
    }

    fn torus(p: &Point3<f64>) -> f64 {
        (p.x.hypot(p.z) - 1.0).hypot(p.y) - 0.4
    }

    fn cup(p: &Point3<f64>) -> f64 {
        let radius = p.x.hypot(p.z);
        let hollow = (radius - 0.44).max(-0.62 - p.y);
        (radius - 0.5).max(p.y.abs() - 0.7).max(-hollow)
    }

    fn angle(p: &Point3<f64>) -> f64 {
        let slab = |at: [f64; 2], half: [f64; 2]| {
            let off = [(p.x - at[0]).abs() - half[0], (p.y - at[1]).abs() - half[1]];
            off[0].max(off[1]).max(p.z.abs() - 0.4)
        };
        slab([0.0, -0.8], [0.8, 0.1]).min(slab([-0.7, 0.0], [0.1, 0.8]))
    }

    #[test]
    fn parts_have_the_volume_of_the_solid_and_cover_it() {
        let cases = [
            ("torus", solid(0.03, torus), 8),
            ("cup", solid(0.03, cup), 48),
            ("angle", solid(0.03, angle), 2),
        ];
        for (name, mesh, most) in cases {
            let volume = mesh.mesh().signed_volume();
            let parts = convex_decomposition(&mesh, 0.05, 64);
            let sum: f64 = parts.iter().map(TriMesh::signed_volume).sum();
            assert!(parts.len() <= most, "{name}: {} parts", parts.len());
            assert!((0.98..=1.05).contains(&(sum / volume)), "{name}: {}", sum / volume);
            let hulls: Vec<ConvexHull> = parts
                .into_iter()
                .map(|part| ConvexHull::of_convex(part).expect("a hull"))
                .collect();
            let reach = 2.0 * TOLERANCE * diagonal(&mesh.mesh().vertices);
            for p in &mesh.mesh().vertices {
                let off = hulls.iter().map(|hull| hull.distance(p)).fold(f64::INFINITY, f64::min);
                assert!(off <= reach, "{name}: {p} is off by {off} m");
            }
        }
    }

    #[test]
    fn fewer_parts_than_the_error_takes_are_those_that_exceed_the_solid_least() {
        let mesh = solid(0.03, cup);
        let excess = |most: u32| {
            let parts = convex_decomposition(&mesh, 0.0, most);
            assert!((1..=most as usize).contains(&parts.len()), "{most}: {}", parts.len());
            parts.iter().map(TriMesh::signed_volume).sum::<f64>() / mesh.mesh().signed_volume()
                - 1.0
        };
        let [one, some, many] = [1, 12, 40].map(excess);
        // the full cylinder
        let full = 0.25 * 1.4 / (0.25 * 1.4 - 0.44_f64.powi(2) * 1.32) - 1.0;
        assert!((one / full - 1.0).abs() < 0.1, "{one} {full}");
        assert!(some < 0.15 * one && many < 0.3 * some, "{one} {some} {many}");
    }

    #[test]
    fn a_cavity_without_a_solid_has_no_parts() {
        let mut mesh = solid(0.1, angle).into_mesh();
        mesh.triangles.iter_mut().for_each(|triangle| triangle.swap(0, 1));
        let cavity = ClosedMesh::new(mesh).expect("closed inside out too");
        assert!(convex_decomposition(&cavity, 0.01, 64).is_empty());
    }

    #[test]
    fn two_balls_have_a_part_each() {
        let balls = |p: &Point3<f64>| {
            let [left, right] = [-0.6, 0.6].map(|x| (p - Point3::new(x, 0.0, 0.0)).norm() - 0.4);
            left.min(right)
        };
        let parts = convex_decomposition(&solid(0.05, balls), 0.05, 1);
        assert_eq!(parts.len(), 2);
    }
}
