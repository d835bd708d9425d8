//! Fracture events: complete fragments with particles, moments and bonds.
//!
//! Run with `RAYON_NUM_THREADS=1` for the single-thread figures. Ms of one processor while others ran,
//! the least of 60 events, and medians of 15 beside OpenVDB 10 (`cargo xtask peers fracture`), which
//! intersects and parts level sets only:
//!
//! | event | nodes | pieces | least | median | OpenVDB |
//! |---|---|---|---|---|---|
//! | wall voronoi | 150 x 10 x 100 | 25 | 3.2 | 3.4 | 38.5 |
//! | wall radial | 150 x 10 x 100 | 21 | 2.2 | 3.9 | 33.4 |
//! | table | 150 x 10 x 100 | 100 | 6.9 | 8.9 | 102.4 |
//! | cylinder | 55 x 105 x 55 | 25 | 7.3 | 8.3 | 59.3 |
//! | bunny | 70 x 60 x 45 | 35 | 3.8 | 4.1 | 39.2 |
//!
//! A piece of ten of a sphere of 53^3 nodes holds 88 KB of samples, 34 KB of points and 17 KB of the
//! tree over them. Its surface would take 152 KB, and is made when it is drawn. `scenes/table_1000.toml`
//! takes 1.62 GiB at most (`VmHWM`) until 8,753 bodies are there, after 24 frames.

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
