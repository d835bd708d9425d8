//! Slicing of closed meshes by planes (Br11 section 3).
//!
//! The three stages of Br11, without its restriction to convex meshes:
//!
//! - *split*: every triangle goes to one side or is clipped; tables map the vertices of the old mesh,
//!   and one new vertex for each crossed edge, to those of the two new ones;
//! - *repair*: directed edges that lack their opposite bound the cap, which both halves share, so
//!   that their volumes add to that of the whole whatever the cap looks like. A single convex
//!   border gets the fan of Br11, all else a constrained Delaunay triangulation, filled where the
//!   borders wind around. What edges rounding may have left unmatched are closed by flat fans:
//!   halves are closed always;
//! - *build*: each new vertex has its origin ([`Origin`]), so that any attribute can be carried over, and
//!   [`ClosedMesh::pieces`] lists the connected parts.
//!
//! A vertex no farther from the plane than 1e-13 of the mesh's size counts as on it. All decisions
//! follow from one such side per vertex, which is why vertices, edges and faces in the plane need no
//! cases of their own: a face in the plane goes to the side where its solid is.

mod cap;
mod closed;
mod half;
mod projection;
mod split;
mod voronoi_cells;

use nalgebra::{Point3, UnitVector3, Vector3};

pub use closed::{ClosedMesh, NotClosed};
pub use half::{Half, Origin};
pub use voronoi_cells::voronoi_cells;

use split::Split;

pub(crate) use closed::solid_angle;
pub(crate) use projection::Projection;
pub(crate) use split::cancel_opposites;

/// A plane, `normal . x = offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    normal: UnitVector3<f64>,
    offset: f64,
}

impl Plane {
    /// The plane `normal . x = offset`, where both may be scaled by any positive number; `None` if
    /// `normal` has no length or a number is not finite.
    pub fn new(normal: Vector3<f64>, offset: f64) -> Option<Self> {
        let largest = normal.amax();
        if !(largest > 0.0 && largest.is_finite()) {
            return None;
        }
        let length = (normal / largest).norm() * largest;
        let plane =
            Self { normal: UnitVector3::new_unchecked(normal / length), offset: offset / length };
        (plane.normal.norm().is_finite() && plane.offset.is_finite()).then_some(plane)
    }

    /// The plane through `point`; `None` as in [`Plane::new`].
    pub fn through(point: &Point3<f64>, normal: Vector3<f64>) -> Option<Self> {
        let plane = Self::new(normal, 0.0)?;
        Self::new(*plane.normal, plane.normal.dot(&point.coords))
    }

    /// Points from the back to the front.
    pub fn normal(&self) -> UnitVector3<f64> {
        self.normal
    }

    /// Distance of the plane from the origin along its normal, m.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// Distance of a point from the plane, positive in front, m.
    pub fn distance(&self, p: &Point3<f64>) -> f64 {
        self.normal.dot(&p.coords) - self.offset
    }

    /// The same plane seen from behind.
    #[must_use]
    pub fn flipped(&self) -> Self {
        Self { normal: -self.normal, offset: -self.offset }
    }
}

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
    let cap = cap::triangulate(&split, &Projection::along(&plane.normal));
    let reversed: Vec<_> = cap.iter().map(|&[a, b, c]| [a, c, b]).collect();
    Slice {
        front: half::build(&split, &split.front, &reversed, -plane.normal),
        back: half::build(&split, &split.back, &cap, plane.normal),
    }
}
