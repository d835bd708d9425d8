//! Contact manifold of two boxes, at most four points. The contact pass of GBF03 section 6 solves
//! one contact at a time: with the corners of both boxes as contacts a tower of ten collapses.

use nalgebra::{Isometry3, Point3, Vector3};
use parry3d::math::{Pose, Rotation, Vector};
use parry3d::query::ContactManifold;
use parry3d::query::details::contact_manifold_cuboid_cuboid;
use parry3d::shape::Cuboid;

use crate::narrow::candidate::{Candidate, Side};

/// Contacts nearer than `margin` of boxes with half edges `first` and `second`; `first_from_second`
/// is the pose of the second in the first's coordinates.
pub(super) fn cuboid_contacts(
    first: &Vector3<f64>,
    second: &Vector3<f64>,
    first_from_second: &Isometry3<f64>,
    margin: f64,
) -> impl Iterator<Item = Candidate> {
    let mut manifold = ContactManifold::<(), ()>::new();
    contact_manifold_cuboid_cuboid(
        &pose(first_from_second),
        &Cuboid::new(vector(first)),
        &Cuboid::new(vector(second)),
        margin,
        &mut manifold,
    );
    let normal = Vector3::from(manifold.local_n2.to_array());
    manifold.points.into_iter().filter(move |p| p.dist < margin).map(move |p| Candidate {
        owner: Side::A,
        point: Point3::from(p.local_p1.to_array()),
        normal: Some(normal),
        distance: p.dist,
        // a contact is between one feature of each box
        key: p.fid1.0.rotate_left(16) ^ p.fid2.0,
    })
}

fn vector(v: &Vector3<f64>) -> Vector {
    Vector::from_array((*v).into())
}

fn pose(x: &Isometry3<f64>) -> Pose {
    Pose::from_parts(vector(&x.translation.vector), Rotation::from_array(x.rotation.coords.into()))
}
