use super::console::Console;
use super::{RealSetup, RealWorld};
use crate::setup::scenario::ServerBinary;
use bytes::Bytes;
use fencepost_clients::Coordinator;
use fencepost_faults::{Micros, Node, SimTime};
use fencepost_machine::Now;
use fencepost_programs::Launch;
use rand_chacha::ChaCha8Rng;
use std::net::Ipv4Addr;
use std::path::Path;

/// Servers may report their folder to clients, so its path must be the same in every run.
pub(super) const FOLDER: &str = "/proc/self/cwd";
pub(super) const FIRST_PROCESS: u32 = 101;
pub(super) const NOBODY: u32 = 65_534;

pub(crate) struct Kind {
    pub(crate) coordinator: Coordinator,
    pub(crate) program: &'static str,
    pub(crate) expected: &'static str,
    pub(super) version: fn(path: &str) -> Vec<String>,
    pub(super) name_and_version: fn(&str) -> Option<(String, String)>,
    pub(super) template: Option<fn(&Part) -> Template>,
    pub(super) recipe: fn(&RealSetup<'_>, Node) -> Recipe,
    pub(super) console: fn(&Part) -> Box<dyn Console>,
}

pub(super) struct Template {
    pub(super) files: Vec<(&'static str, String)>,
    pub(super) command: Vec<String>,
    pub(super) folder: &'static str,
    pub(super) user: Option<u32>,
}

#[derive(Clone, Default)]
pub(super) struct Recipe {
    pub(super) command: Vec<String>,
    pub(super) environment: Vec<(&'static str, String)>,
    pub(super) files: Vec<(&'static str, String)>,
    pub(super) port: u16,
    /// The machine starts the server this long before the server must accept connections.
    pub(super) boot: Micros,
    pub(super) user: Option<u32>,
}

#[derive(Clone)]
pub(super) struct Part {
    pub(super) node: Node,
    pub(super) kind: &'static Kind,
    pub(super) world: RealWorld,
    pub(super) binary: ServerBinary,
    pub(super) recipe: Recipe,
    pub(super) tap_prefix: Option<Bytes>,
    pub(super) lock: String,
    pub(super) warm_up: Micros,
    pub(super) sync_us: u64,
    pub(super) torn: Option<ChaCha8Rng>,
    pub(super) machine_seed: u64,
    pub(super) ttl: Micros,
    pub(super) has_log: bool,
    /// `true` if syncs fail in this run, and the scenario sets a persistence other than `none`.
    pub(super) disk_fails: bool,
    pub(super) min_replicas: u16,
}

impl Part {
    pub(super) fn is_sentinel(&self) -> bool {
        matches!(self.node, Node::Sentinel(_))
    }

    pub(super) fn run_time(&self, now: Now) -> SimTime {
        SimTime(now.monotonic.0.saturating_sub(self.warm_up.0))
    }

    pub(super) fn address(&self, host: &str) -> Option<Ipv4Addr> {
        self.world.addresses.get(host).copied()
    }

    pub(super) fn host_at(&self, address: &str) -> String {
        let found = self.world.addresses.iter().find(|(_, known)| known.to_string() == *address);
        found.map_or_else(|| address.to_owned(), |(name, _)| name.clone())
    }

    pub(super) fn prefix(&self) -> String {
        self.tap_prefix
            .as_deref()
            .map_or_else(String::new, |prefix| String::from_utf8_lossy(prefix).into_owned())
    }

    pub(super) fn launch(&self, folder: &Path, seed: u64) -> Launch {
        let recipe = &self.recipe;
        let fixed = [("PATH", "/usr/bin:/bin"), ("HOME", "/"), ("LANG", "C.UTF-8"), ("TZ", "UTC")];
        let fixed = fixed.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let own = recipe.environment.iter();
        let own = own.map(|(name, value)| ((*name).to_owned(), value.clone()));
        Launch {
            command: recipe.command.clone(),
            environment: fixed.chain(own).collect(),
            folder: folder.to_owned(),
            host_name: self.node.to_string(),
            hosts: (*self.world.addresses).clone(),
            aliases: (*self.world.aliases).clone(),
            seed,
            machine_seed: self.machine_seed,
            first_process: first_process(self.node, seed),
            user: recipe.user,
            sync_us: Some(self.sync_us),
            temporary: Vec::new(),
        }
    }
}

/// Sentinels need different process numbers. Redis seeds its random numbers with the process number
/// and the time, so equal numbers would start all elections at the same time.
fn first_process(node: Node, seed: u64) -> u32 {
    let (Node::Server(number) | Node::Sentinel(number)) = node else { return FIRST_PROCESS };
    let first = FIRST_PROCESS + u32::from(number) * 1_000;
    let drawn = (seed % 400) as u32;
    if matches!(node, Node::Sentinel(_)) { first + 400 + drawn } else { first + drawn }
}

pub(super) fn command(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

pub(super) fn version_after(said: &str, name: &str, prefix: &str) -> Option<(String, String)> {
    let rest = said.lines().find_map(|line| line.trim().split_once(prefix))?.1;
    let version = rest.split([' ', ',', '-']).next()?.trim();
    let is_one = version.starts_with(|it: char| it.is_ascii_digit());
    is_one.then(|| (name.to_owned(), version.to_owned()))
}

#[cfg(test)]
impl Part {
    pub(super) fn for_tests(kind: &'static Kind, node: Node) -> Part {
        let named = |name: &str, part, last| (format!("{name}-{last}"), [10, 0, part, last].into());
        let all = (1..=3).flat_map(|last| [named("redis", 0, last), named("server", 1, last)]);
        Part {
            node,
            kind,
            world: RealWorld {
                addresses: std::rc::Rc::new(all.collect()),
                aliases: Default::default(),
                lives: Default::default(),
                asked: Default::default(),
            },
            binary: ServerBinary {
                path: "/bin/server".to_owned(),
                name: "Redis".to_owned(),
                version: "7.0.15".to_owned(),
                sha256: String::new(),
            },
            recipe: Recipe::default(),
            tap_prefix: Some(Bytes::from_static(b"lock")),
            lock: "lock".to_owned(),
            warm_up: Micros::ZERO,
            sync_us: 1_000,
            torn: None,
            machine_seed: 0,
            ttl: Micros::from_secs(10),
            has_log: false,
            disk_fails: false,
            min_replicas: 0,
        }
    }
}
