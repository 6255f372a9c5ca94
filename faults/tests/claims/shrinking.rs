use crate::settings::{independent, replicated};
use fencepost_faults::{
    Boundary, Fault, FaultKind, FaultPlan, Magnitude, Micros, Node, Seed, ShrunkPlan, SimTime,
    TimedFault, generate, shrink,
};
use proptest::prelude::*;
use serde_json::Value;

fn at(id: u32, at_us: u64, fault: Fault) -> TimedFault {
    TimedFault { id, at_us: SimTime(at_us), fault }
}

fn pause(node: u16, duration_us: u64) -> Fault {
    Fault::Pause { node: Node::Client(node), duration_us: Micros(duration_us) }
}

fn paused(plan: &FaultPlan, client: u16) -> u64 {
    let of = |timed: &TimedFault| match timed.fault {
        Fault::Pause { node, duration_us } if node == Node::Client(client) => {
            duration_us.as_micros()
        }
        _ => 0,
    };
    plan.faults.iter().map(of).max().unwrap_or(0)
}

fn one_step_less(fault: &Fault) -> Vec<Fault> {
    let json = serde_json::to_value(fault).expect("faults are JSON");
    let fields = [
        "duration_us", "down_us", "extra_us_max", "extra_us_min", "extra_us", "rate_ppm",
        "offset_us",
    ];
    let less = |field: &str| {
        let value = json.get(field)?.as_i64()?;
        let step = if field == "rate_ppm" { 1 } else { 1_000 };
        let mut less = json.clone();
        less[field] = (value - value.signum() * step).into();
        if field == "extra_us_max" {
            less["extra_us_min"] = less["extra_us_min"].as_i64()?.min(value - step).into();
        }
        (value.abs() >= step).then(|| serde_json::from_value(less).expect("faults are JSON"))
    };
    fields.into_iter().filter_map(less).collect()
}

fn neighbours(plan: &FaultPlan) -> Vec<FaultPlan> {
    let mut neighbours = Vec::new();
    for index in 0..plan.faults.len() {
        let mut fewer = plan.clone();
        fewer.faults.remove(index);
        neighbours.push(fewer);
        for fault in one_step_less(&plan.faults[index].fault) {
            let mut less = plan.clone();
            less.faults[index].fault = fault;
            neighbours.push(less);
        }
    }
    neighbours
}

fn is_part(less: &Value, more: &Value) -> bool {
    match (less, more) {
        (Value::Object(less), Value::Object(more)) => {
            less.len() == more.len() && less.iter().all(|(name, value)| is_part(value, &more[name]))
        }
        (Value::Array(less), Value::Array(more)) => {
            !less.is_empty() && less.iter().all(|node| more.contains(node))
        }
        (Value::Number(less), Value::Number(more)) => {
            let (less, more) =
                (less.as_i64().expect("numbers fit"), more.as_i64().expect("numbers fit"));
            (less == 0 || less.signum() == more.signum()) && less.abs() <= more.abs()
        }
        (less, more) => less == more,
    }
}

fn is_sub_plan(small: &FaultPlan, plan: &FaultPlan) -> bool {
    let json = |timed: &TimedFault| serde_json::to_value(&timed.fault).expect("faults are JSON");
    small.faults.iter().all(|less| {
        let more = plan.faults.iter().find(|more| more.id == less.id);
        more.is_some_and(|more| {
            is_part(&json(less), &json(more))
                && less.at_us.as_micros().abs_diff(more.at_us.as_micros()) < 1_000_000
        })
    })
}

fn check(plan: &FaultPlan, violates: impl Fn(&FaultPlan) -> bool) -> ShrunkPlan {
    let shrunk = shrink(plan, 20_000, &violates).expect("the plan violates");
    assert!(shrunk.complete, "{} calls", shrunk.calls);
    assert!(violates(&shrunk.plan), "{}", shrunk.plan);
    assert!(is_sub_plan(&shrunk.plan, plan), "{}\nof\n{plan}", shrunk.plan);
    for neighbour in neighbours(&shrunk.plan) {
        assert!(!violates(&neighbour), "{}\nis not minimal:\n{neighbour}", shrunk.plan);
    }
    shrunk
}

#[test]
fn a_plan_that_does_not_violate_is_not_shrunk() {
    let mut calls = 0;
    let plan = FaultPlan::new(vec![at(1, 5, pause(1, 10))]);
    let refused = shrink(&plan, 100, |_| {
        calls += 1;
        false
    });
    assert_eq!((refused, calls), (None, 1));
}

#[test]
fn a_violation_without_any_fault_needs_none() {
    let plan = generate(Seed(1), &"all".parse().unwrap(), &replicated());
    let shrunk = check(&plan, |_| true);
    assert_eq!((shrunk.plan, shrunk.boundaries, shrunk.calls), (FaultPlan::default(), vec![], 2));
}

