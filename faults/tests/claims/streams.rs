use fencepost_faults::{Node, Seed, Stream};
use proptest::prelude::*;
use rand_core::Rng;
use std::collections::BTreeSet;

fn first(seed: u64, stream: Stream) -> u64 {
    Seed(seed).stream(stream).next_u64()
}

fn streams() -> Vec<Stream> {
    let nodes = [
        Node::Redis(1),
        Node::Redis(2),
        Node::Redis(u16::MAX),
        Node::Sentinel(1),
        Node::Storage,
        Node::Client(1),
        Node::Client(u16::MAX),
        Node::Probe,
    ];
    let threads = [(1, 2), (1, 3), (2, 2), (u16::MAX, u16::MAX)]
        .map(|(client, thread)| Node::Thread { client, thread });
    let mut streams = vec![Stream::Swarm, Stream::Lengths, Stream::Aim];
    streams.extend((0..32).map(Stream::Plan));
    for node in nodes {
        streams.extend([
            Stream::Workload(node),
            Stream::Jitter(node),
            Stream::Owner(node),
            Stream::Server(node),
        ]);
        streams.push(Stream::Clock(node));
        streams.extend(nodes.iter().map(|to| Stream::Latency(node, *to)));
    }
    streams.extend(
        threads.into_iter().flat_map(|node| [Stream::Workload(node), Stream::Jitter(node)]),
    );
    streams
}

#[test]
fn no_two_consumers_share_a_stream() {
    let firsts: BTreeSet<u64> = streams().into_iter().map(|stream| first(7, stream)).collect();
    assert_eq!(firsts.len(), streams().len());
}

#[test]
fn the_streams_of_a_seed_mean_the_same_for_ever() {
    let drawn = [Stream::Plan(1), Stream::Swarm, Stream::Latency(Node::Client(1), Node::Redis(2))];
    insta::assert_snapshot!(drawn.map(|stream| format!("{:016x}", first(7, stream))).join(" "));
}

proptest! {
    #[test]
    fn another_seed_is_another_stream(a: u64, b: u64) {
        prop_assume!(a != b);
        prop_assert_ne!(first(a, Stream::Swarm), first(b, Stream::Swarm));
    }

    #[test]
    fn what_one_stream_draws_leaves_the_others_alone(seed: u64, draws in 0..50) {
        let mut busy = Seed(seed).stream(Stream::Jitter(Node::Client(1)));
        (0..draws).for_each(|_| { busy.next_u64(); });
        let other = Stream::Jitter(Node::Client(2));
        prop_assert_eq!(Seed(seed).stream(other).next_u64(), first(seed, other));
    }

    #[test]
    fn seeds_survive_json_as_decimal_strings(seed: u64) {
        let text = serde_json::to_string(&Seed(seed)).unwrap();
        prop_assert_eq!(&text, &format!("\"{seed}\""));
        prop_assert_eq!(serde_json::from_str::<Seed>(&text).unwrap(), Seed(seed));
    }
}

#[test]
fn a_seed_that_is_a_json_number_or_no_number_is_refused() {
    assert!(serde_json::from_str::<Seed>("7").is_err());
    let error = serde_json::from_str::<Seed>("\"seven\"").unwrap_err().to_string();
    assert!(error.contains("seed 'seven': expected a decimal number from 0 to 2^64-1"), "{error}");
    assert!(serde_json::from_str::<Seed>("\"18446744073709551616\"").is_err());
}
