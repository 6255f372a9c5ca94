//! Runs user-supplied programs as the lock under test.
//!
//! `fencepost-programs` traces a program, and a task on the program's host steps the program's
//! processes ([`host`]). Connections, bytes, clocks and timers are those of [`Env`], so faults
//! affect a program like any other process. A program reports its use of the lock to the judge
//! ([`judge`]).

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

/// Checks that a program can be started, and that the coordinator has the servers that it needs.
pub fn check(program: &Program) -> Result<(), InvalidProgram> {
    program.check_servers()?;
    fencepost_programs::check(&host::launch_for_check(program)).map_err(|error| {
        InvalidProgram::Start { name: program.name.clone(), why: error.to_string() }
    })
}
