//! Which servers there are, where they listen and who follows whom. Must never know how bytes
//! travel.

use super::ServeError;
use super::files::Files;
use super::host::{Boot, wall_clock};
use super::thread::{Beginning, HostThread};
use crate::config::{NodeConfig, Persistence};
use crate::node::Node;
use crate::sentinel::{Address, Sentinel, SentinelConfig};
use fencepost_machine::DiskImage;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::mpsc;

/// As `tcp-backlog` of redis.conf.
const BACKLOG: u32 = 511;

/// What to serve.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServeOptions {
    /// Where to listen.
    pub bind: IpAddr,
    /// The port of the first server; the others have the ports after it. 0 takes any free ones.
    pub port: u16,
    /// Masters that know nothing of each other.
    pub nodes: u16,
    /// Replicas of the one master.
    pub replicas: u16,
    /// Sentinels that watch the one master, as `mymaster`.
    pub sentinels: u16,
    /// How long an instance may be silent before a Sentinel thinks it down, in milliseconds.
    pub down_after_ms: i64,
    /// Where files are kept: in a folder for each server, named after its place in the list of
    /// servers.
    pub dir: Option<PathBuf>,
    /// How every server is set up, but for its address.
    pub node: NodeConfig,
}

impl Default for ServeOptions {
    fn default() -> Self {
        ServeOptions {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 6379,
            nodes: 1,
            replicas: 0,
            sentinels: 0,
            down_after_ms: 30_000,
            dir: None,
            node: NodeConfig::default(),
        }
    }
}

impl ServeOptions {
    fn check(&self) -> Result<(), ServeError> {
        let wrong = |what: &str| Err(ServeError::Options(what.to_owned()));
        let servers = u32::from(self.nodes) + u32::from(self.replicas) + u32::from(self.sentinels);
        if self.nodes == 0 {
            return wrong("0 nodes: expected 1 or more");
        }
        if self.nodes > 1 && (self.replicas > 0 || self.sentinels > 0) {
            return wrong("replicas and sentinels belong to one master: expected 1 node with them");
        }
        if self.port > 0 && u32::from(self.port) + servers > 65_536 {
            return wrong(
                "the ports of all servers do not fit below 65536: expected a smaller port, or 0",
            );
        }
        if self.node.persistence != Persistence::None && self.dir.is_none() {
            return wrong("persistence without a folder: expected --dir");
        }
        Ok(())
    }

    /// Where others reach a server that listens here.
    fn announced(&self) -> String {
        match self.bind {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.to_string(),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.to_string(),
            address => address.to_string(),
        }
    }
}

/// What a server is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Master,
    Replica,
    Sentinel,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Master => "master",
            Part::Replica => "replica",
            Part::Sentinel => "sentinel",
        }
    }
}

/// Servers that can be reached.
pub struct Serving {
    addresses: Vec<(Part, SocketAddr)>,
    threads: Vec<HostThread>,
    ended: mpsc::UnboundedReceiver<Result<(), ServeError>>,
}

/// The ready line: `ready`, then each server as `role=address`.
impl fmt::Display for Serving {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ready")?;
        self.addresses
            .iter()
            .try_for_each(|(part, address)| write!(formatter, " {}={address}", part.name()))
    }
}

impl Serving {
    /// Starts all servers, each on a thread of its own; must be called within a runtime of tokio.
    ///
    /// # Errors
    /// If an option is wrong, an address is taken, or a file cannot be read.
    pub fn start(options: ServeOptions) -> Result<Serving, ServeError> {
        options.check()?;
        let parts = [
            (Part::Master, options.nodes),
            (Part::Replica, options.replicas),
            (Part::Sentinel, options.sentinels),
        ];
        let parts: Vec<Part> = parts
            .into_iter()
            .flat_map(|(part, count)| std::iter::repeat_n(part, usize::from(count)))
            .collect();
        // All listen before any starts: those that follow need the address of the first.
        let bound = (0..)
            .zip(&parts)
            .map(|(index, part)| bind(&options, index).map(|listener| (*part, listener)));
        let bound: Vec<(Part, TcpListener)> = bound.collect::<Result<_, _>>()?;
        let addresses = bound
            .iter()
            .map(|(part, listener)| listener.local_addr().map(|address| (*part, address)));
        let addresses: Vec<_> = addresses.collect::<Result<_, _>>().map_err(ServeError::System)?;
        let first = addresses[0].1.port();
        let (tell_end, ended) = mpsc::unbounded_channel();
        let mut threads = Vec::new();
        for (index, (part, listener)) in bound.into_iter().enumerate() {
            let (boot, files) = machine(&options, (index, part), addresses[index].1.port(), first)?;
            let listener = listener.into_std().map_err(ServeError::System)?;
            let thread = HostThread::start(Beginning { boot, files, listener }, tell_end.clone());
            threads.push(thread.map_err(ServeError::System)?);
        }
        Ok(Serving { addresses, threads, ended })
    }

    /// Where each server listens, in the order masters, replicas, Sentinels.
    pub fn addresses(&self) -> impl ExactSizeIterator<Item = SocketAddr> {
        self.addresses.iter().map(|(_, address)| *address)
    }

    /// Serves until `stop`, then makes safe what was written.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub async fn until(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let Serving { threads, mut ended, .. } = self;
        tokio::select! {
            biased;
            result = all_ended(&mut ended) => result?,
            () = stop => {}
        }
        threads.iter().for_each(HostThread::leave);
        drop(threads);
        all_ended(&mut ended).await
    }
}

/// Waits until every server has ended (SHUTDOWN), or the first one fails.
async fn all_ended(
    ended: &mut mpsc::UnboundedReceiver<Result<(), ServeError>>,
) -> Result<(), ServeError> {
    while let Some(result) = ended.recv().await {
        result?;
    }
    Ok(())
}

/// Listens for the server of this number. Connections inherit the keep-alive, which finds peers
/// that vanished.
fn bind(options: &ServeOptions, index: u16) -> Result<TcpListener, ServeError> {
    let port = if options.port == 0 { 0 } else { options.port + index };
    let address = SocketAddr::new(options.bind, port);
    let listen = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_reuseaddr(true)?;
        socket.set_keepalive(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    listen().map_err(|error| ServeError::Listen { address: address.to_string(), error })
}

/// A seed that is new in every process and for every server.
fn seed(index: usize) -> u64 {
    RandomState::new().hash_one((index, wall_clock(), std::process::id()))
}

fn machine(
    options: &ServeOptions,
    (index, part): (usize, Part),
    port: u16,
    first: u16,
) -> Result<(Boot, Files), ServeError> {
    let host = options.announced();
    let master = Address { host: host.clone(), port: first };
    if part == Part::Sentinel {
        let config = SentinelConfig {
            quorum: usize::from(options.sentinels / 2 + 1),
            down_after_ms: options.down_after_ms,
            ..SentinelConfig::new(Address { host, port }, master)
        };
        let boot: Boot =
            Box::new(move |_| Box::new(Sentinel::new(config, seed(index), wall_clock())));
        return Ok((boot, Files::none()));
    }
    let replica_of = (part == Part::Replica).then_some((master.host, master.port));
    let config = NodeConfig { host, port, replica_of, ..options.node.clone() };
    let (files, image) = match &options.dir {
        None => (Files::none(), DiskImage::default()),
        Some(dir) => Files::open(&dir.join(format!("{}-{}", part.name(), index + 1)))?,
    };
    let boot: Boot = Box::new(move |attendant| {
        Box::new(Node::attended(config, image, seed(index), wall_clock(), attendant))
    });
    Ok((boot, files))
}
