//! The option `--expect FILE`. The TOML file has a table for each lock and a line for each fault,
//! such as `clock-jump = { violates = ["overlap"], may = ["lost-update"] }`.

use super::Failure;
use super::output::{log, read_file};
use fencepost_clients::{CLIENTS, Definition, find};
use fencepost_faults::{Families, Seed, did_you_mean};
use fencepost_reports::summary::expectation::Expectation;
use fencepost_reports::summary::sweep::Wanted;
use fencepost_reports::{Kind, RunFacts, Sweep};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub(crate) struct Expectations(BTreeMap<(String, String), Wanted>);

impl Expectations {
    pub(crate) fn read(path: &Path, programs: &[&str]) -> Result<Expectations, Failure> {
        let text = read_file(path, "verdicts in TOML")?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let words: Vec<&str> = error.message().split_whitespace().collect();
            Failure::content(path, words.join(" "))
        })?;
        let mut all = BTreeMap::new();
        for (lock, faults) in &table {
            if find(lock).is_none() && !programs.contains(&lock.as_str()) && !is_script(lock, path)
            {
                return Err(Failure::content(path, unknown(lock, programs)));
            }
            let faults = faults.as_table().ok_or_else(|| {
                Failure::content(path, format!("{lock}: expected a table of faults, [{lock}]"))
            })?;
            for (fault, value) in faults {
                let families: Families = fault
                    .parse()
                    .map_err(|error| Failure::content(path, format!("[{lock}] {error}")))?;
                let wanted = wanted(value)
                    .map_err(|why| Failure::content(path, format!("[{lock}] {fault}: {why}")))?;
                if all.insert((lock.clone(), families.to_string()), wanted).is_some() {
                    return Err(Failure::content(
                        path,
                        format!("[{lock}] {families} is listed twice: expected one entry"),
                    ));
                }
            }
        }
        Ok(Expectations(all))
    }

    pub(crate) fn hold(&self, sweep: &mut Sweep) {
        for cell in &mut sweep.cells {
            let wanted = self.0.get(&(cell.client.clone(), cell.fault.clone()));
            cell.expectation =
                Some(wanted.map_or_else(Expectation::missing, |wanted| wanted.hold(cell)));
        }
    }

    pub(crate) fn compare_run(&self, run: &RunFacts, seed: Seed) -> Expectation {
        let wanted = self.0.get(&(run.client.clone(), run.fault.clone()));
        wanted.map_or_else(Expectation::missing, |wanted| wanted.compare_run(run, seed))
    }
}

/// Returns `true` for any existing Lua file, so that one `--expect` file can serve several sweeps.
fn is_script(lock: &str, path: &Path) -> bool {
    let is_lua = Path::new(lock).extension().is_some_and(|end| end == "lua");
    is_lua && (Path::new(lock).is_file() || path.with_file_name(lock).is_file())
}

fn unknown(lock: &str, programs: &[&str]) -> String {
    let built_in = CLIENTS.iter().map(|one| one.name);
    let same_stem = programs
        .iter()
        .find(|name| name.rsplit_once('.').is_some_and(|(stem, end)| stem == lock && end == "lua"));
    let hint = match same_stem {
        Some(name) => format!(" (did you mean '{name}'?)"),
        None => did_you_mean(lock, programs.iter().copied().chain(built_in)),
    };
    format!(
        "unknown lock '{lock}'{hint}: expected a lock of this run, an existing Lua file, or a name \
         from `fencepost list clients`"
    )
}

pub(crate) fn of_cells(
    path: Option<&Path>,
    cells: &[(&Definition, Families)],
) -> Result<Option<Expectations>, Failure> {
    let names: Vec<&str> = cells.iter().map(|(lock, _)| lock.name).collect();
    path.map(|path| Expectations::read(path, &names)).transpose()
}

pub(crate) struct JudgedCell<'e> {
    pub(crate) client: &'e str,
    pub(crate) fault: &'e str,
    pub(crate) expectation: &'e Expectation,
    pub(crate) replay: Option<String>,
}

pub(crate) fn log_deviations<'e>(cells: impl Iterator<Item = JudgedCell<'e>>) -> bool {
    let mut deviates = false;
    for JudgedCell { client, fault, expectation, replay } in
        cells.filter(|held| !held.expectation.is_met())
    {
        deviates = true;
        for deviation in &expectation.deviations {
            log(format_args!(
                "not as expected: {client} x {fault}: expected {}, got {deviation}",
                expectation.expected
            ));
        }
        if let Some(command) = replay {
            log(format_args!("    reproduce: {command}"));
        }
    }
    deviates
}

