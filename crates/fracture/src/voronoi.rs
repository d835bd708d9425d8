//! Voronoi patterns.

use levelset::Aabb;
use nalgebra::{Point3, UnitVector3, Vector3};
use rayon::prelude::*;

use crate::cell::{Cell, Plane};
use crate::pattern::{check, check_count, check_positive};
use crate::random::Random;
use crate::{Alignment, Geometry, Pattern, PatternError};

/// A seeded Voronoi pattern; lengths in pattern units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voronoi {
    /// Regions.
    pub sites: usize,
    /// Half extents of the box the sites are drawn in, usually within `[0, 1]`: the proportions of
    /// the body, so that a thin wall does not spend its sites on empty space.
    pub extents: Vector3<f64>,
    /// How strongly sites gather at the impact, in `[1, 8]`: 1 is uniform, and at `c` the density
    /// of sites falls with distance r as `r^(3 / c - 3)`.
    pub clustering: f64,
    /// Pieces grow this many times longer along each axis: splinters of wood are `[1, 1, 8]`.
    pub stretch: Vector3<f64>,
    /// Chooses the sites.
    pub seed: u64,
}

impl Voronoi {
    /// Uniform sites in `[-1, 1]^3`.
    pub fn new(sites: usize, seed: u64) -> Self {
        Self {
            sites,
            extents: Vector3::repeat(1.0),
            clustering: 1.0,
            stretch: Vector3::repeat(1.0),
            seed,
        }
    }
}

impl Voronoi {
    /// As many sites as it takes for a body to come apart into about `pieces` where it is hit: the
    /// cells that reach into it are counted for blows to its six outermost points along the axes,
    /// each along its axis, with the pattern placed by [`Alignment::enclosing`], and the mean of
    /// the six is brought to `pieces`. A cell counts if it holds an 8th of its share of the body.
    ///
    /// A cell that meets the body in several places makes a piece of each. No more than
    /// [`Pattern::MAX_REGIONS`] sites are used, whatever `pieces` is; a body without a volume keeps the
    /// sites there were. The number does not depend on the grid of an exact solid.
    #[must_use]
    pub fn with_pieces(self, pieces: usize, body: &Geometry) -> Self {
        let points = body.inside_points(sample_count(pieces));
        let blows = blows(&body.bounds(), &points);
        self.counted(pieces, &points, &blows)
    }

    /// As many sites, around the body, as it takes for it to come apart into `pieces`, or as near to that
    /// as a few trials come, where it is divided by the pattern placed as `at` says and parts of less than
    /// `least` m^3 go to their neighbours, see [`Geometry::divide`].
    ///
    /// # Errors
    /// As [`Pattern::voronoi`].
    pub fn with_pieces_at(
        self,
        pieces: usize,
        body: &Geometry,
        (at, least): (&Alignment, f64),
    ) -> Result<Self, PatternError> {
        /// Trials of some milliseconds each.
        const TRIALS: usize = 16;
        let pieces = pieces.clamp(1, Pattern::MAX_REGIONS);
        let points = body.inside_points(sample_count(pieces));
        // no site where the body is not
        let to_pattern = at.transform().inverse();
        let corners = body.bounds().corners().map(|p| (to_pattern * p).coords.abs());
        let reach = corners.iter().fold(Vector3::zeros(), |reach: Vector3<f64>, p| reach.sup(p));
        let extents = self.extents.inf(&reach.sup(&Vector3::repeat(1e-3)));
        let spec = Self { extents, ..self };
        let mut next = spec.counted(pieces, &points, &[*at]).sites;
        // the most sites that made too few pieces, and the fewest that made too many
        let (mut low, mut high) = ((0, 0), (Pattern::MAX_REGIONS + 1, usize::MAX));
        let mut best = (usize::MAX, next);
        for _ in 0..TRIALS {
            let trial = Self { sites: next, ..spec };
            let count = body.divide(&Pattern::voronoi(&trial)?, at, least).pieces.len();
            best = best.min((count.abs_diff(pieces), next));
            if count == pieces || !body.is_exact() {
                break;
            }
            if count < pieces {
                low = (next, count);
            } else {
                high = (next, count);
            }
            let step = (next * pieces.abs_diff(count)).div_ceil(count.max(1));
            next = if count < pieces { next + step } else { next.saturating_sub(step).max(1) };
            if next <= low.0 || next >= high.0 {
                next = low.0.midpoint(high.0.min(Pattern::MAX_REGIONS));
            }
            if next <= low.0 || next >= high.0 {
                break;
            }
        }
        Ok(Self { sites: best.1, ..spec })
    }

