//! Bodies of masses and links in a world keep their tetrahedra and the weakening of their links
//! (Ku07 sections 2 and 3.2).

use std::collections::BTreeMap;
use std::sync::Arc;

use brisance_tests::tet_boxes::kuhn_box;
use contact::Field;
use fracture::{Lattice, LatticeError, LatticeImpactSettings, Neighbors, Shards, Weakness};
use levelset::TetMesh;
use nalgebra::{Point3, Vector3};
use sim::scene::Scene;
use sim::{
    BodyId, BodyState, BuildError, Cause, Event, FractureModel, HitOutcome, LatticeBody, MeshData,
    NewBody, Report, Surface, World, build,
};

use crate::cli::Case;

/// A slab of irregular tetrahedra, 0.6 m long, with a corner at the origin.
fn slab() -> TetMesh {
    let mut mesh = kuhn_box([6, 4, 2], Vector3::new(0.6, 0.4, 0.2));
    let inside = |x: f64, size: f64| x > 1e-9 && x < size - 1e-9;
    for (n, p) in mesh.vertices.iter_mut().enumerate() {
        for (axis, size) in [0.6, 0.4, 0.2].into_iter().enumerate() {
            // surface points remain on the surface
            if inside(p[axis], size) {
                p[axis] += 0.02 * (12.9 * (3 * n + axis) as f64).sin();
            }
        }
    }
    mesh.validate().unwrap();
    mesh
}

/// The slab in the air, held at one end or free, and a steel ball along z.
fn struck(lattice: &str, anchor: &str, speed: f64) -> World {
    thrown(lattice, anchor, &[(0.3, -speed)])
}

/// As [`struck`], with balls at several positions along z and their velocities.
fn thrown(lattice: &str, anchor: &str, balls: &[(f64, f64)]) -> World {
    made(&scene(lattice, anchor, balls))
}

fn made(scene: &str) -> World {
    let meshes = BTreeMap::from([("slab.msh".to_owned(), MeshData::Tets(slab()))]);
    build(&Scene::from_toml(scene).unwrap(), &meshes).unwrap().0
}

fn scene(lattice: &str, anchor: &str, balls: &[(f64, f64)]) -> String {
    let mut scene = format!(
        r#"version = 1
        [simulation]
        gravity = [0, 0, 0]
        [[body]]
        name = "slab"
        shape = {{ tets = {{ file = "slab.msh", nodes = 30000 }} }}
        material = "clay"
        anchor = [{anchor}]
        fracture = {{ break_impulse = 0.1, min_share = 0.001, lattice = {{ spacing = 0.1, {lattice} }} }}
        "#
    );
    for (z, velocity) in balls {
        scene += &format!(
            r#"
            [[body]]
            name = "ball at {z}"
            shape = {{ sphere = {{ radius = 0.05 }} }}
            position = [0.42, 0.2, {z}]
            velocity = [0, 0, {velocity}]
            material = "steel"
            "#
        );
    }
    scene
}

const WEAK: &str = "strength = 2e5";
const STRONG: &str = "strength = 2e6";
const HELD: &str = "{ plane = { normal = [1, 0, 0], offset = 0.06 } }";

fn run(world: &mut World, frames: usize) -> Vec<Report> {
    (0..frames).map(|_| world.step()).collect()
}

fn latticed<'a>(state: &BodyState<'a>) -> Option<&'a Arc<LatticeBody>> {
    match &state.breakage?.model {
        FractureModel::Lattice(latticed) => Some(latticed),
        FractureModel::Prescored(..) | FractureModel::Fixed(_) | FractureModel::Stress(_) => None,
    }
}

/// The strengths of the links of all bodies.
fn strengths(world: &World) -> Vec<Vec<u64>> {
    let links = world.iter().filter_map(|state| latticed(&state)?.lattice());
    links.map(|links| links.strengths().iter().map(|s| s.to_bits()).collect()).collect()
}

/// The sorted positions of the corners of all tetrahedra.
fn corners(mesh: &TetMesh) -> Vec<[[u64; 3]; 4]> {
    let place = |p: Point3<f64>| [p.x, p.y, p.z].map(f64::to_bits);
    let mut all: Vec<_> = (0..mesh.tets.len()).map(|t| mesh.corners(t).map(place)).collect();
    all.sort_unstable();
    all
}

