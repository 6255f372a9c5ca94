use fencepost::setup::scenario::{Persistence, RealServers, ServerBinary, Servers, Timing};
use fencepost::setup::span::{Span, SpanRange};
use fencepost::{Engine, RunOutcome, RunSpec, Scenario};
use fencepost_faults::{Node, Seed};
use fencepost_reports::{Event, Turn, What};
use fencepost_testing::skip;
use std::path::Path;
use std::rc::Rc;

fn binaries() -> Option<RealServers> {
    let path = std::env::var("PATH").unwrap();
    let Ok(found) = fencepost_programs::find_program("redis-server", Path::new("/"), &path) else {
        skip("FENCEPOST_REAL_REDIS", "redis-server");
        return None;
    };
    let binary = ServerBinary {
        path: found.display().to_string(),
        name: "Redis".to_owned(),
        version: "7.0.15".to_owned(),
        sha256: String::new(),
    };
    Some(RealServers::from([("redis".to_owned(), binary)]))
}

#[test]
fn both_engines_make_the_same_calls_of_every_server() {
    let Some(binaries) = binaries() else { return };
    let client = fencepost_clients::find("fencing").unwrap();
    let scenario = Rc::new(Scenario { binaries, cycles: 5, ..Scenario::default() });
    let spec = RunSpec::draw(Seed(7), client, &"failover".parse().unwrap(), scenario);
    let run = |engine| spec.run(engine).unwrap();
    let (fast, turmoil) = (run(Engine::Fast), run(Engine::Turmoil));
    assert_eq!(fast.history, turmoil.history);
    assert_eq!(fast.servers, turmoil.servers);
    let began = |event: &&Event| matches!(event.what, What::FaultBegan { .. });
    let began = fast.history.events.iter().find(began).unwrap().time_us;
    assert_eq!(began, spec.plan.faults[0].at_us, "times count from the beginning of the run");
    let started: Vec<Node> = fast.servers.iter().map(|life| life.node).collect();
    for node in [Node::Redis(1), Node::Redis(3), Node::Sentinel(3)] {
        assert!(started.contains(&node), "{started:?}");
    }
    assert!(fast.servers.iter().all(|life| life.calls.len() > 100));
    assert!(fast.servers.iter().all(|life| life.ending.is_none()));
}

#[test]
fn a_real_server_whose_disk_fails_stops_and_starts_again_as_the_fake_does() {
    let Some(binaries) = binaries() else { return };
    let client = fencepost_clients::find("single-node").unwrap();
    let window = SpanRange::new(Span::secs(5), Span::secs(15));
    let run = |binaries: &RealServers, persistence| {
        let servers = Servers { persistence, ..Servers::default() };
        let timing = Timing { sync_fails: Some(window), ..Timing::default() };
        let binaries = binaries.clone();
        let scenario = Scenario { binaries, servers, timing, cycles: 6, ..Scenario::default() };
        let spec = RunSpec::draw(Seed(3), client, &"pause".parse().unwrap(), Rc::new(scenario));
        spec.run(Engine::Fast).unwrap()
    };
    let seen = |outcome: &RunOutcome| {
        let events = outcome.history.events.iter();
        let mut turns = events.filter(|event| event.node == Node::Redis(1)).filter_map(|event| {
            let is_stop = matches!(event.what, What::Turn { turn: Turn::DiskFailed, .. });
            let is_start = event.what == What::Started;
            (is_stop || is_start).then_some((is_stop, event.time_us.0 / 1_000_000))
        });
        (turns.next(), turns.next(), turns.next())
    };
    let refuses = |outcome: &RunOutcome| {
        let refuses = What::Turn { turn: Turn::RefusesWrites, about: None };
        outcome.history.events.iter().any(|event| event.what == refuses)
    };
    for persistence in [Persistence::AofAlways, Persistence::AofEverysec] {
        let (real, fake) = (run(&binaries, persistence), run(&RealServers::new(), persistence));
        let again = run(&binaries, persistence);
        assert_eq!((&real.history, &real.servers), (&again.history, &again.servers));
        assert_eq!(seen(&real), seen(&fake), "{persistence:?}");
        let is_every_second = persistence == Persistence::AofEverysec;
        assert_eq!([refuses(&real), refuses(&fake)], [is_every_second; 2], "{persistence:?}");
        assert!(real.servers.iter().all(|life| life.failure().is_none()));
        let refused = |outcome: &RunOutcome| {
            outcome.history.events.iter().any(|event| {
                matches!(&event.what, What::Fail { reason, .. } if reason.contains("MISCONF"))
            })
        };
        let refuses = persistence == Persistence::AofEverysec;
        assert_eq!([refused(&real), refused(&fake)], [refuses; 2], "{persistence:?}");
    }
}
