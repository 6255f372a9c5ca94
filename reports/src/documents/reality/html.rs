use super::{Reality, Row, Timelines, limit, summary, timelines, title, with_timelines};
use crate::show::format::html::page::{heads, page};
use maud::{Markup, html};

pub(super) fn html(reality: &Reality) -> String {
    let json = serde_json::to_string(reality).unwrap_or_default();
    let tool = &reality.tool;
    let body = html! {
        header.top {
            p.muted { (tool.name) " " (tool.version) " · reality" }
            h1 { "Simulated and real servers" }
            @for (coordinator, server) in &reality.servers {
                p { (coordinator) ": " (server.name) " " (server.version) }
            }
        }
        main {
            section.cell { (rows(&reality.rows)) p { (summary(reality)) "." } }
            @for (row, timelines) in with_timelines(reality) { (beside(row, timelines)) }
        }
        footer {
            p { "The comparison is in this page as JSON, in the element " code { "#report" } "." }
        }
    };
    page("fencepost: simulated and real servers", &body, &json)
}

fn rows(rows: &[Row]) -> Markup {
    let names = ["page", "lock", "fault", "seed", "simulated servers", "faults", "real servers"];
    html! {
        div.scroll tabindex="0" role="group" aria-label="Results" {
            table {
                (heads(&names))
                tbody {
                    @for row in rows {
                        tr {
                            td { (row.page.as_deref().unwrap_or_default()) }
                            td { (row.client) }
                            td { (row.fault) }
                            td { (row.seed) }
                            td { (row.kind.name()) " by " (row.cause.name()) }
                            td { (row.faults) }
                            td { (row.real.words()) }
                        }
                    }
                }
            }
        }
    }
}

fn beside(row: &Row, timelines: &Timelines) -> Markup {
    html! {
        section.cell {
            h2 { (title(row)) }
            @if let Some(limit) = limit(row) { p { (limit) } }
            div.scroll tabindex="0" role="group" aria-label="Timelines" {
                table {
                    (heads(&["simulated", "real", "where", "event"]))
                    tbody {
                        @for line in timelines::aligned(timelines) {
                            tr {
                                @for time in line.times() { td { (time) } }
                                td { (line.place()) }
                                td { (line.text()) }
                            }
                        }
                    }
                }
            }
        }
    }
}
