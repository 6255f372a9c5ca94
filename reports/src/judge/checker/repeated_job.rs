//! Checks that each job is done only once. A job is done when its process starts to release the
//! lock or, if all jobs share a lock, when the process sends its write.

use super::{Checker, lost_update};
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{Moment, Outcome, SectionEnd, Timeline};
use crate::record::history::{Action, What, Workload};
use fencepost_faults::{Micros, Node};
use lost_update::Erasure;
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker = Checker { name: "repeated-job", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "Two processes held its lock at the same time, or one after the other: the lock alone \
          does not record that the job is done.",
    helps: "Record that the job is done together with its effects, in one transaction. Keep the \
            lock of a scheduled job until the job's start time has passed on every process's \
            clock.",
};

struct Done {
    job: Option<i64>,
    acquisition: usize,
    at: Moment,
}

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let header = &timeline.history.header;
    let done = match (header.workload, header.lock_per_job) {
        (Workload::Jobs, true) => by_sections(timeline),
        (Workload::Jobs, false) => by_writes(timeline),
        _ => return Vec::new(),
    };
    let mut first: BTreeMap<Option<i64>, &Done> = BTreeMap::new();
    let mut findings = Vec::new();
    for one in &done {
        match first.get(&one.job) {
            Some(earlier) if earlier.acquisition != one.acquisition => {
                findings.push(finding(timeline, earlier, one));
            }
            Some(_) => {}
            None => drop(first.insert(one.job, one)),
        }
    }
    findings
}

fn by_sections(timeline: &Timeline<'_>) -> Vec<Done> {
    let left = timeline
        .sections
        .iter()
        .filter(|section| section.ended_by == SectionEnd::Release && !timeline.is_inner(section));
    let mut done: Vec<Done> = left
        .filter_map(|section| {
            let of_probe =
                timeline.acquisitions[section.acquisition].process.machine() == Node::Probe;
            let done = Done { job: None, acquisition: section.acquisition, at: section.to? };
            (!of_probe).then_some(done)
        })
        .collect();
    done.sort_by_key(|one| one.at);
    done
}

fn by_writes(timeline: &Timeline<'_>) -> Vec<Done> {
    let events = timeline.history.events.iter().enumerate();
    let writes = events.filter_map(|(index, event)| {
        let What::Invoke { action: Action::Write { acquisition, value, .. }, .. } = event.what
        else {
            return None;
        };
        let acquisition = timeline.acquisition_of(acquisition)?;
        let is_granted = timeline.acquisitions[acquisition].outcome == Outcome::Granted;
        let done = Done { job: Some(value), acquisition, at: timeline.moment(index) };
        is_granted.then_some(done)
    });
    writes.collect()
}

/// Returns the write that erased the record of the first process, if jobs are recorded by writes.
fn erasure<'t>(timeline: &'t Timeline<'_>, first: &Done, second: &Done) -> Option<Erasure<'t>> {
    first.job?;
    let landed = |done: &Done| {
        let mut writes = timeline.storage.iter().filter(|write| write.is_accepted_write());
        writes.find(|write| write.acquisition == Some(done.acquisition)).map(|write| write.moment)
    };
    let repeated = landed(second).unwrap_or(second.at);
    lost_update::erasure(
        timeline,
        (first.acquisition, landed(first)?),
        (second.acquisition, repeated),
    )
}

fn finding(timeline: &Timeline<'_>, first: &Done, second: &Done) -> Finding {
    let (earlier, later) = timeline.in_grant_order(first.acquisition, second.acquisition);
    let both = [earlier, later].map(|index| timeline.acquisitions[index].process);
    let job = match first.job {
        Some(number) => format!("job {number}"),
        None => format!("the job of {}", timeline.history.header.resource),
    };
    let what = match both {
        [one, other] if one == other => format!("{one} did {job} twice."),
        [one, other] => format!("{one} and {other} both did {job}."),
    };
    let erasure = erasure(timeline, first, second);
    let back =
        erasure.as_ref().and_then(|erasure| erasure.set_back_by_another(Some(second.acquisition)));
    let what = match back {
        Some(back) => format!(
            "{what} In between, {} had overwritten the record of job {} with that of job {}.",
            back.process, back.before, back.after
        ),
        None => what,
    };
    let otherwise = Some(Clash { earlier, later, late_write: None });
    let shown = [first.at, second.at];
    let (clash, witness) =
        lost_update::clash_and_witness(timeline, erasure.as_ref(), otherwise, shown);
    let processes = lost_update::processes(both, back);
    let (at, duration) = (second.at.time, Micros::ZERO);
    Finding { kind: Kind::RepeatedJob, at, duration, processes, what, witness, clash }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn found(story: Story, lock_per_job: bool) -> usize {
        let mut history = story.build();
        history.header.lock_per_job = lock_per_job;
        check(&Timeline::new(&history)).len()
    }

    fn one_after_the_other() -> Story {
        let story = Story::of_workload("jobs").takes(1, 1, "a").releases(5, 1).removed(5, "a", 1);
        story.takes(6, 2, "b").releases(9, 2)
    }

    #[test]
    fn rejects_a_job_that_is_done_again_after_its_lock_was_given_back() {
        assert_eq!(found(one_after_the_other(), true), 1);
        assert_eq!(found(one_after_the_other(), false), 0, "nobody did the same number");
    }

    #[test]
    fn one_process_does_a_job_twice() {
        let story = Story::of_workload("jobs").takes(1, 1, "a").releases(5, 1).removed(5, "a", 1);
        let mut history = story.takes(6, 1, "b").releases(9, 1).build();
        history.header.lock_per_job = true;
        assert_eq!(check(&Timeline::new(&history))[0].what, "client-1 did the job of lock twice.");
        let judgement = crate::summary::verdict::judge(&history);
        let said = "client-1 had done the job and released its lock before it was granted the lock \
                    again.";
        assert!(judgement.violations[0].summary.ends_with(said));
    }

    #[test]
    fn accepts_a_job_whose_first_process_died_or_noticed_that_it_had_lost_it() {
        let story = || Story::of_workload("jobs").takes(1, 1, "a");
        let again = |story: Story| story.takes(16, 2, "b").releases(19, 2);
        assert_eq!(found(again(story().crashes(5, 1)), true), 0);
        assert_eq!(found(again(story().loses(5, 1)), true), 0);
    }

    #[test]
    fn rejects_a_number_that_two_processes_write() {
        let both = |second: i64| {
            let story = Story::of_workload("jobs").takes(1, 1, "a").reads(2, 1, 0);
            let story = story.writes(3, 1, 0, 1).releases(4, 1).removed(4, "a", 1);
            let story = story.takes(5, 2, "b").reads(6, 2, second);
            found(story.writes(7, 2, second, second + 1).releases(8, 2), false)
        };
        assert_eq!([both(0), both(1)], [1, 0]);
    }
}
