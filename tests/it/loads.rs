//! Supports, contacts, joints and gravity load a body during an impact (Mu01).

use std::sync::Arc;

use brisance_tests::tet_boxes::kuhn_box;
use levelset::TetMesh;
use nalgebra::{Point3, Vector3};
use sim::scene::Scene;
use sim::{BodyStress, Event, Report, StressField, World, build};
use tetfem::{
    Contact, EquilibriumError, Interpolation, LinearSolver, Load, Material, Newton, Structure,
    StructureError, is_restrained,
};

/// A beam along x from 0 to 1 m, 0.1 m high and wide, clamped at x = 0.
fn cantilever(counts: [usize; 3], interpolation: Interpolation) -> Structure {
    let mesh = kuhn_box(counts, Vector3::new(1.0, 0.1, 0.1));
    let clamped = mesh.vertices.iter().map(|p| p.x < 1e-9).collect();
    let steel = Material::from_young(2e11, 0.3).unwrap();
    Structure::supported(mesh, clamped, steel, interpolation, LinearSolver::Cholesky).unwrap()
}

fn centroid(mesh: &TetMesh, tet: usize) -> Point3<f64> {
    Point3::from(mesh.corners(tet).iter().map(|p| p.coords).sum::<Vector3<f64>>() / 4.0)
}

/// Largest difference of the stress along x from that of a beam with `moment(x)` N m about z, where x is
/// in a range, over the largest stress of the beam there.
fn off_beam(
    body: &Structure,
    load: &Load<'_>,
    within: std::ops::Range<f64>,
    moment: impl Fn(f64) -> f64,
) -> f64 {
    let (mesh, response) = (body.mesh(), body.respond(load).unwrap());
    let second = 0.1_f64.powi(4) / 12.0;
    let (mut worst, mut most) = (0.0_f64, 0.0_f64);
    for (tet, stress) in response.stresses.iter().enumerate() {
        let p = centroid(mesh, tet);
        if within.contains(&p.x) {
            let expected = -moment(p.x) * (p.y - 0.05) / second;
            worst = worst.max((stress[(0, 0)] - expected).abs());
            most = most.max(expected.abs());
        }
    }
    worst / most
}

#[test]
fn a_cantilever_bends_as_beam_theory_says() {
    let body = cantilever([20, 4, 4], Interpolation::Quadratic);
    let tip =
        [Contact { place: Point3::new(1.0, 0.1, 0.05), force: Vector3::new(0.0, -100.0, 0.0) }];
    let by_tip = off_beam(&body, &Load::new(&tip), 0.2..0.8, |x| -100.0 * (1.0 - x));
    assert!(by_tip < 0.05, "{by_tip}");
    // its weight of 78,000 N/m^3 over 0.01 m^2
    let weight = Load { body_force: Vector3::new(0.0, -7.8e4, 0.0), ..Load::new(&[]) };
    let by_weight = off_beam(&body, &weight, 0.2..0.5, |x| -390.0 * (1.0 - x).powi(2));
    assert!(by_weight < 0.05, "{by_weight}");
    let tip_of = |load: &Load<'_>| {
        let moved = body.respond(load).unwrap().displacements;
        let end = |(p, _): &(&Point3<f64>, &Vector3<f64>)| (p.x - 1.0).abs() < 1e-9;
        let (sum, count) = body
            .mesh()
            .vertices
            .iter()
            .zip(&moved)
            .filter(end)
            .fold((0.0, 0), |(sum, count), (_, u)| (sum + u.y, count + 1));
        sum / f64::from(count)
    };
    // F L^3 / (3 E I) and q L^4 / (8 E I), and some 0.8 % by shear
    let (rigidity, second) = (2e11, 0.1_f64.powi(4) / 12.0);
    let expected = -100.0 / (3.0 * rigidity * second);
    assert!(
        (tip_of(&Load::new(&tip)) / expected - 1.0).abs() < 0.03,
        "{}",
        tip_of(&Load::new(&tip))
    );
    let expected = -780.0 / (8.0 * rigidity * second);
    assert!((tip_of(&weight) / expected - 1.0).abs() < 0.03, "{}", tip_of(&weight));
}

