//! Errors that end a command with exit status 2.

use crate::engine::EngineError;
use crate::files::FileError;
use std::fmt;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Usage(String),
    #[error("{path}: {error}", path = .path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("{path}: {what}", path = .path.display())]
    Content { path: PathBuf, what: String },
    #[error("seed {seed}, client {client}, fault {fault}: {error}")]
    Engine { seed: u64, client: String, fault: String, error: EngineError },
    #[error("{0}")]
    Mismatch(String),
    #[error("cannot write to standard output: {0}")]
    Output(std::io::Error),
}

impl Failure {
    pub(crate) fn usage(error: &clap::Error) -> Failure {
        let text = error.render().to_string();
        let words: Vec<&str> = text
            .lines()
            .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
            .flat_map(str::split_whitespace)
            .collect();
        let text = words.join(" ");
        let mut parts = text.split(" tip: ");
        let message = parts.next().unwrap_or_default();
        let message = expectation(message.strip_prefix("error: ").unwrap_or(message));
        let (subject, expected) = message.split_once(": ").unwrap_or((&message, ""));
        let mut line = subject.to_owned();
        let mut advice = String::new();
        for tip in parts {
            match tip.split_once(" exist") {
                Some((_, names)) => {
                    let names = names.trim_start_matches(['s', ':', ' ']);
                    line += &format!(" (did you mean {names}?)");
                }
                None => advice += &format!("; {tip}"),
            }
        }
        if subject.starts_with("unknown option '--seeds'") {
            advice += ", or `fencepost sweep` for --seeds";
        }
        if !expected.is_empty() {
            line += &format!(": {expected}");
        }
        Failure::Usage(line + &advice)
    }

    pub(crate) fn usage_of<A: clap::CommandFactory>(error: &clap::Error) -> Failure {
        let failure = Failure::usage(error);
        if error.kind() != clap::error::ErrorKind::InvalidSubcommand {
            return failure;
        }
        if let Some(clap::error::ContextValue::String(name)) =
            error.get(clap::error::ContextKind::InvalidSubcommand)
            && name.ends_with(".lua")
        {
            return Failure::wrong(format!("unknown command '{name}'{}", lua_lock(name)));
        }
        let command = A::command();
        let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        Failure::wrong(format!("{failure}: expected one of {}", names.join(", ")))
    }

    pub(crate) fn wrong(what: impl fmt::Display) -> Failure {
        Failure::Usage(what.to_string())
    }

    pub(crate) fn content(path: impl Into<PathBuf>, what: impl fmt::Display) -> Failure {
        Failure::Content { path: path.into(), what: what.to_string() }
    }
}

fn lua_lock(file: &str) -> String {
    format!(": expected --lock {file} for a lock in Lua")
}

fn expectation(message: &str) -> String {
    let unexpected = message.strip_prefix("unexpected argument '");
    if let Some(file) = unexpected.and_then(|rest| rest.split('\'').next())
        && file.ends_with(".lua")
    {
        return format!("unexpected argument '{file}'{}", lua_lock(file));
    }
    if let Some(missing) =
        message.strip_prefix("the following required arguments were not provided: ")
    {
        let example = if missing.starts_with("--seeds ") { ", like --seeds 0..1000" } else { "" };
        return format!("missing argument: expected {missing}{example}");
    }
    if let Some(option) = message
        .strip_prefix("a value is required for '")
        .and_then(|rest| rest.strip_suffix("' but none was supplied"))
    {
        return format!("missing value: expected {option}");
    }
    if let Some(rest) = message.strip_prefix("unexpected argument '-") {
        return format!("unknown option '-{}", rest.trim_end_matches(" found"));
    }
    if let Some(rest) = message.strip_prefix("unrecognized subcommand ") {
        return format!("unknown command {rest}");
    }
    if let Some((subject, rest)) = message.split_once(" requires a subcommand")
        && let Some((_, commands)) = rest.split_once("[subcommands: ")
    {
        return format!("{subject}: expected one of {}", commands.trim_end_matches(']'));
    }
    if let Some((subject, values)) = message.split_once(" [possible values: ") {
        return format!("{subject}: expected one of {}", values.trim_end_matches(']'));
    }
    let Some((subject, reason)) = message.rsplit_once(": ") else { return message.to_owned() };
    let range = reason.split_once(" is not in ").and_then(|(_, range)| range.split_once("..="));
    match range {
        Some((least, most)) => format!("{subject}: expected a number from {least} to {most}"),
        None if reason.starts_with("invalid digit") => {
            format!("{subject}: expected a whole number")
        }
        None => message.to_owned(),
    }
}

impl From<FileError> for Failure {
    fn from(FileError { path, error }: FileError) -> Failure {
        Failure::File { path, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command};

    fn usage_error(arguments: &[&str]) -> String {
        let number = clap::value_parser!(u8).range(1..=64);
        let seed = Arg::new("seed").long("seed").value_name("N").value_parser(number);
        let engine = Arg::new("engine").long("engine").value_parser(["turmoil", "fast"]);
        let sweep = Command::new("sweep");
        let command = Command::new("test").args([seed, engine]).subcommand(sweep);
        let error = command.try_get_matches_from(arguments).unwrap_err();
        Failure::usage(&error).to_string()
    }

    #[test]
    fn one_line_names_the_bad_value_and_the_valid_ones() {
        let line = |arguments: &str| usage_error(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!(line("test --sed 1"), "unknown option '--sed' (did you mean '--seed'?)");
        assert_eq!(line("test swep"), "unknown command 'swep' (did you mean 'sweep'?)");
        assert_eq!(
            line("test --engine fst"),
            "invalid value 'fst' for '--engine <engine>' (did you mean 'fast'?): expected one of \
             turmoil, fast"
        );
        assert_eq!(
            line("test --seed 65"),
            "invalid value '65' for '--seed <N>': expected a number from 1 to 64"
        );
        let expected = "invalid value 'x' for '--seed <N>': expected a whole number";
        assert_eq!(line("test --seed x"), expected);
        assert_eq!(line("test --seed"), "missing value: expected --seed <N>");
    }
}
