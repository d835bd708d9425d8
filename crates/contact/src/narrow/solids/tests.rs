use levelset::ConvexHull;
use parry3d::math::{Pose, Rotation, Vector};
use parry3d::query::{contact, distance};
use parry3d::shape::{ConvexPolyhedron, Cuboid};

use super::*;
use crate::narrow::random::Random;
use crate::shape::polyhedron::MAX_EDGES;

/// The least distance, at most 1 m; a lower bound if the solids are apart.
fn least_computed(solids: &Solids<'_>) -> f64 {
    let RawCandidates { face, found } = solids.find_candidates(1.0);
    let least = found.iter().map(|c| c.distance).fold(1.0, f64::min);
    if face.distance > 0.0 { face.distance } else { least }
}

impl Random {
    fn polyhedron(&mut self) -> ConvexHull {
        let points: Vec<_> = (0..14).map(|_| Point3::from(self.vector(0.3))).collect();
        ConvexHull::new(&points).expect("random points span a volume")
    }
}

fn pose(x: &Isometry3<f64>) -> Pose {
    let place = Vector::from_array(x.translation.vector.into());
    Pose::from_parts(place, Rotation::from_array(x.rotation.coords.into()))
}

fn parry(hull: &ConvexHull) -> ConvexPolyhedron {
    let points: Vec<_> =
        hull.mesh().vertices.iter().map(|p| Vector::from_array(p.coords.into())).collect();
    ConvexPolyhedron::from_convex_hull(&points).expect("a hull")
}

/// Points all along the edges.
fn edges(hull: &ConvexHull) -> Vec<Point3<f64>> {
    const STEPS: u32 = 100;
    let mesh = hull.mesh();
    let along = |[p, q]: [Point3<f64>; 2]| {
        (0..=STEPS).map(move |n| p + (q - p) * (f64::from(n) / f64::from(STEPS)))
    };
    let sides = |[a, b, c]: [Point3<f64>; 3]| [[a, b], [b, c], [c, a]];
    let all = (0..mesh.triangles.len()).flat_map(|t| sides(mesh.corners(t)));
    all.flat_map(along).collect()
}

/// The width of a solid along a unit vector, m.
fn width_along(solid: &Polyhedron, direction: &Vector3<f64>) -> f64 {
    let heights = solid.corners.iter().map(|p| direction.dot(&p.coords));
    let (low, high) = heights
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    high - low
}

fn of_points(points: &[Point3<f64>]) -> Polyhedron {
    let hull = ConvexHull::new(points).expect("points span a volume");
    Polyhedron::new(&hull, &Isometry3::identity()).expect("no slivers")
}

#[test]
fn no_two_planes_are_nearer_around_a_solid_than_its_width() {
    let mut random = Random(13);
    let mut between_edges = 0;
    for case in 0..60 {
        let points: Vec<_> = (0..4 + case % 12).map(|_| Point3::from(random.vector(0.3))).collect();
        let solid = of_points(&points);
        let computed = 2.0 * solid.half_width;
        let mut best = (f64::INFINITY, Vector3::x());
        for n in 0..6000 {
            // random directions at first, then ever closer to the best one
            let reach = 0.998_f64.powi((n - 3000).max(0));
            let direction = if n < 3000 { Vector3::zeros() } else { best.1 };
            let Some(direction) = (direction + random.vector(reach)).try_normalize(1e-9) else {
                continue;
            };
            let width = width_along(&solid, &direction);
            assert!(width > computed * (1.0 - 1e-9), "{case}: {width} for {computed}");
            best = if width < best.0 { (width, direction) } else { best };
        }
        assert!(best.0 < computed * 1.01, "{case}: {} for {computed}", best.0);
        let faces = (0..LANES * solid.planes.len()).map(|n| solid.plane(n).0);
        let by_faces =
            faces.map(|direction| width_along(&solid, &direction)).fold(f64::INFINITY, f64::min);
        between_edges += usize::from(computed < by_faces * (1.0 - 1e-6));
    }
    assert!(between_edges > 20, "{between_edges}");
}

#[test]
fn a_tetrahedron_is_as_wide_as_two_edges_are_apart() {
    let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
    let solid = of_points(&corners.map(Point3::from));
    assert!((solid.half_width - 1.0).abs() < 1e-12, "{}", solid.half_width);
    let brick = Polyhedron::cuboid(&Vector3::new(0.2, 0.05, 0.1));
    assert!((brick.half_width - 0.05).abs() < 1e-15, "{}", brick.half_width);
}

