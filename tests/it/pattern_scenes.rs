//! Patterns of scenes and the command line.

use std::collections::BTreeMap;

use nalgebra::Point3;
use sim::scene::{Pattern, Scene};
use sim::{World, build, pattern};

use crate::cli::Case;

/// A slab 1.2 m long, 0.6 m high and 0.2 m deep in a pattern, struck by a ball at a point of its front.
/// It breaks by any impulse.
fn struck(tables: &str, fracture: &str, at: [f64; 2]) -> World {
    struck_with_strength(tables, fracture, at, 0.01)
}

/// [`struck`] with this breaking impulse, N s.
fn struck_with_strength(tables: &str, fracture: &str, at: [f64; 2], strength: f64) -> World {
    let [x, y] = at;
    let text = format!(
        "version = 1\n[simulation]\ngravity = [0, 0, 0]\nsleep = false\n{tables}\n\
         [[body]]\nname = \"slab\"\nshape = {{ box = {{ half_extents = [0.6, 0.3, 0.1] }} }}\n\
         fracture = {{ break_impulse = {strength}, {fracture} }}\n\
         [[body]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.05 }} }}\n\
         position = [{x}, {y}, 0.25]\nvelocity = [0, 0, -6]\n"
    );
    let scene = Scene::from_toml(&text).unwrap();
    let (mut world, _) = build(&scene, &BTreeMap::new()).unwrap();
    world.step();
    world
}

/// Masses of the pieces of the slab of 144 kg, in ascending order.
fn masses(world: &World) -> Vec<f64> {
    let all = world.iter().filter_map(|body| Some(body.body.mass_properties()?.mass()));
    // the ball has half a kilogram
    let mut masses: Vec<f64> = all.filter(|mass| *mass > 0.53 || *mass < 0.52).collect();
    masses.sort_by(f64::total_cmp);
    masses
}

#[test]
fn a_wall_comes_apart_into_its_bricks_wherever_it_is_hit() {
    let wall = "[pattern.a.bricks]\ncount = [4, 3, 1]";
    for at in [[0.0, 0.0], [0.31, -0.22], [-0.5, 0.2]] {
        let masses = masses(&struck(wall, "pattern = \"a\", generations = 1", at));
        // a brick is 0.3 x 0.2 x 0.2 m; the middle course begins and ends with half a brick
        let expected = [[6.0; 2].as_slice(), &[12.0; 11]].concat();
        assert_eq!(masses.len(), expected.len(), "{at:?} {masses:?}");
        let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6 * b;
        assert!(masses.iter().zip(&expected).all(close), "{at:?} {masses:?}");
    }
}

#[test]
fn mortar_makes_pieces_of_its_own_unless_they_are_too_small() {
    let wall = "[pattern.a.bricks]\nsize = [0.28, 0.18, 0.2]\nbond = 0\nmortar = 0.02";
    let pieces = masses(&struck(wall, "pattern = \"a\", generations = 1", [0.1, 0.1]));
    // 12 bricks, beside 9 of them a head joint and beside 8 a bed joint
    assert_eq!(pieces.len(), 12 + 9 + 8, "{pieces:?}");
    assert!((pieces.iter().sum::<f64>() - 144.0).abs() < 1e-6);
    let bed = 1000.0 * 0.3 * 0.02 * 0.2;
    assert!(pieces.iter().filter(|mass| (*mass - bed).abs() < 1e-6).count() >= 6, "{pieces:?}");
    let kept = "pattern = \"a\", generations = 1, min_share = 0.02";
    assert_eq!(masses(&struck(wall, kept, [0.1, 0.1])).len(), 12);
}

#[test]
fn only_bricks_that_came_loose_break_by_the_next_pattern() {
    let wall = "[pattern.a.bricks]\ncount = [4, 3, 1]\nbond = 0\n[pattern.b.slices]\nplanes = 3\nspread = 0.1";
    let whole = "pattern = \"a\", generations = 2";
    let once = masses(&struck(wall, &format!("{whole}, bonds = {{ strength = 1e9 }}"), [0.0; 2]));
    // the bonds hold the wall together, so the ball does not break it
    assert_eq!(once.len(), 1);
    let alone = struck(wall, whole, [0.15, 0.0]);
    assert_eq!(masses(&alone).len(), 12);
    // a tenth of the momentum of the ball breaks a brick
    let then = format!("{whole}, then = \"b\"");
    let mut then = struck_with_strength(wall, &then, [0.15, 0.0], 0.3);
    (0..10).for_each(|_| drop(then.step()));
    let pieces = masses(&then);
    assert!(pieces.len() > 12, "{pieces:?}");
    let kept = pieces.iter().filter(|mass| (*mass - 12.0).abs() < 1e-6).count();
    // the ball strikes one brick, which strikes up to four neighbors
    assert!((7..12).contains(&kept), "{kept}: {pieces:?}");
}

