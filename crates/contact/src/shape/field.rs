//! Signed distances of solids.

use std::sync::Arc;

use levelset::{ConvexHull, LevelSet};
use nalgebra::{Isometry3, Point3, Vector3};

use crate::shape::round::Round;
use crate::shape::tets::TetSolid;
use crate::shape::triangles::Triangles;

/// The signed distance of a solid in body coordinates.
#[derive(Clone, Debug)]
pub enum Field {
    /// All points with y < 0.
    HalfSpace,
    /// A ball about the origin.
    Ball {
        /// Radius, m.
        radius: f64,
    },
    /// A box about the origin.
    Cuboid {
        /// Half the edge lengths, m.
        half: Vector3<f64>,
    },
    /// A convex solid of revolution about the y axis: a cylinder, a cone or a capsule.
    Round(Round),
    /// A convex solid in body coordinates.
    Hull(Arc<ConvexHull>),
    /// A union of convex solids in body coordinates.
    Hulls(Arc<[ConvexHull]>),
    /// Samples in material coordinates.
    Grid {
        /// The samples.
        level_set: Arc<LevelSet>,
        /// Body coordinates to material coordinates.
        material: Isometry3<f64>,
    },
    /// A mesh, open or closed.
    Mesh(Arc<Triangles>),
    /// Tetrahedra in body coordinates.
    Tets(Arc<TetSolid>),
}

impl Field {
    /// Whether contact points move over the surface when the solid rolls.
    pub(crate) fn is_curved(&self) -> bool {
        matches!(self, Self::Ball { .. } | Self::Round(_))
    }

    /// Signed distance at body point `p`, m; outside a sampled solid a lower bound, inside a union
    /// of convex solids the depth in one of them.
    pub fn distance(&self, p: &Point3<f64>) -> f64 {
        match self {
            Self::HalfSpace => p.y,
            Self::Ball { radius } => p.coords.norm() - radius,
            Self::Cuboid { half } => {
                let q = p.coords.abs() - half;
                q.sup(&Vector3::zeros()).norm() + q.max().min(0.0)
            }
            Self::Round(round) => round.distance_and_normal(p).0,
            Self::Hull(hull) => hull.distance(p),
            Self::Hulls(hulls) => nearest(hulls, p).1,
            Self::Grid { level_set, material } => level_set.value(&(material * p)),
            Self::Mesh(triangles) => triangles.distance(p),
            Self::Tets(tets) => tets.distance_and_normal(p).0,
        }
    }

    /// [`Field::distance`] inside; outside a lower bound, which is much faster for convex solids.
    pub fn lower_bound(&self, p: &Point3<f64>) -> f64 {
        match self {
            Self::Hull(hull) => hull.lower_bound(p),
            Self::Hulls(hulls) => {
                hulls.iter().map(|hull| hull.lower_bound(p)).fold(f64::INFINITY, f64::min)
            }
            _ => self.distance(p),
        }
    }

    /// Outward normal at body point `p`; where it is undefined, the direction from the origin; at
    /// the origin x.
    pub fn normal(&self, p: &Point3<f64>) -> Vector3<f64> {
        let normal = match self {
            Self::HalfSpace => Some(Vector3::y()),
            Self::Ball { .. } => None,
            Self::Cuboid { half } => cuboid_normal(half, p),
            Self::Round(round) => Some(round.distance_and_normal(p).1),
            Self::Hull(hull) => Some(hull.normal(p)),
            Self::Hulls(hulls) => nearest(hulls, p).0.map(|hull| hull.normal(p)),
            Self::Grid { level_set, material } => {
                level_set.normal(&(material * p)).map(|n| material.inverse_transform_vector(&n))
            }
            Self::Mesh(triangles) => triangles.normal(p),
            Self::Tets(tets) => Some(tets.distance_and_normal(p).1),
        };
        normal.or_else(|| p.coords.try_normalize(1e-12)).unwrap_or_else(Vector3::x)
    }
}

/// The hull with the largest depth of `p`, or nearest to it, the first among equals, and its signed
/// distance, m.
fn nearest<'h>(hulls: &'h [ConvexHull], p: &Point3<f64>) -> (Option<&'h ConvexHull>, f64) {
    let mut nearest = (None, f64::INFINITY);
    for hull in hulls {
        if hull.lower_bound(p) < nearest.1 {
            let distance = hull.distance(p);
            if distance < nearest.1 {
                nearest = (Some(hull), distance);
            }
        }
    }
    nearest
}

fn cuboid_normal(half: &Vector3<f64>, p: &Point3<f64>) -> Option<Vector3<f64>> {
    let q = p.coords.abs() - half;
    let signs = p.coords.map(|x| if x < 0.0 { -1.0 } else { 1.0 });
    if q.max() > 0.0 {
        return q.sup(&Vector3::zeros()).component_mul(&signs).try_normalize(0.0);
    }
    let axis = q.imax();
    let mut normal = Vector3::zeros();
    normal[axis] = signs[axis];
    Some(normal)
}
