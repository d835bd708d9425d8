//! Properties of exact pieces.

use std::collections::BTreeMap;
use std::sync::Arc;

use brisance_tests::properties;
use contact::Field;
use fracture::{
    Alignment, Bricks, ClosedMesh, FaceOrigin, Geometry, Noise, Pattern, Piece, Pieces, Radial,
    Voronoi,
};
use levelset::{Aabb, ConvexHull, Grid, LevelSet, Moments, Sign, Solid, TriMesh};
use nalgebra::{Point3, UnitQuaternion, UnitVector3, Vector3};
use proptest::prelude::*;
use sim::scene::Scene;
use sim::{World, build};

use crate::fracture::vector;

fn volume(hull: &ConvexHull) -> f64 {
    hull.mesh().signed_volume()
}

/// The hull of a convex solid.
fn single_hull(geometry: &Geometry) -> ConvexHull {
    let [hull] = <[ConvexHull; 1]>::try_from(geometry.hulls().unwrap()).unwrap();
    hull
}

/// The largest depth of a corner of a hull inside another, m.
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
    let bricks = Bricks::new(Vector3::new(0.3, 0.25, 0.2));
    let radial = Pattern::radial(&Radial::new(7, 3, 4)).unwrap();
    [voronoi(20, 1), voronoi(60, 8), Pattern::bricks(&bricks).unwrap(), radial]
}

fn roughened(pattern: &Pattern) -> Pattern {
    let bounds = Aabb { min: Point3::from([-1.0; 3]), max: Point3::from([1.0; 3]) };
    let noise = Noise { amplitude: 0.05, frequency: 3.0, octaves: 2, seed: 1 };
    pattern.with_sampled_noise(&bounds, 0.05, &noise).unwrap()
}

fn grid_of(solid: &Solid, spacing: f64, offset: Vector3<f64>) -> Grid {
    let half = match *solid {
        Solid::Box { half_extents } => half_extents,
        Solid::Sphere { radius } => Vector3::repeat(radius),
        Solid::Capsule { half_height, radius } => {
            Vector3::new(radius, half_height + radius, radius)
        }
        Solid::Cylinder { half_height, radius } | Solid::Cone { half_height, radius } => {
            Vector3::new(radius, half_height, radius)
        }
        Solid::Torus { major, minor } => Vector3::new(major + minor, minor, major + minor),
        Solid::HalfSpace { .. } => unreachable!(),
    };
    let bounds = Aabb { min: Point3::from(offset - half), max: Point3::from(offset + half) };
    Grid::enclosing(&bounds, spacing, 4, Grid::MAX_NODES).unwrap()
}

fn primitive(solid: Solid) -> Geometry {
    Geometry::primitive(solid, grid_of(&solid, 1.0 / 32.0, Vector3::zeros())).unwrap()
}

fn block(half_extents: Vector3<f64>) -> Geometry {
    primitive(Solid::Box { half_extents })
}

/// An impact at a point of the bounding box of the body: `towards` is from -1 to 1 along each axis.
fn impact(body: &Geometry, towards: Vector3<f64>, normal: UnitVector3<f64>) -> Alignment {
    let bounds = body.bounds();
    let at = bounds.center() + towards.component_mul(&bounds.extents()) * 0.5;
    Alignment::enclosing(&bounds, at, normal)
}

fn solids() -> impl Strategy<Value = Solid> {
    let size = || 0.05..0.5_f64;
    prop_oneof![
        (size(), size(), size())
            .prop_map(|(x, y, z)| Solid::Box { half_extents: Vector3::new(x, y, z) }),
        size().prop_map(|radius| Solid::Sphere { radius }),
        (size(), size()).prop_map(|(half_height, radius)| Solid::Cylinder { half_height, radius }),
        (size(), size()).prop_map(|(half_height, radius)| Solid::Capsule { half_height, radius }),
        (size(), size()).prop_map(|(half_height, radius)| Solid::Cone { half_height, radius }),
        (0.1..0.5, 0.1..0.9)
            .prop_map(|(major, share)| Solid::Torus { major, minor: share * major }),
    ]
}

/// Whether every edge has equally many triangles in both directions, and the corners of each triangle differ.
fn is_watertight(mesh: &TriMesh) -> bool {
    ClosedMesh::new(mesh.clone()).is_ok()
}

