//! What stands below a picture: violations with causes, boundary and remedies, plans side by side, facts, events. Must never know more than the
//! report: where something was not searched, nothing is shown.

use super::canvas::escaped;
use super::layout::times;
use super::plan_text;
use super::svg::prefix;
use crate::expected::Expected;
use crate::report::{Boundary, RunReport, ViolationReport};
use fencepost_faults::{FaultPlan, Micros};

/// A card for each violation.
pub(super) fn violations(run: &RunReport, index: usize) -> String {
    if run.violations.is_empty() {
        return String::new();
    }
    let cards: Vec<String> = run.violations.iter().map(|report| card(run, report, &prefix(index))).collect();
    format!("<h2>What was broken</h2><div class=\"cards\">{}</div>", cards.concat())
}

fn card(run: &RunReport, report: &ViolationReport, prefix: &str) -> String {
    let violation = &report.violation;
    let more = match violation.occurrences {
        0 | 1 => String::new(),
        many => format!(" and {} more", times(many - 1)),
    };
    let story: Vec<String> = violation
        .witness
        .iter()
        .map(|event| {
            let told = run.timeline.iter().find(|entry| entry.sequence == event.sequence);
            let text = told.map_or(String::new(), |entry| entry.text.clone());
            let (at, node, number) = (Micros(event.time_us.0), event.node, event.sequence);
            format!("<li><a href=\"#{prefix}e{number}\">{at}</a> <b>{node}</b> {}</li>", escaped(&text))
        })
        .collect();
    format!(
        "<article class=\"card\"><h3>{}: {} by {}</h3><p>{}</p><p class=\"muted\">at {}{more} · fingerprint <code>{}</code></p><ol class=\"story\">{}</ol>{}{}{}</article>",
        violation.severity,
        violation.kind,
        violation.cause,
        escaped(&violation.summary),
        violation.at_us,
        violation.id,
        story.concat(),
        causes(run, report),
        boundary(report.boundary.as_ref()),
        remedies(report)
    )
}

fn causes(run: &RunReport, report: &ViolationReport) -> String {
    let rows: Vec<Vec<String>> = report
        .but_for
        .iter()
        .map(|one| {
            let answer = if one.violation_without_it { "still happens" } else { "does not happen: it is a cause" };
            vec![fault_named(report.minimal_plan.as_ref().unwrap_or(&run.plan), one.fault), answer.to_owned()]
        })
        .collect();
    table("Without one fault", &["left out", "the violation"], &rows)
}

fn remedies(report: &ViolationReport) -> String {
    let rows: Vec<Vec<String>> = report
        .remedies
        .iter()
        .map(|remedy| vec![remedy.name.clone(), if remedy.prevents { "prevents it" } else { "does not" }.to_owned()])
        .collect();
    table("What would have prevented it", &["safeguard", "result"], &rows)
}

fn boundary(boundary: Option<&Boundary>) -> String {
    let Some(boundary) = boundary else { return String::new() };
    let mut rows = vec![
        vec!["enough".to_owned(), boundary.enough.to_string()],
        vec!["not enough".to_owned(), boundary.not_enough.to_string()],
    ];
    if let Some(analytic) = boundary.analytic {
        rows.push(vec!["by arithmetic".to_owned(), analytic.to_string()]);
    }
    let caption = format!("Boundary of {} of fault {}", boundary.quantity, boundary.fault);
    table(&caption, &["", "value"], &rows)
}

/// The plan of the run and, for each violation that was minimised, the least that shows it.
pub(super) fn plans(run: &RunReport) -> String {
    let mut cards = format!("<article class=\"card\"><h3>As drawn</h3>{}</article>", plan(&run.plan));
    for report in &run.violations {
        if let Some(minimal) = &report.minimal_plan {
            cards.push_str(&format!(
                "<article class=\"card\"><h3>Enough for {}</h3>{}</article>",
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
        .map(|timed| vec![timed.id.to_string(), timed.at_us.to_string(), plan_text::fault(&timed.fault)])
        .collect();
    table("Faults of the plan", &["fault", "at", "what happens"], &rows)
}

fn fault_named(plan: &FaultPlan, id: u32) -> String {
    let planned = plan.faults.iter().find(|timed| timed.id == id);
    planned.map_or(format!("fault {id}"), |timed| format!("fault {id}: {}", plan_text::fault(&timed.fault)))
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
        pair("storage accepted, rejected", format!("{}, {}", run.storage.accepted, run.storage.rejected)),
        pair("history digest", run.history_digest.clone()),
    ];
    if let Some(expected) = &run.expected {
        rows.insert(0, pair("the literature says", literature(expected)));
    }
    format!("<details><summary>Facts of the run</summary>{}</details>", table("Facts", &["", ""], &rows))
}

/// What can go wrong, why, and who says so.
pub(super) fn literature(expected: &Expected) -> String {
    let kinds: Vec<&str> = expected.kinds.iter().map(|kind| kind.name()).collect();
    let says = if expected.is_safe() { "safe".to_owned() } else { format!("{} can happen", kinds.join(", ")) };
    format!("{says}: {} ({})", expected.because, expected.source)
}

/// Every event in words: all of them if the history is there, else those around the violations.
pub(super) fn events(run: &RunReport, index: usize) -> String {
    let prefix = prefix(index);
    // The whole history is in the picture and in the JSON; a table of it would be the larger half of the page.
    let rows: Vec<String> = run
        .timeline
        .iter()
        .map(|entry| {
            let class = if entry.witness { " class=\"witness\"" } else { "" };
            let convicts = if entry.witness { "convicts" } else { "" };
            format!(
                "<tr{class}><td><a href=\"#{prefix}e{0}\">#e{0}</a></td><td class=\"time\">{1}</td><td>{2}</td><td>{3}</td><td>{convicts}</td></tr>",
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
        "<details open><summary>Events around the violations</summary><div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Events\"><table><caption>Events in the order in which they happened</caption><thead><tr><th scope=\"col\">event</th><th scope=\"col\">time</th><th scope=\"col\">where</th><th scope=\"col\">what happened</th><th scope=\"col\">role</th></tr></thead><tbody>{}</tbody></table></div></details>",
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
            let cells: String = row.iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect();
            format!("<tr>{cells}</tr>")
        })
        .collect();
    format!(
        "<div class=\"scroll\"><table><caption>{}</caption>{heads}<tbody>{body}</tbody></table></div>",
        escaped(caption)
    )
}
