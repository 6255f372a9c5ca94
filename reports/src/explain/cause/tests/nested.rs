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
    let history = story.releases(40, 1).releases(41, 2).build();
    let timeline = Timeline::new(&history);
    let mut findings = CHECKERS.iter().flat_map(|checker| (checker.check)(&timeline));
    let overlap = findings.find(|finding| finding.kind == Kind::Overlap).unwrap();
    assert_eq!(classify(&timeline, &overlap), Cause::HolderPause);
    Cause::HolderPause.sentence(&timeline, &overlap)
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