/// A slab of 3 x 2 blocks, each of 2 x 2 x 1 bricks, divided by two levels; up to six equal balls strike it.
fn of_levels(strengths: [f64; 2], balls: &str) -> World {
    let [first, second] = strengths;
    let text = format!(
        "version = 1\n[simulation]\ngravity = [0, 0, 0]\nsleep = false\n\
         [pattern.blocks.bricks]\ncount = [3, 2, 1]\nbond = 0\n\
         [pattern.bricks.bricks]\ncount = [6, 4, 1]\nbond = 0\n\
         [[body]]\nname = \"slab\"\nshape = {{ box = {{ half_extents = [0.6, 0.4, 0.1] }} }}\n\
         density = 1000\nfracture = {{ pattern = \"blocks\", break_impulse = {first:?}, \
         levels = [{{ pattern = \"bricks\", break_impulse = {second:?} }}] }}\n{balls}"
    );
    let scene = Scene::from_toml(&text).unwrap();
    build(&scene, &BTreeMap::new()).unwrap().0
}

fn ball(name: &str, at: [f64; 3], speed: f64) -> String {
    format!(
        "[[body]]\nname = \"{name}\"\nshape = {{ sphere = {{ radius = 0.05 }} }}\ndensity = 1000\n\
         position = {at:?}\nvelocity = [0, 0, {:?}]\nrestitution = 0\n",
        -speed
    )
}

/// Blocks weigh 32 kg, bricks 8 kg.
#[test]
fn a_blow_parts_a_body_into_clusters_and_another_one_cluster_into_its_pieces() {
    // at 10 m/s a ball of 0.52 kg has 5.2 N s
    let first = ball("first", [-0.3, 0.3, 0.2], 10.0);
    let second = ball("second", [-0.47, 0.12, 20.0], 40.0);
    let mut world = of_levels([4.0, 15.0], &format!("{first}{second}"));
    let momentum = world.momentum();
    (0..10).for_each(|_| drop(world.step()));
    let clusters = masses(&world);
    assert_eq!(clusters.len(), 6, "{clusters:?}");
    assert!(clusters.iter().all(|mass| (mass - 32.0).abs() < 1e-6), "{clusters:?}");
    let (mut fractures, mut gain) = (0, f64::NEG_INFINITY);
    for _ in 0..20 {
        let report = world.step();
        fractures += report.events.fractures.len();
        gain = gain.max(report.energy.gain);
    }
    let pieces = masses(&world);
    let expected = [[8.0; 4].as_slice(), &[32.0; 5]].concat();
    assert_eq!((fractures, pieces.len()), (1, 9), "{pieces:?}");
    assert!(pieces.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6), "{pieces:?}");
    assert!((world.momentum().linear - momentum.linear).norm() < 1e-9 * momentum.linear.norm());
    assert!(gain <= 1e-9, "{gain}");
}

/// The strength of a level is its threshold: an impulse 2 % below has no effect, one 2 % above breaks it.
#[test]
fn each_level_bears_its_own_impulse() {
    let count = |strengths: [f64; 2], speed: f64| {
        let mut world = of_levels(strengths, &ball("ball", [0.0, 0.3, 0.2], speed));
        (0..10).for_each(|_| drop(world.step()));
        masses(&world).len()
    };
    // the momentum loss of a ball of 4/3 pi 0.05^3 1000 kg without rebound on a free body of 192 kg, in the run
    let mut whole = of_levels([1e9, 1e9], &ball("ball", [0.0, 0.3, 0.2], 10.0));
    let mut hardest = 0.0_f64;
    for _ in 0..10 {
        let report = whole.step();
        hardest = report.loads.impacts.iter().map(|impact| impact.impulse).fold(hardest, f64::max);
    }
    let mass = 4.0 / 3.0 * std::f64::consts::PI * 0.05_f64.powi(3) * 1000.0;
    // the lever arm is 0.3 m along y: 1/m + 1/M + r^2 / I
    let inertia = 192.0 * (0.8_f64.powi(2) + 0.2_f64.powi(2)) / 12.0;
    let expected = 10.0 / (1.0 / mass + 1.0 / 192.0 + 0.3_f64.powi(2) / inertia);
    assert!((hardest - expected).abs() < 2e-3 * expected, "{hardest} {expected}");
    assert_eq!(count([1.02 * expected, 1e9], 10.0), 1);
    assert_eq!(count([0.98 * expected, 1e9], 10.0), 6);
    // an impulse above both strengths: a cluster receives the excess over the strength of the body; its pieces
    // strike the others with a smaller impulse
    assert_eq!(count([1.0, 0.5 * expected], 10.0), 9);
}