#[test]
fn the_width_of_a_solid_with_many_edges_is_a_lower_bound() {
    let mut random = Random(17);
    let ball: Vec<_> = (0..400)
        .filter_map(|_| random.vector(1.0).try_normalize(0.1))
        .map(|p| Point3::from(p.component_mul(&Vector3::new(0.1, 0.2, 0.3))))
        .collect();
    let solid = of_points(&ball);
    assert!(solid.edges.len() > MAX_EDGES, "{}", solid.edges.len());
    let least = (0..3000)
        .filter_map(|_| random.vector(1.0).try_normalize(0.1))
        .map(|direction| width_along(&solid, &direction))
        .fold(f64::INFINITY, f64::min);
    let computed = 2.0 * solid.half_width;
    assert!(computed <= least && computed > 0.8 * least, "{computed} for {least}");
}

#[test]
fn finds_what_points_all_along_the_edges_find() {
    let mut random = Random(7);
    let mut overlap = 0;
    for case in 0..150 {
        let [p, q] = [random.polyhedron(), random.polyhedron()];
        let map = Isometry3::new(random.vector(0.35), random.vector(6.0));
        let [a, b] =
            [&p, &q].map(|hull| Polyhedron::new(hull, &Isometry3::identity()).expect("no slivers"));
        let least = |points: &[Point3<f64>], hull: &ConvexHull, map: &Isometry3<f64>| {
            points.iter().map(|x| hull.distance(&(map * x))).fold(1.0, f64::min)
        };
        let (on_edges, back) = (edges(&p), map.inverse());
        let corners = least(&p.mesh().vertices, &q, &map).min(least(&q.mesh().vertices, &p, &back));
        let exact = corners.min(least(&on_edges, &q, &map));
        if exact > -0.002 {
            continue;
        }
        overlap += 1;
        let computed = least_computed(&Solids { a: &a, b: &b, b_from_a: map });
        // the depth along a normal of two edges exceeds that along either face normal
        assert!(computed < exact + 1e-12, "{case}: {computed} for {exact}");
        assert!(computed >= (exact - 0.004) / SHARP, "{case}: {computed} for {exact}");
        // but no corner is reported deeper than it is
        if corners < exact + 1e-12 {
            let is_corner = |c: &Candidate| c.owner == Side::B || c.key < a.corners.len() as u32;
            let found = Solids { a: &a, b: &b, b_from_a: map }.find_candidates(0.0).found;
            let deepest =
                found.iter().filter(|c| is_corner(c)).map(|c| c.distance).fold(0.0, f64::min);
            assert!((deepest - corners).abs() < 1e-12, "{case}: {deepest} for {corners}");
        }
    }
    assert!(overlap > 40, "{overlap}");
}

#[test]
fn the_distance_of_separate_solids_is_a_lower_bound() {
    let mut random = Random(11);
    let (mut apart, mut near) = (0, 0);
    for _ in 0..2000 {
        let [p, q] = [random.polyhedron(), random.polyhedron()];
        let map = Isometry3::new(random.vector(0.8), random.vector(6.0));
        let [a, b] =
            [&p, &q].map(|hull| Polyhedron::new(hull, &Isometry3::identity()).expect("no slivers"));
        let gap = distance(&pose(&map), &parry(&p), &Pose::IDENTITY, &parry(&q))
            .expect("both have points")
            .distance;
        let computed = least_computed(&Solids { a: &a, b: &b, b_from_a: map });
        if gap > 1e-6 {
            apart += 1;
            assert!(computed > 0.0 && computed < gap + 1e-6, "{computed} for {gap}");
            near += usize::from(computed > 0.8 * gap);
        } else {
            assert!(computed < 1e-6, "{computed} though they touch");
        }
    }
    assert!(apart > 400 && near > apart / 2, "{near} of {apart}");
}

#[test]
fn crossed_edges_part_by_the_normal_of_both() {
    // two bars whose edges cross at a right angle, 1 mm deep
    let half = Vector3::new(0.3, 0.05, 0.05);
    let roll = |axis: Vector3<f64>| Isometry3::rotation(axis * std::f64::consts::FRAC_PI_4);
    let high = 2.0 * 0.05 * 2f64.sqrt() - 0.001;
    let a = Isometry3::translation(0.02, high, 0.01) * roll(Vector3::x());
    let b = Isometry3::rotation(Vector3::y() * std::f64::consts::FRAC_PI_2) * roll(Vector3::x());
    let bar = Polyhedron::cuboid(&half);
    let found = Solids { a: &bar, b: &bar, b_from_a: b.inv_mul(&a) }.near(0.002);
    let deepest = found.iter().min_by(|p, q| p.distance.total_cmp(&q.distance));
    let deepest = deepest.expect("they overlap");
    assert!((deepest.distance + 0.001).abs() < 1e-12, "{}", deepest.distance);
    let normal = b * deepest.normal.expect("it is known");
    assert!((normal - Vector3::y()).norm() < 1e-12, "{normal}");
    let at = a * deepest.point;
    assert!((at.x.abs() < 1e-12) && (at.z - 0.01).abs() < 1e-12, "{at}");
    let cuboid = Cuboid::new(Vector::from_array(half.into()));
    let computed = contact(&pose(&a), &cuboid, &pose(&b), &cuboid, 0.0);
    let computed = computed.expect("both are convex").expect("they overlap");
    assert!((computed.dist - deepest.distance).abs() < 1e-6, "{}", computed.dist);
}

