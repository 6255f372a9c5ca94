use crate::simulation::{Holders, Setup, acquire, connect, fixed_clock, primary_other_than, sleep};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn record(setup: Setup) -> Vec<String> {
    let mut sim = setup.failover();
    let holders = Holders::default();
    let told = holders.clone();
    sim.client("alice", async move {
        sleep(15).await;
        acquire(&mut connect("redis-1", 6379).await?, "alice", &told).await?;
        Ok(())
    });
    while holders.borrow().is_empty() {
        sim.step().unwrap();
    }
    sim.crash("redis-1");
    sim.client("bob", async move {
        let primary = primary_other_than("redis-1").await?;
        acquire(&mut connect(&primary, 6379).await?, "bob", &holders).await?;
        Ok(())
    });
    sim.run().unwrap();
    setup.record.take()
}

fn record_of(seed: u64) -> Vec<String> {
    record(Setup::new(seed))
}

#[test]
fn the_same_seed_gives_the_same_order_of_commands() {
    for seed in 0..3 {
        let (once, twice) = (record_of(seed), record_of(seed));
        assert!(once.len() > 500, "{} messages", once.len());
        assert!(once.iter().any(|heard| heard.contains("REPLICAOF") || heard.contains("SLAVEOF")));
        let first = once.iter().zip(&twice).find(|(one, other)| one != other);
        assert_eq!((once.len(), first), (twice.len(), None), "seed {seed}");
    }
}

#[test]
fn another_seed_gives_another_order() {
    assert_ne!(record_of(1), record_of(2));
}

#[test]
fn servers_whose_chance_is_not_a_function_of_the_seed_are_caught() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let leaking = || {
        let server_seed = Some(RUNS.fetch_add(1, Ordering::Relaxed));
        record(Setup { server_seed, ..Setup::new(1) })
    };
    assert_ne!(leaking(), leaking());
}

#[test]
fn clocks_that_show_real_time_are_caught() {
    // If the epoch is not configured, turmoil's clock starts at the real time.
    fn since_epoch() -> Duration {
        turmoil::since_epoch().unwrap_or_else(fixed_clock)
    }
    let leaking = || record(Setup { clock: since_epoch, ..Setup::new(1) });
    assert_ne!(leaking(), leaking());
}

const SHOW: &str = "FAKE_REDIS_SHOW_RECORD";

#[test]
fn two_processes_agree() {
    let own = record_of(5).join("\n");
    if std::env::var_os(SHOW).is_some() {
        return println!("{own}\nend of record");
    }
    let mut other = Command::new(std::env::current_exe().unwrap());
    other.args(["order::two_processes_agree", "--exact", "--nocapture"]).env(SHOW, "1");
    let output = String::from_utf8(other.output().unwrap().stdout).unwrap();
    assert!(output.contains(&format!("{own}\nend of record")), "another process heard otherwise");
}