/// Adds the ball again in its initial state.
fn throw_again(world: &mut World, first: &NewBody) {
    let ball = world.iter().find(|state| latticed(state).is_none() && state.solid.is_none());
    let ball = ball.expect("the ball").id;
    world.remove(ball);
    world.add(first.clone()).unwrap();
}

/// The current ball of a world.
fn ball(world: &World) -> NewBody {
    let state = world.iter().next_back().unwrap();
    NewBody {
        pose: *state.pose,
        velocity: dynamics::Velocity {
            linear: state.momentum.linear / state.body.mass_properties().unwrap().mass(),
            ..dynamics::Velocity::default()
        },
        ..NewBody::of(*state.body, Arc::clone(state.shape))
    }
}

/// The number of the throw that breaks the slab; `None` if no throw does.
fn breaking_impulse_at(world: &mut World, throws: usize) -> Option<usize> {
    let thrown = ball(world);
    (1..=throws).find(|_| {
        throw_again(world, &thrown);
        run(world, 4).iter().any(|report| !report.events.fractures.is_empty())
    })
}

#[test]
fn a_body_of_tetrahedra_breaks_along_their_faces() {
    let mut world = struck(WEAK, "", 12.0);
    let reports = run(&mut world, 2);
    let broken: usize = reports.iter().map(|report| report.events.fractures.len()).sum();
    assert!(broken > 0);
    let (mut tets, mut volume) = (Vec::new(), 0.0);
    for state in world.iter() {
        let Some(latticed) = latticed(&state) else { continue };
        let mesh = latticed.mesh().expect("tetrahedra of its own");
        mesh.validate().unwrap();
        assert_eq!(latticed.lattice().unwrap().positions().len(), mesh.tets.len());
        tets.extend(corners(mesh));
        let (own, sampled) = (mesh.moments(), state.solid.unwrap().geometry.moments());
        volume += own.volume;
        // equal position and size within the resolution of the samples
        if own.volume > 0.003 {
            let apart = (own.center() - sampled.center()).norm();
            let ratio = own.volume / sampled.volume;
            assert!(apart < 0.01 && (ratio - 1.0).abs() < 0.1, "{apart} {ratio}");
        }
    }
    tets.sort_unstable();
    assert_eq!(tets, corners(&slab()), "each of the given tetrahedra is in one piece");
    assert!((volume / 0.048 - 1.0).abs() < 1e-12, "{volume}");
}

#[test]
fn pieces_of_a_body_that_collides_by_its_tetrahedra_do_so_too() {
    let text = scene(WEAK, "", &[(0.3, -12.0)]);
    let mut world = made(&text.replace("nodes = 30000", "nodes = 30000, collide = \"tets\""));
    let broken: usize = run(&mut world, 2).iter().map(|report| report.events.fractures.len()).sum();
    assert!(broken > 0);
    for state in world.iter().filter(|state| latticed(state).is_some()) {
        assert!(matches!(state.shape.field(), Field::Tets(_)));
    }
}

#[test]
fn too_many_tetrahedra_at_an_edge_are_refused_by_name() {
    let count = 8200;
    let mut mesh = TetMesh {
        vertices: vec![Point3::new(0.0, 0.0, -1.0), Point3::new(0.0, 0.0, 1.0)],
        ..TetMesh::default()
    };
    for n in 0..count {
        let (y, x) = (f64::from(n) / f64::from(count) * std::f64::consts::TAU).sin_cos();
        mesh.vertices.push(Point3::new(x, y, 0.0));
        mesh.tets.push([0, 1, 2 + n as u32, 2 + (n as u32 + 1) % count as u32]);
    }
    Lattice::check(&mesh, Neighbors::Faces).unwrap();
    let scene = r#"version = 1
        [[body]]
        name = "fan"
        shape = { tets = { file = "fan.msh", nodes = 8000 } }
        fracture = { break_impulse = 1, lattice = { spacing = 0.1, strength = 1e5 } }
        "#;
    let meshes = BTreeMap::from([("fan.msh".to_owned(), MeshData::Tets(mesh))]);
    let BuildError { part, cause, .. } =
        build(&Scene::from_toml(scene).unwrap(), &meshes).unwrap_err();
    assert_eq!(part, "body \"fan\"");
    let Cause::Lattice(error) = cause else { panic!("{cause}") };
    assert!(matches!(*error, LatticeError::TooManyPairs { pairs } if pairs > Lattice::MAX_PAIRS));
}

