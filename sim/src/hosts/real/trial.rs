//! What a binary is, and whether it serves: found out before any run is made.

use super::folder;
use crate::hosts::programs::record::in_words;
use crate::setup::scenario::{InvalidServers, ServerBinary, ServersArgument};
use fencepost_programs::{Clocks, Ending, Group, Launch, News, Request, SocketId, StartError};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// Where servers are installed that are not found as a shell finds them.
const FOLDERS: &str = "/usr/local/bin:/usr/bin:/usr/sbin:/bin";
/// How long a binary may take to say its version or to serve, in its own time.
const PATIENCE_US: u64 = 10_000_000;
const STEP_US: u64 = 1_000;
const PORT: u16 = 6379;

/// The real server that is asked for, if one is. It was started, and served.
pub(crate) fn binary(argument: &ServersArgument) -> Result<Option<ServerBinary>, InvalidServers> {
    let named = match argument {
        ServersArgument::Fake => return Ok(None),
        ServersArgument::Installed => PathBuf::from("redis-server"),
        ServersArgument::Redis(path) => path.clone(),
    };
    let wrong = |why: String| InvalidServers::Binary { path: named.display().to_string(), why };
    let path = find(&named).map_err(|error| wrong(error.to_string()))?;
    // The thread that traces keeps to one core, and so would all threads that it starts later.
    let tried = std::thread::spawn(move || tried(&path)).join();
    tried.unwrap_or_else(|_| Err("the trial of it panicked".to_owned())).map(Some).map_err(wrong)
}

/// The absolute path of a binary. Links are kept: a server may go by the name that it is called by.
fn find(named: &Path) -> Result<PathBuf, StartError> {
    let folders = std::env::var("PATH").unwrap_or_default() + ":" + FOLDERS;
    let name = named.to_string_lossy();
    let found = fencepost_programs::find_program(&name, Path::new("."), &folders)?;
    Ok(std::path::absolute(found)?)
}

fn tried(path: &Path) -> Result<ServerBinary, String> {
    folder::remove_leftovers();
    let folder = folder::new().map_err(|error| format!("no folder for its files: {error}"))?;
    let path_text = path.display().to_string();
    let launch = |words: &[&str]| Launch {
        command: std::iter::once(path_text.as_str())
            .chain(words.iter().copied())
            .map(str::to_owned)
            .collect(),
        environment: BTreeMap::from([("PATH".to_owned(), FOLDERS.to_owned())]),
        folder: folder.path().to_owned(),
        host_name: "redis-1".to_owned(),
        hosts: BTreeMap::from([("redis-1".to_owned(), Ipv4Addr::new(10, 0, 0, 1))]),
        seed: 0,
        first_process: 101,
        sync_us: Some(STEP_US),
    };
    let said = Trial::start(&launch(&["--version"]))?.said();
    let (name, version) = name_and_version(&said).ok_or_else(|| {
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let line: String = line.trim().chars().take(80).collect();
        format!("says '{line}' for --version: expected a Redis, Valkey or KeyDB server")
    })?;
    let port = PORT.to_string();
    let words = ["--port", &port, "--bind", "0.0.0.0", "--protected-mode", "no", "--save", ""];
    Trial::start(&launch(&words))?.serves()?;
    let sha256 = ServerBinary::hash(path);
    Ok(ServerBinary { path: path_text, name, version, sha256 })
}

/// The first two things of `Redis server v=7.0.15 sha=...`.
fn name_and_version(said: &str) -> Option<(String, String)> {
    let (name, rest) = said.trim().split_once(" server v=")?;
    let version = rest.split_whitespace().next()?;
    let is_one = !name.contains('\n') && version.starts_with(|it: char| it.is_ascii_digit());
    is_one.then(|| (name.to_owned(), version.to_owned()))
}

/// A server alone in a world.
struct Trial {
    group: Group,
    said: Vec<u8>,
    now_us: u64,
    answered: Vec<u8>,
    ending: Option<Ending>,
}

impl Trial {
    fn start(launch: &Launch) -> Result<Trial, String> {
        let group = Group::start(launch).map_err(|error| error.to_string())?;
        Ok(Trial { group, said: Vec::new(), now_us: 0, answered: Vec::new(), ending: None })
    }

    fn step(&mut self) {
        let clocks = Clocks {
            wall_us: crate::world::node_clock::WALL_EPOCH_US + self.now_us as i64,
            monotonic_us: STEP_US + self.now_us,
        };
        let step = self.group.step(clocks);
        self.said.extend(self.group.take_output().into_iter().flat_map(|one| one.bytes));
        for request in step.requests {
            match request {
                Request::Send { bytes, .. } => self.answered.extend(bytes),
                Request::Connect { socket, .. } => self.group.deliver(News::Refused(socket)),
                Request::Shutdown { .. } | Request::Close { .. } => {}
            }
        }
        self.ending = step.ending;
        self.now_us += STEP_US;
    }

    /// All that it prints until it ends.
    fn said(mut self) -> String {
        while self.ending.is_none() && self.now_us < PATIENCE_US {
            self.step();
        }
        String::from_utf8_lossy(&self.said).into_owned()
    }

    /// Waits until it answers a client.
    fn serves(mut self) -> Result<(), String> {
        let mut client: Option<SocketId> = None;
        while self.ending.is_none() && self.now_us < PATIENCE_US {
            self.step();
            if client.is_none() {
                client = self.group.incoming((Ipv4Addr::new(10, 0, 0, 2), 40_000), PORT);
                let ping = b"*1\r\n$4\r\nPING\r\n".to_vec();
                client.into_iter().for_each(|it| {
                    self.group.deliver(News::Received(it, ping.clone()));
                });
            }
            if self.answered.starts_with(b"+PONG\r\n") {
                return Ok(());
            }
        }
        let seconds = PATIENCE_US / 1_000_000;
        let how = match (&self.ending, client) {
            (Some(ending), _) => format!("{} before it served", in_words(ending)),
            (None, None) => format!("does not listen at port {PORT} {seconds} s after its start"),
            (None, Some(_)) => format!("does not answer PING {seconds} s after its start"),
        };
        let said = String::from_utf8_lossy(&self.said).into_owned();
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        let last = last.map_or(String::new(), |line| {
            format!(": {}", line.chars().take(160).collect::<String>())
        });
        Err(how + &last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_its_name_and_version() {
        let of = |said: &str| name_and_version(said).map(|(name, version)| name + " " + &version);
        let redis = "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64\n";
        assert_eq!(of(redis), Some("Redis 7.0.15".to_owned()));
        assert_eq!(of("Valkey server v=8.0.1 sha=0\n"), Some("Valkey 8.0.1".to_owned()));
        assert_eq!(of("ls (GNU coreutils) 9.1\n"), None);
        assert_eq!(of("x\nRedis server v=7\n"), None);
    }
}
