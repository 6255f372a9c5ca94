//! The limit on the size of files (`ulimit -f`): a write beyond it fails, and the process
//! continues.

use super::Failure;
use std::sync::Arc;

/// SIGXFSZ, the same number on Linux and macOS. Its default action ends the process in the middle
/// of a write, and leaves a temporary file behind.
const FILE_SIZE_EXCEEDED: i32 = 25;

/// Makes a write beyond the limit fail with an error instead of ending the process.
pub(crate) fn outlive_limit() -> Result<(), Failure> {
    // Nothing reads the flag: the write returns the error.
    signal_hook::flag::register(FILE_SIZE_EXCEEDED, Arc::default())
        .map(drop)
        .map_err(|error| Failure::wrong(format!("signals: {error}")))
}
