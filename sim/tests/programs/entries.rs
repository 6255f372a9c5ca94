use crate::cases::{case, found, kinds, reason};
use fencepost_reports::{Cause, Kind};

const NEVER_ASKS: &str = r#"
for cycle in range(CYCLES):
    value = f"{ME}-{cycle}"
    say("ACQUIRING", "orders")
    if option("NOBODY"): redis("PING")
    elif ME != "2": take(value=value)
    work(say("ACQUIRED", "orders"))
    say("RELEASING", "orders"); redis("EVAL", COMPARE_AND_DELETE, 1, KEY, value)
    say("RELEASED", "orders")
"#;

#[test]
fn whoever_enters_without_asking_was_given_a_wrong_answer() {
    let Some(facts) = case(NEVER_ASKS, 3).run() else { return };
    let all = found(&facts);
    assert!(all.contains(&(Kind::WrongAnswer, Cause::UnfoundedAnswer)), "{all:?}");
    assert!(all.contains(&(Kind::Overlap, Cause::UnfoundedAnswer)), "{all:?}");
    let mut wrong = facts.violations.iter().filter(|one| one.kind == Kind::WrongAnswer);
    assert!(wrong.all(|one| one.summary.starts_with("client-2 was told ")), "{all:?}");
    let nobody = case(NEVER_ASKS, 3).with(&[("NOBODY", "1")]).run().unwrap();
    assert!(found(&nobody).contains(&(Kind::Overlap, Cause::UnfoundedAnswer)));
    assert!(found(&nobody).iter().all(|(_, cause)| *cause != Cause::Unexplained));
}

const SEVERAL_KEYS: &str = r#"
for cycle in range(CYCLES):
    say("ACQUIRING", "orders"); redis("SET", "seen", ME); take(key=f"app:{int(ME) % 2}")
    work(say("ACQUIRED", "orders"))
    say("RELEASING", "orders"); redis("DEL", f"app:{int(ME) % 2}"); say("RELEASED", "orders")
"#;

#[test]
fn of_a_lock_that_may_be_another_key_nobody_says_that_it_was_not_granted() {
    let Some(facts) = case(SEVERAL_KEYS, 4).run() else { return };
    let all = found(&facts);
    assert!(all.iter().any(|(kind, _)| *kind == Kind::Overlap), "{all:?}");
    assert!(all.iter().all(|(_, cause)| *cause != Cause::UnfoundedAnswer), "{all:?}");
}

const ENDS_INSIDE: &str = r#"
for cycle in range(CYCLES):
    say("ACQUIRING", "orders"); take(value=f"{ME}-{cycle}"); hold = say("ACQUIRED", "orders")
    if ME == "1" and cycle == 1: os._exit(0)
    work(hold)
    say("RELEASING", "orders"); redis("EVAL", COMPARE_AND_DELETE, 1, KEY, f"{ME}-{cycle}")
    say("RELEASED", "orders")
"#;

#[test]
fn a_worker_that_ends_in_its_section_failed_whatever_its_status() {
    let Some(facts) = case(ENDS_INSIDE, 4).run() else { return };
    assert_eq!(kinds(&facts), []);
    let told = "client-1 exited with status 0 in its critical section at ";
    assert!(reason(&facts).starts_with(told), "{}", reason(&facts));
}

const ONE_OWNER: &str = r#"
import threading
def cycles(name):
    say, redis = Server(env("JUDGE")), Server(env("REDIS"), 1)
    for cycle in range(CYCLES):
        say("ACQUIRING", "orders", "AS", name)
        while redis("GET", KEY) != ME and not redis("SET", KEY, ME, "NX", "PX", TTL):
            time.sleep(0.1)
        time.sleep(say("ACQUIRED", "orders", "AS", name) / 1000)
        say("RELEASING", "orders", "AS", name); redis("EVAL", COMPARE_AND_DELETE, 1, KEY, ME)
        say("RELEASED", "orders", "AS", name)
threads = [threading.Thread(target=cycles, args=(name,)) for name in "ab"]
for thread in threads: thread.start()
for thread in threads: thread.join()
"#;

#[test]
fn threads_that_share_an_owner_are_told_apart_in_the_probe_too() {
    let Some(facts) = case(ONE_OWNER, 4).run() else { return };
    let all = found(&facts);
    assert!(all.contains(&(Kind::Overlap, Cause::SharedOwner)), "{all:?}");
    assert!(all.iter().all(|(_, cause)| *cause != Cause::EarlyRelease), "{all:?}");
}