    /// As many sites as it takes for the mean over some blows of the cells that hold enough of the
    /// points.
    fn counted(self, pieces: usize, points: &[Point3<f64>], blows: &[Alignment]) -> Self {
        let pieces = pieces.clamp(1, Pattern::MAX_REGIONS);
        let least = (points.len() / (8 * pieces)).max(1);
        let view = |at: &Alignment| {
            let to_pattern = at.transform().inverse();
            let points =
                points.iter().map(|p| (to_pattern * p).coords.component_div(&self.stretch));
            View { nearest: NearestSites::new(points.collect()), held: Vec::new(), least, met: 0 }
        };
        let mut views: Vec<View> = blows.iter().map(view).collect();
        if points.is_empty() || views.is_empty() {
            return self;
        }
        let wanted = pieces * views.len();
        let mut sites = 0;
        for site in self.sites_of(Pattern::MAX_REGIONS) {
            sites += 1;
            let site = site.coords.component_div(&self.stretch);
            let met: usize = views.iter_mut().map(|view| view.add(&site)).sum();
            if met >= wanted {
                break;
            }
        }
        Self { sites, ..self }
    }

    /// The first `count` sites, the same whatever `count` is.
    fn sites_of(&self, count: usize) -> impl Iterator<Item = Point3<f64>> {
        let mut random = Random::new(self.seed);
        let Self { clustering, extents, .. } = *self;
        (0..count).map(move |_| {
            let p = random.in_cube();
            Point3::from((p * p.amax().powf(clustering - 1.0)).component_mul(&extents))
        })
    }
}

/// Points enough for four in the least cell that counts, and few enough to take no time.
fn sample_count(pieces: usize) -> usize {
    pieces.saturating_mul(64).clamp(1000, 40_000)
}

/// A body as a blow sees it.
struct View {
    nearest: NearestSites,
    /// Per site the points nearest to it.
    held: Vec<usize>,
    /// How many sites hold at least `least` points.
    met: usize,
    least: usize,
}

impl View {
    /// How many sites hold enough points once this one is added.
    fn add(&mut self, site: &Vector3<f64>) -> usize {
        let number = self.held.len();
        self.held.push(0);
        let Self { nearest, held, met, least } = self;
        nearest.add(site, |before| {
            if let Some(owner) = before {
                *met -= usize::from(held[owner] == *least);
                held[owner] -= 1;
            }
            held[number] += 1;
        });
        *met += usize::from(held[number] >= *least);
        *met
    }
}

/// Points and the nearest of the sites so far, in a tree of boxes: a new site meets only the points near
/// it.
struct NearestSites {
    /// In an order in which each range of a node is its box's.
    points: Vec<Vector3<f64>>,
    /// Per point the squared distance to the nearest site and its number.
    nearest: Vec<(f64, usize)>,
    nodes: Vec<TreeNode>,
    sites: usize,
}

struct TreeNode {
    range: std::ops::Range<usize>,
    low: Vector3<f64>,
    high: Vector3<f64>,
    /// Of its points the largest squared distance to a site.
    farthest: f64,
    /// The second of two halves; the first is the next node. 0 of a leaf.
    second: usize,
}

impl NearestSites {
    fn new(points: Vec<Vector3<f64>>) -> Self {
        let nearest = vec![(f64::INFINITY, usize::MAX); points.len()];
        let count = points.len();
        let mut tree = Self { points, nearest, nodes: Vec::new(), sites: 0 };
        tree.divide(0..count);
        tree
    }

    fn divide(&mut self, range: std::ops::Range<usize>) {
        /// Points that are not worth another box.
        const LEAF: usize = 8;
        let own = &mut self.points[range.clone()];
        let Some(first) = own.first() else { return };
        let low = own.iter().fold(*first, |low, p| low.inf(p));
        let high = own.iter().fold(*first, |high, p| high.sup(p));
        let axis = (high - low).imax();
        let node = self.nodes.len();
        let middle = own.len() / 2;
        let is_leaf = own.len() <= LEAF;
        if !is_leaf {
            own.select_nth_unstable_by(middle, |p, q| p[axis].total_cmp(&q[axis]));
        }
        let (start, end) = (range.start, range.end);
        self.nodes.push(TreeNode { range, low, high, farthest: f64::INFINITY, second: 0 });
        if !is_leaf {
            self.divide(start..start + middle);
            self.nodes[node].second = self.nodes.len();
            self.divide(start + middle..end);
        }
    }