#[test]
fn ten_light_blows_break_what_one_does_not() {
    let mut world = struck(STRONG, HELD, 0.8);
    let first = breaking_impulse_at(&mut world, 10);
    assert!(first.is_some_and(|n| n > 1), "{first:?}");
}

#[test]
fn one_blow_twice_weakens_links_twice() {
    let mut world = struck(STRONG, HELD, 0.6);
    let thrown = ball(&world);
    let mut left = Vec::new();
    for _ in 0..3 {
        throw_again(&mut world, &thrown);
        let reports = run(&mut world, 4);
        assert!(reports.iter().any(|report| !report.events.held.is_empty()), "the slab was struck");
        assert_eq!(world.len(), 2);
        let state = world.iter().next().unwrap();
        left.push(latticed(&state).unwrap().lattice().unwrap().strengths().iter().sum::<f64>());
    }
    assert!(left[0] > left[1] && left[1] > left[2], "{left:?}");
}

/// The lattice after an impact, computed only from its event and the parameters of the body.
fn lattice_after(before: &World, event: &Event) -> Lattice {
    let state = before.get(event.body).unwrap();
    let model = latticed(&state).unwrap().model();
    let solid = state.solid.unwrap();
    let density = state.body.mass_properties().unwrap().mass() / solid.geometry.moments().volume;
    let mesh = slab();
    let mut lattice =
        Lattice::new(&mesh, model.neighbors, |_| density, |_| model.strength).unwrap();
    // the slab does not move before the impact
    let at = solid.material * Point3::from(event.point);
    let impulse = state.pose.rotation.inverse() * Vector3::from(event.impulse);
    let impulse = solid.material.rotation * impulse;
    let loads = lattice.load(&at, model.spacing, &impulse, model.duration);
    lattice.impact(&loads, &model.breaking);
    lattice
}

#[test]
fn pieces_inherit_the_links_as_the_blow_left_them() {
    let before = struck(WEAK, "", 12.0);
    let mut world = struck(WEAK, "", 12.0);
    let report = world.step();
    let report = if report.events.replayable.is_empty() { world.step() } else { report };
    let event = report
        .events
        .replayable
        .iter()
        .find(|e| matches!(e.outcome, HitOutcome::Broke(_)))
        .unwrap();
    let lattice = lattice_after(&before, event);
    let key = |p: &Point3<f64>| [p.x, p.y, p.z].map(f64::to_bits);
    let known: BTreeMap<_, f64> = lattice
        .links()
        .iter()
        .zip(lattice.strengths())
        .map(|(link, &strength)| ((key(&link.place), link.across_face), strength))
        .collect();
    let (mut weaker, mut count) = (0, 0);
    // later impacts in the frame weaken or break pieces further
    let is_hit_once = |id: &&BodyId| !report.events.held.contains(id);
    for &id in report.events.fractures[0].fragments.iter().filter(is_hit_once) {
        let Some(state) = world.get(id) else { continue };
        let own = latticed(&state).unwrap().lattice().unwrap();
        for (link, strength) in own.links().iter().zip(own.strengths()) {
            if !link.across_face {
                continue;
            }
            let expected = known[&(key(&link.place), true)];
            assert!((strength - expected).abs() <= 1e-9 * expected, "{strength} {expected}");
            weaker += usize::from(*strength < 0.99 * 2e5 * link.area);
            count += 1;
        }
    }
    assert!(weaker > 10 && count > 20, "{weaker} {count}");
}

#[test]
fn parts_of_a_cut_keep_their_weak_links() {
    let mut world = struck(STRONG, "", 0.8);
    run(&mut world, 6);
    let whole = world.iter().next().unwrap();
    let before = latticed(&whole).unwrap().lattice().unwrap().clone();
    let x = whole.pose.translation.x;
    let edge = |y: f64| [Point3::new(x, y, -9.0), Point3::new(x, y, 9.0)];
    let cuts = world.cut(edge(-9.0), edge(9.0));
    let slabs: Vec<BodyId> = cuts.iter().flat_map(|cut| cut.fragments.clone()).collect();
    assert_eq!(slabs.len(), 2);
    let mut tets = 0;
    for id in slabs {
        let state = world.get(id).unwrap();
        let own = latticed(&state).unwrap().lattice().expect("links that are known");
        tets += own.positions().len();
        for (link, strength) in own.links().iter().zip(own.strengths()) {
            let same = |(other, s): (&fracture::Link, &f64)| {
                other.place == link.place && s.to_bits() == strength.to_bits()
            };
            assert!(before.links().iter().zip(before.strengths()).any(same));
        }
    }
    assert_eq!(tets, slab().tets.len());
    let weak = before.links().iter().zip(before.strengths());
    assert!(weak.filter(|(link, s)| link.across_face && **s < 2e6 * link.area).count() > 0);
}

