use crate::drawn::drawn;
use fencepost::engine::Engine;
use fencepost::setup::scenario::{Persistence, Servers, Timing, UnsyncedWrites};
use fencepost::setup::span::{Span, SpanRange};
use fencepost::{RunOutcome, RunSpec, Scenario};
use fencepost_faults::{Fault, FaultPlan, Node, SimTime, TimedFault};
use fencepost_reports::{Cause, History, Turn, What, judge};
use std::collections::BTreeSet;

const FAILS: (u64, u64) = (5, 15);

fn spec(client: &str, seed: u64, servers: Servers, fails: Option<(u64, u64)>) -> RunSpec {
    let window = fails.map(|(from, to)| SpanRange::new(Span::secs(from), Span::secs(to)));
    let timing = Timing { sync_fails: window, ..Timing::default() };
    let scenario = Scenario { servers, timing, cycles: 8, ..Scenario::default() };
    drawn(client, "pause", seed, scenario)
}

fn both(spec: &RunSpec) -> RunOutcome {
    let fast = spec.run(Engine::Fast).unwrap();
    assert_eq!(fast.history, spec.run(Engine::Turmoil).unwrap().history);
    assert_eq!(fast.history, spec.run(Engine::Fast).unwrap().history);
    fast
}

fn times(history: &History, wanted: &What) -> Vec<(Node, u64)> {
    let events = history.events.iter().filter(|event| event.what == *wanted);
    events
        .filter(|event| event.node.is_server())
        .map(|event| (event.node, event.time_us.0))
        .collect()
}

#[test]
fn servers_that_sync_stop_and_start_again_when_syncs_succeed() {
    let always = Servers { persistence: Persistence::AofAlways, ..Servers::default() };
    let stopped = What::Turn { turn: Turn::DiskFailed, about: None };
    for (client, servers) in [
        ("single-node", always.clone()),
        ("redlock", always),
        ("shedlock-db-time", Servers::default()),
        ("etcd-mutex", Servers::default()),
        ("curator-mutex", Servers::default()),
        ("chubby", Servers::default()),
    ] {
        let history = both(&spec(client, 3, servers, Some(FAILS))).history;
        let (stops, starts) = (times(&history, &stopped), times(&history, &What::Started));
        assert!(!stops.is_empty(), "{client}");
        let (from, until) = (FAILS.0 * 1_000_000, FAILS.1 * 1_000_000);
        assert!(stops.iter().all(|(_, at)| (from..until).contains(at)), "{client}: {stops:?}");
        let nodes = |all: &[(Node, u64)]| {
            let mut nodes: Vec<String> = all.iter().map(|(node, _)| node.to_string()).collect();
            nodes.sort_unstable();
            nodes
        };
        assert_eq!(nodes(&stops), nodes(&starts), "{client}");
        assert!(starts.iter().all(|(_, at)| *at >= until), "{client}: {starts:?}");
        let healed = history.events.iter().find(|event| event.what == What::Healed).unwrap();
        assert!(healed.time_us.0 >= until, "{client}");
    }
}

#[test]
fn servers_that_refuse_writes_are_the_reason_although_redlock_hides_their_answers() {
    let servers = Servers { persistence: Persistence::AofEverysec, ..Servers::default() };
    let outcome = |fails| both(&spec("redlock", 3, servers.clone(), fails));
    let (calm, failing) = (outcome(None), outcome(Some((5, 30))));
    let turn = |turn| What::Turn { turn, about: None };
    assert_eq!(times(&calm.history, &turn(Turn::RefusesWrites)), []);
    let refusing = times(&failing.history, &turn(Turn::RefusesWrites));
    let nodes: BTreeSet<Node> = refusing.iter().map(|(node, _)| *node).collect();
    assert!(nodes.len() >= 3, "{refusing:?}");
    let causes = |outcome: &RunOutcome| -> Vec<Cause> {
        let violations = judge(&outcome.history).violations;
        violations.iter().map(|violation| violation.cause).collect()
    };
    assert_eq!(causes(&calm), []);
    assert_eq!(causes(&failing), [Cause::DiskFailure]);
}

#[test]
fn servers_that_do_not_sync_never_notice() {
    for client in ["single-node", "memcached-add", "gemfire", "pg-advisory"] {
        let outcome = |fails| both(&spec(client, 3, Servers::default(), fails)).history;
        let (calm, failing) = (outcome(None), outcome(Some((5, 6))));
        assert_eq!(calm.events, failing.events, "{client}");
    }
}

#[test]
fn torn_writes_change_no_other_draw() {
    let run = |persistence, unsynced_writes| {
        let servers = Servers { persistence, unsynced_writes, ..Servers::default() };
        let drawn = spec("single-node", 3, servers, None);
        let timed = |id, secs| {
            let down_us = Some(fencepost_faults::Micros::from_millis(5));
            let fault = Fault::PowerLoss { node: Node::Redis(1), down_us };
            TimedFault { id, at_us: SimTime(secs * 1_000_000 + 300_000), fault }
        };
        let plan = FaultPlan::new((1..=8).map(|number| timed(number, u64::from(number))).collect());
        both(&RunSpec { plan, ..drawn }).history
    };
    let every_second = Persistence::AofEverysec;
    let (lost, torn) = (UnsyncedWrites::Lost, UnsyncedWrites::Torn);
    assert_eq!(run(Persistence::None, lost), run(Persistence::None, torn), "nothing is unsynced");
    assert_eq!(run(Persistence::AofAlways, lost).header, run(every_second, torn).header);
    assert_ne!(run(every_second, lost), run(every_second, torn));
}
