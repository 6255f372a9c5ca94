//! The sentences for each cause.

use super::*;
use crate::judge::finding::Finding;
use crate::samples;
use fencepost_faults::SimTime;

/// The sentence on a finding for each cause, one per line.
fn said(timeline: &Timeline<'_>, finding: &Finding) -> String {
    let line = |cause: &Cause| format!("{cause}: {}", cause.sentence(timeline, finding));
    Cause::ALL.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn of_waiting(kind: Kind) -> Finding {
    let (at, duration, processes) = (SimTime(0), Micros::ZERO, Vec::new());
    Finding { kind, at, duration, processes, what: String::new(), witness: vec![0], clash: None }
}

#[test]
fn of_two_that_stood_against_each_other() {
    let history = samples::paused_holder().build();
    let timeline = Timeline::new(&history);
    let findings = CHECKERS.iter().flat_map(|checker| (checker.check)(&timeline));
    let overlap = findings.into_iter().find(|finding| finding.kind == Kind::Overlap).unwrap();
    insta::assert_snapshot!(said(&timeline, &overlap));
}

#[test]
fn of_a_lock_that_nobody_gets() {
    let history = Story::new().takes(1, 1, "a").build();
    insta::assert_snapshot!(said(&Timeline::new(&history), &of_waiting(Kind::Stuck)));
}

#[test]
fn of_a_lock_that_is_kept_and_of_a_wrong_answer_other_words_are_said() {
    let history = Story::new().takes(1, 1, "a").build();
    let timeline = Timeline::new(&history);
    let stuck = of_waiting(Kind::Stuck);
    for kind in [Kind::HeldForever, Kind::WrongAnswer] {
        let finding = of_waiting(kind);
        let other: Vec<&str> = Cause::ALL
            .iter()
            .filter(|one| one.sentence(&timeline, &finding) != one.sentence(&timeline, &stuck))
            .map(|cause| cause.name())
            .collect();
        let own: &[&str] = match kind {
            Kind::HeldForever => &["holder-pause", "hold-too-long"],
            _ => &[
                "lost-reply",
                "lost-release",
                "latency",
                "orphan-node",
                "partition",
                "unfounded-answer",
            ],
        };
        assert_eq!(other, own, "{kind}");
    }
}

#[test]
fn a_lock_of_a_session_does_not_stand_on_by_itself() {
    let cause = Cause::LostRelease;
    let said = |story: Story| {
        let history = story.takes(1, 1, "a").build();
        cause.sentence(&Timeline::new(&history), &of_waiting(Kind::Stuck))
    };
    assert!(said(Story::with_sessions()).ends_with("it lives as long as its session."));
    assert!(said(Story::with_leases()).ends_with("it lives as long as its lease."));
    assert!(said(Story::new()).ends_with("and its lock remained."));
}

#[test]
fn every_meaning_is_sentences_and_no_two_causes_have_the_same() {
    let mut seen = Vec::new();
    for cause in Cause::ALL {
        let meaning = cause.meaning();
        for said in [meaning.what, meaning.how, meaning.helps] {
            assert!(said.ends_with('.'), "{cause}: {said}");
            assert!(!said.contains("  "), "{cause}: {said}");
        }
        assert!(!seen.contains(&meaning.what), "{cause}: {}", meaning.what);
        seen.push(meaning.what);
    }
}
