//! Loads of anchored bodies, and their failure.

use std::collections::BTreeMap;

use sim::scene::Scene;
use sim::{AnchorLoad, Appearance, BodyId, Report, World, build};

use crate::cli::Case;

fn made(scene: &str) -> (World, Vec<Appearance>) {
    build(&Scene::from_toml(scene).unwrap(), &BTreeMap::new()).unwrap()
}

fn named(appearances: &[Appearance], name: &str) -> BodyId {
    appearances.iter().find(|a| a.name == name).unwrap().body
}

/// Width of a column, m; density of all, kg/m^3; gravity, m/s^2.
const WIDTH: f64 = 0.4;
const DENSITY: f64 = 2400.0;
const GRAVITY: f64 = 9.81;
/// Distance of columns from the axes, m.
const OFF: f64 = 1.6;
const CORNERS: [[f64; 2]; 4] = [[-OFF, -OFF], [OFF, -OFF], [OFF, OFF], [-OFF, OFF]];

/// A frame of `storeys` storeys, each a slab of 4 m x 0.2 m x 4 m on four columns of 2 m, with more bodies.
fn frame(storeys: usize, strength: &str, more: &str) -> String {
    let mut scene = String::from(
        r#"version = 1
        [pattern.rubble.voronoi]
        pieces = 12
        [[body]]
        name = "ground"
        shape = { plane = {} }
        motion = "static"
        "#,
    );
    for storey in 0..storeys {
        let foot = 2.2 * storey as f64;
        let below = if storey == 0 { "ground".into() } else { format!("slab {}", storey - 1) };
        for (n, [x, z]) in CORNERS.iter().enumerate() {
            scene.push_str(&format!(
                r#"[[body]]
                name = "column {storey}{n}"
                shape = {{ box = {{ half_extents = [0.2, 1, 0.2], spacing = 0.05 }} }}
                density = {DENSITY}
                position = [{x}, {}, {z}]
                anchor = [{{ plane = {{ offset = -0.92 }}, to = "{below}" }}]
                fracture = {{ pattern = "rubble", break_impulse = 2e4, generations = 1 }}
                {strength}
                "#,
                foot + 1.0,
            ));
        }
        let heads = CORNERS.iter().enumerate().map(|(n, [x, z])| {
            format!(
                r#"{{ box = {{ centre = [{x}, -0.1, {z}], half_extents = [0.22, 0.08, 0.22] }}, to = "column {storey}{n}" }}"#
            )
        });
        scene.push_str(&format!(
            r#"[[body]]
            name = "slab {storey}"
            shape = {{ box = {{ half_extents = [2, 0.1, 2], spacing = 0.05 }} }}
            density = {DENSITY}
            position = [0, {}, 0]
            anchor = [{}]
            "#,
            foot + 2.1,
            heads.collect::<Vec<_>>().join(", "),
        ));
    }
    scene + more
}

fn slab() -> f64 {
    DENSITY * 4.0 * 0.2 * 4.0 * GRAVITY
}

/// A pier on the ground, first in the scene, with blocks above it. `anchors` are those of the blocks.
fn pier(anchors: [&str; 2]) -> String {
    let mut scene = String::from(
        r#"version = 1
        [pattern.rubble.voronoi]
        pieces = 12
        [[body]]
        name = "pier"
        shape = { box = { half_extents = [0.2, 1, 0.2], spacing = 0.05 } }
        density = 2400
        position = [0, 1, 0]
        anchor = [{ plane = { offset = -0.92 }, to = "ground" }]
        fracture = { pattern = "rubble", break_impulse = 2e4 }
        [[body]]
        name = "ground"
        shape = { plane = {} }
        motion = "static"
        "#,
    );
    for (n, anchor) in anchors.iter().enumerate() {
        scene.push_str(&format!(
            r#"[[body]]
            name = "block {n}"
            shape = {{ box = {{ half_extents = [0.2, 0.1, 0.2], spacing = 0.05 }} }}
            density = 2400
            position = [0, {}, 0]
            anchor = {anchor}
            fracture = {{ pattern = "rubble", break_impulse = 2e4 }}
            "#,
            2.1 + 0.2 * n as f64,
        ));
    }
    scene
}

