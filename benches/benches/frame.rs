//! A frame of the bunny scene, once the bunny is in pieces, and of a pile of a thousand fragments on a
//! plane and on a large box.
//!
//! Run with `RAYON_NUM_THREADS=1` for the single-thread figures. What each step gained, a pile of
//! 1000 awake and settled, ms of one processor a frame under load (`peers_pile`, Rapier 9):
//!
//! - 84: rows of single contacts, every pair looked at in every frame
//! - 86: lanes of four pairs in colors: the solver a quarter faster, contacts still half of all
//! - 60: samples asked through one matrix
//! - 32: contacts looked for again after collisions that send bodies far, and gentler push-out: the
//!   pile comes to rest, and 95 % of its pairs are used again
//! - 28: 4 sweeps over all contacts instead of 10, and 4 to push out
//! - 61: pairs bounce at all their contacts together, to 1e-9, and are looked at on their way
//! - 29: what trembles below a share of what gravity gives in the step rests (`resting_share`): 100
//!   pairs in place of 7,000 collide; contacts are prepared once for all sweeps of collisions
//! - 15: 3 sweeps a level in shock propagation, and pairs whose speeds change much solved again at
//!   once, instead of 10: ten keep towers standing but shake wide piles
//! - 13: sweeps on vectors of AVX2
//! - 16 (of an idle but slower hour, Rapier 9.4): pairs count as rough from 0.5 mm/s instead of 3, or a
//!   cube slides 0.2 mm too far
//! - 12.8 to 12.2: batches allocated once a frame, of pairs with as many contacts each (3,000 bodies: 80 to
//!   66, much of it page faults)
//! - 3,000 bodies, 66 to 57: a shorter chain of dependent operations in a contact, which is what a sweep
//!   waits for: slip by the part of the response along the tangents, and no root where all stick. Eight
//!   lanes instead of four do not help
//! - 13.2 to 9.9 with 1,100 bodies that lie still: pairs that no body of changed are not swept again. With
//!   a coarser bound on change piles do not come to rest
//! - 64 bytes a contact of what all passes read, the rest apart: 9.9 to 9.4 with 1,100 bodies, nothing
//!   beyond the noise with 3,000
//! - the broad phase is kept from frame to frame: 3.5 to 3.0 for finding contacts
//!
//! Asleep, 8,992 bodies on two threads: 5,700 were still awake after 20 s, 420 ms a frame, and some 600
//! after 13 s since loads of what lay there before may change by a fifth instead of a tenth. To wake a body
//! without what sleeps on it is faster still (all asleep after 8 s, 10 ms), but holds down what should
//! tip.
//!
//! At impact, 1,000 bodies: 117 to 95, of which 60 are spent on finding contacts: what may come near in
//! a step is found once and asked again at other times (1.3 to 0.8 million points a frame). Not worth
//! keeping: to use contacts of an earlier look of the same step again. Six looks after collisions do
//! no better than two.
//!
//! - 56 to 42 for finding contacts, on an idle machine: points are asked eight at a time, in a tree eight
//!   wide; looks on the way end at the first point that is deep enough and nothing is kept from one to
//!   the next; what leads out the far side is told by two distances, not a normal; only bodies that
//!   strayed are looked at again, however many. 8,992 bodies: 2,245 to 1,190
//! - 14.6 to 11.8 for collisions: pairs bounce on their Delassus operator
//!
//! - hulls meet by corners and edges, not by points and samples: 37 to 19 for finding contacts, 3,000
//!   bodies 241 to 113; overlaps of 2.7 mm in the median and 12 at the 99th percentile become 0.2 and 0.4
//! - pairs of hulls that move less than half their thickness are looked at where they end: 18 to 15; what
//!   stays above a plane is not looked at (falling, 4.5 to 2.7). To look again only at bodies that were
//!   sent a tenth of their radius off, not a twentieth, saves 2, and lets plates through each other
//! - hulls that overlap deeply part by the shortest way: the largest overlap of 3,000 from 96 to 4 mm
//! - bodies are pushed out once, not in each round of the positions
//! - rows of 400 bytes in place of 660, 3,000 bodies, all of a frame: 159 to 141, settled 55.6 to 51.8
//! - pairs bounce by exact impulses of single contacts and Newton steps on all that push: 11 to 4 for
//!   collisions, 3,000 bodies 80 to 25
//!
//! Not worth it: to solve rough pairs again only once in piles (a third of the time of shock propagation,
//! but forty towers of twenty boxes lean by 0.4 m in 20 s), or to call pairs rough from 5 mm/s (towers
//! drift by 3 mm in 5 s instead of 0.5).
//!
//! 3,000 bodies at impact and settled, in ms (Rapier 60, 32), from 175 and 80:
//!
//! - 125 and 48: rough pairs are solved again only where one or two hold a body. That is what towers and
//!   houses of cards need, and piles lie stiller without it. With one alone houses of cards fall
//! - what tips over on a plane is met where it ends, not only by the edge that it stands on: it sank in by
//!   19 mm, and pushing it out shook the rest for good
//! - 110: hulls are told apart by the planes that face each other, corners and edges looked at only near
//!   the plane that parts best, and pairs that move far taken where they end if they stay on one side
//! - 38: overlaps up to twice the slop are let be, sweeps end at changes of 1e-5 m/s (1e-6), and masses for
//!   shock propagation are worked out only where something changes
//! - 34, and 1,000 bodies 9.5 to 7.5: larger parts of pairs, of memory as much as they take
//!
//! Of hulls by samples much waits for memory: where all bodies share eight shapes it takes 27 in place of 42.
//! Not worth keeping: planes that part bodies, by Frank and Wolfe's search on supporting points, which
//! spare half the points of pairs that do not touch and cost as much; to look only from when bounding
//! spheres meet, which spares one point in twenty; huge pages; fewer points a hull, by the outermost in
//! cubes of a quarter of the thickness (1.5 to 1.1 million asked and 42 to 35 for finding contacts, but a
//! fifth more overlap); fewer looks on the way (a third fewer points, the
//! same time: what is looked at first waits for memory).

use std::collections::BTreeMap;
use std::path::Path;

use brisance::mesh_file::read_mesh;
use brisance_benches::pile;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use sim::scene::Scene;
use sim::{MeshData, Settings, World, build};

/// The scene of `cargo xtask demo`, `frames` after its bunny broke.
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
    let fragments = pile::fragments(1000, pile::Known::Hulls);
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
