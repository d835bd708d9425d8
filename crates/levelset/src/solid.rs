//! Analytic solids.

use nalgebra::{Point3, Unit, Vector2, Vector3};

/// A solid whose signed distance is known in closed form, about the origin with its axis along y.
///
/// Place it by moving the query: `solid.distance(&pose.inverse_transform_point(&p))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solid {
    /// A box.
    Box {
        /// Half its edge lengths, m.
        half_extents: Vector3<f64>,
    },
    /// A ball.
    Sphere {
        /// Radius, m.
        radius: f64,
    },
    /// All points within `radius` of a segment on the axis.
    Capsule {
        /// Half the segment's length, m.
        half_height: f64,
        /// Radius, m.
        radius: f64,
    },
    /// A circular cylinder.
    Cylinder {
        /// Half its height, m.
        half_height: f64,
        /// Radius, m.
        radius: f64,
    },
    /// A circular cone: base at `-half_height`, tip at `+half_height`.
    Cone {
        /// Half its height, m.
        half_height: f64,
        /// Radius of the base, m.
        radius: f64,
    },
    /// A ring around the axis.
    Torus {
        /// From the axis to the middle of the tube, m.
        major: f64,
        /// Radius of the tube, m.
        minor: f64,
    },
    /// All points behind a plane.
    HalfSpace {
        /// The plane's normal, pointing out of the solid.
        normal: Unit<Vector3<f64>>,
        /// Where the plane cuts the normal, m.
        offset: f64,
    },
}

impl Solid {
    /// Exact signed distance, m, negative inside.
    pub fn distance(&self, p: &Point3<f64>) -> f64 {
        let radial = p.x.hypot(p.z);
        match *self {
            Self::Box { half_extents } => {
                let q = p.coords.abs() - half_extents;
                q.sup(&Vector3::zeros()).norm() + q.max().min(0.0)
            }
            Self::Sphere { radius } => p.coords.norm() - radius,
            Self::Capsule { half_height, radius } => {
                radial.hypot((p.y.abs() - half_height).max(0.0)) - radius
            }
            Self::Cylinder { half_height, radius } => {
                let q = Vector2::new(radial - radius, p.y.abs() - half_height);
                q.sup(&Vector2::zeros()).norm() + q.max().min(0.0)
            }
            Self::Cone { half_height, radius } => cone(radial, p.y, half_height, radius),
            Self::Torus { major, minor } => (radial - major).hypot(p.y) - minor,
            Self::HalfSpace { normal, offset } => normal.dot(&p.coords) - offset,
        }
    }
}

/// Distance to the generating triangle's base and slope in the half-plane through the axis.
fn cone(radial: f64, y: f64, half_height: f64, radius: f64) -> f64 {
    let p = Vector2::new(radial, y);
    let rim = Vector2::new(radius, -half_height);
    let slope = Vector2::new(-radius, 2.0 * half_height);
    let t = ((p - rim).dot(&slope) / slope.norm_squared()).clamp(0.0, 1.0);
    let to_slope = (p - (rim + slope * t)).norm();
    let to_base = (p - Vector2::new(radial.min(radius), -half_height)).norm();
    let beyond = (p - rim).perp(&slope) > 0.0;
    let nearest = to_slope.min(to_base);
    if beyond || y < -half_height { nearest } else { -nearest }
}
