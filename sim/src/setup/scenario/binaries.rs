use super::hashed::hashed;
use fencepost_clients::Coordinator;
use fencepost_reports::listed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub type RealServers = BTreeMap<String, ServerBinary>;

/// A real server's binary, identified by its hash.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ServerBinary {
    /// Absolute path of the binary.
    pub path: String,
    /// Name of the server, such as `Redis` or `Valkey`.
    pub name: String,
    /// Version that the server reports.
    pub version: String,
    /// SHA-256 of the binary, in hex.
    pub sha256: String,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidServers {
    #[error("--servers '{0}': expected fake, real, or NAME=PATH, where NAME is {names}", names = names())]
    Argument(String),
    #[error("--servers: fencepost cannot run a real '{name}' server: expected {expected}")]
    Coordinator { name: String, expected: String },
    #[error("--servers {coordinator}={path}: {why}")]
    Binary { coordinator: &'static str, path: String, why: String },
    #[error(
        "server {path} has changed since the report, which used {was}: use `replay \
         --allow-changed` to run the current server"
    )]
    Changed {
        path: String,
        /// Name and version in the report, or the user's name for the server.
        was: String,
    },
    #[error("--server '{text}': {why}")]
    Own { text: String, why: String },
}

impl InvalidServers {
    pub(crate) fn own(text: &str, why: impl Into<String>) -> InvalidServers {
        InvalidServers::Own { text: text.to_owned(), why: why.into() }
    }

    pub(crate) fn coordinator(name: &str) -> InvalidServers {
        InvalidServers::Coordinator { name: name.to_owned(), expected: names() }
    }
}

pub(crate) fn names() -> String {
    listed(HAVE_SERVERS.iter().map(|coordinator| coordinator.name()), "or")
}

pub(crate) const HAVE_SERVERS: [Coordinator; 6] = [
    Coordinator::Redis,
    Coordinator::Memcached,
    Coordinator::ZooKeeper,
    Coordinator::PostgreSql,
    Coordinator::MySql,
    Coordinator::Etcd,
];

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ServersArgument {
    Fake,
    Installed,
    Binary { coordinator: Coordinator, path: PathBuf },
}

impl ServersArgument {
    pub fn parse(text: &str) -> Result<ServersArgument, InvalidServers> {
        match text.split_once('=') {
            None if text == "fake" => Ok(ServersArgument::Fake),
            None if text == "real" => Ok(ServersArgument::Installed),
            Some((name, path)) if !path.is_empty() => {
                let found = HAVE_SERVERS.into_iter().find(|known| known.name() == name);
                let coordinator = found.ok_or_else(|| InvalidServers::coordinator(name))?;
                Ok(ServersArgument::Binary { coordinator, path: path.into() })
            }
            _ => Err(InvalidServers::Argument(text.to_owned())),
        }
    }
}

impl ServerBinary {
    pub fn unchanged(&self) -> Result<(), InvalidServers> {
        let now = hashed(Path::new(&self.path));
        if now.is_some_and(|now| now.sha256 == self.sha256) {
            return Ok(());
        }
        Err(InvalidServers::Changed {
            path: self.path.clone(),
            was: format!("{} {}", self.name, self.version),
        })
    }

    pub(crate) fn described(&self, coordinator: &str) -> String {
        let ServerBinary { path, name, version, sha256 } = self;
        format!("real {coordinator} servers: {name} {version}, {path}, SHA-256 {sha256}")
    }

    pub(crate) fn hash(path: &Path) -> String {
        hashed(path).map_or(String::new(), |hashed| hashed.sha256.clone())
    }

    pub(crate) fn major(&self) -> u32 {
        self.numbers().next().unwrap_or(0)
    }

    pub(crate) fn is_at_least(&self, major: u32, minor: u32) -> bool {
        let mut numbers = self.numbers();
        let own = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        own >= (major, minor)
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        self.version.split('.').map_while(|number| number.parse().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_fake_real_or_a_path() {
        let parse = |text| ServersArgument::parse(text).map_err(|error| error.to_string());
        assert_eq!(parse("fake"), Ok(ServersArgument::Fake));
        assert_eq!(parse("real"), Ok(ServersArgument::Installed));
        let coordinator = Coordinator::Redis;
        let redis = ServersArgument::Binary { coordinator, path: "a/b".into() };
        assert_eq!(parse("redis=a/b"), Ok(redis));
        let names = "redis, memcached, zookeeper, postgresql, mysql or etcd";
        let wrong =
            format!("--servers 'reel': expected fake, real, or NAME=PATH, where NAME is {names}");
        assert_eq!(parse("reel").unwrap_err(), wrong);
        assert!(parse("redis=").unwrap_err().contains("expected fake, real"));
        let none = parse("chubby=/bin/chubby").unwrap_err();
        assert!(
            none.ends_with(&format!("cannot run a real 'chubby' server: expected {names}")),
            "{none}"
        );
    }

    #[test]
    fn versions_are_compared_by_number() {
        let of = |version: &str| ServerBinary {
            path: String::new(),
            name: "Redis".to_owned(),
            version: version.to_owned(),
            sha256: String::new(),
        };
        assert!(of("7.0.15").is_at_least(6, 2) && of("6.2.0").is_at_least(6, 2));
        assert!(!of("6.0.20").is_at_least(6, 2) && of("10.1").is_at_least(9, 9));
        assert_eq!(of("255.255.255").major(), 255);
    }
}
