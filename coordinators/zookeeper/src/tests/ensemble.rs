use super::client::{Client, DELETE};
use super::world::World;
use crate::jute::Writer;
use fencepost_testing::Crash;

fn other_than(hosts: usize, not: usize) -> usize {
    (0..hosts).find(|host| *host != not).unwrap()
}

#[track_caller]
fn assert_agreement(world: &mut World, hosts: usize) {
    world.settle(hosts);
    world.run(3_000);
    let trees: Vec<_> = (0..hosts).map(|host| &world.server(host).unwrap().store.tree).collect();
    assert!(trees.windows(2).all(|pair| pair[0] == pair[1]), "{trees:#?}");
}

#[test]
fn ensembles_of_one_three_and_five_serve() {
    for hosts in [1, 3, 5] {
        let mut world = World::new(hosts);
        world.settle(hosts);
        for at in 0..hosts {
            let mut client = Client::enter(&mut world, at);
            assert_eq!(client.create(&mut world, &format!("/{at}"), 0), Some(0));
        }
        assert_agreement(&mut world, hosts);
    }
}

#[test]
fn the_member_with_the_greatest_number_leads_where_all_are_alike() {
    let mut world = World::new(3);
    assert_eq!(world.settle(3), 2);
}

#[test]
fn what_was_acknowledged_survives_the_loss_of_the_leader() {
    for crash in [Crash::Process, Crash::Power] {
        let mut world = World::new(3);
        let leader = world.settle(3);
        let at = other_than(3, leader);
        let mut client = Client::enter(&mut world, at);
        for place in 0..20 {
            assert_eq!(client.create(&mut world, &format!("/{place}"), 0), Some(0));
        }
        world.crash(leader, crash);
        world.run(30);
        assert_ne!(world.settle(2), leader);
        assert!(client.reconnect(&mut world, at), "the session outlives the leader");
        assert!((0..20).all(|place| client.sees(&mut world, &format!("/{place}"))));
        world.start(leader);
        assert_agreement(&mut world, 3);
    }
}

#[test]
fn a_power_loss_everywhere_loses_nothing_that_was_acknowledged() {
    let mut world = World::new(3);
    let leader = world.settle(3);
    let mut client = Client::enter(&mut world, leader);
    assert_eq!(client.create(&mut world, "/kept", 0), Some(0));
    (0..3).for_each(|host| world.crash(host, Crash::Power));
    (0..3).for_each(|host| world.start(host));
    let leader = world.settle(3);
    assert!(client.reconnect(&mut world, leader));
    assert!(client.sees(&mut world, "/kept"));
    assert_agreement(&mut world, 3);
}

#[test]
fn a_leader_without_a_majority_stops_and_its_proposals_are_cut_off() {
    let mut world = World::new(3);
    let leader = world.settle(3);
    let mut client = Client::enter(&mut world, leader);
    world.isolate(leader);
    assert_eq!(client.create(&mut world, "/lost", 0), None, "no majority, no answer");
    // The leader gives up at the latest one tick after `sync_limit` ticks without a majority.
    world.run(12_000);
    assert!(world.is_closed(client.connection));
    assert!(!world.server(leader).unwrap().is_serving());
    let next = world.settle(2);
    assert_ne!(next, leader);
    let mut another = Client::enter(&mut world, next);
    assert_eq!(another.create(&mut world, "/found", 0), Some(0));
    world.heal();
    assert_agreement(&mut world, 3);
    assert!(another.sees(&mut world, "/found"));
    assert!(!another.sees(&mut world, "/lost"), "the old leader's proposal was cut off");
}

#[test]
fn a_follower_reads_what_is_old_until_it_syncs() {
    let mut world = World::new(3);
    let leader = world.settle(3);
    let follower = other_than(3, leader);
    let (mut writer, mut reader) =
        (Client::enter(&mut world, leader), Client::enter(&mut world, follower));
    assert_eq!(writer.create(&mut world, "/before", 0), Some(0));
    world.run(50);
    world.isolate(follower);
    assert_eq!(writer.create(&mut world, "/after", 0), Some(0));
    assert!(reader.sees(&mut world, "/before") && !reader.sees(&mut world, "/after"));
    world.heal();
    assert!(reader.sync(&mut world).is_some());
    assert!(reader.sees(&mut world, "/after"));
}

