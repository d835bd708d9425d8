//! Crumbs: debris of cracks that is too small to simulate.

use fracture::{Bond, Pieces, Random};
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
    /// Limit of crumbs in the whole simulation; values beyond [`Self::MAX_COUNT`] act like it. The
    /// remaining number is divided equally among the pieces of a frame; a piece that sheds fewer
    /// leaves the rest to the others.
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
    pub(super) area: f64,
    /// Points of the cracks, in material space, m.
    points: Vec<Point3<f64>>,
}

/// A piece of this frame.
#[derive(Clone, Debug)]
pub(crate) struct CrackedPiece {
    pub(super) body: BodyId,
    pub(super) rim: Rim,
}

/// Limit of the mass of crumbs relative to that of their piece, whose shape stays the same although
/// its mass decreases.
const MAX_MASS_SHARE: f64 = 0.1;
/// Largest distance of a point on a crack from another piece, and depth of a rim below the surface of
/// the whole body, in sample spacings.
const CRACK_WIDTH: f64 = 0.5;
const RIM_DEPTH: f64 = 1.5;
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
        let mut bonds = vec![Vec::new(); broken.pieces.len()];
        for bond in &broken.bonds {
            bond.fragments.iter().for_each(|&fragment| bonds[fragment].push(bond));
        }
        let of = |(n, bonds): (usize, Vec<&Bond>)| {
            let area: f64 = bonds.iter().map(|bond| 0.5 * bond.area).sum();
            let points = crack_points(n, broken, &bonds, whole.grid().spacing());
            // no point of a wall thinner than the samples may be near another piece
            if points.is_empty() {
                return Self { area, points: bonds.iter().map(|bond| bond.center).collect() };
            }
            let most = -RIM_DEPTH * whole.grid().spacing();
            let is_rim = |p: &Point3<f64>| whole.value(p) > most;
            // a crack inside a body has no rim
            let has_rim = points.iter().any(is_rim);
            let points = points.into_iter().filter(|p| !has_rim || is_rim(p)).collect();
            Self { area, points }
        };
        bonds.into_par_iter().enumerate().map(of).collect()
    }
}

/// Sample points of piece `n` on its cracks: near the surface of a piece to which one of its `bonds`
/// leads.
fn crack_points(n: usize, broken: &Pieces, bonds: &[&Bond], spacing: f64) -> Vec<Point3<f64>> {
    let beside = bonds.iter().flat_map(|bond| bond.fragments).filter(|&other| other != n);
    let beside: Vec<&LevelSet> =
        beside.map(|other| &**broken.pieces[other].geometry.level_set()).collect();
    let is_crack =
        |p: &Point3<f64>| beside.iter().any(|other| other.value(p) < CRACK_WIDTH * spacing);
    broken.pieces[n].geometry.points().iter().filter(|p| is_crack(p)).copied().collect()
}

impl Crumbs {
    /// Upper bound of [`Self::max_count`], the same as for dust: recordings keep every crumb.
    pub const MAX_COUNT: usize = 1_000_000;

    /// Whether `energy_share` is positive and at most 1, and the sizes are finite, positive and
    /// ascending. A world with other values sheds no crumbs.
    pub fn is_usable(&self) -> bool {
        let [least, most] = self.sizes;
        let is_share = self.energy_share > 0.0 && self.energy_share <= 1.0;
        is_share && least > 0.0 && least <= most && most.is_finite()
    }

    /// At most `most` crumbs of a piece of a mass, kg.
    pub(super) fn of_piece(
        &self,
        body: BodyId,
        mass: f64,
        Solid { geometry, material }: &Solid,
        rim: &Rim,
        most: usize,
    ) -> Vec<Crumb> {
        let mut crumbs = Vec::new();
        let mut random = Random::stream(self.seed, body.number());
        let reach = 0.5 * geometry.grid().spacing();
        let density = mass / geometry.moments().volume;
        let (mut area, mut left) = (self.energy_share * rim.area, MAX_MASS_SHARE * mass);
        while !rim.points.is_empty() && crumbs.len() < most {
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
