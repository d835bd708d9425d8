//! One region of a pattern.

use levelset::{Aabb, LevelSet};
use nalgebra::{Point3, Similarity3};

use crate::cell::Cell;

/// A region: its planes, or samples.
#[derive(Clone)]
pub(crate) enum Region {
    Cell(Cell),
    Sampled(Sampled),
}

impl Region {
    /// Signed distance inside, a lower bound of it outside, pattern units.
    pub(crate) fn value(&self, p: &Point3<f64>) -> f64 {
        match self {
            Self::Cell(cell) => cell.value(p),
            Self::Sampled(sampled) => sampled.value(p),
        }
    }

    /// [`Region::value`] if it is below `bound`.
    pub(crate) fn value_below(&self, p: &Point3<f64>, bound: f64) -> Option<f64> {
        match self {
            Self::Cell(cell) => cell.value_below(p, bound),
            Self::Sampled(sampled) => Some(sampled.value(p)).filter(|value| *value < bound),
        }
    }
}

/// A region as samples over its part of a pattern's domain. Beyond the domain the region has the
/// value at the nearest point of the domain.
#[derive(Clone)]
pub(crate) struct Sampled {
    level_set: LevelSet,
    domain: Aabb,
    /// The range of inside samples, and one cell around it.
    inside: Option<Aabb>,
}

impl Sampled {
    /// `level_set`, cropped to its inside, of a pattern drawn in `domain`.
    pub(crate) fn new(level_set: &LevelSet, domain: Aabb) -> Self {
        let level_set = level_set.cropped_to_inside(3).unwrap_or_else(|| level_set.clone());
        let inside = level_set.inside_range().map(|(low, high)| {
            let grid = level_set.grid();
            let nodes = Aabb { min: grid.position(low), max: grid.position(high) };
            nodes.grown(grid.spacing())
        });
        Self { level_set, domain, inside }
    }

    pub(crate) fn level_set(&self) -> &LevelSet {
        &self.level_set
    }

    pub(crate) fn domain(&self) -> &Aabb {
        &self.domain
    }

    pub(crate) fn value(&self, p: &Point3<f64>) -> f64 {
        self.level_set.value(&self.domain.clamp(p))
    }

    /// The sample of the node at `p`, in grid units from the first node, if there is one.
    pub(crate) fn at(&self, p: [i64; 3]) -> Option<f32> {
        let grid = self.level_set.grid();
        let mut node = [0; 3];
        for (a, n) in node.iter_mut().enumerate() {
            let place = |x: f64| ((x - grid.origin()[a]) / grid.spacing()).round() as i64;
            let (low, high) = (place(self.domain.min[a]), place(self.domain.max[a]));
            *n = usize::try_from(p[a].clamp(low, high.max(low))).ok()?;
        }
        self.level_set.values().get(node).copied()
    }

    /// The part of a box of pattern space that contains the region.
    pub(crate) fn within(&self, near: &Aabb) -> Option<Aabb> {
        let inside = self.inside?;
        let mut part = *near;
        for a in 0..3 {
            // a region at the edge of the domain extends outward
            if inside.min[a] > self.domain.min[a] {
                part.min[a] = part.min[a].max(inside.min[a]);
            }
            if inside.max[a] < self.domain.max[a] {
                part.max[a] = part.max[a].min(inside.max[a]);
            }
        }
        (0..3).all(|a| part.min[a] <= part.max[a]).then_some(part)
    }
}

/// The box around a transformed box; `None` if it is not finite.
pub(crate) fn transformed_bounds(bounds: &Aabb, by: &Similarity3<f64>) -> Option<Aabb> {
    let corners = bounds.corners().map(|p| by.transform_point(&p));
    Aabb::around(&corners)
}
