//! Real ZooKeeper servers. The console asks for ephemeral nodes and their sessions (`dump`).

mod console;

use super::RealSetup;
use super::kind::{Kind, Recipe, command, version_after};
use crate::hosts::coordinators::ensemble::count;
use console::ZooKeeperConsole;
use fencepost_clients::Coordinator;
use fencepost_faults::{Micros, Node};
use std::fmt::Write;

const PORT: u16 = 2_181;
const MAIN: &str = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
const VERSION: &str = "org.apache.zookeeper.version.VersionInfoMain";
/// Only one thread collects garbage and no thread compiles, so that runs are reproducible.
const JAVA: &[&str] = &["java", "-Xint", "-Xmx256m", "-XX:+UseSerialGC", "-XX:-UsePerfData"];

pub(super) const KIND: Kind = Kind {
    coordinator: Coordinator::ZooKeeper,
    program: "/usr/share/java/zookeeper.jar",
    expected: "the zookeeper.jar of a ZooKeeper server",
    version: |path| [command(JAVA), command(&["-cp", path, VERSION])].concat(),
    name_and_version: |said| version_after(said, "ZooKeeper", "ZooKeeper, version "),
    template: None,
    recipe,
    console: |part| Box::new(ZooKeeperConsole::of(part)),
};

fn recipe(setup: &RealSetup<'_>, node: Node) -> Recipe {
    let members = count(setup.topology);
    let mut configuration = format!(
        "tickTime=2000\ninitLimit=10\nsyncLimit=5\ndataDir=data\nclientPort={PORT}\n\
         admin.enableServer=false\n4lw.commands.whitelist=dump\n"
    );
    if members > 1 {
        for number in 1..=members {
            let host = Node::Server(number);
            let _ = writeln!(configuration, "server.{number}={host}:2888:3888");
        }
    }
    let own = match node {
        Node::Server(number) => number,
        _ => 1,
    };
    let command = [command(JAVA), command(&["-cp", &setup.binary.path, MAIN, "zoo.cfg"])].concat();
    let files = vec![("zoo.cfg", configuration), ("data/myid", format!("{own}\n"))];
    Recipe { command, files, port: PORT, boot: Micros::from_millis(50), ..Recipe::default() }
}
