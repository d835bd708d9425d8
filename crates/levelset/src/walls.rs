//! Wall thickness of closed meshes.

use nalgebra::{Point3, Vector3};

use crate::{TriMesh, total_order};

/// Largest number of pairs of chord and triangle that are tested.
const MAX_PAIRS: usize = 1 << 22;
/// Sufficient number of chords.
const MAX_CHORDS: usize = 512;

impl TriMesh {
    /// Thickness of the thin walls of a closed mesh, m: the tenth percentile, by area, of the
    /// chords from centers of triangles straight inwards to the next triangle. `None` if no chord
    /// hits the mesh.
    ///
    /// # Panics
    /// If a triangle names a vertex that does not exist.
    pub fn wall_thickness(&self) -> Option<f64> {
        let count = self.triangles.len();
        let wanted = (MAX_PAIRS / count.max(1)).clamp(16, MAX_CHORDS);
        let stride = count.div_ceil(wanted).max(1);
        let mut chords: Vec<(f64, f64)> = (0..count)
            .step_by(stride)
            .filter_map(|t| {
                let area = self.area_vector(t);
                let inwards = -area.try_normalize(0.0)?;
                let [a, b, c] = self.corners(t);
                let middle = Point3::from((a.coords + b.coords + c.coords) / 3.0);
                Some((self.chord(t, &middle, &inwards)?, area.norm()))
            })
            .collect();
        chords.sort_by_cached_key(|(chord, _)| total_order(*chord));
        let total: f64 = chords.iter().map(|chord| chord.1).sum();
        let mut seen = 0.0;
        let thin = chords.iter().find(|chord| {
            seen += chord.1;
            seen >= 0.1 * total
        });
        thin.map(|chord| chord.0)
    }

    /// Distance from a point of triangle `from` along a unit vector to the next other triangle.
    fn chord(&self, from: usize, start: &Point3<f64>, direction: &Vector3<f64>) -> Option<f64> {
        let others = (0..self.triangles.len()).filter(|&t| t != from);
        let hits =
            others.filter_map(|t| self.hit(t, start, direction)).filter(|distance| *distance > 0.0);
        hits.min_by(f64::total_cmp)
    }

    /// Intersection of the line through a point along a unit vector with a triangle (Moeller and
    /// Trumbore 1997), as distance from the point.
    pub(crate) fn hit(
        &self,
        t: usize,
        start: &Point3<f64>,
        direction: &Vector3<f64>,
    ) -> Option<f64> {
        let [a, b, c] = self.corners(t);
        let (u, v, w) = (b - a, c - a, start - a);
        let across = direction.cross(&v);
        let determinant = u.dot(&across);
        let x = w.dot(&across) / determinant;
        let beside = w.cross(&u);
        let y = direction.dot(&beside) / determinant;
        let is_hit = x >= 0.0 && y >= 0.0 && x + y <= 1.0;
        is_hit.then(|| v.dot(&beside) / determinant).filter(|distance| distance.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ConvexHull;

    #[test]
    fn a_plate_is_as_thick_as_it_is() {
        let half = Vector3::new(1.0, 0.05, 2.0);
        let corners = crate::Aabb { min: (-half).into(), max: half.into() }.corners();
        let plate = ConvexHull::new(&corners).expect("a box").mesh().clone();
        let thickness = plate.wall_thickness().expect("a closed mesh");
        assert!((thickness - 0.1).abs() < 1e-12, "{thickness}");
        assert_eq!(TriMesh::default().wall_thickness(), None);
    }
}