#[test]
fn the_boundary_of_a_pause_is_found_to_the_millisecond() {
    let faults = vec![at(1, 3_000_000, pause(2, 900_000)), at(2, 12_345_678, pause(1, 17_250_999))];
    let shrunk = check(&FaultPlan::new(faults), |plan| paused(plan, 1) > 9_998_200);
    assert_eq!(shrunk.plan.to_string(), "#2 at 12s: pause client-1 for 9.999s");
    let boundary = Boundary {
        fault: 2,
        magnitude: Magnitude::DurationUs,
        enough: 9_999_000,
        not_enough: Some(9_998_000),
    };
    assert_eq!(shrunk.boundaries, [boundary]);
    assert!(shrunk.calls < 40, "{}", shrunk.calls);
}

#[test]
fn faults_that_only_work_together_stay_together() {
    let plan = FaultPlan::new(
        (1..=12).map(|id| at(id, u64::from(id) * 1_000_000, pause(id as u16, 5_000_000))).collect(),
    );
    let shrunk = check(&plan, |plan| paused(plan, 3) >= 1_000_000 && paused(plan, 11) >= 2_000_000);
    assert_eq!(
        shrunk.plan.to_string(),
        "#3 at 3s: pause client-3 for 1s\n#11 at 11s: pause client-11 for 2s"
    );
}

#[test]
fn one_magnitude_that_frees_another_is_followed_up() {
    // Each pause's shortest violating length depends on the other's, so one round is not enough.
    let plan = FaultPlan::new(vec![
        at(1, 1_000_000, pause(1, 800_000)),
        at(2, 2_000_000, pause(2, 900_000)),
    ]);
    let shrunk = check(&plan, |plan| {
        let (first, second) = (paused(plan, 1), paused(plan, 2));
        first >= 50_000 && second >= first && (second <= 450_000 || first >= 400_000)
    });
    assert!(paused(&shrunk.plan, 2) <= 450_000, "{}", shrunk.plan);
}

#[test]
fn crashes_that_need_no_time_at_all_come_back_at_once_and_those_for_good_stay() {
    let crash = |node, down_us| Fault::Crash { node, down_us };
    let plan = FaultPlan::new(vec![
        at(1, 4_000_000, crash(Node::Redis(1), Some(Micros(3_700_000)))),
        at(2, 5_000_000, crash(Node::Client(1), None)),
    ]);
    let shrunk = check(&plan, |plan| plan.faults.len() == 2);
    assert_eq!(
        shrunk.plan.to_string(),
        "#1 at 4s: crash redis-1, back at once\n#2 at 5s: crash client-1, for good"
    );
    assert_eq!(shrunk.boundaries.len(), 1);
    assert_eq!(shrunk.boundaries[0].not_enough, None);
}

#[test]
fn clocks_are_minimised_towards_zero_from_either_side() {
    let plan = FaultPlan::new(vec![
        at(1, 1_000_000, Fault::ClockJump { node: Node::Redis(1), offset_us: -7_300_000 }),
        at(
            2,
            2_000_000,
            Fault::ClockDrift {
                node: Node::Client(1),
                rate_ppm: -15_000,
                duration_us: Micros(9_000_000),
            },
        ),
    ]);
    let shrunk = check(&plan, |plan| {
        let jump = |t: &TimedFault| matches!(t.fault, Fault::ClockJump { offset_us, .. } if offset_us <= -1_234_000);
        let slow = |t: &TimedFault| {
            matches!(t.fault, Fault::ClockDrift { rate_ppm, duration_us, .. }
                if -i64::from(rate_ppm) * duration_us.as_micros() as i64 >= 30_000_000_000)
        };
        plan.faults.iter().any(jump) && plan.faults.iter().any(slow)
    });
    assert_eq!(
        shrunk.plan.to_string(),
        "#1 at 1s: wall clock of redis-1 jumps by -1.234s\n#2 at 2s: clocks of client-1 run at \
         -15000 ppm for 2s"
    );
}

#[test]
fn sides_of_a_partition_keep_only_the_nodes_that_matter() {
    let plan = generate(Seed(7), &"failover".parse().unwrap(), &replicated());
    let isolates = |plan: &FaultPlan| {
        plan.faults.iter().any(|timed| {
            timed.fault.links().contains(&(Node::Redis(1), Node::Redis(3)))
                && timed.fault.kind() != FaultKind::Crash
        })
    };
    assert!(isolates(&plan), "{plan}");
    let shrunk = check(&plan, isolates);
    assert_eq!(shrunk.plan.faults[0].fault.nodes(), [Node::Redis(1), Node::Redis(3)]);
}

