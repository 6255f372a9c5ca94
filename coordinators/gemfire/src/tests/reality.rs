mod members;
mod model;

use members::{GEODE, Members, SPRING};
use model::Model;

const TIMEOUT_MS: u64 = 2_000;
const TOLERANCE_MS: u64 = TIMEOUT_MS;

trait System {
    fn begin(&mut self, who: usize, lock: &str, wait_ms: u64, lease_ms: u64);
    fn outcome(&mut self, who: usize) -> Option<bool>;
    fn unlock(&mut self, who: usize, lock: &str) -> bool;
    fn pass(&mut self, span_ms: u64);
    fn now_ms(&self) -> u64;
    fn kill(&mut self, who: usize);
    fn stop(&mut self, who: usize);
    fn resume(&mut self, who: usize);
    fn start(&mut self, who: usize);
    fn kill_grantor(&mut self);
    /// Kills members with more than half of the system's weight, but not process 2.
    fn kill_majority(&mut self);
    fn has_given_up(&mut self) -> bool;

    fn lock(&mut self, who: usize, lock: &str, wait_ms: u64, lease_ms: u64) -> bool {
        self.begin(who, lock, wait_ms, lease_ms);
        let since = self.now_ms();
        self.wait(who, since, wait_ms + 20_000).is_some()
    }

    fn wait(&mut self, who: usize, since: u64, limit_ms: u64) -> Option<u64> {
        loop {
            let now = self.now_ms();
            match self.outcome(who) {
                Some(true) => return Some(now - since),
                Some(false) => return None,
                None if now - since > limit_ms => return None,
                None => self.pass(20),
            }
        }
    }
}

#[derive(Debug)]
struct Row {
    what: String,
    outcome: bool,
    span_ms: Option<u64>,
}

#[derive(Default)]
struct Table(Vec<Row>);

impl Table {
    fn add(&mut self, what: impl Into<String>, outcome: bool) {
        self.0.push(Row { what: what.into(), outcome, span_ms: None });
    }

    fn measure(&mut self, what: impl Into<String>, span_ms: Option<u64>) {
        self.0.push(Row { what: what.into(), outcome: span_ms.is_some(), span_ms });
    }
}

fn observe(system: &mut impl System) -> Vec<Row> {
    let mut table = Table::default();
    exclusion(system, &mut table);
    leases(system, &mut table);
    pauses(system, &mut table);
    deaths(system, &mut table);
    grantor(system, &mut table);
    system.kill_majority();
    system.pass(8_000);
    table.add("the rest of a system that lost its majority gives up", system.has_given_up());
    table.0
}

fn exclusion(system: &mut impl System, table: &mut Table) {
    table.add("a free lock is granted", system.lock(0, "x", 1_000, 0));
    table.add("a held lock is refused after the wait", !system.lock(1, "x", 300, 0));
    table.add("its holder unlocks it", system.unlock(0, "x"));
    table.add("it is free then", system.lock(1, "x", 1_000, 0));
    table.add("the next holder unlocks it", system.unlock(1, "x"));
}

fn leases(system: &mut impl System, table: &mut Table) {
    let since = system.now_ms();
    table.add("a lock with a lease is granted", system.lock(0, "lease", 1_000, 3_000));
    system.begin(1, "lease", 10_000, 0);
    table.measure("a lease of 3 s ends", system.wait(1, since, 10_000));
    table.add("an overrun holder unlocks nothing", !system.unlock(0, "lease"));
    table.add("the next holder unlocks", system.unlock(1, "lease"));
}

fn pauses(system: &mut impl System, table: &mut Table) {
    for pause_ms in [1_000, 2_000, 3_000] {
        system.lock(0, "pause", 1_000, 0);
        system.begin(1, "pause", 20_000, 0);
        system.stop(0);
        system.pass(pause_ms);
        system.resume(0);
        system.pass(TIMEOUT_MS);
        let is_kept = system.outcome(1).is_none();
        table.add(format!("a holder stopped for {pause_ms} ms keeps its lock"), is_kept);
        table.add("and unlocks it", system.unlock(0, "pause"));
        let since = system.now_ms();
        system.wait(1, since, 5_000);
        system.unlock(1, "pause");
    }
    system.lock(0, "pause", 1_000, 0);
    system.begin(1, "pause", 60_000, 0);
    system.stop(0);
    let since = system.now_ms();
    table.measure("a holder that is stopped departs", system.wait(1, since, 20_000));
    system.resume(0);
    system.pass(3_000);
    table.add("after it goes on, it unlocks nothing", !system.unlock(0, "pause"));
    table.add("nor does it lock", !system.lock(0, "pause", 500, 0));
    table.add("its successor unlocks", system.unlock(1, "pause"));
    system.start(0);
    table.add("it is a member again once it has joined", system.lock(0, "again", 1_000, 0));
    system.unlock(0, "again");
}

