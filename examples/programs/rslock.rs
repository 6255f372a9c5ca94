//! A worker that takes its lock with rslock on independent Redis masters, over redis-rs and tokio.
use redis::{AsyncCommands, Value, aio::MultiplexedConnection as Connection, cmd};
use std::time::Duration;

fn setting(name: &str) -> String {
    std::env::var(format!("FENCEPOST_{name}")).expect(name)
}

async fn connection(name: &str) -> Connection {
    let client = redis::Client::open(setting(name)).expect(name);
    client.get_multiplexed_async_connection().await.expect(name)
}

async fn note(judge: &mut Connection, what: &str) -> Value {
    cmd(what).arg("orders").query_async(judge).await.expect(what)
}

#[tokio::main]
async fn main() {
    let (mut storage, mut judge) = (connection("STORAGE").await, connection("JUDGE").await);
    let masters = 1..=setting("MASTERS").parse::<u8>().expect("a number");
    let urls = masters.map(|number| setting(&format!("REDIS_{number}"))).collect();
    let mut manager = rslock::LockManager::new(urls);
    manager.set_retry(100, Duration::from_millis(200));
    let ttl = Duration::from_millis(setting("TTL_MS").parse().expect("milliseconds"));
    for _ in 0..setting("CYCLES").parse().expect("a number") {
        note(&mut judge, "ACQUIRING").await;
        let Ok(lock) = manager.lock(setting("LOCK").as_str(), ttl).await else {
            note(&mut judge, "REFUSED").await;
            continue;
        };
        let Value::Int(hold_ms) = note(&mut judge, "ACQUIRED").await else { panic!("no hold") };
        let value: Option<i64> = storage.get("orders").await.expect("a value");
        tokio::time::sleep(Duration::from_millis(hold_ms as u64)).await;
        let _: () = storage.set("orders", value.unwrap_or(0) + 1).await.expect("stored");
        note(&mut judge, "RELEASING").await;
        manager.unlock(&lock).await;
        note(&mut judge, "RELEASED").await;
    }
}
