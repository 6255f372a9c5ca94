use super::client::Client;
use super::world::World;
use crate::config::Config;
use crate::jute::Writer;
use crate::member::links::greeting as greeting_of;
use crate::server::ZooKeeper;
use crate::store::{Epochs, Store};
use bytes::Bytes;
use fencepost_machine::{ConnectionId, DiskImage, Input, Machine, Now, Output, Outputs, journal};
use fencepost_testing::disks;
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

fn greeting() -> impl Strategy<Value = Vec<u8>> {
    let peer = greeting_of(2).to_vec();
    prop_oneof![Just(connect()), Just(peer), Just(Vec::new())]
}

pub(super) fn feed(
    server: &mut ZooKeeper,
    connection: ConnectionId,
    bytes: &[u8],
) -> (Vec<u8>, bool) {
    let (mut out, mut said, mut is_over) = (Outputs::default(), Vec::new(), false);
    let now = Now::default();
    server.handle(Input::Received { connection, bytes }, now, &mut out);
    for _ in 0..1_000 {
        let mut input = out.more.then_some(Input::Continue);
        for output in out.list.drain(..) {
            match output {
                Output::DiskSync => input = Some(Input::DiskSynced),
                Output::Send { connection: to, bytes } if to == connection => said.extend(bytes),
                Output::Close { connection: of } if of == connection => is_over = true,
                _ => {}
            }
        }
        let Some(input) = input else { return (said, is_over) };
        out.clear();
        server.handle(input, now, &mut out);
    }
    panic!("the server never has enough");
}

fn answers<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> (Vec<u8>, bool) {
    let (mut server, connection, mut all) = (server(1), ConnectionId(0), Vec::new());
    let accepted = Input::Accepted { connection, peer: "a:1" };
    server.handle(accepted, Now::default(), &mut Outputs::default());
    for bytes in pieces {
        let (said, is_over) = feed(&mut server, connection, bytes);
        all.extend(said);
        if is_over {
            return (all, true);
        }
    }
    (all, false)
}

fn connect() -> Vec<u8> {
    let mut connect = Writer::frame();
    connect.int(0).long(0).int(4_000).long(0).buffer(Some(&[0; 16])).bool(false);
    connect.framed().to_vec()
}

fn server(members: usize) -> ZooKeeper {
    let members = fencepost_testing::members(members, 1, 1);
    let config = Config { members, ..Config::default() };
    let mut server = ZooKeeper::new(config, &DiskImage::default(), Now::default());
    server.handle(Input::Timer, Now::default(), &mut Outputs::default());
    server
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(CASES)
    })]

    #[test]
    fn anything_in_any_pieces_is_survived(
        (members, greeting) in (prop::sample::select(vec![1_usize, 3]), greeting()),
        frames in prop::collection::vec(frame(), 0..6),
        piece in 1..50_usize,
    ) {
        let mut server = server(members);
        let connection = ConnectionId(0);
        let accepted = Input::Accepted { connection, peer: "a:1" };
        server.handle(accepted, Now::default(), &mut Outputs::default());
        let all = [greeting, frames.concat()].concat();
        for bytes in all.chunks(piece) {
            feed(&mut server, connection, bytes);
        }
    }

    #[test]
    fn bytes_in_pieces_are_answered_as_the_same_bytes_at_once(
        frames in prop::collection::vec(frame(), 0..6),
        piece in 1..50_usize,
    ) {
        let all = [connect(), frames.concat()].concat();
        prop_assert_eq!(answers([&all[..]]), answers(all.chunks(piece)));
    }

    #[test]
    fn a_frame_that_is_cut_short_is_waited_for(kind in -12..120_i32, left in 1..9_usize) {
        let mut writer = Writer::frame();
        writer.int(1).int(kind).int(0);
        let whole = writer.framed();
        let cut = [&connect()[..], &whole[..whole.len() - left]].concat();
        prop_assert_eq!(answers([&cut[..]]), answers([&connect()[..]]));
    }

    #[test]
    fn a_length_that_no_frame_has_ends_the_connection_at_once(
        length in prop_oneof![0x10_0000..=i32::MAX, i32::MIN..0],
        frames in prop::collection::vec(Just([0, 0, 0, 8, 255, 255, 255, 254, 0, 0, 0, 11]), 0..3),
    ) {
        let before = [connect(), frames.concat()].concat();
        let all = [&before[..], &length.to_be_bytes()].concat();
        let (said, is_over) = answers([&all[..]]);
        prop_assert!(is_over);
        prop_assert_eq!(said, answers([&before[..]]).0);
    }

}

#[test]
fn damaged_files_are_refused_and_a_cut_log_is_repaired() {
    let mut world = World::new(1);
    world.settle(1);
    let mut client = Client::enter(&mut world, 0);
    assert_eq!(client.create(&mut world, "/still", 0), Some(0));
    let (mut disk, mut out) = (world.disk(0).clone(), Vec::new());
    let mut store = Store::load(&journal::open(&disk.image()));
    store.truncate(store.last_logged(), &mut out);
    store.set_epochs(Epochs::default(), &mut out);
    for output in out {
        disk.apply(&output);
    }
    let image = disk.image();
    assert!(image.snapshot.is_some() && image.config.is_some() && !image.append_only.is_empty());
    disks::check(&image, |disk| ZooKeeper::new(Config::default(), disk, Now::default()));
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
