//! `fencepost load`: what waiting for a lock costs.

use super::arguments::LoadArguments;
use super::options::client;
use super::output::print;
use super::{Failure, Outcome};
use crate::load::{Load, Waiting};
use fencepost_clients::Deployment;
use fencepost_faults::Seed;
use fencepost_reports::load::{plot, text};

/// Runs every way of waiting and prints what it costs.
pub(crate) fn load(arguments: &LoadArguments) -> Result<Outcome, Failure> {
    let write = match arguments.format.as_str() {
        "text" => text,
        "svg" => plot,
        "json" => |report: &_| format!("{:#}\n", serde_json::to_value(report).unwrap_or_default()),
        other => {
            return Err(Failure::wrong(format!(
                "unknown format '{other}': expected text, json or svg"
            )));
        }
    };
    let lock = client(&arguments.client)?;
    if lock.deployment != Deployment::Primary {
        return Err(Failure::wrong(format!(
            "--client '{}': expected a lock on one server of Redis",
            lock.name
        )));
    }
    let waitings: Result<Vec<Waiting>, _> =
        arguments.waiting.iter().map(|text| text.parse()).collect();
    let load = Load {
        client: lock,
        seed: Seed(arguments.seed),
        processes: arguments.processes,
        requests: arguments.requests,
        service_time: arguments.service_time,
        latency: arguments.latency,
        work: arguments.work,
        holder_commands: arguments.holder_commands,
        patience: arguments.patience,
    };
    let report = load.run(&waitings.map_err(Failure::wrong)?).map_err(|error| Failure::Engine {
        seed: arguments.seed,
        client: lock.name.to_owned(),
        fault: "none".to_owned(),
        error,
    })?;
    print(&write(&report))?;
    Ok(Outcome::AsExpected)
}
