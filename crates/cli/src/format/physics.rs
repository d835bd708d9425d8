//! Physics scenes for other engines.

use std::io::{Seek, Write};
use std::path::Path;

use levelset::TriMesh;
use meshfile::{WriteError, write_physics_glb};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use sim::{
    Collider, ColliderSolid, JointKind, PhysicsBody, PhysicsJoint, PhysicsMotion, PhysicsScene,
    Surface, Track,
};

use super::check::check;
use super::usd::{
    Encoding, Looks, MaterialNames, Metadata, Names, Prim, Value, add_triangles, mesh,
};
use crate::output::write_whole;

/// Output format of a physics scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhysicsFormat {
    /// Binary glTF with `KHR_physics_rigid_bodies`, `.glb`.
    Glb,
    /// Universal Scene Description with `UsdPhysics`, `.usda` or `.usdc`.
    Usd(Encoding),
}

impl PhysicsFormat {
    /// The extensions, for messages.
    pub const ENDINGS: &str = ".glb, .usda or .usdc";

    /// The format of a path according to its extension.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "glb" => Some(Self::Glb),
            "usda" => Some(Self::Usd(Encoding::Text)),
            "usdc" => Some(Self::Usd(Encoding::Binary)),
            _ => None,
        }
    }

    /// Writes `scene` to `path` atomically.
    ///
    /// # Errors
    /// [`WriteError`] if the scene contains data that the format cannot represent, or writing
    /// fails.
    pub fn write(self, scene: &PhysicsScene, path: &Path) -> Result<(), WriteError> {
        match self {
            Self::Glb => write_whole(path, |out| write_physics_glb(scene, out)),
            Self::Usd(encoding) => write_whole(path, |out| write_usd(scene, path, encoding, out)),
        }
    }
}

/// A body is an `Xform` with its motion. Its children are its visible geometry and, as guides, its
/// colliders.
fn write_usd(
    scene: &PhysicsScene,
    path: &Path,
    encoding: Encoding,
    out: &mut (impl Write + Seek),
) -> Result<(), WriteError> {
    let recording = scene.recording.with_surfaces();
    check(&recording)?;
    let metadata: &Metadata<'_> = &[
        ("kilogramsPerUnit", Value::Double(1.0)),
        ("metersPerUnit", Value::Double(1.0)),
        ("upAxis", Value::token("Y")),
    ];
    let mut encoder = encoding.encoder(out);
    encoder.begin(metadata)?;
    let looks = Looks::of(&recording, path);
    encoder.add(looks.prim())?;
    encoder.add(gravity(scene))?;
    let (materials, numbers) = materials(scene);
    encoder.add(materials)?;
    let mut names = Names::taken(&["Looks", "PhysicsScene", "PhysicsMaterials", "Groups"]);
    let paths: Vec<String> = recording.tracks.iter().map(|track| names.of(&track.name)).collect();
    for ((body, track), (path, material)) in
        scene.bodies.iter().zip(&recording.tracks).zip(paths.iter().zip(numbers))
    {
        let surface = track.surface();
        encoder.add(rigid_body(body, track, &surface, path, looks.names(track), material))?;
    }
    for joint in &scene.joints {
        encoder.add(joint_prim(joint, &paths, &names.of("joint")))?;
    }
    if let Some(groups) = groups(scene, &paths) {
        encoder.add(groups)?;
    }
    encoder.end()?;
    drop(encoder);
    Ok(looks.write_images(path)?)
}

fn gravity(scene: &PhysicsScene) -> Prim<'static> {
    let direction = scene.gravity.try_normalize(0.0).unwrap_or(-Vector3::y());
    let mut prim = Prim::new("PhysicsScene", "PhysicsScene");
    prim.set("vector3f", "physics:gravityDirection", float3(&direction));
    prim.set("float", "physics:gravityMagnitude", float(scene.gravity.norm()));
    prim
}

/// The materials of bodies, and the material index of each body.
fn materials(scene: &PhysicsScene) -> (Prim<'static>, Vec<usize>) {
    let mut known: Vec<[f64; 2]> = Vec::new();
    let number = |body: &PhysicsBody| {
        let own = [body.friction, body.restitution];
        known.iter().position(|other| *other == own).unwrap_or_else(|| {
            known.push(own);
            known.len() - 1
        })
    };
    let numbers = scene.bodies.iter().map(number).collect();
    let mut all = Prim::new("Scope", "PhysicsMaterials");
    for (n, [friction, restitution]) in known.into_iter().enumerate() {
        let mut material =
            Prim::new("Material", format!("material_{n}")).with_schemas(&["PhysicsMaterialAPI"]);
        material.set("float", "physics:staticFriction", float(friction));
        material.set("float", "physics:dynamicFriction", float(friction));
        material.set("float", "physics:restitution", float(restitution));
        all.add_child(material);
    }
    (all, numbers)
}

