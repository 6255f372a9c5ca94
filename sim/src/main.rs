//! The one binary: maps a result to an exit status.

use fencepost::cli;
use std::process::ExitCode;

/// A run makes and drops many small things; this allocator does it in half the instructions of the
/// system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::main(std::env::args_os()) {
        Ok(outcome) => ExitCode::from(outcome.status()),
        Err(failure) => {
            cli::tell(format_args!("error: {failure}"));
            ExitCode::from(2)
        }
    }
}
