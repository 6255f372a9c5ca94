use crate::workers::program;
use fencepost::hosts::programs::ProgramDeployment;
use fencepost::run::verdicts::FinishedRun;
use fencepost::setup::span::Span;
use fencepost::{Engine, RunSpec, Scenario};
use fencepost_clients::Coordinator;
use fencepost_faults::Seed;
use fencepost_reports::{Cause, Kind, RunFacts, Verdict};
use std::rc::Rc;

const PRELUDE: &str = include_str!("prelude.py");
const CLIENTS: &str = include_str!("clients.py");

pub(crate) struct Case {
    worker: &'static str,
    options: &'static [(&'static str, &'static str)],
    fault: &'static str,
    seed: u64,
    scenario: Scenario,
    coordinator: Coordinator,
    deployment: Option<ProgramDeployment>,
    watched: Option<&'static str>,
}

pub(crate) fn case(worker: &'static str, cycles: u32) -> Case {
    Case {
        worker,
        options: &[],
        fault: "none",
        seed: 0,
        scenario: Scenario { cycles, ..Scenario::default() },
        coordinator: Coordinator::Redis,
        deployment: None,
        watched: None,
    }
}

impl Case {
    pub(crate) fn with(self, options: &'static [(&'static str, &'static str)]) -> Case {
        Case { options, ..self }
    }

    pub(crate) fn under(self, fault: &'static str, seed: u64) -> Case {
        Case { fault, seed, ..self }
    }

    pub(crate) fn set(mut self, change: impl FnOnce(&mut Scenario)) -> Case {
        change(&mut self.scenario);
        self
    }

    pub(crate) fn on(self, coordinator: Coordinator) -> Case {
        Case { coordinator, ..self }
    }

    pub(crate) fn deployed(self, deployment: ProgramDeployment) -> Case {
        Case { deployment: Some(deployment), ..self }
    }

    pub(crate) fn watching(self, key: &'static str) -> Case {
        Case { watched: Some(key), ..self }
    }

    pub(crate) fn run(self) -> Option<RunFacts> {
        if std::process::Command::new("python3").arg("--version").output().is_err() {
            eprintln!("skipped: python3 is not installed");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("prelude.py"), PRELUDE).unwrap();
        std::fs::write(folder.path().join("clients.py"), CLIENTS).unwrap();
        let path = folder.path().join("worker.py");
        std::fs::write(&path, format!("from prelude import *\n{}", self.worker)).unwrap();
        let mut worker = program(&format!("script=python3 {}", path.display()));
        worker.set_servers(self.coordinator, self.deployment);
        if let Some(key) = self.watched {
            worker.lock_key = key.to_owned();
        }
        for (name, value) in self.options {
            worker.environment.insert((*name).to_owned(), (*value).to_owned());
        }
        let scenario = Rc::new(Scenario { programs: vec![worker.clone()], ..self.scenario });
        let families = self.fault.parse().unwrap();
        let spec = RunSpec::draw(Seed(self.seed), worker.definition(), &families, scenario);
        let outcome = spec.run(Engine::Fast).unwrap();
        fencepost_reports::validate(&outcome.history).unwrap();
        Some(FinishedRun { spec: &spec, outcome: &outcome }.facts())
    }
}

pub(crate) fn found(facts: &RunFacts) -> Vec<(Kind, Cause)> {
    facts.violations.iter().map(|violation| (violation.kind, violation.cause)).collect()
}

pub(crate) fn kinds(facts: &RunFacts) -> Vec<Kind> {
    facts.violations.iter().map(|violation| violation.kind).collect()
}

/// Returns the first seed with such a violation, and its run. Returns `None` if a tool is missing.
pub(crate) fn first_broken(
    seeds: std::ops::Range<u64>,
    kind: Kind,
    of: impl Fn(u64) -> Case,
) -> Option<(u64, RunFacts)> {
    for seed in seeds.clone() {
        let facts = of(seed).run()?;
        if kinds(&facts).contains(&kind) {
            return Some((seed, facts));
        }
    }
    panic!("no {kind} in seeds {seeds:?}");
}

