use super::Failure;
use super::interrupt::end_soon;
use super::output::log;
use super::progress::clock;
use crate::studies::sweep::Stop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const EVERY: Duration = Duration::from_millis(50);
const GRACE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct MemoryBound {
    exceeded_by_holding: AtomicU64,
    ending: Mutex<()>,
}

impl MemoryBound {
    pub(crate) const fn new() -> MemoryBound {
        MemoryBound { exceeded_by_holding: AtomicU64::new(0), ending: Mutex::new(()) }
    }

    pub(crate) fn writing(&self) -> MutexGuard<'_, ()> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn yield_end(&self) {
        std::mem::forget(self.writing());
    }

    /// Stops the sweep once the process uses more than `max` bytes. Until `yield_end`, exits above
    /// 1.5 times `max`, or above `max` if `GRACE` has passed since the first excess.
    pub(crate) fn watch(&'static self, max: u64, stop: &'static Stop) -> Result<(), Failure> {
        held().ok_or_else(|| {
            Failure::wrong(
                "--max-memory works only on Linux: this system does not report memory use",
            )
        })?;
        let watch = move || {
            let mut asked = None;
            while let Some(held) = held() {
                if held > max {
                    self.exceeded_by_holding.fetch_max(held, Ordering::Relaxed);
                    let asked_at = *asked.get_or_insert_with(clock);
                    end_soon(stop);
                    if held > max + max / 2 || asked_at.elapsed() > GRACE {
                        let _ends = self.writing();
                        log(format_args!("error: {}", describe(held, max)));
                        std::process::exit(2);
                    }
                }
                std::thread::park_timeout(EVERY);
            }
        };
        let named = std::thread::Builder::new().name("memory".to_owned());
        named
            .spawn(watch)
            .map(drop)
            .map_err(|error| Failure::wrong(format!("cannot start a thread: {error}")))
    }

    pub(crate) fn kept(&self, max: u64) -> Result<(), Failure> {
        match self.exceeded_by_holding.load(Ordering::Relaxed) {
            0 => Ok(()),
            held => Err(Failure::wrong(describe(held, max))),
        }
    }
}

fn describe(held: u64, max: u64) -> String {
    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
    format!(
        "--max-memory: the sweep stopped because it used {} MiB, more than the limit of {} MiB: \
         with --checkpoint, --resume continues the sweep",
        mebibytes(held),
        mebibytes(max)
    )
}

#[cfg(target_os = "linux")]
fn held() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    pages.checked_mul(u64::try_from(rustix::param::page_size()).ok()?)
}

#[cfg(not(target_os = "linux"))]
fn held() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_the_caller_ends_the_process_the_bound_does_not() {
        let bound = MemoryBound::new();
        drop(bound.writing());
        bound.yield_end();
        assert!(bound.ending.try_lock().is_err(), "the watching thread takes this lock to exit");
    }
}
