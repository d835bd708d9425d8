//! Properties of the fracture crate.

use brisance_tests::properties;
use fracture::{
    Alignment, Bricks, Fragment, Geometry, Noise, Pattern, Radial, Shattered, Slices, Voronoi,
    shatter,
};
use levelset::{Aabb, Grid, LevelSet, Moments, Solid};
use nalgebra::{Point3, UnitQuaternion, UnitVector3, Vector3};
use proptest::prelude::*;

/// A solid on a grid of spacing 1/32 with a margin of three nodes.
pub(crate) fn sampled(half: Vector3<f64>, distance: impl Fn(&Point3<f64>) -> f64) -> LevelSet {
    let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
    let grid = Grid::enclosing(&bounds, 1.0 / 32.0, 3, Grid::MAX_NODES).unwrap();
    LevelSet::from_fn(grid, |p| distance(&p))
}

pub(crate) fn block(half_extents: Vector3<f64>) -> LevelSet {
    let solid = Solid::Box { half_extents };
    sampled(half_extents, |p| solid.distance(p))
}

/// Blocks with a thickness of three nodes or more, balls, rings, and two separate balls.
fn bodies() -> impl Strategy<Value = LevelSet> {
    prop_oneof![
        (0.05..0.4, 0.05..0.4, 0.05..0.4).prop_map(|(x, y, z)| block(Vector3::new(x, y, z))),
        (0.1..0.35).prop_map(|radius| {
            let solid = Solid::Sphere { radius };
            sampled(Vector3::repeat(radius), |p| solid.distance(p))
        }),
        (0.2..0.35, 0.05..0.1).prop_map(|(major, minor)| {
            let solid = Solid::Torus { major, minor };
            sampled(Vector3::new(0.45, 0.1, 0.45), |p| solid.distance(p))
        }),
        (0.1..0.25).prop_map(|radius| {
            let apart = Vector3::new(0.27, 0.0, 0.0);
            let solid = Solid::Sphere { radius };
            sampled(Vector3::new(0.52, 0.25, 0.25), |p| {
                solid.distance(&(p - apart)).min(solid.distance(&(p + apart)))
            })
        }),
    ]
}

fn patterns() -> impl Strategy<Value = Pattern> {
    let voronoi = (1_usize..60, 1.0..4.0, any::<u64>(), 0.5..2.0).prop_map(
        |(sites, clustering, seed, stretch)| {
            let stretch = Vector3::new(1.0, stretch, 1.0);
            let extents = Vector3::repeat(0.7);
            Pattern::voronoi(&Voronoi { clustering, stretch, extents, ..Voronoi::new(sites, seed) })
        },
    );
    let radial = (3_usize..12, 1_usize..5, 0.0..=1.0, any::<u64>()).prop_map(
        |(sectors, rings, jitter, seed)| {
            Pattern::radial(&Radial { jitter, ..Radial::new(sectors, rings, seed) })
        },
    );
    let slices = (0_usize..8, 0.0..0.6, prop::option::of(unit()), 0.0..=1.0, any::<u64>())
        .prop_map(|(planes, spread, axis, tilt, seed)| {
            Pattern::slices(&Slices { planes, spread, axis, tilt, seed })
        });
    let bricks = (vector(0.2), 0.0..1.0).prop_map(|(size, bond)| {
        let size = size.map(|x| x.abs() + 0.1);
        Pattern::bricks(&Bricks { extents: Vector3::repeat(0.5), bond, ..Bricks::new(size) })
    });
    let cells = prop_oneof![voronoi, radial, slices, bricks].boxed();
    let cells = cells.prop_map(|pattern| pattern.expect("parameters are in range")).boxed();
    let nested = (cells.clone(), 3_usize..6, any::<u64>()).prop_map(|(outer, sectors, seed)| {
        let inner = Pattern::radial(&Radial::new(sectors, 2, seed)).expect("in range");
        outer.nested(&inner).expect("cells, and not many")
    });
    let rough = (cells.clone(), 0.0..0.1, 1.0..6.0, 1_u32..4, any::<u64>()).prop_map(
        |(smooth, amplitude, frequency, octaves, seed)| {
            let noise = Noise { amplitude, frequency, octaves, seed };
            smooth.with_sampled_noise(&drawn(), 0.1, &noise).expect("parameters in range")
        },
    );
    prop_oneof![4 => cells, 1 => nested, 1 => rough]
}

