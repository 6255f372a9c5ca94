use super::Story;
use crate::explain::cause::Cause;
use crate::judge::finding::Kind;
use crate::record::history::{Access, Action, Change, Turn, What};
use crate::show::format::text::amount::about;
use crate::summary::report::{TimelineEntry, ViolationReport};
use fencepost_faults::Node;
use std::collections::BTreeSet;

const EVENTS_MAX: usize = 9;
/// Numbers of events that a long story shows from its start and from its end.
const EVIDENCE_FIRST: usize = 10;
const EVIDENCE_LAST: usize = 2;

impl Story<'_> {
    pub(super) fn span(&self) -> (u64, u64) {
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

    pub(super) fn chosen(&self) -> BTreeSet<u64> {
        let (first, last) = self.span();
        let within = |entry: &&TimelineEntry| {
            (first..=last).contains(&entry.sequence)
                || self.is_in_effect(entry, first)
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

    fn is_in_effect(&self, entry: &TimelineEntry, first: u64) -> bool {
        let is_turn = |one: &TimelineEntry| {
            one.process == entry.process
                && matches!(one.what, What::Turn { turn, .. } if turn.changes_data())
        };
        let between = |one: &&TimelineEntry| entry.sequence < one.sequence && one.sequence < first;
        matches!(entry.what, What::Turn { turn: Turn::Promoted | Turn::Unaware, .. })
            && entry.sequence < first
            && !self.run.timeline.iter().filter(between).any(is_turn)
    }

    fn rank(&self, entry: &TimelineEntry) -> Option<u8> {
        let lead = &self.lead.violation;
        let is_evidence = lead.witness.iter().any(|event| event.sequence == entry.sequence);
        if is_evidence || self.decides(entry) || self.breaks(entry).next().is_some() {
            return Some(0);
        }
        let takes_part = |node| self.lead.violation.processes.contains(&node);
        match &entry.what {
            What::Started if self.says_what_it_lost(entry) => None,
            What::Crashed | What::Started | What::Lost => Some(1),
            What::GivenUp { .. } if takes_part(entry.process) => Some(1),
            What::Turn { turn, .. } if turn.changes_data() || turn.changes_writes() => Some(1),
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

    /// Returns `true` if another entry states what the server lost or restored in this restart.
    fn says_what_it_lost(&self, started: &TimelineEntry) -> bool {
        self.run.timeline.iter().any(|entry| {
            let is_told = matches!(
                entry.what,
                What::Server { change: Change::Forgotten | Change::Restored, .. }
            );
            is_told && (entry.process, entry.time_us) == (started.process, started.time_us)
        })
    }

    fn decides(&self, entry: &TimelineEntry) -> bool {
        let lead = &self.lead.violation;
        let mut story = lead.narrative.iter();
        let is_wait = lead.kind.is_lack_of_progress();
        let is_deed = match &entry.what {
            What::Server { .. } => true,
            What::Turn { turn, .. } => turn.changes_data() || turn.changes_writes(),
            What::Invoke { action: Action::Release, .. } => {
                is_wait || lead.cause == Cause::EarlyRelease
            }
            What::Info { .. } => is_wait || lead.cause == Cause::StorageDelay,
            What::Invoke { action: Action::Read { .. } | Action::Write { .. }, .. } => true,
            _ => false,
        };
        is_deed && story.any(|line| line.event == entry.sequence) || self.is_late_grant(entry)
    }

    /// Returns `true` if a later stale write's narrative names this event, which the writer caused.
    fn is_late_grant(&self, entry: &TimelineEntry) -> bool {
        let What::Server { by: Some(by), .. } = entry.what else { return false };
        self.told().any(|one| {
            let stale = &one.violation;
            stale.kind == Kind::StaleWrite
                && stale.processes.first() == Some(&by)
                && (self.lead.violation.at_us..stale.at_us).contains(&entry.time_us)
                && stale.narrative.iter().any(|line| line.event == entry.sequence)
        })
    }

    fn breaks<'e>(
        &'e self,
        entry: &'e TimelineEntry,
    ) -> impl Iterator<Item = &'e ViolationReport> + 'e {
        self.told().filter(|one| is_broken_by(one, entry))
    }

    /// Returns the violations at this event that belong to other stories.
    fn breaks_otherwise<'e>(
        &'e self,
        entry: &'e TimelineEntry,
    ) -> impl Iterator<Item = &'e ViolationReport> + 'e {
        let is_told =
            |one: &ViolationReport| self.told().any(|told| told.violation == one.violation);
        self.run.violations.iter().filter(move |one| is_broken_by(one, entry) && !is_told(one))
    }

    pub(super) fn told(&self) -> impl Iterator<Item = &ViolationReport> {
        std::iter::once(&self.lead).chain(&self.others).copied()
    }

    pub(super) fn words(&self, entry: &TimelineEntry) -> (String, bool) {
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
        let told = self.breaks(entry).chain(self.breaks_otherwise(entry));
        let mut broken: Vec<String> = told.map(|one| mark(one, entry)).collect();
        if let Some(other) = self.loser_beside_a_later_holder(entry) {
            let of = |label: &mut String| *label += &format!(" of {other}");
            broken.iter_mut().filter(|label| *label == "LOST UPDATE").for_each(of);
        }
        for label in self.breaks_again(entry) {
            if !broken.iter().any(|told| told.contains(&label)) {
                broken.push(label);
            }
        }
        broken.sort_by_key(|label| label.starts_with("LOST UPDATE"));
        if broken.is_empty() {
            broken.extend(self.overlaps_again(entry));
        }
        match broken.is_empty() {
            true => (text, false),
            false => (format!("{text}: {}", broken.join(", ")), true),
        }
    }

    /// Returns the process whose update the stale write overwrites, unless the label `STALE WRITE`
    /// already names that process.
    fn loser_beside_a_later_holder(&self, entry: &TimelineEntry) -> Option<Node> {
        let What::Storage { by, .. } = entry.what else { return None };
        let other = |kind: Kind| {
            let mut of_kind = self.breaks(entry).filter(|one| one.violation.kind == kind);
            of_kind.next()?.violation.processes.iter().find(|process| **process != by).copied()
        };
        other(Kind::LostUpdate)
            .filter(|loser| other(Kind::StaleWrite).is_some_and(|later| later != *loser))
    }

    /// Returns the labels of the rules that the event breaks, for the first time or again, except
    /// `overlap`.
    fn breaks_again(&self, entry: &TimelineEntry) -> Vec<String> {
        let mut kinds: Vec<Kind> = self
            .run
            .violations
            .iter()
            .filter(|one| one.violation.at_events.contains(&entry.sequence))
            .map(|one| one.violation.kind)
            .filter(|kind| *kind != Kind::Overlap)
            .collect();
        kinds.sort_unstable();
        kinds.into_iter().map(label).collect()
    }

    fn overlaps_again(&self, entry: &TimelineEntry) -> Option<String> {
        let enters = matches!(entry.what, What::Ok { owner: Some(_), .. }) && !entry.nested;
        if !enters || self.told().all(|one| one.violation.kind != Kind::Overlap) {
            return None;
        }
        let others = || entry.holding.iter().filter(|node| **node != entry.process);
        match others().any(|node| self.lead.violation.processes.contains(node)) {
            true => Some("BOTH again".to_owned()),
            // The other process has no column, so the label names the process.
            false => others().next().map(|other| format!("BOTH with {other}")),
        }
    }
}

fn is_broken_by(report: &ViolationReport, entry: &TimelineEntry) -> bool {
    let mut witness = report.violation.witness.iter().rev();
    let at = witness.find(|event| event.time_us == report.violation.at_us);
    at.is_some_and(|event| event.sequence == entry.sequence)
}

fn ends(chosen: &BTreeSet<u64>, needed: &BTreeSet<u64>) -> BTreeSet<u64> {
    let last = chosen.len().saturating_sub(EVIDENCE_LAST);
    let is_shown = |(place, event): &(usize, &u64)| {
        *place < EVIDENCE_FIRST || *place >= last || needed.contains(event)
    };
    chosen.iter().enumerate().filter(is_shown).map(|(_, event)| *event).collect()
}

fn write_of(by: Node, what: &What) -> String {
    let What::Storage { token, before, after, based_on, .. } = what else { return String::new() };
    let token = token.map_or(String::new(), |token| format!(", token {token}"));
    let read = based_on.filter(|read| read != before);
    let read = read.map_or(String::new(), |read| format!("had read {read} and "));
    format!("{by} {read}overwrites {before} with {after}{token}")
}

fn mark(report: &ViolationReport, entry: &TimelineEntry) -> String {
    let violation = &report.violation;
    match (violation.kind, &entry.what) {
        (Kind::StaleWrite, What::Storage { by, .. }) => {
            let later = violation.processes.iter().find(|process| *process != by);
            let later =
                later.map_or(String::new(), |later| format!(" ({later} got the lock meanwhile)"));
            format!("STALE WRITE{later}")
        }
        (Kind::Deadlock, _) => "waits forever, DEADLOCK".to_owned(),
        (Kind::Overlap, _) => format!("BOTH for {}", about(violation.duration_us)),
        (kind, _) => label(kind),
    }
}

fn label(kind: Kind) -> String {
    kind.name().replace('-', " ").to_uppercase()
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
}
