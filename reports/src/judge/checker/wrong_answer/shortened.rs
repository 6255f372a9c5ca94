//! Recognises releases that keep the lock for a minimum time, such as ShedLock's `lockAtLeastFor`.

use crate::judge::timeline::{KeySpan, Moment, Timeline};
use fencepost_faults::{Node, SimTime};

/// Returns `true` if the release only shortened the lease of the value, to keep the lock for a
/// minimum time.
pub(super) fn shortens_lease(
    timeline: &Timeline<'_>,
    span: &KeySpan<'_>,
    (process, invoked, told): (Node, Moment, Moment),
) -> bool {
    let ends = |set: &Moment| {
        timeline.lease_recorded(*set).map_or(SimTime(u64::MAX), |lease| set.time + lease)
    };
    let (before, during): (Vec<Moment>, Vec<Moment>) =
        span.set.iter().filter(|set| **set < told).partition(|set| **set < invoked);
    let own = |set: &&Moment| timeline.asked_by(**set).is_some_and(|by| by == process);
    let last = during.iter().rfind(own);
    last.zip(before.last()).is_some_and(|(last, before)| ends(last) < ends(before))
}

#[cfg(test)]
mod tests {
    use crate::judge::checker::wrong_answer::check;
    use crate::judge::timeline::Timeline;
    use crate::record::story::Story;

    #[test]
    fn a_release_that_shortens_the_lease_leaves_the_lock_for_a_minimum_time() {
        let story = |lease_ms: Option<u64>, by: u16| {
            let story = Story::new().takes(1, 1, "a").with_recorded_leases().leaves(3, 1);
            let story = story.sets_lease(4, by, lease_ms).left(5, 1).expires(40, "a");
            check(&Timeline::new(&story.build())).len()
        };
        assert_eq!(story(Some(2), 1), 0, "until 6 ms instead of 11 ms");
        assert_eq!(story(Some(30), 1), 1, "it lengthened the lease");
        assert_eq!(story(None, 1), 1, "it removed the lease");
        assert_eq!(story(Some(2), 2), 1, "another process did");
    }
}
