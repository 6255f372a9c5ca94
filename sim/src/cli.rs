//! The command line of fencepost: arguments, output and exit status.

mod arguments;
mod boundary;
mod check;
mod checkpoint_file;
mod choice;
mod compare;
mod completions;
mod counted;
mod docs;
mod expect;
mod explain;
mod explore;
mod export;
mod failure;
mod file_size;
mod findings;
mod gallery;
mod interrupt;
mod list;
mod load;
mod lock_scripts;
mod man;
mod matrix;
mod memory;
mod merge;
mod negative;
mod new;
mod options;
mod outcome;
mod output;
mod progress;
mod project;
mod read;
mod reality;
mod replay;
mod run;
mod scenario_file;
mod schema;
mod serve;
mod shrink;
mod sweep;

pub use failure::Failure;
pub use outcome::Outcome;
pub use output::log;

use arguments::{Arguments, Command, New};
use clap::Parser;
use std::ffi::OsString;

fn help_of_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.len() > 2 && arguments[1] == "help" {
        arguments.remove(1);
        arguments.push("--help".into());
    }
    arguments
}

pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Result<Outcome, Failure> {
    let arguments: Vec<OsString> = negative::joined(arguments);
    if let [_, flag] = &arguments[..]
        && (flag == "--help" || flag == "-h" || flag == "help")
    {
        output::print(&Arguments::overview())?;
        return Ok(Outcome::AsExpected);
    }
    let arguments = project::with_project(help_of_command(arguments))?;
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) if !error.use_stderr() => {
            output::print(&error.render().to_string())?;
            return Ok(Outcome::AsExpected);
        }
        Err(error) => return Err(Failure::usage_of::<Arguments>(&error)),
    };
    file_size::outlive_limit()?;
    match arguments.command {
        None => run::run(&arguments.run),
        Some(Command::Run(options)) => run::run(&options),
        Some(Command::Sweep(options)) => sweep::sweep(&options),
        Some(Command::Replay(options)) => replay::replay(&options),
        Some(Command::Shrink(options)) => shrink::shrink(&options),
        Some(Command::Export(options)) => export::export(&options),
        Some(Command::Check(options)) => check::check(&options),
        Some(Command::Merge(options)) => merge::merge(&options),
        Some(Command::Boundary(options)) => boundary::boundary(&options),
        Some(Command::Explore(options)) => explore::explore(&options),
        Some(Command::Matrix(options)) => matrix::matrix(&options),
        Some(Command::Findings(command)) => findings::findings(&command),
        Some(Command::Compare(options)) => compare::compare(&options),
        Some(Command::Reality(options)) => reality::run(&options),
        Some(Command::Gallery(options)) => gallery::gallery(&options),
        Some(Command::Docs(options)) => docs::docs(&options),
        Some(Command::Load(options)) => load::load(&options),
        Some(Command::New(New::Lock(options))) => new::new_lock(&options),
        Some(Command::New(New::Program(options))) => new::new_program(&options),
        Some(Command::List(options)) => list::list(&options),
        Some(Command::Serve(options)) => serve::serve(&options),
        Some(Command::Schema(options)) => schema::schema(&options),
        Some(Command::Explain(options)) => explain::explain(&options),
        Some(Command::Man(options)) => man::man(&options),
        Some(Command::Completions { shell }) => completions::completions(shell),
    }
}
