use crate::explain::literature::{Conditions, expected};
use crate::record::history::Change;
use crate::record::story::Story;
use crate::summary::expectation::Expectation;
use crate::summary::facts::{RunContext, RunFacts};
use crate::summary::report::{self, Nearby, OnThisPlan, Remedy, Report, RunReport, Tool};
use crate::summary::stages::{Recordings, Stages};
use crate::summary::sweep::{self, Cell, Measured, RunSummary, SeedRange, Shard, Sweep, Wanted};
use fencepost_faults::{Fault, FaultPlan, Micros, Node, Seed, SimTime, TimedFault};

const CLIENT: Node = Node::Client(1);

pub(crate) fn paused_holder() -> Story {
    let story = Story::new().ttl(10_000).under("pause").progress_bound(20_000);
    story
        .acquires(1_990, 1)
        .grants(1_995, 1, "a41f")
        .hears(2_000, 1, "a41f")
        .reads(2_010, 1, 41)
        .fault_began(2_020, 1, "pause", &[CLIENT])
        .acquires(3_000, 2)
        .expires(11_996, "a41f")
        .grants(12_100, 2, "77c0")
        .hears(12_105, 2, "77c0")
        .reads(12_110, 2, 41)
        .writes(12_500, 2, 41, 42)
        .fault_ended(14_000, 1, "pause", CLIENT)
        .writes(14_005, 1, 41, 42)
        .releases(14_010, 1)
        .releases(15_000, 2)
        .removed(15_002, "77c0", 2)
        .healed(16_000)
        .probe_acquires(16_000)
        .probe_ok(16_005, "probe")
        .probe_releases(16_010)
}

pub(crate) fn failover() -> Story {
    let redis = Node::Redis(1);
    let story = Story::new().ttl(10_000).under("failover").progress_bound(20_000);
    story
        .fault_began(1_500, 1, "delay", &[redis, Node::Redis(2)])
        .acquires(1_990, 1)
        .grants(1_995, 1, "a41f")
        .hears(2_000, 1, "a41f")
        .fault_began(2_500, 2, "crash", &[redis])
        .redis_crashes(2_500, 1)
        .acquires(2_600, 2)
        .grants_at(4_800, 2, 2, "77c0")
        .hears(4_805, 2, "77c0")
        .fault_ended(6_000, 1, "delay", redis)
        .releases(7_000, 1)
        .fault_ended(7_500, 2, "crash", redis)
        .redis_starts(7_500, 1)
        .server(7_510, 1, Change::Discarded, "a41f", None)
        .releases(9_000, 2)
        .removed_at(9_002, 2, "77c0", 2)
}

pub(crate) fn threads() -> Story {
    let second = CLIENT.for_thread(2);
    let story = Story::new().ttl(10_000).under("pause").progress_bound(20_000);
    story
        .acquires(1_990, 1)
        .grants(1_995, 1, "a41f")
        .hears(2_000, 1, "a41f")
        .acquires(2_100, second)
        .server(2_105, 1, Change::Extended, "a41f", Some(second))
        .hears(2_110, second, "a41f")
        .faulted(3_000..4_000, 1, "pause", &[CLIENT])
        .fault_began(5_000, 2, "crash", &[CLIENT])
        .crashes(5_000, 1)
        .fault_ended(6_000, 2, "crash", CLIENT)
        .starts(6_000, 1)
        .acquires(6_010, second)
        .expires(12_105, "a41f")
        .takes(12_200, 2, "77c0")
        .releases(13_000, 2)
}

pub(crate) fn quiet() -> Story {
    let story = Story::new().client("redlock").ttl(10_000).under("pause");
    story
        .acquires(990, 1)
        .grants(995, 1, "a")
        .hears(1_000, 1, "a")
        .faulted(1_200..2_700, 1, "pause", &[CLIENT])
        .releases(3_000, 1)
        .removed(3_001, "a", 1)
        .takes(4_000, 2, "b")
        .reads(4_100, 2, 0)
        .releases(5_000, 2)
}

pub(crate) fn lonely() -> Story {
    Story::new().client("fencing").under("pause").takes(1_000, 1, "a").releases(2_000, 1)
}

pub(crate) fn run(story: Story) -> RunReport {
    Stages::from(facts(story)).into()
}

pub(crate) fn facts(story: Story) -> RunFacts {
    let history = story.build();
    let header = &history.header;
    let conditions = Conditions {
        always_has_replicas: false,
        restart_loses: true,
        until_validity: false,
        outlasts_lease: false,
        storage: header.storage,
    };
    let context = RunContext {
        plan: plan(&header.fault.to_string()),
        messages: 1_204,
        expected: expected(&header.client, &header.fault, conditions),
        replay: format!("fencepost replay out/{}-{}-7.json", header.client, header.fault),
        ..RunContext::default()
    };
    RunFacts::new(&history, context)
}

