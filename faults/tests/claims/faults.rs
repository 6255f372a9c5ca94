use fencepost_faults::{Direction, Fault, FaultPlan, Micros, Node, SimTime, TimedFault};

fn every_kind() -> Vec<Fault> {
    let (client, redis, duration_us) = (Node::Client(2), Node::Redis(1), Micros(1_500_000));
    let partition = |direction| Fault::Partition {
        side_a: vec![redis, client],
        side_b: vec![Node::Sentinel(3)],
        direction,
        duration_us,
    };
    vec![
        Fault::Pause { node: client, duration_us },
        Fault::Suspend { node: client, duration_us },
        Fault::Crash { node: redis, down_us: Some(Micros::ZERO) },
        Fault::Crash { node: client, down_us: None },
        Fault::PowerLoss { node: redis, down_us: Some(duration_us) },
        partition(Direction::Both),
        partition(Direction::AToB),
        Fault::Delay {
            from: vec![client],
            to: vec![Node::Storage],
            extra_us_min: Micros(250),
            extra_us_max: Micros(12_000),
            duration_us,
        },
        Fault::LostReply { server: redis, client, duration_us },
        Fault::LostRequest { server: redis, client, duration_us },
        Fault::ClockDrift { node: redis, rate_ppm: 15_000, duration_us },
        Fault::ClockJump { node: redis, offset_us: -2_000_000 },
        Fault::SlowServer { node: redis, extra_us: Micros(7_000), duration_us },
        Fault::Evict { node: redis },
        Fault::FlushAll { node: redis },
    ]
}

fn plan_of(faults: Vec<Fault>) -> FaultPlan {
    let timed = |(id, fault)| TimedFault { id, at_us: SimTime(3_000_000), fault };
    FaultPlan::new((1..).zip(faults).map(timed).collect())
}

#[test]
fn every_fault_reads_the_same_for_ever_to_people_and_machines() {
    let lines = every_kind().into_iter().map(|fault| {
        let json = serde_json::to_string(&fault).unwrap();
        assert_eq!(serde_json::from_str::<Fault>(&json).unwrap(), fault);
        assert!(json.contains(&format!("\"kind\":\"{}\"", fault.kind())));
        format!("{fault}\n    {json}")
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_plan_is_sorted_by_start_then_id_whatever_order_it_is_given_in() {
    let timed = |id, at| TimedFault {
        id,
        at_us: SimTime(at),
        fault: Fault::Evict { node: Node::Redis(1) },
    };
    let plan = FaultPlan::new(vec![timed(3, 5), timed(2, 9), timed(1, 9)]);
    assert_eq!(plan.faults.iter().map(|timed| timed.id).collect::<Vec<_>>(), [3, 1, 2]);
}

#[test]
fn an_unknown_node_is_named_with_its_fault() {
    let plan = plan_of(every_kind());
    let all = [Node::Client(2), Node::Redis(1), Node::Sentinel(3), Node::Storage];
    assert_eq!(plan.unknown_node(&all), None);
    assert_eq!(plan.unknown_node(&all[..2]), Some((6, Node::Sentinel(3))));
    assert_eq!(plan.unknown_node(&all[1..]), Some((1, Node::Client(2))));
}

#[test]
fn a_plan_ends_with_its_last_fault_and_heals_with_its_last_late_message() {
    let plan = plan_of(every_kind());
    assert_eq!(plan.ends_at(), SimTime(4_500_000));
    assert_eq!(plan.heals_at(), SimTime(4_512_000));
    assert_eq!(FaultPlan::default().heals_at(), SimTime::ZERO);
}

#[test]
fn a_client_that_is_dead_for_good_does_not_keep_a_plan_from_healing() {
    let plan = plan_of(vec![Fault::Crash { node: Node::Client(1), down_us: None }]);
    assert_eq!(plan.faults[0].ends_at(), None);
    assert_eq!(plan.heals_at(), SimTime(3_000_000));
}

#[test]
fn accepts_faults_that_touch_different_things_at_once() {
    let node = Node::Redis(1);
    let crash = Fault::Crash { node, down_us: Some(Micros(9)) };
    let other = Fault::Crash { node: Node::Redis(2), down_us: Some(Micros(9)) };
    let slow = Fault::SlowServer { node, extra_us: Micros(9), duration_us: Micros(9) };
    assert_eq!(plan_of(vec![crash, other, slow, Fault::Evict { node }]).collision(), None);
}

#[test]
fn rejects_faults_that_hold_the_same_thing_at_once() {
    let node = Node::Redis(1);
    let crash = Fault::Crash { node, down_us: Some(Micros(9)) };
    let power = Fault::PowerLoss { node, down_us: Some(Micros::ZERO) };
    let plan = plan_of(vec![crash, power]);
    assert_eq!(plan.collision().map(|(earlier, later)| (earlier.id, later.id)), Some((1, 2)));
}

#[test]
fn partitions_collide_only_where_they_cut_the_same_link_the_same_way() {
    let cut = |a, b| Fault::Partition {
        side_a: vec![a],
        side_b: vec![b],
        direction: Direction::AToB,
        duration_us: Micros(5),
    };
    let (one, two) = (Node::Redis(1), Node::Redis(2));
    assert_eq!(plan_of(vec![cut(one, two), cut(two, one)]).collision(), None);
    assert!(plan_of(vec![cut(one, two), cut(one, two)]).collision().is_some());
}
