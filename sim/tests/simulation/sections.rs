use crate::drawn::{drawn, history};
use fencepost::engine::Engine;
use fencepost::setup::scenario::{Hold, Section};
use fencepost::setup::span::{Span, SpanRange};
use fencepost::{RunSpec, Scenario};
use fencepost_faults::{
    Direction, Fault, FaultPlan, Micros, Node, OperatorCommand, SimTime, TimedFault,
};
use fencepost_reports::{Action, Change, History, What, judge};
use std::collections::BTreeSet;

fn paused(section: Section) -> History {
    let hold = Hold::Drawn(SpanRange::new(Span::secs(7), Span::secs(7)));
    let scenario = Scenario { section, hold, processes: 1, cycles: 1, ..Scenario::default() };
    let pause = Fault::Pause { node: Node::Client(1), duration_us: Micros::from_secs(4) };
    let plan = FaultPlan::new(vec![TimedFault { id: 1, at_us: SimTime(1_000_000), fault: pause }]);
    let drawn = drawn("single-node", "pause", 1, scenario);
    let spec = RunSpec { plan, ..drawn };
    let fast = spec.run(Engine::Fast).unwrap();
    assert_eq!(fast, spec.run(Engine::Turmoil).unwrap());
    fast.history
}

fn released_at(history: &History) -> SimTime {
    let releases = |what: &What| matches!(what, What::Invoke { action: Action::Release, .. });
    let event = history.events.iter().find(|event| releases(&event.what));
    event.expect("it gives the lock back").time_us
}

#[test]
fn a_pause_makes_work_late_by_all_of_it_and_waiting_by_what_outlasts_it() {
    let seconds = |section| released_at(&paused(section)).0 / 1_000_000;
    assert_eq!(seconds(Section::Wait), 8);
    assert!((9..=10).contains(&seconds(Section::Work)), "{}", seconds(Section::Work));
    assert!([8, 9, 10].contains(&seconds(Section::Either)));
}

fn operated(client: &str, seed: u64) -> (RunSpec, History) {
    let spec = drawn(client, "operator", seed, Scenario::default());
    let history = history(&spec);
    (spec, history)
}

#[test]
fn what_an_operator_types_has_an_effect_where_there_is_one_to_have() {
    let mut fired = BTreeSet::new();
    for seed in 0..40 {
        let (spec, history) = operated("redisson", seed);
        for event in &history.events {
            let What::FaultBegan { fault, .. } = event.what else { continue };
            let timed = spec.plan.faults.iter().find(|timed| timed.id == fault);
            if let Some(Fault::Operator { command, .. }) = timed.map(|timed| &timed.fault) {
                fired.insert(*command);
            }
        }
    }
    let idle = [OperatorCommand::AppendOnlyOff, OperatorCommand::MinReplicasOff];
    let expected: BTreeSet<OperatorCommand> =
        OperatorCommand::ALL.iter().copied().filter(|command| !idle.contains(command)).collect();
    assert_eq!(fired, expected, "nothing is written down, and no replicas are demanded");
}

/// A demoted primary refuses writes, including renewals, until a Sentinel restores its role.
#[test]
fn what_an_operator_types_breaks_a_lock_that_has_to_be_renewed_and_none_that_stops_at_its_lease() {
    let broken = |client: &str| {
        (0..16).filter(|seed| !judge(&operated(client, *seed).1).violations.is_empty()).count()
    };
    assert!(broken("redisson") > 0);
    assert_eq!(broken("fencing"), 0);
}

fn cut_off(client: &str) -> History {
    let hold = Hold::Drawn(SpanRange::new(Span::secs(50), Span::secs(50)));
    let scenario = Scenario { hold, processes: 1, cycles: 1, ..Scenario::default() };
    let cut = Fault::Partition {
        side_a: vec![Node::Client(1)],
        side_b: (1..=5).map(Node::Server).collect(),
        direction: Direction::Both,
        duration_us: Micros::from_secs(60),
    };
    let plan = FaultPlan::new(vec![TimedFault { id: 1, at_us: SimTime(2_000_000), fault: cut }]);
    let drawn = drawn(client, "partition", 1, scenario);
    history(&RunSpec { plan, ..drawn })
}

#[test]
fn a_holder_that_heeds_a_loss_leaves_even_if_it_only_waits_for_the_end_of_its_lease() {
    let expired_at = |history: &History| {
        let expires = |what: &What| matches!(what, What::Server { change: Change::Expired, .. });
        history.events.iter().find(|event| expires(&event.what)).map(|event| event.time_us)
    };
    let careless = cut_off("chubby-no-delay");
    assert!(released_at(&careless) > expired_at(&careless).expect("its session ends"));
    let careful = cut_off("chubby-checked");
    assert!(expired_at(&careful).is_none_or(|end| released_at(&careful) < end));
}

#[test]
fn a_holder_whose_lock_states_no_validity_works_on_and_another_stops_before_its_lease_ends() {
    let writes = |client: &str| {
        let hold = Hold::Drawn(SpanRange::new(Span::secs(20), Span::secs(20)));
        let scenario = Scenario { hold, processes: 1, cycles: 1, ..Scenario::default() };
        let events = history(&drawn(client, "none", 1, scenario)).events.into_iter();
        let is_write =
            |what: &What| matches!(what, What::Invoke { action: Action::Write { .. }, .. });
        events.filter(|event| is_write(&event.what)).count()
    };
    assert_eq!(["redisson", "single-node", "redlock"].map(writes), [1, 1, 0]);
}
