use super::markdown_cell::cell;
use super::markdown_comparison;
use crate::show::format::drawing::heat_map;
use crate::show::format::html::tables::literature;
use crate::show::format::text::plan_text;
use crate::show::format::text::rerun;
use crate::show::format::{Format, Needs, Page, Sweeps};
use crate::show::view::View;
use crate::summary::report::{Report, RunReport, ViolationReport};
use crate::summary::sweep::{FindingState, Sweep};
use crate::summary::verdict::Verdict;
use fencepost_faults::FaultPlan;
use std::io::{self, Write};

pub(crate) const FORMAT: Format = Format {
    about: "Markdown with tables, for pull requests and wikis",
    needs: Needs::Findings,
    runs: View::written("markdown", write_report),
    sweeps: Some(Sweeps { view: SWEEPS, has_baselines: true }),
};

const SWEEPS: View<Sweep> = View::written("markdown", write_sweep);

fn write_report(_: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# Seed {} under {}\n", report.seed, cell(&report.faults.join(", ")))?;
    let tool = &report.tool;
    let words = format!("{} {}, engine {}", tool.name, tool.version, report.engine);
    writeln!(out, "{}\n", cell(&words))?;
    writeln!(out, "| lock | fault | verdict | broken rules |\n| --- | --- | --- | --- |")?;
    for run in &report.runs {
        let kinds: Vec<&str> = run.violations.iter().map(|one| one.violation.kind.name()).collect();
        writeln!(
            out,
            "| {} | {} | **{}** | {} |",
            cell(&run.client),
            cell(&run.fault),
            run.verdict.name(),
            kinds.join(", ")
        )?;
    }
    for run in &report.runs {
        write_one(run, out)?;
    }
    Ok(())
}

fn write_sweep(_: Page, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    let (rows, columns) = heat_map::axes(sweep);
    writeln!(out, "# Seeds {}: runs violated\n", sweep.seeds)?;
    let heads: Vec<String> = columns.iter().map(|fault| cell(fault)).collect();
    writeln!(out, "| lock | {} |\n| --- |{}", heads.join(" | "), " --- |".repeat(heads.len()))?;
    for client in rows {
        let words = columns.iter().map(|fault| {
            let found =
                sweep.cells.iter().find(|cell| cell.client == client && cell.fault == *fault);
            found.map_or(String::new(), heat_map::words)
        });
        writeln!(out, "| {} | {} |", cell(client), words.collect::<Vec<_>>().join(" | "))?;
    }
    if let Some(missing) = sweep.missing_in_words() {
        writeln!(out, "\n**Incomplete:** {missing}.")?;
    }
    write_anomalies(sweep, out)?;
    sweep.baseline.as_ref().map_or(Ok(()), |baseline| {
        writeln!(out, "\n## Against the baseline\n\n{}", markdown_comparison::markdown(baseline))
    })
}

fn write_anomalies(sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    if sweep.cells.iter().all(|cell| cell.fingerprints.is_empty()) {
        return Ok(());
    }
    let mut anomalies = sweep.cells.iter().flat_map(|cell| &cell.fingerprints);
    let has_states = anomalies.any(|one| one.state.is_some());
    let (head, rule) = if has_states { (" state |", " --- |") } else { ("", "") };
    writeln!(
        out,
        "\n|{head} anomaly | lock | fault | rule | cause | runs | seed |\n|{rule} --- | --- | --- \
         | --- | --- | --- | --- |"
    )?;
    for at in &sweep.cells {
        for one in &at.fingerprints {
            let state = match one.state {
                Some(FindingState::New) => " **new** |".to_owned(),
                Some(state) => format!(" {} |", state.name()),
                None if has_states => " |".to_owned(),
                None => String::new(),
            };
            writeln!(
                out,
                "|{state} `{}` | {} | {} | {} | {} | {} | {} |",
                code(&one.id),
                cell(&at.client),
                cell(&at.fault),
                one.kind,
                one.cause,
                one.runs,
                one.smallest.seed
            )?;
        }
    }
    Ok(())
}

fn write_one(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\n## {} under {}: {}\n",
        cell(&run.client),
        cell(&run.fault),
        run.verdict.name()
    )?;
    if let Verdict::Unknown { reason } = &run.verdict {
        writeln!(out, "Unknown because {}.\n", cell(reason))?;
    }
    if let Some(expected) = &run.expected {
        writeln!(out, "The literature says: {}.\n", cell(&literature(expected)))?;
    }
    writeln!(
        out,
        "{} acquisitions, {} messages, {} of virtual time.",
        run.acquisitions, run.messages, run.virtual_time_us
    )?;
    if let Some(lengths) = plan_text::lengths(run) {
        writeln!(out, "\nDrawn by the seed: {}.", cell(&lengths))?;
    }
    write_plan("Faults", &run.plan, out)?;
    for report in &run.violations {
        write_violation(run, report, out)?;
    }
    Ok(())
}