#[test]
fn a_follower_that_loses_its_leader_serves_nobody() {
    let mut world = World::new(3);
    let leader = world.settle(3);
    let follower = other_than(3, leader);
    let client = Client::enter(&mut world, follower);
    world.isolate(follower);
    world.run(9_000);
    assert!(!world.is_closed(client.connection), "within syncLimit it still reads");
    world.run(3_000);
    assert!(world.is_closed(client.connection));
    assert!(Client::try_enter(&mut world, follower).is_none());
    world.heal();
    assert_agreement(&mut world, 3);
}

#[test]
fn a_paused_leader_is_replaced_and_comes_back_as_a_follower() {
    let mut world = World::new(3);
    let leader = world.settle(3);
    world.pause(leader);
    world.run(10_500);
    let next = world.settle(2);
    assert_ne!(next, leader);
    let mut client = Client::enter(&mut world, next);
    assert_eq!(client.create(&mut world, "/meanwhile", 0), Some(0));
    world.resume(leader);
    assert_agreement(&mut world, 3);
}

#[test]
fn a_member_that_missed_everything_gets_what_it_lacks() {
    let mut world = World::new(3);
    let leader = world.settle(3);
    let late = other_than(3, leader);
    world.crash(late, Crash::Process);
    let mut client = Client::enter(&mut world, leader);
    for place in 0..50 {
        assert_eq!(client.create(&mut world, &format!("/{place}"), 0), Some(0));
    }
    world.start(late);
    assert_agreement(&mut world, 3);
}

#[test]
fn a_minority_serves_nobody_and_two_of_five_may_fail() {
    let mut world = World::new(5);
    let leader = world.settle(5);
    let follower = other_than(5, leader);
    world.crash(leader, Crash::Power);
    world.crash(follower, Crash::Process);
    let leader = world.settle(3);
    let mut client = Client::enter(&mut world, leader);
    assert_eq!(client.create(&mut world, "/three", 0), Some(0));
    let third = (0..5).find(|host| *host != leader && world.server(*host).is_some()).unwrap();
    world.crash(third, Crash::Process);
    world.run(13_000);
    assert_eq!(world.leader(), None);
    assert!(Client::try_enter(&mut world, leader).is_none());
}

#[test]
fn a_session_moves_with_its_nodes_and_the_old_way_is_closed() {
    let mut world = World::new(3);
    let leader = world.settle(3);
    let (first, second) = (other_than(3, leader), leader);
    let mut client = Client::enter(&mut world, first);
    assert_eq!(client.create(&mut world, "/mine", 1), Some(0));
    let mut old = client.clone();
    assert!(client.reconnect(&mut world, second));
    assert!(client.sees(&mut world, "/mine"));
    let mut body = Writer::default();
    body.string("/mine").int(-1);
    assert_eq!(old.ask(&mut world, DELETE, body), None, "the session speaks elsewhere now");
    assert!(world.is_closed(old.connection));
    client.live(&mut world, 20_000);
    assert!(client.sees(&mut world, "/mine"));
}

#[test]
fn random_faults_lose_nothing_and_the_members_agree_in_the_end() {
    for seed in 0..40_u64 {
        let mut world = World::new(3);
        let mut state = seed * 2 + 1;
        let mut draw = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
            (state >> 33) % below
        };
        let mut acknowledged = Vec::new();
        for round in 0..6 {
            world.settle(3);
            let (victim, at) = (draw(3) as usize, draw(3) as usize);
            // A server that was paused or cut off may begin an election only now.
            let mut client = (0..20)
                .find_map(|_| {
                    world.run(1_000);
                    Client::try_enter(&mut world, at)
                })
                .expect("a session");
            for place in 0..draw(5) {
                let path = format!("/{round}-{place}");
                if client.create(&mut world, &path, 0) == Some(0) {
                    acknowledged.push(path);
                }
            }
            client.send(&mut world, super::client::CREATE, super::client::creation("/last", 2));
            world.run(draw(4));
            match draw(4) {
                kind @ 0..=1 => {
                    let crash = if kind == 0 { Crash::Power } else { Crash::Process };
                    world.crash(victim, crash);
                    world.run(draw(15_000));
                    world.start(victim);
                }
                2 => {
                    world.pause(victim);
                    world.run(draw(25_000));
                    world.resume(victim);
                }
                _ => {
                    world.isolate(victim);
                    world.run(draw(25_000));
                    world.heal();
                }
            }
        }
        assert_agreement(&mut world, 3);
        let mut client = Client::enter(&mut world, 0);
        for path in acknowledged {
            assert!(client.sees(&mut world, &path), "seed {seed} lost {path}");
        }
    }
}
