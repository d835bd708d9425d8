//! A frame of the bunny scene after its fracture, and of a pile of a thousand fragments on a plane and on a
//! large box.
//!
//! Run with `RAYON_NUM_THREADS=1` for the single-thread figures. Gains of each change, for an awake, settled
//! pile of 1000, ms of one processor a frame under load (`peers_pile`, Rapier 9):
//!
//! - 84: rows of single contacts, narrow phase of every pair in every frame
//! - 86: lanes of four pairs in colors: the solver a quarter faster, contacts still half of all
//! - 60: samples queried through one matrix
//! - 32: contact search repeated only after collisions with large motion, and a gentler push-out: the pile
//!   comes to rest, and reuses 95 % of its pairs
//! - 28: 4 sweeps over all contacts instead of 10, and 4 to push out
//! - 61: pairs bounce at all their contacts together, to 1e-9, with contact searches along their motion
//! - 29: restitution threshold relative to the velocity change by gravity in the step (`resting_share`): 100
//!   pairs instead of 7,000 collide; contacts are prepared once for all sweeps of collisions
//! - 15: 3 sweeps per level in shock propagation, and an immediate second solution of pairs with large
//!   velocity changes, instead of 10 sweeps: 10 stabilize towers but shake wide piles
//! - 13: sweeps with AVX2 vectors
//! - 16 (at an idle but slower time, Rapier 9.4): pairs count as rough from 0.5 mm/s instead of 3, since a
//!   cube slid 0.2 mm too far
//! - 12.8 to 12.2: batches of pairs with equal numbers of contacts, allocated once a frame (3,000 bodies: 80
//!   to 66, much of it page faults)
//! - 3,000 bodies, 66 to 57: a shorter chain of dependent operations in a contact, which limits sweeps: slip
//!   by the tangential part of the response, and no root if all contacts stick. Eight lanes instead of four
//!   do not help
//! - 13.2 to 9.9 with 1,100 bodies at rest: sweeps skip pairs whose bodies did not change. With a coarser
//!   bound on changes, piles do not come to rest
//! - 64 bytes per contact for the common data of all passes, the rest separate: 9.9 to 9.4 with 1,100 bodies,
//!   no gain beyond the noise with 3,000
//! - the broad phase persists from frame to frame: 3.5 to 3.0 for contact search
//!
//! Sleep, 8,992 bodies on two threads: 5,700 were still awake after 20 s, 420 ms a frame, and some 600 after
//! 13 s since the tolerance for changes of loads on sleepers is a fifth instead of a tenth. Waking a body
//! without the sleepers on it is faster (all asleep after 8 s, 10 ms), but keeps bodies from tipping.
//!
//! At impact, 1,000 bodies: 117 to 95, of which 60 are contact search: one search finds the candidates of a
//! step, and later queries reuse them (1.3 to 0.8 million points a frame). Not worth keeping: reuse of
//! contacts from an earlier search of the same step. Six searches after collisions are no better than two.
//!
//! - 56 to 42 for contact search, on an idle machine: queries of eight points in a tree of width eight;
//!   searches along the motion stop at the first point that is deep enough and store nothing; two distances
//!   instead of a normal detect contacts with an exit on the far side; only bodies that left their predicted
//!   path are searched again, whatever their number. 8,992 bodies: 2,245 to 1,190
//! - 14.6 to 11.8 for collisions: impulses of pairs use the Delassus operator
//!
//! - narrow phase of hulls by vertices and edges instead of points and samples: 37 to 19 for contact search,
//!   3,000 bodies 241 to 113; overlaps of 2.7 mm in the median and 12 at the 99th percentile become 0.2 and
//!   0.4
//! - pairs of hulls that move less than half their thickness are tested only at their final poses: 18 to 15;
//!   bodies that stay above a plane are skipped (falling, 4.5 to 2.7). Repeating the search only for
//!   deviations above a tenth of the radius, not a twentieth, saves 2, but lets plates tunnel
//! - deeply overlapping hulls separate along the minimum translation vector: the largest overlap of 3,000
//!   from 96 to 4 mm
//! - one push-out per frame, not one per position iteration
//! - rows of 400 bytes instead of 660, 3,000 bodies, whole frame: 159 to 141, settled 55.6 to 51.8
//! - impulses of pairs by exact solutions of single contacts and Newton steps on the active set: 11 to 4 for
//!   collisions, 3,000 bodies 80 to 25
//!
//! Not worth it: a single second solution of rough pairs in piles (a third of the time of shock propagation,
//! but forty towers of twenty boxes lean by 0.4 m in 20 s), or a threshold of 5 mm/s for rough pairs (towers
//! drift by 3 mm in 5 s instead of 0.5).
//!
//! 3,000 bodies at impact and settled, in ms (Rapier 60, 32), from 175 and 80:
//!
//! - 125 and 48: rough pairs are solved again only if one or two support a body. Towers and houses of cards
//!   need this; wide piles are quieter without it. With a limit of one, houses of cards fall
//! - bodies that tip over on a plane are tested at their final pose, not only at the supporting edge: they
//!   sank in by 19 mm, and the push-out shook the pile permanently
//! - 110: separating axis tests use only faces that face each other, vertices and edges are tested only near
//!   the best separating plane, and pairs with large motion are tested at their final poses if they stay on
//!   one side
//! - 38: overlaps up to twice the slop are ignored, sweeps stop at changes of 1e-5 m/s (1e-6), and masses for
//!   shock propagation are updated only after changes
//! - 34, and 1,000 bodies 9.5 to 7.5: larger batches of pairs, with exact memory allocation
//!
//! Hulls by samples are memory bound: if all bodies share eight shapes, they take 27 instead of 42. Not worth
//! keeping: separating planes by the Frank-Wolfe algorithm on support points, which save half the points of
//! separate pairs but cost as much; searches only from the time when bounding spheres meet, which save one
//! point in twenty; huge pages; fewer points per hull, only the outermost in cubes of a quarter of the
//! thickness (1.5 to 1.1 million queries and 42 to 35 for contact search, but a fifth more overlap); fewer
//! searches along the motion (a third fewer points, the same time: the first access waits for memory).

