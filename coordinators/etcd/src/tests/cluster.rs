use super::world::World;
use crate::config::Config;
use fencepost_testing::Crash;

const PUT: (&str, &str) = ("kv/put", "{\"key\":\"YQ==\",\"value\":\"MQ==\"}");
const GET: (&str, &str) = ("kv/range", "{\"key\":\"YQ==\"}");
const STALE_GET: (&str, &str) = ("kv/range", "{\"key\":\"YQ==\",\"serializable\":true}");

fn three() -> (World, usize) {
    let mut world = World::of(3, Config::default());
    let leader = elected(&mut world, 3);
    world.run(500);
    (world, leader)
}

fn elected(world: &mut World, followers: usize) -> usize {
    for _ in 0..100 {
        world.run(100);
        let rafts: Vec<_> = (0..3).filter_map(|at| Some(&world.server(at)?.raft)).collect();
        let followed = |leader: u8| rafts.iter().filter(|raft| raft.leader == leader).count();
        let mut leaders = rafts.iter().filter(|raft| raft.is_leader()).map(|raft| raft.me);
        if let Some(leader) = leaders.find(|leader| followed(*leader) >= followers) {
            return usize::from(leader) - 1;
        }
    }
    panic!("nobody leads within ten seconds")
}

fn is_done(said: &str) -> bool {
    said.starts_with("HTTP/1.1 200 OK")
}

#[test]
fn any_member_serves_and_all_come_to_have_the_same() {
    let (mut world, _) = three();
    for at in 0..3 {
        assert!(is_done(&world.ask(at, PUT, 50)), "member {at}");
        let other = (at + 1) % 3;
        assert!(world.ask(other, GET, 50).contains(&format!("\"version\":\"{}\"", at + 1)));
    }
    world.run(300);
    let stores = [0, 1, 2].map(|at| world.server(at).unwrap().state.store.revision());
    assert_eq!(stores, [4, 4, 4]);
}

#[test]
fn what_was_acknowledged_survives_the_power_loss_of_all_and_the_loss_of_one() {
    let (mut world, first) = three();
    assert!(is_done(&world.ask((first + 1) % 3, PUT, 50)));
    for at in 0..3 {
        world.crash(at, Crash::Power);
    }
    for at in 0..3 {
        world.start(at);
    }
    let second = elected(&mut world, 3);
    assert!(world.ask(second, GET, 50).contains("\"MQ==\""));
    world.crash(second, Crash::Power);
    let third = elected(&mut world, 2);
    assert_ne!(second, third);
    assert!(world.ask(third, GET, 50).contains("\"MQ==\""));
    assert!(is_done(&world.ask(third, PUT, 50)), "two of three are a majority");
    world.start(second);
    world.run(2_000);
    assert!(world.ask(second, STALE_GET, 50).contains("\"version\":\"2\""), "it comes level");
}

#[test]
fn a_leader_that_is_cut_off_steps_down_and_what_it_logged_alone_is_gone() {
    let (mut world, old) = three();
    assert!(is_done(&world.ask(old, PUT, 50)));
    world.isolate(old);
    assert_eq!(world.ask(old, ("kv/put", "{\"key\":\"YQ==\",\"value\":\"Mg==\"}"), 50), "");
    world.run(5_000);
    assert!(!world.server(old).unwrap().raft.is_leader(), "it hears of no majority");
    let new = elected(&mut world, 2);
    assert_ne!(old, new);
    assert!(world.ask(new, GET, 50).contains("\"MQ==\""));
    assert!(is_done(&world.ask(new, ("kv/put", "{\"key\":\"YQ==\",\"value\":\"Mw==\"}"), 50)));
    assert!(world.ask(old, STALE_GET, 50).contains("\"MQ==\""), "it does not know better");
    let linear = world.ask(old, GET, 7_600);
    assert!(linear.contains("etcdserver: request timed out"), "{linear}");
    world.heal();
    world.run(3_000);
    assert!(world.ask(old, GET, 300).contains("\"Mw==\""));
}

