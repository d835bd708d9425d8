//! Physics scenes as binary glTF, with the draft extensions `KHR_physics_rigid_bodies` and
//! `KHR_implicit_shapes`.
//!
//! A body is a node with its motion. Its collider is on that node or, if it is one of several or
//! off the origin, on a child. The meshes of convex solids belong to nodes outside the scene, so
//! that nothing draws them.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use levelset::TriMesh;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use serde_json::{Map, Value, json};
use sim::{
    Collider, ColliderSolid, Combine, Groups, JointKind, PhysicsBody, PhysicsJoint, PhysicsMotion,
    PhysicsScene,
};

use super::chunks::{write_head, write_surfaces};
use super::document::{Document, scene_of};
use super::encoded::Encoded;
use super::error::WriteError;

/// The extensions.
const BODIES: &str = "KHR_physics_rigid_bodies";
const SHAPES: &str = "KHR_implicit_shapes";

/// Writes `scene` as one GLB to `out`. The gravity, which the format does not support, is in the
/// scene's `extras`, m/s^2.
///
/// # Errors
/// [`WriteError`] if the scene contains data that the format cannot represent, or writing fails.
pub fn write_physics_glb(scene: &PhysicsScene, out: &mut impl Write) -> Result<(), WriteError> {
    let PhysicsScene { recording, .. } = scene;
    let mut document = Document::of_surfaces(recording)?;
    document.add_tracks(recording, &|track| Ok(recording.tracks[track].trace()))?;
    let mut physics = Physics { groups: groups(&scene.bodies), ..Physics::default() };
    for (node, (body, track)) in scene.bodies.iter().zip(&recording.tracks).enumerate() {
        let pose = track.poses.first().copied().unwrap_or_default();
        physics.add_body(node, body, &pose, &mut document);
    }
    scene.joints.iter().for_each(|joint| physics.add_joint(joint, &mut document));
    physics.filter();
    let hulls = std::mem::take(&mut physics.hulls);
    let images = std::mem::take(&mut document.images);
    document.extensions.extend(physics.finish());
    let (mut json, layout) = document.finish(scene_of(recording));
    json["scenes"][0]["extras"]["gravity"] = json!(scene.gravity.as_slice());
    write_head(&json, &layout, out)?;
    write_surfaces(recording, &images, out)?;
    hulls.iter().try_for_each(|hull| out.write_all(&hull.bytes))?;
    Ok(())
}

/// The lists of the extensions under construction.
#[derive(Default)]
struct Physics {
    shapes: Vec<Value>,
    materials: Vec<Value>,
    joints: Vec<Value>,
    filters: Vec<Value>,
    /// Distinct groups of bodies; one filter each.
    groups: Vec<Groups>,
    /// Geometries by the address of the colliders and the index among them.
    geometries: BTreeMap<(usize, usize), Value>,
    /// Meshes of convex solids, in the order of the binary chunk.
    hulls: Vec<Encoded>,
}

impl Physics {
    fn add_body(
        &mut self,
        node: usize,
        body: &PhysicsBody,
        pose: &Isometry3<f64>,
        document: &mut Document<'_>,
    ) {
        let mut own = Map::new();
        if let Some(motion) = motion(&body.motion, &pose.rotation) {
            own.insert("motion".to_owned(), motion);
        }
        let material = self.material(body);
        // one group filters nothing
        let filter = (self.groups.len() > 1).then(|| number_of(&mut self.groups, &body.groups));
        let address = Arc::as_ptr(&body.colliders).cast::<Collider>().addr();
        let mut children = Vec::new();
        for (n, collider) in body.colliders.iter().enumerate() {
            let geometry = self.geometry((address, n), collider, document);
            let mut entry = json!({ "geometry": geometry, "physicsMaterial": material });
            if let Some(filter) = filter {
                entry["collisionFilter"] = json!(filter);
            }
            if body.colliders.len() == 1 && collider.center.coords == Vector3::zeros() {
                own.insert("collider".to_owned(), entry);
                continue;
            }
            let translation = collider.center.coords.map(|x| x as f32);
            children.push(document.push_node(json!({
                "translation": translation.as_slice(),
                "extensions": { BODIES: { "collider": entry } },
            })));
        }
        if !own.is_empty() {
            document.nodes[node]["extensions"] = json!({ BODIES: own });
        }
        document.add_children(node, &children);
    }

