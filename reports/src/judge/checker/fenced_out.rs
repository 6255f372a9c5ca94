//! Checks that the storage does not reject the rightful holder once the bound after healing has
//! passed.

use super::Checker;
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{Moment, StorageRequest, Timeline};

pub(super) const CHECKER: Checker = Checker { name: "fenced-out", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "The token counter went back, so every new token is lower than the token that the storage \
          remembers.",
    helps: "Keep the counter where a failover or a restart does not lose it.",
};

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let Some(healed) = timeline.healed else { return Vec::new() };
    let deadline = healed.time + timeline.history.header.progress_bound_us;
    let late = timeline
        .storage
        .iter()
        .filter(|request| request.moment.time > deadline && !request.accepted);
    let found: Vec<&StorageRequest> =
        late.filter(|request| is_rightful(timeline, request)).collect();
    found.into_iter().map(|request| finding(timeline, healed, request)).collect()
}

fn is_rightful(timeline: &Timeline<'_>, request: &StorageRequest) -> bool {
    let Some(index) = request.acquisition else { return false };
    let acquisition = &timeline.acquisitions[index];
    let Some(grant) = &acquisition.grant else { return false };
    let now = request.moment;
    let newer = |one: &crate::judge::timeline::Acquisition<'_>| {
        one.grant.as_ref().is_some_and(|other| grant.moment < other.moment && other.moment < now)
    };
    let in_section = timeline.section_of(index).is_some_and(|section| section.covers(now));
    let standing = timeline.keys.iter().filter(|span| {
        let servers = &grant.servers;
        let granted =
            servers.iter().any(|(node, moment)| *node == span.node && *moment == span.from);
        granted && span.to.is_none_or(|(end, _)| now < end)
    });
    in_section
        && !timeline.acquisitions.iter().any(newer)
        && standing.count() >= usize::from(timeline.history.header.quorum)
}

fn finding(timeline: &Timeline<'_>, healed: Moment, rejected: &StorageRequest) -> Finding {
    let duration = rejected.moment.time.since(healed.time);
    let token = rejected.token.map_or("no token".to_owned(), |token| format!("token {token}"));
    let what = format!(
        "{duration} after healing, the storage still rejected {}, the rightful holder, with \
         {token}.",
        rejected.process
    );
    let highest = timeline
        .storage
        .iter()
        .filter(|request| request.accepted && request.moment < rejected.moment);
    let highest = highest.max_by_key(|request| (request.token, std::cmp::Reverse(request.moment)));
    let clash = highest.and_then(|request| request.acquisition).zip(rejected.acquisition);
    let clash = clash.map(|(earlier, later)| Clash { earlier, later, late_write: None });
    let mut witness = super::grants_of(timeline, clash);
    witness.extend(highest.map(|request| request.moment.index));
    witness.extend([healed.index, rejected.moment.index]);
    let processes = vec![rejected.process];
    Finding {
        kind: Kind::FencedOut,
        at: rejected.moment.time,
        duration,
        processes,
        what,
        witness: super::sorted(witness),
        clash,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn after_the_bound() -> Story {
        let story = Story::new()
            .progress_bound(100)
            .takes_with_token(1, 1, "a", 50)
            .writes(2, 1, 0, 1)
            .releases(3, 1);
        story.healed(10)
    }

    fn fenced_out(story: Story) -> Vec<Finding> {
        check(&Timeline::new(&story.build()))
    }

    #[test]
    fn accepts_a_rightful_holder_who_is_served() {
        let story = after_the_bound().takes_with_token(120, 2, "b", 51).writes(121, 2, 1, 2);
        assert_eq!(fenced_out(story), []);
    }

    #[test]
    fn accepts_a_rejection_within_the_bound() {
        let story = after_the_bound().takes_with_token(20, 2, "b", 3).rejects_write(21, 2, 1, 2);
        assert_eq!(fenced_out(story), []);
    }

    #[test]
    fn accepts_the_rejection_of_one_who_has_been_overtaken() {
        let story =
            after_the_bound().takes_with_token(115, 2, "b", 51).takes_with_token(120, 3, "c", 52);
        assert_eq!(fenced_out(story.writes(121, 3, 1, 2).rejects_write(122, 2, 1, 2)), []);
    }

    #[test]
    fn accepts_the_rejection_of_one_whose_lease_is_over() {
        let story = after_the_bound()
            .takes_with_token(115, 2, "b", 3)
            .expires(118, "b")
            .rejects_write(120, 2, 1, 2);
        assert_eq!(fenced_out(story), []);
    }

    #[test]
    fn rejects_a_rejection_of_the_rightful_holder_beyond_the_bound() {
        let found = fenced_out(
            after_the_bound().takes_with_token(120, 2, "b", 3).rejects_write(121, 2, 1, 2),
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].duration.0, 111_000);
        let clash = found[0].clash.unwrap();
        assert_eq!(
            (clash.earlier, clash.later),
            (0, 1),
            "the token that is held against it came from client 1"
        );
    }
}