/// Returns the seeds of a fixed program, whose flawed twin shows the violation with seed `first`.
pub(crate) fn twin_seeds(first: u64, thorough: u64) -> std::ops::Range<u64> {
    0..if crate::is_thorough() { thorough.max(first + 1) } else { first + 1 }
}

pub(crate) fn reason(facts: &RunFacts) -> &str {
    match &facts.verdict {
        Verdict::Unknown { reason } => reason,
        other => panic!("{other:?}: {:?}", facts.programs),
    }
}

const FORGETS: &str = r#"
for cycle in range(CYCLES):
    say("ACQUIRING", "orders")
    while not redis("SETNX", KEY, ME): time.sleep(1)
    say("ACQUIRED", "orders"); work(200)
    say("RELEASING", "orders")
    if cycle < int(option("GOOD") or 0): redis("DEL", KEY)
    say("RELEASED", "orders")
    time.sleep(3)
"#;

#[test]
fn processes_that_poll_in_silence_to_the_end_of_the_run_are_stuck() {
    for options in [&[("GOOD", "1")][..], &[]] {
        let Some(facts) = case(FORGETS, 3).set(|it| it.processes = 2).with(options).run() else {
            return;
        };
        let expected = [Kind::WrongAnswer, Kind::Stuck].map(|kind| (kind, Cause::UnfoundedAnswer));
        assert_eq!(found(&facts), expected);
        assert_eq!(facts.virtual_time_us.0, 1_800_000_000, "it ends at its limit");
    }
}

const REPORTS_FALSE_LOSS: &str = r#"
for cycle in range(CYCLES):
    say("ACQUIRING", "orders"); take(value=f"{ME}-{cycle}")
    say("ACQUIRED", "orders"); work(500)
    if option("RENAME"): redis("SET", KEY, f"{ME}-{cycle}-again", "XX", "PX", TTL)
    if option("LATE"):
        say("RELEASING", "orders"); redis("DEL", KEY); say("RELEASED", "orders")
        time.sleep(0.015)
    say("LOST", "orders")
    if not option("LATE"): say("RELEASING", "orders"); say("RELEASED", "orders")
"#;

#[test]
fn a_loss_that_is_none_is_a_wrong_answer() {
    for options in [&[][..], &[("RENAME", "1")], &[("LATE", "1")]] {
        let run = case(REPORTS_FALSE_LOSS, 2).set(|it| it.processes = 2).with(options).run();
        let Some(facts) = run else { return };
        assert_eq!(kinds(&facts), [Kind::WrongAnswer], "{options:?}: {:?}", found(&facts));
    }
}

const ORPHANS: &str = r#"
for cycle in range(CYCLES):
    say("ACQUIRING", "orders")
    attempt = 0
    while True:
        attempt += 1
        value = f"{ME}-{cycle}-{attempt}"
        try:
            if redis("SET", KEY, value, "NX", "PX", TTL): break
        except Lost:
            if option("RECLAIM"):
                try: redis("EVAL", COMPARE_AND_DELETE, 1, KEY, value)
                except Lost: pass
        time.sleep(0.1)
    work(say("ACQUIRED", "orders"))
    say("RELEASING", "orders")
    try:
        if not redis("EVAL", COMPARE_AND_DELETE, 1, KEY, value): say("LOST", "orders")
    except Lost: say("UNKNOWN", "orders")
    say("RELEASED", "orders")
"#;

#[test]
fn a_grant_that_nobody_heard_of_keeps_the_lock_from_those_who_want_it() {
    let short = |it: &mut Scenario| {
        (it.processes, it.availability) = (2, Some(Span::secs(5)));
    };
    let of = |seed| case(ORPHANS, 4).set(short).under("lost-reply", seed);
    let Some((first, _)) = first_broken(0..8, Kind::Unavailable, of) else { return };
    for seed in twin_seeds(first, 8) {
        let reclaimed = of(seed).with(&[("RECLAIM", "1")]).run().unwrap();
        assert_eq!(found(&reclaimed), [], "{seed}");
    }
}

