use crate::simulation::{Holders, Setup, acquire, connect, fixed_clock, node, simulation};
use fake_redis::host::SharedDisk;
use std::cell::Cell;
use std::time::Duration;

thread_local! {
    static AHEAD: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

fn shifted_clock() -> Duration {
    fixed_clock() + AHEAD.get()
}

fn holders_with_a_jump_of(jump: Duration) -> Vec<&'static str> {
    AHEAD.set(Duration::ZERO);
    let (mut sim, holders) = (simulation(1), Holders::default());
    let setup = Setup { clock: shifted_clock, ..Setup::new(1) };
    setup.add(&mut sim, node("redis-1", None), &SharedDisk::default());
    let told = holders.clone();
    sim.client("both", async move {
        let mut redis = connect("redis-1", 6379).await?;
        acquire(&mut redis, "alice", &told).await?;
        AHEAD.set(jump);
        acquire(&mut redis, "bob", &told).await?;
        Ok(())
    });
    sim.run().unwrap();
    holders.take()
}

#[test]
fn a_clock_that_jumps_past_a_lease_makes_two_holders() {
    assert_eq!(holders_with_a_jump_of(Duration::from_secs(601)), ["alice", "bob"]);
    assert_eq!(holders_with_a_jump_of(Duration::from_secs(590)), ["alice"]);
}
