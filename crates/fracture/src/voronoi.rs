//! Voronoi patterns.

use levelset::Aabb;
use nalgebra::{Point3, UnitVector3, Vector3};

use crate::diagram::Diagram;
use crate::pattern::{check, check_count, check_positive};
use crate::point_tree::{Tree, TreeNode};
use crate::random::Random;
use crate::{Alignment, Geometry, Pattern, PatternError};

/// A seeded Voronoi pattern; lengths in pattern units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voronoi {
    /// Number of regions.
    pub sites: usize,
    /// Half extents of the box of the sites, usually within `[0, 1]`: the proportions of the body,
    /// so that a thin wall does not waste its sites on empty space.
    pub extents: Vector3<f64>,
    /// Clustering of sites at the impact, in `[1, 8]`: 1 is uniform, and at `c` the density of
    /// sites falls with distance r as `r^(3 / c - 3)`.
    pub clustering: f64,
    /// Elongation of pieces along each axis: splinters of wood are `[1, 1, 8]`.
    pub stretch: Vector3<f64>,
    /// Seed of the sites.
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
    /// Sets the number of sites for which a body breaks into about `pieces`: the cells in it are
    /// counted for impacts on the six faces of its bounding box, three quarters of the way from the
    /// middle to a corner, with the pattern placed by [`Alignment::enclosing`], and their mean becomes
    /// `pieces`. A cell counts if it contains an eighth of its share of the body.
    ///
    /// A cell that overlaps the body in several places gives a piece for each. At most
    /// [`Pattern::MAX_REGIONS`] sites are used, whatever `pieces` is, and pieces of a sampled solid
    /// have at least four of its samples on average; for a body without volume the number of sites
    /// is unchanged. The number does not depend on the grid of an exact solid.
    #[must_use]
    pub fn with_pieces(self, pieces: usize, body: &Geometry) -> Self {
        let points = body.inside_points(sample_count(pieces));
        let impacts = sample_impacts(&body.bounds(), &points);
        self.counted(pieces.min(body.max_pieces()), &points, &impacts)
    }

    /// Sets the number of sites, around the body, for which it breaks into `pieces` within 1 %, or
    /// as near as a few trials come, with the alignment `at` and parts of less than `least` m^3
    /// merged with their neighbors, see [`Geometry::divide`].
    ///
    /// # Errors
    /// As [`Pattern::voronoi`].
    pub fn with_pieces_at(
        self,
        pieces: usize,
        body: &Geometry,
        at: &Alignment,
        least: f64,
    ) -> Result<Self, PatternError> {
        /// Limits of trials, and of sites over all of them: about a second for most bodies.
        const TRIALS: usize = 16;
        const SITES: usize = 1 << 15;
        /// Largest number of sites tried, relative to the first estimate. If that many still give
        /// too few pieces, the least share merges them, and more sites only give smaller cells to
        /// merge.
        const GROWTH: usize = 8;
        /// Relative tolerance of the number of pieces, as its inverse.
        const CLOSE: usize = 100;
        let pieces = pieces.min(body.max_pieces()).clamp(1, Pattern::MAX_REGIONS);
        let points = body.inside_points(sample_count(pieces));
        // no sites outside of the body
        let to_pattern = at.transform().inverse();
        let corners = body.bounds().corners().map(|p| (to_pattern * p).coords.abs());
        let reach = corners.iter().fold(Vector3::zeros(), |reach: Vector3<f64>, p| reach.sup(p));
        let extents = self.extents.inf(&reach.sup(&Vector3::repeat(1e-3)));
        let spec = Self { extents, ..self };
        let mut next = spec.counted(pieces, &points, &[*at]).sites;
        // the most sites that gave too few pieces, and the fewest that gave too many
        let most = next.saturating_mul(GROWTH).min(Pattern::MAX_REGIONS);
        let (mut low, mut high) = ((0, 0), (most + 1, usize::MAX));
        let mut best = (usize::MAX, next);
        let mut tried = 0;
        for _ in 0..TRIALS {
            tried += next;
            let trial = Self { sites: next, ..spec };
            let count = body.divide(&Pattern::voronoi(&trial)?, at, least).pieces.len();
            best = best.min((count.abs_diff(pieces), next));
            let is_near = CLOSE * count.abs_diff(pieces) <= pieces;
            if is_near || !body.is_exact() || tried >= SITES {
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
                next = low.0.midpoint(high.0);
            }
            if next <= low.0 || next >= high.0 {
                break;
            }
        }
        Ok(Self { sites: best.1, ..spec })
    }

    /// Sets the number of sites for which the mean over some impacts of the cells with enough of
    /// the points is `pieces`.
    fn counted(self, pieces: usize, points: &[Point3<f64>], impacts: &[Alignment]) -> Self {
        let pieces = pieces.clamp(1, Pattern::MAX_REGIONS);
        let least = (points.len() / (8 * pieces)).max(1);
        let view = |at: &Alignment| {
            let to_pattern = at.transform().inverse();
            let points =
                points.iter().map(|p| (to_pattern * p).coords.component_div(&self.stretch));
            View { nearest: NearestSites::new(points.collect()), held: Vec::new(), least, met: 0 }
        };
        let mut views: Vec<View> = impacts.iter().map(view).collect();
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

    /// The first `count` sites, independent of `count`.
    fn sites_of(&self, count: usize) -> impl Iterator<Item = Point3<f64>> {
        let mut random = Random::new(self.seed);
        let Self { clustering, extents, .. } = *self;
        (0..count).map(move |_| {
            let p = random.in_cube();
            Point3::from((p * libm::pow(p.amax(), clustering - 1.0)).component_mul(&extents))
        })
    }
}

