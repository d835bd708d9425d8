//! What holds the pieces of an event together.

use fracture::{Pieces, bond_loads};
use nalgebra::Point3;

/// What holds the pieces of an event together: a bond is the cut between two of them and fails
/// when it would have to carry more than `strength * area * duration` N s of the blow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bonds {
    /// The stress that bonds bear, Pa.
    pub strength: f64,
    /// How long a blow lasts, s.
    pub duration: f64,
}

/// Groups of pieces that bonds hold together through a blow, numbered from 0.
pub(super) fn unbroken(
    broken: &Pieces,
    fixed: &[bool],
    bonds: &Bonds,
    (at, impulse): (Point3<f64>, f64),
) -> Vec<usize> {
    let Pieces { pieces, bonds: cuts, .. } = broken;
    let masses: Vec<f64> = pieces.iter().map(|piece| piece.geometry.moments().volume).collect();
    let loads = bond_loads(&masses, fixed, cuts, broken.nearest(&at));
    let mut groups: Vec<usize> = (0..pieces.len()).collect();
    for (bond, load) in cuts.iter().zip(loads) {
        if load * impulse <= bonds.strength * bonds.duration {
            let [a, b] = bond.fragments.map(|fragment| groups[fragment]);
            groups.iter_mut().filter(|group| **group == a.max(b)).for_each(|g| *g = a.min(b));
        }
    }
    let mut names = groups.clone();
    names.sort_unstable();
    names.dedup();
    groups.iter().map(|group| names.partition_point(|name| name < group)).collect()
}