/// A nested pattern is a hierarchy: its outer pattern makes the clusters.
#[test]
fn levels_of_a_nested_pattern_are_its_parts() {
    let blast = "[[event]]\ntime = 0.1\nexplode = { at = [0, 0, 0], radius = 3, impulse = 1e4 }";
    let tables = format!(
        "{blast}\n[pattern.rubble.nested]\nouter = {{ voronoi = {{ pieces = 5 }} }}\n\
         inner = {{ voronoi = {{ pieces = 20 }} }}"
    );
    let pieces = |fracture: &str| {
        let least = "min_share = 0, pattern = \"rubble\"";
        let mut world = struck(&tables, &format!("{least}, {fracture}"), [0.1, 0.0]);
        (0..10).for_each(|_| drop(world.step()));
        masses(&world)
    };
    let level =
        |impulse: f64| format!("levels = [{{ break_impulse = {impulse:?}, min_share = 0 }}]");
    let whole = pieces("placement = \"fixed\", generations = 1");
    let (clusters, bricks) = (pieces(&level(1e9)), pieces(&level(1e-6)));
    assert!(clusters.len() > 2 && whole.len() > 2 * clusters.len(), "{clusters:?} {whole:?}");
    assert_eq!(bricks.len(), whole.len());
    let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9 * b;
    assert!(bricks.iter().zip(&whole).all(close), "{bricks:?} {whole:?}");
    assert!((clusters.iter().sum::<f64>() - 144.0).abs() < 1e-9);
}

/// Each point is in the cell of the nearest site.
#[test]
fn points_and_curves_divide_by_the_nearest_of_their_points() {
    let text = "version = 1\n[pattern.a.points]\npoints = [[0, 0.5, 0]]\nspacing = 0.25\n\
                curves = [[[-1, 0, 0], [0, 0, 0], [0, 0, 0.5]]]\n\
                [[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\n";
    let scene = Scene::from_toml(text).unwrap();
    let made = pattern(&scene.patterns["a"], 1, None).unwrap();
    // 1.5 m in six parts
    let curve = (0..=6).map(|n| {
        let way = 0.25 * f64::from(n);
        Point3::new(way.min(1.0) - 1.0, 0.0, (way - 1.0).max(0.0))
    });
    let sites: Vec<Point3<f64>> = [Point3::new(0.0, 0.5, 0.0)].into_iter().chain(curve).collect();
    assert_eq!(made.region_count(), sites.len());
    for n in 0..500_u32 {
        let part = |step: f64| (f64::from(n) * step).fract() * 2.0 - 1.0;
        let p = Point3::new(part(0.618_034), part(0.754_877), part(0.569_841));
        let nearest = (0..sites.len())
            .min_by(|&a, &b| (sites[a] - p).norm().total_cmp(&(sites[b] - p).norm()));
        // a pattern fixed in a body has its y axis along the +z axis of the body
        let seen = Point3::new(p.x, p.z, -p.y);
        assert_eq!(Some(made.region_at(&seen)), nearest, "{p}");
    }
}