/// The bounding box of patterns.
pub(crate) fn drawn() -> Aabb {
    Aabb { min: Point3::from([-1.0; 3]), max: Point3::from([1.0; 3]) }
}

fn unit() -> impl Strategy<Value = UnitVector3<f64>> {
    vector(1.0).prop_filter("no direction", |v| v.norm() > 0.1).prop_map(UnitVector3::new_normalize)
}

pub(crate) fn vector(most: f64) -> impl Strategy<Value = Vector3<f64>> {
    let range = -most..most;
    (range.clone(), range.clone(), range).prop_map(|(x, y, z)| Vector3::new(x, y, z))
}

/// A point of impact: a corner of the bounding box weighted with the middle, and any normal.
pub(crate) fn impact(body: &LevelSet, at: Vector3<f64>, normal: UnitVector3<f64>) -> Alignment {
    let bounds = body.grid().bounds();
    let at = bounds.center() + bounds.extents().component_mul(&at) / 2.0;
    Alignment::enclosing(&bounds, at, normal)
}

/// A body, a pattern in it, and the minimum size of a piece.
pub(crate) fn events() -> impl Strategy<Value = (LevelSet, Pattern, Alignment, usize)> {
    (bodies(), patterns(), vector(1.0), unit(), prop_oneof![Just(0), 1_usize..40]).prop_map(
        |(body, pattern, at, normal, least)| {
            let at = impact(&body, at, normal);
            (body, pattern, at, least)
        },
    )
}

pub(crate) fn unturned(scale: f64) -> Alignment {
    Alignment { at: Point3::origin(), rotation: UnitQuaternion::identity(), scale }
}

pub(crate) fn particles(body: &LevelSet) -> Vec<Point3<f64>> {
    body.surface_particles(body.grid().spacing())
}

fn is_close(a: &Moments, b: &Moments, tolerance: f64) -> bool {
    let size = b.second.trace() / b.volume;
    (a.volume - b.volume).abs() <= tolerance * b.volume
        && (a.first - b.first).amax() <= tolerance * b.volume * size.sqrt()
        && (a.second - b.second).amax() <= tolerance * b.volume * size
}

/// The number of inside nodes of a fragment, by its signs.
fn inside(fragment: &Fragment) -> usize {
    fragment.level_set.as_slice().iter().filter(|&&v| v < 0.0).count()
}

/// The fragments that contain each node of the parent, by their signs.
pub(crate) fn holders(body: &LevelSet, broken: &Shattered) -> Vec<Vec<usize>> {
    let grid = body.grid();
    let mut holders = vec![Vec::new(); grid.node_count()];
    for (index, fragment) in broken.fragments.iter().enumerate() {
        let part = fragment.level_set.grid();
        let low = ((part.origin() - grid.origin()) / grid.spacing()).map(|x| x.round() as usize);
        for ((i, j, k), value) in fragment.level_set.values().indexed_iter() {
            if *value < 0.0 {
                holders[grid.index([low.x + i, low.y + j, low.z + k])].push(index);
            }
        }
    }
    holders
}

/// The region of every inside node.
pub(crate) fn regions(body: &LevelSet, pattern: &Pattern, at: &Alignment) -> Vec<Option<usize>> {
    let broken = shatter(body, &[], pattern, at, 0);
    let region = |holders: &Vec<usize>| Some(broken.fragments[*holders.first()?].regions[0]);
    holders(body, &broken).iter().map(region).collect()
}

