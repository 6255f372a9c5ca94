//! Users' own programs as the lock under test: how one becomes the software of a host.
//!
//! A program is traced by `fencepost-programs`, whose group of processes is stepped by a task of
//! its host ([`host`]): connects, bytes, clocks and timers are those of [`Env`], so pauses,
//! crashes, clock faults and the network reach it like any other process. It tells the judge
//! ([`judge`]) what it does with the lock, and reads and writes the guarded value at the storage.

mod complaint;
pub(crate) mod desk;
pub(crate) mod host;
mod judge;
mod leases;
pub mod ran;
pub mod record;
pub(crate) mod resp;
mod tokens;
pub mod watched;

pub use crate::setup::scenario::program::{InvalidProgram, Program, ProgramDeployment};

/// Whether a program can be started at all. Errors are one line.
pub fn check(program: &Program) -> Result<(), InvalidProgram> {
    fencepost_programs::check(&host::launch_for_check(program)).map_err(|error| {
        InvalidProgram::Start { name: program.name.clone(), why: error.to_string() }
    })
}
