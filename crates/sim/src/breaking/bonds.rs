//! Bonds between the pieces of a body.

use fracture::{Pieces, bond_loads};
use levelset::Union;
use nalgebra::Point3;

/// Bonds between the pieces of a body. A bond is the cut between two of them. It fails when its
/// share of the impact exceeds `strength * area * duration` N s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bonds {
    /// The stress at which bonds fail, Pa.
    pub strength: f64,
    /// Duration of an impact, s.
    pub duration: f64,
}

/// The bonds of pieces and the impact that loads them.
pub(crate) struct LoadedBonds<'a> {
    pub(crate) bonds: &'a Bonds,
    /// Point of the impact in material space, m.
    pub(crate) at: Point3<f64>,
    /// Size of its impulse, N s.
    pub(crate) impulse: f64,
}

/// Groups of pieces whose bonds hold in an impact, numbered from 0.
pub(super) fn unbroken(
    broken: &Pieces,
    fixed: &[bool],
    LoadedBonds { bonds, at, impulse }: &LoadedBonds<'_>,
) -> Vec<usize> {
    let Pieces { pieces, bonds: cuts, .. } = broken;
    let volumes: Vec<f64> = pieces.iter().map(|piece| piece.geometry.moments().volume).collect();
    let loads = bond_loads(&volumes, fixed, cuts, broken.nearest(at));
    let mut groups = Union::new(pieces.len());
    for (bond, load) in cuts.iter().zip(loads) {
        if load * impulse <= bonds.strength * bonds.duration {
            let [a, b] = bond.fragments.map(|fragment| fragment as u32);
            groups.join(a, b);
        }
    }
    groups.numbered().0.into_iter().map(|group| group as usize - 1).collect()
}
