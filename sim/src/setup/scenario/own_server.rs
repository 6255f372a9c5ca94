use super::binaries::InvalidServers;
use super::hashed::hashed;
use super::words::words;
use fencepost_faults::Node;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;

const TAKEN: [&str; 3] = ["judge", "localhost", "storage"];

/// A user-supplied server. Histories name the first `server-1`, the second `server-2`, and so on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OwnServer {
    /// Name of the server's host in the simulated network.
    pub name: String,
    /// Port to which clients connect.
    pub port: u16,
    /// The server's program and its arguments, with absolute paths of files.
    pub command: Vec<String>,
    /// SHA-256, in hex, of each file that the command names, from the time of the report.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

impl OwnServer {
    /// Parses `NAME=CMD` or `NAME:PORT=CMD`. Paths are relative to `folder`.
    pub fn parse(text: &str, folder: &Path) -> Result<OwnServer, InvalidServers> {
        let wrong = |why: &str| InvalidServers::own(text, why);
        let form = "expected NAME=CMD or NAME:PORT=CMD, like queue:11300='beanstalkd -b .'";
        let (host, command) = text.split_once('=').ok_or_else(|| wrong(form))?;
        let (name, port) = match host.split_once(':') {
            Some((name, port)) => {
                let port = port.parse().ok().filter(|port| *port > 0);
                (name, port.ok_or_else(|| wrong("expected a port from 1 to 65535"))?)
            }
            None => (host, 0),
        };
        if let Some(why) = refusal(name) {
            return Err(wrong(&why));
        }
        let command = words(command).ok_or_else(|| wrong("expected a closing quote"))?;
        if command.is_empty() {
            return Err(wrong(form));
        }
        let command = absolute(&command, folder).map_err(|why| wrong(&why))?;
        let mut server = OwnServer { name: name.to_owned(), port, command, files: BTreeMap::new() };
        server.files = server.hashes();
        Ok(server)
    }

    pub fn hashes(&self) -> BTreeMap<String, String> {
        let files = self.command.iter().filter(|word| word.starts_with('/'));
        let hash = |word: &String| Some((word.clone(), hashed(Path::new(word))?.sha256.clone()));
        files.filter_map(hash).collect()
    }

    pub fn unchanged(&self) -> Result<(), InvalidServers> {
        let now = self.hashes();
        match self.files.iter().find(|(file, hash)| now.get(*file) != Some(hash)) {
            None => Ok(()),
            Some((file, _)) => Err(InvalidServers::Changed {
                path: file.clone(),
                was: format!("a file of the server '{}'", self.name),
            }),
        }
    }

    pub fn address(&self) -> String {
        format!("{}:{}", self.name, self.port)
    }
}

pub(crate) fn aliases(
    servers: &[OwnServer],
    addresses: &BTreeMap<String, Ipv4Addr>,
) -> BTreeMap<String, Ipv4Addr> {
    let numbered = (1..).zip(servers);
    let named = numbered.filter_map(|(number, server)| {
        let address = addresses.get(&Node::Server(number).to_string())?;
        Some((server.name.clone(), *address))
    });
    named.collect()
}

fn refusal(name: &str) -> Option<String> {
    let is_host = name.starts_with(|it: char| it.is_ascii_lowercase())
        && name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-');
    if !is_host {
        let expected = "expected a NAME of lower-case letters, digits and -, starting with a \
                        letter, like queue";
        return Some(expected.to_owned());
    }
    let is_taken = TAKEN.contains(&name) || name.parse::<Node>().is_ok();
    is_taken.then(|| format!("another machine has the name {name}: expected a different NAME"))
}

fn absolute(command: &[String], folder: &Path) -> Result<Vec<String>, String> {
    let folders = std::env::var("PATH").unwrap_or_default();
    let found = fencepost_programs::find_program(&command[0], folder, &folders);
    let found = found.map_err(|error| error.to_string())?;
    let first = std::path::absolute(found).map_err(|error| error.to_string())?;
    let path = |word: &String| {
        let path = folder.join(word);
        if path.is_file() { path.display().to_string() } else { word.clone() }
    };
    let others = command[1..].iter().map(path);
    Ok(std::iter::once(first.display().to_string()).chain(others).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_a_name_a_port_and_a_command_with_absolute_paths() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("queue.conf"), "").unwrap();
        let parse = |text: &str| OwnServer::parse(text, folder.path());
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            let server = parse("queue:11300=sh 'queue.conf' -b .").unwrap();
            assert_eq!((server.name.as_str(), server.port), ("queue", 11_300));
            let file = folder.path().join("queue.conf").display().to_string();
            assert_eq!(server.command[1..], [file.as_str(), "-b", "."]);
            assert!(server.command[0].ends_with("/sh") && server.files.contains_key(&file));
            std::fs::write(&file, "other").unwrap();
            let changed = server.unchanged().unwrap_err().to_string();
            assert!(changed.contains("a file of the server 'queue'"), "{changed}");
        }
        for (text, expected) in [
            ("queue", "expected NAME=CMD or NAME:PORT=CMD"),
            ("queue=", "expected NAME=CMD or NAME:PORT=CMD"),
            ("queue:0=sh", "expected a port from 1 to 65535"),
            ("Queue=sh", "expected a NAME of lower-case letters"),
            ("client-1=sh", "another machine has the name client-1"),
            ("judge=sh", "another machine has the name judge"),
            ("queue=sh 'a", "expected a closing quote"),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.starts_with(&format!("--server '{text}': {expected}")), "{said}");
        }
    }
}
