use crate::config::{NodeConfig, Persistence};
use crate::front::node::Node;
use crate::sentinel::{Address, Sentinel, SentinelConfig};
use fencepost_machine::DiskImage;
use fencepost_serve::{
    Files, MachineBuilder, MachineRebuilder, Member, ServeError, Serving, StagedServer, Start,
    announced, listen, wall_clock,
};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServeOptions {
    pub bind: IpAddr,
    /// Port of the first server; others use the next ports. With 0, all servers use free ports.
    pub port: u16,
    /// Number of independent primaries. Only a single primary may have replicas and Sentinels.
    pub nodes: u16,
    pub replicas: u16,
    /// Number of Sentinels. They monitor the single primary under the name `mymaster`.
    pub sentinels: u16,
    /// Silence in milliseconds before a Sentinel considers an instance down.
    pub down_after_ms: i64,
    /// Folder for files, with a subfolder for each server; `None` keeps data in memory.
    pub dir: Option<PathBuf>,
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
        if self.nodes == 0 {
            return wrong("--nodes '0': expected at least 1");
        }
        if self.nodes > 1 && (self.replicas > 0 || self.sentinels > 0) {
            return wrong(&format!(
                "--nodes '{}': expected --nodes 1 with --replicas and --sentinels, which need a \
                 single master",
                self.nodes
            ));
        }
        Ok(())
    }

    /// Returns the number of servers. Fails if an option is invalid.
    pub fn count(&self) -> Result<u16, ServeError> {
        Ok(self.parts()?.len() as u16)
    }

    pub(super) fn parts(&self) -> Result<Vec<Part>, ServeError> {
        self.check()?;
        let parts = [
            (Part::Master, self.nodes),
            (Part::Replica, self.replicas),
            (Part::Sentinel, self.sentinels),
        ];
        let parts = parts.into_iter();
        Ok(parts.flat_map(|(part, count)| std::iter::repeat_n(part, count.into())).collect())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Master,
    Replica,
    Sentinel,
}

impl Part {
    pub(super) fn name(self) -> &'static str {
        match self {
            Part::Master => "master",
            Part::Replica => "replica",
            Part::Sentinel => "sentinel",
        }
    }
}

/// Starts each server on its own thread: primaries, then replicas, then Sentinels. Needs a tokio
/// runtime. Fails if an option is invalid, an address is in use, or a file cannot be read.
pub fn start(options: &ServeOptions) -> Result<Serving, ServeError> {
    if options.node.persistence != Persistence::None && options.dir.is_none() {
        let problem = "persistence needs a folder: expected --dir DIR";
        return Err(ServeError::Options(problem.to_owned()));
    }
    let parts = options.parts()?;
    // All servers listen before any server starts, because a replica needs its primary's address.
    let listeners = listen(options.bind, options.port, parts.len() as u16)?;
    let ports = listeners.iter().map(|listener| Ok(listener.local_addr()?.port()));
    let ports: Vec<u16> = ports.collect::<io::Result<_>>().map_err(ServeError::System)?;
    let member = |(index, (part, listener))| {
        let (boot, files) = machine(options, (index, part), ports[index], &ports)?;
        Ok(Member { role: part.name(), boot, files, listener })
    };
    let members = parts.into_iter().zip(listeners).enumerate().map(member);
    Serving::start(members.collect::<Result<_, ServeError>>()?)
}

fn seed(index: usize) -> u64 {
    RandomState::new().hash_one((index, wall_clock(), std::process::id()))
}

fn machine(
    options: &ServeOptions,
    (index, part): (usize, Part),
    port: u16,
    ports: &[u16],
) -> Result<(MachineBuilder, Files), ServeError> {
    let (files, image) = match &options.dir {
        None => (Files::none(), DiskImage::default()),
        Some(dir) => Files::open(&dir.join(format!("{}-{}", part.name(), index + 1)))?,
    };
    let boot: MachineBuilder = match role(options, part, port, ports) {
        Role::Sentinel(config) => Box::new(move |_| {
            Box::new(Sentinel::started(config, &image, seed(index), wall_clock()))
        }),
        Role::Redis(config) => Box::new(move |driver| {
            Box::new(Node::with_driver(*config, image, seed(index), wall_clock(), driver))
        }),
    };
    Ok((boot, files))
}

enum Role {
    Redis(Box<NodeConfig>),
    Sentinel(SentinelConfig),
}

fn role(options: &ServeOptions, part: Part, port: u16, ports: &[u16]) -> Role {
    let host = announced(options.bind);
    let master = Address { host: host.clone(), port: ports[0] };
    if part == Part::Sentinel {
        let replicas = ports.iter().skip(1).take(options.replicas.into());
        let address = |port: &u16| Address { host: host.clone(), port: *port };
        let known_replicas = replicas.map(address).collect();
        return Role::Sentinel(SentinelConfig {
            quorum: usize::from(options.sentinels / 2 + 1),
            down_after_ms: options.down_after_ms,
            known_replicas,
            ..SentinelConfig::new(Address { host, port }, master)
        });
    }
    let replica_of = (part == Part::Replica).then_some((master.host, master.port));
    Role::Redis(Box::new(NodeConfig {
        host,
        port,
        replica_of,
        starts_in_step: true,
        ..options.node.clone()
    }))
}

/// Creates servers for these ports, without starting them. Fails if an option is invalid.
pub fn staged(options: &ServeOptions, ports: &[u16]) -> Result<Vec<StagedServer>, ServeError> {
    let server = |(part, port): (Part, &u16)| {
        let boot: MachineRebuilder = match role(options, part, *port, ports) {
            Role::Sentinel(config) => Box::new(move |start| {
                let Start { disk, seed, now, .. } = start;
                Box::new(Sentinel::started(config.clone(), &disk, seed, now.wall))
            }),
            Role::Redis(config) => Box::new(move |start| {
                let config = NodeConfig { starts_in_step: start.is_first, ..(*config).clone() };
                Box::new(Node::new(config, start.disk, start.seed, start.now.wall))
            }),
        };
        StagedServer { role: part.name(), port: *port, boot }
    };
    Ok(options.parts()?.into_iter().zip(ports).map(server).collect())
}
