use super::*;

fn load(processes: u16, requests: u32) -> Load {
    Load {
        client: fencepost_clients::find("single-node").unwrap(),
        seed: Seed(0),
        processes,
        requests,
        service_time: Span(Micros(98)),
        latency: SpanRange::new(Span(Micros(50)), Span(Micros(50))),
        work: Span::default(),
        holder_commands: 1,
        patience: Span::secs(60),
    }
}

fn case(load: &Load, waiting: &str) -> LoadCase {
    load.case(waiting.parse().unwrap()).unwrap()
}

#[test]
fn alone_everything_takes_a_round_trip_and_the_service() {
    let alone = case(&load(1, 50), "none");
    assert_eq!((alone.served, alone.given_up, alone.latency_us.release.unwrap().p50), (50, 0, 190));
}

#[test]
fn without_a_pause_a_release_queues_behind_every_waiter() {
    let (alone, crowd) = (case(&load(1, 50), "none"), case(&load(100, 200), "none"));
    let (short, long) =
        (alone.latency_us.release.unwrap().p50, crowd.latency_us.release.unwrap().p50);
    // The article in docs/load.md measured 9.8 ms and 0.2 ms, a ratio of about 49.
    assert!(long > 40 * short && long < 60 * short, "{short} {long}");
    assert!(crowd.busy > 0.95 && crowd.served == 200, "{crowd:?}");
}

#[test]
fn a_pause_halves_the_load_and_shortens_releases() {
    let (busy, calm) = (case(&load(100, 200), "none"), case(&load(100, 200), "fixed:20ms"));
    assert!(calm.commands_per_second < 0.7 * busy.commands_per_second, "{calm:?}");
    assert!(calm.latency_us.release.unwrap().p50 * 2 < busy.latency_us.release.unwrap().p50);
}

#[test]
fn the_commands_over_time_are_all_commands_and_the_same_every_time() {
    let one = case(&load(20, 60), "random:1ms..5ms");
    assert_eq!(one.commands_over_time.iter().sum::<u64>(), one.commands);
    assert_eq!(one, case(&load(20, 60), "random:1ms..5ms"));
}

#[test]
fn who_waits_too_long_gives_up() {
    let impatient = Load { patience: Span::millis(5), ..load(50, 100) };
    let case = case(&impatient, "fixed:1ms");
    assert!(case.given_up > 0 && case.served + case.given_up == 100, "{case:?}");
}

fn own(client: &str) -> LoadCase {
    let client = fencepost_clients::find(client).unwrap();
    case(&Load { client, ..load(40, 120) }, "own")
}

#[test]
fn a_herd_costs_a_message_for_everybody_who_waits_and_a_queue_does_not() {
    let (herd, queue) = (own("zookeeper-herd"), own("curator-mutex"));
    assert_eq!((herd.served, queue.served), (120, 120));
    assert!(herd.messages_per_request > 40.0, "{herd:?}");
    assert!(queue.messages_per_request < 25.0, "{queue:?}");
}

#[test]
fn every_coordinator_serves_every_request() {
    for client in ["single-node", "memcached-cas", "curator-mutex", "kazoo-lock"] {
        let case = own(client);
        assert_eq!((case.served, case.given_up), (120, 0), "{client}");
        assert!(case.messages >= 2 * case.commands, "{client}: {case:?}");
    }
}
