//! Cuts of bodies by a blade (Br11 section 3): exact, watertight and conservative.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use contact::{Field, Round, Shape};
use dynamics::{Body, MassProperties};
use fracture::ClosedMesh;
use levelset::{Solid, TriMesh};
use nalgebra::{Point3, Vector2, Vector3};
use sim::scene::Scene;
use sim::{BodyId, MeshData, NewBody, Paint, PaintedMesh, Settings, Surface, World, build};

fn world(bodies: &str, meshes: &BTreeMap<String, MeshData>) -> World {
    let text = format!("version = 1\n[simulation]\ngravity = [0, 0, 0]\n{bodies}");
    build(&Scene::from_toml(&text).unwrap(), meshes).unwrap().0
}

/// A long blade along z from above, through `x` at the height 0, and `slant` off `x` a meter higher.
fn blade(x: f64, slant: f64) -> [[Point3<f64>; 2]; 2] {
    let edge = |y: f64| [-9.0, 9.0].map(|z| Point3::new(x + slant * y, y, z));
    [edge(9.0), edge(-9.0)]
}

fn cut(world: &mut World, [from, to]: [[Point3<f64>; 2]; 2]) -> Vec<BodyId> {
    let cuts = world.cut(from, to);
    cuts.iter().flat_map(|cut| cut.fragments.clone()).collect()
}

/// The surface of a part, which must be closed, with two triangles at every edge.
fn closed(world: &World, id: BodyId) -> TriMesh {
    let solid = world.get(id).unwrap().solid.unwrap().clone();
    assert!(solid.geometry.is_exact());
    let mesh = ClosedMesh::new(solid.geometry.surface().unwrap().mesh).unwrap().into_mesh();
    let mut edges: BTreeMap<[u32; 2], i32> = BTreeMap::new();
    for [a, b, c] in &mesh.triangles {
        for [u, v] in [[a, b], [b, c], [c, a]] {
            *edges.entry([*u.min(v), *u.max(v)]).or_default() += 1;
        }
    }
    assert!(edges.values().all(|&count| count == 2), "an edge without two triangles");
    // Euler: one shell without handles
    assert_eq!(mesh.vertices.len() + mesh.triangles.len() - edges.len(), 2);
    mesh
}

const SPINNING: &str = "position = [0.3, -0.2, 0.1]
    rotation = { axis = [1, 2, 3], degrees = 40 }
    velocity = [1, 2, -3]
    angular_velocity = [4, -5, 6]\n";

/// Bodies without the key `fracture` are cut, too.
#[test]
fn what_a_blade_parts_keeps_volume_momentum_and_energy() {
    for shape in [
        "{ box = { half_extents = [0.5, 0.3, 0.2] } }",
        "{ sphere = { radius = 0.4 } }",
        "{ cylinder = { radius = 0.3, half_height = 0.4 } }",
        "{ capsule = { radius = 0.2, half_height = 0.3 } }",
        "{ torus = { major = 0.4, minor = 0.15 } }",
    ] {
        let mut world = world(
            &format!("[[body]]\nname = \"body\"\nshape = {shape}\n{SPINNING}"),
            &BTreeMap::new(),
        );
        let (mass, momentum, energy) = (world.mass(), world.momentum(), world.kinetic_energy());
        let parts = cut(&mut world, blade(0.35, 0.3));
        assert!(parts.len() >= 2, "{shape}");
        let parts = parts.iter().map(|&id| world.get(id).unwrap());
        let [mut volume, mut linear] = [0.0, 0.0];
        for part in parts {
            volume += part.solid.unwrap().geometry.moments().volume;
            linear += part.momentum.linear.norm();
        }
        assert!((volume * 1000.0 / mass - 1.0).abs() < 1e-9, "{shape}: {volume} of {mass}");
        assert!(linear > 0.0);
        assert!((world.mass() / mass - 1.0).abs() < 1e-12);
        let now = world.momentum();
        assert!((now.linear - momentum.linear).norm() < 1e-9 * momentum.linear.norm());
        assert!((now.angular - momentum.angular).norm() < 1e-9 * momentum.angular.norm());
        assert!((world.kinetic_energy() / energy - 1.0).abs() < 1e-9, "{shape}");
    }
}

