//! The section between the anchored part of a solid and the rest of it.

use levelset::LevelSet;
use nalgebra::{Matrix3, Point3, Vector3};

/// The anchored samples of a solid.
pub(crate) struct Held {
    /// Index of the anchor, for each grid node that is inside or less than half a cell outside.
    pub(super) by: Vec<Option<u32>>,
    /// Whether one of the nodes inside is anchored.
    pub(crate) any: bool,
}

/// The section between the anchored part of a solid and the rest of it.
///
/// It transmits force and torque like a group of rivets: the force stresses all rivets equally, the
/// torque each in proportion to its distance from their center.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Section {
    pub(crate) rivets: Vec<Rivet>,
    /// Center of area of the rivets, in the coordinates of the solid, m.
    pub(crate) middle: Point3<f64>,
    /// Total area, m^2.
    area: f64,
    /// The inverse of their second moment of area, if they resist torque about all axes, 1/m^4.
    inverse: Option<Matrix3<f64>>,
}

/// A point where anchored and free material meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rivet {
    /// Position in the coordinates of the solid, m.
    pub(crate) at: Point3<f64>,
    /// Area, m^2.
    pub(crate) area: f64,
    /// Index of its anchor.
    pub(crate) anchor: u32,
}

impl Section {
    /// A rivet for each edge of the grid between an anchored and a free node. Nodes near the
    /// surface are weighted by the share of their cell that is inside.
    pub(crate) fn new(level_set: &LevelSet, held: &Held) -> Self {
        let grid = level_set.grid();
        let (samples, h) = (level_set.as_slice(), grid.spacing());
        let [nx, ny, nz] = grid.dims();
        let strides = [ny * nz, nz, 1];
        let is_solid = |node: usize| f64::from(samples[node]) < 0.5 * h;
        let rows = (0..nx).flat_map(|i| (0..ny).map(move |j| (i, j)));
        let mut rivets = Vec::new();
        for (i, j) in rows {
            let row = grid.index([i, j, 0]);
            for k in 0..nz {
                let (here, node) = ([i, j, k], row + k);
                for (axis, count) in [nx, ny, nz].into_iter().enumerate() {
                    if here[axis] + 1 == count {
                        continue;
                    }
                    let other = node + strides[axis];
                    let (p, q) = (held.by[node], held.by[other]);
                    let Some(anchor) = p.xor(q).filter(|_| is_solid(node) && is_solid(other))
                    else {
                        continue;
                    };
                    let middle = 0.5 * f64::from(samples[node] + samples[other]);
                    let area = h * h * (0.5 - middle / h).clamp(0.0, 1.0);
                    if area > 0.0 {
                        let mut next = here;
                        next[axis] += 1;
                        let at = nalgebra::center(&grid.position(here), &grid.position(next));
                        rivets.push(Rivet { at, area, anchor });
                    }
                }
            }
        }
        Self::of(rivets)
    }

    fn of(rivets: Vec<Rivet>) -> Self {
        let area: f64 = rivets.iter().map(|rivet| rivet.area).sum();
        let sum: Vector3<f64> = rivets.iter().map(|rivet| rivet.at.coords * rivet.area).sum();
        let middle = if area > 0.0 { Point3::from(sum / area) } else { Point3::origin() };
        let mut polar = Matrix3::zeros();
        for rivet in &rivets {
            let cross = (rivet.at - middle).cross_matrix();
            polar += cross.transpose() * cross * rivet.area;
        }
        Self { rivets, middle, area, inverse: polar.try_inverse() }
    }

    /// The stress at each rivet, N/m^2 as a vector, under a force in N and a torque about the
    /// center in N m, both in the coordinates of the solid.
    pub(crate) fn stresses(
        &self,
        force: &Vector3<f64>,
        torque: &Vector3<f64>,
    ) -> impl Iterator<Item = (&Rivet, Vector3<f64>)> {
        let turn = self.inverse.map_or_else(Vector3::zeros, |inverse| inverse * torque);
        let mean = force / self.area;
        self.rivets.iter().map(move |rivet| (rivet, mean + turn.cross(&(rivet.at - self.middle))))
    }

    /// The largest stress, Pa; zero if all of the solid is anchored.
    pub(crate) fn stress(&self, force: &Vector3<f64>, torque: &Vector3<f64>) -> f64 {
        if self.inverse.is_none() && !self.rivets.is_empty() && *torque != Vector3::zeros() {
            return f64::INFINITY;
        }
        self.stresses(force, torque).map(|(_, stress)| stress.norm()).fold(0.0, f64::max)
    }
}
