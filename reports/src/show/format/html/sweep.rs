use super::comparison;
use super::page::{heads, page};
use super::tables;
use crate::show::format::drawing::heat_map::{axes, heat, words};
use crate::summary::sweep::{Cell, Fingerprint, Sweep};
use maud::{Markup, html};
use std::io::{self, Write};

pub(crate) fn write(sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    let title = format!("fencepost: seeds {}", sweep.seeds);
    let json = serde_json::to_string(&sweep.sealed()?)?;
    out.write_all(page(&title, &body(sweep), &json).as_bytes())
}

fn body(sweep: &Sweep) -> Markup {
    let tool = &sweep.tool;
    html! {
        header.top {
            p.muted {
                (tool.name) " " (tool.version) " · seeds " (maud::display(&sweep.seeds))
                @if let Some(missing) = sweep.missing_in_words() { " · incomplete: " (missing) }
            }
            h1 { "Which locks broke under which faults" }
            p.lead {
                "Each cell shows the violated runs among those that exercised the lock. Select a \
                 cell to see its distinct anomalies."
            }
        }
        main {
            (matrix(sweep))
            @if let Some(baseline) = &sweep.baseline {
                h2 { "Against the baseline" }
                (comparison::section(baseline))
            }
            @for cell in &sweep.cells { (section(sweep, cell)) }
        }
        footer {
            p { "The summary is in this page as JSON, in the element " code { "#report" } "." }
        }
    }
}

fn matrix(sweep: &Sweep) -> Markup {
    let (rows, columns) = axes(sweep);
    let find = |client: &str, fault: &str| {
        sweep.cells.iter().find(|cell| cell.client == client && cell.fault == fault)
    };
    html! {
        div.scroll tabindex="0" role="group" aria-label="Matrix" {
            table.matrix {
                caption { "Runs violated, of those exercised" }
                thead { tr { td {} @for fault in &columns { th scope="col" { (fault) } } } }
                tbody {
                    @for client in rows {
                        tr {
                            th scope="row" { (client) }
                            @for fault in &columns {
                                td { @if let Some(cell) = find(client, fault) { (link(cell)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn link(cell: &Cell) -> Markup {
    let kinds: Vec<String> =
        cell.violations_by_kind.iter().map(|(kind, runs)| format!("{kind} {runs}")).collect();
    html! {
        a class=(heat(cell.violated, cell.valid + cell.violated)) href={ "#" (anchor(cell)) } {
            b { (words(cell)) }
            small { (kinds.join(", ")) }
        }
    }
}

fn anchor(cell: &Cell) -> String {
    format!("{}.{}", cell.client, cell.fault).replace('+', ".")
}

fn section(sweep: &Sweep, cell: &Cell) -> Markup {
    let minimal = cell.fingerprints.iter().filter_map(|one| one.report.as_deref());
    html! {
        section.cell id=(anchor(cell)) {
            h2 { (cell.client) " under " (cell.fault) }
            p {
                (cell.runs) " runs: " (cell.valid) " valid, " (cell.violated) " violated, "
                (cell.unknown) " unknown."
            }
            @if cell.fingerprints.is_empty() {
                p { "No violation." }
            } @else {
                (anomalies(sweep, cell))
            }
            @for report in minimal { (tables::minimal(report)) }
        }
    }
}

fn anomalies(sweep: &Sweep, cell: &Cell) -> Markup {
    let names = [
        "fingerprint", "rule", "cause", "runs", "faults at least", "seen under turmoil", "its page",
    ];
    html! {
        div.scroll tabindex="0" role="group" aria-label="Anomalies" {
            table {
                caption { "Distinct anomalies" }
                (heads(&names))
                tbody { @for one in &cell.fingerprints { (anomaly(sweep, cell, one)) } }
            }
        }
    }
}

fn anomaly(sweep: &Sweep, cell: &Cell, one: &Fingerprint) -> Markup {
    let confirmed = if one.smallest.confirmed_under_turmoil { "yes" } else { "no" };
    html! {
        tr {
            td { code { (one.id) } }
            td { (maud::display(one.kind)) }
            td { (maud::display(one.cause)) }
            td { (one.runs) }
            td { (one.smallest.faults) }
            td { (confirmed) }
            td { code { (sweep.replay(cell, one.smallest.seed)) " --format html" } }
        }
    }
}
