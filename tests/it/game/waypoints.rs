//! Poses at the impacts within a frame, in a world and in its recordings.

use brisance::format::Format;
use brisance::format::glb::read_glb;
use contact::{Material, Shape};
use dynamics::{Body, Velocity};
use gltf::animation::Property;
use gltf::animation::util::ReadOutputs;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use sim::{BodyId, NewBody, Recorder, Settings, Waypoint, World};

use super::{DT, ball, body, floor, struck_brick};

#[test]
fn what_bounces_within_a_frame_is_shown_to_touch() {
    let mut world = World::new(Settings { gravity: Vector3::zeros(), ..Settings::default() });
    let material = Material { restitution: 0.5, friction: 0.0, ..Material::default() };
    let ground = body(Body::Static, Shape::half_space(), Isometry3::identity());
    world.add(NewBody { material, ..ground }).unwrap();
    let velocity = Velocity { linear: Vector3::new(1.0, -6.0, 0.0), ..Velocity::default() };
    let ball = NewBody { velocity, material, ..ball(0.1, [0.0, 0.34, 0.0]) };
    let id = world.add(ball).unwrap();
    // the ball is 0.24 m above the floor, and approaches by 0.2 m a frame
    world.step();
    assert_eq!(world.waypoints(id), []);
    world.step();
    let [waypoint] = world.waypoints(id) else { panic!("it bounced once") };
    assert!((waypoint.share - 0.2).abs() < 1e-9, "{waypoint:?}");
    let height = |t: f64| world.interpolated_pose(id, t).unwrap().translation.y;
    // the ball leaves at half the speed
    for (t, wanted) in [(0.0, 0.14), (0.1, 0.12), (0.2, 0.1), (0.6, 0.14), (1.0, 0.18)] {
        assert!((height(t) - wanted).abs() < 1e-9, "{} m at {t}", height(t));
    }
    world.step();
    assert_eq!(world.waypoints(id), []);
}

/// A ball that strikes both planes of a wedge within a frame, and its positions relative to the edge at the fractions
/// 0, 0.4, 0.6 and 1 of that frame. The planes are perpendicular, and rotated about the edge by half a radian.
fn wedge() -> (World, BodyId, [(f64, Vector3<f64>); 4]) {
    let mut world = World::new(Settings { gravity: Vector3::zeros(), ..Settings::default() });
    let material = Material { restitution: 0.5, friction: 0.0, ..Material::default() };
    let turn = |angle: f64| UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle);
    let tilt = turn(0.5);
    for angle in [0.5, 0.5 - std::f64::consts::FRAC_PI_2] {
        let pose = Isometry3::from_parts(Vector3::zeros().into(), turn(angle));
        let plane = body(Body::Static, Shape::half_space(), pose);
        world.add(NewBody { material, ..plane }).unwrap();
    }
    // 0.2 m a frame towards each; half as much away from it
    let at = [(0.0, [0.22, 0.18]), (0.4, [0.14, 0.1]), (0.6, [0.1, 0.12]), (1.0, [0.14, 0.16])];
    let at = at.map(|(share, [x, y])| (share, tilt * Vector3::new(x, y, 0.3)));
    let velocity = Velocity { linear: tilt * Vector3::new(-6.0, -6.0, 0.0), ..Velocity::default() };
    let ball = NewBody { velocity, material, ..ball(0.1, at[0].1.into()) };
    let id = world.add(ball).unwrap();
    (world, id, at)
}

#[test]
fn a_ball_that_strikes_both_planes_of_a_wedge_in_a_frame_is_shown_to_touch_both() {
    let (mut world, id, known) = wedge();
    world.step();
    let waypoints = world.waypoints(id);
    assert_eq!(waypoints.len(), 2);
    for (waypoint, (share, place)) in waypoints.iter().zip(&known[1..]) {
        assert!((waypoint.share - share).abs() < 1e-9, "{waypoint:?}");
        assert!((waypoint.pose.translation.vector - place).norm() < 1e-9, "{waypoint:?}");
    }
    for pair in known.windows(2) {
        let [(from, start), (to, end)] = [pair[0], pair[1]];
        for along in [0.0, 0.25, 0.5, 1.0] {
            let pose = world.interpolated_pose(id, from + along * (to - from)).unwrap();
            let wanted = start + (end - start) * along;
            assert!((pose.translation.vector - wanted).norm() < 1e-9, "{pose} at {along}");
        }
    }
}

