//! Triangle meshes as scenery.

use std::f64::consts::TAU;
use std::sync::Arc;

use brisance_tests::properties;
use contact::{Field, Round, Shape, Triangles};
use dynamics::{Body, MassProperties, Velocity};
use levelset::{MeshError, Solid, TriMesh};
use nalgebra::{Isometry3, Point3, Vector3};
use proptest::prelude::*;
use sim::{BodyId, NewBody, World};

use crate::contact_scenes::{
    at, ball, both, cuboid, floor, material, moving, place, sampled, steps, steps_without_gain,
    still, world,
};

/// A sheet of `n` x `n` squares of `size` m about the origin, facing up, of height `y(x, z)`; the
/// direction of the diagonals alternates.
pub(crate) fn sheet(n: u32, size: f64, y: impl Fn(f64, f64) -> f64) -> TriMesh {
    let coordinate = |k: u32| (f64::from(k) - f64::from(n) / 2.0) * size;
    let mut mesh = TriMesh { vertices: Vec::new(), triangles: Vec::new() };
    for i in 0..=n {
        for k in 0..=n {
            let (x, z) = (coordinate(i), coordinate(k));
            mesh.vertices.push(Point3::new(x, y(x, z), z));
        }
    }
    let at = |i: u32, k: u32| i * (n + 1) + k;
    for i in 0..n {
        for k in 0..n {
            let (a, b, c, d) = (at(i, k), at(i, k + 1), at(i + 1, k + 1), at(i + 1, k));
            if (i * 7 + k * 3) % 4 < 2 {
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                mesh.triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    mesh
}

/// A closed box with half extents `half`.
fn block(half: Vector3<f64>) -> TriMesh {
    let corner = |n: u32| {
        let sign = |bit: u32| if n >> bit & 1 == 1 { 1.0 } else { -1.0 };
        Point3::new(half.x * sign(0), half.y * sign(1), half.z * sign(2))
    };
    let quads =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    TriMesh {
        vertices: (0..8).map(corner).collect(),
        triangles: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
    }
}

fn scenery(mesh: &TriMesh, thickness: f64, body: Body, surface: contact::Material) -> NewBody {
    NewBody {
        material: surface,
        ..NewBody::of(body, Shape::mesh(Arc::new(Triangles::new(mesh, thickness).unwrap())))
    }
}

fn terrain(world: &mut World, mesh: &TriMesh, surface: contact::Material) -> BodyId {
    world.add(scenery(mesh, f64::INFINITY, Body::Static, surface)).unwrap()
}

properties! {
    #[test]
    fn a_closed_mesh_has_the_distance_of_its_solid(
        p in [-1.5..1.5, -1.5..1.5, -1.5..1.5_f64],
        thickness in prop::option::of(0.05..0.2_f64),
    ) {
        let half = Vector3::new(0.7, 0.5, 0.9);
        let thick = thickness.unwrap_or(f64::INFINITY);
        let triangles = Triangles::new(&block(half), thick).unwrap();
        prop_assert!(triangles.is_closed());
        let p = Point3::from(p);
        let solid = Field::Cuboid { half }.distance(&p);
        let expected = solid.max(-solid - thick);
        let found = triangles.distance(&p);
        prop_assert!((found - expected).abs() <= 1e-12, "{found} {expected}");
        // the normal is the gradient of distance
        let normal = triangles.normal(&p).unwrap();
        let step = 1e-7;
        let grown = triangles.distance(&(p + normal * step)) - found;
        prop_assert!((grown / step - 1.0).abs() <= 1e-3, "{grown}");
    }
}

#[test]
fn nothing_is_behind_the_open_edge_of_a_sheet() {
    let triangles = Triangles::new(&sheet(4, 0.5, |_, _| 0.0), f64::INFINITY).unwrap();
    assert!(!triangles.is_closed());
    let at = |x: f64, y: f64| triangles.distance(&Point3::new(x, y, 0.1));
    assert!((at(0.3, 0.2) - 0.2).abs() < 1e-12);
    assert!((at(0.3, -0.2) + 0.2).abs() < 1e-12);
    assert!((at(1.3, 0.4) - 0.5).abs() < 1e-12);
    assert!((at(1.3, -0.4) - 0.5).abs() < 1e-12);
}

#[test]
fn meshes_without_area_are_refused() {
    let empty = TriMesh { vertices: vec![], triangles: vec![] };
    assert_eq!(Triangles::new(&empty, 1.0).unwrap_err(), MeshError::Empty);
    let line = TriMesh { vertices: vec![Point3::origin(); 3], triangles: vec![[0, 1, 2]] };
    assert_eq!(Triangles::new(&line, 1.0).unwrap_err(), MeshError::Degenerate);
    let dangling = TriMesh { vertices: vec![Point3::origin(); 2], triangles: vec![[0, 1, 2]] };
    assert!(Triangles::new(&dangling, 1.0).is_err());
}

/// A mesh of separate triangles, as in STL files, is equivalent to one with shared vertices.
#[test]
fn vertices_at_the_same_place_are_one() {
    let whole = block(Vector3::repeat(0.5));
    let corners = |t: &[u32; 3]| t.map(|v| whole.vertices[v as usize]);
    let vertices: Vec<_> = whole.triangles.iter().flat_map(corners).collect();
    let triangles = (0..whole.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    let soup = TriMesh { vertices, triangles: triangles.collect() };
    assert!(Triangles::new(&soup, f64::INFINITY).unwrap().is_closed());
}

/// Internal edges of a flat surface are no obstacles: bodies move over them as on a plane.
#[test]
fn balls_and_boxes_move_over_inner_edges_as_over_a_plane() {
    let flat = sheet(40, 0.25, |_, _| 0.0);
    let surface = material(0.3, 0.5);
    for contact in both() {
        let run = |mesh: Option<&TriMesh>| {
            let mut world = world(contact);
            match mesh {
                Some(mesh) => terrain(&mut world, mesh, surface),
                None => floor(&mut world, 0.0, surface),
            };
            let mut rolling = ball(0.1, 2.0, at(-2.0, 0.1, 0.33), surface);
            rolling.velocity = moving(2.0, 0.0, 0.4);
            rolling.velocity.angular = Vector3::new(4.0, 0.0, -20.0);
            let mut sliding = cuboid([0.2, 0.1, 0.15], 3.0, at(-2.0, 0.1, -0.4), surface);
            sliding.velocity = moving(3.0, 0.0, -0.5);
            let (mass, shape) = sampled(Solid::Torus { major: 0.15, minor: 0.05 }, 0.2, 0.025);
            let ring = NewBody {
                body: Body::Dynamic(mass),
                pose: at(0.0, 0.05, -2.0),
                velocity: moving(1.0, 0.0, 0.0),
                shape,
                ..cuboid([0.1; 3], 1.0, Isometry3::identity(), surface)
            };
            let ids = [
                world.add(rolling).unwrap(),
                world.add(sliding).unwrap(),
                world.add(ring).unwrap(),
            ];
            let mut highest = 0.0f64;
            for _ in 0..60 {
                steps_without_gain(&mut world, 1);
                highest = highest.max(place(&world, ids[0]).y);
            }
            (ids.map(|id| place(&world, id)), highest)
        };
        let ((plane, _), (mesh, highest)) = (run(None), run(Some(&flat)));
        assert!(highest <= 0.1 + 1e-6, "the ball lifts off to {highest}");
        for (n, (p, q)) in plane.iter().zip(&mesh).enumerate() {
            assert!(
                (p - q).norm() <= 1e-6,
                "{:?} {n}: {p} on a plane, {q} on a mesh",
                contact.solver
            );
        }
        assert!(mesh[0].x > 1.5, "{}", mesh[0]);
    }
}

/// A ball in a groove touches both of its sides.
#[test]
fn a_ball_lies_still_in_a_groove() {
    for contact in both() {
        let mut world = world(contact);
        terrain(&mut world, &sheet(8, 0.5, |x, _| x.abs()), material(0.0, 0.5));
        let deep = 0.2 * 2f64.sqrt();
        let id = world.add(ball(0.2, 2.0, at(0.0, deep + 0.05, 0.1), material(0.0, 0.5))).unwrap();
        steps_without_gain(&mut world, 60);
        let place = place(&world, id);
        assert!(place.x.abs() <= 1e-3 && (place.y - deep).abs() <= 2e-3, "{place}");
        let speed = world.get(id).unwrap().momentum.linear.norm() / 2.0;
        assert!(speed <= 1e-3, "{speed}");
    }
}

#[test]
fn bodies_on_hills_roll_down_and_gain_no_energy() {
    let bowl = |x: f64, z: f64| 0.08 * (x * x + z * z);
    let hills = |x: f64, z: f64| bowl(x, z) + 0.3 * ((1.5 * x).cos() + (1.5 * z).cos());
    let mut world = world(contact::Settings::default());
    terrain(&mut world, &sheet(60, 0.2, hills), material(0.1, 0.5));
    let (mass, shape) = sampled(Solid::Torus { major: 0.15, minor: 0.05 }, 0.2, 0.025);
    let mut ids = Vec::new();
    for n in 0..12 {
        let (x, z) = (0.7 * f64::from(n % 4) - 1.0, 0.8 * f64::from(n / 4) - 0.7);
        let pose = at(x, 1.2, z) * Isometry3::rotation(Vector3::new(0.4, 0.0, f64::from(n)));
        let mut body = cuboid([0.12, 0.1, 0.15], 3.0, pose, material(0.1, 0.5));
        match n % 3 {
            0 => body = ball(0.12, 2.0, pose, material(0.1, 0.5)),
            1 => (body.body, body.shape) = (Body::Dynamic(mass), Arc::clone(&shape)),
            _ => {}
        }
        ids.push(world.add(body).unwrap());
    }
    steps_without_gain(&mut world, 120);
    for id in ids {
        let place = place(&world, id);
        let depth = hills(place.x, place.z) - place.y;
        assert!(depth < 0.0, "{depth} m below the ground at {place}");
        assert!(place.y < 1.2, "{place}");
    }
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Cylinders, capsules and cones of any size beside the triangles, some of them fast.
    #[test]
    fn solids_of_revolution_on_hills_stay_above_them_and_gain_no_energy(
        cell in 0.05..0.4f64,
        height in 0.05..0.3f64,
        bodies in prop::collection::vec(
            (0..3, 0.03..0.25f64, 0.03..0.25f64, prop::array::uniform3(-3.0..3.0f64), prop::array::uniform3(-4.0..4.0f64)),
            6,
        ),
    ) {
        let bowl = |x: f64, z: f64| 0.1 * (x * x + z * z);
        let hills = |x: f64, z: f64| bowl(x, z) + height * ((2.0 * x).cos() + (1.5 * z).cos());
        let mut world = world(contact::Settings::default());
        terrain(&mut world, &sheet((10.0 / cell) as u32, cell, hills), material(0.2, 0.5));
        let ids: Vec<_> = (0..).zip(&bodies).map(|(n, &(kind, h, r, turn, v))| {
            let (round, solid) = match kind {
                0 => (Round::cylinder(h, r), Solid::Cylinder { half_height: h, radius: r }),
                1 => (Round::capsule(h, r), Solid::Capsule { half_height: h, radius: r }),
                _ => (Round::cone(h, r), Solid::Cone { half_height: h, radius: r }),
            };
            let moments = solid.moments().unwrap();
            let inertia = moments.inertia().diagonal() * 500.0;
            let mass = MassProperties::new(moments.volume * 500.0, inertia).unwrap();
            let (x, z) = (f64::from(n % 3) - 1.0, f64::from(n / 3) - 0.5);
            let place = Vector3::new(x, hills(x, z) + h + r + 0.3, z);
            world.add(NewBody {
                body: Body::Dynamic(mass),
                pose: Isometry3::new(place, turn.into()),
                velocity: Velocity { linear: v.into(), angular: Vector3::from(turn) * 3.0 },
                shape: Arc::new(Shape::round(round, 0.1 * r)),
                ..ball(r, 1.0, Isometry3::identity(), material(0.2, 0.5))
            }).unwrap()
        }).collect();
        steps_without_gain(&mut world, 90);
        for (id, (.., h, r, _, _)) in ids.into_iter().zip(&bodies) {
            let place = place(&world, id);
            let depth = hills(place.x, place.z) - place.y;
            prop_assert!(depth < -0.4 * h.min(*r), "{depth} m below the ground at {place}");
        }
    }
}

#[test]
fn a_thin_sheet_holds_bodies_on_both_of_its_sides() {
    for contact in both() {
        let mut world = world(contact);
        let flat = sheet(8, 0.5, |_, _| 0.0);
        world.add(scenery(&flat, 0.05, Body::Static, material(0.5, 0.3))).unwrap();
        let above = world.add(ball(0.1, 1.0, at(0.3, 0.5, 0.2), material(0.5, 0.3))).unwrap();
        let mut rising = ball(0.1, 1.0, at(-0.6, -0.8, 0.2), material(0.5, 0.3));
        rising.velocity = moving(0.0, 5.0, 0.0);
        let below = world.add(rising).unwrap();
        let mass = MassProperties::new(1.0, Vector3::new(0.0058, 0.005, 0.0058)).unwrap();
        let drum = |pose: Isometry3<f64>| NewBody {
            body: Body::Dynamic(mass),
            shape: Arc::new(Shape::round(Round::cylinder(0.1, 0.1), 0.02)),
            ..ball(0.1, 1.0, pose, material(0.5, 0.3))
        };
        let tilted = Isometry3::rotation(Vector3::new(0.7, 0.0, 0.4));
        let drum_above = world.add(drum(at(-0.3, 0.5, -0.6) * tilted)).unwrap();
        let mut rising = drum(at(0.6, -0.8, -0.4) * tilted);
        rising.velocity = moving(0.0, 5.0, 0.0);
        let drum_below = world.add(rising).unwrap();
        let beside = world.add(ball(0.1, 1.0, at(2.2, 0.5, 0.2), material(0.5, 0.3))).unwrap();
        let mut highest = f64::NEG_INFINITY;
        for _ in 0..60 {
            steps_without_gain(&mut world, 1);
            highest = highest.max(place(&world, below).y).max(place(&world, drum_below).y);
        }
        assert!((place(&world, drum_above).y - 0.1).abs() < 0.01, "{}", place(&world, drum_above));
        assert!((place(&world, above).y - 0.1).abs() < 5e-3, "{}", place(&world, above));
        assert!(highest < -0.1, "{highest}");
        assert!(place(&world, beside).y < -5.0, "{}", place(&world, beside));
    }
}

/// Thin obstacles at up to 170 m/s, half the speed of sound.
#[test]
fn nothing_fast_passes_through_a_mesh_or_a_thin_plate() {
    for speed in [20.0, 60.0, 170.0] {
        let mut world = world(contact::Settings::default());
        let flat = sheet(8, 0.5, |_, _| 0.0);
        world.add(scenery(&flat, 0.02, Body::Static, material(0.0, 0.5))).unwrap();
        let wall = cuboid([0.01, 1.0, 1.0], 1.0, at(6.0, 0.0, 0.0), material(0.0, 0.5));
        world.add(NewBody { body: Body::Static, ..wall }).unwrap();
        let mut falling = ball(0.05, 1.0, at(0.1, 3.0, 0.2), material(0.0, 0.5));
        falling.velocity = moving(0.0, -speed, 0.0);
        let mut flying = cuboid([0.02, 0.1, 0.1], 1.0, at(4.0, 0.3, 0.0), material(0.0, 0.5));
        flying.velocity = moving(speed, 0.0, 0.0);
        let (falling, flying) = (world.add(falling).unwrap(), world.add(flying).unwrap());
        steps_without_gain(&mut world, 12);
        assert!(place(&world, falling).y > 0.0, "{speed}: {}", place(&world, falling));
        assert!(place(&world, flying).x < 6.0, "{speed}: {}", place(&world, flying));
    }
}

/// A drum is a mesh with inward normals: the outside is solid.
#[test]
fn a_turning_drum_carries_what_is_in_it_up_its_wall() {
    let sectors = 48u32;
    let mut drum = TriMesh { vertices: Vec::new(), triangles: Vec::new() };
    for z in [-0.6, 0.6] {
        for s in 0..sectors {
            let angle = TAU * f64::from(s) / f64::from(sectors);
            drum.vertices.push(Point3::new(angle.cos(), angle.sin(), z));
        }
        drum.vertices.push(Point3::new(0.0, 0.0, z));
    }
    let back = sectors + 1;
    for s in 0..sectors {
        let t = (s + 1) % sectors;
        drum.triangles.extend([[s, s + back, t], [t, s + back, t + back]]);
        drum.triangles.extend([[sectors, s, t], [sectors + back, t + back, s + back]]);
    }
    let spin = Velocity { angular: Vector3::z(), ..still() };
    let mut world = world(contact::Settings::default());
    world.add(scenery(&drum, f64::INFINITY, Body::Kinematic(spin), material(0.1, 0.6))).unwrap();
    let inside = drum.signed_volume();
    assert!(inside < -3.0, "it faces inwards: {inside}");
    let ids: Vec<_> = (0..12)
        .map(|i| {
            let pose = at(0.3 * f64::from(i % 4) - 0.45, 0.25 * f64::from(i / 4) - 0.4, 0.1);
            world.add(cuboid([0.1; 3], 2.0, pose, material(0.1, 0.6))).unwrap()
        })
        .collect();
    steps(&mut world, 150);
    let mean = ids.iter().map(|&id| place(&world, id).x).sum::<f64>() / 12.0;
    assert!(mean > 0.1, "{mean}");
    for &id in &ids {
        let place = place(&world, id);
        assert!(place.xy().norm() < 0.95 && place.z.abs() < 0.55, "{place}");
    }
}
