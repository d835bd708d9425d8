//! Files for other physics engines represent the state of the simulation.

use std::path::Path;

use gltf::mesh::util::ReadIndices;
use levelset::TriMesh;
use nalgebra::{Matrix3, Point3, Quaternion, UnitQuaternion, Vector3};
use serde_json::Value;

use crate::cli::{Case, SCENE, TETRAHEDRON};
use crate::glb::assert_valid;

const BODIES: &str = "KHR_physics_rigid_bodies";

/// A pane that hangs on a hinge with a motor, a weld, a rope, a slider and a ball joint; shapes of every kind; two
/// groups that do not collide.
const MACHINE: &str = r#"version = 1
[simulation]
frames = 8

[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"

[[body]]
name = "post"
shape = { box = { half_extents = [0.1, 1, 0.1] } }
position = [0, 1, 0]
motion = "static"

[[body]]
name = "door"
shape = { box = { half_extents = [0.4, 0.5, 0.02] } }
position = [0.52, 1, 0]
density = 600

[[body]]
name = "drum"
shape = { cylinder = { half_height = 0.2, radius = 0.1 } }
position = [2, 2, 0]
velocity = [1, 0, 0.5]
angular_velocity = [3, 4, 5]
groups = ["air"]
collides_with = ["default"]

[[body]]
name = "pill"
shape = { capsule = { half_height = 0.2, radius = 0.1 } }
position = [2, 2.6, 0]

[[body]]
name = "cone"
shape = { cone = { half_height = 0.2, radius = 0.1 } }
position = [3, 2.6, 0]
rotation = { axis = [1, 0, 0], degrees = 40 }
groups = ["air"]
collides_with = ["default"]

[[body]]
name = "ball"
shape = { sphere = { radius = 0.1 } }
position = [3, 3.4, 0]
restitution = 0.7

[[body]]
name = "cart"
shape = { box = { half_extents = [0.1, 0.1, 0.1] } }
position = [-1, 1, 0]
velocity = [-1, 0, 0]

[[joints]]
kind = "hinge"
bodies = ["door", "post"]
anchor = [0.12, 1, 0]
axis = [0, 1, 0]
limits = [-90, 90]
motor = { speed = 2, most = 50 }

[[joints]]
kind = "slider"
bodies = ["cart", "post"]
anchor = [-1, 1, 0]
axis = [1, 0, 0]
limits = [-0.5, 0.5]

[[joints]]
kind = "fixed"
bodies = ["drum", "pill"]
anchor = [2, 2.3, 0]

[[joints]]
kind = "point"
bodies = ["cone", "pill"]
anchor = [2.5, 2.6, 0]

[[joints]]
kind = "distance"
bodies = ["ball", "cone"]
anchor = [3, 3.3, 0]
second_anchor = [3, 2.9, 0]
limits = [0, 0.4]
"#;

/// The JSON of a GLB.
fn json(path: &Path) -> Value {
    let bytes = std::fs::read(path).unwrap();
    let len = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&bytes[20..20 + len]).unwrap()
}

fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    std::array::from_fn(|n| value[n].as_f64().unwrap_or(0.0))
}

fn quaternion(value: &Value) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(Quaternion::from(numbers::<4>(value)))
}

/// The last row of a ledger, by the names of columns.
fn last(ledger: &Path, name: &str) -> f64 {
    let text = std::fs::read_to_string(ledger).unwrap();
    let mut lines = text.lines();
    let column = lines.next().unwrap().split(',').position(|head| head == name).unwrap();
    lines.next_back().unwrap().split(',').nth(column).unwrap().parse().unwrap()
}

/// Mass, momentum, angular momentum about the origin and kinetic energy of the dynamic bodies of a file.
fn totals(document: &Value) -> (f64, Vector3<f64>, Vector3<f64>, f64) {
    let mut totals = (0.0, Vector3::zeros(), Vector3::zeros(), 0.0);
    for node in document["nodes"].as_array().unwrap() {
        let motion = &node["extensions"][BODIES]["motion"];
        let Some(mass) = motion["mass"].as_f64() else { continue };
        let turn = quaternion(&node["rotation"]);
        let in_world = |key: &str| turn * Vector3::from(numbers::<3>(&motion[key]));
        let (linear, angular) = (in_world("linearVelocity"), in_world("angularVelocity"));
        let at = Vector3::from(numbers::<3>(&node["translation"])) + in_world("centerOfMass");
        let axes = turn * quaternion(&motion["inertiaOrientation"]);
        let principal = Vector3::from(numbers::<3>(&motion["inertiaDiagonal"]));
        let inertia = axes.to_rotation_matrix().matrix()
            * Matrix3::from_diagonal(&principal)
            * axes.to_rotation_matrix().matrix().transpose();
        totals.0 += mass;
        totals.1 += mass * linear;
        totals.2 += mass * at.cross(&linear) + inertia * angular;
        totals.3 += 0.5 * (mass * linear.norm_squared() + angular.dot(&(inertia * angular)));
    }
    totals
}

