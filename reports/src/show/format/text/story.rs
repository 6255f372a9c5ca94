//! Writes the stories on the first screen, one for each cause of a run's violations.

mod events;

use super::amount::count_phrase;
use super::lanes::{Gap, Lanes, with_gaps};
use super::layout::{BOLD, DIM, RED, severity_style, wrapped_to};
use super::{plan_text, remedies, rerun};
use crate::explain::cause::Cause;
use crate::explain::literature::Expected;
use crate::judge::finding::Kind;
use crate::show::format::Page;
use crate::summary::report::{Boundary, RunReport, ViolationReport};
use fencepost_faults::{Impact, Node, SimTime, TimedFault};
use std::io::{self, Write};

const FAULTS_MAX: usize = 3;
const BEFORE_LANES: usize = 16;
const WORDS_MIN: usize = 20;
const VALUES: usize = 13;

pub(crate) fn write<'r>(
    page: Page,
    run: &'r RunReport,
    before: &[Story<'r>],
    out: &mut dyn Write,
) -> io::Result<Vec<Story<'r>>> {
    let told = stories(run);
    for (index, story) in told.iter().enumerate() {
        let earlier = Earlier {
            any: !before.is_empty() || index > 0,
            of_this_lock: index > 0,
            is_cited: told[..index].iter().any(Story::cites),
            of_this_cause: before.iter().any(|one| one.cause() == story.cause()),
            like: before.iter().find(|one| story.is_like(one)),
        };
        write_story(page, story, &earlier, out)?;
    }
    Ok(told)
}

struct Earlier<'a> {
    any: bool,
    of_this_lock: bool,
    of_this_cause: bool,
    /// `true` if an earlier story of the run already cites the literature.
    is_cited: bool,
    like: Option<&'a Story<'a>>,
}

fn stories(run: &RunReport) -> Vec<Story<'_>> {
    let mut told: Vec<Story<'_>> = Vec::new();
    for one in &run.violations {
        match told.iter_mut().find(|story| story.lead.violation.cause == one.violation.cause) {
            Some(story) => story.others.push(one),
            None => told.push(Story { run, lead: one, others: Vec::new() }),
        }
    }
    // Move violations that no lock with a lease can prevent to the end.
    told.sort_by_key(Story::is_beyond_leases);
    told
}

pub(crate) struct Story<'r> {
    run: &'r RunReport,
    lead: &'r ViolationReport,
    others: Vec<&'r ViolationReport>,
}

fn write_story(
    page: Page,
    story: &Story<'_>,
    earlier: &Earlier<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (run, violation) = (story.run, &story.lead.violation);
    let style = severity_style(violation.severity);
    let (kind, cause) = (violation.kind.name(), violation.cause.name());
    let (client, id) = (&run.client, &violation.id);
    let title = format!("{client}: {kind} by {cause}");
    let id = format!("[{id}]");
    write!(out, "\n{BOLD}{client}{BOLD:#}: {style}{kind}{style:#} by {cause}")?;
    let room = match page.width.saturating_sub(title.chars().count()) {
        room if room > id.chars().count() => room,
        _ => {
            writeln!(out)?;
            page.width
        }
    };
    writeln!(out, "{DIM}{id:>room$}{DIM:#}")?;
    if let Some(like) = earlier.like {
        let there = format!("the {kind} of {} above", like.run.client);
        field(page, out, "same as", &format!("{there}, with the same cause and smallest faults"))?;
    } else {
        for line in wrapped_to(&violation.summary, page.width - 2) {
            writeln!(out, "  {line}")?;
        }
    }
    if !earlier.any {
        write_faults(page, story, out)?;
        write_events(page, story, out)?;
    }
    write_also(page, story, out)?;
    write_rerun(page, story, earlier, out)
}