properties! {
    #[test]
    fn every_inside_sample_is_in_exactly_one_fragment((body, pattern, at, least) in events()) {
        let broken = shatter(&body, &[], &pattern, &at, least);
        for (value, holders) in body.as_slice().iter().zip(holders(&body, &broken)) {
            prop_assert_eq!(holders.len(), usize::from(*value < 0.0));
        }
        prop_assert!(broken.fragments.iter().all(|f| f.regions.iter().all(|&r| r < pattern.region_count())));
    }

    #[test]
    fn moments_of_the_fragments_add_up_to_those_of_the_body(
        (body, pattern, at, least) in events(),
    ) {
        let broken = shatter(&body, &[], &pattern, &at, least);
        let sum: Moments = broken.fragments.iter().map(|f| f.moments).sum();
        prop_assert!(is_close(&sum, &body.moments(), 1e-12), "{sum:?} {:?}", body.moments());
        for fragment in &broken.fragments {
            prop_assert!(is_close(&fragment.moments, &fragment.level_set.moments(), 1e-10));
        }
    }

    #[test]
    fn every_fragment_is_one_connected_piece((body, pattern, at, least) in events()) {
        for fragment in shatter(&body, &[], &pattern, &at, least).fragments {
            prop_assert_eq!(fragment.level_set.components().count, 1);
        }
    }

    #[test]
    fn no_fragment_is_too_small_unless_it_stood_alone((body, pattern, at, least) in events()) {
        let parts = body.components();
        let mut sizes = vec![0; parts.count + 1];
        parts.labels.iter().for_each(|&label| sizes[label as usize] += 1);
        let broken = shatter(&body, &[], &pattern, &at, least);
        for (node, holders) in holders(&body, &broken).iter().enumerate() {
            if let Some(&holder) = holders.first() {
                let size = inside(&broken.fragments[holder]);
                prop_assert!(size >= least.min(sizes[parts.labels[node] as usize]));
            }
        }
    }

    #[test]
    fn momentum_and_energy_are_those_of_the_body(
        (body, pattern, at, least) in events(),
        velocity in vector(10.0),
        spin in vector(20.0),
    ) {
        // unit density; fragments keep the motion of the body (Su09 section 4.2)
        let whole = body.moments();
        let moving = |m: &Moments| {
            let arm = m.center() - whole.center();
            let v = velocity + spin.cross(&arm);
            let linear = m.volume * v;
            let angular = m.inertia() * spin + arm.cross(&linear);
            (linear, angular, v.dot(&linear) + spin.dot(&(m.inertia() * spin)))
        };
        let (linear, angular, energy) = moving(&whole);
        let broken = shatter(&body, &[], &pattern, &at, least);
        let mut sum = (Vector3::zeros(), Vector3::zeros(), 0.0);
        for fragment in &broken.fragments {
            let part = moving(&fragment.moments);
            sum = (sum.0 + part.0, sum.1 + part.1, sum.2 + part.2);
        }
        let speed = velocity.norm() + spin.norm();
        prop_assert!((sum.0 - linear).norm() <= 1e-10 * whole.volume * speed);
        let scale = whole.volume * speed * whole.inertia().trace().max(whole.volume);
        prop_assert!((sum.1 - angular).norm() <= 1e-10 * scale.max(whole.volume * speed));
        prop_assert!((sum.2 - energy).abs() <= 1e-10 * energy);
    }

    #[test]
    fn every_particle_of_the_body_goes_to_one_fragment((body, pattern, at, least) in events()) {
        // slightly displaced, so that no point coincides with a new particle
        let nudge = Vector3::new(1.1e-9, 1.3e-9, 1.7e-9);
        let given: Vec<_> = particles(&body).iter().map(|p| p + nudge).collect();
        let broken = shatter(&body, &given, &pattern, &at, least);
        let bits = |p: &Point3<f64>| [p.x.to_bits(), p.y.to_bits(), p.z.to_bits()];
        let mut held: Vec<_> =
            broken.fragments.iter().flat_map(|f| f.particles.iter().map(bits)).collect();
        held.sort_unstable();
        let copies = |p: &Point3<f64>| {
            let p = bits(p);
            held.partition_point(|q| *q <= p) - held.partition_point(|q| *q < p)
        };
        for p in &given {
            prop_assert_eq!(copies(p), 1);
        }
    }

    #[test]
    fn fragments_break_again_without_loss(
        (body, pattern, at, least) in events(),
        (next, place, normal) in (patterns(), vector(0.5), unit()),
    ) {
        for fragment in shatter(&body, &particles(&body), &pattern, &at, least).fragments {
            let at = impact(&fragment.level_set, place, normal);
            let again = shatter(&fragment.level_set, &fragment.particles, &next, &at, least);
            let nodes: usize = again.fragments.iter().map(inside).sum();
            prop_assert_eq!(nodes, inside(&fragment));
            let sum: Moments = again.fragments.iter().map(|f| f.moments).sum();
            prop_assert!(is_close(&sum, &fragment.moments, 1e-10));
        }
    }

    #[test]
    fn the_pattern_moves_with_the_impact(
        pattern in patterns(),
        at in vector(0.2),
        normal in unit(),
        steps in (-6_isize..6, -6_isize..6, -6_isize..6),
    ) {
        let body = block(Vector3::repeat(0.4));
        let grid = body.grid();
        let shift = Vector3::new(steps.0 as f64, steps.1 as f64, steps.2 as f64) * grid.spacing();
        let here = Alignment { at: Point3::from(at), ..impact(&body, at, normal) };
        let there = Alignment { at: here.at + shift, ..here };
        let (before, after) = (regions(&body, &pattern, &here), regions(&body, &pattern, &there));
        let [nx, ny, nz] = grid.dims();
        let (mut compared, mut merged) = (0, 0);
        for i in 6..nx - 6 {
            for j in 6..ny - 6 {
                for k in 6..nz - 6 {
                    let to = [
                        i.strict_add_signed(steps.0),
                        j.strict_add_signed(steps.1),
                        k.strict_add_signed(steps.2),
                    ];
                    let (a, b) = (before[grid.index([i, j, k])], after[grid.index(to)]);
                    let (Some(a), Some(b)) = (a, b) else { continue };
                    compared += 1;
                    // a node on a cut, within rounding, may belong to either side
                    let p = here.transform().inverse_transform_point(&grid.position([i, j, k]));
                    let tied = (pattern.value(a, &p) - pattern.value(b, &p)).abs() < 1e-6;
                    if a == b || tied {
                        continue;
                    }
                    // a sliver too small for particles belongs to a neighbor, possibly to a
                    // different one in each fracture
                    merged += 1;
                }
            }
        }
        prop_assert!(compared > 100 && merged * 100 <= compared, "{merged} of {compared}");
    }

    #[test]
    fn the_result_does_not_depend_on_the_number_of_threads((body, pattern, at, least) in events()) {
        let particles = particles(&body);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| shatter(&body, &particles, &pattern, &at, least))
        };
        let (one, two) = (run(1), run(2));
        prop_assert_eq!(one.bonds, two.bonds);
        prop_assert_eq!(one.fragments.len(), two.fragments.len());
        for (a, b) in one.fragments.iter().zip(&two.fragments) {
            prop_assert_eq!(&a.level_set, &b.level_set);
            prop_assert_eq!(&a.particles, &b.particles);
            prop_assert_eq!(&a.moments, &b.moments);
        }
    }

    #[test]
    fn bonds_join_fragments_that_touch((body, pattern, at, least) in events()) {
        let broken = shatter(&body, &[], &pattern, &at, least);
        for bond in &broken.bonds {
            let [a, b] = bond.fragments;
            prop_assert!(a < b && b < broken.fragments.len() && bond.area > 0.0);
        }
        prop_assert!(broken.bonds.windows(2).all(|w| w[0].fragments < w[1].fragments));
        // the bonds connect all pieces of a connected body
        if body.components().count == 1 {
            let mut joined = vec![0];
            let mut next = 0;
            while next < joined.len() {
                for bond in &broken.bonds {
                    for [a, b] in [bond.fragments, [bond.fragments[1], bond.fragments[0]]] {
                        if a == joined[next] && !joined.contains(&b) {
                            joined.push(b);
                        }
                    }
                }
                next += 1;
            }
            prop_assert_eq!(joined.len(), broken.fragments.len());
        }
    }
}

