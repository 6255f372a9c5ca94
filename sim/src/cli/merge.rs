//! `fencepost merge`: adds up the results of shards, or shows their progress.

mod watch;

use super::arguments::MergeArguments;
use super::expect::Expectations;
use super::explore::merge_explorations;
use super::findings::{Store, counts, today};
use super::options::format_of_sweeps;
use super::output::{log, read_file};
use super::read::{SUMMARY, sweep_of};
use super::sweep::conclude;
use super::{Failure, Outcome};
use fencepost_reports::documents::certificate::unfinished::is_exploration;
use fencepost_reports::summary::sweep::{Gaps, merge as add_up};

pub(crate) fn merge(arguments: &MergeArguments) -> Result<Outcome, Failure> {
    if let Some(folder) = &arguments.watch {
        return watch::watch(folder);
    }
    let format = format_of_sweeps(&arguments.format);
    let texts = arguments.files.iter().map(|path| read_file(path, SUMMARY));
    let texts = match texts.collect::<Result<Vec<String>, _>>() {
        Ok(texts) => texts,
        Err(missing) => return format.and(Err(missing)),
    };
    let gaps = if arguments.partial { Gaps::Allowed } else { Gaps::Refused };
    if texts.iter().any(|text| is_exploration(text)) {
        return merge_explorations(arguments, &texts, gaps);
    }
    let format = format?;
    let sweeps = arguments.files.iter().zip(&texts).map(|(path, text)| sweep_of(path, text));
    let sweeps = sweeps.collect::<Result<Vec<_>, _>>()?;
    let sum = add_up(&sweeps, gaps).map_err(Failure::wrong)?;
    let names: Vec<&str> = sum.cells.iter().map(|cell| cell.client.as_str()).collect();
    let expectations = arguments.expect.as_deref();
    let expectations = expectations.map(|path| Expectations::read(path, &names)).transpose()?;
    let Some(path) = &arguments.findings else {
        return conclude(sum, format, expectations.as_ref());
    };
    let store = Store::at(path);
    let mut shown = sum.clone();
    let mut findings = store.read()?;
    findings.add(&sum, &today()?);
    findings.mark(&mut shown);
    let outcome = conclude(shown, format, expectations.as_ref())?;
    let day = today()?;
    let said = store.change(|findings| {
        findings.add(&sum, &day);
        Ok(counts(findings))
    })?;
    log(format_args!("{}: {said}", store.path().display()));
    Ok(outcome)
}