fn faults_shown<'r>(story: &Story<'r>) -> (Vec<&'r TimedFault>, usize) {
    let (run, lead) = (story.run, story.lead);
    let (_, last) = story.span();
    let until = run.timeline.iter().rev().find(|entry| entry.sequence <= last);
    let until = until.map_or(lead.violation.at_us, |entry| entry.time_us);
    // If the smallest run involves other processes, it may also need other faults.
    let is_same = rerun::others_involved(lead).is_none();
    let is_decisive = |timed: &TimedFault| {
        let minimal = lead.minimal_plan.iter().flat_map(|plan| &plan.faults);
        is_same && minimal.into_iter().any(|kept| kept.id == timed.id)
    };
    let is_step = |timed: &TimedFault| {
        let name = format!("(fault {})", timed.id);
        let told = story.told().filter(|one| one.violation.at_us <= until);
        told.flat_map(|one| &one.violation.narrative).any(|line| line.text.contains(&name))
    };
    let is_named = |timed: &TimedFault| {
        let name = format!("(fault {})", timed.id);
        story.told().any(|one| one.violation.summary.contains(&name))
    };
    let meanwhile = lead.violation.at_us..=lead.violation.at_us + lead.violation.duration_us;
    let prolongs = |timed: &TimedFault| {
        let involved = |node: &Node| lead.violation.processes.contains(node);
        timed.fault.kind().impact() == Impact::Freezes
            && meanwhile.contains(&timed.at_us)
            && timed.fault.nodes().iter().any(involved)
    };
    let stops_holder = |timed: &TimedFault| {
        let is_stop = timed.fault.kind().impact() == Impact::Freezes;
        is_stop
            && lead
                .violation
                .processes
                .first()
                .is_some_and(|holder| timed.fault.nodes().contains(holder))
    };
    let delays = |timed: &TimedFault| {
        lead.violation.cause == Cause::StorageDelay && timed.fault.nodes().contains(&Node::Storage)
    };
    // Older reports do not state which faults began, so all planned faults may have begun.
    let states_began = !run.faults_began.is_empty() || run.faults_fired == 0;
    let began = |timed: &TimedFault| !states_began || run.faults_began.contains(&timed.id);
    let mut faults: Vec<&TimedFault> =
        run.plan.faults.iter().filter(|timed| timed.at_us <= until && began(timed)).collect();
    faults.sort_by_key(|timed| {
        let is_late = timed.at_us > lead.violation.at_us;
        let is_cause = is_named(timed) || is_step(timed) && (stops_holder(timed) || delays(timed));
        let latest_first = std::cmp::Reverse(timed.at_us);
        let is_step = is_step(timed) || prolongs(timed);
        (!is_decisive(timed), !is_cause, !is_step, is_late, latest_first)
    });
    // If no fault is part of the story, show the first `FAULTS_MAX` sorted faults instead.
    let is_told = |timed: &&&TimedFault| {
        is_decisive(timed) || is_named(timed) || is_step(timed) || prolongs(timed)
    };
    let told = faults.iter().filter(is_told);
    let shown = match told.count() {
        0 => FAULTS_MAX,
        told => told.min(FAULTS_MAX),
    };
    faults.truncate(shown);
    let others = run.plan.faults.iter().filter(|timed| began(timed)).count() - faults.len();
    faults.sort_by_key(|timed| timed.at_us);
    (faults, others)
}

fn write_faults(page: Page, story: &Story<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (faults, others) = faults_shown(story);
    if others > 0 {
        let more = if others == 1 { "other fault" } else { "other faults" };
        writeln!(out, "  {DIM}{:>10}  {others} {more}, see --verbose{DIM:#}", "...")?;
    }
    for timed in faults {
        let text = plan_text::in_brief(&timed.fault);
        let mut at = seconds(timed.at_us, Digits::Millis);
        for line in wrapped_to(&text, page.width - 14) {
            writeln!(out, "  {at:>10}  {line}")?;
            at = String::new();
        }
    }
    Ok(())
}

fn write_events(page: Page, story: &Story<'_>, out: &mut dyn Write) -> io::Result<()> {
    let chosen = story.chosen();
    if chosen.is_empty() {
        return Ok(());
    }
    let beside = page.width.saturating_sub(BEFORE_LANES + WORDS_MIN);
    let mut lanes = Lanes::new(&story.lead.violation.processes).within(beside);
    let digits = match story
        .run
        .timeline
        .iter()
        .all(|entry| !chosen.contains(&entry.sequence) || entry.time_us.0.is_multiple_of(100))
    {
        true => Digits::Tenths,
        false => Digits::Micros,
    };
    writeln!(out, "  {DIM}{:>12}  {}{DIM:#}", "time", lanes.head().trim_end())?;
    let room = page.width.saturating_sub(BEFORE_LANES + lanes.width());
    for (gap, entry) in with_gaps(&story.run.timeline, |one| chosen.contains(&one.sequence)) {
        write_gap(&lanes, &gap, room, out)?;
        let line = lanes.line(entry, &gap);
        let (text, broken) = story.words(entry);
        let mut mark = if broken { '!' } else { ' ' };
        let mut time = seconds(entry.time_us, digits);
        let mut drawn = line;
        for part in wrapped_to(&text, room) {
            writeln!(out, "{RED}{mark}{RED:#} {time:>12}  {drawn}{part}")?;
            (mark, time, drawn) = (' ', String::new(), lanes.rest());
        }
    }
    Ok(())
}

