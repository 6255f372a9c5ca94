//! Tests of runs with the real redis-server, through the library.

use fencepost::setup::scenario::{RealServers, ServerBinary};
use fencepost::{Engine, RunSpec, Scenario};
use fencepost_faults::{Node, Seed};
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
    let started: Vec<Node> = fast.servers.iter().map(|life| life.node).collect();
    for node in [Node::Redis(1), Node::Redis(3), Node::Sentinel(3)] {
        assert!(started.contains(&node), "{started:?}");
    }
    assert!(fast.servers.iter().all(|life| life.calls.len() > 100));
    assert!(fast.servers.iter().all(|life| life.ending.is_none()));
}
