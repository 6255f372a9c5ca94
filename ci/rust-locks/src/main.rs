//! Runs the crates rslock and redlock, unmodified, against `fencepost serve`.
//!
//!     fencepost serve --port 7100 --nodes 5 &
//!     cargo run --manifest-path ci/rust-locks/Cargo.toml -- 7100
//!
//! The argument is the first of five consecutive ports.

use std::time::Duration;

fn addresses() -> Vec<String> {
    let first: u16 = std::env::args().nth(1).and_then(|port| port.parse().ok()).expect("the first \
     port");
    (first..first + 5).map(|port| format!("redis://127.0.0.1:{port}/")).collect()
}

async fn with_rslock() {
    let mut manager = rslock::LockManager::new(addresses());
    manager.set_retry(1, Duration::from_millis(10));
    let ttl = Duration::from_secs(5);
    let lock = manager.lock("rslock", ttl).await.expect("a free lock");
    assert!(manager.lock("rslock", ttl).await.is_err(), "held by the first");
    manager.extend(&lock, Duration::from_secs(9)).await.expect("still held");
    assert!(!manager.is_freed(&lock).await.expect("an answer"));
    manager.unlock(&lock).await;
    let again = manager.lock("rslock", ttl).await.expect("free again");
    manager.unlock(&again).await;
}

fn with_redlock() {
    let mut manager = redlock::RedLock::new(addresses());
    manager.set_retry(1, 10);
    let lock = manager.lock(b"redlock", 5_000).expect("an answer").expect("a free lock");
    assert!(manager.lock(b"redlock", 5_000).expect("an answer").is_none(), "held by the first");
    manager.unlock(&lock);
    let again = manager.lock(b"redlock", 5_000).expect("an answer").expect("free again");
    manager.unlock(&again);
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(with_rslock());
    println!("rslock ok");
    with_redlock();
    println!("redlock ok");
}
