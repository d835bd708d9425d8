//! Scenes for other physics engines.

use std::io::{self, Write};
use std::path::Path;

use levelset::TriMesh;
use meshfile::write_physics_glb;
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use sim::{
    Collider, ColliderSolid, JointKind, PhysicsBody, PhysicsJoint, PhysicsMotion, PhysicsScene,
    Track,
};

use super::usda::{Looks, Names, mesh, tuples};
use super::{WriteError, check};
use crate::output::write_whole;

/// What a physics scene can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhysicsFormat {
    /// Binary glTF with `KHR_physics_rigid_bodies`, `.glb`.
    Glb,
    /// Universal Scene Description with `UsdPhysics` as text, `.usda`.
    Usda,
}

impl PhysicsFormat {
    /// The endings, for messages.
    pub const ENDINGS: &str = ".glb or .usda";

    /// The format that a path asks for by its ending.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "glb" => Some(Self::Glb),
            "usda" => Some(Self::Usda),
            _ => None,
        }
    }

    /// Writes `scene` to `path`, whole or not at all.
    ///
    /// # Errors
    /// [`WriteError`] when the scene holds what the format cannot, or writing fails.
    pub fn write(self, scene: &PhysicsScene, path: &Path) -> Result<(), WriteError> {
        match self {
            Self::Glb => write_whole(path, |out| write_physics_glb(scene, out)),
            Self::Usda => write_whole(path, |out| write_usda(scene, out)),
        }
    }
}

/// A body is an `Xform` with its motion, whose children are what is drawn and, as guides, what it collides with.
fn write_usda(scene: &PhysicsScene, out: &mut impl Write) -> Result<(), WriteError> {
    let recording = scene.recording.drawn();
    check(&recording)?;
    writeln!(out, "#usda 1.0\n(\n    defaultPrim = \"World\"")?;
    writeln!(out, "    kilogramsPerUnit = 1\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n")?;
    writeln!(out, "def Xform \"World\"\n{{")?;
    let looks = Looks::of(&recording);
    looks.write(out)?;
    let strength = scene.gravity.norm();
    let direction = scene.gravity.try_normalize(0.0).unwrap_or(-Vector3::y());
    writeln!(out, "    def PhysicsScene \"PhysicsScene\"\n    {{")?;
    writeln!(out, "        vector3f physics:gravityDirection = {}", tuple(direction.as_slice()))?;
    writeln!(out, "        float physics:gravityMagnitude = {strength}\n    }}")?;
    let materials = materials(scene, out)?;
    let mut names = Names::taken(&["Looks", "PhysicsScene", "PhysicsMaterials", "Groups"]);
    let paths: Vec<String> = recording.tracks.iter().map(|track| names.of(&track.name)).collect();
    for ((body, track), (path, material)) in
        scene.bodies.iter().zip(&recording.tracks).zip(paths.iter().zip(materials))
    {
        write_body((body, track), (path, looks.names(track)), material, out)?;
    }
    for joint in &scene.joints {
        write_joint(joint, &paths, &names.of("joint"), out)?;
    }
    write_groups(scene, &paths, out)?;
    writeln!(out, "}}")?;
    Ok(())
}

/// The materials of bodies; returns the number of each body's.
fn materials(scene: &PhysicsScene, out: &mut impl Write) -> io::Result<Vec<usize>> {
    let mut known: Vec<[f64; 2]> = Vec::new();
    let number = |body: &PhysicsBody| {
        let own = [body.friction, body.restitution];
        known.iter().position(|other| *other == own).unwrap_or_else(|| {
            known.push(own);
            known.len() - 1
        })
    };
    let numbers = scene.bodies.iter().map(number).collect();
    writeln!(out, "    def Scope \"PhysicsMaterials\"\n    {{")?;
    for (n, [friction, restitution]) in known.iter().enumerate() {
        writeln!(out, "        def Material \"material_{n}\" (")?;
        writeln!(out, "            prepend apiSchemas = [\"PhysicsMaterialAPI\"]")?;
        writeln!(out, "        )\n        {{")?;
        writeln!(out, "            float physics:staticFriction = {friction}")?;
        writeln!(out, "            float physics:dynamicFriction = {friction}")?;
        writeln!(out, "            float physics:restitution = {restitution}\n        }}")?;
    }
    writeln!(out, "    }}")?;
    Ok(numbers)
}

