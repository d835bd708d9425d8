//! A stack of three boxes on the ground. The example composes a frame of the passes of this crate, then runs queries.
//!
//! `cargo run --release -p brisance-contact --example stack` drops the boxes from a height of a centimeter each, at
//! 30 Hz. After two seconds it prints the height of each box, the number of contacts, and the results of a ray cast,
//! an overlap test and a nearest-body query.
#![allow(clippy::print_stdout, reason = "an example that reports")]

use std::error::Error;
use std::sync::Arc;

use brisance_contact::dynamics::{Body, MassMoments, Momentum, Velocity};
use brisance_contact::nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use brisance_contact::{
    Bodies, Broad, Cache, Columns, Flight, Frame, Groups, Material, Paths, QueryTree, Ray,
    Settings, Shape, StrengthQuery,
};

const DT: f64 = 1.0 / 30.0;
const FRAMES: usize = 60;
const GRAVITY: Vector3<f64> = Vector3::new(0.0, -9.81, 0.0);
/// Edge of a box, m, and its mass, kg.
const EDGE: f64 = 0.2;
const MASS: f64 = 8.0;

/// Bodies as columns, and the state that one frame passes to the next.
struct World {
    bodies: Vec<Body>,
    shapes: Vec<Arc<Shape>>,
    materials: Vec<Material>,
    groups: Vec<Groups>,
    names: Vec<u64>,
    poses: Vec<Isometry3<f64>>,
    momenta: Vec<Momentum>,
    cache: Cache,
    broad: Broad,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut world = stack(3)?;
    let mut contacts = 0;
    for _ in 0..FRAMES {
        contacts = world.step();
    }
    for (name, (pose, momentum)) in world.poses.iter().zip(&world.momenta).enumerate().skip(1) {
        let (height, speed) = (pose.translation.y, momentum.linear.norm() / MASS);
        println!("box {name}: center at {height:.4} m, {speed:.1e} m/s");
    }
    println!("{contacts} contacts");
    print_queries(&world);
    Ok(())
}

/// The ground, and boxes above each other with a gap of a centimeter.
fn stack(count: usize) -> Result<World, Box<dyn Error>> {
    let half = Vector3::repeat(EDGE / 2.0);
    let moments = MassMoments::cuboid(MASS, &Point3::origin(), &Vector3::repeat(EDGE));
    let (mass, _) = moments.mass_properties()?;
    let cuboid = Arc::new(Shape::cuboid(half, EDGE / 4.0));
    let heights = (0..count).map(|n| 0.01 + EDGE / 2.0 + n as f64 * (EDGE + 0.01));
    let ground = Isometry3::identity();
    let poses = heights.map(|y| Isometry3::translation(0.0, y, 0.0));
    Ok(World {
        bodies: [vec![Body::Static], vec![Body::Dynamic(mass); count]].concat(),
        shapes: [vec![Arc::new(Shape::half_space())], vec![cuboid; count]].concat(),
        materials: vec![Material::default(); count + 1],
        groups: vec![Groups::default(); count + 1],
        names: (0..=count as u64).collect(),
        poses: std::iter::once(ground).chain(poses).collect(),
        momenta: vec![Momentum::default(); count + 1],
        cache: Cache::default(),
        broad: Broad::default(),
    })
}

