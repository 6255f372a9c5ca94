//! Runs a user's programs as the lock under test. ARCHITECTURE.md describes how.

pub(crate) mod desk;
pub mod difference;
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

pub fn check(program: &Program) -> Result<(), InvalidProgram> {
    program.check_servers()?;
    fencepost_programs::check(&host::launch_for_check(program)).map_err(|error| {
        InvalidProgram::Start { name: program.name.clone(), why: error.to_string() }
    })
}
