//! Measurement of processor time.

use cpu_time::ProcessTime;

/// The median processor time of several runs, ms, and the result of the last run.
pub fn timed<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    // the first of many small runs warms the caches
    let mut found = run();
    let mut times = Vec::new();
    while times.len() < 5 || (times.len() < 200 && times.iter().sum::<f64>() < 500.0) {
        let start = ProcessTime::now();
        found = run();
        times.push(1e3 * start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], found)
}

/// The `ratio` of every row of `cargo xtask peers`: our time over the peer's, so that at most 1 is
/// good. `None` if either time is missing.
pub fn ratio(ours: Option<f64>, peer: Option<f64>) -> Option<f64> {
    ours.zip(peer).map(|(ours, peer)| ours / peer)
}
