use super::page::heads;
use crate::explain::literature::Expected;
use crate::show::format::drawing::svg::prefix;
use crate::show::format::text::layout::more_times;
use crate::show::format::text::plan_text;
use crate::show::format::text::rerun;
use crate::summary::report::{Boundary, RunReport, TimelineEntry, ViolationReport};
use crate::summary::violation::Violation;
use fencepost_faults::FaultPlan;
use maud::{Markup, html};

pub(crate) fn violations(run: &RunReport, index: usize) -> Markup {
    html! {
        @if !run.violations.is_empty() {
            h2 { "Broken rules" }
            div.cards {
                @for report in &run.violations { (card(run, report, &prefix(index))) }
            }
        }
    }
}

pub(crate) fn minimal(report: &ViolationReport) -> Markup {
    let violation = &report.violation;
    let Some(plan) = &report.minimal_plan else { return Markup::default() };
    html! {
        details {
            summary {
                (maud::display(violation.kind)) " by " (maud::display(violation.cause))
                ": its minimal report"
            }
            article.card {
                p { (violation.summary) }
                ol.story { @for line in &violation.narrative { li { (line.text) } } }
                (searched(plan, report))
            }
        }
    }
}

fn searched(plan: &FaultPlan, report: &ViolationReport) -> Markup {
    html! {
        (minimal_faults(report))
        (boundary(report.boundary.as_ref()))
        (causes(plan, report))
        (remedies(report))
    }
}

fn card(run: &RunReport, report: &ViolationReport, prefix: &str) -> Markup {
    let violation = &report.violation;
    let (kind, cause) = (maud::display(violation.kind), maud::display(violation.cause));
    html! {
        article.card {
            h3 { (maud::display(violation.severity)) ": " (kind) " by " (cause) }
            p { (violation.summary) }
            p.muted {
                "at " (maud::display(violation.at_us))
                @if violation.occurrences > 1 {
                    " and " (more_times(violation.occurrences - 1))
                }
                " · fingerprint " code { (violation.id) }
            }
            (story(run, violation, prefix))
            @if let Some(expected) = &run.expected && Expected::covers_rule(violation.kind) {
                p { b { "Literature:" } " " (rerun::known(expected, violation.kind)) }
            }
            (searched(report.minimal_plan.as_ref().unwrap_or(&run.plan), report))
        }
    }
}

fn story(run: &RunReport, violation: &Violation, prefix: &str) -> Markup {
    let entry =
        |number: u64| run.timeline.iter().find(|entry: &&TimelineEntry| entry.sequence == number);
    let line = |number: u64, text: &str| {
        let at = entry(number).map_or(format!("e{number}"), |entry| entry.time_us.to_string());
        html! { li { a href={ "#" (prefix) "e" (number) } { (at) } " " (text) } }
    };
    html! {
        ol.story {
            @for one in &violation.narrative { (line(one.event, &one.text)) }
            @if violation.narrative.is_empty() {
                @for event in &violation.witness {
                    @let told = entry(event.sequence).map_or("", |entry| entry.text.as_str());
                    (line(event.sequence, &format!("{} {told}", event.node)))
                }
            }
        }
    }
}

fn minimal_faults(report: &ViolationReport) -> Markup {
    let Some(plan) = &report.minimal_plan else { return Markup::default() };
    let faults: Vec<String> = plan.faults.iter().map(plan_text::fault_at).collect();
    let faults = if faults.is_empty() { "no fault".to_owned() } else { faults.join("; ") };
    let size =
        report.minimal_run.as_ref().map_or(String::new(), |run| format!(" ({})", rerun::size(run)));
    let no_length =
        plan_text::lasting_effect(plan).map_or(String::new(), |said| format!(" {said}"));
    let others = rerun::others_involved(report).map_or(String::new(), |said| format!(" {said}."));
    html! { p { b { "Smallest reproduction:" } " " (faults) (size) "." (others) (no_length) } }
}

fn causes(plan: &FaultPlan, report: &ViolationReport) -> Markup {
    let rows: Vec<Vec<String>> = report
        .but_for
        .iter()
        .map(|one| {
            let and = one
                .and_fault
                .map_or(String::new(), |other| format!(" and {}", fault_named(plan, other)));
            vec![format!("{}{and}", fault_named(plan, one.fault)), rerun::without(one)]
        })
        .collect();
    table(
        "The smallest run without one or two of its faults",
        &["left out", "the violation"],
        &rows,
    )
}

fn remedies(report: &ViolationReport) -> Markup {
    let rows: Vec<Vec<String>> = report
        .remedies
        .iter()
        .map(|remedy| {
            vec![
                rerun::safeguard(remedy),
                rerun::on_this_plan(remedy).to_owned(),
                rerun::nearby(remedy),
                rerun::other_seeds(remedy),
            ]
        })
        .collect();
    table(
        "The same run with a safeguard",
        &["safeguard", "in this run", "broken nearby plans", "broken other seeds (95 % interval)"],
        &rows,
    )
}

