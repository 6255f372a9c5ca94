//! `fencepost serve`: the fake Redis on real TCP. Must never know how it is served.

use super::arguments::ServeArguments;
use super::output::print;
use super::{Failure, Outcome};
use crate::coordinators::redis::persistence;
use bytes::Bytes;
use fake_redis::config::{NodeConfig, RedisVersion};
use fake_redis::serve::{ServeOptions, serve as serve_until_stopped};

/// Serves until SIGINT or SIGTERM. The ready line goes to stdout: `ready`, then each server as
/// `role=address`.
pub(crate) fn serve(arguments: &ServeArguments) -> Result<Outcome, Failure> {
    protect(arguments)?;
    let mut printed = Ok(());
    serve_until_stopped(options(arguments), |serving| printed = print(&format!("{serving}\n")))
        .map_err(Failure::wrong)?;
    printed.map(|()| Outcome::AsExpected)
}

/// Redis's protected mode: without a password only this computer is served.
fn protect(arguments: &ServeArguments) -> Result<(), Failure> {
    let is_safe = arguments.bind.is_loopback()
        || arguments.requirepass.as_ref().is_some_and(|password| !password.is_empty());
    if is_safe || arguments.no_protected_mode {
        return Ok(());
    }
    Err(Failure::wrong(format!(
        "--bind '{}': expected a loopback address, or --requirepass PASSWORD: these servers are \
         for tests, and whoever reaches them may do everything (--no-protected-mode to serve \
         without a password all the same)",
        arguments.bind
    )))
}

fn options(arguments: &ServeArguments) -> ServeOptions {
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
        port: arguments.port,
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
