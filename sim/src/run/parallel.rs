use rayon::prelude::*;

pub(crate) fn in_parallel<'i, I: Sync, T: Send>(
    jobs: usize,
    items: &'i [I],
    work: impl Fn(&'i I) -> T + Sync,
) -> Vec<T> {
    if jobs < 2 {
        return items.iter().map(work).collect();
    }
    match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        // Some items take much longer than others, so each thread takes one item at a time.
        Ok(pool) => pool.install(|| items.par_iter().with_max_len(1).map(&work).collect()),
        Err(_) => items.iter().map(work).collect(),
    }
}
