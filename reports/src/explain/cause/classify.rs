//! From a finding to its cause: which questions are asked of it, in which order.
//!
//! The rules are those of the causes; at each question they are asked in their turn, and the first
//! that holds decides. If none holds, the next question is asked.

use super::Cause;
use super::entry::{LOSS_RULES, LossRule, RULES, Reach, Step};
use crate::explain::evidence::{Case, Loss, Lost};
use crate::judge::finding::{Finding, Kind};
use crate::judge::timeline::Timeline;

/// Why this happened; `unexplained` if the rules do not decide it.
pub fn classify(timeline: &Timeline<'_>, finding: &Finding) -> Cause {
    let case = Case::new(timeline, finding);
    steps(finding).iter().find_map(|step| decided_at(*step, &case)).unwrap_or(Cause::Unexplained)
}

/// Which questions are asked of a finding.
fn steps(finding: &Finding) -> &'static [Step] {
    match (finding.kind, finding.clash) {
        (Kind::Starved, _) if finding.processes.len() > 1 => &[Step::Overtaken],
        (Kind::Stuck | Kind::Deadlock | Kind::Starved | Kind::Unavailable, _) => {
            &[Step::Standstill]
        }
        (Kind::HeldForever, _) => &[Step::Held],
        (Kind::WrongAnswer, _) => &[Step::Misheard],
        (Kind::ForeignRelease, None) => &[Step::Takeover],
        (_, None) => &[],
        (Kind::TokenRegression | Kind::FencedOut, Some(_)) => &[Step::Owners, Step::Counter],
        (Kind::ForeignRelease, Some(_)) => &[
            Step::Owners,
            Step::Takeover,
            Step::InFlight,
            Step::Session,
            Step::EarlyLoss,
            Step::Overrun,
            Step::Astray,
        ],
        (_, Some(_)) => &[
            Step::Owners,
            Step::OldValue,
            Step::InFlight,
            Step::Session,
            Step::EarlyLoss,
            Step::Overrun,
        ],
    }
}

fn decided_at(step: Step, case: &Case<'_, '_>) -> Option<Cause> {
    if step == Step::EarlyLoss {
        let reasons = case.losses().iter().filter_map(|lost| reason(case, lost));
        return reasons.min_by_key(|(rule, _)| rule.turn).map(|(_, cause)| cause);
    }
    let mut rules = RULES.iter().filter(|(rule, _)| rule.step == step);
    rules.find(|(rule, _)| (rule.holds)(case)).map(|(_, cause)| *cause)
}

/// Why a lock was lost for a server that granted it again.
fn reason(case: &Case<'_, '_>, lost: &Lost<'_, '_>) -> Option<(LossRule, Cause)> {
    let first =
        |loss: &Loss<'_, '_>| LOSS_RULES.iter().find(|(rule, _)| (rule.holds)(case, loss)).copied();
    let before = lost.where_it_was_granted.as_ref().and_then(first);
    let before = before.filter(|(rule, _)| rule.reach == Reach::Replicas);
    before.or_else(|| lost.there.as_ref().and_then(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::finding::Clash;
    use fencepost_faults::{Micros, Node, SimTime};

    #[test]
    fn no_two_rules_have_the_same_turn() {
        let turns: Vec<(Step, u8)> = RULES.iter().map(|(rule, _)| (rule.step, rule.turn)).collect();
        assert!(turns.windows(2).all(|pair| pair[0] < pair[1]), "{turns:?}");
        let turns: Vec<u8> = LOSS_RULES.iter().map(|(rule, _)| rule.turn).collect();
        assert!(turns.windows(2).all(|pair| pair[0] < pair[1]), "{turns:?}");
    }

    #[test]
    fn every_cause_but_the_last_can_be_found() {
        let has_rule = |cause: &Cause| {
            RULES.iter().any(|(_, of)| of == cause) || LOSS_RULES.iter().any(|(_, of)| of == cause)
        };
        let without: Vec<&Cause> = Cause::ALL.iter().filter(|cause| !has_rule(cause)).collect();
        assert_eq!(without, [&Cause::Unexplained]);
    }

    /// A finding of a kind by so many processes, between two acquisitions or not.
    fn finding(kind: Kind, processes: u16, clash: Option<Clash>) -> Finding {
        let processes = (1..=processes).map(Node::Client).collect();
        let (at, duration, what) = (SimTime::ZERO, Micros::ZERO, String::new());
        Finding { kind, at, duration, processes, what, witness: Vec::new(), clash }
    }

    #[test]
    fn every_question_that_a_rule_answers_is_asked_of_some_finding() {
        let clash = Clash { earlier: 0, later: 1, late_write: None };
        let mut asked: Vec<Step> = Vec::new();
        for kind in Kind::ALL {
            for (processes, clash) in [(1, None), (2, None), (2, Some(clash))] {
                asked.extend(steps(&finding(*kind, processes, clash)));
            }
        }
        let unasked = RULES.iter().find(|(rule, _)| !asked.contains(&rule.step));
        assert_eq!(unasked.map(|(_, cause)| *cause), None);
        assert!(asked.contains(&Step::EarlyLoss));
        let unanswered = asked.iter().find(|step| {
            **step != Step::EarlyLoss && !RULES.iter().any(|(rule, _)| rule.step == **step)
        });
        assert_eq!(unanswered, None, "nothing could come of it");
    }

    #[test]
    fn of_one_lock_that_stood_alone_nobody_is_asked_who_took_it() {
        for kind in Kind::ALL {
            let steps = steps(&finding(*kind, 1, None));
            let of_two = [Step::Owners, Step::InFlight, Step::EarlyLoss, Step::Overrun];
            assert!(of_two.iter().all(|step| !steps.contains(step)), "{kind}: {steps:?}");
        }
    }

    #[test]
    fn the_order_in_which_causes_are_asked_for() {
        let rules = RULES.iter().map(|(rule, cause)| format!("{:?}: {cause}", rule.step));
        let losses = LOSS_RULES.iter().map(|(_, cause)| format!("{:?}: {cause}", Step::EarlyLoss));
        let all: Vec<String> = rules.chain(losses).collect();
        insta::assert_snapshot!(all.join("\n"));
    }
}
