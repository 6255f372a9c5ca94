mod world;

use super::*;
use stateright::{Checker, Model};
use world::{Lock, Mistake, Trouble};

struct Cell {
    lock: Lock,
    is_broken: bool,
    states: Option<usize>,
    fault: &'static str,
}

fn lock((processes, servers, attempts): (usize, usize, u8), trouble: Option<Trouble>) -> Lock {
    Lock { processes, servers, attempts, trouble, mistake: Mistake::None }
}

fn cells() -> Vec<Cell> {
    let one = |trouble| lock((2, 1, 2), trouble);
    let three = |attempts, trouble| lock((2, 3, attempts), trouble);
    let safe = |lock, states, fault| Cell { lock, is_broken: false, states: Some(states), fault };
    let broken = |lock, fault| Cell { lock, is_broken: true, states: None, fault };
    vec![
        safe(one(None), STATES_ONE[0], "none"),
        safe(one(Some(Trouble::Crash)), STATES_ONE[1], "client-crash"),
        safe(one(Some(Trouble::LoseReply)), STATES_ONE[2], "lost-reply"),
        safe(one(Some(Trouble::ForgetLate)), STATES_ONE[3], "restart"),
        broken(one(Some(Trouble::Forget)), "restart"),
        broken(one(Some(Trouble::Pause)), "pause"),
        safe(three(2, None), STATES_THREE[0], "none"),
        safe(three(1, Some(Trouble::LoseReply)), STATES_THREE[1], "lost-reply"),
        safe(three(1, Some(Trouble::ForgetLate)), STATES_THREE[2], "restart"),
        safe(three(1, Some(Trouble::Crash)), STATES_THREE[3], "client-crash"),
        broken(three(1, Some(Trouble::Forget)), "restart"),
        broken(three(2, Some(Trouble::Pause)), "pause"),
    ]
}

/// Number of states of the one-server model: without faults, with a crash, with a lost reply, and
/// with a downtime longer than a lease.
const STATES_ONE: [usize; 4] = [278, 599, 1_186, 1_927];
/// Number of states of the three-server model: without faults, with a lost reply, with a downtime
/// longer than a lease, and with a crash. The last three allow one attempt per process.
const STATES_THREE: [usize; 4] = [51_941, 29_306, 79_290, 21_727];

fn checked(lock: &Lock) -> (bool, usize) {
    let checker = lock.clone().checker().spawn_bfs().join();
    assert!(checker.is_done());
    assert!(checker.discovery("everybody enters").is_some(), "{lock:?} exercises the lock");
    (checker.discovery("one at a time").is_some(), checker.unique_state_count())
}

fn bounds_of_cell(cell: &Cell) -> Bounds {
    let client = if cell.lock.servers == 1 { "single-node" } else { "redlock" };
    let faults = u8::from(cell.lock.trouble.is_some());
    let mut bounds = bounds(client, cell.fault, faults);
    match cell.lock.trouble {
        Some(Trouble::ForgetLate) => {
            bounds.scenario.faults.restart_delay = SpanRange::new(Span::secs(12), Span::secs(12));
        }
        Some(Trouble::Forget) => {
            bounds.scenario.timing.latency = SpanRange::new(Span(Micros(200)), Span::millis(2));
        }
        _ => {}
    }
    bounds
}

#[test]
fn models_and_explorer_agree_on_what_is_safe() {
    for cell in cells() {
        let (is_broken, states) = checked(&cell.lock);
        assert_eq!(is_broken, cell.is_broken, "{:?}", cell.lock);
        if let Some(stated) = cell.states {
            assert_eq!(states, stated, "{:?}", cell.lock);
        }
        let bounds = bounds_of_cell(&cell);
        match explored(&bounds) {
            Answer::Counterexample(planned) => {
                assert!(is_broken, "the model is safe under {}: {planned:?}", cell.fault);
                let spec = bounds.spec(&bases(&bounds)[planned.base], planned.plan);
                let outcome = spec.run(Engine::Turmoil).expect("turmoil runs it too");
                assert_eq!(judge(&outcome.history).verdict, Verdict::Violated);
            }
            Answer::Quiet(ledger) => {
                assert!(!is_broken, "the model is broken under {}", cell.fault);
                assert!(ledger.sum().valid > 0);
            }
            Answer::Stopped(_) => panic!("nobody stops it"),
        }
    }
}

#[test]
fn a_mistake_in_the_model_is_noticed() {
    let with = |lock: Lock, mistake| Lock { mistake, ..lock };
    for lock in [lock((2, 1, 2), None), lock((3, 1, 2), None)] {
        assert!(!checked(&lock).0, "{lock:?}");
        for mistake in [Mistake::Delete, Mistake::Set] {
            assert!(checked(&with(lock.clone(), mistake)).0, "{lock:?}, {mistake:?}");
        }
    }
    for mistake in [Mistake::Quorum, Mistake::Delete, Mistake::Set] {
        let lock = with(lock((2, 3, 2), None), mistake);
        assert!(checked(&lock).0, "{lock:?}");
    }
}

fn disguised(name: &'static str, as_is: &str) -> &'static Definition {
    let own = find(as_is).expect("the lock is in the table");
    let Definition { about, deployment, has_tokens, is_fair, models, build, .. } = *own;
    Box::leak(Box::new(Definition { name, about, deployment, has_tokens, is_fair, models, build }))
}

#[test]
fn a_mistake_planted_in_a_certified_lock_breaks_its_certificate() {
    for (name, mistaken, fault) in [
        ("single-node", "set-ex-del", "latency"),
        ("redlock", "redlock-no-validity-check", "latency"),
    ] {
        let sound = bounds(name, fault, 1);
        let work = Exploration::new(&sound, 2, &Stop::new()).expect("it can be placed");
        let written = certificate(&sound, &work.conditions(), &quiet(&sound));
        for (client, is_same) in [(disguised(name, name), true), (disguised(name, mistaken), false)]
        {
            let bounds = Bounds { client, ..sound.clone() };
            let work = Exploration::new(&bounds, 2, &Stop::new()).expect("it can be placed");
            let ended = check(&written, &bounds, &work, Extent::Whole, &Silent, &Stop::new());
            let ended = ended.expect("it runs");
            let is_own = matches!(ended, Checked::Same { .. });
            assert_eq!(is_own, is_same, "{mistaken} as {name}: {ended:?}");
        }
    }
}
