use super::super::output::read_file;
use super::value::{check, tokens};
use super::{OWN, argument, commands};
use crate::cli::Failure;
use clap::{Arg, Command};
use fencepost_faults::did_you_mean;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

pub(super) struct Project {
    path: PathBuf,
    text: String,
}

pub(super) struct Setting {
    pub(super) key: String,
    pub(super) tokens: Vec<OsString>,
}

impl Project {
    pub(super) fn read(path: &Path) -> Result<Project, Failure> {
        Ok(Project { path: path.to_owned(), text: read_file(path, "options in TOML")? })
    }

    pub(super) fn folder(&self) -> Option<&Path> {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty())
    }

    pub(super) fn settings(
        &self,
        profile: Option<&String>,
        root: &Command,
    ) -> Result<Vec<Setting>, Failure> {
        let table = DeTable::parse(&self.text).map_err(|error| {
            let words: Vec<&str> = error.message().split_whitespace().collect();
            self.wrong(error.span().map_or(0, |span| span.start), words.join(" "))
        })?;
        let mut general = BTreeMap::new();
        let mut profiles = BTreeMap::new();
        for (key, value) in table.get_ref() {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("profile", DeValue::Table(named)) => {
                    for (name, value) in named {
                        let table = value.get_ref().as_table().ok_or_else(|| {
                            self.wrong(name.span().start, self.no_table(name.get_ref()))
                        })?;
                        profiles.insert(name.get_ref().to_string(), self.of_table(table, root)?);
                    }
                }
                ("profile", _) => {
                    return Err(self.wrong(key.span().start, self.no_table("NAME")));
                }
                _ => self.add(&mut general, key.get_ref(), key.span().start, value, root)?,
            }
        }
        if let Some(name) = profile {
            let chosen = profiles.remove(name).ok_or_else(|| self.no_profile(name, &profiles))?;
            general.extend(chosen);
        }
        Ok(general.into_values().collect())
    }

    fn of_table(
        &self,
        table: &DeTable<'_>,
        root: &Command,
    ) -> Result<BTreeMap<String, Setting>, Failure> {
        let mut settings = BTreeMap::new();
        for (key, value) in table {
            self.add(&mut settings, key.get_ref(), key.span().start, value, root)?;
        }
        Ok(settings)
    }

    fn add(
        &self,
        settings: &mut BTreeMap<String, Setting>,
        key: &str,
        at: usize,
        value: &toml::Spanned<DeValue<'_>>,
        root: &Command,
    ) -> Result<(), Failure> {
        let (command, argument) = owner(root, key).ok_or_else(|| {
            let keys = keys(root);
            if let DeValue::Table(table) = value.get_ref() {
                let name = table.keys().next().map_or("NAME", |name| name.get_ref());
                let problem = format!("unknown table '{key}': expected [profile.{name}]");
                return self.wrong(at, problem);
            }
            let hint = did_you_mean(key, keys.iter().copied());
            let valid = match hint.is_empty() {
                true => format!(": expected [profile.NAME] or one of {}", keys.join(", ")),
                false => hint,
            };
            self.wrong(at, format!("unknown key '{key}'{valid}"))
        })?;
        let wrong = |what: String| self.wrong(value.span().start, format!("{key}: {what}"));
        let tokens = tokens(argument, value.get_ref(), self.folder()).map_err(wrong)?;
        check(command, key, &tokens).map_err(wrong)?;
        settings.insert(key.to_owned(), Setting { key: key.to_owned(), tokens });
        Ok(())
    }

    fn wrong(&self, at: usize, what: String) -> Failure {
        let before = self.text.as_bytes().iter().take(at);
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        Failure::content(&self.path, format!("line {line}: {what}"))
    }

    fn no_table(&self, name: &str) -> String {
        format!("profile: expected a table, [profile.{name}]")
    }

    fn no_profile(
        &self,
        name: &str,
        known: &BTreeMap<String, BTreeMap<String, Setting>>,
    ) -> Failure {
        let hint = did_you_mean(name, known.keys().map(String::as_str));
        let all: Vec<&str> = known.keys().map(String::as_str).collect();
        let valid = match all.is_empty() {
            true => "the file has no [profile.NAME]".to_owned(),
            false => format!("expected one of {}", all.join(", ")),
        };
        Failure::content(&self.path, format!("unknown profile '{name}'{hint}: {valid}"))
    }
}

fn owner<'r>(root: &'r Command, key: &str) -> Option<(&'r Command, &'r Arg)> {
    let is_own = OWN.contains(&key) || key == "help";
    let mut commands = commands(root).into_iter().filter(|_| !is_own);
    commands.find_map(|command| Some((command, argument(command, key)?)))
}

fn keys(root: &Command) -> Vec<&str> {
    let mut all: Vec<&str> = commands(root)
        .into_iter()
        .flat_map(Command::get_arguments)
        .filter_map(Arg::get_long)
        .filter(|key| !OWN.contains(key))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}