fn wanted(value: &toml::Value) -> Result<Wanted, String> {
    let expected = || {
        "expected \"safe\", \"violates\", or { violates = [kinds], may = [kinds], accepts = \
            [fingerprints] }"
            .to_owned()
    };
    match value {
        toml::Value::String(text) if text == "safe" => Ok(Wanted::Safe),
        toml::Value::String(text) if text == "violates" => Ok(Wanted::Violated),
        toml::Value::Table(table) if !table.is_empty() => {
            if let Some(key) =
                table.keys().find(|key| !["violates", "may", "accepts"].contains(&key.as_str()))
            {
                return Err(format!("unknown key '{key}': {}", expected()));
            }
            let of = |key: &str| table.get(key).map_or(Ok(BTreeSet::new()), kinds);
            let accepts = table.get("accepts").map_or(Ok(BTreeSet::new()), fingerprints)?;
            let (must, may) = (of("violates")?, of("may")?);
            if must.is_empty() && may.is_empty() && accepts.is_empty() {
                return Err(format!("all lists are empty: {}", expected()));
            }
            Ok(Wanted::Kinds { must, may, accepts })
        }
        _ => Err(expected()),
    }
}

fn fingerprints(value: &toml::Value) -> Result<BTreeSet<String>, String> {
    let expected = "expected a list of fingerprints, like [\"81c70fe50667\"]";
    let id = |value: &toml::Value| match value.as_str() {
        Some(id) if id.len() == 12 && id.chars().all(|one| one.is_ascii_hexdigit()) => {
            Ok(id.to_lowercase())
        }
        _ => Err(format!("fingerprint {value}: {expected}")),
    };
    value.as_array().ok_or(expected)?.iter().map(id).collect()
}

fn kinds(value: &toml::Value) -> Result<BTreeSet<Kind>, String> {
    let names = value.as_array().ok_or("expected a list of kinds, like [\"overlap\"]")?;
    let kind = |value: &toml::Value| {
        let found = Kind::ALL.iter().copied().find(|kind| value.as_str() == Some(kind.name()));
        found.ok_or_else(|| {
            let valid: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            format!("unknown kind {value}: expected one of {}", valid.join(", "))
        })
    };
    names.iter().map(kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Expectations, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Expectations::read(file.path(), &["worker"]).map_err(|failure| failure.to_string())
    }

    #[test]
    fn accepts_the_three_forms() {
        let text = "[redlock]\nnone = 'safe'\ngc-pause = 'violates'\n'pause+failover' = { \
         violates = ['overlap'], may = ['stuck'] }";
        let read = read(text).unwrap().0;
        let of = |fault: &str| read.get(&("redlock".to_owned(), fault.to_owned()));
        assert_eq!(of("none"), Some(&Wanted::Safe));
        assert_eq!(of("pause"), Some(&Wanted::Violated), "an alias is the family");
        let (must, may) = ([Kind::Overlap].into(), [Kind::Stuck].into());
        let accepts = BTreeSet::new();
        assert_eq!(of("pause+failover"), Some(&Wanted::Kinds { must, may, accepts }));
    }

    #[test]
    fn a_program_is_known_by_its_name() {
        let known = read("[worker]\nnone = 'safe'").unwrap().0;
        assert!(known.contains_key(&("worker".to_owned(), "none".to_owned())));
        assert!(read("[other]\nnone = 'safe'").is_err());
    }

    #[test]
    fn a_lua_lock_of_another_run_is_known_by_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("expect.toml");
        std::fs::write(&path, "['my.lua']\nnone = 'safe'\n['other.lua']\nnone = 'safe'").unwrap();
        let read = || Expectations::read(&path, &["my.lua"]).map_err(|failure| failure.to_string());
        let said = read().err().unwrap();
        assert!(said.contains("unknown lock 'other.lua': expected a lock of this run"), "{said}");
        std::fs::write(folder.path().join("other.lua"), "").unwrap();
        assert_eq!(read().unwrap().0.len(), 2);
        std::fs::write(&path, "[my]\nnone = 'safe'").unwrap();
        let said = read().err().unwrap();
        assert!(said.contains("unknown lock 'my' (did you mean 'my.lua'?)"), "{said}");
    }

    #[test]
    fn rejects_names_that_do_not_exist() {
        let refused = |text: &str, part: &str| {
            let said = read(text).err().unwrap_or_else(|| panic!("{text} is accepted"));
            assert!(said.contains(part), "{said:?} does not say {part:?}");
        };
        refused("[redlok]\nnone = 'safe'", "redlok");
        refused("[redlock]\npauze = 'safe'", "pauze");
        refused("[redlock]\nnone = 'fine'", "\"violates\"");
        refused("[redlock]\nnone = { violates = ['bad-luck'] }", "bad-luck");
        refused("[redlock]\nnone = { accepts = ['overlap'] }", "fingerprint");
        refused("[redlock]\nnone = { violates = [] }", "all lists are empty: expected \"safe\"");
        refused("[redlock]\nnone = { must = ['overlap'] }", "must");
        refused("[redlock]\npause = 'safe'\ngc-pause = 'safe'", "twice");
        refused("redlock = 'safe'", "table");
        refused("[redlock", "expect");
    }
}
