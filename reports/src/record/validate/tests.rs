use super::*;
use crate::record::history::{GivingUp, Turn};
use crate::record::story::Story;

fn good() -> History {
    let story = Story::new()
        .takes(1, 1, "a")
        .reads(2, 1, 0)
        .writes(3, 1, 0, 1)
        .releases(4, 1)
        .crashes(5, 1);
    story
        .starts(6, 1)
        .fault_began(7, 1, "pause", &[Node::Client(1)])
        .takes(8, 2, "b")
        .healed(9)
        .build()
}

fn edited(edit: impl FnOnce(&mut Vec<Event>)) -> String {
    let mut history = good();
    edit(&mut history.events);
    validate(&history).expect_err("the edit breaks it").to_string()
}

fn renumber(events: &mut [Event]) {
    for (sequence, event) in events.iter_mut().enumerate() {
        event.sequence = sequence as u64;
    }
}

fn place(events: &[Event], wanted: fn(&What) -> bool) -> usize {
    events.iter().position(|event| wanted(&event.what)).expect("the event is there")
}

#[test]
fn accepts_what_a_run_records() {
    assert_eq!(validate(&good()), Ok(()));
}

#[test]
fn rejects_another_format_or_version() {
    let other = History { format: "fencepost.sweep".to_owned(), ..good() };
    assert_eq!(
        validate(&other).unwrap_err().to_string(),
        "format 'fencepost.sweep': expected 'fencepost.history'"
    );
    let newer = History { version: VERSION + 1, ..good() };
    assert!(
        validate(&newer)
            .unwrap_err()
            .to_string()
            .starts_with("version 3 of fencepost.history is unknown")
    );
    assert_eq!(validate(&History { version: 1, ..good() }), Ok(()), "it is still read");
}

#[test]
fn rejects_time_that_goes_back() {
    let said = edited(|events| events[4].time_us = SimTime(1));
    assert_eq!(
        said,
        "event 4 (1 us, storage): time goes back: the previous event happened at 2000 us"
    );
}

#[test]
fn rejects_a_gap_in_the_sequence() {
    let said = edited(|events| drop(events.remove(3)));
    assert!(said.starts_with("event 4 ") && said.contains("expected sequence 3"), "{said}");
}

#[test]
fn rejects_a_second_open_operation() {
    let said = edited(|events| {
        events.remove(2);
        renumber(events);
    });
    assert!(said.contains("client-1 invokes operation 2 while its operation 1 is open"), "{said}");
}

#[test]
fn rejects_a_completion_without_an_invocation() {
    let said = edited(|events| {
        events.remove(0);
        renumber(events);
    });
    assert!(said.contains("operation 1 is completed without having been invoked"), "{said}");
}

#[test]
fn rejects_a_completion_by_somebody_else() {
    let said = edited(|events| events[2].node = Node::Client(2));
    assert!(said.contains("operation 1 of client-1 is completed by client-2"), "{said}");
}

#[test]
fn accepts_an_acquire_and_a_release_that_the_application_gives_up() {
    let story = Story::new().acquires(1, 1).cancels(2, 1).takes(3, 1, "a").leaves(4, 1);
    let story = story.gives_up(5, 1, GivingUp::Interrupted).left(6, 1);
    assert_eq!(validate(&story.build()), Ok(()));
}

#[test]
fn rejects_what_is_given_up_without_being_open_or_a_call_of_the_lock() {
    let said = |operation| {
        let story = Story::new().takes(1, 1, "a").acquires(2, 2);
        let how = GivingUp::Cancelled;
        let history = story.event(3, Node::Client(1), What::GivenUp { operation, how }).build();
        validate(&history).unwrap_err().to_string()
    };
    let closed = said(1);
    assert!(closed.contains("client-1 gives up operation 1, which it does not"), "{closed}");
    assert!(said(2).contains("client-1 gives up operation 2, which it does not"));
    let how = GivingUp::Cancelled;
    let writes = Story::new().takes(1, 1, "a").event(
        2,
        Node::Client(1),
        What::Invoke { operation: 9, action: Action::Check },
    );
    let writes = writes.event(3, Node::Client(1), What::GivenUp { operation: 9, how });
    let said = validate(&writes.build()).unwrap_err().to_string();
    assert!(said.contains("neither an acquire nor a release"), "{said}");
}

