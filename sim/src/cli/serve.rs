//! `fencepost serve`: runs a coordinator on real TCP.

mod play;

use super::arguments::{ServeArguments, ServedClock};
use super::options::coordinator;
use super::output::{log, print};
use super::{Failure, Outcome};
use crate::hosts::coordinators::redis::persistence;
use crate::hosts::coordinators::serving::{Place, Served};
use crate::hosts::coordinators::{
    chubby, entry, etcd, gemfire, memcached, mysql, postgresql, zookeeper,
};
use crate::setup::scenario::Persistence;
use bytes::Bytes;
use fake_redis::config::NodeConfig;
use fake_redis::serve::ServeOptions;
use fencepost_clients::Coordinator;
use fencepost_reports::listed;
use fencepost_serve::{Announcement, StopOn};
use play::play;
use std::ops::ControlFlow;

pub(crate) fn serve(arguments: &ServeArguments) -> Result<Outcome, Failure> {
    let coordinator = coordinator(Some(&arguments.coordinator))?.unwrap_or(Coordinator::Redis);
    protect(arguments, coordinator)?;
    refuse_foreign(arguments, coordinator)?;
    let mut printed = Ok(());
    let announce = |announcement: Announcement<'_>| {
        match announcement {
            Announcement::Ready(line) => printed = print(&format!("{line}\n")),
            Announcement::Warning(text) => log(format_args!("warning: {text}")),
        }
        if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let stop_on = stop_on(arguments);
    let redis = || options(arguments, port(arguments, coordinator));
    match (&arguments.play.fault, arguments.clock) {
        (Some(fault), _) => play(arguments, coordinator, fault, announce)?,
        (None, ServedClock::Real) => {
            let start = || match members(arguments, coordinator) {
                None => fake_redis::serve::start(&redis()),
                Some((served, place)) => served.start(place),
            };
            fencepost_serve::serve(stop_on, start, announce).map_err(Failure::wrong)?;
        }
        (None, ServedClock::Manual) => {
            let start = || fake_redis::serve::start_manual(&redis());
            fencepost_serve::serve_staged(stop_on, start, announce).map_err(Failure::wrong)?;
        }
    }
    printed.map(|()| Outcome::AsExpected)
}

fn stop_on(arguments: &ServeArguments) -> StopOn {
    if arguments.end_with_stdin { StopOn::SignalOrEndOfInput } else { StopOn::Signal }
}

fn port(arguments: &ServeArguments, coordinator: Coordinator) -> u16 {
    arguments.port.unwrap_or(entry(coordinator).port)
}

fn members(arguments: &ServeArguments, coordinator: Coordinator) -> Option<(Served, Place<'_>)> {
    let clients = arguments.max_clients;
    let ensemble = arguments.servers.unwrap_or(1);
    let (served, servers) = match coordinator {
        Coordinator::Redis => return None,
        Coordinator::Memcached => {
            (memcached::served(clients, arguments.maxmemory), arguments.nodes)
        }
        Coordinator::ZooKeeper => (zookeeper::served(clients), ensemble),
        Coordinator::PostgreSql => (postgresql::served(clients), 1),
        Coordinator::MySql => (mysql::served(clients), 1),
        Coordinator::Etcd => (etcd::served(clients), ensemble),
        Coordinator::Chubby => (chubby::served(clients), ensemble),
        Coordinator::GemFire => (gemfire::served(clients), ensemble),
        Coordinator::Own => panic!("--coordinator names no server of the user"),
    };
    let place = Place {
        bind: arguments.bind,
        port: port(arguments, coordinator),
        servers,
        dir: arguments.dir.as_deref(),
    };
    Some((served, place))
}

fn protect(arguments: &ServeArguments, coordinator: Coordinator) -> Result<(), Failure> {
    let is_safe = arguments.bind.is_loopback()
        || arguments.requirepass.as_ref().is_some_and(|password| !password.is_empty());
    if is_safe || arguments.no_protected_mode {
        return Ok(());
    }
    let or_password = match coordinator {
        Coordinator::Redis => ", or --requirepass PASSWORD",
        Coordinator::Memcached
        | Coordinator::ZooKeeper
        | Coordinator::PostgreSql
        | Coordinator::MySql
        | Coordinator::Etcd
        | Coordinator::Chubby
        | Coordinator::GemFire
        | Coordinator::Own => "",
    };
    Err(Failure::wrong(format!(
        "--bind '{}': expected a loopback address{or_password}, because these test servers give \
         every client full access (to listen without a password anyway, use --no-protected-mode)",
        arguments.bind
    )))
}

fn refuse_foreign(arguments: &ServeArguments, coordinator: Coordinator) -> Result<(), Failure> {
    use Coordinator::{Chubby, Etcd, GemFire, Memcached, MySql, PostgreSql, Redis, ZooKeeper};
    let given: [(&str, bool, &[Coordinator]); 9] = [
        ("--clock manual", arguments.clock == ServedClock::Manual, &[Redis]),
        ("--nodes", arguments.nodes > 1, &[Redis, Memcached]),
        ("--servers", arguments.servers.is_some(), &[ZooKeeper, Etcd, Chubby, GemFire]),
        ("--replicas", arguments.replicas > 0, &[Redis]),
        ("--sentinels", arguments.sentinels > 0, &[Redis]),
        ("--persistence", arguments.persistence != Persistence::None, &[Redis]),
        ("--dir", arguments.dir.is_some(), &[Redis, ZooKeeper, PostgreSql, MySql, Etcd, Chubby]),
        ("--maxmemory", arguments.maxmemory > 0, &[Redis, Memcached]),
        ("--requirepass", arguments.requirepass.is_some(), &[Redis]),
    ];
    let is_foreign = |entry: &(_, bool, &[Coordinator])| entry.1 && !entry.2.contains(&coordinator);
    let Some((flag, _, owners)) = given.into_iter().find(is_foreign) else { return Ok(()) };
    let owners = listed(owners.iter().map(|owner| owner.name()), "or");
    Err(Failure::wrong(format!(
        "{flag} does not work with --coordinator {}: expected --coordinator {owners}",
        coordinator.name()
    )))
}

fn options(arguments: &ServeArguments, port: u16) -> ServeOptions {
    let node = NodeConfig {
        persistence: persistence(arguments.persistence),
        max_clients: arguments.max_clients.map_or(10_000, |number| number as usize),
        maxmemory: arguments.maxmemory,
        requirepass: arguments
            .requirepass
            .as_ref()
            .map(|password| Bytes::copy_from_slice(password.as_bytes())),
        version: arguments.redis_version.modelled(),
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