#[test]
fn a_bar_across_a_bar_rests_on_four_points() {
    let half = Vector3::new(0.3, 0.05, 0.05);
    let turn = Vector3::y() * std::f64::consts::FRAC_PI_2;
    let map = Isometry3::new(Vector3::new(0.0, 0.0999, 0.0), turn);
    let bar = Polyhedron::cuboid(&half);
    let found = Solids { a: &bar, b: &bar, b_from_a: map }.near(0.002);
    // the sides of the lower bar are as near as its top
    for (x, z) in [(-0.05, -0.0499), (-0.05, 0.0499), (0.05, -0.0499), (0.05, 0.0499)] {
        let corner = Point3::new(x, 0.0499, z);
        let at = |c: &&Candidate| (map * c.point - corner).norm() < 1e-9;
        let found = found.iter().find(at).expect("a crossing of edges");
        assert!((found.distance + 1e-4).abs() < 1e-12, "{}", found.distance);
        assert!((found.normal.expect("known") - Vector3::y()).norm() < 1e-9);
    }
}

#[test]
fn candidates_of_deep_overlaps_agree_on_one_direction() {
    let mut random = Random(5);
    let mut deep = 0;
    for case in 0..400 {
        let [a, b] = [0; 2].map(|_| {
            Polyhedron::new(&random.polyhedron(), &Isometry3::identity()).expect("no slivers")
        });
        let b_from_a = Isometry3::new(random.vector(0.2), random.vector(6.0));
        let solids = Solids { a: &a, b: &b, b_from_a };
        if solids.best_face(f64::INFINITY).distance > -0.01 {
            continue;
        }
        deep += 1;
        let found = solids.near(0.01);
        let out = |c: &Candidate| {
            let normal = c.normal.expect("it is known");
            if c.owner == Side::A { normal } else { -(b_from_a.rotation * normal) }
        };
        let best = found.iter().max_by(|p, q| {
            solids
                .separation_and_support(&out(p))
                .0
                .total_cmp(&solids.separation_and_support(&out(q)).0)
        });
        let direction = out(best.expect("something leads out"));
        for candidate in &found {
            assert!(out(candidate).dot(&direction) > -0.8, "{case}");
        }
        // a translation by that depth separates the solids, and a slightly shorter one does not
        let far = -solids.separation_and_support(&direction).0;
        let after = |share: f64| {
            let mut moved = b_from_a;
            moved.translation.vector += direction * (far * share);
            least_computed(&Solids { b_from_a: moved, ..solids })
        };
        assert!(after(1.001) > -1e-9, "{case}: {}", after(1.001));
        assert!(after(0.5) < 0.0, "{case}: {}", after(0.5));
    }
    assert!(deep > 100, "{deep}");
}

#[test]
fn the_best_separating_face_is_that_of_all_faces() {
    let mut random = Random(11);
    for case in 0..400 {
        let [a, b] = [0; 2].map(|_| {
            Polyhedron::new(&random.polyhedron(), &Isometry3::identity()).expect("no slivers")
        });
        // solids that overlap, touch and are apart
        let b_from_a = Isometry3::new(random.vector(0.8), random.vector(6.0));
        let found = Solids { a: &a, b: &b, b_from_a }.best_face(f64::INFINITY);
        let separation = |own: &Polyhedron, other: &Polyhedron, map: &Isometry3<f64>| {
            let along = |plane: usize| {
                let (normal, offset) = other.plane(plane);
                let heights = own.corners().iter().map(|p| normal.dot(&(map * p).coords) - offset);
                heights.fold(f64::INFINITY, f64::min)
            };
            (0..other.face_count()).map(along).fold(f64::NEG_INFINITY, f64::max)
        };
        let best = separation(&a, &b, &b_from_a).max(separation(&b, &a, &b_from_a.inverse()));
        assert!((found.distance - best).abs() < 1e-12, "{case}: {} for {best}", found.distance);
        let along = Solids { a: &a, b: &b, b_from_a }.separation_along(&found.axis);
        assert!((along - best).abs() < 1e-12, "{case}: {along} along the axis");
    }
}

