use crate::cases::{case, first_broken, found, twin_seeds};
use fencepost::setup::scenario::Hold;
use fencepost::setup::span::{Span, SpanRange};
use fencepost_reports::{Cause, Kind, Verdict};

fn holds(from_ms: u64, to_ms: u64) -> Hold {
    Hold::Drawn(SpanRange::new(Span::millis(from_ms), Span::millis(to_ms)))
}

const REACQUIRES: &str = r#"
for cycle in range(CYCLES):
    say("ACQUIRING", "orders"); value = f"{ME}-{cycle}"; take(value=value)
    def extend():
        if option("FIXED"): redis("PEXPIRE", KEY, TTL); return
        redis("EVAL", COMPARE_AND_DELETE, 1, KEY, value)
        redis("SET", KEY, value, "NX", "PX", TTL)
    work(say("ACQUIRED", "orders"), extend, TTL // 3)
    say("RELEASING", "orders")
    if not redis("EVAL", COMPARE_AND_DELETE, 1, KEY, value): say("LOST", "orders")
    say("RELEASED", "orders")
"#;

#[test]
fn the_removal_that_let_another_in_is_told_and_not_an_earlier_one() {
    let of = |seed| {
        let short = |it: &mut fencepost::Scenario| {
            (it.processes, it.ttl, it.hold) = (2, Span::secs(3), holds(500, 6_000));
        };
        case(REACQUIRES, 4).set(short).under("none", seed)
    };
    let Some((first, facts)) = first_broken(0..40, Kind::Overlap, of) else { return };
    let overlap = facts.violations.iter().find(|one| one.kind == Kind::Overlap).unwrap();
    assert_eq!(overlap.cause, Cause::EarlyRelease, "{}", overlap.summary);
    let lines: Vec<&str> = overlap.narrative.iter().map(|line| line.text.as_str()).collect();
    let taken = lines.iter().rposition(|line| line.contains(" grants the lock to ")).unwrap();
    let removed = &overlap.narrative[taken - 1];
    assert!(removed.text.contains(" removes the lock of "), "{lines:?}");
    let told = facts.timeline.iter().find(|entry| entry.sequence == removed.event).unwrap();
    assert!(overlap.summary.contains(&told.time_us.to_string()), "{}", overlap.summary);
    for seed in twin_seeds(first, 10) {
        let facts = of(seed).with(&[("FIXED", "1")]).run().unwrap();
        assert_eq!(facts.verdict, Verdict::Valid, "{seed}: {:?}", found(&facts));
    }
}

const OWN_LEASE: &str = r#"
LEASE = 3000
redis.timeout = None
for cycle in range(CYCLES):
    say("ACQUIRING", "orders"); take(ttl_ms=LEASE)
    renew = (lambda: redis("PEXPIRE", KEY, LEASE)) if option("RENEW") else None
    work(say("ACQUIRED", "orders"), renew, 1000)
    say("RELEASING", "orders")
    if not redis("EVAL", COMPARE_AND_DELETE, 1, KEY, ME): say("LOST", "orders")
    say("RELEASED", "orders")
"#;

#[test]
fn the_lease_is_the_one_that_the_server_recorded() {
    let of = |seed| case(OWN_LEASE, 6).set(|it| it.hold = holds(1_000, 8_000)).under("none", seed);
    let Some((_, facts)) = first_broken(0..3, Kind::Overlap, of) else { return };
    let overlap = facts.violations.iter().find(|one| one.kind == Kind::Overlap).unwrap();
    assert_eq!(overlap.cause, Cause::HoldTooLong, "{}", overlap.summary);
    assert!(
        overlap.summary.ends_with("was in its critical section for longer than its lease of 3s."),
        "{}",
        overlap.summary
    );
    assert!(overlap.narrative[0].text.ends_with(" for 3s."), "{:?}", overlap.narrative);
}

#[test]
fn a_cut_that_outlasts_a_renewed_lease_is_a_missed_renewal() {
    let of = |seed| {
        let case = case(OWN_LEASE, 8).with(&[("RENEW", "1")]).under("partition", seed);
        case.set(|it| it.hold = holds(1_000, 8_000))
    };
    let mut causes = Vec::new();
    for seed in 0..6 {
        let Some(facts) = of(seed).run() else { return };
        let overlaps = facts.violations.iter().filter(|one| one.kind == Kind::Overlap);
        causes.extend(overlaps.map(|one| one.cause));
        assert!(found(&facts).iter().all(|(_, cause)| *cause != Cause::Unexplained), "{seed}");
    }
    assert!(causes.contains(&Cause::MissedRenewal), "{causes:?}");
    let known = [Cause::MissedRenewal, Cause::Partition];
    assert!(causes.iter().all(|cause| known.contains(cause)), "{causes:?}");
}

const SCORED: &str = r#"
TAKE = """redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
if redis.call('ZCARD', KEYS[1]) > 0 then return 0 end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1]) return 1"""
for cycle in range(CYCLES):
    say("ACQUIRING", "orders")
    name = f"{ME}-{cycle}"
    while True:
        now = int(time.time() * 1000)
        if redis("EVAL", TAKE, 1, KEY, name, now, now + TTL): break
        time.sleep(0.1)
    work(say("ACQUIRED", "orders"))
    say("RELEASING", "orders")
    if not redis("ZREM", KEY, name): say("LOST", "orders")
    say("RELEASED", "orders")
"#;

#[test]
fn a_lease_that_is_the_score_of_a_member_is_read_off_the_wire() {
    let Some(facts) = case(SCORED, 4).run() else { return };
    assert_eq!(facts.verdict, Verdict::Valid, "{:?}", found(&facts));
    let long = |seed| case(SCORED, 4).set(|it| it.hold = holds(9_000, 14_000)).under("none", seed);
    let (_, facts) = first_broken(0..3, Kind::Overlap, long).unwrap();
    let overlap = facts.violations.iter().find(|one| one.kind == Kind::Overlap).unwrap();
    assert_eq!(overlap.cause, Cause::HoldTooLong, "{}", overlap.summary);
    // The worker computes the score before it sends the command, so less than 10 s remain.
    assert!(overlap.narrative[0].text.contains(" for 9.9"), "{:?}", overlap.narrative);
    let told = |text: &str| overlap.narrative.iter().any(|line| line.text.contains(text));
    assert!(told(" expires the lock of client-"), "{:?}", overlap.narrative);
}

const NO_TIMEOUT: &str = r#"
redis.timeout = None
def call(*words):
    while True:
        try: return redis(*words)
        except Lost: time.sleep(0.2)
for cycle in range(CYCLES):
    say("ACQUIRING", "orders")
    while not call("SET", KEY, ME, "NX", "PX", TTL): time.sleep(0.1)
    work(say("ACQUIRED", "orders"))
    say("RELEASING", "orders"); call("DEL", KEY); say("RELEASED", "orders")
"#;

#[test]
fn a_release_that_its_client_sends_again_is_not_one_that_the_network_delivers_late() {
    let of = |seed| {
        let away = SpanRange::new(Span::secs(20), Span::secs(30));
        let case = case(NO_TIMEOUT, 20).under("restart", seed);
        case.set(|it| (it.faults.restart_delay, it.fault_window) = (away, window(2, 60)))
    };
    let Some((_, facts)) = first_broken(1..4, Kind::ForeignRelease, of) else { return };
    let foreign = facts.violations.iter().find(|one| one.kind == Kind::ForeignRelease).unwrap();
    assert_eq!(foreign.cause, Cause::ForeignRelease, "{}", foreign.summary);
    assert!(foreign.summary.contains(" sent the release again"), "{}", foreign.summary);
}

fn window(from: u64, to: u64) -> SpanRange {
    SpanRange::new(Span::secs(from), Span::secs(to))
}

const DATAGRAMS: &str = r#"
socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for cycle in range(CYCLES):
    say("ACQUIRING", "orders"); take(); work(say("ACQUIRED", "orders"))
    say("RELEASING", "orders"); redis("DEL", KEY); say("RELEASED", "orders")
"#;

#[test]
fn a_datagram_socket_harms_nobody() {
    let Some(facts) = case(DATAGRAMS, 4).run() else { return };
    assert_eq!(facts.verdict, Verdict::Valid, "{:?}", found(&facts));
}

const COUNTED: &str = r#"
TAKE = """if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], ARGV[2]) return 1 end return 0"""
GIVE = """if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return -1 end
local left = redis.call('hincrby', KEYS[1], ARGV[1], -1)
if left > 0 then return left end redis.call('del', KEYS[1]) return 0"""
for cycle in range(CYCLES):
    say("ACQUIRING", "orders")
    while not redis("EVAL", TAKE, 1, KEY, ME, TTL): time.sleep(0.1)
    redis("EVAL", TAKE, 1, KEY, ME, TTL)
    work(say("ACQUIRED", "orders"))
    say("RELEASING", "orders"); redis("EVAL", GIVE, 1, KEY, ME)
    if redis("EVAL", GIVE, 1, KEY, ME) != 0: say("LOST", "orders")
    say("RELEASED", "orders")
"#;

#[test]
fn a_count_that_is_lowered_is_no_grant() {
    let Some(facts) = case(COUNTED, 6).run() else { return };
    assert_eq!(facts.verdict, Verdict::Valid, "{:?}", found(&facts));
    let mut releasing = false;
    for entry in &facts.timeline {
        let text = format!("{} {}", entry.process, entry.text);
        releasing = match text.contains("leaves its critical section") {
            true => true,
            false => releasing && !text.contains("removes the lock"),
        };
        assert!(!(releasing && text.contains("grants the lock")), "{text}");
    }
    assert!(!facts.timeline.is_empty());
}