fn sum(pieces: &[Piece]) -> Moments {
    pieces.iter().map(|piece| *piece.geometry.moments()).sum()
}

/// Checks that volume, center and second moment agree to 1e-9 relative.
fn check_moments(found: &Moments, exact: &Moments) -> Result<(), TestCaseError> {
    let share = found.volume / exact.volume;
    prop_assert!((share - 1.0).abs() < 1e-9, "{} {}", found.volume, exact.volume);
    let size = exact.central().trace();
    let center = (found.center() - exact.center()).norm();
    prop_assert!(center < 1e-9 * (size / exact.volume).sqrt(), "{center}");
    let off = (found.central() - exact.central()).amax();
    prop_assert!(off < 1e-9 * size, "{off} of {size}");
    Ok(())
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Holds for any spacing and offset of the grid, before and after a fracture.
    #[test]
    fn mass_and_moments_are_those_of_the_shape(
        solid in solids(),
        (spacing, offset) in (0.02..0.2_f64, vector(0.01)),
        (at, normal) in (vector(1.0), vector(1.0)),
        (n, rough) in (0..4_usize, prop::bool::weighted(0.2)),
    ) {
        let exact = solid.moments().unwrap();
        let body = Geometry::primitive(solid, grid_of(&solid, spacing, offset)).unwrap();
        check_moments(body.moments(), &exact)?;
        let normal = UnitVector3::try_new(normal, 1e-3).unwrap_or(Vector3::y_axis());
        let at = impact(&body, at, normal);
        let smooth = &patterns()[n];
        let pattern = if rough { roughened(smooth) } else { smooth.clone() };
        let least = 1e-4 * exact.volume;
        let broken = body.divide(&pattern, &at, least);
        // a grid that is too coarse has no samples in thin bodies
        prop_assume!(!rough || broken.pieces.len() > 1);
        check_moments(&sum(&broken.pieces), &exact)?;
        for piece in &broken.pieces {
            let again = piece.geometry.divide(&pattern, &at, least);
            prop_assume!(!again.pieces.is_empty());
            check_moments(&sum(&again.pieces), piece.geometry.moments())?;
        }
    }

    /// The surface of a piece is closed and agrees with its samples.
    #[test]
    fn pieces_are_watertight_and_agree_with_their_samples(
        solid in solids(),
        (at, normal) in (vector(1.0), vector(1.0)),
        n in 0..4_usize,
    ) {
        let body = primitive(solid);
        let normal = UnitVector3::try_new(normal, 1e-3).unwrap_or(Vector3::y_axis());
        let at = impact(&body, at, normal);
        let broken = body.divide(&patterns()[n], &at, 1e-4 * body.moments().volume);
        for Piece { geometry, regions } in &broken.pieces {
            let surface = geometry.surface().unwrap();
            prop_assert!(is_watertight(&surface.mesh), "regions {regions:?}");
            prop_assert_eq!(surface.mesh.triangles.len(), surface.origins.len());
            let spacing = geometry.grid().spacing();
            let samples = geometry.level_set();
            for t in 0..surface.mesh.triangles.len() {
                let [a, b, c] = surface.mesh.corners(t);
                let off = samples.value(&Point3::from((a.coords + b.coords + c.coords) / 3.0));
                prop_assert!(off.abs() < spacing, "{off} of {spacing}");
            }
            let is_cut = surface.origins.contains(&FaceOrigin::Cut);
            prop_assert!(is_cut || broken.pieces.len() == 1);
        }
    }

    #[test]
    fn cuts_are_as_large_as_the_bonds_across_them(
        half in prop::array::uniform3(0.1..0.4_f64),
        (at, normal) in (vector(1.0), vector(1.0)),
        n in 0..4_usize,
    ) {
        let body = block(Vector3::from(half));
        let normal = UnitVector3::try_new(normal, 1e-3).unwrap_or(Vector3::y_axis());
        let broken = body.divide(&patterns()[n], &impact(&body, at, normal), 0.0);
        let mut cut = vec![0.0; broken.pieces.len()];
        for bond in &broken.bonds {
            bond.fragments.iter().for_each(|&piece| cut[piece] += bond.area);
        }
        for (Piece { geometry, .. }, bonds) in broken.pieces.iter().zip(cut) {
            let surface = geometry.surface().unwrap();
            let triangles = 0..surface.mesh.triangles.len();
            let cuts = triangles.filter(|&t| surface.origins[t] == FaceOrigin::Cut);
            let area: f64 = cuts.map(|t| surface.mesh.area_vector(t).norm()).sum();
            prop_assert!((area - bonds).abs() < 1e-9, "{area} {bonds}");
        }
    }
}

