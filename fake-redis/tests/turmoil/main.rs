#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "time and tasks are turmoil's here, not fencepost's"
)]

mod clocks;
mod disks;
#[expect(dead_code, reason = "as a test it has no main")]
#[path = "../../examples/turmoil_lock.rs"]
mod example;
mod failover;
mod order;
mod others;
mod recorded;
mod simulation;

#[test]
fn the_example_ends_with_two_holders() {
    for seed in 1..4 {
        example::run(seed).unwrap();
    }
}
