use super::world::World;
use crate::config::Config;
use fencepost_machine::KeyChange;
use fencepost_testing::Crash;

fn tap_lines(world: &mut World) -> Vec<(KeyChange, String, Option<u64>)> {
    let events = world.taps(0).into_iter().map(|event| {
        let value = String::from_utf8_lossy(&event.value.unwrap_or_default()).into_owned();
        assert_eq!(event.key, "res");
        (event.change, value, event.token)
    });
    events.collect()
}

fn alone() -> World {
    let tap_prefix = Some("res".to_owned());
    let mut world = World::of(1, Config { tap_prefix, ..Config::default() });
    world.run(2_500);
    world
}

#[test]
fn the_first_of_a_queue_has_the_lock_until_its_lease_ends() {
    let mut world = alone();
    world.ask(0, ("lease/grant", "{\"TTL\":3,\"ID\":1}"), 20);
    world.ask(0, ("kv/put", "{\"key\":\"cmVzLzE=\",\"lease\":1}"), 20);
    world.ask(0, ("kv/put", "{\"key\":\"cmVzLzI=\"}"), 20);
    world.ask(0, ("kv/put", "{\"key\":\"b3RoZXI=\"}"), 20);
    assert_eq!(tap_lines(&mut world), [(KeyChange::Granted, "1".to_owned(), Some(2))]);
    world.run(2_000);
    assert_eq!(tap_lines(&mut world), []);
    world.run(2_000);
    let second = (KeyChange::Granted, "2".to_owned(), Some(3));
    assert_eq!(tap_lines(&mut world), [(KeyChange::Expired, "1".to_owned(), None), second]);
    world.ask(0, ("kv/deleterange", "{\"key\":\"cmVzLzI=\"}"), 20);
    assert_eq!(tap_lines(&mut world), [(KeyChange::Removed, "2".to_owned(), None)]);
}

#[test]
fn a_put_over_a_key_grants_and_removes_nothing_but_a_new_key_follows_a_removal() {
    let mut world = alone();
    let put = |value: &str| format!("{{\"key\":\"L2xvY2tzL3Jlcw==\",\"value\":\"{value}\"}}");
    world.ask(0, ("kv/put", &put("YQ==")), 20);
    world.ask(0, ("kv/put", &put("Yg==")), 20);
    let granted = |value: &str, token| (KeyChange::Granted, value.to_owned(), Some(token));
    assert_eq!(tap_lines(&mut world), [granted("a", 2), granted("b", 2)]);
    world.ask(0, ("kv/deleterange", "{\"key\":\"L2xvY2tzL3Jlcw==\"}"), 20);
    world.ask(0, ("kv/put", &put("Yw==")), 20);
    let removed = (KeyChange::Removed, "b".to_owned(), None);
    assert_eq!(tap_lines(&mut world), [removed, granted("c", 5)]);
}

#[test]
fn a_lock_of_the_gateway_s_client_is_a_key_and_survives_a_restart() {
    let mut world = alone();
    world.ask(0, ("kv/put", "{\"key\":\"L2xvY2tzL3Jlcw==\",\"value\":\"bWU=\"}"), 20);
    assert_eq!(tap_lines(&mut world), [(KeyChange::Granted, "me".to_owned(), Some(2))]);
    world.crash(0, Crash::Power);
    world.start(0);
    world.run(2_500);
    assert_eq!(tap_lines(&mut world).first().map(|it| &it.1), Some(&"me".to_owned()));
}
