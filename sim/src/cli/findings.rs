//! The command `fencepost findings`, and the option `--findings`.

mod known;
mod store;

pub(super) use known::{Known, counts};
pub(super) use store::{Store, today};

use super::arguments::{
    AcceptArguments, FindingsCommand, ListFindingsArguments, LockArguments, ProgramArguments,
    RetestArguments,
};
use super::lock_scripts::add_scripts;
use super::options::{client_of, coordinator, programs, view};
use super::output::{log, print};
use super::scenario_file::scenario;
use super::{Failure, Outcome};
use crate::engine::Engine;
use crate::run::RunSpec;
use crate::run::fit::fits;
use crate::setup::scenario::Scenario;
use crate::studies::retest::shows;
use fencepost_clients::Definition;
use fencepost_faults::did_you_mean;
use fencepost_reports::documents::findings::{Finding, Retest, VIEWS, common_options};
use fencepost_reports::summary::sweep::FindingState;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub(crate) fn findings(command: &FindingsCommand) -> Result<Outcome, Failure> {
    match command {
        FindingsCommand::List(arguments) => list(arguments),
        FindingsCommand::Accept(arguments) => accept(arguments),
        FindingsCommand::Retest(arguments) => retest(arguments),
    }
}

const MARKDOWN: &str = "markdown";

fn list(arguments: &ListFindingsArguments) -> Result<Outcome, Failure> {
    let view = view(VIEWS, &arguments.format)?;
    let mut findings = Store::at(&arguments.store.findings).existing()?;
    if view.name == MARKDOWN {
        // The Markdown list shows a fixed finding only on the day of its fix.
        findings.leave_out_fixed_before(&today()?);
    }
    print(&view.write(&findings).map_err(Failure::Output)?)?;
    Ok(Outcome::AsExpected)
}

fn accept(arguments: &AcceptArguments) -> Result<Outcome, Failure> {
    let store = Store::at(&arguments.store.findings);
    store.existing()?;
    let said = store.change(|findings| {
        for id in &arguments.ids {
            if !findings.accept(id, arguments.note.as_deref()) {
                let all = findings.by_urgency();
                let hint = did_you_mean(id, all.iter().map(|one| one.id.as_str()));
                return Err(Failure::content(
                    store.path(),
                    format!(
                        "unknown finding '{id}'{hint}: expected a fingerprint that `fencepost \
                         findings list` shows"
                    ),
                ));
            }
        }
        Ok(counts(findings))
    })?;
    log(format_args!("{}: {said}", store.path().display()));
    Ok(Outcome::AsExpected)
}

fn retest(arguments: &RetestArguments) -> Result<Outcome, Failure> {
    let store = Store::at(&arguments.store.findings);
    let known = store.existing()?;
    let scenario = Rc::new(scenario_of(arguments)?);
    let flags = scenario.flags();
    let options = common_options(&flags);
    let mut retested = BTreeMap::new();
    for finding in known.by_urgency() {
        note_runs_not_repeated(finding, options);
        if finding.runs_with(options).next().is_none() {
            continue;
        }
        let Ok(client) = client_of(&finding.client, &scenario) else {
            note_missing_lock(finding);
            continue;
        };
        let is_shown = is_shown(finding, options, client, &scenario)?;
        if !matches!(arguments.quiet.verbosity(), super::progress::Verbosity::Quiet) {
            let said = if is_shown { "still violated" } else { "gone" };
            log(format_args!("{said}: {} {} by {}", finding.id, finding.kind, finding.cause));
        }
        retested.insert(finding.id.clone(), is_shown);
    }
    let day = today()?;
    store.change(|findings| {
        findings.enter_retest(&Retest { options, shown: &retested }, &BTreeSet::new(), &day);
        let view = view(VIEWS, "text")?;
        print(&view.write(findings).map_err(Failure::Output)?)
    })?;
    let is_open = |finding: &&Finding| {
        finding.state != FindingState::Accepted && retested.get(&finding.id) == Some(&true)
    };
    let open = known.by_urgency().into_iter().any(|finding| is_open(&finding));
    Ok(if open { Outcome::Violated } else { Outcome::AsExpected })
}

/// Logs the settings of those runs of the finding that this retest does not repeat.
fn note_runs_not_repeated(finding: &Finding, options: &str) {
    let runs = finding.shown_by.iter().map(|shown| shown.options.as_str());
    let others: BTreeSet<&str> = runs.filter(|other| *other != options).collect();
    for other in others {
        let other = if other.is_empty() { "the built-in settings" } else { other };
        let id = &finding.id;
        log(format_args!(
            "runs of {id} with {other} were not repeated: to repeat them, use the same settings"
        ));
    }
}

fn scenario_of(arguments: &RetestArguments) -> Result<Scenario, Failure> {
    let (locks, own): (&LockArguments, &ProgramArguments) = (&arguments.locks, &arguments.programs);
    let mut scenario = scenario(&arguments.deployment)?;
    scenario.programs = programs(own, coordinator(arguments.coordinator.as_deref())?)?;
    add_scripts(locks, &mut scenario)?;
    Ok(scenario)
}

fn own_option(finding: &Finding) -> Option<String> {
    let options = ["--lock ", "--program "];
    let (start, option) =
        options.iter().find_map(|option| Some((finding.replay.find(option)?, option)))?;
    let value = &finding.replay[start + option.len()..];
    let end = match value.strip_prefix('\'') {
        Some(quoted) => quoted.find('\'').map_or(value.len(), |end| end + 2),
        None => value.find(' ').unwrap_or(value.len()),
    };
    Some(format!("{option}{}", &value[..end]))
}

fn note_missing_lock(finding: &Finding) {
    let Finding { id, client, .. } = finding;
    let what_to_do = match own_option(finding) {
        Some(option) => format!("to repeat them, add {option}"),
        None => format!("this version has no lock '{client}'"),
    };
    log(format_args!("runs of {id} with the lock '{client}' were not repeated: {what_to_do}"));
}

fn is_shown(
    finding: &Finding,
    options: &str,
    client: &'static Definition,
    scenario: &Rc<Scenario>,
) -> Result<bool, Failure> {
    for shown in finding.runs_with(options) {
        let families = shown.fault.parse().map_err(Failure::wrong)?;
        fits(scenario, client, &families).map_err(Failure::wrong)?;
        let run = RunSpec::draw(shown.seed, client, &families, scenario.clone());
        if shows(run, Engine::Fast, &finding.id)? {
            return Ok(true);
        }
    }
    Ok(false)
}