fn rigid_body<'a>(
    body: &'a PhysicsBody,
    track: &'a Track,
    surface: &'a Surface,
    path: &str,
    looks: &MaterialNames,
    material: usize,
) -> Prim<'a> {
    let schemas: &[&str] = match body.motion {
        PhysicsMotion::Static => &[],
        PhysicsMotion::Kinematic(_) => &["PhysicsRigidBodyAPI"],
        PhysicsMotion::Dynamic(..) => &["PhysicsRigidBodyAPI", "PhysicsMassAPI"],
    };
    let mut prim = Prim::new("Xform", path).shown_as(&track.name).with_schemas(schemas);
    let velocity = match body.motion {
        PhysicsMotion::Static => None,
        PhysicsMotion::Kinematic(velocity) => {
            prim.set("bool", "physics:kinematicEnabled", Value::Bool(true));
            Some(velocity)
        }
        PhysicsMotion::Dynamic(mass, velocity) => {
            prim.set("float", "physics:mass", float(mass.mass));
            prim.set("point3f", "physics:centerOfMass", float3(&mass.center.coords));
            prim.set("float3", "physics:diagonalInertia", float3(&mass.inertia));
            prim.set("quatf", "physics:principalAxes", quatf(&mass.axes));
            Some(velocity)
        }
    };
    if let Some(velocity) = velocity {
        prim.set("vector3f", "physics:velocity", float3(&velocity.linear));
        let angular = velocity.angular.map(f64::to_degrees);
        prim.set("vector3f", "physics:angularVelocity", float3(&angular));
    }
    place(&track.poses.first().copied().unwrap_or_default(), &mut prim);
    if !surface.vertices.is_empty() {
        prim.add_child(mesh(surface, track.look.color, ("drawn", looks)));
    }
    for (n, solid) in body.colliders.iter().enumerate() {
        prim.add_child(collider(solid, n, material));
    }
    prim
}

fn place(pose: &Isometry3<f64>, prim: &mut Prim<'_>) {
    let place = Value::Double3(pose.translation.vector.into());
    prim.set("double3", "xformOp:translate", place);
    prim.set("quatd", "xformOp:orient", Value::Quatd(real_first(&pose.rotation)));
    let order = vec!["xformOp:translate", "xformOp:orient"];
    prim.set_uniform("token[]", "xformOpOrder", Value::Tokens(order));
}

fn collider<'a>(collider: &Collider, number: usize, material: usize) -> Prim<'a> {
    let (kind, is_mesh) = match &collider.solid {
        ColliderSolid::Box(_) => ("Cube", false),
        ColliderSolid::Ball(_) => ("Sphere", false),
        ColliderSolid::Cylinder { radii: [_, top], .. } if *top == 0.0 => ("Cone", false),
        ColliderSolid::Cylinder { .. } => ("Cylinder", false),
        ColliderSolid::Capsule { .. } => ("Capsule", false),
        ColliderSolid::Hull(_) | ColliderSolid::Mesh(_) => ("Mesh", true),
    };
    let schemas = ["PhysicsCollisionAPI", "MaterialBindingAPI", "PhysicsMeshCollisionAPI"];
    let schemas = if is_mesh { &schemas[..] } else { &schemas[..2] };
    let mut prim = Prim::new(kind, format!("collider_{number}")).with_schemas(schemas);
    let bound = format!("/World/PhysicsMaterials/material_{material}");
    prim.relate("material:binding:physics", bound);
    prim.set_uniform("token", "purpose", Value::token("guide"));
    let mut order = Vec::new();
    if collider.center.coords != Vector3::zeros() {
        prim.set("double3", "xformOp:translate", Value::Double3(collider.center.coords.into()));
        order.push("xformOp:translate");
    }
    match &collider.solid {
        ColliderSolid::Box(half) => {
            prim.set("double", "size", Value::Double(2.0));
            prim.set("float3", "xformOp:scale", float3(half));
            order.push("xformOp:scale");
        }
        ColliderSolid::Ball(radius) => prim.set("double", "radius", Value::Double(*radius)),
        ColliderSolid::Cylinder { half_height, radii: [radius, _] } => {
            set_round([2.0 * half_height, *radius], &mut prim);
        }
        ColliderSolid::Capsule { half_height, radius } => {
            set_round([2.0 * half_height, *radius], &mut prim);
        }
        ColliderSolid::Hull(mesh) => set_mesh(mesh, "convexHull", &mut prim),
        ColliderSolid::Mesh(mesh) => set_mesh(mesh, "none", &mut prim),
    }
    if !order.is_empty() {
        prim.set_uniform("token[]", "xformOpOrder", Value::Tokens(order));
    }
    prim
}

fn set_round([height, radius]: [f64; 2], prim: &mut Prim<'_>) {
    prim.set_uniform("token", "axis", Value::token("Y"));
    prim.set("double", "height", Value::Double(height));
    prim.set("double", "radius", Value::Double(radius));
}

