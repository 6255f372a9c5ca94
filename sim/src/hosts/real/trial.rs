//! Identifies the binary of a real server, and checks in a trial run that the server becomes ready.

use super::files::{Files, last_line};
use super::kind::{FIRST_PROCESS, Part};
use super::machine::RealServer;
use super::{Kind, RealSetup, RealWorld, folder, kind, own};
use crate::hosts::programs::record::{Life, ProgramLives, in_words};
use crate::setup::places::RESOURCE;
use crate::setup::scenario::{InvalidServers, OwnServer, Scenario, ServerBinary, ServersArgument};
use crate::world::node_clock::WALL_EPOCH_US;
use bytes::Bytes;
use fencepost_clients::Coordinator;
use fencepost_faults::setting::Topology;
use fencepost_faults::{Micros, Node, Seed};
use fencepost_machine::{Input, Machine, MonotonicTime, Now, Output, Outputs, WallTime};
use fencepost_programs::{Clocks, Ending, Group, Launch, Request, StartError};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

const FOLDERS: &str = "/usr/local/bin:/usr/bin:/usr/sbin:/bin";
const POSTGRESQL: &str = "/usr/lib/postgresql";
const PATIENCE_US: u64 = 10_000_000;
const STEP_US: u64 = 1_000;

pub(crate) fn binaries(
    arguments: &[String],
    coordinators: &BTreeSet<Coordinator>,
) -> Result<BTreeMap<String, ServerBinary>, InvalidServers> {
    let mut binaries = BTreeMap::new();
    for argument in arguments {
        let named: Vec<(Coordinator, PathBuf)> = match ServersArgument::parse(argument)? {
            ServersArgument::Fake => Vec::new(),
            ServersArgument::Installed => {
                let installed = |coordinator: &Coordinator| {
                    let none = || InvalidServers::coordinator(coordinator.name());
                    Ok((*coordinator, kind(*coordinator).ok_or_else(none)?.program.into()))
                };
                coordinators.iter().map(installed).collect::<Result<_, InvalidServers>>()?
            }
            ServersArgument::Binary { coordinator, path } => vec![(coordinator, path)],
        };
        for (coordinator, path) in named {
            let binary = binary(coordinator, &path)?;
            binaries.insert(coordinator.name().to_owned(), binary);
        }
    }
    Ok(binaries)
}

pub(crate) fn binary(
    coordinator: Coordinator,
    named: &Path,
) -> Result<ServerBinary, InvalidServers> {
    let wrong = |why: String| InvalidServers::Binary {
        coordinator: coordinator.name(),
        path: named.display().to_string(),
        why,
    };
    let kind = kind(coordinator).ok_or_else(|| InvalidServers::coordinator(coordinator.name()))?;
    let path = find(named).map_err(|error| wrong(error.to_string()))?;
    // Uses a separate thread, because the tracer binds its thread and its children to one core.
    let tried = std::thread::spawn(move || tried(kind, &path)).join();
    tried.unwrap_or_else(|_| Err("the trial run of the server panicked".to_owned())).map_err(wrong)
}

/// Does not resolve symbolic links, because a server may depend on the name of its file.
fn find(named: &Path) -> Result<PathBuf, StartError> {
    let name = named.to_string_lossy();
    if named.extension().is_some_and(|extension| extension == "jar") {
        return match named.is_file() {
            true => Ok(std::path::absolute(named)?),
            false => Err(StartError::NotFound(name.into_owned())),
        };
    }
    let mut folders = std::env::var("PATH").unwrap_or_default() + ":" + FOLDERS;
    let versions = std::fs::read_dir(POSTGRESQL).into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    for version in versions {
        folders += &format!(":{}", version.display());
    }
    let found = fencepost_programs::find_program(&name, Path::new("."), &folders)?;
    Ok(std::path::absolute(found)?)
}

fn tried(kind: &'static Kind, path: &Path) -> Result<ServerBinary, String> {
    folder::remove_leftovers();
    let path_text = path.display().to_string();
    let said = printed((kind.version)(&path_text))?;
    let (name, version) = (kind.name_and_version)(&said).ok_or_else(|| {
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let line: String = line.trim().chars().take(80).collect();
        let asked = (kind.version)(&path_text);
        let asked = asked.last().filter(|word| word.starts_with('-'));
        let asked = asked.map_or("its version", String::as_str);
        format!("printed '{line}' for {asked}: expected {}", kind.expected)
    })?;
    let sha256 = ServerBinary::hash(path);
    let binary = ServerBinary { path: path_text, name, version, sha256 };
    serves(kind, &binary, &[])?;
    Ok(binary)
}

