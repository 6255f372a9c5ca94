use super::world::World;
use crate::Config;
use fencepost_machine::KeyChange;

fn world() -> World {
    World::of(Config { watch: Some("lock".to_owned()), ..Config::default() })
}

#[test]
fn a_lock_is_told_of_when_it_is_taken_and_when_it_is_given_back_for_the_last_time() {
    let (mut world, granted, removed) = (world(), KeyChange::Granted, KeyChange::Removed);
    let (a, b) = (world.session(), world.session());
    world.ask(a, "SELECT GET_LOCK('lock', 0), GET_LOCK('another', 0)");
    assert_eq!(world.tap_lines(), [(granted, "3".to_owned(), Some(a))]);
    world.ask(a, "SELECT GET_LOCK('lock', 0)");
    world.ask(b, "SELECT GET_LOCK('lock', 0)");
    world.ask(a, "SELECT RELEASE_LOCK('lock')");
    world.ask(b, "SELECT RELEASE_LOCK('lock')");
    assert_eq!(world.tap_lines(), [], "a has it once");
    world.ask(b, "SELECT GET_LOCK('lock', 9)");
    world.ask(a, "SELECT RELEASE_LOCK('lock')");
    let handed_over = [(removed, "3".to_owned(), Some(a)), (granted, "4".to_owned(), Some(b))];
    assert_eq!(world.tap_lines(), handed_over);
    world.hang_up(b);
    assert_eq!(world.tap_lines(), [(removed, "4".to_owned(), None)], "by nobody");
}
