use crate::cases::{Case, case, found, kinds, reason};
use fencepost_reports::{Cause, Kind, Verdict, Workload};

const JOBS: &str = r#"
for job in range(1, CYCLES + 1):
    name = f"job:{job}" if option("WHOLE") else str(job)
    key = f"job:{job}"
    say("ACQUIRING", name)
    if not redis("SET", key, ME, "NX", "PX", TTL):
        say("REFUSED", name); time.sleep(0.05); continue
    if option("RECORD") and redis("GET", f"done:{job}"):
        redis("EVAL", COMPARE_AND_DELETE, 1, key, ME); say("REFUSED", name); continue
    hold = say("ACQUIRED", name)
    time.sleep(hold / 1000)
    say("RELEASING", name)
    redis("SET", f"done:{job}", 1)
    if not option("KEEP"): redis("EVAL", COMPARE_AND_DELETE, 1, key, ME)
    say("RELEASED", name)
"#;

fn jobs() -> Case {
    case(JOBS, 6).watching("job:*").set(|it| it.workload = Workload::Jobs)
}

#[test]
fn a_job_that_is_done_after_its_lock_was_given_back_is_done_twice() {
    for options in [&[][..], &[("WHOLE", "1")]] {
        let Some(facts) = jobs().with(options).run() else { return };
        assert!(
            found(&facts).contains(&(Kind::RepeatedJob, Cause::UnrecordedJob)),
            "{:?} {:?}",
            found(&facts),
            facts.verdict
        );
        let repeated = facts.violations.iter().find(|one| one.kind == Kind::RepeatedJob).unwrap();
        assert!(repeated.resource.starts_with("job:"), "{}", repeated.resource);
        assert!(facts.timeline.iter().any(|entry| entry.text.contains("grants the lock")));
    }
}

#[test]
fn a_job_that_is_recorded_is_done_once_and_who_gets_none_is_no_reason_for_unknown() {
    let Some(facts) = jobs().with(&[("RECORD", "1")]).run() else { return };
    assert_eq!(facts.verdict, Verdict::Valid, "{:?}", found(&facts));
    assert!(facts.note.is_none(), "{:?}", facts.note);
}

#[test]
fn keys_of_different_jobs_do_not_overlap_and_those_of_one_job_do() {
    let keyed = |fault, seed| {
        let case = jobs().set(|it| it.workload = Workload::Register).under(fault, seed);
        case.with(&[("RECORD", "1")]).run()
    };
    let Some(facts) = keyed("none", 0) else { return };
    assert_eq!(found(&facts), []);
    let overlaps = (0..12).filter_map(|seed| keyed("pause", seed));
    let causes: Vec<_> = overlaps.flat_map(|facts| found(&facts)).collect();
    assert!(causes.iter().all(|(kind, _)| *kind != Kind::StaleWrite), "{causes:?}");
}

#[test]
fn of_a_key_that_nobody_wrote_the_report_says_which_keys_there_are() {
    let recorded = jobs().watching("tick:*").with(&[("RECORD", "1")]);
    let Some(facts) = recorded.run() else { return };
    assert!(reason(&facts).contains("wrote"), "{}", reason(&facts));
    assert_eq!(kinds(&facts), []);
}

const TWO: &str = r#"
names = ["a", "b"]
if option("ABBA") and int(ME) % 2: names.reverse()
for cycle in range(CYCLES):
    for name in names:
        say("ACQUIRING", name, "AS", name)
        while not redis("SETNX", f"lock:{name}", ME): time.sleep(0.1)
        say("ACQUIRED", name, "AS", name); time.sleep(0.5)
    for name in names:
        say("RELEASING", name, "AS", name)
        redis("DEL", f"lock:{name}")
        say("RELEASED", name, "AS", name)
"#;

#[test]
fn processes_that_take_two_locks_in_opposite_orders_wait_for_each_other_for_ever() {
    let two = || case(TWO, 3).watching("lock:*").set(|it| it.processes = 2);
    let Some(facts) = two().run() else { return };
    assert_eq!(facts.verdict, Verdict::Valid, "{:?}", found(&facts));
    let facts = two().with(&[("ABBA", "1")]).run().unwrap();
    assert_eq!(found(&facts), [(Kind::Stuck, Cause::LockOrder)]);
    let told = &facts.violations[0].summary;
    assert!(told.contains("held lock:a and waited for lock:b"), "{told}");
}

const KNOWS_ONE_SERVER: &str = r#"
for cycle in range(CYCLES):
    say("ACQUIRING", "orders")
    while True:
        try:
            if redis("SET", KEY, ME, "NX", "PX", TTL): break
        except (Lost, ValueError): pass
        time.sleep(0.1)
    work(say("ACQUIRED", "orders"))
    say("RELEASING", "orders")
    try: redis("EVAL", COMPARE_AND_DELETE, 1, KEY, ME)
    except (Lost, ValueError): say("UNKNOWN", "orders")
    say("RELEASED", "orders")
    if option("ASKS"):
        try: socket.create_connection(env("SENTINELS").split(",")[0].split(":"), 1).close()
        except OSError: pass
"#;

#[test]
fn a_program_that_asks_no_sentinel_waits_for_a_replica_and_is_told_so() {
    let of = |seed, options| case(KNOWS_ONE_SERVER, 20).under("failover", seed).with(options).run();
    let found = (0..8).find_map(|seed| {
        let facts = of(seed, &[])?;
        let is_told = matches!(&facts.verdict, Verdict::Unknown { reason }
            if reason.starts_with("redis-1 became a replica at "));
        is_told.then_some((seed, facts))
    });
    let Some((seed, facts)) = found else {
        assert!(of(0, &[]).is_none(), "no seed promotes another server");
        return;
    };
    assert!(reason(&facts).contains("FENCEPOST_SENTINELS"), "{:?}", facts.verdict);
    let asks = of(seed, &[("ASKS", "1")]).unwrap();
    assert_eq!(kinds(&asks), [Kind::Stuck], "{:?}", asks.verdict);
}
