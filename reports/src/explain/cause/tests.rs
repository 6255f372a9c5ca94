mod answers;
mod clocks;
mod given_up;
mod late;
mod nested;
mod no_lease;
mod overruns;
mod replication;
mod sentences;
mod servers;
mod sessions;
mod unavailable;
mod waiting;

use super::{Cause, classify};
use crate::judge::checker::CHECKERS;
use crate::judge::finding::{Finding, Kind};
use crate::judge::timeline::Timeline;
use crate::record::history::{Change, GivingUp, Keeping, Turn, What};
use crate::record::story::{KEY, Story};
use crate::summary::verdict::judge;
use fencepost_faults::{Micros, Node};

const CLIENT: Node = Node::Client(1);
const REDIS: Node = Node::Redis(1);

fn finding_of(timeline: &Timeline<'_>, kind: Kind) -> Finding {
    let mut findings = CHECKERS.iter().flat_map(|checker| (checker.check)(timeline));
    findings.find(|finding| finding.kind == kind).expect("the story has such a finding")
}

fn cause(kind: Kind, story: Story) -> Cause {
    let history = story.build();
    let timeline = Timeline::new(&history);
    classify(&timeline, &finding_of(&timeline, kind))
}

fn overlap(story: Story) -> Cause {
    cause(Kind::Overlap, story)
}

fn sentence(cause: Cause, kind: Kind, story: Story) -> String {
    let history = story.build();
    let timeline = Timeline::new(&history);
    cause.sentence(&timeline, &finding_of(&timeline, kind))
}

fn overlap_said(cause: Cause, story: Story) -> String {
    sentence(cause, Kind::Overlap, story)
}

/// Returns the cause of the violation in the story, and the cause's sentence.
fn explained(kind: Kind, story: Story) -> (Cause, String) {
    let cause = cause(kind, story.clone());
    (cause, sentence(cause, kind, story))
}

fn loses_reply(story: Story, from: u64, to: u64) -> Story {
    let story = story.fault_began(from, 9, "lost-reply", &[REDIS, CLIENT]);
    story.fault_ended(to, 9, "lost-reply", REDIS)
}

fn overrun(released_at: u64) -> Story {
    Story::new()
        .takes(1, 1, "a")
        .expires(11, "a")
        .takes(12, 2, "b")
        .releases(released_at, 1)
        .releases(99, 2)
}

fn early(how: impl FnOnce(Story) -> Story) -> Story {
    how(Story::new().takes(1, 1, "a")).takes(4, 2, "b").releases(6, 1).releases(7, 2)
}

fn late_write() -> Story {
    let story = Story::new()
        .takes(1, 1, "a")
        .releases(4, 1)
        .removed(4, "a", 1)
        .takes(5, 2, "b")
        .reads(6, 2, 0);
    story.late_write(7, 1, 2, 0, 9)
}

fn cause_of_standstill(story: Story) -> Cause {
    cause(Kind::Stuck, story.progress_bound(100).healed(20).probe_acquires(21).probe_fails(130))
}
