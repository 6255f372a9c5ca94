//! Runs a user's programs as the lock under test.
//!
//! `fencepost-programs` traces a program, and a task on the program's host steps its processes
//! ([`host`]). The program uses the connections, clocks and timers of [`Env`], so faults affect it
//! like any other process. It reports its use of the lock to the judge ([`judge`]).

pub(crate) mod desk;
mod error_text;
pub(crate) mod host;
mod judge;
mod leases;
mod places;
pub mod ran;
pub mod record;
pub(crate) mod resp;
mod tokens;
pub mod watched;

pub use crate::setup::scenario::program::{InvalidProgram, Program, ProgramDeployment};

/// Checks that the program can start, and that the coordinator has the servers that it needs.
pub fn check(program: &Program) -> Result<(), InvalidProgram> {
    program.check_servers()?;
    fencepost_programs::check(&host::launch_for_check(program)).map_err(|error| {
        InvalidProgram::Start { name: program.name.clone(), why: error.to_string() }
    })
}