fn write_body(
    (body, track): (&PhysicsBody, &Track),
    (path, looks): (&str, &[String; 2]),
    material: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let name = serde_json::Value::from(track.name.as_str());
    writeln!(out, "    def Xform \"{path}\" (\n        displayName = {name}")?;
    match body.motion {
        PhysicsMotion::Static => {}
        PhysicsMotion::Kinematic(_) => {
            writeln!(out, "        prepend apiSchemas = [\"PhysicsRigidBodyAPI\"]")?;
        }
        PhysicsMotion::Dynamic(..) => {
            let schemas = "\"PhysicsRigidBodyAPI\", \"PhysicsMassAPI\"";
            writeln!(out, "        prepend apiSchemas = [{schemas}]")?;
        }
    }
    writeln!(out, "    )\n    {{")?;
    let velocity = match body.motion {
        PhysicsMotion::Static => None,
        PhysicsMotion::Kinematic(velocity) => {
            writeln!(out, "        bool physics:kinematicEnabled = 1")?;
            Some(velocity)
        }
        PhysicsMotion::Dynamic(mass, velocity) => {
            writeln!(out, "        float physics:mass = {}", mass.mass)?;
            let center = tuple(mass.center.coords.as_slice());
            writeln!(out, "        point3f physics:centerOfMass = {center}")?;
            let inertia = tuple(mass.inertia.as_slice());
            writeln!(out, "        float3 physics:diagonalInertia = {inertia}")?;
            writeln!(out, "        quatf physics:principalAxes = {}", quaternion(&mass.axes))?;
            Some(velocity)
        }
    };
    if let Some(velocity) = velocity {
        let linear = tuple(velocity.linear.as_slice());
        let angular = tuple(velocity.angular.map(f64::to_degrees).as_slice());
        writeln!(out, "        vector3f physics:velocity = {linear}")?;
        writeln!(out, "        vector3f physics:angularVelocity = {angular}")?;
    }
    let pose = track.poses.first().copied().unwrap_or_default();
    write_pose(&pose, "        ", out)?;
    let surface = track.surface();
    if !surface.vertices.is_empty() {
        mesh(&surface, track.look.color, ("drawn", looks), out)?;
    }
    for (n, collider) in body.colliders.iter().enumerate() {
        write_collider(collider, (n, material), out)?;
    }
    writeln!(out, "    }}")
}

fn write_pose(pose: &Isometry3<f64>, indent: &str, out: &mut impl Write) -> io::Result<()> {
    let place = tuple(pose.translation.vector.as_slice());
    writeln!(out, "{indent}double3 xformOp:translate = {place}")?;
    writeln!(out, "{indent}quatd xformOp:orient = {}", quaternion(&pose.rotation))?;
    let order = "[\"xformOp:translate\", \"xformOp:orient\"]";
    writeln!(out, "{indent}uniform token[] xformOpOrder = {order}")
}

fn write_collider(
    collider: &Collider,
    (number, material): (usize, usize),
    out: &mut impl Write,
) -> io::Result<()> {
    let (kind, is_mesh) = match &collider.solid {
        ColliderSolid::Box(_) => ("Cube", false),
        ColliderSolid::Ball(_) => ("Sphere", false),
        ColliderSolid::Cylinder { radii: [_, top], .. } if *top == 0.0 => ("Cone", false),
        ColliderSolid::Cylinder { .. } => ("Cylinder", false),
        ColliderSolid::Capsule { .. } => ("Capsule", false),
        ColliderSolid::Hull(_) | ColliderSolid::Mesh(_) => ("Mesh", true),
    };
    let more = if is_mesh { ", \"PhysicsMeshCollisionAPI\"" } else { "" };
    writeln!(out, "        def {kind} \"collider_{number}\" (")?;
    let schemas = format!("\"PhysicsCollisionAPI\", \"MaterialBindingAPI\"{more}");
    writeln!(out, "            prepend apiSchemas = [{schemas}]\n        )\n        {{")?;
    let bound = format!("</World/PhysicsMaterials/material_{material}>");
    writeln!(out, "            rel material:binding:physics = {bound}")?;
    writeln!(out, "            uniform token purpose = \"guide\"")?;
    let mut order = Vec::new();
    if collider.center.coords != Vector3::zeros() {
        let place = tuple(collider.center.coords.as_slice());
        writeln!(out, "            double3 xformOp:translate = {place}")?;
        order.push("\"xformOp:translate\"");
    }
    match &collider.solid {
        ColliderSolid::Box(half) => {
            writeln!(out, "            double size = 2")?;
            writeln!(out, "            float3 xformOp:scale = {}", tuple(half.as_slice()))?;
            order.push("\"xformOp:scale\"");
        }
        ColliderSolid::Ball(radius) => writeln!(out, "            double radius = {radius}")?,
        ColliderSolid::Cylinder { half_height, radii: [radius, _] } => {
            write_round([2.0 * half_height, *radius], out)?;
        }
        ColliderSolid::Capsule { half_height, radius } => {
            write_round([2.0 * half_height, *radius], out)?;
        }
        ColliderSolid::Hull(mesh) => write_mesh(mesh, "convexHull", out)?,
        ColliderSolid::Mesh(mesh) => write_mesh(mesh, "none", out)?,
    }
    if !order.is_empty() {
        writeln!(out, "            uniform token[] xformOpOrder = [{}]", order.join(", "))?;
    }
    writeln!(out, "        }}")
}

fn write_round([height, radius]: [f64; 2], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "            uniform token axis = \"Y\"")?;
    writeln!(out, "            double height = {height}\n            double radius = {radius}")
}