#[test]
fn the_command_line_names_all_patterns_that_need_no_file() {
    for (text, regions) in [
        ("bricks:4x3,bond=0", 12),
        ("bricks:4x3", 13),
        ("bricks:2x2x2,bond=0", 8),
        ("slices:1,axis=[0,1,0]", 2),
        ("slices:5,axis=[0, 1, 0],spread=0.5", 6),
        ("bricks:2x1/voronoi:3", 6),
        ("voronoi:30,stretch=[1,1,8]", 30),
        ("preset:glass", 65),
    ] {
        let spec: Pattern = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(pattern(&spec, 1, None).unwrap().region_count(), regions, "{text}");
    }
    for (text, problem) in [
        ("bricks:4", "give voronoi:PIECES"),
        ("bricks:0x3", "must be between 1 and 10000"),
        ("bricks:4x3,size=[1,1,1]", "one of the keys"),
        ("slices:3,axis=[0,0,0]", "direction"),
        ("preset:steel", "glass, concrete, wood, brick, ice"),
        ("preset:glass,jitter=1", "has no settings"),
        ("voronoi:9,noise={amplitude=0.01,frequency=5}/voronoi:4", "only plane cuts can be nested"),
        ("bricks:4x3/voronoi:5,noise={amplitude=0.01,frequency=5}", "pattern new NAME --scene"),
        ("preset:concrete/voronoi:4", "one of both patterns has noise: remove it"),
        ("voronoi:30,stretch=[1,1,0]", "between 0.01 and 100"),
    ] {
        let error = text.parse::<Pattern>().unwrap_err();
        assert!(error.contains(problem), "{text}: {error}");
    }
}

#[test]
fn scenes_refuse_patterns_that_cannot_be() {
    let body =
        "[[body]]\nname = \"a\"\nmaterial = \"brick\"\nshape = { sphere = { radius = 1 } }\n";
    for (tables, fracture, problem) in [
        ("[pattern.a.bricks]\nbond = 0", "", "one of the keys `size`"),
        ("[pattern.a.points]\nspacing = 1", "", "needs `points` or `curves`"),
        ("[pattern.a.points]\ncurves = [[[0, 0, 0], [1, 0, 0]]]", "", "lacks the key `spacing`"),
        ("[pattern.a.points]\ncurves = [[[0, 0, 0]]]\nspacing = 1", "", "between 2 and"),
        ("[pattern.a]\npreset = \"glas\"", "", "glass"),
        (
            "[pattern.a.voronoi]\npieces = 9",
            "fracture = { pattern = \"a\", then = \"a\" }",
            "placement = \"fixed\"",
        ),
        (
            "[pattern.a.bricks]\ncount = [2, 2, 1]",
            "fracture = { pattern = \"a\", then = \"a\" }",
            "is fixed in the body, too",
        ),
        (
            "[pattern.a.bricks]\ncount = [2, 2, 1]",
            "fracture = { pattern = \"a\", then = \"b\" }",
            "names no pattern `b`",
        ),
        (
            "[pattern.a.voronoi]\npieces = 9",
            "fracture = { pattern = \"a\", levels = [{}] }",
            "neither nested nor radial",
        ),
        (
            "[pattern.a.radial]\nsectors = 5\nrings = 2\nsplinters = 3",
            "fracture = { pattern = \"a\", levels = [{}, {}] }",
            "has 2 levels, but the number of finer parts of the body's pattern is 1",
        ),
        (
            "[pattern.a.voronoi]\npieces = 9",
            "fracture = { pattern = \"a\", levels = [{ pattern = \"c\" }] }",
            "`body[0].fracture.levels[0].pattern` names no pattern `c`",
        ),
        (
            "[pattern.a.voronoi]\npieces = 9",
            "fracture = { pattern = \"a\", levels = [{ pattern = \"a\" }, {}] }",
            "in some levels only",
        ),
        (
            "[pattern.a.voronoi]\npieces = 9",
            "fracture = { pattern = \"a\", levels = [{ pattern = \"a\" }] }",
            "names the pattern of the level above",
        ),
        (
            "[pattern.a.voronoi]\npieces = 9",
            "fracture = { pattern = \"a\", placement = \"snapped\", levels = [{ pattern = \"a\" }] }",
            "must be \"fixed\"",
        ),
        (
            "[pattern.a.voronoi]\npieces = 9",
            "fracture = { pattern = \"a\", generations = 1, levels = [{ pattern = \"a\" }] }",
            "must be 2 at least",
        ),
        (
            "[pattern.a.voronoi]\npieces = 9",
            "fracture = { lattice = { spacing = 0.3 }, levels = [{ pattern = \"a\" }] }",
            "requires the key `pattern`: add it",
        ),
    ] {
        let error = Scene::from_toml(&format!("version = 1\n{tables}\n{body}{fracture}\n"));
        let error = error.unwrap_err().to_string();
        assert!(error.contains(problem), "{tables} {fracture}: {error}");
    }
}

