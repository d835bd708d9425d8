//! Forces on the surface as loads on its nodes.

use levelset::TetMesh;
use nalgebra::{Point3, Vector3};

/// A force on the surface of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Where, m; the nearest point of the surface is meant.
    pub place: Point3<f64>,
    /// The force, N.
    pub force: Vector3<f64>,
}

impl Contact {
    /// The mean force of an impulse, kg m/s, over the duration of an impact, s (Mu01 section 2.8).
    pub fn from_impulse(place: Point3<f64>, impulse: Vector3<f64>, duration: f64) -> Self {
        Self { place, force: impulse / duration }
    }
}

/// The face of the surface nearest to a place, and the barycentric coordinates of its nearest
/// point.
pub(crate) fn nearest_face(
    mesh: &TetMesh,
    faces: &[[u32; 3]],
    place: &Point3<f64>,
) -> Option<([u32; 3], [f64; 3])> {
    let mut best = (f64::INFINITY, None);
    for face in faces {
        let corners = face.map(|v| mesh.vertices[v as usize]);
        let weights = nearest(&corners, place);
        let at: Vector3<f64> = corners.iter().zip(weights).map(|(p, w)| p.coords * w).sum();
        let gap = (at - place.coords).norm_squared();
        if gap < best.0 {
            best = (gap, Some((*face, weights)));
        }
    }
    best.1
}

/// Barycentric coordinates of the point of a triangle nearest to a place.
fn nearest([a, b, c]: &[Point3<f64>; 3], place: &Point3<f64>) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, place - a);
    let (aa, bb, cross) = (ab.norm_squared(), ac.norm_squared(), ab.dot(&ac));
    let (u, v) = (ab.dot(&ap), ac.dot(&ap));
    let area = aa * bb - cross * cross;
    let (s, t) = ((bb * u - cross * v) / area, (aa * v - cross * u) / area);
    if s >= 0.0 && t >= 0.0 && s + t <= 1.0 {
        return [1.0 - s - t, s, t];
    }
    let on_edge = |from: &Point3<f64>, to: &Point3<f64>| {
        let along = to - from;
        let t = ((place - from).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
        (t, (from + along * t - place).norm_squared())
    };
    let (t_ab, gap_ab) = on_edge(a, b);
    let (t_bc, gap_bc) = on_edge(b, c);
    let (t_ca, gap_ca) = on_edge(c, a);
    if gap_ab <= gap_bc && gap_ab <= gap_ca {
        [1.0 - t_ab, t_ab, 0.0]
    } else if gap_bc <= gap_ca {
        [0.0, 1.0 - t_bc, t_bc]
    } else {
        [t_ca, 0.0, 1.0 - t_ca]
    }
}
