//! Anchors, bonds and limits on pieces.

use std::collections::BTreeMap;

use brisance_tests::properties;
use nalgebra::{Point3, Vector3};
use proptest::prelude::*;
use sim::scene::Scene;
use sim::{Appearance, BodyId, NewBody, Recorder, Report, World, build};

fn made(scene: &str) -> (World, Vec<Appearance>) {
    build(&Scene::from_toml(scene).unwrap(), &BTreeMap::new()).unwrap()
}

fn named(appearances: &[Appearance], name: &str) -> BodyId {
    appearances.iter().find(|a| a.name == name).unwrap().body
}

/// A slab held at all four edges, struck in the middle by a ball.
fn held_wall(bonds: &str) -> String {
    format!(
        r#"version = 1
        [pattern.shards.voronoi]
        pieces = 50
        [[body]]
        name = "wall"
        shape = {{ box = {{ half_extents = [0.8, 0.6, 0.06], spacing = 0.02 }} }}
        density = 2400
        anchor = [
            {{ plane = {{ normal = [0, 1, 0], offset = -0.54 }} }},
            {{ plane = {{ normal = [0, -1, 0], offset = -0.54 }} }},
            {{ plane = {{ normal = [1, 0, 0], offset = -0.74 }} }},
            {{ plane = {{ normal = [-1, 0, 0], offset = -0.74 }} }},
        ]
        fracture = {{ pattern = "shards", strength = 50{bonds} }}
        [[body]]
        name = "ball"
        shape = {{ sphere = {{ radius = 0.12 }} }}
        density = 7850
        position = [0.1, 0, 0.6]
        velocity = [0, 0, -9]
        "#
    )
}

fn run(world: &mut World, frames: usize) -> Vec<Report> {
    (0..frames).map(|_| world.step()).collect()
}

/// The points of the world's anchored bodies.
fn anchored_points(world: &World) -> Vec<Point3<f64>> {
    let anchored = world.iter().filter(|s| world.is_anchored(s.id));
    anchored.flat_map(|s| s.shape.points().iter().map(|p| s.pose * p).collect::<Vec<_>>()).collect()
}

#[test]
fn an_anchored_wall_hit_in_the_middle_keeps_its_rim() {
    for bonds in ["", ", bonds = { strength = 1e6 }"] {
        let (mut world, _) = made(&held_wall(bonds));
        let (mass, pieces) = (world.mass(), world.len());
        let mut gain = f64::NEG_INFINITY;
        for report in run(&mut world, 40) {
            let scale = report.energy.kinetic + report.energy.potential.abs();
            gain = gain.max(report.energy.gain / scale);
            for event in &report.events.fractures {
                let lost = (event.mass_after - event.mass_before).abs();
                assert!(lost <= 1e-12 * event.mass_before);
            }
        }
        assert!(gain <= 1e-10, "{gain}");
        assert!(world.len() > pieces + 3, "the middle breaks out");
        assert!((world.mass() - mass).abs() <= 1e-12 * mass, "the mass includes anchored bodies");
        let held = anchored_points(&world);
        assert!(!held.is_empty());
        // every point of the rim is still held: the wall's outline is unchanged
        let reach =
            |axis: usize, sign: f64| held.iter().map(|p| sign * p[axis]).fold(0.0, f64::max);
        for (axis, half) in [(0, 0.8), (1, 0.6)] {
            assert!(reach(axis, 1.0) > half - 0.02 && reach(axis, -1.0) > half - 0.02);
        }
        for state in world.iter().filter(|s| !world.is_anchored(s.id)) {
            let at_rim = state.lineage.is_some()
                && state.shape.points().iter().any(|p| {
                    let rest = state.pose * p;
                    // a tip narrower than the spacing of its samples is not held
                    let well_in = rest.x.abs() > 0.78 || rest.y.abs() > 0.58;
                    well_in && rest.z.abs() < 0.06 && state.momentum.linear.norm() == 0.0
                });
            assert!(!at_rim, "a piece of the rim came loose");
        }
    }
}

