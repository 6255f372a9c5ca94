use crate::explain::cause::Cause;
use crate::judge::finding::{Finding, Kind};
use crate::judge::timeline::Timeline;

pub(crate) fn summary(timeline: &Timeline<'_>, finding: &Finding, cause: Cause) -> String {
    let mut sentences = vec![finding.what.clone(), cause.sentence(timeline, finding)];
    sentences.extend(consequence(timeline, finding));
    sentences.join(" ")
}

fn consequence(timeline: &Timeline<'_>, finding: &Finding) -> Option<String> {
    if finding.kind != Kind::Overlap {
        return None;
    }
    let until = finding.at + finding.duration;
    let rejected = timeline.storage.iter().filter(|request| {
        !request.accepted && request.moment.time >= finding.at && request.moment.time <= until
    });
    match rejected.count() {
        0 => None,
        1 => Some(
            "During the overlap, the storage rejected one request, because its token was lower \
             than one it had seen."
                .to_owned(),
        ),
        many => Some(format!(
            "During the overlap, the storage rejected {many} requests, because their tokens were \
             lower than one it had seen."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::history::{Change, Keeping, Turn, What};
    use crate::record::story::Story;
    use fencepost_faults::{Micros, Node, SimTime};

    fn sentence(kind: Kind, cause: Cause) -> String {
        let history = Story::new().takes(1, 1, "a").build();
        let (at, duration) = (SimTime(0), Micros::ZERO);
        let (processes, what, witness) = (Vec::new(), String::new(), Vec::new());
        let finding = Finding { kind, at, duration, processes, what, witness, clash: None };
        summary(&Timeline::new(&history), &finding, cause)
    }

    #[test]
    fn of_waiting_nothing_is_said_of_two_that_stood_against_each_other() {
        for kind in
            [Kind::Stuck, Kind::Deadlock, Kind::Starved, Kind::HeldForever, Kind::Unavailable]
        {
            for cause in Cause::ALL {
                let said = sentence(kind, *cause);
                assert!(!said.contains("a process and a process"), "{kind} {cause}: {said}");
                assert!(!said.contains("removed this lock"), "{kind} {cause}: {said}");
                assert!(!said.contains("the server discarded"), "{kind} {cause}: {said}");
            }
        }
    }

    #[test]
    fn of_two_primaries_it_is_said_who_was_promoted() {
        let story = Story::new().takes(1, 3, "c").replicated(1, 2, "c").releases(2, 3);
        let story = story.removed(2, "c", 3).removed_on_replica(2, 2, "c").acquires(3, 2);
        let story = story.grants_at(3, 2, 2, "x").removed_at(3, 2, "x", 2).takes(4, 1, "a");
        let story = story.grants_at(5, 2, 2, "b").hears(6, 2, "b").releases(8, 1).releases(9, 2);
        let told = explanation(Kind::Overlap, story);
        let said = "redis-2 was promoted at 3ms while redis-1 still acted as primary: redis-1 \
                    granted the lock to client-1, and redis-2 granted it to client-2.";
        assert!(told.contains(said), "{told}");
    }

    #[test]
    fn of_a_lock_that_a_failover_forgot_it_is_said_which_server_was_promoted() {
        let told = |promoted_ms, held_at, taken_at| {
            let promoted = What::Turn { turn: Turn::Promoted, about: Some(Node::Redis(1)) };
            let story = Story::kept_as(Keeping::Connection);
            let story = story.event(promoted_ms, Node::Redis(2), promoted);
            let story = story.acquires(2, 1).grants_at(3, 1, held_at, "a").hears(4, 1, "a");
            let story = story.acquires(5, 2).grants_at(6, 2, taken_at, "b").hears(7, 2, "b");
            explanation(Kind::Overlap, story.releases(8, 1).releases(9, 2))
        };
        let forgot = told(5, 1, 2);
        assert!(forgot.contains("A failover promoted redis-2, which did"), "{forgot}");
        let both = "redis-2 was promoted at 1ms while redis-1 still acted as primary: redis-";
        assert!(told(1, 1, 2).contains(both), "{}", told(1, 1, 2));
        assert!(told(1, 2, 1).contains(both), "{}", told(1, 2, 1));
    }

    #[test]
    fn of_an_old_primary_that_was_down_it_is_said_when_it_restarted() {
        let told = |crashed_ms| {
            let promoted = What::Turn { turn: Turn::Promoted, about: Some(Node::Redis(1)) };
            let story = Story::kept_as(Keeping::Connection).redis_crashes(crashed_ms, 1);
            let story = story.redis_starts(4, 1).event(2, Node::Redis(2), promoted);
            let story = story.acquires(5, 1).grants_at(5, 1, 2, "a").hears(5, 1, "a");
            let story = story.acquires(6, 2).grants_at(6, 2, 1, "b").hears(7, 2, "b");
            explanation(Kind::Overlap, story.releases(8, 1).releases(9, 2))
        };
        let restarted = "redis-2 was promoted at 2ms, and redis-1 restarted at 4ms and still acted \
                         as primary: redis-2 granted the lock to client-1";
        assert!(told(1).contains(restarted), "{}", told(1));
        let still = "redis-2 was promoted at 2ms while redis-1 still acted as primary";
        assert!(told(3).contains(still), "{}", told(3));
    }

    #[test]
    fn of_several_servers_those_are_named_that_lost_the_lock() {
        let told = |lost: &[u16], change: Change| {
            let story = Story::with_quorum(2).acquires(1, 1).grants_at(2, 1, 1, "a");
            let story = story.grants_at(3, 1, 2, "a").grants_at(3, 1, 3, "a").hears(4, 1, "a");
            let lose = |story: Story, redis: &u16| story.server(5, *redis, change, "a", None);
            let story = lost.iter().fold(story, lose).acquires(6, 2);
            let story = story.grants_at(7, 2, 1, "b").grants_at(7, 2, 3, "b").hears(8, 2, "b");
            explanation(Kind::Overlap, story.releases(9, 1).releases(9, 2))
        };
        let flushed = told(&[1, 3], Change::Flushed);
        assert!(flushed.ends_with("redis-1 and redis-3 were flushed."), "{flushed}");
        let evicted = told(&[1, 3], Change::Evicted);
        assert!(
            evicted.ends_with("redis-1 and redis-3 were out of memory and evicted the lock."),
            "{evicted}"
        );
    }

    #[test]
    fn of_rejected_requests_no_token_is_called_old() {
        let rejected = |again: bool| {
            let story = Story::new().with_tokens().takes_with_token(1, 1, "a", 9);
            let story = story.server(3, 1, Change::Forgotten, "a", None);
            let story = story.takes_with_token(4, 2, "b", 1).rejects_write(5, 2, 0, 1);
            let story = if again { story.rejects_write(6, 2, 0, 1) } else { story };
            explanation(Kind::Overlap, story.releases(8, 1).releases(9, 2))
        };
        let one = "one request, because its token was lower than one it had seen.";
        assert!(rejected(false).ends_with(one), "{}", rejected(false));
        let two = "2 requests, because their tokens were lower than one it had seen.";
        assert!(rejected(true).ends_with(two), "{}", rejected(true));
    }

    fn explanation(kind: Kind, story: Story) -> String {
        let history = story.build();
        let timeline = Timeline::new(&history);
        let checkers = crate::judge::checker::CHECKERS.iter();
        let mut findings = checkers.flat_map(|checker| (checker.check)(&timeline));
        let finding = findings.find(|finding| finding.kind == kind).expect("such a finding");
        let cause = crate::explain::cause::classify(&timeline, &finding);
        summary(&timeline, &finding, cause)
    }

    #[test]
    fn of_a_release_that_was_late_it_is_told_when_it_had_been_sent() {
        let story = Story::new().ttl(100).takes(1, 1, "a").leaves(2, 1).info(3, 1);
        let story = story.expires(4, "a").takes(5, 1, "c").leaves(6, 1).removed(7, "c", 1);
        let story = story.left(8, 1).takes(10, 2, "b").removed(12, "b", 1).releases(15, 2);
        let foreign = explanation(Kind::ForeignRelease, story);
        assert!(foreign.contains("client-1 had sent the release at 2ms, before"), "{foreign}");
        let story = Story::new().ttl(100).takes(1, 1, "a").leaves(2, 1).info(3, 1).takes(5, 1, "a");
        let story = story.removed(7, "a", 1).takes(8, 2, "b").releases(9, 1).releases(10, 2);
        let own = explanation(Kind::Overlap, story);
        assert!(own.contains("A release that client-1 had sent at 2ms for an earlier"), "{own}");
    }

    #[test]
    fn a_cause_is_told_alike_of_every_kind_of_waiting() {
        for cause in Cause::ALL {
            let [stuck, others @ ..] =
                [Kind::Stuck, Kind::Deadlock, Kind::Starved, Kind::Unavailable]
                    .map(|kind| sentence(kind, *cause));
            assert!(others.iter().all(|other| *other == stuck), "{cause}: {others:?}");
        }
        assert!(sentence(Kind::Deadlock, Cause::LostRelease).contains("its lock remained"));
    }
}
