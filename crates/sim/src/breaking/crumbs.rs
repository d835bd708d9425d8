//! Crumbs: debris of cracks that is too small to simulate.

use fracture::{Geometry, Pieces, Random};
use levelset::LevelSet;
use nalgebra::Point3;
use rayon::prelude::*;

use crate::{BodyId, Solid};

/// Crumbs that break off the rims of cracks. They take mass from the pieces, but are not bodies.
///
/// A crumb of the volume of a cube of edge `d` has a surface of `6 d^2`, hence a crack area of
/// `3 d^2`: both sides of a crack count once. A piece loses crumbs until their crack area is
/// `energy_share` of that of the piece, or their mass is a tenth of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crumbs {
    /// Energy of the surfaces of crumbs, as a share of the energy of the crack.
    pub energy_share: f64,
    /// Smallest and largest size, m: the edge of a cube of equal volume. The number of crumbs above
    /// a size falls as its power -2.5.
    pub sizes: [f64; 2],
    /// Largest number of crumbs since the first frame.
    pub max_count: usize,
    /// Seed of their sizes and positions.
    pub seed: u64,
}

/// A crumb at the end of the frame in which it breaks off. From then on it is not simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crumb {
    /// Its piece, whose motion at this point it has.
    pub body: BodyId,
    /// Its center in the coordinates of the piece, m.
    pub point: Point3<f64>,
    /// The edge of a cube of equal volume, m.
    pub size: f64,
    /// Its mass, kg.
    pub mass: f64,
}

/// The new cracks of a piece.
#[derive(Clone, Debug)]
pub(crate) struct Rim {
    /// Crack area of the piece, m^2: half of that of each crack between two pieces.
    area: f64,
    /// Points of the cracks, in material space, m.
    points: Vec<Point3<f64>>,
}

/// A piece of this frame.
#[derive(Clone, Debug)]
pub(crate) struct CrackedPiece {
    pub(super) body: BodyId,
    pub(super) rim: Rim,
}

/// Largest share of the mass of a piece that becomes crumbs.
const MAX_MASS_SHARE: f64 = 0.1;
/// Depth below the surface of the whole body from which on a point of a piece is on a crack, and to
/// which it is at the rim of a crack, in sample spacings.
const RIM_DEPTHS: [f64; 2] = [0.25, 1.5];
/// The number of fragments larger than `d` is proportional to `d` to the minus this power
/// (Turcotte, *Fractals and fragmentation*, 1986: 2.5 for blasted rock and broken coal).
pub(crate) const FRACTAL_DIMENSION: f64 = 2.5;

/// The size that a share of all fragments exceeds, m, between the smallest and the largest one.
pub(crate) fn fractal_size(share: f64, [least, most]: [f64; 2]) -> f64 {
    let rarest = libm::pow(least / most, FRACTAL_DIMENSION);
    least * libm::pow(1.0 - share * (1.0 - rarest), -1.0 / FRACTAL_DIMENSION)
}

impl Rim {
    /// The cracks of the pieces of a body.
    pub(crate) fn of_pieces(broken: &Pieces, whole: &LevelSet) -> Vec<Self> {
        let mut areas = vec![0.0; broken.pieces.len()];
        for bond in &broken.bonds {
            bond.fragments.iter().for_each(|&fragment| areas[fragment] += 0.5 * bond.area);
        }
        let rim = |(n, area): (usize, f64)| {
            let mut rim = Self::new(area, &broken.pieces[n].geometry, whole);
            // no point of a wall thinner than the samples is inside
            if rim.points.is_empty() {
                let own = broken.bonds.iter().filter(|bond| bond.fragments.contains(&n));
                rim.points.extend(own.map(|bond| bond.center));
            }
            rim
        };
        areas.into_par_iter().enumerate().map(rim).collect()
    }

    fn new(area: f64, piece: &Geometry, whole: &LevelSet) -> Self {
        let [least, most] = RIM_DEPTHS.map(|depth| depth * whole.grid().spacing());
        let depth = |p: &Point3<f64>| -whole.value(p);
        let mut points: Vec<_> =
            piece.points().iter().filter(|p| depth(p) > least).copied().collect();
        // a crack inside a body has no rim
        if points.iter().any(|p| depth(p) < most) {
            points.retain(|p| depth(p) < most);
        }
        Self { area, points }
    }
}

impl Crumbs {
    /// The crumbs of a piece of a mass, kg, after `count` others.
    pub(super) fn of_piece(
        &self,
        (body, mass): (BodyId, f64),
        Solid { geometry, material }: &Solid,
        rim: &Rim,
        count: usize,
    ) -> Vec<Crumb> {
        let mut crumbs = Vec::new();
        let mut random = Random::stream(self.seed, body.number());
        let reach = 0.5 * geometry.grid().spacing();
        let density = mass / geometry.moments().volume;
        let (mut area, mut left) = (self.energy_share * rim.area, MAX_MASS_SHARE * mass);
        while !rim.points.is_empty() && count + crumbs.len() < self.max_count {
            let size = fractal_size(random.unit(), self.sizes);
            let crack = 3.0 * size * size;
            // the last crumb exists with the probability that gives the mean area
            if random.unit() * crack >= area {
                break;
            }
            area -= crack;
            let point = rim.points[(random.word() % rim.points.len() as u64) as usize];
            let point = material.inverse() * (point + reach * random.in_ball());
            let mass = density * size.powi(3);
            left -= mass;
            if left < 0.0 {
                break;
            }
            crumbs.push(Crumb { body, point, size, mass });
        }
        crumbs
    }
}