#[test]
fn hulls_of_neighbors_do_not_overlap_and_add_up_to_a_box() {
    let body = block(Vector3::new(0.31, 0.17, 0.4));
    let at = impact(&body, Vector3::new(0.3, 0.9, -0.2), Vector3::y_axis());
    for pattern in patterns() {
        let broken = body.divide(&pattern, &at, 0.0);
        let hulls: Vec<ConvexHull> =
            broken.pieces.iter().map(|piece| single_hull(&piece.geometry)).collect();
        assert!(hulls.len() > 2, "{}", hulls.len());
        let (sum, exact) = (hulls.iter().map(volume).sum::<f64>(), body.moments().volume);
        assert!((sum / exact - 1.0).abs() <= 1e-12, "{sum} of {exact}");
        let pairs = (0..hulls.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let most = pairs.map(|(a, b)| overlap(&hulls[a], &hulls[b])).fold(0.0, f64::max);
        assert!(most < 1e-12, "{most}");
    }
}

#[test]
fn hulls_of_round_pieces_have_few_corners_and_little_is_missing() {
    let body = primitive(Solid::Sphere { radius: 0.3 });
    let at = impact(&body, Vector3::new(0.0, 1.0, 0.0), Vector3::y_axis());
    let broken = body.divide(&patterns()[0], &at, 0.0);
    assert!(broken.pieces.len() > 3);
    for Piece { geometry, .. } in &broken.pieces {
        let hull = single_hull(geometry);
        assert!(hull.mesh().vertices.len() <= 64);
        let size = geometry.bounds().extents().norm();
        let surface = geometry.surface().unwrap();
        let out = surface.mesh.vertices.iter().map(|p| hull.distance(p)).fold(0.0, f64::max);
        assert!(out <= 0.01 * size, "{out} of {size}");
    }
}

#[test]
fn what_is_not_convex_has_no_hull() {
    let body = block(Vector3::new(0.31, 0.17, 0.4));
    let at = impact(&body, Vector3::zeros(), Vector3::y_axis());
    let [smooth, ..] = patterns();
    let bounds = Aabb { min: Point3::from([-1.0; 3]), max: Point3::from([1.0; 3]) };
    for pattern in [roughened(&smooth), smooth.sampled(&bounds, 0.05).unwrap()] {
        let broken = body.divide(&pattern, &at, 0.0);
        assert!(broken.pieces.len() > 5);
        assert!(broken.pieces.iter().all(|piece| piece.geometry.hulls().is_none()));
    }
    // a merged pair
    let broken = body.divide(&smooth, &at, 0.0);
    let [one, other] = broken.bonds[0].fragments;
    let count = broken.pieces.len();
    let mut groups: Vec<usize> = (0..count).map(|n| if n == other { one } else { n }).collect();
    groups.iter_mut().filter(|group| **group > other).for_each(|group| *group -= 1);
    let joined = broken.clone().joined(&body, &groups);
    assert_eq!(joined.pieces.len(), count - 1);
    let pair = joined.pieces[one].geometry.surface().unwrap().mesh;
    let parts = [one, other].map(|n| broken.pieces[n].geometry.moments().volume);
    assert!(is_watertight(&pair));
    assert!((pair.signed_volume() / (parts[0] + parts[1]) - 1.0).abs() < 1e-12);
    let whole = broken.joined(&body, &vec![0; count]);
    assert!(whole.bonds.is_empty() && whole.pieces.len() == 1);
    let mesh = whole.pieces[0].geometry.surface().unwrap().mesh;
    assert!(is_watertight(&mesh));
    assert!((mesh.signed_volume() / body.moments().volume - 1.0).abs() < 1e-12);
}

#[test]
fn parts_of_a_cell_that_are_apart_are_pieces_with_samples_of_their_own() {
    // two prongs in one mesh
    let prong = |x: f64| {
        let low = Point3::new(x - 0.08, -0.3, -0.1);
        let bounds = Aabb { min: low, max: low + Vector3::new(0.16, 0.6, 0.2) };
        ConvexHull::new(&bounds.corners()).unwrap().mesh().clone()
    };
    let (mut mesh, other) = (prong(-0.2), prong(0.2));
    let first = mesh.vertices.len() as u32;
    mesh.vertices.extend(other.vertices);
    mesh.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + first)));
    let bounds = Aabb::around(&mesh.vertices).unwrap();
    let grid = Grid::enclosing(&bounds, 0.02, 3, Grid::MAX_NODES).unwrap();
    let samples = LevelSet::from_mesh(&mesh, grid, Sign::Strict).unwrap();
    let body = Geometry::mesh(&ClosedMesh::new(mesh).unwrap(), Arc::new(samples));
    let sites = [-0.2, 0.0, 0.2].map(|y| Point3::new(0.0, y, 0.0));
    let pattern = Pattern::voronoi_of(&sites, &Vector3::repeat(1.0)).unwrap();
    let rotation = UnitQuaternion::identity();
    let at = Alignment { at: Point3::origin(), rotation, scale: 1.0 };
    let broken = body.divide(&pattern, &at, 0.0);
    assert_eq!(broken.pieces.len(), 6);
    for Piece { geometry, .. } in &broken.pieces {
        let count = geometry.level_set().components().count;
        assert_eq!((count, geometry.is_convex()), (1, true));
    }
    assert_eq!(broken.bonds.len(), 4);
}

