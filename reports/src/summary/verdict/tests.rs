use super::*;
use crate::judge::finding::Kind;
use crate::record::history::Change;
use crate::record::story::Story;

fn quiet() -> Story {
    Story::new().takes(1, 1, "a").releases(5, 1).removed(5, "a", 1).takes(6, 2, "b").releases(9, 2)
}

fn overlapping() -> Story {
    Story::new().takes(1, 1, "a").expires(11, "a").takes(12, 2, "b").releases(14, 1).releases(15, 2)
}

fn reason(story: Story) -> String {
    match judge(&story.build()).verdict {
        Verdict::Unknown { reason } => reason,
        other => panic!("expected unknown, got {other:?}"),
    }
}

#[test]
fn a_holder_that_never_left_makes_a_quiet_run_inconclusive() {
    let stays = |until| quiet().progress_bound(20).takes(10, 1, "c").runs_out_of_time(until);
    let told = reason(stays(99));
    assert!(told.starts_with("client-1 entered its critical section at 10ms"), "{told}");
    assert_eq!(judge(&stays(25).build()).verdict, Verdict::Valid, "it may still leave");
    let finished = quiet().progress_bound(20).takes(10, 1, "c").leaves(97, 1);
    let finished = finished.removed(98, "c", 1).left(98, 1);
    assert_eq!(judge(&finished.runs_out_of_time(99).build()).verdict, Verdict::Valid);
}

#[test]
fn a_release_that_never_returns_makes_a_quiet_run_inconclusive() {
    let releases = || quiet().progress_bound(20).takes(10, 1, "c").leaves(12, 1);
    let hangs = |until| releases().removed(13, "c", 1).runs_out_of_time(until);
    let told = reason(hangs(99));
    assert!(told.starts_with("client-1 called release at 12ms"), "{told}");
    assert_eq!(judge(&hangs(25).build()).verdict, Verdict::Valid, "it may still return");
    let returns = releases().removed(13, "c", 1).left(14, 1).runs_out_of_time(99);
    assert_eq!(judge(&returns.build()).verdict, Verdict::Valid);
    let dies = releases().removed(13, "c", 1).crashes(14, 1).runs_out_of_time(99);
    assert_eq!(judge(&dies.build()).verdict, Verdict::Valid, "no call outlives its process");
}

#[test]
fn a_quiet_history_of_two_processes_without_faults_is_valid() {
    let judgement = judge(&quiet().build());
    assert_eq!(judgement, Judgement { verdict: Verdict::Valid, violations: Vec::new() });
}

#[test]
fn a_single_process_proves_nothing_and_the_probe_does_not_count() {
    let story = Story::new()
        .takes(1, 1, "a")
        .releases(5, 1)
        .probe_acquires(6)
        .probe_ok(7, "p")
        .probe_releases(8);
    assert_eq!(
        reason(story),
        "only client-1 acquired the lock; at least two processes must compete: use more \
         processes (--processes), more cycles (--cycles) or a longer run (--max-time)"
    );
    assert!(reason(Story::new()).starts_with("no process acquired"));
}

#[test]
fn where_others_tried_in_vain_more_of_them_are_not_what_is_missing() {
    let alone = || Story::new().takes(1, 1, "a").acquires(2, 2).acquires(2, 3);
    let in_vain = alone().fails(3, 2).fails(3, 3).acquires(4, 2).fails(5, 2).releases(9, 1);
    let said = reason(in_vain);
    let tried = "only client-1 acquired the lock; client-2, client-3 tried 3 times \
                 without success: shorten the critical sections (--hold) ";
    assert!(said.starts_with(tried), "{said}");
    let unknown = reason(Story::new().acquires(1, 1).fails(2, 1).acquires(3, 1).info(4, 1));
    let why = "client-1 tried 2 times without success (the last outcome is unknown: ";
    assert!(unknown.contains(why), "{unknown}");
    let story = Story::new().acquires(1, 1).fails(2, 1).acquires(3, 1).info(4, 1);
    let probed = story.healed(5).probe_acquires(6).probe_ok(7, "p").probe_releases(8);
    let probed = reason(probed);
    assert!(probed.contains(why), "the probe's acquire does not count: {probed}");
    let nobody = reason(Story::new().acquires(1, 1).fails(2, 1).acquires(1, 2).fails(2, 2));
    assert!(nobody.starts_with("no process acquired the lock; client-1, client-2 tried 2 times"));
    assert!(!nobody.contains("--processes") && !said.contains("--processes"));
}

#[test]
fn a_family_of_faults_proves_something_only_if_one_met_a_holder_or_an_acquire() {
    assert!(reason(quiet().under("pause")).starts_with("the run ended before any 'pause' fault"));
    let mut unplanned = quiet().under("pause").build();
    unplanned.header.faults_planned = 0;
    let Verdict::Unknown { reason: unplanned } = judge(&unplanned).verdict else { panic!() };
    assert!(unplanned.starts_with("the plan has no 'pause' fault: "), "{unplanned}");
    let between = quiet().under("pause").fault_began(20, 1, "pause", &[Node::Client(1)]);
    assert!(reason(between).starts_with("no fault began while"));
    let met = quiet().under("pause").fault_began(3, 1, "pause", &[Node::Client(1)]);
    assert_eq!(judge(&met.build()).verdict, Verdict::Valid);
    let acquiring =
        quiet().acquires(20, 3).fault_began(21, 1, "pause", &[Node::Client(1)]).fails(22, 3);
    assert_eq!(judge(&acquiring.under("pause").build()).verdict, Verdict::Valid);
}

