//! Runs machines behind real TCP, or as guests of another world ([`serve_guest`]).
//!
//! This example serves `Echo`, the machine on the front page of [`fencepost_machine`]:
//!
//! ```
//! # use fencepost_machine::{Input, Machine, Now, Output, Outputs};
//! # struct Echo;
//! # impl Machine for Echo {
//! #     fn handle(&mut self, input: Input<'_>, _: Now, out: &mut Outputs) {
//! #         if let Input::Received { connection, bytes } = input {
//! #             out.commands += 1;
//! #             out.list.push(Output::Send { connection, bytes: bytes.to_vec().into() });
//! #         }
//! #     }
//! # }
//! use fencepost_serve::{Announcement, Files, Member, Serving, StopOn, listen, serve};
//! use std::{io::{BufRead, BufReader, Write}, net::TcpStream, ops::ControlFlow};
//!
//! let start = || {
//!     let listener = listen([127, 0, 0, 1].into(), 0, 1)?.remove(0);
//!     let (boot, files) = (Box::new(|_| Box::new(Echo) as _), Files::none());
//!     Serving::start(vec![Member { role: "echo", boot, files, listener }])
//! };
//! serve(StopOn::Signal, start, |announcement| {
//!     let Announcement::Ready(line) = announcement else { return ControlFlow::Continue(()) };
//!     let mut stream = TcpStream::connect(line.trim_start_matches("ready echo=")).unwrap();
//!     stream.write_all(b"hello\n").unwrap();
//!     assert_eq!(BufReader::new(stream).lines().next().unwrap().unwrap(), "hello");
//!     ControlFlow::Break(())
//! })?;
//! # Ok::<(), fencepost_serve::ServeError>(())
//! ```
//!
//! In [`Serving`], each machine has its own thread. Each connection's task passes on at most one
//! buffer at a time, so a client that floods the server waits for its turn. During a long input,
//! the machine can ask the driver to poll its sockets ([`fencepost_machine::InputDriver`]).
//!
//! Entry points: [`listen`] opens listeners, [`Serving`] holds running servers on the real clock,
//! and [`serve`] runs them. [`serve_staged`] serves machines that keep their own time, such as
//! those of a [`Stage`], which injects faults. The crate has no Cargo features.

#![forbid(unsafe_code)]

mod computer;
mod connection;
mod event;
mod files;
mod guest;
mod host;
mod platform;
mod serving;
mod stage;
mod staged;
mod stop;
mod stream;
mod thread;

pub use computer::{clocks, wall_clock};
pub use files::Files;
pub use guest::{ByteStream, Crash, GuestHardware, SharedDisk, StartState, serve_guest};
pub use host::MachineBuilder;
pub use serving::{Announcement, Member, Serving, announced, listen};
pub use stage::{
    LostMessage, MachineRebuilder, Matcher, Place, Record, Stage, StageRecord, StagedServer, Start,
    Trap,
};
pub use staged::{PreparedServers, Sent, ServedMachines, serve_staged, stage};
pub use stop::StopOn;

use std::ops::ControlFlow;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("{0}")]
    Options(String),
    #[error("cannot listen on {address}: {error}")]
    Listen { address: String, error: std::io::Error },
    #[error("{}: {error}", .path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("{}: {what}", .path.display())]
    Damaged { path: PathBuf, what: String },
    #[error(
        "folder {} is in use by process {holder}: use another folder, or stop that process",
        .folder.display()
    )]
    InUse {
        folder: PathBuf,
        /// Process id of the server that has locked the folder.
        holder: String,
    },
    #[error("cannot start the servers: {0}")]
    System(std::io::Error),
}

/// Serves until the event that `stop_on` names, or until all servers have stopped. Passes the ready
/// line and warnings to `announce`, which can end the servers by returning `Break`. Fails if the
/// servers cannot start, or if a server fails.
pub fn serve(
    stop_on: StopOn,
    start: impl FnOnce() -> Result<Serving, ServeError>,
    announce: impl FnMut(Announcement<'_>) -> ControlFlow<()>,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::System)?;
    runtime.block_on(async {
        let stop = stop::requested(stop_on).map_err(ServeError::System)?;
        start()?.announcing(stop, announce).await
    })
}
