use super::arguments::ExportArguments;
use super::options::unknown;
use super::output::print;
use super::read::report_in;
use super::replay::{scenario_of, spec_of, unchanged};
use super::{Failure, Outcome};
use crate::diagnosis::Target;
use crate::files::write_file;
use crate::run::RunSpec;
use crate::setup::scenario::Scenario;
use crate::studies::script::{ScriptError, script};
use fencepost_faults::{FaultPlan, TimedFault};
use fencepost_reports::{RunReport, Violation, ViolationReport};
use std::path::Path;
use std::rc::Rc;

pub(crate) fn export(arguments: &ExportArguments) -> Result<Outcome, Failure> {
    let (path, out) = (&arguments.file, &arguments.out);
    if arguments.form != "script" {
        return Err(unknown("--as", &arguments.form, "", vec!["script"]));
    }
    if !is_new(out) {
        return Err(Failure::wrong(format!(
            "--out '{}' already exists: expected a new folder",
            out.display()
        )));
    }
    let recorded = report_in(path)?;
    let scenario = Rc::new(scenario_of(path, &recorded)?);
    let run = violated(path, &recorded.runs)?;
    unchanged(run, &scenario).map_err(Failure::wrong)?;
    let shown = shown(path, run, arguments.violation.as_deref())?;
    let whole = spec_of(path, &recorded, run, &scenario)?;
    let specs = smaller(&whole, shown);
    for spec in &specs {
        spec.validate().map_err(|error| Failure::content(path, error))?;
    }
    let target = Target { kind: shown.violation.kind, cause: shown.violation.cause };
    let files = script(&specs, target).map_err(|error| match error {
        ScriptError::Run(error) => Failure::Engine {
            seed: whole.seed.0,
            client: whole.client.name.to_owned(),
            fault: whole.families.to_string(),
            error,
        },
        other => Failure::content(path, other),
    })?;
    for file in files {
        write_file(&out.join(file.name), file.content.as_bytes())?;
    }
    print(&format!("sh {}\n", out.join("run.sh").display()))?;
    Ok(Outcome::AsExpected)
}

fn is_new(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !folder.exists(),
    }
}

fn violated<'r>(path: &Path, runs: &'r [RunReport]) -> Result<&'r RunReport, Failure> {
    let violated: Vec<&RunReport> = runs.iter().filter(|run| !run.violations.is_empty()).collect();
    match violated[..] {
        [run] => Ok(run),
        [] => Err(Failure::content(path, "expected a report of a run with a violation")),
        _ => {
            let of = |run: &&RunReport| format!("{} under {}", run.client, run.fault);
            let names: Vec<String> = violated.iter().map(of).collect();
            let names = names.join(", ");
            let text =
                format!("several runs have violations ({names}): expected a report of one run");
            Err(Failure::content(path, text))
        }
    }
}

fn shown<'r>(
    path: &Path,
    run: &'r RunReport,
    id: Option<&str>,
) -> Result<&'r ViolationReport, Failure> {
    let all = &run.violations;
    let Some(id) = id else {
        let can_be_shown = |one: &&ViolationReport| one.violation.kind.is_about_clash();
        return Ok(all.iter().find(can_be_shown).unwrap_or(&all[0]));
    };
    all.iter().find(|one| one.violation.id == id).ok_or_else(|| {
        let of = |one: &ViolationReport| {
            let Violation { id, kind, cause, .. } = &one.violation;
            format!("{id} ({kind} by {cause})")
        };
        let known: Vec<String> = all.iter().map(of).collect();
        let known = known.join(", ");
        Failure::wrong(format!(
            "--violation '{id}' is not in {}: expected one of {known}",
            path.display()
        ))
    })
}

/// Returns candidate runs for the export, the preferred one first. Prefers a small run with the
/// original magnitudes, because minimal magnitudes leave real servers no slack.
fn smaller(whole: &RunSpec, violation: &ViolationReport) -> Vec<RunSpec> {
    let (Some(plan), Some(minimal)) = (&violation.minimal_plan, &violation.minimal_run) else {
        return vec![whole.clone()];
    };
    let (processes, cycles) = (minimal.processes, minimal.cycles);
    let scenario = Rc::new(Scenario { processes, cycles, ..(*whole.scenario).clone() });
    let is_needed = |timed: &&TimedFault| plan.faults.iter().any(|kept| kept.id == timed.id);
    let needed = whole.plan.faults.iter().filter(is_needed).cloned().collect();
    let needed = FaultPlan::new(needed);
    let small = RunSpec { plan: needed.clone(), scenario: scenario.clone(), ..whole.clone() };
    let large = RunSpec { plan: needed, ..whole.clone() };
    let minimal = RunSpec { plan: plan.clone(), scenario, ..whole.clone() };
    vec![small, large, minimal, whole.clone()]
}