/// Number of sample points: 64 per piece, within limits of accuracy and time.
fn sample_count(pieces: usize) -> usize {
    pieces.saturating_mul(64).clamp(1000, 40_000)
}

/// A body with respect to an impact.
struct View {
    nearest: NearestSites,
    /// The points nearest to each site.
    held: Vec<usize>,
    /// Number of sites with at least `least` points.
    met: usize,
    least: usize,
}

impl View {
    /// The number of sites with enough points after this one is added.
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

/// Points and the nearest of the sites so far: a new site is compared only with the points near it.
struct NearestSites {
    tree: Tree,
    /// The squared distance of each point to the nearest site, and the site's index.
    nearest: Vec<(f64, usize)>,
    /// The largest squared distance of a point to a site, per node of the tree.
    farthest: Vec<f64>,
    sites: usize,
}

impl NearestSites {
    fn new(points: Vec<Vector3<f64>>) -> Self {
        let nearest = vec![(f64::INFINITY, usize::MAX); points.len()];
        let tree = Tree::new(points);
        let farthest = vec![f64::INFINITY; tree.nodes.len()];
        Self { tree, nearest, farthest, sites: 0 }
    }

    /// Adds a site. `taken` receives the former site of each point nearest to it.
    fn add(&mut self, site: &Vector3<f64>, mut taken: impl FnMut(Option<usize>)) {
        if !self.farthest.is_empty() {
            self.visit(0, site, &mut taken);
        }
        self.sites += 1;
    }