    /// Adds a site. `taken` learns of each point that it is nearest to now whose it was.
    fn add(&mut self, site: &Vector3<f64>, mut taken: impl FnMut(Option<usize>)) {
        if !self.nodes.is_empty() {
            self.visit(0, site, &mut taken);
        }
        self.sites += 1;
    }

    fn visit(&mut self, node: usize, site: &Vector3<f64>, taken: &mut impl FnMut(Option<usize>)) {
        let TreeNode { range, low, high, farthest, second } = &self.nodes[node];
        let beside = (low - site).sup(&(site - high)).sup(&Vector3::zeros());
        if beside.norm_squared() >= *farthest {
            return;
        }
        let second = *second;
        let farthest = if second == 0 {
            let mut farthest = 0.0_f64;
            for n in range.clone() {
                let own = (self.points[n] - site).norm_squared();
                let (distance, owner) = &mut self.nearest[n];
                if own < *distance {
                    taken((*owner != usize::MAX).then_some(*owner));
                    (*distance, *owner) = (own, self.sites);
                }
                farthest = farthest.max(*distance);
            }
            farthest
        } else {
            self.visit(node + 1, site, taken);
            self.visit(second, site, taken);
            self.nodes[node + 1].farthest.max(self.nodes[second].farthest)
        };
        self.nodes[node].farthest = farthest;
    }
}

/// Blows to the outermost points along the axes.
fn blows(bounds: &Aabb, points: &[Point3<f64>]) -> Vec<Alignment> {
    let axes = (0..3).flat_map(|a| [Vector3::ith(a, 1.0), -Vector3::ith(a, 1.0)]);
    axes.filter_map(|axis| {
        let height = |p: &&Point3<f64>| axis.dot(&p.coords);
        let outermost = points.iter().max_by(|p, q| height(p).total_cmp(&height(q)))?;
        let normal = UnitVector3::new_unchecked(axis);
        Some(Alignment::enclosing(bounds, *outermost, normal))
    })
    .collect()
}

impl Pattern {
    /// Regions nearest to each of some random sites.
    ///
    /// # Errors
    /// [`PatternError`] when a parameter is out of its range.
    pub fn voronoi(spec: &Voronoi) -> Result<Self, PatternError> {
        check_count(spec.sites)?;
        check_positive("extents", &spec.extents)?;
        let clustering = (1.0..=8.0).contains(&spec.clustering);
        check("clustering", spec.clustering, clustering, "from 1 to 8")?;
        let sites: Vec<_> = spec.sites_of(spec.sites).collect();
        Self::voronoi_of(&sites, &spec.stretch)
    }

    /// Regions nearest to each of `sites`, distances measured after dividing each axis by its
    /// `stretch`.
    ///
    /// # Errors
    /// [`PatternError`] when there are no or too many sites, one is not finite, or a stretch is not
    /// positive.
    pub fn voronoi_of(sites: &[Point3<f64>], stretch: &Vector3<f64>) -> Result<Self, PatternError> {
        check_count(sites.len())?;
        check_positive("stretch", stretch)?;
        for x in sites.iter().flat_map(|site| site.iter()) {
            check("site", *x, true, "finite")?;
        }
        let lattice = Lattice::new(sites, stretch);
        let cells = (0..sites.len()).into_par_iter();
        let cells = cells.map(|site| voronoi_cell(sites, stretch, &lattice, site)).collect();
        Self::from_cells(cells)
    }
}

/// Sites by the cubes of a lattice, distances measured after dividing each axis by its stretch.
struct Lattice {
    scaled: Vec<Vector3<f64>>,
    low: Vector3<f64>,
    cube: f64,
    dims: [usize; 3],
    /// Per cube where its sites begin, and the end of the last.
    starts: Vec<u32>,
    sites: Vec<u32>,
}

impl Lattice {
    fn new(sites: &[Point3<f64>], stretch: &Vector3<f64>) -> Self {
        /// Cubes along an axis at most: those of a pattern of the most regions in a row.
        const MAX_CUBES: f64 = 256.0;
        let scaled: Vec<Vector3<f64>> =
            sites.iter().map(|site| site.coords.component_div(stretch)).collect();
        let low = scaled.iter().fold(scaled[0], |low, p| low.inf(p));
        let extents = scaled.iter().fold(scaled[0], |high, p| high.sup(p)) - low;
        let cells = (sites.len() as f64 / 2.0).max(1.0);
        let cube = (extents.max() / MAX_CUBES).max((extents.product() / cells).cbrt());
        let cube = if cube > 0.0 { cube } else { 1.0 };
        let dims = std::array::from_fn(|a| (extents[a] / cube) as usize + 1);
        let mut lattice = Self { scaled, low, cube, dims, starts: Vec::new(), sites: Vec::new() };
        let mut keyed: Vec<(usize, u32)> = lattice
            .scaled
            .iter()
            .zip(0..)
            .map(|(p, n)| (lattice.index(lattice.cube_of(p)), n))
            .collect();
        keyed.sort_unstable();
        let count = dims.iter().product::<usize>();
        lattice.starts =
            (0..=count).map(|cube| keyed.partition_point(|(c, _)| *c < cube) as u32).collect();
        lattice.sites = keyed.into_iter().map(|(_, n)| n).collect();
        lattice
    }

