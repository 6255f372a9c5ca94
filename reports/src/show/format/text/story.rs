//! The story of one cause on the first screen. Violations of a run that share their cause are one
//! story: the first of them leads, and marks show where the others happen. Only the first story of
//! a report lists events; a story that repeats an earlier lock's, with the same minimal faults of
//! the same plan, refers to that.

use super::amount::{about, often};
use super::lanes::{Gap, Lanes, with_gaps};
use super::layout::{BOLD, DIM, RED, severity_style, wrapped_to};
use super::plan_text;
use super::remedies;
use super::rerun;
use crate::explain::cause::Cause;
use crate::explain::literature::Expected;
use crate::judge::finding::Kind;
use crate::record::history::{Access, Change, Turn, What};
use crate::show::format::Page;
use crate::summary::report::{Boundary, RunReport, TimelineEntry, ViolationReport};
use fencepost_faults::{Node, SimTime, TimedFault};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// The most events in a story, besides its evidence.
const EVENTS_MAX: usize = 9;
/// The most events in a story with its evidence: the first, and the last of those that break no
/// rule, as for a stuck lock with many failed attempts.
const EVIDENCE_FIRST: usize = 10;
const EVIDENCE_LAST: usize = 2;
/// The most faults in a story.
const FAULTS_MAX: usize = 3;
/// The column at which the lanes of a story begin, and the minimum width of the text after them.
const BEFORE_LANES: usize = 16;
const WORDS_MIN: usize = 20;
/// The column of values after their labels.
const VALUES: usize = 13;

/// Every story of a run, in order of their start, abbreviated if one was told `before`. Returns
/// those that were told.
pub(crate) fn write<'r>(
    page: Page,
    run: &'r RunReport,
    before: &[Told<'r>],
    out: &mut dyn Write,
) -> io::Result<Vec<Told<'r>>> {
    let told = stories(run);
    for (index, story) in told.iter().enumerate() {
        let earlier = Earlier {
            any: !before.is_empty() || index > 0,
            of_this_lock: index > 0,
            of_this_cause: before.iter().any(|one| one.cause() == story.cause()),
            like: before.iter().find(|one| story.is_like(one)),
        };
        write_story(page, story, &earlier, out)?;
    }
    Ok(told)
}

/// What preceded a story.
struct Earlier<'a> {
    any: bool,
    /// One of the same run.
    of_this_lock: bool,
    /// One of the same cause.
    of_this_cause: bool,
    /// One of another lock with the same course.
    like: Option<&'a Told<'a>>,
}

fn stories(run: &RunReport) -> Vec<Told<'_>> {
    let mut told: Vec<Told<'_>> = Vec::new();
    for one in &run.violations {
        match told.iter_mut().find(|story| story.lead.violation.cause == one.violation.cause) {
            Some(story) => story.others.push(one),
            None => told.push(Told { run, lead: one, others: Vec::new() }),
        }
    }
    // Causes in the lock itself precede those that no lock with a lease prevents.
    told.sort_by_key(Told::is_beyond_leases);
    told
}

/// The violations of one cause.
pub(crate) struct Told<'r> {
    run: &'r RunReport,
    lead: &'r ViolationReport,
    others: Vec<&'r ViolationReport>,
}

fn write_story(
    page: Page,
    told: &Told<'_>,
    earlier: &Earlier<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (run, violation) = (told.run, &told.lead.violation);
    let style = severity_style(violation.severity);
    let (kind, cause) = (violation.kind.name(), violation.cause.name());
    let (client, id) = (&run.client, &violation.id);
    let title = format!("{client}: {kind} by {cause}");
    let id = format!("[{id}]");
    write!(out, "\n{BOLD}{client}{BOLD:#}: {style}{kind}{style:#} by {cause}")?;
    // The fingerprint is at the right edge, on the next line if the title leaves no room.
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
        field(page, out, "same as", &format!("{there}, in cause and smallest faults"))?;
    } else {
        for line in wrapped_to(&violation.summary, page.width - 2) {
            writeln!(out, "  {line}")?;
        }
    }
    if !earlier.any {
        write_faults(page, told, out)?;
        write_events(page, told, out)?;
    }
    write_also(page, told, out)?;
    write_rerun(page, told, earlier, out)
}

