use super::*;

#[test]
fn a_server_that_never_had_the_lock_grants_it_by_replication_loss() {
    let story =
        Story::new().takes(1, 1, "a").redis_crashes(2, 1).grants_at(4, 2, 2, "b").hears(4, 2, "b");
    assert_eq!(overlap(story.releases(6, 1).releases(7, 2)), Cause::AsyncReplicationLoss);
}

#[test]
fn an_old_primary_that_comes_back_empty_is_still_replication_loss() {
    let story = Story::new().takes(1, 1, "a").redis_crashes(2, 1).redis_starts(3, 1);
    let story =
        story.server(3, 1, Change::Forgotten, "a", None).grants_at(4, 2, 2, "b").hears(4, 2, "b");
    assert_eq!(overlap(story.releases(6, 1).releases(7, 2)), Cause::AsyncReplicationLoss);
}

#[test]
fn a_replica_that_had_the_lock_and_let_it_run_out_early_did_so_by_a_clock() {
    let story = Story::new().takes(1, 1, "a").replicated(2, 2, "a").expires_at(3, 2, "a");
    let story = story.grants_at(4, 2, 2, "b").hears(4, 2, "b").releases(6, 1).releases(7, 2);
    assert_eq!(overlap(story.clone()), Cause::Unexplained);
    // The replica's clock was stepped before it received the key with an absolute expiry time.
    assert_eq!(overlap(story.fault_began(0, 1, "clock-jump", &[Node::Redis(2)])), Cause::ClockJump);
}

#[test]
fn a_promoted_server_no_longer_copies_what_its_old_primary_loses() {
    let cause = |promoted: u64| {
        let promotion = What::Turn { turn: Turn::Promoted, about: None };
        let story = Story::new().ttl(100).takes(1, 1, "a").replicated(2, 2, "a");
        let story = story.fault_began(3, 1, "clock-jump", &[Node::Redis(1)]);
        let story = match promoted {
            5 => story.event(5, Node::Redis(2), promotion).expires_at(6, 1, "a"),
            _ => story.expires_at(6, 1, "a").event(7, Node::Redis(2), promotion),
        };
        let story = story.redis_crashes(8, 2).redis_starts(9, 2);
        let story = story.server(9, 2, Change::Forgotten, "a", None).redis_crashes(10, 1);
        let story = story.grants_at(12, 2, 2, "b").hears(12, 2, "b");
        overlap(story.releases(20, 1).releases(21, 2))
    };
    assert_eq!(cause(5), Cause::RestartWithoutDelay);
    assert_eq!(cause(7), Cause::ClockJump);
}

#[test]
fn after_a_failover_a_lease_that_had_run_out_is_no_replication_loss() {
    let story = Story::new()
        .takes(1, 1, "a")
        .redis_crashes(2, 1)
        .grants_at(14, 2, 2, "b")
        .hears(14, 2, "b");
    assert_eq!(overlap(story.releases(20, 1).releases(21, 2)), Cause::HoldTooLong);
}

fn tokens(how: impl FnOnce(Story) -> Story, redis: u16) -> Story {
    let story = how(Story::new().takes_with_token(1, 1, "a", 7).releases(2, 1).removed(2, "a", 1));
    story.grants_at(9, 2, redis, "b").hears_token(9, 2, "b", 3)
}

#[test]
fn a_counter_goes_back_by_failover_restart_or_flush() {
    let regression = |story| cause(Kind::TokenRegression, story);
    assert_eq!(regression(tokens(|story| story, 2)), Cause::AsyncReplicationLoss);
    let restarted = tokens(|story| story.redis_crashes(4, 1).redis_starts(5, 1), 1);
    assert_eq!(regression(restarted), Cause::RestartDataLoss);
    assert_eq!(
        regression(tokens(|story| story.fault_began(4, 1, "flush-all", &[REDIS]), 1)),
        Cause::Flush
    );
    assert_eq!(regression(tokens(|story| story, 1)), Cause::Unexplained);
}

