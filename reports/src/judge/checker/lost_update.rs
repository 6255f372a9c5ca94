//! Checks that each read-modify-write overwrites only the value that it read.

use super::Checker;
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{Moment, StorageRequest, Timeline};
use crate::record::history::{Access, What};
use fencepost_faults::{Micros, Node};

pub(super) const CHECKER: Checker = Checker { name: "lost-update", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "Two processes acted as holders, as in an overlap or a stale write, and one of them \
          damaged the data.",
    helps: "Use fencing tokens, or a compare-and-set at the storage instead of a plain write.",
};

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let writes =
        timeline.storage.iter().enumerate().filter(|(_, request)| request.is_accepted_write());
    writes
        .filter_map(|(index, write)| {
            let read = write.based_on?;
            let is_lost = read != write.before && follows_recorded_write(timeline, write).is_ok();
            is_lost.then(|| finding(timeline, index, read))
        })
        .collect()
}

/// A run is inconclusive if an accepted write replaced neither the value that its process had read
/// nor the last recorded value. Returns the reason, or `None`.
pub(crate) fn unrecorded(timeline: &Timeline<'_>) -> Option<String> {
    let mut writes = timeline.storage.iter().filter(|request| request.is_accepted_write());
    writes.find_map(|write| {
        let is_other = write.based_on.is_some_and(|read| read != write.before);
        let written = follows_recorded_write(timeline, write).err().filter(|_| is_other)?;
        Some(format!(
            "{} replaced {} at {}, but the last recorded write had written {written}, so the \
             history lacks a write: let each process report that it has the lock before it writes",
            write.process, write.before, write.moment.time
        ))
    })
}

/// Fails with the last recorded value if the write replaced another value. If the storage applied a
/// write twice, both times count.
fn follows_recorded_write(timeline: &Timeline<'_>, write: &StorageRequest) -> Result<(), i64> {
    let before = timeline.history.events[..write.moment.index].iter().rev();
    let mut written = before.filter_map(|event| match event.what {
        What::Storage { access: Access::Write, accepted: true, after, .. } => Some(after),
        _ => None,
    });
    match written.next() {
        Some(written) if written != write.before => Err(written),
        _ => Ok(()),
    }
}

fn was_sent_before(
    timeline: &Timeline<'_>,
    write: &StorageRequest,
    overwritten: Option<&StorageRequest>,
) -> bool {
    let sent = |request: &StorageRequest| timeline.invocation_of(request.operation);
    let both = sent(write).zip(overwritten.and_then(sent));
    both.is_some_and(|(write, overwritten)| write < overwritten)
}

fn finding(timeline: &Timeline<'_>, index: usize, read: i64) -> Finding {
    let write = &timeline.storage[index];
    let overwritten =
        timeline.storage[..index].iter().rev().find(|request| request.is_accepted_write());
    let (process, before, after) = (write.process, write.before, write.after);
    let what = match overwritten.map(|lost| lost.process) {
        Some(lost) if lost == process && was_sent_before(timeline, write, overwritten) => format!(
            "{process} had read {read}. Its delayed write of {after} overwrote its own later write \
             of {before}."
        ),
        other => {
            let whose = match other {
                Some(lost) if lost == process => "its own ".to_owned(),
                Some(lost) => format!("{lost}'s "),
                None => String::new(),
            };
            format!("{process} had read {read} and overwrote {whose}{before} with {after}.")
        }
    };
    let clash = overwritten.and_then(|lost| clash(timeline, lost, write));
    let mut witness = super::grants_of(timeline, clash);
    witness.extend(
        timeline.storage[..index]
            .iter()
            .rev()
            .find(|request| is_read_for(request, write))
            .map(|r| r.moment.index),
    );
    witness.extend(overwritten.map(|lost| lost.moment.index));
    witness.push(write.moment.index);
    let mut processes: Vec<_> =
        overwritten.map(|lost| lost.process).into_iter().chain([write.process]).collect();
    processes.dedup();
    Finding {
        kind: Kind::LostUpdate,
        at: write.moment.time,
        duration: Micros::ZERO,
        processes,
        what,
        witness: super::sorted(witness),
        clash,
    }
}

fn is_read_for(request: &StorageRequest, write: &StorageRequest) -> bool {
    !request.is_accepted_write() && request.accepted && request.acquisition == write.acquisition
}

pub(super) fn clash(
    timeline: &Timeline<'_>,
    first: &StorageRequest,
    second: &StorageRequest,
) -> Option<Clash> {
    let (one, other) = (first.acquisition?, second.acquisition?);
    if one == other {
        return None;
    }
    let (earlier, later) = timeline.in_grant_order(one, other);
    let late = if earlier == one { first } else { second };
    Some(Clash { earlier, later, late_write: Some(late.moment.index) })
}

/// A write that overwrote a value that its process had not read.
pub(super) struct Erasure<'t> {
    write: &'t StorageRequest,
    overwritten: &'t StorageRequest,
    clash: Clash,
}

impl Erasure<'_> {
    /// Returns the write, unless it belongs to the acquisition `later`.
    pub(super) fn set_back_by_another(&self, later: Option<usize>) -> Option<&StorageRequest> {
        (self.write.acquisition != later).then_some(self.write)
    }

    fn witness(&self) -> [usize; 2] {
        [self.overwritten.moment.index, self.write.moment.index]
    }
}

