use crate::cli::Failure;
use crate::cli::arguments::{ExploreArguments, ScenarioArguments};
use crate::cli::lock_scripts::add_script;
use crate::cli::options::client;
use crate::cli::scenario_file::scenario;
use crate::setup::scenario::{Scenario, Strategy};
use crate::studies::explore::{Bounds, Grain, Rule};
use fencepost_faults::{Families, Seed};

const DEFAULTS: [(&str, &str); 7] = [
    ("processes", "2"),
    ("cycles", "1"),
    ("think", "1ms"),
    ("hold", "4s"),
    ("retry", "2s"),
    ("masters", "3"),
    ("nesting", "always"),
];

pub(super) fn bounds(arguments: &ExploreArguments) -> Result<Bounds, Failure> {
    let mut scenario = scenario_of(arguments)?;
    let families: Families = arguments.fault.join("+").parse().map_err(Failure::wrong)?;
    let faults = arguments.faults.unwrap_or(if families.is_none() { 0 } else { 1 });
    let client = match &arguments.lock {
        Some(text) => {
            add_script(text, &mut scenario)?;
            scenario.scripts[0].definition()
        }
        None => client(&arguments.client)?,
    };
    let longest = Bounds::usual_longest(client, &families, &scenario);
    let bounds = Bounds {
        client,
        families,
        faults,
        delays: arguments.delays,
        longest: arguments.longest.unwrap_or(longest),
        grain: arguments.grain.unwrap_or(if faults > 1 { Grain::Coarse } else { Grain::Fine }),
        rules: Rule::ALL.into_iter().filter(|rule| !arguments.no_prune.contains(rule)).collect(),
        seed: Seed(arguments.seed),
        scenario,
    };
    bounds.validate().map_err(Failure::wrong)?;
    Ok(bounds)
}

fn scenario_of(arguments: &ExploreArguments) -> Result<Scenario, Failure> {
    let given = &arguments.deployment;
    let is_told = given.set.iter().any(|text| text.trim_start().starts_with("strategy"));
    if given.strategy.is_some() || is_told {
        let why = "--strategy: remove this option, because explore tries faults at every instant";
        return Err(Failure::wrong(why));
    }
    let own = DEFAULTS.iter().map(|(key, value)| format!("{key}={value}"));
    let masters = arguments.masters.map(|masters| format!("masters={masters}"));
    let set = match &given.scenario {
        None => own.chain(given.set.clone()).chain(masters).collect(),
        Some(_) => given.set.iter().cloned().chain(masters).collect(),
    };
    let scenario = scenario(&ScenarioArguments { set, ..given.clone() })?;
    Ok(Scenario { strategy: Strategy::Uniform, ..scenario })
}

pub(super) fn command(bounds: &Bounds) -> String {
    let mut command = format!(
        "fencepost explore {} --fault {} --faults {} --longest {}",
        bounds.scenario.lock_flags(bounds.client),
        bounds.families,
        bounds.faults,
        bounds.longest
    );
    if bounds.grain == Grain::Coarse && bounds.faults < 2 {
        command.push_str(" --grain coarse");
    }
    if bounds.grain == Grain::Fine && bounds.faults > 1 {
        command.push_str(" --grain fine");
    }
    if bounds.delays > 0 {
        command.push_str(&format!(" --delays {}", bounds.delays));
    }
    for rule in Rule::ALL.iter().filter(|rule| !bounds.rules.contains(rule)) {
        command.push_str(&format!(" --no-prune {}", rule.name()));
    }
    if bounds.seed != Seed(0) {
        command.push_str(&format!(" --seed {}", bounds.seed));
    }
    for (key, value) in differing(&bounds.scenario) {
        command.push_str(&format!(" --set {key}={value}"));
    }
    command
}

fn differing(scenario: &Scenario) -> Vec<(String, String)> {
    let mut all = scenario.deviations();
    let own = |key: &str| DEFAULTS.iter().find(|(own, _)| *own == key);
    all.retain(|(key, value)| own(key).is_none_or(|(_, own)| own != value) && key != "strategy");
    let built_in = Scenario::default();
    let back = [
        ("processes", scenario.processes == built_in.processes, built_in.processes.to_string()),
        ("cycles", scenario.cycles == built_in.cycles, built_in.cycles.to_string()),
        (
            "masters",
            scenario.servers.masters == built_in.servers.masters,
            built_in.servers.masters.to_string(),
        ),
        ("nesting", scenario.nesting == built_in.nesting, built_in.nesting.name().to_owned()),
    ];
    let back = back.into_iter().filter(|(_, is_built_in, _)| *is_built_in);
    all.extend(back.map(|(key, _, value)| (key.to_owned(), value)));
    all
}