fn deaths(system: &mut impl System, table: &mut Table) {
    system.lock(0, "death", 1_000, 0);
    system.begin(1, "death", 60_000, 0);
    system.pass(500);
    system.kill(0);
    let since = system.now_ms();
    table.measure("the lock of a killed holder is granted again", system.wait(1, since, 20_000));
    system.unlock(1, "death");
    system.start(0);
}

fn grantor(system: &mut impl System, table: &mut Table) {
    table.add("a lock is granted before the grantor dies", system.lock(1, "kept", 1_000, 0));
    let since = system.now_ms();
    table.add("and one with a lease", system.lock(1, "leased", 1_000, 4_000));
    system.pass(1_000);
    system.kill_grantor();
    system.begin(2, "leased", 30_000, 0);
    table.measure("a lease of 4 s ends late if its grantor dies", system.wait(2, since, 20_000));
    table.add("a holder outlives its grantor", !system.lock(2, "kept", 500, 0));
    table.add("and unlocks at the next one", system.unlock(1, "kept"));
    table.add("which grants the lock again", system.lock(2, "kept", 2_000, 0));
}

#[test]
#[ignore = "takes a minute and a half; run by ci/nightly.sh"]
fn the_model_does_what_real_members_do() {
    let Some(mut members) = Members::started(GEODE) else { return };
    let real = observe(&mut members);
    let model = observe(&mut Model::started());
    assert_eq!(real.len(), model.len());
    for (real, model) in real.iter().zip(&model) {
        eprintln!("{:56} {:5} {:?} {:?}", real.what, real.outcome, real.span_ms, model.span_ms);
    }
    for (real, model) in real.iter().zip(&model) {
        assert_eq!(real.outcome, model.outcome, "real {real:?}, model {model:?}");
        let spans = real.span_ms.zip(model.span_ms);
        let difference = spans.map_or(0, |(real, model)| real.abs_diff(model));
        assert!(difference < TOLERANCE_MS, "real {real:?}, model {model:?}");
    }
}

#[test]
#[ignore = "takes half a minute; run by ci/nightly.sh"]
fn regions_of_real_members_lock_as_documented() {
    let Some(mut members) = Members::started(GEODE) else { return };
    assert_eq!(members.ask(0, "region-lock key"), "true");
    assert_eq!(members.ask(1, "region-lock key"), "false", "GLOBAL scope excludes");
    members.send(1, "put key value");
    members.pass(1_000);
    assert_eq!(members.take(1), None, "a put waits for the lock of its key");
    assert_eq!(members.ask(0, "region-unlock key"), "unlocked");
    assert_eq!(members.answer(1), "done");
    assert_eq!(members.ask(0, "local-lock key"), "IllegalStateException", "LOCAL scope");
}

#[test]
#[ignore = "takes half a minute; run by ci/nightly.sh"]
fn a_real_member_that_goes_on_believes_for_a_moment_that_it_holds_the_lock() {
    let Some(mut members) = Members::started(GEODE) else { return };
    assert_eq!(members.ask(0, "lock key 0 -1"), "true");
    members.send(1, "lock key 60000 -1");
    members.stop(0);
    members.send(0, "held key");
    assert_eq!(members.answer(1), "true", "it has departed, and another holds the lock");
    members.resume(0);
    assert_eq!(members.answer(0), "true", "it has not heard of that");
    members.pass(3_000);
    assert_eq!(members.ask(0, "closed"), "true");
    assert_eq!(members.ask(0, "held key"), "LockServiceDestroyedException");
}

#[test]
#[ignore = "takes half a minute; run by ci/nightly.sh"]
fn springs_own_registry_gives_the_lock_of_a_stopped_holder_away() {
    let Some(mut members) = Members::started(SPRING) else { return };
    assert_eq!(members.ask(0, "registry-lock key 1000"), "true");
    assert_eq!(members.ask(1, "registry-lock key 500"), "false");
    assert_eq!(members.ask(0, "registry-unlock key"), "unlocked");
    assert_eq!(members.ask(1, "registry-lock key 1000"), "true");
    members.send(2, "registry-lock key 60000");
    members.stop(1);
    assert_eq!(members.answer(2), "true", "the holder has departed");
    members.resume(1);
    members.pass(3_000);
    assert_eq!(members.ask(1, "closed"), "true");
    members.send(0, "registry-lock key 60000");
    members.kill(2);
    assert_eq!(members.answer(0), "true", "the next holder has died");
}
