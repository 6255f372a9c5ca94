use super::hashed::hashed;
use super::own_server::OwnServer;
use super::words::words;
use fencepost_clients::{
    Acquisition, Algorithm, Coordinator, Definition, Deployment, Env, Lease, Lock, LockForm,
    Release, ServerLock, Servers, Settings,
};
use fencepost_reports::listed;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use strum::IntoStaticStr;

/// A user-supplied program that takes the lock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Program {
    /// Name of the lock in reports.
    pub name: String,
    /// Program and its arguments, one word per entry.
    pub command: Vec<String>,
    /// Coordinator that the program uses, by name; `redis` if absent.
    #[serde(
        default = "redis",
        skip_serializing_if = "is_redis",
        serialize_with = "coordinator_to_name",
        deserialize_with = "coordinator_from_name"
    )]
    #[schemars(with = "String")]
    pub coordinator: Coordinator,
    /// Deployment of the coordinator, such as `single` or `sentinel`.
    pub deployment: ProgramDeployment,
    /// User-supplied servers, which replace those of the coordinator; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<OwnServer>,
    /// Key of the program's lock at the servers.
    pub lock_key: String,
    /// Working directory of the program.
    pub folder: String,
    /// Environment variables of the program, in addition to those that fencepost sets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// SHA-256, in hex, of each file named in the command, at the time of the report. The first
    /// word is looked up as in a shell, and the other words relative to the working directory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// Deployment of the coordinator that a program uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[derive(Serialize, Deserialize, JsonSchema, clap::ValueEnum, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ProgramDeployment {
    /// One server. With Redis and PostgreSQL, fencepost adds replicas for faults that concern
    /// replicas.
    Single,
    /// A Redis primary with replicas and Sentinels.
    Sentinel,
    /// Independent Redis masters.
    Independent,
    /// An ensemble of ZooKeeper or GemFire servers.
    Ensemble,
    /// A PostgreSQL primary with a standby.
    Standby,
    /// An etcd cluster.
    Cluster,
    /// A Chubby cell.
    Cell,
}

fn redis() -> Coordinator {
    Coordinator::Redis
}

fn is_redis(coordinator: &Coordinator) -> bool {
    *coordinator == Coordinator::Redis
}

fn coordinator_to_name<S: Serializer>(
    coordinator: &Coordinator,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(coordinator.name())
}

fn coordinator_from_name<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Coordinator, D::Error> {
    let name = String::deserialize(deserializer)?;
    let mut all = Coordinator::ALL.iter().copied().chain([Coordinator::Own]);
    let found = all.find(|one| one.name() == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = Coordinator::ALL.iter().map(|one| one.name()).collect();
        D::Error::custom(format!(
            "unknown coordinator '{name}': expected one of {}",
            names.join(", ")
        ))
    })
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidProgram {
    #[error("--program '{0}': expected a command, or NAME=COMMAND")]
    Empty(String),
    #[error("--program '{0}': expected a closing quote")]
    Quote(String),
    #[error("--program '{name}': {why}")]
    Start { name: String, why: String },
    #[error("--deployment '{}': expected {expected} for programs on {coordinator}", .asked.name())]
    Deployment { asked: ProgramDeployment, coordinator: &'static str, expected: String },
    #[error(
        "program '{name}': {file} has changed since the report: use `replay --allow-changed` to \
         run the current program"
    )]
    Changed { name: String, file: String },
}

impl ProgramDeployment {
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the deployments of a coordinator, the default first.
    pub fn of(coordinator: Coordinator) -> &'static [ProgramDeployment] {
        use ProgramDeployment::{Cell, Cluster, Ensemble, Independent, Sentinel, Single, Standby};
        match coordinator {
            Coordinator::Redis => &[Single, Sentinel, Independent],
            Coordinator::Memcached | Coordinator::MySql | Coordinator::Own => &[Single],
            Coordinator::ZooKeeper | Coordinator::GemFire => &[Ensemble, Single],
            Coordinator::PostgreSql => &[Single, Standby],
            Coordinator::Etcd => &[Cluster, Single],
            Coordinator::Chubby => &[Cell],
        }
    }
}

impl Program {
    /// Parses `NAME=COMMAND` or `COMMAND`. The program will start in the current folder.
    pub fn parse(text: &str) -> Result<Program, InvalidProgram> {
        let folder = std::env::current_dir().unwrap_or_else(|_| "/".into());
        Program::parse_in(text, &folder)
    }

    /// Parses `NAME=COMMAND` or `COMMAND`, for a program that starts in `folder`. Without a name,
    /// the program is named after the last file in the command, or else after the first word.
    pub fn parse_in(text: &str, folder: &Path) -> Result<Program, InvalidProgram> {
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        let (name, command) = match text.split_once('=') {
            Some((name, command)) if is_name(name) => (Some(name.to_owned()), command),
            _ => (None, text),
        };
        let command = words(command).ok_or_else(|| InvalidProgram::Quote(text.to_owned()))?;
        let first = command.first().ok_or_else(|| InvalidProgram::Empty(text.to_owned()))?;
        let stem = |word: &String| {
            let stem = Path::new(word).file_stem()?;
            folder.join(word).is_file().then(|| stem.to_string_lossy().into_owned())
        };
        let name = name.or_else(|| command.iter().rev().find_map(stem));
        let name = name.unwrap_or_else(|| first.rsplit('/').next().unwrap_or(first).to_owned());
        let mut program = Program {
            name,
            files: BTreeMap::new(),
            command,
            coordinator: Coordinator::Redis,
            deployment: ProgramDeployment::Single,
            servers: Vec::new(),
            lock_key: crate::setup::places::RESOURCE.to_owned(),
            folder: folder.display().to_string(),
            environment: BTreeMap::new(),
        };
        program.files = program.hashes();
        Ok(program)
    }

