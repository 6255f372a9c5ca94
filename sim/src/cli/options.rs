use super::Failure;
use super::arguments::{CommonArguments, ProgramArguments, ServersArguments};
use super::lock_scripts::add_scripts;
use super::scenario_file::scenario;
use crate::engine::Engine;
use crate::hosts::programs::Program;
use crate::hosts::real::trial;
use crate::run::fit::fits;
use crate::setup::scenario::{InvalidServers, LockScript, OwnServer, Scenario, ServerBinary};
use fencepost_clients::{CLIENTS, Coordinator, Definition, find};
use fencepost_faults::{Families, did_you_mean};
use fencepost_reports::Kind;
use fencepost_reports::show::format::{FORMATS, Format, Sweeps, format_named};
use fencepost_reports::show::view::View;
use std::path::Path;
use std::rc::Rc;

pub(crate) struct Options<F> {
    pub(crate) cells: Vec<(&'static Definition, Families)>,
    pub(crate) scenario: Scenario,
    pub(crate) engine: Engine,
    pub(crate) format: F,
}

impl<F> Options<F> {
    pub(crate) fn read(
        arguments: &CommonArguments,
        engine: Engine,
        format: fn(&str) -> Result<F, Failure>,
    ) -> Result<Options<F>, Failure> {
        let mut scenario = scenario(&arguments.deployment)?;
        scenario.replays_without_project = arguments.project.is_set();
        let only = coordinator(arguments.coordinator.as_deref())?;
        scenario.programs = programs(&arguments.programs, only)?;
        add_scripts(&arguments.locks, &mut scenario)?;
        let faults = families(&arguments.fault)?;
        let own = own_locks(&scenario);
        if let Some(only) = only {
            own.iter().try_for_each(|lock| on(only, lock))?;
        }
        let cells: Vec<_> = clients(&arguments.client, only)?
            .into_iter()
            .chain(own)
            .flat_map(|client| faults.iter().map(move |families| (client, families.clone())))
            .collect();
        add_real_servers(&arguments.servers, &cells, &mut scenario)?;
        for (client, families) in &cells {
            fits(&scenario, client, families).map_err(Failure::wrong)?;
        }
        Ok(Options {
            cells,
            scenario,
            engine: arguments.engine.unwrap_or(engine),
            format: format(&arguments.format)?,
        })
    }

    pub(crate) fn shared_scenario(&self) -> Rc<Scenario> {
        Rc::new(self.scenario.clone())
    }
}

/// Adds the real servers of `--servers` to the scenario, after a trial run of each.
pub(crate) fn add_real_servers(
    arguments: &ServersArguments,
    cells: &[(&'static Definition, Families)],
    scenario: &mut Scenario,
) -> Result<(), Failure> {
    let mut stated = scenario.binaries.values();
    stated.try_for_each(ServerBinary::unchanged).map_err(Failure::wrong)?;
    let used = cells.iter().map(|(client, _)| client.deployment.coordinator()).collect();
    let binaries = trial::binaries(&arguments.servers, &used).map_err(Failure::wrong)?;
    scenario.binaries.extend(binaries);
    Ok(())
}

pub(crate) fn own_locks(scenario: &Scenario) -> Vec<&'static Definition> {
    let programs = scenario.programs.iter().map(Program::definition);
    programs.chain(scenario.scripts.iter().map(LockScript::definition)).collect()
}

pub(crate) fn programs(
    arguments: &ProgramArguments,
    coordinator: Option<Coordinator>,
) -> Result<Vec<Program>, Failure> {
    let folder = arguments.cwd.as_deref().unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(|error| Failure::content(folder, error))?;
    let servers = own_servers(&arguments.server, &folder)?;
    let coordinator = if servers.is_empty() { coordinator } else { Some(Coordinator::Own) };
    let mut all: Vec<Program> = Vec::new();
    for text in &arguments.program {
        let mut program = Program::parse_in(text, &folder).map_err(Failure::wrong)?;
        let coordinator = coordinator.unwrap_or(Coordinator::Redis);
        program.set_servers(coordinator, arguments.program_deployment);
        program.servers.clone_from(&servers);
        if let Some(key) = &arguments.lock_key {
            if key.is_empty() || key.matches('*').count() > 1 {
                return Err(Failure::wrong(format!(
                    "--lock-key '{key}': expected a key, or a pattern with one *, like job:*"
                )));
            }
            program.lock_key.clone_from(key);
        }
        for variable in &arguments.env {
            let (name, value) = variable.split_once('=').ok_or_else(|| {
                Failure::wrong(format!("--env '{variable}': expected NAME=VALUE, like DEBUG=1"))
            })?;
            program.environment.insert(name.to_owned(), value.to_owned());
        }
        program.files = program.hashes();
        crate::hosts::programs::check(&program).map_err(Failure::wrong)?;
        if all.iter().any(|known| known.name == program.name) || find(&program.name).is_some() {
            let name = &program.name;
            return Err(Failure::wrong(format!(
                "--program '{text}' has the same name as another lock, {name}: expected NAME=CMD \
                 with a different name, like my-{name}=CMD"
            )));
        }
        all.push(program);
    }
    Ok(all)
}

fn own_servers(arguments: &[String], folder: &Path) -> Result<Vec<OwnServer>, Failure> {
    let parse = |text: &String| OwnServer::parse(text, folder).map_err(Failure::wrong);
    let mut all = arguments.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let has_name = |name: &str| all.iter().filter(|server| server.name == name).count();
    if let Some(twice) = all.iter().find(|server| has_name(&server.name) > 1) {
        let name = &twice.name;
        return Err(Failure::wrong(format!(
            "--server '{name}' is given twice: expected different names"
        )));
    }
    for (place, text) in arguments.iter().enumerate() {
        trial::own(&mut all, place)
            .map_err(|why| Failure::wrong(InvalidServers::own(text, why)))?;
    }
    Ok(all)
}

pub(crate) fn client_of(name: &str, scenario: &Scenario) -> Result<&'static Definition, Failure> {
    if let Some(script) = scenario.scripts.iter().find(|script| script.name == name) {
        return Ok(script.definition());
    }
    match scenario.programs.iter().find(|program| program.name == name) {
        Some(program) => {
            crate::hosts::programs::check(program).map_err(Failure::wrong)?;
            Ok(program.definition())
        }
        None => client(name),
    }
}

pub(crate) fn format(name: &str) -> Result<&'static Format, Failure> {
    format_named(name).ok_or_else(|| {
        unknown("format", name, "", FORMATS.iter().map(|format| format.name()).collect())
    })
}

