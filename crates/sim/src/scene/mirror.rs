//! Mirror images of bodies.

use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};

use super::{Anchor, Axis, Body, Lattice, Rotation, Shape};

impl Body {
    /// The image of the body in a plane of the world normal to an axis. Mirrors velocities and all
    /// values in the coordinates of the shape; [`mirrored_pose`] gives the pose.
    pub(crate) fn image(&self, axis: Axis) -> Self {
        let mut image = self.clone();
        let across = axis as usize;
        image.velocity[across] = -image.velocity[across];
        image.angular_velocity = mirrored_turn(image.angular_velocity, across);
        let own = image.shape.mirror_axis();
        image.shape.mirror();
        if let Some(whole) = &mut image.whole {
            whole.arm[own as usize] = -whole.arm[own as usize];
        }
        for anchor in &mut image.anchors {
            mirror_anchor(anchor, own as usize);
        }
        if let Some(lattice) = image.fracture.as_mut().and_then(|f| f.lattice.as_mut()) {
            mirror_lattice(lattice, own as usize);
        }
        image
    }
}

impl Shape {
    /// The local mirror axis of the image: for a mesh with `mirror` the same axis, otherwise the
    /// first.
    pub(crate) fn mirror_axis(&self) -> Axis {
        let given = match self {
            Self::Mesh(mesh) | Self::Tets(mesh) => mesh.mirror,
            Self::Trimesh(mesh) => mesh.mirror,
            Self::Svg(svg) => svg.mirror,
            _ => None,
        };
        given.unwrap_or(Axis::X)
    }

    /// Mirrors it along [`Self::mirror_axis`].
    fn mirror(&mut self) {
        let toggle = |mirror: &mut Option<Axis>| {
            *mirror = if mirror.is_some() { None } else { Some(Axis::X) };
        };
        match self {
            Self::Mesh(mesh) | Self::Tets(mesh) => toggle(&mut mesh.mirror),
            Self::Trimesh(mesh) => toggle(&mut mesh.mirror),
            Self::Svg(svg) => toggle(&mut svg.mirror),
            Self::Polygon(polygon) => {
                polygon.corners.iter_mut().for_each(|corner| corner[0] = -corner[0]);
                polygon.corners.reverse();
            }
            Self::Extruded(extruded) => extruded.picture.mirror(),
            Self::Heightfield(field) => field.picture.mirror(),
            Self::Plane(plane) => plane.normal[0] = -plane.normal[0],
            Self::Combined(combined) => {
                for part in &mut combined.parts {
                    part.shape.mirror();
                    part.position[0] = -part.position[0];
                    let Rotation { axis, degrees } = part.rotation;
                    part.rotation = Rotation { axis: mirrored_turn(axis, 0), degrees };
                }
            }
            // each of its pieces is mirrored
            Self::Pieces(_) => {}
            // each is its own image
            Self::Sphere(_) | Self::Box(_) | Self::Cylinder(_) => {}
            Self::Capsule(_) | Self::Cone(_) | Self::Torus(_) => {}
        }
    }
}

/// The axis or angular velocity of the mirror image of a rotation.
fn mirrored_turn(turn: [f64; 3], across: usize) -> [f64; 3] {
    let mut image = turn.map(|x| -x);
    image[across] = turn[across];
    image
}

fn mirror_anchor(anchor: &mut Anchor, own: usize) {
    let Anchor { sphere, r#box, plane, to: _ } = anchor;
    if let Some(ball) = sphere {
        ball.center[own] = -ball.center[own];
    }
    if let Some(block) = r#box {
        block.center[own] = -block.center[own];
    }
    if let Some(plane) = plane {
        plane.normal[own] = -plane.normal[own];
    }
}

fn mirror_lattice(lattice: &mut Lattice, own: usize) {
    lattice.cleave.iter_mut().for_each(|plane| plane.normal[own] = -plane.normal[own]);
    lattice.weak_spheres.iter_mut().for_each(|ball| ball.center[own] = -ball.center[own]);
    let picture = lattice.strength_picture.as_mut().and_then(|picture| picture.read.as_mut());
    if let Some(stencil) = picture {
        let stencil = std::sync::Arc::make_mut(stencil);
        stencil.corner[own] = -stencil.corner[own];
        stencil.across[own] = -stencil.across[own];
        stencil.down[own] = -stencil.down[own];
    }
}

/// The pose of the image of a shape in the plane where the coordinate along `axis` is `at` m:
/// `pose` is that of the shape, which is mirrored along its axis `own`.
pub(crate) fn mirrored_pose(
    pose: &Isometry3<f64>,
    axis: Axis,
    at: f64,
    own: Axis,
) -> Isometry3<f64> {
    let mut place = Point3::from(pose.translation.vector);
    place[axis as usize] = 2.0 * at - place[axis as usize];
    let [x, y, z] = mirrored_turn(pose.rotation.imag().into(), own as usize);
    let turn = Quaternion::new(pose.rotation.w, x, y, z);
    let mut turn = UnitQuaternion::new_unchecked(turn);
    if axis != own {
        // two reflections are half a turn about the third axis
        let third = Vector3::ith(3 - axis as usize - own as usize, 1.0);
        turn = UnitQuaternion::new_unchecked(Quaternion::from_imag(third)) * turn;
    }
    Isometry3::from_parts(place.into(), turn)
}
