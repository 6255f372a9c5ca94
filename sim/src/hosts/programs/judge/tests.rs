use super::*;
use crate::setup::scenario::program::Program;
use fencepost_faults::Seed;
use fencepost_reports::Event;

struct Worker {
    judge: Judge,
    recorder: Rc<Recorder>,
    desk: Rc<HolderDesk>,
}

impl Worker {
    fn new(lock_key: &str) -> Worker {
        Worker::of(lock_key, Rc::default(), Node::Client(1))
    }

    fn of(lock_key: &str, desk: Rc<HolderDesk>, node: Node) -> Worker {
        let mut program = Program::parse("worker=true").unwrap();
        program.lock_key = lock_key.to_owned();
        let scenario = Rc::new(Scenario { programs: vec![program], ..Scenario::default() });
        let recorder: Rc<Recorder> = Rc::default();
        let roster = Rc::new(Roster::new(Seed(1), &[node], 4));
        let judge = Judge::new(node, recorder.clone(), roster, scenario, desk.clone());
        Worker { judge, recorder, desk }
    }

    fn send(&mut self, text: &str) -> String {
        let words: Vec<&str> = text.split(' ').collect();
        let mut command = format!("*{}\r\n", words.len());
        for word in words {
            command += &format!("${}\r\n{word}\r\n", word.len());
        }
        let answers = self.judge.receive(&mut BytesMut::from(command.as_str()));
        match answers.into_iter().next() {
            Some(Answer::Now(text)) => text.trim_end().to_owned(),
            _ => panic!("no answer to {text}"),
        }
    }

    fn is_accepted(&mut self, text: &str) -> bool {
        !self.send(text).starts_with('-')
    }

    fn cycles_left(&self) -> u32 {
        self.judge.roster.member(self.judge.node).cycles_left.get()
    }
}

fn is_release(event: &Event) -> bool {
    matches!(event.what, What::Invoke { action: Action::Release, .. })
}

#[test]
fn a_reentrant_lock_is_released_as_often_as_it_was_acquired() {
    let mut worker = Worker::new("lock:orders");
    for said in ["ACQUIRING orders", "ACQUIRED orders"].repeat(2) {
        assert!(worker.is_accepted(said), "{said}");
    }
    let outer = 0;
    assert_ne!(worker.desk.acquisition(Node::Client(1)), Some(outer));
    assert!(worker.is_accepted("RELEASING orders") && worker.is_accepted("RELEASED orders"));
    assert!(worker.judge.is_inside(), "the outer acquisition continues");
    assert_eq!(worker.desk.acquisition(Node::Client(1)), Some(outer));
    assert_eq!(worker.cycles_left(), 4);
    assert!(worker.is_accepted("RELEASING orders") && worker.is_accepted("RELEASED orders"));
    assert!(!worker.judge.is_amid());
    assert_eq!(worker.cycles_left(), 3);
    assert_eq!(worker.recorder.take().iter().filter(|event| is_release(event)).count(), 2);
    assert_eq!(worker.send("RELEASING orders"), "-ERR expected ACQUIRED first");
}

#[test]
fn an_inner_acquire_that_fails_does_not_end_the_critical_section() {
    for said in ["REFUSED orders", "UNKNOWN orders timeout"] {
        let mut worker = Worker::new("lock:orders");
        assert!(worker.is_accepted("ACQUIRING orders") && worker.is_accepted("ACQUIRED orders"));
        assert!(worker.is_accepted("ACQUIRING orders") && worker.is_accepted(said));
        assert!(worker.judge.is_inside(), "{said}");
        assert_eq!(worker.cycles_left(), 4);
        assert!(worker.is_accepted("RELEASING orders") && worker.is_accepted("RELEASED orders"));
        assert_eq!(worker.cycles_left(), 3);
    }
}

#[test]
fn after_a_loss_inside_the_next_acquire_is_outermost() {
    let mut worker = Worker::new("lock:orders");
    assert!(worker.is_accepted("ACQUIRING orders") && worker.is_accepted("ACQUIRED orders"));
    assert!(worker.is_accepted("LOST orders"));
    assert!(worker.is_accepted("ACQUIRING orders") && worker.is_accepted("ACQUIRED orders"));
    assert!(worker.is_accepted("RELEASING orders") && worker.is_accepted("RELEASED orders"));
    assert!(!worker.judge.is_amid());
    assert_eq!(worker.cycles_left(), 3);
}

#[test]
fn after_a_loss_in_nested_sections_the_next_acquire_is_outermost() {
    let nested = ["ACQUIRING 0", "ACQUIRED 0", "ACQUIRING 0", "ACQUIRED 0"];
    let ends: &[&[&str]] = &[
        &["LOST 0"],
        &["LOST 0", "RELEASING 0", "RELEASED 0"],
        &["RELEASING 0", "LOST 0", "RELEASED 0"],
    ];
    for end in ends {
        let mut worker = Worker::new("lock:orders");
        let again = ["ACQUIRING 0", "ACQUIRED 0", "RELEASING 0", "RELEASED 0"];
        for said in nested.iter().chain(*end).chain(&again) {
            assert!(worker.is_accepted(said), "{said} of {end:?}");
        }
        assert!(!worker.judge.is_amid(), "{end:?}");
        assert_eq!(worker.cycles_left(), 3, "{end:?}");
    }
}