#[test]
fn members_have_the_counter_in_common_and_lose_it_by_restarts() {
    let story = |keeping| {
        let story = Story::kept_as(keeping).takes_with_token(1, 1, "a", 7).releases(2, 1);
        let story = story.server(3, 1, Change::Discarded, "a", None).redis_crashes(4, 3);
        let story = story.redis_starts(5, 3).grants_at(9, 2, 2, "b").hears_token(9, 2, "b", 3);
        cause(Kind::TokenRegression, story)
    };
    assert_eq!(story(Keeping::Membership), Cause::RestartDataLoss);
    assert_eq!(story(Keeping::Lease), Cause::AsyncReplicationLoss);
}

#[test]
fn an_extension_that_a_replica_never_received_is_replication_loss() {
    let story = Story::new().takes(1, 1, "a").replicated(2, 2, "a").redis_crashes(7, 1);
    let extended = Story::new().takes(1, 1, "a").replicated(2, 2, "a");
    let extended = extended.server(8, 1, Change::Extended, "a", Some(CLIENT)).redis_crashes(9, 1);
    let taken =
        |story: Story| story.expires_at(11, 2, "a").grants_at(12, 2, 2, "b").hears(12, 2, "b");
    let overlap = |story: Story| overlap(taken(story).releases(14, 1).releases(15, 2));
    assert_eq!(overlap(extended.clone()), Cause::AsyncReplicationLoss);
    assert_eq!(overlap(story), Cause::HoldTooLong, "nobody had extended it");
    let judgement = judge(&taken(extended).releases(14, 1).releases(15, 2).build());
    let said = "so redis-2 had not received the extension; it expired the lock and granted it to \
                client-2.";
    assert!(judgement.violations[0].summary.ends_with(said), "{}", judgement.violations[0].summary);
}

#[test]
fn a_holder_that_extends_at_a_deposed_primary_lost_its_lock_by_replication() {
    let extended = |story: Story, ms| story.server(ms, 1, Change::Extended, "a", Some(CLIENT));
    let story = extended(extended(Story::new().takes(1, 1, "a"), 8), 15);
    let story = story.grants_at(16, 2, 2, "b").hears(16, 2, "b");
    assert_eq!(
        overlap(extended(story, 20).releases(22, 1).releases(23, 2)),
        Cause::AsyncReplicationLoss
    );
}

#[test]
fn tokens_of_servers_that_share_no_counter_have_no_order() {
    let mut story = Story::with_quorum(2);
    for redis in [1, 2] {
        story = story.grants_at(1, 1, redis, "a");
    }
    story =
        story.hears_token(2, 1, "a", 7).releases(3, 1).removed(4, "a", 1).removed_at(4, 2, "a", 1);
    for redis in [2, 3] {
        story = story.grants_at(5, 2, redis, "b");
    }
    assert_eq!(
        cause(Kind::TokenRegression, story.hears_token(6, 2, "b", 3)),
        Cause::UnorderedTokens
    );
}

#[test]
fn a_holder_whose_grant_a_failover_replaced_releases_at_a_server_that_never_had_it() {
    let story = |also_here: bool| {
        let story = Story::new()
            .takes(1, 2, "b")
            .replicated(2, 2, "b")
            .leaves(3, 2)
            .left(4, 2)
            .removed(4, "b", 2);
        let story = story.takes(5, 1, "a");
        let story = if also_here { story.replicated(6, 2, "a") } else { story };
        story.leaves(7, 1).removed_at(8, 2, "b", 1).left(9, 1)
    };
    assert_eq!(cause(Kind::ForeignRelease, story(false)), Cause::AsyncReplicationLoss);
    assert_eq!(
        cause(Kind::ForeignRelease, story(true)),
        Cause::Unexplained,
        "its own lock had been there"
    );
}

#[test]
fn a_copy_of_an_earlier_lock_of_its_own_lets_a_process_in_after_a_failover() {
    let story = |copied: bool| {
        let story = Story::new().takes(1, 1, "one");
        let story = if copied { story.replicated(2, 2, "one") } else { story };
        let story =
            story.releases(3, 1).removed(3, "one", 1).takes(4, 2, "two").redis_crashes(5, 1);
        story.acquires(6, 1).hears(7, 1, "one").releases(8, 1).releases(9, 2)
    };
    assert_eq!(overlap(story(true)), Cause::AsyncReplicationLoss);
    assert_eq!(overlap(story(false)), Cause::UnfoundedAnswer, "no copy stood anywhere");
}

