//! `fencepost serve`: a coordinator on real TCP.

use super::arguments::ServeArguments;
use super::options::coordinator;
use super::output::print;
use super::{Failure, Outcome};
use crate::coordinators::redis::persistence;
use crate::coordinators::{entry, memcached};
use crate::scenario::Persistence;
use bytes::Bytes;
use fake_redis::config::{NodeConfig, RedisVersion};
use fake_redis::serve::ServeOptions;
use fencepost_clients::Coordinator;
use fencepost_serve::ServeError;

/// Serves until SIGINT or SIGTERM. The ready line goes to stdout: `ready`, then each server as
/// `role=address`.
pub(crate) fn serve(arguments: &ServeArguments) -> Result<Outcome, Failure> {
    let coordinator = coordinator(Some(&arguments.coordinator))?.unwrap_or(Coordinator::Redis);
    protect(arguments, coordinator)?;
    only_of_redis(arguments, coordinator)?;
    let port = arguments.port.unwrap_or(entry(coordinator).port);
    let mut printed = Ok(());
    let start = || match coordinator {
        Coordinator::Redis => fake_redis::serve::start(&options(arguments, port)),
        Coordinator::Memcached => {
            memcached::serve(arguments.bind, port, arguments.nodes, arguments.maxmemory)
        }
        Coordinator::ZooKeeper => Err(ServeError::Options(
            "zookeeper is not served: expected redis or memcached".to_owned(),
        )),
    };
    fencepost_serve::serve(start, |serving| printed = print(&format!("{serving}\n")))
        .map_err(Failure::wrong)?;
    printed.map(|()| Outcome::AsExpected)
}

/// Redis's protected mode: without a password only this computer is served. Others know no
/// passwords.
fn protect(arguments: &ServeArguments, coordinator: Coordinator) -> Result<(), Failure> {
    let is_safe = arguments.bind.is_loopback()
        || arguments.requirepass.as_ref().is_some_and(|password| !password.is_empty());
    if is_safe || arguments.no_protected_mode {
        return Ok(());
    }
    let or_password = match coordinator {
        Coordinator::Redis => ", or --requirepass PASSWORD",
        Coordinator::Memcached | Coordinator::ZooKeeper => "",
    };
    Err(Failure::wrong(format!(
        "--bind '{}': expected a loopback address{or_password}: these servers are for tests, and \
         whoever reaches them may do everything (--no-protected-mode to serve without a password \
         all the same)",
        arguments.bind
    )))
}

/// Refuses what only Redis has.
fn only_of_redis(arguments: &ServeArguments, coordinator: Coordinator) -> Result<(), Failure> {
    let given = [
        ("--replicas", arguments.replicas > 0),
        ("--sentinels", arguments.sentinels > 0),
        ("--persistence", arguments.persistence != Persistence::None),
        ("--dir", arguments.dir.is_some()),
        ("--requirepass", arguments.requirepass.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) if coordinator != Coordinator::Redis => Err(Failure::wrong(format!(
            "{flag} is for redis: expected --coordinator redis, or no {flag} for {}",
            coordinator.name()
        ))),
        _ => Ok(()),
    }
}

fn options(arguments: &ServeArguments, port: u16) -> ServeOptions {
    let node = NodeConfig {
        persistence: persistence(arguments.persistence),
        max_clients: arguments.max_clients as usize,
        maxmemory: arguments.maxmemory,
        requirepass: arguments
            .requirepass
            .as_ref()
            .map(|password| Bytes::copy_from_slice(password.as_bytes())),
        version: version(arguments.redis_version),
        ..NodeConfig::default()
    };
    ServeOptions {
        bind: arguments.bind,
        port,
        nodes: arguments.nodes,
        replicas: arguments.replicas,
        sentinels: arguments.sentinels,
        down_after_ms: i64::try_from(arguments.down_after.0.as_millis()).unwrap_or(i64::MAX),
        dir: arguments.dir.clone(),
        node,
    }
}

fn version(version: super::arguments::ServedVersion) -> RedisVersion {
    use super::arguments::ServedVersion::{V6_2, V7_0, V7_2, V8_4};
    match version {
        V6_2 => RedisVersion::V6_2,
        V7_0 => RedisVersion::V7_0,
        V7_2 => RedisVersion::V7_2,
        V8_4 => RedisVersion::V8_4,
    }
}