#[test]
fn a_pattern_of_one_region_leaves_the_body_whole() {
    let body = block(Vector3::new(0.3, 0.1, 0.2));
    let pattern = Pattern::voronoi(&Voronoi::new(1, 0)).unwrap();
    let at = impact(&body, Vector3::zeros(), Vector3::y_axis());
    let given = particles(&body);
    let broken = shatter(&body, &given, &pattern, &at, 8);
    assert_eq!(broken.fragments.len(), 1);
    assert_eq!(broken.bonds, []);
    assert_eq!(broken.fragments[0].particles, given);
    assert_eq!(broken.fragments[0].moments, body.moments());
}

#[test]
fn pieces_are_those_of_the_body_not_of_all_space() {
    let rod = block(Vector3::new(0.06, 0.06, 0.4));
    let plate = block(Vector3::new(0.4, 0.06, 0.4));
    let ball = sampled(Vector3::repeat(0.35), |p| p.coords.norm() - 0.35);
    for (body, clustering, pieces) in
        [(&rod, 1.0, 6), (&plate, 1.0, 40), (&ball, 1.0, 30), (&ball, 2.0, 30)]
    {
        let solid = Geometry::sampled(body.clone().into(), particles(body), body.moments());
        let counts = (0..8).map(|seed| {
            let spec = Voronoi { clustering, ..Voronoi::new(1, seed) }.with_pieces(pieces, &solid);
            let pattern = Pattern::voronoi(&spec).unwrap();
            // in the middle of a side, away from the counted sites
            let at = impact(body, Vector3::new(0.0, 1.0, 0.2), Vector3::y_axis());
            let at = Alignment::enclosing(&solid.bounds(), at.at, Vector3::y_axis());
            shatter(body, &[], &pattern, &at, 8).fragments.len()
        });
        let mean = counts.sum::<usize>() as f64 / 8.0;
        assert!((mean / pieces as f64 - 1.0).abs() < 0.3, "{mean} for {pieces}");
    }
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Plates and rods may be thinner than the distance of the points.
    #[test]
    fn points_in_a_solid_are_as_many_as_requested_and_evenly_spread(
        exponents in [-2.5..0.0_f64, -2.5..0.0, -2.5..0.0],
        count in 1000usize..20_000,
    ) {
        let half = Vector3::from(exponents).map(|x| 10f64.powf(x));
        let half = half / half.max();
        let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
        let grid = Grid::enclosing(&bounds, 0.1, 3, Grid::MAX_NODES).unwrap();
        let body = Geometry::primitive(Solid::Box { half_extents: half }, grid).unwrap();
        let points = body.inside_points(count);
        prop_assert!((points.len() as f64 / count as f64 - 1.0).abs() < 0.15, "{}", points.len());
        let sum: Vector3<f64> = points.iter().map(|p| p.coords).sum();
        for (axis, half) in half.iter().enumerate() {
            prop_assert!(points.iter().all(|p| p[axis].abs() <= half * (1.0 + 1e-12)));
            let mean = sum[axis] / points.len() as f64;
            prop_assert!(mean.abs() < 0.05 * half, "axis {axis}: {mean} of {half}");
        }
    }
}