    pub fn set_servers(&mut self, coordinator: Coordinator, asked: Option<ProgramDeployment>) {
        let default = ProgramDeployment::of(coordinator).first().copied();
        self.coordinator = coordinator;
        self.deployment = asked.or(default).unwrap_or(ProgramDeployment::Single);
    }

    pub fn check_servers(&self) -> Result<(), InvalidProgram> {
        let valid = ProgramDeployment::of(self.coordinator);
        if valid.contains(&self.deployment) {
            return Ok(());
        }
        Err(InvalidProgram::Deployment {
            asked: self.deployment,
            coordinator: self.coordinator.name(),
            expected: listed(valid.iter().map(|one| one.name()), "or"),
        })
    }

    pub fn hashes(&self) -> BTreeMap<String, String> {
        let folder = Path::new(&self.folder);
        let path_of = |(place, word): (usize, &String)| match place {
            0 => {
                let inherited = std::env::var("PATH").unwrap_or_default();
                let folders = self.environment.get("PATH").unwrap_or(&inherited);
                fencepost_programs::find_program(word, folder, folders).ok()
            }
            _ => Some(folder.join(word)),
        };
        let words = self.command.iter().enumerate();
        words
            .filter_map(|(place, word)| {
                let hashed = hashed(&path_of((place, word))?)?;
                Some((word.clone(), hashed.sha256.clone()))
            })
            .collect()
    }

    pub fn update(&mut self) {
        self.files = self.hashes();
        self.servers.iter_mut().for_each(|server| server.files = server.hashes());
    }

    pub fn flags(&self) -> String {
        let own = serde_json::to_value(self).ok();
        own.as_ref().and_then(fencepost_reports::record::programs::flags).unwrap_or_default()
    }

    /// Leaks one definition for each name and deployment.
    pub fn definition(&self) -> &'static Definition {
        static KNOWN: Mutex<Vec<&'static Definition>> = Mutex::new(Vec::new());
        let deployment = match (self.coordinator, self.deployment) {
            (Coordinator::Redis, ProgramDeployment::Independent) => Deployment::Independent,
            (Coordinator::Redis, _) => Deployment::Primary,
            (Coordinator::Memcached, _) => Deployment::Memcached,
            (Coordinator::ZooKeeper, _) => Deployment::ZooKeeper,
            // The header of the history states whether the lock is instead a row with a lease.
            (Coordinator::PostgreSql, _) => Deployment::PostgreSql(LockForm::Connection),
            (Coordinator::MySql, _) => Deployment::MySql,
            (Coordinator::Etcd, _) => Deployment::Etcd(ServerLock::Unchecked),
            (Coordinator::Chubby, _) => Deployment::Chubby,
            (Coordinator::GemFire, _) => Deployment::GemFire(LockForm::Membership),
            (Coordinator::Own, _) => Deployment::Own,
        };
        let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let found = known.iter().find(|it| it.name == self.name && it.deployment == deployment);
        if let Some(found) = found {
            return found;
        }
        let definition: &'static Definition = Box::leak(Box::new(Definition {
            name: self.name.clone().leak(),
            about: "your own program",
            deployment,
            has_tokens: false,
            is_fair: false,
            models: None,
            build: no_lock,
        }));
        known.push(definition);
        definition
    }
}

pub(super) fn no_lock(_: Env, _: &Servers, _: &Settings) -> Box<dyn Lock> {
    struct NoLock;
    impl Algorithm for NoLock {
        async fn acquire(&mut self, _: &str) -> Acquisition {
            Acquisition::Refused("a program has its own".into())
        }

        async fn release(&mut self, _: Lease) -> Release {
            Release::NotHeld
        }
    }
    Box::new(NoLock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_the_name_that_it_is_given_or_that_of_its_file() {
        let name = |text| Program::parse(text).unwrap().name;
        assert_eq!(name("redis-py=python3 worker.py"), "redis-py");
        assert_eq!(name("/usr/bin/python3 nowhere.py"), "python3");
        assert_eq!(name("env A=B sh"), "env");
        assert!(Program::parse("x=").is_err());
    }

    #[test]
    fn the_files_among_the_words_are_those_that_would_be_run() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("worker.sh"), "exit").unwrap();
        let program = Program::parse_in("sh worker.sh orders.sh", folder.path()).unwrap();
        assert_eq!(program.name, "worker");
        let hashed: Vec<&str> = program.files.keys().map(String::as_str).collect();
        let can_run = cfg!(all(target_os = "linux", target_arch = "x86_64"));
        assert_eq!(hashed, if can_run { vec!["sh", "worker.sh"] } else { vec!["worker.sh"] });
        std::fs::write(folder.path().join("worker.sh"), "exit 1").unwrap();
        let now = program.hashes();
        assert_ne!(now.get("worker.sh"), program.files.get("worker.sh"));
        assert_eq!(now.get("sh"), program.files.get("sh"));
    }
}
