//! Promises of the exact hulls of fragments.

use std::collections::BTreeMap;

use contact::Field;
use fracture::{Alignment, Bricks, Noise, Pattern, Radial, Shattered, Voronoi, shatter};
use levelset::{Aabb, ConvexHull, Grid, LevelSet, Solid};
use nalgebra::{Point3, UnitVector3, Vector3};
use proptest::prelude::*;
use sim::scene::Scene;
use sim::{World, build};

use crate::fracture::{block, events, impact, sampled, unturned, vector};

fn box_hull(half: Vector3<f64>) -> ConvexHull {
    let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
    ConvexHull::new(&bounds.corners()).unwrap()
}

fn volume(hull: &ConvexHull) -> f64 {
    hull.mesh().signed_volume()
}

/// The hulls of all fragments, which have one each.
fn all(hulls: Vec<Option<ConvexHull>>) -> Vec<ConvexHull> {
    let count = hulls.len();
    let hulls: Vec<_> = hulls.into_iter().flatten().collect();
    assert_eq!(hulls.len(), count);
    hulls
}

/// How far corners of a hull lie inside another, at most, m.
fn overlap(a: &ConvexHull, b: &ConvexHull) -> f64 {
    let corners = |a: &ConvexHull, b: &ConvexHull| {
        a.mesh().vertices.iter().map(|p| -b.distance(p)).fold(0.0, f64::max)
    };
    corners(a, b).max(corners(b, a))
}

fn patterns() -> [Pattern; 4] {
    let voronoi = |sites, seed| {
        let extents = Vector3::new(0.7, 0.4, 0.7);
        Pattern::voronoi(&Voronoi { extents, ..Voronoi::new(sites, seed) }).unwrap()
    };
    let bricks =
        Bricks { size: Vector3::new(0.3, 0.25, 0.2), extents: Vector3::repeat(1.0), bond: 0.5 };
    let radial = Pattern::radial(&Radial::new(7, 3, 4)).unwrap();
    [voronoi(20, 1), voronoi(60, 8), Pattern::bricks(&bricks).unwrap(), radial]
}

/// A box, finely sampled so that the least cell has a sample, its hull and where it is hit.
fn fine_box() -> (LevelSet, ConvexHull, Alignment) {
    let half = Vector3::new(0.31, 0.17, 0.4);
    let solid = Solid::Box { half_extents: half };
    let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
    let grid = Grid::enclosing(&bounds, 1.0 / 96.0, 3, Grid::MAX_NODES).unwrap();
    let body = LevelSet::from_fn(grid, |p| solid.distance(&p));
    let normal = UnitVector3::new_normalize(Vector3::new(0.2, 1.0, 0.1));
    let at = impact(&body, Vector3::new(0.3, 0.9, -0.2), normal);
    (body, box_hull(half), at)
}

#[test]
fn hulls_of_the_pieces_of_a_box_add_up_to_it() {
    let (body, whole, at) = fine_box();
    let [.., bricks, _] = patterns();
    let sites = [[0.1, 0.2, 0.1], [-0.1, 0.05, 0.0], [0.05, -0.1, -0.2]].map(Point3::from);
    let oblique = Pattern::voronoi_of(&sites, &Vector3::repeat(1.0)).unwrap();
    for (pattern, at, least) in [(&bricks, unturned(1.0), 20), (&oblique, at, 3)] {
        let broken = shatter(&body, &[], pattern, &at, 0);
        let hulls = all(broken.hulls(&whole, pattern, &at));
        assert!(hulls.len() >= least, "{}", hulls.len());
        let (sum, exact) = (hulls.iter().map(volume).sum::<f64>(), volume(&whole));
        assert!((sum - exact).abs() <= 1e-9 * exact, "{sum} of {exact}");
    }
}

