//! Restrictions of two-dimensional worlds.

use nalgebra::Vector3;

use super::check::{at, require};
use super::{Axis, Body, InvalidValue, Joint, JointKind, Motion, Rotation, Scene, Shape};

/// Tolerance of the cosine of an axis along z.
const ALONG: f64 = 1e-12;

impl Scene {
    /// Checks that everything stays in the plane z = 0 if `simulation.plane` is set.
    pub(super) fn check_plane(&self) -> Result<(), InvalidValue> {
        if !self.simulation.plane {
            return Ok(());
        }
        flat("simulation.gravity", &self.simulation.gravity)?;
        if let Some(wind) = &self.wind {
            flat("wind.velocity", &wind.velocity)?;
        }
        for (n, body) in self.bodies.iter().enumerate() {
            flat_body(&format!("body[{n}]"), body)?;
        }
        for (n, joint) in self.joints.iter().enumerate() {
            flat_joint(&format!("joints[{n}]"), joint)?;
        }
        for (n, event) in self.events.iter().enumerate() {
            let key = format!("event[{n}]");
            let problem = "must be removed: nothing is cut with `simulation.plane`";
            require(event.cut.is_none(), &at(&key, "cut"), || problem)?;
            if let Some(explosion) = &event.explode {
                flat(&at(&key, "explode.at"), &explosion.at)?;
            }
            if let Some(push) = &event.push {
                flat(&at(&key, "push.impulse"), &push.impulse)?;
            }
        }
        Ok(())
    }
}

fn flat_body(key: &str, body: &Body) -> Result<(), InvalidValue> {
    let key_of = |name: &str| at(key, name);
    for (name, is_given) in
        [("fracture", body.fracture.is_some()), ("anchor", !body.anchors.is_empty())]
    {
        let problem = "must be removed: nothing breaks with `simulation.plane`";
        require(!is_given, &key_of(name), || problem)?;
    }
    flat(&key_of("position"), &body.position)?;
    flat(&key_of("velocity"), &body.velocity)?;
    let spin = body.angular_velocity;
    require(spin[0] == 0.0 && spin[1] == 0.0, &key_of("angular_velocity"), || {
        format!("must be along z with `simulation.plane`, not {spin:?}")
    })?;
    if let Shape::Plane(plane) = &body.shape {
        flat(&key_of("shape.plane.normal"), &plane.normal)?;
        return turned(&key_of("rotation"), body.rotation, &[Vector3::z()]);
    }
    let flat_shapes =
        "must be a sphere, box, cylinder, capsule, polygon or plane with `simulation.plane`";
    let [x, y, z] = [Vector3::x(), Vector3::y(), Vector3::z()];
    let axes: &[Vector3<f64>] = match body.shape {
        Shape::Sphere(_) | Shape::Box(_) | Shape::Cylinder(_) | Shape::Capsule(_) => &[x, y, z],
        Shape::Polygon(_) => &[z],
        _ => return require(false, &key_of("shape"), || flat_shapes),
    };
    turned(&key_of("rotation"), body.rotation, axes)?;
    if let Some(copies) = &body.copies {
        let key = key_of("copies");
        require(copies.count[2] == 1, &at(&key, "count"), || {
            format!("must be 1 along z with `simulation.plane`, not {}", copies.count[2])
        })?;
        require(
            copies.mirror != Some(Axis::Z),
            &at(&key, "mirror"),
            || "must be \"x\" or \"y\" with `simulation.plane`: all lies in the plane across z",
        )?;
        let problem = "must be 0 with `simulation.plane`: it is random in three dimensions";
        require(copies.jitter == 0.0, &at(&key, "jitter"), || problem)?;
        require(copies.turn_jitter == 0.0, &at(&key, "turn_jitter"), || problem)?;
        turned(&at(&key, "turn"), copies.turn, &[z])?;
    }
    let keyframes = body.keyframes.iter().flatten();
    for (n, keyframe) in keyframes.enumerate().filter(|_| body.motion == Motion::Kinematic) {
        let key = format!("{key}.keyframes[{n}]");
        flat(&at(&key, "position"), &keyframe.position)?;
        turned(&at(&key, "rotation"), keyframe.rotation, axes)?;
    }
    Ok(())
}

fn flat_joint(key: &str, joint: &Joint) -> Result<(), InvalidValue> {
    let turns = matches!(joint.kind, JointKind::Point | JointKind::Distance);
    require(
        turns,
        &at(key, "kind"),
        || "must be \"point\", which turns about z, or \"distance\" with `simulation.plane`",
    )?;
    flat(&at(key, "anchor"), &joint.anchor)?;
    joint.second_anchor.map_or(Ok(()), |second| flat(&at(key, "second_anchor"), &second))
}

/// Checks that a vector is in the plane.
fn flat(key: &str, v: &[f64; 3]) -> Result<(), InvalidValue> {
    require(v[2] == 0.0, key, || {
        format!("must have 0 as its third number with `simulation.plane`, not {:?}", v[2])
    })
}

/// Checks that the rotation brings one of `axes` onto the z axis.
fn turned(key: &str, rotation: Rotation, axes: &[Vector3<f64>]) -> Result<(), InvalidValue> {
    let turn = rotation.to_quaternion();
    let is_along = |axis: &Vector3<f64>| (turn * axis).z.abs() > 1.0 - ALONG;
    require(
        axes.iter().any(is_along),
        key,
        || "must be about z, or bring an axis of the shape there, with `simulation.plane`",
    )
}