#[test]
fn a_loss_during_an_inner_acquire_ends_the_outer_sections_only() {
    let mut worker = Worker::new("lock:orders");
    for said in ["ACQUIRING 0", "ACQUIRED 0", "ACQUIRING 0", "LOST 0", "ACQUIRED 0"] {
        assert!(worker.is_accepted(said), "{said}");
    }
    assert!(worker.is_accepted("ACQUIRING 0") && worker.is_accepted("ACQUIRED 0"));
    assert!(worker.is_accepted("RELEASING 0") && worker.is_accepted("RELEASED 0"));
    assert!(worker.judge.is_inside(), "the second acquisition continues");
    assert!(worker.is_accepted("RELEASING 0") && worker.is_accepted("RELEASED 0"));
    assert!(!worker.judge.is_amid(), "the first acquisition has ended");
    assert_eq!(worker.cycles_left(), 3);
}

#[test]
fn a_refused_acquire_does_not_end_lost_sections() {
    let mut worker = Worker::new("lock:orders");
    let nested = ["ACQUIRING 0", "ACQUIRED 0", "ACQUIRING 0", "ACQUIRED 0", "LOST 0"];
    assert!(nested.iter().all(|said| worker.is_accepted(said)));
    assert!(worker.send("ACQUIRING 1").starts_with("-ERR there are several locks"));
    for said in ["RELEASING 0", "RELEASED 0", "RELEASING 0", "RELEASED 0"] {
        assert!(worker.is_accepted(said), "{said}");
    }
    assert_eq!(worker.cycles_left(), 3);
}

#[test]
fn with_a_pattern_a_holder_may_name_another_lock_after_a_loss() {
    let mut worker = Worker::new("job:*");
    assert!(worker.is_accepted("ACQUIRING 0") && worker.is_accepted("ACQUIRED 0"));
    assert!(!worker.is_accepted("ACQUIRING 1"));
    assert!(worker.is_accepted("LOST 0") && worker.is_accepted("ACQUIRING 1"));
}

#[test]
fn a_late_loss_of_an_earlier_acquisition_does_not_prevent_nesting() {
    let mut worker = Worker::new("lock:orders");
    assert!(worker.is_accepted("ACQUIRING orders") && worker.is_accepted("LOST orders"));
    assert!(worker.is_accepted("ACQUIRED orders"));
    assert!(worker.is_accepted("ACQUIRING orders") && worker.is_accepted("ACQUIRED orders"));
    assert!(worker.is_accepted("RELEASING orders") && worker.is_accepted("RELEASED orders"));
    assert!(worker.judge.is_inside());
}

#[test]
fn a_lost_inner_release_does_not_end_the_outer_acquisition() {
    let mut worker = Worker::new("lock:orders");
    for said in ["ACQUIRING orders", "ACQUIRED orders"].repeat(2) {
        assert!(worker.is_accepted(said), "{said}");
    }
    for said in ["RELEASING orders", "LOST orders", "RELEASED orders"].repeat(2) {
        assert!(worker.is_accepted(said), "{said}");
    }
    assert_eq!(worker.cycles_left(), 3);
}

#[test]
fn without_a_pattern_all_processes_name_one_lock() {
    let mut one = Worker::new("lock:orders");
    let mut other = Worker::of("lock:orders", one.desk.clone(), Node::Client(2));
    assert!(one.is_accepted("ACQUIRING 0"));
    let refusal = "-ERR there are several locks, '0' and '1': name their keys with a pattern, for \
                   example --lock-key 'job:*'";
    assert_eq!(other.send("ACQUIRING 1"), refusal);
    assert_eq!(other.send("ACQUIRED 1"), "-ERR expected ACQUIRING first");
    assert!(other.recorder.take().is_empty(), "the refused ACQUIRING is not recorded");
    assert!(other.is_accepted("ACQUIRING 0"));
}

#[test]
fn with_a_pattern_a_holder_names_one_lock_after_the_other() {
    let mut worker = Worker::new("job:*");
    assert!(worker.is_accepted("ACQUIRING 0") && worker.is_accepted("ACQUIRED 0"));
    assert!(worker.send("ACQUIRING 1").starts_with("-ERR expected RELEASING first: a holder has"));
    assert!(worker.is_accepted("ACQUIRING 1 AS other"));
    assert!(worker.is_accepted("RELEASING 0") && worker.is_accepted("RELEASED 0"));
    assert!(worker.is_accepted("ACQUIRING 1"));
}

#[test]
fn a_token_and_a_validity_are_numbers() {
    let mut worker = Worker::new("lock:orders");
    assert!(worker.is_accepted("ACQUIRING orders"));
    let token = "-ERR ACQUIRED: expected an integer from 0 as the token, not '0x1f'";
    assert_eq!(worker.send("ACQUIRED orders 0x1f"), token);
    let valid = "-ERR VALID: expected milliseconds, not '9s'";
    assert_eq!(worker.send("ACQUIRED orders 7 VALID 9s"), valid);
    assert!(worker.is_accepted("ACQUIRED orders 7 VALID 900.5"));
    let events = worker.recorder.take();
    let Some(What::Ok { token, valid_for_us, .. }) = events.last().map(|last| &last.what) else {
        panic!("no ok: {events:?}")
    };
    assert_eq!((*token, *valid_for_us), (Some(7), Some(Micros(900_500))));
}
