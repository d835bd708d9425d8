//! Rays, moving solids and overlaps of each kind of shape, against closed forms and `parry3d`.

use std::sync::Arc;

use brisance_tests::properties;
use brisance_tests::strategies::{direction, pose, rotation, vector};
use contact::{Ray, Round, Shape, Sweep, Triangles};
use levelset::{Aabb, ConvexHull, Grid, LevelSet, Solid, TriMesh};
use nalgebra::{Isometry3, Point3, Translation3, UnitVector3, Vector3};
use parry3d::math::{Pose, Rotation, Vector};
use parry3d::query::{self, RayCast, ShapeCastOptions};
use parry3d::shape::{Ball, Capsule, Cone, ConvexPolyhedron, Cuboid, Cylinder, TriMesh as Mesh};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

type Outcome = Result<(), TestCaseError>;

fn glam(v: &Vector3<f64>) -> Vector {
    Vector::from_array((*v).into())
}

fn glam_pose(pose: &Isometry3<f64>) -> Pose {
    let rotation = Rotation::from_array(pose.rotation.coords.into());
    Pose::from_parts(glam(&pose.translation.vector), rotation)
}

fn ray(from: Vector3<f64>, along: Vector3<f64>) -> Ray {
    Ray { from: from.into(), along: UnitVector3::new_unchecked(along), max_distance: 100.0 }
}

/// A ray from outside intersects a shape at the same point as in parry.
fn same_as_parry(shape: &Shape, other: &dyn RayCast, ray: &Ray) -> Outcome {
    if shape.field().distance(&ray.from) <= 1e-6 {
        return Ok(());
    }
    let line = query::Ray::new(glam(&ray.from.coords), glam(&ray.along));
    let wanted = other.cast_local_ray_and_get_normal(&line, ray.max_distance, true);
    let found = shape.cast_ray(ray);
    // at edges and tangents either library may report no hit
    let nears = |distance: f64| {
        let at = ray.at(distance);
        let around = |way: Vector3<f64>| {
            let from = ray.from + way * 1e-5;
            shape.cast_ray(&Ray { from, ..*ray }).is_some()
        };
        let [p, q] = [ray.along.cross(&Vector3::x()), ray.along.cross(&Vector3::y())];
        let all = [p, -p, q, -q].map(around);
        shape.field().distance(&at).abs() < 1e-5 && all.contains(&true) && all.contains(&false)
    };
    match (wanted, found) {
        (Some(wanted), Some(found)) => {
            let error = (wanted.time_of_impact - found.distance).abs();
            // parry finds round surfaces by iteration
            prop_assert!(error < 1e-4, "{} for {}", found.distance, wanted.time_of_impact);
            prop_assert!(shape.field().distance(&found.point).abs() < 1e-9);
            let along = found.normal.dot(&Vector3::from(wanted.normal.to_array()));
            let edge = shape.field().normal(&(found.point + found.normal * 1e-7));
            prop_assert!(along > 0.999 || (edge - found.normal).norm() > 1e-3, "{}", along);
            prop_assert!(found.normal.dot(&ray.along) <= 1e-9);
        }
        (None, None) => {}
        (Some(wanted), None) => {
            prop_assert!(nears(wanted.time_of_impact), "{}", wanted.time_of_impact);
        }
        (None, Some(found)) => prop_assert!(nears(found.distance), "{}", found.distance),
    }
    Ok(())
}

/// The signed distance of two solids of parry, m.
fn signed(a: (&Pose, &dyn parry3d::shape::Shape), b: (&Pose, &dyn parry3d::shape::Shape)) -> f64 {
    query::contact(a.0, a.1, b.0, b.1, 100.0).unwrap().map_or(f64::NAN, |contact| contact.dist)
}

/// Corners of a solid within a meter.
fn corners() -> impl Strategy<Value = Vec<Point3<f64>>> {
    prop::collection::vec(vector(1.0).prop_map(Point3::from), 6..20)
}

fn convex(points: &[Point3<f64>]) -> Option<(Shape, ConvexHull)> {
    let hull = ConvexHull::new(points).ok()?;
    Some((Shape::convex(&hull, 0.1, &Isometry3::identity())?, hull))
}

fn parry_mesh(mesh: &TriMesh) -> (Vec<Vector>, Vec<[u32; 3]>) {
    (mesh.vertices.iter().map(|p| glam(&p.coords)).collect(), mesh.triangles.clone())
}

/// A direction from a place to near the origin.
fn aimed() -> impl Strategy<Value = (Vector3<f64>, Vector3<f64>)> {
    (direction(), 1.5..5.0, vector(0.9)).prop_map(
        |(out, away, to): (Vector3<f64>, f64, Vector3<f64>)| {
            let from = out * away;
            (from, (to - from).normalize())
        },
    )
}