#[derive(Debug)]
struct WallResult {
    /// Share of the mass in loose pieces.
    loose: f64,
    /// Whether bonds held an impact above the strength.
    is_held: bool,
    /// Pieces of the first fracture.
    first_pieces: usize,
    bodies: usize,
}

#[test]
fn stronger_bonds_leave_more_of_a_wall_standing() {
    let simulated = |bonds: &str| {
        // a second fracture of pieces would not test bonds
        let once = format!("{bonds}, generations = 1");
        let (mut world, _) = made(&held_wall(&once));
        let whole = world.mass();
        let reports = run(&mut world, 20);
        let loose: f64 = world
            .iter()
            .filter(|s| s.lineage.is_some())
            .filter_map(|s| s.body.mass_properties())
            .map(|m| m.mass())
            .sum();
        WallResult {
            loose: loose / whole,
            is_held: reports.iter().any(|r| !r.events.held.is_empty()),
            first_pieces: reports
                .iter()
                .find_map(|r| r.events.fractures.first())
                .map_or(0, |fracture| fracture.fragments.len()),
            bodies: world.len(),
        }
    };
    let [none, weak, strong] =
        ["", ", bonds = { strength = 1e6 }", ", bonds = { strength = 3e6 }"].map(simulated);
    let is_ordered = none.loose >= weak.loose && weak.loose > strong.loose;
    assert!(is_ordered, "{none:?} {weak:?} {strong:?}");
    let holds_some = none.first_pieces > weak.first_pieces && weak.first_pieces > 1;
    assert!(holds_some, "weak bonds hold some pieces together: {none:?} {weak:?}");
    // unbroken bonds hold the wall together, and the report shows this
    let unbroken = simulated(", bonds = { strength = 1e12 }");
    assert!(unbroken.is_held && unbroken.bodies == 2, "{unbroken:?}");
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// In free space, bonds affect only the shapes of the bodies.
    #[test]
    fn pieces_that_stay_together_keep_mass_momentum_and_energy(
        seed in 0..1000_u64,
        spin in prop::array::uniform3(-4.0..4.0_f64),
        strength in 4.5..6.5_f64,
    ) {
        let strength = 10_f64.powf(strength);
        let (mut world, bodies) = made(&format!(
            r#"version = 1
            [simulation]
            gravity = [0, 0, 0]
            seed = {seed}
            [pattern.shards.voronoi]
            pieces = 25
            [[body]]
            name = "brick"
            shape = {{ box = {{ half_extents = [0.3, 0.2, 0.1], spacing = 0.025 }} }}
            density = 2000
            velocity = [1, 2, 3]
            angular_velocity = {spin:?}
            fracture = {{ pattern = "shards", strength = 5, bonds = {{ strength = {strength} }} }}
            [[body]]
            name = "ball"
            shape = {{ sphere = {{ radius = 0.08 }} }}
            density = 7850
            position = [0.5, 0.07, 0.1]
            velocity = [-9, 2, 3]
            "#
        ));
        let (mass, momentum) = (world.mass(), world.momentum());
        let brick = world.get(named(&bodies, "brick")).unwrap().body.mass_properties().unwrap().mass();
        let mut energy = world.kinetic_energy();
        for _ in 0..8 {
            let report = world.step();
            prop_assert!(report.energy.kinetic <= energy * (1.0 + 1e-12));
            energy = report.energy.kinetic;
        }
        prop_assert!((world.mass() - mass).abs() <= 1e-12 * mass, "{} {mass} {brick}", world.mass());
        let after = world.momentum();
        let off = (after.linear - momentum.linear).norm();
        prop_assert!(off <= 1e-10 * momentum.linear.norm(), "{off}");
    }
}

