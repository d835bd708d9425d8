//! Voronoi patterns.

use levelset::LevelSet;
use nalgebra::{Point3, UnitVector3, Vector3};

use crate::cell::{Cell, Plane};
use crate::pattern::{check, check_count, check_positive};
use crate::random::Random;
use crate::{Alignment, Pattern, PatternError};

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
    /// cells that reach into it are counted for blows to its six outermost samples along the axes,
    /// each along its axis, with the pattern placed by [`Alignment::enclosing`], and the mean of
    /// the six is brought to `pieces`. A cell counts if it holds a 16th of its share of the body.
    ///
    /// A cell that meets the body in several places makes a piece of each. No more than [`Pattern::MAX_REGIONS`] sites are used, whatever `pieces`
    /// is; a body without inside samples keeps the sites there were.
    #[must_use]
    pub fn with_pieces(self, pieces: usize, body: &LevelSet) -> Self {
        let pieces = pieces.clamp(1, Pattern::MAX_REGIONS);
        // enough for four in the least cell that counts, few enough to take no time
        let nodes = some_inside(body, (64 * pieces).clamp(1000, 40_000));
        let least = (nodes.len() / (16 * pieces)).max(1);
        let mut views: Vec<View> = blows(body, &nodes)
            .iter()
            .map(|at| {
                let to_pattern = at.transform().inverse();
                let points = nodes.iter().map(|p| to_pattern * p).collect();
                let nearest = vec![(f64::INFINITY, 0); nodes.len()];
                View { points, nearest, held: Vec::new(), least, met: 0 }
            })
            .collect();
        if views.is_empty() {
            return self;
        }
        let wanted = pieces * views.len();
        let mut sites = 0;
        for site in self.sites_of(Pattern::MAX_REGIONS) {
            sites += 1;
            let met: usize = views.iter_mut().map(|view| view.add(&site, &self.stretch)).sum();
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

/// A body as a blow sees it: points in it in pattern space, and the sites nearest to them.
struct View {
    points: Vec<Point3<f64>>,
    /// Per point the distance to the nearest site and its number.
    nearest: Vec<(f64, usize)>,
    /// Per site the points nearest to it.
    held: Vec<usize>,
    /// How many sites hold at least `least` points.
    met: usize,
    least: usize,
}

impl View {
    /// How many sites hold enough points once this one is added.
    fn add(&mut self, site: &Point3<f64>, stretch: &Vector3<f64>) -> usize {
        let number = self.held.len();
        self.held.push(0);
        for (point, (distance, owner)) in self.points.iter().zip(&mut self.nearest) {
            let own = (point - site).component_div(stretch).norm_squared();
            if own < *distance {
                if distance.is_finite() {
                    self.met -= usize::from(self.held[*owner] == self.least);
                    self.held[*owner] -= 1;
                }
                (*distance, *owner) = (own, number);
                self.held[number] += 1;
            }
        }
        self.met += usize::from(self.held[number] >= self.least);
        self.met
    }
}

/// About `count` of a body's inside samples, evenly picked; all if they are fewer.
fn some_inside(body: &LevelSet, count: usize) -> Vec<Point3<f64>> {
    let inside: Vec<usize> =
        (0..body.as_slice().len()).filter(|&n| body.as_slice()[n] < 0.0).collect();
    // a stride that is odd does not run along the planes of most grids
    let stride = (inside.len() / count.max(1)).max(1) | 1;
    let grid = body.grid();
    inside.into_iter().step_by(stride).map(|n| grid.position(grid.node(n))).collect()
}

/// Blows to the outermost points along the axes.
fn blows(body: &LevelSet, points: &[Point3<f64>]) -> Vec<Alignment> {
    let axes = (0..3).flat_map(|a| [Vector3::ith(a, 1.0), -Vector3::ith(a, 1.0)]);
    axes.filter_map(|axis| {
        let height = |p: &&Point3<f64>| axis.dot(&p.coords);
        let outermost = points.iter().max_by(|p, q| height(p).total_cmp(&height(q)))?;
        let normal = UnitVector3::new_unchecked(axis);
        Some(Alignment::enclosing(&body.grid().bounds(), *outermost, normal))
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
        let cells = (0..sites.len()).map(|site| voronoi_cell(sites, stretch, site)).collect();
        Self::from_cells(cells)
    }
}

/// Most neighbours of nearly all cells.
const NEAR: usize = 64;

fn voronoi_cell(sites: &[Point3<f64>], stretch: &Vector3<f64>, index: usize) -> Cell {
    let site = sites[index];
    let measure = |v: Vector3<f64>| v.component_div(stretch).norm();
    let mut others: Vec<_> = sites
        .iter()
        .map(|other| (measure(other - site), *other))
        .filter(|(distance, _)| *distance > 0.0)
        .collect();
    // few others matter: only as many as may are sorted, and all if those do not do
    let nearer = |a: &(f64, Point3<f64>), b: &(f64, Point3<f64>)| a.0.total_cmp(&b.0);
    let near = NEAR.min(others.len());
    if near < others.len() {
        others.select_nth_unstable_by(near, nearer);
    }
    others[..near].sort_by(nearer);
    let mut cell = Cell::whole(&Pattern::REACH);
    for n in 0..others.len() {
        if n == near {
            others[near..].sort_by(nearer);
        }
        let (distance, other) = others[n];
        let radius = cell.corners().fold(0.0, |r: f64, p| r.max(measure(p - site)));
        if distance > 2.0 * radius {
            break;
        }
        // the negated plane of the other cell, bit for bit: a node on it is a tie, not a gap
        let normal = (other - site).component_div(&stretch.component_mul(stretch));
        cell = cell.cut(Plane::through(&nalgebra::center(&site, &other), normal));
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