#[test]
fn a_violation_is_one_even_if_no_fault_was_fired() {
    let judgement = judge(&overlapping().under("pause").build());
    assert_eq!(judgement.verdict, Verdict::Violated);
    assert_eq!(judgement.violations[0].kind, Kind::Overlap);
}

#[test]
fn an_acquire_that_a_minority_granted_does_not_hide_the_verdict() {
    let story = |granted: u16| {
        let mut story = Story::with_quorum(3).acquires(1, 1);
        for redis in 1..=granted {
            story = story.grants_at(2, 1, redis, "a");
        }
        let story = story.server(3, 2, Change::Flushed, "a", None).hears(4, 1, "a");
        let mut story = story.releases(5, 1).acquires(6, 2);
        for redis in [1, 2, 3] {
            story = story.server(6, redis, Change::Removed, "a", Some(Node::Client(1)));
            story = story.grants_at(7, 2, redis, "b");
        }
        judge(&story.hears(8, 2, "b").releases(9, 2).build()).verdict
    };
    assert_eq!(story(2), Verdict::Valid);
    assert_ne!(story(0), Verdict::Valid, "no server reports a grant");
}

fn ghosts() -> Story {
    let story = Story::new().acquires(1, 1).hears(2, 1, "a").releases(3, 1);
    story.acquires(4, 2).hears(5, 2, "b")
}

#[test]
fn storage_requests_under_a_grant_that_no_server_tells_of_prove_nothing() {
    let story = ghosts().reads(6, 2, 0).releases(7, 2);
    let said = "no recorded grant of the lock 'lock' by a server matches acquire 1 of client-1 \
                (1ms to 2ms): a lock in Lua must write to this key and return the written \
                value as its owner; a program must name its key (--lock-key) and send ";
    assert!(reason(story).starts_with(said));
}

#[test]
fn a_lock_that_no_server_granted_proves_nothing_even_if_the_storage_is_not_asked() {
    let ghosts = ghosts().releases(7, 2);
    let said = "no recorded grant of the lock 'lock' by a server matches acquire 1 of client-1 ";
    assert!(reason(ghosts).starts_with(said));
    let ghost = quiet().acquires(10, 3).hears(11, 3, "ghost").releases(13, 3);
    assert_eq!(judge(&ghost.build()).violations[0].kind, Kind::WrongAnswer);
    let granted = quiet().takes(10, 1, "c").releases(13, 1);
    assert_eq!(judge(&granted.build()).verdict, Verdict::Valid);
}

#[test]
fn two_of_three_grants_are_no_quorum_of_three() {
    let story = |servers: u16| {
        let mut story = Story::with_quorum(3);
        for (ms, client, owner) in [(1, 1, "a"), (10, 2, "b")] {
            story = (1..=servers).fold(story.acquires(ms, client), |story, redis| {
                story.grants_at(ms + 1, client, redis, owner)
            });
            story = story.hears(ms + 2, client, owner).leaves(ms + 3, client);
            story = (1..=servers)
                .fold(story, |story, redis| story.removed_at(ms + 4, redis, owner, client))
                .left(ms + 5, client);
        }
        story
    };
    let too_few = judge(&story(2).build());
    assert_eq!(too_few.violations[0].kind, Kind::WrongAnswer);
    assert_eq!(judge(&story(3).build()).verdict, Verdict::Valid);
}

#[test]
fn a_storage_that_rejects_a_higher_token_proves_nothing() {
    let served = || {
        let story = Story::new().takes_with_token(1, 1, "a", 1).writes(2, 1, 0, 1);
        story.releases(3, 1).removed(3, "a", 1).takes_with_token(4, 2, "b", 2)
    };
    let rejected = served().rejects_write(5, 2, 1, 2).releases(6, 2);
    assert!(reason(rejected).starts_with("the storage rejected token 2 of client-2"));
    let accepted = served().writes(5, 2, 1, 2).releases(6, 2);
    assert_eq!(judge(&accepted.build()).verdict, Verdict::Valid);
}

#[test]
fn a_history_that_ends_before_the_bound_after_healing_proves_nothing() {
    assert!(
        reason(quiet().healed(20).probe_acquires(21))
            .starts_with("after healing, no process acquired the lock")
    );
}

#[test]
fn occurrences_of_one_kind_and_cause_are_one_violation() {
    let again =
        overlapping().removed(22, "b", 2).takes(23, 1, "c").expires(33, "c").takes(34, 2, "d");
    let judgement = judge(&again.releases(35, 1).releases(36, 2).build());
    assert_eq!(judgement.violations.len(), 1);
    let violation = &judgement.violations[0];
    assert_eq!((violation.occurrences, violation.at_us.0), (2, 12_000));
    assert_eq!((violation.duration_us.0, violation.total_duration_us.0), (2_000, 3_000));
}