#[test]
fn nothing_is_lost_however_far_off_the_impact_is() {
    let body = block(Vector3::new(0.25, 0.25, 0.5));
    let samples = |of: &Geometry| of.level_set().moments().volume;
    // the diagonal, the unit of the pattern, is 1.22 m: cells end at 4.9 m
    for distance in [0.0, 4.5, 4.8, 5.0, 10.0, 1e6, 1e15] {
        for pattern in patterns() {
            let middle = Point3::new(distance, 0.0, 0.0);
            let at = Alignment::enclosing(&body.bounds(), middle, Vector3::y_axis());
            let pieces = body.divide(&pattern, &at, 0.0).pieces;
            let moments = sum(&pieces).volume / body.moments().volume;
            assert!((moments - 1.0).abs() < 1e-9, "{distance} m: {moments}");
            // what the pieces are made of: faces, or samples
            let is_exact = pieces.iter().all(|piece| piece.geometry.is_exact());
            assert_eq!(is_exact, distance <= 4.5);
            let volume = |of: &Geometry| match of.surface() {
                Some(surface) if is_exact => surface.mesh.signed_volume(),
                _ => samples(of),
            };
            let made = pieces.iter().map(|piece| volume(&piece.geometry)).sum::<f64>();
            assert!((made / volume(&body) - 1.0).abs() < 1e-9, "{distance} m: {made}");
        }
    }
    let point = Alignment::enclosing(
        &Aabb { min: Point3::origin(), max: Point3::origin() },
        Point3::origin(),
        Vector3::y_axis(),
    );
    for pattern in patterns() {
        assert_eq!(body.divide(&pattern, &point, 0.0).pieces.len(), 1, "a scale of zero");
    }
}

#[test]
fn primitives_larger_than_their_grid_break_and_those_without_volume_are_none() {
    let grid = grid_of(&Solid::Sphere { radius: 0.5 }, 0.1, Vector3::zeros());
    let large = Geometry::primitive(Solid::Sphere { radius: 1e6 }, grid).unwrap();
    let at = impact(&large, Vector3::y(), Vector3::y_axis());
    for pattern in patterns() {
        let pieces = large.divide(&pattern, &at, 0.0).pieces;
        assert!(pieces.len() > 1);
        assert!((sum(&pieces).volume / large.moments().volume - 1.0).abs() < 1e-9);
    }
    for length in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e200] {
        assert!(Geometry::primitive(Solid::Sphere { radius: length }, grid).is_none());
    }
}

