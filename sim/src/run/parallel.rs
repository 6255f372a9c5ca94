//! The same work on every item of a list, over threads.

use rayon::prelude::*;

/// What comes of each item, in the order of the items, whichever thread came first. A machine that
/// gives no threads does it alone.
pub(crate) fn in_parallel<'i, I: Sync, T: Send>(
    jobs: usize,
    items: &'i [I],
    work: impl Fn(&'i I) -> T + Sync,
) -> Vec<T> {
    if jobs < 2 {
        return items.iter().map(work).collect();
    }
    match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        // Items take long and not equally long: threads take them one by one.
        Ok(pool) => pool.install(|| items.par_iter().with_max_len(1).map(&work).collect()),
        Err(_) => items.iter().map(work).collect(),
    }
}
