//! Mirrored copies of bodies.

use std::collections::BTreeMap;

use levelset::TriMesh;
use nalgebra::{Isometry3, Matrix3, Point3, Vector2, Vector3};
use sim::scene::Scene;
use sim::{
    Appearance, BodyState, MeshData, Paint, PaintedMesh, Recorder, Recording, Surface, World,
};

use crate::cli::Case;

/// A solid without any symmetry.
const MESH: &str = "shape = { mesh = { file = \"a.obj\"";

/// A tetrahedron with four different edges at its corner, painted.
fn painted() -> PaintedMesh {
    let vertices = [[0.1, 0.0, 0.0], [0.9, 0.1, 0.0], [0.0, 0.5, 0.1], [0.2, 0.1, 0.3]];
    let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    let vertices: Vec<Point3<f64>> = vertices.into_iter().map(Point3::from).collect();
    // a different point of the picture for each vertex
    let uv = |v: u32| Some(Vector2::new(0.1 + 0.2 * f64::from(v), 0.9 - 0.1 * f64::from(v)));
    let corners = triangles
        .iter()
        .map(|triangle: &[u32; 3]| triangle.map(|v| Paint { uv: uv(v), ..Paint::default() }));
    let corners = corners.collect();
    PaintedMesh { corners, ..TriMesh { vertices, triangles }.into() }
}

fn scene(body: &str) -> Scene {
    let text = format!(
        "version = 1\n[simulation]\ngravity = [0, -3, 0]\n[[body]]\nname = \"a\"\n{body}\n"
    );
    let mut scene = Scene::from_toml(&text).unwrap_or_else(|e| panic!("{body}: {e}"));
    let density = fracture::ndarray::array![[1.0, 0.0, 0.0], [1.0, 1.0, 0.3]];
    let map = fracture::DensityMap { density };
    scene.set_density_maps(|_| Ok::<_, ()>(map.clone())).unwrap();
    scene
}

fn made(body: &str) -> (World, Vec<Appearance>) {
    let meshes = BTreeMap::from([("a.obj".to_owned(), MeshData::Surface(painted()))]);
    sim::build(&scene(body), &meshes).unwrap_or_else(|e| panic!("{body}: {e}"))
}

/// The plane with a given coordinate along an axis.
#[derive(Clone, Copy)]
struct Mirror(usize, f64);

impl Mirror {
    fn point(&self, p: &Point3<f64>) -> Point3<f64> {
        let mut image = *p;
        image[self.0] = 2.0 * self.1 - image[self.0];
        image
    }

    fn vector(&self, v: &Vector3<f64>) -> Vector3<f64> {
        let mut image = *v;
        image[self.0] = -image[self.0];
        image
    }

    fn turn(&self, v: &Vector3<f64>) -> Vector3<f64> {
        -self.vector(v)
    }
}

/// Inertia along the axes of the world, kg m^2.
fn inertia(state: &BodyState<'_>) -> Matrix3<f64> {
    let turn = state.pose.rotation.to_rotation_matrix().into_inner();
    turn * Matrix3::from_diagonal(&state.body.mass_properties().unwrap().inertia())
        * turn.transpose()
}

/// Checks that the second of two bodies is the mirror image of the first, within a relative tolerance.
fn assert_image(world: &World, mirror: Mirror, tolerance: f64, what: &str) {
    let states: Vec<_> = world.iter().collect();
    let [a, b] = &states[..] else { panic!("{what}: {} bodies", states.len()) };
    let [mass, other] = [a, b].map(|s| s.body.mass_properties().unwrap().mass());
    assert!((mass / other - 1.0).abs() < tolerance, "{what}: {mass} and {other} kg");
    let center = |s: &BodyState<'_>| Point3::from(s.pose.translation.vector);
    let off = (mirror.point(&center(a)) - center(b)).norm();
    assert!(off < tolerance, "{what}: the center is off by {off} m");
    let flip = Matrix3::from_diagonal(&mirror.vector(&Vector3::repeat(1.0)));
    let expected = flip * inertia(a) * flip;
    let off = (expected - inertia(b)).norm() / expected.norm();
    assert!(off < tolerance, "{what}: inertia is off by {off}");
    let off = (mirror.vector(&a.momentum.linear) - b.momentum.linear).norm();
    assert!(off < tolerance * mass, "{what}: momentum is off by {off}");
    let off = (mirror.turn(&a.momentum.angular) - b.momentum.angular).norm();
    assert!(off < tolerance * mass, "{what}: angular momentum is off by {off}");
}

fn placed(surface: &Surface, pose: &Isometry3<f64>) -> Vec<Point3<f64>> {
    surface.vertices.iter().map(|v| pose * Point3::from(v.map(f64::from))).collect()
}

