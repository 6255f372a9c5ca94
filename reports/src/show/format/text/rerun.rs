//! Describes the results of diagnostic runs, for the formats that people read.

use crate::explain::literature::Expected;
use crate::judge::finding::Kind;
use crate::record::listed::listed;
use crate::summary::report::{Boundary, ButFor, MinimalRun, OnThisPlan, Remedy, ViolationReport};
use crate::summary::sweep::Rate;
use fencepost_faults::shrink::Magnitude;
use fencepost_faults::{Micros, Node};
use std::collections::BTreeSet;

/// Names a safeguard, as in `lease 40s`, `watchdog` or `fencing (etcd-mutex-fencing)`.
pub(crate) fn safeguard(remedy: &Remedy) -> String {
    let (name, setting) = (&remedy.name, &remedy.setting);
    match setting.strip_prefix("client=") {
        Some(lock) if lock == name => name.clone(),
        Some(lock) => format!("{name} ({lock})"),
        None => format!("{name} {setting}"),
    }
}

pub(crate) fn on_this_plan(remedy: &Remedy) -> &'static str {
    match remedy.on_this_plan {
        OnThisPlan::Gone => "prevented",
        OnThisPlan::StillThere => "not prevented",
        OnThisPlan::NotComparable => "not comparable",
    }
}

pub(crate) fn nearby(remedy: &Remedy) -> String {
    let nearby = &remedy.nearby;
    match nearby.plans {
        0 => "no plans nearby".to_owned(),
        plans => {
            format!("{} of {plans} with it, {} without it", nearby.broken, nearby.broken_without)
        }
    }
}

pub(crate) fn other_seeds(remedy: &Remedy) -> String {
    if remedy.seeds == 0 {
        return "none run".to_owned();
    }
    format!(
        "{} with it, {} without it",
        share(remedy.broken_with, remedy.unknown_with, remedy.seeds),
        share(remedy.broken_without, remedy.unknown_without, remedy.seeds)
    )
}

/// Returns a count with the 95 % interval of its rate, as in `3 of 50 seeds (2-16 %)`.
pub(crate) fn share(broken: u64, unknown: u64, seeds: u64) -> String {
    let rate = Rate::of(broken, seeds);
    let unknown = match unknown {
        0 => String::new(),
        some => format!(", {some} unknown"),
    };
    let (low, high) = (percent(rate.low), percent(rate.high));
    format!("{broken} of {seeds} seeds ({low}-{high} %{unknown})")
}

fn percent(rate: f64) -> String {
    format!("{:.0}", rate * 100.0)
}

/// Names the processes that the violation involves in the minimal run. Returns `None` if they are
/// unknown or the same as in the original run.
pub(crate) fn others_involved(report: &ViolationReport) -> Option<String> {
    let set = |nodes: &[Node]| nodes.iter().copied().collect::<BTreeSet<Node>>();
    let there = &report.minimal_run.as_ref()?.involved;
    if there.is_empty() || set(there) == set(&report.violation.processes) {
        return None;
    }
    let name = |node: &Node| match node {
        Node::Probe => "the probe".to_owned(),
        node => node.to_string(),
    };
    let names: Vec<String> = set(there).iter().map(name).collect();
    Some(format!("In the minimal run, the violation involves {}", listed(&names, "and")))
}

/// Describes the violation in a run without these faults, as in `still happens`.
pub(crate) fn without(left_out: &ButFor) -> String {
    match (left_out.violation_without_it, left_out.other_cause) {
        (true, _) => "still happens".to_owned(),
        (false, Some(cause)) => format!("has another cause, {cause}"),
        (false, None) => "does not happen".to_owned(),
    }
}

pub(crate) fn size(run: &MinimalRun) -> String {
    let counted = |count: u64, one: &str, many: &str| {
        format!("{count} {}", if count == 1 { one } else { many })
    };
    let processes = counted(run.processes.into(), "process", "processes");
    let cycles = counted(run.cycles.into(), "cycle", "cycles");
    let size = match run.processes {
        // Such a run also has the probe, as its second process.
        1 => format!("{processes} with {cycles}, and the probe, which starts after all faults"),
        _ => format!("{processes} with {cycles} each"),
    };
    if run.complete {
        size
    } else {
        format!("{size}; the search stopped after {} runs", run.searched_runs)
    }
}

/// Returns the predicate for `not_enough`: `is not` (enough), or `is too much` if it is larger.
pub(crate) fn insufficient(boundary: &Boundary) -> String {
    let said = if is_less(boundary) { "is not" } else { "is too much" };
    let other = boundary
        .not_enough_cause
        .map_or(String::new(), |cause| format!(" (the violation then has another cause, {cause})"));
    format!("{said}{other}")
}

