//! The file of the store: read whole, changed by one process at a time.

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

    /// The findings; none if the file is missing.
    pub(crate) fn read(&self) -> Result<Findings, Failure> {
        match self.path.try_exists() {
            Ok(false) => Ok(Findings::default()),
            _ => self.existing(),
        }
    }

    /// The findings. Errors: the file is missing, or a line of it is damaged.
    pub(crate) fn existing(&self) -> Result<Findings, Failure> {
        Findings::read(&read_file(&self.path)?).map_err(|error| Failure::content(&self.path, error))
    }

    /// Changes the file. Another process that changes it at the same time waits.
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

/// Today as YYYY-MM-DD, in UTC. SOURCE_DATE_EPOCH states another day.
pub(crate) fn today() -> Result<String, Failure> {
    let stated = std::env::var("SOURCE_DATE_EPOCH").ok();
    let seconds = match stated {
        Some(text) => text.parse().map_err(|_| {
            Failure::wrong(format!("SOURCE_DATE_EPOCH '{text}': expected seconds since 1970"))
        })?,
        None => now_s(),
    };
    Ok(day(seconds / 86_400))
}

#[expect(clippy::disallowed_methods, reason = "the day of a sweep never enters a history")]
fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The date of a day since 1970-01-01.
fn day(days: u64) -> String {
    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days: years begin
    // in March, in eras of 400 years.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (days, date) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_783, "2026-11-26"),
        ] {
            assert_eq!(day(days), date);
        }
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
