use super::world::World;
use fencepost_testing::Crash;

#[test]
fn three_servers_found_one_system() {
    let world = World::of(3);
    assert_eq!([world.view(0), world.view(1), world.view(2)], [[1, 2, 3]; 3]);
    assert_eq!(world.grantor(), Some(2), "the youngest");
}

#[test]
fn a_server_that_stands_still_departs_after_two_and_a_half_timeouts() {
    let mut world = World::of(3);
    world.pause(1);
    world.run(4_500);
    assert_eq!(world.view(0), [1, 2, 3]);
    world.run(1_500);
    assert_eq!(world.view(0), [1, 3]);
    world.resume(1);
    world.run(3_000);
    assert_eq!([world.view(0), world.view(1)], [[1, 3, 2]; 2], "it is the youngest now");
}

#[test]
fn the_next_server_follows_a_coordinator_that_fails() {
    let mut world = World::of(3);
    world.crash(0, Crash::Process);
    world.run(3_500);
    assert_eq!([world.view(1), world.view(2)], [[2, 3]; 2]);
    world.start(0);
    world.run(3_000);
    assert_eq!([world.view(0), world.view(1), world.view(2)], [[2, 3, 1]; 3]);
}

#[test]
fn the_last_server_of_a_lost_majority_gives_up() {
    let mut world = World::of(3);
    world.crash(0, Crash::Process);
    world.crash(1, Crash::Process);
    world.run(4_000);
    assert_eq!(world.view(2), [0; 0]);
    assert_eq!(world.ask(2, "join a"), "later");
}

#[test]
fn servers_that_fail_one_after_another_leave_the_lead_alone() {
    let mut world = World::of(3);
    world.crash(2, Crash::Process);
    world.run(4_000);
    world.crash(1, Crash::Process);
    world.run(4_000);
    assert_eq!(world.view(0), [1], "15 of 25 are a majority");
}

#[test]
fn the_side_with_the_majority_goes_on_and_the_other_joins_it_again() {
    let mut world = World::of(3);
    world.isolate(0);
    world.run(7_000);
    assert_eq!([world.view(0), world.view(1), world.view(2)], [vec![], vec![2, 3], vec![2, 3]]);
    world.heal();
    world.run(8_000);
    assert_eq!([world.view(0), world.view(1), world.view(2)], [[2, 3, 1]; 3]);
}

#[test]
fn a_process_departs_when_it_is_silent() {
    let mut world = World::of(3);
    world.join("a");
    world.join("b");
    world.beat(&["a", "b"], 1_000);
    world.beat(&["b"], 3_500);
    world.beat(&["a", "b"], 500);
    assert!(world.answer("a", 0).starts_with("view "), "{}", world.answer("a", 0));
    world.beat(&["b"], 6_000);
    world.beat(&["a", "b"], 2_200);
    assert_eq!(world.answer("a", 0), "departed");
    assert_eq!(world.answer("a", 2), "departed");
    assert!(world.answer("b", 0).starts_with("view "));
}

#[test]
fn a_process_learns_where_the_coordinator_is() {
    let mut world = World::of(3);
    assert_eq!(world.ask(1, "join a"), "coordinator 1 2000");
    assert!(world.ask(0, "join a").starts_with("joined "));
    assert!(world.ask(0, "join a").starts_with("joined "), "it may ask twice");
}

#[test]
fn processes_that_join_while_a_view_is_agreed_on_are_admitted() {
    let mut world = World::of(3);
    let joins = ["a", "b", "c", "d"].map(|process| world.begin(0, &format!("join {process}")));
    world.run(20);
    for join in joins {
        assert!(world.received(join).starts_with("joined "));
    }
}

#[test]
fn a_proposal_that_was_not_installed_blocks_no_other() {
    let mut world = World::of(3);
    world.cut(2, 0);
    world.run(300);
    world.cut(1, 0);
    // The first server proposes a view without the third server, and is then isolated.
    world.run(5_700);
    world.heal();
    world.run(10_000);
    let numbers = [0, 1, 2].map(|at| world.numbers(at).0);
    assert_eq!(numbers, [numbers[0]; 3]);
    assert_eq!(world.view(0).len(), 3);
}

#[test]
fn servers_have_the_same_view_after_a_cut_in_one_direction() {
    for cut_ms in [3_000, 4_400, 4_700, 4_900, 6_000] {
        let mut world = World::of(3);
        world.join("a");
        world.beat(&["a"], 1_000);
        world.cut(1, 0);
        world.cut(2, 0);
        world.beat(&["a"], cut_ms);
        world.heal();
        world.beat(&["a"], 15_000);
        let numbers = [0, 1, 2].map(|at| world.numbers(at).0);
        assert_eq!(numbers, [numbers[0]; 3], "{cut_ms}");
    }
}
