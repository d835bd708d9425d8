//! A solid divided by a pattern.

use levelset::Moments;
use nalgebra::Similarity3;

use super::exact::divided;
use super::piece::Piece;
use super::pieces::Pieces;
use super::solid::{Geometry, Kind};
use crate::region::transformed_bounds;
use crate::{Alignment, Pattern, shatter};

/// Nodes of the smallest piece of a sampled solid: fewer do not resolve its shape.
const MIN_NODES: usize = 8;

impl Geometry {
    /// Divides the solid by a pattern (Su09 section 4). Pieces of less than `least` m^3 are merged
    /// with the neighbor with the largest common cut.
    ///
    /// An exact solid and a pattern of convex cells give exact pieces (Su09 section 4.4): each
    /// connected part of the intersection with a cell is one, and their number does not depend on
    /// the grid. For other patterns or solids the pieces are sampled, see [`shatter`]. Moments of
    /// all pieces add up to those of the solid: exact ones are integrals over their surfaces, and
    /// the affine map between both sums corrects the difference for sampled solids and curved
    /// primitives.
    ///
    /// An `at` that is not finite, or has a scale of 0, leaves the solid whole. Convex cells are
    /// exact within `[-4, 4]^3` of the pattern: a solid that reaches beyond is sampled.
    pub fn divide(&self, pattern: &Pattern, at: &Alignment, least: f64) -> Pieces {
        let transform = at.transform();
        let is_finite = transform.to_homogeneous().iter().all(|x| x.is_finite());
        match &self.kind {
            _ if !is_finite => self.whole(),
            Kind::Exact(exact) if pattern.is_convex() && self.is_reached(&transform) => {
                divided(self, exact, pattern, at, least)
            }
            Kind::Exact(_) | Kind::Sampled(_) => self.shattered(pattern, at, least),
        }
    }

    /// Whether the solid lies in the box from which patterns cut their cells.
    /// `to_material` maps the coordinates of the pattern to those of the solid.
    fn is_reached(&self, to_material: &Similarity3<f64>) -> bool {
        let seen = transformed_bounds(&self.bounds(), &to_material.inverse());
        seen.is_some_and(|seen| {
            Pattern::REACH.contains(&seen.min) && Pattern::REACH.contains(&seen.max)
        })
    }

    fn whole(&self) -> Pieces {
        let piece = Piece { geometry: self.clone(), regions: vec![0] };
        Pieces::whole(piece)
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
