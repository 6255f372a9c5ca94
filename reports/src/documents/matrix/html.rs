use super::{CellVerdict, Matrix, MatrixCell, findings, literature};
use crate::show::format::drawing::heat_map::heat;
use crate::show::format::html::page::{heads, page};
use crate::show::format::text::layout::percent;
use maud::{Markup, html};

pub(super) fn html(matrix: &Matrix) -> String {
    let json = serde_json::to_string(matrix).unwrap_or_default();
    page("fencepost: the matrix", &body(matrix), &json)
}

fn body(matrix: &Matrix) -> Markup {
    let tool = &matrix.tool;
    html! {
        header.top {
            p.muted {
                (tool.name) " " (tool.version) " · seeds " (maud::display(&matrix.seeds))
            }
            h1 {
                "Every lock under every fault"
                @if let Some(kind) = matrix.counts() { ": " (kind) }
            }
            p.lead {
                "The share of runs that broke "
                @if let Some(kind) = matrix.kind { code { (kind.name()) } } @else { "a rule" }
                ", among those that exercised the lock. A hatched cell has no such run, but too \
                 few runs to rule out a rate of one in twenty. Select a cell to see its figures"
                @if matrix.kind.is_none() { " and the literature's prediction" }
                "; move between cells with the arrow keys."
            }
            fieldset.tools {
                legend { "Show only" }
                label { "locks with " input type="search" data-filter="lock" autocomplete="off"; }
                label { "faults with " input type="search" data-filter="fault" autocomplete="off"; }
            }
        }
        main {
            (overview(matrix))
            @for client in matrix.clients() { (one(matrix, client)) }
        }
        footer {
            p { "The matrix is in this page as JSON, in the element " code { "#report" } "." }
        }
    }
}

fn overview(matrix: &Matrix) -> Markup {
    let faults = matrix.faults();
    html! {
        div.scroll tabindex="0" role="group" aria-label="Matrix" {
            table.matrix {
                caption { "Runs violated" }
                thead { tr { td {} @for fault in &faults { th scope="col" { (fault) } } } }
                tbody {
                    @for client in matrix.clients() {
                        tr {
                            th scope="row" { a href={ "#" (client) } { (client) } }
                            @for fault in &faults { (short(matrix.cell(client, fault))) }
                        }
                    }
                }
            }
        }
    }
}

fn short(cell: Option<&MatrixCell>) -> Markup {
    let Some(cell) = cell else { return html! { td {} } };
    html! {
        td {
            a   class=(heat(cell.violated, cell.exercised))
                href={ "#" (row_id(cell)) }
                title=(cell.agreement.words()) {
                (words(cell).1)
            }
        }
    }
}

fn words(cell: &MatrixCell) -> (&'static str, String) {
    match cell.verdict {
        CellVerdict::Unknown => ("unknown", "not exercised".to_owned()),
        CellVerdict::Quiet => ("valid", "none".to_owned()),
        CellVerdict::Violated => ("violated", percent(cell.rate.point)),
    }
}

fn row_id(cell: &MatrixCell) -> String {
    format!("{}--{}", cell.client, cell.fault)
}

fn one(matrix: &Matrix, client: &str) -> Markup {
    let names = [
        "fault", "violated", "runs", "95 %", "kinds, or where faults began", "seeds to first",
        "literature", "",
    ];
    let cells = matrix.cells.iter().filter(|cell| cell.client == client);
    html! {
        section.cell id=(client) data-lock=(client) {
            h2 { (client) }
            div.scroll {
                table {
                    (heads(&names))
                    tbody { @for cell in cells { (row(cell)) } }
                }
            }
        }
    }
}

fn row(cell: &MatrixCell) -> Markup {
    let (rate, (class, verdict)) = (&cell.rate, words(cell));
    html! {
        tr id=(row_id(cell)) {
            th scope="row" { (cell.fault) }
            td class=(class) { (verdict) }
            td { (cell.violated) " of " (cell.exercised) }
            td { (percent(rate.low)) " to " (percent(rate.high)) }
            td { (findings(cell)) }
            td { @if let Some(seeds) = cell.seeds_to_first { (seeds) } }
            td {
                @if let Some(known) = &cell.expected {
                    (literature(known)) " " i { (known.source) }
                }
            }
            td { (cell.agreement.words()) }
        }
    }
}
