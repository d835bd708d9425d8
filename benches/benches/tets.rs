//! Bodies of tetrahedra: piles that collide by their tetrahedra (Mu01 section 2.9) or by samples, and eight bodies
//! struck in one frame.
//!
//! Run with `RAYON_NUM_THREADS=1` for the single-thread figures of piles. The bench first prints the table of
//! `docs/tetrahedra.md`: contacts of a frame, and the depth of vertices in the tetrahedra of other bodies or below the
//! floor, an error measure that favors neither kind of collision.
#![allow(clippy::print_stderr, reason = "benchmarks talk to a terminal")]

use std::collections::BTreeMap;
use std::time::Instant;

use contact::Field;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use levelset::TetMesh;
use sim::scene::Scene;
use sim::{MeshData, World, build};

/// Assets, and the edge lengths of the bounding box of a body, m, which are the spacing of bodies.
const BODIES: [(&str, [f64; 3]); 3] =
    [("cinder_block", [0.45, 0.25, 0.25]), ("vase", [0.3, 0.36, 0.3]), ("teddy", [0.45, 0.5, 0.4])];
/// Frames after the start: the lowest bodies have hit the floor; all bodies are at rest.
const FRAMES: [(&str, usize); 2] = [("impact", 12), ("settled", 240)];

fn world(text: &str, mesh: TetMesh) -> World {
    let meshes = BTreeMap::from([("body.msh".to_owned(), MeshData::Tets(mesh))]);
    let scene = Scene::from_toml(text).expect("a valid scene");
    build(&scene, &meshes).expect("a valid world").0
}

/// Twelve bodies that fall on a floor and on each other.
fn pile(mesh: &TetMesh, apart: [f64; 3], collide: &str) -> World {
    let text = format!(
        r#"version = 1
        [simulation]
        sleep = false
        [[body]]
        name = "floor"
        shape = {{ plane = {{}} }}
        motion = "static"
        [[body]]
        name = "body"
        shape = {{ tets = {{ file = "body.msh", collide = "{collide}" }} }}
        position = [0, {}, 0]
        rotation = {{ axis = [1, 0.3, 0.5], degrees = 20 }}
        density = 2000
        copies = {{ count = [2, 3, 2], spacing = {apart:?}, jitter = 0.02 }}
        "#,
        apart[1]
    );
    world(&text, mesh.clone())
}

/// The largest depth of a surface vertex in the tetrahedra of another body or below the floor, m.
fn deepest(exact: &World, poses: &World) -> f64 {
    let shapes: Vec<_> = exact.iter().skip(1).map(|state| state.shape).collect();
    let poses: Vec<_> = poses.iter().skip(1).map(|state| *state.pose).collect();
    let mut deepest = 0.0_f64;
    for (i, shape) in shapes.iter().enumerate() {
        for p in shape.points() {
            let place = poses[i] * p;
            deepest = deepest.max(-place.y);
            for (j, other) in shapes.iter().enumerate().filter(|(j, _)| *j != i) {
                let Field::Tets(solid) = other.field() else { continue };
                let local = poses[j].inverse_transform_point(&place);
                if solid.tetrahedron(&local).is_some() {
                    deepest = deepest.max(-solid.distance_and_normal(&local).0);
                }
            }
        }
    }
    deepest
}

fn piles(criterion: &mut Criterion) {
    for (name, apart) in BODIES {
        let path = format!("{}/../assets/{name}.msh", env!("CARGO_MANIFEST_DIR"));
        let mesh = brisance::tet_file::read_tets(path.as_ref()).expect("an asset");
        let exact = pile(&mesh, apart, "tets");
        let mut group = criterion.benchmark_group(format!("pile of 12, {name}"));
        for collide in ["tets", "samples"] {
            let mut world = pile(&mesh, apart, collide);
            for (when, frame) in FRAMES {
                let (mut contacts, mut deep) = (0, 0.0_f64);
                while world.frame() < frame {
                    contacts = world.step().counters.contacts;
                    deep = deep.max(deepest(&exact, &world));
                }
                let end = deepest(&exact, &world);
                eprintln!(
                    "{name}, {collide}, {when}: {contacts} contacts, {:.2} mm deep, {:.2} before",
                    1e3 * end,
                    1e3 * deep
                );
                group.bench_function(format!("{collide}, {when}"), |b| {
                    b.iter_batched(|| world.clone(), |mut w| w.step(), BatchSize::LargeInput);
                });
            }
        }
    }
}

/// Eight bears that hit a plane in the next frame without breaking; each computes a separate factor.
fn struck(mesh: &TetMesh) -> World {
    let body = |n: usize| {
        format!(
            r#"
            [[body]]
            name = "bear {n}"
            shape = {{ tets = {{ file = "body.msh", collide = "tets", nodes = 20000 }} }}
            position = [{n}, 0.3, 0]
            velocity = [0, -12, 0]
            density = 2000
            [body.fracture]
            break_impulse = 1
            stress = {{ spacing = 0.05, strength = 1e12, young = 1e9, duration = 0.002 }}
            "#
        )
    };
    let floor =
        "version = 1\n[[body]]\nname = \"floor\"\nshape = { plane = {} }\nmotion = \"static\"\n";
    let text: String = std::iter::once(floor.to_owned()).chain((0..8).map(body)).collect();
    world(&text, mesh.clone())
}

/// The frame with eight struck bodies, alternately on one thread and on two. Cloned worlds share factors, so each run
/// has a new world.
fn eight(_: &mut Criterion) {
    const ROUNDS: usize = 9;
    let path = format!("{}/../assets/teddy.msh", env!("CARGO_MANIFEST_DIR"));
    let mesh = brisance::tet_file::read_tets(path.as_ref()).expect("an asset");
    let pools = [1, 2].map(|threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
    });
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        for (pool, times) in pools.iter().zip(&mut times) {
            let mut world = struck(&mesh);
            let longest = (0..3).map(|_| {
                let start = Instant::now();
                pool.install(|| world.step());
                1e3 * start.elapsed().as_secs_f64()
            });
            times.push(longest.fold(0.0, f64::max));
        }
    }
    let [one, two] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    });
    eprintln!(
        "8 bodies struck: {one:.1} ms on one thread, {two:.1} on two, {:.2} of it",
        two / one
    );
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = piles, eight
}
criterion_main!(benches);
