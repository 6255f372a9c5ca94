//! Checks that every granted acquire returned a fencing token, if the lock promises tokens.

use super::Checker;
use crate::judge::finding::{Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{Outcome, Timeline};
use fencepost_faults::Micros;

pub(super) const CHECKER: Checker = Checker { name: "token-missing", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "The answer with the token was lost, or the server sent none.",
    helps: "Let the storage reject requests without a token.",
};

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    if !timeline.history.header.has_tokens {
        return Vec::new();
    }
    let bare = timeline
        .acquisitions
        .iter()
        .filter(|one| one.outcome == Outcome::Granted && one.token.is_none());
    bare.filter_map(|one| {
        let (entered, process) = (one.completed?, one.process);
        let what = format!(
            "{process} was granted the lock without a fencing token, although its leases promise \
             one: the storage does not check a request without a token."
        );
        Some(Finding {
            kind: Kind::TokenMissing,
            at: entered.time,
            duration: Micros::ZERO,
            processes: vec![process],
            what,
            witness: vec![one.invoked.index, entered.index],
            clash: None,
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn missing(story: Story) -> Vec<Finding> {
        check(&Timeline::new(&story.build()))
    }

    #[test]
    fn accepts_leases_that_all_carry_their_token() {
        let story = Story::new().with_tokens().takes_with_token(1, 1, "a", 1).releases(2, 1);
        assert_eq!(missing(story.takes_with_token(3, 2, "b", 2)), []);
    }

    #[test]
    fn accepts_leases_without_tokens_of_a_lock_that_has_none() {
        assert_eq!(missing(Story::new().takes(1, 1, "a")), []);
    }

    #[test]
    fn rejects_one_lease_without_a_token_among_others() {
        let story = Story::new().with_tokens().takes_with_token(1, 1, "a", 1).releases(2, 1);
        let found = missing(story.takes(3, 2, "b"));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].processes[0], found[0].at.0),
            (fencepost_faults::Node::Client(2), 3_000)
        );
    }
}
