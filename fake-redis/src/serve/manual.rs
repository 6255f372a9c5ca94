//! Redis servers that a test controls (`fencepost serve --clock manual`).

mod history;
mod orders;
mod scene;
mod wire;

use super::deployment::{Part, ServeOptions, staged};
use bytes::{Bytes, BytesMut};
use fencepost_serve::{PreparedServers, Sent, ServeError, ServedMachines, StagedServer, listen};
use scene::Scene;
use std::collections::BTreeMap;
use std::io;
use wire::{Answer, take_request};

pub struct ManualServers {
    scene: Scene,
    sockets: BTreeMap<u64, Option<usize>>,
    asking: BTreeMap<u64, BytesMut>,
    answers: Vec<(u64, Sent)>,
}

/// Listens for primaries, then replicas, Sentinels and the admin connection. Needs a tokio runtime.
/// Fails if an option is invalid or an address is in use.
pub fn start_manual(options: &ServeOptions) -> Result<PreparedServers<ManualServers>, ServeError> {
    if options.dir.is_some() {
        let problem = "--dir: remove this option, because with --clock manual the servers keep \
                       their files in memory";
        return Err(ServeError::Options(problem.to_owned()));
    }
    let parts = options.parts()?;
    let listeners = listen(options.bind, options.port, parts.len() as u16 + 1)?;
    let ports = listeners.iter().map(|listener| Ok(listener.local_addr()?.port()));
    let ports: Vec<u16> = ports.collect::<io::Result<_>>().map_err(ServeError::System)?;
    let roles = parts.iter().map(|part| part.name()).chain(["admin"]);
    Ok(PreparedServers {
        listeners: roles.zip(listeners).collect(),
        staged: ManualServers {
            scene: Scene::new(named(options, &parts, &ports)?),
            sockets: BTreeMap::new(),
            asking: BTreeMap::new(),
            answers: Vec::new(),
        },
    })
}

fn named(
    options: &ServeOptions,
    parts: &[Part],
    ports: &[u16],
) -> Result<Vec<(String, StagedServer)>, ServeError> {
    let mut tapped = options.clone();
    tapped.node.tap_prefix = Some(Bytes::new());
    let mut counts = BTreeMap::<&str, u32>::new();
    let name = |part: &Part| {
        let count = counts.entry(part.name()).or_default();
        *count += 1;
        format!("{}-{count}", part.name())
    };
    let names: Vec<String> = parts.iter().map(name).collect();
    Ok(names.into_iter().zip(staged(&tapped, ports)?).collect())
}

impl ManualServers {
    fn obey(&mut self, socket: u64) {
        let Some(asking) = self.asking.get_mut(&socket) else { return };
        loop {
            match take_request(asking) {
                Ok(Some(words)) if words.is_empty() => {}
                Ok(Some(words)) => {
                    let answer = orders::obey(&mut self.scene, &words);
                    self.answers.append(&mut self.scene.take_sent());
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

impl ServedMachines for ManualServers {
    fn opened(&mut self, listener: usize, socket: u64, peer: &str) {
        let server = (listener < self.scene.stage.count()).then_some(listener);
        self.sockets.insert(socket, server);
        match server {
            Some(server) => self.scene.stage.open(server, socket, peer),
            None => {
                self.asking.insert(socket, BytesMut::new());
            }
        }
    }

    fn received(&mut self, socket: u64, bytes: &[u8]) {
        match self.sockets.get(&socket) {
            Some(Some(server)) => self.scene.stage.receive(*server, socket, bytes),
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
            self.scene.stage.close(server, socket);
        }
    }

    fn take_sent(&mut self) -> Vec<(u64, Sent)> {
        let mut all = std::mem::take(&mut self.answers);
        all.append(&mut self.scene.take_sent());
        all
    }
}

#[cfg(test)]
mod tests;
