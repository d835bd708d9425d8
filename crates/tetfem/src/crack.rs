//! Crack initiation (Mu01 section 2.5).

use levelset::TetMesh;
use nalgebra::{Matrix3, Point3, UnitVector3, Vector3};

/// A crack plane and its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crack {
    /// The tetrahedron under the greatest tension, or one at the vertex under the greatest tension.
    pub tet: usize,
    /// Its largest principal stress, Pa.
    pub tension: f64,
    /// Its rest centroid, or that vertex, which is on the plane.
    pub origin: Point3<f64>,
    /// The direction of the tension; its largest component is positive.
    pub normal: UnitVector3<f64>,
}

impl Crack {
    /// The crack in the tetrahedron of greatest tension, the first of equals, if its largest
    /// principal stress exceeds `strength`, Pa. Stresses are in the material frame, one per
    /// tetrahedron; NaN counts as no tension.
    ///
    /// # Panics
    /// If there is not one stress per tetrahedron.
    pub fn find(mesh: &TetMesh, stresses: &[Matrix3<f64>], strength: f64) -> Option<Self> {
        assert_eq!(stresses.len(), mesh.tets.len(), "one stress per tetrahedron");
        let Tension { number: tet, size: tension, direction: normal } =
            worst(stresses.iter().enumerate(), strength)?;
        Some(Self { tet, tension, origin: centroid(mesh, tet), normal })
    }

    /// Signed distance of a point from the plane, m.
    pub fn signed_distance(&self, place: &Point3<f64>) -> f64 {
        (place - self.origin).dot(&self.normal)
    }

    /// For each tetrahedron, the side of the plane that it is on if its centroid is within `radius`
    /// m of the origin: 1 or -1, and 0 otherwise.
    pub fn mark(&self, mesh: &TetMesh, radius: f64) -> Vec<i8> {
        let mark = |tet| {
            let place = centroid(mesh, tet);
            let side = if self.signed_distance(&place) >= 0.0 { 1 } else { -1 };
            if (place - self.origin).norm() <= radius { side } else { 0 }
        };
        (0..mesh.tets.len()).map(mark).collect()
    }
}

/// The greatest tension among stresses.
pub(crate) struct Tension {
    /// Number of the stress.
    pub(crate) number: usize,
    /// The largest principal stress, Pa.
    pub(crate) size: f64,
    /// Its direction.
    pub(crate) direction: UnitVector3<f64>,
}

/// The greatest tension among indexed stresses, the first of equals, if it exceeds `strength`, Pa.
pub(crate) fn worst<'a>(
    stresses: impl Iterator<Item = (usize, &'a Matrix3<f64>)>,
    strength: f64,
) -> Option<Tension> {
    let mut worst: Option<(usize, f64, &Matrix3<f64>)> = None;
    for (n, stress) in stresses {
        let best = worst.map_or(strength, |(_, tension, _)| tension);
        // the bound avoids most eigenvalue computations
        if tension_bound(stress) > best {
            let tension = max_principal(stress);
            if tension > best {
                worst = Some((n, tension, stress));
            }
        }
    }
    let found = |(number, size, stress)| Tension { number, size, direction: max_direction(stress) };
    worst.map(found)
}

/// Largest principal stress, Pa; positive is tension.
pub fn max_principal(stress: &Matrix3<f64>) -> f64 {
    stress.symmetric_eigenvalues().max()
}

/// Mean plus twice the deviation of the principal stresses: an upper bound of them.
pub(crate) fn tension_bound(stress: &Matrix3<f64>) -> f64 {
    let mean = stress.trace() / 3.0;
    let deviator = stress - Matrix3::from_diagonal_element(mean);
    // a margin for rounding
    mean + (2.0 / 3.0_f64).sqrt() * deviator.norm() + 1e-12 * stress.norm()
}

/// Direction of the largest principal stress, its largest component positive.
fn max_direction(stress: &Matrix3<f64>) -> UnitVector3<f64> {
    let eigen = stress.symmetric_eigen();
    let direction: Vector3<f64> = eigen.eigenvectors.column(eigen.eigenvalues.imax()).into();
    let sign = direction[direction.iamax()].signum();
    UnitVector3::new_normalize(direction * sign)
}

pub(crate) fn centroid(mesh: &TetMesh, tet: usize) -> Point3<f64> {
    let sum: Vector3<f64> = mesh.corners(tet).iter().map(|p| p.coords).sum();
    Point3::from(sum / 4.0)
}
