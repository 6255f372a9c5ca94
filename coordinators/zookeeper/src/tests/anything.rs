//! Bytes that make no sense, in any pieces: the server never panics, and goes on serving others.

use super::client::Client;
use super::world::World;
use crate::config::{Config, Member};
use crate::connection::PEER_GREETING;
use crate::jute::Writer;
use crate::server::ZooKeeper;
use crate::store::Store;
use bytes::Bytes;
use fencepost_machine::{ConnectionId, DiskImage, Input, Machine, Now, Outputs};
use proptest::prelude::*;

const CASES: u32 = 256;

fn frame() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![-12..120_i32, any::<i32>()];
    let body = prop::collection::vec(prop_oneof![4 => 0..4_u8, 1 => any::<u8>()], 0..60);
    prop_oneof![
        3 => (number, body).prop_map(|(kind, body)| {
            let mut writer = Writer::frame();
            writer.int(1).int(kind).raw(&body);
            writer.framed().to_vec()
        }),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ]
}

/// What a client or a member begins with.
fn greeting() -> impl Strategy<Value = Vec<u8>> {
    let mut connect = Writer::frame();
    connect.int(0).long(0).int(4_000).long(0).buffer(Some(&[0; 16])).bool(false);
    let peer = [&PEER_GREETING[..], &[0, 0, 0, 2, 0, 2]].concat();
    prop_oneof![Just(connect.framed().to_vec()), Just(peer), Just(Vec::new())]
}

pub(super) fn feed(server: &mut ZooKeeper, connection: ConnectionId, bytes: &[u8]) {
    let mut out = Outputs::default();
    let now = Now::default();
    server.handle(Input::Received { connection, bytes }, now, &mut out);
    for _ in 0..1_000 {
        let syncs =
            out.list.iter().filter(|output| matches!(output, fencepost_machine::Output::DiskSync));
        let input = match (syncs.count(), out.more) {
            (1.., _) => Input::DiskSynced,
            (0, true) => Input::Continue,
            (0, false) => return,
        };
        out.clear();
        server.handle(input, now, &mut out);
    }
    panic!("the server never has enough");
}

fn server(members: u8) -> ZooKeeper {
    let member = |id| Member { id, host: id.to_string(), port: 1 };
    let config = Config { members: (1..=members).map(member).collect(), ..Config::default() };
    let mut server = ZooKeeper::new(config, &DiskImage::default(), Now::default());
    server.handle(Input::Timer, Now::default(), &mut Outputs::default());
    server
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) })]

    #[test]
    fn anything_in_any_pieces_is_survived(
        (members, greeting) in (prop::sample::select(vec![1_u8, 3]), greeting()),
        frames in prop::collection::vec(frame(), 0..6),
        piece in 1..50_usize,
    ) {
        let mut server = server(members);
        let connection = ConnectionId(0);
        let accepted = Input::Accepted { connection, peer: "a:1" };
        server.handle(accepted, Now::default(), &mut Outputs::default());
        let all = [greeting, frames.concat()].concat();
        all.chunks(piece).for_each(|bytes| feed(&mut server, connection, bytes));
    }

    #[test]
    fn a_disk_that_holds_anything_is_read(
        snapshot in prop::collection::vec(any::<u8>(), 0..80),
        log in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let (snapshot, append_only) = (Some(Bytes::from(snapshot)), log.into());
        Store::load(&DiskImage { snapshot, append_only, config: None });
    }
}

#[test]
fn who_sends_nonsense_does_not_disturb_others() {
    let mut world = World::new(3);
    let leader = world.settle(3);
    let mut client = Client::enter(&mut world, leader);
    let stranger = world.connect(leader);
    world.send(leader, stranger, &Bytes::from_static(b"GET / HTTP/1.1\r\n\r\n"));
    world.run(10);
    assert!(world.is_closed(stranger));
    assert_eq!(client.create(&mut world, "/still", 0), Some(0));
}
