//! Survives the limit on file sizes (`ulimit -f`), so that a write beyond it only fails.

use super::Failure;

/// Number of SIGXFSZ on Linux and macOS, which by default ends the process during a write.
#[cfg(unix)]
const FILE_SIZE_EXCEEDED: i32 = 25;

#[cfg(unix)]
pub(crate) fn outlive_limit() -> Result<(), Failure> {
    // No code reads the flag, because the write returns an error.
    signal_hook::flag::register(FILE_SIZE_EXCEEDED, std::sync::Arc::default())
        .map(drop)
        .map_err(|error| Failure::wrong(format!("signals: {error}")))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
pub(crate) fn outlive_limit() -> Result<(), Failure> {
    Ok(())
}
