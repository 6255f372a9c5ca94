//! etcd issue 11456: a waiter gets the lock although its own lease has ended.

use crate::drawn::{drawn, violations};
use fencepost::Scenario;
use fencepost::setup::scenario::{ClientCalls, Hold};
use fencepost::setup::span::{Span, SpanRange};
use fencepost_reports::Cause;

const SEEDS: u64 = 12;

fn long_waits() -> Scenario {
    Scenario {
        processes: 4,
        cycles: 5,
        ttl: Span::secs(4),
        hold: Hold::Drawn(SpanRange::new(Span::secs(3), Span::secs(4))),
        calls: ClientCalls { acquire_timeout: Span::secs(40), ..ClientCalls::default() },
        ..Scenario::default()
    }
}

fn expired_waiters(client: &str) -> usize {
    let shows = |seed: &u64| {
        let violations = violations(&drawn(client, "pause", *seed, long_waits()));
        violations.iter().any(|violation| violation.cause == Cause::ExpiredWaiter)
    };
    (0..SEEDS).filter(shows).count()
}

#[test]
fn a_waiter_whose_lease_has_ended_is_let_in_by_3_4_and_not_by_3_5() {
    for client in ["etcd-mutex-unchecked", "etcd-lock-api"] {
        assert!(expired_waiters(client) > 0, "{client}");
    }
    for client in ["etcd-mutex", "etcd-lock-api-fixed"] {
        assert_eq!(expired_waiters(client), 0, "{client}");
    }
}