fn printed(command: Vec<String>) -> Result<String, String> {
    let folder = folder::new()
        .map_err(|error| format!("cannot create a folder for the server's files: {error}"))?;
    let launch = Launch {
        command,
        environment: BTreeMap::from([("PATH".to_owned(), FOLDERS.to_owned())]),
        folder: folder.path().to_owned(),
        host_name: "localhost".to_owned(),
        hosts: BTreeMap::new(),
        aliases: BTreeMap::new(),
        seed: 0,
        machine_seed: 0,
        first_process: FIRST_PROCESS,
        user: None,
        sync_us: Some(STEP_US),
        temporary: Vec::new(),
    };
    let mut group = Group::start(&launch).map_err(|error| error.to_string())?;
    let (mut now_us, mut said, mut has_ended) = (0, Vec::new(), false);
    while !has_ended && now_us < PATIENCE_US {
        let wall_us = WALL_EPOCH_US + now_us as i64;
        let step = group.step(Clocks { wall_us, monotonic_us: STEP_US + now_us });
        said.extend(group.take_output().into_iter().flat_map(|one| one.bytes));
        for request in step.requests {
            if let Request::Connect { socket, .. } = request {
                group.deliver(fencepost_programs::News::Refused(socket));
            }
        }
        has_ended = step.ending.is_some();
        now_us += STEP_US;
    }
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// Starts a server alone until it listens, and sets a missing port. Skips a server with a given
/// port if there are several, because a member of a cluster may need the others.
pub(crate) fn own(servers: &mut [OwnServer], place: usize) -> Result<(), String> {
    let server = servers[place].clone();
    if servers.len() > 1 && server.port > 0 {
        return Ok(());
    }
    let tried = std::thread::spawn(move || {
        folder::remove_leftovers();
        serves(&own::KIND, &own::NO_BINARY, &[server])
    });
    let ports =
        tried.join().unwrap_or_else(|_| Err("the trial run of the server panicked".to_owned()))?;
    if servers[place].port == 0 {
        servers[place].port = ports.first().copied().unwrap_or_default();
    }
    Ok(())
}

fn serves(
    kind: &'static Kind,
    binary: &ServerBinary,
    own: &[OwnServer],
) -> Result<Vec<u16>, String> {
    let (node, topology) = match kind.coordinator {
        Coordinator::Redis => (Node::Redis(1), Topology::Standalone),
        _ => (Node::Server(1), Topology::Ensemble { servers: 1 }),
    };
    let addresses = BTreeMap::from([(node.to_string(), Ipv4Addr::new(10, 0, 0, 1))]);
    let lives = Rc::new(ProgramLives::default());
    let world = RealWorld::new(addresses, own, lives.clone());
    let setup = RealSetup {
        world: &world,
        kind,
        binary,
        own,
        scenario: &Scenario::default(),
        topology,
        warm_up: Micros::ZERO,
        seed: Seed(0),
        tap_prefix: Some(Bytes::from_static(RESOURCE.as_bytes())),
        lock: RESOURCE,
    };
    let part = Part::of(&setup, node);
    let at =
        |us: u64| Now { wall: WallTime(WALL_EPOCH_US + us as i64), monotonic: MonotonicTime(us) };
    let mut server = RealServer::new(&part, Rc::new(Files::new(&part)), 0, at(0));
    let (mut now_us, mut out) = (0, Outputs::default());
    while now_us < PATIENCE_US && !out.stopped {
        out.clear();
        server.handle(Input::Timer, at(now_us), &mut out);
        let ports = server.listening();
        let is_open = match part.recipe.port {
            0 => !ports.is_empty(),
            port => ports.contains(&port),
        };
        if is_open && server.has_read() {
            return Ok(ports);
        }
        let wakes = out.list.iter().find_map(|output| match output {
            Output::WakeAfter { micros } => Some(*micros),
            _ => None,
        });
        now_us += wakes.unwrap_or(STEP_US).clamp(1, 10 * STEP_US);
    }
    let (has_connected, ports) = (server.has_connected(), server.listening());
    drop(server);
    Err(refusal(part.recipe.port, has_connected, &ports, lives.take().pop()))
}

fn refusal(port: u16, has_connected: bool, ports: &[u16], life: Option<Life>) -> String {
    let output = life.iter().flat_map(|life| &life.output);
    let said: Vec<u8> = output.flat_map(|one| one.2.clone()).collect();
    let seconds = PATIENCE_US / 1_000_000;
    let how = match life.and_then(|life| life.ending) {
        Some((_, Ending::Exited(0))) => "exited with status 0 before it was ready: expected a \
                                         server that stays in the foreground"
            .to_owned(),
        Some((_, ending)) => format!("{} before it was ready", in_words(&ending)),
        None if has_connected => {
            format!("did not answer on port {port} within {seconds} s of its start")
        }
        None if port == 0 => {
            format!("did not listen on any IPv4 TCP port within {seconds} s of its start")
        }
        None => {
            let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
            let ports = if ports.is_empty() { "none".to_owned() } else { ports.join(", ") };
            format!(
                "did not listen on port {port} within {seconds} s of its start (open ports: \
                 {ports})"
            )
        }
    };
    how + &last_line(&said)
}
