//! Radial patterns: the sectors and rings of a pane of glass.

use std::f64::consts::TAU;

use nalgebra::{Point3, Vector3};

use crate::cell::{Cell, Plane};
use crate::pattern::{check, check_count};
use crate::random::Random;
use crate::{Pattern, PatternError};

/// A seeded radial pattern about the collision normal; lengths in pattern units.
///
/// Cracks run outward from the impact and straight chords join them into rings, closer together
/// near the impact. The pattern is the same at every depth along the normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Radial {
    /// Cracks that run outward, at least 3.
    pub sectors: usize,
    /// Rings, at least 1: a pattern has `sectors * rings` regions.
    pub rings: usize,
    /// Radius of the outermost ring of cracks; the last regions extend outward.
    pub radius: f64,
    /// Irregularity of angles and radii, in `[0, 1]`.
    pub jitter: f64,
    /// Seed of the irregularity.
    pub seed: u64,
}

impl Radial {
    /// A moderately irregular pattern whose outermost ring lies at half a unit.
    pub fn new(sectors: usize, rings: usize, seed: u64) -> Self {
        Self { sectors, rings, radius: 0.5, jitter: 0.5, seed }
    }
}

impl Pattern {
    /// Radial cracks and concentric rings.
    ///
    /// # Errors
    /// [`PatternError`] if a parameter is out of range.
    pub fn radial(spec: &Radial) -> Result<Self, PatternError> {
        check("sectors", spec.sectors as f64, spec.sectors >= 3, "at least 3")?;
        check_count(spec.sectors.saturating_mul(spec.rings))?;
        check("radius", spec.radius, spec.radius > 0.0, "positive")?;
        check("jitter", spec.jitter, (0.0..=1.0).contains(&spec.jitter), "from 0 to 1")?;
        let rays = rays(spec);
        let mut cells = Vec::with_capacity(spec.sectors * spec.rings);
        for (ray, next) in rays.iter().zip(rays.iter().cycle().skip(1)) {
            for ring in 0..spec.rings {
                cells.push(sector_cell(ray, next, ring));
            }
        }
        Self::from_cells(cells)
    }
}

/// A crack's direction and its intersections with the chords, the innermost first.
struct Ray {
    direction: Vector3<f64>,
    knots: Vec<Point3<f64>>,
}

fn rays(spec: &Radial) -> Vec<Ray> {
    let mut random = Random::new(spec.seed);
    let mut jitter = |most: f64| most * spec.jitter * random.signed();
    let chords = spec.rings - 1;
    // less than half a step either way keeps the order; no one of three sectors may exceed half a
    // turn
    let sideways = if spec.sectors == 3 { 0.2 } else { 0.45 };
    let offset = jitter(0.5);
    (0..spec.sectors)
        .map(|sector| {
            let angle = (sector as f64 + offset + jitter(sideways)) / spec.sectors as f64 * TAU;
            let direction = Vector3::new(libm::cos(angle), 0.0, libm::sin(angle));
            let knot = |ring: usize, jitter: f64| {
                let even = (ring as f64 + 1.0 + jitter) / chords as f64;
                Point3::from(direction * spec.radius * even * even)
            };
            Ray { direction, knots: (0..chords).map(|ring| knot(ring, jitter(0.45))).collect() }
        })
        .collect()
}

fn sector_cell(ray: &Ray, next: &Ray, ring: usize) -> Cell {
    let up = Vector3::y();
    let side = |ray: &Ray| Plane::through(&Point3::origin(), up.cross(&ray.direction));
    let chord = |ring: usize| {
        let (a, b) = (ray.knots[ring], next.knots[ring]);
        Plane::through(&a, (a - b).cross(&up))
    };
    let mut cell = Cell::whole(&Pattern::REACH).cut(side(ray)).cut(side(next).flipped());
    if ring > 0 {
        cell = cell.cut(chord(ring - 1).flipped());
    }
    if ring < ray.knots.len() {
        cell = cell.cut(chord(ring));
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_in_one_region_only() {
        let shapes = [(3, 1, 1.0), (3, 4, 1.0), (4, 2, 1.0), (9, 3, 0.5), (12, 5, 0.0)];
        for ((sectors, rings, jitter), seed) in shapes.into_iter().cycle().zip(0..50) {
            let spec = Radial { jitter, ..Radial::new(sectors, rings, seed) };
            let pattern = Pattern::radial(&spec).unwrap();
            assert_eq!(pattern.region_count(), sectors * rings);
            let mut random = Random::new(2);
            let mut seen = vec![false; pattern.region_count()];
            for _ in 0..4000 {
                let p = random.in_cube();
                let p = Point3::from(p * p.amax().powi(2));
                let inside: Vec<_> =
                    (0..pattern.region_count()).filter(|&r| pattern.value(r, &p) < 0.0).collect();
                assert_eq!(inside.len(), 1, "{p} {inside:?}");
                seen[inside[0]] = true;
            }
            assert!(seen.iter().all(|&s| s), "{seen:?}");
        }
    }
}
