use super::*;
use crate::setup::scenario::program::Program;
use fencepost_faults::Seed;
use fencepost_reports::Event;

struct Desk {
    judge: Judge,
    recorder: Rc<Recorder>,
    desk: Rc<HolderDesk>,
}

impl Desk {
    fn new(lock_key: &str) -> Desk {
        Desk::of(lock_key, Rc::default(), Node::Client(1))
    }

    fn of(lock_key: &str, desk: Rc<HolderDesk>, node: Node) -> Desk {
        let mut program = Program::parse("worker=true").unwrap();
        program.lock_key = lock_key.to_owned();
        let scenario = Rc::new(Scenario { programs: vec![program], ..Scenario::default() });
        let recorder: Rc<Recorder> = Rc::default();
        let roster = Rc::new(Roster::new(Seed(1), &[node], 4));
        let judge = Judge::new(node, (recorder.clone(), roster), scenario, desk.clone());
        Desk { judge, recorder, desk }
    }

    fn says(&mut self, text: &str) -> String {
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

    fn hears(&mut self, text: &str) -> bool {
        !self.says(text).starts_with('-')
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
    let mut desk = Desk::new("lock:orders");
    for said in ["ACQUIRING orders", "ACQUIRED orders"].repeat(2) {
        assert!(desk.hears(said), "{said}");
    }
    let outer = 0;
    assert_ne!(desk.desk.acquisition(Node::Client(1)), Some(outer));
    assert!(desk.hears("RELEASING orders") && desk.hears("RELEASED orders"));
    assert!(desk.judge.is_inside(), "the outer acquisition continues");
    assert_eq!(desk.desk.acquisition(Node::Client(1)), Some(outer));
    assert_eq!(desk.cycles_left(), 4);
    assert!(desk.hears("RELEASING orders") && desk.hears("RELEASED orders"));
    assert!(!desk.judge.is_amid());
    assert_eq!(desk.cycles_left(), 3);
    assert_eq!(desk.recorder.take().iter().filter(|event| is_release(event)).count(), 2);
    assert_eq!(desk.says("RELEASING orders"), "-ERR expected ACQUIRED first");
}

#[test]
fn an_inner_acquire_that_fails_does_not_end_the_critical_section() {
    for said in ["REFUSED orders", "UNKNOWN orders timeout"] {
        let mut desk = Desk::new("lock:orders");
        assert!(desk.hears("ACQUIRING orders") && desk.hears("ACQUIRED orders"));
        assert!(desk.hears("ACQUIRING orders") && desk.hears(said));
        assert!(desk.judge.is_inside(), "{said}");
        assert_eq!(desk.cycles_left(), 4);
        assert!(desk.hears("RELEASING orders") && desk.hears("RELEASED orders"));
        assert_eq!(desk.cycles_left(), 3);
    }
}

#[test]
fn who_lost_the_lock_inside_acquires_it_anew_and_does_not_nest() {
    let mut desk = Desk::new("lock:orders");
    assert!(desk.hears("ACQUIRING orders") && desk.hears("ACQUIRED orders"));
    assert!(desk.hears("LOST orders"));
    assert!(desk.hears("ACQUIRING orders") && desk.hears("ACQUIRED orders"));
    assert!(desk.hears("RELEASING orders") && desk.hears("RELEASED orders"));
    assert!(!desk.judge.is_amid());
    assert_eq!(desk.cycles_left(), 3);
}

#[test]
fn a_late_loss_of_an_earlier_acquisition_does_not_prevent_nesting() {
    let mut desk = Desk::new("lock:orders");
    assert!(desk.hears("ACQUIRING orders") && desk.hears("LOST orders"));
    assert!(desk.hears("ACQUIRED orders"));
    assert!(desk.hears("ACQUIRING orders") && desk.hears("ACQUIRED orders"));
    assert!(desk.hears("RELEASING orders") && desk.hears("RELEASED orders"));
    assert!(desk.judge.is_inside());
}

#[test]
fn a_lost_inner_release_does_not_end_the_outer_acquisition() {
    let mut desk = Desk::new("lock:orders");
    for said in ["ACQUIRING orders", "ACQUIRED orders"].repeat(2) {
        assert!(desk.hears(said), "{said}");
    }
    for said in ["RELEASING orders", "LOST orders", "RELEASED orders"].repeat(2) {
        assert!(desk.hears(said), "{said}");
    }
    assert_eq!(desk.cycles_left(), 3);
}

#[test]
fn without_a_pattern_all_processes_name_one_lock() {
    let mut one = Desk::new("lock:orders");
    let mut other = Desk::of("lock:orders", one.desk.clone(), Node::Client(2));
    assert!(one.hears("ACQUIRING 0"));
    let refusal = "-ERR there are several locks, '0' and '1': name their keys with a pattern, for \
                   example --lock-key 'job:*'";
    assert_eq!(other.says("ACQUIRING 1"), refusal);
    assert_eq!(other.says("ACQUIRED 1"), "-ERR expected ACQUIRING first");
    assert!(other.recorder.take().is_empty(), "nothing is recorded of another lock");
    assert!(other.hears("ACQUIRING 0"));
}

#[test]
fn with_a_pattern_a_holder_names_one_lock_after_the_other() {
    let mut desk = Desk::new("job:*");
    assert!(desk.hears("ACQUIRING 0") && desk.hears("ACQUIRED 0"));
    assert!(desk.says("ACQUIRING 1").starts_with("-ERR expected RELEASING first: a holder has"));
    assert!(desk.hears("ACQUIRING 1 AS other"));
    assert!(desk.hears("RELEASING 0") && desk.hears("RELEASED 0"));
    assert!(desk.hears("ACQUIRING 1"));
}

#[test]
fn a_token_and_a_validity_are_numbers() {
    let mut desk = Desk::new("lock:orders");
    assert!(desk.hears("ACQUIRING orders"));
    let token = "-ERR ACQUIRED: expected an integer from 0 as the token, not '0x1f'";
    assert_eq!(desk.says("ACQUIRED orders 0x1f"), token);
    let valid = "-ERR VALID: expected milliseconds, not '9s'";
    assert_eq!(desk.says("ACQUIRED orders 7 VALID 9s"), valid);
    assert!(desk.hears("ACQUIRED orders 7 VALID 900.5"));
    let events = desk.recorder.take();
    let Some(What::Ok { token, valid_for_us, .. }) = events.last().map(|last| &last.what) else {
        panic!("no ok: {events:?}")
    };
    assert_eq!((*token, *valid_for_us), (Some(7), Some(Micros(900_500))));
}
