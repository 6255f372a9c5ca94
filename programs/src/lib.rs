//! Runs unmodified programs of any language in a world whose time, network and randomness the
//! caller simulates.
//!
//! A [`Group`] is one machine's processes: the started program and every process that it forks.
//! [`Group::step`] runs its threads, one at a time and in a fixed order, until each of them waits
//! for something. It returns their network [`Request`]s and the time at which one of them
//! continues. The driver answers by [`Group::tell`] and steps the group again once there is
//! something new. Without steps the group does not run: that is a pause. Dropping it kills it.
//!
//! A group may be a server, too: [`Group::incoming`] is a connection from another machine.
//! [`SyncedFiles`] has the content of its files at their last sync, to restore a folder to it.
//!
//! ptrace traces the processes, with a seccomp filter that stops a thread at every system call that
//! could wait, tell the time or communicate; all other calls run at native speed. Programs read
//! clocks without a call, from a page that the tracer shares with each process (`group/looks.rs`).
//! It preloads no library, so it also covers static binaries and raw system calls. Follow a call
//! from `group::Group::step` to `calls::Group::call` and the files next to it, one for each kind of
//! call.
//!
//! Entry points: [`check`] a [`Launch`], then [`Group::start`], [`Group::step`], [`Group::tell`].
//! The crate has no features. On other platforms than Linux on x86-64 the same names exist, and
//! starting fails.
//!
//! The crate does not know what the programs do, which machines they contact, or why they are
//! paused.

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