const THREAD_DIES: &str = r#"
import threading
threading.Thread(target=lambda: time.sleep(10**6)).start()
for cycle in range(CYCLES):
    say("ACQUIRING", "orders"); take()
    work(say("ACQUIRED", "orders"))
    say("RELEASING", "orders")
    try: redis("EVAL", COMPARE_AND_DELETE, 1, KEY, ME)
    except Lost: say("UNKNOWN", "orders")
    say("RELEASED", "orders")
"#;

#[test]
fn a_thread_that_dies_while_its_process_lives_on_makes_the_run_unknown() {
    let mut died = 0;
    for seed in 0..6 {
        let Some(facts) = case(THREAD_DIES, 20).under("lost-reply", seed).run() else {
            return;
        };
        if !facts.has_failed() {
            continue;
        }
        died += 1;
        let told = "lost a thread to an uncaught error at ";
        assert!(reason(&facts).contains(told), "{}", reason(&facts));
        assert!(reason(&facts).contains(": prelude.Lost: "), "{}", reason(&facts));
        if !crate::is_thorough() {
            return;
        }
    }
    assert!(died > 0);
}

const WAITS_AFTER_A_CAUGHT_ERROR: &str = r#"
import threading, traceback
for cycle in range(CYCLES):
    say("ACQUIRING", "orders")
    while not redis("SET", KEY, ME, "NX", "PX", TTL):
        if cycle > 0:
            try: int("x")
            except ValueError: traceback.print_exc()
            threading.Event().wait()
        time.sleep(0.1)
    say("ACQUIRED", "orders"); work(400)
    say("RELEASING", "orders"); redis("DEL", KEY); say("RELEASED", "orders")
"#;

#[test]
fn an_error_that_a_program_caught_and_printed_ends_no_thread() {
    let Some(facts) = case(WAITS_AFTER_A_CAUGHT_ERROR, 4).run() else { return };
    assert_eq!(kinds(&facts), [Kind::Deadlock], "{}", reason(&facts));
}

const DIES_IN_SECTION: &str = r#"
for cycle in range(CYCLES):
    say("ACQUIRING", "orders"); take()
    say("ACQUIRED", "orders")
    if ME == "1": raise SystemExit("a bug of the worker")
    work(500)
    say("RELEASING", "orders"); redis("DEL", KEY); say("RELEASED", "orders")
"#;

#[test]
fn a_worker_that_dies_in_its_section_is_in_it_no_longer() {
    let Some(facts) = case(DIES_IN_SECTION, 3).run() else { return };
    assert_eq!(found(&facts), []);
    assert!(reason(&facts).contains("client-1 exited with status 1"), "{}", reason(&facts));
    assert!(reason(&facts).ends_with(": a bug of the worker"), "{}", reason(&facts));
}

const OWNER_PER_MASTER: &str = r#"
masters = [Server(env(f"REDIS_{n}"), 0.2) for n in range(1, MASTERS + 1)]
def each(ask):
    done = 0
    for number, master in enumerate(masters):
        try: done += bool(ask(number, master))
        except Lost: pass
    return done
for cycle in range(CYCLES):
    say("ACQUIRING", "orders")
    attempt = 0
    while True:
        attempt += 1
        owner = lambda number: f"{ME}-{number}-{cycle}-{attempt}"
        if each(lambda n, it: it("SET", KEY, owner(n), "NX", "PX", TTL)) > MASTERS // 2: break
        each(lambda n, it: it("EVAL", COMPARE_AND_DELETE, 1, KEY, owner(n)))
        time.sleep(0.05 * (1 + int(ME)))
    hold = say("ACQUIRED", "orders", *(["VALID", 2 * TTL] if option("BOASTS") else []))
    work(hold)
    say("RELEASING", "orders")
    each(lambda n, it: it("EVAL", COMPARE_AND_DELETE, 1, KEY, owner(n)))
    say("RELEASED", "orders")