#[test]
fn rejects_events_on_nodes_where_they_do_not_belong() {
    let server = edited(|events| events[1].node = Node::Client(1));
    assert!(server.contains("client-1 is not a server"), "{server}");
    let process = edited(|events| events[0].node = Node::Redis(1));
    assert!(
        process.contains("redis-1 is not a process: only client-N and probe invoke operations"),
        "{process}"
    );
    let storage = edited(|events| {
        let at = place(events, |what| matches!(what, What::Storage { .. }));
        events[at].node = Node::Redis(1);
    });
    assert!(storage.contains("redis-1 is not the storage"), "{storage}");
}

#[test]
fn rejects_a_request_under_an_acquisition_that_was_never_granted() {
    let said = edited(|events| {
        let at =
            place(events, |what| matches!(what, What::Invoke { action: Action::Read { .. }, .. }));
        events[at].what = What::Invoke { operation: 2, action: Action::Read { acquisition: 77 } };
    });
    assert!(said.contains("client-1 uses acquisition 77"), "{said}");
}

#[test]
fn rejects_the_dead_that_act() {
    let said = edited(|events| {
        let at = place(events, |what| matches!(what, What::Started));
        events.remove(at);
        let crash = place(events, |what| matches!(what, What::Crashed));
        events[crash].node = Node::Client(2);
        renumber(events);
    });
    assert!(said.contains("client-2 invokes operation 5 although it has crashed"), "{said}");
}

#[test]
fn accepts_turns_of_servers_and_sentinels() {
    let turn = |turn, about| What::Turn { turn, about };
    let story = Story::new()
        .event(1, Node::Sentinel(1), turn(Turn::ObjectivelyDown, Some(Node::Redis(1))))
        .event(2, Node::Redis(2), turn(Turn::Promoted, None))
        .event(3, Node::Redis(1), turn(Turn::Unaware, Some(Node::Redis(2))));
    assert_eq!(validate(&story.build()), Ok(()));
}

#[test]
fn rejects_a_turn_of_a_thread() {
    let thread = Node::Client(1).for_thread(2);
    let story = Story::new().event(1, thread, What::Turn { turn: Turn::Promoted, about: None });
    let said = validate(&story.build()).unwrap_err().to_string();
    assert!(said.contains("client-1.2"), "{said}");
}

fn threaded() -> Story {
    let (first, second) = (Node::Client(1), Node::Client(1).for_thread(2));
    let story = Story::new().acquires(1, first).acquires(2, second).crashes(3, 1).starts(4, 1);
    story.acquires(5, second).acquires(5, first)
}

#[test]
fn accepts_threads_that_each_have_an_operation_open_and_lose_it_when_their_process_dies() {
    assert_eq!(validate(&threaded().build()), Ok(()));
}

#[test]
fn rejects_a_thread_that_acts_while_its_process_is_dead() {
    let mut history = threaded().build();
    history.events.remove(3);
    renumber(&mut history.events);
    let said = validate(&history).unwrap_err().to_string();
    assert!(said.contains("client-1.2 invokes operation 3 although it has crashed"), "{said}");
}

#[test]
fn rejects_a_thread_that_dies_alone_or_is_hit_by_a_fault() {
    let second = Node::Client(1).for_thread(2);
    let mut history = threaded().build();
    history.events[2].node = second;
    let said = validate(&history).unwrap_err().to_string();
    assert!(said.contains("client-1.2 crashes, but it is a thread"), "{said}");
    let paused = threaded().fault_began(6, 1, "pause", &[second]).build();
    let said = validate(&paused).unwrap_err().to_string();
    assert!(said.contains("client-1.2 is hit by fault 1, but it is a thread"), "{said}");
}

#[test]
fn rejects_the_end_of_a_fault_that_never_began() {
    let said = edited(|events| {
        let at = place(events, |what| matches!(what, What::FaultBegan { .. }));
        events[at].what = What::FaultEnded { fault: 1, kind: fencepost_faults::FaultKind::Pause };
    });
    assert!(said.contains("fault 1 ends without having begun"), "{said}");
}