/// A deck on two piers anchored to the world at the foot; a ball flies at one pier.
fn bridge(speed: f64) -> String {
    let pier = |name: &str, x: f64, strength: u32| {
        format!(
            r#"[[body]]
            name = "{name}"
            shape = {{ box = {{ half_extents = [0.12, 0.5, 0.25], spacing = 0.04 }} }}
            position = [{x}, 0.5, 0]
            material = "concrete"
            anchor = [{{ plane = {{ offset = -0.4 }} }}]
            fracture = {{ pattern = "shards", strength = {strength} }}
            "#
        )
    };
    format!(
        r#"version = 1
        [pattern.shards.voronoi]
        pieces = 40
        [[body]]
        name = "floor"
        shape = {{ plane = {{}} }}
        motion = "static"
        {}{}
        [[body]]
        name = "deck"
        shape = {{ box = {{ half_extents = [1.5, 0.1, 0.3], spacing = 0.04 }} }}
        position = [0, 1.1, 0]
        material = "concrete"
        anchor_strength = 1e5
        anchor = [
            {{ box = {{ centre = [-1.3, -0.05, 0], half_extents = [0.15, 0.08, 0.3] }}, to = "left" }},
            {{ box = {{ centre = [1.3, -0.05, 0], half_extents = [0.15, 0.08, 0.3] }}, to = "right" }},
        ]
        [[body]]
        name = "ball"
        shape = {{ sphere = {{ radius = 0.15 }} }}
        density = 7850
        position = [-1.3, 0.75, 2]
        velocity = [0, 1, {speed}]
        "#,
        pier("left", -1.3, 100),
        // strong enough for the falling deck
        pier("right", 1.3, 20_000)
    )
}

#[test]
fn a_bridge_that_loses_one_pier_falls() {
    let (mut world, bodies) = made(&bridge(-14.0));
    let (deck, right) = (named(&bodies, "deck"), named(&bodies, "right"));
    let mass = world.mass();
    let reports = run(&mut world, 60);
    assert!(reports.iter().any(|r| r.events.released.contains(&deck)), "the deck is let go");
    assert!(world.is_anchored(right), "the other pier stands");
    let height = world.get(deck).unwrap().pose.translation.y;
    assert!(height < 0.95, "{height}");
    assert!((world.mass() - mass).abs() <= 1e-12 * mass);
    for report in &reports {
        let scale = report.energy.kinetic + report.energy.potential.abs();
        assert!(report.energy.gain <= 1e-10 * scale, "{report:?}");
    }
}

#[test]
fn a_bridge_that_loses_nothing_stands() {
    let (mut world, bodies) = made(&bridge(14.0));
    let deck = named(&bodies, "deck");
    let start = *world.get(deck).unwrap().pose;
    run(&mut world, 30);
    assert!(world.is_anchored(deck));
    assert_eq!(*world.get(deck).unwrap().pose, start);
}

/// The stress at the root of a beam held at one end is `6 M / (b h^2)`.
#[test]
fn an_anchored_beam_bears_its_weight_up_to_the_stress_of_bending() {
    let beam = |strength: f64| {
        let (mut world, bodies) = made(&format!(
            r#"version = 1
            [pattern.shards.voronoi]
            pieces = 20
            [[body]]
            name = "floor"
            shape = {{ box = {{ half_extents = [0.5, 0.5, 0.5] }} }}
            position = [-1.48, 0, 0]
            density = 2000
            anchor = [{{ plane = {{ offset = -0.45 }} }}]
            fracture = {{ pattern = "shards", strength = 1 }}
            [[body]]
            name = "wall"
            shape = {{ plane = {{ normal = [1, 0, 0], offset = -0.98 }} }}
            motion = "static"
            [[body]]
            name = "beam"
            shape = {{ box = {{ half_extents = [1, 0.1, 0.15], spacing = 0.01 }} }}
            density = 2000
            anchor_strength = {strength}
            anchor = [
                {{ plane = {{ offset = -0.90, normal = [1, 0, 0] }}, to = "wall" }},
                {{ plane = {{ offset = -0.90, normal = [1, 0, 0] }}, to = "floor" }},
            ]
            [[body]]
            name = "hammer"
            shape = {{ sphere = {{ radius = 0.1 }} }}
            position = [-1.4, 0.8, 0]
            velocity = [0, -10, 0]
            "#
        ));
        let beam = named(&bodies, "beam");
        // later the shards lean on the beam
        let reports = run(&mut world, 2);
        assert!(
            reports.iter().any(|r| !r.events.fractures.is_empty()),
            "only a strength enables the check of the weight"
        );
        world.is_anchored(beam)
    };
    // its middle is 0.9 m from the section at x = -0.9; 2000 kg/m^3 x 0.06 m^2 x 2 m
    let torque: f64 = 240.0 * 9.81 * 0.9;
    let exact = 6.0 * torque / (0.3 * 0.2 * 0.2);
    assert!(beam(1.02 * exact));
    assert!(!beam(0.98 * exact));
}

