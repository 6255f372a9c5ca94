//! The file `fencepost.toml`, which sets defaults for `run`, `sweep`, `merge` and `findings`.

mod file;
mod found;
mod value;

use super::Failure;
use super::arguments::Arguments;
use super::output::log;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory};
use file::{Project, Setting};
use found::Found;
use std::ffi::OsString;
use std::path::PathBuf;

const LOCKS: [&str; 4] = ["client", "coordinator", "lock", "program"];
const OF_PROGRAMS: [&str; 5] = ["cwd", "deployment", "env", "lock-key", "server"];
const OF_COMMANDS: [&str; 5] = ["cwd", "env", "program", "server", "servers"];
const OWN: [&str; 3] = ["config", "no-config", "profile"];

pub(crate) fn with_project(arguments: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let root = Arguments::command();
    // With the file's options added, clap's error would name these options instead of the command.
    let is_wrong = |error: clap::Error| {
        matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::ArgumentConflict)
    };
    if root.clone().try_get_matches_from(&arguments).is_err_and(is_wrong) {
        return Ok(arguments);
    }
    let lenient = root.clone().ignore_errors(true).try_get_matches_from(&arguments);
    let Some(called) = lenient.as_ref().ok().and_then(|matches| Called::find(&root, matches))
    else {
        return Ok(arguments);
    };
    let Some(found) = called.file()? else { return Ok(arguments) };
    let path = &found.path;
    let project = Project::read(path)?;
    let settings = project.settings(called.text("profile"), &root)?;
    called.permit(&found, &settings)?;
    let mut all: Vec<OsString> = arguments[..=called.words].to_vec();
    all.push(format!("--config={}", path.display()).into());
    all.extend(called.wanted(&settings).flat_map(|setting| setting.tokens.clone()));
    if called.needs_folder(&settings) {
        all.extend(project.folder().map(|folder| format!("--cwd={}", folder.display()).into()));
    }
    all.extend(called.without_config(&arguments[called.words + 1..]));
    Ok(all)
}

struct Called<'c> {
    command: Command,
    words: usize,
    matches: &'c ArgMatches,
}

impl<'c> Called<'c> {
    fn find(root: &Command, matches: &'c ArgMatches) -> Option<Called<'c>> {
        let within = |command: &Command, name: &str| command.find_subcommand(name).cloned();
        let (command, words, matches) = match matches.subcommand() {
            None => (root.clone(), 0, matches),
            Some((name @ ("run" | "sweep" | "merge"), matches)) => {
                (within(root, name)?, 1, matches)
            }
            Some(("findings", matches)) => {
                let (name, matches) = matches.subcommand()?;
                (within(&within(root, "findings")?, name)?, 2, matches)
            }
            Some(_) => return None,
        };
        Some(Called { command, words, matches })
    }

    fn is_given(&self, key: &str) -> bool {
        let id = argument(&self.command, key).map(|argument| argument.get_id().as_str());
        id.is_some_and(|id| self.matches.value_source(id) == Some(ValueSource::CommandLine))
    }

    fn text(&self, key: &str) -> Option<&String> {
        self.matches.get_one(key)
    }

    fn file(&self) -> Result<Option<Found>, Failure> {
        if self.is_given("no-config") {
            return Ok(None);
        }
        let named = self.matches.get_one::<PathBuf>("config").map(|path| Found::named(path));
        let found = named.or_else(Found::search);
        match (found, self.text("profile")) {
            (None, Some(name)) => Err(Failure::wrong(format!(
                "--profile '{name}': expected {} in the current folder or a parent folder, or \
                 --config FILE",
                found::NAME
            ))),
            (found, _) => Ok(found),
        }
    }

    fn wanted<'s>(&'s self, settings: &'s [Setting]) -> impl Iterator<Item = &'s Setting> {
        let has_locks = LOCKS.iter().any(|key| self.is_given(key));
        let has_program = self.is_given("program")
            || !has_locks && settings.iter().any(|setting| setting.key == "program");
        settings.iter().filter(move |setting| {
            let key = setting.key.as_str();
            let is_replaced = self.is_given(key) || has_locks && LOCKS.contains(&key);
            let has_own_formats = key == "format" && self.lists_findings();
            let is_idle = !has_program && OF_PROGRAMS.contains(&key);
            let is_left_out = is_replaced || has_own_formats || is_idle;
            argument(&self.command, key).is_some() && !is_left_out
        })
    }

    fn permit(&self, found: &Found, settings: &[Setting]) -> Result<(), Failure> {
        let path = found.path.display();
        let decides = |setting: &&Setting| OF_COMMANDS.contains(&setting.key.as_str());
        let denied = self.wanted(settings).find(decides).filter(|_| !found.may_start_programs);
        if let Some(Setting { key, .. }) = denied {
            return Err(Failure::content(
                &found.path,
                format!(
                    "'{key}' may be in a file of a parent folder only if both folders have the \
                     same repository and owner: expected --config {path} to allow this file, or \
                     --no-config"
                ),
            ));
        }
        let is_set = |setting: &Setting| setting.key == "quiet" && !setting.tokens.is_empty();
        let is_quiet = self.is_given("quiet") || settings.iter().any(is_set);
        if found.is_above && !is_quiet {
            log(format_args!("note: using the options in {path}"));
        }
        Ok(())
    }

    fn lists_findings(&self) -> bool {
        self.command.get_name() == "list"
    }

    fn needs_folder(&self, settings: &[Setting]) -> bool {
        let wanted = |key: &str| self.wanted(settings).any(|setting| setting.key == key);
        wanted("program") && !wanted("cwd") && !self.is_given("cwd")
    }

    fn without_config(&self, rest: &[OsString]) -> Vec<OsString> {
        let mut rest = rest.iter();
        let mut kept = Vec::new();
        while let Some(one) = rest.next() {
            match one.to_str() {
                Some("--config") => drop(rest.next()),
                Some(text) if text.starts_with("--config=") => {}
                _ => kept.push(one.clone()),
            }
        }
        kept
    }
}

fn argument<'c>(command: &'c Command, key: &str) -> Option<&'c clap::Arg> {
    command.get_arguments().find(|argument| argument.get_long() == Some(key))
}

fn commands(root: &Command) -> Vec<&Command> {
    let findings = root.find_subcommand("findings").into_iter().flat_map(Command::get_subcommands);
    let others = ["run", "sweep", "merge"].iter().filter_map(|name| root.find_subcommand(name));
    others.chain(findings).collect()
}
