//! The error of a command, in one line.

use crate::engine::EngineError;
use crate::files::FileError;
use std::fmt;
use std::path::PathBuf;

/// Why a command failed. Exit status 2.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The arguments are wrong; names the bad value and the valid ones.
    #[error("{0}")]
    Usage(String),
    /// A file cannot be read or written.
    #[error("{path}: {error}", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// A readable file has the wrong content.
    #[error("{path}: {what}", path = .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The problem, and valid content.
        what: String,
    },
    /// The simulation itself failed.
    #[error("seed {seed}, client {client}, fault {fault}: {error}")]
    Engine {
        /// The seed of the run.
        seed: u64,
        /// The lock.
        client: String,
        /// The faults.
        fault: String,
        /// The reason.
        error: EngineError,
    },
    /// A replay gave another history than the report.
    #[error("{0}")]
    Mismatch(String),
    /// Standard output cannot be written.
    #[error("standard output: {0}")]
    Output(std::io::Error),
}

impl Failure {
    /// clap's message, in one line.
    pub(crate) fn usage(error: &clap::Error) -> Failure {
        let text = error.render().to_string();
        let said = text
            .lines()
            .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
        // clap separates its tips with an empty line, which does not fit in one line.
        let words = said
            .flat_map(str::split_whitespace)
            .map(|word| if word == "tip:" { "; tip:" } else { word });
        let text = words.collect::<Vec<_>>().join(" ").replace(" ; tip:", "; tip:");
        Failure::Usage(text.strip_prefix("error: ").unwrap_or(&text).to_owned())
    }

    pub(crate) fn wrong(what: impl fmt::Display) -> Failure {
        Failure::Usage(what.to_string())
    }

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