use std::collections::BTreeMap;
use std::path::Path;

use brisance::mesh_file::read_mesh;
use brisance_benches::pile;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use sim::scene::Scene;
use sim::{MeshData, Settings, World, build};

/// The scene of `cargo xtask demo`, `frames` frames after the fracture of the bunny.
fn broken_bunny(frames: usize) -> World {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes");
    let text = std::fs::read_to_string(folder.join("bunny.toml")).expect("the scene is there");
    let scene = Scene::from_toml(&text).expect("the scene is valid");
    let meshes: BTreeMap<_, _> = scene
        .mesh_files()
        .map(|file| {
            let mesh = read_mesh(&folder.join(file)).expect("a valid mesh");
            (file.to_owned(), MeshData::Surface(mesh.into()))
        })
        .collect();
    let (mut world, _) = build(&scene, &meshes).expect("a valid world");
    while world.step().events.fractures.is_empty() {}
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

fn pile_frame(c: &mut Criterion) {
    let fragments = pile::fragments(1000, pile::CollisionGeometry::Hulls);
    let settings = Settings { sleep: false, ..Settings::default() };
    for ground in [pile::Ground::Plane, pile::Ground::Box] {
        let (mut world, _) = pile::world(&fragments, ground, settings);
        for (when, frame) in [("falling", 4), ("impact", 30), ("settled", 240)] {
            while world.frame() < frame {
                world.step();
            }
            let row = format!("pile frame, {} bodies, {ground:?}, {when}", world.len());
            c.bench_function(&row, |b| {
                b.iter_batched(|| world.clone(), |mut world| world.step(), BatchSize::SmallInput);
            });
        }
    }
}

criterion_group!(benches, frame, pile_frame);
criterion_main!(benches);
