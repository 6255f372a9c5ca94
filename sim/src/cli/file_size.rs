//! Survives the limit on file sizes (`ulimit -f`). A write beyond it fails, and the process
//! continues.

use super::Failure;

/// Number of SIGXFSZ on Linux and macOS. By default the signal ends the process in the middle of a
/// write.
#[cfg(unix)]
const FILE_SIZE_EXCEEDED: i32 = 25;

/// Makes a write beyond the limit fail with an error instead of ending the process.
#[cfg(unix)]
pub(crate) fn outlive_limit() -> Result<(), Failure> {
    // No code reads the flag, because the write returns an error.
    signal_hook::flag::register(FILE_SIZE_EXCEEDED, std::sync::Arc::default())
        .map(drop)
        .map_err(|error| Failure::wrong(format!("signals: {error}")))
}

/// Does nothing, because Windows has no such limit.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
pub(crate) fn outlive_limit() -> Result<(), Failure> {
    Ok(())
}
