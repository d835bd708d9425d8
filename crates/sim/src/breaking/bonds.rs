//! What holds the pieces of an event together.

use fracture::{Pieces, bond_loads};
use levelset::Union;
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
    let mut groups = Union::new(pieces.len());
    for (bond, load) in cuts.iter().zip(loads) {
        if load * impulse <= bonds.strength * bonds.duration {
            let [a, b] = bond.fragments.map(|fragment| fragment as u32);
            groups.join(a, b);
        }
    }
    groups.numbered().0.into_iter().map(|group| group as usize - 1).collect()
}
