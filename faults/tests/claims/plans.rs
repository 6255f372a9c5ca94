use crate::settings::{independent, replicated, standalone};
use fencepost_faults::{
    FAMILIES, Families, Family, Fault, FaultPlan, Micros, Node, Seed, Setting, SimTime, TimedFault,
    generate,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

pub(crate) fn combined() -> Vec<Family> {
    let alone = |family: &Family| matches!(family, Family::None | Family::All);
    FAMILIES.iter().copied().filter(|family| !alone(family)).collect()
}

fn families(text: &str) -> Families {
    text.parse().expect("the name is in the table")
}

pub(crate) fn plan(seed: u64, names: &str, setting: &Setting) -> FaultPlan {
    generate(Seed(seed), &families(names), setting)
}

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

fn any_families() -> impl Strategy<Value = String> {
    let one = (0..FAMILIES.len()).prop_map(|place| FAMILIES[place].name().to_owned());
    let inner = 0..combined().len();
    let two = (inner.clone(), inner)
        .prop_map(|(a, b)| format!("{}+{}", combined()[a].name(), combined()[b].name()));
    prop_oneof![one, two]
}

fn contents(plan: &FaultPlan) -> Vec<(SimTime, Fault)> {
    plan.faults.iter().map(|timed| (timed.at_us, timed.fault.clone())).collect()
}

pub(crate) fn node_of(timed: &TimedFault) -> Node {
    timed.fault.nodes()[0]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_same_arguments_give_the_same_plan(
        seed: u64,
        names in any_families(),
        setting in any_setting(),
    ) {
        prop_assert_eq!(plan(seed, &names, &setting), plan(seed, &names, &setting));
    }

    #[test]
    fn every_plan_is_in_order_and_numbered_once(
        seed: u64,
        names in any_families(),
        setting in any_setting(),
    ) {
        let plan = plan(seed, &names, &setting);
        prop_assert_eq!(&FaultPlan::new(plan.faults.clone()), &plan);
        let ids: BTreeSet<u32> = plan.faults.iter().map(|timed| timed.id).collect();
        prop_assert_eq!(ids, (1..=plan.faults.len() as u32).collect());
    }

    #[test]
    fn no_plan_names_an_unknown_node_the_probe_or_nobody(
        seed: u64,
        names in any_families(),
        setting in any_setting(),
    ) {
        let plan = plan(seed, &names, &setting);
        prop_assert_eq!(plan.unknown_node(&setting.targets()), None);
        prop_assert!(plan.faults.iter().all(|timed| !timed.fault.links().is_empty()), "{}", plan);
    }

    #[test]
    fn every_fault_begins_within_the_window(
        seed: u64,
        names in any_families(),
        setting in any_setting(),
    ) {
        let window = setting.window.begin_us..=setting.window.end_us;
        for timed in plan(seed, &names, &setting).faults {
            prop_assert!(window.contains(&timed.at_us), "{} outside {:?}", timed, window);
        }
    }

    #[test]
    fn no_two_faults_hold_the_same_thing_at_once(
        seed: u64,
        names in any_families(),
        setting in any_setting(),
    ) {
        let plan = plan(seed, &names, &setting);
        prop_assert_eq!(plan.collision(), None, "{}", plan);
    }

    #[test]
    fn only_clients_stay_dead_and_at_least_two_live_or_one_of_two(
        seed: u64,
        names in any_families(),
        setting in any_setting(),
    ) {
        let plan = plan(seed, &names, &setting);
        let for_good = plan.faults.iter().filter(|timed| timed.ends_at().is_none());
        let dead: BTreeSet<Node> = for_good.map(node_of).collect();
        prop_assert!(dead.iter().all(|node| matches!(node, Node::Client(_))), "{}", plan);
        let processes = usize::from(setting.processes);
        let survivors = if processes <= 2 { 1 } else { 2 };
        prop_assert!(dead.is_empty() || processes >= dead.len() + survivors, "{}", plan);
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
    fn a_plan_heals_when_its_last_fault_and_late_message_are_over(
        seed: u64,
        names in any_families(),
        setting in any_setting(),
    ) {
        let plan = plan(seed, &names, &setting);
        prop_assert!(plan.heals_at() >= plan.ends_at());
        let lasts = |t: &TimedFault| t.fault.duration().unwrap_or_default() + t.fault.linger();
        let longest = plan.faults.iter().map(lasts).max();
        prop_assert!(plan.heals_at() <= setting.window.end_us + longest.unwrap_or_default());
    }

    #[test]
    fn no_two_clocks_drift_apart_faster_than_allowed(
        seed: u64,
        drift in 0_u32..=500_000,
        names in "clock-drift|all",
    ) {
        let mut setting = independent();
        setting.knobs.drift_ppm = drift;
        let plan = plan(seed, &names, &setting);
        let rate = |timed: &TimedFault| match timed.fault {
            Fault::ClockDrift { rate_ppm, .. } => Some(i128::from(rate_ppm)),
            _ => None,
        };
        let rates: Vec<i128> = plan.faults.iter().filter_map(rate).chain([0]).collect();
        let (slow, fast) = (rates.iter().min().unwrap(), rates.iter().max().unwrap());
        // Requires (1 + fast) / (1 + slow) <= 1 + drift, in millionths.
        let allowed = (1_000_000 + slow) * (1_000_000 + i128::from(drift));
        prop_assert!((1_000_000 + fast) * 1_000_000 <= allowed);
    }

    #[test]
    fn a_family_draws_the_same_beside_another(
        seed: u64,
        a in 0..combined().len(),
        b in 0..combined().len(),
        setting in any_setting(),
    ) {
        let (a, b) = (combined()[a].name(), combined()[b].name());
        let alone = [plan(seed, a, &setting), plan(seed, b, &setting)].map(|plan| contents(&plan));
        let together = contents(&plan(seed, &format!("{a}+{b}"), &setting));
        prop_assert!(together.iter().all(|fault| alone.concat().contains(fault)));
        let numbered = |faults: &[(SimTime, Fault)]| {
            let timed = |(index, (at_us, fault)): (usize, &(SimTime, Fault))| {
                TimedFault { id: index as u32, at_us: *at_us, fault: fault.clone() }
            };
            FaultPlan::new(faults.iter().enumerate().map(timed).collect())
        };
        for missing in alone.concat().iter().filter(|fault| !together.contains(fault)) {
            let with_it = numbered(&[together.clone(), vec![missing.clone()]].concat());
            prop_assert!(with_it.collision().is_some());
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
