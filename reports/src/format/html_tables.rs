//! What stands below a picture: violations with their story, causes, order, boundary and remedies,
//! plans side by side, facts, events. Must never know more than the report: where something was not
//! searched, nothing is shown.

use super::canvas::escaped;
use super::layout::times;
use super::svg::prefix;
use super::{plan_text, rerun};
use crate::expected::Expected;
use crate::report::{Boundary, RunReport, ViolationReport};
use crate::violation::Violation;
use fencepost_faults::FaultPlan;

/// A card for each violation.
pub(super) fn violations(run: &RunReport, index: usize) -> String {
    if run.violations.is_empty() {
        return String::new();
    }
    let cards: Vec<String> =
        run.violations.iter().map(|report| card(run, report, &prefix(index))).collect();
    format!("<h2>What was broken</h2><div class=\"cards\">{}</div>", cards.concat())
}

/// What a sweep keeps of an anomaly: the smallest run that shows it, made minimal and explained.
/// There is no picture to lead into.
pub(super) fn minimal(report: &ViolationReport) -> String {
    let violation = &report.violation;
    let Some(plan) = &report.minimal_plan else { return String::new() };
    let lines: Vec<String> = violation
        .narrative
        .iter()
        .map(|line| format!("<li>{}</li>", escaped(&line.text)))
        .collect();
    format!(
        "<details><summary>{} by {}: its minimal report</summary><article \
         class=\"card\"><p>{}</p><ol class=\"story\">{}</ol>{}{}{}{}</article></details>",
        violation.kind,
        violation.cause,
        escaped(&violation.summary),
        lines.concat(),
        enough(report),
        boundary(report.boundary.as_ref()),
        causes(plan, report),
        remedies(report)
    )
}

fn card(run: &RunReport, report: &ViolationReport, prefix: &str) -> String {
    let violation = &report.violation;
    let more = match violation.occurrences {
        0 | 1 => String::new(),
        many => format!(" and {} more", times(many - 1)),
    };
    let known = run.expected.as_ref().map_or(String::new(), |expected| {
        format!("<p><b>Literature:</b> {}</p>", escaped(&rerun::known(expected, violation.kind)))
    });
    format!(
        "<article class=\"card\"><h3>{}: {} by {}</h3><p>{}</p><p class=\"muted\">at {}{more} · \
         fingerprint <code>{}</code></p>{}{known}{}{}{}{}</article>",
        violation.severity,
        violation.kind,
        violation.cause,
        escaped(&violation.summary),
        violation.at_us,
        escaped(&violation.id),
        story(run, violation, prefix),
        enough(report),
        boundary(report.boundary.as_ref()),
        causes(report.minimal_plan.as_ref().unwrap_or(&run.plan), report),
        remedies(report)
    )
}

/// What happened, step by step; of a report that tells no story, the witness.
fn story(run: &RunReport, violation: &Violation, prefix: &str) -> String {
    let line = |number: u64, text: &str| {
        let told = run.timeline.iter().find(|entry| entry.sequence == number);
        let at = told.map_or(format!("e{number}"), |entry| entry.time_us.to_string());
        format!("<li><a href=\"#{prefix}e{number}\">{at}</a> {}</li>", escaped(text))
    };
    let lines: Vec<String> = match violation.narrative.is_empty() {
        false => violation.narrative.iter().map(|one| line(one.event, &one.text)).collect(),
        true => violation
            .witness
            .iter()
            .map(|event| {
                let told = run.timeline.iter().find(|entry| entry.sequence == event.sequence);
                line(
                    event.sequence,
                    &format!("{} {}", event.node, told.map_or("", |entry| entry.text.as_str())),
                )
            })
            .collect(),
    };
    format!("<ol class=\"story\">{}</ol>", lines.concat())
}

/// The least that shows it.
fn enough(report: &ViolationReport) -> String {
    let Some(plan) = &report.minimal_plan else { return String::new() };
    let faults: Vec<String> =
        plan.faults.iter().map(|timed| plan_text::fault(&timed.fault)).collect();
    let faults = if faults.is_empty() { "no fault at all".to_owned() } else { faults.join("; ") };
    let size =
        report.minimal_run.as_ref().map_or(String::new(), |run| format!(" ({})", rerun::size(run)));
    format!("<p><b>Smallest reproduction:</b> {}</p>", escaped(&format!("{faults}{size}.")))
}

fn causes(plan: &FaultPlan, report: &ViolationReport) -> String {
    let rows: Vec<Vec<String>> = report
        .but_for
        .iter()
        .map(|one| {
            let and = one
                .and_fault
                .map_or(String::new(), |other| format!(" and {}", fault_named(plan, other)));
            vec![format!("{}{and}", fault_named(plan, one.fault)), rerun::without(one).to_owned()]
        })
        .collect();
    table("But for one fault, or two", &["left out", "the violation"], &rows)
}

fn remedies(report: &ViolationReport) -> String {
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
        &["safeguard", "on this plan", "plans nearby: broken in", "other seeds (95 % interval)"],
        &rows,
    )
}