/// Panes that are thinner than a tenth of a piece.
#[test]
fn a_pane_breaks_into_the_number_of_pieces() {
    for half in [Vector3::new(0.3, 0.4, 0.002), Vector3::new(0.004, 0.5, 0.5)] {
        let bounds = Aabb { min: Point3::from(-half), max: Point3::from(half) };
        let grid = Grid::enclosing(&bounds, 0.02, 3, Grid::MAX_NODES).unwrap();
        let pane = Geometry::primitive(Solid::Box { half_extents: half }, grid).unwrap();
        let normal = Vector3::ith_axis(half.imin());
        for pieces in [15, 60, 150] {
            let counts = (0..6).map(|seed| {
                let spec = Voronoi { clustering: 1.5, ..Voronoi::new(1, seed) };
                let pattern = Pattern::voronoi(&spec.with_pieces(pieces, &pane)).unwrap();
                // in the middle and at a corner
                let share = (seed % 2) as f64;
                let at =
                    Point3::from(half * share + normal.into_inner() * (half.min() * (1.0 - share)));
                let at = Alignment::enclosing(&bounds, at, normal);
                let least = pane.moments().volume / (8 * pieces) as f64;
                pane.divide(&pattern, &at, least).pieces.len()
            });
            let mean = counts.sum::<usize>() as f64 / 6.0;
            assert!((mean / pieces as f64 - 1.0).abs() < 0.3, "{mean} for {pieces}");
        }
    }
}

