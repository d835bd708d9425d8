//! A pile of random convex fragments: the same bodies for every engine.

use contact::{Material, Shape};
use dynamics::Body;
use levelset::{Aabb, ConvexHull, Grid, LevelSet};
use nalgebra::{Isometry3, Point3, Vector3};
use rapier3d::parry::{math::Vector, transformation::convex_hull};
use sim::{BodyId, NewBody, Settings, World, rigid};

/// Number of random points of a hull.
const POINTS: usize = 16;
/// Radius of the sphere of the points, m.
const RADIUS: f64 = 0.11;
/// Spacing of bodies in the initial block, m.
const SPACING: f64 = 0.25;
/// Mass per volume, kg/m^3.
const DENSITY: f64 = 2000.0;
/// Coulomb friction of everything.
pub const FRICTION: f64 = 0.5;

/// A convex fragment with its initial pose.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// Its corners, m.
    pub points: Vec<Vector3<f64>>,
    /// Initial pose of the coordinates of the corners.
    pub start: Isometry3<f64>,
    /// Mass, kg.
    pub mass: f64,
    body: NewBody,
    /// Transform from the coordinates of the corners to those of the body.
    frame: Isometry3<f64>,
}

/// Collision geometry of our bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollisionGeometry {
    /// Hulls, as in the other engines.
    Hulls,
    /// Samples and points, as for non-convex bodies.
    Samples,
}

/// Random convex hulls in a loose block above the ground. Equal arguments give equal fragments.
pub fn fragments(count: usize, geometry: CollisionGeometry) -> Vec<Fragment> {
    let edge = (count as f64).cbrt().floor() as usize;
    (0..count)
        .map(|i| {
            let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (i as u64 + 1).wrapping_mul(0xd129));
            let place = [i % edge, i / (edge * edge), i / edge % edge].map(|n| n as f64);
            let middle = Vector3::new(edge as f64 / 2.0, -0.8, edge as f64 / 2.0);
            let at = (Vector3::from(place) - middle) * SPACING + random.in_ball() * 0.02;
            let start = Isometry3::new(at, random.in_ball() * std::f64::consts::PI);
            fragment(&mut random, start, geometry)
        })
        .collect()
}

fn fragment(random: &mut Random, start: Isometry3<f64>, geometry: CollisionGeometry) -> Fragment {
    let drawn: Vec<Vector> = (0..POINTS)
        .map(|_| Vector::from_array((random.in_ball() * RADIUS).map(|x| x as f32).into()))
        .collect();
    let (corners, faces) = convex_hull(&drawn);
    let points: Vec<Vector3<f64>> =
        corners.iter().map(|p| Vector3::from(p.to_array().map(f64::from))).collect();
    let planes: Vec<(Vector3<f64>, f64)> = faces
        .iter()
        .filter_map(|f| {
            let [a, b, c] = f.map(|i| points[i as usize]);
            let normal = (b - a).cross(&(c - a)).try_normalize(1e-12)?;
            Some((normal, normal.dot(&a)))
        })
        .collect();
    let places: Vec<_> = points.iter().map(|p| Point3::from(*p)).collect();
    let bounds = Aabb::around(&places).expect("points are finite");
    let spacing = bounds.extents().max() / 11.0;
    let grid = Grid::enclosing(&bounds, spacing, 2, 1 << 15).expect("a small grid");
    let distance = |p: Point3<f64>| {
        planes.iter().map(|(n, d)| n.dot(&p.coords) - d).fold(f64::NEG_INFINITY, f64::max)
    };
    let level_set = LevelSet::from_fn(grid, distance);
    let hull = ConvexHull::new(&places).expect("the corners are those of a hull");
    let (mass, frame) = rigid(&level_set.moments(), DENSITY).expect("a hull has volume");
    // samples round corners off, so the corners are explicit
    let mut surface = places.clone();
    surface.extend(level_set.surface_particles(spacing));
    let shape = match geometry {
        CollisionGeometry::Hulls => Shape::convex(&hull, spacing, &frame).expect("few corners"),
        CollisionGeometry::Samples => Shape::grid(level_set, &surface, frame),
    };
    let body = NewBody {
        pose: start * frame,
        material: MATERIAL,
        ..NewBody::of(Body::Dynamic(mass), shape)
    };
    Fragment { points, start, mass: mass.mass(), body, frame }
}

const MATERIAL: Material = Material {
    restitution: 0.0,
    friction: FRICTION,
    restitution_rule: None,
    friction_rule: None,
    rolling_friction: 0.0,
    spinning_friction: 0.0,
};

/// The ground of a pile.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ground {
    /// A half-space.
    Plane,
    /// The top of a box of 200 x 2 x 200 m.
    Box,
}

impl Ground {
    fn shape(self) -> (Shape, f64) {
        match self {
            Self::Plane => (Shape::half_space(), 0.0),
            Self::Box => (Shape::cuboid(Vector3::new(100.0, 1.0, 100.0), 1.0), -1.0),
        }
    }
}

/// The pile as a `sim::World`, and the ids of the fragments.
pub fn world(fragments: &[Fragment], ground: Ground, settings: Settings) -> (World, Vec<BodyId>) {
    let mut world = World::new(settings);
    let (shape, height) = ground.shape();
    world
        .add(NewBody {
            pose: Isometry3::translation(0.0, height, 0.0),
            material: MATERIAL,
            ..NewBody::fixed(shape)
        })
        .unwrap();
    let ids = fragments.iter().map(|f| world.add(f.body.clone()).unwrap()).collect();
    (world, ids)
}

/// The pose of the coordinates of the corners of each fragment in `world`.
pub fn poses(fragments: &[Fragment], world: &World, ids: &[BodyId]) -> Vec<Isometry3<f64>> {
    let pose = |(f, id): (&Fragment, &BodyId)| {
        world.get(*id).map_or(f.start, |state| state.pose * f.frame.inverse())
    };
    fragments.iter().zip(ids).map(pose).collect()
}

/// Random numbers from a seed (xorshift64*).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn in_ball(&mut self) -> Vector3<f64> {
        loop {
            let p = Vector3::from_fn(|_, _| 2.0 * self.unit() - 1.0);
            if p.norm_squared() <= 1.0 {
                return p;
            }
        }
    }
}