    fn material(&mut self, body: &PhysicsBody) -> usize {
        let PhysicsBody { friction, friction_rule, restitution, restitution_rule, .. } = body;
        let (friction, friction_rule) = combined(*friction, *friction_rule);
        let (restitution, restitution_rule) = combined(*restitution, *restitution_rule);
        let material = json!({
            "staticFriction": friction,
            "dynamicFriction": friction,
            "restitution": restitution,
            "frictionCombine": friction_rule,
            "restitutionCombine": restitution_rule,
        });
        number_of(&mut self.materials, &material)
    }

    fn geometry(
        &mut self,
        key: (usize, usize),
        collider: &Collider,
        document: &mut Document<'_>,
    ) -> Value {
        if let Some(known) = self.geometries.get(&key) {
            return known.clone();
        }
        let shape = |physics: &mut Self, shape: Value| json!({ "shape": number_of(&mut physics.shapes, &shape) });
        let geometry = match &collider.solid {
            ColliderSolid::Box(half) => {
                let size = half * 2.0;
                shape(self, json!({ "type": "box", "box": { "size": size.as_slice() } }))
            }
            ColliderSolid::Ball(radius) => {
                shape(self, json!({ "type": "sphere", "sphere": { "radius": radius } }))
            }
            ColliderSolid::Cylinder { half_height, radii: [bottom, top] } => {
                let size = json!({
                    "height": 2.0 * half_height, "radiusBottom": bottom, "radiusTop": top });
                shape(self, json!({ "type": "cylinder", "cylinder": size }))
            }
            ColliderSolid::Capsule { half_height, radius } => {
                let size = json!({
                    "height": 2.0 * half_height, "radiusBottom": radius, "radiusTop": radius });
                shape(self, json!({ "type": "capsule", "capsule": size }))
            }
            ColliderSolid::Hull(mesh) => {
                json!({ "node": self.add_mesh(mesh, document), "convexHull": true })
            }
            ColliderSolid::Mesh(mesh) => json!({ "node": self.add_mesh(mesh, document) }),
        };
        self.geometries.insert(key, geometry.clone());
        geometry
    }

    /// The node of a mesh that is not drawn.
    fn add_mesh(&mut self, mesh: &TriMesh, document: &mut Document<'_>) -> usize {
        let encoded = Encoded::of_mesh(mesh);
        let primitive = document.buffer.add_surface(&encoded);
        let indices = primitive.indices.first().map(|(_, accessor)| *accessor);
        let entry = json!({ "primitives": [{
            "attributes": { "POSITION": primitive.positions }, "indices": indices }] });
        document.meshes.push(entry);
        self.hulls.push(encoded);
        let mesh = document.meshes.len() - 1;
        document.push_node(json!({ "mesh": mesh }))
    }

    fn add_joint(&mut self, joint: &PhysicsJoint, document: &mut Document<'_>) {
        let number = number_of(&mut self.joints, &joint_facts(joint));
        let [a, b] = [0, 1].map(|side| {
            let node = document.push_node(placed(&joint.frames[side]));
            document.add_children(joint.bodies[side], &[node]);
            node
        });
        // in the format, limits and drives move the connected node relative to the other, in ours
        // the first body
        document.nodes[b]["extensions"] = json!({ BODIES: { "joint": {
            "connectedNode": a, "joint": number, "enableCollision": joint.collides } } });
    }

    /// Makes the filters: groups that do not collide exclude each other.
    fn filter(&mut self) {
        if self.groups.len() < 2 {
            return;
        }
        let name = |n: usize| format!("group {n}");
        for (n, own) in self.groups.iter().enumerate() {
            let others = self.groups.iter().enumerate().filter(|(_, other)| !own.meet(other));
            let others: Vec<String> = others.map(|(other, _)| name(other)).collect();
            let mut filter = json!({ "collisionSystems": [name(n)] });
            if !others.is_empty() {
                filter["notCollideWithSystems"] = json!(others);
            }
            self.filters.push(filter);
        }
    }

