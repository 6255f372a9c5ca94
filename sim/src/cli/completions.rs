use super::arguments::Arguments;
use super::output::print;
use super::{Failure, Outcome, explain, list, load};
use crate::studies::boundary::quantity::QUANTITIES;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use fencepost_clients::{CLIENTS, Coordinator};
use fencepost_faults::FAMILIES;
use fencepost_reports::Kind;
use fencepost_reports::documents::{boundary, certificate, judged, matrix};
use fencepost_reports::show::format::{FORMATS, Format, compare};
use fencepost_reports::show::view::View;

pub(crate) fn completions(shell: Shell) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_names(Arguments::command()), "fencepost", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::AsExpected)
}

fn with_names(command: Command) -> Command {
    let name = command.get_name().to_owned();
    command.mut_args(|argument| offered(&name, argument)).mut_subcommands(with_names)
}

fn offered(command: &str, argument: Arg) -> Arg {
    let names: Vec<&str> = match argument.get_id().as_str() {
        "client" => clients(command),
        "coordinator" => Coordinator::ALL.iter().map(|one| one.name()).collect(),
        "fault" => FAMILIES.iter().map(|family| family.name()).collect(),
        "format" => formats(command),
        "kind" => Kind::ALL.iter().map(|kind| kind.name()).collect(),
        "vary" => QUANTITIES.iter().map(|quantity| quantity.name).collect(),
        "name" => explain::names(),
        _ => return argument,
    };
    argument.value_parser(PossibleValuesParser::new(names))
}

fn clients(command: &str) -> Vec<&'static str> {
    let all = CLIENTS.iter();
    match command {
        "load" => all.filter(|lock| load::takes(lock)).map(|lock| lock.name).collect(),
        "boundary" | "explore" => all.map(|lock| lock.name).collect(),
        _ => all.map(|lock| lock.name).chain(["all"]).collect(),
    }
}

fn formats(command: &str) -> Vec<&'static str> {
    fn names<T: Clone>(views: &[View<T>]) -> Vec<&'static str> {
        views.iter().map(|view| view.name).collect()
    }
    match command {
        "list" => names(list::VIEWS),
        "check" => names(judged::VIEWS),
        "explore" => names(certificate::VIEWS),
        "boundary" => names(boundary::VIEWS),
        "load" => names(fencepost_reports::documents::load::VIEWS),
        "matrix" => names(matrix::VIEWS),
        "compare" => names(compare::VIEWS),
        "sweep" | "merge" => {
            FORMATS.iter().filter_map(Format::of_sweeps).map(|format| format.name()).collect()
        }
        _ => FORMATS.iter().map(|format| format.name()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(command: &str, id: &str) -> Vec<String> {
        let all = with_names(Arguments::command());
        let command = all.find_subcommand(command).expect("such a command");
        let mut arguments = command.get_arguments();
        let argument =
            arguments.find(|argument| argument.get_id() == id).expect("such an argument");
        let values = argument.get_possible_values();
        values.iter().map(|value| value.get_name().to_owned()).collect()
    }

    #[test]
    fn a_command_is_offered_the_formats_that_it_takes() {
        for (command, formats) in [
            ("list", &["text", "json"][..]),
            ("check", &["text", "json"]),
            ("explore", &["text", "html", "json"]),
            ("boundary", &["text", "svg", "html", "json"]),
            ("load", &["text", "svg", "html", "json"]),
            ("matrix", &["text", "markdown", "html", "json"]),
        ] {
            let mut offered = values(command, "format");
            let mut expected = formats.to_vec();
            offered.sort();
            expected.sort();
            assert_eq!(offered, expected, "{command}");
        }
        assert!(values("run", "format").contains(&"perfetto".to_owned()));
        let of_sweeps = values("sweep", "format");
        assert!(of_sweeps.contains(&"junit".to_owned()), "{of_sweeps:?}");
        assert!(!of_sweeps.contains(&"perfetto".to_owned()), "it is refused: {of_sweeps:?}");
    }

    #[test]
    fn a_command_that_takes_one_lock_is_not_offered_all_of_them() {
        for (command, takes_all) in
            [("run", true), ("sweep", true), ("matrix", true), ("boundary", false), ("load", false)]
        {
            let offered = values(command, "client");
            assert_eq!(offered.contains(&"all".to_owned()), takes_all, "{command}");
            assert!(offered.contains(&"single-node".to_owned()), "{command}");
        }
        assert!(!values("load", "client").contains(&"redlock".to_owned()), "it is refused");
    }
}