#[test]
fn a_free_beam_in_three_point_bending_is_as_beam_theory_says() {
    let mesh = kuhn_box([20, 4, 4], Vector3::new(1.0, 0.1, 0.1));
    let steel = Material::from_young(2e11, 0.3).unwrap();
    let body =
        Structure::new(mesh, steel, Interpolation::Quadratic, LinearSolver::Cholesky).unwrap();
    let at = |x: f64, y: f64, force: f64| Contact {
        place: Point3::new(x, y, 0.05),
        force: Vector3::new(0.0, force, 0.0),
    };
    let contacts = [at(0.5, 0.1, -100.0), at(0.1, 0.0, 50.0), at(0.9, 0.0, 50.0)];
    let off = off_beam(&body, &Load::new(&contacts), 0.2..0.4, |x| 50.0 * (x - 0.1));
    assert!(off < 0.05, "{off}");
}

#[test]
fn a_body_force_on_a_free_body_makes_no_stress() {
    let mesh = kuhn_box([6, 2, 2], Vector3::new(1.0, 0.2, 0.3));
    let material = Material::from_young(2e11, 0.3).unwrap();
    for interpolation in [Interpolation::Linear, Interpolation::Quadratic] {
        let free =
            Structure::new(mesh.clone(), material, interpolation, LinearSolver::Cholesky).unwrap();
        let load = Load { body_force: Vector3::new(3e4, -7e4, 2e4), ..Load::new(&[]) };
        let response = free.respond(&load).unwrap();
        let most = response.stresses.iter().map(|s| s.norm()).fold(0.0, f64::max);
        assert!(most < 1e-6, "{most} Pa");
    }
}

#[test]
fn supports_that_let_a_body_turn_are_refused() {
    let mesh = kuhn_box([4, 1, 1], Vector3::new(1.0, 0.1, 0.1));
    let material = Material::from_young(2e11, 0.3).unwrap();
    let holds = |held: &dyn Fn(&Point3<f64>) -> bool| -> Vec<bool> {
        mesh.vertices.iter().map(held).collect()
    };
    let made = |supports| {
        let linear = Interpolation::Linear;
        Structure::supported(mesh.clone(), supports, material, linear, LinearSolver::Cholesky)
    };
    // an edge is a line
    let edge = holds(&|p| p.y < 1e-9 && p.z < 1e-9);
    assert!(!is_restrained(&mesh, &edge));
    assert_eq!(made(edge).err(), Some(StructureError::Unsupported));
    let few = StructureError::Supports { supports: 3, vertices: mesh.vertices.len() };
    assert_eq!(made(vec![true; 3]).err(), Some(few));
    let face = holds(&|p| p.y < 1e-9);
    assert!(is_restrained(&mesh, &face) && made(face).unwrap().is_supported());
    assert!(!made(holds(&|_| false)).unwrap().is_supported());
}

/// Bodies that a ball of steel strikes.
fn struck(bodies: &str, ball: &str) -> World {
    let scene = format!(
        r#"version = 1
        {bodies}
        [[body]]
        name = "ball"
        shape = {{ sphere = {{ radius = 0.05 }} }}
        material = "steel"
        {ball}
        "#
    );
    build(&Scene::from_toml(&scene).unwrap(), &std::collections::BTreeMap::default()).unwrap().0
}

/// The first event with known stress, and this stress in the coordinates of the shape.
fn first_stress(world: &mut World) -> (Event, Arc<StressField>) {
    for _ in 0..60 {
        let Report { loads, events, .. } = world.step();
        if let (Some(BodyStress { field: stress, .. }), Some(event)) =
            (loads.stresses.first(), events.replayable.first())
        {
            return (event.clone(), Arc::clone(stress));
        }
    }
    panic!("nothing was struck");
}

/// The greatest tension in tetrahedra with centroids in a part of the body, Pa, and its position.
fn tension(field: &StressField, within: impl Fn(&Point3<f64>) -> bool) -> (f32, Point3<f64>) {
    let place = |v: &u32| Vector3::from(field.tets.vertices[*v as usize]).cast::<f64>();
    let center = |tet: &[u32; 4]| Point3::from(tet.iter().map(place).sum::<Vector3<f64>>() / 4.0);
    let all = field.principal.iter().copied().zip(field.tets.corners.iter().map(center));
    all.filter(|(_, p)| within(p)).max_by(|p, q| p.0.total_cmp(&q.0)).unwrap()
}

