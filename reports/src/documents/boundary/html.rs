use super::plot::plot;
use super::{BoundaryReport, Probe, Worse};
use crate::show::format::html::page::{heads, page};
use crate::show::format::text::layout::percent;
use maud::{Markup, PreEscaped, html};

pub(super) fn html(report: &BoundaryReport) -> String {
    let json = serde_json::to_string(report).unwrap_or_default();
    let title = format!("fencepost: {} under {}", report.client, report.fault);
    page(&title, &body(report), &json)
}

fn body(report: &BoundaryReport) -> Markup {
    let (tool, quantity) = (&report.tool, &report.quantity);
    let kind = report.kind.map_or("any violation".to_owned(), |kind| kind.to_string());
    html! {
        header.top {
            p.muted {
                (tool.name) " " (tool.version) " · seeds " (maud::display(&report.seeds))
                " at each value · " (kind)
            }
            h1 { (report.client) " under " (report.fault) ": " (quantity.name) }
            p.lead { (report.explanation) }
        }
        main {
            div.scroll tabindex="0" role="group" aria-label="Rates" { (PreEscaped(plot(report))) }
            @for bound in &report.bounds {
                p { b { "bound " (quantity.show(bound.value)) } ": " (bound.rule) }
            }
            (probes(report))
            p.hint { (assumed(report)) }
        }
        footer {
            p { "The boundary is in this page as JSON, in the element " code { "#report" } "." }
        }
    }
}

fn assumed(report: &BoundaryReport) -> String {
    let name = &report.quantity.name;
    let (worse, from_on) = match report.quantity.worse {
        Worse::More => ("greater", "begin"),
        Worse::Less => ("smaller", "end"),
    };
    let kept = if report.monotone {
        "The values tried confirm the assumption."
    } else {
        "The values tried contradict the assumption: a value that is worse than a violated value \
         shows no violation."
    };
    format!(
        "Assumption: a {worse} {name} is worse, so violations {from_on} at a single threshold. \
         {kept}"
    )
}

fn probes(report: &BoundaryReport) -> Markup {
    let name = report.quantity.name.as_str();
    html! {
        div.scroll tabindex="0" role="group" aria-label="Values tried" {
            table {
                (heads(&[name, "violated", "runs", "95 %", "kinds", "first seed"]))
                tbody { @for probe in &report.probes { (row(report, probe)) } }
            }
        }
    }
}

fn row(report: &BoundaryReport, probe: &Probe) -> Markup {
    let class = match (probe.violated, probe.exercised) {
        (0, 0) => "unknown",
        (0, _) => "valid",
        _ => "violated",
    };
    let kinds = probe.violations_by_kind.iter();
    let kinds: Vec<String> = kinds.map(|(kind, runs)| format!("{kind} {runs}")).collect();
    html! {
        tr {
            th scope="row" { (report.quantity.show(probe.value)) }
            td class=(class) {
                @if probe.exercised == 0 { "not exercised" } @else { (percent(probe.rate.point)) }
            }
            td { (probe.violated) " of " (probe.exercised) }
            td { (percent(probe.rate.low)) " to " (percent(probe.rate.high)) }
            td { (kinds.join(", ")) }
            td { @if let Some(seed) = probe.first_seed { (maud::display(seed)) } }
        }
    }
}
