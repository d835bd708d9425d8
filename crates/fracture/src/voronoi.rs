//! Voronoi patterns.

use nalgebra::{Point3, Vector3};

use crate::cell::{Cell, Plane};
use crate::pattern::{check, check_count, check_positive};
use crate::random::Random;
use crate::{Pattern, PatternError};

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

impl Pattern {
    /// Regions nearest to each of some random sites.
    ///
    /// # Errors
    /// [`PatternError`] when a parameter is out of its range.
    pub fn voronoi(spec: &Voronoi) -> Result<Self, PatternError> {
        check_count(spec.sites)?;
        check_positive("extents", &spec.extents)?;
        let power = check(
            "clustering",
            spec.clustering,
            (1.0..=8.0).contains(&spec.clustering),
            "from 1 to 8",
        )? - 1.0;
        let mut random = Random::new(spec.seed);
        let sites: Vec<_> = (0..spec.sites)
            .map(|_| {
                let p = random.in_cube();
                Point3::from((p * p.amax().powf(power)).component_mul(&spec.extents))
            })
            .collect();
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

fn voronoi_cell(sites: &[Point3<f64>], stretch: &Vector3<f64>, index: usize) -> Cell {
    let site = sites[index];
    let measure = |v: Vector3<f64>| v.component_div(stretch).norm();
    let mut others: Vec<_> = sites
        .iter()
        .map(|other| (measure(other - site), *other))
        .filter(|(distance, _)| *distance > 0.0)
        .collect();
    others.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut cell = Cell::whole(&Pattern::REACH);
    for (distance, other) in others {
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