const BEAM: &str = r#"[[body]]
name = "beam"
shape = { box = { half_extents = [0.5, 0.05, 0.05], spacing = 0.0125 } }
material = "concrete"
"#;
const ELASTIC: &str = "fracture = { break_impulse = 0.01, stress = { spacing = 0.05, \
    averaging = 0.05, quadratic = true, strength = 1e12 } }";
const BALL: &str = "position = [0.45, 0.2, 0]\nvelocity = [0, -3, 0]\n";

#[test]
fn a_clamped_beam_is_strained_and_cracks_at_its_root() {
    let clamp = "anchor = [{ plane = { normal = [1, 0, 0], offset = -0.4 } }]\n";
    let clamped = format!("{BEAM}{ELASTIC}\n{clamp}");
    let (event, stress) = first_stress(&mut struck(&clamped, BALL));
    let (most, at) = tension(&stress, |p| p.x < 0.3);
    assert!(at.x < -0.35 && at.y > 0.0, "{most} Pa at {at}");
    // the support bears the whole impulse
    assert!(event.reactions.is_empty() && event.duration.is_some());
    // a free beam bends most between its ends
    let (_, free) = first_stress(&mut struck(&format!("{BEAM}{ELASTIC}\n"), BALL));
    let (_, at) = tension(&free, |p| p.x < 0.3);
    assert!(at.x > -0.2, "{at}");

    let brittle = ELASTIC.replace("strength = 1e12", &format!("strength = {}", 0.5 * most));
    let mut world = struck(&format!("{BEAM}{brittle}\n{clamp}"), BALL);
    let fracture = (0..60).find_map(|_| world.step().events.fractures.pop()).expect("it breaks");
    let stump = fracture.fragments.iter().find(|&&id| world.is_anchored(id)).expect("a stump");
    let state = world.get(*stump).unwrap();
    let bounds = state.shape.bounds();
    let end = bounds.max.x + state.pose.translation.x;
    assert!((-0.45..-0.15).contains(&end), "the stump ends at {end}");
}

const BLOCKS: &str = r#"[[body]]
name = "left"
shape = { box = { half_extents = [0.05, 0.1, 0.1] } }
position = [-0.4, -0.15, 0]
motion = "static"
[[body]]
name = "right"
shape = { box = { half_extents = [0.05, 0.1, 0.1] } }
position = [0.4, -0.15, 0]
motion = "static"
"#;

/// The sum of the reaction impulses, N s.
fn pushed(event: &Event) -> Vector3<f64> {
    event.reactions.iter().map(|push| Vector3::from(push.impulse)).sum()
}

#[test]
fn a_plank_on_two_blocks_bends_most_under_the_blow() {
    let ball = "position = [0, 0.2, 0]\nvelocity = [0, -3, 0]\n";
    let (event, stress) = first_stress(&mut struck(&format!("{BEAM}{ELASTIC}\n{BLOCKS}"), ball));
    // the blocks bear the whole impulse
    let impulse = Vector3::from(event.impulse);
    let off = (pushed(&event) + impulse).norm() / impulse.norm();
    assert!(off < 0.05, "{off}: {event:?}");
    let (most, at) = tension(&stress, |_| true);
    assert!(at.y < 0.0 && at.x.abs() < 0.06, "{most} Pa at {at}");
    // the blocks reach from 0.35 m on: half of the force has an arm of 0.15 to 0.2 m where x is 0.15 to 0.2 m,
    // and centroids of tetrahedra are from 0.03 m below the middle to 0.05 m, the surface
    let force = impulse.norm() / event.duration.unwrap();
    let (aside, _) = tension(&stress, |p| (p.x.abs() - 0.175).abs() < 0.025);
    let of_beam = |arm: f64, y: f64| 0.5 * force * arm * y / (0.1_f64.powi(4) / 12.0);
    let expected = of_beam(0.15, 0.03)..of_beam(0.2, 0.05);
    assert!(expected.contains(&f64::from(aside)), "{aside} Pa, {expected:?}");
}