    /// The document-level extension data.
    fn finish(self) -> Vec<(&'static str, Value)> {
        let mut bodies = Map::new();
        let lists = [
            ("physicsMaterials", self.materials),
            ("collisionFilters", self.filters),
            ("physicsJoints", self.joints),
        ];
        // glTF does not allow empty lists
        for (name, list) in lists {
            if !list.is_empty() {
                bodies.insert(name.to_owned(), Value::Array(list));
            }
        }
        let mut extensions = vec![(BODIES, Value::Object(bodies))];
        if !self.shapes.is_empty() {
            extensions.push((SHAPES, json!({ "shapes": self.shapes })));
        }
        extensions
    }
}

/// The distinct groups of bodies.
fn groups(bodies: &[PhysicsBody]) -> Vec<Groups> {
    let mut groups = Vec::new();
    for body in bodies {
        number_of(&mut groups, &body.groups);
    }
    groups
}

/// The index of `entry` in a list, appended if it is new.
fn number_of<T: PartialEq + Clone>(list: &mut Vec<T>, entry: &T) -> usize {
    list.iter().position(|known| known == entry).unwrap_or_else(|| {
        list.push(entry.clone());
        list.len() - 1
    })
}

/// The motion of a body, with velocities in the axes of its node as the extension requires.
fn motion(motion: &PhysicsMotion, turn: &UnitQuaternion<f64>) -> Option<Value> {
    let (mut entry, velocity) = match motion {
        PhysicsMotion::Static => return None,
        PhysicsMotion::Kinematic(velocity) => (json!({ "isKinematic": true }), velocity),
        PhysicsMotion::Dynamic(mass, velocity) => {
            let entry = json!({
                "mass": mass.mass,
                "centerOfMass": mass.center.coords.as_slice(),
                // zero means infinity, as for bodies constrained to a plane
                "inertiaDiagonal": mass.inertia.map(|x| if x.is_finite() { x } else { 0.0 }).as_slice(),
                "inertiaOrientation": mass.axes.coords.as_slice(),
            });
            (entry, velocity)
        }
    };
    for (name, of) in [("linearVelocity", velocity.linear), ("angularVelocity", velocity.angular)] {
        if of != Vector3::zeros() {
            entry[name] = json!(turn.inverse_transform_vector(&of).as_slice());
        }
    }
    Some(entry)
}

/// A coefficient and a combine rule of the extension that are equivalent to ours.
fn combined(value: f64, rule: Combine) -> (f64, &'static str) {
    match rule {
        Combine::Average => (value, "average"),
        // the product of two roots
        Combine::GeometricMean => (value.sqrt(), "multiply"),
        Combine::Min => (value, "minimum"),
        Combine::Multiply => (value, "multiply"),
        Combine::Max => (value, "maximum"),
    }
}

/// A node at a pose.
fn placed(pose: &Isometry3<f64>) -> Value {
    json!({
        "translation": pose.translation.vector.map(|x| x as f32).as_slice(),
        "rotation": pose.rotation.coords.map(|x| x as f32).as_slice(),
    })
}

/// The limits and drives of a joint. Its axis is x.
fn joint_facts(joint: &PhysicsJoint) -> Value {
    let fixed = |kind: &str, axes: &[u8]| json!({ kind: axes, "min": 0.0, "max": 0.0 });
    let (linear, angular) = ("linearAxes", "angularAxes");
    let mut limits = match joint.kind {
        JointKind::Point => vec![fixed(linear, &[0, 1, 2])],
        JointKind::Distance { least, most } => {
            vec![json!({ linear: [0, 1, 2], "min": least, "max": most })]
        }
        JointKind::Hinge => vec![fixed(linear, &[0, 1, 2]), fixed(angular, &[1, 2])],
        JointKind::Slider => vec![fixed(linear, &[1, 2]), fixed(angular, &[0, 1, 2])],
        JointKind::Fixed => vec![fixed(linear, &[0, 1, 2]), fixed(angular, &[0, 1, 2])],
    };
    let (kind, axes) = match joint.kind {
        JointKind::Slider => ("linear", linear),
        _ => ("angular", angular),
    };
    if let Some([least, most]) = joint.limits {
        limits.push(json!({ axes: [0], "min": least, "max": most }));
    }
    let mut entry = json!({ "limits": limits });
    if let Some(motor) = joint.motor {
        let mut drive = json!({
            "type": kind, "mode": "force", "axis": 0, "velocityTarget": motor.speed,
            "damping": motor.damping(),
        });
        if motor.max_force.is_finite() {
            drive["maxForce"] = json!(motor.max_force);
        }
        entry["drives"] = json!([drive]);
    }
    entry
}