/// Two balls that weaken the slab and one that breaks it.
fn worn() -> World {
    thrown(STRONG, HELD, &[(0.3, -0.8), (0.9, -0.8), (-3.0, 3.0)])
}

#[test]
fn weakened_links_are_there_again_after_a_checkpoint_and_in_a_replay() {
    const FRAMES: usize = 34;
    let mut whole = worn();
    let reports = run(&mut whole, FRAMES);
    let events: Vec<Event> = reports.iter().flat_map(|r| r.events.replayable.clone()).collect();
    let breaks = events.iter().position(|e| matches!(e.outcome, HitOutcome::Broke(_))).unwrap();
    assert!(breaks > 1, "it holds some blows first");
    let saved = events[breaks - 1].frame;
    assert!(saved < events[breaks].frame);

    let mut first = worn();
    run(&mut first, saved);
    let mut rest = worn();
    for frame in 1..=saved {
        let then: Vec<Event> = events.iter().filter(|e| e.frame == frame).cloned().collect();
        rest.replay_frame(&then).unwrap();
    }
    rest.restore(&first.saved()).unwrap();
    assert_eq!(strengths(&rest), strengths(&first));
    assert_ne!(strengths(&rest), strengths(&worn()), "the links are weaker");
    run(&mut rest, FRAMES - saved);
    assert!(rest.saved() == whole.saved() && strengths(&rest) == strengths(&whole));

    let mut replayed = worn();
    replayed.replay(events);
    assert!(run(&mut replayed, FRAMES).iter().all(|report| report.events.mismatches.is_empty()));
    assert!(replayed.saved() == whole.saved() && strengths(&replayed) == strengths(&whole));
}

#[test]
fn without_damage_ten_blows_leave_what_one_does_and_planes_weaken_once() {
    let cleave = "cleave = [{ normal = [1, 0, 0], offset = 0.3, width = 0.1, factor = 0.9 }]";
    let mut world = struck(&format!("{STRONG}, damage = 0, {cleave}"), HELD, 0.8);
    assert_eq!(breaking_impulse_at(&mut world, 10), None);
    let slab = world.iter().next().unwrap();
    let lattice = latticed(&slab).unwrap().lattice().expect("it was hit");
    for (link, strength) in lattice.links().iter().zip(lattice.strengths()) {
        let factor = 0.9 + 0.1 * ((link.place.x - 0.3).abs() / 0.1).min(1.0);
        assert!((strength / (2e6 * link.area) - factor).abs() < 1e-12, "{strength} {factor}");
    }
}

/// The lattice model of the slab of a scene.
fn model(lattice: &str) -> sim::LatticeModel {
    let world = struck(lattice, "", 1.0);
    latticed(&world.iter().next().unwrap()).unwrap().model().clone()
}

#[test]
fn every_key_of_a_lattice_reaches_what_it_names() {
    // the seed of scenes
    let default = LatticeImpactSettings { seed: 1, ..LatticeImpactSettings::default() };
    let bare = model("");
    assert_eq!(bare.breaking, LatticeImpactSettings { compression: 8.0, ..default });
    assert_eq!(model(WEAK).breaking, default);
    assert_eq!((bare.shards, bare.smoothing), (Shards::Merge, 0));
    let all = model(
        "steps = 3, compression = 4, damage = 0.25, weakening = 0.2, alpha = 0.6, tau = 0.05, \
         randomness = 2, shards = \"dust\", smoothing = 7, \
         weak_spheres = [{ centre = [1, 2, 3], radius = 0.5, width = 0.25, factor = 0.125 }]",
    );
    let spread = fracture::Spread { share: 0.2, falloff: 0.6, least: 0.05, extra: 2.0 };
    let breaking =
        LatticeImpactSettings { steps: 3, compression: 4.0, damage: 0.25, spread, ..default };
    assert_eq!(all.breaking, breaking);
    assert_eq!((all.shards, all.smoothing), (Shards::Dust, 7));
    let center = Point3::new(1.0, 2.0, 3.0);
    let sphere = Weakness::Sphere { center, radius: 0.5, width: 0.25, factor: 0.125 };
    assert_eq!(all.weaknesses, [sphere]);
    assert_eq!(model("shards = \"keep\"").shards, Shards::Keep);
}