#[test]
fn hulls_of_neighbours_do_not_overlap_and_lose_spikes_only() {
    let (body, whole, at) = fine_box();
    for seed in 3..11 {
        let extents = Vector3::new(0.7, 0.4, 0.7);
        let pattern = Pattern::voronoi(&Voronoi { extents, ..Voronoi::new(14, seed) }).unwrap();
        let broken = shatter(&body, &[], &pattern, &at, 0);
        let hulls = all(broken.hulls(&whole, &pattern, &at));
        assert!(hulls.len() > 6, "{}", hulls.len());
        let (sum, exact) = (hulls.iter().map(volume).sum::<f64>(), volume(&whole));
        assert!(sum < exact * (1.0 + 1e-9) && sum > exact * (1.0 - 1e-4), "{sum} of {exact}");
        let pairs = (0..hulls.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let most = pairs.map(|(a, b)| overlap(&hulls[a], &hulls[b])).fold(0.0, f64::max);
        assert!(most < 1e-12, "{most}");
    }
}

#[test]
fn pieces_of_pieces_have_hulls_that_add_up() {
    let half = Vector3::new(0.31, 0.17, 0.4);
    let [first, second, ..] = patterns();
    let body = block(half);
    let at = impact(&body, Vector3::new(0.3, 0.9, -0.2), Vector3::y_axis());
    let broken = shatter(&body, &[], &first, &at, 8);
    let hulls = broken.hulls(&box_hull(half), &first, &at);
    let mut seen = 0;
    for (piece, hull) in broken.fragments.iter().zip(&hulls) {
        let Some(hull) = hull else { continue };
        let at = impact(&piece.level_set, Vector3::new(0.0, 0.1, 0.2), Vector3::x_axis());
        let again = shatter(&piece.level_set, &[], &second, &at, 0);
        let parts = again.hulls(hull, &second, &at);
        seen += usize::from(parts.len() > 3);
        if parts.iter().any(Option::is_none) {
            continue;
        }
        // cells without a sample are lost, and with them what they hold
        let sum: f64 = parts.iter().flatten().map(volume).sum();
        assert!(sum <= volume(hull) * (1.0 + 1e-9), "{sum} of {}", volume(hull));
        assert!(sum > 0.9 * volume(hull), "{sum} of {}", volume(hull));
    }
    assert!(seen > 5, "{seen}");
}

/// Where a fragment has a hull: how many do.
fn agrees(broken: &Shattered, hulls: &[Option<ConvexHull>]) -> Result<usize, TestCaseError> {
    let mut count = 0;
    for (fragment, hull) in broken.fragments.iter().zip(hulls) {
        let Some(hull) = hull else { continue };
        count += 1;
        prop_assert_eq!(fragment.regions.len(), 1);
        let solid = &fragment.level_set;
        let grid = solid.grid();
        for corner in &hull.mesh().vertices {
            let off = solid.value(corner);
            prop_assert!(off.abs() < grid.spacing(), "{off} of {}", grid.spacing());
        }
        // samples are f32, and not zero even on a face
        let error = 1e-6 + 1.1e-4 * grid.spacing();
        for ((i, j, k), &sample) in solid.values().indexed_iter() {
            let (told, exact) = (f64::from(sample), hull.distance(&grid.position([i, j, k])));
            if told < 0.0 {
                prop_assert!((told - exact).abs() < error, "{told} for {exact}");
            } else {
                prop_assert!(exact > -error && told < exact + error, "{told} for {exact}");
            }
        }
    }
    Ok(count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The level set is the larger of distances to planes, and so the hull's inside.
    #[test]
    fn hulls_are_the_level_sets_of_their_fragments(
        half in prop::array::uniform3(0.1..0.4_f64),
        (at, normal) in (vector(1.0), vector(1.0)),
        (pattern, least) in (0..4_usize, 0..40_usize),
    ) {
        let half = Vector3::from(half);
        let body = block(half);
        let normal = UnitVector3::try_new(normal, 1e-3).unwrap_or(Vector3::y_axis());
        let (at, pattern) = (impact(&body, at, normal), &patterns()[pattern]);
        let broken = shatter(&body, &[], pattern, &at, least);
        let hulls = broken.hulls(&box_hull(half), pattern, &at);
        let count = agrees(&broken, &hulls)?;
        let sole = broken.fragments.iter().filter(|piece| {
            let [region] = *piece.regions else { return false };
            broken.fragments.iter().filter(|p| p.regions.contains(&region)).count() == 1
        });
        prop_assert_eq!(count, sole.count());
    }

    /// Whatever is broken by whatever pattern: a hull that is not the body's gives none that is wrong.
    #[test]
    fn no_hull_is_another_solid_s((body, pattern, at, least) in events(), half in 0.2..0.5_f64) {
        let broken = shatter(&body, &[], &pattern, &at, least);
        let hulls = broken.hulls(&box_hull(Vector3::repeat(half)), &pattern, &at);
        for (fragment, hull) in broken.fragments.iter().zip(hulls) {
            let Some(hull) = hull else { continue };
            let grid = fragment.level_set.grid();
            let skin = 2e-3 * grid.spacing();
            for ((i, j, k), &sample) in fragment.level_set.values().indexed_iter() {
                let exact = hull.distance(&grid.position([i, j, k]));
                prop_assert!(sample > 0.0 || exact < skin, "{exact} outside");
                prop_assert!(sample < 0.0 || exact > -skin, "{exact} inside");
            }
        }
    }
}

#[test]
fn what_is_not_one_convex_cell_has_no_hull() {
    let half = Vector3::new(0.31, 0.17, 0.4);
    let (body, hull) = (block(half), box_hull(half));
    let at = unturned(1.0);
    let [smooth, ..] = patterns();
    let bounds = Aabb { min: Point3::from([-1.0; 3]), max: Point3::from([1.0; 3]) };
    let noise = Noise { amplitude: 0.05, frequency: 3.0, octaves: 2, seed: 1 };
    let rough = smooth.roughened(&bounds, 0.05, &noise).unwrap();
    let as_samples = smooth.sampled(&bounds, 0.05).unwrap();
    for pattern in [rough, as_samples] {
        let broken = shatter(&body, &[], &pattern, &at, 8);
        assert!(broken.fragments.len() > 10);
        assert!(broken.hulls(&hull, &pattern, &at).iter().all(Option::is_none));
    }
    // all in one, and a pair that stayed together
    let broken = shatter(&body, &[], &smooth, &at, 0);
    let (one, other) = (broken.bonds[0].fragments[0], broken.bonds[0].fragments[1]);
    let count = broken.fragments.len();
    let mut groups: Vec<usize> = (0..count).map(|n| if n == other { one } else { n }).collect();
    groups.iter_mut().filter(|group| **group > other).for_each(|group| *group -= 1);
    let joined = broken.clone().joined(&body, &groups);
    let hulls = joined.hulls(&hull, &smooth, &at);
    let without: Vec<_> = (0..hulls.len()).filter(|&n| hulls[n].is_none()).collect();
    assert_eq!(without, [one]);
    let whole = broken.joined(&body, &vec![0; count]);
    assert_eq!(whole.hulls(&hull, &smooth, &at), [None]);
}

#[test]
fn parts_of_a_cell_that_are_apart_have_no_hull() {
    // a fork of two prongs, in the hull of both
    let half = Vector3::new(0.3, 0.3, 0.1);
    let prong = Solid::Box { half_extents: Vector3::new(0.08, 0.3, 0.1) };
    let body = sampled(half, |p| {
        let apart = Vector3::new(0.22, 0.0, 0.0);
        prong.distance(&(p - apart)).min(prong.distance(&(p + apart)))
    });
    let sites = [-0.2, 0.0, 0.2].map(|y| Point3::new(0.0, y, 0.0));
    let pattern = Pattern::voronoi_of(&sites, &Vector3::repeat(1.0)).unwrap();
    let at = unturned(1.0);
    let broken = shatter(&body, &[], &pattern, &at, 0);
    assert_eq!(broken.fragments.len(), 6);
    assert!(broken.hulls(&box_hull(half), &pattern, &at).iter().all(Option::is_none));
}

fn world(scene: &str) -> World {
    let scene = Scene::from_toml(scene).unwrap();
    build(&scene, &BTreeMap::new()).unwrap().0
}

/// The hulls of all pieces that have one, in the world, and how many pieces there are.
fn placed_hulls(world: &World) -> (Vec<ConvexHull>, usize) {
    let pieces: Vec<_> = world.iter().filter(|s| s.lineage.is_some()).collect();
    let hull = |state: &sim::BodyState<'_>| {
        let Field::Grid { material, .. } = state.shape.field() else { return None };
        let place = state.pose * material.inverse();
        let corners: Vec<_> =
            state.shape.hull()?.mesh().vertices.iter().map(|p| place * p).collect();
        ConvexHull::new(&corners).ok()
    };
    (pieces.iter().filter_map(hull).collect(), pieces.len())
}

#[test]
fn the_pieces_of_a_box_that_falls_come_to_rest_and_gain_nothing() {
    let mut world = world(
        r#"version = 1
        [pattern.shards.voronoi]
        pieces = 12
        [[body]]
        name = "floor"
        shape = { plane = {} }
        motion = "static"
        [[body]]
        name = "box"
        material = "concrete"
        shape = { box = { half_extents = [0.3, 0.2, 0.25], spacing = 0.025 } }
        position = [0, 0.8, 0]
        velocity = [0, -3, 0]
        fracture = { pattern = "shards", strength = 20, generations = 1, min_nodes = 8 }
        "#,
    );
    let mass = world.mass();
    let mut broke = 0;
    for _ in 0..240 {
        let report = world.step();
        let scale = report.kinetic_energy + report.potential_energy.abs();
        assert!(report.energy_gain <= 1e-10 * scale, "{report:?}");
        broke += report.fractures.len();
    }
    assert!((world.mass() - mass).abs() <= 1e-12 * mass);
    assert!(broke > 0 && world.kinetic_energy() < 1e-9, "{broke} {}", world.kinetic_energy());
    let (hulls, pieces) = placed_hulls(&world);
    assert!(hulls.len() > 5 && 2 * hulls.len() > pieces, "{} of {pieces}", hulls.len());
    for (n, hull) in hulls.iter().enumerate() {
        let low = hull.bounds().min.y;
        assert!(low > -0.005, "{n} lies at {low}");
        for (m, other) in hulls[..n].iter().enumerate() {
            let deep = overlap(hull, other);
            assert!(deep < 0.005, "{deep} of {m} and {n}");
        }
    }
}

/// Neighbours are born touching.
#[test]
fn a_box_that_is_cut_where_it_floats_stays_as_it_is() {
    let mut world = world(
        r#"version = 1
        [simulation]
        gravity = [0, 0, 0]
        [pattern.shards.voronoi]
        pieces = 12
        [[body]]
        name = "box"
        shape = { box = { half_extents = [0.3, 0.2, 0.25], spacing = 0.025 } }
        rotation = { axis = [1, 2, 3], degrees = 40 }
        fracture = { pattern = "shards", strength = 1e9 }
        [[event]]
        time = 0.1
        cut = { from = [[0.1, 1, -1], [0.1, 1, 1]], to = [[0, -1, -1], [0, -1, 1]] }
        "#,
    );
    for _ in 0..30 {
        world.step();
    }
    let (hulls, pieces) = placed_hulls(&world);
    assert!(hulls.len() == pieces && pieces > 1, "{} of {pieces}", hulls.len());
    assert_eq!(world.kinetic_energy(), 0.0);
    assert!(overlap(&hulls[0], &hulls[1]) < 1e-12);
}
