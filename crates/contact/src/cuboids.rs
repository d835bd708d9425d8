//! Contacts of two boxes: exact, edges against edges too, where points alone leave the normal of
//! aligned corners open.

use nalgebra::{Isometry3, Point3, Vector3};
use parry3d::math::{Pose, Rotation, Vector};
use parry3d::query::ContactManifold;
use parry3d::query::details::{contact_manifold_cuboid_cuboid, distance_support_map_support_map};
use parry3d::shape::Cuboid;

/// A point of contact between two boxes.
pub(crate) struct CuboidContact {
    /// On the first box, in its body coordinates.
    pub(crate) point: Point3<f64>,
    /// Normal out of the second box, in its body coordinates.
    pub(crate) normal: Vector3<f64>,
    pub(crate) distance: f64,
    pub(crate) key: u32,
}

/// Contacts nearer than `margin` of boxes with half edges `first` and `second`, the second placed
/// in the first's coordinates by `first_from_second`.
pub(crate) fn cuboid_contacts(
    first: &Vector3<f64>,
    second: &Vector3<f64>,
    first_from_second: &Isometry3<f64>,
    margin: f64,
) -> impl Iterator<Item = CuboidContact> {
    let mut manifold = ContactManifold::<(), ()>::new();
    contact_manifold_cuboid_cuboid(
        &pose(first_from_second),
        &Cuboid::new(vector(first)),
        &Cuboid::new(vector(second)),
        margin,
        &mut manifold,
    );
    let normal = Vector3::from(manifold.local_n2.to_array());
    manifold.points.into_iter().filter(move |p| p.dist < margin).map(move |p| CuboidContact {
        point: Point3::from(p.local_p1.to_array()),
        normal,
        distance: p.dist,
        // one feature of each box meets in a contact
        key: p.fid1.0.rotate_left(16) ^ p.fid2.0,
    })
}

/// How far boxes so placed are apart, m; zero where they overlap.
pub(crate) fn cuboid_distance(
    first: &Vector3<f64>,
    second: &Vector3<f64>,
    first_from_second: &Isometry3<f64>,
) -> f64 {
    let [first, second] = [first, second].map(|half| Cuboid::new(vector(half)));
    distance_support_map_support_map(&pose(first_from_second), &first, &second)
}

fn vector(v: &Vector3<f64>) -> Vector {
    Vector::from_array((*v).into())
}

fn pose(x: &Isometry3<f64>) -> Pose {
    Pose::from_parts(vector(&x.translation.vector), Rotation::from_array(x.rotation.coords.into()))
}