#[test]
fn recordings_hold_where_a_ball_struck_both_planes_of_a_wedge_in_a_frame() {
    let (mut world, _, known) = wedge();
    let mut recorder = Recorder::new(&world, &[]);
    for _ in 0..2 {
        let report = world.step();
        recorder.record(&world, &report);
    }
    let recording = recorder.finish();
    let folder = tempfile::tempdir().unwrap();
    let path = |ending: &str| folder.path().join(format!("wedge.{ending}"));
    for ending in ["glb", "usda"] {
        Format::of(&path(ending)).unwrap().write(&recording, &path(ending)).unwrap();
    }
    // the translation keys of the last node, as any glTF reader reads them
    let file = gltf::Gltf::open(path("glb")).unwrap();
    let blob = file.blob.as_deref();
    let mut channels = file.animations().flat_map(|animation| animation.channels());
    let channel = channels.find(|channel| channel.target().property() == Property::Translation);
    let reader = channel.as_ref().unwrap().reader(|_| blob);
    let times: Vec<f32> = reader.read_inputs().unwrap().collect();
    let Some(ReadOutputs::Translations(places)) = reader.read_outputs() else { panic!("no keys") };
    let keys: Vec<_> = times.iter().map(|&time| f64::from(time) / DT).zip(places).collect();
    assert_eq!(keys.len(), 5);
    for ((time, place), (share, wanted)) in keys.iter().zip(&known) {
        assert!((time - share).abs() < 1e-6, "{time}");
        assert!((Vector3::from(*place).cast() - wanted).norm() < 1e-6, "{place:?} at {share}");
    }
    let back = read_glb(&std::fs::read(path("glb")).unwrap()).unwrap();
    let waypoints = &back.tracks[2].waypoints;
    assert_eq!(waypoints.len(), 2);
    for (waypoint, (share, wanted)) in waypoints.iter().zip(&known[1..]) {
        assert!((waypoint.time - share).abs() < 1e-6, "{waypoint:?}");
        assert!((waypoint.pose.translation.vector - wanted).norm() < 1e-6, "{waypoint:?}");
    }
    let text = std::fs::read_to_string(path("usda")).unwrap();
    let samples = text.rsplit("xformOp:translate.timeSamples").next().unwrap();
    let time = |line: &str| line.trim().split_once(": (").and_then(|(time, _)| time.parse().ok());
    let times: Vec<f64> = samples.lines().skip(1).map_while(time).collect();
    assert_eq!(times.len(), 5, "{text}");
    assert!(times.iter().zip([0.0, 0.4, 0.6, 1.0, 2.0]).all(|(a, b)| (a - b).abs() < 1e-6));
}

#[test]
fn of_many_blows_in_a_frame_the_first_and_the_last_are_shown() {
    let mut world = World::new(Settings { gravity: Vector3::zeros(), ..Settings::default() });
    let material = Material { restitution: 1.0, friction: 0.0, ..Material::default() };
    for side in [-1.0, 1.0] {
        let turn =
            UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -side * 0.5 * std::f64::consts::PI);
        let pose = Isometry3::from_parts(Vector3::new(-0.11 * side, 0.0, 0.0).into(), turn);
        world.add(NewBody { material, ..body(Body::Static, Shape::half_space(), pose) }).unwrap();
    }
    // the ball has 2 cm between two walls, and moves 24 cm a frame
    let velocity = Velocity { linear: Vector3::new(7.2, 0.0, 0.0), ..Velocity::default() };
    let id = world.add(NewBody { velocity, material, ..ball(0.1, [0.0; 3]) }).unwrap();
    world.step();
    let waypoints = world.waypoints(id);
    assert_eq!(waypoints.len(), Waypoint::MAX);
    for (n, waypoint) in waypoints.iter().enumerate() {
        let n = if n + 1 == Waypoint::MAX { 11 } else { n };
        let wanted = if n % 2 == 0 { 0.01 } else { -0.01 };
        assert!(
            (waypoint.share - (0.01 + 0.02 * n as f64) / 0.24).abs() < 1e-6,
            "{n}: {waypoint:?}"
        );
        assert!((waypoint.pose.translation.x - wanted).abs() < 1e-6, "{n}: {waypoint:?}");
    }
}

#[test]
fn pieces_are_shown_as_the_whole_until_the_blow() {
    let mut world = World::new(Settings::default());
    floor(&mut world);
    let (brick, _) = struck_brick(&mut world);
    let whole = loop {
        let before = *world.get(brick).expect("it broke once").pose;
        if !world.step().events.fractures.is_empty() {
            break before;
        }
    };
    let is_piece = |id: BodyId| world.get(id).is_some_and(|state| state.lineage.is_some());
    let pieces: Vec<BodyId> =
        world.iter().map(|state| state.id).filter(|&id| is_piece(id)).collect();
    let center = |t: f64| {
        let mut sum = (0.0, Vector3::zeros());
        for &piece in &pieces {
            let mass = world.get(piece).unwrap().body.mass_properties().unwrap().mass();
            let pose = world.interpolated_pose(piece, t).unwrap();
            sum = (sum.0 + mass, sum.1 + pose.translation.vector * mass);
        }
        sum.1 / sum.0
    };
    let share = world.waypoints(pieces[0]).first().expect("it was struck").share;
    assert!(pieces.len() > 2 && share > 0.0);
    // the body was at rest
    for t in [0.0, 0.5 * share, share] {
        assert!((center(t) - whole.translation.vector).norm() < 1e-3, "{} at {t}", center(t));
    }
    assert!((center(1.0) - whole.translation.vector).norm() > 0.01, "{}", center(1.0));
}