/// The pier carries its own weight and that of both blocks, also if a block is anchored as a whole or the blocks
/// are anchored to each other.
#[test]
fn a_support_that_comes_first_receives_the_load_of_all_bodies_above_it() {
    let block = 2400.0 * 0.4 * 0.2 * 0.4 * GRAVITY;
    let bottom = |to: &str| format!("{{ plane = {{ offset = -0.06 }}, to = {to:?} }}");
    let top =
        |to: &str| format!("{{ plane = {{ normal = [0, -1, 0], offset = -0.06 }}, to = {to:?} }}");
    let cases = [
        [r#"[{ to = "pier" }]"#.to_owned(), r#"[{ to = "block 0" }]"#.to_owned()],
        [r#"[{ to = "pier" }]"#.to_owned(), format!("[{}]", bottom("block 0"))],
        [format!("[{}]", bottom("pier")), format!("[{}]", bottom("block 0"))],
        [format!("[{}, {}]", bottom("pier"), top("block 1")), format!("[{}]", bottom("block 0"))],
    ];
    for (n, anchors) in cases.iter().enumerate() {
        let (mut world, bodies) = made(&pier([&anchors[0], &anchors[1]]));
        let report = (0..3).map(|_| world.step()).last().unwrap();
        let found = -load(&report, named(&bodies, "pier")).force.y;
        let (expected, tolerance) = (column() + 2.0 * block, if n == 3 { block } else { 1e-6 });
        assert!((found - expected).abs() <= tolerance, "case {n}: {found} N for {expected} N");
    }
}

fn column() -> f64 {
    DENSITY * WIDTH * 2.0 * WIDTH * GRAVITY
}

fn load(report: &Report, body: BodyId) -> &AnchorLoad {
    report.loads.anchors.iter().find(|load| load.body == body).unwrap()
}

/// On a rigid slab a load `P` at `(x, z)` loads the column at `(cx, cz)` with
/// `P (1/4 + x cx / (4 OFF^2) + z cz / (4 OFF^2))`.
#[test]
fn columns_of_two_storeys_bear_what_is_computed_by_hand() {
    let (x, z) = (0.8, -0.4);
    let ball = format!(
        r#"[[body]]
        name = "ballast"
        shape = {{ box = {{ half_extents = [0.3, 0.3, 0.3] }} }}
        density = 20000
        position = [{x}, 4.7, {z}]
        "#
    );
    let (mut world, bodies) = made(&frame(2, "", &ball));
    let report = (0..60).map(|_| world.step()).last().unwrap();
    let ballast = 20000.0 * 0.216 * GRAVITY;
    for (n, [cx, cz]) in CORNERS.iter().enumerate() {
        let share = |at: f64, corner: f64| at * corner / (4.0 * OFF * OFF);
        let own = ballast * (0.25 + share(x, *cx) + share(z, *cz));
        let upper = slab() / 4.0 + column() + own;
        let lower = upper + slab() / 4.0 + column();
        for (storey, expected) in [(1, upper), (0, lower)] {
            let found = load(&report, named(&bodies, &format!("column {storey}{n}")));
            let error = (-found.force.y - expected).abs() / expected;
            assert!(error < 0.05, "column {storey}{n}: {} for {expected}", -found.force.y);
            assert!(found.force.xz().norm() < 1e-3 * expected);
        }
    }
    // mean stress of the foot, and the maximum bending stress
    let foot = load(&report, named(&bodies, "column 00"));
    let mean = -foot.force.y / (WIDTH * WIDTH);
    assert!(foot.stress > mean / 1.02 && foot.stress < 2.0 * mean, "{foot:?}");
}

#[test]
fn a_column_breaks_at_the_load_that_its_strength_gives() {
    // axial load: the middle of the foot bears the whole load
    let strength = 2e5;
    let bears = |mass: f64| {
        let height = 0.5;
        let density = mass / (0.4 * height * 0.4);
        let (mut world, bodies) = made(&format!(
            r#"version = 1
            [pattern.rubble.voronoi]
            pieces = 12
            [[body]]
            name = "ground"
            shape = {{ plane = {{}} }}
            motion = "static"
            [[body]]
            name = "column"
            shape = {{ box = {{ half_extents = [0.2, 1, 0.2], spacing = 0.05 }} }}
            density = {DENSITY}
            position = [0, 1, 0]
            anchor = [{{ plane = {{ offset = -0.92 }} }}]
            anchor_strength = {strength}
            fracture = {{ pattern = "rubble", break_impulse = 2e4, generations = 1 }}
            [[body]]
            name = "stack 1"
            shape = {{ box = {{ half_extents = [0.2, 0.125, 0.2] }} }}
            density = {density}
            position = [0, 2.125, 0]
            [[body]]
            name = "stack 2"
            shape = {{ box = {{ half_extents = [0.2, 0.125, 0.2] }} }}
            density = {density}
            position = [0, 2.375, 0]
            "#
        ));
        let column = named(&bodies, "column");
        let broke =
            (0..90).any(|_| world.step().events.fractures.iter().any(|f| f.parent == column));
        assert_eq!(world.get(column).is_none(), broke);
        !broke
    };
    let exact = (strength * WIDTH * WIDTH - column()) / GRAVITY;
    assert!(bears(0.9 * exact), "0.9 of the load");
    assert!(!bears(1.1 * exact), "1.1 of the load");
}

#[test]
fn storeys_come_down_when_a_column_goes() {
    let bomb = r#"[[event]]
        time = 0.2
        explode = { at = [-1.6, 1, -1.6], radius = 1.2, impulse = 2e5 }
        "#;
    // the strength of each column is 1.6 times its mean stress: it withstands its load, but not twice that load
    let most = (slab() / 2.0 + 2.0 * column()) / (WIDTH * WIDTH);
    let strength = format!("anchor_strength = {}", 1.6 * most);
    let (mut world, bodies) = made(&frame(2, &strength, bomb));
    let slabs = ["slab 0", "slab 1"].map(|name| named(&bodies, name));
    let mut freed = [None; 2];
    let mut broken = Vec::new();
    for frame in 0..90 {
        let report = world.step();
        let scale = report.energy.kinetic + report.energy.potential.abs();
        assert!(report.energy.gain <= 1e-10 * scale, "{report:?}");
        broken.extend(report.events.fractures.iter().map(|f| (frame, f.parent)));
        for (freed, slab) in freed.iter_mut().zip(slabs) {
            if report.events.released.contains(&slab) {
                *freed = freed.or(Some(frame));
            }
        }
    }
    let [lower, upper] = freed.map(|frame| frame.expect("both slabs come down"));
    assert!(lower <= upper, "{lower} {upper} {broken:?}");
    let first = broken[0].0;
    assert!(broken.iter().any(|(frame, _)| *frame > first), "columns fail one after the other");
    let low = world.get(slabs[0]).map_or(0.0, |slab| slab.pose.translation.y);
    assert!(low < 1.5, "{low}");
}

/// A cantilever of 240 kg: its middle is 0.9 m from the section with the stress `6 M / (b h^2)`.
#[test]
fn a_file_of_anchor_loads_holds_the_weight_and_the_stress_of_a_beam() {
    let scene = "version = 1\n[[body]]\nname = 'the \"long\" beam'\ndensity = 2000\nanchor_strength = 4e6\n\
                 shape = { box = { half_extents = [1, 0.1, 0.15], spacing = 0.01 } }\n\
                 anchor = [{ plane = { offset = -0.9, normal = [1, 0, 0] } }]\n";
    let case = Case::new(&[("a.toml", scene)]);
    let output = ["-q", "-o", "a.jsonl", "--frames", "4", "--anchor-loads", "loads.csv"];
    let run = case.run(&[&["run", "a.toml"][..], &output].concat());
    assert!(run.status.success(), "{run:?}");
    let text = std::fs::read_to_string(case.folder.path().join("loads.csv")).unwrap();
    let mut lines = text.lines();
    let head =
        "frame,time,body,force_x,force_y,force_z,torque_x,torque_y,torque_z,stress,strength,ratio";
    assert_eq!(lines.next(), Some(head));
    let rows: Vec<&str> = lines.collect();
    assert_eq!(rows.len(), 4, "{text}");
    for (frame, row) in (1..).zip(rows) {
        let (before, numbers) = row.split_once(",\"the \"\"long\"\" beam\",").expect(row);
        let time: f64 = before.strip_prefix(&format!("{frame},")).expect(row).parse().unwrap();
        assert!((time - f64::from(frame) / 30.0).abs() < 1e-12, "{row}");
        let numbers: Vec<f64> = numbers.split(',').map(|x| x.parse().unwrap()).collect();
        let [fx, fy, fz, mx, my, mz, stress, strength, ratio] = numbers[..] else {
            panic!("{row}")
        };
        let (weight, across) = (240.0 * GRAVITY, 240.0 * GRAVITY * 0.9);
        assert!(fx.abs().max(fz.abs()) < 1e-6 * weight && (fy.abs() / weight - 1.0).abs() < 0.01);
        assert!(mx.abs().max(my.abs()) < 0.01 * across && (mz.abs() / across - 1.0).abs() < 0.02);
        let exact = 6.0 * across / (0.3 * 0.2 * 0.2);
        assert!((stress / exact - 1.0).abs() < 0.02, "{stress} Pa, not {exact} Pa");
        assert_eq!((strength, ratio), (4e6, stress / 4e6));
    }
}
