//! The file of the findings store.

use super::super::output::read_file;
use crate::cli::Failure;
use crate::files::{lock_folder, write_file};
use fencepost_reports::documents::findings::Findings;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) struct Store {
    path: PathBuf,
}

impl Store {
    pub(crate) fn at(path: &Path) -> Store {
        Store { path: path.to_owned() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn read(&self) -> Result<Findings, Failure> {
        match self.path.try_exists() {
            Ok(false) => self.require_folder().map(|()| Findings::default()),
            _ => self.existing(),
        }
    }

    fn require_folder(&self) -> Result<(), Failure> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        match folder.is_none_or(Path::is_dir) {
            true => Ok(()),
            false => Err(Failure::content(
                &self.path,
                "no such folder: expected --findings FILE in a folder that exists",
            )),
        }
    }

    pub(crate) fn existing(&self) -> Result<Findings, Failure> {
        if let Ok(false) = self.path.try_exists() {
            let problem =
                "no such file: expected a store that `fencepost sweep --findings FILE` wrote";
            return Err(Failure::content(&self.path, problem));
        }
        let text = read_file(&self.path, "a findings store")?;
        Findings::read(&text).map_err(|error| Failure::content(&self.path, error))
    }

    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Findings) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let _lock = lock_folder(&self.path)?;
        let mut findings = self.read()?;
        let changed = change(&mut findings)?;
        let lines = findings.lines().map_err(|error| Failure::Output(error.into()))?;
        write_file(&self.path, lines.as_bytes())?;
        Ok(changed)
    }
}

pub(crate) fn today() -> Result<String, Failure> {
    let stated = std::env::var("SOURCE_DATE_EPOCH").ok();
    let seconds = stated.as_ref().map_or_else(|| Some(now_s()), |text| text.parse().ok());
    seconds.and_then(day).ok_or_else(|| {
        let text = stated.unwrap_or_default();
        Failure::wrong(format!("SOURCE_DATE_EPOCH '{text}': expected seconds since 1970"))
    })
}

#[expect(clippy::disallowed_methods, reason = "the day of a sweep never enters a history")]
fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn day(seconds: u64) -> Option<String> {
    let at = chrono::DateTime::from_timestamp(i64::try_from(seconds).ok()?, 0)?;
    Some(at.date_naive().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_a_date() {
        assert_eq!(day(951_868_799).as_deref(), Some("2000-02-29"));
        assert_eq!(day(u64::MAX), None);
    }

    fn one_seed_more(findings: &mut Findings) -> Result<(), Failure> {
        let (lines, seed) = (findings.lines().unwrap(), findings.next_seed().0);
        let (old, new) = (format!("\"{seed}\""), format!("\"{}\"", seed + 1));
        *findings = Findings::read(&lines.replace(&old, &new)).unwrap();
        Ok(())
    }

    #[test]
    fn writers_at_the_same_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("findings.jsonl");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        Store::at(&path).change(one_seed_more).unwrap();
                    }
                });
            }
        });
        assert_eq!(Store::at(&path).read().unwrap().next_seed().0, 100);
    }
}
