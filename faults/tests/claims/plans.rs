//! Claims about every plan that is drawn.

use crate::settings::{independent, replicated, standalone};
use fencepost_faults::family::swarm;
use fencepost_faults::{
    Direction, FAMILIES, Families, Family, Fault, FaultKind, FaultPlan, Micros, Node,
    OperatorCommand, Seed, Setting, SimTime, Spans, TimedFault, Topology, generate,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The families that can stand beside others.
fn combined() -> Vec<Family> {
    let alone = |family: &Family| matches!(family, Family::None | Family::All);
    FAMILIES.iter().copied().filter(|family| !alone(family)).collect()
}

fn families(text: &str) -> Families {
    text.parse().expect("the name is in the table")
}

fn plan(seed: u64, names: &str, setting: &Setting) -> FaultPlan {
    generate(Seed(seed), &families(names), setting)
}

/// Any deployment, number of processes, lease and window, small ones included.
fn any_setting() -> impl Strategy<Value = Setting> {
    let shape = prop_oneof![Just(standalone()), Just(replicated()), Just(independent())];
    (shape, 0_u16..7, 1_u64..30_000_000, 0_u64..90_000_000, 0_u64..90_000_000).prop_map(
        |(shape, processes, ttl, begin, length)| {
            let mut setting = Setting::new(shape.topology, processes, Micros(ttl));
            setting.window.begin_us = SimTime(begin);
            setting.window.end_us = SimTime(begin + length);
            setting
        },
    )
}

/// One family, `all`, or two families together.
fn any_families() -> impl Strategy<Value = String> {
    let one = (0..FAMILIES.len()).prop_map(|place| FAMILIES[place].name().to_owned());
    let inner = 0..combined().len();
    let two = (inner.clone(), inner)
        .prop_map(|(a, b)| format!("{}+{}", combined()[a].name(), combined()[b].name()));
    prop_oneof![one, two]
}

/// What one family contributed does not depend on numbering.
fn contents(plan: &FaultPlan) -> Vec<(SimTime, Fault)> {
    plan.faults.iter().map(|timed| (timed.at_us, timed.fault.clone())).collect()
}

fn node_of(timed: &TimedFault) -> Node {
    timed.fault.nodes()[0]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_same_arguments_give_the_same_plan(seed: u64, names in any_families(), setting in any_setting()) {
        prop_assert_eq!(plan(seed, &names, &setting), plan(seed, &names, &setting));
    }

    #[test]
    fn every_plan_is_in_order_and_numbered_once(seed: u64, names in any_families(), setting in any_setting()) {
        let plan = plan(seed, &names, &setting);
        prop_assert_eq!(&FaultPlan::new(plan.faults.clone()), &plan);
        let ids: BTreeSet<u32> = plan.faults.iter().map(|timed| timed.id).collect();
        prop_assert_eq!(ids, (1..=plan.faults.len() as u32).collect());
    }

    #[test]
    fn no_plan_names_an_unknown_node_the_probe_or_nobody(seed: u64, names in any_families(), setting in any_setting()) {
        let plan = plan(seed, &names, &setting);
        prop_assert_eq!(plan.unknown_node(&setting.targets()), None);
        prop_assert!(plan.faults.iter().all(|timed| !timed.fault.links().is_empty()), "{}", plan);
    }

    #[test]
    fn every_fault_begins_within_the_window(seed: u64, names in any_families(), setting in any_setting()) {
        let window = setting.window.begin_us..=setting.window.end_us;
        for timed in plan(seed, &names, &setting).faults {
            prop_assert!(window.contains(&timed.at_us), "{} outside {:?}", timed, window);
        }
    }

    #[test]
    fn no_two_faults_hold_the_same_thing_at_once(seed: u64, names in any_families(), setting in any_setting()) {
        let plan = plan(seed, &names, &setting);
        prop_assert_eq!(plan.collision(), None, "{}", plan);
    }

    #[test]
    fn only_clients_stay_dead_and_at_least_two_live(seed: u64, names in any_families(), setting in any_setting()) {
        let plan = plan(seed, &names, &setting);
        let dead: BTreeSet<Node> = plan.faults.iter().filter(|timed| timed.ends_at().is_none()).map(node_of).collect();
        prop_assert!(dead.iter().all(|node| matches!(node, Node::Client(_))), "{}", plan);
        prop_assert!(dead.is_empty() || usize::from(setting.processes) >= dead.len() + 2, "{}", plan);
    }

    #[test]
    fn the_dead_are_not_killed_again(seed: u64, setting in any_setting()) {
        let mut dead = BTreeSet::new();
        for timed in plan(seed, "client-crash", &setting).faults {
            prop_assert!(!dead.contains(&node_of(&timed)));
            if timed.ends_at().is_none() {
                dead.insert(node_of(&timed));
            }
        }
    }

    #[test]
    fn a_plan_heals_when_its_last_fault_and_late_message_are_over(seed: u64, names in any_families(), setting in any_setting()) {
        let plan = plan(seed, &names, &setting);
        prop_assert!(plan.heals_at() >= plan.ends_at());
        let longest = plan.faults.iter().map(|t| t.fault.duration().unwrap_or_default() + t.fault.linger()).max();
        prop_assert!(plan.heals_at() <= setting.window.end_us + longest.unwrap_or_default());
    }

    #[test]
    fn no_two_clocks_drift_apart_faster_than_allowed(seed: u64, drift in 0_u32..=500_000, names in "clock-drift|all") {
        let mut setting = independent();
        setting.knobs.drift_ppm = drift;
        let plan = plan(seed, &names, &setting);
        let rate = |timed: &TimedFault| if let Fault::ClockDrift { rate_ppm, .. } = timed.fault { Some(i128::from(rate_ppm)) } else { None };
        let rates: Vec<i128> = plan.faults.iter().filter_map(rate).chain([0]).collect();
        let (slow, fast) = (rates.iter().min().unwrap(), rates.iter().max().unwrap());
        // (1 + fast) / (1 + slow) <= 1 + drift, in millionths and without division.
        prop_assert!((1_000_000 + fast) * 1_000_000 <= (1_000_000 + slow) * (1_000_000 + i128::from(drift)));
    }

    #[test]
    fn a_family_draws_the_same_beside_another(seed: u64, a in 0..combined().len(), b in 0..combined().len(), setting in any_setting()) {
        let (a, b) = (combined()[a].name(), combined()[b].name());
        let alone = [plan(seed, a, &setting), plan(seed, b, &setting)].map(|plan| contents(&plan));
        let together = contents(&plan(seed, &format!("{a}+{b}"), &setting));
        // Whatever stands in the combination was drawn by one of the two alone; what is missing
        // would have collided.
        prop_assert!(together.iter().all(|fault| alone.concat().contains(fault)));
        let numbered = |faults: &[(SimTime, Fault)]| {
            let timed = |(index, (at_us, fault)): (usize, &(SimTime, Fault))| {
                TimedFault { id: index as u32, at_us: *at_us, fault: fault.clone() }
            };
            FaultPlan::new(faults.iter().enumerate().map(timed).collect())
        };
        for missing in alone.concat().iter().filter(|fault| !together.contains(fault)) {
            prop_assert!(numbered(&[together.clone(), vec![missing.clone()]].concat()).collision().is_some());
        }
    }

    #[test]
    fn plans_survive_json(seed: u64, setting in any_setting()) {
        let plan = plan(seed, "all", &setting);
        let json = serde_json::to_string(&plan).unwrap();
        prop_assert_eq!(serde_json::from_str::<FaultPlan>(&json).unwrap(), plan);
    }
}

#[test]
fn none_is_an_empty_plan() {
    for seed in 0..100 {
        assert_eq!(plan(seed, "none", &replicated()), FaultPlan::default());
    }
}

#[test]
fn every_family_strikes_where_it_can() {
    for family in FAMILIES.iter().filter(|family| **family != Family::None) {
        for setting in [standalone(), replicated(), independent()] {
            let elsewhere = *family == Family::ReplicationLag && setting.sentinels().is_empty();
            let struck = (0..200)
                .filter(|&seed| !plan(seed, family.name(), &setting).faults.is_empty())
                .count();
            assert_eq!(
                struck,
                if elsewhere { 0 } else { 200 },
                "{} in {:?}",
                family.name(),
                setting.topology
            );
        }
    }
}

#[test]
fn pauses_often_outlast_the_lease() {
    let outlast = |family: &str| {
        let over = |timed: &TimedFault| timed.fault.duration() > Some(Micros::from_secs(10));
        (0..200).filter(|&seed| plan(seed, family, &independent()).faults.iter().any(over)).count()
    };
    assert!(outlast("pause") > 100, "{}", outlast("pause"));
    assert!(outlast("suspend") > 100, "{}", outlast("suspend"));
}

#[test]
fn a_paused_server_is_back_before_sentinel_gives_it_up() {
    for seed in 0..500 {
        for timed in plan(seed, "pause", &replicated()).faults {
            let server = matches!(node_of(&timed), Node::Redis(_));
            assert!(!server || timed.fault.duration() <= Some(Micros::from_millis(500)), "{timed}");
        }
    }
}

/// The crash of a lagged failover and the lag before it, or the isolation.
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
        // The lead of a second strike may begin earlier.
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

#[test]
fn a_link_that_flaps_is_cut_several_times_between_the_same_sides() {
    let plans: Vec<FaultPlan> =
        (0..100).map(|seed| plan(seed, "partition", &replicated())).collect();
    let sides = |timed: &TimedFault| match &timed.fault {
        Fault::Partition { side_a, side_b, .. } => (side_a.clone(), side_b.clone()),
        fault => panic!("{fault:?}"),
    };
    let flaps = |plan: &FaultPlan| {
        plan.faults.windows(3).any(|three| {
            sides(&three[0]) == sides(&three[1]) && sides(&three[1]) == sides(&three[2])
        })
    };
    let flapping = plans.iter().filter(|plan| flaps(plan)).count();
    assert!((20..80).contains(&flapping), "{flapping}");
}

#[test]
fn an_operator_types_every_command_where_there_are_others_to_follow_and_some_where_not() {
    let typed = |setting: &Setting| -> BTreeSet<OperatorCommand> {
        let plans = (0..200).map(|seed| plan(seed, "operator", setting));
        plans
            .flat_map(|plan| plan.faults)
            .map(|timed| match timed.fault {
                Fault::Operator { command, .. } => command,
                fault => panic!("{fault:?}"),
            })
            .collect()
    };
    assert!(typed(&replicated()).iter().eq(OperatorCommand::ALL));
    let alone = typed(&independent());
    assert!(!alone.contains(&OperatorCommand::ReplicaOf) && !alone.is_empty());
}

/// Which masters are away at which times.
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

#[test]
fn restarts_take_as_long_as_they_are_told() {
    let mut setting = independent();
    setting.knobs.restart_delay = Spans::millis(12_000, 15_000);
    for seed in 0..300 {
        for timed in plan(seed, "restart", &setting).faults {
            if let Fault::Crash { down_us, .. } | Fault::PowerLoss { down_us, .. } = timed.fault {
                assert!(
                    (Micros::from_secs(12)..=Micros::from_secs(15)).contains(&down_us.unwrap()),
                    "{timed}"
                );
            }
        }
        for timed in plan(seed, "restart", &independent()).faults {
            if let Fault::Crash { down_us, .. } | Fault::PowerLoss { down_us, .. } = timed.fault {
                assert_eq!(down_us, Some(Micros::ZERO));
            }
        }
    }
}

#[test]
fn restarts_lose_power_as_often_as_they_are_told() {
    let count = |per_mille: u16| {
        let mut setting = independent();
        setting.knobs.power_loss_per_mille = per_mille;
        let mut kinds: BTreeMap<FaultKind, u32> = BTreeMap::new();
        for timed in (0..200).flat_map(|seed| plan(seed, "restart", &setting).faults) {
            *kinds.entry(timed.fault.kind()).or_default() += 1;
        }
        kinds
    };
    assert!(!count(0).contains_key(&FaultKind::PowerLoss));
    assert!(!count(1_000).contains_key(&FaultKind::Crash));
    assert!(count(500)[&FaultKind::Crash].abs_diff(count(500)[&FaultKind::PowerLoss]) < 200);
}

#[test]
fn restarts_and_jumps_often_come_while_the_spare_masters_are_out_of_reach() {
    for (family, kinds) in [
        ("restart", [FaultKind::Crash, FaultKind::PowerLoss]),
        ("clock-jump", [FaultKind::ClockJump; 2]),
    ] {
        let shielded = |seed: &u64| {
            let plan = plan(*seed, family, &independent());
            plan.faults.iter().any(|cut| {
                let Fault::Partition { side_b, .. } = &cut.fault else { return false };
                side_b.len() == 2
                    && plan.faults.iter().any(|hit| {
                        kinds.contains(&hit.fault.kind())
                            && cut.at_us < hit.at_us
                            && Some(hit.at_us) < cut.ends_at()
                            && !side_b.contains(&node_of(hit))
                    })
            })
        };
        let count = (0..200).filter(shielded).count();
        assert!(count > 100, "{family}: {count}");
    }
}

#[test]
fn clocks_jump_mostly_forward_and_mostly_at_servers() {
    let faults: Vec<Fault> = (0..300)
        .flat_map(|seed| plan(seed, "clock-jump", &replicated()).faults)
        .map(|timed| timed.fault)
        .collect();
    let jumps: Vec<(Node, i64)> = faults
        .iter()
        .filter_map(|fault| {
            if let Fault::ClockJump { node, offset_us } = fault {
                Some((*node, *offset_us))
            } else {
                None
            }
        })
        .collect();
    let forward = jumps.iter().filter(|(_, offset)| *offset > 0).count();
    let servers = jumps.iter().filter(|(node, _)| matches!(node, Node::Redis(_))).count();
    assert!(
        forward * 10 > jumps.len() * 7 && forward < jumps.len(),
        "{forward} of {}",
        jumps.len()
    );
    assert!(
        servers * 10 > jumps.len() * 7 && servers < jumps.len(),
        "{servers} of {}",
        jumps.len()
    );
    assert!(
        jumps.iter().all(|(_, offset)| (2_000_000..=20_000_000).contains(&offset.unsigned_abs()))
    );
}

#[test]
fn a_storage_delay_leaves_the_other_clients_alone() {
    for timed in (0..200).flat_map(|seed| plan(seed, "storage-delay", &independent()).faults) {
        let Fault::Delay { from, to, .. } = &timed.fault else { panic!("{timed}") };
        assert_eq!((from.len(), to.as_slice()), (1, [Node::Storage].as_slice()));
    }
}

#[test]
fn latency_and_partition_leave_the_storage_alone() {
    let between =
        ["latency", "partition", "lost-reply", "lost-request", "replication-lag", "slow-server"];
    for family in between {
        for timed in (0..200).flat_map(|seed| plan(seed, family, &replicated()).faults) {
            assert!(!timed.fault.nodes().contains(&Node::Storage), "{family}: {timed}");
            assert!(
                timed.fault.nodes().iter().any(|node| matches!(node, Node::Redis(_))),
                "{family}: {timed}"
            );
        }
    }
}

#[test]
fn the_swarm_switches_every_family_on_about_half_of_the_time_and_never_all_off() {
    let mut on: BTreeMap<Family, u32> = BTreeMap::new();
    for seed in 0..2_000 {
        let swarmed = swarm(Seed(seed));
        assert!(!swarmed.is_empty());
        assert!(swarmed.iter().all(|swarmed| (250..=1_000).contains(&swarmed.hardness_per_mille)));
        swarmed.iter().for_each(|swarmed| *on.entry(swarmed.family).or_default() += 1);
    }
    let accidents: Vec<Family> =
        combined().into_iter().filter(|family| family.is_accident()).collect();
    assert!(!accidents.contains(&Family::Operator) && !accidents.contains(&Family::LostRequest));
    assert_eq!(on.keys().copied().collect::<Vec<_>>(), accidents);
    assert!(on.values().all(|count| (900..=1_100).contains(count)), "{on:?}");
}

#[test]
fn a_backward_clock_is_summed_over_the_plan() {
    let jump = |id, node, offset_us| TimedFault {
        id,
        at_us: SimTime(1),
        fault: Fault::ClockJump { node, offset_us },
    };
    let plan = FaultPlan::new(vec![
        jump(1, Node::Redis(1), -300),
        jump(2, Node::Redis(1), 900),
        jump(3, Node::Redis(1), -200),
        jump(4, Node::Redis(2), -400),
        jump(5, Node::Client(1), -9_000),
    ]);
    assert_eq!(plan.server_clock_back_max(), Micros(500));
}
