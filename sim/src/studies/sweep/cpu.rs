//! The processor time of a thread, where available; displayed, and never in a history.

/// The processor time of the current thread at one moment, in microseconds.
pub struct ThreadClock(Option<u64>);

impl ThreadClock {
    /// Starts to measure.
    pub fn start() -> ThreadClock {
        ThreadClock(thread_micros())
    }

    /// The thread's time since the start; `None` where the system cannot tell.
    pub fn micros(&self) -> Option<u64> {
        Some(thread_micros()?.saturating_sub(self.0?))
    }
}

/// POSIX `CLOCK_THREAD_CPUTIME_ID`.
#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
fn thread_micros() -> Option<u64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(u64::try_from(time.tv_sec).ok()? * 1_000_000 + u64::try_from(time.tv_nsec).ok()? / 1_000)
}

#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "freebsd")))]
fn thread_micros() -> Option<u64> {
    None
}