#[test]
fn a_start_is_as_round_as_the_violation_lets_it_be() {
    let plan = FaultPlan::new(vec![at(1, 12_345_678, pause(1, 1_000))]);
    let starts = |from: u64, to: u64| {
        let violates = move |plan: &FaultPlan| {
            plan.faults.iter().any(|timed| (from..=to).contains(&timed.at_us.as_micros()))
        };
        check(&plan, violates).plan.faults[0].at_us.to_string()
    };
    assert_eq!(starts(0, 99_000_000), "12s");
    assert_eq!(starts(12_100_000, 13_500_000), "13s");
    assert_eq!(starts(12_340_000, 12_500_000), "12.400s");
    assert_eq!(starts(12_345_000, 12_346_500), "12.346s");
    assert_eq!(starts(12_345_100, 12_345_900), "12.345678s");
}

#[test]
fn rounding_never_moves_a_fault_into_another_of_its_kind() {
    // The whole second nearest to the second start is 1 s, where the first fault begins.
    let plan = FaultPlan::new(vec![
        at(1, 1_000_000, pause(1, 400_000)),
        at(2, 1_490_000, pause(1, 700_000)),
    ]);
    let whole = plan.clone();
    let violates = move |plan: &FaultPlan| {
        let durations =
            |plan: &FaultPlan| plan.faults.iter().map(|t| t.fault.duration()).collect::<Vec<_>>();
        durations(plan) == durations(&whole)
    };
    let shrunk = check(&plan, violates);
    assert_eq!(shrunk.plan.collision(), None);
    assert_eq!(
        shrunk.plan.to_string(),
        "#1 at 1s: pause client-1 for 400ms\n#2 at 2s: pause client-1 for 700ms"
    );
}

#[test]
fn a_budget_that_is_too_small_still_gives_a_violating_plan_and_says_so() {
    let plan = generate(Seed(1), &"all".parse().unwrap(), &replicated());
    let violates = |plan: &FaultPlan| {
        paused(plan, 2) >= 200_000
            && plan.faults.iter().any(|t| t.fault.kind() == FaultKind::FlushAll)
    };
    assert!(violates(&plan), "{plan}");
    let mut sizes = Vec::new();
    for calls_max in [1, 2, 5, 10, 15, 20] {
        let mut calls = 0;
        let shrunk = shrink(&plan, calls_max, |plan| {
            calls += 1;
            violates(plan)
        })
        .unwrap();
        assert!(violates(&shrunk.plan));
        assert!(!shrunk.complete);
        assert_eq!((shrunk.calls, calls), (calls_max, calls_max));
        sizes.push(shrunk.plan.faults.len());
    }
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    assert!(check(&plan, violates).calls < 120);
}

#[test]
fn no_plan_is_asked_about_twice() {
    let plan = generate(Seed(5), &"all".parse().unwrap(), &independent());
    let mut asked: Vec<FaultPlan> = Vec::new();
    let shrunk = shrink(&plan, 10_000, |plan| {
        assert!(!asked.contains(plan), "{plan}");
        asked.push(plan.clone());
        plan.faults
            .iter()
            .map(|timed| timed.fault.duration().unwrap_or_default().as_millis())
            .sum::<u64>()
            > 20_000
    });
    assert_eq!(shrunk.map(|shrunk| shrunk.calls as usize), Some(asked.len()));
}

fn scatter(plan: &FaultPlan, salt: u64) -> u64 {
    let text = format!("{salt}{plan}");
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    }) >> 20
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn results_are_minimal_for_thresholds_on_any_two_faults(
        seed: u64,
        a: prop::sample::Index,
        b: prop::sample::Index,
        share in 1_u64..100,
    ) {
        let plan = generate(Seed(seed), &"all".parse().unwrap(), &replicated());
        let (a, b) = (a.get(&plan.faults).clone(), b.get(&plan.faults).clone());
        let part = |span: Option<Micros>| span.map(|span| Micros(span.as_micros() * share / 100));
        check(&plan, |plan| {
            let holds = |wanted: &TimedFault| {
                let least = part(wanted.fault.duration());
                let is_it = |t: &TimedFault| t.id == wanted.id && t.fault.duration() >= least;
                plan.faults.iter().any(is_it)
            };
            holds(&a) && holds(&b)
        });
    }

    #[test]
    fn results_are_minimal_for_predicates_that_are_not_monotone(
        seed: u64,
        salt: u64,
        odds in 2_u64..6,
    ) {
        let plan = generate(Seed(seed), &"all".parse().unwrap(), &independent());
        let whole = plan.clone();
        check(&plan, |plan| *plan == whole || scatter(plan, salt).is_multiple_of(odds));
    }

    #[test]
    fn shrinking_is_a_function_of_its_arguments(seed: u64, salt: u64, calls_max in 1_u32..200) {
        let plan = generate(Seed(seed), &"all".parse().unwrap(), &replicated());
        let fails =
            |other: &FaultPlan| *other == plan || scatter(other, salt).is_multiple_of(3);
        let once = || shrink(&plan, calls_max, fails);
        prop_assert_eq!(once(), once());
    }
}
