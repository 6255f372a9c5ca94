//! Writes reports as text that is complete without colours.

pub(crate) mod amount;
pub(crate) mod brief;
pub(crate) mod comparison;
pub(crate) mod lanes;
pub(crate) mod layout;
pub(crate) mod plan_text;
pub(crate) mod programs;
pub(crate) mod remedies;
pub(crate) mod rerun;
pub(crate) mod story;
pub(crate) mod sweep;
pub(crate) mod timeline;

use super::{Detail, Format, Needs, Page, Sweeps};
use crate::judge::finding::{Kind, Severity};
use crate::show::view::View;
use crate::summary::report::{OnThisPlan, Report, RunReport, ViolationReport};
use crate::summary::sweep::Sweep;
use crate::summary::verdict::Verdict;
use amount::DEADLOCK;
use fencepost_faults::Micros;
use layout::{
    BOLD, DIM, GREEN, RED, counted, more_times, severity_style, thousands, times, verdict_style,
    wrapped,
};
use std::collections::BTreeSet;
use std::io::{self, Write};

const FAULTS_SHOWN: usize = 100;
const VALUES: usize = 20;

pub(super) const FORMAT: Format = Format {
    about: "for people: verdicts, causes and timelines",
    needs: Needs::Findings,
    runs: View::written("text", write_report),
    sweeps: Some(Sweeps { view: SWEEPS, has_baselines: true }),
};

const SWEEPS: View<Sweep> = View::written("text", write_sweep);

fn write_report(page: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    match page.detail {
        Detail::Brief => brief::write(page, report, out),
        Detail::Full => write_full(page, report, out),
    }
}

fn write_sweep(_: Page, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    sweep::write(sweep, out)
}

fn write_full(page: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    brief::write_head(page, report, out)?;
    brief::write_verdicts(page, report, out)?;
    for run in &report.runs {
        writeln!(out)?;
        write_one(run, out)?;
    }
    Ok(())
}

fn write_one(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let style = verdict_style(&run.verdict);
    let word = run.verdict.name().to_uppercase();
    writeln!(out, "{BOLD}{}{BOLD:#} under {}: {style}{word}{style:#}", run.client, run.fault)?;
    if let Verdict::Unknown { reason } = &run.verdict {
        field(out, "unknown because", reason)?;
    }
    write_exclusion(run, out)?;
    write_harm(run, out)?;
    write_expected(run, out)?;
    write_run_facts(run, out)?;
    if let Some(lengths) = plan_text::lengths(run) {
        field(out, "drawn", &lengths)?;
    }
    write_plan(run, out)?;
    programs::write_output(run, out)?;
    if run.violations.is_empty() {
        timeline::write_quiet(run, out)?;
    }
    let mut told = BTreeSet::new();
    for violation in &run.violations {
        writeln!(out)?;
        write_violation(run, violation, &mut told, out)?;
    }
    let mut replays: Vec<&str> =
        run.violations.iter().map(|violation| violation.replay.as_str()).collect();
    replays.dedup();
    if !replays.is_empty() {
        writeln!(out)?;
    }
    replays
        .into_iter()
        .try_for_each(|replay| writeln!(out, "  {:<18}{BOLD}{replay}{BOLD:#}", "replay"))
}

fn field(out: &mut dyn Write, label: &str, value: &str) -> io::Result<()> {
    let mut label = label;
    for line in wrapped(value, VALUES) {
        writeln!(out, "  {DIM}{label:<18}{DIM:#}{line}")?;
        label = "";
    }
    Ok(())
}

fn write_exclusion(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let overlaps: Vec<&ViolationReport> = of_kind(run, Kind::Overlap).collect();
    if overlaps.is_empty() {
        let says = match run.verdict {
            Verdict::Unknown { .. } => format!("not broken, {}", exercise(run)),
            _ => format!("{GREEN}held{GREEN:#} over {}", counted(run.acquisitions, "acquisition")),
        };
        return writeln!(out, "  {DIM}{:<18}{DIM:#}{says}", "mutual exclusion");
    }
    let count = overlaps.iter().map(|one| one.violation.occurrences).sum();
    let total =
        overlaps.iter().fold(Micros::ZERO, |sum, one| sum + one.violation.total_duration_us);
    let (often, of) = (times(count), counted(run.acquisitions, "acquisition"));
    let lasting = lasting(count, total);
    writeln!(
        out,
        "  {DIM}{:<18}{DIM:#}{RED}broken{RED:#} {often} in {of}: two processes were in their \
         critical sections at the same time, {lasting}",
        "mutual exclusion"
    )
}

