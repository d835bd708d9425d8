//! Fracture events: complete fragments with particles, moments and bonds.
//!
//! Run with `RAYON_NUM_THREADS=1` for the single-thread figures. Ms of one processor while others ran, the
//! minimum of 360 events, and medians of 15 beside OpenVDB 10 (`cargo xtask peers fracture`), which only
//! intersects level sets and separates their components:
//!
//! | event | nodes | pieces | least | median | OpenVDB |
//! |---|---|---|---|---|---|
//! | wall voronoi | 150 x 10 x 100 | 25 | 2.5 | 2.6 | 40.7 |
//! | wall radial | 150 x 10 x 100 | 21 | 1.8 | 1.9 | 34.4 |
//! | table | 150 x 10 x 100 | 100 | 5.5 | 5.9 | 104.4 |
//! | cylinder | 55 x 105 x 55 | 25 | 5.5 | 5.9 | 56.4 |
//! | bunny | 70 x 60 x 45 | 35 | 3.3 | 3.5 | 40.3 |
//!
//! Gains on the 7.6 ms of the cylinder, from profiles: 1.2 by cuts with a known pair of pieces, areas of
//! planes from sums over their edges, and joint comparison of labels beside an edge; 0.7 by particle look-ups
//! row by row in memory order; 0.2 by the rest. The figures of the table are from then. Later gains, by
//! alternating runs of old and new programs on a busy machine, 250 events each, minimum in ms: wall 2.5 to
//! 2.4, radial 1.8 as before, table 5.6 to 5.1, cylinder 5.6 to 5.1, bunny 3.3 to 3.1. Level sets of the
//! cylinder went from 1.60 to 1.15: 0.3 by choosing four planes of a tile together, 0.15 by AVX2; owners from
//! 0.95 to 0.85 by eight rows together.
//!
//! The remaining time of the cylinder, ms: level sets 1.15 (the boxes of the pieces hold 750,876 nodes for a
//! grid of 317,625), cuts 1.05 (half of it the search for ends among 25,394 edges), pieces 0.9, owners 0.85,
//! particles of the parent 0.6, the rest 0.6. All but level sets take some 70 ns for each of 13,518 runs,
//! mostly unpredictable branches: AVX2 for the whole program would save at most 0.2 there, 16-bit labels 0.2,
//! values at particles from one look-up of the cell nothing.
//!
//! The same events on exact bodies, collision geometry included (hulls, or level sets and surface points of
//! pieces that are not convex). Medians of 40 runs in ms, on exact and sampled bodies, in one program:
//!
//! | event | exact | sampled |
//! |---|---|---|
//! | wall voronoi | 0.71 | 2.95 |
//! | wall radial | 0.24 | 2.2 |
//! | table | 2.3 | 6.2 |
//! | cylinder | 2.1 | 7.0 |
//! | bunny | 8.8 | 3.9 |
//!
//! In the bunny, clipping its faces by the 86 nearby cells takes about 3 ms, level sets of 40 pieces 1.5,
//! surface points 2, connected components and moments 1.
//!
//! Shared pieces of copies (`placement = "snapped"` of the spheres in place of `"turned"`), eight frames on
//! one thread: `scenes/table_25.toml` takes 23 MB, not 59, and 1.2 s of processor time, not 1.5;
//! `scenes/table_100.toml` 37 MB, not 156, and 2.0 s, not 2.6.
//!
//! A piece of ten of a sphere of 53^3 nodes holds 88 KB of samples, 34 KB of points and 17 KB of the tree
//! over the points. Its surface would take 152 KB, and is created on drawing. `scenes/table_1000.toml` takes
//! 1.70 GiB at most (`VmHWM`) up to its 72nd of 120 frames, with 8,799 bodies since the 48th. Samples, points
//! and trees are two thirds of it, and it grows by about 1 MB a frame.

use std::hint::black_box;

use brisance_benches::event::events;
use criterion::{Criterion, criterion_group, criterion_main};

fn fracture(criterion: &mut Criterion) {
    for event in events() {
        let name = format!("{} -> {}", event.name, event.run().fragments.len());
        criterion.bench_function(&name, |b| b.iter(|| black_box(event.run())));
    }
}

criterion_group!(benches, fracture);
criterion_main!(benches);