/// The faults that act on the story, with both sides of each cut.
fn write_faults(page: Page, told: &Told<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (_, last) = told.span();
    let until = told.run.timeline.iter().rev().find(|entry| entry.sequence <= last);
    let until = until.map_or(told.lead.violation.at_us, |entry| entry.time_us);
    let mut faults: Vec<&TimedFault> =
        told.run.plan.faults.iter().filter(|timed| timed.at_us <= until).collect();
    let older = faults.len().saturating_sub(FAULTS_MAX);
    faults.drain(..older);
    if older > 0 {
        let more = if older == 1 { "earlier fault" } else { "earlier faults" };
        writeln!(out, "  {DIM}{:>10}  {older} {more}, see --verbose{DIM:#}", "...")?;
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

fn write_events(page: Page, told: &Told<'_>, out: &mut dyn Write) -> io::Result<()> {
    let chosen = told.chosen();
    if chosen.is_empty() {
        return Ok(());
    }
    let beside = page.width.saturating_sub(BEFORE_LANES + WORDS_MIN);
    let mut lanes = Lanes::new(&told.lead.violation.processes).within(beside);
    let digits = match told
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
    for (gap, entry) in with_gaps(&told.run.timeline, |one| chosen.contains(&one.sequence)) {
        write_gap(&lanes, &gap, room, out)?;
        let line = lanes.line(entry, &gap);
        let (text, broken) = told.words(entry);
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

/// The other violations of this cause, by fingerprint.
fn write_also(page: Page, told: &Told<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut parts = Vec::new();
    for one in &told.others {
        let violation = &one.violation;
        let often = often(violation.kind, violation.occurrences, violation.total_duration_us);
        parts.push(format!("{often} [{}]", violation.id));
    }
    field(page, out, "also", &parts.join(", "))
}

/// The results of diagnostic runs.
fn write_rerun(
    page: Page,
    told: &Told<'_>,
    earlier: &Earlier<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lead = told.lead;
    let least = smallest(lead).unwrap_or_default();
    if earlier.like.and_then(|like| smallest(like.lead)).is_none_or(|other| other != least) {
        field(page, out, "smallest", &least)?;
    }
    let kind = lead.violation.kind;
    if let Some(expected) = told.run.expected.as_ref().filter(|_| Expected::speaks_of(kind)) {
        match expected.kinds.contains(&kind) {
            true if earlier.of_this_lock => {}
            true => field(page, out, "known", &expected.source)?,
            false => field(page, out, "literature", &rerun::known(expected, kind))?,
        }
    }
    let remedies = remedies::told(told.lead, &told.others, !earlier.any);
    field(page, out, "remedies", &remedies.unwrap_or_default())?;
    if !earlier.of_this_lock {
        field(page, out, "replay", &lead.replay)?;
    }
    if earlier.of_this_cause {
        return Ok(());
    }
    let explained = format!("fencepost explain {} tells what helps", lead.violation.cause.name());
    field(page, out, "explain", &explained)
}

/// The minimal run.
fn smallest(lead: &ViolationReport) -> Option<String> {
    let plan = lead.minimal_plan.as_ref()?;
    let faults: Vec<String> =
        plan.faults.iter().map(|timed| plan_text::in_brief(&timed.fault)).collect();
    let faults = if faults.is_empty() { "no fault at all".to_owned() } else { faults.join("; ") };
    let tight = lead.boundary.as_ref().map(|boundary| tight(boundary, plan.faults.len()));
    let tight = tight.unwrap_or_default();
    let size =
        lead.minimal_run.as_ref().map_or(String::new(), |run| format!(", {}", rerun::size(run)));
    let no_length = plan_text::of_no_length(plan).map_or(String::new(), |said| format!(". {said}"));
    Some(format!("{faults}{tight}{size}{no_length}"))
}

/// The nearest value without the violation: for a delay that must be short, a longer one.
fn tight(boundary: &Boundary, faults: usize) -> String {
    let value = rerun::amount(boundary, boundary.not_enough);
    let is_less = boundary.not_enough.unsigned_abs() < boundary.enough.unsigned_abs();
    let said = if is_less { "is not enough" } else { "is too much" };
    match faults {
        1 => format!(" ({value} {said})"),
        _ => format!(" ({} {value} of fault {} {said})", boundary.quantity, boundary.fault),
    }
}

/// A label and its value, wrapped after the label; nothing without a value.
fn field(page: Page, out: &mut dyn Write, label: &str, value: &str) -> io::Result<()> {
    let mut label = label;
    for line in wrapped_to(value, page.width - VALUES) {
        writeln!(out, "  {DIM}{label:<11}{DIM:#}{line}")?;
        label = "";
    }
    Ok(())
}

/// The first and last events, and between them those that must be shown.
fn ends(chosen: &BTreeSet<u64>, needed: &BTreeSet<u64>) -> BTreeSet<u64> {
    let last = chosen.len().saturating_sub(EVIDENCE_LAST);
    let is_shown = |(place, event): &(usize, &u64)| {
        *place < EVIDENCE_FIRST || *place >= last || needed.contains(event)
    };
    chosen.iter().enumerate().filter(is_shown).map(|(_, event)| *event).collect()
}

impl Told<'_> {
    fn cause(&self) -> Cause {
        self.lead.violation.cause
    }

    /// Returns whether no lock with a lease prevents it.
    fn is_beyond_leases(&self) -> bool {
        let is_waiting = matches!(
            self.lead.violation.kind,
            Kind::Stuck | Kind::Deadlock | Kind::Starved | Kind::WrongAnswer | Kind::ForeignRelease
        );
        self.cause().is_beyond_leases() && !is_waiting
    }

    /// Returns whether another lock had the same course: the same rule broken for the same cause by
    /// the same plan, and by the same faults of its minimal plan.
    fn is_like(&self, other: &Told<'_>) -> bool {
        let least = |told: &Told<'_>| {
            let plan = told.lead.minimal_plan.as_ref()?;
            Some(plan.faults.iter().map(|timed| plan_text::in_brief(&timed.fault)).collect())
        };
        let (here, there) = (&self.lead.violation, &other.lead.violation);
        let least_here: Option<Vec<String>> = least(self);
        self.run.plan == other.run.plan
            && (here.kind, here.cause) == (there.kind, there.cause)
            && least_here.is_some()
            && least_here == least(other)
    }

    /// The first and the last event: the evidence of the lead, and that of others in between.
    fn span(&self) -> (u64, u64) {
        let of = |one: &ViolationReport| {
            let numbers = one.violation.witness.iter().map(|event| event.sequence);
            (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0))
        };
        let (first, mut last) = of(self.lead);
        let until = self.lead.violation.at_us + self.lead.violation.duration_us;
        for other in self.others.iter().filter(|one| one.violation.at_us <= until) {
            last = last.max(of(other).1);
        }
        (first, last)
    }

    /// The numbers of the events to show.
    fn chosen(&self) -> BTreeSet<u64> {
        let (first, last) = self.span();
        let within = |entry: &&TimelineEntry| {
            (first..=last).contains(&entry.sequence)
                || self.stands(entry, first)
                || self.decides(entry)
        };
        let mut ranked: Vec<(u8, u64, u64)> = self
            .run
            .timeline
            .iter()
            .filter(within)
            .filter_map(|entry| {
                let far = entry.time_us.0.abs_diff(self.lead.violation.at_us.0);
                Some((self.rank(entry)?, far, entry.sequence))
            })
            .collect();
        ranked.sort_unstable();
        let evidence = ranked.iter().filter(|(rank, ..)| *rank == 0).count();
        ranked.truncate(EVENTS_MAX.max(evidence));
        let chosen: BTreeSet<u64> = ranked.into_iter().map(|(_, _, sequence)| sequence).collect();
        let broken = self.run.timeline.iter().filter(|entry| self.breaks(entry).next().is_some());
        ends(&chosen, &broken.map(|entry| entry.sequence).collect())
    }

    /// Returns whether a server became or remained a primary, and still is when the story begins.
    fn stands(&self, entry: &TimelineEntry, first: u64) -> bool {
        let is_turn = |one: &TimelineEntry| {
            one.process == entry.process
                && matches!(one.what, What::Turn { turn, .. } if turn.changes_data())
        };
        let between = |one: &&TimelineEntry| entry.sequence < one.sequence && one.sequence < first;
        matches!(entry.what, What::Turn { turn: Turn::Promoted | Turn::Unaware, .. })
            && entry.sequence < first
            && !self.run.timeline.iter().filter(between).any(is_turn)
    }

    /// The priority of an event when room is short; `None` for events that this story does not
    /// show.
    fn rank(&self, entry: &TimelineEntry) -> Option<u8> {
        let lead = &self.lead.violation;
        let is_evidence = lead.witness.iter().any(|event| event.sequence == entry.sequence);
        if is_evidence || self.decides(entry) || self.breaks(entry).next().is_some() {
            return Some(0);
        }
        let takes_part = |node| self.lead.violation.processes.contains(&node);
        match &entry.what {
            What::Crashed | What::Started | What::Lost => Some(1),
            What::GivenUp { .. } if takes_part(entry.process) => Some(1),
            What::Turn { turn, .. } if turn.changes_data() => Some(1),
            What::Ok { owner: Some(_), .. } | What::Invoke { .. } if takes_part(entry.process) => {
                Some(2)
            }
            What::Server { change, by, .. } if by.is_none_or(takes_part) => match change {
                Change::Granted | Change::Discarded | Change::Forgotten | Change::Evicted => {
                    Some(3)
                }
                _ => Some(4),
            },
            What::Storage { by, accepted, .. } if takes_part(*by) && !accepted => Some(3),
            _ => None,
        }
    }

    /// Returns whether a server granted the lock, lost it or changed its role in this event of the
    /// story.
    fn decides(&self, entry: &TimelineEntry) -> bool {
        let mut story = self.lead.violation.narrative.iter();
        let is_deed = match &entry.what {
            What::Server { .. } => true,
            What::Turn { turn, .. } => turn.changes_data(),
            _ => false,
        };
        is_deed && story.any(|line| line.event == entry.sequence)
    }

    /// The violations that this event completes.
    fn breaks<'e>(
        &'e self,
        entry: &'e TimelineEntry,
    ) -> impl Iterator<Item = &'e ViolationReport> + 'e {
        std::iter::once(&self.lead).chain(&self.others).copied().filter(|one| {
            let mut witness = one.violation.witness.iter().rev();
            let at = witness.find(|event| event.time_us == one.violation.at_us);
            at.is_some_and(|event| event.sequence == entry.sequence)
        })
    }

    /// The text of an event, and whether it breaks a rule.
    fn words(&self, entry: &TimelineEntry) -> (String, bool) {
        let text = match &entry.what {
            What::FaultBegan { .. } | What::FaultEnded { .. } | What::Healed => entry.text.clone(),
            What::Ok { owner: Some(_), token, .. } if !entry.nested => {
                let token = token.map_or(String::new(), |token| format!(" with token {token}"));
                format!("{} enters{token}", entry.process)
            }
            What::Storage { by, accepted: true, access: Access::Write, .. } => {
                write_of(*by, &entry.what)
            }
            _ => format!("{} {}", entry.process, entry.text),
        };
        let mut broken: Vec<String> = self.breaks(entry).map(|one| mark(one, entry)).collect();
        if broken.is_empty() && self.overlaps_again(entry) {
            broken.push("BOTH again".to_owned());
        }
        match broken.is_empty() {
            true => (text, false),
            false => (format!("{text}: {}", broken.join(", ")), true),
        }
    }

    /// Returns whether a process enters while another is inside, in a story of overlaps.
    fn overlaps_again(&self, entry: &TimelineEntry) -> bool {
        let mut told = std::iter::once(&self.lead).chain(&self.others);
        let enters = matches!(entry.what, What::Ok { owner: Some(_), .. }) && !entry.nested;
        told.any(|one| one.violation.kind == Kind::Overlap)
            && enters
            && entry.holding.iter().any(|node| *node != entry.process)
    }
}

