use crate::answer::{fencepost, fencepost_in};
use crate::drawn::{drawn, history};
use fencepost::Scenario;
use fencepost::engine::Engine;
use fencepost::setup::scenario::Strategy;
use fencepost::studies::sweep::{Silent, Stop, SweepSpec, count};
use fencepost_clients::find;
use fencepost_faults::{FAMILIES, Seed, SimTime};
use fencepost_reports::judge::phases::phases;
use fencepost_reports::summary::sweep::{SeedRange, Shard, Sweep};
use fencepost_reports::{Kind, What};
use std::collections::BTreeMap;

const BOTH: [Strategy; 2] = [Strategy::Uniform, Strategy::Aimed];

fn scenario(strategy: Strategy) -> Scenario {
    Scenario { strategy, ..Scenario::default() }
}

fn counted(client: &str, fault: &str, strategy: Strategy, (to, jobs): (u64, usize)) -> Sweep {
    let spec = SweepSpec {
        cells: vec![(find(client).unwrap(), fault.parse().unwrap())],
        scenario: scenario(strategy),
        engine: Engine::Fast,
        seeds: SeedRange { from: Seed(0), to: Seed(to) },
        shard: Shard::WHOLE,
        jobs,
        fail_fast: false,
        explains: false,
        violations_max: 10,
    };
    count(&spec, &Silent, &Stop::new()).unwrap()
}

#[test]
fn both_engines_tell_the_same_history_of_aimed_plans() {
    for client in ["setnx-expire", "redlock", "redisson-wait"] {
        for family in FAMILIES {
            let short = Scenario { cycles: 6, ..scenario(Strategy::Aimed) };
            let spec = drawn(client, family.name(), 3, short);
            spec.validate().expect("an aimed plan is one that a person may write");
            let fast = spec.run(Engine::Fast).unwrap();
            assert_eq!(fast, spec.run(Engine::Turmoil).unwrap(), "{client} x {family}");
        }
    }
}

#[test]
fn aimed_sweeps_add_up_to_the_same_in_any_number_of_threads() {
    let one = |jobs| {
        let mut sum = counted("setnx-expire", "client-crash", Strategy::Aimed, (48, jobs));
        sum.cells[0].measured.clear();
        sum
    };
    assert_eq!(one(1), one(3));
}

#[test]
fn half_of_the_faults_stay_where_they_were_drawn() {
    let (mut stayed, mut all) = (0, 0);
    for seed in 0..60 {
        let [uniform, aimed] =
            BOTH.map(|strategy| drawn("single-node", "pause", seed, scenario(strategy)).plan);
        assert!(aimed.faults.len() <= uniform.faults.len());
        let drawn = |at: SimTime| uniform.faults.iter().any(|timed| timed.at_us == at);
        stayed += aimed.faults.iter().filter(|timed| drawn(timed.at_us)).count();
        all += uniform.faults.len();
    }
    assert!((all * 2 / 5..=all * 3 / 5).contains(&stayed), "{stayed} of {all}");
}

#[test]
fn a_reply_that_is_to_be_lost_is_that_of_the_command_aimed_at() {
    let mut moved = 0;
    for seed in 0..40 {
        let uniform = drawn("setnx-expire", "lost-reply", seed, scenario(Strategy::Uniform)).plan;
        let spec = drawn("setnx-expire", "lost-reply", seed, scenario(Strategy::Aimed));
        let outcome = spec.run(Engine::Fast).unwrap();
        let was_drawn = |at: SimTime| uniform.faults.iter().any(|timed| timed.at_us == at);
        for timed in spec.plan.faults.iter().filter(|timed| !was_drawn(timed.at_us)) {
            moved += 1;
            let began = outcome.history.events.iter().find(
                |event| matches!(event.what, What::FaultBegan { fault, .. } if fault == timed.id),
            );
            assert_eq!(began.map(|event| event.time_us), Some(timed.at_us), "seed {seed}");
        }
    }
    assert!(moved > 30, "{moved}");
}

fn met(strategy: Strategy) -> BTreeMap<String, u32> {
    let mut met = BTreeMap::new();
    for seed in 0..100 {
        let spec = drawn("single-node", "client-crash", seed, scenario(strategy));
        for (_, phase) in phases(&history(&spec)) {
            *met.entry(phase).or_default() += 1;
        }
    }
    met
}

