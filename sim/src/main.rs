//! The one binary: maps a result to an exit status. Must never know more.

use fencepost::cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::main(std::env::args_os()) {
        Ok(outcome) => ExitCode::from(outcome.status()),
        Err(failure) => {
            anstream::eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}