    fn visit(&mut self, node: usize, site: &Vector3<f64>, taken: &mut impl FnMut(Option<usize>)) {
        let TreeNode { range, second, .. } = &self.tree.nodes[node];
        if self.tree.nodes[node].beside(site) >= self.farthest[node] {
            return;
        }
        let second = *second;
        let farthest = if second == 0 {
            let mut farthest = 0.0_f64;
            for &n in &self.tree.order[range.clone()] {
                let own = (self.tree.points[n] - site).norm_squared();
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
            self.farthest[node + 1].max(self.farthest[second])
        };
        self.farthest[node] = farthest;
    }
}

/// Impacts on the faces of the bounding box, three quarters of the way from the middle to a corner:
/// a body that falls is hit at a corner and breaks into fewer pieces than one that is hit in the
/// middle.
fn sample_impacts(bounds: &Aabb, points: &[Point3<f64>]) -> Vec<Alignment> {
    /// Share of the way from the middle of a face to a corner.
    const ASIDE: f64 = 0.75;
    let axes = (0..3).flat_map(|a| [Vector3::ith(a, 1.0), -Vector3::ith(a, 1.0)]);
    let (center, half) = (bounds.center(), bounds.extents() / 2.0);
    axes.filter_map(|axis| {
        let [next, last] = [axis.yzx(), axis.zxy()];
        let place = axis + (next - last) * ASIDE;
        // relative to the box, so that a face of a thin plate is not nearer than its rim
        let off = |p: &&Point3<f64>| ((*p - center).component_div(&half) - place).norm_squared();
        let outermost = points.iter().min_by(|p, q| off(p).total_cmp(&off(q)))?;
        let normal = UnitVector3::new_unchecked(axis);
        Some(Alignment::enclosing(bounds, *outermost, normal))
    })
    .collect()
}

impl Pattern {
    /// Regions nearest to each of some random sites.
    ///
    /// # Errors
    /// [`PatternError`] if a parameter is out of range.
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
    /// [`PatternError`] if there are no or too many sites, one is not finite, or a stretch is not
    /// positive.
    pub fn voronoi_of(sites: &[Point3<f64>], stretch: &Vector3<f64>) -> Result<Self, PatternError> {
        check_count(sites.len())?;
        check_positive("stretch", stretch)?;
        for x in sites.iter().flat_map(|site| site.iter()) {
            check("site", *x, true, "finite")?;
        }
        Ok(Self::of_diagram(Diagram::new(sites.to_vec(), *stretch, Self::REACH)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use levelset::{Grid, Solid};
    use nalgebra::UnitQuaternion;
    use proptest::prelude::*;

    use super::*;
    use crate::Pieces;

    /// All bits of pieces.
    fn bits(pieces: &Pieces) -> Vec<u64> {
        let mut words = Vec::new();
        for piece in &pieces.pieces {
            words.extend(piece.regions.iter().map(|region| *region as u64));
            let points = piece.geometry.points();
            words.extend(points.iter().flat_map(|p| p.iter().map(|x| x.to_bits())));
            piece.geometry.digest(|word| words.push(word));
        }
        words
    }

    fn vector(most: f64) -> impl Strategy<Value = Vector3<f64>> {
        [-most..most, -most..most, -most..most].prop_map(Vector3::from)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn cells_that_are_made_when_a_body_needs_them_divide_it_as_all_cells_do(
            (sites, seed) in (1_usize..900, any::<u64>()),
            (clustering, scale) in (1.0..4.0_f64, 0.1..2.0_f64),
            (stretch, half, towards) in (vector(1.0), vector(1.0), vector(1.1)),
            (axis, angle) in (vector(1.0), -3.0..3.0_f64),
        ) {
            let stretch = stretch.map(|x| libm::pow(4.0, x));
            let spec = Voronoi { clustering, stretch, ..Voronoi::new(sites, seed) };
            // often thin
            let half = half.map(|x| 0.5 * libm::pow(20.0, -x.abs()));
            let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
            let grid = Grid::enclosing(&bounds, half.max() / 12.0, 4, Grid::MAX_NODES).unwrap();
            let exact = Geometry::primitive(Solid::Box { half_extents: half }, grid).unwrap();
            let (samples, moments) = (Arc::clone(exact.level_set()), *exact.moments());
            let sampled = Geometry::sampled(samples, exact.points(), moments);
            let axis = UnitVector3::try_new(axis, 1e-6).unwrap_or(Vector3::y_axis());
            let at = Alignment {
                at: Point3::from(towards.component_mul(&half)),
                rotation: UnitQuaternion::from_axis_angle(&axis, angle),
                scale: scale * 2.0 * half.norm(),
            };
            let some = Pattern::voronoi(&spec).unwrap();
            let cells = Pattern::voronoi(&spec).unwrap();
            let cells = cells.cells().map(|cell| cell.unwrap().clone()).collect();
            let all = Pattern::from_cells(cells).unwrap();
            let p = at.transform().inverse_transform_point(&Point3::origin());
            prop_assert_eq!(some.region_at(&p), all.region_at(&p));
            for body in [exact, sampled] {
                let [some, all] = [&some, &all].map(|cells| bits(&body.divide(cells, &at, 0.0)));
                prop_assert!(some == all);
            }
        }
    }

    #[test]
    fn a_thin_body_needs_few_of_many_cells() {
        let pattern = Pattern::voronoi(&Voronoi::new(10_000, 7)).unwrap();
        let plate = Vector3::new(0.5, 0.01, 0.5);
        let near = pattern.near(&Aabb { min: Point3::from(-plate), max: Point3::from(plate) });
        // a plane meets 1.458 n^(2/3) cells of a Poisson-Voronoi diagram per area (Moller 1989),
        // here 169
        assert!((170..500).contains(&near.len()), "{}", near.len());
    }

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
