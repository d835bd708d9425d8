//! The stages one after another.

use super::cap;
use super::closed::ClosedMesh;
use super::half::{self, Half};
use super::plane::Plane;
use super::projection::Projection;
use super::split::Split;

/// A solid on both sides of a plane. A side where nothing is has an empty mesh.
#[derive(Clone, Debug)]
pub struct Slice {
    /// Where the plane's normal points.
    pub front: Half,
    /// Where it points away from.
    pub back: Half,
}

/// Slices a solid by a plane.
///
/// Both halves are closed and oriented as the solid is, their volumes add to its volume but for
/// rounding, and slicing one again by the same plane gives it back with nothing on the other side.
///
/// ```
/// use brisance_fracture::levelset::TriMesh;
/// use brisance_fracture::{ClosedMesh, Plane, slice};
/// use brisance_fracture::nalgebra::{Point3, Vector3};
///
/// let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]];
/// let tet = TriMesh {
///     vertices: corners.map(Point3::from).to_vec(),
///     triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
/// };
/// let plane = Plane::new(Vector3::z(), 0.5).expect("a normal with a length");
/// let halves = slice(&ClosedMesh::new(tet)?, &plane);
/// let top = halves.front.mesh().mesh().signed_volume();
/// assert!((top - 1.0 / 48.0).abs() < 1e-15);
/// # Ok::<(), brisance_fracture::NotClosed>(())
/// ```
pub fn slice(solid: &ClosedMesh, plane: &Plane) -> Slice {
    let split = Split::new(solid, plane);
    let cap = cap::triangulate(&split, &Projection::along(&plane.normal()));
    let reversed: Vec<_> = cap.iter().map(|&[a, b, c]| [a, c, b]).collect();
    Slice {
        front: half::build(&split, &split.front, &reversed, -plane.normal()),
        back: half::build(&split, &split.back, &cap, plane.normal()),
    }
}
