//! Real etcd servers. The console reads all keys, and then watches them.

mod console;
mod grpc;

use super::RealSetup;
use super::kind::{Kind, Recipe, command, version_after};
use crate::hosts::coordinators::ensemble::count;
use console::EtcdConsole;
use fencepost_clients::Coordinator;
use fencepost_faults::{Micros, Node};

const PORT: u16 = 2_379;
const PEER_PORT: u16 = 2_380;

pub(super) const KIND: Kind = Kind {
    coordinator: Coordinator::Etcd,
    program: "etcd",
    expected: "an etcd server",
    version: |path| command(&[path, "--version"]),
    name_and_version: |said| version_after(said, "etcd", "etcd Version: "),
    template: None,
    recipe,
    console: |part| Box::new(EtcdConsole::of(part)),
};

fn recipe(setup: &RealSetup<'_>, node: Node) -> Recipe {
    let own = node.to_string();
    let url = |host: &str, port: u16| format!("http://{host}:{port}");
    let members = count(setup.topology);
    let member = |number| {
        let name = Node::Server(number).to_string();
        format!("{name}={}", url(&name, PEER_PORT))
    };
    let all: Vec<String> = (1..=members).map(member).collect();
    let options = [
        ("--name", own.clone()),
        ("--data-dir", "data".to_owned()),
        ("--listen-client-urls", url("0.0.0.0", PORT)),
        ("--advertise-client-urls", url(&own, PORT)),
        ("--listen-peer-urls", url("0.0.0.0", PEER_PORT)),
        ("--initial-advertise-peer-urls", url(&own, PEER_PORT)),
        ("--initial-cluster", all.join(",")),
    ];
    let mut command = command(&[&setup.binary.path]);
    command.extend(options.into_iter().flat_map(|(name, value)| [name.to_owned(), value]));
    // A single server elects itself while it starts. A member of a cluster needs the other members.
    let boot = if members == 1 { Micros::from_millis(2_000) } else { Micros::from_millis(50) };
    Recipe { command, port: PORT, boot, ..Recipe::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_its_version() {
        let said = "etcd Version: 3.4.23\nGit SHA: Not provided\nGo Version: go1.19.8\n";
        let version = (KIND.name_and_version)(said);
        assert_eq!(version, Some(("etcd".to_owned(), "3.4.23".to_owned())));
    }
}
