use super::{members, options, port, stop_on};
use crate::cli::Failure;
use crate::cli::arguments::{ServeArguments, ServedClock};
use crate::cli::output::log;
use crate::hosts::coordinators::serving::stage_redis;
use crate::studies::play::{Drawing, Playing, Rounds, draw};
use fake_redis::SentinelConfig;
use fake_redis::sentinel::Address;
use fencepost_clients::Coordinator;
use fencepost_faults::{Micros, Seed, Spans, Topology};
use fencepost_serve::{Announcement, PreparedServers, ServeError, serve_staged, wall_clock};
use std::ops::ControlFlow;

const LENGTH: Micros = Micros::from_secs(60);

pub(super) fn play(
    arguments: &ServeArguments,
    coordinator: Coordinator,
    fault: &str,
    announce: impl FnOnce(Announcement<'_>) -> ControlFlow<()>,
) -> Result<(), Failure> {
    refuse(arguments, coordinator)?;
    let plan = &arguments.play;
    let drawing = drawing(arguments, coordinator, fault)?;
    let drawn = draw(&drawing).map_err(Failure::wrong)?;
    let rounds =
        Rounds { length: drawing.length, count: plan.repeat, ends: plan.duration.is_some() };
    let start = || -> Result<PreparedServers<Playing>, ServeError> {
        let (listeners, servers) = match members(arguments, coordinator) {
            None => stage_redis(&options(arguments, port(arguments, coordinator)))?,
            Some((served, place)) => served.stage(place)?,
        };
        let roles: Vec<&str> = servers.iter().map(|server| server.role).collect();
        let staged = Playing::new(wall_clock(), servers, &drawn, rounds, Box::new(log));
        Ok(PreparedServers { listeners: roles.into_iter().zip(listeners).collect(), staged })
    };
    serve_staged(stop_on(arguments), start, announce).map_err(Failure::wrong)
}

fn refuse(arguments: &ServeArguments, coordinator: Coordinator) -> Result<(), Failure> {
    let problem = if arguments.play.real {
        "--real: remove this option, because `serve` plays plans only on simulated servers (to \
         show a violation on real servers, use `fencepost export REPORT --as script`)"
    } else if arguments.clock == ServedClock::Manual {
        "--clock manual: expected --clock real with --fault, because `serve` plays plans in real \
         time"
    } else if arguments.dir.is_some() {
        "--dir: remove this option, because with --fault the servers keep their files in memory"
    } else if coordinator == Coordinator::Memcached && arguments.nodes > 1 {
        "--nodes: expected --nodes 1 with --fault and memcached, or --coordinator redis"
    } else {
        return Ok(());
    };
    Err(Failure::wrong(problem))
}

fn drawing(
    arguments: &ServeArguments,
    coordinator: Coordinator,
    fault: &str,
) -> Result<Drawing, Failure> {
    let plan = &arguments.play;
    if plan.duration.is_some_and(|duration| duration.0 == Micros::ZERO) {
        return Err(Failure::wrong("--duration '0s': expected more than zero, like 1m"));
    }
    let delay = plan.restart_delay;
    Ok(Drawing {
        seed: Seed(plan.seed),
        families: fault.parse().map_err(Failure::wrong)?,
        coordinator,
        topology: topology(arguments, coordinator),
        ttl: plan.ttl.0,
        length: plan.duration.map_or(LENGTH, |duration| duration.0),
        restart_delay: Spans::new(delay.min.0, delay.max.0),
    })
}

fn topology(arguments: &ServeArguments, coordinator: Coordinator) -> Topology {
    if coordinator != Coordinator::Redis {
        return Topology::Ensemble { servers: arguments.servers.unwrap_or(1) };
    }
    let ServeArguments { nodes, replicas, sentinels, .. } = *arguments;
    if nodes > 1 {
        return Topology::Independent { masters: nodes, quorum: nodes / 2 + 1 };
    }
    if replicas == 0 && sentinels == 0 {
        return Topology::Standalone;
    }
    let nowhere = || Address { host: String::new(), port: 0 };
    let timeout_ms = SentinelConfig::new(nowhere(), nowhere()).failover_timeout_ms;
    Topology::Replicated {
        replicas,
        sentinels,
        down_after_us: arguments.down_after.0,
        failover_timeout_us: Micros::from_millis(u64::try_from(timeout_ms).unwrap_or(0)),
    }
}