fn boundary(boundary: Option<&Boundary>) -> Markup {
    let Some(boundary) = boundary else { return Markup::default() };
    let amount = |value| rerun::amount(boundary, value);
    let mut rows = vec![
        vec!["enough".to_owned(), amount(boundary.enough)],
        vec!["not enough".to_owned(), amount(boundary.not_enough)],
    ];
    if let Some(cause) = boundary.not_enough_cause {
        rows.push(vec!["cause with that value".to_owned(), cause.to_string()]);
    }
    if let Some(analytic) = boundary.analytic {
        rows.push(vec!["calculated bound".to_owned(), amount(analytic)]);
    }
    let caption = format!(
        "Threshold in the smallest run: {} of fault {}",
        rerun::magnitude(boundary),
        boundary.fault
    );
    table(&caption, &["", "value"], &rows)
}

pub(crate) fn plans(run: &RunReport) -> Markup {
    html! {
        h2 { "Faults" }
        div.cards {
            article.card {
                h3 { "As drawn" }
                @if let Some(lengths) = plan_text::lengths(run) { p { (lengths) } }
                (plan(&run.plan))
            }
            @for (kinds, minimal) in smallest(run) {
                article.card {
                    h3 { "Smallest reproduction of " (kinds.join(", ")) }
                    (plan(minimal))
                }
            }
        }
    }
}

fn smallest(run: &RunReport) -> Vec<(Vec<&'static str>, &FaultPlan)> {
    let mut told: Vec<(Vec<&'static str>, &FaultPlan)> = Vec::new();
    for report in &run.violations {
        let Some(minimal) = &report.minimal_plan else { continue };
        let kind = report.violation.kind.name();
        match told.iter_mut().find(|(_, plan)| *plan == minimal) {
            Some((kinds, _)) => kinds.push(kind),
            None => told.push((vec![kind], minimal)),
        }
    }
    told
}

fn plan(plan: &FaultPlan) -> Markup {
    if plan.faults.is_empty() {
        return html! { p { "No fault." } };
    }
    let rows: Vec<Vec<String>> = plan
        .faults
        .iter()
        .map(|timed| {
            vec![timed.id.to_string(), timed.at_us.to_string(), plan_text::fault(&timed.fault)]
        })
        .collect();
    table("Faults of the plan", &["fault", "at", "what happens"], &rows)
}

fn fault_named(plan: &FaultPlan, id: u32) -> String {
    let planned = plan.faults.iter().find(|timed| timed.id == id);
    planned.map_or(format!("fault {id}"), |timed| {
        format!("fault {id}: {}", plan_text::fault(&timed.fault))
    })
}

pub(crate) fn facts(run: &RunReport) -> Markup {
    let pair = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        pair("virtual time", run.virtual_time_us.to_string()),
        pair("acquisitions", run.acquisitions.to_string()),
        pair("operations", run.operations.to_string()),
        pair("messages", run.messages.to_string()),
        pair("faults that began", run.faults_fired.to_string()),
        pair(
            "storage accepted, rejected",
            format!("{}, {}", run.storage.accepted, run.storage.rejected),
        ),
        pair("history digest", run.history_digest.clone()),
    ];
    if let Some(expected) = &run.expected {
        rows.insert(0, pair("literature", literature(expected)));
    }
    html! { details { summary { "Facts of the run" } (table("Facts", &["", ""], &rows)) } }
}

pub(crate) fn literature(expected: &Expected) -> String {
    let kinds: Vec<&str> = expected.kinds.iter().map(|kind| kind.name()).collect();
    let says = if expected.is_safe() {
        "safe".to_owned()
    } else {
        format!("{} can happen", kinds.join(", "))
    };
    format!("{says}: {} ({})", expected.because, expected.source)
}

pub(crate) fn events(run: &RunReport, index: usize) -> Markup {
    if run.timeline.is_empty() {
        return Markup::default();
    }
    let prefix = prefix(index);
    let around = match run.violations.is_empty() {
        true => "Events around the faults",
        false => "Events around the violations",
    };
    html! {
        details.events open {
            summary { (around) }
            div.scroll tabindex="0" role="group" aria-label="Events" {
                table {
                    caption { "Events in order of time" }
                    (heads(&["event", "time", "where", "what happened", "role"]))
                    tbody { @for entry in &run.timeline { (event(entry, &prefix)) } }
                }
            }
        }
    }
}

fn event(entry: &TimelineEntry, prefix: &str) -> Markup {
    html! {
        tr.witness[entry.witness] {
            td { a href={ "#" (prefix) "e" (entry.sequence) } { "#e" (entry.sequence) } }
            td.time { (maud::display(entry.time_us)) }
            td { (maud::display(&entry.process)) }
            td { (entry.text) }
            td { @if entry.witness { "evidence" } }
        }
    }
}

pub(crate) fn table(caption: &str, names: &[&str], rows: &[Vec<String>]) -> Markup {
    if rows.is_empty() {
        return Markup::default();
    }
    html! {
        div.scroll {
            table {
                caption { (caption) }
                @if names.iter().any(|name| !name.is_empty()) { (heads(names)) }
                tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}