fn plan(fault: &str) -> FaultPlan {
    let timed = |id, ms: u64, fault| TimedFault { id, at_us: SimTime(ms * 1_000), fault };
    if fault == "pause" {
        let duration_us = Micros::from_millis(11_980);
        return FaultPlan::new(vec![timed(1, 2_020, Fault::Pause { node: CLIENT, duration_us })]);
    }
    let lag = Fault::Delay {
        from: vec![Node::Redis(1)],
        to: vec![Node::Redis(2)],
        extra_us_min: Micros::from_millis(800),
        extra_us_max: Micros::from_millis(1_200),
        duration_us: Micros::from_millis(4_500),
    };
    let crash = Fault::Crash { node: Node::Redis(1), down_us: Some(Micros::from_secs(5)) };
    FaultPlan::new(vec![timed(1, 1_500, lag), timed(2, 2_500, crash)])
}

pub(crate) fn tool() -> Tool {
    Tool { name: "fencepost".to_owned(), version: "0.1.0".to_owned() }
}

pub(crate) fn report(stories: Vec<Story>) -> Report {
    report_of(stories.into_iter().map(run).collect())
}

pub(crate) fn with_history(story: Story) -> Report {
    let recordings = Recordings { history: Some(story.clone().build()), trace: None };
    report_of(vec![Stages { recordings, ..facts(story).into() }.into()])
}

fn report_of(runs: Vec<RunReport>) -> Report {
    let mut faults: Vec<String> = runs.iter().map(|run| run.fault.clone()).collect();
    faults.dedup();
    Report {
        format: report::FORMAT.to_owned(),
        version: report::VERSION,
        tool: tool(),
        seed: Seed(7),
        faults,
        engine: "turmoil".to_owned(),
        config: serde_json::json!({ "ttl_us": 10_000_000, "processes": 3 }),
        runs,
    }
}

pub(crate) fn sweep(from: u64, to: u64) -> Sweep {
    let (violated, valid, unknown) = (facts(paused_holder()), facts(quiet()), facts(lonely()));
    let mut cells = vec![
        Cell::new("single-node", "pause"),
        Cell::new("redlock", "pause"),
        Cell::new("fencing", "pause"),
    ];
    for seed in from..to {
        let quiet_single = RunFacts { client: "single-node".to_owned(), ..valid.clone() };
        let single = if seed % 3 == 2 { &violated } else { &quiet_single };
        for (cell, run) in cells.iter_mut().zip([single, &valid, &unknown]) {
            let phases = [("pause".to_owned(), "holding".to_owned())];
            cell.add(&RunSummary { seed: Seed(seed), run, phases: &phases });
            cell.confirm(Seed(seed));
        }
    }
    Sweep {
        format: sweep::FORMAT.to_owned(),
        version: sweep::VERSION,
        tool: tool(),
        config: serde_json::json!({ "ttl_us": 10_000_000, "processes": 3 }),
        checksum: None,
        seeds: SeedRange { from: Seed(from), to: Seed(to) },
        gaps: Vec::new(),
        shard: Shard::WHOLE,
        whole: Some(SeedRange { from: Seed(from), to: Seed(to) }),
        complete: true,
        cells,
        baseline: None,
        measured: Measured { runs_per_second: Some(4_240.0), ..Measured::default() },
    }
}

/// A sweep of seeds 0..41 that ran only seeds 0..2 and 4..9.
pub(crate) fn stopped_sweep() -> Sweep {
    let range = |from, to| SeedRange { from: Seed(from), to: Seed(to) };
    let (gaps, whole) = (vec![range(2, 4)], Some(range(0, 41)));
    Sweep { gaps, whole, complete: false, ..sweep(0, 9) }
}

/// A report of two runs with unexpected violations.
pub(crate) fn unexpected_report() -> Report {
    let facts = facts(paused_holder());
    let held = [Wanted::Safe.compare_run(&facts, Seed(7)), Expectation::missing()];
    let runs = held.map(|held| Stages { expectation: Some(held), ..facts.clone().into() }.into());
    report_of(runs.into())
}

pub(crate) fn remedy(name: &str, setting: &str, on_this_plan: OnThisPlan) -> Remedy {
    Remedy {
        name: name.to_owned(),
        setting: setting.to_owned(),
        on_this_plan,
        nearby: Nearby { plans: 20, broken: 2, broken_without: 7 },
        broken_with: 3,
        broken_without: 22,
        unknown_with: 1,
        unknown_without: 0,
        seeds: 50,
        seeds_from: Seed(900_000_000),
    }
}
