//! Checks that no live holder keeps the lock for longer than the given bound.

use super::Checker;
use crate::judge::finding::{Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{KeyEnd, KeySpan, Section, Timeline, is_one_owner};
use fencepost_faults::{Micros, SimTime};

pub(super) const CHECKER: Checker = Checker { name: "held-forever", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "The lock has no expiry, or its renewal never stops.",
    helps: "Limit how long one acquisition may be renewed.",
};

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let Some(bound) = timeline.history.header.held_bound_us else { return Vec::new() };
    let kept = |section: &Section| {
        lease_kept_until(timeline, section, section.from.time + bound).since(section.from.time)
    };
    let too_long = timeline
        .sections
        .iter()
        .map(|section| (section, kept(section)))
        .filter(|(_, kept)| *kept > bound);
    too_long.map(|(section, kept)| finding(section, kept, bound)).collect()
}

/// Returns when the process left its critical section or, if that was earlier and its grant is
/// recorded, lost its quorum. A quorum that is missing at `at` counts as lost at `at`.
pub(super) fn lease_kept_until(timeline: &Timeline<'_>, section: &Section, at: SimTime) -> SimTime {
    let left = section.ends(timeline.end);
    let holder = &timeline.acquisitions[section.acquisition];
    if holder.grant.is_none() {
        return left;
    }
    let standing = timeline.keys.iter().filter(|span| {
        span.from.time <= at
            && at < timeline.existed_until(span)
            && timeline.is_lock_of(span, holder)
    });
    let existed_until = |span| timeline.existed_until(last_of(timeline, span));
    let mut ends: Vec<SimTime> = standing.map(existed_until).collect();
    ends.sort();
    let quorum = usize::from(timeline.history.header.quorum.max(1));
    let lost = ends.len().checked_sub(quorum).map_or(at, |place| ends[place]);
    left.min(lost)
}

/// Returns the last value in a chain of replacements by the same owner, such as changes of a count.
fn last_of<'t, 'h>(timeline: &'t Timeline<'h>, span: &'t KeySpan<'h>) -> &'t KeySpan<'h> {
    let mut last = span;
    for next in timeline.keys.iter().filter(|next| next.node == span.node) {
        let follows = last.to == Some((next.from, KeyEnd::Replaced));
        let values = last.value.zip(next.value);
        if follows && values.is_some_and(|(one, other)| is_one_owner(one, other)) {
            last = next;
        }
    }
    last
}

fn finding(section: &Section, held: Micros, bound: Micros) -> Finding {
    Finding {
        kind: Kind::HeldForever,
        at: section.from.time + bound,
        duration: held - bound,
        processes: vec![section.process],
        what: format!(
            "{} held the lock for {held}, longer than the bound of {bound}.",
            section.process
        ),
        witness: std::iter::once(section.from)
            .chain(section.to)
            .map(|moment| moment.index)
            .collect(),
        clash: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::history::{Change, Keeping};
    use crate::record::story::Story;
    use fencepost_faults::Node;

    fn held_forever(story: Story) -> Vec<Finding> {
        check(&Timeline::new(&story.build()))
    }

    #[test]
    fn accepts_a_section_of_just_the_bound() {
        assert_eq!(held_forever(Story::new().held_bound(10).takes(1, 1, "a").releases(11, 1)), []);
    }

    #[test]
    fn accepts_any_section_when_no_bound_is_stated() {
        assert_eq!(held_forever(Story::new().takes(1, 1, "a").releases(9_999, 1)), []);
    }

    #[test]
    fn a_lock_that_counts_is_kept_across_its_counts() {
        let story = Story::new().held_bound(10).ttl(90).takes(1, 1, "a=1").grants(5, 1, "a=2");
        let story = story.hears(5, 1, "a=2").releases(6, 1);
        let story = story.server(6, 1, Change::Granted, "a=1", Some(Node::Client(1)));
        let found = held_forever(story.releases(31, 1));
        assert_eq!(found.iter().map(|one| one.duration.0).collect::<Vec<_>>(), [20_000]);
    }

    #[test]
    fn accepts_a_holder_who_died() {
        assert_eq!(
            held_forever(Story::new().held_bound(10).takes(1, 1, "a").crashes(5, 1).loses(99, 2)),
            []
        );
    }

    #[test]
    fn accepts_a_section_whose_lock_had_run_out_before_the_server_noticed() {
        let story = Story::new().held_bound(10).takes(1, 1, "a").expires(98, "a").releases(99, 1);
        assert_eq!(held_forever(story), []);
    }

    #[test]
    fn accepts_a_section_whose_row_remained_after_its_lease() {
        let found = |keeping: Option<Keeping>| {
            let story = keeping.map_or_else(Story::new, Story::kept_as).ttl(10).held_bound(15);
            let story = story.takes(1, 1, "a").with_recorded_leases().releases(17, 1);
            held_forever(story.removed(17, "a", 1)).len()
        };
        let rows = [Keeping::RowByServer, Keeping::RowByClients];
        assert_eq!(rows.map(|row| found(Some(row))), [0, 0]);
        assert_eq!(found(None), 1, "a key whose lease had ended could not be removed");
    }

    #[test]
    fn rejects_a_section_that_was_kept_by_a_session_for_longer_than_its_timeout() {
        let story = Story::with_sessions().held_bound(20).takes(1, 1, "a").expires(98, "a");
        assert_eq!(held_forever(story.releases(99, 1)).len(), 1, "the session was prolonged");
    }

    #[test]
    fn accepts_a_section_whose_lock_had_run_out() {
        let story = Story::new().held_bound(10).takes(1, 1, "a").expires(11, "a").releases(99, 1);
        assert_eq!(held_forever(story), []);
    }

    #[test]
    fn rejects_a_lock_that_ran_out_beyond_the_bound_and_counts_until_then() {
        let extended = Some(Node::Client(1));
        let story = Story::new().held_bound(10).takes(1, 1, "a").server(
            5,
            1,
            Change::Extended,
            "a",
            extended,
        );
        assert_eq!(held_forever(story.expires(15, "a").releases(99, 1))[0].duration.0, 4_000);
    }

    #[test]
    fn of_a_quorum_the_lock_is_kept_while_it_stands_at_a_majority() {
        let story = |expired: u64| {
            let story = Story::with_quorum(2)
                .held_bound(10)
                .grants_at(1, 1, 1, "a")
                .grants_at(1, 1, 2, "a");
            let story = story.server(5, 2, Change::Extended, "a", Some(Node::Client(1)));
            story.hears(1, 1, "a").expires_at(expired, 2, "a").releases(20, 1)
        };
        assert_eq!(held_forever(story(9)), []);
        assert_eq!(held_forever(story(14))[0].duration.0, 3_000);
    }

    #[test]
    fn rejects_a_section_beyond_the_bound() {
        let found = held_forever(Story::new().held_bound(10).takes(1, 1, "a").releases(12, 1));
        assert_eq!((found[0].at.0, found[0].duration.0), (11_000, 1_000));
    }

    #[test]
    fn rejects_a_section_that_is_never_left() {
        assert_eq!(
            held_forever(Story::new().held_bound(10).takes(1, 1, "a").loses(99, 2)).len(),
            1
        );
    }
}