/// Blocks that fall on a floor, with limits on debris.
fn falling_blocks(limits: &str, seed: u64) -> String {
    format!(
        r#"version = 1
        [simulation]
        seed = {seed}
        [debris]
        {limits}
        [pattern.shards.voronoi]
        pieces = 25
        [[body]]
        name = "floor"
        shape = {{ plane = {{}} }}
        motion = "static"
        [[body]]
        name = "block"
        shape = {{ box = {{ half_extents = [0.1, 0.1, 0.1], spacing = 0.02 }} }}
        density = 2000
        position = [0, 0.3, 0]
        velocity = [0, -5, 0]
        fracture = {{ pattern = "shards", strength = 3, min_share = 1e-4 }}
        copies = {{ count = [2, 2, 1], spacing = [0.3, 0.3, 0.3], jitter = 0.05 }}
        "#
    )
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn no_breaking_goes_past_the_limits(
        most in 4..40_usize,
        new in 2..30_usize,
        seed in 0..1000_u64,
    ) {
        let (mut world, _) = made(&falling_blocks(&format!("max_bodies = {most}\nmax_new = {new}"), seed));
        let mass = world.mass();
        let mut refused = 0;
        for _ in 0..20 {
            let report = world.step();
            let live = world.iter().filter(|s| s.body.mass_properties().is_some()).count();
            prop_assert!(live <= most, "{live}");
            let born: usize = report.events.fractures.iter().map(|f| f.fragments.len()).sum();
            prop_assert!(born <= new, "{born}");
            refused += report.events.over_budget.len();
        }
        prop_assert!(refused > 0 || most > 30, "the report must count refused fractures");
        prop_assert!((world.mass() - mass).abs() <= 1e-12 * mass);
    }
}

#[test]
fn pieces_smaller_than_the_least_size_stay_with_a_neighbor() {
    let smallest = |limits: &str| {
        let (mut world, _) = made(&falling_blocks(limits, 3));
        run(&mut world, 8);
        let pieces = world.iter().filter(|s| s.lineage.is_some());
        let volumes = pieces.filter_map(|s| s.body.mass_properties()).map(|m| m.mass() / 2000.0);
        volumes.fold(f64::INFINITY, f64::min)
    };
    assert!(smallest("") < 0.05_f64.powi(3));
    assert!(smallest("min_size = 0.06") >= 0.06_f64.powi(3) * (1.0 - 1e-9));
}

#[test]
fn pieces_that_come_to_rest_are_retired_with_their_mass() {
    for then in ["keep", "remove", "shrink"] {
        let retire = format!("retire = {{ after = 0.3, slower_than = 0.2, then = \"{then}\" }}");
        let (mut world, _) = made(&falling_blocks(&retire, 5));
        let mass = world.mass();
        let reports = run(&mut world, 150);
        let retired: Vec<BodyId> = reports.iter().flat_map(|r| r.events.retired.clone()).collect();
        assert!(retired.len() > 3, "{}", retired.len());
        let total = world.mass() + world.retired_mass();
        assert!((total - mass).abs() <= 1e-12 * mass, "{total} {mass}");
        for id in retired {
            assert_eq!(world.get(id).is_some(), then == "keep");
            assert!(world.get(id).is_none_or(|s| s.momentum.linear == Vector3::zeros()));
        }
        for report in &reports {
            let scale = report.energy.kinetic + report.energy.potential.abs();
            assert!(report.energy.gain <= 1e-10 * scale.max(1.0), "{report:?}");
        }
    }
}

