//! Fracture events: complete fragments with particles, moments and bonds.
//!
//! Run with `RAYON_NUM_THREADS=1` for the single-thread figures. Ms of one processor while others ran,
//! the least of 360 events, and medians of 15 beside OpenVDB 10 (`cargo xtask peers fracture`), which
//! intersects and parts level sets only:
//!
//! | event | nodes | pieces | least | median | OpenVDB |
//! |---|---|---|---|---|---|
//! | wall voronoi | 150 x 10 x 100 | 25 | 2.5 | 2.6 | 40.7 |
//! | wall radial | 150 x 10 x 100 | 21 | 1.8 | 1.9 | 34.4 |
//! | table | 150 x 10 x 100 | 100 | 5.5 | 5.9 | 104.4 |
//! | cylinder | 55 x 105 x 55 | 25 | 5.5 | 5.9 | 56.4 |
//! | bunny | 70 x 60 x 45 | 35 | 3.3 | 3.5 | 40.3 |
//!
//! What was gained of the cylinder's 7.6 ms, by the samples of profiles: 1.2 by cuts that know their pair
//! of pieces, areas of planes from sums over their edges, and labels beside an edge that are compared
//! together; 0.7 by particles looked up row by row as nodes are in memory; 0.2 by the rest. What is left
//! is spread evenly: level sets 24 % (the pieces' boxes hold 750,876 nodes for a grid of 317,625), cuts
//! 16 %, particles 13 %, owners 12 %, pieces 12 %. Tiles of other sizes are no faster. The loops over
//! level sets wait for four lanes of SSE2 and for memory.
//!
//! A piece of ten of a sphere of 53^3 nodes holds 88 KB of samples, 34 KB of points and 17 KB of the
//! tree over them. Its surface would take 152 KB, and is made when it is drawn. `scenes/table_1000.toml`
//! takes 1.70 GiB at most (`VmHWM`) up to its 72nd of 120 frames, with 8,799 bodies since the 48th: two
//! thirds of it are those three, and it grows by about 1 MB a frame.

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