/// Two boxes that meet at x = 0.25, as an OBJ of two objects and as a folder of two files.
#[test]
fn meshes_are_regions_whether_they_are_objects_or_files() {
    let case = Case::new(&[]);
    let corner = |n: usize, low: f64, high: f64| {
        let x = if n & 1 == 0 { low } else { high };
        let sign = |bit: usize| if n & bit == 0 { -1 } else { 1 };
        format!("v {x} {} {}\n", sign(2), sign(4))
    };
    let boxed = |low, high, base: usize| {
        let vertices: String = (0..8).map(|n| corner(n, low, high)).collect();
        let faces =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let face = |f: &[usize; 4]| {
            let [a, b, c, d] = f.map(|n| n + base);
            format!("f {a} {b} {c} {d}\n")
        };
        vertices + &faces.iter().map(face).collect::<String>()
    };
    let (left, right) = ((-1.0, 0.25), (0.25, 1.0));
    let both =
        format!("o left\n{}o right\n{}", boxed(left.0, left.1, 1), boxed(right.0, right.1, 9));
    std::fs::write(case.folder.path().join("both.obj"), both).unwrap();
    std::fs::create_dir(case.folder.path().join("parts")).unwrap();
    for (name, part) in [("a", left), ("b", right)] {
        let text = boxed(part.0, part.1, 1);
        std::fs::write(case.folder.path().join(format!("parts/{name}.obj")), text).unwrap();
    }
    for source in ["both.obj", "parts"] {
        let output = case.run(&["pattern", "new", source, "-o", "regions.pattern"]);
        assert!(output.status.success(), "{output:?}");
        let file = std::fs::read(case.folder.path().join("regions.pattern")).unwrap();
        let pattern = fracture::Pattern::read(&file[..]).unwrap();
        assert_eq!(pattern.region_count(), 2);
        for (x, region) in [(-0.9, 0), (0.2, 0), (0.3, 1), (0.9, 1)] {
            assert_eq!(pattern.region_at(&Point3::new(x, 0.1, 0.1)), region, "{source} {x}");
        }
    }
    std::fs::create_dir(case.folder.path().join("none")).unwrap();
    for source in ["none", "parts/a.obj"] {
        let output = case.run(&["pattern", "new", source, "-o", "none.pattern"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("give a mesh for each region"), "{source}: {message}");
    }
}

#[test]
fn a_painted_slab_has_its_small_pieces_where_the_picture_is_dark() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenes/painted.toml");
    let case = Case::new(&[]);
    let output = case.run(&["pattern", "new", "painted", "--scene", root, "-o", "a.pattern"]);
    assert!(output.status.success(), "{output:?}");
    let file = std::fs::read(case.folder.path().join("a.pattern")).unwrap();
    let pattern = fracture::Pattern::read(&file[..]).unwrap();
    assert_eq!(pattern.region_count(), 150);
    // the picture is a dark ring of radius 0.55: cells per length of a circle
    let met = |radius: f64| {
        let around = (0..720).map(|n| (f64::from(n) / 2.0).to_radians());
        let mut met: Vec<usize> = around
            .map(|a| pattern.region_at(&Point3::new(radius * a.cos(), 0.0, radius * a.sin())))
            .collect();
        met.dedup();
        met.len() as f64 / radius
    };
    assert!(met(0.55) > 1.5 * met(0.95), "{} {}", met(0.55), met(0.95));
    let output = case.run(&["pattern", "new", "paint", "--scene", root, "-o", "b.pattern"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("it has: curve, painted"), "{message}");
}

/// The output of `brisance fracture --json` for a box of 1.2 x 0.6 x 0.2 m and a pattern.
fn broken_box(pattern: &str) -> serde_json::Value {
    let mut mesh = String::new();
    for n in 0..8 {
        let side = |bit: usize, half: f64| if n & bit == 0 { -half } else { half };
        mesh += &format!("v {} {} {}\n", side(1, 0.6), side(2, 0.3), side(4, 0.1));
    }
    for [a, b, c, d] in
        [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]]
    {
        mesh += &format!("f {a} {b} {c} {d}\n");
    }
    let case = Case::new(&[("box.obj", &mesh)]);
    let all = ["fracture", "box.obj", "--pattern", pattern, "-o", "a.glb", "--json"];
    let output = case.run(&[&all[..], &["--density", "2000"]].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn vector(value: &serde_json::Value) -> nalgebra::Vector3<f64> {
    serde_json::from_value::<[f64; 3]>(value.clone()).unwrap().into()
}

/// Masses, inertia, areas and normals of boxes in three rows in closed form. Each plane contains several joints.
#[test]
fn the_json_of_a_broken_box_has_the_moments_and_bonds_of_its_bricks() {
    let json = broken_box("bricks:4x3,bond=0");
    let (pieces, bonds) = (json["pieces"].as_array().unwrap(), json["bonds"].as_array().unwrap());
    assert_eq!((pieces.len(), bonds.len()), (12, 9 + 8));
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
    for piece in pieces {
        assert!(close(piece["volume"].as_f64().unwrap(), 0.3 * 0.2 * 0.2));
        let mass = piece["mass"].as_f64().unwrap();
        assert!(close(mass, 24.0));
        for (axis, [a, b]) in [[0.2, 0.2], [0.3, 0.2], [0.3, 0.2]].into_iter().enumerate() {
            let own = vector(&piece["inertia"][axis]);
            let expected = mass * (a * a + b * b) / 12.0;
            assert!((own - nalgebra::Vector3::ith(axis, expected)).norm() < 1e-9, "{own}");
        }
        let faces = |side: &str| piece[side].as_u64().unwrap();
        assert!(faces("outer_faces") >= 8 && faces("inner_faces") >= 2, "{piece}");
    }
    for bond in bonds {
        let number = |n: usize| bond["pieces"][n].as_u64().unwrap() as usize;
        let center = |n: usize| vector(&pieces[number(n)]["center"]);
        let way = center(1) - center(0);
        let normal = vector(&bond["normal"]);
        assert!((normal - way.normalize()).norm() < 1e-9, "{normal} {way}");
        let area = if way.x.abs() > 0.1 { 0.2 * 0.2 } else { 0.3 * 0.2 };
        assert!(close(bond["area"].as_f64().unwrap(), area), "{bond}");
        assert!((vector(&bond["center"]) - (center(0) + center(1)) / 2.0).norm() < 1e-9);
    }
}

/// The area vectors of the cuts of a piece without outer faces add up to zero, as for any closed surface.
#[test]
fn normals_of_rough_bonds_close_around_a_piece_within() {
    let rough = "voronoi:60,clustering=0,noise={amplitude=0.02,frequency=6}";
    let json = broken_box(rough);
    let (pieces, bonds) = (json["pieces"].as_array().unwrap(), json["bonds"].as_array().unwrap());
    let mut sums = vec![(nalgebra::Vector3::zeros(), 0.0); pieces.len()];
    for bond in bonds {
        let [area, length] = [bond["area"].as_f64().unwrap(), vector(&bond["normal"]).norm()];
        assert!((0.0..=1.0 + 1e-9).contains(&length), "{bond}");
        let vector = vector(&bond["normal"]) * area;
        for (n, sign) in [(0, 1.0), (1, -1.0)] {
            let piece = bond["pieces"][n].as_u64().unwrap() as usize;
            sums[piece].0 += vector * sign;
            sums[piece].1 += area;
        }
    }
    // for other pieces the sum is opposite to that of the outer faces
    let outer: nalgebra::Vector3<f64> = sums.iter().map(|(vector, _)| vector).sum();
    assert!(outer.norm() < 1e-9, "every bond counts once on either side: {outer}");
    let within = pieces.iter().zip(&sums).filter(|(piece, _)| piece["outer_faces"] == 0);
    for (piece, (vector, area)) in within {
        assert!(vector.norm() < 0.02 * area, "{piece}: {vector} of {area}");
    }
    // a cut across the box has the area of its section
    let halves = broken_box("slices:1,spread=0,axis=[0.1,0,0],tilt=0");
    let bond = &halves["bonds"][0];
    assert!((bond["area"].as_f64().unwrap() - 0.6 * 0.2).abs() < 1e-9, "{bond}");
    assert!((vector(&bond["normal"]).x.abs() - 1.0).abs() < 1e-12, "{bond}");
}