pub(crate) fn format_of_sweeps(name: &str) -> Result<Sweeps, Failure> {
    format(name)?.of_sweeps().ok_or_else(|| {
        let tell = FORMATS.iter().filter_map(Format::of_sweeps);
        let names: Vec<&str> = tell.map(|format| format.name()).collect();
        Failure::wrong(format!(
            "format '{name}' is only for single runs: expected one of {}",
            names.join(", ")
        ))
    })
}

pub(crate) fn view<T: Clone>(
    views: &'static [View<T>],
    name: &str,
) -> Result<&'static View<T>, Failure> {
    let found = views.iter().find(|view| view.name == name);
    found.ok_or_else(|| unknown("format", name, "", views.iter().map(|view| view.name).collect()))
}

pub(crate) fn families(names: &[String]) -> Result<Vec<Families>, Failure> {
    let mut all: Vec<Families> = Vec::new();
    for name in names {
        let families: Families = name.parse().map_err(Failure::wrong)?;
        if !all.contains(&families) {
            all.push(families);
        }
    }
    Ok(all)
}

pub(crate) fn clients(
    names: &[String],
    only: Option<Coordinator>,
) -> Result<Vec<&'static Definition>, Failure> {
    let mut all: Vec<&'static Definition> = Vec::new();
    for name in names {
        let named = match name.as_str() {
            "all" => locks_on(only),
            name => vec![client_or_all(name)?],
        };
        if let Some(only) = only {
            named.iter().try_for_each(|lock| on(only, lock))?;
        }
        for definition in named {
            if !all.iter().any(|known| known.name == definition.name) {
                all.push(definition);
            }
        }
    }
    Ok(all)
}

fn locks_on(only: Option<Coordinator>) -> Vec<&'static Definition> {
    let is_asked =
        |lock: &&Definition| only.is_none_or(|only| lock.deployment.coordinator() == only);
    CLIENTS.iter().filter(is_asked).collect()
}

fn on(coordinator: Coordinator, lock: &Definition) -> Result<(), Failure> {
    let own = lock.deployment.coordinator();
    if own == coordinator {
        return Ok(());
    }
    let valid: Vec<&str> = locks_on(Some(coordinator)).iter().map(|lock| lock.name).collect();
    Err(Failure::wrong(format!(
        "client '{}' uses {}, not {}: expected 'all' or one of {}",
        lock.name,
        own.name(),
        coordinator.name(),
        valid.join(", ")
    )))
}

pub(crate) fn coordinator(name: Option<&str>) -> Result<Option<Coordinator>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let found = Coordinator::ALL.iter().copied().find(|one| one.name() == name);
    let names = || Coordinator::ALL.iter().map(|one| one.name()).collect();
    found.map(Some).ok_or_else(|| unknown("coordinator", name, "", names()))
}

pub(crate) fn client(name: &str) -> Result<&'static Definition, Failure> {
    find(name).ok_or_else(|| unknown_client(name, "expected"))
}

fn client_or_all(name: &str) -> Result<&'static Definition, Failure> {
    find(name).ok_or_else(|| unknown_client(name, "expected all, or"))
}

fn unknown_client(name: &str, expected: &str) -> Failure {
    if Path::new(name).extension().is_some_and(|end| end == "lua") {
        return Failure::wrong(format!(
            "unknown client '{name}': expected --lock {name} for a lock in Lua"
        ));
    }
    let hint = did_you_mean(name, CLIENTS.iter().map(|one| one.name));
    let valid = "a name from `fencepost list clients`";
    Failure::wrong(format!("unknown client '{name}'{hint}: {expected} {valid}"))
}

pub(crate) fn kind(name: &str) -> Result<Kind, Failure> {
    Kind::ALL.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| {
        unknown("kind", name, "", Kind::ALL.iter().map(|kind| kind.name()).collect())
    })
}

pub(crate) fn unknown(what: &str, name: &str, besides: &str, valid: Vec<&str>) -> Failure {
    let hint = did_you_mean(name, valid.iter().copied());
    let valid = valid.join(", ");
    Failure::wrong(format!("unknown {what} '{name}'{hint}: expected {besides}one of {valid}"))
}
