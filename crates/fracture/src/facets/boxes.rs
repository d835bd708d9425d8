//! Boxes around the faces of a solid, to find those near a cell.

use levelset::Aabb;

use super::surface::Facets;

/// Boxes of faces, a list per side, so that many are compared together.
#[derive(Clone)]
pub(super) struct FaceBoxes {
    faces: Vec<u32>,
    low: [Vec<f32>; 3],
    high: [Vec<f32>; 3],
    /// Enlargement of boxes against rounding, m.
    margin: f64,
}

/// Number of boxes compared together.
const LANES: usize = 32;

impl FaceBoxes {
    /// The boxes of the convex faces.
    pub(super) fn new(solid: &Facets) -> Self {
        let count = solid.faces.len();
        let empty = || std::array::from_fn(|_| Vec::with_capacity(count));
        let (mut low, mut high): ([Vec<f32>; 3], [Vec<f32>; 3]) = (empty(), empty());
        for face in &solid.faces {
            let mut corners = solid.corners_of(face).iter().map(|&v| solid.vertices[v as usize]);
            let first = corners.next().unwrap_or_default();
            let (min, max) =
                corners.fold((first, first), |(min, max), p| (min.inf(&p), max.sup(&p)));
            for a in 0..3 {
                low[a].push(min[a] as f32);
                high[a].push(max[a] as f32);
            }
        }
        let margin = 2.0 * f64::from(f32::EPSILON) * solid.size;
        Self { faces: (0..count as u32).collect(), low, high, margin }
    }

    /// The faces whose boxes overlap a box, perhaps with some near it.
    pub(super) fn near(&self, bounds: &Aabb) -> Vec<u32> {
        self.places(bounds).into_iter().map(|place| self.faces[place as usize]).collect()
    }

    /// The boxes that overlap a box.
    pub(super) fn part(&self, bounds: &Aabb) -> Self {
        let places = self.places(bounds);
        let of = |values: &[f32]| places.iter().map(|&place| values[place as usize]).collect();
        let faces = places.iter().map(|&place| self.faces[place as usize]).collect();
        let [low, high] = [&self.low, &self.high].map(|side| side.each_ref().map(|v| of(v)));
        Self { faces, low, high, margin: self.margin }
    }

    fn places(&self, bounds: &Aabb) -> Vec<u32> {
        let bounds = bounds.grown(self.margin);
        let min = bounds.min.map(|x| x as f32);
        let max = bounds.max.map(|x| x as f32);
        let mut found = Vec::new();
        let mut meets = [false; LANES];
        for first in (0..self.faces.len()).step_by(LANES) {
            let end = self.faces.len().min(first + LANES);
            let [lx, ly, lz] = self.low.each_ref().map(|side| &side[first..end]);
            let [hx, hy, hz] = self.high.each_ref().map(|side| &side[first..end]);
            for k in 0..end - first {
                meets[k] = (lx[k] <= max.x)
                    & (hx[k] >= min.x)
                    & (ly[k] <= max.y)
                    & (hy[k] >= min.y)
                    & (lz[k] <= max.z)
                    & (hz[k] >= min.z);
            }
            let here = (first as u32..).zip(&meets[..end - first]);
            found.extend(here.filter(|(_, meets)| **meets).map(|(place, _)| place));
        }
        found
    }
}
