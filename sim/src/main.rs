//! Entry point of `fencepost`: runs the command and turns its outcome into an exit status.

#[path = "main/panics.rs"]
mod panics;
#[path = "main/standard_output.rs"]
mod standard_output;

use fencepost::cli;
use std::process::ExitCode;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if standard_output::was_closed() {
        cli::log("error: standard output is closed: expected a terminal, a file or a pipe");
        return ExitCode::from(2);
    }
    panics::report_in_one_line();
    match std::panic::catch_unwind(|| cli::main(std::env::args_os())) {
        Ok(Ok(outcome)) => ExitCode::from(outcome.status()),
        Ok(Err(failure)) => {
            cli::log(format_args!("error: {failure}"));
            ExitCode::from(2)
        }
        Err(_) => ExitCode::from(2),
    }
}
