//! Checks the sequence workload: every number is issued once, and numbers never go back.

use super::{Checker, lost_update};
use crate::judge::finding::{Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{StorageRequest, Timeline};
use crate::record::history::Workload;
use fencepost_faults::Micros;
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker = Checker { name: "duplicate-number", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "Two holders read the same last number. This is a lost update in the sequence \
          workload.",
    helps: "Use a unique constraint or a sequence in the database.",
};

pub(super) const NUMBER_REGRESSION: Meaning = Meaning {
    how: "A late holder wrote back an older last number.",
    helps: "Use fencing tokens, or a sequence in the database.",
};

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    if timeline.history.header.workload != Workload::Sequence {
        return Vec::new();
    }
    let mut issued: BTreeMap<i64, &StorageRequest> = BTreeMap::new();
    let mut findings = Vec::new();
    for write in timeline.storage.iter().filter(|request| request.is_accepted_write()) {
        if let Some(first) = issued.get(&write.after) {
            findings.push(finding(timeline, Kind::DuplicateNumber, first, write));
        } else if let Some((_, highest)) = issued.last_key_value()
            && write.after < highest.after
        {
            findings.push(finding(timeline, Kind::NumberRegression, highest, write));
        }
        issued.entry(write.after).or_insert(write);
    }
    findings
}

fn finding(
    timeline: &Timeline<'_>,
    kind: Kind,
    first: &StorageRequest,
    second: &StorageRequest,
) -> Finding {
    let (number, earlier) = (second.after, first.after);
    let what = match (kind, first.process == second.process) {
        (Kind::DuplicateNumber, true) => format!("{} issued number {number} twice.", first.process),
        (Kind::DuplicateNumber, false) => {
            format!("{} and {} both issued number {number}.", first.process, second.process)
        }
        (_, true) => format!(
            "{} issued number {number}, lower than its earlier number {earlier}.",
            second.process
        ),
        (_, false) => format!(
            "{} issued number {number}, lower than {}'s earlier number {earlier}.",
            second.process, first.process
        ),
    };
    let both = first.acquisition.zip(second.acquisition);
    let erasure = both.and_then(|(one, other)| {
        lost_update::erasure(timeline, (one, first.moment), (other, second.moment))
    });
    let back = erasure.as_ref().and_then(|erasure| erasure.set_back_by_another(second.acquisition));
    let what = match back {
        Some(back) => format!(
            "{what} In between, {} had overwritten {} with {}.",
            back.process, back.before, back.after
        ),
        None => what,
    };
    let otherwise = lost_update::clash(timeline, first, second);
    let shown = [first.moment, second.moment];
    let (clash, witness) =
        lost_update::clash_and_witness(timeline, erasure.as_ref(), otherwise, shown);
    let processes = lost_update::processes([first.process, second.process], back);
    Finding {
        kind,
        at: second.moment.time,
        duration: Micros::ZERO,
        processes,
        what,
        witness,
        clash,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn kinds(story: Story) -> Vec<Kind> {
        check(&Timeline::new(&story.build())).into_iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn accepts_numbers_that_grow() {
        let story =
            Story::of_workload("sequence").takes(1, 1, "a").writes(2, 1, 0, 1).releases(3, 1);
        assert_eq!(kinds(story.takes(4, 2, "b").writes(5, 2, 1, 2)), []);
    }

    #[test]
    fn accepts_equal_values_in_another_workload() {
        let story = Story::of_workload("register").takes(1, 1, "a").takes(2, 2, "b");
        assert_eq!(kinds(story.writes(3, 1, 0, 1).writes(4, 2, 0, 1)), []);
    }

    #[test]
    fn rejects_a_number_that_was_issued_twice() {
        let story = Story::of_workload("sequence").takes(1, 1, "a").takes(2, 2, "b");
        assert_eq!(kinds(story.writes(3, 1, 0, 1).writes(4, 2, 0, 1)), [Kind::DuplicateNumber]);
    }

    #[test]
    fn names_the_write_that_set_a_number_back() {
        let story = Story::of_workload("sequence").takes(1, 2, "b").reads(2, 2, 0).expires(11, "b");
        let story = story.takes(12, 1, "a").writes(13, 1, 0, 2).releases(14, 1);
        let story = story.removed(14, "a", 1).writes(15, 2, 0, 1).releases(16, 2);
        let history = story.takes(17, 3, "c").reads(18, 3, 1).writes(19, 3, 1, 2).build();
        let found = check(&Timeline::new(&history));
        let said = "client-1 and client-3 both issued number 2. In between, client-2 had \
                    overwritten 2 with 1.";
        assert_eq!(found.last().unwrap().what, said);
    }

    #[test]
    fn a_process_that_breaks_the_order_alone_is_named_once() {
        let said = |before: i64, after: i64| {
            let story = Story::of_workload("sequence").takes(1, 1, "a").takes(2, 2, "b");
            let story = story.writes(3, 1, before - 1, before).writes(4, 1, after - 1, after);
            check(&Timeline::new(&story.build())).remove(0).what
        };
        assert_eq!(said(5, 5), "client-1 issued number 5 twice.");
        assert_eq!(said(5, 3), "client-1 issued number 3, lower than its earlier number 5.");
    }

    #[test]
    fn rejects_a_number_that_goes_back() {
        let story = Story::of_workload("sequence").takes(1, 1, "a").takes(2, 2, "b");
        assert_eq!(kinds(story.writes(3, 1, 4, 5).writes(4, 2, 2, 3)), [Kind::NumberRegression]);
    }
}
