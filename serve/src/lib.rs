//! Machines behind real TCP, on real files, by the real clock; or as guests of another world, on
//! its listeners, connections and clocks ([`serve_guest`]).
//!
//! Each machine has its own thread, and each connection a task that passes on at most one buffer at
//! a time, so that a client that floods the server waits for its turn. During a long input the
//! machine can ask for its sockets to be polled ([`fencepost_machine::Attendant`]).
//!
//! Entry points: [`listen`] at an address for each [`Member`], [`Serving`] is the running servers,
//! and [`serve`] runs them until a signal arrives; [`serve_staged`] does so for servers that keep
//! their own time. [`Files`] are a machine's files. The crate has no features.

#![forbid(unsafe_code)]

mod computer;
mod connection;
mod event;
mod files;
mod guest;
mod host;
mod platform;
mod serving;
mod staged;
mod stop;
mod stream;
mod thread;

pub use computer::{clocks, wall_clock};
pub use files::Files;
pub use guest::{Beginning, ByteStream, Crash, Hardware, SharedDisk, serve_guest};
pub use host::Boot;
pub use serving::{Announcement, Member, Serving, announced, listen};
pub use staged::{Sent, Staged, Staging, serve_staged, stage};

use std::ops::ControlFlow;
use std::path::PathBuf;

/// Reasons why servers cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Contradictory options; the text says which would be valid.
    #[error("{0}")]
    Options(String),
    /// Listening at an address failed.
    #[error("cannot listen at {address}: {error}")]
    Listen {
        /// The address.
        address: String,
        /// The reason.
        error: std::io::Error,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// A file's content was not written by a server.
    #[error("{}: {what}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The problem.
        what: String,
    },
    /// Another server uses the folder.
    #[error(
        "{}: in use by process {holder}: use another folder, or stop that process",
        .folder.display()
    )]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// The id of that server's process.
        holder: String,
    },
    /// The operating system refuses a resource that every server needs.
    #[error("cannot start: {0}")]
    System(std::io::Error),
}

/// Serves until SIGINT or SIGTERM. Calls `announce` once all servers answer requests, and with
/// warnings; `announce` may also end the servers. Fails if the servers cannot start, or a disk
/// fails.
pub fn serve(
    start: impl FnOnce() -> Result<Serving, ServeError>,
    announce: impl FnMut(Announcement<'_>) -> ControlFlow<()>,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::System)?;
    runtime.block_on(async {
        let stop = stop::signal().map_err(ServeError::System)?;
        start()?.announcing(stop, announce).await
    })
}
