//! A game loop: display at 60 Hz over physics at 30 Hz, shots where a ray meets something, contacts, pieces.
//!
//! `cargo run --release -p brisance-sim --example game` prints what happens. Two walls of china stand on a floor;
//! a player looks at one after the other and shoots a steel ball at what is in sight.
#![allow(clippy::print_stdout, reason = "a game without a screen tells what happens")]

use std::collections::BTreeMap;
use std::error::Error;

use brisance_sim::dynamics::Velocity;
use brisance_sim::nalgebra::{Isometry3, Point3, UnitVector3};
use brisance_sim::scene::Scene;
use brisance_sim::{BodyId, Filter, NewBody, Report, World, build};

const SCENE: &str = r#"version = 1
pattern.shards.voronoi = { pieces = 25 }
[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "left wall"
material = "china"
shape = { box = { half_extents = [0.6, 0.5, 0.06], spacing = 0.03 } }
position = [-1, 0.5, -4]
fracture = { pattern = "shards", break_impulse = 20, generations = 1 }
[[body]]
name = "right wall"
material = "china"
shape = { box = { half_extents = [0.6, 0.5, 0.06], spacing = 0.03 } }
position = [1, 0.5, -4]
fracture = { pattern = "shards", break_impulse = 20, generations = 1 }
"#;

/// What user data of bodies refer to.
const THINGS: [&str; 4] = ["floor", "left wall", "right wall", "ball"];
const BALL: u64 = 3;
const DISPLAY: f64 = 1.0 / 60.0;
const EYE: Point3<f64> = Point3::new(0.0, 1.6, 2.0);
/// m.
const RADIUS: f64 = 0.06;
/// Impulse above which a contact is reported, N s.
const HARD: f64 = 10.0;
/// m/s.
const SPEED: f64 = 25.0;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut world, _) = build(&Scene::from_toml(SCENE)?, &BTreeMap::new())?;
    let ids: Vec<BodyId> = world.iter().map(|state| state.id).collect();
    for (number, id) in (0..).zip(ids) {
        world.set_user_data(id, Some(number));
    }
    world.set_contact_events(true);

    let physics = world.settings().dt;
    let mut ahead = 0.0;
    for picture in 0..150 {
        match picture {
            10 => shoot(&mut world, &Point3::new(-1.0, 0.6, -4.0))?,
            60 => shoot(&mut world, &Point3::new(1.1, 0.5, -4.0))?,
            _ => {}
        }
        ahead += DISPLAY;
        while ahead >= physics {
            ahead -= physics;
            let report = world.step();
            tell(&world, &report);
        }
        draw(&world, picture, ahead / physics);
    }
    Ok(())
}

/// Shoots a ball at what is first in sight towards a place.
fn shoot(world: &mut World, at: &Point3<f64>) -> Result<(), Box<dyn Error>> {
    let sight = UnitVector3::try_new(at - EYE, 0.0).ok_or("look somewhere")?;
    let walls = |id| world.user_data(id) != Some(BALL);
    let Some(seen) = world.cast_ray(&EYE, &sight, 100.0, &Filter::only(&walls)) else {
        return Ok(());
    };
    println!("shot at the {}, {:.2} m away", name(world, seen.body), seen.distance);
    let ball = NewBody::ball(RADIUS, 7800.0)?.at(&Isometry3::translation(EYE.x, EYE.y, EYE.z));
    let linear = (seen.point - EYE).normalize() * SPEED;
    let ball =
        world.add(NewBody { velocity: Velocity { linear, ..Velocity::default() }, ..ball })?;
    world.set_user_data(ball, Some(BALL));
    Ok(())
}

/// Prints what broke and which hard contacts began in a frame.
fn tell(world: &World, report: &Report) {
    let frame = report.frame;
    for event in &report.events.fractures {
        let first = event.fragments.first();
        let thing = first.map_or("something", |&piece| name(world, piece));
        let count = event.fragments.len();
        println!("frame {frame}: the {thing} broke into {count} pieces at {:.2}", event.point);
    }
    let events = &report.events.contacts;
    for touching in &events.touching {
        let [a, b] = touching.bodies.map(|id| name(world, id));
        let began = events.began.binary_search(&touching.bodies).is_ok();
        if began && touching.impulse > HARD && a != b {
            println!(
                "frame {frame}: {a} and {b} meet at {:.2} with {:.0} N s",
                touching.point, touching.impulse
            );
        }
    }
}

/// Would draw all bodies; now and then tells where the highest is.
fn draw(world: &World, picture: u32, share: f64) {
    let heights = world.interpolated(share).skip(1).map(|(id, pose)| (pose.translation.y, id));
    let Some((height, id)) = heights.reduce(|p, q| if q.0 > p.0 { q } else { p }) else { return };
    if picture.is_multiple_of(30) {
        let count = world.len();
        println!(
            "picture {picture}: {count} bodies, the highest is {} at {height:.2} m",
            name(world, id)
        );
    }
}

fn name(world: &World, id: BodyId) -> &'static str {
    let thing = world.user_data(id).and_then(|number| THINGS.get(number as usize));
    thing.copied().unwrap_or("unknown")
}