#[test]
fn crashes_meet_writes_and_releases() {
    let [uniform, aimed] = BOTH.map(met);
    let of = |met: &BTreeMap<String, u32>, phase: &str| met.get(phase).copied().unwrap_or(0);
    let (short, all) = (["guarded-write", "releasing"], ["guarded-write", "releasing", "idle"]);
    assert!(short.iter().all(|phase| of(&uniform, phase) <= 2), "{uniform:?}");
    assert!(short.iter().all(|phase| of(&aimed, phase) >= 5), "{aimed:?}");
    let share = |met: &BTreeMap<String, u32>| {
        let least = all.iter().map(|phase| of(met, phase)).min().unwrap_or(0);
        f64::from(least) / f64::from(met.values().max().copied().unwrap_or(1))
    };
    assert!(share(&aimed) > 5.0 * share(&uniform), "{uniform:?} {aimed:?}");
}

#[test]
fn a_crash_between_two_commands_is_found_again_and_again_and_by_uniform_faults_not_once() {
    let found = |strategy| {
        let sum = counted("setnx-expire", "client-crash", strategy, (64, 2));
        sum.cells[0].violations_by_kind.get(&Kind::Stuck).copied().unwrap_or(0)
    };
    let [uniform, aimed] = BOTH.map(found);
    assert_eq!(uniform, 0);
    assert!(aimed >= 2, "{aimed}");
}

fn reported(seed: &str, more: &[&str]) -> (serde_json::Value, String, String) {
    let common = ["--client", "setnx-expire", "--fault", "client-crash", "--no-shrink"];
    let run = ["--seed", seed, "--format", "json"];
    let found = fencepost(&[&run[..], &common, more].concat());
    assert_eq!(found.status, 1, "{}", found.stderr);
    let report = found.json();
    let command = report["runs"][0]["violations"][0]["replay"].as_str().unwrap().to_owned();
    (report["config"]["scenario"]["strategy"].clone(), command, found.stdout)
}

fn replays(report: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("report.json"), report).unwrap();
    let replayed = fencepost_in(folder.path(), &["replay", "report.json"]);
    assert_eq!(replayed.status, 1, "{}", replayed.stderr);
    assert!(replayed.stdout.contains("VIOLATED"), "{}", replayed.stdout);
}

#[test]
fn a_report_carries_its_strategy_and_replays() {
    let (strategy, command, report) = reported("36", &[]);
    assert_eq!(strategy, "aimed");
    assert!(command.ends_with(" --client setnx-expire"), "{command}");
    replays(&report);
}

#[test]
fn a_report_of_uniform_faults_is_silent_on_them_and_its_command_is_not() {
    let (strategy, command, report) = reported("201", &["--strategy", "uniform"]);
    assert!(strategy.is_null(), "{strategy}");
    assert!(command.ends_with(" --client setnx-expire --strategy uniform"), "{command}");
    replays(&report);
    let command: Vec<&str> = command.split(' ').skip(1).collect();
    let again = fencepost(&[&command[..], &["--format", "json", "--no-shrink"]].concat());
    assert_eq!(again.stdout, report);
}

#[test]
fn a_scenario_file_that_does_not_say_means_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let aimed = |file: &str, more: &[&str]| {
        std::fs::write(folder.path().join("s.toml"), file).unwrap();
        let common = ["--client", "single-node", "--fault", "pause", "--seed", "1", "--no-shrink"];
        let own = ["--scenario", "s.toml", "--format", "json"];
        let told = fencepost_in(folder.path(), &[&common[..], &own, more].concat());
        let report = told.json();
        report["config"]["scenario"]["strategy"] == "aimed"
    };
    assert!(aimed("cycles = 2\n", &[]));
    assert!(!aimed("cycles = 2\nstrategy = \"uniform\"\n", &[]));
    assert!(!aimed("cycles = 2\n", &["--set", "strategy=uniform"]));
    assert!(aimed("strategy = \"uniform\"\ncycles = 2\n", &["--strategy", "aimed"]));
}

#[test]
fn sweeps_of_different_strategies_do_not_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let shard = |number: &str, strategy: &str| {
        let common = ["sweep", "--seeds", "0..4", "--cycles", "2", "--quiet", "--no-shrink"];
        let own = ["--client", "single-node", "--fault", "pause", "--format", "json"];
        let more = ["--strategy", strategy, "--shard", number];
        let sum = fencepost(&[&common[..], &own, &more].concat()).stdout;
        let name = format!("{}-{strategy}.json", &number[..1]);
        std::fs::write(folder.path().join(&name), sum).unwrap();
        name
    };
    let [one, other, two] = [shard("1/2", "aimed"), shard("2/2", "uniform"), shard("2/2", "aimed")];
    let refused = fencepost_in(folder.path(), &["merge", &one, &other]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("strategy: aimed, not uniform"), "{}", refused.stderr);
    let sum = fencepost_in(folder.path(), &["merge", &one, &two, "--format", "json"]);
    assert_ne!(sum.status, 2, "{}", sum.stderr);
}
