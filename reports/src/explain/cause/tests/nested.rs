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
