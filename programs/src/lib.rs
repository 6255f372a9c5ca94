//! Runs unmodified programs of any language in a world whose time, network and randomness are
//! simulated by somebody else.
//!
//! A [`Group`] is one machine's processes: the program that was started and every process that it
//! forks. It is a value that is stepped. [`Group::step`] lets its threads run, one at a time and in
//! a fixed order, until each of them waits for something; what they asked of the network comes back
//! as [`Request`]s, together with the time at which one of them wants to go on. The driver answers
//! by [`Group::tell`] and steps the group again once there is something new. While nobody steps the
//! group, nothing of it runs: that is a pause. Dropping it kills it.
//!
//! A group may be a server, too: [`Group::incoming`] is a connection from another machine. What its
//! files held when it synced them last is in [`SyncedFiles`], to take a folder back to that.
//!
//! How it works: the processes are traced by ptrace, with a seccomp filter that stops a thread at
//! every system call that could wait, tell the time or talk to anybody; all other calls run at
//! native speed. Clocks are read without a call, from a page that the tracer shares with each
//! process (`group/looks.rs`). No library is preloaded, so static binaries and programs that make
//! raw system calls are reached too. Follow a call from `group::Group::step` to `calls::Group::call` and the
//! files beside it, one for each kind of call.
//!
//! Entry points: [`check`] whether a [`Launch`] can be started, then [`Group::start`],
//! [`Group::step`], [`Group::tell`]. The crate has no features. Elsewhere than on Linux on x86-64
//! the same names are there, and nothing can be started.
//!
//! The crate does not know what the programs do, who they talk to, or why somebody pauses them.

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
mod stand_ins;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod start;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod sys;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod vdso;

#[cfg(unix)]
mod synced;

pub use group::{Group, check, find_program, name_of_call};
pub use interface::{
    CallMade, Channel, Clocks, Ending, FilesUsed, Launch, News, Output, Request, SocketId,
    StartError, Step,
};
#[cfg(unix)]
pub use synced::SyncedFiles;