fn write_gap(lanes: &Lanes, gap: &Gap, room: usize, out: &mut dyn Write) -> io::Result<()> {
    let Some((drawn, text)) = lanes.gap(gap) else { return Ok(()) };
    for part in wrapped_to(&text, room) {
        writeln!(out, "  {:12}  {drawn}{DIM}{part}{DIM:#}", "")?;
    }
    Ok(())
}

fn write_also(page: Page, story: &Story<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut parts = Vec::new();
    for one in &story.others {
        let violation = &one.violation;
        let often =
            count_phrase(violation.kind, violation.occurrences, violation.total_duration_us);
        parts.push(format!("{often} [{}]", violation.id));
    }
    field(page, out, "also", &parts.join(", "))
}

fn write_rerun(
    page: Page,
    story: &Story<'_>,
    earlier: &Earlier<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lead = story.lead;
    let least = smallest(lead).unwrap_or_default();
    if earlier.like.and_then(|like| smallest(like.lead)).is_none_or(|other| other != least) {
        field(page, out, "smallest", &least)?;
    }
    let kind = lead.violation.kind;
    if let Some(expected) = story.run.expected.as_ref().filter(|_| Expected::covers_rule(kind)) {
        match expected.kinds.contains(&kind) {
            true if earlier.is_cited || !story.cites() => {}
            true => field(page, out, "known from", &expected.source)?,
            false => field(page, out, "literature", &rerun::known(expected, kind))?,
        }
    }
    let remedies = match earlier.any {
        true => remedies::on_other_seeds(lead, &story.others),
        false => remedies::render(lead, &story.others),
    };
    field(page, out, "remedies", &remedies.unwrap_or_default())?;
    if !earlier.of_this_lock {
        field(page, out, "replay", &lead.replay)?;
    }
    if earlier.of_this_cause {
        return Ok(());
    }
    let tells = match lead.violation.cause {
        Cause::Unexplained => "says what to do next",
        _ => "describes the mechanism and remedies",
    };
    let explained = format!("fencepost explain {} {tells}", lead.violation.cause.name());
    field(page, out, "explain", &explained)
}

fn smallest(lead: &ViolationReport) -> Option<String> {
    let plan = lead.minimal_plan.as_ref()?;
    let faults: Vec<String> = plan.faults.iter().map(plan_text::in_brief_at).collect();
    let faults = if faults.is_empty() { "no fault".to_owned() } else { faults.join("; ") };
    let tight = lead.boundary.as_ref().map(|boundary| {
        let place = plan.faults.iter().position(|timed| timed.id == boundary.fault);
        tight(boundary, plan.faults.len(), place.unwrap_or_default())
    });
    let tight = tight.unwrap_or_default();
    let size =
        lead.minimal_run.as_ref().map_or(String::new(), |run| format!("; {}", rerun::size(run)));
    let no_length =
        plan_text::lasting_effect(plan).map_or(String::new(), |said| format!(". {said}"));
    let others = rerun::others_involved(lead).map_or(String::new(), |said| format!(". {said}"));
    Some(format!("{faults}{tight}{size}{others}{no_length}"))
}

/// Names the fault by its place in the minimal plan, which the text lists without ids.
fn tight(boundary: &Boundary, faults: usize, place: usize) -> String {
    let value = rerun::amount(boundary, boundary.not_enough);
    let what = match (rerun::magnitude(boundary), faults) {
        ("duration", 1) => value,
        (magnitude, 1) => format!("a {magnitude} of {value}"),
        (magnitude, _) => {
            let which = match place {
                0 => "in the first fault".to_owned(),
                last if last + 1 == faults => "in the last fault".to_owned(),
                1 => "in the second fault".to_owned(),
                place => format!("in fault {} of these {faults}", place + 1),
            };
            format!("a {magnitude} of {value} {which}")
        }
    };
    match boundary.not_enough_cause {
        Some(cause) => format!(" ({what} changes the cause to {cause})"),
        None if rerun::is_less(boundary) => format!(" ({what} is not enough)"),
        None => format!(" (with {what}, the violation does not happen)"),
    }
}

