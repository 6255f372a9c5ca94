//! Redis servers that a test controls (`fencepost serve --clock manual`).

mod event;
mod history;
mod orders;
mod stage;
mod wire;

use super::deployment::{Part, ServeOptions};
use crate::config::NodeConfig;
use crate::front::node::Node;
use crate::sentinel::{Address, Sentinel, SentinelConfig};
use bytes::{Bytes, BytesMut};
use fencepost_serve::{Sent, ServeError, Staged, Staging, announced, listen};
use stage::{Boot, Server, Stage};
use std::collections::BTreeMap;
use std::io;
use wire::{Answer, take_request};

/// Servers whose clock moves by commands, with the connections of clients and of the administrator.
pub struct Commanded {
    stage: Stage,
    sockets: BTreeMap<u64, Option<usize>>,
    asking: BTreeMap<u64, BytesMut>,
    answers: Vec<(u64, Sent)>,
}

/// Listens for all servers in the order masters, replicas, Sentinels, and then for the admin
/// connection. Needs a tokio runtime. Fails if an option is invalid or an address is in use.
pub fn start_manual(options: &ServeOptions) -> Result<Staging<Commanded>, ServeError> {
    if options.dir.is_some() {
        let problem = "--dir with --clock manual: expected no folder, because these servers keep \
                       their files in memory";
        return Err(ServeError::Options(problem.to_owned()));
    }
    let parts = options.parts()?;
    let listeners = listen(options.bind, options.port, parts.len() as u16 + 1)?;
    let ports = listeners.iter().map(|listener| Ok(listener.local_addr()?.port()));
    let ports: Vec<u16> = ports.collect::<io::Result<_>>().map_err(ServeError::System)?;
    let mut counts = BTreeMap::<&str, u32>::new();
    let mut servers = Vec::new();
    for (part, port) in parts.iter().zip(&ports) {
        let count = counts.entry(part.name()).or_default();
        *count += 1;
        let name = format!("{}-{count}", part.name());
        let boot = boot(options, *part, *port, ports[0]);
        servers.push(Server::new((name, *port), *part == Part::Sentinel, boot));
    }
    let roles = parts.iter().map(|part| part.name()).chain(["admin"]);
    Ok(Staging {
        listeners: roles.zip(listeners).collect(),
        staged: Commanded {
            stage: Stage::new(servers),
            sockets: BTreeMap::new(),
            asking: BTreeMap::new(),
            answers: Vec::new(),
        },
    })
}

fn boot(options: &ServeOptions, part: Part, port: u16, first: u16) -> Boot {
    let host = announced(options.bind);
    let master = Address { host: host.clone(), port: first };
    if part == Part::Sentinel {
        let config = SentinelConfig {
            quorum: usize::from(options.sentinels / 2 + 1),
            down_after_ms: options.down_after_ms,
            ..SentinelConfig::new(Address { host, port }, master)
        };
        return Box::new(move |disk, seed, wall| {
            Box::new(Sentinel::started(config.clone(), &disk, seed, wall))
        });
    }
    let replica_of = (part == Part::Replica).then_some((master.host, master.port));
    let config = NodeConfig {
        host,
        port,
        replica_of,
        starts_in_step: true,
        tap_prefix: Some(Bytes::new()),
        ..options.node.clone()
    };
    Box::new(move |disk, seed, wall| Box::new(Node::new(config.clone(), disk, seed, wall)))
}

impl Commanded {
    fn obey(&mut self, socket: u64) {
        let Some(asking) = self.asking.get_mut(&socket) else { return };
        loop {
            match take_request(asking) {
                Ok(Some(words)) if words.is_empty() => {}
                Ok(Some(words)) => {
                    let answer = orders::obey(&mut self.stage, &words);
                    self.answers.append(&mut self.stage.take_sent());
                    self.answers.push((socket, Sent::Bytes(answer.encoded().into())));
                }
                Ok(None) => return,
                Err(problem) => {
                    let answer = Answer::Wrong(problem.to_owned()).encoded();
                    self.answers.push((socket, Sent::Bytes(answer.into())));
                    self.answers.push((socket, Sent::Close));
                    asking.clear();
                    return;
                }
            }
        }
    }
}

impl Staged for Commanded {
    fn opened(&mut self, listener: usize, socket: u64, peer: &str) {
        let server = (listener < self.stage.servers.len()).then_some(listener);
        self.sockets.insert(socket, server);
        match server {
            Some(server) => self.stage.open(server, socket, peer),
            None => {
                self.asking.insert(socket, BytesMut::new());
            }
        }
    }

    fn received(&mut self, socket: u64, bytes: &[u8]) {
        match self.sockets.get(&socket) {
            Some(Some(server)) => self.stage.receive(*server, socket, bytes),
            Some(None) => {
                if let Some(asking) = self.asking.get_mut(&socket) {
                    asking.extend_from_slice(bytes);
                }
                self.obey(socket);
            }
            None => {}
        }
    }

    fn closed(&mut self, socket: u64) {
        self.asking.remove(&socket);
        if let Some(Some(server)) = self.sockets.remove(&socket) {
            self.stage.close(server, socket);
        }
    }

    fn take_sent(&mut self) -> Vec<(u64, Sent)> {
        let mut all = std::mem::take(&mut self.answers);
        all.append(&mut self.stage.take_sent());
        all
    }
}

#[cfg(test)]
mod tests;