/// Returns the processes of a finding without duplicates.
pub(super) fn processes(both: [Node; 2], back: Option<&StorageRequest>) -> Vec<Node> {
    let mut processes: Vec<Node> = Vec::new();
    for process in both.into_iter().chain(back.map(|back| back.process)) {
        if !processes.contains(&process) {
            processes.push(process);
        }
    }
    processes
}

/// Returns the clash of the erasure, or `otherwise` without an erasure. Also returns the witness:
/// the clash's grants, the events `shown` and the erasure's writes.
pub(super) fn clash_and_witness(
    timeline: &Timeline<'_>,
    erasure: Option<&Erasure<'_>>,
    otherwise: Option<Clash>,
    shown: [Moment; 2],
) -> (Option<Clash>, Vec<usize>) {
    let clash = erasure.map(|erasure| erasure.clash).or(otherwise);
    let mut witness = super::grants_of(timeline, clash);
    witness.extend(shown.map(|moment| moment.index));
    witness.extend(erasure.into_iter().flat_map(Erasure::witness));
    (clash, super::sorted(witness))
}

/// Returns the write that explains why a later holder repeated a value, although the first holder
/// had written the value and left before the later grant: the later holder's own write, or the last
/// write in between that lowered the value.
pub(super) fn erasure<'t>(
    timeline: &'t Timeline<'_>,
    (first, written): (usize, Moment),
    (second, repeated): (usize, Moment),
) -> Option<Erasure<'t>> {
    let left = timeline.section_of(first)?.to?;
    let granted = timeline.granted_at(second)?;
    if left.max(written) >= granted {
        return None;
    }
    let writes: Vec<&StorageRequest> =
        timeline.storage.iter().filter(|request| request.is_accepted_write()).collect();
    let is_erasure = |write: &StorageRequest| {
        let is_last = write.acquisition == Some(second) && write.moment == repeated;
        written < write.moment
            && write.moment <= repeated
            && write.based_on.is_some_and(|read| read != write.before)
            && (is_last || write.after < write.before)
    };
    let pair = writes.windows(2).rev().find(|pair| is_erasure(pair[1]))?;
    let [overwritten, write] = [pair[0], pair[1]];
    let clash = clash(timeline, overwritten, write)?;
    Some(Erasure { write, overwritten, clash })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn lost_updates(story: Story) -> Vec<Finding> {
        check(&Timeline::new(&story.build()))
    }

    #[test]
    fn accepts_updates_of_what_was_read() {
        let story = Story::new().takes(1, 1, "a").reads(2, 1, 0).writes(3, 1, 0, 1).releases(4, 1);
        assert_eq!(lost_updates(story.takes(5, 2, "b").reads(6, 2, 1).writes(7, 2, 1, 2)), []);
    }

    #[test]
    fn accepts_an_update_that_the_storage_rejects() {
        let story = Story::new()
            .takes(1, 1, "a")
            .reads(2, 1, 0)
            .takes(3, 2, "b")
            .reads(4, 2, 0)
            .writes(5, 2, 0, 1);
        assert_eq!(lost_updates(story.rejects_write(6, 1, 0, 1)), []);
    }

    #[test]
    fn rejects_an_update_of_a_value_that_has_changed_since() {
        let story = Story::new()
            .takes(1, 1, "a")
            .reads(2, 1, 0)
            .takes(3, 2, "b")
            .reads(4, 2, 0)
            .writes(5, 2, 0, 1);
        let found = lost_updates(story.writes(6, 1, 0, 1));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].processes, [Node::Client(2), Node::Client(1)]);
        let clash = found[0].clash.unwrap();
        assert_eq!((clash.earlier, clash.later), (0, 1), "client 1 was granted the lock first");
    }

    #[test]
    fn rejects_an_overwritten_late_write_though_its_writer_was_the_newest_the_storage_had_seen() {
        let story =
            Story::new().takes(1, 1, "a").takes(3, 2, "b").reads(4, 2, 0).writes(5, 1, 0, 1);
        let found = lost_updates(story.writes(6, 2, 0, 1));
        assert_eq!(found.len(), 1);
        let clash = found[0].clash.unwrap();
        assert_eq!((clash.earlier, clash.later), (0, 1));
    }

    #[test]
    fn blames_no_process_for_a_write_that_the_history_lacks() {
        let story = |is_recorded: bool| {
            let story = Story::new().takes(1, 1, "a").reads(2, 1, 0).writes(3, 1, 0, 1);
            let story = story.releases(4, 1).removed(4, "a", 1).takes(5, 2, "b").reads(6, 2, 1);
            let story = story.late_write(7, 1, 6, 1, 5).writes(8, 2, 1, 2);
            let mut history = story.releases(9, 2).build();
            let is_late = |what: &What| matches!(what, What::Storage { after: 5, .. });
            history.events.retain(|event| is_recorded || !is_late(&event.what));
            for (sequence, event) in (0..).zip(&mut history.events) {
                event.sequence = sequence;
            }
            history
        };
        let (all, lacking) = (story(true), story(false));
        assert_eq!(check(&Timeline::new(&all)).len(), 1);
        assert_eq!(unrecorded(&Timeline::new(&all)), None);
        assert_eq!(check(&Timeline::new(&lacking)), []);
        let why = unrecorded(&Timeline::new(&lacking)).unwrap();
        assert!(why.starts_with("client-2 replaced 5 at 8ms"), "{why}");
        let judgement = crate::summary::verdict::judge(&lacking);
        assert_eq!(judgement.verdict, crate::summary::verdict::Verdict::Unknown { reason: why });
    }
}
