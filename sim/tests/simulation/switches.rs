use crate::drawn::drawn;
use fencepost::engine::Engine;
use fencepost::setup::scenario::{Hold, Servers, Switches};
use fencepost::setup::span::{Span, SpanRange};
use fencepost::{RunSpec, Scenario};
use fencepost_faults::{Direction, Fault, FaultPlan, Micros, Node, SimTime, TimedFault};
use fencepost_reports::{Change, What};

fn granted_by_the_old(switches: Switches, seed: u64) -> usize {
    let hold = Hold::Drawn(SpanRange::new(Span::millis(500), Span::millis(500)));
    let scenario = Scenario {
        hold,
        servers: Servers { switches, ..Servers::default() },
        ..Scenario::default()
    };
    let others = (2..=3).map(Node::Redis).chain((1..=3).map(Node::Sentinel));
    let cut = Fault::Partition {
        side_a: vec![Node::Redis(1)],
        side_b: others.collect(),
        direction: Direction::Both,
        duration_us: Micros::from_secs(20),
    };
    let plan = FaultPlan::new(vec![TimedFault { id: 1, at_us: SimTime(5_000_000), fault: cut }]);
    let spec = RunSpec { plan, ..drawn("single-node", "failover", seed, scenario) };
    let fast = spec.run(Engine::Fast).unwrap();
    assert_eq!(fast, spec.run(Engine::Turmoil).unwrap());
    let late = SimTime(15_000_000)..SimTime(25_000_000);
    let grants = fast.history.events.iter().filter(|event| {
        matches!(&event.what, What::Server { change: Change::Granted, by: Some(_), .. })
            && event.node == Node::Redis(1)
            && late.contains(&event.time_us)
    });
    grants.count()
}

#[test]
fn who_ignores_switches_goes_on_with_a_primary_that_was_replaced() {
    for seed in 0..10 {
        assert_eq!(granted_by_the_old(Switches::Heard, seed), 0, "seed {seed}");
        assert!(granted_by_the_old(Switches::Ignored, seed) > 5, "seed {seed}");
    }
}
