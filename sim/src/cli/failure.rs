//! Why a command could not be carried out, in one line for people.

use crate::engine::EngineError;
use crate::files::FileError;
use std::fmt;
use std::path::PathBuf;

/// Why a command could not be carried out. Exit status 2.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The arguments are wrong; names the bad value and what would be valid.
    #[error("{0}")]
    Usage(String),
    /// A file cannot be read or written.
    #[error("{path}: {error}", path = .path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file can be read but is not what it should be.
    #[error("{path}: {what}", path = .path.display())]
    Content {
        /// Which file.
        path: PathBuf,
        /// What is wrong, and what would be valid.
        what: String,
    },
    /// The simulation itself failed.
    #[error("seed {seed}, client {client}, fault {fault}: {error}")]
    Engine {
        /// Which run.
        seed: u64,
        /// Which lock.
        client: String,
        /// Which faults.
        fault: String,
        /// What happened.
        error: EngineError,
    },
    /// A replay gave another history than the report says.
    #[error("{0}")]
    Mismatch(String),
    /// Standard output cannot be written.
    #[error("standard output: {0}")]
    Output(std::io::Error),
}

impl Failure {
    /// What clap says, in one line.
    pub(crate) fn usage(error: &clap::Error) -> Failure {
        let text = error.render().to_string();
        let said = text
            .lines()
            .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
        // clap sets its tips apart by an empty line, which one line does not have.
        let words = said
            .flat_map(str::split_whitespace)
            .map(|word| if word == "tip:" { "; tip:" } else { word });
        let text = words.collect::<Vec<_>>().join(" ").replace(" ; tip:", "; tip:");
        Failure::Usage(text.strip_prefix("error: ").unwrap_or(&text).to_owned())
    }

    /// A wrong argument.
    pub(crate) fn wrong(what: impl fmt::Display) -> Failure {
        Failure::Usage(what.to_string())
    }

    /// A file whose content is wrong.
    pub(crate) fn content(path: impl Into<PathBuf>, what: impl fmt::Display) -> Failure {
        Failure::Content { path: path.into(), what: what.to_string() }
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

    fn said(arguments: &[&str]) -> String {
        let seed = Arg::new("seed").long("seed").value_parser(clap::value_parser!(u8));
        let error = Command::new("test").arg(seed).try_get_matches_from(arguments).unwrap_err();
        Failure::usage(&error).to_string()
    }

    #[test]
    fn a_tip_of_clap_is_set_apart_in_the_one_line() {
        assert_eq!(
            said(&["test", "--sed", "1"]),
            "unexpected argument '--sed' found; tip: a similar argument exists: '--seed'"
        );
        assert_eq!(
            said(&["test", "--seed", "x"]),
            "invalid value 'x' for '--seed <seed>': invalid digit found in string"
        );
    }
}