"#;

#[test]
fn an_owner_may_have_another_name_at_each_master() {
    let independent = || case(OWNER_PER_MASTER, 4).deployed(ProgramDeployment::Independent);
    let Some(facts) = independent().run() else { return };
    assert_eq!(facts.verdict, Verdict::Valid, "{:?}", found(&facts));
    let facts = independent().with(&[("BOASTS", "1")]).run().unwrap();
    assert_eq!(kinds(&facts), [Kind::WrongAnswer], "its validity is twice its lease");
}

/// A Redlock worker. NEED is the number of masters that it needs, LATE delays its critical section
/// beyond the lease, and VALID and HOLD are multiples of the lease.
const QUORUM: &str = r#"
masters = [Server(env(f"REDIS_{n}"), 0.2) for n in range(1, MASTERS + 1)]
def each(*words): return sum(bool(master(*words)) for master in masters)
need = int(option("NEED") or MASTERS // 2 + 1)
for cycle in range(CYCLES):
    say("ACQUIRING", "orders")
    attempt = 0
    while True:
        attempt += 1
        value = f"{ME}-{cycle}-{attempt}"
        if each("SET", KEY, value, "NX", "PX", TTL) >= need: break
        each("EVAL", COMPARE_AND_DELETE, 1, KEY, value)
        time.sleep(0.05 * (1 + int(ME)))
    if option("LATE"): time.sleep(TTL / 1000 + 0.5)
    stated = int(float(option("VALID") or 0) * TTL)
    hold = say("ACQUIRED", "orders", *(["VALID", stated] if stated else []))
    work(float(option("HOLD") or 0) * TTL or hold)
    say("RELEASING", "orders")
    each("EVAL", COMPARE_AND_DELETE, 1, KEY, value)
    say("RELEASED", "orders")
"#;

fn quorum(options: &'static [(&'static str, &'static str)]) -> Option<RunFacts> {
    case(QUORUM, 4).deployed(ProgramDeployment::Independent).with(options).run()
}

#[test]
fn a_grant_without_a_quorum_or_after_its_lease_is_a_wrong_answer() {
    let Some(facts) = quorum(&[]) else { return };
    assert_eq!(facts.verdict, Verdict::Valid, "{:?}", found(&facts));
    let facts = quorum(&[("NEED", "1")]).unwrap();
    assert!(kinds(&facts).contains(&Kind::WrongAnswer), "{:?}", found(&facts));
    let overlap = facts.violations.iter().find(|one| one.kind == Kind::Overlap).unwrap();
    assert_eq!(overlap.cause, Cause::UnfoundedAnswer);
    let told = "although only 1 of the 3 servers that it needs had granted it";
    assert!(overlap.summary.contains(told), "{}", overlap.summary);
    let facts = quorum(&[("LATE", "1")]).unwrap();
    assert_eq!(found(&facts), [(Kind::WrongAnswer, Cause::UnfoundedAnswer)]);
}

#[test]
fn a_holder_that_leaves_within_a_false_validity_is_not_to_blame() {
    let Some(facts) = quorum(&[("VALID", "0.95")]) else { return };
    assert_eq!(facts.verdict, Verdict::Valid, "{:?}", found(&facts));
    let overlap = |options| {
        let facts = quorum(options).unwrap();
        let mut violations = facts.violations.into_iter();
        violations.find(|one| one.kind == Kind::Overlap).unwrap()
    };
    let false_one = overlap(&[("VALID", "2"), ("HOLD", "1.5")]);
    assert_eq!(false_one.cause, Cause::UnfoundedAnswer);
    let told = "that its lock was valid for 20s";
    assert!(false_one.summary.contains(told), "{}", false_one.summary);
    assert_eq!(overlap(&[("VALID", "0.95"), ("HOLD", "1.5")]).cause, Cause::HoldTooLong);
    assert_eq!(overlap(&[("VALID", "1.2"), ("HOLD", "1.5")]).cause, Cause::HoldTooLong);
}

const OTHER_KEY: &str = r#"
for cycle in range(CYCLES):
    say("ACQUIRING", "orders"); take(key="app:orders")
    work(say("ACQUIRED", "orders"))
    say("RELEASING", "orders"); redis("DEL", "app:orders"); say("RELEASED", "orders")
"#;

#[test]
fn the_only_key_that_a_program_locks_is_watched() {
    let Some(facts) = case(OTHER_KEY, 4).run() else { return };
    assert_eq!(facts.verdict, Verdict::Valid);
    assert!(facts.note.as_ref().unwrap().contains("'app:orders'"), "{:?}", facts.note);
    let paused = |seed| case(OTHER_KEY, 8).under("pause", seed);
    let (first, facts) = first_broken(0..3, Kind::Overlap, paused).unwrap();
    let others = twin_seeds(first, 3).filter(|seed| *seed != first);
    let others = others.map(|seed| paused(seed).run().unwrap());
    for facts in others.chain([facts]) {
        assert!(!found(&facts).iter().any(|(_, cause)| *cause == Cause::Unexplained));
    }
}

const THREADS: &str = r#"
import threading
def cycles(name):
    say, redis = Server(env("JUDGE")), Server(env("REDIS"), 1)
    for cycle in range(CYCLES):
        say("ACQUIRING", "orders", "AS", name)
        while not redis("SET", KEY, f"{ME}-{name}", "NX", "PX", TTL): time.sleep(0.1)
        hold = say("ACQUIRED", "orders", "AS", name)
        time.sleep(hold / 1000)
        if option("EARLY"): redis("DEL", KEY); time.sleep(1)
        say("RELEASING", "orders", "AS", name); redis("DEL", KEY)
        say("RELEASED", "orders", "AS", name)
threads = [threading.Thread(target=cycles, args=(name,)) for name in "ab"]
for thread in threads: thread.start()
for thread in threads: thread.join()
"#;

#[test]
fn threads_that_name_themselves_are_judged_one_by_one() {
    let Some(facts) = case(THREADS, 3).run() else { return };
    assert_eq!(facts.verdict, Verdict::Valid, "{:?}", found(&facts));
    let facts = case(THREADS, 3).with(&[("EARLY", "1")]).run().unwrap();
    assert!(kinds(&facts).contains(&Kind::Overlap), "{:?}", found(&facts));
}

const COUNTS: &str = r#"
TAKE = """if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], ARGV[2]) return 1 end return 0"""
GIVE = """local left = redis.call('hincrby', KEYS[1], ARGV[1], -1)
if left > 0 then return left end redis.call('del', KEYS[1]) return 0"""
for cycle in range(CYCLES):
    say("ACQUIRING", "orders")
    while not redis("EVAL", TAKE, 1, KEY, ME, TTL): time.sleep(0.1)
    redis("EVAL", TAKE, 1, KEY, ME, TTL)
    say("ACQUIRED", "orders"); work(500)
    say("RELEASING", "orders")
    redis("EVAL", GIVE, 1, KEY, ME)
    if not option("ONCE"): redis("EVAL", GIVE, 1, KEY, ME)
    say("RELEASED", "orders")
"#;

#[test]
fn a_lock_that_was_counted_twice_is_not_given_back_by_one_release() {
    let Some(facts) = case(COUNTS, 4).run() else { return };
    assert_eq!(facts.verdict, Verdict::Valid, "{:?}", found(&facts));
    let facts = case(COUNTS, 4).with(&[("ONCE", "1")]).run().unwrap();
    assert!(kinds(&facts).contains(&Kind::WrongAnswer), "{:?}", found(&facts));
}
