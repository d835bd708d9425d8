//! Polygons with a value at each corner: parts above or below a value, and contour lines.

use nalgebra::{Point3, Vector3};

/// A corner and its stress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Corner {
    pub(super) place: Point3<f64>,
    /// Stress, Pa.
    pub(super) value: f64,
}

impl Corner {
    fn between(&self, other: &Self, share: f64) -> Self {
        Self {
            place: self.place + (other.place - self.place) * share,
            value: self.value + (other.value - self.value) * share,
        }
    }
}

/// The part of a convex polygon where `height`, linear on it, is not negative.
pub(super) fn clipped(polygon: &[Corner], height: impl Fn(&Corner) -> f64) -> Vec<Corner> {
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (n, corner) in polygon.iter().enumerate() {
        let next = &polygon[(n + 1) % polygon.len()];
        let (from, to) = (height(corner), height(next));
        if from >= 0.0 {
            kept.push(*corner);
        }
        if (from < 0.0) != (to < 0.0) && from != 0.0 && to != 0.0 {
            kept.push(corner.between(next, from / (from - to)));
        }
    }
    if kept.len() < 3 { Vec::new() } else { kept }
}

/// The contour line of a value on a convex polygon with linear values; `None` where it does not
/// occur, and where the values are constant.
pub(super) fn isoline(polygon: &[Corner], value: f64) -> Option<[Point3<f64>; 2]> {
    let mut ends = (0..polygon.len()).filter_map(|n| {
        let (a, b) = (&polygon[n], &polygon[(n + 1) % polygon.len()]);
        let crosses = (a.value < value) != (b.value < value);
        crosses.then(|| a.between(b, (value - a.value) / (b.value - a.value)).place)
    });
    Some([ends.next()?, ends.next()?])
}

/// The section of a tetrahedron by a plane, given the signed distances `heights` of its corners,
/// oriented around `normal`; empty if the plane does not cross it.
pub(super) fn section(
    corners: &[Point3<f64>; 4],
    heights: [f64; 4],
    normal: &Vector3<f64>,
    value: f64,
) -> Vec<Corner> {
    let (above, below): (Vec<usize>, Vec<usize>) = (0..4).partition(|&c| heights[c] >= 0.0);
    let at = |a: usize, b: usize| {
        let share = heights[a] / (heights[a] - heights[b]);
        Corner { place: corners[a] + (corners[b] - corners[a]) * share, value }
    };
    let mut polygon = match (&above[..], &below[..]) {
        (&[a], &[b, c, d]) => vec![at(a, b), at(a, c), at(a, d)],
        (&[a, b, c], &[d]) => vec![at(a, d), at(b, d), at(c, d)],
        (&[a, b], &[c, d]) => vec![at(a, c), at(a, d), at(b, d), at(b, c)],
        _ => return Vec::new(),
    };
    if area(&polygon).dot(normal) < 0.0 {
        polygon.reverse();
    }
    polygon
}

/// Area of a planar polygon, along its normal, m^2.
pub(super) fn area(polygon: &[Corner]) -> Vector3<f64> {
    let Some(first) = polygon.first() else { return Vector3::zeros() };
    let spoke = |corner: &Corner| corner.place - first.place;
    polygon.windows(2).map(|w| spoke(&w[0]).cross(&spoke(&w[1])) / 2.0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> Vec<Corner> {
        let corner = |x: f64, y: f64| Corner { place: Point3::new(x, y, 0.0), value: x + 2.0 * y };
        vec![corner(0.0, 0.0), corner(1.0, 0.0), corner(1.0, 1.0), corner(0.0, 1.0)]
    }

    #[test]
    fn bands_of_a_linear_value_have_the_areas_of_closed_form() {
        // of x + 2 y below v on the unit square
        let below = |v: f64| {
            let part = |v: f64| v.max(0.0).powi(2) / 4.0;
            part(v) - part(v - 1.0) - part(v - 2.0) + part(v - 3.0)
        };
        for [low, high] in [[0.0, 0.5], [0.5, 1.25], [1.25, 2.0], [2.0, 3.0], [-1.0, 4.0]] {
            let band = clipped(&square(), |c| c.value - low);
            let band = clipped(&band, |c| high - c.value);
            let expected = below(high) - below(low);
            assert!((area(&band).z - expected).abs() < 1e-12, "{low} to {high}");
        }
        assert!(clipped(&square(), |c| c.value - 3.5).is_empty());
    }

    #[test]
    fn a_line_of_equal_value_ends_where_its_value_is_on_edges() {
        let [a, b] = isoline(&square(), 1.5).unwrap();
        for p in [a, b] {
            assert!((p.x + 2.0 * p.y - 1.5).abs() < 1e-12);
        }
        assert!(((a - b).norm() - 1.25_f64.sqrt()).abs() < 1e-12);
        assert_eq!(isoline(&square(), 3.5), None);
    }
}