/// Checks that the drawn surfaces of two bodies in a frame are mirror images within a distance, with outward faces.
fn assert_drawn(recording: &Recording, frame: usize, mirror: Mirror, distance: f64) {
    let [a, b] = [0, 1].map(|n| {
        let track = &recording.tracks[n];
        let surface = track.surface();
        (placed(&surface, track.pose(frame).unwrap()), surface)
    });
    let volume = |(vertices, surface): &(Vec<Point3<f64>>, std::sync::Arc<Surface>)| {
        TriMesh { vertices: vertices.clone(), triangles: surface.outer.clone() }.signed_volume()
    };
    let [volume, other] = [volume(&a), volume(&b)];
    assert!(volume > 0.0 && (volume / other - 1.0).abs() < 0.01, "{volume} and {other} m^3");
    for (n, p) in a.0.iter().enumerate() {
        let image = mirror.point(p);
        // vertices at one position match by their texture coordinates
        let uv = |surface: &Surface, n: usize| surface.uvs.get(n).copied();
        let near = |m: &usize| {
            let far = (b.0[*m] - image).norm();
            let other = uv(&a.1, n).zip(uv(&b.1, *m));
            let same = other.is_none_or(|(u, v)| (0..2).all(|k| (u[k] - v[k]).abs() < 1e-5));
            far < distance && same
        };
        assert!((0..b.0.len()).any(|m| near(&m)), "no image of {p} at {image}");
    }
}

#[test]
fn a_mirrored_copy_is_the_image_of_a_mesh_and_stays_it_in_free_flight() {
    for (axis, own) in [0, 1, 2].into_iter().flat_map(|axis| (0..4).map(move |own| (axis, own))) {
        let names = ["x", "y", "z"];
        let given = names.get(own).map_or(String::new(), |own| format!(", mirror = \"{own}\""));
        let body = format!(
            "{MESH}{given} }} }}\nposition = [1, 2, 3]\nrotation = {{ axis = [1, 2, -1], degrees = 70 }}\n\
             velocity = [0.5, 1, -0.3]\nangular_velocity = [3, 1, 2]\n\
             copies = {{ mirror = \"{}\", mirror_at = -0.5 }}",
            names[axis]
        );
        let mirror = Mirror(axis, -0.5);
        let (mut world, appearances) = made(&body);
        let named: Vec<_> = appearances.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(named, ["a 1", "a 2"]);
        let mut recorder = Recorder::new(&world, &appearances);
        assert_image(&world, mirror, 1e-9, &body);
        for _ in 0..20 {
            // gravity along y is not mirror symmetric there
            if axis == 1 {
                break;
            }
            let report = world.step();
            recorder.record(&world, &report);
        }
        assert_image(&world, mirror, 1e-9, &body);
        let recording = recorder.finish();
        assert_drawn(&recording, recording.frames - 1, mirror, 1e-6);
    }
}

#[test]
fn mirrored_copies_of_all_shapes_are_their_images() {
    for shape in [
        "cone = { radius = 0.2, half_height = 0.3 }",
        "polygon = { corners = [[0, 0], [1, 0.1], [0.3, 0.6]], depth = 0.2 }",
        "extruded = { picture = \"a.png\", size = [0.9, 0.6], depth = 0.2 }",
        "heightfield = { picture = \"a.png\", size = [0.9, 0.6], height = 0.2, base = 0.1 }",
        "combined = { parts = [{ shape = { box = { half_extents = [0.5, 0.3, 0.4] } } }, \
         { shape = { cone = { radius = 0.3, half_height = 0.4 } }, position = [0.4, 0.2, 0.1], \
         rotation = { axis = [1, 1, 0], degrees = 80 } }, \
         { shape = { plane = { normal = [1, 1, 1], offset = 0.4 } }, op = \"intersection\" }] }",
    ] {
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let body = format!(
                "shape = {{ {shape} }}\nposition = [0.2, 0.5, 0.1]\nrotation = {{ axis = [2, -1, 1], degrees = 40 }}\n\
                 velocity = [1, 2, 3]\ncopies = {{ mirror = \"{name}\" }}"
            );
            let (world, appearances) = made(&body);
            // the samples of computed shapes are not mirror images
            assert_image(&world, Mirror(axis, 0.0), 5e-3, &body);
            let recording = Recorder::new(&world, &appearances).finish();
            assert_drawn(&recording, 0, Mirror(axis, 0.0), 0.03);
        }
    }
}

#[test]
fn every_copy_of_a_grid_has_its_image_with_jitter_and_turns() {
    let body = "shape = { box = { half_extents = [0.1, 0.2, 0.3] } }\nposition = [3, 0, 0]\n\
                copies = { count = [2, 1, 3], spacing = [1, 1, 1], jitter = 0.1, turn_jitter = 30, mirror = \"x\" }";
    let (world, appearances) = made(body);
    assert_eq!(appearances.len(), 12);
    assert_eq!(appearances[11].name, "a 12");
    let states: Vec<_> = world.iter().collect();
    for n in 0..6 {
        let [a, b] = [&states[n], &states[n + 6]];
        let image = Mirror(0, 0.0).point(&a.pose.translation.vector.into());
        assert!((image.coords - b.pose.translation.vector).norm() < 1e-12);
        let flip = Matrix3::from_diagonal(&Vector3::new(-1.0, 1.0, 1.0));
        assert!((flip * inertia(a) * flip - inertia(b)).norm() < 1e-9 * inertia(a).norm());
        let (own, image) = (&appearances[n], &appearances[n + 6]);
        assert_eq!(own.look.color, image.look.color, "an image has the shade of its copy");
    }
    assert_eq!(scene(body).body_count(), 12);
}

