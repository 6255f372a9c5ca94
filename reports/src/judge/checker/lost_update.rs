//! Checks that no update is lost: a write must replace the value that its process read before.

use super::Checker;
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{StorageRequest, Timeline};
use fencepost_faults::Micros;

pub(super) const CHECKER: Checker = Checker {
    name: "lost-update",
    about: "a read-modify-write overwrites only the value that it read",
    check,
};

pub(super) const MEANING: Meaning = Meaning {
    what: "A holder read a value, worked on it, and overwrote a value that another process had \
           written in between.",
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
            (read != write.before).then(|| finding(timeline, index, read))
        })
        .collect()
}

fn finding(timeline: &Timeline<'_>, index: usize, read: i64) -> Finding {
    let write = &timeline.storage[index];
    let overwritten =
        timeline.storage[..index].iter().rev().find(|request| request.is_accepted_write());
    let (process, before, after) = (write.process, write.before, write.after);
    let what = match overwritten.map(|lost| lost.process) {
        None => format!(
            "{process} had read {read} and overwrote {before}, which it had not read, with {after}."
        ),
        Some(lost) if lost == process => format!(
            "{process} had read {read} and overwrote its own {before} with {after}, so its \
             earlier update was lost."
        ),
        Some(lost) => format!(
            "{process} had read {read} and overwrote {lost}'s {before} with {after}, so \
             {lost}'s update was lost."
        ),
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
    witness.sort_unstable();
    witness.dedup();
    let mut processes: Vec<_> =
        overwritten.map(|lost| lost.process).into_iter().chain([write.process]).collect();
    processes.dedup();
    Finding {
        kind: Kind::LostUpdate,
        at: write.moment.time,
        duration: Micros::ZERO,
        processes,
        what,
        witness,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;
    use fencepost_faults::Node;

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
}