/// An accepted write: the value that it replaced, and the one that the writer had read.
fn write_of(by: Node, what: &What) -> String {
    let What::Storage { token, before, after, based_on, .. } = what else { return String::new() };
    let token = token.map_or(String::new(), |token| format!(" with token {token}"));
    let read = based_on.filter(|read| read != before);
    let read = read.map_or(String::new(), |read| format!("had read {read} and "));
    format!("{by} {read}writes {after}{token} over {before}")
}

/// The mark after the event that completes a violation.
fn mark(report: &ViolationReport, entry: &TimelineEntry) -> String {
    let violation = &report.violation;
    match (violation.kind, &entry.what) {
        (Kind::StaleWrite, What::Storage { by, .. }) => {
            let later = violation.processes.iter().find(|process| *process != by);
            let later =
                later.map_or(String::new(), |later| format!(" ({later} was granted later)"));
            format!("STALE WRITE{later}")
        }
        (Kind::Overlap, _) => format!("BOTH for {}", about(violation.duration_us)),
        (kind, _) => kind.name().replace('-', " ").to_uppercase(),
    }
}

/// The precision of times.
#[derive(Clone, Copy)]
enum Digits {
    Millis,
    Tenths,
    Micros,
}

fn seconds(at: SimTime, digits: Digits) -> String {
    let (whole, rest) = (at.0 / 1_000_000, at.0 % 1_000_000);
    match digits {
        Digits::Millis => format!("{whole}.{:03}s", rest / 1_000),
        Digits::Tenths => format!("{whole}.{:04}s", rest / 100),
        Digits::Micros => format!("{whole}.{rest:06}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_much_evidence_the_ends_are_shown_and_what_breaks_a_rule() {
        let few: BTreeSet<u64> = (0..12).collect();
        assert_eq!(ends(&few, &BTreeSet::new()), few);
        let many: BTreeSet<u64> = (0..60).collect();
        let shown: Vec<u64> = ends(&many, &[30, 99].into()).into_iter().collect();
        assert_eq!(shown, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 30, 58, 59]);
    }

    #[test]
    fn a_pause_is_not_enough_and_a_delay_is_too_much() {
        let boundary = |quantity: &str, enough, not_enough| Boundary {
            fault: 2,
            quantity: quantity.to_owned(),
            enough,
            not_enough,
            analytic: None,
        };
        let pause = boundary("duration_us", 4_317_000, 4_316_000);
        assert_eq!(tight(&pause, 1), " (4.316s is not enough)");
        let away = boundary("down_us", 0, 3_904_000);
        assert_eq!(tight(&away, 1), " (3.904s is too much)");
        assert_eq!(tight(&away, 2), " (down_us 3.904s of fault 2 is too much)");
        let back = boundary("offset_us", -2_000_000, -1_999_000);
        assert_eq!(tight(&back, 1), " (-1.999s is not enough)");
    }
}