#[test]
fn parts_of_a_box_have_the_mass_center_and_inertia_of_boxes() {
    let mut world = world(
        "[[body]]\nname = \"box\"\ndensity = 700\nshape = { box = { half_extents = [0.5, 0.3, 0.2] } }",
        &BTreeMap::new(),
    );
    let parts = cut(&mut world, blade(0.1, 0.0));
    assert_eq!(parts.len(), 2);
    for id in parts {
        let part = world.get(id).unwrap();
        let is_left = part.pose.translation.x < 0.1;
        let (half, center) = if is_left { (0.3, -0.2) } else { (0.2, 0.3) };
        let half = Vector3::new(half, 0.3, 0.2);
        let mass = part.body.mass_properties().unwrap();
        let exact = 700.0 * 8.0 * half.product();
        assert!((mass.mass() / exact - 1.0).abs() < 1e-12);
        assert!((part.pose.translation.vector - Vector3::new(center, 0.0, 0.0)).norm() < 1e-12);
        let squares = half.component_mul(&half) * (exact / 3.0);
        let mut inertia = [squares.y + squares.z, squares.z + squares.x, squares.x + squares.y];
        let mut own: Vec<f64> = mass.inertia().iter().copied().collect();
        inertia.sort_by(f64::total_cmp);
        own.sort_by(f64::total_cmp);
        for (own, exact) in own.iter().zip(inertia) {
            assert!((own / exact - 1.0).abs() < 1e-9, "{own} {exact}");
        }
        let Field::Hull(hull) = part.shape.field() else { panic!("it collides as a hull") };
        assert_eq!(hull.mesh().vertices.len(), 8);
        assert_eq!(closed(&world, id).vertices.len(), 8);
    }
}

/// A cap of height h of a ball of radius r has pi h^2 (3 r - h) / 3. The faces of the ball are chords within 1e-3 of
/// its diameter; the cap of a ball smaller by this error is smaller by 2 pi r h times the error.
#[test]
fn caps_of_a_ball_have_the_volume_of_the_closed_form() {
    let r = 0.2;
    for x in [-0.15, -0.04, 0.0, 0.1] {
        let mut world = world(
            "[[body]]\nname = \"ball\"\nshape = { sphere = { radius = 0.2 } }",
            &BTreeMap::new(),
        );
        let parts = cut(&mut world, blade(x, 0.0));
        assert_eq!(parts.len(), 2);
        for id in parts {
            closed(&world, id);
            let part = world.get(id).unwrap();
            assert!(matches!(part.shape.field(), Field::Hull(_)), "it collides as a hull");
            let h = if part.pose.translation.x > x { r - x } else { r + x };
            let exact = PI * h * h * (3.0 * r - h) / 3.0;
            let volume = part.solid.unwrap().geometry.moments().volume;
            let allowed = 2.0 * PI * r * h * 1e-3 * 2.0 * r;
            assert!((volume - exact).abs() < allowed, "{x}: {volume} {exact}");
        }
    }
}

#[test]
fn a_blade_that_only_touches_a_body_or_ends_before_it_leaves_it_whole() {
    let bodies = "[[body]]\nname = \"box\"\nshape = { box = { half_extents = [0.5, 0.3, 0.2] } }";
    let mut world = world(bodies, &BTreeMap::new());
    let edge = |x: f64, y: f64| [-9.0, 9.0].map(|z| Point3::new(x, y, z));
    for (from, to) in [
        (edge(0.1, 2.0), edge(0.1, 0.3)),
        (edge(0.1, 2.0), edge(0.1, 0.4)),
        (edge(0.5, 2.0), edge(0.5, -2.0)),
        (edge(-0.6, 2.0), edge(-0.6, -2.0)),
    ] {
        assert!(cut(&mut world, [from, to]).is_empty(), "{from:?} {to:?}");
    }
    assert_eq!(cut(&mut world, [edge(0.1, 2.0), edge(0.1, 0.2999)]).len(), 2);
}

/// Slices far thinner than the samples of their block move 0.2 m per frame. In the frame of the
/// impact they penetrate the floor by a part of this distance, but never so deep that they exit on
/// the other side.
#[test]
fn thin_slices_are_cut_again_and_do_not_fall_through_the_floor() {
    for (floor, middle) in [("plane = {}", 0.0), ("box = { half_extents = [3, 0.3, 3] }", -0.3)] {
        let text = format!(
            r#"version = 1
            [[body]]
            name = "floor"
            shape = {{ {floor} }}
            motion = "static"
            position = [0, {middle}, 0]
            [[body]]
            name = "block"
            shape = {{ box = {{ half_extents = [0.2, 0.1, 0.1], spacing = 0.02 }} }}
            position = [0, 0.6, 0]
            velocity = [0, -6, 0]
            angular_velocity = [0.3, 0.5, 1]
            "#
        );
        let mut world = build(&Scene::from_toml(&text).unwrap(), &BTreeMap::new()).unwrap().0;
        for n in -4..=4 {
            assert!(!cut(&mut world, blade(0.002 * f64::from(n), 0.0)).is_empty(), "slice {n}");
        }
        // another cut divides all eight slices of 2 mm and both ends
        let across = [-9.0, 9.0].map(|z| [-9.0, 9.0].map(|x| Point3::new(x, 0.6, z)));
        assert_eq!(cut(&mut world, across).len(), 20);
        for _ in 0..90 {
            let report = world.step();
            let scale = report.energy.kinetic + report.energy.potential.abs();
            assert!(report.energy.gain <= 1e-10 * scale, "frame {}", report.frame);
            for part in world.iter().filter(|part| part.body.mass_properties().is_some()) {
                let height = part.pose.translation.y;
                assert!(height > middle, "{floor}, frame {}: {height}", report.frame);
            }
        }
    }
}

