use super::world::World;
use crate::Config;
use fencepost_machine::{ConnectionId, KeyChange};

fn world() -> World {
    World::of(Config { watch: Some("lock".to_owned()), ..Config::default() })
}

fn tap_lines(world: &mut World) -> Vec<(KeyChange, String, Option<u32>)> {
    let taps = std::mem::take(&mut world.taps);
    let line = |tap: fencepost_machine::TapEvent| {
        assert_eq!((&tap.key[..], tap.primary), (&b"lock"[..], true));
        let value = String::from_utf8_lossy(&tap.value.unwrap_or_default()).into_owned();
        (tap.change, value, tap.by.map(|ConnectionId(number)| number))
    };
    taps.into_iter().map(line).collect()
}

#[test]
fn a_lock_is_told_of_when_it_is_taken_and_when_it_is_given_back_for_the_last_time() {
    let (mut world, granted, removed) = (world(), KeyChange::Granted, KeyChange::Removed);
    let (a, b) = (world.session(), world.session());
    world.ask(a, "SELECT GET_LOCK('lock', 0), GET_LOCK('another', 0)");
    assert_eq!(tap_lines(&mut world), [(granted, "3".to_owned(), Some(a))]);
    world.ask(a, "SELECT GET_LOCK('lock', 0)");
    world.ask(b, "SELECT GET_LOCK('lock', 0)");
    world.ask(a, "SELECT RELEASE_LOCK('lock')");
    world.ask(b, "SELECT RELEASE_LOCK('lock')");
    assert_eq!(tap_lines(&mut world), [], "a has it once");
    world.ask(b, "SELECT GET_LOCK('lock', 9)");
    world.ask(a, "SELECT RELEASE_LOCK('lock')");
    let handed_over = [(removed, "3".to_owned(), Some(a)), (granted, "4".to_owned(), Some(b))];
    assert_eq!(tap_lines(&mut world), handed_over);
    world.hang_up(b);
    assert_eq!(tap_lines(&mut world), [(removed, "4".to_owned(), None)], "by nobody");
}