impl World {
    /// One frame: collide, move, contact. Returns the number of contacts.
    fn step(&mut self) -> usize {
        let columns = Columns {
            bodies: &self.bodies,
            shapes: &self.shapes,
            materials: &self.materials,
            groups: &self.groups,
        };
        let half_kick = self.half_kick();
        let frame = Frame {
            columns,
            poses: &self.poses,
            half_kick: &half_kick,
            flights: &[],
            dt: DT,
            joints: &[],
            cache: &self.cache,
            names: &self.names,
            settings: &Settings::default(),
        };
        // Bodies that collide within the step rebound; no body breaks.
        let mut search = frame.search(&self.momenta, std::mem::take(&mut self.broad));
        let (poses, momenta) = (self.poses.clone(), self.momenta.clone());
        let flights = vec![Flight::default(); poses.len()];
        let mut paths = Paths { poses, momenta, flights };
        let may_break = vec![false; self.bodies.len()];
        let strengths = &mut |_: &_, _| [f64::INFINITY; 2];
        let query = StrengthQuery { may_break: &may_break, strengths, max_deviated: usize::MAX };
        let done = frame.collide(search.contacts(), &mut paths, query);

        // The first contact pass computes the final poses from the forces of half a step.
        let frame = Frame { poses: &paths.poses, flights: &paths.flights, ..frame };
        frame.follow(&mut search, &paths.momenta, &done.shifts);
        let mut support = frame.support(&search, &paths.momenta);
        let mut half = pushed(&self.bodies, &paths.momenta, DT / 2.0);
        support.settle_positions(frame, &mut half);
        let push = support.push_out(frame, &half);
        let mut end: Vec<_> = frame.predict(&half).iter().zip(&push).map(moved).collect();
        let shifts = support.project(frame, &half, || end.clone());
        end.iter_mut().zip(shifts).for_each(|(pose, shift)| pose.translation.vector += shift);

        // A second contact pass computes the final velocities. It uses the forces of the whole step.
        let mut momenta = pushed(&self.bodies, &paths.momenta, DT);
        support.settle_velocities(Frame { poses: &end, ..frame }, &paths.poses, &mut momenta);
        self.cache = support.cache(&self.names);
        self.broad = search.into_broad();
        (self.poses, self.momenta) = (end, momenta);
        support.contacts()
    }

    /// The change of each velocity by gravity in half a step.
    fn half_kick(&self) -> Vec<Velocity> {
        let of = |body: &Body| match body {
            Body::Dynamic(_) => Velocity { linear: GRAVITY * (DT / 2.0), ..Velocity::default() },
            Body::Static | Body::Kinematic(_) => Velocity::default(),
        };
        self.bodies.iter().map(of).collect()
    }
}

/// The momenta after gravity has acted for a time, s.
fn pushed(bodies: &[Body], momenta: &[Momentum], time: f64) -> Vec<Momentum> {
    let push = |(body, momentum): (&Body, &Momentum)| {
        let mass = body.mass_properties().map_or(0.0, |mass| mass.mass());
        Momentum { linear: momentum.linear + GRAVITY * (mass * time), ..*momentum }
    };
    bodies.iter().zip(momenta).map(push).collect()
}

/// A pose pushed out of overlap.
fn moved((pose, push): (&Isometry3<f64>, &Velocity)) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_scaled_axis(push.angular);
    let place = Translation3::from(pose.translation.vector + push.linear);
    Isometry3::from_parts(place, turn * pose.rotation)
}

/// Prints the results of a ray cast, an overlap test and a nearest-body query.
fn print_queries(world: &World) {
    let tree = QueryTree::new(&world.shapes, &world.poses);
    let all = |_| true;
    let (shapes, poses) = (&world.shapes[..], &world.poses[..]);
    let bodies = Bodies { shapes, poses, tree: &tree, wanted: &all };
    let down =
        Ray { from: Point3::new(0.0, 5.0, 0.0), along: -Vector3::y_axis(), max_distance: 10.0 };
    if let Some((body, impact)) = bodies.cast_ray(&down) {
        println!("a ray from 5 m meets body {body} after {:.4} m", impact.distance);
    }
    let ball = Shape::ball(0.15);
    let at = Isometry3::translation(0.2, 0.3, 0.0);
    println!("a ball of 0.15 m beside the stack overlaps {:?}", bodies.overlapping(&ball.at(&at)));
    if let Some((body, near)) = bodies.nearest(&Point3::new(1.0, 0.3, 0.0), 2.0) {
        println!("the nearest to (1, 0.3, 0) is body {body}, {:.4} m away", near.distance);
    }
}
