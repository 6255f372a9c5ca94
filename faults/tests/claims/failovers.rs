use crate::plans::{node_of, plan};
use crate::settings::{independent, replicated};
use fencepost_faults::{
    Direction, Fault, FaultKind, FaultPlan, Micros, Node, Setting, SimTime, TimedFault, Topology,
};
use std::collections::BTreeSet;

fn failover_bites(plan: &FaultPlan) -> (bool, bool) {
    let lag_of = |timed: &TimedFault| match &timed.fault {
        Fault::Delay { from, extra_us_max, .. } => {
            Some((from[0], timed.at_us, timed.ends_at()?, *extra_us_max))
        }
        _ => None,
    };
    let lags: Vec<_> = plan.faults.iter().filter_map(lag_of).collect();
    let lagged = plan.faults.iter().any(|timed| {
        matches!(timed.fault, Fault::Crash { .. } | Fault::PowerLoss { .. })
            && lags.iter().any(|(primary, from, to, lag)| {
                *primary == node_of(timed)
                    && *from + *lag <= timed.at_us
                    && timed.at_us < *to
                    && *lag >= Micros::from_millis(2_500)
            })
    });
    let isolated = plan.faults.iter().any(|timed| match &timed.fault {
        Fault::Partition { side_a, side_b, direction: Direction::Both, duration_us } => {
            matches!(side_a[..], [Node::Redis(_), Node::Client(_), ..])
                && side_b.iter().filter(|node| matches!(node, Node::Sentinel(_))).count() >= 2
                && !side_b.contains(&Node::Storage)
                && *duration_us >= Micros::from_secs(4 + 5)
        }
        _ => false,
    });
    (lagged, isolated)
}

#[test]
fn failovers_lose_writes_or_split_the_brain() {
    let bites: Vec<_> =
        (0..200).map(|seed| failover_bites(&plan(seed, "failover", &replicated()))).collect();
    let (lagged, isolated) =
        (bites.iter().filter(|b| b.0).count(), bites.iter().filter(|b| b.1).count());
    assert!(lagged > 80 && isolated > 60, "{lagged} lagged, {isolated} isolated");
}

#[test]
fn an_operator_promotes_the_standby_once_its_primary_is_dead_or_cut_off() {
    let plans = |stopped_per_mille| {
        let setting =
            Setting::new(Topology::Standby { stopped_per_mille }, 3, Micros::from_secs(10));
        (0..200).map(move |seed| plan(seed, "failover", &setting)).collect::<Vec<_>>()
    };
    let stops = |timed: &TimedFault| match timed.fault {
        Fault::Crash { node, down_us: None } | Fault::PowerLoss { node, down_us: None } => {
            node == Node::Server(1)
        }
        _ => false,
    };
    for (stopped_per_mille, expected) in [(0, 0..1), (500, 60..140), (1_000, 200..201)] {
        let plans = plans(stopped_per_mille);
        for plan in &plans {
            let kind = |timed: &TimedFault| timed.fault.kind();
            let promoted = plan.faults.iter().position(|one| kind(one) == FaultKind::Promote);
            let promoted = promoted.expect("somebody takes over");
            let gone = |kind| {
                matches!(kind, FaultKind::Crash | FaultKind::PowerLoss | FaultKind::Partition)
            };
            assert!(plan.faults[..promoted].iter().any(|one| gone(kind(one))), "{plan}");
            assert_eq!(promoted, plan.faults.len() - 1, "{plan}");
        }
        let stopped = plans.iter().filter(|plan| plan.faults.iter().any(stops)).count();
        assert!(expected.contains(&stopped), "{stopped} of {stopped_per_mille}");
    }
}

#[test]
fn the_first_failover_hits_the_first_primary() {
    for seed in 0..200 {
        let plan = plan(seed, "failover", &replicated());
        let strikes = plan.faults.iter().filter(|timed| timed.fault.kind() != FaultKind::Delay);
        let at_servers = strikes.map(node_of).find(|node| node.is_server());
        assert_eq!(at_servers, Some(Node::Redis(1)), "{plan}");
    }
}

#[test]
fn a_primary_that_is_frozen_goes_on_after_another_has_taken_over() {
    let plans = (0..200).map(|seed| plan(seed, "failover", &replicated()));
    let frozen: Vec<Micros> = plans
        .flat_map(|plan| plan.faults)
        .filter_map(|timed| match timed.fault {
            Fault::Pause { node: Node::Redis(_), duration_us } => Some(duration_us),
            _ => None,
        })
        .collect();
    assert!((20..120).contains(&frozen.len()), "{}", frozen.len());
    let takeover = Micros::from_secs(4);
    assert!(frozen.iter().all(|lasts| *lasts > takeover), "{frozen:?}");
}

#[test]
fn one_sentinel_at_a_time_is_disturbed_around_a_failover() {
    let plans: Vec<FaultPlan> =
        (0..200).map(|seed| plan(seed, "failover", &replicated())).collect();
    let at_sentinels = |plan: &FaultPlan| {
        let nodes = plan.faults.iter().flat_map(|timed| match timed.fault {
            Fault::Partition { .. } => Vec::new(),
            _ => timed.fault.nodes(),
        });
        nodes.filter(|node| matches!(node, Node::Sentinel(_))).count()
    };
    assert!(plans.iter().any(|plan| at_sentinels(plan) == 1));
    let strikes = |plan: &FaultPlan| {
        plan.faults
            .iter()
            .filter(|timed| timed.fault.nodes().iter().any(|node| node.is_server()))
            .count()
    };
    assert!(plans.iter().all(|plan| at_sentinels(plan) <= strikes(plan)));
}

fn absences(plan: &FaultPlan) -> Vec<(SimTime, SimTime, Vec<Node>)> {
    let absence = |timed: &TimedFault| match &timed.fault {
        Fault::Partition { side_a, .. } => Some((timed.at_us, timed.ends_at()?, side_a.clone())),
        Fault::Crash { node, .. } | Fault::PowerLoss { node, .. } => {
            Some((timed.at_us, timed.ends_at()?, vec![*node]))
        }
        _ => None,
    };
    plan.faults.iter().filter_map(absence).collect()
}

#[test]
fn a_failover_of_independent_masters_always_leaves_a_quorum_and_outlasts_the_lease() {
    for seed in 0..500 {
        let absences = absences(&plan(seed, "failover", &independent()));
        for (from, to, _) in &absences {
            let away: BTreeSet<Node> = absences
                .iter()
                .filter(|(a, b, _)| a <= from && from <= b)
                .flat_map(|(_, _, nodes)| nodes.clone())
                .collect();
            assert!(away.len() <= 2, "seed {seed}: {away:?}");
            assert!(to.since(*from) >= Micros::from_secs(12), "seed {seed}");
        }
    }
}