properties! {
    #[test]
    fn rays_meet_balls_planes_and_boxes_where_formulas_say(
        (from, along) in aimed(), half in vector(0.9), radius in 0.05..1.0,
    ) {
        let ray = ray(from, along);
        let found = Shape::half_space().cast_ray(&ray);
        let fall = -from.y / along.y;
        let wanted = if from.y <= 0.0 { Some(0.0) } else { Some(fall).filter(|x| *x >= 0.0 && *x <= 100.0) };
        prop_assert_eq!(found.map(|hit| hit.distance), wanted);

        let (b, c) = (from.dot(&along), from.norm_squared() - radius * radius);
        let square = b * b - c;
        let found = Shape::ball(radius).cast_ray(&ray);
        prop_assert!(found.is_some() == (square >= 0.0) || square.abs() < 1e-9);
        if let Some(hit) = found.filter(|_| square > 1e-9) {
            prop_assert!((hit.distance + b + square.sqrt()).abs() < 1e-9);
            prop_assert!((hit.normal * radius - hit.point.coords).norm() < 1e-9);
        }

        let half = half.abs().add_scalar(0.01);
        same_as_parry(&Shape::cuboid(half, 0.1), &Cuboid::new(glam(&half)), &ray)?;
    }

    #[test]
    fn rays_meet_cylinders_cones_and_capsules_where_parry_does(
        (from, along) in aimed(), height in 0.05..1.0, radius in 0.05..1.0,
    ) {
        let ray = ray(from, along);
        same_as_parry(&Shape::round(Round::cylinder(height, radius), 0.1), &Cylinder::new(height, radius), &ray)?;
        same_as_parry(&Shape::round(Round::capsule(height, radius), 0.1), &Capsule::new_y(height, radius), &ray)?;
        // a cone is about its center of mass
        let lifted = Ray { from: ray.from + Vector3::y() * (0.5 * height), ..ray };
        let cone = Shape::round(Round::cone(height, radius), 0.1);
        let line = query::Ray::new(glam(&lifted.from.coords), glam(&along));
        let shift = Isometry3::translation(0.0, 0.5 * height, 0.0);
        let wanted = Cone::new(height, radius).cast_ray(&glam_pose(&shift), &line, 100.0, true);
        let found = cone.cast_ray(&lifted);
        if let (Some(wanted), Some(found)) = (wanted, found) {
            prop_assert!((wanted - found.distance).abs() < 1e-4, "{} for {}", found.distance, wanted);
        }
        // parry misses some tangents of cones
        if let Some(found) = found {
            prop_assert!(cone.field().distance(&found.point).abs() < 1e-9);
        } else {
            let samples = (0..2000).map(|n| lifted.at(f64::from(n) * 0.005));
            let least = samples.map(|p| cone.field().distance(&p)).fold(1.0, f64::min);
            prop_assert!(least > -1e-3, "{}", least);
        }
    }

    #[test]
    fn rays_meet_hulls_and_meshes_where_parry_does((from, along) in aimed(), points in corners()) {
        let ray = ray(from, along);
        let Some((shape, hull)) = convex(&points) else { return Ok(()) };
        let (vertices, triangles) = parry_mesh(hull.mesh());
        let Some(other) = ConvexPolyhedron::from_convex_mesh(vertices.clone(), &triangles) else { return Ok(()) };
        same_as_parry(&shape, &other, &ray)?;
        let mesh = Shape::mesh(Arc::new(Triangles::new(hull.mesh(), f64::INFINITY).unwrap()));
        same_as_parry(&mesh, &Mesh::new(vertices, triangles).unwrap(), &ray)?;
    }

    #[test]
    fn a_ray_meets_the_first_part_of_a_union_and_samples_to_their_accuracy((from, along) in aimed(), shift in vector(0.8)) {
        let ray = ray(from, along);
        let half = Vector3::new(0.3, 0.5, 0.4);
        let corners = |at: Vector3<f64>| Aabb { min: Point3::from(at - half), max: Point3::from(at + half) }.corners();
        let hulls = [Vector3::zeros(), shift].map(|at| ConvexHull::new(&corners(at)).unwrap());
        let union = Shape::union(&hulls, 0.1, &Isometry3::identity()).unwrap();
        let one = Shape::cuboid(half, 0.1);
        let parts = [Vector3::zeros(), shift].map(|at| one.cast_ray(&Ray { from: ray.from - at, ..ray }));
        let wanted = parts.into_iter().flatten().map(|hit| hit.distance).reduce(f64::min);
        let found = union.cast_ray(&ray).map(|hit| hit.distance);
        prop_assert_eq!(wanted.is_some(), found.is_some());
        prop_assert!((wanted.unwrap_or(0.0) - found.unwrap_or(0.0)).abs() < 1e-9);

        let spacing = 0.04;
        let sphere = Solid::Sphere { radius: 0.7 };
        let bounds = Aabb { min: Point3::from([-0.7; 3]), max: Point3::from([0.7; 3]) };
        let grid = Grid::enclosing(&bounds, spacing, 2, Grid::MAX_NODES).unwrap();
        let level_set = LevelSet::from_fn(grid, |p| sphere.distance(&p));
        let points = level_set.surface_particles(spacing);
        let sampled = Shape::grid(level_set, &points, Isometry3::translation(0.1, 0.0, 0.0));
        let exact = Shape::ball(0.7).cast_ray(&Ray { from: ray.from + Vector3::x() * 0.1, ..ray });
        let found = sampled.cast_ray(&ray);
        if let Some(exact) = exact {
            let steep = -exact.normal.dot(&along);
            let hit = found.filter(|_| steep > 0.2);
            prop_assert!(hit.is_some() || steep <= 0.2);
            if let Some(hit) = hit {
                prop_assert!((hit.distance - exact.distance).abs() < 0.05 * spacing / steep);
                prop_assert!((hit.normal - exact.normal).norm() < 0.05);
            }
        }
    }

    /// A ball touches the shape at its final position, and not before.
    #[test]
    fn a_moving_ball_stops_where_it_touches(
        (from, along) in aimed(), points in corners(), radius in 0.02..0.6, height in 0.05..1.0, kind in 0..6,
        turn in rotation(),
    ) {
        let Some((hull, solid)) = convex(&points) else { return Ok(()) };
        let shape = match kind {
            0 => Shape::round(Round::cylinder(height, 0.4), 0.1),
            1 => Shape::round(Round::cone(height, 0.4), 0.1),
            2 => Shape::round(Round::capsule(height, 0.3), 0.1),
            3 => Shape::cuboid(Vector3::new(0.6, height, 0.2), 0.1),
            4 => Shape::mesh(Arc::new(Triangles::new(solid.mesh(), f64::INFINITY).unwrap())),
            _ => hull,
        };
        let place = Isometry3::from_parts(Translation3::identity(), turn);
        let gap = |distance: f64| {
            let center = Point3::from(from + along * distance);
            shape.field().distance(&place.inverse_transform_point(&center)) - radius
        };
        let start = Isometry3::translation(from.x, from.y, from.z);
        let way = Sweep { along: UnitVector3::new_unchecked(along), max_distance: 6.0 };
        let (ball, solid) = (Shape::ball(radius), shape.at(&place));
        let hit = ball.at(&start).sweep(&way, &solid);
        let end = hit.map_or(6.0, |hit| hit.distance);
        for n in 0..100 {
            prop_assert!(gap(end * f64::from(n) / 100.0) > -1e-8 || end == 0.0);
        }
        if let Some(hit) = hit.filter(|hit| hit.distance > 0.0) {
            prop_assert!(gap(end).abs() < 1e-8, "{}", gap(end));
            let center = Point3::from(from + along * end);
            prop_assert!((center - hit.normal * radius - hit.point).norm() < 1e-4);
        }
        // the same cast with the shape as the moving body
        let other = solid.sweep(&Sweep { along: -way.along, ..way }, &ball.at(&start));
        prop_assert_eq!(other.is_some(), hit.is_some());
        prop_assert!((other.map_or(6.0, |hit| hit.distance) - end).abs() < 1e-7);
    }

    #[test]
    fn moving_boxes_and_hulls_meet_and_overlap_where_those_of_parry_do(
        (from, along) in aimed(), turns in [rotation(), rotation()], half in vector(0.5), points in corners(),
        near in pose(),
    ) {
        let half = half.abs().add_scalar(0.05);
        let Some((shape, hull)) = convex(&points) else { return Ok(()) };
        let (vertices, triangles) = parry_mesh(hull.mesh());
        let Some(other) = ConvexPolyhedron::from_convex_mesh(vertices, &triangles) else { return Ok(()) };
        let place = Isometry3::from_parts(Translation3::identity(), turns[0]);
        let start = Isometry3::from_parts(Translation3::from(from), turns[1]);
        let (own, theirs) = (Shape::cuboid(half, 0.1), Cuboid::new(glam(&half)));
        let solid = shape.at(&place);
        let [p, q] = [glam_pose(&start), glam_pose(&place)];
        let apart = signed((&p, &theirs), (&q, &other));
        prop_assert!(own.at(&start).overlaps(&solid) == (apart <= 0.0) || apart.abs() < 1e-9, "{}", apart);
        let options = ShapeCastOptions::with_max_time_of_impact(6.0);
        let wanted = query::cast_shapes(&p, glam(&along), &theirs, &q, Vector::ZERO, &other, options).unwrap();
        let way = Sweep { along: UnitVector3::new_unchecked(along), max_distance: 6.0 };
        let found = own.at(&start).sweep(&way, &solid);
        let moved = |distance: f64| Translation3::from(along * distance) * start;
        match (wanted, found) {
            (Some(wanted), Some(found)) => {
                let error = (wanted.time_of_impact - found.distance).abs();
                prop_assert!(error < 1e-5, "{} for {}", found.distance, wanted.time_of_impact);
                prop_assert!(found.distance == 0.0 || shape.field().distance(&place.inverse_transform_point(&found.point)).abs() < 1e-7);
            }
            (None, None) => {}
            (Some(hit), None) => prop_assert!(!own.at(&moved(hit.time_of_impact + 1e-4)).overlaps(&solid)),
            (None, Some(hit)) => prop_assert!(!own.at(&moved(hit.distance + 1e-4)).overlaps(&solid)),
        }
        let near = Isometry3::from_parts((near.translation.vector * 0.1).into(), near.rotation);
        let apart = signed((&glam_pose(&near), &theirs), (&q, &other));
        prop_assert!(own.at(&near).overlaps(&solid) == (apart <= 0.0) || apart.abs() < 1e-9);
        // parry's depth is that of its expanding polytope
        let depth = own.at(&near).penetration(&solid);
        prop_assert!((depth - (-apart).max(0.0)).abs() < 1e-5, "{} for {}", depth, -apart);
        let ball = signed((&glam_pose(&near), &Ball::new(0.2)), (&q, &other));
        prop_assert!(Shape::ball(0.2).at(&near).overlaps(&solid) == (ball <= 0.0) || ball.abs() < 1e-9);
        let depth = Shape::ball(0.2).at(&near).penetration(&solid);
        prop_assert!((depth - (-ball).max(0.0)).abs() < 1e-5, "{} for {}", depth, -ball);
    }

    /// A box falls on a plane and on samples by its lowest corner.
    #[test]
    fn a_box_that_falls_stops_at_its_lowest_corner(turn in rotation(), half in vector(0.5), height in 1.0..3.0) {
        let half = half.abs().add_scalar(0.05);
        let start = Isometry3::from_parts(Translation3::new(0.0, height, 0.0), turn);
        let lowest = Aabb { min: (-half).into(), max: half.into() }.corners().map(|p| (start * p).y);
        let wanted = lowest.into_iter().fold(f64::INFINITY, f64::min);
        let own = Shape::cuboid(half, 0.1);
        let down = -Vector3::y_axis();
        let (half_space, level) = (Shape::half_space(), Isometry3::identity());
        let plane = half_space.at(&level);
        let fall = Sweep { along: down, max_distance: 9.0 };
        let hit = own.at(&start).sweep(&fall, &plane).unwrap();
        prop_assert!((hit.distance - wanted).abs() < 1e-12);
        prop_assert_eq!((hit.normal, hit.point.y.abs() < 1e-12), (Vector3::y(), true));
        prop_assert!(!own.at(&start).overlaps(&plane));
        prop_assert_eq!(own.at(&start).penetration(&plane), 0.0);
        let sunk = Translation3::new(0.0, -hit.distance - 0.02, 0.0) * start;
        prop_assert!((own.at(&sunk).penetration(&plane) - 0.02).abs() < 1e-12);
        prop_assert!((plane.penetration(&own.at(&sunk)) - 0.02).abs() < 1e-12);

        let size = Vector3::new(1.0, 0.2, 1.0);
        let grid = Grid::enclosing(&Aabb { min: (-size).into(), max: size.into() }, 0.05, 2, Grid::MAX_NODES).unwrap();
        let slab = LevelSet::from_fn(grid, |p| Solid::Box { half_extents: size }.distance(&p));
        let points = slab.surface_particles(0.05);
        let slab = Shape::grid(slab, &points, Isometry3::identity());
        let place = Isometry3::translation(0.0, -0.2, 0.0);
        let (own, slab) = (own.at(&start), slab.at(&place));
        let hit = own.sweep(&fall, &slab).unwrap();
        prop_assert!((hit.distance - wanted).abs() < 0.01, "{} for {}", hit.distance, wanted);
        prop_assert!(hit.normal.y > 0.9);
        let moved = Translation3::new(0.0, -hit.distance - 0.02, 0.0) * start;
        prop_assert!(own.shape.at(&moved).overlaps(&slab) && !own.overlaps(&slab));
        let hit = slab.sweep(&Sweep { along: -down, ..fall }, &own).unwrap();
        prop_assert!((hit.distance - wanted).abs() < 0.01);
    }
}
