//! Loops over nodes and tetrahedra.

use rayon::prelude::*;

/// The values of `of` at `0..count`, on all threads in tasks of at least `task` values. A loop that
/// is too short for two tasks runs on the calling thread: dispatch to the pool takes about 10 us,
/// as long as 1,000 stresses.
pub(crate) fn map<T: Send>(
    count: usize,
    task: usize,
    of: impl Fn(usize) -> T + Sync + Send,
) -> Vec<T> {
    if count < 2 * task {
        (0..count).map(of).collect()
    } else {
        (0..count).into_par_iter().with_min_len(task).map(of).collect()
    }
}