/// Several pairs of processes may overlap at the same time, so `total` may exceed the length of the
/// run.
fn lasting(count: u64, total: Micros) -> String {
    match count {
        1 => format!("for {total}"),
        _ => format!("for {total} if the times of all pairs are added"),
    }
}

fn exercise(run: &RunReport) -> String {
    match run.acquisitions {
        0 => "but not tested: no process acquired the lock".to_owned(),
        some => format!("but hardly tested: {}", counted(some, "acquisition")),
    }
}

fn write_harm(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let mut harms: Vec<String> = Vec::new();
    for kind in Kind::ALL.iter().copied().filter(|kind| kind.severity() == Severity::Harm) {
        let count: u64 = of_kind(run, kind).map(|one| one.violation.occurrences).sum();
        let total =
            of_kind(run, kind).fold(Micros::ZERO, |sum, one| sum + one.violation.total_duration_us);
        if count > 0 {
            harms.push(harm(kind, count, total));
        }
    }
    let rejected = match run.storage.rejected {
        0 => String::new(),
        some => {
            let requests = counted(some, "request");
            format!("the storage rejected {requests} because of a token lower than one it had seen")
        }
    };
    let label = "damage";
    if harms.is_empty() {
        let rest = if rejected.is_empty() { rejected } else { format!("; {rejected}") };
        return writeln!(out, "  {DIM}{label:<18}{DIM:#}{GREEN}none{GREEN:#}{rest}");
    }
    let rest = if rejected.is_empty() { rejected } else { format!("; also, {rejected}") };
    writeln!(out, "  {DIM}{label:<18}{DIM:#}{RED}{}{RED:#}{rest}", harms.join(", "))
}

fn harm(kind: Kind, count: u64, total: Micros) -> String {
    match kind {
        Kind::StaleWrite => format!("{} accepted", counted(count, "stale write")),
        Kind::LostUpdate => counted(count, "lost update"),
        Kind::Oversold => format!("{} too many", counted(count, "sale")),
        Kind::DuplicateNumber => format!("{} issued twice", counted(count, "number")),
        Kind::NumberRegression => format!("{} issued out of order", counted(count, "number")),
        Kind::FencedOut => format!("the rightful holder rejected {}", times(count)),
        Kind::Stuck => {
            format!("stuck {}: no process got the lock, for {total} in total", times(count))
        }
        Kind::Deadlock => DEADLOCK.to_owned(),
        Kind::Starved => format!("starved {}: a waiting process was not served", times(count)),
        other => format!("{other} {}", times(count)),
    }
}

fn write_expected(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let Some(expected) = &run.expected else { return Ok(()) };
    let surprise = run.violations.iter().any(|one| expected.is_unpredicted(one.violation.kind));
    let says = match expected.is_safe() {
        true => "safe".to_owned(),
        false => {
            let kinds: Vec<&str> = expected.kinds.iter().map(|kind| kind.name()).collect();
            format!("{} can happen", kinds.join(", "))
        }
    };
    let differs =
        if surprise { " This run breaks a rule that the source does not predict." } else { "" };
    field(
        out,
        "literature",
        &format!("{says}: {} ({}).{differs}", expected.because, expected.source),
    )
}

fn write_run_facts(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let facts = format!(
        "{}, {} and {} in {} of virtual time",
        counted(run.acquisitions, "acquisition"),
        counted(run.operations, "operation"),
        counted(run.messages, "message"),
        run.virtual_time_us
    );
    field(out, "run", &facts)?;
    run.note.iter().try_for_each(|note| field(out, "note", note))
}

fn write_plan(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let planned = run.plan.faults.len() as u64;
    if planned == 0 {
        return field(out, "faults", "none");
    }
    let mut label = "faults";
    // Older reports do not list which faults began, so mark no fault in such a report.
    let is_told = !run.faults_began.is_empty() || run.faults_fired == 0;
    let width =
        run.plan.faults.iter().map(|timed| timed.at_us.to_string().len()).max().unwrap_or(0);
    for timed in run.plan.faults.iter().take(FAULTS_SHOWN) {
        let text = plan_text::fault(&timed.fault);
        let began = match is_told && !run.faults_began.contains(&timed.id) {
            true => ", did not begin",
            false => "",
        };
        writeln!(
            out,
            "  {DIM}{label:<18}{DIM:#}{:>width$}  {text} {DIM}(fault {}{began}){DIM:#}",
            timed.at_us, timed.id
        )?;
        label = "";
    }
    if planned > FAULTS_SHOWN as u64 {
        field(out, "", &format!("and {} more", thousands(planned - FAULTS_SHOWN as u64)))?;
    }
    match u64::from(run.faults_fired) {
        fired if fired == planned => Ok(()),
        fired => field(out, "", &format!("{} of them began", thousands(fired))),
    }
}