#[test]
fn keys_of_a_lattice_out_of_range_are_named() {
    let sphere = |values: &str| format!("weak_spheres = [{{ {values} }}]");
    for (keys, key, said) in [
        ("steps = 0".to_owned(), "lattice.steps", "between 1 and 100, not 0"),
        ("steps = 101".to_owned(), "lattice.steps", "between 1 and 100, not 101"),
        ("compression = 0".to_owned(), "lattice.compression", "above 0"),
        ("damage = -0.1".to_owned(), "lattice.damage", "between 0 and 1, not -0.1"),
        ("weakening = 1.5".to_owned(), "lattice.weakening", "between 0 and 1, not 1.5"),
        ("alpha = 1".to_owned(), "lattice.alpha", "above 0 and below 1, not 1.0"),
        ("alpha = nan".to_owned(), "lattice.alpha", "above 0 and below 1, not NaN"),
        ("tau = 2".to_owned(), "lattice.tau", "between 0 and 1, not 2.0"),
        ("smoothing = 101".to_owned(), "lattice.smoothing", "between 0 and 100, not 101"),
        (sphere("radius = 0, width = 1, factor = 0"), "weak_spheres[0].radius", "above 0"),
        (sphere("radius = 1, width = 0, factor = 0"), "weak_spheres[0].width", "above 0"),
        (sphere("radius = 1, width = 1, factor = 2"), "weak_spheres[0].factor", "from 0 to 1"),
    ] {
        let scene = format!(
            "version = 1\n[[body]]\nname = \"a\"\nshape = {{ sphere = {{ radius = 1 }} }}\n\
             fracture = {{ break_impulse = 1, lattice = {{ spacing = 0.3, strength = 1e5, {keys} }} }}\n"
        );
        let error = Scene::from_toml(&scene).unwrap_err().to_string();
        assert!(error.contains(key) && error.contains(said), "{keys}: {error}");
    }
}

/// The tetrahedra of each body after a blow that breaks off single ones.
fn crushed(shards: &str) -> (World, Vec<Report>, Vec<usize>) {
    let lattice = format!("{WEAK}, links = \"faces\", shards = \"{shards}\"");
    let mut world = struck(&lattice, "", 20.0);
    let reports = run(&mut world, 2);
    let count = |state: BodyState<'_>| Some(latticed(&state)?.mesh()?.tets.len());
    let counts = world.iter().filter_map(count).collect();
    (world, reports, counts)
}

#[test]
fn single_tetrahedra_are_pieces_or_stay_or_are_gone() {
    let singles = |counts: &[usize]| counts.iter().filter(|&&count| count == 1).count();
    let (kept, _, counts) = crushed("keep");
    assert!(singles(&counts) > 5, "{counts:?}");
    let (merged, _, counts) = crushed("merge");
    assert_eq!(singles(&counts), 0, "{counts:?}");
    assert!(merged.len() < kept.len());
    let (world, reports, counts) = crushed("dust");
    assert_eq!(singles(&counts), 0, "{counts:?}");
    assert!(!counts.is_empty());
    let whole = struck(WEAK, "", 20.0);
    let gone = world.retired_mass();
    assert!(gone > 0.0 && merged.retired_mass() == 0.0);
    assert!(((world.mass() + gone) / whole.mass() - 1.0).abs() < 1e-12);
    let retired: Vec<BodyId> = reports.iter().flat_map(|r| r.events.retired.clone()).collect();
    assert!(retired.len() > 2 && retired.iter().all(|&id| world.get(id).is_none()));
    for event in reports.iter().flat_map(|r| &r.events.fractures) {
        assert!((event.mass_after / event.mass_before - 1.0).abs() < 1e-12);
        assert!(event.fragments.iter().any(|id| !retired.contains(id)), "something is left");
    }
    for report in &reports {
        assert!(report.energy.gain <= 1e-10 * report.energy.kinetic, "{}", report.energy.gain);
    }
}

