//! Analytic solids.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Point3, Unit, Vector2, Vector3};

use crate::Moments;

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
    /// All points within `radius` of a segment on the axis: a capsule.
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
        /// Distance from the axis to the center of the tube, m.
        major: f64,
        /// Radius of the tube, m.
        minor: f64,
    },
    /// All points behind a plane.
    HalfSpace {
        /// The plane's normal, pointing out of the solid.
        normal: Unit<Vector3<f64>>,
        /// Offset of the plane along the normal, m.
        offset: f64,
    },
}

impl Solid {
    /// Moments in closed form; `None` for a half-space, which is unbounded.
    pub fn moments(&self) -> Option<Moments> {
        // volume, center on the axis and second moment about the origin per volume
        let (volume, height, second) = match *self {
            Self::Box { half_extents: h } => (8.0 * h.product(), 0.0, h.component_mul(&h) / 3.0),
            Self::Sphere { radius: r } => {
                (4.0 / 3.0 * PI * r.powi(3), 0.0, Vector3::repeat(r * r / 5.0))
            }
            Self::Cylinder { half_height: h, radius: r } => {
                let across = r * r / 4.0;
                (2.0 * PI * r * r * h, 0.0, Vector3::new(across, h * h / 3.0, across))
            }
            Self::Capsule { half_height: h, radius: r } => {
                let [middle, ends] = [2.0 * PI * r * r * h, 4.0 / 3.0 * PI * r.powi(3)];
                let volume = middle + ends;
                let across = (middle * r * r / 4.0 + ends * r * r / 5.0) / volume;
                let in_ends = h * h + 0.75 * h * r + r * r / 5.0;
                let along = (middle * h * h / 3.0 + ends * in_ends) / volume;
                (volume, 0.0, Vector3::new(across, along, across))
            }
            Self::Cone { half_height: h, radius: r } => {
                let across = 0.15 * r * r;
                (2.0 / 3.0 * PI * r * r * h, -0.5 * h, Vector3::new(across, 0.4 * h * h, across))
            }
            Self::Torus { major, minor } => {
                let [a, b] = [major * major, minor * minor];
                let across = a / 2.0 + 0.375 * b;
                (2.0 * PI * PI * major * b, 0.0, Vector3::new(across, b / 4.0, across))
            }
            Self::HalfSpace { .. } => return None,
        };
        Some(Moments {
            volume,
            first: Vector3::y() * (height * volume),
            second: Matrix3::from_diagonal(&second) * volume,
        })
    }

    /// Exact signed distance, m, negative inside.
    pub fn distance(&self, p: &Point3<f64>) -> f64 {
        let radial = libm::hypot(p.x, p.z);
        match *self {
            Self::Box { half_extents } => {
                let q = p.coords.abs() - half_extents;
                q.sup(&Vector3::zeros()).norm() + q.max().min(0.0)
            }
            Self::Sphere { radius } => p.coords.norm() - radius,
            Self::Capsule { half_height, radius } => {
                libm::hypot(radial, (p.y.abs() - half_height).max(0.0)) - radius
            }
            Self::Cylinder { half_height, radius } => {
                let q = Vector2::new(radial - radius, p.y.abs() - half_height);
                q.sup(&Vector2::zeros()).norm() + q.max().min(0.0)
            }
            Self::Cone { half_height, radius } => cone(radial, p.y, half_height, radius),
            Self::Torus { major, minor } => libm::hypot(radial - major, p.y) - minor,
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
