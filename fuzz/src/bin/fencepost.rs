//! The program as the fuzz targets are built: not optimised, instrumented, with another allocator.
//! Its histories are those of every other build.

use std::process::ExitCode;

fn main() -> ExitCode {
    match fencepost::cli::main(std::env::args_os()) {
        Ok(outcome) => ExitCode::from(outcome.status()),
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}
