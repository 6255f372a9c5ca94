//! Runs unmodified programs with simulated time, network and randomness.
//!
//! This example runs a program that sleeps for an hour of virtual time:
//!
//! ```
//! # if cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) { return Ok(()) }
//! use fencepost_programs::{Clocks, Group, Launch};
//!
//! let launch = Launch {
//!     command: ["/bin/sh", "-c", "sleep 3600; date +%s"].map(str::to_owned).into(),
//!     hosts: [("client-1".to_owned(), [10, 0, 0, 1].into())].into(),
//!     host_name: "client-1".to_owned(), first_process: 1_001, seed: 7, machine_seed: 1,
//!     folder: "/".into(), environment: [].into(), aliases: [].into(), user: None,
//!     sync_us: None, temporary: Vec::new(),
//! };
//! let mut group = Group::start(&launch)?;
//! let mut now = Clocks { wall_us: 1_700_000_000_000_000, monotonic_us: 0 };
//! while let Some(wait_us) = group.step(now).wake_after_us {
//!     now.monotonic_us += wait_us;
//!     now.wall_us += wait_us as i64;
//! }
//! assert_eq!(group.take_output()[0].bytes, b"1700003600\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Group`] is a program with all processes that it forks. [`Group::step`] runs their threads
//! one at a time and in a fixed order. The returned [`Step`] contains network [`Request`]s and the
//! time of the next step. [`Group::deliver`] takes network events ([`News`]), and
//! [`Group::incoming`] opens a connection to a server. To pause a group, do not step it; to kill
//! it, drop it. [`SyncedFiles`] restores a folder to its last syncs.
//!
//! The crate traces with ptrace. A seccomp filter stops a thread at system calls that wait for
//! other threads, read a clock or communicate; many others run at native speed. Programs usually
//! read clocks from a page that the tracer shares with them (`group/clock_reads.rs`). Static
//! binaries and raw system calls work, because no library is preloaded.
//!
//! The entry points are [`check`], [`Group::start`] and [`Group::step`]. The crate has no Cargo
//! features. On systems other than Linux on x86-64, every start fails.

mod interface;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod calls;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod clock;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod file;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod group;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
#[path = "unsupported.rs"]
mod group;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod names;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod process;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod ready;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod run;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod segment;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod stand_ins;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod start;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod synced;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod sys;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod temporary;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod vdso;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub use group::SyncedFiles;
pub use group::{Group, check, find_program, name_of_call};
pub use interface::{
    CallMade, Channel, Clocks, Ending, FilesUsed, Launch, News, Output, Request, SocketId,
    StartError, Step,
};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use synced::SyncedFiles;