#[test]
fn anchors_and_paths_of_mirrored_copies_are_mirrored() {
    let region = "[{ sphere = { center = [0.9, 0.1, 0], radius = 0.05 } }]";
    let (world, _) = made(&format!(
        "{MESH} }} }}\nposition = [1, 2, 3]\nanchor = {region}\ncopies = {{ mirror = \"z\" }}"
    ));
    let held = |state: BodyState<'_>| matches!(state.body, dynamics::Body::Static);
    assert_eq!(world.len(), 2);
    assert!(world.iter().all(held), "the image is held at the same tip");
    let path = "motion = \"kinematic\"\nkeyframes = [{ time = 0, position = [1, 0, 0] }, \
                { time = 1, position = [2, 1, 0], rotation = { axis = [0, 0, 1], degrees = 90 } }]";
    let (mut world, _) =
        made(&format!("{MESH} }} }}\n{path}\ncopies = {{ mirror = \"x\", mirror_at = 0.5 }}"));
    (0..15).for_each(|_| drop(world.step()));
    let poses: Vec<_> = world.iter().map(|state| *state.pose).collect();
    let image = Mirror(0, 0.5).point(&poses[0].translation.vector.into());
    assert!((image.coords - poses[1].translation.vector).norm() < 1e-9);
}

#[test]
fn mirrored_copies_that_cannot_be_are_refused() {
    for (keys, part) in [
        ("mirror = \"w\"", "body[0].copies.mirror` cannot be \"w\""),
        ("mirror_at = 1", "body[0].copies.mirror_at"),
        ("mirror = \"x\", mirror_at = 1e10", "body[0].copies.mirror_at"),
        ("count = [3, 1, 1], mirror = \"x\"", "body[0].copies.spacing"),
        ("count = [100, 80, 1], spacing = [1, 1, 1], mirror = \"x\"", "body[0].copies.count"),
    ] {
        let text = format!(
            "version = 1\n[[body]]\nname = \"a\"\nshape = {{ sphere = {{ radius = 1 }} }}\ncopies = {{ {keys} }}\n"
        );
        let error = Scene::from_toml(&text).unwrap_err().to_string();
        assert!(error.contains(part), "{keys}: {error}");
    }
}

#[test]
fn a_mirrored_combined_shape_is_listed_once() {
    let scene = "version = 1\n[simulation]\nframes = 1\n[[body]]\nname = \"a\"\nposition = [0.7, 1.15, 0.3]\n\
        copies = { mirror = \"x\" }\n[body.shape.combined]\nparts = [\n\
        { shape = { sphere = { radius = 0.11 } }, position = [0.213, 0.1, 0] },\n\
        { shape = { box = { half_extents = [0.3, 0.031, 0.047] } }, position = [0.017, 0.1, 0] },\n]\n";
    let case = Case::new(&[("scene.toml", scene)]);
    let output = case.run(&["check", "scene.toml"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let own: Vec<&str> = text.lines().filter(|line| line.starts_with("  a")).collect();
    assert!(matches!(own[..], [line] if line.contains("2 copies")), "{text}");
}

#[test]
fn names_of_copies_are_taken() {
    let scene = |copies: &str, rest: &str| {
        let ball = "shape = { sphere = { radius = 1 } }";
        format!(
            "version = 1\n[[body]]\nname = \"a\"\n{ball}\ncopies = {{ {copies} }}\n{rest}\n[[body]]\nname = \"b\"\n{ball}\n"
        )
    };
    let taken = |name: &str| {
        format!("[[body]]\nname = \"{name}\"\nshape = {{ sphere = {{ radius = 1 }} }}\n")
    };
    for copies in ["mirror = \"x\"", "count = [1, 1, 2], spacing = [0, 0, 3]"] {
        for name in ["a 0", "a 3", "a 02", "a2", "2"] {
            Scene::from_toml(&scene(copies, &taken(name))).unwrap();
        }
        let error = Scene::from_toml(&scene(copies, &taken("a 2"))).unwrap_err().to_string();
        assert!(error.contains("`a 2` is the name of a copy"), "{error}");
        let joint = "[[joints]]\nkind = \"point\"\nbodies = [\"a 2\", \"b\"]\nanchor = [0, 0, 0]";
        Scene::from_toml(&scene(copies, joint)).unwrap();
        for (name, why) in [("a", "which has copies: name one, as `a 1`"), ("a 3", "no body `a 3`")]
        {
            let joint = joint.replace("a 2", name);
            let error = Scene::from_toml(&scene(copies, &joint)).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