/// The volumes of the convex colliders of each node with a motion.
fn collider_volumes(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).unwrap();
    // the extensions are unknown to the crate
    let glb = gltf::Gltf::from_slice_without_validation(&bytes).unwrap();
    let (document, blob) = (glb.document, glb.blob.unwrap());
    let mesh = |node: usize| {
        let mesh = document.nodes().nth(node).unwrap().mesh().unwrap();
        let primitive = mesh.primitives().next().unwrap();
        let reader = primitive.reader(|_| Some(&blob[..]));
        let vertices = reader.read_positions().unwrap();
        let indices: Vec<u32> = match reader.read_indices().unwrap() {
            ReadIndices::U16(indices) => indices.map(u32::from).collect(),
            ReadIndices::U32(indices) => indices.collect(),
            ReadIndices::U8(_) => unreachable!(),
        };
        let triangles = indices.as_chunks::<3>().0.to_vec();
        TriMesh { vertices: vertices.map(|v| Point3::from(v.map(f64::from))).collect(), triangles }
    };
    let json = json(path);
    let nodes = json["nodes"].as_array().unwrap();
    let volume = |node: &Value| {
        let geometry = &node["extensions"][BODIES]["collider"]["geometry"];
        assert!(geometry.is_null() || geometry["convexHull"] == Value::Bool(true));
        geometry["node"].as_u64().map_or(0.0, |node| mesh(node as usize).signed_volume())
    };
    let moving = nodes.iter().filter(|node| !node["extensions"][BODIES]["motion"].is_null());
    let of = |node: &Value| {
        let children = node["children"].as_array().into_iter().flatten();
        let children = children.map(|child| volume(&nodes[child.as_u64().unwrap() as usize]));
        volume(node) + children.sum::<f64>()
    };
    moving.map(of).collect()
}

#[test]
fn mass_momentum_and_energy_are_those_of_the_ledger() {
    for scene in [SCENE, MACHINE] {
        let case = Case::new(&[("scene.toml", scene)]);
        let more = ["--ledger", "a.csv", "--physics", "a.glb"];
        let output = case.run(&[&["run", "scene.toml", "-q", "-o", "a.jsonl"], &more[..]].concat());
        assert!(output.status.success(), "{output:?}");
        let place = |name: &str| case.folder.path().join(name);
        let ledger = |name: &str| last(&place("a.csv"), name);
        let three = |name: &str| {
            Vector3::from(["x", "y", "z"].map(|axis| ledger(&format!("{name}_{axis}"))))
        };
        let document = json(&place("a.glb"));
        let (mass, momentum, angular, energy) = totals(&document);
        assert!((mass / ledger("mass") - 1.0).abs() < 1e-12, "{mass}");
        // poses of nodes are single precision
        let near = |a: Vector3<f64>, b: Vector3<f64>| (a - b).norm() < 2e-6 * (1.0 + b.norm());
        assert!(near(momentum, three("momentum")), "{momentum}");
        assert!(near(angular, three("angular_momentum")), "{angular}");
        assert!((energy / ledger("kinetic_energy") - 1.0).abs() < 2e-6, "{energy}");
        assert_eq!(document["scenes"][0]["extras"]["gravity"][1], -9.81);
        // the file is also a recording of one frame
        let bytes = std::fs::read(place("a.glb")).unwrap();
        let recording = brisance::format::glb::read_glb(&bytes).unwrap();
        let bodies = document["scenes"][0]["nodes"].as_array().unwrap().len();
        assert_eq!((recording.frames, recording.tracks.len()), (1, bodies));
        assert_valid(&[place("a.glb")]);
    }
}