fn set_mesh(mesh: &TriMesh, approximation: &'static str, prim: &mut Prim<'_>) {
    prim.set_uniform("token", "physics:approximation", Value::token(approximation));
    prim.set_uniform("token", "subdivisionScheme", Value::token("none"));
    let points: Vec<[f32; 3]> =
        mesh.vertices.iter().map(|p| p.coords.map(|x| x as f32).into()).collect();
    prim.set("point3f[]", "points", Value::Float3s(points.into()));
    add_triangles(mesh.triangles.as_flattened().to_vec(), prim);
}

/// In USD, a joint moves its second body relative to the first; ours moves the first relative to
/// the second.
fn joint_prim(joint: &PhysicsJoint, paths: &[String], name: &str) -> Prim<'static> {
    let kind = match joint.kind {
        JointKind::Point => "PhysicsSphericalJoint",
        JointKind::Distance { .. } => "PhysicsDistanceJoint",
        JointKind::Hinge => "PhysicsRevoluteJoint",
        JointKind::Slider => "PhysicsPrismaticJoint",
        JointKind::Fixed => "PhysicsFixedJoint",
    };
    let is_hinge = joint.kind == JointKind::Hinge;
    let drive = if is_hinge { "angular" } else { "linear" };
    let mut prim = Prim::new(kind, name);
    if joint.motor.is_some() {
        prim = prim.with_schemas(&[&format!("PhysicsDriveAPI:{drive}")]);
    }
    for (n, side) in [(0, 1), (1, 0)] {
        let frame = &joint.frames[side];
        let body = format!("/World/{}", paths[joint.bodies[side]]);
        prim.relate(&format!("physics:body{n}"), body);
        let place = float3(&frame.translation.vector);
        prim.set("point3f", &format!("physics:localPos{n}"), place);
        prim.set("quatf", &format!("physics:localRot{n}"), quatf(&frame.rotation));
    }
    prim.set("bool", "physics:collisionEnabled", Value::Bool(joint.collides));
    let unit = |x: f64| if is_hinge { x.to_degrees() } else { x };
    if joint.kind != JointKind::Fixed && !matches!(joint.kind, JointKind::Distance { .. }) {
        prim.set_uniform("token", "physics:axis", Value::token("X"));
    }
    if let JointKind::Distance { least, most } = joint.kind {
        prim.set("float", "physics:minDistance", float(least));
        prim.set("float", "physics:maxDistance", float(most));
    }
    if let Some([least, most]) = joint.limits {
        prim.set("float", "physics:lowerLimit", float(unit(least)));
        prim.set("float", "physics:upperLimit", float(unit(most)));
    }
    if let Some(motor) = joint.motor {
        let drive = |key: &str| format!("drive:{drive}:physics:{key}");
        prim.set_uniform("token", &drive("type"), Value::token("force"));
        prim.set("float", &drive("targetVelocity"), float(unit(motor.speed)));
        if motor.max_force.is_finite() {
            prim.set("float", &drive("maxForce"), float(motor.max_force));
        }
        // per degree or meter per second
        prim.set("float", &drive("damping"), float(motor.damping() / unit(1.0)));
    }
    prim
}

/// Collision groups, one for the bodies with equal groups, which filter out the groups that they do
/// not collide with; `None` if all bodies have equal groups.
fn groups(scene: &PhysicsScene, paths: &[String]) -> Option<Prim<'static>> {
    let mut known = Vec::new();
    for body in &scene.bodies {
        if !known.contains(&body.groups) {
            known.push(body.groups);
        }
    }
    if known.len() < 2 {
        return None;
    }
    let mut all = Prim::new("Scope", "Groups");
    for (n, own) in known.iter().enumerate() {
        let members = scene.bodies.iter().zip(paths).filter(|(body, _)| body.groups == *own);
        let members = members.map(|(_, path)| format!("/World/{path}")).collect();
        let others = known.iter().enumerate().filter(|(_, other)| !own.meet(other));
        let others = others.map(|(other, _)| format!("/World/Groups/group_{other}")).collect();
        let mut group = Prim::new("PhysicsCollisionGroup", format!("group_{n}"))
            .with_schemas(&["CollectionAPI:colliders"]);
        group.relate_all("collection:colliders:includes", members);
        group.relate_all("physics:filteredGroups", others);
        all.add_child(group);
    }
    Some(all)
}

fn float(x: f64) -> Value<'static> {
    Value::Float(x as f32)
}

fn float3(v: &Vector3<f64>) -> Value<'static> {
    Value::Float3(v.map(|x| x as f32).into())
}

fn quatf(rotation: &UnitQuaternion<f64>) -> Value<'static> {
    Value::Quatf(real_first(rotation).map(|x| x as f32))
}

fn real_first(rotation: &UnitQuaternion<f64>) -> [f64; 4] {
    let Quaternion { coords } = rotation.quaternion();
    [coords.w, coords.x, coords.y, coords.z]
}