fn write_mesh(mesh: &TriMesh, approximation: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "            uniform token physics:approximation = \"{approximation}\"")?;
    writeln!(out, "            uniform token subdivisionScheme = \"none\"")?;
    write!(out, "            point3f[] points = ")?;
    let points: Vec<[f32; 3]> =
        mesh.vertices.iter().map(|p| p.coords.map(|x| x as f32).into()).collect();
    tuples(&points, out)?;
    let threes = vec!["3"; mesh.triangles.len()].join(", ");
    writeln!(out, "            int[] faceVertexCounts = [{threes}]")?;
    let indices: Vec<String> = mesh.triangles.iter().flatten().map(u32::to_string).collect();
    writeln!(out, "            int[] faceVertexIndices = [{}]", indices.join(", "))
}

/// A joint turns or moves its second body relative to the first, ours the first relative to the second.
fn write_joint(
    joint: &PhysicsJoint,
    paths: &[String],
    name: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let kind = match joint.kind {
        JointKind::Point => "PhysicsSphericalJoint",
        JointKind::Distance { .. } => "PhysicsDistanceJoint",
        JointKind::Hinge => "PhysicsRevoluteJoint",
        JointKind::Slider => "PhysicsPrismaticJoint",
        JointKind::Fixed => "PhysicsFixedJoint",
    };
    let is_hinge = joint.kind == JointKind::Hinge;
    let drive = if is_hinge { "angular" } else { "linear" };
    writeln!(out, "    def {kind} \"{name}\" (")?;
    if joint.motor.is_some() {
        writeln!(out, "        prepend apiSchemas = [\"PhysicsDriveAPI:{drive}\"]")?;
    }
    writeln!(out, "    )\n    {{")?;
    for (n, side) in [(0, 1), (1, 0)] {
        let frame = &joint.frames[side];
        writeln!(out, "        rel physics:body{n} = </World/{}>", paths[joint.bodies[side]])?;
        let place = tuple(frame.translation.vector.as_slice());
        writeln!(out, "        point3f physics:localPos{n} = {place}")?;
        writeln!(out, "        quatf physics:localRot{n} = {}", quaternion(&frame.rotation))?;
    }
    writeln!(out, "        bool physics:collisionEnabled = {}", u8::from(joint.collides))?;
    let unit = |x: f64| if is_hinge { x.to_degrees() } else { x };
    if joint.kind != JointKind::Fixed && !matches!(joint.kind, JointKind::Distance { .. }) {
        writeln!(out, "        uniform token physics:axis = \"X\"")?;
    }
    if let JointKind::Distance { least, most } = joint.kind {
        writeln!(out, "        float physics:minDistance = {least}")?;
        writeln!(out, "        float physics:maxDistance = {most}")?;
    }
    if let Some([least, most]) = joint.limits {
        writeln!(out, "        float physics:lowerLimit = {}", unit(least))?;
        writeln!(out, "        float physics:upperLimit = {}", unit(most))?;
    }
    if let Some(motor) = joint.motor {
        let drive = format!("drive:{drive}:physics");
        writeln!(out, "        uniform token {drive}:type = \"force\"")?;
        writeln!(out, "        float {drive}:targetVelocity = {}", unit(motor.speed))?;
        if motor.most.is_finite() {
            writeln!(out, "        float {drive}:maxForce = {}", motor.most)?;
        }
        // per degree or meter a second
        writeln!(out, "        float {drive}:damping = {}", motor.damping() / unit(1.0))?;
    }
    writeln!(out, "    }}")
}

/// A collision group for the bodies of the same groups, which filters those that they do not meet.
fn write_groups(scene: &PhysicsScene, paths: &[String], out: &mut impl Write) -> io::Result<()> {
    let mut known = Vec::new();
    for body in &scene.bodies {
        if !known.contains(&body.groups) {
            known.push(body.groups);
        }
    }
    if known.len() < 2 {
        return Ok(());
    }
    writeln!(out, "    def Scope \"Groups\"\n    {{")?;
    for (n, own) in known.iter().enumerate() {
        let members = scene.bodies.iter().zip(paths).filter(|(body, _)| body.groups == *own);
        let members: Vec<String> = members.map(|(_, path)| format!("</World/{path}>")).collect();
        let others = known.iter().enumerate().filter(|(_, other)| !own.meet(other));
        let others: Vec<String> =
            others.map(|(other, _)| format!("</World/Groups/group_{other}>")).collect();
        writeln!(out, "        def PhysicsCollisionGroup \"group_{n}\" (")?;
        writeln!(out, "            prepend apiSchemas = [\"CollectionAPI:colliders\"]")?;
        writeln!(out, "        )\n        {{")?;
        writeln!(out, "            rel collection:colliders:includes = [{}]", members.join(", "))?;
        writeln!(out, "            rel physics:filteredGroups = [{}]", others.join(", "))?;
        writeln!(out, "        }}")?;
    }
    writeln!(out, "    }}")
}

fn tuple(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
    format!("({})", numbers.join(", "))
}

/// The real part first.
fn quaternion(rotation: &UnitQuaternion<f64>) -> String {
    let Quaternion { coords } = rotation.quaternion();
    tuple(&[coords.w, coords.x, coords.y, coords.z])
}