#[test]
fn two_blows_at_once_bend_a_plank_evenly_between_them() {
    let other = r#"[[body]]
name = "other ball"
shape = { sphere = { radius = 0.05 } }
material = "steel"
position = [-0.15, 0.2, 0]
velocity = [0, -3, 0]
"#;
    let ball = "position = [0.15, 0.2, 0]\nvelocity = [0, -3, 0]\n";
    let (event, stress) =
        first_stress(&mut struck(&format!("{BEAM}{ELASTIC}\n{BLOCKS}{other}"), ball));
    // one blow, the other, and the reactions
    let down = event.reactions.iter().filter(|push| push.impulse[1] < 0.0).count();
    assert_eq!(down, 1, "{event:?}");
    let total = pushed(&event) + Vector3::from(event.impulse);
    assert!(total.norm() < 0.1 * Vector3::from(event.impulse).norm(), "{total}");
    let bottom = |x: f64| tension(&stress, |p| p.y < 0.0 && (p.x - x).abs() < 0.03).0;
    let middle = bottom(0.0);
    for x in [-0.1, 0.1] {
        assert!((bottom(x) / middle - 1.0).abs() < 0.15, "{} at {x}, {middle} between", bottom(x));
    }
    assert!(bottom(0.28) < 0.75 * middle);
}

#[test]
fn a_ring_that_is_squeezed_is_torn_inside_above_and_below() {
    let ring = r#"[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "ring"
shape = { torus = { major = 0.2, minor = 0.04, spacing = 0.01 } }
rotation = { axis = [1, 0, 0], degrees = 90 }
position = [0, 0.24, 0]
material = "concrete"
fracture = { break_impulse = 0.01, stress = { spacing = 0.03, averaging = 0.02, strength = 1e12 } }
"#;
    let ball = "position = [0, 0.55, 0]\nvelocity = [0, -2, 0]\n";
    let mut world = struck(ring, ball);
    let (event, stress) = first_stress(&mut world);
    let impulse = Vector3::from(event.impulse);
    assert!((pushed(&event) + impulse).norm() < 0.05 * impulse.norm(), "{event:?}");
    // the torus is about the y axis of its shape, so that its z axis is vertical
    let inner = |p: &Point3<f64>| p.x.hypot(p.z) < 0.2;
    let above = tension(&stress, |p| p.z.abs() > 0.15 && p.x.abs() < 0.05).1;
    assert!(inner(&above), "{above}");
    let side = |sign: f64| tension(&stress, |p| p.z * sign > 0.1);
    let aside = tension(&stress, |p| inner(p) && p.z.abs() < 0.05).0;
    for sign in [-1.0, 1.0] {
        let (most, at) = side(sign);
        assert!(inner(&at) && at.x.abs() < 0.08 && most > 2.0 * aside, "{most} at {at}, {aside}");
    }
}

#[test]
fn a_hanging_bar_is_loaded_by_its_joint() {
    let joint = r#"[[joints]]
kind = "point"
bodies = ["bar", "ceiling"]
anchor = [0, 1, 0]
[[body]]
name = "ceiling"
shape = { box = { half_extents = [0.1, 0.01, 0.1] } }
position = [0, 1.5, 0]
motion = "static"
[[body]]
name = "bar"
shape = { box = { half_extents = [0.02, 0.5, 0.02], spacing = 0.01 } }
position = [0, 0.5, 0]
material = "concrete"
fracture = { break_impulse = 0.01, stress = { spacing = 0.02, strength = 1e12 } }
"#;
    let ball = "position = [-0.2, 0.001, 0]\nvelocity = [5, 0, 0]\n";
    let scene = format!("[simulation]\ngravity = [0, 0, 0]\n{joint}");
    let (event, _) = first_stress(&mut struck(&scene, ball));
    // the impulse at the end of a slender bar that turns about the other: J (1 - 1.5) at the joint
    let (impulse, back) = (event.impulse[0], pushed(&event));
    assert!((back.x / (0.5 * impulse) - 1.0).abs() < 0.02, "{back} of {impulse}");
    // along the bar the joint bears the whole impulse
    let along = back.yz() + Vector3::from(event.impulse).yz();
    assert!(along.norm() < 0.01 * back.x, "{along}");
}