/// The bunny of the assets, 0.5 m long, at some spacing.
fn bunny(spacing: f64) -> Geometry {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/bunny.obj");
    let mesh = brisance::mesh_file::read_mesh(std::path::Path::new(path)).unwrap();
    let spec = sim::scene::Mesh {
        file: String::new(),
        size: Some(0.5),
        spacing: Some(spacing),
        nodes: None,
        sign: sim::scene::MeshSign::Strict,
        mirror: None,
        collide: sim::scene::Collide::Samples,
    };
    sim::mesh_geometry(&spec, mesh).unwrap().0
}

#[test]
fn a_bunny_breaks_into_the_same_35_pieces_at_any_resolution() {
    let break_at = |spacing: f64| -> Pieces {
        let body = bunny(spacing);
        let at = impact(&body, Vector3::new(0.0, 1.0, 0.0), Vector3::y_axis());
        let least = 1e-4 * body.moments().volume;
        let sites = Voronoi::new(35, 1).with_pieces_at(35, &body, &at, least).unwrap();
        body.divide(&Pattern::voronoi(&sites).unwrap(), &at, least)
    };
    let [coarse, fine] = [0.5 / 33.0, 0.5 / 113.0].map(break_at);
    assert!(coarse.pieces.len().abs_diff(35) <= 1, "{}", coarse.pieces.len());
    assert_eq!(coarse.pieces.len(), fine.pieces.len());
    for (a, b) in coarse.pieces.iter().zip(&fine.pieces) {
        assert_eq!(a.geometry.surface(), b.geometry.surface());
        assert!(is_watertight(&a.geometry.surface().unwrap().mesh));
        // a second cut, as for a falling piece
        let at = impact(&a.geometry, Vector3::zeros(), Vector3::x_axis());
        for again in a.geometry.divide(&patterns()[0], &at, 0.0).pieces {
            assert!(is_watertight(&again.geometry.surface().unwrap().mesh));
        }
    }
}

#[test]
fn hundreds_of_pieces_are_as_many_as_asked_for() {
    let body = bunny(0.02);
    let at = impact(&body, Vector3::new(0.0, 1.0, 0.0), Vector3::y_axis());
    let least = body.moments().volume / (8.0 * 200.0);
    let spec = Voronoi::new(1, 3).with_pieces_at(200, &body, &at, least).unwrap();
    let broken = body.divide(&Pattern::voronoi(&spec).unwrap(), &at, least);
    assert!(broken.pieces.len().abs_diff(200) <= 4, "{}", broken.pieces.len());
}

fn world(scene: &str) -> World {
    let scene = Scene::from_toml(scene).unwrap();
    build(&scene, &BTreeMap::new()).unwrap().0
}

/// The hulls of all pieces in world coordinates, and the number of pieces.
fn placed_hulls(world: &World) -> (Vec<ConvexHull>, usize) {
    let pieces: Vec<_> = world.iter().filter(|s| s.lineage.is_some()).collect();
    let hull = |state: &sim::BodyState<'_>| {
        let Field::Hull(hull) = state.shape.field() else { return None };
        let corners: Vec<_> = hull.mesh().vertices.iter().map(|p| state.pose * p).collect();
        ConvexHull::new(&corners).ok()
    };
    (pieces.iter().filter_map(hull).collect(), pieces.len())
}

/// A box of concrete that falls on the floor and breaks by a pattern with `seed`, after 8 s; and the number of
/// fractures.
fn fallen_box(seed: u64) -> (World, usize) {
    let mut world = world(&format!(
        r#"version = 1
        [simulation]
        seed = {seed}
        [pattern.shards.voronoi]
        pieces = 12
        [[body]]
        name = "floor"
        shape = {{ plane = {{}} }}
        motion = "static"
        [[body]]
        name = "box"
        material = "concrete"
        shape = {{ box = {{ half_extents = [0.3, 0.2, 0.25], spacing = 0.025 }} }}
        position = [0, 0.8, 0]
        velocity = [0, -3, 0]
        fracture = {{ pattern = "shards", strength = 20, generations = 1, min_share = 1e-4 }}
        "#
    ));
    let mass = world.mass();
    let mut broke = 0;
    for _ in 0..240 {
        let report = world.step();
        let scale = report.energy.kinetic + report.energy.potential.abs();
        assert!(report.energy.gain <= 1e-10 * scale, "{report:?}");
        broke += report.events.fractures.len();
    }
    assert!((world.mass() - mass).abs() <= 1e-12 * mass);
    (world, broke)
}