#[test]
fn pieces_have_their_masses_and_colliders_of_their_volumes() {
    // a bar with a notch, so that pieces may be non-convex
    let notched = "v 0 0 0\nv 4 0 0\nv 4 2 0\nv 2 0.5 0\nv 0 2 0\n\
                   v 0 0 1\nv 4 0 1\nv 4 2 1\nv 2 0.5 1\nv 0 2 1\n\
                   f 1 4 2\nf 2 4 3\nf 1 5 4\nf 6 7 9\nf 7 8 9\nf 6 9 10\n\
                   f 1 2 7\nf 1 7 6\nf 2 3 8\nf 2 8 7\nf 3 4 9\nf 3 9 8\nf 4 5 10\nf 4 10 9\nf 5 1 6\nf 5 6 10\n";
    let case = Case::new(&[("bar.obj", notched)]);
    let pieces = ["fracture", "bar.obj", "--pattern", "slices:2", "-o", "a.jsonl"];
    let output =
        case.run(&[&pieces[..], &["--density", "3", "--json", "--physics", "a.glb"]].concat());
    assert!(output.status.success(), "{output:?}");
    let facts: Value = serde_json::from_slice(&output.stdout).unwrap();
    let path = case.folder.path().join("a.glb");
    let (mass, ..) = totals(&json(&path));
    assert!((mass / facts["mass"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    let volumes = collider_volumes(&path);
    let expected = facts["pieces"].as_array().unwrap();
    assert_eq!(volumes.len(), expected.len());
    for (volume, piece) in volumes.iter().zip(expected) {
        let off = volume / piece["volume"].as_f64().unwrap() - 1.0;
        assert!(off.abs() < 0.05, "{off}: {}", piece["name"]);
    }
    // the inertia tensor in the axes of the mesh
    let document = json(&path);
    for (node, piece) in document["nodes"].as_array().unwrap().iter().zip(expected) {
        let motion = &node["extensions"][BODIES]["motion"];
        let axes = quaternion(&motion["inertiaOrientation"]).to_rotation_matrix();
        let inertia = axes.matrix()
            * Matrix3::from_diagonal(&Vector3::from(numbers::<3>(&motion["inertiaDiagonal"])))
            * axes.matrix().transpose();
        let known = Matrix3::from_fn(|i, j| piece["inertia"][i][j].as_f64().unwrap());
        assert!((inertia - known).norm() < 1e-9 * known.norm());
        let at = Vector3::from(numbers::<3>(&node["translation"]))
            + Vector3::from(numbers::<3>(&motion["centerOfMass"]));
        assert!((at - Vector3::from(numbers::<3>(&piece["center"]))).norm() < 1e-6);
    }
    assert_valid(&[path]);
}

#[test]
fn joints_shapes_and_groups_are_those_of_the_scene() {
    let case = Case::new(&[("scene.toml", MACHINE)]);
    for name in ["a.glb", "a.usda"] {
        let output = case.run(&[
            "run",
            "scene.toml",
            "-q",
            "--frames",
            "1",
            "-o",
            "a.jsonl",
            "--physics",
            name,
        ]);
        assert!(output.status.success(), "{output:?}");
    }
    let document = json(&case.folder.path().join("a.glb"));
    let shapes = document["extensions"]["KHR_implicit_shapes"]["shapes"].as_array().unwrap();
    let kinds: Vec<&str> = shapes.iter().map(|shape| shape["type"].as_str().unwrap()).collect();
    let expected = ["box", "box", "box", "cylinder", "capsule", "cylinder", "sphere", "box"];
    assert_eq!(kinds, expected);
    let cone = &shapes[5]["cylinder"];
    assert_eq!([&cone["height"], &cone["radiusBottom"], &cone["radiusTop"]], [0.4, 0.1, 0.0]);
    let own = &document["extensions"][BODIES];
    let joints = own["physicsJoints"].as_array().unwrap();
    let limits = |n: usize| joints[n]["limits"].as_array().unwrap();
    assert_eq!([0, 1, 2, 3, 4].map(|n| limits(n).len()), [3, 3, 2, 1, 1]);
    assert!((limits(0)[2]["max"].as_f64().unwrap() - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    let drive = &joints[0]["drives"][0];
    assert_eq!([&drive["velocityTarget"], &drive["maxForce"]], [2.0, 50.0]);
    assert!((limits(4)[0]["max"].as_f64().unwrap() - 0.4).abs() < 1e-9);
    assert_eq!(own["collisionFilters"][1]["notCollideWithSystems"], serde_json::json!(["group 1"]));
    // both nodes of a joint have one position in the world
    let nodes = document["nodes"].as_array().unwrap();
    let place = |node: usize| {
        let is_parent = |parent: &&Value| {
            let children = parent["children"].as_array();
            children.is_some_and(|children| children.contains(&serde_json::json!(node)))
        };
        let parent = nodes.iter().find(is_parent).unwrap();
        let local = Vector3::from(numbers::<3>(&nodes[node]["translation"]));
        quaternion(&parent["rotation"]) * local
            + Vector3::from(numbers::<3>(&parent["translation"]))
    };
    let joined = nodes.iter().enumerate().filter_map(|(n, node)| {
        let joint = &node["extensions"][BODIES]["joint"];
        Some((n, joint["connectedNode"].as_u64()? as usize, joint["joint"].as_u64()?))
    });
    let mut count = 0;
    for (a, b, joint) in joined {
        let apart = place(a) - place(b);
        let most = match joint {
            // the cart moves along its axis at 1 m/s
            1 => (apart - Vector3::x() / 30.0).norm(),
            4 => apart.norm() - 0.4,
            _ => apart.norm(),
        };
        assert!(most < 1e-5, "{joint}: {apart}");
        count += 1;
    }
    assert_eq!(count, 5);

    let usd = std::fs::read_to_string(case.folder.path().join("a.usda")).unwrap();
    let has = |text: &str| assert!(usd.contains(text), "{text}");
    for kind in ["Revolute", "Prismatic", "Fixed", "Spherical", "Distance"] {
        has(&format!("def Physics{kind}Joint"));
    }
    has("float physics:upperLimit = 90\n");
    has("rel physics:body1 = </World/door>");
    has("rel physics:filteredGroups = [</World/Groups/group_1>]");
    for solid in ["Cube", "Cylinder", "Capsule", "Cone", "Sphere"] {
        has(&format!("def {solid} \"collider_0\""));
    }
}

#[test]
fn what_cannot_be_written_is_refused_before_the_run() {
    let case = Case::new(&[("scene.toml", SCENE), ("a.obj", TETRAHEDRON)]);
    let run = ["run", "scene.toml", "-q", "-o", "a.jsonl", "--physics"];
    let fracture = ["fracture", "a.obj", "--pattern", "voronoi:4", "-o", "a.glb", "--physics"];
    let cases = [
        (&run[..], "b.jsonl", ".glb, .usda or .usdc"),
        (&run, "a.jsonl", ".glb, .usda or .usdc"),
        (&run, "none/b.glb", "none"),
        (&fracture, "b.obj", ".glb, .usda or .usdc"),
        (&fracture, "a.glb", "two outputs"),
    ];
    for (command, file, message) in cases {
        let output = case.run(&[command, &[file]].concat());
        assert_eq!(output.status.code(), Some(2), "{file}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(message), "{text}");
        assert_eq!(case.names(), ["a.obj", "scene.toml"]);
    }
}

#[test]
fn a_cup_stays_hollow() {
    let cup = r#"version = 1
[simulation]
frames = 1
[[body]]
name = "cup"
density = 1000
[body.shape.combined]
parts = [
  { shape = { cylinder = { radius = 0.05, half_height = 0.07 } } },
  { shape = { cylinder = { radius = 0.044, half_height = 0.07 } }, op = "difference", position = [0, 0.008, 0] },
]
"#;
    let case = Case::new(&[("scene.toml", cup)]);
    let output = case.run(&["run", "scene.toml", "-q", "-o", "a.jsonl", "--physics", "a.glb"]);
    assert!(output.status.success(), "{output:?}");
    let path = case.folder.path().join("a.glb");
    let volumes = collider_volumes(&path);
    let exact = std::f64::consts::PI * (0.05_f64.powi(2) * 0.14 - 0.044_f64.powi(2) * 0.132);
    assert_eq!(volumes.len(), 1);
    // the walls are two samples thick
    assert!((0.98..1.08).contains(&(volumes[0] / exact)), "{} {exact}", volumes[0]);
    assert_valid(&[path]);
}
