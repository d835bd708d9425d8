//! The pieces of a solid.

use std::sync::Arc;

use levelset::Moments;
use nalgebra::Point3;

use super::cuts::Cuts;
use super::piece::Piece;
use super::solid::Geometry;
use crate::join::joined_bonds;
use crate::{Bond, Fragment, Shattered};

/// The pieces of a solid, and the bonds between them.
#[derive(Clone, Debug)]
pub struct Pieces {
    /// The pieces; their moments add up to the moments of the solid. A single piece means that the
    /// solid did not break.
    pub pieces: Vec<Piece>,
    /// The cuts between pieces, sorted by pair.
    pub bonds: Vec<Bond>,
    cuts: Option<Cuts>,
}

impl Pieces {
    /// A solid that is not divided.
    pub(super) fn whole(piece: Piece) -> Self {
        Self { pieces: vec![piece], bonds: Vec::new(), cuts: None }
    }

    pub(super) fn exact(pieces: Vec<Piece>, bonds: Vec<Bond>, cuts: Cuts) -> Self {
        Self { pieces, bonds, cuts: Some(cuts) }
    }

    pub(super) fn of_samples(broken: Shattered, moments: impl Fn(&Moments) -> Moments) -> Self {
        let piece = |fragment: Fragment| Piece {
            geometry: Geometry::sampled(
                Arc::new(fragment.level_set),
                fragment.particles,
                moments(&fragment.moments),
            ),
            regions: fragment.regions,
        };
        let Shattered { fragments, bonds } = broken;
        Self { pieces: fragments.into_iter().map(piece).collect(), bonds, cuts: None }
    }

    /// Joins the pieces with equal group numbers to pieces of `parent`. `groups` has the group
    /// number of each piece, from 0 without gaps. The result has one piece per group, in order, and
    /// the bonds between them.
    ///
    /// # Panics
    /// If the number of groups differs from the number of pieces, or a group has no piece.
    #[must_use]
    pub fn joined(self, parent: &Geometry, groups: &[usize]) -> Self {
        assert_eq!(self.pieces.len(), groups.len(), "one group per piece");
        let Self { pieces, bonds, cuts } = self;
        if let Some(cuts) = &cuts {
            let joined = cuts.joined(parent, &pieces, groups);
            return Self { pieces: joined, bonds: joined_bonds(&bonds, groups), cuts: None };
        }
        let total: Moments = pieces.iter().map(|piece| *piece.geometry.moments()).sum();
        let fragment = |piece: &Piece| Fragment {
            level_set: piece.geometry.level_set().as_ref().clone(),
            particles: piece.geometry.points().to_vec(),
            moments: *piece.geometry.moments(),
            regions: piece.regions.clone(),
        };
        let fragments = pieces.iter().map(fragment).collect();
        let joined = Shattered { fragments, bonds }.joined(parent.level_set(), groups);
        Self::of_samples(joined, total.map_to(&total))
    }

    /// The piece in which a point is deepest, or the nearest one; 0 if there is none.
    pub fn nearest(&self, p: &Point3<f64>) -> usize {
        let distance = |n: &usize| self.pieces[*n].geometry.level_set().value(p);
        let nearer = |a: &usize, b: &usize| distance(a).total_cmp(&distance(b));
        (0..self.pieces.len()).min_by(nearer).unwrap_or(0)
    }
}
