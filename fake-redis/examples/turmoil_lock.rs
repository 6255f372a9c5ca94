//! Simulates a Redis lock with Sentinel under stock turmoil. The primary grants the lock and
//! crashes before replicating it. Sentinel promotes the replica, which also grants the lock.
//!
//!     cargo run -p fake-redis --example turmoil_lock -- 7

#![expect(
    clippy::disallowed_methods,
    reason = "time and tasks are turmoil's here, not fencepost's"
)]

use fake_redis::host::{GuestHardware, Server, SharedDisk, serve};
use fake_redis::sentinel::Address;
use fake_redis::{NodeConfig, SentinelConfig};
use redis::RedisConnectionInfo;
use redis::aio::MultiplexedConnection;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;
use turmoil::net::{TcpListener, TcpStream};

type Holders = Rc<RefCell<Vec<&'static str>>>;

fn main() -> turmoil::Result {
    run(std::env::args().nth(1).map_or(Ok(1), |seed| seed.parse())?)
}

pub(crate) fn run(seed: u64) -> turmoil::Result {
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .simulation_duration(Duration::from_secs(120))
        .build();
    add(&mut sim, "redis-1", seed, node("redis-1", None).into());
    add(&mut sim, "redis-2", seed, node("redis-2", Some("redis-1")).into());
    for name in ["sentinel-1", "sentinel-2", "sentinel-3"] {
        add(&mut sim, name, seed, sentinel(name).into());
    }

    let holders = Holders::default();
    sim.client("alice", alice(holders.clone()));
    while holders.borrow().is_empty() {
        sim.step()?;
    }
    sim.crash("redis-1");
    sim.client("bob", bob(holders.clone()));
    sim.run()?;

    println!("after {:?} the lock is held by {:?}", sim.elapsed(), holders.borrow());
    assert_eq!(*holders.borrow(), ["alice", "bob"]);
    Ok(())
}

async fn alice(holders: Holders) -> turmoil::Result {
    tokio::time::sleep(Duration::from_secs(20)).await;
    let mut redis = connect("redis-1", 6379).await?;
    // redis-1 grants the lock although redis-2 is cut off, because replication is asynchronous.
    turmoil::partition("redis-1", "redis-2");
    assert!(acquire(&mut redis, "alice").await?);
    holders.borrow_mut().push("alice");
    Ok(())
}

async fn bob(holders: Holders) -> turmoil::Result {
    let mut sentinel = connect("sentinel-1", 26379).await?;
    let mut ask = redis::cmd("SENTINEL");
    ask.arg("get-master-addr-by-name").arg("mymaster");
    let (mut host, mut port): (String, u16) = ask.query_async(&mut sentinel).await?;
    while host == "redis-1" {
        tokio::time::sleep(Duration::from_millis(100)).await;
        (host, port) = ask.query_async(&mut sentinel).await?;
    }
    if acquire(&mut connect(&host, port).await?, "bob").await? {
        holders.borrow_mut().push("bob");
    }
    Ok(())
}

async fn acquire(redis: &mut MultiplexedConnection, owner: &str) -> redis::RedisResult<bool> {
    let mut set = redis::cmd("SET");
    set.arg("lock").arg(owner).arg("NX").arg("PX").arg(300_000).query_async(redis).await
}

async fn connect(host: &str, port: u16) -> turmoil::Result<MultiplexedConnection> {
    static SETTINGS: LazyLock<RedisConnectionInfo> = LazyLock::new(Default::default);
    let stream = TcpStream::connect((host, port)).await?;
    let (connection, driver) = MultiplexedConnection::new(&SETTINGS, stream).await?;
    tokio::spawn(driver);
    Ok(connection)
}

fn add(sim: &mut turmoil::Sim<'_>, name: &str, seed: u64, server: Server) {
    let disk = SharedDisk::default();
    sim.host(name, move || {
        let (server, disk) = (server.clone(), disk.clone());
        async move {
            let port = if matches!(server, Server::Redis(_)) { 6379 } else { 26379 };
            let listener = TcpListener::bind(("0.0.0.0", port)).await?;
            let accept = async move || listener.accept().await;
            let connect = async |host, port| TcpStream::connect((host, port)).await;
            Ok(serve(server, seed, GuestHardware { disk, clock }, accept, connect).await?)
        }
    });
}

fn clock() -> Duration {
    Duration::from_secs(1_700_000_000) + turmoil::sim_elapsed().unwrap_or_default()
}

fn node(host: &str, primary: Option<&str>) -> NodeConfig {
    let replica_of = primary.map(|primary| (primary.to_owned(), 6379));
    NodeConfig { host: host.to_owned(), replica_of, ..NodeConfig::default() }
}

fn sentinel(host: &str) -> SentinelConfig {
    let (own, primary) = (Address::new(host, 26379), Address::new("redis-1", 6379));
    // Keep the failover timeout short: after a split vote, a new attempt waits for two of them.
    let (down_after_ms, failover_timeout_ms) = (2_000, 5_000);
    SentinelConfig { down_after_ms, failover_timeout_ms, ..SentinelConfig::new(own, primary) }
}
