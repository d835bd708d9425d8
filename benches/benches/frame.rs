//! A frame of the bunny scene, once the bunny is in pieces.
//!
//! Run with `RAYON_NUM_THREADS=1` for the single-thread figures.

use std::collections::BTreeMap;
use std::path::Path;

use brisance::mesh_file::read_mesh;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use sim::scene::Scene;
use sim::{World, build};

/// The scene of `cargo xtask demo`, `frames` after its bunny broke.
fn broken_bunny(frames: usize) -> World {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes");
    let text = std::fs::read_to_string(folder.join("bunny.toml")).expect("the scene is there");
    let scene = Scene::from_toml(&text).expect("the scene is valid");
    let meshes: BTreeMap<_, _> = scene
        .mesh_files()
        .map(|file| (file.to_owned(), read_mesh(&folder.join(file)).expect("a valid mesh")))
        .collect();
    let (mut world, _) = build(&scene, &meshes).expect("a valid world");
    while world.step().fractures.is_empty() {}
    for _ in 0..frames {
        world.step();
    }
    world
}

fn frame(c: &mut Criterion) {
    for (when, frames) in [("flying", 2), ("settled", 60)] {
        let world = broken_bunny(frames);
        c.bench_function(&format!("bunny frame, {} bodies, {when}", world.len()), |b| {
            b.iter_batched(|| world.clone(), |mut world| world.step(), BatchSize::SmallInput);
        });
    }
}

criterion_group!(benches, frame);
criterion_main!(benches);
