use super::arguments::LoadArguments;
use super::options::{client, view};
use super::output::print;
use super::{Failure, Outcome};
use crate::studies::load::{Load, Waiting};
use fencepost_clients::{Definition, Deployment};
use fencepost_faults::Seed;
use fencepost_reports::documents::load::VIEWS;

pub(super) fn takes(lock: &Definition) -> bool {
    lock.deployment != Deployment::Independent
}

pub(crate) fn load(arguments: &LoadArguments) -> Result<Outcome, Failure> {
    let view = view(VIEWS, &arguments.format)?;
    let lock = client(&arguments.client)?;
    if !takes(lock) {
        return Err(Failure::wrong(format!(
            "--client '{}': expected a lock that runs on one server, like single-node",
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
    print(&view.write(&report).map_err(Failure::wrong)?)?;
    Ok(Outcome::AsExpected)
}
