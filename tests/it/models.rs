//! Bodies that break by their lattice or by stress within the frame of a world.

use std::collections::BTreeMap;

use nalgebra::Point3;
use sim::scene::Scene;
use sim::{Report, World, build};

/// A slab in the air, and a ball that strikes it.
fn struck(fracture: &str, speed: f64) -> World {
    let scene = format!(
        r#"version = 1
        [simulation]
        gravity = [0, 0, 0]
        [[body]]
        name = "slab"
        shape = {{ box = {{ half_extents = [0.4, 0.3, 0.08], spacing = 0.04 }} }}
        material = "concrete"
        fracture = {{ strength = 1, generations = 1, {fracture} }}
        [[body]]
        name = "ball"
        shape = {{ sphere = {{ radius = 0.1 }} }}
        position = [0.1, 0.05, 0.3]
        velocity = [0, 0, -{speed}]
        material = "steel"
        "#
    );
    build(&Scene::from_toml(&scene).unwrap(), &BTreeMap::new()).unwrap().0
}

const LATTICE: &str = "lattice = { spacing = 0.16, strength = 5e5 }";
const STRESS: &str = "stress = { spacing = 0.16 }";

fn run(world: &mut World, frames: usize) -> Vec<Report> {
    (0..frames).map(|_| world.step()).collect()
}

#[test]
fn lattices_and_stress_break_a_slab_and_keep_mass_and_momentum() {
    for (model, speed) in [(LATTICE, 15.0), (STRESS, 40.0)] {
        let mut world = struck(model, speed);
        let (mass, momentum) = (world.mass(), world.momentum());
        let size = momentum.linear.norm();
        let energy = world.kinetic_energy();
        let reports = run(&mut world, 3);
        let events: Vec<_> = reports.iter().flat_map(|r| &r.events.fractures).collect();
        assert!(!events.is_empty(), "{model}");
        assert!(events[0].fragments.len() > 1, "{model}: {}", events[0].fragments.len());
        for event in events {
            assert!((event.mass_after / event.mass_before - 1.0).abs() < 1e-12);
        }
        assert!((world.mass() / mass - 1.0).abs() < 1e-12);
        assert!((world.momentum().linear - momentum.linear).norm() < 1e-10 * size, "{model}");
        assert!(world.kinetic_energy() <= energy * (1.0 + 1e-10), "{model}");
    }
}

#[test]
fn a_gentle_blow_leaves_the_slab_whole_and_breakable() {
    for model in [LATTICE, STRESS] {
        let mut world = struck(model, 0.1);
        let reports = run(&mut world, 40);
        assert_eq!(world.len(), 2, "{model}");
        let held: Vec<_> = reports.iter().flat_map(|r| &r.events.held).collect();
        assert!(!held.is_empty(), "the slab was struck: {model}");
        assert!(world.iter().any(|state| state.breakage.is_some()));
    }
}

#[test]
fn models_break_alike_for_any_number_of_threads() {
    for (model, speed) in [(LATTICE, 15.0), (STRESS, 40.0)] {
        let poses = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut world = struck(model, speed);
                run(&mut world, 3);
                world.iter().map(|state| *state.pose).collect::<Vec<_>>()
            })
        };
        assert_eq!(poses(1), poses(3), "{model}");
    }
}

#[test]
fn a_wall_fixed_to_the_ground_keeps_its_foot() {
    let scene = r#"version = 1
        [[body]]
        name = "wall"
        shape = { box = { half_extents = [0.5, 0.4, 0.08], spacing = 0.04 } }
        position = [0, 0.4, 0]
        material = "clay"
        anchor = [{ plane = { normal = [0, 1, 0], offset = -0.3 } }]
        fracture = { strength = 5, generations = 1, min_share = 0.03, lattice = { spacing = 0.16, strength = 3e5 } }
        [[body]]
        name = "ball"
        shape = { sphere = { radius = 0.12 } }
        position = [0, 0.55, 0.4]
        velocity = [0, 0, -12]
        material = "steel"
        "#;
    let mut world = build(&Scene::from_toml(scene).unwrap(), &BTreeMap::new()).unwrap().0;
    let mass = world.mass();
    run(&mut world, 5);
    assert!(world.len() > 3, "{}", world.len());
    let anchored: Vec<_> = world.iter().filter(|state| world.is_anchored(state.id)).collect();
    assert!(!anchored.is_empty());
    for state in anchored {
        let lowest = state.shape.points().iter().map(|p| (state.pose * p).y);
        assert!(lowest.fold(f64::INFINITY, f64::min) < 0.1);
    }
    assert!((world.mass() / mass - 1.0).abs() < 1e-12);
}

