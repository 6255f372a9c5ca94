use super::Cause;
use super::decision::{Question, Row, TABLE, Test};
use crate::explain::evidence::{Case, LockLoss, Loss};
use crate::judge::finding::{Finding, Kind};
use crate::judge::timeline::Timeline;

/// Returns the cause of a finding, or `unexplained` if no row of the table applies.
pub fn classify(timeline: &Timeline<'_>, finding: &Finding) -> Cause {
    let case = Case::new(timeline, finding);
    let decided = questions(finding).iter().find_map(|question| decided_at(*question, &case));
    decided.map_or(Cause::Unexplained, |row| row.cause)
}

fn questions(finding: &Finding) -> &'static [Question] {
    match (finding.kind, finding.clash) {
        (Kind::Starved, _) if finding.processes.len() > 1 => &[Question::Overtaken],
        (Kind::Stuck | Kind::Deadlock | Kind::Starved | Kind::Unavailable, _) => {
            &[Question::Standstill]
        }
        (Kind::HeldForever, _) => &[Question::Held],
        (Kind::WrongAnswer, _) => &[Question::UntrueAnswer],
        (Kind::ForeignRelease, None) => &[Question::Takeover],
        (_, None) => &[],
        (Kind::TokenRegression | Kind::FencedOut, Some(_)) => {
            &[Question::Owners, Question::Counter]
        }
        (Kind::ForeignRelease, Some(_)) => &[
            Question::Owners,
            Question::Takeover,
            Question::InFlight,
            Question::Session,
            Question::EarlyLoss,
            Question::Overrun,
            Question::InTransit,
        ],
        (Kind::RepeatedJob, Some(_)) => &[
            Question::Owners,
            Question::Unrecorded,
            Question::OldValue,
            Question::InFlight,
            Question::Session,
            Question::EarlyLoss,
            Question::Overrun,
        ],
        (_, Some(_)) => &[
            Question::Owners,
            Question::OldValue,
            Question::InFlight,
            Question::Session,
            Question::EarlyLoss,
            Question::Overrun,
        ],
    }
}

fn first(
    question: Question,
    case: &Case<'_, '_>,
    holds: impl Fn(&Row) -> bool,
) -> Option<&'static Row> {
    let mut rows = TABLE.iter().filter(|row| row.question == question);
    rows.find(|row| holds(row) && row.cause.is_possible(case))
}

fn decided_at(question: Question, case: &Case<'_, '_>) -> Option<&'static Row> {
    if question == Question::EarlyLoss {
        let reasons: Vec<&Row> =
            case.losses().iter().filter_map(|lost| reason(case, lost)).collect();
        return first(question, case, |row| reasons.iter().any(|one| std::ptr::eq(*one, row)));
    }
    first(question, case, |row| matches!(row.holds, Test::Case(holds) if holds(case)))
}

fn reason(case: &Case<'_, '_>, lost: &LockLoss<'_, '_>) -> Option<&'static Row> {
    let why = |loss: &Loss<'_, '_>| {
        first(Question::EarlyLoss, case, |row| match row.holds {
            Test::Loss(holds) | Test::LossThere(holds) => holds(case, loss),
            Test::Case(_) => false,
        })
    };
    let before = lost.at_granting_server.as_ref().and_then(why);
    let before = before.filter(|row| matches!(row.holds, Test::Loss(_)));
    before.or_else(|| lost.at_taking_server.as_ref().and_then(why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::finding::Clash;
    use fencepost_faults::{Micros, Node, SimTime};

    #[test]
    fn the_rows_of_a_question_stand_together_and_say_why_they_stand_in_this_order() {
        assert!(TABLE.is_sorted_by_key(|row| row.question));
        // Here, a row without a reason excludes the rows below it, so their order does not matter.
        let exclusive = [Question::Standstill, Question::UntrueAnswer, Question::Session];
        for pair in TABLE.windows(2).filter(|pair| pair[0].question == pair[1].question) {
            let says = !pair[0].first.is_empty() || exclusive.contains(&pair[0].question);
            assert!(says, "{:?}: {}: {}", pair[0].question, pair[0].cause, pair[0].asks);
        }
    }

    #[test]
    fn every_cause_but_the_last_can_be_found() {
        let has_row = |cause: &Cause| TABLE.iter().any(|row| row.cause == *cause);
        let without: Vec<&Cause> = Cause::ALL.iter().filter(|cause| !has_row(cause)).collect();
        assert_eq!(without, [&Cause::Unexplained]);
    }

    fn finding(kind: Kind, processes: u16, clash: Option<Clash>) -> Finding {
        let processes = (1..=processes).map(Node::Client).collect();
        let (at, duration, what) = (SimTime::ZERO, Micros::ZERO, String::new());
        Finding { kind, at, duration, processes, what, witness: Vec::new(), clash }
    }

    #[test]
    fn every_question_that_a_rule_answers_is_asked_of_some_finding() {
        let clash = Clash { earlier: 0, later: 1, late_write: None };
        let mut asked: Vec<Question> = Vec::new();
        for kind in Kind::ALL {
            for (processes, clash) in [(1, None), (2, None), (2, Some(clash))] {
                asked.extend(questions(&finding(*kind, processes, clash)));
            }
        }
        let unasked = TABLE.iter().find(|row| !asked.contains(&row.question));
        assert_eq!(unasked.map(|row| row.cause), None);
        let unanswered = asked.iter().find(|one| TABLE.iter().all(|row| row.question != **one));
        assert_eq!(unanswered, None, "nothing could come of it");
    }

    #[test]
    fn of_one_lock_that_stood_alone_nobody_is_asked_who_took_it() {
        for kind in Kind::ALL {
            let questions = questions(&finding(*kind, 1, None));
            let of_two =
                [Question::Owners, Question::InFlight, Question::EarlyLoss, Question::Overrun];
            assert!(of_two.iter().all(|step| !questions.contains(step)), "{kind}: {questions:?}");
        }
    }

    #[test]
    fn the_order_in_which_causes_are_asked_for() {
        let line = |row: &Row| {
            let first = if row.first.is_empty() { "" } else { ": " };
            format!("{:?}: {}: {}{first}{}", row.question, row.cause, row.asks, row.first)
        };
        let all: Vec<String> = TABLE.iter().map(line).collect();
        insta::assert_snapshot!(all.join("\n"));
    }
}
