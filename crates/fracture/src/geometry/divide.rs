//! A solid divided by a pattern.

use std::sync::Arc;

use levelset::Moments;
use nalgebra::Point3;

use super::exact::{Cuts, divided};
use super::{Geometry, Kind};
use crate::join::joined_bonds;
use crate::{Alignment, Bond, Pattern, Shattered, shatter};

/// A connected piece of a solid, in the same material space.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its solid.
    pub geometry: Geometry,
    /// The regions of the pattern that it is made of, ascending: one, and those of what it took in.
    pub regions: Vec<usize>,
}

/// What became of a solid: its pieces and where they touched.
#[derive(Clone, Debug)]
pub struct Pieces {
    /// Their moments add up to those of the solid. One alone means that it did not break.
    pub pieces: Vec<Piece>,
    /// The cuts between them, sorted by pair.
    pub bonds: Vec<Bond>,
    cuts: Option<Cuts>,
}

/// Nodes of the smallest piece of a sampled solid: fewer tell nothing of its shape.
const MIN_NODES: usize = 8;

impl Geometry {
    /// Divides the solid by a pattern (Su09 section 4). Pieces of less than `least` m^3 are joined to
    /// the neighbor that they share the largest cut with.
    ///
    /// An exact solid and a pattern of convex cells give exact pieces (Su09 section 4.4): each
    /// connected part of the intersection with a cell is one, and their number does not depend on the
    /// grid. Of other patterns or solids the pieces are sampled, see [`shatter`]. Moments of all pieces
    /// add up to those of the solid: exact ones are integrals over their surfaces, and what differs for
    /// sampled solids and curved primitives is made up by the affine map between both sums.
    ///
    /// An `at` that is not finite leaves the solid whole.
    pub fn divide(&self, pattern: &Pattern, at: &Alignment, least: f64) -> Pieces {
        let transform = at.transform();
        let is_finite = transform.to_homogeneous().iter().all(|x| x.is_finite());
        match &self.kind {
            _ if !is_finite => self.whole(),
            Kind::Exact(exact) if pattern.cells().all(|cell| cell.is_ok()) => {
                divided(self, exact, pattern, at, least)
            }
            Kind::Exact(_) | Kind::Sampled(_) => self.shattered(pattern, at, least),
        }
    }

    fn whole(&self) -> Pieces {
        let piece = Piece { geometry: self.clone(), regions: vec![0] };
        Pieces { pieces: vec![piece], bonds: Vec::new(), cuts: None }
    }

    fn shattered(&self, pattern: &Pattern, at: &Alignment, least: f64) -> Pieces {
        let level_set = self.level_set();
        let nodes = (least / level_set.grid().cell_volume()).ceil() as usize;
        let points = self.points();
        let broken = shatter(level_set, &points, pattern, at, nodes.max(MIN_NODES));
        let total: Moments = broken.fragments.iter().map(|fragment| fragment.moments).sum();
        Pieces::of_samples(broken, total.map_to(&self.moments))
    }
}

impl Pieces {
    pub(super) fn exact(pieces: Vec<Piece>, bonds: Vec<Bond>, cuts: Cuts) -> Self {
        Self { pieces, bonds, cuts: Some(cuts) }
    }

    fn of_samples(broken: Shattered, moments: impl Fn(&Moments) -> Moments) -> Self {
        let piece = |fragment: crate::Fragment| Piece {
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

    /// Puts together the pieces of equal entries of `groups`, which are numbered from 0 without gaps,
    /// as pieces of `parent`; the result has one piece per group, in their order, and the bonds between
    /// them.
    ///
    /// # Panics
    /// If there is not one group per piece.
    #[must_use]
    pub fn joined(self, parent: &Geometry, groups: &[usize]) -> Self {
        assert_eq!(self.pieces.len(), groups.len(), "one group per piece");
        let Self { pieces, bonds, cuts } = self;
        if let Some(cuts) = &cuts {
            let joined = cuts.joined(parent, &pieces, groups);
            return Self { pieces: joined, bonds: joined_bonds(&bonds, groups), cuts: None };
        }
        let total: Moments = pieces.iter().map(|piece| *piece.geometry.moments()).sum();
        let fragment = |piece: &Piece| crate::Fragment {
            level_set: piece.geometry.level_set().as_ref().clone(),
            particles: piece.geometry.points().to_vec(),
            moments: *piece.geometry.moments(),
            regions: piece.regions.clone(),
        };
        let fragments = pieces.iter().map(fragment).collect();
        let joined = Shattered { fragments, bonds }.joined(parent.level_set(), groups);
        Self::of_samples(joined, total.map_to(&total))
    }

    /// The piece that a point is deepest in, or nearest to; 0 if there is none.
    pub fn nearest(&self, p: &Point3<f64>) -> usize {
        let distance = |n: &usize| self.pieces[*n].geometry.level_set().value(p);
        let nearer = |a: &usize, b: &usize| distance(a).total_cmp(&distance(b));
        (0..self.pieces.len()).min_by(nearer).unwrap_or(0)
    }
}