#[test]
fn blows_last_as_long_as_hertz_says() {
    // two equal balls of steel with the elastic contact time 2.87 (m^2 / (R E*^2 v))^(1/5)
    let steel = fracture::Material::TABLE.into_iter().find(|own| own.name == "steel").unwrap();
    let (radius, speed) = (0.05, 1e-3);
    let mass = 4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius * steel.density;
    let impact = fracture::Impact {
        body: &steel,
        striker: &steel,
        section: fracture::Section { thickness: 0.1, width: 0.1, length: 0.1 },
        curvature: 2.0 / radius,
        mass: mass / 2.0,
    };
    let modulus = steel.stiffness / (2.0 * (1.0 - steel.poisson * steel.poisson));
    let relative = mass * mass / 4.0 / (radius / 2.0 * modulus * modulus * speed);
    let expected = 2.87 * relative.powf(0.2);
    // 1.7 stands for both Hertz's 1.84 and pi / 2 of crushing
    let off = impact.duration(speed) / expected * (1.84 / 1.7);
    assert!((off - 1.0).abs() < 0.02, "{off}");
    assert!(impact.duration(1e-5) > impact.duration(1e-3));
}

#[test]
fn large_deflections_are_those_of_the_elastica() {
    let body = cantilever([20, 2, 2], Interpolation::Linear);
    let tip = |force: f64| {
        let at = |z: f64| Contact {
            place: Point3::new(1.0, 0.05, z),
            force: Vector3::new(0.0, -force / 2.0, 0.0),
        };
        [at(0.025), at(0.075)]
    };
    let deflection = |moved: &[Vector3<f64>]| -> f64 {
        let ends = body.mesh().vertices.iter().zip(moved).filter(|(p, _)| p.x > 1.0 - 1e-9);
        let down: Vec<f64> = ends.map(|(_, u)| -u.y).collect();
        down.iter().sum::<f64>() / down.len() as f64
    };
    let linear = |force| deflection(&body.respond(&Load::new(&tip(force))).unwrap().displacements);
    let large = |force| {
        let found = body.respond_nonlinear(&[Load::new(&tip(force))], Newton::default());
        deflection(&found.unwrap().displacements)
    };
    assert!((large(1.0) / linear(1.0) - 1.0).abs() < 1e-6);
    // the force at which F L^2 = E I, with the E I of the mesh: linear deflection L / 3, that of the elastica
    // 0.3017 L (Bisshopp and Drucker 1945)
    let force = 1.0 / (3.0 * linear(1.0));
    let found = large(force);
    assert!((found / 0.3017 - 1.0).abs() < 0.02, "{found}");
    let quadratic = cantilever([4, 1, 1], Interpolation::Quadratic);
    let refused = quadratic.respond_nonlinear(&[Load::new(&[])], Newton::default());
    assert_eq!(refused.err(), Some(EquilibriumError::Quadratic));
}

#[test]
fn a_soft_body_that_yields_is_strained_as_green_says() {
    let soft = r#"[[body]]
name = "cube"
shape = { box = { half_extents = [0.1, 0.1, 0.1], spacing = 0.02 } }
density = 1000
anchor = [{ plane = { normal = [0, 1, 0], offset = -0.05 } }]
fracture = { break_impulse = 0.01, stress = { spacing = 0.05, averaging = 0.05, strength = 1e12, young = 2e5, poisson = 0.4, YIELD duration = 0.02 } }
"#;
    let most = |yields: &str| {
        let ball = "position = [0, 0.16, 0]\nvelocity = [0, -0.5, 0]\n";
        let (_, stress) = first_stress(&mut struck(&soft.replace("YIELD", yields), ball));
        stress.von_mises.iter().copied().fold(0.0, f32::max)
    };
    // compression stiffens the body: the same force gives other strain and stress
    let (linear, green) = (most(""), most("yield_strength = 1e9,"));
    let off = (green / linear - 1.0).abs();
    assert!((0.02..0.5).contains(&off), "{green} Pa for {linear} Pa");
}
