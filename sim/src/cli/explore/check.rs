use super::{INTERRUPT, STOP, Watch};
use crate::cli::arguments::ExploreArguments;
use crate::cli::output::{log, print, read_file};
use crate::cli::progress::Progress;
use crate::cli::{Failure, Outcome};
use crate::run::verdicts::tool;
use crate::studies::explore::certificate::{
    Checked, Extent, bounds_of, check as check_slices, parts_of,
};
use crate::studies::explore::{Exploration, Level};
use fencepost_reports::documents::certificate::{Certificate, read};
use std::path::Path;

pub(super) fn check(path: &Path, arguments: &ExploreArguments) -> Result<Outcome, Failure> {
    let certificate = certificate_in(path)?;
    let bounds = bounds_of(&certificate.bounds).map_err(|error| Failure::content(path, error))?;
    let (theirs, ours) = (&certificate.tool.version, tool().version);
    if *theirs != ours {
        log(format_args!(
            "{}: written by fencepost {theirs}, but this is fencepost {ours}",
            path.display()
        ));
    }
    INTERRUPT.listen(&STOP)?;
    let extent = if arguments.whole { Extent::Whole } else { Extent::Sample };
    let parts = parts_of(&certificate, extent);
    let mut work = Exploration::unplaced(&bounds, arguments.jobs.count());
    work.place_for(&parts, &STOP)?;
    let runs = parts.iter().map(|part| part.runs).sum();
    let progress = Progress::new(runs, arguments.quiet.verbosity());
    let watch = Watch { progress, order: None, file: None };
    let checked = check_slices(&certificate, &bounds, &work, extent, &watch, &STOP);
    watch.progress.finish();
    let (said, outcome) = match checked? {
        Checked::Same { slices, of, runs } => (
            format!("same results: repeated {slices} of {of} slices, in {runs} runs"),
            Outcome::AsExpected,
        ),
        Checked::Differs(slice) => (
            format!(
                "different results: the runs with {}, units {}..{}, do not match the certificate",
                Level { faults: slice.faults, delays: slice.delays },
                slice.from,
                slice.to
            ),
            Outcome::Violated,
        ),
        Checked::Foreign => (
            "invalid certificate: its slices, conditions or sentences do not match its bounds"
                .to_owned(),
            Outcome::Violated,
        ),
        Checked::Stopped => {
            ("stopped before the comparison was complete".to_owned(), Outcome::Unknown)
        }
    };
    print(&format!("{}: {said}\n", path.display()))?;
    Ok(INTERRUPT.outcome().unwrap_or(outcome))
}

pub(super) fn certificate_in(path: &Path) -> Result<Certificate, Failure> {
    let text = read_file(path, "a certificate of `fencepost explore --format json`")?;
    read(&text).map_err(|error| Failure::content(path, error))
}