    fn cube_of(&self, p: &Vector3<f64>) -> [usize; 3] {
        std::array::from_fn(|a| (((p[a] - self.low[a]) / self.cube) as usize).min(self.dims[a] - 1))
    }

    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (i * self.dims[1] + j) * self.dims[2] + k
    }

    /// Calls `found` with the sites of all cubes that are `ring` cubes away from that of a site.
    fn ring(&self, middle: [usize; 3], ring: usize, mut found: impl FnMut(usize)) {
        let range =
            |a: usize| middle[a].saturating_sub(ring)..=(middle[a] + ring).min(self.dims[a] - 1);
        let far = |a: usize, n: usize| n.abs_diff(middle[a]) == ring;
        for i in range(0) {
            for j in range(1) {
                for k in range(2) {
                    if far(0, i) || far(1, j) || far(2, k) {
                        let cube = self.index([i, j, k]);
                        let own = self.starts[cube] as usize..self.starts[cube + 1] as usize;
                        self.sites[own].iter().for_each(|&n| found(n as usize));
                    }
                }
            }
        }
    }
}

fn voronoi_cell(
    sites: &[Point3<f64>],
    stretch: &Vector3<f64>,
    lattice: &Lattice,
    index: usize,
) -> Cell {
    let site = sites[index];
    let measure = |v: Vector3<f64>| v.component_div(stretch).norm();
    let middle = lattice.cube_of(&lattice.scaled[index]);
    let rings = (0..3).map(|a| middle[a].max(lattice.dims[a] - 1 - middle[a])).max().unwrap_or(0);
    let mut cell = Cell::whole(&Pattern::REACH);
    let mut reach = f64::INFINITY;
    let mut others: Vec<(f64, usize)> = Vec::new();
    for ring in 0..=rings {
        // sites of this ring and beyond are at least so far away
        let nearest = (ring as f64 - 1.0) * lattice.cube;
        if nearest > reach {
            break;
        }
        others.clear();
        lattice.ring(middle, ring, |other| {
            let distance = (lattice.scaled[other] - lattice.scaled[index]).norm();
            if distance > 0.0 && distance <= reach {
                others.push((distance, other));
            }
        });
        others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for &(distance, other) in &others {
            if distance > reach {
                break;
            }
            // the negated plane of the other cell, bit for bit: a node on it is a tie, not a gap
            let normal = (sites[other] - site).component_div(&stretch.component_mul(stretch));
            cell = cell.cut(Plane::through(&nalgebra::center(&site, &sites[other]), normal));
            // a site farther away than twice the farthest corner takes nothing
            reach = 2.0 * cell.corners().fold(0.0, |r: f64, p| r.max(measure(p - site)));
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_region_at_a_point_is_that_of_the_nearest_site() {
        let mut random = Random::new(5);
        let stretch = Vector3::new(1.0, 4.0, 0.5);
        let sites: Vec<_> = (0..60).map(|_| Point3::from(random.in_cube())).collect();
        let pattern = Pattern::voronoi_of(&sites, &stretch).unwrap();
        for _ in 0..500 {
            let p = Point3::from(random.in_cube() * 1.5);
            let measure = |s: &Point3<f64>| (p - s).component_div(&stretch).norm();
            let nearest =
                (0..60).min_by(|&a, &b| measure(&sites[a]).total_cmp(&measure(&sites[b]))).unwrap();
            assert_eq!(pattern.region_at(&p), nearest);
            assert!(pattern.value(nearest, &p) <= 0.0);
        }
    }

    #[test]
    fn equal_sites_do_not_fail() {
        let sites = [Point3::new(0.1, 0.0, 0.0); 3];
        let pattern = Pattern::voronoi_of(&sites, &Vector3::repeat(1.0)).unwrap();
        assert_eq!(pattern.region_at(&Point3::origin()), 0);
    }
}