pub(crate) fn is_less(boundary: &Boundary) -> bool {
    boundary.not_enough.unsigned_abs() < boundary.enough.unsigned_abs()
}

pub(crate) fn magnitude(boundary: &Boundary) -> &'static str {
    let known: Result<Magnitude, _> = serde_json::from_value(boundary.quantity.clone().into());
    known.map_or("value", Magnitude::in_words)
}

pub(crate) fn amount(boundary: &Boundary, value: i64) -> String {
    match (boundary.quantity.as_str(), value < 0) {
        ("rate_ppm", _) => format!("{value} ppm"),
        (_, true) => format!("-{}", Micros(value.unsigned_abs())),
        (_, false) => Micros(value.unsigned_abs()).to_string(),
    }
}

pub(crate) fn known(expected: &Expected, kind: Kind) -> String {
    let (because, source) = (&expected.because, &expected.source);
    match expected.kinds.contains(&kind) {
        true => format!("{because} ({source})"),
        false if expected.is_safe() => {
            format!("{source}, does not predict {}: {because}", kind.name())
        }
        false => {
            let kinds: Vec<String> =
                expected.kinds.iter().map(|kind| kind.name().to_owned()).collect();
            let (kinds, other) = (listed(&kinds, "and"), kind.name());
            format!("{source}, predicts {kinds}, but not {other}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_a_sign_and_a_unit() {
        let boundary = |quantity: &str| Boundary {
            fault: 1,
            quantity: quantity.to_owned(),
            enough: 0,
            not_enough: 0,
            not_enough_cause: None,
            analytic: None,
        };
        assert_eq!(amount(&boundary("offset_us"), -1_500_000), "-1.5s");
        assert_eq!(amount(&boundary("duration_us"), 10_004_000), "10.004s");
        assert_eq!(amount(&boundary("rate_ppm"), -300), "-300 ppm");
    }

    #[test]
    fn other_processes_of_the_smallest_run_are_named() {
        let run = crate::samples::run(crate::samples::paused_holder());
        let mut report = run.violations[0].clone();
        report.minimal_run = Some(MinimalRun {
            processes: 3,
            cycles: 1,
            involved: Vec::new(),
            history_digest: "f00d".to_owned(),
            searched_runs: 40,
            complete: true,
        });
        let (first, second, third) = (Node::Client(1), Node::Client(2), Node::Client(3));
        report.violation.processes = vec![second, third];
        let mut told = |involved: &[Node]| {
            report.minimal_run.as_mut().unwrap().involved = involved.to_vec();
            others_involved(&report)
        };
        let text = "In the minimal run, the violation involves client-1 and client-3";
        assert_eq!(told(&[third, first]).as_deref(), Some(text));
        assert_eq!(told(&[third, second]), None, "the order does not matter");
        assert_eq!(told(&[]), None, "a report of an older version");
    }

    #[test]
    fn a_run_with_one_process_has_the_probe_as_its_second() {
        let run = |processes| MinimalRun {
            processes,
            cycles: 1,
            involved: Vec::new(),
            history_digest: String::new(),
            searched_runs: 9,
            complete: true,
        };
        assert_eq!(
            size(&run(1)),
            "1 process with 1 cycle, and the probe, which starts after all faults"
        );
        assert_eq!(size(&run(2)), "2 processes with 1 cycle each");
    }

    #[test]
    fn a_safeguard_that_is_another_lock_is_told_by_its_name_once() {
        let told =
            |name, setting| safeguard(&crate::samples::remedy(name, setting, OnThisPlan::Gone));
        assert_eq!(told("lease", "40s"), "lease 40s");
        assert_eq!(told("watchdog", "client=watchdog"), "watchdog");
        assert_eq!(told("fencing", "client=etcd-mutex-fencing"), "fencing (etcd-mutex-fencing)");
    }

    #[test]
    fn what_the_literature_does_not_expect_is_said_to_be_so() {
        let expected = |kinds| Expected {
            kinds,
            because: "so it is".to_owned(),
            source: "a paper".to_owned(),
        };
        assert_eq!(known(&expected(vec![Kind::Overlap]), Kind::Overlap), "so it is (a paper)");
        assert_eq!(
            known(&expected(vec![Kind::Overlap]), Kind::Stuck),
            "a paper, predicts overlap, but not stuck"
        );
        assert_eq!(
            known(&expected(vec![]), Kind::Stuck),
            "a paper, does not predict stuck: so it is"
        );
    }
}