#[test]
fn the_pieces_of_a_box_that_falls_come_to_rest_and_gain_nothing() {
    let (world, broke) = fallen_box(0);
    assert!(broke > 0 && world.kinetic_energy() < 1e-9, "{broke} {}", world.kinetic_energy());
    let (hulls, pieces) = placed_hulls(&world);
    assert!(hulls.len() > 5 && 2 * hulls.len() > pieces, "{} of {pieces}", hulls.len());
    for (n, hull) in hulls.iter().enumerate() {
        for (m, other) in hulls[..n].iter().enumerate() {
            let deep = overlap(hull, other);
            assert!(deep < 0.005, "{deep} of {m} and {n}");
        }
    }
}

/// Three of 96 seeds have a piece more than 5 mm deep, at most 15 mm.
#[test]
fn the_pieces_of_a_box_that_falls_lie_on_the_floor() {
    let low = |seed: u64| {
        let (world, _) = fallen_box(seed);
        let lows = placed_hulls(&world).0.into_iter().map(|hull| hull.bounds().min.y);
        lows.fold(0.0, f64::min)
    };
    let lows: Vec<f64> = (0..24).map(low).collect();
    assert!(lows.iter().all(|low| *low > -0.02), "{lows:?}");
    assert!(lows.iter().filter(|low| **low < -0.005).count() <= 2, "{lows:?}");
}

/// New neighbors touch.
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

/// Collision points of small pieces reach as far as the piece in every direction, also if the samples of the body are
/// coarse beside the piece: otherwise pieces rest in the floor.
#[test]
fn points_of_small_pieces_reach_as_far_as_the_pieces() {
    let solid = Solid::Torus { major: 0.38, minor: 0.114 };
    let ring = Geometry::primitive(solid, grid_of(&solid, 0.055, Vector3::zeros())).unwrap();
    let pattern = Pattern::voronoi(&Voronoi::new(3000, 3)).unwrap();
    let at = Alignment::enclosing(&ring.bounds(), Point3::origin(), Vector3::y_axis());
    let broken = ring.divide(&pattern, &at, 1e-4 * ring.moments().volume);
    assert!(broken.pieces.len() > 40, "{}", broken.pieces.len());
    for Piece { geometry, .. } in &broken.pieces {
        let mesh = geometry.surface().unwrap().mesh;
        let size = Aabb::around(&mesh.vertices).unwrap().extents().norm();
        let points = geometry.points();
        for n in 0..40 {
            let angle = f64::from(n);
            let direction = Vector3::new(angle.cos(), (1.7 * angle).sin(), (2.3 * angle).cos());
            let direction = direction.normalize();
            let reach = |all: &[Point3<f64>]| {
                all.iter().map(|p| direction.dot(&p.coords)).fold(f64::NEG_INFINITY, f64::max)
            };
            let short = reach(&mesh.vertices) - reach(&points);
            assert!(short < 0.04 * size, "{short} m of {size} m");
        }
    }
}

/// A long blade cuts a sampled plate that is thin beside the blade, wherever the plate is.
#[test]
fn a_long_blade_cuts_a_thin_sampled_plate() {
    let plate = Solid::Box { half_extents: Vector3::new(0.025, 0.3, 0.3) };
    let level_set =
        LevelSet::from_fn(grid_of(&plate, 0.0125, Vector3::zeros()), |p| plate.distance(&p));
    let points = level_set.surface_particles(0.0125);
    let moments = level_set.moments();
    let plate = Geometry::sampled(Arc::new(level_set), points, moments);
    for n in 0..20 {
        let shift = 0.7 * f64::from(n) - 7.0;
        let edge = |y: f64| [-15.0, 15.0].map(|x| Point3::new(x + shift, y, 0.02));
        let at = plate.swept(edge(20.0), edge(-20.0)).unwrap();
        assert!(at.x.abs() < 0.025 && at.z == 0.02, "{at}");
        assert!(plate.swept(edge(20.0), edge(0.4)).is_none());
    }
}