#[test]
fn no_breaking_goes_past_the_memory_for_pieces() {
    let samples = |world: &World| -> usize {
        let pieces = world.iter().filter(|s| s.lineage.is_some());
        pieces.filter_map(|s| Some(s.solid?.geometry.memory())).sum()
    };
    let (free, _) = made(&falling_blocks("", 5));
    let all = |max_samples: usize| {
        let mut settings = *free.settings();
        settings.debris.max_samples = max_samples;
        let mut world = World::new(settings);
        for s in free.iter() {
            world
                .add(NewBody {
                    pose: *s.pose,
                    velocity: s.body.velocity(&s.pose.rotation, s.momentum),
                    solid: s.solid.cloned(),
                    groups: s.groups,
                    breakage: s.breakage.cloned(),
                    ..NewBody::of(*s.body, s.shape.clone())
                })
                .unwrap();
        }
        let refused: usize = run(&mut world, 10).iter().map(|r| r.events.over_budget.len()).sum();
        (samples(&world), refused)
    };
    let (needed, refused) = all(usize::MAX);
    assert_eq!(refused, 0);
    let (held, refused) = all(needed / 2);
    assert!(0 < held && held <= needed / 2 && refused > 0, "{held} {needed} {refused}");
}

#[test]
fn retired_pieces_are_shown_to_shrink_away() {
    let (mut world, appearances) =
        made(&falling_blocks("retire = { after = 0.3, slower_than = 0.2, then = \"shrink\" }", 5));
    let mut recorder = Recorder::new(&world, &appearances);
    let mut retired = 0;
    for _ in 0..120 {
        let report = world.step();
        retired += report.events.retired.len();
        recorder.record(&world, &report);
    }
    let recording = recorder.finish();
    let shrunk: Vec<_> = recording.tracks.iter().filter(|t| t.shrinks.is_some()).collect();
    assert!(retired > 3 && shrunk.len() == retired, "{} {retired}", shrunk.len());
    for track in shrunk {
        let first = track.shrinks.unwrap();
        let sizes: Vec<f64> =
            (first - 1..track.end()).map(|frame| track.scale(frame, recording.fps)).collect();
        assert!(sizes[0] == 1.0 && sizes.windows(2).all(|w| 0.0 < w[1] && w[1] < w[0]));
        assert!(sizes.len() == 16 || track.end() == recording.frames, "{}", sizes.len());
        assert_eq!(track.pose(first), track.pose(first - 1));
    }
}

/// Balls far from each other that fall from these heights, m, onto a floor.
fn separate_balls(heights: &[f64], generations: usize) -> String {
    let head = r#"version = 1
        [pattern.shards.voronoi]
        pieces = 6
        [[body]]
        name = "floor"
        motion = "static"
        shape = { plane = {} }
        "#;
    let ball = |(n, height): (usize, &f64)| {
        format!(
            r#"
            [[body]]
            name = "ball {n}"
            shape = {{ sphere = {{ radius = 0.15 }} }}
            density = 2000
            position = [{}, {height}, 0]
            fracture = {{ pattern = "shards", break_impulse = 100, generations = {generations} }}
            "#,
            5 * n
        )
    };
    heights.iter().enumerate().map(ball).fold(head.to_owned(), |text, ball| text + &ball)
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Bodies that land at different times of one frame break as if each were alone.
    #[test]
    fn every_body_hit_beyond_its_strength_breaks(
        heights in prop::collection::vec(5.8..6.2_f64, 2..16),
        generations in 1..3_usize,
    ) {
        let (mut world, appearances) = made(&separate_balls(&heights, generations));
        let reports = run(&mut world, 40);
        for n in 0..heights.len() {
            let ball = named(&appearances, &format!("ball {n}"));
            let mut fractures = reports.iter().flat_map(|report| &report.events.fractures);
            prop_assert!(fractures.any(|fracture| fracture.parent == ball), "ball {n}");
        }
        for report in reports {
            prop_assert!(report.energy.gain <= 1e-9, "{}", report.energy.gain);
        }
    }
}