fn write_plan(title: &str, plan: &FaultPlan, out: &mut dyn Write) -> io::Result<()> {
    if plan.faults.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n**{title}**\n\n| fault | at | what happens |\n| --- | --- | --- |")?;
    for timed in &plan.faults {
        writeln!(
            out,
            "| {} | {} | {} |",
            timed.id,
            timed.at_us,
            cell(&plan_text::fault(&timed.fault))
        )?;
    }
    Ok(())
}

fn write_violation(
    run: &RunReport,
    report: &ViolationReport,
    out: &mut dyn Write,
) -> io::Result<()> {
    let violation = &report.violation;
    writeln!(
        out,
        "\n### {}: {} by {}\n\n{}\n",
        violation.severity,
        violation.kind,
        violation.cause,
        cell(&violation.summary)
    )?;
    for (number, line) in violation.narrative.iter().enumerate() {
        writeln!(out, "{}. {} (e{})", number + 1, cell(&line.text), line.event)?;
    }
    writeln!(out, "\n| event | time | where | what happened |\n| --- | --- | --- | --- |")?;
    for event in &violation.witness {
        let told = run.timeline.iter().find(|entry| entry.sequence == event.sequence);
        let text = told.map_or(String::new(), |entry| cell(&entry.text));
        writeln!(out, "| e{} | {} | {} | {text} |", event.sequence, event.time_us, event.node)?;
    }
    if let Some(minimal) = &report.minimal_plan {
        write_plan("Smallest reproduction", minimal, out)?;
        if let Some(said) = rerun::others_involved(report) {
            writeln!(out, "\n{said}.")?;
        }
        if let Some(said) = plan_text::lasting_effect(minimal) {
            writeln!(out, "\n{said}")?;
        }
    }
    write_rerun(report, out)?;
    writeln!(out, "\n```sh\n{}\n```", report.replay)
}

fn write_rerun(report: &ViolationReport, out: &mut dyn Write) -> io::Result<()> {
    if let Some(boundary) = &report.boundary {
        let amount = |value| rerun::amount(boundary, value);
        let (magnitude, fault) = (rerun::magnitude(boundary), boundary.fault);
        let (enough, other) = (amount(boundary.enough), amount(boundary.not_enough));
        let is = rerun::insufficient(boundary);
        let analytic = boundary
            .analytic
            .map_or(String::new(), |value| format!("; calculated bound {}", amount(value)));
        writeln!(
            out,
            "\nIn the smallest run, a {magnitude} of {enough} of fault {fault} is enough; {other} \
             {is}{analytic}."
        )?;
    }
    if !report.but_for.is_empty() {
        writeln!(out, "\n| left out of the smallest run | the violation |\n| --- | --- |")?;
        for cause in &report.but_for {
            let and = cause.and_fault.map_or(String::new(), |other| format!(" and fault {other}"));
            writeln!(out, "| fault {}{and} | {} |", cause.fault, rerun::without(cause))?;
        }
    }
    if !report.remedies.is_empty() {
        writeln!(
            out,
            "\n| safeguard | in this run | broken nearby plans | broken other seeds |\n\
             | --- | --- | --- | --- |"
        )?;
        for remedy in &report.remedies {
            let (name, here) = (cell(&rerun::safeguard(remedy)), rerun::on_this_plan(remedy));
            let (nearby, seeds) = (rerun::nearby(remedy), rerun::other_seeds(remedy));
            writeln!(out, "| {name} | {here} | {nearby} | {seeds} |")?;
        }
    }
    Ok(())
}

fn code(text: &str) -> String {
    text.replace(['\n', '\r'], " ").replace('`', "'").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::{cell, write_anomalies};
    use crate::samples;
    use crate::show::format::Page;
    use crate::summary::sweep::{FindingState, Sweep};

    fn anomalies(sweep: &Sweep) -> String {
        let mut text = Vec::new();
        write_anomalies(sweep, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn anomalies_have_their_states_in_the_store() {
        let mut sweep = samples::sweep(0, 10);
        assert!(anomalies(&sweep).contains("\n| anomaly | lock |"));
        sweep.cells[0].fingerprints[0].state = Some(FindingState::New);
        let text = anomalies(&sweep);
        assert!(text.contains("\n| state | anomaly | lock |"), "{text}");
        assert!(text.contains("\n| **new** | `"), "{text}");
    }

    #[test]
    fn seeds_that_were_not_run_are_named() {
        let mut out = Vec::new();
        super::SWEEPS.write_in(Page::default(), &samples::stopped_sweep(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("\n**Incomplete:** seeds 2..4 and 9..41 were not run.\n"), "{text}");
    }

    #[test]
    fn text_cannot_end_its_cell() {
        assert_eq!(cell("a|b\nc <i>"), "a\\|b c &lt;i>");
    }
}