#[test]
fn an_alignment_that_is_not_finite_leaves_the_body_whole() {
    let body = block(Vector3::repeat(0.2));
    let pattern = Pattern::voronoi(&Voronoi::new(20, 0)).unwrap();
    let fine = impact(&body, Vector3::zeros(), Vector3::y_axis());
    let broken = [
        Alignment { scale: f64::NAN, ..fine },
        Alignment { scale: f64::INFINITY, ..fine },
        Alignment { scale: 0.0, ..fine },
        Alignment { at: Point3::new(f64::NAN, 0.0, 0.0), ..fine },
        Alignment { at: Point3::new(0.0, f64::NEG_INFINITY, 0.0), ..fine },
    ];
    for at in broken {
        assert_eq!(shatter(&body, &[], &pattern, &at, 8).fragments.len(), 1, "{at:?}");
    }
}

#[test]
fn an_empty_body_has_no_fragments() {
    let body = sampled(Vector3::repeat(0.1), |_| 1.0);
    let pattern = Pattern::voronoi(&Voronoi::new(20, 0)).unwrap();
    let at = impact(&body, Vector3::zeros(), Vector3::y_axis());
    for particles in [&[][..], &[Point3::origin()]] {
        assert!(shatter(&body, particles, &pattern, &at, 8).fragments.is_empty());
    }
}

#[test]
fn a_plane_through_a_block_makes_a_bond_of_its_area() {
    // the faces are halfway between nodes, so that the voxels fill the block exactly
    let half = Vector3::new(0.4, 0.25, 0.3) + Vector3::repeat(1.0 / 64.0);
    let half = half.map(|x: f64| (x * 32.0).floor() / 32.0 + 1.0 / 64.0);
    let grid = Grid::new(Point3::from([-1.0; 3]), 1.0 / 32.0, [65; 3], Grid::MAX_NODES).unwrap();
    let solid = Solid::Box { half_extents: half };
    let body = LevelSet::from_fn(grid, |p| solid.distance(&p));
    let turned = UnitVector3::new_normalize(Vector3::new(1.0, 0.3, 0.2));
    for normal in [Vector3::x_axis(), turned] {
        let sites = [Point3::from(normal.scale(0.1)), Point3::from(normal.scale(-0.1))];
        let pattern = Pattern::voronoi_of(&sites, &Vector3::repeat(1.0)).unwrap();
        let at = Alignment { at: Point3::origin(), ..unturned(1.0) };
        let broken = shatter(&body, &[], &pattern, &at, 8);
        assert_eq!(broken.bonds.len(), 1);
        // the cut passes the four sides along x, so it is their tilted cross-section
        let area = 4.0 * half.y * half.z / normal.x;
        let bond = broken.bonds[0];
        assert!((bond.area / area - 1.0).abs() < 0.02, "{} {area}", bond.area);
        assert!(bond.center.coords.norm() < 1e-3, "{}", bond.center);
    }
}