fn field(page: Page, out: &mut dyn Write, label: &str, value: &str) -> io::Result<()> {
    let mut label = label;
    for line in wrapped_to(value, page.width - VALUES) {
        writeln!(out, "  {DIM}{label:<11}{DIM:#}{line}")?;
        label = "";
    }
    Ok(())
}

impl Story<'_> {
    fn cause(&self) -> Cause {
        self.lead.violation.cause
    }

    /// Returns `true` if the literature describes the violation. In a run with faults, a violation
    /// that needs no fault does not count, because the literature describes the effects of faults.
    fn cites(&self) -> bool {
        let needs_fault =
            self.lead.minimal_plan.as_ref().is_none_or(|plan| !plan.faults.is_empty());
        let expected = self.run.expected.as_ref();
        let is_expected = expected.is_some_and(|one| one.kinds.contains(&self.lead.violation.kind));
        let describes = expected.is_some_and(|one| one.describes(self.lead.violation.cause));
        is_expected && describes && (needs_fault || self.run.plan.faults.is_empty())
    }

    fn is_beyond_leases(&self) -> bool {
        let is_waiting = matches!(
            self.lead.violation.kind,
            Kind::Stuck | Kind::Deadlock | Kind::Starved | Kind::WrongAnswer | Kind::ForeignRelease
        );
        self.cause().is_beyond_leases() && !is_waiting
    }

    fn is_like(&self, other: &Story<'_>) -> bool {
        let least = |story: &Story<'_>| {
            let plan = story.lead.minimal_plan.as_ref()?;
            Some(plan.faults.iter().map(|timed| plan_text::in_brief(&timed.fault)).collect())
        };
        let (here, there) = (&self.lead.violation, &other.lead.violation);
        let least_here: Option<Vec<String>> = least(self);
        self.run.plan == other.run.plan
            && (here.kind, here.cause) == (there.kind, there.cause)
            && least_here.is_some()
            && least_here == least(other)
    }
}

#[derive(Clone, Copy)]
enum Digits {
    Millis,
    Tenths,
    Micros,
}

fn seconds(at: SimTime, digits: Digits) -> String {
    let (step, width) = match digits {
        Digits::Millis => (1_000, 3),
        Digits::Tenths => (100, 4),
        Digits::Micros => (1, 6),
    };
    let (steps, per_second) = ((at.0 + step / 2) / step, 1_000_000 / step);
    format!("{}.{:0width$}s", steps / per_second, steps % per_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_as_durations_are() {
        let all =
            |at| [Digits::Millis, Digits::Tenths, Digits::Micros].map(|d| seconds(SimTime(at), d));
        assert_eq!(all(26_363_900), ["26.364s", "26.3639s", "26.363900s"]);
        assert_eq!(all(1_999_500), ["2.000s", "1.9995s", "1.999500s"]);
        assert_eq!(all(7), ["0.000s", "0.0000s", "0.000007s"]);
    }

    #[test]
    fn a_pause_is_not_enough_and_a_delay_is_too_much() {
        let boundary = |quantity: &str, enough, not_enough| Boundary {
            fault: 2,
            quantity: quantity.to_owned(),
            enough,
            not_enough,
            not_enough_cause: None,
            analytic: None,
        };
        let pause = boundary("duration_us", 4_317_000, 4_316_000);
        assert_eq!(tight(&pause, 1, 0), " (4.316s is not enough)");
        let renamed = Boundary { not_enough_cause: Some(Cause::HoldTooLong), ..pause };
        let said = " (4.316s changes the cause to hold-too-long)";
        assert_eq!(tight(&renamed, 1, 0), said);
        let away = boundary("down_us", 0, 3_904_000);
        assert_eq!(
            tight(&away, 1, 0),
            " (with a downtime of 3.904s, the violation does not happen)"
        );
        assert_eq!(
            tight(&away, 2, 0),
            " (with a downtime of 3.904s in the first fault, the violation does not happen)"
        );
        let said = tight(&away, 2, 1);
        assert!(said.contains("in the last fault"), "{said}");
        let said = tight(&away, 4, 2);
        assert!(said.contains("in fault 3 of these 4"), "{said}");
        let back = boundary("offset_us", -2_000_000, -1_999_000);
        assert_eq!(tight(&back, 1, 0), " (a clock step of -1.999s is not enough)");
    }
}
