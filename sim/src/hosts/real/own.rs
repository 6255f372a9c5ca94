//! Servers that users supply. The judge knows their locks only from the processes' reports.

use super::RealSetup;
use super::console::{Channel, Console, ConsoleReply, ConsoleRequest};
use super::kind::{FOLDER, Kind, Recipe};
use super::work::{Work, next_message};
use crate::hosts::programs::host::FIXED;
use crate::setup::scenario::{OwnServer, ServerBinary};
use bytes::BytesMut;
use fencepost_clients::Coordinator;
use fencepost_faults::{Micros, Node};
use fencepost_machine::ConnectionId;

pub(crate) static KIND: Kind = Kind {
    coordinator: Coordinator::Own,
    program: "",
    expected: "a server",
    version: |_| Vec::new(),
    name_and_version: |_| None,
    template: None,
    recipe,
    console: |_| Box::new(NoConsole),
};

pub(crate) static NO_BINARY: ServerBinary = ServerBinary {
    path: String::new(),
    name: String::new(),
    version: String::new(),
    sha256: String::new(),
};

const BOOT_ALONE: Micros = Micros::from_secs(2);
const BOOT_TOGETHER: Micros = Micros::from_millis(50);

fn recipe(setup: &RealSetup<'_>, node: Node) -> Recipe {
    let number = if let Node::Server(number) = node { usize::from(number) } else { 0 };
    let server = setup.own.get(number.wrapping_sub(1));
    let server = server.unwrap_or_else(|| panic!("{node} is no server of the user"));
    let addresses: Vec<String> = setup.own.iter().map(OwnServer::address).collect();
    let inherited = ["PATH", "HOME"].into_iter();
    let inherited = inherited.filter_map(|name| Some((name, std::env::var(name).ok()?)));
    let fixed = FIXED.iter().map(|(name, value)| (*name, (*value).to_owned()));
    let own = [
        ("FENCEPOST_DIR", FOLDER.to_owned()),
        ("FENCEPOST_NAME", server.name.clone()),
        ("FENCEPOST_SEED", setup.seed.0.to_string()),
        ("FENCEPOST_SERVERS", addresses.join(",")),
        ("FENCEPOST_TTL_MS", setup.scenario.ttl.0.as_millis().to_string()),
    ];
    Recipe {
        command: server.command.clone(),
        environment: inherited.chain(fixed).chain(own).collect(),
        port: server.port,
        boot: if setup.own.len() == 1 { BOOT_ALONE } else { BOOT_TOGETHER },
        ..Recipe::default()
    }
}

pub(super) struct NoConsole;

impl Console for NoConsole {
    fn is_ready(&self) -> bool {
        true
    }

    fn channels_to_open(&mut self) -> Vec<ConsoleRequest> {
        Vec::new()
    }

    fn closed(&mut self, _: Channel) -> Vec<ConsoleReply> {
        Vec::new()
    }

    fn read(&mut self) -> Vec<ConsoleRequest> {
        Vec::new()
    }

    fn is_waiting(&self) -> bool {
        false
    }

    fn receive(&mut self, _: Channel, _: &[u8]) -> (Vec<ConsoleRequest>, Vec<ConsoleReply>) {
        (Vec::new(), Vec::new())
    }

    fn next_work(&mut self, by: ConnectionId, buffer: &mut BytesMut, is_raw: bool) -> Option<Work> {
        Some(match next_message(by, buffer, is_raw)? {
            Work::Command { by, bytes, .. } => Work::Command { by, bytes, cause: None },
            other => other,
        })
    }
}
