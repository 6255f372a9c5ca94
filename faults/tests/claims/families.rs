use crate::plans::{combined, node_of, plan};
use crate::settings::{independent, replicated, standalone};
use fencepost_faults::family::swarm;
use fencepost_faults::{
    CutOff, FAMILIES, FailoverBy, Family, Fault, FaultKind, FaultPlan, Micros, Node,
    OperatorCommand, Seed, Setting, Spans, TimedFault, Topology, Victims, incidents,
};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;

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
fn a_strike_hits_as_many_servers_as_the_setting_says() {
    for family in ["restart", "clock-jump", "eviction", "partition"] {
        let most = |setting: &Setting| {
            let servers = |fault: &Fault| {
                let named = fault.nodes().into_iter().filter(|node| node.is_server());
                named.collect::<BTreeSet<Node>>()
            };
            let struck = |seed| {
                let incidents = incidents(Seed(seed), &family.parse().unwrap(), setting);
                let hit = incidents.into_iter().map(|one| {
                    let faults = one.incident.faults.iter();
                    faults.flat_map(|(_, fault)| servers(fault)).collect::<BTreeSet<_>>().len()
                });
                hit.max().unwrap_or(0)
            };
            (0..100).map(struck).max().unwrap()
        };
        let mut setting = independent();
        assert!(most(&setting) > 1, "{family}");
        setting.knobs.struck_servers = NonZeroU16::new(1);
        assert_eq!(most(&setting), 1, "{family}");
    }
}

#[test]
fn a_partition_cuts_off_the_storage_only_if_the_setting_says_so() {
    let ends = |setting: &Setting| -> BTreeSet<bool> {
        let faults = (0..200).flat_map(|seed| plan(seed, "partition", setting).faults);
        faults.map(|timed| timed.fault.nodes().contains(&Node::Storage)).collect()
    };
    for mut setting in [standalone(), replicated(), independent()] {
        assert_eq!(ends(&setting), BTreeSet::from([false]));
        setting.knobs.cut_off = CutOff::Storage;
        assert_eq!(ends(&setting), BTreeSet::from([true]));
    }
}

#[test]
fn pauses_and_clock_steps_spare_processes_if_the_setting_says_so() {
    let hit = |family: &str, setting: &Setting| -> BTreeSet<bool> {
        let faults = (0..200).flat_map(|seed| plan(seed, family, setting).faults);
        let own = faults.filter(|timed| timed.fault.kind() != FaultKind::Partition);
        own.flat_map(|timed| timed.fault.nodes()).map(Node::is_process).collect()
    };
    for family in ["pause", "clock-jump"] {
        let mut setting = replicated();
        assert_eq!(hit(family, &setting), BTreeSet::from([false, true]), "{family}");
        setting.knobs.victims = Victims::Servers;
        assert_eq!(hit(family, &setting), BTreeSet::from([false]), "{family}");
    }
}

#[test]
fn of_two_processes_one_may_die_for_good_and_of_three_one() {
    let dead = |processes| {
        let setting = Setting { processes, ..standalone() };
        let of = |seed| {
            let faults = plan(seed, "client-crash", &setting).faults;
            let for_good = faults
                .iter()
                .filter(|timed| matches!(timed.fault, Fault::Crash { down_us: None, .. }));
            for_good.count()
        };
        (0..200).map(of).max().unwrap()
    };
    assert_eq!([1, 2, 3, 5].map(dead), [0, 1, 1, 3]);
}

#[test]
fn all_replicas_lag_unless_the_setting_says_how_many() {
    for family in ["replication-lag", "failover"] {
        let lagging = |setting: &Setting| -> BTreeSet<Vec<Node>> {
            let faults = (0..200).flat_map(|seed| plan(seed, family, setting).faults);
            let of = |timed: TimedFault| match timed.fault {
                Fault::Delay { to, .. } => Some(to),
                _ => None,
            };
            faults.filter_map(of).collect()
        };
        let mut setting = replicated();
        assert!(lagging(&setting).iter().all(|to| to.len() == 2), "{family}");
        setting.knobs.lagging_replicas = NonZeroU16::new(1);
        let one = lagging(&setting);
        assert!(one.iter().all(|to| to.len() == 1), "{family}: {one:?}");
        assert!(one.contains(&vec![Node::Redis(2)]) && one.contains(&vec![Node::Redis(3)]));
    }
}

#[test]
fn a_primary_is_lost_as_the_setting_says_and_any_way_unless_it_does() {
    let losses = |setting: &Setting, by: FailoverBy| -> BTreeSet<FailoverBy> {
        let mut setting = setting.clone();
        setting.knobs.failover_by = by;
        let faults = (0..200).flat_map(|seed| plan(seed, "failover", &setting).faults);
        let of = |timed: TimedFault| match timed.fault {
            Fault::PowerLoss { node, .. } | Fault::Crash { node, .. } if !is_sentinel(node) => {
                Some(FailoverBy::Crash)
            }
            Fault::Partition { .. } => Some(FailoverBy::Isolation),
            Fault::Pause { node, .. } if !is_sentinel(node) => Some(FailoverBy::Pause),
            _ => None,
        };
        faults.filter_map(of).collect()
    };
    let each = [FailoverBy::Crash, FailoverBy::Isolation, FailoverBy::Pause];
    assert!(losses(&replicated(), FailoverBy::Drawn).into_iter().eq(each));
    for by in each {
        assert!(losses(&replicated(), by).into_iter().eq([by]), "{by:?}");
    }
    let promoted = Setting { topology: Topology::Standby { stopped_per_mille: 0 }, ..replicated() };
    assert!(losses(&promoted, FailoverBy::Drawn).into_iter().eq(each[..2].iter().copied()));
    for by in &each[..2] {
        assert!(losses(&promoted, *by).into_iter().eq([*by]), "{by:?}");
    }
}

fn is_sentinel(node: Node) -> bool {
    matches!(node, Node::Sentinel(_))
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
fn a_flapping_link_is_never_cut_for_longer_than_the_setting_allows() {
    let mut setting = replicated();
    setting.knobs.partition = Spans::millis(10, 20);
    let longest = Some(Micros::from_millis(20));
    for seed in 0..100 {
        for timed in plan(seed, "partition", &setting).faults {
            assert!(timed.fault.duration() <= longest, "{timed}");
        }
    }
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
