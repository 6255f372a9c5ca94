use super::*;

#[test]
fn a_lost_lock_that_a_nested_acquire_creates_anew_is_lost_by_what_lost_it_first() {
    let story = |loss: Change| {
        let story = Story::new().ttl(100).takes(1, 1, "a=1").server(3, 1, loss, "a=1", None);
        let story = story.acquires(4, 1).grants(5, 1, "a=1").hears(6, 1, "a=1");
        let story = story.leaves(7, 1).removed(8, "a=1", 1).left(9, 1);
        story.takes(10, 2, "b=1").releases(20, 1).releases(21, 2)
    };
    assert_eq!(overlap(story(Change::Evicted)), Cause::Eviction);
    assert_eq!(overlap(story(Change::Flushed)), Cause::Flush);
    let kept = Story::new().ttl(100).takes(1, 1, "a=1").acquires(4, 1).grants(5, 1, "a=2");
    let kept = kept.hears(6, 1, "a=2").leaves(7, 1).removed(8, "a=2", 1).left(9, 1);
    let kept = kept.takes(10, 2, "b=1").releases(20, 1).releases(21, 2);
    assert_eq!(overlap(kept), Cause::EarlyRelease, "nothing but its own command removed it");
    let uncounted = Story::new().ttl(100).takes(1, 1, "a").server(3, 1, Change::Evicted, "a", None);
    let uncounted = uncounted.acquires(4, 1).grants(5, 1, "a").hears(6, 1, "a");
    let uncounted = uncounted.leaves(7, 1).removed(8, "a", 1).left(9, 1);
    let uncounted = uncounted.takes(10, 2, "b").releases(20, 1).releases(21, 2);
    assert_eq!(overlap(uncounted), Cause::EarlyRelease, "each inner release removes such a lock");
}

fn pause_told(story: Story) -> String {
    let (cause, said) = explained(Kind::Overlap, story.releases(40, 1).releases(41, 2));
    assert_eq!(cause, Cause::HolderPause);
    said
}

#[test]
fn of_two_pauses_that_one_is_named_during_which_the_lease_ended() {
    let pause = |story: Story, id, from, to| {
        let story = story.fault_began(from, id, "pause", &[CLIENT]);
        story.fault_ended(to, id, "pause", CLIENT)
    };
    let story = pause(Story::new().takes(1, 1, "a"), 1, 8, 12).expires(11, "a");
    let said = pause_told(pause(story, 2, 13, 30).takes(31, 2, "b"));
    assert!(said.starts_with("client-1 was paused from 8ms to 12ms;"), "{said}");
}

#[test]
fn of_a_flushed_primary_and_its_replicas_the_primary_is_named() {
    let story = Story::new().takes(1, 1, "a").replicated(2, 2, "a");
    let flushed = |primary: bool| What::Server {
        key: KEY.to_owned(),
        change: Change::Flushed,
        value: Some("a".to_owned()),
        by: None,
        primary,
        token: None,
        lease_us: None,
    };
    let story = story.event(3, Node::Redis(1), flushed(true));
    let story = story.event(4, Node::Redis(2), flushed(false));
    let story = story.takes(5, 2, "b").releases(8, 1).releases(9, 2);
    assert_eq!(overlap_said(Cause::Flush, story), "redis-1 was flushed.");
}

#[test]
fn a_write_of_a_process_whose_count_was_raised_is_not_sent_after_its_lock_was_gone() {
    let story = Story::new().ttl(1_000).takes(1, 1, "a=1").acquires(3, 1).grants(4, 1, "a=2");
    let story = story.hears(5, 1, "a=2").releases(6, 1);
    let story = story.fault_began(7, 1, "delay", &[CLIENT, Node::Storage]);
    let story = story.leaves(20, 1).removed(21, "a=2", 1).left(22, 1).takes(23, 2, "b=1");
    let story = story.reads(24, 2, 0).late_write(30, 1, 8, 0, 1).releases(40, 2);
    let said = sentence(Cause::StorageDelay, Kind::StaleWrite, story);
    assert!(said.starts_with("The write was still in transit"), "{said}");
}