#[test]
fn two_servers_that_grant_as_primaries_at_once_are_a_split_brain() {
    let story = |promoted: bool| {
        let story = Story::new().takes(1, 3, "c").replicated(1, 2, "c").releases(2, 3);
        let story = story.removed(2, "c", 3).removed_on_replica(2, 2, "c");
        let story = match promoted {
            true => story.acquires(3, 2).grants_at(3, 2, 2, "x").removed_at(3, 2, "x", 2),
            false => story.acquires(3, 2),
        };
        story
            .takes(4, 1, "a")
            .grants_at(5, 2, 2, "b")
            .hears(6, 2, "b")
            .releases(8, 1)
            .releases(9, 2)
    };
    assert_eq!(overlap(story(true)), Cause::SplitBrain);
    assert_eq!(overlap(story(false)), Cause::AsyncReplicationLoss, "promoted only after the grant");
}

#[test]
fn counters_of_two_primaries_at_once_are_a_split_brain_too() {
    let story = |promoted: bool| {
        let story = Story::new().takes(1, 3, "c").replicated(1, 2, "c").releases(2, 3);
        let story = story.removed(2, "c", 3).removed_on_replica(2, 2, "c").acquires(3, 2);
        let story = match promoted {
            true => story.grants_at(3, 2, 2, "x").removed_at(3, 2, "x", 2),
            false => story,
        };
        let story = story.takes_with_token(4, 1, "a", 7).releases(5, 1).removed(5, "a", 1);
        story.grants_at(6, 2, 2, "b").hears_token(6, 2, "b", 3)
    };
    let regression = |promoted| cause(Kind::TokenRegression, story(promoted));
    assert_eq!(regression(true), Cause::SplitBrain);
    assert_eq!(regression(false), Cause::AsyncReplicationLoss);
}

#[test]
fn a_late_copy_of_an_earlier_lock_that_a_replica_removes_is_not_how_the_later_one_was_lost() {
    let story = |copied: bool| {
        let story = Story::new().takes(1, 1, "a").replicated(2, 2, "a");
        let story = story.removed_on_replica(3, 2, "a");
        let story =
            if copied { story.replicated(4, 2, "a").removed_at(5, 2, "a", 1) } else { story };
        let story = story.acquires(6, 2).grants_at(7, 2, 2, "b").hears(8, 2, "b");
        overlap(story.releases(9, 2).releases(9, 1))
    };
    assert_eq!(story(true), Cause::EarlyRelease);
    assert_eq!(story(false), Cause::Unexplained, "who removed it at the primary is not told");
}

#[test]
fn who_was_let_in_by_a_copy_of_its_own_loses_that_as_any_lock() {
    // The new primary still has the first lock, so no server grants the second lock.
    let story = |removed: bool| {
        let story = Story::new().takes(1, 1, "a").replicated(2, 2, "a").leaves(3, 1).left(4, 1);
        let story = story.acquires(5, 1).hears(6, 1, "a");
        let story = if removed { story.removed_at(7, 2, "a", 1) } else { story };
        let story = story.acquires(6, 2).grants_at(8, 2, 2, "b").hears(9, 2, "b");
        let story = story.releases(10, 2).releases(11, 1);
        overlap(story)
    };
    assert_eq!(story(true), Cause::EarlyRelease);
    assert_ne!(story(false), Cause::EarlyRelease);
}

#[test]
fn a_server_that_had_been_promoted_when_the_old_primary_granted_is_split_brain() {
    let story = |promoted_at: u64| {
        let turn = What::Turn { turn: Turn::Promoted, about: None };
        let story = Story::new().event(promoted_at, Node::Redis(2), turn).takes(3, 1, "a");
        let story = story.grants_at(5, 2, 2, "b").hears(5, 2, "b");
        overlap(story.releases(6, 1).releases(7, 2))
    };
    assert_eq!(story(2), Cause::SplitBrain);
    assert_eq!(story(4), Cause::AsyncReplicationLoss, "it was promoted after the grant");
}