#[test]
fn a_body_breaks_in_exactly_one_way() {
    let problem = |fracture: &str| {
        let scene = format!(
            "version = 1\n[[body]]\nname = \"a\"\nshape = {{ sphere = {{ radius = 1 }} }}\n\
             fracture = {{ {fracture} }}\n"
        );
        Scene::from_toml(&scene).unwrap_err().to_string()
    };
    for (fracture, said) in [
        ("strength = 1", "exactly one of the keys"),
        (
            "strength = 1, lattice = { spacing = 0.3, strength = 1e5 }, \
             stress = { spacing = 0.3, strength = 1e5, young = 1e9 }",
            "exactly one of the keys",
        ),
        ("strength = 1, lattice = { spacing = 0.3 }", "lacks the key `strength`"),
        ("strength = 1, stress = { spacing = 0.3, strength = 1e6 }", "lacks the key `young`"),
        ("strength = 1, lattice = { spacing = 0, strength = 1e5 }", "spacing"),
        ("strength = 1, lattice = { spacing = 1e-3, strength = 1e5 }", "use larger ones"),
        (
            "strength = 1, lattice = { spacing = 0.3, strength = 1e5, cleave = [{ normal = \
             [0, 0, 0], width = 1, factor = 0 }] }",
            "must be a direction",
        ),
    ] {
        let found = problem(fracture);
        assert!(found.contains(said), "{found}");
    }
}

#[test]
fn a_sword_parts_what_it_passes_through_and_nothing_else() {
    let scene = r#"version = 1
        [simulation]
        gravity = [0, 0, 0]
        [[body]]
        name = "melon"
        shape = { capsule = { radius = 0.15, half_height = 0.1 } }
        velocity = [1, 2, 3]
        angular_velocity = [3, -2, 5]
        fracture = { strength = 100, lattice = { spacing = 0.1, strength = 1e6 } }
        [[body]]
        name = "far"
        shape = { cylinder = { radius = 0.1, half_height = 0.1 } }
        position = [2, 0, 0]
        [[body]]
        name = "ball"
        shape = { sphere = { radius = 0.1 } }
        position = [0, 1, 0]
        "#;
    let mut world = build(&Scene::from_toml(scene).unwrap(), &BTreeMap::new()).unwrap().0;
    let (mass, momentum, energy) = (world.mass(), world.momentum(), world.kinetic_energy());
    let edge = |x: f64| [Point3::new(x, 0.02, -1.0), Point3::new(x, 0.02, 1.0)];
    assert!(world.cut(edge(-3.0), edge(-1.0)).is_empty(), "the blade does not reach the body");
    assert!(world.cut(edge(-1.0), edge(-1.0)).is_empty(), "the blade does not move");
    let cuts = world.cut(edge(-1.0), edge(1.0));
    assert_eq!(cuts.len(), 1);
    assert_eq!((cuts[0].fragments.len(), world.len()), (2, 4));
    for &id in &cuts[0].fragments {
        let half = world.get(id).unwrap();
        let heights: Vec<f64> = half.shape.points().iter().map(|p| (half.pose * p).y).collect();
        let (low, high) = (
            heights.iter().fold(f64::INFINITY, |a: f64, &b| a.min(b)),
            heights.iter().fold(f64::NEG_INFINITY, |a: f64, &b| a.max(b)),
        );
        assert!(low > 0.02 - 1e-3 || high < 0.02 + 1e-3, "{low} {high}");
        assert!(half.breakage.is_some());
    }
    assert!((world.mass() / mass - 1.0).abs() < 1e-12);
    assert!((world.momentum().linear - momentum.linear).norm() < 1e-12 * momentum.linear.norm());
    assert!((world.momentum().angular - momentum.angular).norm() < 1e-12 * momentum.angular.norm());
    assert!((world.kinetic_energy() / energy - 1.0).abs() < 1e-12);
}
