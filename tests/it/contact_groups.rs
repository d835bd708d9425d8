//! Collision groups.

use brisance_tests::properties;
use contact::{Groups, Material};
use dynamics::Body;
use nalgebra::{Isometry3, Vector3};
use proptest::prelude::*;
use sim::scene::{Scene, SceneError};
use sim::{NewBody, World};

use crate::contact_scenes::{at, both, cuboid, floor, place, steps, world};
use crate::sim::brick;

fn only(memberships: u32, filter: u32) -> Groups {
    Groups { memberships, filter }
}

properties! {
    #[test]
    fn meeting_is_mutual(a in any::<[u32; 2]>(), b in any::<[u32; 2]>()) {
        let (a, b) = (only(a[0], a[1]), only(b[0], b[1]));
        prop_assert_eq!(a.meet(&b), b.meet(&a));
        prop_assert!(Groups::default().meet(&Groups::default()));
        prop_assert!(!a.meet(&only(b.memberships, 0)));
    }
}

#[test]
fn bodies_of_groups_that_do_not_meet_pass_through_each_other() {
    for contact in both() {
        let run = |with_ghost: bool| {
            let mut world = world(contact);
            floor(&mut world, 0.0, Material::default());
            let one = cuboid([0.5; 3], 10.0, at(0.0, 0.5, 0.0), Material::default());
            let id = world.add(NewBody { groups: only(1, 1 | 4), ..one }).unwrap();
            let ghost = with_ghost.then(|| {
                let two = cuboid([0.5; 3], 10.0, at(0.2, 2.5, 0.1), Material::default());
                world.add(NewBody { groups: only(2, u32::MAX), ..two }).unwrap()
            });
            steps(&mut world, 60);
            let ghost = ghost.map(|id| place(&world, id).y);
            (*world.get(id).unwrap().pose, *world.get(id).unwrap().momentum, ghost)
        };
        let (alone, beside) = (run(false), run(true));
        // sweeps continue until all bodies are at rest, so the results may differ only by round-off
        let apart = alone.0.translation.vector - beside.0.translation.vector;
        let turned = alone.0.rotation.angle_to(&beside.0.rotation);
        let pushed = alone.1.linear - beside.1.linear;
        assert!(apart.norm() < 1e-12 && turned < 1e-7 && pushed.norm() < 1e-12);
        // the body of the other group rests on the floor, inside the first body
        let lies = beside.2.unwrap();
        assert!((lies - 0.5).abs() < 1e-2, "{lies}");
    }
}

#[test]
fn pieces_are_in_the_groups_of_what_they_broke_off() {
    let groups = only(2, 1);
    let mut world = World::new(sim::Settings::default());
    floor(&mut world, 0.0, Material::default());
    let place = Isometry3::translation(0.0, 1.5, 0.0);
    world.add(NewBody { groups, ..brick(Vector3::new(0.2, 0.15, 0.1), place, 1.0) }).unwrap();
    // a shelf in its path that collides only with other groups
    let shelf = cuboid([1.0, 0.1, 1.0], 1.0, at(0.0, 0.7, 0.0), Material::default());
    world.add(NewBody { body: Body::Static, groups: only(4, u32::MAX), ..shelf }).unwrap();
    let broke: usize = (0..60).map(|_| world.step().events.fractures.len()).sum();
    assert!(broke > 0);
    let pieces: Vec<_> = world.iter().filter(|s| s.lineage.is_some()).collect();
    assert!(pieces.len() > 1);
    for piece in pieces {
        assert_eq!(piece.groups, groups);
        assert!(piece.pose.translation.y < 0.6, "{}", piece.pose.translation.y);
    }
}

const SCENE: &str = r#"version = 1
[[body]]
name = "floor"
shape = { plane = {} }
motion = "static"
[[body]]
name = "dust"
shape = { sphere = { radius = 0.1 } }
groups = ["small", "grey"]
collides_with = ["default"]
[[body]]
name = "stone"
shape = { sphere = { radius = 0.1 } }
groups = ["grey"]
"#;

#[test]
fn scenes_name_their_groups() {
    let scene = Scene::from_toml(SCENE).unwrap();
    let (world, _) = sim::build(&scene, &std::collections::BTreeMap::new()).unwrap();
    let groups: Vec<Groups> = world.iter().map(|s| s.groups).collect();
    let [floor, dust, stone] = groups[..] else { panic!("three bodies") };
    assert!(floor.meet(&dust) && floor.meet(&stone));
    assert!(!dust.meet(&stone) && !dust.meet(&dust) && stone.meet(&stone));
}

#[test]
fn a_group_that_no_body_is_in_is_refused() {
    let scene = SCENE.replace("[\"default\"]", "[\"gray\"]");
    let Err(SceneError::Value { invalid, .. }) = Scene::from_toml(&scene) else {
        panic!("must be refused")
    };
    assert_eq!(invalid.key, "body[1].collides_with");
    assert_eq!(invalid.problem, "names no group `gray`, did you mean `grey`?");
}
