use fencepost_faults::{FAMILIES, Families, Family, Micros, Node, SimTime};
use proptest::prelude::*;

fn combined() -> Vec<Family> {
    let alone = |family: &Family| matches!(family, Family::None | Family::All);
    FAMILIES.iter().copied().filter(|family| !alone(family)).collect()
}

fn any_node() -> impl Strategy<Value = Node> {
    prop_oneof![
        (1..=u16::MAX).prop_map(Node::Redis),
        (1..=u16::MAX).prop_map(Node::Sentinel),
        (1..=u16::MAX).prop_map(Node::Client),
        (1..=u16::MAX, 2..=u16::MAX).prop_map(|(client, thread)| Node::Thread { client, thread }),
        Just(Node::Storage),
        Just(Node::Probe),
        (2..=u16::MAX).prop_map(|thread| Node::Probe.for_thread(thread)),
    ]
}

proptest! {
    #[test]
    fn a_node_is_read_as_it_is_written(node in any_node()) {
        prop_assert_eq!(node.to_string().parse::<Node>(), Ok(node));
        let json = serde_json::to_string(&node).unwrap();
        prop_assert_eq!(serde_json::from_str::<Node>(&json).unwrap(), node);
    }

    #[test]
    fn no_text_makes_the_parsers_panic(text in ".{0,20}") {
        let _ = text.parse::<Node>();
        let _ = text.parse::<Families>();
    }

    #[test]
    fn a_combination_is_read_as_it_is_written(
        places in prop::collection::vec(0..combined().len(), 1..5),
    ) {
        let names: Vec<_> = places.iter().map(|&place| combined()[place].name()).collect();
        let text = names.join("+");
        let families: Families = text.parse().unwrap();
        prop_assert_eq!(families.to_string().parse::<Families>().unwrap(), families.clone());
        let json = serde_json::to_string(&families).unwrap();
        prop_assert_eq!(serde_json::from_str::<Families>(&json).unwrap(), families);
    }
}

#[test]
fn a_name_that_is_no_nodes_is_refused() {
    let machines = [
        "", "redis", "redis-", "redis-0", "redis-65536", "redis-1-2", "Redis-1", "client--1",
        "storage-1",
    ];
    let threads = [
        "client-1.", "client-1.0", "client-1.1", "client-0.2", "client-1.2.3", "redis-1.2",
        "probe.1", ".2",
    ];
    for text in machines.into_iter().chain(threads) {
        let error = text.parse::<Node>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("unknown node '{text}': expected redis-N")), "{error}");
    }
}

#[test]
fn the_first_thread_of_a_process_is_its_machine() {
    let (machine, second) = (Node::Client(3), Node::Thread { client: 3, thread: 2 });
    assert_eq!(
        (machine.for_thread(1), machine.for_thread(2), second.for_thread(1)),
        (machine, second, machine)
    );
    assert_eq!((machine.machine(), second.machine()), (machine, machine));
    assert_eq!(
        (Node::Redis(1).for_thread(2), Node::Probe.for_thread(2).machine()),
        (Node::Redis(1), Node::Probe)
    );
}

#[test]
fn a_thread_stands_right_behind_its_process() {
    let text = [
        "redis-2", "sentinel-1", "storage", "client-1", "client-1.2", "client-1.10", "client-2",
        "probe", "probe.2",
    ];
    let nodes: Vec<Node> = text.iter().map(|name| name.parse().unwrap()).collect();
    assert!(nodes.is_sorted(), "{nodes:?}");
}

#[test]
fn spans_show_the_largest_unit_that_is_exact() {
    let shown = |us| Micros(us).to_string();
    assert_eq!(shown(0), "0us");
    assert_eq!(shown(250), "250us");
    assert_eq!(shown(12_000), "12ms");
    assert_eq!(shown(12_345), "12.345ms");
    assert_eq!(shown(10_000_000), "10s");
    assert_eq!(shown(74_900), "74.9ms");
    assert_eq!(shown(3_250_000), "3.25s");
    assert_eq!(shown(3_250_001), "3.250001s");
    assert_eq!(format!("[{:>6}]", SimTime(2_000_000)), "[    2s]");
    assert_eq!(SimTime(3_250_000).to_string(), "3.250s", "a column of instants is aligned");
}

#[test]
fn spans_and_instants_saturate() {
    assert_eq!(SimTime(5).since(SimTime(9)), Micros::ZERO);
    assert_eq!(SimTime::NEVER + Micros(1), SimTime::NEVER);
    assert_eq!(Micros(3) - Micros(5), Micros::ZERO);
}

#[test]
fn the_table_holds_the_families_of_the_command_line_in_their_places() {
    let names: Vec<&str> = FAMILIES.iter().map(|family| family.name()).collect();
    // This list may only grow at the end, because a family's index selects its random stream.
    let promised = [
        "none", "pause", "replication-lag", "failover", "clock-drift", "clock-jump", "restart",
        "partition", "lost-reply", "latency", "storage-delay", "suspend", "client-crash",
        "slow-server", "eviction", "all", "operator", "lost-request",
    ];
    assert_eq!(names, promised);
    assert!(FAMILIES.iter().all(|family| !family.about().is_empty()));
}

#[test]
fn gc_pause_is_pause_and_order_and_repetition_do_not_matter() {
    let families = |text: &str| text.parse::<Families>().unwrap();
    assert_eq!(families("gc-pause"), families("pause"));
    assert_eq!(families("failover+pause+gc-pause").to_string(), "pause+failover");
    assert!(families("none").is_none());
    assert!(!families("all").is_none());
}

#[test]
fn an_unknown_family_is_named_with_the_nearest_and_all_that_are_valid() {
    let error = |text: &str| text.parse::<Families>().unwrap_err().to_string();
    insta::assert_snapshot!(error("pause+failovr"));
    assert!(error("gcpause").contains("did you mean 'gc-pause'?"));
    assert!(error("partitions").contains("did you mean 'partition'?"));
    assert!(!error("earthquake").contains("did you mean"));
    assert!(error("").starts_with("unknown fault '': expected one of none, "));
    assert!(error("pause+").starts_with("unknown fault ''"));
}

#[test]
fn none_and_all_stand_alone() {
    let error = |text: &str| text.parse::<Families>().unwrap_err().to_string();
    assert_eq!(
        error("pause+all"),
        "fault 'all' in 'pause+all' cannot be combined: expected 'all' alone, or a \
         combination without 'all'"
    );
    assert!(error("none+pause").starts_with("fault 'none' in 'none+pause' cannot be combined"));
    assert!("all+all".parse::<Families>().is_ok());
}
