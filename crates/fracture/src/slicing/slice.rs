//! The sequence of stages.

use super::cap;
use super::closed::ClosedMesh;
use super::half::{self, Half};
use super::plane::Plane;
use super::projection::Projection;
use super::split::Split;

/// A solid on both sides of a plane. An empty side has an empty mesh.
#[derive(Clone, Debug)]
pub struct Slice {
    /// The side to which the plane's normal points.
    pub front: Half,
    /// The other side.
    pub back: Half,
}

/// Slices a solid by a plane.
///
/// Both halves are closed and oriented like the solid, their volumes add up to its volume up to
/// round-off, and slicing one again by the same plane returns it with an empty other side.
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
