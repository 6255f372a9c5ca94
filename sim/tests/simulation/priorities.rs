use crate::answer::fencepost;
use crate::drawn::drawn;
use fencepost::engine::Engine;
use fencepost::setup::scenario::Strategy;
use fencepost::{RunSpec, Scenario};
use fencepost_faults::FAMILIES;

fn spec(client: &str, fault: &str, strategy: Strategy) -> RunSpec {
    drawn(client, fault, 3, Scenario { cycles: 6, strategy, ..Scenario::default() })
}

#[test]
fn both_engines_tell_the_same_history_where_links_have_priorities() {
    for client in ["single-node", "redlock", "curator-mutex"] {
        for family in FAMILIES {
            let spec = spec(client, family.name(), Strategy::Pct);
            let fast = spec.run(Engine::Fast).unwrap();
            assert_eq!(fast, spec.run(Engine::Turmoil).unwrap(), "{client} x {family}");
        }
    }
}

#[test]
fn priorities_change_the_order_of_messages_and_not_the_plan() {
    let [uniform, pct] =
        [Strategy::Uniform, Strategy::Pct].map(|strategy| spec("redlock", "pause", strategy));
    assert_eq!(uniform.plan, pct.plan);
    let [uniform, pct] = [uniform, pct].map(|spec| spec.run(Engine::Fast).unwrap().history);
    assert_ne!(uniform.events, pct.events);
}

#[test]
fn a_run_says_that_links_had_priorities_and_is_replayed_so() {
    let words = ["run", "--client", "single-node", "--fault", "pause", "--seed", "0"];
    let with = ["--strategy", "pct", "--format", "json", "--no-shrink"];
    let told = fencepost(&[&words[..], &with].concat());
    assert_eq!(told.status, 1, "{}", told.stderr);
    let report = told.json();
    assert_eq!(report["config"]["scenario"]["strategy"], "pct");
    let command = report["runs"][0]["violations"][0]["replay"].as_str().unwrap();
    assert!(command.ends_with("--strategy pct"), "{command}");
    let command: Vec<&str> = command.split(' ').skip(1).collect();
    let again = fencepost(&[&command[..], &["--format", "json", "--no-shrink"]].concat());
    assert_eq!(again.stdout, told.stdout);
}