#[test]
fn wide_vectors_have_the_same_bits() {
    let mut random = Random(3);
    let mut count = 0;
    for _ in 0..100 {
        let [a, b] = [0; 2].map(|_| {
            Polyhedron::new(&random.polyhedron(), &Isometry3::identity()).expect("no slivers")
        });
        let b_from_a = Isometry3::new(random.vector(0.4), random.vector(6.0));
        let solids = Solids { a: &a, b: &b, b_from_a };
        let bits = |c: &Candidate| (c.owner == Side::A, c.key, c.distance.to_bits());
        let both = [solids.visit(Range::within(0.01)), solids.find_candidates(0.01)];
        let [first, second] = both.map(|RawCandidates { face, found }| {
            let found: Vec<_> = found.iter().map(bits).collect();
            (face.distance.to_bits(), face.axis.map(f64::to_bits), found)
        });
        assert_eq!(first, second);
        let [first, second] = [solids.best_faces(&solids.views(), 0.0).0, solids.best_face(0.0)]
            .map(|face| (face.distance.to_bits(), face.axis.map(f64::to_bits)));
        assert_eq!(first, second);
        count += solids.find_candidates(0.01).found.len();
    }
    assert!(count > 300, "{count}");
}

#[test]
fn a_brick_flush_on_another_has_contacts_at_all_corners() {
    let brick = Polyhedron::cuboid(&Vector3::new(0.2, 0.05, 0.1));
    for depth in [0.0, 1e-17, 1e-6, 1e-4, 2e-3] {
        for (x, z, turn) in
            [(0.0, 0.0, 0.0), (5e-5, -5e-5, 0.0), (0.0, 0.0, 1e-4), (0.02, 0.0, 0.0)]
        {
            let map = Isometry3::new(Vector3::new(x, 0.1 - depth, z), Vector3::y() * turn);
            let found = Solids { a: &brick, b: &brick, b_from_a: map }.near(0.01);
            let up = |c: &&Candidate| match c.owner {
                Side::A => c.normal.is_some_and(|n| n.y > 0.999),
                Side::B => c.normal.is_some_and(|n| n.y < -0.999),
            };
            for corner in [[-0.2, -0.1], [-0.2, 0.1], [0.2, -0.1], [0.2, 0.1]] {
                let bears = found.iter().filter(up).any(|c| {
                    let at = if c.owner == Side::A { map * c.point } else { c.point };
                    (at.x - corner[0]).abs() < 0.021
                        && (at.z - corner[1]).abs() < 1e-3
                        && (c.distance + depth).abs() < 1e-9
                });
                assert!(bears, "{depth} {x} {z} {turn}: {corner:?}");
            }
        }
    }
}

#[test]
fn a_ridge_across_a_shallow_dome_is_met_where_it_is_deepest() {
    const HIGH: f64 = 0.02;
    // slopes up to 0.27, in steps of 0.04
    let (rings, around, radius) = (7, 15, 0.15);
    let place = |ring: u32, n: u32, y: f64| {
        let turn = f64::from(n) + 0.5 * f64::from(ring % 2);
        let (sin, cos) = (std::f64::consts::TAU * turn / f64::from(around)).sin_cos();
        let far = radius * f64::from(ring) / f64::from(rings);
        Point3::new(far * cos, y, far * sin)
    };
    let mut points = vec![Point3::new(0.0, HIGH, 0.0)];
    for n in 0..around {
        let height = |ring: u32| HIGH * (1.0 - f64::from(ring * ring) / f64::from(rings * rings));
        points.extend((1..=rings).map(|ring| place(ring, n, height(ring))));
        points.push(place(rings, n, -0.03));
    }
    let hull = ConvexHull::new(&points).expect("a solid");
    let dome = Polyhedron::new(&hull, &Isometry3::identity()).expect("no slivers");
    let bar = Polyhedron::cuboid(&Vector3::new(0.3, 0.03, 0.03));
    for (depth, aside) in [(0.001, 0.011), (0.003, 0.011), (0.003, 0.017)] {
        let above = HIGH + 0.03 * 2f64.sqrt() - depth;
        let turn = Vector3::x() * std::f64::consts::FRAC_PI_4;
        let map = Isometry3::new(Vector3::new(0.0, above, aside), turn);
        let below = |n: i32| Point3::new(0.0001 * f64::from(n), HIGH - depth, aside);
        let exact = (-2000..2000).map(|n| hull.distance(&below(n))).fold(1.0, f64::min);
        let solids = Solids { a: &bar, b: &dome, b_from_a: map };
        let near = solids.near(0.0075).iter().map(|c| c.distance).fold(1.0, f64::min);
        for computed in [near, least_computed(&solids)] {
            assert!(computed < exact + 1e-6, "{depth} {aside}: {computed} for {exact}");
        }
    }
}