#[test]
fn smoothed_pieces_have_less_surface_and_the_same_tetrahedra() {
    let pieces = |smoothing: usize| {
        let mut world = struck(&format!("{STRONG}, smoothing = {smoothing}"), HELD, 2.0);
        let report = world.step();
        let report = if report.events.fractures.is_empty() { world.step() } else { report };
        let fragments = &report.events.fractures[0].fragments;
        let mesh = |&id: &BodyId| latticed(&world.get(id)?)?.mesh().cloned();
        fragments.iter().filter_map(mesh).collect::<Vec<_>>()
    };
    let sum = |meshes: &[TetMesh], of: &dyn Fn(&TetMesh) -> f64| meshes.iter().map(of).sum::<f64>();
    let area = |mesh: &TetMesh| mesh.boundary().facts().unwrap().area;
    let volume = |mesh: &TetMesh| mesh.moments().volume;
    let count = |meshes: &[TetMesh]| meshes.iter().map(|mesh| mesh.tets.len()).sum::<usize>();
    let (rough, smooth) = (pieces(0), pieces(10));
    assert!(rough.len() > 1);
    // both sides of the cracks, without the surface of the slab
    let cracks = |meshes: &[TetMesh]| sum(meshes, &area) - 0.88;
    assert!(cracks(&smooth) < 0.95 * cracks(&rough));
    assert!((sum(&smooth, &volume) / sum(&rough, &volume) - 1.0).abs() < 1e-12);
    assert_eq!(count(&smooth), count(&rough));
    smooth.iter().for_each(|mesh| mesh.validate().unwrap());
}

/// A block that crumbles to dust on the floor, with a recording.
const CRUMBLES: &str = r#"version = 1
[simulation]
frames = 12
[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "block"
shape = { box = { half_extents = [0.2, 0.1, 0.1], spacing = 0.02 } }
position = [0, 0.2, 0]
rotation = { axis = [0.3, 0.2, 1], degrees = 30 }
velocity = [0, -6, 0]
material = "clay"
fracture = { break_impulse = 1, lattice = { spacing = 0.1, strength = 2e5, links = "faces", shards = "dust" } }
"#;

#[test]
fn a_run_that_makes_dust_goes_on_from_a_checkpoint() {
    let case = Case::new(&[("scene.toml", CRUMBLES)]);
    let done = |arguments: &[&str]| {
        let output = case.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let bytes = |name: &str| std::fs::read(case.folder.path().join(name)).unwrap();
    let run = ["run", "scene.toml", "-q", "--ledger", "ledger.csv", "-o"];
    let saved = ["--checkpoint-every", "8", "--checkpoint", "here.checkpoint"];
    done(&[&run[..], &["whole.jsonl"], &saved].concat());
    let ledger = String::from_utf8(bytes("ledger.csv")).unwrap();
    let mut lines = ledger.lines();
    let column = lines.next().unwrap().split(',').position(|name| name == "retired_mass").unwrap();
    let retired = lines.next_back().unwrap().split(',').nth(column).unwrap();
    assert!(retired.parse::<f64>().unwrap() > 0.0, "{retired}");
    done(&[&run[..], &["rest.jsonl", "--resume", "here.checkpoint"]].concat());
    assert!(bytes("rest.jsonl") == bytes("whole.jsonl"));
}

/// A wall with a few broken links keeps its faces: they are drawn as the surface of the whole.
#[test]
fn what_lies_on_the_surface_of_a_struck_wall_is_drawn_as_its_surface() {
    let mut world = brisance_tests::scenes::load("uneven", |_| ()).world;
    (0..6).for_each(|_| drop(world.step()));
    let [mut outer, mut inner] = [0.0_f64; 2];
    for state in world.iter().filter(|state| state.lineage.is_some()) {
        let surface = Surface::of(state.shape, state.solid, state.lineage, None);
        let on_faces = |triangles: &[[u32; 3]]| -> f64 {
            let area = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|v| Vector3::from(surface.rest[v as usize]).map(f64::from));
                let depth = 0.05 - (a + b + c).z.abs() / 3.0;
                if depth < 1e-3 { (b - a).cross(&(c - a)).norm() / 2.0 } else { 0.0 }
            };
            triangles.iter().map(area).sum()
        };
        outer += on_faces(&surface.outer);
        inner += on_faces(&surface.inner);
    }
    assert!(outer > 2.5 && inner < 0.02 * outer, "{inner} m^2 of {outer} m^2");
}
