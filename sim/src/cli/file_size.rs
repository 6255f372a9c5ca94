//! Handles the limit on file sizes (`ulimit -f`), so that a write beyond it returns an error and
//! does not kill the process.

use super::Failure;

/// Number of the signal SIGXFSZ on Linux and macOS. By default, it ends a process that writes
/// beyond the limit.
#[cfg(unix)]
const FILE_SIZE_EXCEEDED: i32 = 25;

#[cfg(unix)]
pub(crate) fn outlive_limit() -> Result<(), Failure> {
    // The handler prevents the default action. Its flag is not read, because the write itself
    // returns an error.
    signal_hook::flag::register(FILE_SIZE_EXCEEDED, std::sync::Arc::default())
        .map(drop)
        .map_err(|error| Failure::wrong(format!("signals: {error}")))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
pub(crate) fn outlive_limit() -> Result<(), Failure> {
    Ok(())
}
