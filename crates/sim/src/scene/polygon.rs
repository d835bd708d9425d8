//! Convex polygons in the xy plane.

use levelset::{Aabb, TriMesh};
use nalgebra::{Point2, Point3, Vector2};
use serde::Deserialize;

use super::InvalidValue;
use super::check::{at, bounded, count, extent, require};

/// `shape = { polygon = { corners = [[-1, 0], [1, 0], [0, 1]], depth = 0.2 } }`: a convex polygon,
/// extruded along z, symmetric about z = 0.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Polygon {
    /// Corners in the xy plane, counter-clockwise seen from +z, m.
    pub corners: Vec<[f64; 2]>,
    /// Thickness along z, m.
    pub depth: f64,
    /// Spacing of the level set, m; see [`super::Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Largest number of nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

impl Polygon {
    /// Maximum number of corners.
    pub const MAX_CORNERS: usize = contact::Shape::MAX_CORNERS / 2;

    /// Whether its corners go around once, counter-clockwise, with a left turn at each.
    fn is_convex(&self) -> bool {
        let points: Vec<Point2<f64>> = self.corners.iter().copied().map(Point2::from).collect();
        let n = points.len();
        let corner = |i: usize| [0, 1, 2].map(|k| points[(i + k) % n]);
        let is_left = |[p, q, r]: [Point2<f64>; 3]| (q - p).perp(&(r - q)) > 0.0;
        // left turns alone may also go around twice
        let is_fan = |pair: &[Point2<f64>]| is_left([points[0], pair[0], pair[1]]);
        n >= 3 && (0..n).map(corner).all(is_left) && points[1..].windows(2).all(is_fan)
    }

    /// The box around it.
    pub(crate) fn bounds(&self) -> Aabb {
        let points = self.corners.iter().copied().map(Vector2::from);
        let far = Vector2::repeat(f64::INFINITY);
        let (min, max) =
            points.fold((far, -far), |(min, max), point| (min.inf(&point), max.sup(&point)));
        let half = 0.5 * self.depth;
        Aabb { min: Point3::new(min.x, min.y, -half), max: Point3::new(max.x, max.y, half) }
    }

    /// Its surface.
    pub(crate) fn mesh(&self) -> TriMesh {
        let (n, half) = (self.corners.len() as u32, 0.5 * self.depth);
        let side = |z: f64| self.corners.iter().map(move |[x, y]| Point3::new(*x, *y, z));
        let caps = (2..n).flat_map(|k| [[n, n + k - 1, n + k], [0, k, k - 1]]);
        let sides = (0..n).flat_map(|i| {
            let j = (i + 1) % n;
            [[i, j, n + j], [i, n + j, n + i]]
        });
        TriMesh {
            vertices: side(-half).chain(side(half)).collect(),
            triangles: caps.chain(sides).collect(),
        }
    }

    /// Negative inside and positive outside, m; exact distance near faces.
    pub(crate) fn value(&self, p: &Point3<f64>) -> f64 {
        let points = self.corners.iter().copied().map(Point2::from);
        let next = points.clone().cycle().skip(1);
        let beyond = |(from, to): (Point2<f64>, Point2<f64>)| {
            let along = to - from;
            (p.xy() - from).perp(&along) / along.norm()
        };
        points.zip(next).map(beyond).fold(p.z.abs() - 0.5 * self.depth, f64::max)
    }

    pub(super) fn check(&self, key: &str) -> Result<(), InvalidValue> {
        extent(&at(key, "depth"), self.depth)?;
        let key = at(key, "corners");
        count(&key, self.corners.len(), 3, Polygon::MAX_CORNERS)?;
        self.corners.iter().try_for_each(|corner| bounded(&key, corner, "m"))?;
        require(
            self.is_convex(),
            &key,
            || "must go around a convex polygon once, counter-clockwise",
        )?;
        self.bounds().extents().iter().try_for_each(|length| extent(&key, *length))
    }
}