#[test]
fn one_server_that_issues_a_token_twice_does_not_count() {
    let tokens = |earlier, later| {
        let story = Story::new().with_tokens().takes_with_token(1, 1, "a", earlier);
        let story = story.releases(2, 1).removed(2, "a", 1);
        cause(Kind::TokenRegression, story.takes_with_token(3, 2, "b", later).releases(4, 2))
    };
    assert_eq!(tokens(7, 7), Cause::UnorderedTokens);
    assert_eq!(tokens(1, 1), Cause::Unexplained, "a counter may have been lost");
    assert_eq!(tokens(7, 6), Cause::Unexplained, "a counter may have been lost");
}

#[test]
fn a_lock_that_the_old_primary_extends_after_its_loss_is_a_split_brain() {
    let story = |extended_ms| {
        let promoted = What::Turn { turn: Turn::Promoted, about: None };
        let extends = |story: Story, ms| story.server(ms, 1, Change::Extended, "a", Some(CLIENT));
        let story = Story::new().takes(1, 1, "a").replicated(1, 2, "a");
        let story = extends(story.event(3, Node::Redis(2), promoted), 8);
        let story = match extended_ms < 11 {
            true => extends(story, extended_ms).expires_at(11, 2, "a"),
            false => extends(story.expires_at(11, 2, "a"), extended_ms),
        };
        let story = story.acquires(24, 2).grants_at(25, 2, 2, "b").hears(25, 2, "b");
        overlap(story.releases(30, 1).releases(31, 2))
    };
    assert_eq!(story(12), Cause::SplitBrain);
    assert_ne!(story(9), Cause::SplitBrain, "the old primary extended nothing after the loss");
}

#[test]
fn a_lock_that_a_promoted_server_extends_and_the_old_primary_expires_is_a_split_brain() {
    let story = |extended_by: Option<Node>| {
        let turn = What::Turn { turn: Turn::Promoted, about: None };
        let story = Story::new().takes(1, 1, "a").replicated(1, 2, "a");
        let story = story.event(3, Node::Redis(2), turn);
        let story = story.server(8, 2, Change::Extended, "a", extended_by);
        let story = story.expires(11, "a").takes(12, 2, "b");
        overlap(story.releases(14, 1).releases(15, 2))
    };
    assert_eq!(story(Some(CLIENT)), Cause::SplitBrain);
    assert_ne!(story(Some(Node::Client(2))), Cause::SplitBrain, "the holder did not extend it");
    assert_ne!(story(None), Cause::SplitBrain, "no client asked for the extension");
}

#[test]
fn a_copy_of_its_earlier_lock_that_let_a_process_in_and_expired_is_replication_loss() {
    let story = |copied: bool| {
        let story = Story::new().takes(1, 1, "a");
        let story = if copied { story.replicated(2, 2, "a") } else { story };
        let story = story.leaves(3, 1).removed(3, "a", 1).left(4, 1).redis_crashes(5, 1);
        let story = story.acquires(6, 1).hears(7, 1, "a");
        let story = if copied { story.expires_at(9, 2, "a") } else { story };
        let story = story.acquires(9, 2).grants_at(9, 2, 2, "b").hears(10, 2, "b");
        story.releases(12, 1).releases(13, 2)
    };
    assert_eq!(overlap(story(true)), Cause::AsyncReplicationLoss);
    assert_eq!(overlap(story(false)), Cause::UnfoundedAnswer, "no copy stood anywhere");
    let judgement = judge(&story(true).build());
    let said = "so redis-2 still had an earlier lock of client-1, and client-1 took it for a new \
                grant.";
    assert!(judgement.violations[0].summary.ends_with(said), "{}", judgement.violations[0].summary);
}

#[test]
fn one_promoted_server_that_loses_its_counter_is_no_split_brain() {
    let turn = What::Turn { turn: Turn::Promoted, about: None };
    let story = Story::new().event(1, REDIS, turn).takes_with_token(2, 1, "a", 7).releases(3, 1);
    let story = story.removed(3, "a", 1).redis_crashes(4, 1).redis_starts(5, 1);
    let lost = story.grants_at(9, 2, 1, "b").hears_token(9, 2, "b", 3);
    assert_eq!(cause(Kind::TokenRegression, lost), Cause::RestartDataLoss);
}

