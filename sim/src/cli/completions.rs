//! `fencepost completions SHELL`: the script also offers the names of locks, faults and formats.

use super::arguments::Arguments;
use super::output::print;
use super::{Failure, Outcome, explain};
use crate::boundary::quantity::QUANTITIES;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use fencepost_clients::{CLIENTS, Coordinator};
use fencepost_faults::FAMILIES;
use fencepost_reports::Kind;
use fencepost_reports::format::FORMATS;

/// Prints the script.
pub(crate) fn completions(shell: Shell) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_names(Arguments::command()), "fencepost", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::AsExpected)
}

/// The command with the values that its arguments are looked up by when they are read.
fn with_names(command: Command) -> Command {
    command.mut_args(offered).mut_subcommands(with_names)
}

fn offered(argument: Arg) -> Arg {
    let names: Vec<&str> = match argument.get_id().as_str() {
        "client" => CLIENTS.iter().map(|client| client.name).chain(["all"]).collect(),
        "coordinator" => Coordinator::ALL.iter().map(|one| one.name()).collect(),
        "fault" => FAMILIES.iter().map(|family| family.name()).collect(),
        "format" => FORMATS.iter().map(|format| format.name()).collect(),
        "kind" => Kind::ALL.iter().map(|kind| kind.name()).collect(),
        "vary" => QUANTITIES.iter().map(|quantity| quantity.name).collect(),
        "name" => explain::names(),
        _ => return argument,
    };
    argument.value_parser(PossibleValuesParser::new(names))
}