/// A box as a mesh, with texture coordinates on its faces.
fn painted_box() -> PaintedMesh {
    let solid = Solid::Box { half_extents: Vector3::new(0.5, 0.3, 0.2) };
    let mesh = fracture::Geometry::primitive(
        solid,
        levelset::Grid::new(Point3::new(-0.6, -0.4, -0.3), 0.1, [13, 9, 7], 10_000).unwrap(),
    )
    .unwrap()
    .surface()
    .unwrap()
    .mesh;
    let paint =
        |p: Point3<f64>| Paint { uv: Some(Vector2::new(p.x + 5.0, p.y)), ..Paint::default() };
    let corners = (0..mesh.triangles.len()).map(|t| mesh.corners(t).map(paint)).collect();
    PaintedMesh { mesh, corners, ..PaintedMesh::default() }
}

#[test]
fn parts_of_a_mesh_keep_its_texture_coordinates_and_caps_have_their_own() {
    let painted = painted_box();
    let meshes = BTreeMap::from([("box.obj".to_owned(), MeshData::Surface(painted.clone()))]);
    let mut world =
        world("[[body]]\nname = \"box\"\nshape = { mesh = { file = \"box.obj\" } }", &meshes);
    let parts = cut(&mut world, blade(0.1, 0.0));
    assert_eq!(parts.len(), 2);
    for id in parts {
        closed(&world, id);
        let part = world.get(id).unwrap();
        let surface = Surface::of(part.shape, part.solid, part.lineage, Some(&painted));
        assert_eq!(surface.uvs.len(), surface.vertices.len());
        for &v in surface.outer.as_flattened() {
            let ([u, v], rest) = (surface.uvs[v as usize], surface.rest[v as usize]);
            assert!((u - rest[0] - 5.0).abs() < 1e-5 && (v - rest[1]).abs() < 1e-5);
        }
        let area = |[a, b, c]: &[u32; 3]| {
            let [a, b, c] = [a, b, c].map(|&v| Vector3::from(surface.vertices[v as usize]));
            (b - a).cross(&(c - a)).norm() / 2.0
        };
        let area: f32 = surface.inner.iter().map(area).sum();
        assert!((area - 0.24).abs() < 1e-5, "the cap is a rectangle of 0.6 x 0.4 m: {area}");
        let corners = surface.inner.as_flattened().iter().map(|&v| surface.uvs[v as usize]);
        let (low, high) = corners.fold(([f32::MAX; 2], [f32::MIN; 2]), |(low, high), uv| {
            ([0, 1].map(|k| low[k].min(uv[k])), [0, 1].map(|k| high[k].max(uv[k])))
        });
        let mut size = [high[0] - low[0], high[1] - low[1]];
        size.sort_by(f32::total_cmp);
        assert!((size[0] - 0.4).abs() < 1e-5 && (size[1] - 0.6).abs() < 1e-5, "{size:?}");
        for &v in surface.inner.as_flattened() {
            assert!(
                (surface.rest[v as usize][0] - 0.1).abs() < 1e-6,
                "it is in the plane of the cut"
            );
        }
    }
}

/// Halves of a plain shape by a horizontal blade at a height, m, as shares of its mass.
fn halves(shape: Shape, height: f64) -> Vec<f64> {
    let mut world = World::new(Settings { gravity: Vector3::zeros(), ..Settings::default() });
    let mass = MassProperties::new(1.0, Vector3::repeat(0.1)).unwrap();
    world.add(NewBody::of(Body::Dynamic(mass), shape)).unwrap();
    let edge = |x: f64| [-9.0, 9.0].map(|z| Point3::new(x, height, z));
    let parts = cut(&mut world, [edge(-9.0), edge(9.0)]);
    let body = |id: &BodyId| world.get(*id).unwrap();
    let mut parts: Vec<_> = parts.iter().map(body).collect();
    parts.sort_by(|a, b| a.pose.translation.y.total_cmp(&b.pose.translation.y));
    parts.iter().map(|part| part.body.mass_properties().unwrap().mass()).collect()
}

/// Bodies with a collision shape alone have its solid. The tip of a cone is similar to the cone.
#[test]
fn plain_shapes_are_cut_in_closed_form() {
    let (h, r) = (0.3, 0.2);
    let close = |found: &[f64], expected: [f64; 2]| {
        assert_eq!(found.len(), 2, "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 2e-3, "{found} for {expected}");
        }
    };
    let low = (0.1 + h) / (2.0 * h);
    close(&halves(Shape::round(Round::cylinder(h, r), 0.05), 0.1), [low, 1.0 - low]);
    close(&halves(Shape::round(Round::capsule(h, r), 0.05), 0.0), [0.5, 0.5]);
    // its base is at -h / 2 and its tip at 3 h / 2
    let tip = ((1.5 * h - 0.1) / (2.0 * h)).powi(3);
    close(&halves(Shape::round(Round::cone(h, r), 0.05), 0.1), [1.0 - tip, tip]);
    close(&halves(Shape::ball(r), 0.0), [0.5, 0.5]);
    close(&halves(Shape::cuboid(Vector3::new(r, h, r), 0.05), 0.1), [low, 1.0 - low]);
}