fn write_violation(
    run: &RunReport,
    report: &ViolationReport,
    told: &mut BTreeSet<u64>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let violation = &report.violation;
    let style = severity_style(violation.severity);
    write!(
        out,
        "  {style}{}{style:#}: {BOLD}{}{BOLD:#} by {}, at {}",
        violation.severity, violation.kind, violation.cause, violation.at_us
    )?;
    match violation.occurrences {
        1 => writeln!(out, " {DIM}[{}]{DIM:#}", violation.id)?,
        many => writeln!(out, " and {} {DIM}[{}]{DIM:#}", more_times(many - 1), violation.id)?,
    }
    for line in wrapped(&violation.summary, 4) {
        writeln!(out, "    {line}")?;
    }
    for (number, line) in violation.narrative.iter().enumerate() {
        let (number, text, event) = (number + 1, &line.text, line.event);
        writeln!(out, "    {number:>2}. {text} {DIM}(#{event}){DIM:#}")?;
    }
    write_rerun(report, out)?;
    timeline::write(run, violation, told, out)
}

fn write_rerun(report: &ViolationReport, out: &mut dyn Write) -> io::Result<()> {
    if let Some(plan) = &report.minimal_plan {
        let faults: Vec<String> = plan.faults.iter().map(plan_text::fault_at).collect();
        let enough = if faults.is_empty() { "no fault".to_owned() } else { faults.join("; ") };
        let of = report
            .minimal_run
            .as_ref()
            .map_or(String::new(), |run| format!(" ({})", rerun::size(run)));
        rerun_line(out, &format!("Smallest reproduction: {enough}{of}."))?;
        if let Some(said) = rerun::others_involved(report) {
            rerun_line(out, &format!("{said}."))?;
        }
        if let Some(said) = plan_text::lasting_effect(plan) {
            rerun_line(out, &said)?;
        }
    }
    if let Some(boundary) = &report.boundary {
        let amount = |value| rerun::amount(boundary, value);
        let (fault, magnitude) = (boundary.fault, rerun::magnitude(boundary));
        let analytic = boundary
            .analytic
            .map_or(String::new(), |value| format!("; calculated bound {}", amount(value)));
        let (enough, other) = (amount(boundary.enough), amount(boundary.not_enough));
        let is = rerun::insufficient(boundary);
        rerun_line(
            out,
            &format!(
                "In the smallest run, a {magnitude} of {enough} of fault {fault} is enough; \
                 {other} {is}{analytic}."
            ),
        )?;
    }
    for cause in &report.but_for {
        let and = cause.and_fault.map_or(String::new(), |other| format!(" and fault {other}"));
        let (fault, result) = (cause.fault, rerun::without(cause));
        let text =
            format!("In the smallest run without fault {fault}{and}, the violation {result}.");
        rerun_line(out, &text)?;
    }
    for remedy in &report.remedies {
        let (name, seeds) = (rerun::safeguard(remedy), rerun::other_seeds(remedy));
        let effect = match remedy.on_this_plan {
            OnThisPlan::Gone => "prevents the violation in this run",
            OnThisPlan::StillThere => "does not prevent the violation in this run",
            OnThisPlan::NotComparable => "cannot be compared in this run",
        };
        rerun_line(out, &format!("{name} {effect}; the lock broke in {seeds}."))?;
    }
    if let Some(said) = remedies::scaled_faults(report) {
        rerun_line(out, &said)?;
    }
    Ok(())
}

fn rerun_line(out: &mut dyn Write, text: &str) -> io::Result<()> {
    wrapped(text, 4).into_iter().try_for_each(|line| writeln!(out, "    {line}"))
}

fn of_kind(run: &RunReport, kind: Kind) -> impl Iterator<Item = &ViolationReport> {
    run.violations.iter().filter(move |one| one.violation.kind == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_several_pairs_are_told_as_a_sum() {
        let total = Micros::from_millis(900);
        assert_eq!(lasting(1, total), "for 900ms");
        assert_eq!(lasting(2, total), "for 900ms if the times of all pairs are added");
    }

    #[test]
    fn a_waiter_that_starved_once_is_not_one_that_was_never_served_once() {
        let starved = |count| harm(Kind::Starved, count, Micros::ZERO);
        assert_eq!(starved(1), "starved once: a waiting process was not served");
        assert_eq!(starved(2), "starved twice: a waiting process was not served");
    }

    #[test]
    fn of_a_deadlock_it_is_not_said_that_the_lock_is_lost_for_all() {
        let said = harm(Kind::Deadlock, 1, Micros::ZERO);
        assert_eq!(said, "deadlock: no pending event can wake the waiting processes");
    }
}