properties! {
    // each case tests every vertex of every fragment
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn particles_lie_on_their_fragment_and_cover_it((body, pattern, at, least) in events()) {
        let h = body.grid().spacing();
        let broken = shatter(&body, &particles(&body), &pattern, &at, least);
        for fragment in &broken.fragments {
            for p in &fragment.particles {
                // tolerance: the error of trilinear samples at sharp edges, and the width of a
                // small merged piece on a cut
                let off = fragment.level_set.value(p).abs();
                prop_assert!(off <= if least == 0 { 2.0 * h } else { 3.0 * h }, "{}", off / h);
            }
            prop_assert!(fragment.particles.len() >= 4);
            for v in fragment.level_set.isosurface().vertices {
                let gap = fragment.particles.iter().map(|p| (p - v).norm_squared());
                let gap = gap.fold(f64::INFINITY, f64::min).sqrt();
                prop_assert!(gap <= 2.0 * h, "{} at {v}", gap / h);
            }
        }
    }

    #[test]
    fn fragments_that_stay_together_hold_what_their_parts_held(
        (body, pattern, at, least) in events(),
        count in 1_usize..5,
    ) {
        let broken = shatter(&body, &[], &pattern, &at, least);
        let count = count.min(broken.fragments.len());
        let groups: Vec<usize> = (0..broken.fragments.len()).map(|i| i % count).collect();
        let joined = broken.clone().joined(&body, &groups);
        prop_assert_eq!(joined.fragments.len(), count);
        // every sample belongs only to the group that contains its fragment
        let owners = holders(&body, &broken).into_iter().zip(holders(&body, &joined));
        for (before, after) in owners {
            let group: Vec<usize> = before.iter().map(|&fragment| groups[fragment]).collect();
            prop_assert_eq!(after, group);
        }
        let volume = |s: &Shattered| s.fragments.iter().map(|f| f.moments.volume).sum::<f64>();
        prop_assert!((volume(&joined) / volume(&broken) - 1.0).abs() < 1e-12);
        let apart = broken.bonds.iter().filter(|b| b.fragments[0] % count != b.fragments[1] % count);
        let area: f64 = apart.map(|bond| bond.area).sum();
        let bonds: f64 = joined.bonds.iter().map(|bond| bond.area).sum();
        prop_assert!((bonds - area).abs() <= 1e-12 * area);
        let h = body.grid().spacing();
        for fragment in &joined.fragments {
            for p in &fragment.particles {
                prop_assert!(fragment.level_set.value(p) >= -3.0 * h);
            }
        }
    }
}

#[test]
fn broken_meshes_break_or_are_refused_with_a_reason() {
    let rows = brisance_tests::broken_meshes::rows().unwrap();
    for row in &rows {
        // refused, or divided without loss of volume
        let (pieces, volume) = row.broken;
        match &row.winding {
            // an exact solid differs from its samples
            Ok(sampled) => {
                assert!((volume - row.volume).abs() <= 1e-12 * volume, "{}", row.name);
                // counting nodes is off by half a cell
                let error = 0.5 * row.area / 48.0;
                assert!((volume - sampled).abs() <= error, "{}", row.name);
            }
            Err(error) => assert!(!error.to_string().is_empty() && pieces == 0),
        }
        // if both signs define a solid, the solids are equal except for nested shells
        if let (Ok(strict), Ok(winding)) = (&row.strict, &row.winding) {
            assert!((strict / winding - 1.0).abs() < 0.02, "{} {strict} {winding}", row.name);
            assert!(pieces > 5, "{} {pieces}", row.name);
        }
    }
    let refused = rows.iter().filter(|row| row.strict.is_err()).count();
    assert!((4..rows.len()).contains(&refused), "{refused}");
    let written = include_str!("../../docs/broken-meshes.md");
    assert_eq!(written, brisance_tests::broken_meshes::report(&rows));
}