#[test]
fn an_expiry_that_only_the_old_primary_received_is_replication_loss() {
    let story = |expired: bool| {
        let story = Story::new().acquires(1, 1).grants_at(1, 1, 1, "a").replicated(1, 2, "a");
        let story = story.sets_lease(3, 1, Some(10)).info(4, 1);
        if expired { story.expires(13, "a") } else { story }
    };
    assert_eq!(cause_of_standstill(story(true)), Cause::AsyncReplicationLoss);
    assert_ne!(cause_of_standstill(story(false)), Cause::AsyncReplicationLoss);
    let stuck = story(true).progress_bound(100).healed(20).probe_acquires(21).probe_fails(130);
    let said = judge(&stuck.build()).violations[0].summary.clone();
    assert!(said.contains("The expiry of the lock was set at the old primary, but the promoted"));
}

#[test]
fn a_replica_that_copies_removals_of_earlier_locks_never_had_the_lock() {
    let story = |removed_later: bool| {
        let story = Story::new().takes(1, 1, "a").replicated(2, 2, "a").releases(3, 1);
        let story = story.removed(3, "a", 1).takes(4, 1, "a").removed_on_replica(5, 2, "a");
        let story = if removed_later { story.removed(6, "a", 1) } else { story };
        let story = story.acquires(6, 2).grants_at(7, 2, 2, "b").hears(8, 2, "b");
        overlap(story.releases(9, 2).releases(9, 1))
    };
    assert_eq!(story(false), Cause::AsyncReplicationLoss);
    assert_ne!(story(true), Cause::AsyncReplicationLoss, "the holder removed its own lock");
}

#[test]
fn a_promoted_server_that_lost_the_earlier_lock_in_a_restart_lost_the_counter_there() {
    let turn = What::Turn { turn: Turn::Promoted, about: None };
    let story = |copied: bool, token: u64| {
        let story = Story::new().takes_with_token(1, 1, "a", 7);
        let story = if copied { story.replicated(2, 2, "a") } else { story };
        let story = story.event(3, Node::Redis(2), turn.clone()).redis_crashes(4, 2);
        let story = match copied {
            true => story.server(4, 2, Change::Forgotten, "a", None),
            false => story,
        };
        let story = story.redis_starts(5, 2).releases(6, 1).acquires(6, 2);
        story.grants_at(9, 2, 2, "b").hears_token(9, 2, "b", token)
    };
    assert_eq!(cause(Kind::TokenRegression, story(true, 3)), Cause::RestartDataLoss);
    assert_eq!(cause(Kind::TokenRegression, story(false, 3)), Cause::AsyncReplicationLoss);
    let says = |token: u64, said: &str| {
        let judgement = judge(&story(true, token).build());
        assert!(judgement.violations.iter().any(|one| one.summary.ends_with(said)), "{token}");
    };
    says(1, "redis-2 restarted without its token counter.");
    says(3, "redis-2 restarted without the latest value of its token counter.");
}

#[test]
fn a_copy_that_the_old_primary_expired_before_the_last_extension_is_no_early_loss() {
    let by = Some(CLIENT);
    let story = Story::new().renewing().ttl(100).takes(1, 1, "a").replicated(1, 2, "a");
    let turn = What::Turn { turn: Turn::Promoted, about: None };
    let story = story.event(30, Node::Redis(2), turn).server(50, 2, Change::Extended, "a", by);
    let story = story.expires_at(101, 1, "a").server(105, 2, Change::Extended, "a", by);
    let story = story.fault_began(110, 1, "pause", &[CLIENT]).expires_at(205, 2, "a");
    let story = story.grants_at(206, 2, 2, "b").hears(207, 2, "b");
    let story = story.fault_ended(250, 1, "pause", CLIENT).releases(260, 1).releases(261, 2);
    assert_eq!(overlap(story), Cause::HolderPause);
}