#[test]
fn a_leader_that_stands_still_is_replaced_and_learns_of_it() {
    let (mut world, old) = three();
    world.pause(old);
    world.run(4_000);
    let waiting = world.connect((old + 1) % 3);
    world.post(waiting, PUT.0, PUT.1);
    world.run(100);
    assert!(is_done(&world.received(waiting)));
    world.resume(old);
    world.run(1_000);
    assert!(!world.server(old).unwrap().raft.is_leader());
    assert!(world.ask(old, GET, 100).contains("\"MQ==\""));
}

#[test]
fn a_lease_ends_by_the_clock_of_the_leader_and_a_new_leader_gives_it_its_whole_ttl_again() {
    let (mut world, old) = three();
    let grant = ("lease/grant", "{\"TTL\":5,\"ID\":7}");
    assert!(world.ask((old + 1) % 3, grant, 50).contains("\"TTL\":\"5\""));
    world.run(4_000);
    let kept = world.ask((old + 1) % 3, ("lease/keepalive", "{\"ID\":7}"), 50);
    assert!(kept.contains("\"TTL\":\"5\""), "a follower asks the leader: {kept}");
    world.run(4_000);
    world.crash(old, Crash::Process);
    let new = elected(&mut world, 2);
    let left = world.ask(new, ("lease/timetolive", "{\"ID\":7}"), 50);
    assert!(left.contains("\"grantedTTL\":\"5\""), "more than its ttl has passed: {left}");
    world.run(7_000);
    let left = world.ask(new, ("lease/timetolive", "{\"ID\":7}"), 50);
    assert!(left.contains("\"TTL\":\"-1\""), "{left}");
}

#[test]
fn the_shortest_ttl_is_one_and_a_half_election_timeouts_in_whole_seconds() {
    assert_eq!(Config::default().ttl_min(), 2);
    assert_eq!(Config { election_ticks: 50, ..Config::default() }.ttl_min(), 8);
}

#[test]
fn the_fixed_server_refuses_a_waiter_whose_lease_has_ended() {
    for lock_checks_key in [false, true] {
        let mut world = World::of(1, Config { lock_checks_key, ..Config::default() });
        world.run(2_500);
        for lease in [71, 72] {
            world.ask(0, ("lease/grant", &format!("{{\"TTL\":500,\"ID\":{lease}}}")), 20);
        }
        world.ask(0, ("lock/lock", "{\"name\":\"bQ==\",\"lease\":71}"), 20);
        let waiter = world.connect(0);
        world.post(waiter, "lock/lock", "{\"name\":\"bQ==\",\"lease\":72}");
        world.run(20);
        world.ask(0, ("lease/revoke", "{\"ID\":72}"), 20);
        world.ask(0, ("lock/unlock", "{\"key\":\"bS80Nw==\"}"), 20);
        let said = world.received(waiter);
        assert_eq!(said.contains("mutex: session is expired"), lock_checks_key, "{said}");
        assert_eq!(is_done(&said), !lock_checks_key);
    }
}

#[test]
fn the_same_world_is_the_same_each_time() {
    let run = || {
        let (mut world, leader) = three();
        world.crash(leader, Crash::Power);
        world.run(3_000);
        (world.ask((leader + 1) % 3, PUT, 50), world.server((leader + 1) % 3).unwrap().raft.hard)
    };
    assert_eq!(run(), run());
}

#[test]
fn a_call_that_finds_no_leader_for_its_whole_time_is_told_so() {
    let (mut world, leader) = three();
    let (other, lone) = ((leader + 1) % 3, (leader + 2) % 3);
    world.ask(lone, ("lease/grant", "{\"TTL\":60,\"ID\":7}"), 50);
    for at in [leader, other] {
        world.crash(at, Crash::Process);
    }
    world.run(3_000);
    let told = |world: &mut World, call| world.ask(lone, call, 7_600);
    let write = told(&mut world, PUT);
    assert!(write.starts_with("HTTP/1.1 500") && write.contains("context deadline exceeded"));
    let renewal = told(&mut world, ("lease/keepalive", "{\"ID\":7}"));
    assert!(renewal.starts_with("HTTP/1.1 503"), "{renewal}");
    assert!(renewal.contains("\"message\":\"etcdserver: no leader\",\"http_status\""), "{renewal}");
    assert!(is_done(&told(&mut world, STALE_GET)));
}
