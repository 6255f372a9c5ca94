//! The limit on file sizes (`ulimit -f`): a write beyond it fails, and the process continues.

use super::Failure;

/// SIGXFSZ on Linux and macOS; by default it ends the process in the middle of a write.
#[cfg(unix)]
const FILE_SIZE_EXCEEDED: i32 = 25;

/// A write beyond the limit fails with an error instead of ending the process.
#[cfg(unix)]
pub(crate) fn outlive_limit() -> Result<(), Failure> {
    // Nothing reads the flag: the write returns the error.
    signal_hook::flag::register(FILE_SIZE_EXCEEDED, std::sync::Arc::default())
        .map(drop)
        .map_err(|error| Failure::wrong(format!("signals: {error}")))
}

/// Windows has no such limit.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
pub(crate) fn outlive_limit() -> Result<(), Failure> {
    Ok(())
}
