//! Turns a write beyond `ulimit -f` into an error, because SIGXFSZ would end the process.

use super::Failure;

#[cfg(unix)]
const FILE_SIZE_EXCEEDED: i32 = 25;

#[cfg(unix)]
pub(crate) fn outlive_limit() -> Result<(), Failure> {
    signal_hook::flag::register(FILE_SIZE_EXCEEDED, std::sync::Arc::default())
        .map(drop)
        .map_err(|error| Failure::wrong(format!("cannot handle signals: {error}")))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
pub(crate) fn outlive_limit() -> Result<(), Failure> {
    Ok(())
}
