use super::{NodeConfig, World, changes, field, primary, replica};
use crate::sentinel::{Address, Sentinel, SentinelConfig};
use fencepost_machine::KeyChange;

fn deployment() -> World {
    deployment_with(false)
}

fn deployment_with(has_config_file: bool) -> World {
    let mut world = World::new();
    for number in 1..=3 {
        let config = if number == 1 { primary() } else { replica() };
        world.start_node(&format!("redis-{number}"), NodeConfig { has_config_file, ..config });
    }
    for number in 1..=3_u64 {
        let name = format!("sentinel-{number}");
        let mut config =
            SentinelConfig::new(Address::new(name.clone(), 26379), Address::new("redis-1", 6379));
        config.down_after_ms = 1_000;
        config.failover_timeout_ms = 10_000;
        let sentinel = Sentinel::new(config, number, world.wall_time_of(&name));
        world.start(&name, sentinel);
    }
    world.run_for(15_000);
    world
}

fn master_at(world: &mut World, sentinel: &str) -> String {
    world.ask_text(sentinel, &["SENTINEL", "get-master-addr-by-name", "mymaster"])
}

#[test]
fn a_dead_primary_is_replaced_and_returns_as_a_replica() {
    let mut world = deployment();
    world.ask("redis-1", &["SET", "k", "v"]);
    world.run_for(100);
    world.crash("redis-1");
    world.run_for(10_000);
    let new = master_at(&mut world, "sentinel-1").replace(" 6379", "");
    assert!(["redis-2", "redis-3"].contains(&new.as_str()), "{new}");
    assert_eq!(world.ask_text(&new, &["GET", "k"]), "v");
    assert_eq!(world.ask_text(&new, &["SET", "k", "w"]), "OK");
    let other = if new == "redis-2" { "redis-3" } else { "redis-2" };
    assert_eq!(field(&mut world, other, "master_host"), new);
    assert_eq!(
        changes(world.taps(other), "k"),
        [KeyChange::Granted; 2],
        "it went on without starting again"
    );
    world.start_node("redis-1", primary());
    world.run_for(30_000);
    assert_eq!(field(&mut world, "redis-1", "master_host"), new);
    assert_eq!(world.ask_text("redis-1", &["GET", "k"]), "w");
    for sentinel in ["sentinel-1", "sentinel-2", "sentinel-3"] {
        assert_eq!(master_at(&mut world, sentinel), format!("{new} 6379"));
    }
}

fn restart_the_promoted(world: &mut World, has_config_file: bool) -> String {
    world.crash("redis-1");
    world.run_for(10_000);
    let new = master_at(world, "sentinel-1").replace(" 6379", "");
    assert_ne!(new, "redis-1");
    world.start_node("redis-1", NodeConfig { has_config_file, ..primary() });
    world.run_for(30_000);
    assert_eq!(field(world, "redis-1", "master_host"), new);
    world.crash(&new);
    world.start_node(&new, NodeConfig { has_config_file, ..replica() });
    world.run_for(60_000);
    new
}

#[test]
fn a_promoted_primary_that_restarts_is_one_still_since_sentinel_had_its_configuration_rewritten() {
    let mut world = deployment_with(true);
    let new = restart_the_promoted(&mut world, true);
    assert_eq!(field(&mut world, &new, "role"), "master");
    assert_eq!(field(&mut world, "redis-1", "master_host"), new);
    assert_eq!(world.ask_text(&new, &["SET", "k", "v"]), "OK");
    world.run_for(1_000);
    assert_eq!(world.ask_text("redis-1", &["GET", "k"]), "v");
}

#[test]
fn without_a_configuration_file_it_comes_back_as_the_replica_that_it_was_and_follows_its_follower()
{
    let mut world = deployment_with(false);
    let new = restart_the_promoted(&mut world, false);
    // Sentinel promotes no replica, because redis-1 has been without its primary for too long.
    for (replica, of) in [(new.as_str(), "redis-1"), ("redis-1", new.as_str())] {
        assert_eq!(field(&mut world, replica, "master_host"), of);
    }
}

#[test]
fn an_isolated_primary_loses_what_it_accepted_meanwhile() {
    let mut world = deployment();
    world.isolate("redis-1");
    world.run_for(200);
    assert_eq!(world.ask_text("redis-1", &["SET", "lock", "old", "NX"]), "OK");
    world.run_for(10_000);
    let new = master_at(&mut world, "sentinel-1").replace(" 6379", "");
    assert_ne!(new, "redis-1");
    assert_eq!(world.ask_text(&new, &["SET", "lock", "new", "NX"]), "OK");
    world.heal();
    world.run_for(40_000);
    assert_eq!(world.ask_text("redis-1", &["GET", "lock"]), "new");
    let expected = [KeyChange::Granted, KeyChange::Discarded, KeyChange::Restored];
    assert_eq!(changes(world.taps("redis-1"), "lock"), expected);
}

#[test]
fn the_replica_of_lowest_priority_number_is_promoted() {
    let mut world = deployment();
    world.crash("redis-3");
    world.start_node("redis-3", NodeConfig { replica_priority: 1, ..replica() });
    world.run_for(15_000);
    world.crash("redis-1");
    world.run_for(10_000);
    assert_eq!(master_at(&mut world, "sentinel-2"), "redis-3 6379");
}
