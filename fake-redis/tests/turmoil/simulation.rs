use crate::recorded::{Record, Recorded};
use fake_redis::host::{Crash, GuestHardware, Server, SharedDisk, serve};
use fake_redis::sentinel::Address;
use fake_redis::{NodeConfig, SentinelConfig};
use redis::aio::MultiplexedConnection;
use redis::{FromRedisValue, RedisConnectionInfo, RedisResult};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;
use turmoil::net::{TcpListener, TcpStream};

pub(crate) const SENTINELS: [&str; 3] = ["sentinel-1", "sentinel-2", "sentinel-3"];

pub(crate) type Holders = Rc<RefCell<Vec<&'static str>>>;

#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) seed: u64,
    pub(crate) server_seed: Option<u64>,
    pub(crate) clock: fn() -> Duration,
    pub(crate) record: Record,
}

impl Setup {
    pub(crate) fn new(seed: u64) -> Setup {
        Setup { seed, server_seed: None, clock: fixed_clock, record: Record::default() }
    }

    pub(crate) fn failover<'a>(&self) -> turmoil::Sim<'a> {
        let mut sim = simulation(self.seed);
        for server in [node("redis-1", None), node("redis-2", Some("redis-1"))] {
            self.add(&mut sim, server, &SharedDisk::default());
        }
        for name in SENTINELS {
            self.add(&mut sim, sentinel(name), &SharedDisk::new(Crash::Process));
        }
        sim
    }

    pub(crate) fn add(
        &self,
        sim: &mut turmoil::Sim<'_>,
        server: impl Into<Server>,
        disk: &SharedDisk,
    ) {
        let (setup, server, disk) = (self.clone(), server.into(), disk.clone());
        let name = match &server {
            Server::Redis(config) => config.host.clone(),
            Server::Sentinel(config) => config.announce_host.clone(),
        };
        sim.host(name.clone(), move || {
            setup.clone().host(name.clone(), server.clone(), disk.clone())
        });
    }

    async fn host(self, name: String, server: Server, disk: SharedDisk) -> turmoil::Result {
        let Setup { seed, server_seed, clock, record } = self;
        let seed = server_seed.unwrap_or(seed);
        let port = if matches!(server, Server::Redis(_)) { 6379 } else { 26379 };
        let listener = TcpListener::bind(("0.0.0.0", port)).await?;
        let wrapped = move |stream: TcpStream| {
            let peer = stream.peer_addr()?;
            Ok(Recorded { stream, server: name.clone(), peer, record: record.clone() })
        };
        let outgoing = wrapped.clone();
        let accept = async move || {
            let (stream, peer) = listener.accept().await?;
            Ok((wrapped(stream)?, peer))
        };
        let connect = async move |host, port| outgoing(TcpStream::connect((host, port)).await?);
        Ok(serve(server, seed, GuestHardware { disk, clock }, accept, connect).await?)
    }
}

pub(crate) fn simulation<'a>(seed: u64) -> turmoil::Sim<'a> {
    let mut builder = turmoil::Builder::new();
    builder.rng_seed(seed).simulation_duration(Duration::from_secs(300)).build()
}

pub(crate) fn fixed_clock() -> Duration {
    Duration::from_secs(1_700_000_000) + turmoil::sim_elapsed().unwrap_or_default()
}

pub(crate) fn node(host: &str, primary: Option<&str>) -> NodeConfig {
    let replica_of = primary.map(|primary| (primary.to_owned(), 6379));
    let host = host.to_owned();
    NodeConfig { host, replica_of, has_config_file: true, ..NodeConfig::default() }
}

fn sentinel(host: &str) -> SentinelConfig {
    let (own, primary) = (Address::new(host, 26379), Address::new("redis-1", 6379));
    let (down_after_ms, failover_timeout_ms) = (2_000, 5_000);
    SentinelConfig { down_after_ms, failover_timeout_ms, ..SentinelConfig::new(own, primary) }
}

pub(crate) async fn sleep(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

pub(crate) async fn connect(host: &str, port: u16) -> turmoil::Result<MultiplexedConnection> {
    static SETTINGS: LazyLock<RedisConnectionInfo> = LazyLock::new(Default::default);
    let stream = TcpStream::connect((host, port)).await?;
    let (connection, driver) = MultiplexedConnection::new(&SETTINGS, stream).await?;
    tokio::spawn(driver);
    Ok(connection)
}

pub(crate) async fn ask<T: FromRedisValue>(
    redis: &mut MultiplexedConnection,
    words: &str,
) -> RedisResult<T> {
    let mut words = words.split(' ');
    let mut command = redis::cmd(words.next().unwrap_or_default());
    for word in words {
        command.arg(word);
    }
    command.query_async(redis).await
}

pub(crate) async fn acquire(
    redis: &mut MultiplexedConnection,
    owner: &'static str,
    holders: &Holders,
) -> turmoil::Result<bool> {
    let is_granted: bool = ask(redis, &format!("SET lock {owner} NX PX 600000")).await?;
    if is_granted {
        holders.borrow_mut().push(owner);
    }
    Ok(is_granted)
}

pub(crate) async fn primary_other_than(old: &str) -> turmoil::Result<String> {
    let mut sentinel = connect("sentinel-1", 26379).await?;
    loop {
        let (host, _): (String, u16) =
            ask(&mut sentinel, "SENTINEL get-master-addr-by-name mymaster").await?;
        if host != old {
            return Ok(host);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
