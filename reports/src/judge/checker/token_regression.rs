//! Checks that fencing tokens increase strictly in the order of the grants.

use super::Checker;
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::Timeline;
use fencepost_faults::Micros;

pub(super) const CHECKER: Checker = Checker { name: "token-regression", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "The counter was lost or went back: a failover to a replica that had not received it, \
          a restart without persistence, or servers that share no counter.",
    helps: "Keep the counter where a failover or a restart does not lose it. The storage is \
            only as safe as the order of the tokens.",
};

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut highest: Option<(u64, usize)> = None;
    for later in timeline.granted_in_order() {
        let Some(token) = timeline.acquisitions[later].token else { continue };
        match highest {
            Some((known, earlier)) if token <= known && !is_one_grant(timeline, earlier, later) => {
                findings.push(finding(timeline, earlier, later));
            }
            _ => highest = Some((token, later)),
        }
    }
    findings
}

fn is_one_grant(timeline: &Timeline<'_>, a: usize, b: usize) -> bool {
    timeline.granted_at(a) == timeline.granted_at(b)
}

fn finding(timeline: &Timeline<'_>, earlier: usize, later: usize) -> Finding {
    let (before, after) = (&timeline.acquisitions[earlier], &timeline.acquisitions[later]);
    let (old, new) = (before.token.unwrap_or_default(), after.token.unwrap_or_default());
    let what = match (old == new, before.process == after.process) {
        (true, true) => format!("{} got fencing token {new} twice.", after.process),
        (true, false) => {
            format!("{} and {} both got fencing token {new}.", before.process, after.process)
        }
        (false, true) => {
            format!(
                "{} got fencing token {new}, lower than its earlier token {old}.",
                after.process
            )
        }
        (false, false) => format!(
            "{} got fencing token {new}, lower than {}'s earlier token {old}.",
            after.process, before.process
        ),
    };
    let clash = Some(Clash { earlier, later, late_write: None });
    let mut witness = super::grants_of(timeline, clash);
    witness.extend([before, after].iter().filter_map(|one| Some(one.completed?.index)));
    let at = after.grant.as_ref().map_or(after.invoked, |grant| grant.moment).time;
    let processes = vec![before.process, after.process];
    Finding {
        kind: Kind::TokenRegression,
        at,
        duration: Micros::ZERO,
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

    fn regressions(story: Story) -> Vec<Finding> {
        check(&Timeline::new(&story.build()))
    }

    #[test]
    fn accepts_tokens_that_grow() {
        let story = Story::new()
            .takes_with_token(1, 1, "a", 7)
            .releases(2, 1)
            .takes_with_token(3, 2, "b", 9);
        assert_eq!(regressions(story), []);
    }

    #[test]
    fn accepts_tokens_that_arrive_in_another_order_than_they_were_granted() {
        let story = Story::new().grants(1, 1, "a").grants(2, 2, "b");
        assert_eq!(regressions(story.hears_token(3, 2, "b", 2).hears_token(4, 1, "a", 1)), []);
    }

    #[test]
    fn accepts_one_token_for_the_nested_sections_of_one_grant() {
        let story =
            Story::new().takes_with_token(1, 1, "a", 7).acquires(2, 1).hears_token(3, 1, "a", 7);
        assert_eq!(regressions(story), []);
    }

    fn said(process: u16, token: u64) -> String {
        let story = Story::new().takes_with_token(1, 1, "a", 7).releases(2, 1);
        let found = regressions(story.takes_with_token(3, process, "b", token));
        assert_eq!(found.len(), 1);
        found[0].what.clone()
    }

    #[test]
    fn rejects_a_token_that_is_given_twice() {
        assert_eq!(said(2, 7), "client-1 and client-2 both got fencing token 7.");
        assert_eq!(said(1, 7), "client-1 got fencing token 7 twice.");
    }

    #[test]
    fn rejects_a_token_that_goes_back() {
        let told = "client-2 got fencing token 3, lower than client-1's earlier token 7.";
        assert_eq!(said(2, 3), told);
        assert_eq!(said(1, 3), "client-1 got fencing token 3, lower than its earlier token 7.");
    }
}
