//! Balls on sampled solids against closed forms.

use std::sync::Arc;

use brisance_tests::properties;
use contact::{Settings, Shape};
use dynamics::{Body, Velocity};
use levelset::{Aabb, Grid, LevelSet};
use nalgebra::{Isometry3, Point3, Unit, UnitQuaternion, Vector3};
use proptest::prelude::*;
use sim::{BodyId, NewBody, World};

use crate::contact_scenes::{
    GRAVITY, at, ball, material, place, steps_without_gain, weightless, world,
};

/// A static solid sampled in a box of 8 x 1 x 8 m below its surface.
fn solid(distance: impl Fn(Point3<f64>) -> f64, spacing: f64) -> NewBody {
    let bounds = Aabb { min: Point3::new(-4.0, -1.0, -4.0), max: Point3::new(4.0, 0.2, 4.0) };
    let grid = Grid::enclosing(&bounds, spacing, 2, Grid::MAX_NODES).unwrap();
    let samples = Arc::new(LevelSet::from_fn(grid, distance));
    let points = samples.surface_particles(spacing);
    let shape = Shape::grid(Arc::clone(&samples), &points, Isometry3::identity());
    NewBody {
        body: Body::Static,
        shape: Arc::new(shape),
        ..ball(1.0, 1.0, at(0.0, 0.0, 0.0), material(0.0, 1.0))
    }
}

fn speed(world: &World, id: BodyId, mass: f64) -> Vector3<f64> {
    world.get(id).unwrap().momentum.linear / mass
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Down an incline a ball rolls with 5/7 of `g sin` of the angle, for any ratio of its radius to the sample spacing.
    #[test]
    fn a_ball_rolls_down_a_sampled_incline(
        radius in 0.05..0.8f64,
        spacing in 0.08..0.25,
        angle in 0.02..0.3f64,
        heading in 0.0..6.2f64,
        offset in 0.0..0.1f64,
    ) {
        let mut world = world(Settings::default());
        let tilt: UnitQuaternion<f64> = UnitQuaternion::from_axis_angle(
            &Unit::new_normalize(Vector3::new(heading.cos(), 0.0, heading.sin())),
            angle,
        );
        let ground = solid(|p| p.y, spacing);
        world.add(NewBody { pose: Isometry3::from_parts(Vector3::zeros().into(), tilt), ..ground }).unwrap();
        let start: Vector3<f64> = tilt * Vector3::new(offset, radius, -offset);
        let id = world.add(ball(radius, 2.0, at(start.x, start.y, start.z), material(0.0, 1.0))).unwrap();
        steps_without_gain(&mut world, 20);
        let along = tilt * Vector3::y();
        let down = (along * along.y - Vector3::y()).normalize();
        let expected = down * (5.0 / 7.0 * GRAVITY * angle.sin() * 20.0 / 30.0);
        let found = speed(&world, id, 2.0);
        prop_assert!((found - expected).norm() < 2e-3 * expected.norm(), "{found} for {expected}");
        let height = along.dot(&place(&world, id)) - radius;
        prop_assert!(height.abs() < 1e-3 * radius, "{height} m above the incline");
    }

    /// In a groove of 90 degrees a ball touches both walls, and rolls on without loss.
    #[test]
    fn a_ball_rolls_along_a_sampled_groove(
        radius in 0.15..0.6f64,
        share in 0.15..0.5f64,
        velocity in -1.0..1.0f64,
    ) {
        let mut world = world(Settings::default());
        let walls = |p: Point3<f64>| (p.y + 0.9 + p.x).min(p.y + 0.9 - p.x) * 0.5f64.sqrt();
        world.add(solid(walls, (share * radius).max(0.06))).unwrap();
        let height = radius * 2f64.sqrt() - 0.9;
        let rolling = NewBody {
            velocity: Velocity {
                linear: Vector3::z() * velocity,
                angular: Vector3::x() * (velocity / (radius * 0.5f64.sqrt())),
            },
            ..ball(radius, 2.0, at(0.0, height, 0.0), material(0.0, 1.0))
        };
        let id = world.add(rolling).unwrap();
        steps_without_gain(&mut world, 45);
        let expected = Vector3::new(0.0, height, 1.5 * velocity);
        let off = (place(&world, id) - expected).norm();
        prop_assert!(off < 5e-3 * radius + 3e-3 * velocity.abs(), "{off} m off");
    }
}

/// A ball as heavy as another one, which is sampled, takes its whole speed in an elastic central impact.
#[test]
fn a_sampled_ball_and_a_ball_exchange_their_speeds() {
    let radius = 0.5;
    for spacing in [0.06, 0.1, 0.2] {
        let mut world = weightless(Settings::default());
        let half = Vector3::repeat(radius);
        let bounds = Aabb { min: Point3::from(-half), max: half.into() };
        let grid = Grid::enclosing(&bounds, spacing, 2, Grid::MAX_NODES).unwrap();
        let samples = Arc::new(LevelSet::from_fn(grid, |p| p.coords.norm() - radius));
        let points = samples.surface_particles(spacing);
        let shape = Shape::grid(Arc::clone(&samples), &points, Isometry3::identity());
        let surface = material(1.0, 0.0);
        let sampled = NewBody {
            shape: Arc::new(shape),
            velocity: Velocity { linear: Vector3::new(3.0, 0.0, 0.0), ..Velocity::default() },
            ..ball(radius, 2.0, at(-1.3, 0.0, 0.0), surface)
        };
        let striker = world.add(sampled).unwrap();
        let target = world.add(ball(radius, 2.0, at(0.0, 0.0, 0.0), surface)).unwrap();
        steps_without_gain(&mut world, 8);
        let [left, right] = [striker, target].map(|id| speed(&world, id, 2.0));
        // ripples of the interpolated surface tilt the normal
        let off = left.norm().max((right - Vector3::x() * 3.0).norm());
        assert!(off < 1.5 * spacing, "{spacing}: {left} {right}");
    }
}
