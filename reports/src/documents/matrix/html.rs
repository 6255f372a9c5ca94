//! The matrix as a self-contained page.

use super::{CellVerdict, Matrix, MatrixCell, kinds, literature};
use crate::show::format::html::{heads, page};
use crate::show::format::plot::percent;
use maud::{Markup, html};

/// The page.
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
            h1 { "Every lock under every fault" }
            p.lead {
                "The share of runs that broke a rule, among those that exercised the lock. Below, \
                 each lock with what the literature says."
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
    let (class, words) = match cell.verdict {
        CellVerdict::Unknown => ("unknown", "not exercised".to_owned()),
        CellVerdict::Quiet => ("valid", "none".to_owned()),
        CellVerdict::Violated => ("violated", percent(cell.rate.point)),
    };
    html! { td class=(class) title=(cell.agreement.words()) { (words) } }
}

fn one(matrix: &Matrix, client: &str) -> Markup {
    let names = ["fault", "violated", "runs", "95 %", "kinds", "seeds to first", "literature", ""];
    let cells = matrix.cells.iter().filter(|cell| cell.client == client);
    html! {
        section.cell id=(client) {
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
    let rate = &cell.rate;
    html! {
        tr {
            th scope="row" { (cell.fault) }
            (short(Some(cell)))
            td { (cell.violated) " of " (cell.exercised) }
            td { (percent(rate.low)) " to " (percent(rate.high)) }
            td { (kinds(cell)) }
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