fn boundary(boundary: Option<&Boundary>) -> String {
    let Some(boundary) = boundary else { return String::new() };
    let amount = |value| rerun::amount(boundary, value);
    let mut rows = vec![
        vec!["enough".to_owned(), amount(boundary.enough)],
        vec!["not enough".to_owned(), amount(boundary.not_enough)],
    ];
    if let Some(analytic) = boundary.analytic {
        rows.push(vec!["necessary by arithmetic".to_owned(), amount(analytic)]);
    }
    let caption = format!("Boundary of {} of fault {}", boundary.quantity, boundary.fault);
    table(&caption, &["", "value"], &rows)
}

/// The plan of the run and, for each violation that was minimised, the least that shows it.
pub(super) fn plans(run: &RunReport) -> String {
    let lengths = plan_text::lengths(run)
        .map_or(String::new(), |lengths| format!("<p>{}</p>", escaped(&lengths)));
    let mut cards =
        format!("<article class=\"card\"><h3>As drawn</h3>{lengths}{}</article>", plan(&run.plan));
    for report in &run.violations {
        if let Some(minimal) = &report.minimal_plan {
            cards.push_str(&format!(
                "<article class=\"card\"><h3>Smallest reproduction of {}</h3>{}</article>",
                report.violation.kind,
                plan(minimal)
            ));
        }
    }
    format!("<h2>Faults</h2><div class=\"cards\">{cards}</div>")
}

fn plan(plan: &FaultPlan) -> String {
    if plan.faults.is_empty() {
        return "<p>No fault.</p>".to_owned();
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

/// How the run went.
pub(super) fn facts(run: &RunReport) -> String {
    let pair = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        pair("virtual time", run.virtual_time_us.to_string()),
        pair("acquisitions", run.acquisitions.to_string()),
        pair("operations", run.operations.to_string()),
        pair("messages", run.messages.to_string()),
        pair("faults fired", run.faults_fired.to_string()),
        pair(
            "storage accepted, rejected",
            format!("{}, {}", run.storage.accepted, run.storage.rejected),
        ),
        pair("history digest", run.history_digest.clone()),
    ];
    if let Some(expected) = &run.expected {
        rows.insert(0, pair("the literature says", literature(expected)));
    }
    format!(
        "<details><summary>Facts of the run</summary>{}</details>",
        table("Facts", &["", ""], &rows)
    )
}

/// What can go wrong, why, and who says so.
pub(super) fn literature(expected: &Expected) -> String {
    let kinds: Vec<&str> = expected.kinds.iter().map(|kind| kind.name()).collect();
    let says = if expected.is_safe() {
        "safe".to_owned()
    } else {
        format!("{} can happen", kinds.join(", "))
    };
    format!("{says}: {} ({})", expected.because, expected.source)
}

/// Every event in words: all of them if the history is there, else those around the violations.
pub(super) fn events(run: &RunReport, index: usize) -> String {
    let prefix = prefix(index);
    // The whole history is in the picture and in the JSON; a table of it would be the larger half
    // of the page.
    let rows: Vec<String> = run
        .timeline
        .iter()
        .map(|entry| {
            let class = if entry.witness { " class=\"witness\"" } else { "" };
            let evidence = if entry.witness { "evidence" } else { "" };
            format!(
                "<tr{class}><td><a href=\"#{prefix}e{0}\">#e{0}</a></td><td \
                 class=\"time\">{1}</td><td>{2}</td><td>{3}</td><td>{evidence}</td></tr>",
                entry.sequence,
                entry.time_us,
                entry.process,
                escaped(&entry.text)
            )
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<details open><summary>Events around the violations</summary><div class=\"scroll\" \
         tabindex=\"0\" role=\"group\" aria-label=\"Events\"><table><caption>Events in the order \
         in which they happened</caption><thead><tr><th scope=\"col\">event</th><th \
         scope=\"col\">time</th><th scope=\"col\">where</th><th scope=\"col\">what \
         happened</th><th \
         scope=\"col\">role</th></tr></thead><tbody>{}</tbody></table></div></details>",
        rows.concat()
    )
}

/// A table with a caption; nothing if it would be empty.
fn table(caption: &str, heads: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let heads: String = match heads.iter().all(|head| head.is_empty()) {
        true => String::new(),
        false => {
            let cells = heads.iter().map(|head| match head.is_empty() {
                true => "<td></td>".to_owned(),
                false => format!("<th scope=\"col\">{head}</th>"),
            });
            format!("<thead><tr>{}</tr></thead>", cells.collect::<String>())
        }
    };
    let body: String = rows
        .iter()
        .map(|row| {
            let cells: String =
                row.iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect();
            format!("<tr>{cells}</tr>")
        })
        .collect();
    format!(
        "<div class=\"scroll\"><table><caption>{}</caption>{heads}<tbody>{body}</tbody></table></div>",
        escaped(caption)
    )
}
