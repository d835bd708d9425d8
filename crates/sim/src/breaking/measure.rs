//! The size and curvature of a body around an impact.

use contact::{Field, Shape};
use fracture::Section;
use nalgebra::{Point3, UnitVector3, Vector3};

use crate::World;

/// Directions across an impact in which a body is measured, in half a turn.
const DIRECTIONS: usize = 6;
/// Limit of steps along a ray: it truncates the extents of bodies hundreds of times as wide as
/// thick.
const RAY_STEPS: usize = 256;
/// Limit of steps to a point inside, or to the middle of a body.
const SEARCH_STEPS: usize = 32;
/// Gradient of the depth below which a point counts as deepest, as in the middle of a wall.
const FLAT_GRADIENT: f64 = 0.2;
/// Distance across the impact at which a surface is compared with its tangent plane, as a share of
/// the least extent of the body across the impact.
const CURVATURE_SPAN: f64 = 0.25;

impl World {
    /// The extents of a body around an impact at a point and along a direction in body coordinates,
    /// through the middle of its extent along the impact.
    pub(super) fn section(
        &self,
        i: usize,
        at: &Point3<f64>,
        inward: &UnitVector3<f64>,
    ) -> Option<Section> {
        let geometry = &self.details[i].solid.as_ref()?.geometry;
        let solid = Measured { shape: &self.shapes[i], cell: geometry.grid().spacing() };
        let below = solid.below(&(at + inward.scale(solid.cell)))?;
        let way = inward.into_inner();
        let (behind, ahead) =
            (solid.distance_to_exit(&below, &-way), solid.distance_to_exit(&below, &way));
        let middle = solid.middle(below + way * (0.5 * (ahead - behind)));
        let extent = |way: Vector3<f64>| {
            solid.distance_to_exit(&middle, &way) + solid.distance_to_exit(&middle, &-way)
        };
        let (mut width, mut length) = (f64::INFINITY, 0.0_f64);
        for extent in around(inward).map(extent) {
            (width, length) = (width.min(extent), length.max(extent));
        }
        Some(Section { thickness: extent(way), width, length })
    }

    /// Mean curvature of the surface of a body around an impact at a point and along a direction in
    /// body coordinates, 1/m: that of
    /// the sphere with the same deviation from the tangent plane at a share of the extent `across`
    /// the impact.
    pub(super) fn curvature(
        &self,
        i: usize,
        at: &Point3<f64>,
        inward: &UnitVector3<f64>,
        across: f64,
    ) -> f64 {
        let field = self.shapes[i].field();
        let least = match field {
            Field::HalfSpace | Field::Mesh(_) => return 0.0,
            Field::Ball { radius } => return 1.0 / radius,
            Field::Cuboid { .. }
            | Field::Round(_)
            | Field::Hull(_)
            | Field::Hulls(_)
            | Field::Tets(_) => 0.0,
            Field::Grid { level_set, .. } => 2.0 * level_set.grid().spacing(),
        };
        let step = (CURVATURE_SPAN * across).max(least);
        let surface = field.distance(at);
        let drops = around(inward).take(DIRECTIONS).flat_map(|way| [way, -way]);
        let drop = drops.map(|way| field.distance(&(at + way * step)) - surface).sum::<f64>()
            / (2 * DIRECTIONS) as f64;
        // limits the curvature to about that of a ball of radius `step`
        let drop = drop.clamp(-0.4 * step, 0.4 * step);
        2.0 * drop / (step * step - drop * drop)
    }
}

/// A body under measurement.
struct Measured<'a> {
    shape: &'a Shape,
    /// Spacing of the samples, m.
    cell: f64,
}

impl Measured<'_> {
    /// Depth below the surface, m; outside an upper bound of the negative distance.
    fn depth(&self, at: &Point3<f64>) -> f64 {
        -self.shape.field().lower_bound(at)
    }

    fn depth_gradient(&self, at: &Point3<f64>) -> Vector3<f64> {
        Vector3::from_fn(|axis, _| {
            let mut step = Vector3::zeros();
            step[axis] = self.cell;
            (self.depth(&(at + step)) - self.depth(&(at - step))) / (2.0 * self.cell)
        })
    }

    /// A point inside, near one that may be at an edge or slightly outside; `None` if there is
    /// none.
    fn below(&self, at: &Point3<f64>) -> Option<Point3<f64>> {
        let mut place = *at;
        for _ in 0..SEARCH_STEPS {
            let lacks = self.cell - self.depth(&place);
            if lacks <= 0.0 {
                break;
            }
            place += self.depth_gradient(&place) * lacks;
        }
        (self.depth(&place) > 0.0).then_some(place)
    }

    /// The deepest point that gradient ascent in depth reaches.
    fn middle(&self, from: Point3<f64>) -> Point3<f64> {
        let (mut place, mut depth) = (from, self.depth(&from));
        let mut step = depth.max(self.cell);
        for _ in 0..SEARCH_STEPS {
            let Some(way) = self.depth_gradient(&place).try_normalize(FLAT_GRADIENT) else { break };
            let next = place + way * step;
            let deeper = self.depth(&next);
            if deeper > depth {
                (place, depth) = (next, deeper);
            } else {
                step *= 0.5;
            }
            if step < 0.1 * self.cell {
                break;
            }
        }
        place
    }

    /// Distance from an inner point to the surface, m, within the range of rays.
    fn distance_to_exit(&self, from: &Point3<f64>, way: &Vector3<f64>) -> f64 {
        if let Field::Hull(hull) = self.shape.field() {
            return hull.exit(from, way);
        }
        let (mut t, mut depth) = (0.0, self.depth(from));
        for _ in 0..RAY_STEPS {
            if depth <= 0.0 {
                break;
            }
            let step = depth.max(0.25 * self.cell);
            let next = self.depth(&(from + way * (t + step)));
            if next <= 0.0 {
                return t + step * depth / (depth - next);
            }
            (t, depth) = (t + step, next);
        }
        t
    }
}

/// Directions at right angles to a unit vector, evenly over half a turn.
fn around(axis: &Vector3<f64>) -> impl Iterator<Item = Vector3<f64>> {
    // cos and sin of 0, 30, ... 150 degrees
    const S: f64 = 0.866_025_403_784_438_6;
    const TURNS: [[f64; 2]; DIRECTIONS] =
        [[1.0, 0.0], [S, 0.5], [0.5, S], [0.0, 1.0], [-0.5, S], [-S, 0.5]];
    let mut other = Vector3::zeros();
    other[axis.iamin()] = 1.0;
    let first = axis.cross(&other).normalize();
    let second = axis.cross(&first);
    TURNS.into_iter().map(move |[x, y]| first * x + second * y)
}
